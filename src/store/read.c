// SPDX-License-Identifier: Apache-2.0
/* read.c - get, list, count, history
 *
 * Reads see the writes of the turn they are in (store_after makes them wait for its commit); history, which feeds
 * watchers, does not: it ends at the last change subscribers were told.
 *
 * A list as of revision N needs no copy of the past.  What is live now and not newer than N was live then; and for each
 * key touched since, exactly one row R > N superseded a row at or before N: R.prev is what stood there (0 if nothing
 * did).  The second set is small, so it is sorted in memory and merged into the walk over the first.  A list in steps
 * keeps it and adds what was committed since its last step, or each step would read all of that part of the log.
 */
#include "base/limits.h"
#include "base/mem.h"
#include "store/store_impl.h"

#define KEEP_SCRATCH (64u * 1024) /* a larger one, from a rare large object, is given back */

enum { COL_RV, COL_PREV, COL_KIND, COL_OP, COL_NS, COL_NAME, COL_BODY, COL_BODY_RV };

static void scratch_reset(struct sbuf *b)
{
	if (b->cap > KEEP_SCRATCH)
		sbuf_done(b);
	sbuf_reset(b);
}

void read_seal_context(const struct store *s, int kind, const char *ns, const char *name, int64_t rv, struct sbuf *out)
{
	sbuf_addf(out, "%s/%s/%s/%lld", s->kinds[kind - 1].name, ns, name, (long long)rv);
}

static int open_body(struct store *s, struct record *r, int64_t body_rv, struct err *e)
{
	auto_sbuf struct sbuf context = SBUF(LIMIT_STATUS_TEXT);

	read_seal_context(s, r->kind, r->ns, r->name, body_rv, &context);
	scratch_reset(&s->sealed);
	if (!s->config.seal)
		return err_set(e, ERR_INTERNAL, "revision %lld is sealed and there is no key", (long long)body_rv);
	if (seal_open_text(s->config.seal, r->body, sbuf_str(&context), &s->sealed, e) < 0)
		return err_prefix(e, "revision %lld cannot be unsealed; was the key file replaced?",
				  (long long)body_rv);
	r->body = sbuf_str(&s->sealed);
	return 0;
}

int read_row(struct store *s, sqlite3_stmt *st, struct record *ret, struct err *e)
{
	struct record r = { .rv = sqlite3_column_int64(st, COL_RV),
			    .prev = sqlite3_column_int64(st, COL_PREV),
			    .kind = sqlite3_column_int(st, COL_KIND),
			    .op = (enum store_op)sqlite3_column_int(st, COL_OP),
			    .ns = (const char *)sqlite3_column_text(st, COL_NS),
			    .name = (const char *)sqlite3_column_text(st, COL_NAME) };
	bool sealed = sqlite3_column_type(st, COL_BODY) == SQLITE_BLOB;

	r.body.p = sqlite3_column_blob(st, COL_BODY);
	r.body.n = (size_t)sqlite3_column_bytes(st, COL_BODY);
	if (!r.ns || !r.name || !r.body.p || r.kind < 1 || (size_t)r.kind > s->nkinds || !s->kinds[r.kind - 1].name)
		return err_set(e, ERR_CORRUPT, "revision %lld is not whole", (long long)r.rv);
	if (sealed && open_body(s, &r, sqlite3_column_int64(st, COL_BODY_RV), e) < 0)
		return -1;
	*ret = r;
	return 0;
}

/* Copies a record out of a statement that is about to be reset. */
static void keep(struct store *s, struct record *r)
{
	struct sbuf *b = &s->scratch;
	size_t ns = r->body.n + 1;
	size_t name = ns + strlen(r->ns) + 1;

	scratch_reset(b);
	sbuf_add(b, r->body.p, r->body.n);
	sbuf_addc(b, '\0');
	sbuf_add(b, r->ns, strlen(r->ns) + 1);
	sbuf_add(b, r->name, strlen(r->name) + 1);
	r->body.p = b->p;
	r->ns = b->p + ns;
	r->name = b->p + name;
}

