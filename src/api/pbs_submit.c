// SPDX-License-Identifier: Apache-2.0
/* pbs_submit.c - see pbs_parts.h: new jobs
 *
 * A job is its submitter's, or in a namespace that belongs to a user, that user's: what runs there runs with that
 * user's rights anyway.  Nobody but an admin says whose a job is, and root's is nobody's.
 */
#include "api/accounts.h"
#include "api/authn.h"
#include "api/object.h"
#include "api/pbs_board.h"
#include "api/pbs_parts.h"
#include "api/pod_owner.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_id.h"

#define MOST_DEFAULTS 4096

int pbs_name(struct api *api, const struct api_request *req, json_t *obj, struct err *e)
{
	char name[24];
	int64_t n;

	if (!pbs_is_job(req->kind) || req->name || *jsonx_str_or(obj, "metadata.name", "") ||
	    *jsonx_str_or(obj, "metadata.generateName", ""))
		return 0;
	if (pbs_number_next(api, req->ns, true, &n, e) < 0)
		return -1;
	snprintf(name, sizeof(name), "%lld", (long long)n);
	jsonx_set_new(obj, "metadata.name", json_string(name));
	return 0;
}

int pbs_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	if (req->subresource)
		return 0;
	return old ? pbs_change_admit(api, req, obj, old, e) : pbs_submit_admit(api, req, obj, e);
}

int pbs_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	if (req->subresource)
		return 0;
	return old ? pbs_change_assign(api, req, obj, old, e) : pbs_submit_assign(api, req, obj, e);
}

/* ---- whose ---- */

void pbs_stamp(json_t *obj, const char *owner, const char *queue)
{
	if (*owner)
		object_set_text(obj, "metadata.annotations", CREATOR_ANNOTATION, owner);
	if (*queue)
		object_set_text(obj, "metadata.labels", QUEUE_LABEL, queue);
}

static int find_owner(struct api *api, const struct api_request *req, const char *said, char **ret, struct err *e)
{
	const json_t *namespace = NULL;
	const char *home;

	if (stored_namespace(api, req->ns, &namespace, e) < 0)
		return -1;
	home = work_note(namespace, OWNER_ANNOTATION);
	if (*home)
		*ret = xstrdup(home);
	else if (authn_is_operator(api, req->caller) && !*said)
		*ret = xstrdup(req->caller->user);
	else if (req->caller == &caller_system || (pbs_is_admin(req->caller) && *said))
		*ret = xstrdup(said);
	else if (pbs_is_admin(req->caller))
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADUSER, "root user not allowed: user %.60s",
				     req->caller->user);
	else
		*ret = xstrdup(req->caller->user);
	if (!*said || streq(said, *ret))
		return 0;
	return pbs_error_set(e, ERR_FORBIDDEN, PBSE_PERM, "spec.owner is %.60s, but the job would be %.60s's", said,
			     *ret);
}

int pbs_submit_admit(struct api *api, const struct api_request *req, json_t *obj, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	auto_free char *owner = NULL;
	char queue[64];

	if (find_owner(api, req, jsonx_str_or(spec, "owner", ""), &owner, e) < 0 ||
	    pbs_check_strong(api, req->caller, spec, NULL, e) < 0 || pbs_queue_wanted(api, req->ns, obj, queue, e) < 0)
		return -1;
	if (json_array_size(json_object_get(spec, "elements")) && req->caller != &caller_system)
		return pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ,
				     "spec.elements: single elements are altered once there are some");
	if (!*queue)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_QUENODFLT, "requested queue not found");
	if (*owner)
		json_object_set_new(spec, "owner", jsonx_string(owner));
	json_object_set_new(spec, "queue", jsonx_string(queue));
	/* Where it was submitted to, whichever queue that leads to. */
	if (json_object_get(spec, "env"))
		jsonx_set_new(spec, "env.PBS_O_QUEUE", jsonx_string(queue));
	if (json_object_get(spec, "cancel"))
		jsonx_set_new(spec, "cancel.by", jsonx_string(req->caller->user));
	pbs_stamp(obj, owner, "");
	return 0;
}

/* ---- what is asked for beyond resources ---- */

int pbs_elements(const json_t *spec, int64_t *ret, struct err *e)
{
	const char *request = jsonx_str(spec, "array.request");
	struct pbs_set set = { 0 };
	struct err why = ERR_INIT;
	int slots;

	*ret = 1;
	if (!request)
		return 0;
	if (pbs_array_parse(request, &set, &slots, &why) < 0)
		return pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ, "%.300s", why.text);
	*ret = (int64_t)pbs_set_count(&set);
	pbs_set_done(&set);
	return 0;
}

