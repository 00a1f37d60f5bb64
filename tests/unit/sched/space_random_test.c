// SPDX-License-Identifier: Apache-2.0
/* space_random_test.c - a space against one that counts everything anew at each step */
#include "api/sample_json.h"
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/space.h"
#include "test.h"

#define NODES 10
#define SEATS 40
#define KINDS 60
#define STEPS 20000
#define CARD  16384 /* MiB */

/* What a pod asks for, before it is written as one. */
struct kind {
	int64_t cpu, gpus, part;
	const char *model;
	int port, zone; /* 0: none */
	bool tolerates;
	bool alone; /* wants the node for itself */
	char app;
	char need, shun, spread; /* an app, or 0 */
	bool need_host, shun_host, spread_host;
	struct shape *shape;
};

struct host {
	bool there, tainted, cordoned;
	int64_t cpu;
	int zone; /* 0: none */
};

struct model {
	struct space *space;
	struct kind kinds[KINDS];
	struct host hosts[NODES];
	struct seat seats[SEATS];
	size_t kind_of[SEATS];
	uint32_t random;
};

static unsigned roll(struct model *m, unsigned n)
{
	m->random = m->random * 1664525u + 1013904223u;
	return (m->random >> 8) % n;
}

/* Every third node has no cards; the others four, of which the last can be shared and the first is of another model. */
static int cards_of(size_t node)
{
	return node % 3 ? 4 : 0;
}

static const char *model_of(int card)
{
	return card ? "V100" : "A100";
}

static size_t number_of(const struct node *n)
{
	return (size_t)(node_name(n)[1] - '0');
}

/* --- making --- */

static void make_kind(struct model *m, struct kind *k)
{
	json_auto_t *pod = NULL;
	auto_free char *text = NULL;
	auto_free char *model = NULL;
	auto_free char *port = NULL;
	auto_free char *zone = NULL;
	auto_free char *need = NULL;
	auto_free char *shun = NULL;
	auto_free char *spread = NULL;

	*k = (struct kind){ .cpu = roll(m, 4) * 500, .app = (char)('a' + roll(m, 3)), .tolerates = roll(m, 2) };
	if (roll(m, 3) == 0)
		k->gpus = 1 + roll(m, 3);
	else if (roll(m, 5) == 0)
		k->part = 2000 + roll(m, 3) * 3000;
	if ((k->gpus || k->part) && roll(m, 2))
		k->model = model_of((int)roll(m, 2));
	k->alone = roll(m, 12) == 0;
	k->port = roll(m, 6) ? 0 : 80;
	k->zone = roll(m, 5) ? 0 : 1 + (int)roll(m, 3);
	k->need = roll(m, 6) ? 0 : (char)('a' + roll(m, 3));
	k->shun = roll(m, 5) ? 0 : (char)('a' + roll(m, 3));
	k->spread = roll(m, 6) ? 0 : (char)('a' + roll(m, 3));
	k->need_host = roll(m, 2);
	k->shun_host = roll(m, 2);
	k->spread_host = roll(m, 2);
#define TERM "[{'topologyKey':'%s','labelSelector':{'matchLabels':{'app':'%c'}}}]"
	need = k->need ? xasprintf("'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':" TERM "},",
				   k->need_host ? "host" : "zone", k->need)
		       : xstrdup("");
	shun = k->shun ? xasprintf("'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':" TERM "},",
				   k->shun_host ? "host" : "zone", k->shun)
		       : xstrdup("");
	spread = k->spread ? xasprintf("'topologySpreadConstraints':[{'maxSkew':1,'whenUnsatisfiable':'DoNotSchedule',"
				       "'topologyKey':'%s','labelSelector':{'matchLabels':{'app':'%c'}}}],",
				       k->spread_host ? "host" : "zone", k->spread)
			   : xstrdup("");
	model = xasprintf("'stoker.dev/exclusive':'%s'%s%s%s", k->alone ? "true" : "false",
			  k->model ? ",'stoker.dev/gpu-model':'" : "", k->model ? k->model : "", k->model ? "'" : "");
	port = k->port ? xasprintf(",'ports':[{'hostPort':%d}]", k->port) : xstrdup("");
	zone = k->zone ? xasprintf("'nodeSelector':{'zone':'z%d'},", k->zone) : xstrdup("");
	text = xasprintf(
		"{'metadata':{'namespace':'d','labels':{'app':'%c'},'annotations':{%s}},'spec':{%s%s'affinity':{"
		"%s%s'nodeAffinity':{}},'tolerations':[%s],'containers':[{'resources':{'requests':{'cpu':'%dm',"
		"'nvidia.com/gpu':'%d','stoker.dev/gpu-memory':'%d'}}%s}]}}",
		k->app, model, zone, spread, need, shun, k->tolerates ? "{'key':'t','operator':'Exists'}" : "",
		(int)k->cpu, (int)k->gpus, (int)k->part, port);
	pod = sample_json(text);
	k->shape = space_shape(m->space, pod);
}

