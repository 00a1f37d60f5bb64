// SPDX-License-Identifier: Apache-2.0
/* What a gate does to the plan of a PBS job; the gate here says whatever the test wants. */
#include "control/pbs_gate.h"

#include <stdio.h>

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pbs_abroad.h"
#include "kinds/pbs_id.h"
#include "test.h"

struct said {
	struct gate gate;
	enum gate_way way;
	enum gate_state state;
	const char *go;    /* the gang that may go */
	struct sbuf heard; /* "gang:pods " of each wish */
};

static enum gate_way way(struct gate *g)
{
	return ((struct said *)g)->way;
}

static void wish(struct gate *g, const struct gate_wish *w, bool *ret_go)
{
	struct said *s = (struct said *)g;

	sbuf_addf(&s->heard, "%s/%s:%zu ", w->ns, w->gang, w->n);
	for (size_t i = 0; i < w->n; i++)
		ret_go[i] = str_same(s->go, w->gang);
}

static enum gate_state state(struct gate *g, const char *ns, const char *gang, const char **ret_why)
{
	(void)ns;
	*ret_why = streq(gang, "pbsjobs/7/3/r1") ? "in queue batch" : "?";
	return ((struct said *)g)->state;
}

static const struct gate_ops ops = { .way = way, .wish = wish, .state = state };

struct scene {
	struct said said;
	struct pbs_gate gate;
	json_t *job;
	struct pbs_account account;
	struct pbs_abroad abroad;
	struct pbs_settings set;
	struct pbs_order order;
};

static void scene_init(struct scene *s, enum gate_way how)
{
	struct err e = ERR_INIT;

	*s = (struct scene){ .said = { .gate = { &ops }, .way = how, .heard = SBUF(4096) } };
	s->job = sample_json("{'metadata':{'name':'7','namespace':'anna','uid':'u',"
			     "'creationTimestamp':'2026-01-01T00:00:10Z'},"
			     "'spec':{'image':'x','resources':{'nodes':'2'}},'status':{'sequence':7,'id':'7.head'}}");
	s->account = (struct pbs_account){ .name = "anna", .home = "/home/anna", .uid = 1001, .gid = 100 };
	s->abroad = (struct pbs_abroad){ .account = &s->account };
	s->set = pbs_settings_of(NULL, NULL);
	s->set.abroad = &s->abroad;
	CHECK_INT(pbs_order_init(&s->order, s->job, &s->set, "1/7", &e), 0);
	pbs_gate_init(&s->gate, &s->said.gate);
}

static void scene_done(struct scene *s)
{
	pbs_gate_done(&s->gate);
	pbs_order_done(&s->order);
	sbuf_done(&s->said.heard);
	json_decref(s->job);
}

/* Plans two pods for each of the elements; what is left as "INDEX.RANK ", and after how long to look again. */
static void hold(struct scene *s, const int *elements, size_t n, size_t most, struct sbuf *left)
{
	struct pbs_new_pod make[8];
	struct pbs_plan p = { .make = make, .again = -1 };

	sbuf_reset(&s->said.heard);
	sbuf_reset(left);
	for (size_t i = 0; i < n; i++)
		for (int rank = 0; rank < 2; rank++)
			make[p.nmake++] = (struct pbs_new_pod){ elements[i], rank, 0, &s->order };
	pbs_gate_hold(&s->gate, "anna/7", s->job, most, &p);
	for (size_t i = 0; i < p.nmake; i++)
		sbuf_addf(left, "%d.%d ", make[i].index, make[i].rank);
	sbuf_addf(left, "again %lld", (long long)p.again);
}

TEST("a PBS job's pods are made as the gate has it")
{
	static const int three[] = { 3, 4 };
	static const struct {
		enum gate_way way;
		const char *go;
		size_t most;
		const char *left, *heard;
	} rows[] = {
		{ GATE_OFF, NULL, 9, "3.0 3.1 4.0 4.1 again -1", "" },
		{ GATE_ASKING, NULL, 9, "again -1", "" },
		{ GATE_GATES, NULL, 9, "3.0 3.1 4.0 4.1 again -1", "" },
		{ GATE_DELAY, NULL, 9, "again -1", "anna/pbsjobs/7/3:2 anna/pbsjobs/7/4:2 " },
		{ GATE_DELAY, "pbsjobs/7/4", 9, "4.0 4.1 again -1", "anna/pbsjobs/7/3:2 anna/pbsjobs/7/4:2 " },
		{ GATE_DELAY, "pbsjobs/7/4", 1, "4.0 again 1", "anna/pbsjobs/7/3:2 anna/pbsjobs/7/4:2 " },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf left = SBUF(1024);
		struct scene s;

		scene_init(&s, rows[i].way);
		s.said.go = rows[i].go;
		hold(&s, three, 2, rows[i].most, &left);
		CHECK_STR(left.p, rows[i].left);
		CHECK_STR(s.said.heard.n ? s.said.heard.p : "", rows[i].heard);
		scene_done(&s);
	}
}

TEST("what a PBS job no longer asks for is taken back at the gate")
{
	static const int both[] = { 3, 4 };
	auto_sbuf struct sbuf left = SBUF(1024);
	struct scene s;

	scene_init(&s, GATE_DELAY);
	hold(&s, both, 2, 9, &left);
	hold(&s, both, 1, 9, &left);
	CHECK_STR(s.said.heard.p, "anna/pbsjobs/7/3:2 anna/pbsjobs/7/4:0 ");
	sbuf_reset(&s.said.heard);
	pbs_gate_forget(&s.gate, "anna/7");
	CHECK_STR(s.said.heard.p, "anna/pbsjobs/7/3:0 ");
	sbuf_reset(&s.said.heard);
	pbs_gate_forget(&s.gate, "anna/7");
	CHECK_INT(s.said.heard.n, 0);
	scene_done(&s);
}

TEST("a PBS pod has a gate where pods are held by gates, and its run's gang")
{
	static const struct {
		enum gate_way way;
		bool gated;
	} rows[] = { { GATE_OFF, false }, { GATE_DELAY, false }, { GATE_GATES, true } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = NULL;
		struct scene s;

		scene_init(&s, rows[i].way);
		pod = pbs_pod(&s.order, 3, 1, 1);
		pbs_gate_close(&s.gate, pod);
		CHECK_INT(jsonx_at(pod, "spec.schedulingGates") != NULL, rows[i].gated);
		CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), "stoker.dev/gang")),
			  "pbsjobs/7/3/r1");
		s.said.state = GATE_WAITS;
		CHECK(str_same(pbs_gate_why(&s.gate, s.job, 3, 1), rows[i].way == GATE_OFF ? NULL : "in queue batch"));
		s.said.state = GATE_IN;
		CHECK(!pbs_gate_why(&s.gate, s.job, 3, 1));
		scene_done(&s);
	}
}
