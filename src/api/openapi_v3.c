// SPDX-License-Identifier: Apache-2.0
/* openapi_v3.c - one OpenAPI 3.0 document for each group and version, and the index of them
 *
 * Clients keep a document as long as its hash in the index stays.  The hash is taken over what the document is made
 * from (names, verbs, rows, schemas), which costs a fraction of building all of them.
 */
#include <inttypes.h>

#include "api/openapi.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/schema.h"

/* "api/v1" or "apis/G/V" in two parts; false if it is neither. */
static bool split_path(const char *path, char **ret_group, char **ret_version)
{
	const char *slash;

	if (str_starts(path, "api/") && !strchr(path + 4, '/')) {
		*ret_group = xstrdup("");
		*ret_version = xstrdup(path + 4);
		return true;
	}
	if (!str_starts(path, "apis/") || !(slash = strchr(path + 5, '/')) || slash == path + 5)
		return false;
	*ret_group = xstrndup(path + 5, (size_t)(slash - path - 5));
	*ret_version = xstrdup(slash + 1);
	return true;
}

bool openapi_v3_group(const struct registry *r, const char *path, struct sbuf *out)
{
	auto_free char *group = NULL;
	auto_free char *version = NULL;
	struct openapi_writer w = { .out = out };
	struct openapi o;

	if (!split_path(path, &group, &version) || !registry_has_group(r, group, version))
		return false;
	openapi_collect(&o, r, OPENAPI_V3, group, version);
	sbuf_adds(out,
		  "{\"openapi\":\"3.0.0\",\"info\":{\"title\":\"Kubernetes\",\"version\":\"v1.32.4\"},\"paths\":{");
	openapi_paths(&o, openapi_write_path, &w);
	sbuf_adds(out, "},\"components\":{\"schemas\":{");
	w.more = false;
	for (size_t i = 0; i < o.n; i++) {
		json_auto_t *schema = openapi_schema(&o, o.defs[i]);

		openapi_write_member(&w, o.defs[i]->name, schema);
	}
	sbuf_adds(out, "}}}");
	openapi_done(&o);
	return true;
}

/* --- the index --- */

static void mix(uint64_t *h, const void *p, size_t n)
{
	const unsigned char *s = p;

	for (size_t i = 0; i < n; i++)
		*h = (*h ^ s[i]) * 1099511628211ull;
}

static void mix_text(uint64_t *h, const char *s)
{
	mix(h, s ? s : "", s ? strlen(s) + 1 : 0);
	mix(h, "", 1);
}

static int mix_json(const char *p, size_t n, void *arg)
{
	mix(arg, p, n);
	return 0;
}

static void mix_field(uint64_t *h, const struct field *f)
{
	mix_text(h, f->name);
	mix_text(h, f->doc);
	mix_text(h, f->values);
	mix_text(h, f->merge_key);
	mix_text(h, f->list_keys);
	mix(h, &f->flags, sizeof(f->flags));
	mix(h, &f->type, sizeof(f->type));
	mix(h, &f->shape, sizeof(f->shape));
}

static void mix_kind(uint64_t *h, const struct kind *k)
{
	mix_text(h, k->plural);
	mix_text(h, k->kind);
	mix(h, &k->verbs, sizeof(k->verbs));
	mix(h, &k->namespaced, sizeof(k->namespaced));
	for (size_t i = 0; i < k->nsubresources; i++) {
		mix_text(h, k->subresources[i].name);
		mix(h, &k->subresources[i].verbs, sizeof(k->subresources[i].verbs));
	}
	if (k->schema)
		json_dump_callback(schema_json(k->schema), mix_json, h, JSON_COMPACT);
}

static uint64_t group_hash(const struct registry *r, const struct kind *of)
{
	uint64_t h = 1469598103934665603ull; /* FNV-1a */
	const struct kind *k;
	struct openapi o;

	openapi_collect(&o, r, OPENAPI_V3, of->group, of->version);
	mix_text(&h, STOKER_VERSION);
	for (size_t i = 0; (k = registry_at(r, i)); i++)
		if (openapi_wants(&o, k))
			mix_kind(&h, k);
	for (size_t i = 0; i < o.n; i++) {
		const struct message *m = o.defs[i]->msg;

		mix_text(&h, o.defs[i]->name);
		for (size_t f = 0; m && f < m->nfields; f++)
			mix_field(&h, &m->fields[f]);
	}
	openapi_done(&o);
	return h;
}

json_t *openapi_v3_index(const struct registry *r)
{
	json_t *paths = json_object();
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(r, i)); i++) {
		auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

		sbuf_addf(&path, "%s%s/%s", *k->group ? "apis/" : "api", k->group, k->version);
		if (json_object_get(paths, path.p))
			continue;
		json_object_set_new(
			paths, path.p,
			json_pack("{s:o}", "serverRelativeURL",
				  jsonx_stringf("/openapi/v3/%s?hash=%016" PRIX64, path.p, group_hash(r, k))));
	}
	return json_pack("{s:o}", "paths", paths);
}
