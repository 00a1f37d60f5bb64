// SPDX-License-Identifier: Apache-2.0
/* rest_pbs.c - GET /apis/stoker.dev/v1/pbs/jobs: the board, for qstat and its like
 *
 *	?format=rows|full&elements=1&live=1&ids=380963,189[],189[3]&user=NAMES&queue=NAMES&state=LETTERS
 *
 * It is for everyone who has an identity.  Of other users' jobs nobody sees more than PBS shows, and nothing if the
 * server says so (queryOtherJobs).  A long answer is made in pieces, each when the client has taken the one before; it
 * goes on behind the last job it had, whatever has come and gone meanwhile.
 */
#include "api/exchange.h"
#include "api/pbs.h"
#include "api/pbs_board.h"
#include "api/pbs_full.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"

#define PIECE_BYTES (256 * 1024)
#define PIECE_MS    8    /* well within STALL_BUDGET_MS */
#define LOOK_EVERY  64   /* items between two looks at the clock */
#define LIVE_MOST   2000 /* lines with comments of the moment: 20 ms; who lists more reads the first ones */

/* One of ids=. */
struct wanted {
	int64_t sequence;
	bool some;           /* only these elements of an array: */
	struct pbs_set only; /* indexes */
};

struct listing {
	struct exchange *x;
	struct api *api;
	struct pbs_board *board;
	struct loop_hook more;
	struct sbuf out;
	bool streaming, full, any;
	bool elements, all_users, asked_ids, live;
	const char *users, *queues, *states; /* or NULL */
	size_t lines;                        /* so far */
	struct wanted *ids;
	size_t nids, at, ids_cap;
	/* The last row dealt with, */
	int64_t sequence;
	uint64_t serial;
	size_t hint;
	/* and how far its elements are. */
	bool within;
	int index;
	const struct pbs_set *only; /* or NULL */
	struct pbs_elements el;
	int64_t now;
};

static void listing_free(void *arg)
{
	struct listing *l = arg;

	loop_unschedule(api_loop(l->api), &l->more);
	for (size_t i = 0; i < l->nids; i++)
		pbs_set_done(&l->ids[i].only);
	free(l->ids);
	pbs_elements_done(&l->el);
	sbuf_done(&l->out);
	free(l);
}

/* ---- which ---- */

/* Whether a list "a,b" has the word; NULL has all. */
static bool has_word(const char *list, const char *word)
{
	struct str rest = str_of(list);
	struct str part;

	if (!list)
		return true;
	while (str_split(&rest, ',', &part))
		if (part.n == strlen(word) && strncmp(part.p, word, part.n) == 0)
			return true;
	return false;
}

static bool is_shown(const struct listing *l, const struct pbs_row *r)
{
	return (l->all_users || streq(r->owner, l->x->req.caller->user)) && has_word(l->users, r->owner) &&
	       has_word(l->queues, r->queue);
}

static bool in_state(const struct listing *l, char state)
{
	return !l->states || strchr(l->states, state);
}

static int read_id(struct listing *l, const char *text, struct err *e)
{
	struct wanted w = { 0 };
	struct pbs_id id;

	if (!pbs_id_parse(text, &id))
		return err_set(e, ERR_BAD_REQUEST, "ids: illegally formed job identifier: %.100s", text);
	w.sequence = id.sequence;
	w.some = id.array && *id.elements;
	if (w.some && pbs_array_parse(id.elements, &w.only, NULL, e) < 0) {
		pbs_set_done(&w.only);
		return err_set(e, ERR_BAD_REQUEST, "ids: illegally formed job identifier: %.100s", text);
	}
	ARRAY_PUSH(l->ids, l->nids, l->ids_cap, w);
	return 0;
}

static int read_ids(struct listing *l, const char *list, struct err *e)
{
	struct str rest = str_of(list);
	struct str part;

	l->asked_ids = list && *list;
	while (l->asked_ids && str_split(&rest, ',', &part)) {
		auto_free char *text = xstrndup(part.p, part.n);

		if (*text && read_id(l, text, e) < 0)
			return -1;
	}
	return 0;
}

static const char *word_or_null(const char *s)
{
	return s && *s ? s : NULL;
}

static int read_query(struct listing *l, struct err *e)
{
	const struct exchange *x = l->x;
	const char *format = exchange_param(x, "format");
	const json_t *settings;

	if (format && *format && !streq(format, "rows") && !streq(format, "full"))
		return err_set(e, ERR_BAD_REQUEST, "format: Invalid value: \"%.40s\": must be rows or full", format);
	if (pbs_server_settings(l->api, &settings, e) < 0 || read_ids(l, exchange_param(x, "ids"), e) < 0)
		return -1;
	l->full = format && streq(format, "full");
	l->elements = exchange_flag(x, "elements");
	l->live = exchange_flag(x, "live");
	l->users = word_or_null(exchange_param(x, "user"));
	l->queues = word_or_null(exchange_param(x, "queue"));
	l->states = word_or_null(exchange_param(x, "state"));
	l->all_users = jsonx_bool_or(settings, "queryOtherJobs", true) || pbs_is_operator(l->api, x->req.caller);
	return 0;
}

/* ---- the pieces ---- */

