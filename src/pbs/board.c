// SPDX-License-Identifier: Apache-2.0
/* board.c - see board.h */
#include "pbs/board.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_array.h"

static void add_query(struct sbuf *path, const char *key, const char *value)
{
	if (!value)
		return;
	sbuf_addf(path, "&%s=", key);
	client_escape(path, value);
}

int board_get(struct pbs *p, const struct board_query *q, struct board *ret, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct board b = { .text = SBUF(PBS_REPLY_MAX) };
	int r;

	sbuf_addf(&path, PBS_API "/pbs/jobs?format=%s%s%s", q->full ? "full" : "rows", q->elements ? "&elements=1" : "",
		  q->live ? "&live=1" : "");
	add_query(&path, "ids", q->ids);
	add_query(&path, "user", q->user);
	add_query(&path, "queue", q->queue);
	r = q->full ? pbs_get(p, path.p, &b.doc, e) : pbs_get_text(p, path.p, &b.text, e);
	if (r < 0) {
		board_done(&b);
		return -1;
	}
	*ret = b;
	board_rewind(ret);
	return 0;
}

void board_rewind(struct board *b)
{
	b->rest = b->text.n ? sbuf_str(&b->text) : STR("");
	b->at = 0;
}

void board_done(struct board *b)
{
	sbuf_done(&b->text);
	json_decref(b->doc);
	*b = (struct board){ 0 };
}

void board_row_of(const json_t *job, struct board_row *ret)
{
	static const struct {
		enum pbs_column column;
		const char *path;
	} rows[] = {
		{ COL_ID, "status.id" },         { COL_NAME, "spec.name" },
		{ COL_OWNER, "spec.owner" },     { COL_QUEUE, "spec.queue" },
		{ COL_STATE, "status.state" },   { COL_HOST, "spec.submitHost" },
		{ COL_OBJECT, "metadata.name" }, { COL_NAMESPACE, "metadata.namespace" },
	};

	for (int i = 0; i < COL__COUNT; i++)
		ret->c[i] = STR("");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		ret->c[rows[i].column] = str_of(jsonx_str_or(job, rows[i].path, ""));
}

bool board_next(struct board *b, struct board_job *ret)
{
	if (!b->doc) {
		ret->job = NULL;
		return board_row_next(&b->rest, &ret->row);
	}
	ret->job = json_array_get(json_object_get(b->doc, "items"), b->at++);
	if (ret->job)
		board_row_of(ret->job, &ret->row);
	return ret->job != NULL;
}

/* ---- who is meant ---- */

/* Names of servers may come with a domain or without. */
static bool same_server(struct str mine, const char *theirs)
{
	size_t n = strlen(theirs);
	size_t less = n < mine.n ? n : mine.n;

	return !mine.n || !n ||
	       (memcmp(mine.p, theirs, less) == 0 && (n == mine.n || (n > less ? theirs[less] : mine.p[less]) == '.'));
}

static bool has_element(const char *elements, struct str inside)
{
	struct pbs_set set = { 0 };
	struct err e = ERR_INIT;
	auto_free char *text = xstrndup(inside.p, inside.n);
	int64_t index;
	bool has;

	if (str_eq(inside, elements))
		return true;
	if (!str_int64(text, 0, PBS_INDEX_MOST, &index) || pbs_array_parse(elements, &set, NULL, &e) < 0)
		return false;
	has = pbs_set_has(&set, (int)index);
	pbs_set_done(&set);
	return has;
}

bool board_is(const struct board_row *r, const struct pbs_id *id, bool elements)
{
	struct str mine = board_row_short_id(r);
	char number[24];
	int n = snprintf(number, sizeof(number), "%" PRId64, id->sequence);
	struct str inside;

	if (mine.n < (size_t)n || memcmp(mine.p, number, (size_t)n) != 0 ||
	    !same_server(board_row_server(r), id->server))
		return false;
	inside = (struct str){ mine.p + n, mine.n - (size_t)n };
	if (!inside.n)
		return !id->array;
	if (inside.p[0] != '[')
		return false;
	inside = (struct str){ inside.p + 1, inside.n >= 2 ? inside.n - 2 : 0 };
	return !id->elements[0] ? !inside.n || elements : has_element(id->elements, inside);
}
