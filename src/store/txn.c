// SPDX-License-Identifier: Apache-2.0
/* txn.c - the turn: one transaction, one fsync, then everyone is told
 *
 *	first write    BEGIN IMMEDIATE, commit hook queued
 *	LOOP_COMMIT    COMMIT; changes and waiters move to the "told" side with the outcome
 *	AFTER_COMMIT   subscribers get the changes, then the waiters their answer
 *	LOOP_WORK      the WAL is moved into stoker.db when it is long
 *
 * A statement that fails poisons the turn: it is rolled back at once, its later writes fail with the same error, and so
 * does every waiter, also those that only read: they may have read what never came to be.  Revision numbers of a turn
 * that did not commit are given out again; nobody has seen them.
 */
#include "base/mem.h"
#include "store/store_impl.h"

/* --- rings of waiters: a head is a member that is never called --- */

static void ring_init(struct store_after *head)
{
	head->next = head;
	head->pprev = &head->next;
}

static bool ring_empty(const struct store_after *head)
{
	return head->next == head;
}

static void ring_add(struct store_after *head, struct store_after *a)
{
	a->next = head;
	a->pprev = head->pprev;
	*a->pprev = a;
	head->pprev = &a->next;
}

void store_after_cancel(struct store_after *a)
{
	if (!a->pprev)
		return;
	*a->pprev = a->next;
	a->next->pprev = a->pprev;
	a->next = NULL;
	a->pprev = NULL;
}

static void make_ready(struct store *s, const struct err *outcome)
{
	if (outcome)
		s->ready_err = *outcome;
	else
		err_clear(&s->ready_err);
	while (!ring_empty(&s->waiting)) {
		struct store_after *a = s->waiting.next;

		store_after_cancel(a);
		ring_add(&s->ready, a);
	}
}

static void call_ready(struct store *s)
{
	while (!ring_empty(&s->ready)) {
		struct store_after *a = s->ready.next;

		store_after_cancel(a);
		a->fn(a->arg, &s->ready_err);
	}
}

void store_after(struct store *s, struct store_after *after)
{
	ring_add(&s->waiting, after);
	if (!s->open && !s->poisoned)
		loop_schedule(s->loop, &s->after_hook);
}

/* --- changes --- */

static void changes_clear(struct change_list *l)
{
	for (size_t i = 0; i < l->n; i++) {
		free((char *)l->items[i].ns); /* holds the name too */
		free((char *)l->items[i].body.p);
		json_decref(l->items[i].obj);
		json_decref(l->items[i].old);
	}
	l->n = 0;
}

void txn_changed(struct store *s, const struct change *c)
{
	size_t ns = strlen(c->ns) + 1;
	size_t name = strlen(c->name) + 1;
	char *key = xmalloc(ns + name);
	struct change kept = *c;

	memcpy(key, c->ns, ns);
	memcpy(key + ns, c->name, name);
	kept.ns = key;
	kept.name = key + ns;
	json_incref(kept.obj);
	json_incref(kept.old);
	ARRAY_PUSH(s->changes.items, s->changes.n, s->changes.cap, kept);
}

void store_subscribe(struct store *s, struct store_subscriber *sub)
{
	sub->next = s->subscribers;
	s->subscribers = sub;
}

void store_unsubscribe(struct store *s, struct store_subscriber *sub)
{
	struct store_subscriber **p = &s->subscribers;

	while (*p && *p != sub)
		p = &(*p)->next;
	if (*p)
		*p = sub->next;
	if (s->next_subscriber == sub)
		s->next_subscriber = sub->next;
}

static void tell_subscribers(struct store *s)
{
	/* A subscriber may write, and its own changes must not join those being told. */
	struct change_list l = s->told;

	if (!l.n)
		return;
	s->told = (struct change_list){ 0 };
	s->told_rv = l.items[l.n - 1].rv;
	for (struct store_subscriber *sub = s->subscribers; sub; sub = s->next_subscriber) {
		s->next_subscriber = sub->next;
		sub->fn(sub->arg, l.items, l.n);
	}
	changes_clear(&l);
	if (s->told.items)
		free(l.items);
	else
		s->told = l;
}

/* --- the transaction --- */

static int refuse_writes(const struct store *s, struct err *e)
{
	return err_set(e, ERR_UNAVAILABLE, "writes are refused: %s; check the disk of %s, then restart", s->trouble,
		       s->config.dir);
}

int txn_begin(struct store *s, bool growing, struct err *e)
{
	int rc;

	if (s->poisoned) {
		*e = s->poison;
		return -1;
	}
	if (s->trouble[0])
		return refuse_writes(s, e);
	if (growing && s->full)
		return sql_error(s, SQLITE_FULL, "writing", e);
	if (s->open)
		return 0;
	rc = sql_run_id(s, SQL_BEGIN);
	if (rc != SQLITE_OK)
		return sql_error(s, rc, "beginning a transaction", e);
	s->open = true;
	loop_schedule(s->loop, &s->commit_hook);
	return 0;
}

static int read_int(struct store *s, enum sql_id id, int64_t *ret)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, id, &st);

	if (rc != SQLITE_OK)
		return rc;
	rc = sqlite3_step(st);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(st, 0);
	sqlite3_reset(st);
	return rc == SQLITE_ROW ? SQLITE_OK : rc;
}

