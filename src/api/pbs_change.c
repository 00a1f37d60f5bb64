// SPDX-License-Identifier: Apache-2.0
/* pbs_change.c - see pbs_parts.h: qalter, qhold, qrls, qmove, qdel, qrerun, qsig, qrun as writes of a PBSJob's spec
 *
 * Fields are rows: when they may change, and by whom.  Operators act on everyone's jobs, but what a job runs and where
 * it reads and writes stays its owner's word: it runs with the owner's rights.
 */
#include <string.h>

#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_values.h"

#define MOST_DEFAULTS 4096

enum {
	RUNNING = 1 << 0, /* may change while the job runs */
	OWNER = 1 << 1,   /* by the owner or an admin only */
	STRONG = 1 << 2,  /* by an operator only */
};

static const struct {
	const char *field;
	unsigned flags;
} fields[] = {
	{ "account", RUNNING },
	{ "arguments", OWNER },
	{ "array", RUNNING }, /* its slots; see check_array() */
	{ "attributes", RUNNING },
	{ "cancel", RUNNING },
	{ "checkpoint", RUNNING },
	{ "command", OWNER },
	{ "dependencies", RUNNING },
	{ "elementHold", RUNNING },
	{ "elements", RUNNING }, /* each on its own: pbs_change_elements.c */
	{ "env", OWNER },
	{ "errorPath", RUNNING | OWNER },
	{ "groupList", OWNER },
	{ "hold", RUNNING },
	{ "image", OWNER },
	{ "initialDir", OWNER },
	{ "joinPath", RUNNING | OWNER },
	{ "keepFiles", RUNNING | OWNER },
	{ "killDelaySeconds", RUNNING },
	{ "mail", RUNNING },
	{ "name", RUNNING },
	{ "outputPath", RUNNING | OWNER },
	{ "place", RUNNING }, /* of an element */
	{ "priority", RUNNING },
	{ "project", RUNNING },
	{ "rank", RUNNING },
	{ "rerunAfter", RUNNING },
	{ "rerunMessage", RUNNING },
	{ "rerunnable", RUNNING },
	{ "resources", RUNNING }, /* less of some; see check_running_resources() */
	{ "runHosts", RUNNING | STRONG },
	{ "runNow", RUNNING | STRONG },
	{ "shell", OWNER },
	{ "stageIn", OWNER },
	{ "stageOut", RUNNING | OWNER },
	{ "submitArgs", RUNNING | OWNER },
	{ "submitHost", RUNNING | OWNER },
	{ "suspend", RUNNING },
	{ "umask", OWNER },
	{ "userList", OWNER },
	{ "workingDir", OWNER },
};

static unsigned flags_of(const char *field)
{
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if (streq(fields[i].field, field))
			return fields[i].flags;
	return 0;
}

static int not_permitted(struct err *e)
{
	return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM, "operation not permitted");
}

static bool differ(const json_t *a, const json_t *b, const char *field)
{
	return !jsonx_equal(json_object_get(a, field), json_object_get(b, field));
}

/* ---- who ---- */

/* The holds of operators and of the system. */
static unsigned strong_holds(const json_t *spec)
{
	const char *hold = jsonx_str_or(spec, "hold", "n");

	return (strchr(hold, 'o') ? 1u : 0) | (strchr(hold, 's') ? 2u : 0);
}

int pbs_check_strong(struct api *api, const struct caller *c, const json_t *spec, const json_t *old, struct err *e)
{
	bool strong = strong_holds(spec) != strong_holds(old) ||
		      (jsonx_bool_or(spec, "cancel.purge", false) && !jsonx_bool_or(old, "cancel.purge", false));

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		strong |= (fields[i].flags & STRONG) && differ(spec, old, fields[i].field);
	return !strong || pbs_is_operator(api, c) ? 0 : not_permitted(e);
}

