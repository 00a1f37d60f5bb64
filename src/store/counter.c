// SPDX-License-Identifier: Apache-2.0
/* counter.c - numbers that live beside the objects, in the table of what the store knows of itself
 *
 * They are read from the table each time: the turn that changed one may still fail, and then nobody has to be told.
 */
#include "store/store_impl.h"

static int bind(struct store *s, enum sql_id id, const char *name, sqlite3_stmt **ret)
{
	int rc = sql_use(s, id, ret);

	if (rc == SQLITE_OK)
		rc = sqlite3_bind_text(*ret, 1, name, -1, SQLITE_STATIC);
	return rc;
}

int store_counter(struct store *s, const char *name, int64_t *ret, struct err *e)
{
	sqlite3_stmt *st;
	int rc = bind(s, SQL_COUNTER, name, &st);

	*ret = 0;
	if (rc == SQLITE_OK) {
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW)
			*ret = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? 0 : sql_error(s, rc, "reading a counter", e);
}

int store_counter_set(struct store *s, const char *name, int64_t value, struct err *e)
{
	sqlite3_stmt *st;
	int rc;

	if (txn_begin(s, true, e) < 0)
		return -1;
	rc = bind(s, SQL_COUNTER_SET, name, &st);
	if (rc == SQLITE_OK) {
		sqlite3_bind_int64(st, 2, value);
		rc = sql_run(st);
	}
	return rc == SQLITE_OK ? 0 : txn_fail(s, rc, "writing a counter", e);
}
