// SPDX-License-Identifier: Apache-2.0
/* openapi_v2.c - the whole API as one Swagger 2.0 document in JSON */
#include "api/openapi.h"
#include "base/jsonx.h"

void openapi_v2_json(const struct registry *r, struct sbuf *out)
{
	struct openapi_writer w = { .out = out };
	struct openapi o;

	openapi_collect(&o, r, OPENAPI_V2, NULL, NULL);
	sbuf_adds(out, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"v1.32.4\"},\"paths\":{");
	openapi_paths(&o, openapi_write_path, &w);
	sbuf_adds(out, "},\"definitions\":{");
	w.more = false;
	for (size_t i = 0; i < o.n; i++) {
		json_auto_t *schema = openapi_schema(&o, o.defs[i]);

		openapi_write_member(&w, o.defs[i]->name, schema);
	}
	sbuf_adds(out, "}}");
	openapi_done(&o);
}