static void show_host(struct model *m, size_t i)
{
	const struct host *h = &m->hosts[i];
	auto_free char *zone = h->zone ? xasprintf(",'zone':'z%d'", h->zone) : xstrdup("");
	auto_free char *cards = xstrdup("");
	auto_free char *text = NULL;
	json_auto_t *node = NULL;

	for (int c = 0; c < cards_of(i); c++) {
		char *more = xasprintf(
			"%s%s{\\\"index\\\":%d,\\\"name\\\":\\\"%s\\\",\\\"memoryBytes\\\":%lld,\\\"shareable"
			"\\\":%s}",
			cards, c ? "," : "", c, model_of(c), (long long)CARD << 20, c == 3 ? "true" : "false");

		free(cards);
		cards = more;
	}
	text = xasprintf("{\"metadata\":{\"annotations\":{\"stoker.dev/gpus\":\"[%s]\"}}}", cards);
	node = json_loads(text, 0, NULL);
	free(text);
	text = xasprintf(
		"{'metadata':{'name':'n%zu','labels':{'host':'n%zu'%s}},'spec':{'unschedulable':%s,'taints':[%s]},"
		"'status':{'conditions':[{'type':'Ready','status':'True'}],'allocatable':{'cpu':'%dm','pods':'6',"
		"'nvidia.com/gpu':'%d'}}}",
		i, i, zone, h->cordoned ? "true" : "false", h->tainted ? "{'key':'t','effect':'NoSchedule'}" : "",
		(int)h->cpu, cards_of(i));
	{
		json_auto_t *rest = sample_json(text);

		json_object_update(json_object_get(rest, "metadata"), json_object_get(node, "metadata"));
		space_set_node(m->space, rest);
	}
}

static void change_host(struct model *m, size_t i)
{
	struct host *h = &m->hosts[i];
	auto_free char *name = xasprintf("n%zu", i);

	h->there = roll(m, 5) > 0;
	h->tainted = roll(m, 4) == 0;
	h->cordoned = roll(m, 8) == 0;
	h->cpu = 2000 + roll(m, 4) * 1000;
	h->zone = (int)roll(m, 4);
	if (h->there)
		show_host(m, i);
	else
		space_remove_node(m->space, name);
}

/* --- counting anew --- */

struct count {
	int64_t pods, cpu, gpus, part; /* used */
	unsigned held[4], sharers[4];
	int64_t shared[4];
	bool port, alone;
};

static struct count count_host(const struct model *m, size_t host)
{
	struct count c = { 0 };

	for (size_t i = 0; i < SEATS; i++) {
		const struct seat *s = &m->seats[i];
		const struct kind *k = &m->kinds[m->kind_of[i]];

		if (!s->node || number_of(s->node) != host)
			continue;
		c.pods++;
		c.cpu += k->cpu;
		c.gpus += k->gpus;
		c.part += k->part;
		c.port |= k->port > 0;
		c.alone |= k->alone;
		for (int b = 0; b < 4; b++) {
			if (!(s->cards >> b & 1))
				continue;
			c.held[b] += k->gpus > 0;
			c.sharers[b] += k->part > 0;
			c.shared[b] += k->part;
		}
	}
	return c;
}

static int64_t shared_cards(const struct count *c)
{
	return (c->sharers[0] > 0) + (c->sharers[1] > 0) + (c->sharers[2] > 0) + (c->sharers[3] > 0);
}

