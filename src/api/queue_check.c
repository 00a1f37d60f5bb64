// SPDX-License-Identifier: Apache-2.0
/* queue_check.c - see queue_parts.h
 *
 * What is refused says by which rule.  An admin's work is in everybody's list: who may change a queue need not be let
 * in by it.
 */
#include <stdarg.h>

#include "api/accounts.h"
#include "api/object.h"
#include "api/pod_owner.h"
#include "api/queue_parts.h"
#include "api/queue_rules.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/walltime.h"

#define LONGEST_ROUTE 8 /* queues that pass work on to each other; more than that is a circle */

int submission_init(struct submission *s, struct api *api, const struct api_request *req, const json_t *obj,
		    struct err *e)
{
	const char *user = work_note(obj, USER_ANNOTATION);

	*s = (struct submission){ .api = api, .req = req, .obj = obj };
	if (!queue_is_pod(req->kind))
		return pod_owner_of_workload(api, req->ns, obj, &s->user, e);
	s->user = *user ? xstrdup(user) : NULL;
	return 0;
}

void submission_done(struct submission *s)
{
	free(s->user);
}

int submission_forbid(const struct submission *s, struct err *e, const char *fmt, ...)
{
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);
	char resource[320];
	va_list ap;

	va_start(ap, fmt);
	sbuf_vaddf(&why, fmt, ap);
	va_end(ap);
	kind_resource_name(s->req->kind, resource, sizeof(resource));
	return err_set(e, ERR_FORBIDDEN, "%.200s \"%.250s\" is forbidden: %s", resource, object_asked_name(s->obj),
		       why.p);
}

/* ---- who ---- */

static const char *group_of(const struct submission *s)
{
	struct err e = ERR_INIT;
	const struct account *acc = s->user ? accounts_find(api_accounts(s->api), s->user, &e) : NULL;

	return acc ? acc->group : "";
}

/* Groups of this machine, and those that the caller came with. */
static bool in_group(void *arg, const char *group)
{
	const struct submission *s = arg;
	struct err e = ERR_INIT;
	const struct account *acc = accounts_find(api_accounts(s->api), s->user, &e);

	return (acc && account_in_group_named(acc, group)) ||
	       (streq(s->user, s->req->caller->user) && caller_in_group(s->req->caller, group));
}

static int check_acl(struct submission *s, const struct queue_known *q, struct err *e)
{
	struct queue_visitor visitor = { .user = s->user, .in_group = in_group, .arg = s };
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);

	if (!s->user || queue_acl_allows(json_object_get(q->spec, "acl"), &visitor, &why))
		return 0;
	return submission_forbid(s, e, "queue %s: %s", q->name, why.p);
}

/* ---- what ---- */

struct checking {
	struct submission *s;
	struct queue_known *q;
	struct err *e;
};

static int check_time(void *arg, const char *field, const json_t *value)
{
	const struct checking *c = arg;
	const struct queue_known *q = c->q;
	const struct path *at = PATH_FIELD(NULL, field);
	int64_t seconds = queue_seconds(value);
	char limit[WALLTIME_TEXT];

	if (json_is_string(value) && seconds <= 0)
		return path_invalid(at, c->e, value, "must be a time such as 168:00:00, 7d or 3600");
	if (q->max_walltime != TIME_NONE && seconds > q->max_walltime) {
		walltime_text(q->max_walltime, limit);
		return path_invalid(at, c->e, value, "queue %s allows at most %s", q->name, limit);
	}
	if (q->min_walltime != TIME_NONE && seconds < q->min_walltime) {
		walltime_text(q->min_walltime, limit);
		return path_invalid(at, c->e, value, "queue %s takes only work of at least %s", q->name, limit);
	}
	return 0;
}

static int check_quota(const struct checking *c, const struct amount_of_limits *asks)
{
	const struct quota *quota = &c->q->quota;
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);
	struct quota_hit hit;

	for (int of = LIMIT_GPUS; quota->some && of < LIMIT__COUNT; of++) {
		int64_t cohort = quota->borrows ? queues_cohort(c->s->api, c->q, of) : 0;

		if (!quota_can_never(quota, of, asks->v[of], cohort, &hit))
			continue;
		quota_most_text(&hit, c->q->name, quota->cohort, &why);
		return submission_forbid(c->s, c->e, "%s: it could never start", why.p);
	}
	return 0;
}

static int check_asks(void *arg, const struct amount_of_limits *asks)
{
	const struct checking *c = arg;
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);
	struct limit_hit hit;

	if (!limits_impossible(&c->q->limits, asks, &hit))
		return check_quota(c, asks);
	limit_most_text(&hit, c->q->name, &why);
	return submission_forbid(c->s, c->e, "%s: it could never start", why.p);
}

