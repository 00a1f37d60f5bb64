// SPDX-License-Identifier: Apache-2.0
#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/client.h"
#include "test.h"

/* A client whose answers the test gives by hand. */
struct fake {
	struct client base;
	client_done *list_done;
	void *list_arg;
	client_event *event;
	void *event_arg;
	char since[32]; /* the revision that the watch was asked from */
	int lists, watches, stops;
	const char *more; /* the token of the next list's answer, or NULL */
	char asked[40];   /* limit and token of the last list */
	/* what the informer told */
	struct sbuf told;
	int synced;
};

static void fake_list(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		      void *arg)
{
	struct fake *f = (struct fake *)c;

	CHECK_STR(ref->plural, "things");
	CHECK_STR(o->labels, "a=b");
	f->lists++;
	snprintf(f->asked, sizeof(f->asked), "%lld %s", (long long)o->limit, o->cont ? o->cont : "-");
	f->list_done = done;
	f->list_arg = arg;
}

static void *fake_watch(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
			void *arg)
{
	struct fake *f = (struct fake *)c;

	(void)ref;
	f->watches++;
	f->event = event;
	f->event_arg = arg;
	snprintf(f->since, sizeof(f->since), "%s", o->rv ? o->rv : "");
	return f;
}

static void fake_watch_stop(struct client *c, void *watch)
{
	struct fake *f = (struct fake *)c;

	CHECK(watch == f);
	f->stops++;
	f->event = NULL;
}

static const struct client_ops fake_ops = { .list = fake_list, .watch = fake_watch, .watch_stop = fake_watch_stop };

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct fake *f = arg;

	sbuf_addf(&f->told, "%s%c%s", f->told.n ? " " : "",
		  !obj   ? '-'
		  : !old ? '+'
			 : '~',
		  jsonx_str_or(obj ? obj : old, "metadata.name", ""));
}

static void on_synced(void *arg)
{
	struct fake *f = arg;

	f->synced++;
}

static const char *told(struct fake *f)
{
	static char text[4096];

	snprintf(text, sizeof(text), "%s", f->told.p ? f->told.p : "");
	sbuf_reset(&f->told);
	return text;
}

static struct informer *start(struct fake *f)
{
	struct informer_handlers h = { .change = on_change, .synced = on_synced, .arg = f };

	log_set_level(LOG_ERROR);
	*f = (struct fake){ .base = { .ops = &fake_ops, .loop = loop_new() }, .told = SBUF(4096) };
	return informer_new(&f->base, &(struct ref){ .api_version = "v1", .plural = "things" },
			    &(struct list_options){ .labels = "a=b" }, &h);
}

static void stop(struct fake *f, struct informer *i)
{
	informer_free(i);
	loop_free(f->base.loop);
	sbuf_done(&f->told);
}

/* "a1 b2" at revision rv: each name's last character is its own revision. */
static void answer_list(struct fake *f, const char *items, const char *rv)
{
	json_auto_t *list = json_pack("{s:{s:s}, s:[]}", "metadata", "resourceVersion", rv, "items");
	struct str rest = str_of(items);
	struct str one;
	struct err none = ERR_INIT;

	if (f->more)
		jsonx_set_new(list, "metadata.continue", json_string(f->more));
	while (*items && str_split(&rest, ' ', &one))
		json_array_append_new(json_object_get(list, "items"),
				      json_pack("{s:{s:s%, s:s%}}", "metadata", "name", one.p, one.n - 1,
						"resourceVersion", one.p + one.n - 1, (size_t)1));
	f->list_done(f->list_arg, list, &none);
}

static void fail_list(struct fake *f)
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_UNAVAILABLE, "no server");
	f->list_done(f->list_arg, NULL, &e);
}

static void send(struct fake *f, const char *type, const char *name, const char *rv)
{
	json_auto_t *obj = json_pack("{s:{s:s, s:s}}", "metadata", "name", name, "resourceVersion", rv);
	struct err none = ERR_INIT;

	f->event(f->event_arg, type, obj, &none);
}

static void end_watch(struct fake *f, enum err_kind kind)
{
	struct err e = ERR_INIT;

	err_set(&e, kind, "over");
	f->event(f->event_arg, "", NULL, &e);
}

