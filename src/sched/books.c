// SPDX-License-Identifier: Apache-2.0
/* books.c - see books.h
 *
 * The pods are followed without a cache (client/changes.h): the scheduler's has only what lives, and of what leaves it
 * nobody can say whether it succeeded.
 */
#include "sched/books.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "client/changes.h"
#include "sched/account_file.h"
#include "sched/books_shares.h"
#include "sched/card_part.h"
#include "sched/parts.h"
#include "sched/pod_work.h"
#include "sched/tally.h"
#include "sched/usage_sum.h"

#define FLUSH_MS    1000
#define AGAIN_MS    5000 /* after a failure */
#define SAVE_MS     (5 * 60 * 1000)
#define TIDY_MS     50
#define JOURNAL_MIN (256u * 1024) /* below that it is not made anew */
#define OVERLAP     86400         /* seconds before the last sign of life for which nobody is sure what is recorded */
#define JOURNAL_MAX ((size_t)1 << 30)

struct books {
	struct client *client;
	struct books_config config;
	struct account_file *file;
	struct tally tally;
	struct changes *pods; /* NULL: not begun */
	json_t *listed;       /* while all there are are told: so far; else NULL */
	bool ready;
	bool recalled; /* the shares have their memory */
	bool troubled; /* the last write failed, and it was said */
	size_t journal_least;
	struct loop_hook note;
	struct loop_timer flush, save, tidy;
};

static const struct ref all_pods = { .api_version = "v1", .plural = "pods" };
/* What has no node uses nothing, and of that there may be very much. */
#define WITH_NODE "spec.nodeName!="

/* ---- writing down ---- */

static int write_journal(struct books *b, struct err *e)
{
	struct tally *t = &b->tally;

	if (t->journal.n) {
		if (account_file_note(b->file, sbuf_str(&t->journal), e) < 0)
			return -1;
		sbuf_reset(&t->journal);
	}
	return 0;
}

static int write_lines(struct books *b, struct err *e)
{
	struct tally *t = &b->tally;

	if (write_journal(b, e) < 0)
		return -1;
	if (t->records.n) {
		if (account_file_append(b->file, sbuf_str(&t->records), clock_wall(), e) < 0)
			return -1;
		sbuf_reset(&t->records);
	}
	return 0;
}

static void renew_journal(struct books *b)
{
	auto_sbuf struct sbuf text = SBUF(JOURNAL_MAX);
	struct err e = ERR_INIT;

	tally_journal(&b->tally, &text);
	if (account_file_rewrite(b->file, sbuf_str(&text), &e) < 0)
		log_warn("write down what runs: %s, ignoring", e.text);
	b->journal_least = text.n;
}

static void flush_now(struct books *b)
{
	struct err e = ERR_INIT;

	loop_timer_clear(&b->flush);
	if (write_lines(b, &e) < 0) {
		if (!b->troubled)
			log_warn("keep the accounts: %s, trying again", e.text);
		b->troubled = true;
		loop_timer_set(b->client->loop, &b->flush, AGAIN_MS);
		return;
	}
	b->troubled = false;
	if (account_file_journal_bytes(b->file) > JOURNAL_MIN + 4 * b->journal_least)
		renew_journal(b);
	if (!loop_timer_pending(&b->save))
		loop_timer_set(b->client->loop, &b->save, SAVE_MS);
}

static void on_flush(void *arg)
{
	flush_now(arg);
}

/* In the turn in which the API had it: a pod that is deleted in the next one is known to have run. */
static void on_note(void *arg)
{
	struct err ignored = ERR_INIT;

	(void)write_journal(arg, &ignored); /* the flush says what is wrong */
}

static void flush_soon(struct books *b)
{
	if (b->tally.journal.n)
		loop_schedule(b->client->loop, &b->note);
	if ((b->tally.records.n || b->tally.journal.n) && !loop_timer_pending(&b->flush))
		loop_timer_set(b->client->loop, &b->flush, FLUSH_MS);
}

static void on_tidy(void *arg)
{
	struct books *b = arg;

	if (account_file_tidy(b->file, clock_wall()))
		loop_timer_set(b->client->loop, &b->tidy, TIDY_MS);
}

static void save(struct books *b)
{
	if (b->recalled && b->config.half_life > 0)
		books_shares_save(b->config.world, b->file, b->config.half_life);
}

/* As long as something runs: otherwise nothing changes but what time does. */
static void on_save(void *arg)
{
	struct books *b = arg;

	save(b);
	loop_timer_set(b->client->loop, &b->tidy, TIDY_MS);
	if (tally_open(&b->tally))
		loop_timer_set(b->client->loop, &b->save, SAVE_MS);
}

/* ---- what is told ---- */

static void amounts_of(void *arg, const json_t *pod, struct tally_amounts *ret)
{
	struct books *b = arg;
	struct space *space = world_space(b->config.world);
	struct shape *shape = space_shape(space, pod);
	const json_t *node = informer_find(b->config.nodes, NULL, jsonx_str_or(pod, "spec.nodeName", ""));
	const char *given = json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), GIVEN_ANNOTATION));
	double part = card_part(node, card_set_read(given ? given : ""), shape_wants(shape, RESOURCE_GPU_MEMORY));

	*ret = (struct tally_amounts){ .gpus = (double)shape_wants(shape, RESOURCE_GPU) + part,
				       .cpus_milli = shape_wants(shape, RESOURCE_CPU),
				       .memory_bytes = shape_wants(shape, RESOURCE_MEMORY) };
	space_shape_unref(space, shape);
}

