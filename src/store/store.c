// SPDX-License-Identifier: Apache-2.0
/* store.c - opening, closing, and the numbers of kinds
 *
 * Order of opening: lock, look for damage, refuse what is newer, and only then let SQLite and the migrations write.
 */
#include "base/mem.h"
#include "store/damage.h"
#include "store/store_impl.h"

#define KINDS_MAX   65536       /* built-in and custom; a look-up walks them, once a kind */
#define SCRATCH_MAX (64u << 20) /* far above LIMIT_OBJECT; sizes were checked on the way in */

static int load_kinds(struct store *s)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_KINDS, &st);

	if (rc != SQLITE_OK)
		return rc;
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		int64_t id = sqlite3_column_int64(st, 0);
		struct stored_kind none = { 0 };

		if (id <= (int64_t)s->nkinds || id > KINDS_MAX) {
			rc = SQLITE_CORRUPT;
			break;
		}
		/* A kind gets its row with its first object, so numbers that were never used are missing. */
		while ((int64_t)s->nkinds < id)
			ARRAY_PUSH(s->kinds, s->nkinds, s->kinds_cap, none);
		s->kinds[id - 1] = (struct stored_kind){ .name = xstrdup((const char *)sqlite3_column_text(st, 1)),
							 .flags = (unsigned)sqlite3_column_int64(st, 2),
							 .saved = true };
	}
	sqlite3_reset(st);
	return rc == SQLITE_DONE ? SQLITE_OK : rc;
}

int store_kind(struct store *s, const char *group_plural, unsigned flags, int *ret_kind, struct err *e)
{
	struct stored_kind none = { 0 };
	size_t unused = SIZE_MAX;

	for (size_t i = 0; i < s->nkinds; i++) {
		if (!s->kinds[i].name) {
			unused = unused == SIZE_MAX ? i : unused;
		} else if (streq(s->kinds[i].name, group_plural)) {
			s->kinds[i].flags = flags;
			*ret_kind = (int)i + 1;
			return 0;
		}
	}
	if (unused == SIZE_MAX && s->nkinds == KINDS_MAX)
		return err_set(e, ERR_TOO_MANY, "too many kinds: %d are the most", KINDS_MAX);
	if (unused == SIZE_MAX) {
		unused = s->nkinds;
		ARRAY_PUSH(s->kinds, s->nkinds, s->kinds_cap, none);
	}
	s->kinds[unused] = (struct stored_kind){ .name = xstrdup(group_plural), .flags = flags };
	*ret_kind = (int)unused + 1;
	return 0;
}

static int refuse_foreign(const struct store *s, const struct db_facts *db, struct err *e)
{
	if (db->exists && db->application != SCHEMA_APPLICATION)
		return err_set(e, ERR_INTERNAL, "%s/stoker.db was not made by Stoker; choose another directory",
			       s->config.dir);
	if (db->exists && db->version > SCHEMA_VERSION)
		return err_set(
			e, ERR_INTERNAL,
			"%s/stoker.db has schema version %u and this stoker knows versions up to %d; use the newer "
			"stoker that wrote it",
			s->config.dir, db->version, SCHEMA_VERSION);
	return 0;
}

static int open_db(struct store *s, struct err *e)
{
	struct db_facts db;
	int rc;

	if (damage_check(s->config.dir, &s->lock.mark, &db, e) < 0 || refuse_foreign(s, &db, e) < 0)
		return -1;
	if (lock_claim(&s->lock, s->config.dir, e) < 0)
		return -1;
	s->vfs = vfs_new(s->lock.fd);
	if (!db.exists && schema_create(s, e) < 0)
		return -1;
	if (schema_open(s, "stoker.db", SQLITE_OPEN_READWRITE, e) < 0)
		return -1;
	txn_init(s);
	if (schema_migrate(s, e) < 0)
		return -1;
	rc = load_kinds(s);
	if (rc == SQLITE_OK)
		rc = txn_resync(s);
	if (rc != SQLITE_OK)
		return sql_error(s, rc, "reading the database", e);
	s->told_rv = s->rv;
	return 0;
}

static void close_db(struct store *s)
{
	sql_finalize_all(s);
	/* The log may go only when no mark claims it any more; else the next start would miss it. */
	if (s->db && (s->trouble[0] || !lock_clear(&s->lock)))
		sqlite3_db_config(s->db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	else if (s->db)
		sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	sqlite3_close(s->db);
	s->db = NULL;
}

static void store_free(struct store *s)
{
	loop_unschedule(s->loop, &s->commit_hook);
	loop_unschedule(s->loop, &s->after_hook);
	loop_unschedule(s->loop, &s->checkpoint_hook);
	loop_unschedule(s->loop, &s->compact_hook);
	loop_timer_done(&s->compact_timer);
	recent_done(s);
	full_done(s);
	close_db(s);
	vfs_free(s->vfs);
	lock_release(&s->lock);
	for (size_t i = 0; i < s->nkinds; i++)
		free(s->kinds[i].name);
	free(s->kinds);
	sbuf_done(&s->scratch);
	sbuf_done(&s->sealed);
	free((char *)s->config.dir);
	free(s);
}

int store_open(struct loop *loop, const struct store_config *config, struct store **ret, struct err *e)
{
	struct store *s = xcalloc(1, sizeof(*s));

	/* One thread, and nobody reads the statistics; no effect once SQLite is in use, which is harmless. */
	sqlite3_config(SQLITE_CONFIG_SINGLETHREAD);
	sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
	s->loop = loop;
	s->config = *config;
	s->config.dir = xstrdup(config->dir);
	s->lock.fd = -1;
	sbuf_init(&s->scratch, SCRATCH_MAX);
	sbuf_init(&s->sealed, SCRATCH_MAX);
	txn_init(s);
	compact_init(s);
	recent_init(s);
	full_init(s);
	if (lock_take(s->config.dir, &s->lock, e) < 0 || open_db(s, e) < 0 || full_open(s, e) < 0) {
		store_free(s);
		return -1;
	}
	loop_schedule(loop, &s->compact_hook);
	*ret = s;
	return 0;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	txn_finish(s);
	store_free(s);
}

const char *store_trouble(const struct store *s)
{
	return s->trouble[0] ? s->trouble : s->full ? "disk full" : NULL;
}
