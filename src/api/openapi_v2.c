// SPDX-License-Identifier: Apache-2.0
/* openapi_v2.c - the whole API as one Swagger 2.0 document in JSON */
#include "api/openapi.h"
#include "base/jsonx.h"

struct writer {
	struct sbuf *out;
	bool more;
};

static void write_member(struct writer *w, const char *name, const json_t *value)
{
	sbuf_adds(w->out, w->more ? "," : "");
	w->more = true;
	sbuf_add_json_string(w->out, name, strlen(name));
	sbuf_addc(w->out, ':');
	jsonx_dump(value, w->out);
}

static void on_path(void *arg, const char *path, const json_t *item)
{
	write_member(arg, path, item);
}

void openapi_v2_json(const struct registry *r, struct sbuf *out)
{
	struct writer w = { .out = out };
	struct openapi o;

	openapi_collect(&o, r, OPENAPI_V2, NULL, NULL);
	sbuf_adds(out, "{\"swagger\":\"2.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"v1.32.4\"},\"paths\":{");
	openapi_paths(&o, on_path, &w);
	sbuf_adds(out, "},\"definitions\":{");
	w.more = false;
	for (size_t i = 0; i < o.n; i++) {
		json_auto_t *schema = openapi_schema(&o, o.defs[i]);

		write_member(&w, o.defs[i]->name, schema);
	}
	sbuf_adds(out, "}}");
	openapi_done(&o);
}
