// SPDX-License-Identifier: Apache-2.0
/* queue_rules.c - see queue_rules.h
 *
 * A pod always gets its queue's name as a label, and stays in that queue.  A workload gets it only if its namespace
 * chose another queue than batch, so that its pods follow it and not what the namespace says later.
 *
 * A walltime that is not kept would make every forecast a lie, so it becomes the pod's deadline, which the node
 * enforces.
 */
#include "api/queue_rules.h"

#include "api/authz.h"
#include "api/object.h"
#include "api/pbs.h"
#include "api/pod_owner.h"
#include "api/queue_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/walltime.h"

#define LABEL_FIELD "metadata.labels[" QUEUE_LABEL "]"

static bool is_admin(const struct caller *c)
{
	return caller_in_group(c, "system:masters");
}

/* ---- holds ---- */

/* Who may change queues may hold back what is in them. */
static int check_holds(struct api *api, const struct api_request *req, const json_t *obj, const json_t *old,
		       struct err *e)
{
	const struct authz_attributes operator= { .verb = "update", .group = "stoker.dev", .resource = "queues" };
	struct submission s = { .api = api, .req = req, .obj = obj };

	if (is_admin(req->caller) || queue_strong_holds(req->kind, obj) == queue_strong_holds(req->kind, old) ||
	    authz_allowed(api_authz(api), req->caller, &operator))
		return 0;
	return submission_forbid(&s, e,
				 "annotation " HOLD_ANNOTATION ": only who may update queues sets or lifts the holds "
				 "operator and system");
}

/* ---- which queue ---- */

int queue_of_namespace(struct api *api, const char *ns, char out[64], struct err *e)
{
	const json_t *namespace = NULL;
	const char *name;

	if (stored_namespace(api, ns, &namespace, e) < 0)
		return -1;
	name = queue_label(namespace);
	name = *name ? name : work_note(namespace, QUEUE_LABEL);
	snprintf(out, 64, "%s", name);
	return 0;
}

/* Which queue an object asks for: by itself, its controllers or its namespace. */
struct wish {
	char name[64];
	const char *field; /* where it stands, or NULL */
	struct queue_above above;
};

static int wish_read(struct api *api, const struct api_request *req, const json_t *obj, struct wish *ret, struct err *e)
{
	const char *own = queue_label(obj);

	*ret = (struct wish){ .field = *own ? LABEL_FIELD : NULL };
	if (queue_above_read(api, req->ns, obj, &ret->above, e) < 0)
		return -1;
	snprintf(ret->name, sizeof(ret->name), "%s", *own ? own : ret->above.queue);
	if (!ret->name[0] && queue_of_namespace(api, req->ns, ret->name, e) < 0)
		return -1;
	if (!ret->name[0])
		snprintf(ret->name, sizeof(ret->name), QUEUE_DEFAULT);
	return 0;
}

/* ---- pods ---- */

static bool is_for_us(const json_t *pod)
{
	const char *scheduler = jsonx_str_or(pod, "spec.schedulerName", "default-scheduler");

	return streq(scheduler, "default-scheduler") || streq(scheduler, "stoker");
}

static int64_t at_most(int64_t seconds, int64_t most)
{
	return most != TIME_NONE && seconds > most ? most : seconds;
}

/* Its own walltime, its controller's, its queue's default or the most that is allowed there; whatever it is, the
 * queue's maximum bounds it. */
static void set_times(json_t *pod, const struct queue_known *q, int64_t above)
{
	const json_t *deadline = jsonx_at(pod, "spec.activeDeadlineSeconds");
	const json_t *note = json_object_get(jsonx_at(pod, "metadata.annotations"), WALLTIME_ANNOTATION);
	int64_t most = q ? q->max_walltime : TIME_NONE;
	int64_t seconds = queue_seconds(note);
	char text[WALLTIME_TEXT];

	if (seconds <= 0 && json_is_integer(deadline))
		return;
	if (seconds <= 0 && above > 0) {
		walltime_text(at_most(above, most), text);
		object_set_text(pod, "metadata.annotations", WALLTIME_ANNOTATION, text);
	}
	if (json_is_integer(deadline) ||
	    (seconds <= 0 && (!q || (most == TIME_NONE && q->default_walltime == TIME_NONE))))
		return; /* a controller's deadline is for that controller to keep */
	seconds = seconds > 0 ? seconds : above > 0 ? above : q->default_walltime > 0 ? q->default_walltime : most;
	seconds = at_most(seconds, most);
	if (seconds > 0 && seconds <= INT32_MAX)
		jsonx_set_new(pod, "spec.activeDeadlineSeconds", json_integer(seconds));
}

/* What a controller of ours makes was accepted as a part of its workload. */
static bool is_followed(const struct api_request *req, const json_t *obj)
{
	return is_admin(req->caller) && pod_owner_controller(obj);
}

