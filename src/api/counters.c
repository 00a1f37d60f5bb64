// SPDX-License-Identifier: Apache-2.0
/* counters.c - counts requests by what they asked for and how they ended, and objects by resource
 *
 * Requests: one look-up by a short key each.  The key holds nothing that a client could make up, but there may be many
 * custom resources, so their number has a ceiling.  Objects: a kind is counted in the store when it is first asked for;
 * from then on committed changes add and subtract.
 */
#include "api/counters.h"

#include "base/map.h"
#include "base/mem.h"
#include "base/metrics.h"

#define KEY_MAX    512
#define SERIES_MAX 10000

struct counters {
	struct api *api;
	struct map requests; /* "verb code resource group version subresource" -> uint64_t */
	struct store_subscriber sub;
	struct held {
		bool counted;
		int64_t objects;
	} * held; /* by the store's number of a kind */
	size_t nheld;
};

/* ---- requests ---- */

static char *append(char *p, const char *end, const char *s)
{
	size_t n = strlen(s);

	if (n + 1 > (size_t)(end - p))
		return p; /* no resource has such a name */
	memcpy(p, s, n);
	p[n] = ' ';
	return p + n + 1;
}

void counters_request(struct counters *c, const char *verb, const struct kind *k, const char *subresource, int code)
{
	char key[KEY_MAX];
	const char *end = key + sizeof(key) - 1;
	char digits[4] = { (char)('0' + code / 100 % 10), (char)('0' + code / 10 % 10), (char)('0' + code % 10), 0 };
	char *p = append(key, end, verb);
	uint64_t *n;

	p = append(p, end, digits);
	p = append(p, end, k ? k->plural : "");
	p = append(p, end, k ? k->group : "");
	p = append(p, end, k ? k->version : "");
	p = append(p, end, subresource ? subresource : "");
	*p = '\0';
	n = map_find_n(&c->requests, key, (size_t)(p - key));
	if (!n) {
		if (c->requests.n >= SERIES_MAX)
			return;
		n = xcalloc(1, sizeof(*n));
		map_set(&c->requests, key, n);
	}
	(*n)++;
}

static void add_requests(const struct counters *c, struct sbuf *out)
{
	enum { VERB, CODE, RESOURCE, GROUP, VERSION, SUBRESOURCE, PARTS };
	const char *key;
	size_t pos = 0;
	void *n;

	metrics_family(out, "apiserver_request_total", "counter",
		       "Requests answered, by verb, resource and status code.");
	while (map_next(&c->requests, &pos, &key, &n)) {
		auto_free char *text = xstrdup(key);
		char *parts[PARTS];
		char *p = text;

		for (size_t i = 0; i < PARTS; i++) {
			parts[i] = p;
			p += strcspn(p, " ");
			if (*p)
				*p++ = '\0';
		}
		metrics_sample(out, "apiserver_request_total", (double)*(uint64_t *)n, "verb", parts[VERB], "group",
			       parts[GROUP], "version", parts[VERSION], "resource", parts[RESOURCE], "subresource",
			       parts[SUBRESOURCE], "code", parts[CODE], NULL);
	}
}

/* ---- objects ---- */

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct counters *c = arg;

	for (size_t i = 0; i < n; i++) {
		struct held *h = (size_t)changes[i].kind < c->nheld ? &c->held[changes[i].kind] : NULL;

		if (h && h->counted)
			h->objects += (changes[i].op == STORE_CREATED) - (changes[i].op == STORE_DELETED);
	}
}

static struct held *held_of(struct counters *c, int kind)
{
	while (c->nheld <= (size_t)kind) {
		c->held = xrealloc(c->held, (c->nheld + 1) * sizeof(*c->held));
		c->held[c->nheld++] = (struct held){ 0 };
	}
	return &c->held[kind];
}

static bool is_stored(const struct kind *k)
{
	return !(k->flags & KIND_VIRTUAL);
}

/* Several versions of a kind are stored as one. */
static bool is_first(const struct registry *r, size_t at)
{
	const struct kind *k = registry_at(r, at);

	for (size_t i = 0; i < at; i++)
		if (streq(registry_at(r, i)->plural, k->plural) && streq(registry_at(r, i)->group, k->group))
			return false;
	return true;
}

static void add_objects(struct counters *c, struct sbuf *out)
{
	const struct registry *r = api_registry(c->api);
	const struct kind *k;

	metrics_family(out, "apiserver_storage_objects", "gauge", "Objects stored, by resource.");
	for (size_t i = 0; (k = registry_at(r, i)); i++) {
		auto_free char *resource = *k->group ? xasprintf("%s.%s", k->plural, k->group) : xstrdup(k->plural);
		struct err e = ERR_INIT;
		struct held *h;
		int kind;

		if (!is_stored(k) || !is_first(r, i) || api_store_kind(c->api, k, &kind, &e) < 0)
			continue;
		h = held_of(c, kind);
		if (!h->counted)
			*h = (struct held){ true, store_count(api_store(c->api), kind, NULL) };
		metrics_sample(out, "apiserver_storage_objects", (double)h->objects, "resource", resource, NULL);
	}
}

/* ---- life ---- */

void counters_text(struct counters *c, struct sbuf *out)
{
	metrics_process(out);
	add_requests(c, out);
	add_objects(c, out);
}

struct counters *counters_new(struct api *api)
{
	struct counters *c = xcalloc(1, sizeof(*c));

	c->api = api;
	map_init(&c->requests, free);
	c->sub = (struct store_subscriber){ .fn = on_changes, .arg = c };
	store_subscribe(api_store(api), &c->sub);
	return c;
}

void counters_free(struct counters *c)
{
	if (!c)
		return;
	store_unsubscribe(api_store(c->api), &c->sub);
	map_done(&c->requests);
	free(c->held);
	free(c);
}