static bool cards_do(const struct kind *k, size_t host, const struct count *c)
{
	int64_t found = 0;

	if (k->part)
		return cards_of(host) && !c->held[3] && CARD - c->shared[3] >= k->part && CARD - c->part >= k->part &&
		       (!k->model || streq(k->model, model_of(3)));
	for (int b = 0; b < cards_of(host); b++)
		found += !c->held[b] && !c->sharers[b] && (!k->model || streq(k->model, model_of(b)));
	return found >= k->gpus && cards_of(host) - c->gpus - shared_cards(c) >= k->gpus;
}

/* -1: it is in none. */
static int domain(const struct model *m, size_t host, bool by_host)
{
	if (!m->hosts[host].there)
		return -1;
	return by_host ? (int)host : m->hosts[host].zone ? 100 + m->hosts[host].zone : -1;
}

static int64_t in_domain(const struct model *m, int d, bool by_host, char app)
{
	int64_t n = 0;

	for (size_t i = 0; i < SEATS; i++) {
		const struct seat *s = &m->seats[i];

		if (s->node && m->kinds[m->kind_of[i]].app == app && domain(m, number_of(s->node), by_host) == d)
			n++;
	}
	return n;
}

static int64_t in_any_domain(const struct model *m, bool by_host, char app)
{
	int64_t n = 0;

	for (size_t i = 0; i < SEATS; i++) {
		const struct seat *s = &m->seats[i];

		n += s->node && m->kinds[m->kind_of[i]].app == app && domain(m, number_of(s->node), by_host) >= 0;
	}
	return n;
}

static bool is_shunned(const struct model *m, const struct kind *k, size_t host)
{
	for (size_t i = 0; i < SEATS; i++) {
		const struct seat *s = &m->seats[i];
		const struct kind *o = &m->kinds[m->kind_of[i]];

		if (s->node && o->shun == k->app && domain(m, host, o->shun_host) >= 0 &&
		    domain(m, number_of(s->node), o->shun_host) == domain(m, host, o->shun_host))
			return true;
	}
	return false;
}

static bool zone_is_allowed(const struct model *m, const struct kind *k, size_t host)
{
	return !k->zone || m->hosts[host].zone == k->zone;
}

static bool spread_allows(const struct model *m, const struct kind *k, size_t host)
{
	int64_t least = INT64_MAX;
	int64_t there = 0;

	if (domain(m, host, k->spread_host) < 0)
		return false;
	for (size_t i = 0; i < NODES; i++) {
		int d = domain(m, i, k->spread_host);
		int64_t n = 0;

		if (d < 0 || !zone_is_allowed(m, k, i))
			continue;
		for (size_t p = 0; p < SEATS; p++) {
			const struct seat *s = &m->seats[p];

			n += s->node && m->kinds[m->kind_of[p]].app == k->spread &&
			     domain(m, number_of(s->node), k->spread_host) == d &&
			     zone_is_allowed(m, k, number_of(s->node));
		}
		least = n < least ? n : least;
		if (d == domain(m, host, k->spread_host))
			there = n;
	}
	return there + (k->spread == k->app) - least <= 1;
}

static bool neighbours_allow(const struct model *m, const struct kind *k, size_t host)
{
	int d = domain(m, host, k->need_host);

	if (k->need && (d < 0 || (!in_domain(m, d, k->need_host, k->need) &&
				  (k->need != k->app || in_any_domain(m, k->need_host, k->need)))))
		return false;
	d = domain(m, host, k->shun_host);
	if (k->shun && d >= 0 && in_domain(m, d, k->shun_host, k->shun))
		return false;
	return !is_shunned(m, k, host) && (!k->spread || spread_allows(m, k, host));
}

static bool takes(const struct model *m, const struct kind *k, size_t host)
{
	const struct host *h = &m->hosts[host];
	struct count c = count_host(m, host);

	if (!h->there || h->cordoned || (h->tainted && !k->tolerates) || !zone_is_allowed(m, k, host))
		return false;
	if (c.alone || (k->alone && c.pods))
		return false;
	if (c.pods + 1 > 6 || (k->cpu && c.cpu + k->cpu > h->cpu) || (k->port && c.port))
		return false;
	return ((!k->gpus && !k->part) || cards_do(k, host, &c)) && neighbours_allow(m, k, host);
}

/* --- comparing --- */

