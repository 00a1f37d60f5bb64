// SPDX-License-Identifier: Apache-2.0
/* limits.c - see limits.h */
#include "sched/limits.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/quantity.h"

static const struct {
	const char *field; /* of the Queue */
	const char *one, *many;
	bool quantity;
} names[LIMIT__COUNT] = {
	[LIMIT_RUNNING] = { "running", "running job", "running jobs", false },
	[LIMIT_QUEUED] = { "queued", "job in the queue", "jobs in the queue", false },
	[LIMIT_GPUS] = { "gpus", "GPU", "GPUs", false },
	[LIMIT_CPUS] = { "cpus", "CPU", "CPUs", true },
	[LIMIT_MEMORY] = { "memory", "of memory", "of memory", true },
};

static const char *const scope_fields[LIMIT_SCOPE__COUNT] = {
	[LIMIT_TOTAL] = "total",
	[LIMIT_PER_USER] = "perUser",
	[LIMIT_PER_GROUP] = "perGroup",
};

/* The number in a queue's object, or -1. */
static int64_t read_one(const json_t *amount, enum limit_of of)
{
	const json_t *v = json_object_get(amount, names[of].field);
	struct quantity q;

	if (!v)
		return -1;
	if (!names[of].quantity)
		return json_is_integer(v) ? json_integer_value(v) : -1;
	if (!json_is_string(v) || !quantity_parse(json_string_value(v), &q))
		return -1;
	return of == LIMIT_CPUS ? quantity_milli(&q) : quantity_value(&q);
}

void limits_read(struct limits *l, const json_t *spec_limits)
{
	for (int scope = 0; scope < LIMIT_SCOPE__COUNT; scope++)
		for (int of = 0; of < LIMIT__COUNT; of++)
			l->most[scope].v[of] = read_one(json_object_get(spec_limits, scope_fields[scope]), of);
}

void limits_use_init(struct limits_use *u)
{
	*u = (struct limits_use){ 0 };
	map_init(&u->users, free);
	map_init(&u->groups, free);
}

void limits_use_done(struct limits_use *u)
{
	map_done(&u->users);
	map_done(&u->groups);
}

static void add(struct amount_of_limits *to, const struct amount_of_limits *a, int sign)
{
	for (int of = 0; of < LIMIT__COUNT; of++)
		to->v[of] += sign * a->v[of];
}

static void add_named(struct map *m, const char *name, const struct amount_of_limits *a, int sign)
{
	static const struct amount_of_limits nothing;
	struct amount_of_limits *use = map_find(m, name);

	if (!use) {
		use = xcalloc(1, sizeof(*use));
		map_set(m, name, use);
	}
	add(use, a, sign);
	if (memcmp(use, &nothing, sizeof(nothing)) == 0)
		map_remove(m, name);
}

void limits_count(struct limits_use *u, const char *user, const char *group, const struct amount_of_limits *a, int sign)
{
	add(&u->total, a, sign);
	add_named(&u->users, user, a, sign);
	if (*group)
		add_named(&u->groups, group, a, sign);
}

/* The first of a scope that is exceeded.  A limit of 0 is one, too: but what asks for nothing exceeds nothing. */
static bool scope_exceeded(const struct limits *l, enum limit_scope scope, const struct amount_of_limits *used,
			   const struct amount_of_limits *a, struct limit_hit *ret)
{
	for (int of = 0; of < LIMIT__COUNT; of++) {
		int64_t most = l->most[scope].v[of];

		if (most < 0 || a->v[of] == 0 || used->v[of] + a->v[of] <= most)
			continue;
		*ret = (struct limit_hit){
			.scope = scope, .of = of, .most = most, .used = used->v[of], .wanted = a->v[of]
		};
		return true;
	}
	return false;
}

bool limits_exceeded(const struct limits *l, const struct limits_use *u, const char *user, const char *group,
		     const struct amount_of_limits *a, struct limit_hit *ret)
{
	static const struct amount_of_limits nothing;
	const struct amount_of_limits *of_user = map_find(&u->users, user);
	const struct amount_of_limits *of_group = map_find(&u->groups, group);

	return scope_exceeded(l, LIMIT_TOTAL, &u->total, a, ret) ||
	       scope_exceeded(l, LIMIT_PER_USER, of_user ? of_user : &nothing, a, ret) ||
	       (*group && scope_exceeded(l, LIMIT_PER_GROUP, of_group ? of_group : &nothing, a, ret));
}

bool limits_impossible(const struct limits *l, const struct amount_of_limits *a, struct limit_hit *ret)
{
	static const struct amount_of_limits nothing;

	for (int scope = 0; scope < LIMIT_SCOPE__COUNT; scope++)
		if (scope_exceeded(l, scope, &nothing, a, ret))
			return true;
	return false;
}

static void amount_text(enum limit_of of, int64_t n, struct sbuf *out)
{
	if (of == LIMIT_MEMORY)
		sbuf_addf(out, "%.4g GiB %s", (double)n / (1 << 30), names[of].one);
	else if (of == LIMIT_CPUS)
		sbuf_addf(out, "%g %s", (double)n / 1000, n == 1000 ? names[of].one : names[of].many);
	else
		sbuf_addf(out, "%lld %s", (long long)n, n == 1 ? names[of].one : names[of].many);
}

/* The number alone. */
static void number_text(enum limit_of of, int64_t n, struct sbuf *out)
{
	if (of == LIMIT_MEMORY)
		sbuf_addf(out, "%.4g GiB", (double)n / (1 << 30));
	else
		sbuf_addf(out, "%g", of == LIMIT_CPUS ? (double)n / 1000 : (double)n);
}

void limit_hit_text(const struct limit_hit *h, const char *queue, const char *user, const char *group, struct sbuf *out)
{
	const char *who = h->scope == LIMIT_PER_USER ? user : h->scope == LIMIT_PER_GROUP ? group : queue;

	sbuf_addf(out, "queue %s allows %s", queue,
		  h->scope == LIMIT_PER_USER    ? "each user "
		  : h->scope == LIMIT_PER_GROUP ? "each group "
						: "");
	amount_text(h->of, h->most, out);
	if (h->scope == LIMIT_TOTAL)
		sbuf_adds(out, " in all, ");
	else
		sbuf_addf(out, ", %s has ", who);
	number_text(h->of, h->used, out);
	sbuf_adds(out, h->scope == LIMIT_TOTAL ? " in use and this needs " : " and this needs ");
	number_text(h->of, h->wanted, out);
}