/* Turns until `n` lists and watches together have been asked for. */
static void await(struct fake *f, int n)
{
	for (int i = 0; i < 2000 && f->lists + f->watches < n; i++) {
		loop_turn(f->base.loop, true);
		usleep(1000);
	}
	CHECK_INT(f->lists + f->watches, n);
}

TEST("a list and then events fill the cache and are told once each")
{
	struct fake f;
	struct informer *i = start(&f);
	size_t pos = 0;
	size_t n = 0;
	const json_t *obj;

	CHECK(!informer_synced(i));
	answer_list(&f, "a1 b2", "5");
	CHECK(informer_synced(i));
	CHECK_INT(f.synced, 1);
	CHECK_STR(told(&f), "+a +b");
	CHECK_STR(f.since, "5");
	send(&f, "ADDED", "c", "6");
	send(&f, "MODIFIED", "a", "7");
	send(&f, "MODIFIED", "a", "7");
	send(&f, "DELETED", "b", "8");
	send(&f, "DELETED", "never", "9");
	CHECK_STR(told(&f), "+c ~a -b -never");
	CHECK(informer_find(i, NULL, "a") != NULL);
	CHECK(informer_find(i, NULL, "b") == NULL);
	while (informer_next(i, &pos, &obj))
		n++;
	CHECK_INT(n, 2);
	stop(&f, i);
	CHECK_INT(f.stops, 1);
}

TEST("a watch that ends goes on where it stopped, bookmarks counted")
{
	struct fake f;
	struct informer *i = start(&f);

	answer_list(&f, "a1", "5");
	send(&f, "MODIFIED", "a", "7");
	send(&f, "BOOKMARK", "", "9");
	CHECK_STR(told(&f), "+a ~a");
	end_watch(&f, ERR_UNAVAILABLE);
	CHECK_INT(f.watches, 1); /* not at once */
	await(&f, 3);
	CHECK_INT(f.lists, 1);
	CHECK_STR(f.since, "9");
	stop(&f, i);
}

TEST("after 410 the list is asked for again, and what it lacks was deleted")
{
	struct fake f;
	struct informer *i = start(&f);

	answer_list(&f, "a1 b2 c3", "5");
	told(&f);
	end_watch(&f, ERR_EXPIRED);
	CHECK_INT(f.lists, 2);
	answer_list(&f, "a1 b4 d6", "8");
	CHECK_STR(told(&f), "~b +d -c");
	CHECK_STR(f.since, "8");
	CHECK_INT(f.synced, 1);
	CHECK(informer_find(i, NULL, "c") == NULL);
	stop(&f, i);
}

TEST("a list that fails is tried again")
{
	struct fake f;
	struct informer *i = start(&f);

	fail_list(&f);
	CHECK(!informer_synced(i));
	await(&f, 2);
	fail_list(&f);
	await(&f, 3);
	answer_list(&f, "a1", "5");
	CHECK(informer_synced(i));
	CHECK_STR(told(&f), "+a");
	stop(&f, i);
}

TEST("an informer that is freed while it lists is gone with the answer")
{
	struct fake f;
	struct informer *i = start(&f);

	informer_free(i);
	answer_list(&f, "a1", "5");
	CHECK_STR(told(&f), "");
	CHECK_INT(f.watches, 0);
	loop_free(f.base.loop);
	sbuf_done(&f.told);
}

TEST("a list in pages is one list: what none of them has is gone, and a page that fails begins it anew")
{
	struct fake f;
	struct informer *i = start(&f);

	CHECK_STR(f.asked, "0 -");
	answer_list(&f, "a1 b1 z1", "1");
	CHECK_STR(told(&f), "+a +b +z");
	f.base.page = 2;
	end_watch(&f, ERR_EXPIRED);
	CHECK_STR(f.asked, "2 -");
	f.more = "next";
	answer_list(&f, "a1 b2", "7");
	CHECK_STR(f.asked, "2 next");
	CHECK_INT(f.watches, 1);
	CHECK_STR(told(&f), "~b");
	fail_list(&f);
	await(&f, 5);
	CHECK_STR(f.asked, "2 -");
	answer_list(&f, "a1 b2", "8");
	f.more = NULL;
	answer_list(&f, "c1", "8");
	CHECK_STR(told(&f), "+c -z");
	CHECK_STR(f.since, "8");
	CHECK_INT(f.synced, 1);
	stop(&f, i);
}
