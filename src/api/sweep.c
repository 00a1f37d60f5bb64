// SPDX-License-Identifier: Apache-2.0
/* sweep.c - deleting a collection without holding the loop
 *
 * Each step walks on in the list as it was at the start, notes the names that match, and deletes those; the next step
 * comes a turn later.  An object that has been replaced meanwhile is left alone (its uid differs), one that has gone is
 * no error.
 */
#include "api/sweep.h"

#include "api/list.h"
#include "api/verbs.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define STEP_OBJECTS 128 /* about 30 us each: well within STALL_BUDGET_MS */

struct sweep {
	struct api *api;
	const struct api_request *req;
	struct list_walk walk;
	json_t *victims;
	struct loop_hook more;
	struct store_after last;
	bool waiting;
	struct err err;
	void (*done)(void *arg, const struct err *e);
	void *arg;
};

static void sweep_free(struct sweep *s)
{
	loop_unschedule(api_loop(s->api), &s->more);
	if (s->waiting)
		store_after_cancel(&s->last);
	list_walk_done(&s->walk);
	json_decref(s->victims);
	free(s);
}

void sweep_cancel(struct sweep *s)
{
	if (s)
		sweep_free(s);
}

static void on_last(void *arg, const struct err *e)
{
	struct sweep *s = arg;
	void (*done)(void *, const struct err *) = s->done;
	void *done_arg = s->arg;
	struct err err = s->err.kind != ERR_NONE ? s->err : *e;

	s->waiting = false;
	sweep_free(s);
	done(done_arg, &err);
}

static void finish(struct sweep *s)
{
	s->last = (struct store_after){ .fn = on_last, .arg = s };
	s->waiting = true;
	store_after(api_store(s->api), &s->last);
}

static bool note(void *arg, const struct api_item *item)
{
	json_array_append_new(arg, json_incref(json_object_get(item->object, "metadata")));
	return true;
}

static int delete_victim(struct sweep *s, const json_t *meta)
{
	struct api_request one = *s->req;
	struct api_result gone = { 0 };
	struct err e = ERR_INIT;

	one.verb = VERB_DELETE;
	one.ns = jsonx_str_or(meta, "namespace", "");
	one.name = jsonx_str_or(meta, "name", "");
	one.if_uid = jsonx_str(meta, "uid");
	if (verb_delete(s->api, &one, &gone, &e) < 0 && e.kind != ERR_NOT_FOUND && e.kind != ERR_CONFLICT) {
		s->err = e;
		return -1;
	}
	api_result_done(&gone);
	return 0;
}

static void step(void *arg)
{
	struct sweep *s = arg;
	struct api_request stored = *s->req;
	json_t *meta;
	size_t i;

	stored.kind = kind_storage(s->req->kind);
	json_array_clear(s->victims);
	if (list_walk_step(s->api, &stored, &s->walk, true, STEP_OBJECTS, note, s->victims, &s->err) < 0) {
		finish(s);
		return;
	}
	json_array_foreach (s->victims, i, meta)
		if (delete_victim(s, meta) < 0) {
			finish(s);
			return;
		}
	if (s->walk.done)
		finish(s);
	else
		loop_schedule(api_loop(s->api), &s->more);
}

int sweep_start(struct api *api, const struct api_request *req, void (*done)(void *arg, const struct err *e), void *arg,
		struct sweep **ret, struct err *e)
{
	struct sweep *s;

	if (verb_authorize(api, req, e) < 0)
		return -1;
	if (!(req->kind->verbs & V(DELETECOLLECTION)))
		return err_set(e, ERR_NO_METHOD, "%s", "");
	s = xcalloc(1, sizeof(*s));
	s->api = api;
	s->req = req;
	s->victims = json_array();
	s->more = (struct loop_hook){ .run = step, .arg = s, .phase = LOOP_WORK };
	s->done = done;
	s->arg = arg;
	if (list_walk_init(api, req, &s->walk, e) < 0) {
		sweep_free(s);
		return -1;
	}
	loop_schedule(api_loop(api), &s->more);
	*ret = s;
	return 0;
}