static int assign_pod(struct api *api, const struct api_request *req, json_t *pod, struct err *e)
{
	struct queue_known *q = NULL;
	struct submission s = { 0 };
	struct wish wish;
	int r;

	/* What is inside a job is a part of it, and has no turn of its own. */
	if (!is_for_us(pod) || *work_note(pod, POD_IN_JOB_UID_ANNOTATION))
		return 0;
	if (wish_read(api, req, pod, &wish, e) < 0)
		return -1;
	if (is_followed(req, pod)) {
		r = queues_find(api, wish.name, &q, e);
	} else {
		r = submission_init(&s, api, req, pod, e);
		r = r < 0 ? r : submission_enter(&s, wish.name, wish.field, &q, e);
	}
	submission_done(&s);
	if (r < 0)
		return -1;
	object_set_text(pod, "metadata.labels", QUEUE_LABEL, q ? q->name : wish.name);
	set_times(pod, q, wish.above.walltime);
	return 0;
}

static bool same_note(const json_t *a, const json_t *b, const char *annotation)
{
	return streq(work_note(a, annotation), work_note(b, annotation));
}

/* A label that is gone comes back; another one moves a pod that still waits. */
static int change_pod(struct api *api, const struct api_request *req, json_t *pod, const json_t *old, struct err *e)
{
	const char *was = queue_label(old);
	bool moved;
	struct submission s = { 0 };
	struct queue_known *q = NULL;
	int r;

	if (*was && !*queue_label(pod))
		object_set_text(pod, "metadata.labels", QUEUE_LABEL, was);
	moved = !streq(was, queue_label(pod));
	if ((!moved && same_note(pod, old, WALLTIME_ANNOTATION)) || !is_for_us(pod))
		return 0;
	r = submission_init(&s, api, req, pod, e);
	if (r == 0 && moved && *jsonx_str_or(old, "spec.nodeName", ""))
		r = submission_forbid(&s, e, "it has a node, so it stays in queue %s", was);
	else if (r == 0 && moved)
		r = submission_enter(&s, queue_label(pod), LABEL_FIELD, &q, e);
	else if (r == 0 && (r = queues_find(api, was, &q, e)) == 0 && q)
		r = submission_stay(&s, q, e);
	submission_done(&s);
	if (r == 0 && moved)
		object_set_text(pod, "metadata.labels", QUEUE_LABEL, q->name);
	return r;
}

/* ---- workloads ---- */

struct naming {
	struct submission *s;
	const char *queue; /* of the workload */
	struct err *e;
};

/* Pods may be in another queue than their workload; they must be let in there, too. */
static int check_named(void *arg, const char *field, const char *name)
{
	const struct naming *n = arg;
	struct queue_known *q;

	return streq(name, n->queue) ? 0 : submission_enter(n->s, name, field, &q, n->e);
}

static int enter_workload(struct submission *s, json_t *obj, const struct wish *wish, struct err *e)
{
	struct naming n = { s, wish->name, e };
	struct queue_known *q = NULL;

	if (submission_enter(s, wish->name, wish->field, &q, e) < 0 ||
	    queue_visit(s->req->kind, obj, &(struct queue_visit){ .queue = check_named, .arg = &n }) < 0)
		return -1;
	if (!streq(q->name, *queue_label(obj) ? queue_label(obj) : QUEUE_DEFAULT))
		object_set_text(obj, "metadata.labels", QUEUE_LABEL, q->name);
	return 0;
}

static int assign_workload(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			   struct err *e)
{
	const char *was = *queue_label(old) ? queue_label(old) : QUEUE_DEFAULT;
	struct queue_known *q = NULL;
	struct submission s = { 0 };
	struct wish wish = { 0 };
	bool moved;
	int r;

	if (is_followed(req, obj))
		return 0;
	if (old && streq(queue_label(obj), queue_label(old)))
		snprintf(wish.name, sizeof(wish.name), "%s", was); /* whatever the namespace says by now */
	else if (wish_read(api, req, obj, &wish, e) < 0)
		return -1;
	moved = !old || !streq(wish.name, was);
	if (!moved && !*queue_label(obj) && !streq(was, QUEUE_DEFAULT))
		object_set_text(obj, "metadata.labels", QUEUE_LABEL, was);
	if (!moved && is_admin(req->caller))
		return 0;
	r = submission_init(&s, api, req, obj, e);
	if (r == 0 && moved)
		r = enter_workload(&s, obj, &wish, e);
	else if (r == 0 && (r = queues_find(api, was, &q, e)) == 0 && q)
		r = submission_stay(&s, q, e);
	submission_done(&s);
	return r;
}

int queue_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	if (req->subresource || !queue_concerns(req->kind))
		return 0;
	if (check_holds(api, req, obj, old, e) < 0)
		return -1;
	if (pbs_is_job(req->kind))
		return 0; /* pbs_assign(), in the words of PBS */
	if (!queue_is_pod(req->kind))
		return assign_workload(api, req, obj, old, e);
	return old ? change_pod(api, req, obj, old, e) : assign_pod(api, req, obj, e);
}

int queue_admit_delete(const struct api_request *req, const json_t *old, struct err *e)
{
	if (!streq(req->kind->group, "stoker.dev") || !streq(req->kind->plural, "queues") ||
	    !streq(jsonx_str_or(old, "metadata.name", ""), QUEUE_DEFAULT))
		return 0;
	return err_set(e, ERR_FORBIDDEN,
		       "queues.stoker.dev \"" QUEUE_DEFAULT
		       "\" is forbidden: everything goes there that names no queue; "
		       "it can be stopped (spec.started: false) or closed (spec.enabled: false), but not deleted");
}
