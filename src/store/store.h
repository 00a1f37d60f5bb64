// SPDX-License-Identifier: Apache-2.0
/* store.h - objects at rest and in motion
 *
 * The store is a log.  Every write appends one row to `revision` (its key is the resourceVersion, the one counter of
 * all kinds) and moves one entry of `live` (kind, namespace, name -> resourceVersion).  Nothing is kept in memory but
 * SQLite's page cache, and for a second what was just written: a read is an index look-up, a list is an index walk, and
 * what leaves is the stored text itself, with no decoding.  A watch that resumes reads the log; a continued list reads
 * the log backwards to its revision.
 *
 * All writes of a loop turn are one transaction (loop phase COMMIT).  Replies wait in store_after(); watchers get
 * committed changes through store_subscribe().  If the commit fails, nothing of the turn has happened and every waiter
 * is told so.  Compaction removes superseded rows in small steps; see store/compact.c.
 *
 * Bodies are JSON text without kind and apiVersion and begin with '{"metadata":{'; the caller puts the two in front.
 * Bodies of sealed kinds are encrypted at rest; callers never notice.
 */
#ifndef STOKER_STORE_STORE_H
#define STOKER_STORE_STORE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/crypto.h"
#include "loop/loop.h"

struct store;

struct store_config {
	const char *dir; /* holds stoker.db, lock, reserve */
	struct seal *seal;
	int64_t history_seconds; /* how long superseded revisions stay for watchers: 600 */
	int64_t history_rows;    /* but no more than this many: 100,000 */
	int64_t event_seconds;   /* life of kinds that expire: 3600 */
};

/* Takes the directory's lock, checks every page, migrates in one transaction, and is ready to serve.  Refuses, before
 * writing anything: a directory in use (naming the pid), a newer schema (naming both), damage (naming file and page).
 */
int store_open(struct loop *loop, const struct store_config *config, struct store **ret, struct err *e);
/* Commits, checkpoints, closes. */
void store_close(struct store *s);

/* Small number of a stored kind, "group/plural"; made on first use.  `flags` are KIND_SEALED and KIND_EXPIRES. */
int store_kind(struct store *s, const char *group_plural, unsigned flags, int *ret_kind, struct err *e);

/* One revision.  Pointers are borrowed until the next call into the store. */
enum store_op { STORE_CREATED, STORE_UPDATED, STORE_DELETED };

struct record {
	int64_t rv;
	int64_t prev; /* the revision it superseded, 0 = none */
	int kind;
	enum store_op op;
	const char *ns; /* "" for cluster scope */
	const char *name;
	struct str body; /* STORE_DELETED: the last state, still with its own resourceVersion */
};

/* The newest revision given out; committed or not yet. */
int64_t store_revision(const struct store *s);
/* Watches can start at any revision from this one on. */
int64_t store_oldest(const struct store *s);

/* ERR_NOT_FOUND has no text: the caller knows what was asked for. */
int store_get(struct store *s, int kind, const char *ns, const char *name, struct record *ret, struct err *e);
/* The object itself (a new reference), if it was written a moment ago; NULL: store_get() knows. */
json_t *store_recent(struct store *s, int kind, const char *ns, const char *name);
/* The same by its revision, which must be committed or of this turn. */
json_t *store_recent_at(struct store *s, int64_t rv);
/* One revision by its number, superseded or not, while history keeps it; ERR_NOT_FOUND otherwise. */
int store_at(struct store *s, int64_t rv, struct record *ret, struct err *e);
bool store_exists(struct store *s, int kind, const char *ns, const char *name);
/* What one list in steps knows of the past: NULL at first, then for the same kind, namespace and revision only. */
struct store_past;
void store_past_free(struct store_past *p);
/* Objects of a kind in (namespace, name) order. */
struct store_range {
	int kind;
	const char *ns;                    /* NULL: all namespaces */
	const char *after_ns, *after_name; /* start behind this key, or NULL */
	int64_t at;                        /* 0: now; else as of this revision (ERR_EXPIRED if compacted) */
	struct store_past **past;          /* kept from step to step, or NULL for a list in one */
};
/* Calls fn for each until it returns false.  fn may not call the store. */
int store_list(struct store *s, const struct store_range *range, bool (*fn)(void *arg, const struct record *r),
	       void *arg, struct err *e);
int64_t store_count(struct store *s, int kind, const char *ns /* or NULL */);
/* Revisions after `since` in order, of one kind (0: all); fn as above.  ERR_EXPIRED if since < store_oldest().  It ends
 * with the last change that subscribers were told: what follows reaches those who subscribe before this turn ends. */
int store_history(struct store *s, int kind, int64_t since, bool (*fn)(void *arg, const struct record *r), void *arg,
		  struct err *e);

/* Writes.  `obj` is the whole object without kind and apiVersion; the store sets metadata.resourceVersion in it and
 * keeps a reference, so it is immutable from then on.  `old` is the decoded state it replaces (NULL on create), kept
 * for watchers' selectors.  The caller has checked existence and preconditions in this same turn.  A failure (disk
 * full, I/O) undoes the whole turn: see store_after. */
int store_put(struct store *s, int kind, const char *ns, const char *name, json_t *obj, json_t *old, int64_t *ret_rv,
	      struct err *e);
/* The same for an object, and an old one, without metadata.managedFields, by who has only their text: it goes into the
 * stored text as it is. */
int store_put_lean(struct store *s, int kind, const char *ns, const char *name, json_t *obj, json_t *old,
		   struct str managers, int64_t *ret_rv, struct err *e);
int store_delete(struct store *s, int kind, const char *ns, const char *name, json_t *old, int64_t *ret_rv,
		 struct err *e);

/* Text of what the last store_put() of this turn wrote; borrowed until the next call into the store. */
struct str store_last_text(const struct store *s);

/* Numbers that outlive the objects they were given to: what was last set, 0 at first.  Setting one is part of the
 * turn's transaction like any other write. */
int store_counter(struct store *s, const char *name, int64_t *ret, struct err *e);
int store_counter_set(struct store *s, const char *name, int64_t value, struct err *e);

/* Calls fn once this turn's writes are durable (e->kind == ERR_NONE) or have failed.  With no write pending it is
 * called in this turn's after-commit phase all the same, so a read never overtakes the write it saw.  In order of
 * registration. `after` is embedded in its owner; store_after_cancel() for one whose client went away. */
struct store_after {
	void (*fn)(void *arg, const struct err *e);
	void *arg;
	struct store_after *next, **pprev; /* the store's */
};
void store_after(struct store *s, struct store_after *after);
void store_after_cancel(struct store_after *after);
/* True if this turn has uncommitted changes to objects; a transaction of compaction alone does not count. */
bool store_dirty(const struct store *s);

/* Committed changes, in order, before the turn's store_after callbacks. */
struct change {
	int64_t rv;
	int kind;
	enum store_op op;
	const char *ns, *name;
	json_t *obj;     /* new state; NULL for STORE_DELETED */
	json_t *old;     /* state before; NULL for STORE_CREATED */
	struct str body; /* text of obj (or of old for STORE_DELETED) */
	bool lean;       /* obj and old lack metadata.managedFields: those of the text are those of both */
};
struct store_subscriber {
	void (*fn)(void *arg, const struct change *changes, size_t n);
	void *arg;
	struct store_subscriber *next;
};
void store_subscribe(struct store *s, struct store_subscriber *sub);
void store_unsubscribe(struct store *s, struct store_subscriber *sub);

/* Health for /readyz: NULL, or why writes are refused ("disk full", "I/O error"). */
const char *store_trouble(const struct store *s);

#endif
