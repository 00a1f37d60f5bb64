// SPDX-License-Identifier: Apache-2.0
#include "api/list.h"
#include "server.h"

struct page {
	struct sbuf names; /* "a b c" */
	int64_t rv, remaining;
	char *cont;
	int stop_after; /* 0: never */
	int calls;
};

static bool add_name(void *arg, const struct api_item *item)
{
	struct page *p = arg;
	json_auto_t *obj = json_incref(item->object);
	struct err e = ERR_INIT;

	if (!obj)
		object_parse(item->text, &obj, &e);
	sbuf_addf(&p->names, "%s%s", p->names.n ? " " : "", jsonx_str_or(obj, "metadata.name", "?"));
	return ++p->calls != p->stop_after;
}

/* Empties the page and fills it; the names are "error CODE" after an error. */
static const char *list(struct server *s, struct api_request *req, struct page *p)
{
	p->names = SBUF(1 << 16);
	p->rv = p->remaining = 0;
	p->cont = NULL;
	p->calls = 0;
	s->e = ERR_INIT;
	if (api_list(s->api, req, false, add_name, p, &p->rv, &p->cont, &p->remaining, &s->e) < 0)
		sbuf_addf(&p->names, "error %d", err_http_code(s->e.kind));
	return p->names.p ? p->names.p : "";
}

static void page_done(struct page *p)
{
	sbuf_done(&p->names);
	free(p->cont);
	p->cont = NULL;
}

#define CHECK_PAGE(s, req, want)                                                                                       \
	do {                                                                                                           \
		struct page page_ = { 0 };                                                                             \
		CHECK_STR(list(s, req, &page_), want);                                                                 \
		page_done(&page_);                                                                                     \
	} while (0)

static struct server five_maps(void)
{
	struct server s = server_new();

	server_make_map(&s, "a", "{'n':'1','odd':'yes'}");
	server_make_map(&s, "b", "{'n':'2'}");
	server_make_map(&s, "c", "{'n':'3','odd':'yes'}");
	server_make_map(&s, "d", "{'n':'4'}");
	server_make_map(&s, "e", "{'n':'5','odd':'yes'}");
	return s;
}

TEST("pages follow one another, with how many are left")
{
	static const struct {
		const char *names;
		int64_t remaining;
	} rows[] = { { "a b", 3 }, { "c d", 1 }, { "e", -1 } };
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	auto_free char *cont = NULL;
	int64_t first = store_revision(s.store);

	req.limit = 2;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct page p = { 0 };

		req.cont = cont;
		CHECK_STR(list(&s, &req, &p), rows[i].names);
		CHECK_INT(p.remaining, rows[i].remaining);
		CHECK_INT(p.rv, first);
		CHECK_INT(p.cont != NULL, i < ARRAY_SIZE(rows) - 1);
		free(cont);
		cont = TAKE(p.cont);
		page_done(&p);
	}
	server_done(&s);
}

TEST("all pages show the moment of the first")
{
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	struct page p = { 0 };

	req.limit = 2;
	CHECK_STR(list(&s, &req, &p), "a b");
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "d", NULL);
	server_make_map(&s, "cc", "{}");
	server_do(&s, VERB_UPDATE, "v1/configmaps", "default", "e", "{'metadata':{'name':'e'},'data':{'k':'v'}}");
	req.cont = p.cont;
	req.limit = 0;
	CHECK_PAGE(&s, &req, "c d e");
	req.cont = NULL;
	CHECK_PAGE(&s, &req, "a b c cc e");
	page_done(&p);
	server_done(&s);
}

TEST("selectors are counted in pages by what they match")
{
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	struct selector *labels = NULL;
	struct page p = { 0 };

	CHECK_INT(selector_parse_labels("odd", &labels, &s.e), 0);
	req.labels = labels;
	CHECK_PAGE(&s, &req, "a c e");
	req.limit = 2;
	CHECK_STR(list(&s, &req, &p), "a c");
	CHECK_INT(p.remaining, -1);
	req.cont = p.cont;
	CHECK_PAGE(&s, &req, "e");
	page_done(&p);
	selector_free(labels);
	server_done(&s);
}

TEST("field selectors find by name, with and without a namespace")
{
	static const struct {
		const char *ns, *selector, *want;
	} rows[] = {
		{ "default", "metadata.name=c", "c" },
		{ "default", "metadata.name=zz", "" },
		{ "default", "metadata.name!=c", "a b d e" },
		{ "", "metadata.name=c", "c c" },
		{ "", "metadata.name=c,metadata.namespace=other", "c" },
		{ "other", "metadata.name=c,metadata.namespace=default", "" },
	};
	struct server s = five_maps();

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'other'}}");
	server_do(&s, VERB_CREATE, "v1/configmaps", "other", NULL, "{'metadata':{'name':'c'}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", rows[i].ns, NULL);
		struct selector *fields = NULL;

		CHECK_INT(selector_parse_fields(rows[i].selector, req.kind, &fields, &s.e), 0);
		req.field_sel = fields;
		CHECK_PAGE(&s, &req, rows[i].want);
		selector_free(fields);
	}
	server_done(&s);
}

