// SPDX-License-Identifier: Apache-2.0
/* leader.c - asks, decides (leader_plan.c), writes; again and again
 *
 * One request is under way at a time.  A leader writes without asking first, on top of what it wrote last; everyone
 * else asks.  A write that someone else's came before is refused by its resourceVersion, and then what is there is
 * looked at at once.  A lead counts from the moment its write was sent: others cannot have seen it earlier.
 */
#include "client/leader.h"

#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/events.h"
#include "loop/crypto.h"

#define VERSION   "coordination.k8s.io/v1"
#define COMPONENT "stoker"

struct leader {
	struct client *client;
	struct events *events;
	char *ns, *name, *identity;
	int64_t lease_seconds;
	int64_t deadline_ms, retry_ms; /* 10 and 2 of 15 seconds */
	struct leader_handlers handlers;
	json_t *lease;   /* as last seen, or NULL: not seen, or there is none */
	int64_t seen_ms; /* since when its record is the same */
	int64_t sent_ms; /* when the write under way was sent */
	bool leads;
	bool asked; /* an answer is still to come; it frees us if `freed` */
	bool freed;
	void (*released)(void *arg);
	void *released_arg;
	enum err_kind trouble; /* that was said already */
	struct loop_timer turn, deadline;
};

static void turn(void *arg);

/* ---- what is said, once ---- */

static void say_trouble(struct leader *l, const struct err *e)
{
	if (l->trouble == e->kind)
		return;
	l->trouble = e->kind;
	log_warn("lease %s/%s: %s, trying again", l->ns, l->name, e->text);
}

static void say_recovered(struct leader *l)
{
	if (l->trouble != ERR_NONE)
		log_info("lease %s/%s: the server answers again", l->ns, l->name);
	l->trouble = ERR_NONE;
}

/* ---- leading ---- */

static void lead(struct leader *l)
{
	int64_t left = l->sent_ms + l->deadline_ms - clock_mono_ms();

	if (left <= 0)
		return; /* the answer took too long: what it says may be over */
	loop_timer_set(l->client->loop, &l->deadline, left);
	if (l->leads)
		return;
	l->leads = true;
	log_info("lead lease=%s/%s identity=%s", l->ns, l->name, l->identity);
	events_note(l->events, l->lease, "Normal", "LeaderElection", "%s became leader", l->identity);
	l->handlers.started(l->handlers.arg);
}

static void stop_leading(struct leader *l, const char *why)
{
	loop_timer_clear(&l->deadline);
	if (!l->leads)
		return;
	l->leads = false;
	log_warn("stop leading lease=%s/%s: %s", l->ns, l->name, why);
	if (l->lease)
		events_note(l->events, l->lease, "Normal", "LeaderElection", "%s stopped leading", l->identity);
	l->handlers.stopped(l->handlers.arg);
}

static void on_deadline(void *arg)
{
	stop_leading(arg, "it could not be renewed in time");
}

/* ---- knowing ---- */

static void know(struct leader *l, const json_t *lease)
{
	const char *before = jsonx_str_or(l->lease, "spec.holderIdentity", "");
	const char *holder = jsonx_str_or(lease, "spec.holderIdentity", "");

	if (!l->lease || !lease || !json_equal(json_object_get(l->lease, "spec"), json_object_get(lease, "spec")))
		l->seen_ms = clock_mono_ms();
	if (*holder && !streq(holder, before) && !streq(holder, l->identity))
		log_info("stand by lease=%s/%s leader=%s", l->ns, l->name, holder);
	json_incref((json_t *)lease);
	json_decref(l->lease);
	l->lease = (json_t *)lease;
}

static enum leader_step next_step(const struct leader *l)
{
	const char *holder = jsonx_str_or(l->lease, "spec.holderIdentity", "");
	int64_t seconds = jsonx_int_or(l->lease, "spec.leaseDurationSeconds", 0);

	return leader_plan(&(struct lease_view){ .exists = l->lease != NULL,
						 .held = *holder != '\0',
						 .ours = streq(holder, l->identity),
						 .lease_ms = clock_ms_of(seconds > 0 ? seconds : l->lease_seconds),
						 .unchanged_ms = clock_mono_ms() - l->seen_ms });
}

/* Candidates come at different times, so that they do not all try at once. */
static void again(struct leader *l)
{
	int64_t ms = l->retry_ms;

	if (!l->leads)
		ms += clock_mono_ns() / 1000 % (l->retry_ms * 6 / 5);
	loop_timer_set(l->client->loop, &l->turn, ms);
}

/* An answer has come; false if all is said: nobody waits for it, or what it says matters only to the release. */
static bool answered(struct leader *l, const json_t *lease)
{
	l->asked = false;
	if (l->freed) {
		leader_free(l);
		return false;
	}
	if (l->released && lease)
		know(l, lease);
	return !l->released;
}

/* ---- writing ---- */

static void ask(struct leader *l);

