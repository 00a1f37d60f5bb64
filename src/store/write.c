// SPDX-License-Identifier: Apache-2.0
/* write.c - put and delete: one row in the log, one entry of `live` moved
 *
 * The object's text is made once, here, and serves the row, the watchers and the reply.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/kind.h"
#include "store/store_impl.h"

static int save_kind(struct store *s, int kind)
{
	struct stored_kind *k = &s->kinds[kind - 1];
	sqlite3_stmt *st;
	int rc;

	if (k->saved)
		return SQLITE_OK;
	rc = sql_use(s, SQL_KIND_SAVE, &st);
	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int(st, 1, kind);
	sqlite3_bind_text(st, 2, k->name, -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 3, k->flags);
	rc = sql_run(st);
	if (rc == SQLITE_OK)
		k->saved = k->pending = true;
	return rc;
}

int write_live_rv(struct store *s, int kind, const char *ns, const char *name, int64_t *ret)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_LIVE_RV, &st);

	if (rc != SQLITE_OK)
		return rc;
	sql_bind_key(st, kind, ns, name);
	rc = sqlite3_step(st);
	*ret = rc == SQLITE_ROW ? sqlite3_column_int64(st, 0) : 0;
	sqlite3_reset(st);
	return rc == SQLITE_ROW || rc == SQLITE_DONE ? SQLITE_OK : rc;
}

static int move_live(struct store *s, enum sql_id how, int kind, const char *ns, const char *name, int64_t rv)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, how, &st);

	if (rc != SQLITE_OK)
		return rc;
	sql_bind_key(st, kind, ns, name);
	if (how != SQL_LIVE_DELETE)
		sqlite3_bind_int64(st, 4, rv);
	return sql_run(st);
}

static void seal_body(struct store *s, const struct record *r)
{
	auto_sbuf struct sbuf context = SBUF(LIMIT_STATUS_TEXT);

	read_seal_context(s, r->kind, r->ns, r->name, r->rv, &context);
	sbuf_reset(&s->sealed);
	seal_close_text(s->config.seal, r->body, sbuf_str(&context), &s->sealed);
}

static void bind_body(struct store *s, sqlite3_stmt *st, const struct record *r)
{
	if (r->op == STORE_DELETED) {
		sqlite3_bind_null(st, 9);
	} else if (s->kinds[r->kind - 1].flags & KIND_SEALED) {
		seal_body(s, r);
		sqlite3_bind_blob64(st, 9, s->sealed.p, s->sealed.n, SQLITE_STATIC);
	} else {
		sqlite3_bind_text64(st, 9, r->body.p, r->body.n, SQLITE_STATIC, SQLITE_UTF8);
	}
}

static int append(struct store *s, const struct record *r)
{
	bool expires = r->op != STORE_DELETED && (s->kinds[r->kind - 1].flags & KIND_EXPIRES);
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_INSERT, &st);

	if (rc != SQLITE_OK)
		return rc;
	sql_bind_key(st, r->kind, r->ns, r->name);
	sqlite3_bind_int64(st, 4, r->rv);
	sqlite3_bind_int(st, 5, (int)r->op);
	sqlite3_bind_int64(st, 6, r->prev);
	sqlite3_bind_int64(st, 7, clock_wall());
	sqlite3_bind_int(st, 8, expires);
	bind_body(s, st, r);
	rc = sql_run(st);
	/* The body is ours only until we return. */
	sqlite3_bind_null(st, 9);
	return rc;
}

static int check_put(struct store *s, int kind, json_t *obj, struct err *e)
{
	if (!json_is_object(json_object_get(obj, "metadata")))
		return err_set(e, ERR_INTERNAL, "an object without metadata cannot be stored");
	if ((s->kinds[kind - 1].flags & KIND_SEALED) && !s->config.seal)
		return err_set(e, ERR_INTERNAL, "%s is a sealed kind and there is no key", s->kinds[kind - 1].name);
	return 0;
}

static void dump_with_managers(const json_t *obj, struct str managers, struct sbuf *out)
{
	const char *key;
	json_t *v;
	char sep = '{';

	json_object_foreach ((json_t *)obj, key, v) {
		sbuf_addc(out, sep);
		sbuf_add_json_string(out, key, strlen(key));
		sbuf_addc(out, ':');
		jsonx_dump(v, out);
		sep = ',';
		if (!streq(key, "metadata") || out->over)
			continue;
		/* Within its braces, where there is a resourceVersion at least. */
		out->n--;
		sbuf_adds(out, ",\"managedFields\":");
		sbuf_add(out, managers.p, managers.n);
		sbuf_addc(out, '}');
	}
	sbuf_addc(out, '}');
}