/* Steps a statement that finds one row at most. */
static int take_one(struct store *s, sqlite3_stmt *st, struct record *ret, struct err *e)
{
	struct record r;
	int done = -1;
	int rc = sqlite3_step(st);

	if (rc == SQLITE_DONE)
		err_set(e, ERR_NOT_FOUND, "%s", "");
	else if (rc != SQLITE_ROW)
		sql_error(s, rc, "reading an object", e);
	else if ((done = read_row(s, st, &r, e)) == 0)
		keep(s, &r);
	sqlite3_reset(st);
	if (done == 0)
		*ret = r;
	return done;
}

int store_get(struct store *s, int kind, const char *ns, const char *name, struct record *ret, struct err *e)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_GET, &st);

	if (rc != SQLITE_OK)
		return sql_error(s, rc, "reading an object", e);
	sql_bind_key(st, kind, ns, name);
	return take_one(s, st, ret, e);
}

int store_at(struct store *s, int64_t rv, struct record *ret, struct err *e)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, SQL_REVISION, &st);

	if (rc != SQLITE_OK)
		return sql_error(s, rc, "reading a revision", e);
	sqlite3_bind_int64(st, 1, rv);
	return take_one(s, st, ret, e);
}

bool store_exists(struct store *s, int kind, const char *ns, const char *name)
{
	sqlite3_stmt *st;
	struct err e = ERR_INIT;
	int rc = sql_use(s, SQL_LIVE_RV, &st);

	if (rc == SQLITE_OK) {
		sql_bind_key(st, kind, ns, name);
		rc = sqlite3_step(st);
		sqlite3_reset(st);
	}
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		sql_error(s, rc, "looking for an object", &e);
	return rc == SQLITE_ROW;
}

int64_t store_count(struct store *s, int kind, const char *ns)
{
	sqlite3_stmt *st;
	struct err e = ERR_INIT;
	int64_t n = 0;
	int rc = sql_use(s, ns ? SQL_COUNT_NS : SQL_COUNT_ALL, &st);

	if (rc == SQLITE_OK) {
		sqlite3_bind_int(st, 1, kind);
		if (ns)
			sqlite3_bind_text(st, 2, ns, -1, SQLITE_STATIC);
		rc = sqlite3_step(st);
		if (rc == SQLITE_ROW)
			n = sqlite3_column_int64(st, 0);
		sqlite3_reset(st);
	}
	if (rc != SQLITE_ROW)
		sql_error(s, rc, "counting objects", &e);
	return n;
}

/* --- lists --- */

/* A key that has changed since the revision asked for, and what stood there. */
struct touched {
	char *ns, *name;
	int64_t rv;
};

struct store_past {
	struct touched *items; /* in order of their keys */
	size_t n, cap, next;
	int64_t upto; /* revisions that are in it */
};

void store_past_free(struct store_past *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		free(p->items[i].ns);
		free(p->items[i].name);
	}
	free(p->items);
	free(p);
}

static int key_cmp(const char *ns_a, const char *name_a, const char *ns_b, const char *name_b)
{
	int c = strcmp(ns_a, ns_b);

	return c ? c : strcmp(name_a, name_b);
}

static int touched_cmp(const void *a, const void *b)
{
	const struct touched *x = a;
	const struct touched *y = b;

	return key_cmp(x->ns, x->name, y->ns, y->name);
}

static bool in_range(const struct store_range *range, const char *ns, const char *name)
{
	if (range->ns && !streq(range->ns, ns))
		return false;
	return !range->after_name || key_cmp(ns, name, range->after_ns ? range->after_ns : "", range->after_name) > 0;
}