static void on_written(void *arg, const json_t *obj, const struct err *e)
{
	struct leader *l = arg;

	if (!answered(l, obj))
		return;
	if (e->kind == ERR_CONFLICT || e->kind == ERR_EXISTS || (e->kind == ERR_NOT_FOUND && l->lease)) {
		ask(l); /* someone was here first */
		return;
	}
	if (e->kind != ERR_NONE) {
		say_trouble(l, e);
		again(l);
		return;
	}
	say_recovered(l);
	know(l, obj);
	lead(l);
	again(l);
}

static void put(struct leader *l, enum leader_step step, client_done *done)
{
	struct client *c = l->client;
	struct ref ref = { .api_version = VERSION, .plural = "leases", .ns = l->ns };
	json_auto_t *next = l->lease ? json_copy(l->lease) : NULL;

	if (!next)
		next = json_pack("{s:s, s:s, s:{s:s, s:s}}", "apiVersion", VERSION, "kind", "Lease", "metadata", "name",
				 l->name, "namespace", l->ns);
	json_object_set_new(next, "spec",
			    leader_record(json_object_get(l->lease, "spec"), step, l->identity, l->lease_seconds,
					  clock_wall_micros()));
	l->asked = true;
	l->sent_ms = clock_mono_ms();
	if (step == LEADER_CREATE) {
		c->ops->create(c, &ref, next, done, l);
		return;
	}
	ref.name = l->name;
	c->ops->update(c, &ref, next, done, l);
}

/* ---- asking ---- */

static void on_lease(void *arg, const json_t *obj, const struct err *e)
{
	struct leader *l = arg;
	enum leader_step step;

	if (!answered(l, obj))
		return;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND) {
		say_trouble(l, e);
		again(l);
		return;
	}
	say_recovered(l);
	know(l, obj);
	step = next_step(l);
	if (step == LEADER_WAIT) {
		stop_leading(l, "someone else has it");
		again(l);
		return;
	}
	put(l, step, on_written);
}

static void ask(struct leader *l)
{
	struct client *c = l->client;
	struct ref ref = { .api_version = VERSION, .plural = "leases", .ns = l->ns, .name = l->name };

	l->asked = true;
	c->ops->get(c, &ref, on_lease, l);
}

static void turn(void *arg)
{
	struct leader *l = arg;

	if (l->leads && l->lease)
		put(l, LEADER_RENEW, on_written);
	else
		ask(l);
}

/* ---- giving it back ---- */

static void on_released(void *arg, const json_t *obj, const struct err *e)
{
	struct leader *l = arg;

	(void)obj;
	l->asked = false;
	if (l->freed) {
		leader_free(l);
		return;
	}
	if (e->kind == ERR_NONE)
		log_info("release lease=%s/%s", l->ns, l->name);
	l->released(l->released_arg);
}

/* The write that is under way may still win: only what comes after it is known. */
static void on_last_write(void *arg)
{
	struct leader *l = arg;

	if (l->asked)
		loop_timer_set(l->client->loop, &l->turn, 10);
	else if (streq(jsonx_str_or(l->lease, "spec.holderIdentity", ""), l->identity))
		put(l, LEADER_RELEASE, on_released);
	else
		l->released(l->released_arg);
}

void leader_release(struct leader *l, void (*done)(void *arg), void *arg)
{
	l->leads = false;
	l->released = done;
	l->released_arg = arg;
	loop_timer_clear(&l->deadline);
	l->turn.fire = on_last_write;
	loop_timer_set(l->client->loop, &l->turn, 0);
}

/* ---- life ---- */

bool leader_leads(const struct leader *l)
{
	return l->leads;
}

char *leader_identity(void)
{
	char host[256] = "";
	char uuid[37];

	gethostname(host, sizeof(host) - 1);
	crypto_uuid(uuid);
	return xasprintf("%s_%s", host, uuid);
}

struct leader *leader_new(struct client *c, const struct leader_config *config, const struct leader_handlers *h)
{
	struct leader *l = xcalloc(1, sizeof(*l));

	l->client = c;
	l->events = events_new(c, COMPONENT, NULL);
	l->ns = xstrdup(config->ns);
	l->name = xstrdup(config->name);
	l->identity = xstrdup(config->identity);
	l->lease_seconds = config->lease_seconds;
	l->deadline_ms = clock_ms_of(config->lease_seconds) * 10 / 15;
	l->retry_ms = clock_ms_of(config->lease_seconds) * 2 / 15;
	l->handlers = *h;
	l->turn = (struct loop_timer){ .fire = turn, .arg = l };
	l->deadline = (struct loop_timer){ .fire = on_deadline, .arg = l };
	loop_timer_set(c->loop, &l->turn, 0);
	return l;
}

void leader_free(struct leader *l)
{
	if (!l)
		return;
	loop_timer_done(&l->turn);
	loop_timer_done(&l->deadline);
	if (l->asked) {
		l->freed = true;
		return;
	}
	events_free(l->events);
	json_decref(l->lease);
	free(l->ns);
	free(l->name);
	free(l->identity);
	free(l);
}