/* Whether the caller has the owner's rights, and not only an operator's. */
static bool is_owner(struct api *api, const struct caller *c, const json_t *job)
{
	const char *owner = jsonx_str_or(job, "spec.owner", "");
	const json_t *namespace = NULL;
	struct err e = ERR_INIT;

	if (pbs_is_admin(c) || streq(owner, c->user))
		return true;
	return !pbs_is_operator(api, c) &&
	       stored_namespace(api, jsonx_str_or(job, "metadata.namespace", ""), &namespace, &e) == 0 &&
	       streq(work_note(namespace, "stoker.dev/owner"), owner);
}

static int check_owners(struct api *api, const struct caller *c, const json_t *job, const json_t *spec,
			const json_t *old, struct err *e)
{
	if (is_owner(api, c, job))
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		if ((fields[i].flags & OWNER) && differ(spec, old, fields[i].field))
			return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM,
					     "operation not permitted: spec.%s is its owner's word", fields[i].field);
	return 0;
}

/* ---- when ---- */

static bool runs(char state)
{
	return state == 'R' || state == 'S' || state == 'E';
}

static int find_one(void *arg, json_t *pod, struct err *e)
{
	(void)pod;
	(void)e;
	*(bool *)arg = true;
	return 0;
}

int pbs_state(struct api *api, const json_t *job, char *ret, struct err *e)
{
	bool begun = false;

	*ret = *jsonx_str_or(job, "status.state", "Q");
	/* Its controller may not have seen it yet. */
	if (*ret == 'Q' && !streq(jsonx_str_or(job, "spec.hold", "n"), "n"))
		*ret = 'H';
	if (runs(*ret) || *ret == 'C')
		return 0;
	if (pbs_begun_all(api, job, find_one, &begun, e) < 0)
		return -1;
	*ret = begun ? 'R' : *ret;
	return 0;
}

/* Requests that make sense in some states only. */
static int check_requests(const json_t *spec, const json_t *old, char state, struct err *e)
{
	if (differ(spec, old, "rerunAfter") && !jsonx_bool_or(old, "rerunnable", true))
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_NORERUN, NULL);
	if ((differ(spec, old, "rerunAfter") && !runs(state)) ||
	    (differ(spec, old, "runNow") && jsonx_bool_or(spec, "runNow", false) && strchr("HW", state)) ||
	    (differ(spec, old, "suspend") && jsonx_bool_or(spec, "suspend", false) && !runs(state)) ||
	    (differ(spec, old, "queue") && (runs(state) || state == 'T')))
		return pbs_error_state(e, state);
	return 0;
}

/* Where qrun wants a job, or elements of it. */
static int check_hosts(struct api *api, const json_t *spec, const json_t *old, struct err *e)
{
	json_t *entry;
	size_t i;

	if (differ(spec, old, "runHosts") && pbs_check_hosts(api, json_object_get(spec, "runHosts"), e) < 0)
		return -1;
	if (!differ(spec, old, "elements"))
		return 0;
	json_array_foreach (json_object_get(spec, "elements"), i, entry)
		if (pbs_check_hosts(api, json_object_get(entry, "runHosts"), e) < 0)
			return -1;
	return 0;
}

/* A limit on time may become shorter; only operators give more.  Nothing else moves under a running job. */
static int check_running_resources(const struct caller *c, struct api *api, const json_t *now, const json_t *was,
				   struct err *e)
{
	static const char *const times[] = { "walltime", "cput", "pcput" };
	json_auto_t *a = json_is_object(now) ? jsonx_copy(now) : json_object();
	json_auto_t *b = json_is_object(was) ? jsonx_copy(was) : json_object();

	for (size_t i = 0; i < ARRAY_SIZE(times); i++) {
		int64_t more = INT64_MAX, before = INT64_MAX;

		pbs_time_parse(jsonx_str_or(a, times[i], ""), &more);
		pbs_time_parse(jsonx_str_or(b, times[i], ""), &before);
		if (more > before && !pbs_is_operator(api, c))
			return not_permitted(e);
		json_object_del(a, times[i]);
		json_object_del(b, times[i]);
	}
	json_object_del(a, "nodect");
	json_object_del(b, "nodect");
	return jsonx_equal(a, b) ? 0 : pbs_error_set(e, ERR_CONFLICT, PBSE_MODATRRUN, "Resource_List");
}

