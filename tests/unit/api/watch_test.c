// SPDX-License-Identifier: Apache-2.0
#include "api/watch.h"

#include "api/verbs.h"
#include "base/clock.h"
#include "loop/http.h"
#include "server.h"
#include "store/store_impl.h"

/* A reader that notes what it is told as "+a ~a -a" and takes it only when it likes. */
struct reader {
	struct server *s;
	struct watcher *w;
	struct sbuf seen;
	size_t pending;
	bool slow;
	int ended, cut;
	int64_t last_rv;
	struct watcher **stops; /* stopped at the first event, or NULL */
	int work_ms;            /* what each event takes it */
	size_t managers;        /* of the last object's fields */
};

static void note(struct reader *r, const char *type, const json_t *obj)
{
	static const struct {
		const char *type;
		char mark;
	} marks[] = {
		{ "ADDED", '+' }, { "MODIFIED", '~' }, { "DELETED", '-' }, { "BOOKMARK", '=' }, { "ERROR", '!' }
	};

	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (streq(marks[i].type, type))
			sbuf_addf(&r->seen, "%s%c%s", r->seen.n ? " " : "", marks[i].mark,
				  jsonx_str_or(obj, "metadata.name", ""));
	str_int64(jsonx_str_or(obj, "metadata.resourceVersion", ""), 1, INT64_MAX, &r->last_rv);
	r->managers = json_array_size(jsonx_at(obj, "metadata.managedFields"));
	for (int64_t until = clock_cpu_ns() + r->work_ms * 1000000LL; r->work_ms && clock_cpu_ns() < until;)
		;
	if (r->stops && *r->stops) {
		watch_stop(*r->stops);
		*r->stops = NULL;
	}
}

static void on_write(void *arg, struct str lines, struct http_shared **shared)
{
	struct reader *r = arg;
	struct str line;

	(void)shared;
	if (r->slow)
		r->pending += lines.n;
	CHECK(lines.n && lines.p[lines.n - 1] == '\n');
	while (str_split(&lines, '\n', &line)) {
		json_auto_t *event = NULL;
		struct err e = ERR_INIT;

		if (!line.n)
			continue;
		CHECK_INT(jsonx_parse(line.p, line.n, NULL, NULL, &event, &e), 0);
		note(r, jsonx_str_or(event, "type", "?"), json_object_get(event, "object"));
	}
}

static void on_object(void *arg, const char *type, const json_t *obj)
{
	note(arg, type, obj);
}

static size_t on_pending(void *arg)
{
	struct reader *r = arg;

	return r->pending;
}

static void on_end(void *arg, bool cut)
{
	struct reader *r = arg;

	r->w = NULL;
	r->ended++;
	r->cut += cut;
}

static void start_with(struct server *s, struct reader *r, struct api_request *req, const struct watch_options *o,
		       bool objects)
{
	struct watch_sink sink = { .write = on_write, .pending = on_pending, .end = on_end, .arg = r };

	r->s = s;
	r->seen = SBUF(1 << 20);
	if (objects)
		sink.object = on_object;
	s->e = ERR_INIT;
	watch_start(api_hub(s->api), req, o, &sink, &r->w, &s->e);
}

static void start(struct server *s, struct reader *r, const struct watch_options *o)
{
	struct api_request req = server_request(s, VERB_WATCH, "v1/configmaps", "default", NULL);

	start_with(s, r, &req, o, false);
}

/* What was seen since the last call. */
static const char *seen(struct reader *r)
{
	static char text[1 << 16];

	snprintf(text, sizeof(text), "%s", r->seen.p ? r->seen.p : "");
	sbuf_reset(&r->seen);
	return text;
}

static void reader_done(struct reader *r)
{
	if (r->w)
		watch_stop(r->w);
	sbuf_done(&r->seen);
}

static const struct watch_options plain = { .meta_version = "v1", .timeout_seconds = 3600 };

static void set_label(struct server *s, const char *name, const char *value)
{
	struct api_request req = server_request(s, VERB_PATCH, "v1/configmaps", "default", name);
	auto_free char *body = xasprintf("{'metadata':{'labels':{'x':%s}}}", value);
	json_auto_t *done = NULL;

	req.patch = PATCH_MERGE;
	done = server_call(s, &req, body);
	CHECK(done != NULL);
}

