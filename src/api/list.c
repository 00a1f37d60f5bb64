// SPDX-License-Identifier: Apache-2.0
/* list.c - walking a kind's objects with selectors, pages and revisions
 *
 * A continue token carries the revision of the first page, so that all pages show one moment; the store reads back to
 * it as long as its history reaches.  Without selectors and conversions no object is decoded: what leaves is the stored
 * text.
 */
#include "api/list.h"

#include "api/object.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

int list_walk_resume(struct list_walk *w, const char *token, int64_t now, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_URL);
	json_auto_t *t = NULL;

	if (!base64url_decode(token, strlen(token), &text) ||
	    jsonx_parse(text.p ? text.p : "", text.n, NULL, NULL, &t, e) < 0 || !jsonx_str(t, "name") ||
	    !json_is_integer(json_object_get(t, "rv")) || jsonx_int_or(t, "rv", 0) > now ||
	    jsonx_int_or(t, "n", 0) < 0 || jsonx_int_or(t, "all", 0) < -1)
		return err_set(e, ERR_BAD_REQUEST, "continue key is not valid: %.60s", token);
	w->at = jsonx_int_or(t, "rv", 0);
	w->after_ns = xstrdup(jsonx_str_or(t, "ns", ""));
	w->after_name = xstrdup(jsonx_str_or(t, "name", ""));
	w->sent = jsonx_int_or(t, "n", 0);
	w->all = jsonx_int_or(t, "all", -1);
	return 0;
}

int list_revision(struct api *api, const struct api_request *req, int64_t *ret_at, struct err *e)
{
	int64_t now = store_revision(api_store(api));
	int64_t rv = 0;
	bool exact = req->rv_match && streq(req->rv_match, "Exact");

	if (req->rv_match && *req->rv_match && !exact && !streq(req->rv_match, "NotOlderThan"))
		return err_cause(e, CAUSE_NOT_SUPPORTED, "resourceVersionMatch",
				 "Unsupported value: \"%s\": supported values: \"Exact\", \"NotOlderThan\"",
				 req->rv_match);
	if (req->rv_match && *req->rv_match && (!req->rv || !*req->rv))
		return err_cause(e, CAUSE_FORBIDDEN, "resourceVersionMatch",
				 "Forbidden: resourceVersionMatch is forbidden unless resourceVersion is provided");
	if (req->rv && *req->rv && !str_int64(req->rv, 0, INT64_MAX, &rv))
		return err_set(e, ERR_BAD_REQUEST, "invalid resource version \"%.40s\": must be a number", req->rv);
	if (rv > now) {
		err_cause(e, CAUSE_RV_TOO_LARGE, "", "Too large resource version");
		e->retry_after = 1;
		return err_reword(e, ERR_TIMEOUT, "Too large resource version: %lld, current: %lld", (long long)rv,
				  (long long)now);
	}
	*ret_at = exact && rv ? rv : now;
	return 0;
}

int list_walk_init(struct api *api, const struct api_request *req, struct list_walk *w, struct err *e)
{
	*w = (struct list_walk){ .left = req->limit > 0 ? req->limit : -1, .all = -1 };
	if (api_store_kind(api, req->kind, &w->kind, e) < 0)
		return -1;
	if (req->cont && *req->cont) {
		if (req->rv && *req->rv && !streq(req->rv, "0"))
			return err_set(e, ERR_BAD_REQUEST,
				       "specifying resource version is not allowed when using continue");
		if (list_walk_resume(w, req->cont, store_revision(api_store(api)), e) < 0)
			return -1;
		if (w->at < store_oldest(api_store(api)))
			return err_set(e, ERR_EXPIRED,
				       "The provided continue parameter is too old to display a consistent list "
				       "result. You can "
				       "start a new list without the continue parameter.");
		return 0;
	}
	return list_revision(api, req, &w->at, e);
}

void list_walk_done(struct list_walk *w)
{
	free(w->after_ns);
	free(w->after_name);
	w->after_ns = w->after_name = NULL;
	store_past_free(TAKE(w->past));
}

bool list_matches(const struct api_request *req, const json_t *obj)
{
	return selector_match_labels(req->labels, jsonx_at(obj, "metadata.labels")) &&
	       (selector_is_everything(req->field_sel) || selector_match_fields(req->field_sel, obj));
}

struct step {
	const struct api_request *req;
	struct list_walk *w;
	bool decode;
	int budget;
	bool (*fn)(void *arg, const struct api_item *item);
	void *arg;
	bool stopped;
	struct err *e;
	/* last key seen; copied into the walk at the end of the step */
	struct sbuf ns, name;
};

/* Gives one matching object out in the request's version. */
static bool give(struct step *s, const struct record *r, json_t *obj)
{
	struct api_item item = { .kind = s->req->kind, .text = r->body };
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT * 4);
	bool go_on;

	if (obj && s->req->kind->from_storage) {
		obj = object_for_version(s->req->kind, json_incref(obj));
		jsonx_dump(obj, &text);
		item.text = sbuf_str(&text);
	} else {
		json_incref(obj);
	}
	item.object = obj;
	s->w->sent++;
	go_on = s->fn(s->arg, &item);
	json_decref(obj);
	return go_on;
}