static int check_running(struct api *api, const struct caller *c, const json_t *spec, const json_t *old, struct err *e)
{
	json_auto_t *all = json_object();
	const char *field;
	json_t *v;

	json_object_update(all, (json_t *)old);
	json_object_update(all, (json_t *)spec);
	json_object_foreach (all, field, v)
		if (!(flags_of(field) & RUNNING) && differ(spec, old, field))
			return pbs_error_set(e, ERR_CONFLICT, PBSE_MODATRRUN, "%s", field);
	return check_running_resources(c, api, json_object_get(spec, "resources"), json_object_get(old, "resources"),
				       e);
}

int pbs_check_fields(struct api *api, const struct caller *c, const json_t *job, const json_t *spec, const json_t *old,
		     bool running, struct err *e)
{
	if (pbs_check_strong(api, c, spec, old, e) < 0 || check_owners(api, c, job, spec, old, e) < 0)
		return -1;
	return running ? check_running(api, c, spec, old, e) : 0;
}

/* Which elements there are was settled when the job came in. */
static int check_array(const json_t *spec, const json_t *old, struct err *e)
{
	struct pbs_set set = { 0 };
	struct err why = ERR_INIT;
	static const char *const ranges[] = { "elementHold", "cancel.elements" };

	if (!jsonx_equal(jsonx_at(spec, "array.request"), jsonx_at(old, "array.request")))
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BAD_ARRAY_REQ, "the elements of a job cannot be changed");
	for (size_t i = 0; i < ARRAY_SIZE(ranges); i++) {
		const char *text = jsonx_str_or(spec, ranges[i], "");
		int r = *text ? pbs_array_parse(text, &set, NULL, &why) : 0;

		pbs_set_done(&set);
		set = (struct pbs_set){ 0 };
		if (r < 0)
			return pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ, "%.300s", why.text);
		if (*text && !json_object_get(spec, "array"))
			return pbs_error_set(e, ERR_INVALID, PBSE_UNKARRAYID, "the job is no array");
	}
	return 0;
}

int pbs_change_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	const json_t *was = json_object_get(old, "spec");
	const struct caller *c = req->caller;
	const char *owner = jsonx_str_or(was, "owner", "");
	char state;

	if (spec != was && !json_object_get(spec, "owner") && *owner)
		json_object_set_new(spec, "owner", jsonx_string(owner));
	if (spec != was && !json_object_get(spec, "queue") && json_object_get(was, "queue"))
		json_object_set(spec, "queue", json_object_get(was, "queue"));
	pbs_stamp(obj, owner, "");
	if (c == &caller_system)
		return 0;
	if (pbs_may_act(api, c, old, e) < 0 || pbs_check_deleted(c, obj, old, e) < 0)
		return -1;
	if (spec == was || jsonx_equal(spec, was))
		return 0;
	if (differ(spec, was, "cancel") && json_object_get(spec, "cancel"))
		jsonx_set_new(spec, "cancel.by", jsonx_string(c->user));
	if (pbs_check_strong(api, c, spec, was, e) < 0 || check_owners(api, c, old, spec, was, e) < 0 ||
	    pbs_state(api, old, &state, e) < 0)
		return -1;
	if (state == 'C')
		return pbs_error_state(e, state);
	if (check_requests(spec, was, state, e) < 0 || check_array(spec, was, e) < 0 ||
	    pbs_elements_admit(api, c, old, spec, e) < 0 || check_hosts(api, spec, was, e) < 0)
		return -1;
	return runs(state) ? check_running(api, c, spec, was, e) : 0;
}

/* ---- where ---- */

