// SPDX-License-Identifier: Apache-2.0
/* limit_range.c - a pod gets its namespace's defaults, then pods and claims are held against its bounds
 *
 * Defaults come before the pod is validated and before quotas look at it; bounds are checked once it is known to be
 * good.  All LimitRanges are kept, decoded, by namespace: they are few.  A write of one has them read again.
 */
#include "api/limit_range.h"

#include "api/object.h"
#include "api/stored.h"
#include "api/turn_guard.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/core.h"

struct limit_ranges {
	struct api *api;
	struct stored_kind kind;
	struct map spaces; /* namespace -> array of LimitRanges in order of names */
	bool loaded;
	struct turn_guard guard;
};

static void on_lost(void *arg)
{
	struct limit_ranges *l = arg;

	l->loaded = false;
}

static void decref(void *v)
{
	json_decref(v);
}

struct limit_ranges *limit_ranges_new(struct api *api)
{
	struct limit_ranges *l = xcalloc(1, sizeof(*l));

	*l = (struct limit_ranges){ .api = api,
				    .kind = { .group = "", .version = "v1", .plural = "limitranges" },
				    .guard = { .lost = on_lost, .arg = l } };
	map_init(&l->spaces, decref);
	return l;
}

void limit_ranges_free(struct limit_ranges *l)
{
	if (!l)
		return;
	turn_guard_done(&l->guard);
	map_done(&l->spaces);
	free(l);
}

void limit_range_written(struct api *api, const json_t *obj, const json_t *old)
{
	struct limit_ranges *l = api_limit_ranges(api);

	(void)obj;
	(void)old;
	l->loaded = false;
}

struct loading {
	struct limit_ranges *l;
	struct err *e;
};

static bool on_range(void *arg, const struct record *r)
{
	struct loading *l = arg;
	json_t *obj = NULL;
	json_t *list = map_find(&l->l->spaces, r->ns);

	if (object_parse(r->body, &obj, l->e) < 0)
		return false;
	if (!list) {
		list = json_array();
		map_set(&l->l->spaces, r->ns, list);
	}
	json_array_append_new(list, obj);
	return true;
}

/* The LimitRanges of a namespace, or NULL. */
static int ranges_of(struct limit_ranges *l, const char *ns, const json_t **ret, struct err *e)
{
	struct loading loading = { l, e };

	if (!l->loaded) {
		map_done(&l->spaces);
		map_init(&l->spaces, decref);
		if (stored_resolve(l->api, &l->kind, e) < 0 ||
		    store_list(api_store(l->api), &(struct store_range){ .kind = l->kind.number }, on_range, &loading,
			       e) < 0 ||
		    e->kind != ERR_NONE)
			return -1;
		l->loaded = true;
		turn_guard_watch_read(&l->guard, api_store(l->api));
	}
	*ret = map_find(&l->spaces, ns);
	return 0;
}

int limit_range_default(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	const json_t *ranges = NULL;
	bool changed = false;
	json_t *range;
	size_t i;

	if (old || req->subresource)
		return 0;
	if (ranges_of(api_limit_ranges(api), req->ns, &ranges, e) < 0)
		return -1;
	json_array_foreach ((json_t *)ranges, i, range)
		changed |= limit_rules_default(range, obj);
	if (changed)
		jsonx_set_new(obj, "status.qosClass", json_string(pod_qos_class(json_object_get(obj, "spec"))));
	return 0;
}

/* Several faults are told as Kubernetes tells them: "[this, that]". */
static int refuse(const struct api_request *req, const json_t *obj, const json_t *wrong, struct err *e)
{
	auto_sbuf struct sbuf all = SBUF(LIMIT_STATUS_TEXT);
	bool several = json_array_size(wrong) > 1;
	json_t *text;
	size_t i;

	json_array_foreach ((json_t *)wrong, i, text)
		sbuf_addf(&all, "%s%s", i ? ", " : "", json_string_value(text));
	return err_set(e, ERR_FORBIDDEN, "%s \"%.250s\" is forbidden: %s%s%s", req->kind->plural,
		       jsonx_str_or(obj, "metadata.name", ""), several ? "[" : "", all.p, several ? "]" : "");
}

/* A stored request is good as it is: only a new one is held against the bounds. */
static bool is_unchanged(const json_t *obj, const json_t *old)
{
	return jsonx_equal(jsonx_at(obj, "spec.resources.requests"), jsonx_at(old, "spec.resources.requests"));
}

int limit_range_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	const json_t *ranges = NULL;
	json_t *range;
	size_t i;

	if (req->subresource)
		return 0;
	/* What containers of a pod ask for never changes. */
	if (old && (streq(req->kind->plural, "pods") || is_unchanged(obj, old)))
		return 0;
	if (ranges_of(api_limit_ranges(api), req->ns, &ranges, e) < 0)
		return -1;
	json_array_foreach ((json_t *)ranges, i, range) {
		json_auto_t *wrong = limit_rules_check(range, req->kind->plural, obj);

		if (json_array_size(wrong))
			return refuse(req, obj, wrong, e);
	}
	return 0;
}