int txn_resync(struct store *s)
{
	int64_t newest = 0;
	int64_t floor = 0;
	int rc = read_int(s, SQL_NEWEST, &newest);

	if (rc == SQLITE_OK)
		rc = read_int(s, SQL_FLOOR, &floor);
	if (rc == SQLITE_OK) {
		s->floor = floor;
		s->durable_rv = newest > floor ? newest : floor;
	}
	s->rv = s->durable_rv;
	return rc;
}

static void roll_back(struct store *s)
{
	if (!sqlite3_get_autocommit(s->db))
		sql_run_id(s, SQL_ROLLBACK);
	s->open = false;
	changes_clear(&s->changes);
	recent_drop(s); /* the revisions will be given out again */
	for (size_t i = 0; i < s->nkinds; i++)
		if (s->kinds[i].pending)
			s->kinds[i].pending = s->kinds[i].saved = false;
	s->expire_from = 0;
	txn_resync(s);
}

static void poison(struct store *s, const struct err *why)
{
	roll_back(s);
	s->poisoned = true;
	s->poison = *why;
	loop_schedule(s->loop, &s->commit_hook);
}

int txn_fail(struct store *s, int rc, const char *doing, struct err *e)
{
	struct err why = ERR_INIT;

	sql_error(s, rc, doing, &why);
	poison(s, &why);
	*e = why;
	return -1;
}

static void committed(struct store *s)
{
	struct change_list empty = s->told;

	s->open = false;
	s->turn_rows = s->rv - s->durable_rv + (s->compact_put_off ? s->turn_rows : 0);
	s->durable_rv = s->rv;
	for (size_t i = 0; i < s->nkinds; i++)
		s->kinds[i].pending = false;
	if (empty.n) { /* not delivered yet: keep the order */
		for (size_t i = 0; i < s->changes.n; i++)
			ARRAY_PUSH(s->told.items, s->told.n, s->told.cap, s->changes.items[i]);
		s->changes.n = 0;
	} else {
		s->told = s->changes;
		s->changes = empty;
	}
	if (s->wal_grew) /* else the count may be of a log that has begun anew since */
		vfs_mark(s->vfs, s->wal_frames);
	if (s->checkpoint_late)
		txn_checkpoint(s);
	else if (s->wal_frames >= STORE_WAL_FRAMES || s->full)
		loop_schedule(s->loop, &s->checkpoint_hook);
	compact_poke(s);
}

static void on_commit(void *arg)
{
	struct store *s = arg;
	struct err e = ERR_INIT;
	int rc;

	if (s->open && s->trouble[0]) { /* a read of this turn met bad ground: build nothing on it */
		refuse_writes(s, &e);
		poison(s, &e);
	} else if (s->open) {
		s->wal_grew = false;
		rc = sql_run_id(s, SQL_COMMIT);
		if (rc == SQLITE_OK)
			committed(s);
		else
			txn_fail(s, rc, "committing", &e);
	}
	if (!ring_empty(&s->ready))
		call_ready(s);
	make_ready(s, s->poisoned ? &s->poison : NULL);
	s->poisoned = false;
	loop_schedule(s->loop, &s->after_hook);
}

void txn_commit(struct store *s)
{
	on_commit(s);
}

static void on_after(void *arg)
{
	struct store *s = arg;

	tell_subscribers(s);
	call_ready(s);
	if (s->open || s->poisoned || ring_empty(&s->waiting))
		return;
	make_ready(s, NULL);
	call_ready(s);
}

/* --- the WAL --- */

static int on_wal(void *arg, sqlite3 *db, const char *name, int frames)
{
	(void)db;
	(void)name;
	((struct store *)arg)->wal_frames = frames;
	((struct store *)arg)->wal_grew = true;
	return SQLITE_OK;
}

void txn_checkpoint(struct store *s)
{
	struct err e = ERR_INIT;
	int rc;

	s->checkpoint_late = false;
	if (s->trouble[0])
		return;
	rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL);
	if (rc != SQLITE_OK)
		sql_error(s, rc, "moving the log into stoker.db", &e);
}

static void on_checkpoint(void *arg)
{
	struct store *s = arg;

	if (s->open)
		s->checkpoint_late = true; /* SQLite would refuse; the next commit does it at once */
	else
		txn_checkpoint(s);
}

void txn_init(struct store *s)
{
	ring_init(&s->waiting);
	ring_init(&s->ready);
	s->commit_hook = (struct loop_hook){ .run = on_commit, .arg = s, .phase = LOOP_COMMIT };
	s->after_hook = (struct loop_hook){ .run = on_after, .arg = s, .phase = LOOP_AFTER_COMMIT };
	s->checkpoint_hook = (struct loop_hook){ .run = on_checkpoint, .arg = s, .phase = LOOP_WORK };
	if (s->db)
		sqlite3_wal_hook(s->db, on_wal, s);
}

void txn_finish(struct store *s)
{
	/* Those who are told may write once more, but not for ever. */
	for (int i = 0; i < 8 && (i == 0 || s->open); i++) {
		on_commit(s);
		on_after(s);
	}
	loop_unschedule(s->loop, &s->commit_hook);
	loop_unschedule(s->loop, &s->after_hook);
	loop_unschedule(s->loop, &s->checkpoint_hook);
	changes_clear(&s->changes);
	changes_clear(&s->told);
	free(s->changes.items);
	free(s->told.items);
	s->changes = s->told = (struct change_list){ 0 };
}

bool store_dirty(const struct store *s)
{
	return s->open && s->rv != s->durable_rv;
}
