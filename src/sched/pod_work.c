// SPDX-License-Identifier: Apache-2.0
/* pod_work.c - see pod_work.h */
#include "sched/pod_work.h"

#include <assert.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/walltime.h"

/* A time as objects have it, in ms; 0 if it is none. */
static int64_t time_ms(const char *text)
{
	int64_t us;

	return text && clock_parse_rfc3339(text, &us) ? us / 1000 : 0;
}

/* A gang of one is a pod like any other, and so is a pod that is on its way out: its gang does without it. */
static void read_gang(const json_t *pod, struct pod_work *ret)
{
	const char *gang = jsonx_at(pod, "metadata.deletionTimestamp") ? "" : work_note(pod, "stoker.dev/gang");
	int64_t size = 0;

	ret->facts.size = 1;
	if (*gang && str_int64(work_note(pod, "stoker.dev/gang-size"), 2, LIMIT_GANG, &size)) {
		ret->facts.size = (size_t)size;
		ret->key = xasprintf("%s/%s", ret->ns, gang);
	} else {
		ret->key = xstrdup(ret->uid);
	}
	ret->facts.key = ret->key;
}

unsigned work_holds(const json_t *obj)
{
	unsigned bits;

	static_assert((int)HOLD_USER == HOLD_WORD_USER && (int)HOLD_OPERATOR == HOLD_WORD_OPERATOR &&
			      (int)HOLD_SYSTEM == HOLD_WORD_SYSTEM,
		      "holds are numbered alike");
	hold_parse(work_note(obj, HOLD_ANNOTATION), &bits);
	return bits;
}

int64_t work_not_before(const json_t *obj)
{
	return time_ms(work_note(obj, NOT_BEFORE_ANNOTATION));
}

static int64_t read_walltime(const json_t *pod)
{
	int64_t seconds;

	if (walltime_parse(work_note(pod, WALLTIME_ANNOTATION), &seconds))
		return seconds * 1000;
	seconds = jsonx_int_or(pod, "spec.activeDeadlineSeconds", -1);
	return seconds > 0 && seconds < INT64_MAX / 1000 ? seconds * 1000 : WALLTIME_NONE;
}

static const char *or_else(const char *text, const char *other)
{
	return text && *text ? text : other;
}

const json_t *pod_controller(const json_t *pod)
{
	const json_t *owner;
	size_t i;

	json_array_foreach (jsonx_at(pod, "metadata.ownerReferences"), i, owner)
		if (jsonx_bool_or(owner, "controller", false))
			return owner;
	return NULL;
}

/* Ours to place, and ready for it.  Gates are for whoever set them to lift. */
static bool is_ours(const json_t *pod)
{
	static const char *const names[] = { "default-scheduler", "stoker" };
	const char *scheduler = jsonx_str_or(pod, "spec.schedulerName", names[0]);
	bool ours = false;

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		ours |= streq(scheduler, names[i]);
	return ours && !jsonx_at(pod, "metadata.deletionTimestamp") &&
	       !json_array_size(jsonx_at(pod, "spec.schedulingGates"));
}

/* Those that were chosen, or those that its node chose itself, for a pod that came there by hand. */
static card_set read_cards(const json_t *pod)
{
	card_set given = card_set_read(work_note(pod, GIVEN_ANNOTATION));

	return given ? given : card_set_read(work_note(pod, CARDS_ANNOTATION));
}

/* "1700000000/380963/0" */
static uint64_t read_place(const char *text)
{
	static const int64_t most[] = { UINT32_MAX, INT64_MAX, INT32_MAX };
	int64_t v[ARRAY_SIZE(most)] = { 0 };
	struct str rest = str_of(text);
	struct str part;

	for (size_t i = 0; i < ARRAY_SIZE(most); i++) {
		auto_free char *number = str_split(&rest, '/', &part) ? xstrndup(part.p, part.n) : xstrdup("");

		if (!str_int64(number, 0, most[i], &v[i]))
			return 0;
	}
	return place_at(v[0], v[1], v[2]);
}

static void read_pbs(const json_t *pod, struct work_facts *f)
{
	int64_t own = 0;

	if (!streq(jsonx_str_or(pod_controller(pod), "kind", ""), "PBSJob"))
		return;
	f->pbs = true;
	str_int64(work_note(pod, "stoker.dev/priority"), INT16_MIN, INT16_MAX, &own);
	f->own = (int)own;
	f->place = read_place(work_note(pod, "stoker.dev/place"));
	f->run_now = streq(work_note(pod, "stoker.dev/run-now"), "true");
	f->may_requeue = !streq(work_note(pod, "stoker.dev/rerun"), "false");
}

void pod_work_read(const json_t *pod, struct pod_work *ret)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");
	const json_t *labels = jsonx_at(pod, "metadata.labels");

	*ret = (struct pod_work){
		.uid = jsonx_str_or(pod, "metadata.uid", ""),
		.ns = jsonx_str_or(pod, "metadata.namespace", ""),
		.name = jsonx_str_or(pod, "metadata.name", ""),
		.node = jsonx_str_or(pod, "spec.nodeName", ""),
		.cards = read_cards(pod),
		.started_ms = time_ms(jsonx_str(pod, "status.startTime")),
		.ended = streq(phase, "Succeeded") || streq(phase, "Failed"),
	};
	ret->facts = (struct work_facts){
		.queue = or_else(json_string_value(json_object_get(labels, QUEUE_LABEL)), QUEUE_DEFAULT),
		.user = or_else(work_note(pod, USER_ANNOTATION), ret->ns),
		.group = work_note(pod, GROUP_ANNOTATION),
		.priority = jsonx_int_or(pod, "spec.priority", 0),
		.submitted_ms = time_ms(jsonx_str(pod, "metadata.creationTimestamp")),
		.not_before_ms = work_not_before(pod),
		.walltime_ms = read_walltime(pod),
		.holds = work_holds(pod),
		.may_preempt = !streq(jsonx_str_or(pod, "spec.preemptionPolicy", ""), "Never"),
		.may_requeue = pod_controller(pod) != NULL,
	};
	read_pbs(pod, &ret->facts);
	ret->ours = !*ret->node && !ret->ended && is_ours(pod);
	read_gang(pod, ret);
}

void pod_work_done(struct pod_work *p)
{
	free(p->key);
}
