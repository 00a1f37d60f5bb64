// SPDX-License-Identifier: Apache-2.0
/* store_impl.h - what the files of this room share; nobody else includes it
 *
 *	store.c     open, close, kinds         txn.c      the turn: begin, commit, roll back, tell
 *	lock.c      directory, lock, WAL mark  compact.c  history and expiry, in small steps
 *	damage.c    look at every page first   full.c     disk full and back
 *	schema.c    migrations, new database   sql.c      statements and what their failures mean
 *	vfs.c       page checksums             read.c, write.c, counter.c
 */
#ifndef STOKER_STORE_STORE_IMPL_H
#define STOKER_STORE_STORE_IMPL_H

#include <sqlite3.h>

#include "store/lock.h"
#include "store/store.h"
#include "store/vfs.h"

#define STORE_CACHE_KIB 2048
/* Frames in the WAL (4 KiB each) before they are moved into stoker.db: one checkpoint of this many takes about 2 ms and
 * one fsync, so it is no pause anyone notices, and the WAL stays near 3 MiB. */
#define STORE_WAL_FRAMES 600

enum sql_id {
	SQL_BEGIN,
	SQL_COMMIT,
	SQL_ROLLBACK,
	SQL_GET,
	SQL_REVISION,
	SQL_LIVE_RV,
	SQL_LIST_ALL,
	SQL_LIST_NS,
	SQL_COUNT_ALL,
	SQL_COUNT_NS,
	SQL_TOUCHED,
	SQL_HISTORY,
	SQL_INSERT,
	SQL_LIVE_INSERT,
	SQL_LIVE_UPDATE,
	SQL_LIVE_DELETE,
	SQL_KIND_SAVE,
	SQL_KINDS,
	SQL_NEWEST,
	SQL_FLOOR,
	SQL_FLOOR_SET,
	SQL_COUNTER,
	SQL_COUNTER_SET,
	SQL_PASSING,
	SQL_FORGET,
	SQL_EXPIRING,
	SQL_FREE_PAGES,
	SQL_SHRINK,
	SQL__COUNT
};

struct stored_kind {
	char *name; /* "group/plural"; NULL: number not in use */
	unsigned flags;
	bool saved;   /* has its row in `kind` */
	bool pending; /* the row belongs to the open transaction */
};

struct change_list {
	struct change *items;
	size_t n, cap;
};

struct store {
	struct loop *loop;
	struct store_config config; /* dir is ours */
	struct store_lock lock;
	struct store_vfs *vfs;
	sqlite3 *db;
	sqlite3_stmt *stmt[SQL__COUNT];

	struct stored_kind *kinds; /* id - 1 */
	size_t nkinds, kinds_cap;
	struct sbuf scratch; /* the record of the last store_get */
	struct sbuf sealed;  /* one sealed or opened body */

	/* Revisions: given out, durable, told to subscribers; all up to `floor` are compacted. */
	int64_t rv, durable_rv, told_rv, floor;

	/* The turn (txn.c). */
	bool open;
	bool poisoned;
	struct err poison;
	struct change_list changes; /* of the open transaction */
	struct change_list told;    /* committed, not yet delivered */
	struct store_after waiting; /* heads of rings */
	struct store_after ready;
	struct err ready_err;
	struct store_subscriber *subscribers;
	struct store_subscriber *next_subscriber;
	struct loop_hook commit_hook, after_hook;

	/* Upkeep. */
	int wal_frames;
	bool wal_grew;        /* by the commit under way */
	bool checkpoint_late; /* the work phase found a transaction open */
	struct loop_hook checkpoint_hook, compact_hook;
	struct loop_timer compact_timer;
	int64_t compact_due; /* wall second the timer is for, if it is armed */
	int64_t expire_from; /* expiring rows up to here are dealt with */
	int64_t turn_rows;   /* revisions committed since the last step of compaction, or in the last turn */
	bool compact_put_off;

	struct {
		struct recent_slot *slots; /* by revision; NULL: none are kept */
		size_t bytes;
		int64_t seen; /* those up to this revision go next */
		struct loop_timer timer;
	} recent;

	char trouble[256]; /* read-only for good */
	bool full;
	int reserve_fd;
	struct loop_timer full_timer;
};

/* --- sql.c --- */
/* The kept statement, ready to bind. */
int sql_use(struct store *s, enum sql_id id, sqlite3_stmt **ret);
/* Runs a statement that returns no rows and resets it. */
int sql_run(sqlite3_stmt *st);
int sql_run_id(struct store *s, enum sql_id id);
void sql_bind_key(sqlite3_stmt *st, int kind, const char *ns, const char *name);
void sql_finalize_all(struct store *s);
/* Turns a result code into an error, and into store-wide trouble where it is more than this request's. */
int sql_error(struct store *s, int rc, const char *doing, struct err *e);

/* --- write.c --- */
/* The revision a key points to; 0 if there is none. */
int write_live_rv(struct store *s, int kind, const char *ns, const char *name, int64_t *ret);

/* --- recent.c --- */
void recent_init(struct store *s);
void recent_put(struct store *s, int kind, int64_t rv, json_t *obj, size_t bytes);
void recent_drop(struct store *s);
void recent_done(struct store *s);

/* --- schema.c --- */
#define SCHEMA_VERSION     1
#define SCHEMA_APPLICATION 0x53746f6b /* "Stok" */
/* Makes an empty database at dir/stoker.db, whole or not at all. */
int schema_create(struct store *s, struct err *e);
int schema_open(struct store *s, const char *name, int flags, struct err *e);
int schema_migrate(struct store *s, struct err *e);

/* --- txn.c --- */
void txn_init(struct store *s);
/* Opens the turn's transaction for a write.  `growing` ones are refused while the disk is full. */
int txn_begin(struct store *s, bool growing, struct err *e);
/* A statement of the open transaction failed: undoes the turn. */
int txn_fail(struct store *s, int rc, const char *doing, struct err *e);
/* Records what was written; copies the key, takes `body` (malloc), references the objects. */
void txn_changed(struct store *s, const struct change *c);
/* Reads rv and floor from the database; keeps the last durable ones if that fails. */
int txn_resync(struct store *s);
void txn_finish(struct store *s);
/* Commits now, for upkeep that must not share its fate with the requests of a turn. */
void txn_commit(struct store *s);
void txn_checkpoint(struct store *s);

/* --- read.c --- */
/* Fills a record from columns rv, prev, kind, op, ns, name, body, body_rv.  A sealed body is opened into s->sealed. */
int read_row(struct store *s, sqlite3_stmt *st, struct record *ret, struct err *e);
/* What a sealed body is bound to. */
void read_seal_context(const struct store *s, int kind, const char *ns, const char *name, int64_t rv, struct sbuf *out);

/* --- compact.c --- */
void compact_init(struct store *s);
/* After a commit: queue a step or arm the timer if there is reason to. */
void compact_poke(struct store *s);
/* One bounded step; false when nothing was left to do.  On a full disk it also gives free pages back to it. */
bool compact_step(struct store *s);

/* --- full.c --- */
void full_init(struct store *s);
int full_open(struct store *s, struct err *e);
void full_enter(struct store *s);
void full_done(struct store *s);

#endif
