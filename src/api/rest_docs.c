// SPDX-License-Identifier: Apache-2.0
/* rest_docs.c - paths that are no resource: health, version, discovery, OpenAPI; and the way to /metrics
 *
 * OpenAPI documents are large and change only when a kind comes or goes, so their texts are kept until the registry's
 * generation moves, and every client that sends the ETag back gets 304.
 */
#include "api/exchange.h"
#include "api/wire.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define OPENAPI_MAX    (16u * 1024 * 1024)
#define DISCOVERY_TYPE "application/json;g=apidiscovery.k8s.io;v=%s;as=APIGroupDiscoveryList"

/* One cached text; built on first use. */
struct doc {
	char *text;
	size_t n;
	char etag[2 * SHA256_LEN + 3];
};

struct docs {
	struct api *api;
	unsigned generation;
	struct doc v2_json, v2_proto;
};

static void doc_clear(struct doc *d)
{
	free(d->text);
	*d = (struct doc){ 0 };
}

struct docs *docs_new(struct api *api)
{
	struct docs *d = xcalloc(1, sizeof(*d));

	d->api = api;
	return d;
}

void docs_free(struct docs *d)
{
	if (!d)
		return;
	doc_clear(&d->v2_json);
	doc_clear(&d->v2_proto);
	free(d);
}

static void etag_of(struct str text, char out[2 * SHA256_LEN + 3])
{
	auto_sbuf struct sbuf hex = SBUF(2 * SHA256_LEN);
	unsigned char digest[SHA256_LEN];

	crypto_sha256(text.p, text.n, digest);
	hex_encode(digest, sizeof(digest), &hex);
	snprintf(out, 2 * SHA256_LEN + 3, "\"%s\"", hex.p);
}

static struct doc *openapi_v2(struct docs *d, bool proto)
{
	struct doc *doc = proto ? &d->v2_proto : &d->v2_json;
	const struct registry *r = api_registry(d->api);
	struct sbuf out = SBUF(OPENAPI_MAX);

	if (d->generation != registry_generation(r)) {
		doc_clear(&d->v2_json);
		doc_clear(&d->v2_proto);
		d->generation = registry_generation(r);
	}
	if (doc->text)
		return doc;
	if (proto)
		openapi_v2_proto(r, &out);
	else
		openapi_v2_json(r, &out);
	doc->n = out.n;
	doc->text = sbuf_steal(&out);
	etag_of((struct str){ doc->text, doc->n }, doc->etag);
	return doc;
}

static void reply_tagged(struct exchange *x, const char *type, struct str text, const char *etag)
{
	const char *known = http_header(x->http, "If-None-Match");

	http_add_header(x->http, "ETag", etag);
	if (known && strstr(known, etag))
		exchange_reply_text(x, 304, type, (struct str){ "", 0 });
	else
		exchange_reply_text(x, 200, type, text);
}

static void doc_openapi_v2(struct exchange *x)
{
	const char *accept = http_header(x->http, "Accept");
	bool proto = accept && strstr(accept, "proto-openapi.spec.v2");
	struct doc *doc = openapi_v2(x->rest->docs, proto);

	/* Go cannot parse a media type with '@' in it, so the protobuf goes out as plain bytes. */
	reply_tagged(x, proto ? "application/octet-stream" : "application/json", (struct str){ doc->text, doc->n },
		     doc->etag);
}

static void doc_openapi_v3_index(struct exchange *x)
{
	exchange_reply_json(x, 200, openapi_v3_index(api_registry(x->rest->api)));
}

static void not_found(struct exchange *x)
{
	err_set(&x->err, ERR_NOT_FOUND, "the server could not find the requested resource");
	exchange_finish(x);
}

static void doc_openapi_v3(struct exchange *x)
{
	auto_sbuf struct sbuf out = SBUF(OPENAPI_MAX);
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	char etag[2 * SHA256_LEN + 3];

	for (size_t i = 2; i < x->nsegments; i++)
		sbuf_addf(&path, "%s%s", i > 2 ? "/" : "", x->segments[i]);
	if (!openapi_v3_group(api_registry(x->rest->api), path.p ? path.p : "", &out)) {
		not_found(x);
		return;
	}
	etag_of(sbuf_str(&out), etag);
	reply_tagged(x, "application/json", sbuf_str(&out), etag);
}

static void doc_version(struct exchange *x)
{
	exchange_reply_json(x, 200, discovery_version_info());
}

