// SPDX-License-Identifier: Apache-2.0
/* owner_cycle.c - an update may not make an object own itself, through however many others
 *
 * Objects in a ring keep each other alive for ever, or die together by surprise, and either way nobody meant it.  A new
 * object cannot close a ring, for nobody knows its uid yet; so only references that an update adds are followed, owner
 * by owner, to where they end.  A reference to something that is not there leads nowhere.
 *
 * Rings can still exist, made elsewhere: the walk passes every object once, and no more than a fixed number.  The
 * garbage collector (control/gc_plan.c) knows what to do with them.
 */
#include "api/owner_cycle.h"

#include "api/object.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"

#define STEPS_MOST 256 /* real chains have a handful of owners */

/* One owner on the way. */
struct step {
	char *kind, *name;
	json_t *owners; /* its own ownerReferences */
	size_t from;    /* the step that named it */
};

struct walk {
	struct api *api;
	const char *ns, *uid; /* of the object that is written */
	struct map seen;      /* uids */
	struct step *steps;
	size_t n, cap;
	struct err *e;
};

static bool names_uid(const json_t *refs, const char *uid)
{
	json_t *ref;
	size_t i;

	json_array_foreach ((json_t *)refs, i, ref)
		if (str_same(jsonx_str(ref, "uid"), uid))
			return true;
	return false;
}

static const struct kind *owner_kind(const struct walk *w, const json_t *ref)
{
	const char *version = jsonx_str_or(ref, "apiVersion", "");
	const char *slash = strchr(version, '/');
	auto_free char *group = xstrndup(version, slash ? (size_t)(slash - version) : 0);

	return registry_find_kind(api_registry(w->api), group, slash ? slash + 1 : version,
				  jsonx_str_or(ref, "kind", ""));
}

/* The metadata of the owner that a reference names, a new reference; NULL if it is not there. */
static json_t *find_owner(const struct walk *w, const json_t *ref)
{
	const struct kind *k = owner_kind(w, ref);
	struct err e = ERR_INIT;
	json_auto_t *owner = NULL;
	struct record r;
	int number;

	if (!k || (k->flags & KIND_VIRTUAL) || api_store_kind(w->api, k, &number, &e) < 0 ||
	    store_get(api_store(w->api), number, k->namespaced ? w->ns : "", jsonx_str_or(ref, "name", ""), &r, &e) <
		    0 ||
	    object_parse(r.body, &owner, &e) < 0 || !str_same(jsonx_str(owner, "metadata.uid"), jsonx_str(ref, "uid")))
		return NULL;
	return json_incref(json_object_get(owner, "metadata"));
}

/* Takes the references of a step as further steps; true if one of them is the object itself. */
static bool expand(struct walk *w, size_t from, const json_t *refs)
{
	json_t *ref;
	size_t i;

	if (names_uid(refs, w->uid))
		return true;
	json_array_foreach ((json_t *)refs, i, ref) {
		const char *uid = jsonx_str_or(ref, "uid", "");
		json_auto_t *meta = NULL;

		if (w->n >= STEPS_MOST || map_find(&w->seen, uid))
			continue;
		map_set(&w->seen, uid, w);
		meta = find_owner(w, ref);
		if (!meta)
			continue;
		ARRAY_PUSH(w->steps, w->n, w->cap,
			   ((struct step){ .kind = xstrdup(jsonx_str_or(ref, "kind", "")),
					   .name = xstrdup(jsonx_str_or(ref, "name", "")),
					   .owners = json_incref(json_object_get(meta, "ownerReferences")),
					   .from = from }));
	}
	return false;
}

/* "Job a, owned by CronJob b, owned by Job a": from the object through the steps that end with `last`. */
static void tell_way(const struct walk *w, size_t last, struct sbuf *out)
{
	size_t way[STEPS_MOST];
	size_t n = 0;

	for (size_t i = last; i < w->n; i = w->steps[i].from)
		way[n++] = i;
	while (n--)
		sbuf_addf(out, ", owned by %s %s", w->steps[way[n]].kind, w->steps[way[n]].name);
}

#define THE_OBJECT SIZE_MAX /* as a step */

/* Follows one reference that is new; false if it closes a ring. */
static bool follow(struct walk *w, const struct kind *k, const json_t *obj, size_t index, json_t *ref)
{
	json_auto_t *one = json_pack("[O]", ref);
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	auto_sbuf struct sbuf way = SBUF(LIMIT_STATUS_TEXT);
	char field[64];
	bool closed = expand(w, THE_OBJECT, one);
	size_t at = THE_OBJECT;

	for (size_t i = 0; !closed && i < w->n; i++) {
		at = i;
		closed = expand(w, i, w->steps[i].owners);
	}
	if (!closed)
		return true;
	sbuf_addf(&way, "%s %s", k->kind, name);
	tell_way(w, at, &way);
	snprintf(field, sizeof(field), "metadata.ownerReferences[%zu].uid", index);
	err_cause(w->e, CAUSE_INVALID, field,
		  "Invalid value: \"%s\": must not make an object own itself: %s, owned by %s %s",
		  jsonx_str_or(ref, "uid", ""), way.p, k->kind, name);
	return false;
}

static void walk_done(struct walk *w)
{
	for (size_t i = 0; i < w->n; i++) {
		free(w->steps[i].kind);
		free(w->steps[i].name);
		json_decref(w->steps[i].owners);
	}
	free(w->steps);
	map_done(&w->seen);
}

int owner_cycle_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	const json_t *refs = jsonx_at(obj, "metadata.ownerReferences");
	const json_t *had = jsonx_at(old, "metadata.ownerReferences");
	struct walk w = { .api = api, .ns = req->ns, .uid = jsonx_str_or(old, "metadata.uid", ""), .e = e };
	bool good = true;
	json_t *ref;
	size_t i;

	if (!old || !refs || req->subresource || json_equal(refs, had))
		return 0;
	map_init(&w.seen, NULL);
	json_array_foreach ((json_t *)refs, i, ref)
		if (good && !names_uid(had, jsonx_str_or(ref, "uid", "")))
			good = follow(&w, req->kind, obj, i, ref);
	walk_done(&w);
	return good ? 0 : -1;
}
