// SPDX-License-Identifier: Apache-2.0
/* schema.c - the tables, and how an older file becomes a newer one
 *
 * PRAGMA user_version counts the migrations a file has seen; those it has not run in one transaction.  A new database
 * is made beside its place and renamed into it, so stoker.db is at all times a whole file with checksums on every
 * page.  A file from a newer Stoker is refused by damage.c's caller before SQLite ever opens it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>

#include "base/mem.h"
#include "store/store_impl.h"

/* Row i brings version i to version i + 1.  Rows are never edited once released.
 *
 * body: TEXT is plain, BLOB is sealed, NULL belongs to a tombstone.  expires: 1 for kinds that expire; the partial
 * index costs the others nothing. */
static const char *const migrations[SCHEMA_VERSION] = {
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
	"INSERT INTO meta VALUES ('floor', 0);"
	"CREATE TABLE kind (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, flags INTEGER NOT NULL);"
	"CREATE TABLE revision (rv INTEGER PRIMARY KEY, kind INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL,"
	" op INTEGER NOT NULL, prev INTEGER NOT NULL, time INTEGER NOT NULL, expires INTEGER NOT NULL, body);"
	"CREATE INDEX revision_expires ON revision (expires) WHERE expires = 1;"
	"CREATE TABLE live (kind INTEGER NOT NULL, ns TEXT NOT NULL, name TEXT NOT NULL, rv INTEGER NOT NULL,"
	" PRIMARY KEY (kind, ns, name)) WITHOUT ROWID;",
};

#define STRINGIFY2(x) #x
#define STRINGIFY(x)  STRINGIFY2(x)

int schema_open(struct store *s, const char *name, int flags, struct err *e)
{
	static const char pragmas[] = "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = " STRINGIFY(
		STORE_PAGE) ";"
			    "PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
			    "PRAGMA secure_delete = OFF; PRAGMA temp_store = MEMORY; PRAGMA trusted_schema = OFF;"
			    "PRAGMA cache_size = -" STRINGIFY(
				    STORE_CACHE_KIB) "; PRAGMA journal_size_limit = 16777216;";
	auto_free char *path = xasprintf("%s/%s", s->config.dir, name);
	int reserved = STORE_SUM;
	int rc;

	rc = sqlite3_open_v2(path, &s->db, flags | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, vfs_name(s->vfs));
	if (rc == SQLITE_OK)
		rc = sqlite3_file_control(s->db, "main", SQLITE_FCNTL_RESERVE_BYTES, &reserved);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, pragmas, NULL, NULL, NULL);
	if (rc != SQLITE_OK) {
		sql_error(s, rc, "opening the database", e);
		sqlite3_close(s->db);
		s->db = NULL;
		return err_prefix(e, "%s", path);
	}
	sqlite3_db_config(s->db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_wal_autocheckpoint(s->db, 0);
	return 0;
}

static void remove_new(const char *dir)
{
	static const char *const suffixes[] = { "", "-wal", "-journal" };

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		auto_free char *path = xasprintf("%s/stoker.db.new%s", dir, suffixes[i]);

		unlink(path);
	}
}

static int publish(struct store *s, struct err *e)
{
	auto_free char *from = xasprintf("%s/stoker.db.new", s->config.dir);
	auto_free char *to = xasprintf("%s/stoker.db", s->config.dir);
	auto_close int dir_fd = open(s->config.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (rename(from, to) < 0 || dir_fd < 0 || fsync(dir_fd) < 0)
		return err_errno(e, ERR_INTERNAL, "cannot put %s in place", to);
	return 0;
}

int schema_create(struct store *s, struct err *e)
{
	auto_free char *path = xasprintf("%s/stoker.db.new", s->config.dir);
	auto_close int fd = -1;
	int rc;

	remove_new(s->config.dir);
	/* SQLite gives the WAL the mode of its database. */
	fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "cannot make %s", path);
	if (schema_open(s, "stoker.db.new", SQLITE_OPEN_READWRITE, e) < 0)
		return -1;
	rc = sqlite3_exec(s->db, "PRAGMA application_id = " STRINGIFY(SCHEMA_APPLICATION), NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_wal_checkpoint_v2(s->db, NULL, SQLITE_CHECKPOINT_TRUNCATE, NULL, NULL);
	if (rc != SQLITE_OK)
		sql_error(s, rc, "making the database", e);
	sqlite3_close(s->db);
	s->db = NULL;
	return rc == SQLITE_OK ? publish(s, e) : -1;
}

static int on_version(void *arg, int n, char **values, char **names)
{
	(void)n;
	(void)names;
	*(int *)arg = (int)strtol(values[0], NULL, 10);
	return 0;
}

int schema_migrate(struct store *s, struct err *e)
{
	int version = 0;
	int rc = sqlite3_exec(s->db, "PRAGMA user_version", on_version, &version, NULL);
	char done[64];

	if (rc == SQLITE_OK && version == SCHEMA_VERSION)
		return 0;
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, "BEGIN IMMEDIATE", NULL, NULL, NULL);
	for (int v = version; v < SCHEMA_VERSION && rc == SQLITE_OK; v++)
		rc = sqlite3_exec(s->db, migrations[v], NULL, NULL, NULL);
	snprintf(done, sizeof(done), "PRAGMA user_version = %d; COMMIT", SCHEMA_VERSION);
	if (rc == SQLITE_OK)
		rc = sqlite3_exec(s->db, done, NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		return 0;
	sql_error(s, rc, "migrating the schema", e);
	sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
	return err_prefix(e, "schema version %d to %d", version, SCHEMA_VERSION);
}