/* The text with its new resourceVersion in it; ERR_TOO_LARGE has changed nothing. */
static int make_text(json_t *obj, struct str managers, int64_t rv, struct sbuf *out, struct err *e)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)rv);
	json_object_set_new(json_object_get(obj, "metadata"), "resourceVersion", json_string(text));
	sbuf_init(out, LIMIT_OBJECT);
	if (managers.n)
		dump_with_managers(obj, managers, out);
	else
		jsonx_dump(obj, out);
	if (!out->over)
		return 0;
	sbuf_done(out);
	return err_set(e, ERR_TOO_LARGE, "object is too large: its text is limited to %u bytes", LIMIT_OBJECT);
}

/* The steps of a deletion make room in the end, each is taken once, and they must be possible on a full disk. */
static bool is_leaving(const json_t *obj, const json_t *old)
{
	const json_t *now = json_object_get(obj, "metadata");
	const json_t *was = json_object_get(old, "metadata");
	static const char *const marks[] = { "deletionTimestamp", "deletionGracePeriodSeconds" };

	if (!was || !json_object_get(now, "deletionTimestamp"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++)
		if (!jsonx_equal(json_object_get(now, marks[i]), json_object_get(was, marks[i])))
			return true;
	return json_array_size(json_object_get(now, "finalizers")) <
	       json_array_size(json_object_get(was, "finalizers"));
}

int store_put(struct store *s, int kind, const char *ns, const char *name, json_t *obj, json_t *old, int64_t *ret_rv,
	      struct err *e)
{
	return store_put_lean(s, kind, ns, name, obj, old, (struct str){ "", 0 }, ret_rv, e);
}

int store_put_lean(struct store *s, int kind, const char *ns, const char *name, json_t *obj, json_t *old,
		   struct str managers, int64_t *ret_rv, struct err *e)
{
	struct record r = { .rv = s->rv + 1, .kind = kind, .ns = ns, .name = name };
	auto_sbuf struct sbuf text = { 0 };
	int rc;

	if (check_put(s, kind, obj, e) < 0 || txn_begin(s, !is_leaving(obj, old), e) < 0)
		return -1;
	r.rv = s->rv + 1;
	if (make_text(obj, managers, r.rv, &text, e) < 0)
		return -1;
	r.body = sbuf_str(&text);
	r.op = old ? STORE_UPDATED : STORE_CREATED;
	rc = save_kind(s, kind);
	if (rc == SQLITE_OK && old)
		rc = write_live_rv(s, kind, ns, name, &r.prev);
	if (rc == SQLITE_OK && old && !r.prev)
		return err_set(e, ERR_NOT_FOUND, "%s", "");
	if (rc == SQLITE_OK)
		rc = move_live(s, old ? SQL_LIVE_UPDATE : SQL_LIVE_INSERT, kind, ns, name, r.rv);
	if ((rc & 0xff) == SQLITE_CONSTRAINT)
		return err_set(e, ERR_EXISTS, "%s", "");
	if (rc == SQLITE_OK)
		rc = append(s, &r);
	if (rc != SQLITE_OK)
		return txn_fail(s, rc, "writing an object", e);
	s->rv = r.rv;
	sbuf_steal(&text);
	if (!managers.n)
		recent_put(s, kind, r.rv, obj, r.body.n);
	txn_changed(s, &(struct change){ .rv = r.rv,
					 .kind = kind,
					 .op = r.op,
					 .ns = ns,
					 .name = name,
					 .obj = obj,
					 .old = old,
					 .body = r.body,
					 .lean = managers.n > 0 });
	*ret_rv = r.rv;
	return 0;
}

struct str store_last_text(const struct store *s)
{
	return s->changes.n ? s->changes.items[s->changes.n - 1].body : (struct str){ "", 0 };
}

int store_delete(struct store *s, int kind, const char *ns, const char *name, json_t *old, int64_t *ret_rv,
		 struct err *e)
{
	struct record r = { .kind = kind, .op = STORE_DELETED, .ns = ns, .name = name };
	struct record last;
	int rc;

	if (txn_begin(s, false, e) < 0 || store_get(s, kind, ns, name, &last, e) < 0)
		return -1;
	r.prev = last.rv;
	r.rv = s->rv + 1;
	rc = move_live(s, SQL_LIVE_DELETE, kind, ns, name, 0);
	if (rc == SQLITE_OK)
		rc = append(s, &r);
	if (rc != SQLITE_OK)
		return txn_fail(s, rc, "deleting an object", e);
	s->rv = r.rv;
	txn_changed(s, &(struct change){ .rv = r.rv,
					 .kind = kind,
					 .op = STORE_DELETED,
					 .ns = ns,
					 .name = name,
					 .old = old,
					 .body = { xmemdup(last.body.p, last.body.n), last.body.n } });
	*ret_rv = r.rv;
	return 0;
}
