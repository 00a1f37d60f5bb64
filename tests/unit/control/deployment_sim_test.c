// SPDX-License-Identifier: Apache-2.0
/* Roll-outs of random sizes with ReplicaSets that lag behind: the bounds hold at every step, and each comes to its end.
 */
#include "deployment_sample.h"

/* What becomes of a ReplicaSet's pods is decided here; its status tells it later. */
struct pods {
	int64_t have, available;
};

struct sim {
	unsigned seed;
	struct sample s;
	struct pods pods[MAX_SETS];
	int64_t want, surge, unavailable;
	bool recreate;
};

static int roll(struct sim *m, int sides)
{
	m->seed = m->seed * 1103515245 + 12345;
	return (int)(m->seed >> 16) % sides;
}

static void sim_write(struct sim *m, const struct deployment_plan *p)
{
	for (size_t i = 0; i < p->nwrites; i++)
		for (size_t n = 0; n < m->s.n; n++)
			if (json_equal(jsonx_at(m->s.sets[n], "metadata.uid"),
				       jsonx_at(p->writes[i].set, "metadata.uid"))) {
				json_decref(m->s.sets[n]);
				m->s.sets[n] = json_incref(p->writes[i].set);
				m->s.children[n].set = m->s.sets[n];
			}
	if (p->create) {
		json_t *set = json_incref(p->create);
		char created[CLOCK_RFC3339_LEN];

		clock_rfc3339(NOW + (int64_t)m->s.n, created);
		jsonx_set_new(set, "metadata.uid", jsonx_stringf("new-%zu", m->s.n));
		jsonx_set_new(set, "metadata.creationTimestamp", json_string(created));
		m->s.sets[m->s.n] = set;
		m->s.children[m->s.n++].set = set;
	}
	if (p->status)
		json_object_set(m->s.deployment, "status", p->status);
}

/* One ReplicaSet looks at its number, and broken pods go first. */
static void sim_pods(struct sim *m, size_t i)
{
	int64_t replicas = jsonx_int_or(m->s.sets[i], "spec.replicas", 0);
	struct pods *p = &m->pods[i];

	if (p->have < replicas)
		p->have = replicas;
	while (p->have > replicas) {
		p->have--;
		if (p->available > p->have)
			p->available = p->have;
	}
	m->s.children[i].has_pods = p->have > 0;
}

static void sim_status(struct sim *m, size_t i)
{
	json_auto_t *status =
		json_pack("{s:I, s:I, s:I}", "replicas", (json_int_t)m->pods[i].have, "readyReplicas",
			  (json_int_t)m->pods[i].available, "availableReplicas", (json_int_t)m->pods[i].available);
	json_t *next = json_copy(m->s.sets[i]);

	json_object_set(next, "status", status);
	json_decref(m->s.sets[i]);
	m->s.sets[i] = next;
	m->s.children[i].set = next;
}

static struct pods sim_sum(const struct sim *m)
{
	struct pods sum = { 0 };

	for (size_t i = 0; i < m->s.n; i++) {
		sum.have += m->pods[i].have;
		sum.available += m->pods[i].available;
	}
	return sum;
}

/* True if nothing is left to do. */
static bool sim_step(struct sim *m)
{
	struct deployment_plan p;
	bool still;
	size_t i;

	if (m->s.n && roll(m, 3)) {
		i = (size_t)roll(m, (int)m->s.n);
		switch (roll(m, 3)) {
		case 0:
			sim_pods(m, i);
			break;
		case 1:
			if (m->pods[i].available < m->pods[i].have)
				m->pods[i].available++;
			break;
		default:
			sim_status(m, i);
			break;
		}
		return false;
	}
	p = sample_plan(&m->s);
	still = !p.create && !p.nwrites && p.status && json_equal(p.status, json_object_get(m->s.deployment, "status"));
	sim_write(m, &p);
	deployment_plan_done(&p);
	return still;
}

static bool sim_ended(const struct sim *m)
{
	const json_t *fresh = m->s.sets[m->s.n - 1];

	for (size_t i = 0; i + 1 < m->s.n; i++)
		if (m->pods[i].have || jsonx_int_or(m->s.sets[i], "spec.replicas", -1))
			return false;
	return jsonx_int_or(fresh, "spec.replicas", -1) == m->want && m->pods[m->s.n - 1].available == m->want &&
	       jsonx_int_or(m->s.deployment, "status.availableReplicas", 0) == m->want;
}

static void sim_check(const struct sim *m, bool was_up, int round)
{
	struct pods sum = sim_sum(m);

	if (m->recreate) {
		for (size_t i = 0; i + 1 < m->s.n; i++)
			if (m->pods[i].have && m->pods[m->s.n - 1].have)
				test_fail(__FILE__, __LINE__, "round %d: old and new pods at once", round);
		return;
	}
	if (sum.have > m->want + m->surge)
		test_fail(__FILE__, __LINE__, "round %d: %lld pods of %lld+%lld", round, (long long)sum.have,
			  (long long)m->want, (long long)m->surge);
	if (was_up && sum.available < m->want - m->unavailable)
		test_fail(__FILE__, __LINE__, "round %d: only %lld available of %lld-%lld", round,
			  (long long)sum.available, (long long)m->want, (long long)m->unavailable);
}

/* From one template to the next until nothing moves; the first time there is nothing before. */
static void sim_roll_out(struct sim *m, int template, int round)
{
	auto_free char *image = xasprintf("image-%d", template);
	bool was_up = template > 0;
	int steps = 0;

	jsonx_set_new(m->s.deployment, "spec.template", template_of(image));
	/* A step in three is a plan: an end is believed when the last plans all had nothing to do. */
	for (int still = 0; still < 5 && steps < 20000; steps++) {
		bool none = sim_step(m);

		sim_check(m, was_up, round);
		still = none && sim_ended(m) ? still + 1 : still * !none;
	}
	if (!sim_ended(m))
		test_fail(__FILE__, __LINE__, "round %d never ended: %lld +%lld -%lld", round, (long long)m->want,
			  (long long)m->surge, (long long)m->unavailable);
}

TEST("random roll-outs stay within their bounds and come to their end")
{
	for (int round = 0; round < 300; round++) {
		struct sim m = { .seed = (unsigned)round * 7919 + 1 };
		auto_free char *words = NULL;

		m.want = 1 + roll(&m, 12);
		m.recreate = roll(&m, 5) == 0;
		m.surge = roll(&m, 5);
		m.unavailable = roll(&m, (int)m.want + 1);
		if (!m.surge && !m.unavailable)
			m.surge = 1;
		words = m.recreate ? xasprintf("%lld recreate", (long long)m.want)
				   : xasprintf("%lld %lld %lld", (long long)m.want, (long long)m.surge,
					       (long long)m.unavailable);
		m.s = sample_of(words, "", NULL);
		for (int template = 0; template <3; template ++)
			sim_roll_out(&m, template, round);
		CHECK_INT(m.s.n, 3);
		sample_done(&m.s);
	}
}