TEST("a watch begins with what is there and goes on with what changes")
{
	struct server s = server_new();
	struct reader r = { 0 };

	server_make_map(&s, "a", "{}");
	server_make_map(&s, "b", "{}");
	start(&s, &r, &plain);
	server_settle(&s);
	CHECK_STR(seen(&r), "+a +b");
	server_make_map(&s, "c", "{}");
	set_label(&s, "a", "'1'");
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "b", NULL);
	CHECK_STR(seen(&r), "+c ~a -b");
	CHECK_INT(r.last_rv, store_revision(s.store));
	CHECK_INT(watch_count(api_hub(s.api)), 1);
	reader_done(&r);
	CHECK_INT(watch_count(api_hub(s.api)), 0);
	server_done(&s);
}

TEST("a watch shows its own kind and namespace only")
{
	struct server s = server_new();
	struct reader r = { 0 };
	struct reader all = { 0 };
	struct api_request everywhere = server_request(&s, VERB_WATCH, "v1/configmaps", "", NULL);

	server_do(&s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'other'}}");
	start(&s, &r, &plain);
	start_with(&s, &all, &everywhere, &plain, false);
	server_settle(&s);
	server_do(&s, VERB_CREATE, "v1/configmaps", "other", NULL, "{'metadata':{'name':'far'}}");
	server_do(&s, VERB_CREATE, "v1/secrets", "default", NULL, "{'metadata':{'name':'hidden'}}");
	server_make_map(&s, "near", "{}");
	CHECK_STR(seen(&r), "+near");
	CHECK_STR(seen(&all), "+far +near");
	reader_done(&r);
	reader_done(&all);
	server_done(&s);
}

TEST("a watch from a revision reads the history and misses nothing")
{
	struct server s = server_new();
	struct reader r = { 0 };
	struct watch_options o = plain;

	server_make_map(&s, "a", "{}");
	o.skip_list = true;
	o.since = store_revision(s.store);
	s.batch = true;
	for (int i = 0; i < 300; i++) {
		auto_free char *value = xasprintf("'%d'", i);

		set_label(&s, "a", value);
	}
	s.batch = false;
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "a", NULL);
	start(&s, &r, &o);
	server_make_map(&s, "b", "{}"); /* committed while it is still behind */
	server_settle(&s);
	server_make_map(&s, "c", "{}");
	CHECK_INT(strlen(r.seen.p), 300 * 3 + strlen("-a +b +c"));
	CHECK(str_ends(r.seen.p, "~a -a +b +c"));
	reader_done(&r);
	server_done(&s);
}

TEST("objects enter and leave a selection, live and from history alike")
{
	struct server s = server_new();
	struct reader live = { 0 };
	struct reader late = { 0 };
	struct api_request req = server_request(&s, VERB_WATCH, "v1/configmaps", "default", NULL);
	struct api_request again = req;
	struct watch_options o = plain;
	struct selector *labels = NULL;

	CHECK_INT(selector_parse_labels("x=in", &labels, &s.e), 0);
	req.labels = labels; /* the watcher's from here on */
	start_with(&s, &live, &req, &plain, false);
	server_settle(&s);
	o.since = store_revision(s.store);
	o.skip_list = true;
	server_make_map(&s, "a", "{'x':'in'}");
	server_make_map(&s, "b", "{'x':'out'}");
	set_label(&s, "b", "'in'");
	set_label(&s, "a", "'out'");
	set_label(&s, "a", "'away'");
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "a", NULL);
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "b", NULL);
	CHECK_STR(seen(&live), "+a +b -a -b");
	labels = NULL;
	CHECK_INT(selector_parse_labels("x=in", &labels, &s.e), 0);
	again.labels = labels;
	start_with(&s, &late, &again, &o, false);
	server_settle(&s);
	CHECK_STR(seen(&late), "+a +b -a -b");
	reader_done(&live);
	reader_done(&late);
	server_done(&s);
}

#define CROWD 150 /* so many share what may wait that it is no more than 512 KiB each */