static int last_of(const char *request)
{
	struct pbs_set set = { 0 };
	struct err e = ERR_INIT;
	int slots, last = 0;

	if (pbs_array_parse(request, &set, &slots, &e) == 0 && set.n)
		last = set.r[set.n - 1].last;
	pbs_set_done(&set);
	return last;
}

/* A server that takes larger arrays takes their indexes, whether they begin at 0 or 1. */
static int check_indexes(const char *request, int64_t most, struct err *e)
{
	int64_t highest = most > PBS_INDEX_TORQUE ? most : PBS_INDEX_TORQUE;
	int last = last_of(request);

	if (last <= highest)
		return 0;
	return pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ,
			     "index %d: must be at most %lld; a larger max_job_array_size allows more", last,
			     (long long)highest);
}

/* The limit of slots stands beside the indexes: "0-9%5" is 0-9 and 5. */
static int settle_array(json_t *spec, const json_t *settings, int64_t elements, struct err *e)
{
	json_t *array = json_object_get(spec, "array");
	const char *percent = strchr(jsonx_str_or(array, "request", ""), '%');
	int64_t most = jsonx_int_or(settings, "maxJobArraySize", 0);
	int64_t most_slots = jsonx_int_or(settings, "maxSlotLimit", 0);
	int64_t slots = 0;

	if (!array)
		return 0;
	if (percent && str_int64(percent + 1, 1, INT32_MAX, &slots)) {
		const char *request = jsonx_str_or(array, "request", "");

		json_object_set_new(array, "request", jsonx_stringn(request, (size_t)(percent - request)));
		json_object_set_new(array, "slots", json_integer(slots));
	}
	slots = jsonx_int_or(array, "slots", 0);
	if (check_indexes(jsonx_str_or(array, "request", ""), most, e) < 0)
		return -1;
	if (most && elements > most)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BAD_ARRAY_REQ,
				     "Requested array size too large, limit is %lld", (long long)most);
	if (most_slots && slots > most_slots)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BAD_ARRAY_REQ,
				     "Requested slot limit invalid, limit is %lld", (long long)most_slots);
	if (most_slots && !slots)
		json_object_set_new(array, "slots", json_integer(most_slots));
	return 0;
}

/* Runs as: only oneself, in groups that one is in. */
static int check_identity(struct api *api, const json_t *spec, const char *owner, bool in_container, json_t *status,
			  struct err *e)
{
	const struct account *acc = accounts_find(api_accounts(api), owner, e);
	uid_t runner = api_config(api)->owner;
	const char *group = NULL;
	json_t *v;
	size_t i;

	if (!acc)
		return -1;
	if (!acc->real && !in_container)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADUSER, "user %.60s has no account on this machine",
				     owner);
	if (runner && acc->uid != runner && !in_container)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADUSER,
				     "this server is run by user %u, not by root, and runs jobs of nobody else: root "
				     "must start it to have jobs of user %.60s",
				     (unsigned)runner, owner);
	json_array_foreach (json_object_get(spec, "userList"), i, v) {
		const char *s = json_string_value(v);

		if (strlen(owner) != strcspn(s, "@") || strncmp(owner, s, strlen(owner)) != 0)
			return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADUSER, "user %.60s may not run jobs as %.60s",
					     owner, s);
	}
	json_array_foreach (json_object_get(spec, "groupList"), i, v) {
		const char *s = json_string_value(v);
		auto_free char *name = xstrndup(s, strcspn(s, "@"));

		if (!account_in_group_named(acc, name))
			return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADGRP, "user %.60s is not in group %.60s", owner,
					     name);
		if (!group)
			json_object_set_new(status, "egroup", jsonx_string(name));
		group = s;
	}
	if (!group && *acc->group)
		json_object_set_new(status, "egroup", jsonx_string(acc->group));
	return 0;
}

/* Who submits from where, and how much one user may have here at all. */
static int check_server(struct api *api, const json_t *settings, const struct pbs_entry *n, struct err *e)
{
	const json_t *hosts = json_object_get(settings, "submitHosts");
	int64_t most = jsonx_int_or(settings, "maxUserQueuable", 0);
	bool listed = !json_array_size(hosts) || streq(n->host, jsonx_str_or(settings, "serverName", ""));
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)hosts, i, v)
		listed |= streq(json_string_value(v), n->host);
	if (!listed)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_BADUSER,
				     "ruserok failed validating %.60s/%.60s from %.120s", n->owner, n->owner, n->host);
	if (most && pbs_board_jobs_of(pbs_board(api_pbs(api)), n->owner) + n->elements > most)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_MAXUSERQUED,
				     "total number of current user's jobs exceeds the server limit: user %.60s@%.120s",
				     n->owner, n->host);
	return 0;
}