static void doc_health(struct exchange *x)
{
	const char *trouble = store_trouble(api_store(x->rest->api));
	bool ready = streq(x->segments[0], "readyz");
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT);

	if (ready && trouble) {
		sbuf_addf(&text, "[-]store failed: %s\nreadyz check failed\n", trouble);
		exchange_reply_text(x, 500, "text/plain; charset=utf-8", sbuf_str(&text));
		return;
	}
	if (exchange_param(x, "verbose"))
		sbuf_addf(&text, "[+]store ok\n%s check passed\n", x->segments[0]);
	else
		sbuf_adds(&text, "ok");
	exchange_reply_text(x, 200, "text/plain; charset=utf-8", sbuf_str(&text));
}

/* Aggregated discovery announces itself in the reply's type; that is how clients know. */
static void reply_aggregated(struct exchange *x, bool core)
{
	auto_sbuf struct sbuf out = SBUF(OPENAPI_MAX);
	char type[128];
	json_auto_t *doc = discovery_aggregated(api_registry(x->rest->api), core, x->accept.meta_version);

	jsonx_dump(doc, &out);
	snprintf(type, sizeof(type), DISCOVERY_TYPE, x->accept.meta_version);
	exchange_reply_text(x, 200, type, sbuf_str(&out));
}

static void doc_api(struct exchange *x)
{
	if (x->accept.form == REPLY_DISCOVERY)
		reply_aggregated(x, true);
	else
		exchange_reply_json(x, 200, discovery_versions(api_config(x->rest->api)->advertise));
}

static void doc_apis(struct exchange *x)
{
	if (x->accept.form == REPLY_DISCOVERY)
		reply_aggregated(x, false);
	else
		exchange_reply_json(x, 200, discovery_groups(api_registry(x->rest->api)));
}

static void reply_or_404(struct exchange *x, json_t *doc)
{
	if (doc)
		exchange_reply_json(x, 200, doc);
	else
		not_found(x);
}

static void doc_core_resources(struct exchange *x)
{
	reply_or_404(x, discovery_resources(api_registry(x->rest->api), "", x->segments[1]));
}

static void doc_group(struct exchange *x)
{
	reply_or_404(x, discovery_group(api_registry(x->rest->api), x->segments[1]));
}

static void doc_group_resources(struct exchange *x)
{
	reply_or_404(x, discovery_resources(api_registry(x->rest->api), x->segments[1], x->segments[2]));
}

/* The paths at the root, for people who look around with curl. */
static void doc_root(struct exchange *x)
{
	exchange_reply_json(x, 200,
			    json_pack("{s:[s,s,s,s,s,s,s,s,s]}", "paths", "/api", "/apis", "/healthz", "/livez",
				      "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"));
}

static const struct {
	const char *first, *second; /* NULL: any */
	size_t min, max;            /* segments */
	void (*serve)(struct exchange *x);
} rows[] = {
	{ "healthz", NULL, 1, 2, doc_health },
	{ "livez", NULL, 1, 2, doc_health },
	{ "readyz", NULL, 1, 2, doc_health },
	{ "version", NULL, 1, 1, doc_version },
	{ "metrics", NULL, 1, 1, rest_counters },
	{ "api", NULL, 1, 1, doc_api },
	{ "api", NULL, 2, 2, doc_core_resources },
	{ "apis", NULL, 1, 1, doc_apis },
	{ "apis", NULL, 2, 2, doc_group },
	{ "apis", NULL, 3, 3, doc_group_resources },
	{ "apis", "stoker.dev", 4, 4, rest_usage },
	{ "openapi", "v2", 2, 2, doc_openapi_v2 },
	{ "openapi", "v3", 2, 2, doc_openapi_v3_index },
	{ "openapi", "v3", 3, MAX_SEGMENTS, doc_openapi_v3 },
};

bool rest_document(struct exchange *x)
{
	const char *method = http_method(x->http);
	struct err ignored = ERR_INIT;

	if (!streq(method, "GET") && !streq(method, "HEAD")) {
		err_set(&x->err, ERR_NO_METHOD, "%s", "");
		exchange_finish(x);
		return true;
	}
	negotiate_accept(http_header(x->http, "Accept"), FORMS_DOCUMENT | FORM(DISCOVERY), &x->accept, &ignored);
	if (x->nsegments == 0) {
		doc_root(x);
		return true;
	}
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (!streq(rows[i].first, x->segments[0]) || x->nsegments < rows[i].min || x->nsegments > rows[i].max)
			continue;
		if (rows[i].second && !streq(rows[i].second, x->segments[1]))
			continue;
		rows[i].serve(x);
		return true;
	}
	return false;
}