static void falls_behind(struct server *s, size_t kib, int made, const char *before, const char *after)
{
	struct reader r = { .slow = true };
	auto_free char *big = xmalloc(kib * 1024 + 1);

	memset(big, 'x', kib * 1024);
	big[kib * 1024] = '\0';
	start(s, &r, &plain);
	server_settle(s);
	for (int i = 0; i < made; i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'m%d'},'data':{'k':'%s'}}", i, big);

		server_do(s, VERB_CREATE, "v1/configmaps", "default", NULL, body);
	}
	CHECK_STR(seen(&r), before); /* then too much is waiting */
	server_settle(s);
	CHECK_STR(seen(&r), "");
	r.pending = 0;
	r.slow = false;
	watch_drained(r.w);
	server_settle(s);
	CHECK_STR(seen(&r), after);
	server_make_map(s, "live", "{}");
	CHECK_STR(seen(&r), "+live");
	CHECK_INT(r.ended, 0);
	reader_done(&r);
}

TEST("a reader that is too slow falls behind and catches up without a gap")
{
	struct server s = server_new();
	struct reader crowd[CROWD] = { 0 };

	for (int i = 0; i < CROWD; i++)
		start(&s, &crowd[i], &plain);
	falls_behind(&s, 300, 8, "+m0 +m1", "+m2 +m3 +m4 +m5 +m6 +m7");
	for (int i = 0; i < CROWD; i++)
		reader_done(&crowd[i]);
	server_done(&s);
}

TEST("where few watch, more may wait for a reader before it falls behind")
{
	struct server s = server_new();

	falls_behind(&s, 900, 12, "+m0 +m1 +m2 +m3 +m4 +m5 +m6 +m7 +m8 +m9", "+m10 +m11");
	server_done(&s);
}

TEST("a long list is sent as the reader takes it, and changes wait for its end")
{
	struct server s = server_new();
	struct reader r = { .slow = true };
	auto_free char *big = xmalloc(200 * 1024 + 1);
	int turns = 0;

	memset(big, 'x', 200 * 1024);
	big[200 * 1024] = '\0';
	for (int i = 0; i < 9; i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'m%d'},'data':{'k':'%s'}}", i, big);

		server_do(&s, VERB_CREATE, "v1/configmaps", "default", NULL, body);
	}
	start(&s, &r, &plain);
	server_settle(&s);
	CHECK(r.pending >= 512 * 1024 && r.pending < 1024 * 1024);
	server_make_map(&s, "new", "{}");
	server_do(&s, VERB_DELETE, "v1/configmaps", "default", "m8", NULL);
	while (r.pending && turns++ < 20) {
		r.pending = 0;
		watch_drained(r.w);
		server_settle(&s);
	}
	CHECK_STR(seen(&r), "+m0 +m1 +m2 +m3 +m4 +m5 +m6 +m7 +m8 +new -m8");
	reader_done(&r);
	server_done(&s);
}

TEST("the end of initial events is marked with the list's revision")
{
	struct server s = server_new();
	struct reader r = { 0 };
	struct watch_options o = plain;

	server_make_map(&s, "a", "{}");
	o.bookmarks = o.initial_events = true;
	start(&s, &r, &o);
	server_settle(&s);
	CHECK_STR(seen(&r), "+a =");
	CHECK_INT(r.last_rv, store_revision(s.store));
	reader_done(&r);
	server_done(&s);
}

TEST("a place that history no longer has ends the watch with 410")
{
	struct server s = server_new();
	struct reader r = { 0 };
	struct watch_options o = plain;

	o.skip_list = true;
	o.since = -1; /* older than anything */
	start(&s, &r, &o);
	server_settle(&s);
	CHECK_STR(seen(&r), "!");
	CHECK_INT(r.ended, 1);
	CHECK_INT(watch_count(api_hub(s.api)), 0);
	reader_done(&r);
	server_done(&s);
}

TEST("a watch ends cleanly at its time, with a bookmark for who wants one")
{
	struct server s = server_new();
	struct reader r = { 0 };
	struct watch_options o = plain;

	o.timeout_seconds = 0; /* the next turn */
	o.bookmarks = true;
	start(&s, &r, &o);
	server_turn(&s);
	for (int i = 0; i < 5000 && !r.ended; i++) {
		usleep(1000);
		server_turn(&s);
	}
	CHECK_INT(r.ended, 1);
	CHECK_INT(r.cut, 0);
	reader_done(&r);
	server_done(&s);
}