/* ---- the number ---- */

static bool is_eligible(const json_t *spec)
{
	const char *hold = jsonx_str_or(spec, "hold", "n");

	return (!*hold || streq(hold, "n")) && !json_object_get(spec, "executionTime") &&
	       !json_array_size(json_object_get(spec, "dependencies"));
}

static int number(struct api *api, const struct api_request *req, json_t *obj, const char *server, struct err *e)
{
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	json_t *status = json_object_get(obj, "status");
	auto_sbuf struct sbuf id = SBUF(LIMIT_STATUS_TEXT);
	char now[CLOCK_RFC3339_LEN];
	int64_t n;
	char text[24];

	/* As pbs_name() saw it, if the name is a number of its giving. */
	if (pbs_number_next(api, req->ns, true, &n, e) < 0)
		return -1;
	snprintf(text, sizeof(text), "%lld", (long long)n);
	if (!name[strspn(name, "0123456789")] && !streq(name, text) && req->caller != &caller_system)
		return path_invalid(PATH_FIELD(NULL, "metadata.name"), e, jsonx_at(obj, "metadata.name"),
				    "must not be a number: leave it out, and the job is called by its own");
	if (!req->dry_run && pbs_number_take(api, n, e) < 0)
		return -1;
	pbs_id_text(n, jsonx_at(obj, "spec.array") ? PBS_ARRAY : PBS_PLAIN, server, &id);
	clock_rfc3339(clock_wall(), now);
	json_object_set_new(status, "sequence", json_integer(n));
	json_object_set_new(status, "id", jsonx_string(id.p));
	json_object_set_new(status, "queueTime", json_string(now));
	/* The controller would say the same, in one more write for each job. */
	if (is_eligible(json_object_get(obj, "spec")))
		json_object_set_new(status, "eligibleTime", json_string(now));
	return 0;
}

/* ---- all together ---- */

static int submit(struct api *api, json_t *obj, struct pbs_entry *n, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	json_t *resources = json_object_get(spec, "resources");
	bool abroad = api_config(api)->pbs_abroad;
	const char *image;
	bool in_container;

	if (pbs_elements(spec, &n->elements, e) < 0 ||
	    pbs_queue_enter(n, jsonx_str_or(spec, "queue", ""), resources, e) < 0 ||
	    check_server(api, n->settings, n, e) < 0 || settle_array(spec, n->settings, n->elements, e) < 0)
		return -1;
	image = jsonx_str_or(spec, "image",
			     jsonx_str_or(n->resources, "image", jsonx_str_or(n->queue->spec, "image", "")));
	in_container = *image != '\0';
	if (abroad && !in_container)
		return pbs_error_set(e, ERR_FORBIDDEN, PBSE_QACESS,
				     "jobs run in containers here: name an image (-l image=), or a queue that has one");
	if (*n->owner &&
	    check_identity(api, spec, n->owner, in_container && !abroad, json_object_get(obj, "status"), e) < 0)
		return -1;
	if (pbs_stage_check(spec, n->settings, in_container, e) < 0)
		return -1;
	return pbs_depend_check(api, spec, n->owner, e);
}

int pbs_submit_assign(struct api *api, const struct api_request *req, json_t *obj, struct err *e)
{
	json_t *spec = json_object_get(obj, "spec");
	struct pbs_entry n = { .api = api,
			       .req = req,
			       .spec = spec,
			       .owner = jsonx_str_or(spec, "owner", ""),
			       .host = jsonx_str_or(spec, "submitHost", "localhost"),
			       .defaults = SBUF(MOST_DEFAULTS) };
	int r = pbs_server_settings(api, &n.settings, e);

	if (r == 0)
		r = submit(api, obj, &n, e);
	if (r == 0) {
		json_object_set(spec, "resources", n.resources);
		json_object_set_new(spec, "queue", jsonx_string(n.queue->name));
		pbs_stamp(obj, n.owner, n.queue->name);
		if (n.defaults.n)
			object_set_text(obj, "metadata.annotations", PBS_DEFAULTS_ANNOTATION, n.defaults.p);
		r = number(api, req, obj, jsonx_str_or(n.settings, "serverName", ""), e);
	}
	pbs_entry_done(&n);
	return r;
}
