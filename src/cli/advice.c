// SPDX-License-Identifier: Apache-2.0
/* advice.c - see advice.h
 *
 * Three sources speak: the pods' containers (how they wait and how they ended), the scheduler's sentence in
 * PodScheduled, and warnings among the events.  Each has a table from what Kubernetes says to what helps.
 */
#include "cli/advice.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/advice_pbs.h"
#include "cli/amounts.h"
#include "cli/work.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/rest.h"

/* Everything that a sentence may be about. */
struct case_at_hand {
	const struct about *about;
	const json_t *pod;
	const char *container, *message;
	const json_t *ended; /* a terminated state, or NULL */
	json_t *out;
};

void advice_say(json_t *out, const char *fmt, ...)
{
	auto_free char *text = NULL;
	json_t *old;
	size_t i;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	json_array_foreach (out, i, old)
		if (streq(json_string_value(old), text))
			return;
	if (json_array_size(out) < ADVICE_AT_MOST)
		json_array_append_new(out, jsonx_string(text));
}

static const char *pod_name(const struct case_at_hand *c)
{
	return jsonx_str_or(c->pod, "metadata.name", "");
}

static const json_t *spec_of(const struct case_at_hand *c)
{
	static const char *const lists[] = { "spec.containers", "spec.initContainers" };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_t *s;
		size_t i;

		json_array_foreach (jsonx_at(c->pod, lists[l]), i, s)
			if (str_same(jsonx_str(s, "name"), c->container))
				return s;
	}
	return NULL;
}

/* " -c NAME" where a pod has several containers, so that the command works as it stands. */
static char *logs_command(const struct case_at_hand *c, const char *option)
{
	bool several = json_array_size(jsonx_at(c->pod, "spec.containers")) +
			       json_array_size(jsonx_at(c->pod, "spec.initContainers")) >
		       1;

	return xasprintf("stoker logs%s pod/%s%s%s -n %s", option, pod_name(c), several ? " -c " : "",
			 several ? c->container : "", jsonx_str_or(c->pod, "metadata.namespace", "default"));
}

/* ---- containers that wait ---- */

static void advise_image(struct case_at_hand *c)
{
	/* "Back-off pulling image "x": ErrImagePull: why": only the last part is news. */
	const char *why = strstr(c->message, "ErrImagePull: ");

	why = why ? why + strlen("ErrImagePull: ") : c->message;
	advice_say(c->out,
		   "The image \"%s\" could not be had: %s. `stoker image list` shows what is here, `stoker image pull` "
		   "fetches one and shows errors at once; a private registry needs imagePullSecrets.",
		   jsonx_str_or(spec_of(c), "image", ""), *why ? why : "no reason is given");
}

static void advise_image_name(struct case_at_hand *c)
{
	advice_say(c->out,
		   "\"%s\" is no name of an image; one is written REGISTRY/NAME:TAG, or host for this machine's files.",
		   jsonx_str_or(spec_of(c), "image", ""));
}

static void advise_config(struct case_at_hand *c)
{
	advice_say(
		c->out,
		"The container cannot be made: %s. Create what is missing, or correct its name; it is then tried again "
		"by itself.",
		*c->message ? c->message : "its configuration is wrong");
}

static void advise_crash(struct case_at_hand *c)
{
	auto_free char *logs = logs_command(c, " --previous");

	advice_say(c->out,
		   "It ends soon after each start and is started again ever later. `%s` shows what it said last.",
		   logs);
}

/* ---- containers that ended ---- */

static void advise_memory(struct case_at_hand *c)
{
	const char *limit = json_string_value(json_object_get(jsonx_at(spec_of(c), "resources.limits"), "memory"));

	if (limit)
		advice_say(
			c->out,
			"It used more memory than its limit of %s and was killed. Raise the limit (`stoker run --mem`, "
			"or resources.limits.memory), or let it use less.",
			limit);
	else
		advice_say(
			c->out,
			"It was killed because the machine ran out of memory. `stoker top pods -A --sort memory` shows "
			"who uses it; `stoker run --mem` reserves some.");
}

static void advise_start(struct case_at_hand *c)
{
	advice_say(c->out, "Its command could not be started: %s. Check the command's path and that the image has it.",
		   *c->message ? c->message : "it may not exist in the image");
}

static void advise_deadline(struct case_at_hand *c)
{
	advice_say(c->out, "It reached its time limit. Raise it (`stoker run --time`, or activeDeadlineSeconds), or "
			   "leave it out.");
}

static void advise_evicted(struct case_at_hand *c)
{
	advice_say(c->out, "It was driven off its node: %s", *c->message ? c->message : "the node needed the room");
}