static void compare(struct model *m)
{
	int64_t total = 0;
	int64_t used = 0;

	for (size_t i = 0; i < NODES; i++) {
		struct count c = count_host(m, i);
		auto_free char *name = xasprintf("n%zu", i);
		int64_t left[RESOURCE__COUNT];

		for (int b = 0; b < 4; b++)
			CHECK(c.held[b] + (c.sharers[b] > 0) <= 1 && c.shared[b] <= CARD);
		if (!m->hosts[i].there)
			continue;
		node_left(space_node(m->space, name), left, RESOURCE__COUNT);
		CHECK_INT(left[RESOURCE_CPU], m->hosts[i].cpu - c.cpu);
		CHECK_INT(left[RESOURCE_PODS], 6 - c.pods);
		CHECK_INT(left[RESOURCE_GPU], cards_of(i) - c.gpus - shared_cards(&c));
		if (!m->hosts[i].cordoned) {
			total += m->hosts[i].cpu;
			used += c.cpu;
		}
	}
	CHECK_INT(space_total(m->space, RESOURCE_CPU), total);
	CHECK_INT(space_used(m->space, RESOURCE_CPU), used);
}

static void find(struct model *m, size_t i)
{
	const struct kind *k = &m->kinds[m->kind_of[i]];
	bool allowed[NODES];
	bool any = false;

	for (size_t n = 0; n < NODES; n++)
		any |= allowed[n] = takes(m, k, n);
	if (space_find(m->space, &m->seats[i], NULL))
		CHECK(allowed[number_of(m->seats[i].node)]);
	else
		CHECK(!any);
	CHECK_INT(m->seats[i].node != NULL, any);
	if (!any)
		CHECK(str_starts(space_why(m->space, k->shape), m->hosts[0].there ? "0/" : ""));
}

/* Something with a seat that does not change nodes. */
static void move(struct model *m)
{
	size_t i = roll(m, SEATS);
	struct seat *s = &m->seats[i];

	if (s->node) {
		space_rise(m->space, s);
		return;
	}
	m->kind_of[i] = roll(m, KINDS);
	s->shape = m->kinds[m->kind_of[i]].shape;
	if (roll(m, 8)) {
		find(m, i);
	} else {
		char name[] = { 'n', (char)('0' + roll(m, NODES)), '\0' };

		space_sit(m->space, s, space_node(m->space, name), 0);
	}
}

static void trial(struct model *m, int depth)
{
	struct seat before[SEATS];
	size_t kinds[SEATS];
	uint64_t epoch = space_epoch(m->space);
	size_t mark = space_mark(m->space);

	memcpy(before, m->seats, sizeof(before));
	memcpy(kinds, m->kind_of, sizeof(kinds));
	for (unsigned i = roll(m, 12); i > 0; i--)
		move(m);
	if (depth && roll(m, 2))
		trial(m, depth - 1);
	compare(m);
	if (roll(m, 4) == 0) {
		space_keep(m->space, mark);
		return;
	}
	space_undo(m->space, mark);
	CHECK_INT(space_epoch(m->space), epoch);
	for (size_t i = 0; i < SEATS; i++) {
		CHECK(m->seats[i].node == before[i].node);
		CHECK_INT(m->seats[i].cards, before[i].cards);
		m->seats[i].shape = before[i].shape;
	}
	memcpy(m->kind_of, kinds, sizeof(kinds));
}

TEST("a space agrees with one that counts everything anew, whatever happens")
{
	struct model *m = xcalloc(1, sizeof(*m));

	m->random = 7;
	m->space = space_new();
	for (size_t i = 0; i < KINDS; i++)
		make_kind(m, &m->kinds[i]);
	for (size_t i = 0; i < NODES; i++)
		change_host(m, i);
	for (int step = 0; step < STEPS; step++) {
		unsigned what = roll(m, 40);

		if (what == 0)
			change_host(m, roll(m, NODES));
		else if (what == 1)
			space_set_policy(m->space, roll(m, 2) ? SPACE_PACK : SPACE_SPREAD);
		else if (what == 2)
			trial(m, 2);
		else
			move(m);
		if (step % 16 == 0)
			compare(m);
	}
	for (size_t i = 0; i < SEATS; i++)
		space_rise(m->space, &m->seats[i]);
	compare(m);
	for (size_t i = 0; i < KINDS; i++)
		space_shape_unref(m->space, m->kinds[i].shape);
	space_free(m->space);
	free(m);
}