/* Brings the items from `sorted` on into the order of those before. */
static void past_merge(struct store_past *p, size_t sorted)
{
	struct touched *all;
	size_t a = 0;
	size_t b = sorted;

	qsort(p->items + sorted, p->n - sorted, sizeof(*p->items), touched_cmp);
	if (!sorted)
		return;
	all = xreallocarray(NULL, p->n, sizeof(*all));
	for (size_t i = 0; i < p->n; i++)
		all[i] = b == p->n || (a < sorted && touched_cmp(&p->items[a], &p->items[b]) < 0) ? p->items[a++]
												  : p->items[b++];
	free(p->items);
	p->items = all;
	p->cap = p->n;
}

/* The first item in range: steps go forward, and those before it were given out. */
static size_t past_first(const struct store_past *p, const struct store_range *range)
{
	size_t lo = 0;
	size_t hi = p->n;

	while (lo < hi) {
		size_t mid = (lo + hi) / 2;

		if (in_range(range, p->items[mid].ns, p->items[mid].name))
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static int past_load(struct store *s, const struct store_range *range, struct store_past *p)
{
	sqlite3_stmt *st;
	size_t sorted = p->n;
	int rc = sql_use(s, SQL_TOUCHED, &st);

	if (rc != SQLITE_OK)
		return rc;
	sqlite3_bind_int(st, 1, range->kind);
	sqlite3_bind_int64(st, 2, range->at);
	sqlite3_bind_int64(st, 3, p->upto > range->at ? p->upto : range->at);
	while ((rc = sqlite3_step(st)) == SQLITE_ROW) {
		const char *ns = (const char *)sqlite3_column_text(st, 0);
		const char *name = (const char *)sqlite3_column_text(st, 1);

		if (!in_range(range, ns, name))
			continue;
		ARRAY_PUSH(p->items, p->n, p->cap,
			   ((struct touched){ xstrdup(ns), xstrdup(name), sqlite3_column_int64(st, 2) }));
	}
	sqlite3_reset(st);
	if (p->n > sorted)
		past_merge(p, sorted);
	if (rc != SQLITE_DONE)
		return rc;
	p->upto = s->rv;
	p->next = past_first(p, range);
	return SQLITE_OK;
}

typedef bool record_fn(void *arg, const struct record *r);

struct lister {
	struct store_past *past; /* or NULL */
	record_fn *fn;
	void *arg;
	bool stopped;
};

/* Gives out the past keys before (ns, name), or all that are left if ns is NULL. */
static int give_past(struct store *s, struct lister *l, const char *ns, const char *name, struct err *e)
{
	while (!l->stopped && l->past && l->past->next < l->past->n) {
		const struct touched *t = &l->past->items[l->past->next];
		struct record r;
		sqlite3_stmt *st;
		int rc;
		int done = 0;

		if (ns && key_cmp(t->ns, t->name, ns, name) > 0)
			return 0;
		l->past->next++;
		rc = sql_use(s, SQL_REVISION, &st);
		if (rc == SQLITE_OK) {
			sqlite3_bind_int64(st, 1, t->rv);
			rc = sqlite3_step(st);
		}
		if (rc != SQLITE_ROW) {
			sqlite3_reset(st);
			return sql_error(s, rc == SQLITE_DONE ? SQLITE_CORRUPT : rc, "reading the past", e);
		}
		done = read_row(s, st, &r, e);
		if (done == 0)
			l->stopped = !l->fn(l->arg, &r);
		sqlite3_reset(st);
		if (done < 0)
			return -1;
	}
	return 0;
}

static void bind_range(sqlite3_stmt *st, const struct store_range *range)
{
	bool other_ns = range->ns && range->after_ns && !streq(range->ns, range->after_ns);
	const char *after_name = range->after_name && !other_ns ? range->after_name : "";

	sqlite3_bind_int(st, 1, range->kind);
	sqlite3_bind_text(st, 3, after_name, -1, SQLITE_STATIC);
	if (range->ns)
		sqlite3_bind_text(st, 2, range->ns, -1, SQLITE_STATIC);
	else
		sqlite3_bind_text(st, 2, range->after_ns ? range->after_ns : "", -1, SQLITE_STATIC);
	sqlite3_bind_int64(st, 4, range->at ? range->at : INT64_MAX);
}

static int walk_live(struct store *s, const struct store_range *range, struct lister *l, struct err *e)
{
	sqlite3_stmt *st;
	int rc = sql_use(s, range->ns ? SQL_LIST_NS : SQL_LIST_ALL, &st);
	int done = 0;

	if (rc != SQLITE_OK)
		return sql_error(s, rc, "listing", e);
	bind_range(st, range);
	while (done == 0 && !l->stopped && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct record r;

		if (l->past)
			done = give_past(s, l, (const char *)sqlite3_column_text(st, COL_NS),
					 (const char *)sqlite3_column_text(st, COL_NAME), e);
		if (done == 0 && !l->stopped)
			done = read_row(s, st, &r, e);
		if (done == 0 && !l->stopped)
			l->stopped = !l->fn(l->arg, &r);
	}
	sqlite3_reset(st);
	if (done < 0)
		return done;
	if (rc != SQLITE_DONE && rc != SQLITE_ROW)
		return sql_error(s, rc, "listing", e);
	return give_past(s, l, NULL, NULL, e);
}

static int too_old(const struct store *s, int64_t rv, struct err *e)
{
	return err_set(e, ERR_EXPIRED, "too old resource version: %lld (%lld)", (long long)rv, (long long)s->floor);
}

/* What may be kept for the next step: changes that are not committed may never have been. */
static struct store_past *past_of(const struct store *s, const struct store_range *range)
{
	if (!range->past || store_dirty(s))
		return xcalloc(1, sizeof(struct store_past));
	if (!*range->past)
		*range->past = xcalloc(1, sizeof(struct store_past));
	return *range->past;
}

int store_list(struct store *s, const struct store_range *range, record_fn *fn, void *arg, struct err *e)
{
	struct lister l = { .fn = fn, .arg = arg };
	int rc = SQLITE_OK;
	int done;

	/* A continued list that has left its namespace behind: nothing can follow. */
	if (range->ns && range->after_ns && strcmp(range->after_ns, range->ns) > 0)
		return 0;
	if (range->at && range->at < s->floor)
		return too_old(s, range->at, e);
	if (range->at && range->at < s->rv) {
		l.past = past_of(s, range);
		rc = past_load(s, range, l.past);
	}
	done = rc == SQLITE_OK ? walk_live(s, range, &l, e) : sql_error(s, rc, "reading the past", e);
	if (!range->past || l.past != *range->past)
		store_past_free(l.past);
	return done;
}

int store_history(struct store *s, int kind, int64_t since, record_fn *fn, void *arg, struct err *e)
{
	sqlite3_stmt *st;
	bool more = true;
	int done = 0;
	int rc;

	if (since < s->floor)
		return too_old(s, since, e);
	rc = sql_use(s, SQL_HISTORY, &st);
	if (rc != SQLITE_OK)
		return sql_error(s, rc, "reading the history", e);
	sqlite3_bind_int64(st, 1, since);
	sqlite3_bind_int64(st, 2, s->told_rv);
	sqlite3_bind_int(st, 3, kind);
	while (done == 0 && more && (rc = sqlite3_step(st)) == SQLITE_ROW) {
		struct record r;

		done = read_row(s, st, &r, e);
		if (done == 0)
			more = fn(arg, &r);
	}
	sqlite3_reset(st);
	if (done == 0 && rc != SQLITE_DONE && rc != SQLITE_ROW)
		return sql_error(s, rc, "reading the history", e);
	return done;
}

int64_t store_revision(const struct store *s)
{
	return s->rv;
}

int64_t store_oldest(const struct store *s)
{
	return s->floor;
}
