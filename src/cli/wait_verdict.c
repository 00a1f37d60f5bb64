// SPDX-License-Identifier: Apache-2.0
/* wait_verdict.c - see wait_verdict.h */
#include "cli/wait_verdict.h"

#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rest.h"

static const char *const goals[WAIT_GOAL__COUNT] = {
	[WAIT_DONE] = "done",   [WAIT_SUCCEEDED] = "succeeded", [WAIT_FAILED] = "failed", [WAIT_RUNNING] = "running",
	[WAIT_READY] = "ready", [WAIT_DELETED] = "deleted",     [WAIT_CONDITION] = NULL, /* condition=... */
};

static int parse_condition(const char *text, struct wait_for *ret, struct err *e)
{
	const char *eq = strchr(text, '=');

	if (!*text || eq == text)
		return err_set(e, ERR_BAD_REQUEST, "--for condition= needs the name of a condition, such as Ready");
	*ret = (struct wait_for){ .goal = WAIT_CONDITION,
				  .type = xstrndup(text, eq ? (size_t)(eq - text) : strlen(text)),
				  .value = xstrdup(eq ? eq + 1 : "True") };
	return 0;
}

int wait_for_parse(const char *text, struct wait_for *ret, struct err *e)
{
	if (str_starts(text, "condition="))
		return parse_condition(text + strlen("condition="), ret, e);
	if (streq(text, "delete")) /* kubectl's word */
		text = goals[WAIT_DELETED];
	for (size_t i = 0; i < ARRAY_SIZE(goals); i++)
		if (goals[i] && streq(goals[i], text)) {
			*ret = (struct wait_for){ .goal = (enum wait_goal)i };
			return 0;
		}
	return err_set(
		e, ERR_BAD_REQUEST,
		"--for: \"%s\" is not one of done, succeeded, failed, running, ready, deleted and condition=NAME",
		text);
}

void wait_for_done(struct wait_for *w)
{
	free(w->type);
	free(w->value);
	*w = (struct wait_for){ 0 };
}

enum wait_goal wait_for_default(const struct kind *k)
{
	return work_ends(k) ? WAIT_DONE : WAIT_READY;
}

int wait_for_check(const struct wait_for *w, const struct kind *k, struct err *e)
{
	if (w->goal > WAIT_FAILED || work_ends(k))
		return 0;
	return err_set(e, ERR_BAD_REQUEST, "a %s does not end by itself: wait for ready, deleted or condition=NAME",
		       k->singular);
}

static enum wait_verdict gone(const struct wait_for *w, struct sbuf *sentence)
{
	sbuf_adds(sentence, "is deleted");
	return w->goal == WAIT_DELETED ? WAIT_CAME : WAIT_NEVER;
}

static enum wait_verdict judge_condition(const struct wait_for *w, const json_t *obj, const struct work *k,
					 struct sbuf *sentence)
{
	json_t *c;
	size_t i;

	json_array_foreach (jsonx_at(obj, "status.conditions"), i, c)
		if (strcasecmp(jsonx_str_or(c, "type", ""), w->type) == 0 &&
		    strcasecmp(jsonx_str_or(c, "status", ""), w->value) == 0) {
			sbuf_addf(sentence, "has condition %s=%s", jsonx_str(c, "type"), jsonx_str(c, "status"));
			return WAIT_CAME;
		}
	work_sentence(k, sentence);
	return work_is_over(k) ? WAIT_NEVER : WAIT_ON;
}

/* ---- roll-outs ---- */

static int64_t count(const json_t *obj, const char *path)
{
	return jsonx_int_or(obj, path, 0);
}

/* No pod of an older template is left, and all of the new one serve. */
static bool deployment_is_new(const json_t *obj)
{
	int64_t wanted = jsonx_int_or(obj, "spec.replicas", 1);

	return count(obj, "status.updatedReplicas") == wanted && count(obj, "status.replicas") == wanted &&
	       count(obj, "status.availableReplicas") == wanted;
}