int submission_stay(struct submission *s, struct queue_known *q, struct err *e)
{
	struct checking c = { s, q, e };
	struct queue_visit visit = { .time = check_time,
				     .asks = q->limited || q->quota.some ? check_asks : NULL,
				     .arg = &c };

	return queue_visit(s->req->kind, s->obj, &visit);
}

static int check_room(struct submission *s, struct queue_known *q, struct err *e)
{
	const char *user = s->user ? s->user : s->req->ns;
	const char *group = q->limits_queued ? group_of(s) : "";
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);
	struct limit_hit hit;
	int full = pod_owner_controller(s->obj) ? 0 : queues_full(s->api, q, user, group, 1, &hit, e);

	if (full <= 0)
		return full;
	limit_hit_text(&hit, q->name, user, group, &why);
	return submission_forbid(s, e, "%s", why.p);
}

/* ---- where ---- */

/* By which way a name was come by. */
struct way {
	const char *name, *field;
	int depth;
	const char *from; /* the Route that leads there, or NULL */
};

static int check_all(struct submission *s, struct queue_known *q, const struct way *way, struct err *e)
{
	if (!jsonx_bool_or(q->spec, "enabled", true))
		return submission_forbid(s, e, "queue %s is not enabled: it takes no new work", q->name);
	if (way->depth == 0 && jsonx_bool_or(q->spec, "fromRouteOnly", false))
		return submission_forbid(s, e, "queue %s takes work only from other queues", q->name);
	if (check_acl(s, q, e) < 0 || submission_stay(s, q, e) < 0)
		return -1;
	return check_room(s, q, e);
}

static int unknown(const struct submission *s, const struct way *way, struct err *e)
{
	auto_sbuf struct sbuf names = SBUF(LIMIT_STATUS_TEXT);
	json_auto_t *value = jsonx_string(way->name);

	queues_list(s->api, &names);
	if (way->field)
		return path_invalid(PATH_FIELD(NULL, way->field), e, value, "there is no such queue, only %.400s",
				    names.p);
	if (way->from)
		return submission_forbid(s, e, "queue %s passes work on to queue %s, which does not exist, only %.400s",
					 way->from, way->name, names.p);
	return submission_forbid(s, e, "queue %s of namespace %s does not exist, only %.400s", way->name, s->req->ns,
				 names.p);
}

static int enter(struct submission *s, const struct way *way, struct queue_known **ret, struct err *e);

/* The first that takes it; the last one's word if none does. */
static int follow(struct submission *s, const struct queue_known *q, const struct way *way, struct queue_known **ret,
		  struct err *e)
{
	json_auto_t *destinations = json_incref(json_object_get(q->spec, "destinations"));
	json_t *v;
	size_t i;

	submission_forbid(s, e, "queue %s leads nowhere", q->name);
	json_array_foreach (destinations, i, v) {
		const char *text = json_string_value(v);
		auto_free char *name = xstrndup(text, strcspn(text, "@"));

		if (way->depth == LONGEST_ROUTE)
			break;
		err_clear(e);
		if (enter(s, &(struct way){ name, NULL, way->depth + 1, q->name }, ret, e) == 0)
			return 0;
	}
	return -1;
}

static int enter(struct submission *s, const struct way *way, struct queue_known **ret, struct err *e)
{
	struct queue_known *q = NULL;

	if (queues_find(s->api, way->name, &q, e) < 0)
		return -1;
	if (!q)
		return unknown(s, way, e);
	if (streq(jsonx_str_or(q->spec, "type", ""), "Route")) {
		if (!jsonx_bool_or(q->spec, "enabled", true))
			return submission_forbid(s, e, "queue %s is not enabled: it takes no new work", q->name);
		return check_acl(s, q, e) < 0 ? -1 : follow(s, q, way, ret, e);
	}
	if (check_all(s, q, way, e) < 0)
		return -1;
	*ret = q;
	return 0;
}

int submission_enter(struct submission *s, const char *name, const char *field, struct queue_known **ret, struct err *e)
{
	return enter(s, &(struct way){ name, field, 0, NULL }, ret, e);
}

void queue_warn(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		struct api_result *ret)
{
	const json_t *destinations = jsonx_at(obj, "spec.destinations");
	const char *self = jsonx_str_or(obj, "metadata.name", "");
	const json_t *v;
	size_t i;

	(void)old;
	if (req->subresource || !streq(jsonx_str_or(obj, "spec.type", ""), "Route"))
		return;
	json_array_foreach (destinations, i, v) {
		const char *text = json_string_value(v);
		auto_free char *name = xstrndup(text, strcspn(text, "@"));
		struct queue_known *q = NULL;
		struct err e = ERR_INIT;

		if (!streq(name, self) && (queues_find(api, name, &q, &e) < 0 || q))
			continue;
		object_warn(&ret->warnings,
			    jsonx_stringf("spec.destinations[%zu]: %s", i,
					  streq(name, self) ? "a queue cannot pass work on to itself"
							    : "there is no such queue: nothing is passed on to it "
							      "before there is one"));
	}
}