/* What the old queue filled in is left open for the new one. */
static json_t *without_defaults(const json_t *obj, const json_t *old)
{
	json_t *resources = jsonx_copy(jsonx_at(obj, "spec.resources"));
	const json_t *was = jsonx_at(old, "spec.resources");
	struct str rest = str_of(work_note(old, PBS_DEFAULTS_ANNOTATION));
	struct str part;

	while (rest.n && str_split(&rest, ',', &part)) {
		auto_free char *name = xstrndup(part.p, part.n);

		if (jsonx_equal(json_object_get(resources, name), json_object_get(was, name)))
			json_object_del(resources, name);
	}
	return resources ? resources : json_object();
}

static void note_defaults(json_t *obj, const struct sbuf *names)
{
	json_t *notes = jsonx_at(obj, "metadata.annotations");

	if (names->n)
		json_object_set_new(notes, PBS_DEFAULTS_ANNOTATION, jsonx_string(names->p));
	else
		json_object_del(notes, PBS_DEFAULTS_ANNOTATION);
}

static int move(struct pbs_entry *n, json_t *obj, const json_t *old, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	const char *asked = jsonx_str_or(spec, "queue", "");
	bool moved = !str_same(asked, jsonx_str(old, "spec.queue"));
	auto_free char *name = xstrndup(asked, strcspn(asked, "@"));
	json_auto_t *resources = without_defaults(obj, old);
	int r = pbs_elements(spec, &n->elements, e);

	if (r == 0)
		r = moved ? pbs_queue_enter(n, name, resources, e) : pbs_queue_stay(n, name, resources, e);
	if (r < 0)
		return -1;
	json_object_set(spec, "resources", n->resources);
	json_object_set_new(spec, "queue", jsonx_string(n->queue->name));
	note_defaults(obj, &n->defaults);
	return 0;
}

static int check_stage(struct pbs_entry *n, struct err *e)
{
	const char *image = jsonx_str_or(n->spec, "image", jsonx_str_or(n->spec, "resources.image", ""));

	if (!n->settings && pbs_server_settings(n->api, &n->settings, e) < 0)
		return -1;
	return pbs_stage_check(n->spec, n->settings, *image, e);
}

int pbs_change_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	const json_t *was = json_object_get(old, "spec");
	struct pbs_entry n = { .api = api,
			       .req = req,
			       .spec = spec,
			       .owner = jsonx_str_or(was, "owner", ""),
			       .host = jsonx_str_or(spec, "submitHost", "localhost"),
			       .operator= pbs_is_operator(api, req->caller),
			       .defaults = SBUF(MOST_DEFAULTS) };
	int r = 0;

	if (spec != was && req->caller != &caller_system &&
	    (differ(spec, was, "queue") || differ(spec, was, "resources"))) {
		r = pbs_server_settings(api, &n.settings, e);
		if (r == 0)
			r = move(&n, obj, old, e);
	}
	if (r == 0 && spec != was && req->caller != &caller_system && differ(spec, was, "elements")) {
		r = pbs_server_settings(api, &n.settings, e);
		if (r == 0)
			r = pbs_elements_assign(&n, spec, was, e);
	}
	if (r == 0 && spec != was && req->caller != &caller_system && differ(spec, was, "dependencies"))
		r = pbs_depend_check(api, spec, n.owner, e);
	if (r == 0 && spec != was && (differ(spec, was, "stageIn") || differ(spec, was, "stageOut")))
		r = check_stage(&n, e);
	pbs_entry_done(&n);
	pbs_stamp(obj, "", jsonx_str_or(obj, "spec.queue", ""));
	return r;
}

int pbs_admit_delete(struct api *api, const struct api_request *req, const json_t *old, struct err *e)
{
	if (streq(req->kind->group, "stoker.dev") && streq(req->kind->plural, "pbsservers"))
		return err_set(
			e, ERR_FORBIDDEN,
			"pbsservers.stoker.dev \"%.253s\" is forbidden: every PBS job needs it; fields that are taken "
			"out have their defaults again",
			jsonx_str_or(old, "metadata.name", ""));
	if (!pbs_is_job(req->kind) || req->caller == &caller_system)
		return 0;
	return pbs_may_act(api, req->caller, old, e);
}