TEST("a stopping server ends what goes over the wire and nothing else")
{
	struct server s = server_new();
	struct reader wire = { 0 };
	struct reader inside = { 0 };
	struct api_request req = server_request(&s, VERB_WATCH, "v1/configmaps", "default", NULL);

	start(&s, &wire, &plain);
	start_with(&s, &inside, &req, &plain, true);
	server_settle(&s);
	watch_hub_drain(api_hub(s.api));
	CHECK_INT(wire.ended, 1);
	CHECK_INT(wire.cut, 0);
	CHECK_INT(inside.ended, 0);
	server_make_map(&s, "a", "{}");
	CHECK_STR(seen(&inside), "+a");
	reader_done(&wire);
	reader_done(&inside);
	server_done(&s);
}

TEST("a watch of the future, of nothing that is watched, or by a stranger is refused")
{
	static const char *const groups[] = { "system:authenticated", NULL };
	const struct caller nobody = { .user = "eve", .uid = "", .groups = groups };
	struct server s = server_new();
	struct reader r = { 0 };
	struct watch_options o = plain;
	struct api_request req = server_request(&s, VERB_WATCH, "v1/configmaps", "default", NULL);

	o.since = 999999;
	o.initial_events = true;
	start_with(&s, &r, &req, &o, false);
	CHECK_INT(s.e.kind, ERR_TIMEOUT);
	req.caller = &nobody;
	start_with(&s, &r, &req, &plain, false);
	CHECK_INT(s.e.kind, ERR_FORBIDDEN);
	req = server_request(&s, VERB_WATCH, "authorization.k8s.io/v1/subjectaccessreviews", "", NULL);
	start_with(&s, &r, &req, &plain, false);
	CHECK_INT(s.e.kind, ERR_NO_METHOD);
	CHECK_INT(watch_count(api_hub(s.api)), 0);
	reader_done(&r);
	server_done(&s);
}

TEST("tables and partial metadata are watched in their own form")
{
	static const enum watch_form forms[] = { WATCH_TABLE, WATCH_PARTIAL };
	struct server s = server_new();
	struct reader r[ARRAY_SIZE(forms)] = { 0 };

	server_make_map(&s, "a", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++) {
		struct watch_options o = plain;

		o.form = forms[i];
		start(&s, &r[i], &o);
	}
	server_settle(&s);
	server_make_map(&s, "b", "{}");
	CHECK_STR(seen(&r[0]), "+ +");
	CHECK_STR(seen(&r[1]), "+a +b");
	for (size_t i = 0; i < ARRAY_SIZE(forms); i++)
		reader_done(&r[i]);
	server_done(&s);
}

/* Which stores the pod without having read who manages its fields. */
static void bind_seen(struct server *s, const char *name)
{
	struct api_request bind = server_request(s, VERB_CREATE, "v1/pods", "default", name);
	json_auto_t *seen = server_ask(s, VERB_GET, "v1/pods", "default", name, NULL);

	json_object_del(json_object_get(seen, "metadata"), "managedFields");
	bind.subresource = "binding";
	bind.seen = seen;
	json_decref(server_call(s, &bind, "{'target':{'name':'n'}}"));
	CHECK_INT(s->code, 201);
}

TEST("a binding by what was seen shows watchers of every form who manages the pod's fields")
{
	static const struct {
		enum watch_form form;
		const char *fields, *events;
	} rows[] = { { WATCH_JSON, NULL, "+p ~p" },
		     { WATCH_PARTIAL, NULL, "+p ~p" },
		     { WATCH_JSON, "spec.nodeName=", "+p -p" },
		     { WATCH_JSON, "spec.nodeName!=", "+p" } };
	struct server s = server_new();
	struct reader r[ARRAY_SIZE(rows)] = { 0 };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct api_request req = server_request(&s, VERB_WATCH, "v1/pods", "default", NULL);
		struct watch_options o = plain;
		struct selector *fields = NULL;

		o.form = rows[i].form;
		CHECK_INT(selector_parse_fields(rows[i].fields, req.kind, &fields, &s.e), 0);
		req.field_sel = fields;
		start_with(&s, &r[i], &req, &o, false);
	}
	server_settle(&s);
	server_do(&s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'p'},'spec':{'containers':[{'name':'c','image':'host'}]}}");
	bind_seen(&s, "p");
	server_settle(&s);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_STR(seen(&r[i]), rows[i].events);
		CHECK_INT(r[i].managers, 1);
		reader_done(&r[i]);
	}
	server_done(&s);
}