TEST("a revision may be a lower bound or exact")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	char then[32];

	server_make_map(&s, "a", "{}");
	snprintf(then, sizeof(then), "%lld", (long long)store_revision(s.store));
	server_make_map(&s, "b", "{}");
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "a", NULL);
	const struct {
		const char *rv, *match, *want;
	} rows[] = {
		{ NULL, NULL, "b" },
		{ "0", NULL, "b" },
		{ then, NULL, "b" },
		{ then, "NotOlderThan", "b" },
		{ then, "Exact", "a" },
		{ "0", "NotOlderThan", "b" },
		{ "999999", NULL, "error 504" },
		{ "999999", "Exact", "error 504" },
		{ "x", NULL, "error 400" },
		{ "-1", NULL, "error 400" },
		{ NULL, "Exact", "error 422" },
		{ "", "NotOlderThan", "error 422" },
		{ then, "Sometimes", "error 422" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		req.rv = rows[i].rv;
		req.rv_match = rows[i].match;
		CHECK_PAGE(&s, &req, rows[i].want);
	}
	server_done(&s);
}

TEST("a list of the future says so and when to come back")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	auto_free char *text =
		xasprintf("Too large resource version: 999999, current: %lld", (long long)store_revision(s.store));

	req.rv = "999999";
	CHECK_PAGE(&s, &req, "error 504");
	CHECK_STR(s.e.text, text);
	CHECK_INT(s.e.causes[0].kind, CAUSE_RV_TOO_LARGE);
	CHECK_INT(s.e.retry_after, 1);
	server_done(&s);
}

static char *token(const char *json)
{
	json_auto_t *t = sample_json(json);
	auto_sbuf struct sbuf text = SBUF(4096);
	struct sbuf out = SBUF(4096);

	jsonx_dump(t, &text);
	base64url_encode(text.p, text.n, &out);
	return sbuf_steal(&out);
}

TEST("a token that nobody gave out is refused")
{
	static const char *const texts[] = { "!!!", "e30", "bm90IGpzb24", "W10", "====", "e" };
	static const char *const forged[] = { "{'rv':999999,'ns':'default','name':'a','n':1}",
					      "{'rv':'x','ns':'default','name':'a','n':1}",
					      "{'rv':-5,'ns':'default','name':'a','n':1}", "{'rv':1,'name':7}",
					      "[1,2]" };
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);

	for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
		req.cont = texts[i];
		CHECK_PAGE(&s, &req, "error 400");
	}
	for (size_t i = 0; i < ARRAY_SIZE(forged); i++) {
		auto_free char *text = token(forged[i]);
		struct page p = { 0 };

		req.cont = text;
		list(&s, &req, &p);
		if (s.e.kind != ERR_BAD_REQUEST && s.e.kind != ERR_EXPIRED)
			test_fail(__FILE__, __LINE__, "%s is taken", forged[i]);
		page_done(&p);
	}
	server_done(&s);
}

TEST("a token may not be joined with a revision")
{
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	struct page p = { 0 };

	req.limit = 1;
	list(&s, &req, &p);
	req.cont = p.cont;
	req.rv = "5";
	CHECK_PAGE(&s, &req, "error 400");
	req.rv = "0";
	CHECK_PAGE(&s, &req, "b");
	page_done(&p);
	server_done(&s);
}

TEST("a walk in small steps gives every object once")
{
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	struct page p = { .names = SBUF(1000), .stop_after = 0 };
	struct list_walk w;
	int steps = 0;

	CHECK_INT(list_walk_init(s.api, &req, &w, &s.e), 0);
	while (!w.done && steps++ < 20)
		CHECK_INT(list_walk_step(s.api, &req, &w, true, 2, add_name, &p, &s.e), 0);
	CHECK_STR(p.names.p, "a b c d e");
	CHECK_INT(w.sent, 5);
	list_walk_done(&w);
	page_done(&p);
	server_done(&s);
}

TEST("a reader that has seen enough is not called again")
{
	struct server s = five_maps();
	struct api_request req = server_request(&s, VERB_LIST, "v1/configmaps", "default", NULL);
	struct page p = { .stop_after = 2 };

	CHECK_STR(list(&s, &req, &p), "a b");
	page_done(&p);
	server_done(&s);
}

TEST("another version of a kind is listed in its own form")
{
	struct server s = server_new();
	struct api_request req = server_request(&s, VERB_LIST, "kubeflow.org/v1alpha2/tfjobs", "default", NULL);

	server_do(&s, VERB_CREATE, "kubeflow.org/v1/tfjobs", "default", NULL,
		  "{'metadata':{'name':'t'},'spec':{'tfReplicaSpecs':{'Worker':{'replicas':1,'template':{'spec':{"
		  "'containers':[{'name':'tensorflow','image':'i'}]}}}}}}");
	CHECK_PAGE(&s, &req, "t");
	server_done(&s);
}
