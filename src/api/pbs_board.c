// SPDX-License-Identifier: Apache-2.0
/* pbs_board.c - see pbs_board.h: the index
 *
 * New jobs have the highest number, so a row is put at the end of the order and found there by halving; one that goes
 * closes the gap, which for a hundred thousand jobs moves less than a megabyte.
 */
#include "api/pbs_board.h"

#include "api/object.h"
#include "api/stored.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

struct pbs_board {
	struct api *api;
	struct stored_kind kind;
	struct store_subscriber sub;
	bool loaded;
	struct pbs_row **rows; /* by (sequence, serial) */
	size_t n, cap;
	uint64_t serial;
	struct map by_name; /* "namespace/name" -> row */
	struct map users;   /* owner -> int64_t, jobs that have not ended */
};

static void on_changes(void *arg, const struct change *changes, size_t n);

struct pbs_board *pbs_board_new(struct api *api)
{
	struct pbs_board *b = xcalloc(1, sizeof(*b));

	*b = (struct pbs_board){ .api = api,
				 .kind = { .group = "stoker.dev", .version = "v1", .plural = "pbsjobs" },
				 .sub = { .fn = on_changes, .arg = b } };
	map_init(&b->by_name, NULL);
	map_init(&b->users, free);
	return b;
}

void pbs_board_free(struct pbs_board *b)
{
	if (b->loaded)
		store_unsubscribe(api_store(b->api), &b->sub);
	for (size_t i = 0; i < b->n; i++)
		pbs_row_free(b->rows[i]);
	free(b->rows);
	map_done(&b->by_name);
	map_done(&b->users);
	free(b);
}

bool pbs_board_loaded(const struct pbs_board *b)
{
	return b->loaded;
}

size_t pbs_board_count(const struct pbs_board *b)
{
	return b->n;
}

/* ---- the order ---- */

/* Where the first row is that is not before this place. */
static size_t place_of(const struct pbs_board *b, int64_t sequence, uint64_t serial)
{
	size_t low = 0, high = b->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		const struct pbs_row *r = b->rows[mid];

		if (r->sequence < sequence || (r->sequence == sequence && r->serial < serial))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

struct pbs_row *pbs_board_find(const struct pbs_board *b, int64_t sequence)
{
	size_t i = place_of(b, sequence, 0);

	return i < b->n && b->rows[i]->sequence == sequence ? b->rows[i] : NULL;
}

struct pbs_row *pbs_board_after(const struct pbs_board *b, int64_t sequence, uint64_t serial, size_t *hint)
{
	size_t i = *hint + 1;

	if (*hint >= b->n || b->rows[*hint]->sequence != sequence || b->rows[*hint]->serial != serial)
		i = place_of(b, sequence, serial + 1);
	*hint = i;
	return i < b->n ? b->rows[i] : NULL;
}

/* ---- changes ---- */

static void count_user(struct pbs_board *b, const struct pbs_row *r, int sign)
{
	int64_t *n = map_find(&b->users, r->owner);

	if (r->state == 'C')
		return;
	if (!n) {
		n = xcalloc(1, sizeof(*n));
		map_set(&b->users, r->owner, n);
	}
	*n += sign * r->jobs;
	if (!*n)
		map_remove(&b->users, r->owner);
}

int64_t pbs_board_jobs_of(const struct pbs_board *b, const char *owner)
{
	const int64_t *n = map_find(&b->users, owner);

	return n ? *n : 0;
}

static void take_out(struct pbs_board *b, const char *key, struct pbs_row *r)
{
	size_t i = place_of(b, r->sequence, r->serial);

	memmove(&b->rows[i], &b->rows[i + 1], (b->n - i - 1) * sizeof(*b->rows));
	b->n--;
	map_remove(&b->by_name, key);
	count_user(b, r, -1);
	pbs_row_free(r);
}

static void put_in(struct pbs_board *b, const char *key, struct pbs_row *r)
{
	size_t i;

	r->serial = ++b->serial;
	i = b->loaded ? place_of(b, r->sequence, r->serial) : b->n;
	ARRAY_PUSH(b->rows, b->n, b->cap, r);
	memmove(&b->rows[i + 1], &b->rows[i], (b->n - 1 - i) * sizeof(*b->rows));
	b->rows[i] = r;
	map_set(&b->by_name, key, r);
	count_user(b, r, 1);
}

/* At the place of an older row of the same job. */
static void put_over(struct pbs_board *b, const char *key, struct pbs_row *old, struct pbs_row *r)
{
	r->serial = old->serial;
	b->rows[place_of(b, old->sequence, old->serial)] = r;
	map_set(&b->by_name, key, r);
	count_user(b, old, -1);
	count_user(b, r, 1);
	pbs_row_free(old);
}

static void take_change(struct pbs_board *b, const struct change *c)
{
	auto_free char *key = xasprintf("%s/%s", c->ns, c->name);
	struct pbs_row *old = map_find(&b->by_name, key);
	struct pbs_row *r = c->obj ? pbs_row_new(c->ns, c->name, c->obj) : NULL;

	if (r)
		r->rv = c->rv;
	if (old && r && old->sequence == r->sequence) {
		put_over(b, key, old, r);
		return;
	}
	if (old)
		take_out(b, key, old);
	if (r)
		put_in(b, key, r);
}

static void on_changes(void *arg, const struct change *changes, size_t n)
{
	struct pbs_board *b = arg;

	for (size_t i = 0; i < n; i++)
		if (changes[i].kind == b->kind.number)
			take_change(b, &changes[i]);
}

/* ---- the start ---- */

struct loading {
	struct pbs_board *b;
	struct err *e;
};

static bool on_job(void *arg, const struct record *rec)
{
	struct loading *l = arg;
	json_auto_t *obj = NULL;
	struct change c = { .rv = rec->rv, .kind = rec->kind, .ns = rec->ns, .name = rec->name };

	if (object_parse(rec->body, &obj, l->e) < 0)
		return false;
	c.obj = obj;
	take_change(l->b, &c);
	return true;
}

static int by_number(const void *a, const void *b)
{
	const struct pbs_row *x = *(const struct pbs_row *const *)a;
	const struct pbs_row *y = *(const struct pbs_row *const *)b;

	if (x->sequence != y->sequence)
		return x->sequence < y->sequence ? -1 : 1;
	return x->serial < y->serial ? -1 : x->serial > y->serial;
}

int pbs_board_load(struct pbs_board *b, struct err *e)
{
	struct loading l = { b, e };
	struct store_range all = { 0 };

	if (stored_resolve(b->api, &b->kind, e) < 0)
		return -1;
	all.kind = b->kind.number;
	if (store_list(api_store(b->api), &all, on_job, &l, e) < 0 || e->kind != ERR_NONE)
		return -1;
	if (b->n) /* they came in the order of their names */
		qsort(b->rows, b->n, sizeof(*b->rows), by_number);
	store_subscribe(api_store(b->api), &b->sub);
	b->loaded = true;
	return 0;
}
