// SPDX-License-Identifier: Apache-2.0
/* compact.c - what is superseded goes, what has expired goes, a little at a time
 *
 * `floor` is the oldest revision a watch may start from.  It moves up over the log row by row: when it passes row R,
 * the row that R superseded (R.prev) can no longer be asked for and is deleted; a tombstone goes with it.  So each
 * write is visited once, whatever the size of the store, and live rows are never touched.  The floor is kept in `meta`:
 * the revision counter starts from the larger of it and the newest row, and so never runs backwards.
 *
 * Rows of expiring kinds are found through their partial index, in order of age, and deleted as by anyone.
 *
 * Pages that become free are used again, and the file keeps its size.  On a full disk space is worth more than history:
 * all but the last seconds of it goes, and free pages go back to the file system.
 *
 * A step runs in the work phase, and its transaction is committed by the next turn, with that turn's requests.  It is
 * bounded by time and by deletions, each of which dirties a page or two for that commit and for the next checkpoint.
 * But it always passes as many revisions as the turn has made, and some more: however busy the server is, the history
 * does not outgrow its bounds, and compaction costs a turn no more than its own writes did.  With nothing to do there
 * is one timer, for the moment the oldest row comes of age, and with an empty history not even that.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "store/store_impl.h"

#define STEP_ROWS    2000 /* looked at */
#define STEP_DELETES 96   /* about 3 ms with their part of commit and checkpoint */
#define STEP_NS      (3 * 1000 * 1000)
#define BATCH        32 /* rows between looks at the clock */
#define FULL_DELETES 64 /* in one step on a full disk, where the log has little room */
#define FULL_HISTORY 10 /* seconds kept then: enough for a watcher that is connecting again */
#define FULL_PAGES   256

struct step {
	int64_t now;
	int64_t until_ns;
	int64_t history_seconds;
	int64_t must; /* rows to look at whatever the time */
	int64_t max_deletes;
	int64_t rows, deletes;
	bool more;   /* stopped by a bound */
	int64_t due; /* wall second of the next row to come of age; 0: none */
};

static void step_count(struct step *st, int deletes)
{
	st->rows++;
	st->deletes += deletes;
	if (st->rows >= st->must && (st->rows >= STEP_ROWS || st->deletes >= st->max_deletes))
		st->more = true;
}

/* After each batch. */
static void step_look_at_clock(struct step *st)
{
	if (st->rows >= st->must && clock_mono_ns() > st->until_ns)
		st->more = true;
}

static void step_due(struct step *st, int64_t when)
{
	if (!st->due || when < st->due)
		st->due = when;
}

static int forget(struct store *s, int64_t rv)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_FORGET, &st);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, rv);
	return sql_run(st);
}

static int set_floor(struct store *s, int64_t floor)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_FLOOR_SET, &st);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, floor);
	rc = sql_run(st);
	if (rc == SQLITE_OK)
		s->floor = floor;
	return rc;
}

struct passing {
	int64_t rv, prev;
	bool tombstone;
};

/* Collects the next rows after `from` that the floor may pass now; deleting under an open cursor would be asking for
 * trouble. */
static int find_passing(struct store *s, struct step *step, int64_t from, struct passing ret[BATCH], int *ret_n)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_PASSING, &st);
	int n = 0;

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, from);
	sqlite3_bind_int64(st, 2, s->durable_rv);
	while (!step->more && n < BATCH && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t rv = sqlite3_column_int64(st, 0);
		int64_t time = sqlite3_column_int64(st, 3);

		if (rv > s->rv - s->config.history_rows && time + step->history_seconds > step->now) {
			step_due(step, time + step->history_seconds);
			break;
		}
		ret[n++] =
			(struct passing){ rv, sqlite3_column_int64(st, 1), sqlite3_column_int(st, 2) == STORE_DELETED };
		step_count(step, (ret[n - 1].prev != 0) + ret[n - 1].tombstone);
	}
	sqlite3_reset(st);
	*ret_n = n;
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int forget_passed(struct store *s, const struct passing *rows, int n)
{
	int rc = SQLITE_OK;

	for (int i = 0; i < n && rc == SQLITE_OK; i++) {
		if (rows[i].prev)
			rc = forget(s, rows[i].prev);
		if (rc == SQLITE_OK && rows[i].tombstone)
			rc = forget(s, rows[i].rv);
	}
	return rc;
}

