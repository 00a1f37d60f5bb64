// SPDX-License-Identifier: Apache-2.0
/* sql.c - every statement of the store, prepared once, and what their failures mean */
#include "base/log.h"
#include "store/store_impl.h"

#define ROW "r.rv, r.prev, r.kind, r.op, r.ns, r.name, r.body, r.rv"

/* CROSS JOIN fixes the order: walk `live`, then fetch each row by its number. */
static const char *const texts[SQL__COUNT] = {
	[SQL_BEGIN] = "BEGIN IMMEDIATE",
	[SQL_COMMIT] = "COMMIT",
	[SQL_ROLLBACK] = "ROLLBACK",
	[SQL_GET] = "SELECT " ROW " FROM live l CROSS JOIN revision r ON r.rv = l.rv"
		    " WHERE l.kind = ?1 AND l.ns = ?2 AND l.name = ?3",
	[SQL_REVISION] = "SELECT " ROW " FROM revision r WHERE r.rv = ?1",
	[SQL_LIVE_RV] = "SELECT rv FROM live WHERE kind = ?1 AND ns = ?2 AND name = ?3",
	[SQL_LIST_ALL] = "SELECT " ROW " FROM live l CROSS JOIN revision r ON r.rv = l.rv"
			 " WHERE l.kind = ?1 AND (l.ns, l.name) > (?2, ?3) AND l.rv <= ?4 ORDER BY l.ns, l.name",
	[SQL_LIST_NS] = "SELECT " ROW " FROM live l CROSS JOIN revision r ON r.rv = l.rv"
			" WHERE l.kind = ?1 AND l.ns = ?2 AND l.name > ?3 AND l.rv <= ?4 ORDER BY l.name",
	[SQL_COUNT_ALL] = "SELECT count(*) FROM live WHERE kind = ?1",
	[SQL_COUNT_NS] = "SELECT count(*) FROM live WHERE kind = ?1 AND ns = ?2",
	[SQL_TOUCHED] = "SELECT ns, name, prev FROM revision WHERE rv > ?3 AND kind = ?1 AND prev BETWEEN 1 AND ?2",
	/* A tombstone has no body of its own: the row it superseded is still there. */
	[SQL_HISTORY] = "SELECT r.rv, r.prev, r.kind, r.op, r.ns, r.name, ifnull(r.body, p.body),"
			" iif(r.op = 2, r.prev, r.rv)"
			" FROM revision r LEFT JOIN revision p ON p.rv = iif(r.op = 2, r.prev, NULL)"
			" WHERE r.rv > ?1 AND r.rv <= ?2 AND (?3 = 0 OR r.kind = ?3) ORDER BY r.rv",
	[SQL_INSERT] = "INSERT INTO revision (kind, ns, name, rv, op, prev, time, expires, body)"
		       " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)",
	[SQL_LIVE_INSERT] = "INSERT INTO live (kind, ns, name, rv) VALUES (?1, ?2, ?3, ?4)",
	[SQL_LIVE_UPDATE] = "UPDATE live SET rv = ?4 WHERE kind = ?1 AND ns = ?2 AND name = ?3",
	[SQL_LIVE_DELETE] = "DELETE FROM live WHERE kind = ?1 AND ns = ?2 AND name = ?3",
	[SQL_KIND_SAVE] = "INSERT INTO kind (id, name, flags) VALUES (?1, ?2, ?3)",
	[SQL_KINDS] = "SELECT id, name, flags FROM kind ORDER BY id",
	[SQL_NEWEST] = "SELECT max(rv) FROM revision",
	[SQL_FLOOR] = "SELECT value FROM meta WHERE key = 'floor'",
	[SQL_FLOOR_SET] = "UPDATE meta SET value = ?1 WHERE key = 'floor'",
	[SQL_COUNTER] = "SELECT value FROM meta WHERE key = 'counter ' || ?1",
	[SQL_COUNTER_SET] = "INSERT OR REPLACE INTO meta (key, value) VALUES ('counter ' || ?1, ?2)",
	[SQL_PASSING] = "SELECT rv, prev, op, time FROM revision WHERE rv > ?1 AND rv <= ?2 ORDER BY rv",
	[SQL_FORGET] = "DELETE FROM revision WHERE rv = ?1",
	[SQL_EXPIRING] = "SELECT r.rv, r.time, r.kind, r.ns, r.name, l.rv FROM revision r LEFT JOIN live l"
			 " ON l.kind = r.kind AND l.ns = r.ns AND l.name = r.name"
			 " WHERE r.expires = 1 AND r.rv > ?1 ORDER BY r.rv",
	[SQL_FREE_PAGES] = "PRAGMA freelist_count",
	/* A row for each page that has left the end of the file. */
	[SQL_SHRINK] = "PRAGMA incremental_vacuum",
};

int sql_use(struct store *s, enum sql_id id, sqlite3_stmt **ret)
{
	int rc = SQLITE_OK;

	if (!s->stmt[id])
		rc = sqlite3_prepare_v3(s->db, texts[id], -1, SQLITE_PREPARE_PERSISTENT, &s->stmt[id], NULL);
	*ret = s->stmt[id];
	return rc;
}

int sql_run(sqlite3_stmt *st)
{
	int rc = sqlite3_step(st);
	int reset = sqlite3_reset(st);

	return rc == SQLITE_DONE || rc == SQLITE_ROW ? reset : rc;
}

int sql_run_id(struct store *s, enum sql_id id)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, id, &st);

	return rc == SQLITE_OK ? sql_run(st) : rc;
}

void sql_bind_key(sqlite3_stmt *st, int kind, const char *ns, const char *name)
{
	sqlite3_bind_int(st, 1, kind);
	sqlite3_bind_text(st, 2, ns, -1, SQLITE_STATIC);
	sqlite3_bind_text(st, 3, name, -1, SQLITE_STATIC);
}

void sql_finalize_all(struct store *s)
{
	for (int i = 0; i < SQL__COUNT; i++) {
		sqlite3_finalize(s->stmt[i]);
		s->stmt[i] = NULL;
	}
}

static void set_trouble(struct store *s, const char *what)
{
	if (s->trouble[0])
		return;
	snprintf(s->trouble, sizeof(s->trouble), "%s", what);
	log_error("refusing all writes until restart: %s dir=%s", s->trouble, s->config.dir);
}

int sql_error(struct store *s, int rc, const char *doing, struct err *e)
{
	char what[200];

	switch (rc & 0xff) {
	case SQLITE_FULL:
		full_enter(s);
		return err_set(e, ERR_STORAGE_FULL,
			       "the disk is full: free space on the file system of %s; deleting objects still works",
			       s->config.dir);
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
		snprintf(what, sizeof(what), "%s",
			 *vfs_damage(s->vfs) ? vfs_damage(s->vfs) : "stoker.db is damaged (its structure is broken)");
		set_trouble(s, what);
		return err_set(e, ERR_CORRUPT, "%s while %s; stop the server and restore %s from a backup", what, doing,
			       s->config.dir);
	case SQLITE_IOERR:
	case SQLITE_READONLY:
	case SQLITE_CANTOPEN:
	case SQLITE_PERM:
		snprintf(what, sizeof(what), "I/O error while %s: %s (code %d)", doing, sqlite3_errstr(rc), rc);
		set_trouble(s, what);
		return err_set(e, ERR_INTERNAL, "%s; check the disk of %s, then restart", what, s->config.dir);
	default:
		return err_set(e, ERR_INTERNAL, "database error while %s: %s (code %d)", doing,
			       s->db ? sqlite3_errmsg(s->db) : sqlite3_errstr(rc), rc);
	}
}
