// SPDX-License-Identifier: Apache-2.0
/* usage_sum.c - see usage_sum.h */
#include "sched/usage_sum.h"

#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"

struct usage_row {
	char *name;
	char *ns, *kind, *user, *queue; /* of a job; else NULL */
	int64_t jobs, running;
	struct account_use use;
	int64_t wait;
};

static const char *const names[USAGE_BY__COUNT] = {
	[USAGE_USER] = "user",
	[USAGE_GROUP] = "group",
	[USAGE_QUEUE] = "queue",
	[USAGE_JOB] = "job",
};

static void row_free(void *v)
{
	struct usage_row *r = v;

	free(r->name);
	free(r->ns);
	free(r->kind);
	free(r->user);
	free(r->queue);
	free(r);
}

int usage_sum_init(struct usage_sum *u, const char *by, int64_t from, int64_t to, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!streq(by, names[i]))
			continue;
		if (to < from)
			return err_set(e, ERR_BAD_REQUEST, "to: it is before from");
		*u = (struct usage_sum){ .by = (enum usage_by)i, .from = from, .to = to };
		map_init(&u->rows, row_free);
		return 0;
	}
	return err_set(e, ERR_BAD_REQUEST, "by: \"%.40s\" is not one of user, group, queue, job", by);
}

void usage_sum_done(struct usage_sum *u)
{
	map_done(&u->rows);
}

static struct str name_of(const struct usage_sum *u, const struct account_record *r)
{
	switch (u->by) {
	case USAGE_USER:
		return r->user;
	case USAGE_GROUP:
		return r->group;
	case USAGE_QUEUE:
		return r->queue;
	default:
		return r->job;
	}
}

static char *copy(struct str s)
{
	return xstrndup(s.p, s.n);
}

static struct usage_row *row_new(const struct usage_sum *u, const struct account_record *r)
{
	struct usage_row *row = xcalloc(1, sizeof(*row));

	row->name = copy(name_of(u, r));
	if (u->by == USAGE_JOB) {
		row->ns = copy(r->ns);
		row->kind = copy(r->kind);
		row->user = copy(r->user);
		row->queue = copy(r->queue);
	}
	return row;
}

static struct usage_row *row_of(struct usage_sum *u, const struct account_record *r)
{
	struct str name = name_of(u, r);
	char key[ACCOUNT_LINE_MAX];
	struct usage_row *row;

	if (u->by == USAGE_JOB) {
		int n = snprintf(key, sizeof(key), "%.*s/%.*s/%.*s", STR_FMT(r->ns), STR_FMT(r->kind), STR_FMT(name));

		name = (struct str){ key, n < (int)sizeof(key) ? (size_t)n : sizeof(key) - 1 };
	}
	row = map_find_n(&u->rows, name.p, name.n);
	if (!row) {
		auto_free char *owned = copy(name);

		row = row_new(u, r);
		map_set(&u->rows, owned, row);
	}
	return row;
}

void usage_sum_add(struct usage_sum *u, const struct account_record *r)
{
	struct account_use use = account_use_between(r, u->from, u->to, u->now);
	struct usage_row *row;

	if (r->started > u->to || (r->ended && r->ended < u->from) || (u->user && !str_eq(r->user, u->user)))
		return;
	row = row_of(u, r);
	row->use.gpu += use.gpu;
	row->use.cpu += use.cpu;
	row->use.memory += use.memory;
	if (!r->pods)
		return;
	row->jobs++;
	row->running += !r->ended;
	row->wait += r->submitted && r->started > r->submitted ? r->started - r->submitted : 0;
}

static double first_difference(const struct usage_row *x, const struct usage_row *y)
{
	if (x->use.gpu != y->use.gpu)
		return x->use.gpu - y->use.gpu;
	if (x->use.cpu != y->use.cpu)
		return x->use.cpu - y->use.cpu;
	return x->use.memory - y->use.memory;
}

static int by_use(const void *a, const void *b)
{
	const struct usage_row *x = *(struct usage_row *const *)a;
	const struct usage_row *y = *(struct usage_row *const *)b;
	double d = first_difference(x, y);

	return d > 0 ? -1 : d < 0 ? 1 : strcmp(x->name, y->name);
}

static json_t *row_json(const struct usage_row *r)
{
	json_t *v = json_pack("{s:o, s:I, s:I, s:f, s:f, s:f, s:I}", "name", jsonx_string(r->name), "jobs",
			      (json_int_t)r->jobs, "running", (json_int_t)r->running, "gpuSeconds", r->use.gpu,
			      "cpuSeconds", r->use.cpu, "memoryGiBSeconds", r->use.memory, "waitSeconds",
			      (json_int_t)r->wait);

	if (r->ns) {
		json_object_set_new(v, "namespace", jsonx_string(r->ns));
		json_object_set_new(v, "kind", jsonx_string(r->kind));
		json_object_set_new(v, "user", jsonx_string(r->user));
		json_object_set_new(v, "queue", jsonx_string(r->queue));
	}
	return v;
}

json_t *usage_sum_json(const struct usage_sum *u)
{
	struct usage_row **rows = xcalloc(u->rows.n + 1, sizeof(struct usage_row *));
	json_t *list = json_array();
	size_t n = 0, pos = 0;
	void *v;

	while (map_next(&u->rows, &pos, NULL, &v))
		rows[n++] = v;
	qsort(rows, n, sizeof(struct usage_row *), by_use);
	for (size_t i = 0; i < n; i++)
		json_array_append_new(list, row_json(rows[i]));
	free(rows);
	return list;
}