static void on_change(void *arg, const char *type, const json_t *pod)
{
	struct books *b = arg;

	if (b->listed) {
		json_array_append(b->listed, (json_t *)pod);
		return;
	}
	if (streq(type, "DELETED"))
		tally_gone(&b->tally, pod, clock_wall());
	else
		tally_see(&b->tally, pod, clock_wall());
	flush_soon(b);
}

/* ---- recovering ---- */

static void earliest_end(void *arg, const struct account_record *r)
{
	int64_t *first = arg;

	if (r->ended && r->ended < *first)
		*first = r->ended;
}

static void note_recorded(void *arg, const struct account_record *r)
{
	tally_recorded(arg, r);
}

static void replay(void *arg, const struct account_record *r)
{
	tally_replay(arg, r);
}

/* What the files and the API say together.  The first time the tally is empty, and the journal fills it. */
static void recover(struct books *b, const json_t *pods)
{
	int64_t now = clock_wall();
	int64_t alive = b->ready ? now : account_file_alive(b->file);
	int64_t since = alive ? alive - OVERLAP : 0;
	struct tally *t = &b->tally;

	if (!b->ready)
		account_file_journal(b->file, earliest_end, &since);
	else
		flush_now(b);
	t->recovering = true;
	account_file_since(b->file, since, note_recorded, t);
	if (!b->ready)
		account_file_journal(b->file, replay, t);
	tally_see_all(t, pods, since, alive && alive < now ? alive : now, now);
	flush_now(b);
	/* Not before the records that the old one stands for are on disk. */
	if (!b->troubled)
		renew_journal(b);
}

/* Costs are fractions of the machine: there must be one. */
static void recall(struct books *b)
{
	if (b->recalled ||
	    (b->config.half_life > 0 && !books_shares_load(b->config.world, b->file, &b->tally, b->config.half_life)))
		return;
	b->recalled = true;
}

static void on_begin(void *arg)
{
	struct books *b = arg;

	json_decref(b->listed);
	b->listed = json_array();
}

static void on_listed(void *arg)
{
	struct books *b = arg;
	json_auto_t *pods = TAKE(b->listed);

	recover(b, pods);
	if (b->ready)
		return;
	b->ready = true;
	recall(b);
	loop_timer_set(b->client->loop, &b->tidy, TIDY_MS);
	b->config.ready(b->config.arg);
}

void books_nodes(struct books *b)
{
	struct changes_handlers h = {
		.begin = on_begin, .change = on_change, .listed = on_listed, .arg = b, .purpose = "the accounts"
	};

	if (!b->pods)
		b->pods = changes_new(b->client, &all_pods, WITH_NODE, &h);
	else if (b->ready)
		recall(b);
}

bool books_ready(const struct books *b)
{
	return b->ready;
}

/* ---- asking ---- */

static void add_to_sum(void *arg, const struct account_record *r)
{
	usage_sum_add(arg, r);
}

int books_usage(struct books *b, const char *by, int64_t from, int64_t to, const char *user, json_t **ret,
		struct err *e)
{
	struct usage_sum sum;

	if (usage_sum_init(&sum, by, from, to, e) < 0)
		return -1;
	sum.user = user;
	sum.now = clock_wall();
	if (b->tally.records.n)
		flush_now(b);
	account_file_since(b->file, from, add_to_sum, &sum);
	tally_each_pod(&b->tally, add_to_sum, &sum);
	*ret = usage_sum_json(&sum);
	usage_sum_done(&sum);
	return 0;
}

/* ---- life ---- */

int books_new(struct client *c, const struct books_config *config, struct books **ret, struct err *e)
{
	struct books *b = xcalloc(1, sizeof(*b));

	b->client = c;
	b->config = *config;
	if (account_file_open(config->dir, &b->file, e) < 0) {
		free(b);
		return -1;
	}
	tally_init(&b->tally);
	b->tally.amounts = amounts_of;
	b->tally.arg = b;
	b->note = (struct loop_hook){ .run = on_note, .arg = b, .phase = LOOP_WORK };
	b->flush = (struct loop_timer){ .fire = on_flush, .arg = b };
	b->save = (struct loop_timer){ .fire = on_save, .arg = b };
	b->tidy = (struct loop_timer){ .fire = on_tidy, .arg = b };
	*ret = b;
	return 0;
}

void books_free(struct books *b)
{
	if (!b)
		return;
	if (b->ready) {
		flush_now(b);
		save(b);
	}
	changes_free(b->pods);
	loop_unschedule(b->client->loop, &b->note);
	loop_timer_done(&b->flush);
	loop_timer_done(&b->save);
	loop_timer_done(&b->tidy);
	tally_done(&b->tally);
	json_decref(b->listed);
	account_file_free(b->file);
	free(b);
}