/* Moves the floor.  The caller has no transaction open unless the turn has. */
static int compact_history(struct store *s, struct step *step, struct err *e)
{
	struct passing rows[BATCH];
	int64_t floor = s->floor;
	int n = BATCH;
	int rc = SQLITE_OK;

	while (rc == SQLITE_OK && n == BATCH && !step->more) {
		rc = find_passing(s, step, floor, rows, &n);
		if (rc != SQLITE_OK)
			return sql_error(s, rc, "compacting", e);
		if (n == 0)
			break;
		if (txn_begin(s, false, e) < 0)
			return -1;
		rc = forget_passed(s, rows, n);
		floor = rows[n - 1].rv;
		step_look_at_clock(step);
	}
	if (rc == SQLITE_OK && floor > s->floor)
		rc = set_floor(s, floor);
	return rc == SQLITE_OK ? 0 : txn_fail(s, rc, "compacting", e);
}

struct expired {
	int64_t rv;
	int kind;
	char *ns, *name;
};

static int find_expired(struct store *s, struct step *step, struct expired ret[BATCH], int *ret_n)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_EXPIRING, &st);
	int n = 0;

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int64(st, 1, s->expire_from);
	while (!step->more && n < BATCH && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t rv = sqlite3_column_int64(st, 0);
		int64_t time = sqlite3_column_int64(st, 1);

		if (time + s->config.event_seconds > step->now) {
			step_due(step, time + s->config.event_seconds);
			break;
		}
		s->expire_from = rv;
		if (sqlite3_column_int64(st, 5) == rv) {
			ret[n++] = (struct expired){ rv, sqlite3_column_int(st, 2),
						     xstrdup((const char *)sqlite3_column_text(st, 3)),
						     xstrdup((const char *)sqlite3_column_text(st, 4)) };
		}
		step_count(step, sqlite3_column_int64(st, 5) == rv);
	}
	sqlite3_reset(st);
	*ret_n = n;
	return rc == SQLITE_DONE || rc == SQLITE_ROW ? SQLITE_OK : rc;
}

static int expire_one(struct store *s, const struct expired *x, struct err *e)
{
	json_auto_t *old = NULL;
	struct record r;
	int64_t rv;

	if (store_get(s, x->kind, x->ns, x->name, &r, e) < 0 ||
	    jsonx_parse(r.body.p, r.body.n, NULL, NULL, &old, e) < 0)
		return err_prefix(e, "%s/%s", x->ns, x->name);
	return store_delete(s, x->kind, x->ns, x->name, old, &rv, e);
}

static int expire_batch(struct store *s, struct step *step, int *ret_n, struct err *e)
{
	struct expired found[BATCH];
	int n = 0;
	int rc = find_expired(s, step, found, &n);
	int done = rc == SQLITE_OK ? 0 : sql_error(s, rc, "looking for expired objects", e);

	for (int i = 0; i < n; i++) {
		if (done == 0)
			done = expire_one(s, &found[i], e);
		free(found[i].ns);
		free(found[i].name);
	}
	if (done < 0)
		s->expire_from = 0;
	*ret_n = n;
	return done;
}

static int expire_objects(struct store *s, struct step *step, struct err *e)
{
	int n = BATCH;

	while (n == BATCH && !step->more) {
		if (expire_batch(s, step, &n, e) < 0)
			return -1;
		step_look_at_clock(step);
	}
	return 0;
}

/* Sleeps until the next row is of age and a little longer, so that a trickle of writes is dealt with in batches. */
static void arm(struct store *s, int64_t due, int64_t now)
{
	int64_t slack = s->config.history_seconds / 10;
	int64_t ms = (due > now ? due - now : 0) * 1000 + slack * 1000;

	s->compact_due = due;
	loop_timer_set(s->loop, &s->compact_timer, ms > 100 ? ms : 100);
}