/* Who replaces pods by hand, or keeps some below a partition, has asked for old ones. */
static bool stateful_set_is_new(const json_t *obj)
{
	int64_t partition = jsonx_int_or(obj, "spec.updateStrategy.rollingUpdate.partition", 0);
	int64_t wanted = jsonx_int_or(obj, "spec.replicas", 1);
	int64_t updated = count(obj, "status.updatedReplicas");

	if (streq(jsonx_str_or(obj, "spec.updateStrategy.type", ""), "OnDelete"))
		return true;
	if (partition > 0)
		return updated >= wanted - partition;
	return updated == wanted && count(obj, "status.replicas") == wanted &&
	       str_same(jsonx_str(obj, "status.updateRevision"), jsonx_str(obj, "status.currentRevision"));
}

static bool daemon_set_is_new(const json_t *obj)
{
	int64_t wanted = count(obj, "status.desiredNumberScheduled");

	return count(obj, "status.numberAvailable") >= wanted &&
	       (streq(jsonx_str_or(obj, "spec.updateStrategy.type", ""), "OnDelete") ||
		count(obj, "status.updatedNumberScheduled") >= wanted);
}

static const struct {
	const struct kind *kind;
	bool (*is_new)(const json_t *obj);
	const char *updated; /* the pods that are */
} rollouts[] = {
	{ &kind_deployment, deployment_is_new, "status.updatedReplicas" },
	{ &kind_stateful_set, stateful_set_is_new, "status.updatedReplicas" },
	{ &kind_daemon_set, daemon_set_is_new, "status.updatedNumberScheduled" },
};

/* Ready pods are not enough where they may still be those of an older template: the counts must be about the object as
 * it now is.  Says so, if they are not. */
static bool is_rolled_out(const struct kind *k, const json_t *obj, const struct work *now, struct sbuf *sentence)
{
	for (size_t i = 0; i < ARRAY_SIZE(rollouts); i++) {
		if (rollouts[i].kind != k)
			continue;
		if (count(obj, "status.observedGeneration") < count(obj, "metadata.generation")) {
			sbuf_adds(sentence, "has a change that is not yet seen");
			return false;
		}
		if (rollouts[i].is_new(obj))
			return true;
		sbuf_addf(sentence, "is rolling out: %lld of %lld pods are updated",
			  (long long)count(obj, rollouts[i].updated), (long long)now->wanted);
		return false;
	}
	return true;
}

/* What each phase means for each goal; WAIT_ON where nothing is said. */
static const enum wait_verdict verdicts[WAIT_GOAL__COUNT][WORK__COUNT] = {
	[WAIT_DONE] = { [WORK_SUCCEEDED] = WAIT_CAME, [WORK_FAILED] = WAIT_NEVER },
	[WAIT_SUCCEEDED] = { [WORK_SUCCEEDED] = WAIT_CAME, [WORK_FAILED] = WAIT_NEVER },
	[WAIT_FAILED] = { [WORK_SUCCEEDED] = WAIT_NEVER, [WORK_FAILED] = WAIT_CAME },
	/* What has succeeded did run. */
	[WAIT_RUNNING] = { [WORK_RUNNING] = WAIT_CAME, [WORK_SUCCEEDED] = WAIT_CAME, [WORK_FAILED] = WAIT_NEVER },
	[WAIT_READY] = { [WORK_SUCCEEDED] = WAIT_NEVER, [WORK_FAILED] = WAIT_NEVER },
};

enum wait_verdict wait_judge(const struct wait_for *w, const struct kind *k, const json_t *obj, struct sbuf *sentence)
{
	struct work now;

	if (!obj)
		return gone(w, sentence);
	work_read(k, obj, NULL, &now);
	if (w->goal == WAIT_CONDITION)
		return judge_condition(w, obj, &now, sentence);
	if (w->goal == WAIT_READY && !work_is_over(&now) && now.phase != WORK_ENDING && now.ready > 0 &&
	    now.ready >= now.wanted) {
		if (!is_rolled_out(k, obj, &now, sentence))
			return WAIT_ON;
		sbuf_adds(sentence, "is ready");
		return WAIT_CAME;
	}
	if (w->goal == WAIT_RUNNING && now.phase == WORK_PENDING && now.ready > 0) {
		sbuf_adds(sentence, "is running"); /* some of its pods are */
		return WAIT_CAME;
	}
	work_sentence(&now, sentence);
	return verdicts[w->goal][now.phase];
}