/* Two clients in this process; the first event that either sees stops the other or itself. */
static void stop_within(bool itself, bool live)
{
	struct server s = server_new();
	struct reader a = { 0 };
	struct reader b = { 0 };
	struct api_request req = server_request(&s, VERB_WATCH, "v1/configmaps", "default", NULL);

	if (!live)
		server_make_map(&s, "x", "{}");
	start_with(&s, &a, &req, &plain, true);
	start_with(&s, &b, &req, &plain, true);
	if (live)
		server_settle(&s);
	a.stops = itself ? &a.w : &b.w;
	b.stops = itself ? &b.w : &a.w;
	if (live)
		server_make_map(&s, "x", "{}");
	server_settle(&s);
	server_make_map(&s, "y", "{}");
	CHECK_INT(watch_count(api_hub(s.api)), itself ? 0 : 1);
	CHECK_INT(!a.w + !b.w, itself ? 2 : 1);
	CHECK_STR(seen(a.w ? &a : &b), itself ? "+x" : "+x +y");
	reader_done(&a);
	reader_done(&b);
	server_done(&s);
}

TEST("a reader may stop another watch, or its own, while it is told something")
{
	stop_within(false, true);
	stop_within(false, false);
	stop_within(true, true);
	stop_within(true, false);
}

TEST("a watch that begins between a write and its commit starts with what is committed")
{
	struct server s = server_new();
	struct reader list = { 0 };
	struct reader changes = { 0 };
	struct watch_options now = plain;

	now.skip_list = true;
	server_make_map(&s, "a", "{}");
	s.batch = true;
	server_make_map(&s, "lost", "{}");
	start(&s, &list, &plain);
	start(&s, &changes, &now);
	server_make_map(&s, "lost-too", "{}");
	s.batch = false;
	vfs_fail(s.store->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	server_turn(&s);
	vfs_fail(s.store->vfs, &(struct store_fail){ 0 });
	s.store->full_timer.fire(s.store);
	server_settle(&s);
	CHECK_STR(seen(&list), "+a");
	CHECK_STR(seen(&changes), "");
	server_make_map(&s, "b", "{}"); /* has the revision that "lost" had */
	server_make_map(&s, "c", "{}");
	server_settle(&s);
	CHECK_STR(seen(&list), "+b +c");
	CHECK_STR(seen(&changes), "+b +c");
	reader_done(&list);
	reader_done(&changes);
	server_done(&s);
}

TEST("watches that have to wait for the next turn come first in it")
{
	struct server s = server_new();
	struct reader r[4] = { { .work_ms = 30 }, { .work_ms = 30 }, { .work_ms = 30 }, { .work_ms = 30 } };
	struct api_request req = server_request(&s, VERB_WATCH, "v1/configmaps", "default", NULL);

	server_make_map(&s, "a", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(r); i++)
		start_with(&s, &r[i], &req, &plain, true);
	for (size_t turn = 0; turn < ARRAY_SIZE(r); turn++) {
		server_turn(&s);
		for (size_t i = 0; i < ARRAY_SIZE(r); i++)
			CHECK_INT(r[i].seen.n, i <= turn ? 2 : 0);
	}
	server_settle(&s);
	for (size_t i = 0; i < ARRAY_SIZE(r); i++) {
		r[i].work_ms = 0;
		CHECK_STR(seen(&r[i]), "+a");
	}
	server_make_map(&s, "b", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(r); i++) {
		CHECK_STR(seen(&r[i]), "+b");
		reader_done(&r[i]);
	}
	server_done(&s);
}
