// SPDX-License-Identifier: Apache-2.0
/* queue_limits.c - see queue_limits.h */
#include "kinds/queue_limits.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/resource_list.h"

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

void limits_read_amount(struct amount_of_limits *a, const json_t *amount)
{
	for (int of = 0; of < LIMIT__COUNT; of++)
		a->v[of] = read_one(amount, of);
}

void limits_read(struct limits *l, const json_t *spec_limits)
{
	for (int scope = 0; scope < LIMIT_SCOPE__COUNT; scope++)
		limits_read_amount(&l->most[scope], json_object_get(spec_limits, scope_fields[scope]));
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

/* No queue has more of anything, and sums of it do not overflow. */
#define MOST ((int64_t)1 << 52)

static int64_t read_wanted(const struct resource_list *requests, const struct resource_list *limits, const char *name,
			   int64_t (*value)(const struct quantity *q))
{
	const struct quantity *q = resource_list_find(requests, name);
	int64_t n;

	q = q ? q : resource_list_find(limits, name);
	n = q ? value(q) : 0;
	return n < 0 ? 0 : n > MOST ? MOST : n;
}

static void add_times(int64_t *to, int64_t n, int64_t times)
{
	__int128 sum = *to + (__int128)n * times;

	*to = sum > MOST ? MOST : (int64_t)sum;
}

void limits_add_pod(struct amount_of_limits *a, const json_t *pod_spec, int64_t times)
{
	struct resource_list requests = { 0 };
	struct resource_list limits = { 0 };

	pod_resources(pod_spec, "requests", true, &requests);
	pod_resources(pod_spec, "limits", true, &limits);
	add_times(&a->v[LIMIT_GPUS], read_wanted(&requests, &limits, "nvidia.com/gpu", quantity_value), times);
	add_times(&a->v[LIMIT_CPUS], read_wanted(&requests, &limits, "cpu", quantity_milli), times);
	add_times(&a->v[LIMIT_MEMORY], read_wanted(&requests, &limits, "memory", quantity_value), times);
	resource_list_done(&requests);
	resource_list_done(&limits);
}

void limit_amount_text(enum limit_of of, int64_t n, struct sbuf *out)
{
	if (of == LIMIT_MEMORY)
		sbuf_addf(out, "%.4g GiB %s", (double)n / (1 << 30), names[of].one);
	else if (of == LIMIT_CPUS)
		sbuf_addf(out, "%g %s", (double)n / 1000, n == 1000 ? names[of].one : names[of].many);
	else
		sbuf_addf(out, "%lld %s", (long long)n, n == 1 ? names[of].one : names[of].many);
}

/* The number alone. */
void limit_number_text(enum limit_of of, int64_t n, struct sbuf *out)
{
	if (of == LIMIT_MEMORY)
		sbuf_addf(out, "%.4g GiB", (double)n / (1 << 30));
	else
		sbuf_addf(out, "%g", of == LIMIT_CPUS ? (double)n / 1000 : (double)n);
}

static void most_text(const struct limit_hit *h, const char *queue, struct sbuf *out)
{
	sbuf_addf(out, "%s%s allows %s", queue ? "queue " : "the PBS server", queue ? queue : "",
		  h->scope == LIMIT_PER_USER    ? "each user "
		  : h->scope == LIMIT_PER_GROUP ? "each group "
						: "");
	limit_amount_text(h->of, h->most, out);
	if (h->scope == LIMIT_TOTAL)
		sbuf_adds(out, " in all");
}

void limit_hit_text(const struct limit_hit *h, const char *queue, const char *user, const char *group, struct sbuf *out)
{
	most_text(h, queue, out);
	if (h->scope == LIMIT_TOTAL)
		sbuf_adds(out, ", ");
	else
		sbuf_addf(out, ", %s has ", h->scope == LIMIT_PER_USER ? user : group);
	limit_number_text(h->of, h->used, out);
	sbuf_adds(out, h->scope == LIMIT_TOTAL ? " in use and this needs " : " and this needs ");
	limit_number_text(h->of, h->wanted, out);
}

void limit_most_text(const struct limit_hit *h, const char *queue, struct sbuf *out)
{
	most_text(h, queue, out);
	sbuf_adds(out, " and this needs ");
	limit_number_text(h->of, h->wanted, out);
}
