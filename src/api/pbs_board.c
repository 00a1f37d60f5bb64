// SPDX-License-Identifier: Apache-2.0
/* pbs_board.c - see pbs_board.h: the index
 *
 * New jobs have the highest number, so a row is put at the end of the order and found there by halving; one that goes
 * closes the gap, which for a hundred thousand jobs moves less than a megabyte.
 *
 * At the start the jobs are read a few at a time, so that whoever asks for something else need not wait; who asks for
 * them has the rest read at once.  What is written meanwhile is told like any other change, and not read.
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
	bool loading, loaded;
	int64_t since;               /* loading: what is newer is told */
	char *after_ns, *after_name; /* and where it goes on, or NULL */
	struct loop_hook more;
	struct store_after turn; /* in which all were read although it had written something; .fn NULL: none */
	struct pbs_row **rows;   /* by (sequence, serial) */
	size_t n, cap;
	uint64_t serial;
	struct map by_name; /* "namespace/name" -> row */
	struct map users;   /* owner -> int64_t, jobs that have not ended */
};

#define STEP_JOBS 128 /* read in a turn; each is some 15 us */

static void on_changes(void *arg, const struct change *changes, size_t n);
static void on_more(void *arg);

struct pbs_board *pbs_board_new(struct api *api)
{
	struct pbs_board *b = xcalloc(1, sizeof(*b));

	*b = (struct pbs_board){ .api = api,
				 .kind = { .group = "stoker.dev", .version = "v1", .plural = "pbsjobs" },
				 .sub = { .fn = on_changes, .arg = b },
				 .more = { .run = on_more, .arg = b, .phase = LOOP_WORK } };
	map_init(&b->by_name, NULL);
	map_init(&b->users, free);
	return b;
}

static void forget_all(struct pbs_board *b)
{
	free(b->after_ns);
	free(b->after_name);
	b->after_ns = b->after_name = NULL;
	for (size_t i = 0; i < b->n; i++)
		pbs_row_free(b->rows[i]);
	b->n = 0;
	map_done(&b->by_name);
	map_done(&b->users);
}

void pbs_board_free(struct pbs_board *b)
{
	if (b->loading || b->loaded)
		store_unsubscribe(api_store(b->api), &b->sub);
	if (b->turn.fn)
		store_after_cancel(&b->turn);
	loop_unschedule(api_loop(b->api), &b->more);
	forget_all(b);
	free(b->rows);
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

static void load_all(struct pbs_board *b);

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

struct pbs_row *pbs_board_find(struct pbs_board *b, int64_t sequence)
{
	size_t i;

	load_all(b);
	i = place_of(b, sequence, 0);
	return i < b->n && b->rows[i]->sequence == sequence ? b->rows[i] : NULL;
}

struct pbs_row *pbs_board_after(struct pbs_board *b, int64_t sequence, uint64_t serial, size_t *hint)
{
	size_t i = *hint + 1;

	load_all(b);
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

int64_t pbs_board_jobs_of(struct pbs_board *b, const char *owner)
{
	const int64_t *n;

	load_all(b);
	n = map_find(&b->users, owner);
	return n ? *n : 0;
}

/* Where a row is.  Before all are there they are in no order, and it is one of the last. */
static size_t index_of(const struct pbs_board *b, const struct pbs_row *r)
{
	size_t i = b->n;

	if (b->loaded)
		return place_of(b, r->sequence, r->serial);
	while (b->rows[--i] != r)
		;
	return i;
}

static void take_out(struct pbs_board *b, const char *key, struct pbs_row *r)
{
	size_t i = index_of(b, r);

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
	b->rows[index_of(b, old)] = r;
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

struct step {
	struct pbs_board *b;
	size_t left;
	bool stopped;
};

static bool on_job(void *arg, const struct record *rec)
{
	struct step *st = arg;
	struct pbs_board *b = st->b;
	struct change c = { .rv = rec->rv, .kind = rec->kind, .ns = rec->ns, .name = rec->name };
	json_auto_t *obj = NULL;
	struct err e = ERR_INIT;

	if (!st->left--) {
		st->stopped = true;
		return false;
	}
	free(b->after_ns);
	free(b->after_name);
	b->after_ns = xstrdup(rec->ns);
	b->after_name = xstrdup(rec->name);
	if (rec->rv > b->since)
		return true;
	if (object_parse(rec->body, &obj, &e) < 0) {
		log_error("read PBS job %s/%s: %s, ignoring", rec->ns, rec->name, e.text);
		return true;
	}
	c.obj = obj;
	take_change(b, &c);
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

static void end_loading(struct pbs_board *b)
{
	if (b->n) /* they came in the order of their names */
		qsort(b->rows, b->n, sizeof(*b->rows), by_number);
	free(b->after_ns);
	free(b->after_name);
	b->after_ns = b->after_name = NULL;
	b->loading = false;
	b->loaded = true;
}

static void load(struct pbs_board *b, size_t most)
{
	struct step st = { .b = b, .left = most };
	auto_free char *ns = b->after_ns ? xstrdup(b->after_ns) : NULL;
	auto_free char *name = b->after_name ? xstrdup(b->after_name) : NULL;
	struct store_range range = { .kind = b->kind.number, .after_ns = ns, .after_name = name };
	struct err e = ERR_INIT;

	if (store_list(api_store(b->api), &range, on_job, &st, &e) < 0)
		log_error("read PBS jobs: %s, ignoring", e.text);
	if (!st.stopped)
		end_loading(b);
}

static void begin_loading(struct pbs_board *b)
{
	b->since = store_revision(api_store(b->api));
	b->loading = true;
	b->loaded = false;
	loop_schedule(api_loop(b->api), &b->more);
}

/* A turn that has failed never happened: what it changed was passed over, and would be told by nobody. */
static void on_turn(void *arg, const struct err *e)
{
	struct pbs_board *b = arg;

	b->turn.fn = NULL;
	if (e->kind == ERR_NONE)
		return;
	forget_all(b);
	map_init(&b->by_name, NULL);
	map_init(&b->users, free);
	begin_loading(b);
}

static void load_all(struct pbs_board *b)
{
	if (!b->loading)
		return;
	if (store_dirty(api_store(b->api)) && !b->turn.fn) {
		b->turn = (struct store_after){ .fn = on_turn, .arg = b };
		store_after(api_store(b->api), &b->turn);
	}
	load(b, SIZE_MAX);
}

/* What this turn has written may still be undone. */
static void on_more(void *arg)
{
	struct pbs_board *b = arg;

	if (b->loading && !store_dirty(api_store(b->api)))
		load(b, STEP_JOBS);
	if (b->loading)
		loop_schedule(api_loop(b->api), &b->more);
}

int pbs_board_load(struct pbs_board *b, struct err *e)
{
	if (stored_resolve(b->api, &b->kind, e) < 0)
		return -1;
	store_subscribe(api_store(b->api), &b->sub);
	begin_loading(b);
	return 0;
}