static const struct advice_row {
	const char *reason;
	void (*advise)(struct case_at_hand *c);
} rows[] = {
	{ "ErrImagePull", advise_image },
	{ "ImagePullBackOff", advise_image },
	{ "ErrImageNeverPull", advise_image },
	{ "ImageInspectError", advise_image },
	{ "RegistryUnavailable", advise_image },
	{ "InvalidImageName", advise_image_name },
	{ "CreateContainerConfigError", advise_config },
	{ "CreateContainerError", advise_config },
	{ "RunContainerError", advise_config },
	{ "CrashLoopBackOff", advise_crash },
	{ "OOMKilled", advise_memory },
	{ "StartError", advise_start },
	{ "ContainerCannotRun", advise_start },
	{ "DeadlineExceeded", advise_deadline },
	{ "Evicted", advise_evicted },
	{ "TaintManagerEviction", advise_evicted },
};

static bool advise_by(struct case_at_hand *c, const char *reason)
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].reason, reason)) {
			rows[i].advise(c);
			return true;
		}
	return false;
}

static const char *meaning_of(int64_t code)
{
	static const struct {
		int64_t code;
		const char *meaning;
	} meanings[] = {
		{ 126, ": the command is no program that may be executed" },
		{ 127, ": the command was not found" },
		{ 130, ": it was interrupted (SIGINT)" },
		{ 134, ": it aborted itself (SIGABRT)" },
		{ 135, ": a bus error (SIGBUS), often too little shared memory" },
		{ 137, ": it was killed (SIGKILL)" },
		{ 139, ": it read or wrote where it may not (SIGSEGV)" },
		{ 143, ": it was told to end (SIGTERM)" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(meanings); i++)
		if (meanings[i].code == code)
			return meanings[i].meaning;
	return "";
}

static void advise_end(struct case_at_hand *c, const char *option)
{
	int64_t code = jsonx_int_or(c->ended, "exitCode", 0);
	auto_free char *logs = NULL;

	c->message = jsonx_str_or(c->ended, "message", "");
	if (advise_by(c, jsonx_str_or(c->ended, "reason", "")))
		return;
	if (code == 0)
		return;
	logs = logs_command(c, option);
	advice_say(c->out, "Its command ended with exit status %lld%s. `%s` shows what it said.", (long long)code,
		   meaning_of(code), logs);
}

static void advise_container(struct case_at_hand *c, const json_t *status)
{
	const char *waits = jsonx_str_or(status, "state.waiting.reason", "");
	const json_t *last = jsonx_at(status, "lastState.terminated");

	c->container = jsonx_str_or(status, "name", "");
	c->message = jsonx_str_or(status, "state.waiting.message", "");
	c->ended = jsonx_at(status, "state.terminated");
	if (c->ended) {
		advise_end(c, "");
		return;
	}
	/* How it ended says more than that it does so again and again. */
	if (last && streq(waits, "CrashLoopBackOff")) {
		c->ended = last;
		advise_end(c, " --previous");
	}
	c->message = jsonx_str_or(status, "state.waiting.message", "");
	if (*waits && !(last && streq(waits, "CrashLoopBackOff") && jsonx_int_or(last, "exitCode", 0)))
		advise_by(c, waits);
}

/* ---- pods without a node ---- */

static const struct {
	const char *says, *then;
} shortages[] = {
	{ "Insufficient nvidia.com/gpu", "`stoker gpus` shows who has the GPUs" },
	{ "Insufficient cpu", "`stoker top nodes -o wide` shows how many processors are spoken for" },
	{ "Insufficient memory", "`stoker top nodes -o wide` shows how much memory is spoken for" },
	{ "Too many pods", "`stoker top nodes` shows how many pods run" },
	{ "untolerated taint", "`stoker describe node/NAME` shows the taints of a node; the pod needs a toleration" },
	{ "didn't match",
	  "its nodeSelector or affinity fits no node; `kubectl get nodes --show-labels` shows what they have" },
	{ "unschedulable", "`kubectl uncordon NODE` lets the node take pods again" },
	{ "persistentvolumeclaim", "`kubectl get pvc` shows its claims; one must exist and be bound" },
	{ "had volume node affinity", "its volume is on another node" },
};

static void advise_place(struct case_at_hand *c, const char *message)
{
	bool known = false;

	for (size_t i = 0; i < ARRAY_SIZE(shortages); i++) {
		if (!strstr(message, shortages[i].says))
			continue;
		advice_say(c->out, "There is no node for it now (%s): %s.", message, shortages[i].then);
		known = true;
		break;
	}
	if (!known)
		advice_say(c->out, "There is no node for it now: %s", message);
	if (strstr(message, "Insufficient"))
		advice_say(c->out, "It starts by itself when there is room; ask for less if there never will be.");
}

static void advise_pod(struct case_at_hand *c)
{
	static const char *const lists[] = { "status.initContainerStatuses", "status.containerStatuses" };
	const json_t *placed = condition_of(c->pod, "PodScheduled");
	const char *reason = jsonx_str_or(c->pod, "status.reason", "");

	if (streq(jsonx_str_or(placed, "status", ""), "False")) {
		advise_place(c, jsonx_str_or(placed, "message", jsonx_str_or(placed, "reason", "")));
		return;
	}
	c->container = "";
	c->message = jsonx_str_or(c->pod, "status.message", "");
	if (*reason && advise_by(c, reason))
		return;
	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_t *s;
		size_t i;

		json_array_foreach (jsonx_at(c->pod, lists[l]), i, s)
			advise_container(c, s);
	}
}