/* Moves pages from the end of the file into free ones; the next checkpoint cuts it. */
static int shrink(struct store *s, struct step *step, struct err *e)
{
	sqlite3_stmt *st;
	int64_t pages = 0;
	int rc = sql_use(s, SQL_FREE_PAGES, &st);

	if (rc == SQLITE_OK && (rc = sqlite3_step(st)) == SQLITE_ROW)
		pages = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	if (rc != SQLITE_ROW)
		return sql_error(s, rc, "counting free pages", e);
	if (!pages)
		return 0;
	if (txn_begin(s, false, e) < 0)
		return -1;
	rc = sql_use(s, SQL_SHRINK, &st);
	if (rc != SQLITE_OK)
		return txn_fail(s, rc, "shrinking the database", e);
	for (int n = 0; (rc = sqlite3_step(st)) == SQLITE_ROW && !step->more; n++)
		step->more = n >= FULL_PAGES || clock_mono_ns() > step->until_ns;
	sqlite3_reset(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : txn_fail(s, rc, "shrinking the database", e);
}

/* On a full disk a step is a transaction of its own: if there is no room for it, no request fails with it. */
static bool full_step(struct store *s)
{
	struct step step = { .now = clock_wall(),
			     .until_ns = clock_mono_ns() + STEP_NS,
			     .history_seconds = FULL_HISTORY < s->config.history_seconds ? FULL_HISTORY
											 : s->config.history_seconds,
			     .max_deletes = FULL_DELETES };
	struct err e = ERR_INIT;
	int r;

	if (s->open)
		return true;
	r = compact_history(s, &step, &e);
	if (r == 0 && !step.more)
		r = shrink(s, &step, &e);
	if (s->open || s->poisoned)
		txn_commit(s);
	return r == 0 && step.more;
}

bool compact_step(struct store *s)
{
	struct step expiry = { .now = clock_wall(),
			       .until_ns = clock_mono_ns() + STEP_NS,
			       .max_deletes = STEP_DELETES,
			       .history_seconds = s->config.history_seconds };
	struct step step = expiry;
	struct err e = ERR_INIT;

	if (s->trouble[0] || s->poisoned)
		return false;
	if (s->full)
		return full_step(s);
	step.must = s->turn_rows + s->turn_rows / 4;
	s->turn_rows = 0;
	if (expire_objects(s, &expiry, &e) < 0 || compact_history(s, &step, &e) < 0) {
		log_warn("compaction failed: %s, trying again later", e.text);
		arm(s, step.now + 60, step.now);
		return false;
	}
	if (expiry.due)
		step_due(&step, expiry.due);
	step.more |= expiry.more;
	if (!step.more && step.due)
		arm(s, step.due, step.now);
	return step.more;
}

/* A step and a checkpoint in one turn are a longer pause than one after the other, and the step's transaction would
 * make the checkpoint wait for the next commit.  But a checkpoint that is due in every turn must not stop compaction.
 */
static bool put_off(struct store *s)
{
	s->compact_put_off = s->checkpoint_hook.queued && !s->compact_put_off && s->turn_rows <= STEP_DELETES;
	return s->compact_put_off;
}

static void on_work(void *arg)
{
	struct store *s = arg;

	if (put_off(s) || compact_step(s))
		loop_schedule(s->loop, &s->compact_hook);
}

static void on_due(void *arg)
{
	struct store *s = arg;

	loop_schedule(s->loop, &s->compact_hook);
}

void compact_init(struct store *s)
{
	s->compact_hook = (struct loop_hook){ .run = on_work, .arg = s, .phase = LOOP_WORK };
	s->compact_timer = (struct loop_timer){ .fire = on_due, .arg = s };
}

void compact_poke(struct store *s)
{
	int64_t slack = s->config.history_rows / 8 < 1000 ? s->config.history_rows / 8 : 1000;
	int64_t seconds = s->config.history_seconds;
	int64_t now;

	if (s->durable_rv - s->floor > s->config.history_rows + slack) {
		loop_schedule(s->loop, &s->compact_hook);
		return;
	}
	if (s->rv == s->floor)
		return;
	if (s->config.event_seconds < seconds)
		seconds = s->config.event_seconds;
	now = clock_wall();
	if (!loop_timer_pending(&s->compact_timer) || s->compact_due > now + seconds)
		arm(s, now + seconds, now);
}