static bool on_record(void *arg, const struct record *r)
{
	struct step *s = arg;
	json_auto_t *obj = NULL;

	if (s->budget-- <= 0) {
		s->stopped = true;
		return false;
	}
	if (!selector_may_match(s->req->labels, r->body) || !selector_may_match(s->req->field_sel, r->body))
		goto next;
	if (s->decode) {
		if (object_parse(r->body, &obj, s->e) < 0) {
			s->stopped = true;
			return false;
		}
		if (!list_matches(s->req, obj))
			goto next;
	}
	if (s->w->left == 0) {
		s->w->more = true;
		return false;
	}
	if (s->w->left > 0)
		s->w->left--;
	if (!give(s, r, obj))
		s->stopped = true;
next:
	sbuf_reset(&s->ns);
	sbuf_adds(&s->ns, r->ns);
	sbuf_reset(&s->name);
	sbuf_adds(&s->name, r->name);
	return !s->stopped;
}

/* metadata.name=X in one namespace needs no walk. */
static int step_single(struct api *api, struct step *s, const char *name, struct err *e)
{
	struct record r;

	s->w->done = true;
	if (store_get(api_store(api), s->w->kind, s->req->ns, name, &r, e) < 0) {
		if (e->kind != ERR_NOT_FOUND)
			return -1;
		err_clear(e);
		return 0;
	}
	s->budget = 1;
	on_record(s, &r);
	return e->kind == ERR_NONE ? 0 : -1;
}

static int step_range(struct api *api, struct step *s, struct err *e)
{
	struct list_walk *w = s->w;
	struct store_range range = {
		.kind = w->kind,
		.ns = s->req->kind->namespaced && *s->req->ns ? s->req->ns : NULL,
		.after_ns = w->after_ns,
		.after_name = w->after_name,
		.at = w->at,
		.past = &w->past,
	};

	if (store_list(api_store(api), &range, on_record, s, e) < 0)
		return -1;
	w->done = !s->stopped;
	if (s->name.n) {
		free(w->after_ns);
		free(w->after_name);
		w->after_ns = xstrdup(s->ns.p ? s->ns.p : "");
		w->after_name = xstrdup(s->name.p);
	}
	return e->kind == ERR_NONE ? 0 : -1;
}

int list_walk_step(struct api *api, const struct api_request *req, struct list_walk *w, bool want_objects, int max_scan,
		   bool (*fn)(void *arg, const struct api_item *item), void *arg, struct err *e)
{
	const char *name = selector_field_equals(req->field_sel, "metadata.name");
	struct step s = { .req = req, .w = w, .budget = max_scan, .fn = fn, .arg = arg, .e = e };
	int r;

	s.decode = want_objects || req->kind->from_storage || !selector_is_everything(req->labels) ||
		   !selector_is_everything(req->field_sel);
	sbuf_init(&s.ns, LIMIT_URL);
	sbuf_init(&s.name, LIMIT_URL);
	if (name && !w->after_name && (!req->kind->namespaced || *req->ns) && w->at == store_revision(api_store(api)))
		r = step_single(api, &s, name, e);
	else
		r = step_range(api, &s, e);
	sbuf_done(&s.ns);
	sbuf_done(&s.name);
	return r;
}

char *list_walk_token(struct api *api, const struct api_request *req, struct list_walk *w, int64_t *ret_remaining)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf token = SBUF(LIMIT_URL);
	json_auto_t *t = NULL;

	*ret_remaining = -1;
	if (!w->more)
		return NULL;
	if (selector_is_everything(req->labels) && selector_is_everything(req->field_sel)) {
		if (w->all < 0)
			w->all = store_count(api_store(api), w->kind,
					     req->kind->namespaced && *req->ns ? req->ns : NULL);
		*ret_remaining = w->all > w->sent ? w->all - w->sent : 1;
	}
	t = json_pack("{s:I, s:s, s:s, s:I, s:I}", "rv", (json_int_t)w->at, "ns", w->after_ns, "name", w->after_name,
		      "n", (json_int_t)w->sent, "all", (json_int_t)w->all);
	jsonx_dump(t, &text);
	base64url_encode(text.p, text.n, &token);
	return sbuf_steal(&token);
}

struct reader {
	bool (*fn)(void *arg, const struct api_item *item);
	void *arg;
	bool enough;
};

static bool give_to_reader(void *arg, const struct api_item *item)
{
	struct reader *r = arg;

	r->enough = !r->fn(r->arg, item);
	return !r->enough;
}

int api_list(struct api *api, struct api_request *req, bool want_objects,
	     bool (*fn)(void *arg, const struct api_item *item), void *arg, int64_t *ret_rv, char **ret_cont,
	     int64_t *ret_remaining, struct err *e)
{
	struct reader reader = { fn, arg, false };
	struct list_walk w;
	int r;

	if (verb_authorize(api, req, e) < 0)
		return -1;
	r = list_walk_init(api, req, &w, e);
	while (r == 0 && !w.done && !reader.enough)
		r = list_walk_step(api, req, &w, want_objects, 1000, give_to_reader, &reader, e);
	if (r == 0) {
		*ret_rv = w.at;
		*ret_cont = list_walk_token(api, req, &w, ret_remaining);
	}
	list_walk_done(&w);
	return r;
}