/* ---- events ---- */

static void advise_quota(const struct about *a, const char *message, json_t *out)
{
	const char *at = strstr(message, "exceeded quota: ");
	const char *ns = a->ns && *a->ns ? a->ns : "default";
	auto_free char *name = NULL;

	if (!at)
		return;
	at += strlen("exceeded quota: ");
	name = xstrndup(at, strcspn(at, ", "));
	advice_say(out,
		   "The quota \"%s\" of namespace %s does not allow more pods (%s). `stoker describe resourcequota/%s "
		   "-n %s` "
		   "shows what is used; it goes on by itself when there is room.",
		   name, ns, at + strlen(name) + (at[strlen(name)] == ',' ? 2 : 0), name, ns);
}

static void advise_event(const struct about *a, const json_t *event, json_t *out)
{
	const char *reason = jsonx_str_or(event, "reason", "");
	const char *message = jsonx_str_or(event, "message", "");

	if (!streq(jsonx_str_or(event, "type", ""), "Warning"))
		return;
	if (strstr(message, "exceeded quota"))
		advise_quota(a, message, out);
	else if (streq(reason, "FailedCreate"))
		advice_say(out, "Its pods are refused: %s", message);
	else if (streq(reason, "FailedMount") || streq(reason, "FailedAttachVolume"))
		advice_say(out, "A volume is not ready: %s", message);
	else if (streq(reason, "ProvisioningFailed"))
		advice_say(out, "No volume can be made for the claim: %s", message);
	else if (streq(reason, "Unhealthy") && strstr(message, "eadiness"))
		advice_say(out, "It runs but is not ready: %s", message);
}

/* ---- the whole ---- */

static void advise_suspended(const struct about *a, json_t *out)
{
	advice_say(out,
		   "It is suspended. `kubectl patch %s %s -n %s --type merge -p '{\"spec\":{\"suspend\":false}}'` lets "
		   "it go "
		   "on.",
		   a->kind->singular, a->name, a->ns);
}

/* The part for kinds that are no workloads. */
static void advise_thing(const struct about *a, json_t *out)
{
	const json_t *ready = condition_of(a->obj, "Ready");

	if (a->kind == &kind_node && !streq(jsonx_str_or(ready, "status", ""), "True"))
		advice_say(out,
			   "The node does not answer or is not well: see that `stoker serve` (or its kubelet) runs "
			   "there. %s",
			   jsonx_str_or(ready, "message", ""));
	if (a->kind == &kind_node && jsonx_bool_or(a->obj, "spec.unschedulable", false))
		advice_say(out, "It takes no new pods. `kubectl uncordon %s` lets it.", a->name);
	if (a->kind == &kind_service && jsonx_at(a->obj, "spec.selector") && !json_array_size(a->beside))
		advice_say(out,
			   "No pod answers for it. `kubectl get pods -n %s -l ...` with its selector shows whether "
			   "there are "
			   "any.",
			   a->ns);
}

static void advise_all(const struct about *a, json_t *out)
{
	struct case_at_hand c = { .about = a, .out = out };
	json_t *obj;
	size_t i;
	size_t n = json_array_size(a->events);

	json_array_foreach (a->pods, i, obj) {
		c.pod = obj;
		advise_pod(&c);
	}
	for (i = n; i-- > 0;)
		advise_event(a, json_array_get(a->events, i), out);
}

json_t *advice_for(const struct about *a)
{
	json_t *out = json_array();
	struct work w;

	if (!a->obj)
		return out;
	if (!is_workload(a->kind)) {
		advise_thing(a, out);
		for (size_t i = json_array_size(a->events); a->kind == &kind_pvc && i-- > 0;)
			advise_event(a, json_array_get(a->events, i), out);
		return out;
	}
	work_read(a->kind, a->obj, a->pods, &w);
	if (a->kind == &kind_pbsjob && (w.phase == WORK_HELD || w.phase == WORK_SUSPENDED))
		advice_pbs_held(a->obj, out);
	else if (w.phase == WORK_SUSPENDED)
		advise_suspended(a, out);
	else if (a->kind == &kind_pbsjob && w.phase == WORK_FAILED && advice_pbs_limit(a->obj, out))
		return out;
	else if (w.phase == WORK_FAILED && str_starts(w.reason, "DeadlineExceeded"))
		advise_deadline(&(struct case_at_hand){ .about = a, .out = out });
	else if (w.phase == WORK_FAILED || w.phase == WORK_PENDING || (w.phase == WORK_RUNNING && w.ready < w.wanted))
		advise_all(a, out);
	return out;
}