static void add_item(struct listing *l, struct pbs_row *r, int index)
{
	struct pbs_view v = { .api = l->api,
			      .kubelet = l->x->rest->kubelet,
			      .scheduler = l->x->rest->scheduler,
			      .caller = l->x->req.caller,
			      .live = l->full || (l->live && l->lines++ < LIVE_MOST),
			      .row = r,
			      .elements = &l->el,
			      .index = index,
			      .now = l->now };
	size_t before = l->out.n;

	if (!l->full && index < 0) {
		pbs_row_line(&v, &l->out);
		return;
	}
	if (!l->full) {
		pbs_element_line(&v, &l->out);
		return;
	}
	if (l->any)
		sbuf_addc(&l->out, ',');
	if (pbs_full_item(&v, &l->out)) {
		l->any = true;
	} else {
		l->out.n = before; /* gone in this very turn */
		l->out.p[before] = '\0';
	}
}

/* The next element of the array under way; false at its end. */
static bool next_element(struct listing *l)
{
	size_t hint = 0;
	struct pbs_row *r = pbs_board_after(l->board, l->sequence, l->serial - 1, &hint);
	const struct pbs_element_set *set;

	l->within = r && r->serial == l->serial && r->sequence == l->sequence && r->array;
	if (!l->within)
		return false;
	if (l->el.rv != r->rv) {
		pbs_elements_done(&l->el);
		pbs_elements_read(&l->el, r);
	}
	if (!pbs_set_next(l->only ? l->only : &l->el.all, &l->index)) {
		l->within = false;
		pbs_elements_done(&l->el);
		return false;
	}
	if (pbs_set_has(&l->el.all, l->index) &&
	    (!l->states || in_state(l, pbs_element_state(&l->el, r, l->index, &set))))
		add_item(l, r, l->index);
	return true;
}

/* False when there is none left. */
static bool next_row(struct listing *l)
{
	struct pbs_row *r;
	const struct wanted *w = NULL;

	if (l->asked_ids) {
		if (l->at == l->nids)
			return false;
		w = &l->ids[l->at++];
		r = pbs_board_find(l->board, w->sequence);
		if (!r)
			return true;
	} else {
		r = pbs_board_after(l->board, l->sequence, l->serial, &l->hint);
		if (!r)
			return false;
	}
	l->sequence = r->sequence;
	l->serial = r->serial;
	if (!is_shown(l, r))
		return true;
	if (r->array && (l->elements || (w && w->some))) {
		l->within = true;
		l->index = -1;
		l->only = w && w->some ? &w->only : NULL;
	} else if ((!w || !w->some) && in_state(l, r->state)) {
		add_item(l, r, -1);
	}
	return true;
}

/* True when all is there. */
static bool make_piece(struct listing *l)
{
	int64_t until = clock_mono_ms() + PIECE_MS;

	l->now = clock_wall();
	for (size_t i = 1; l->out.n < PIECE_BYTES; i++) {
		if ((l->full || i % LOOK_EVERY == 0) && clock_mono_ms() >= until)
			return false;
		if (l->within && next_element(l))
			continue;
		if (!next_row(l))
			return true;
	}
	return false;
}

/* ---- sending ---- */

static const char *type_of(const struct listing *l)
{
	return l->full ? "application/json" : "text/plain";
}

static void finish(struct listing *l)
{
	struct exchange *x = l->x;
	struct http_request *http = x->http;

	if (l->full)
		sbuf_adds(&l->out, "]}\n");
	exchange_count(x, 200);
	http_on_close(http, NULL, NULL);
	if (!l->streaming) {
		http_reply(http, 200, type_of(l), l->out.p ? l->out.p : "", l->out.n);
	} else {
		http_stream_write(http, l->out.p, l->out.n);
		http_stream_end(http);
	}
	exchange_free(x);
}

static void on_drained(void *arg)
{
	struct listing *l = arg;

	loop_schedule(api_loop(l->api), &l->more);
}

static void step(void *arg)
{
	struct listing *l = arg;
	struct http_request *http = l->x->http;

	/* Right after a start: its jobs are being read, and others are to be served meanwhile. */
	if (!pbs_board_loaded(l->board)) {
		loop_schedule(api_loop(l->api), &l->more);
		return;
	}
	if (make_piece(l)) {
		finish(l);
		return;
	}
	if (l->out.n < PIECE_BYTES) {
		loop_schedule(api_loop(l->api), &l->more); /* its time was up; others first */
		return;
	}
	if (!l->streaming) {
		l->streaming = true;
		http_stream_start(http, 200, type_of(l));
		http_stream_on_drained(http, on_drained, l);
	}
	http_stream_write(http, l->out.p, l->out.n);
	sbuf_reset(&l->out);
	if (!http_stream_pending(http)) /* HEAD: nothing is sent, so nothing will drain */
		on_drained(l);
}

bool rest_pbs_is(const struct exchange *x)
{
	static const char *const words[] = { "apis", "stoker.dev", "v1", "pbs", "jobs" };

	return exchange_path_is(x, words, ARRAY_SIZE(words));
}

bool rest_pbs(struct exchange *x)
{
	const char *method = http_method(x->http);
	struct listing *l;

	if (!rest_pbs_is(x) || (!streq(method, "GET") && !streq(method, "HEAD")))
		return false;
	l = xcalloc(1, sizeof(*l));
	*l = (struct listing){ .x = x,
			       .api = x->rest->api,
			       .board = pbs_board(api_pbs(x->rest->api)),
			       .out = SBUF(LIMIT_REPLY_QUEUE),
			       .sequence = -1 };
	l->more = (struct loop_hook){ .run = step, .arg = l, .phase = LOOP_WORK };
	x->stream = l;
	x->stream_free = listing_free;
	if (read_query(l, &x->err) < 0) {
		exchange_finish(x);
		return true;
	}
	if (l->full)
		sbuf_adds(&l->out,
			  "{\"kind\":\"PBSJobList\",\"apiVersion\":\"stoker.dev/v1\",\"metadata\":{},\"items\":[");
	step(l);
	return true;
}
