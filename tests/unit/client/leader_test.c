// SPDX-License-Identifier: Apache-2.0
/* leader_test.c - who leads, by tables and by two candidates on one server */
#include "client/leader.h"

#include "api/server.h"
#include "base/clock.h"
#include "client/client.h"

TEST("a lease that is free or whose holder is silent for too long is taken, another's is left alone")
{
	static const struct {
		struct lease_view view;
		enum leader_step step;
	} rows[] = {
		{ { .exists = false }, LEADER_CREATE },
		{ { .exists = true, .held = true, .ours = true, .lease_ms = 15000 }, LEADER_RENEW },
		{ { .exists = true, .held = true, .ours = true, .lease_ms = 15000, .unchanged_ms = 99999 },
		  LEADER_RENEW },
		{ { .exists = true, .held = false, .lease_ms = 1000 }, LEADER_TAKE },
		{ { .exists = true, .held = true, .lease_ms = 15000, .unchanged_ms = 0 }, LEADER_WAIT },
		{ { .exists = true, .held = true, .lease_ms = 15000, .unchanged_ms = 15000 }, LEADER_WAIT },
		{ { .exists = true, .held = true, .lease_ms = 15000, .unchanged_ms = 15001 }, LEADER_TAKE },
		{ { .exists = true, .held = true, .lease_ms = 60000, .unchanged_ms = 15001 }, LEADER_WAIT },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(leader_plan(&rows[i].view), rows[i].step);
}

TEST("what is written down says who, since when, and how often that has changed")
{
	json_auto_t *old = sample_json("{'holderIdentity':'b','leaseDurationSeconds':60,'leaseTransitions':4,"
				       "'acquireTime':'2020-01-01T00:00:00.000000Z','preferredHolder':'c'}");
	static const struct {
		enum leader_step step;
		const char *spec;
	} rows[] = {
		{ LEADER_CREATE,
		  "{'holderIdentity':'a','leaseDurationSeconds':15,'leaseTransitions':0,"
		  "'acquireTime':'1970-01-01T00:00:01.500000Z','renewTime':'1970-01-01T00:00:01.500000Z'}" },
		{ LEADER_TAKE,
		  "{'holderIdentity':'a','leaseDurationSeconds':15,'leaseTransitions':5,'preferredHolder':'c',"
		  "'acquireTime':'1970-01-01T00:00:01.500000Z','renewTime':'1970-01-01T00:00:01.500000Z'}" },
		{ LEADER_RENEW,
		  "{'holderIdentity':'a','leaseDurationSeconds':15,'leaseTransitions':4,'preferredHolder':'c',"
		  "'acquireTime':'2020-01-01T00:00:00.000000Z','renewTime':'1970-01-01T00:00:01.500000Z'}" },
		{ LEADER_RELEASE,
		  "{'holderIdentity':'','leaseDurationSeconds':1,'leaseTransitions':4,'preferredHolder':'c',"
		  "'acquireTime':'1970-01-01T00:00:01.500000Z','renewTime':'1970-01-01T00:00:01.500000Z'}" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *want = sample_json(rows[i].spec);
		json_auto_t *got =
			leader_record(rows[i].step == LEADER_CREATE ? NULL : old, rows[i].step, "a", 15, 1500000);

		CHECK(jsonx_equal(got, want));
	}
}

struct candidate {
	struct leader *leader;
	unsigned started, stopped;
	bool released;
};

static void on_started(void *arg)
{
	((struct candidate *)arg)->started++;
}

static void on_stopped(void *arg)
{
	((struct candidate *)arg)->stopped++;
}

static void on_released(void *arg)
{
	((struct candidate *)arg)->released = true;
}

static void enter(struct candidate *a, struct client *c, const char *identity)
{
	*a = (struct candidate){ 0 };
	a->leader = leader_new(
		c,
		&(struct leader_config){ .ns = "kube-system", .name = "l", .identity = identity, .lease_seconds = 1 },
		&(struct leader_handlers){ on_started, on_stopped, a });
}

static void turn_until(struct server *s, const unsigned *count, unsigned want)
{
	int64_t end = clock_mono_ms() + 30000;

	while (*count < want && clock_mono_ms() < end)
		loop_turn(s->loop, false);
	CHECK_INT(*count, want);
}

TEST("of two candidates one leads; the other follows when it is released, and when it falls silent")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	struct candidate a;
	struct candidate b;

	enter(&a, c, "a");
	turn_until(&s, &a.started, 1);
	enter(&b, c, "b");
	for (int64_t end = clock_mono_ms() + 1500; clock_mono_ms() < end;)
		loop_turn(s.loop, false);
	CHECK(leader_leads(a.leader) && !leader_leads(b.leader));
	CHECK_INT(b.started, 0);
	leader_release(a.leader, on_released, &a);
	turn_until(&s, &b.started, 1);
	CHECK(a.released);
	CHECK_INT(a.stopped, 0);
	leader_free(a.leader);
	enter(&a, c, "a2");
	leader_free(b.leader); /* without a word */
	turn_until(&s, &a.started, 1);
	json_auto_t *lease = server_ask(&s, VERB_GET, "coordination.k8s.io/v1/leases", "kube-system", "l", NULL);
	CHECK_STR(jsonx_str(lease, "spec.holderIdentity"), "a2");
	CHECK_INT(jsonx_int_or(lease, "spec.leaseTransitions", -1), 2);
	leader_free(a.leader);
	server_settle(&s);
	client_free(c);
	server_done(&s);
}

TEST("a leader whose lease was taken stops at once, and one whose lease was deleted makes it again")
{
	struct server s = server_new();
	struct client *c = client_local_new(s.api, &caller_system);
	struct candidate a;

	enter(&a, c, "a");
	turn_until(&s, &a.started, 1);
	json_auto_t *gone = server_ask(&s, VERB_DELETE, "coordination.k8s.io/v1/leases", "kube-system", "l", NULL);
	for (int64_t end = clock_mono_ms() + 10000; clock_mono_ms() < end;) {
		json_auto_t *now = server_ask(&s, VERB_GET, "coordination.k8s.io/v1/leases", "kube-system", "l", NULL);

		if (jsonx_str(now, "spec.holderIdentity"))
			break;
		loop_turn(s.loop, false);
	}
	CHECK_INT(a.stopped, 0);
	json_auto_t *lease = server_ask(&s, VERB_GET, "coordination.k8s.io/v1/leases", "kube-system", "l", NULL);
	CHECK_STR(jsonx_str(lease, "spec.holderIdentity"), "a");
	struct api_request theft = server_request(&s, VERB_PATCH, "coordination.k8s.io/v1/leases", "kube-system", "l");
	theft.patch = PATCH_MERGE;
	json_auto_t *taken = server_call(
		&s, &theft, "{'spec':{'holderIdentity':'thief','renewTime':'2020-01-01T00:00:00.000000Z'}}");
	CHECK_STR(jsonx_str(taken, "spec.holderIdentity"), "thief");
	turn_until(&s, &a.stopped, 1);
	CHECK(!leader_leads(a.leader));
	turn_until(&s, &a.started, 2); /* its clock is years behind; that it is silent counts */
	leader_free(a.leader);
	server_settle(&s);
	client_free(c);
	server_done(&s);
}
