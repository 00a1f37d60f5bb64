// SPDX-License-Identifier: Apache-2.0
/* follow_watch.c - see follow_watch.h
 *
 * Three informers (the job, its pods, Events about the job itself) and a log stream for each run of each replica feed
 * the state (follow_state.c).  What comes of it is drawn (follow_view.c, redraw.c) or told (follow_say.c).  When the
 * job is over and what its ended replicas printed is in, the verdict follows.
 *
 * Lines come with the time at which they were printed, so that the speed of a program is known also to those who begin
 * to follow it late.
 */
#include "cli/follow_watch.h"

#include <signal.h>
#include <stdio.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/follow_say.h"
#include "cli/follow_view.h"
#include "cli/log_stream.h"
#include "cli/redraw.h"
#include "kinds/core.h"
#include "kinds/rest.h"

#define DRAW_MS  100  /* the shortest time between two pictures */
#define TICK_MS  1000 /* the longest */
#define SAY_MS   1000 /* the shortest time between two measurements in a transcript */
#define DRAIN_MS 5000 /* how long output may be silent after the end */

struct watch {
	struct connection *c;
	const struct found *job;
	const struct follow_options *o;
	struct follow_state state;
	struct informer *jobs, *pods, *events;
	bool live; /* drawn, not told */
	bool ascii;
	struct redraw screen;
	struct sbuf above; /* log lines that are to be drawn */
	struct loop_timer draw, drain, say;
	int64_t drawn_ms, said_ms;
	uint64_t heard; /* bytes, when it was last looked at */
	bool drained, caught_up;
	bool deaf;  /* nobody reads our output */
	int signal; /* that ends following, 0 for none */
};

/* The output of a replica: of its run now, and of the one before as long as that is not all in. */
struct tail {
	struct watch *watch;
	struct follow_replica *replica;
	char *uid;
	int64_t run;
	struct log_stream *now, *before;
};

/* ---- showing ---- */

static void put(struct watch *w, const struct sbuf *text)
{
	if (!text->n)
		return;
	if (fwrite(text->p, 1, text->n, stdout) != text->n || fflush(stdout) != 0)
		w->deaf = true;
}

static struct follow_screen screen_now(const struct watch *w)
{
	struct winsize size = { .ws_row = 0 };

	ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	return (struct follow_screen){ .width = size.ws_col,
				       .rows = size.ws_row,
				       .colours = output_colours(STDOUT_FILENO),
				       .ascii = w->ascii,
				       .now = clock_wall_micros() };
}

static void draw(struct watch *w)
{
	auto_sbuf struct sbuf block = SBUF(SIZE_MAX / 2);
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);
	struct follow_screen screen = screen_now(w);

	follow_view(&w->state, &screen, &block);
	redraw(&w->screen, sbuf_str(&w->above), sbuf_str(&block), screen.width, &out);
	sbuf_reset(&w->above);
	put(w, &out);
	w->drawn_ms = clock_mono_ms();
	loop_timer_set(w->c->loop, &w->draw, TICK_MS);
}

static void on_draw(void *arg)
{
	draw(arg);
}

/* Something is different: soon drawn, if it is drawn at all. */
static void touch(struct watch *w)
{
	int64_t wait = w->drawn_ms + DRAW_MS - clock_mono_ms();

	if (w->live)
		loop_timer_set(w->c->loop, &w->draw, wait > 0 ? wait : 0);
}

static void say_numbers(struct watch *w, const struct follow_replica *r)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	follow_say_numbers(r, w->o->json, &out);
	put(w, &out);
	w->said_ms = clock_mono_ms();
}

/* What was held back comes before anything else is told. */
static void flush_numbers(struct watch *w)
{
	const struct follow_replica *r = follow_speaker(&w->state);

	if (!loop_timer_pending(&w->say))
		return;
	loop_timer_clear(&w->say);
	if (r)
		say_numbers(w, r);
}

static void on_say(void *arg)
{
	struct watch *w = arg;
	const struct follow_replica *r = follow_speaker(&w->state);

	if (r)
		say_numbers(w, r);
}

/* Who does not decide lets the one that does speak first. */
static void tell_numbers(struct watch *w, const struct follow_replica *r)
{
	bool decides = r == follow_decider(&w->state);
	int64_t wait = w->said_ms ? w->said_ms + SAY_MS - clock_mono_ms() : decides ? 0 : SAY_MS;

	if (w->o->json)
		say_numbers(w, r);
	else if (w->live || w->o->logs || r != follow_speaker(&w->state) || loop_timer_pending(&w->say))
		return;
	else if (wait > 0)
		loop_timer_set(w->c->loop, &w->say, wait);
	else
		say_numbers(w, r);
}

/* ---- output of replicas ---- */

/* Lines begin with their time; what does not is as old as it is new to us. */
static int64_t cut_time(struct str *line)
{
	const char *space = memchr(line->p, ' ', line->n < 40 ? line->n : 40);
	size_t n = space ? (size_t)(space - line->p) : line->n;
	auto_free char *text = xstrndup(line->p, n < 40 ? n : 40);
	int64_t at;

	if (!clock_parse_rfc3339(text, &at))
		return clock_wall_micros();
	line->p += space ? n + 1 : n;
	line->n -= space ? n + 1 : n;
	return at;
}

static void show_line(struct watch *w, const struct follow_replica *r, struct str text, int64_t at)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	if (!w->o->logs)
		return;
	follow_say_log(r, text, at, w->o->json, w->live ? &w->above : &out);
	put(w, &out);
}

static void on_line(void *arg, struct str line)
{
	struct tail *t = arg;
	struct watch *w = t->watch;
	int64_t at = cut_time(&line);
	struct str rest = line;
	struct str part;

	show_line(w, t->replica, line, at);
	/* Progress bars write over themselves. */
	while (rest.n && str_split(&rest, '\r', &part))
		if (follow_numbers_line(&t->replica->numbers, part, at))
			tell_numbers(w, t->replica);
	touch(w);
}

static void tail_open(struct tail *t)
{
	const struct follow_replica *r = t->replica;

	if (t->now)
		log_stream_last(t->now);
	log_stream_free(t->before);
	t->before = t->now;
	free(t->uid);
	t->uid = xstrdup(r->uid);
	t->run = r->run;
	t->now = log_stream_new(&(struct log_stream_options){ .client = t->watch->c->client,
							      .ns = t->watch->state.ns,
							      .pod = r->pod,
							      .container = r->container,
							      .line = on_line,
							      .arg = t,
							      .timestamps = true });
}

static void follow_output(struct watch *w, struct follow_replica *r)
{
	struct tail *t = r->own;

	if (!t) {
		t = r->own = xcalloc(1, sizeof(*t));
		*t = (struct tail){ .watch = w, .replica = r, .uid = xstrdup("") };
	}
	if (r->log_ready && (!t->now || !streq(t->uid, r->uid) || t->run != r->run))
		tail_open(t);
	if (r->log_ends && t->now && streq(t->uid, r->uid))
		log_stream_ending(t->now);
}

static bool tail_is_open(const struct tail *t)
{
	return t && ((t->now && !log_stream_is_done(t->now)) || (t->before && !log_stream_is_done(t->before)));
}

static void tail_free(struct tail *t)
{
	if (!t)
		return;
	log_stream_free(t->now);
	log_stream_free(t->before);
	free(t->uid);
	free(t);
}

/* ---- what happens ---- */

static void on_pod(void *arg, const json_t *pod, const json_t *old)
{
	struct watch *w = arg;
	struct follow_replica *r = follow_state_pod(&w->state, pod ? pod : old, !pod);
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	if (!r)
		return;
	if (!w->live)
		follow_say_replica(r, w->o->json, &out);
	if (out.n)
		flush_numbers(w);
	put(w, &out);
	follow_output(w, r);
	touch(w);
}

/* Silent for that long: then no more will come. */
static void on_drained(void *arg)
{
	struct watch *w = arg;
	uint64_t heard = 0;

	for (size_t i = 0; i < w->state.n; i++) {
		const struct tail *t = w->state.replicas[i]->own;

		heard += t && t->now ? log_stream_count(t->now) : 0;
	}
	w->drained = heard == w->heard;
	w->heard = heard;
	if (!w->drained)
		loop_timer_set(w->c->loop, &w->drain, DRAIN_MS);
}

static void on_job(void *arg, const json_t *job, const json_t *old)
{
	struct watch *w = arg;
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	(void)old;
	follow_state_job(&w->state, job);
	if (!w->live && !w->state.deleted)
		follow_say_job(&w->state, w->o->json, &out);
	if (out.n)
		flush_numbers(w);
	put(w, &out);
	if (follow_is_over(&w->state) && !w->drained && !loop_timer_pending(&w->drain))
		loop_timer_set(w->c->loop, &w->drain, DRAIN_MS);
	touch(w);
}

static void on_synced(void *arg)
{
	struct watch *w = arg;

	if (!informer_find(w->jobs, w->state.ns, w->state.name))
		on_job(w, NULL, NULL);
}

/* What its conditions say too. */
static bool is_verdict(const struct watch *w, const char *reason)
{
	return str_starts(reason, w->state.kind->kind) || streq(reason, "BackoffLimitExceeded") ||
	       streq(reason, "DeadlineExceeded");
}

/* Pods that cannot even be made are told of nowhere else. */
static void on_event(void *arg, const json_t *event, const json_t *old)
{
	struct watch *w = arg;
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	if (!event || old || follow_is_over(&w->state) || !str_same(jsonx_str(event, "type"), "Warning") ||
	    is_verdict(w, jsonx_str_or(event, "reason", "")))
		return;
	follow_state_warning(&w->state, jsonx_str_or(event, "message", ""));
	if (!w->live)
		follow_say_warning(&w->state, w->o->json, &out);
	put(w, &out);
	touch(w);
}

static void on_leave(void *arg, int signo)
{
	((struct watch *)arg)->signal = signo;
}

static void on_resize(void *arg, int signo)
{
	(void)signo;
	touch(arg);
}

/* ---- the end ---- */

/* The job's end may be known before what its pods did: their informer is another one. */
static void catch_up(struct watch *w)
{
	json_auto_t *pods = NULL;
	struct err ignored = ERR_INIT;
	json_t *pod;
	size_t i;

	w->caught_up = true;
	find_pods(w->c->client, w->job, &pods, &ignored);
	json_array_foreach (pods, i, pod)
		on_pod(w, pod, NULL);
}

/* Is all in that the verdict is made of?  Those that are being stopped may take their time. */
static bool is_settled(const struct watch *w)
{
	const struct follow_replica *decider = follow_decider(&w->state);

	if (!w->caught_up)
		return false;
	if (w->drained)
		return true;
	for (size_t i = 0; i < w->state.n; i++)
		if (w->state.replicas[i]->phase >= FOLLOW_SUCCEEDED && tail_is_open(w->state.replicas[i]->own))
			return false;
	if (w->state.deleted || follow_timed_out(&w->state))
		return true;
	if (w->state.work.phase == WORK_SUCCEEDED)
		return !decider || decider->phase >= FOLLOW_SUCCEEDED;
	return follow_cause(&w->state);
}

static int verdict(struct watch *w)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);
	int status = follow_status(&w->state);

	flush_numbers(w);
	if (w->live)
		draw(w);
	follow_say_end(&w->state, status, w->o->json, &out);
	put(w, &out);
	return status;
}

static int left(struct watch *w)
{
	if (w->deaf)
		return 128 + SIGPIPE;
	flush_numbers(w);
	if (w->live)
		draw(w);
	fprintf(stderr, "%s goes on; `stoker follow %s` comes back to it, `stoker kill %s` ends it.\n", w->state.title,
		w->state.name, w->state.name);
	return 128 + w->signal;
}

static int turn(struct watch *w)
{
	while (!w->signal && !w->deaf && !(follow_is_over(&w->state) && is_settled(w)))
		if (follow_is_over(&w->state) && !w->caught_up)
			catch_up(w);
		else
			loop_turn(w->c->loop, false);
	return w->signal || w->deaf ? left(w) : verdict(w);
}

/* ---- the whole ---- */

/* The label that pods of the kind have, so that not all of a namespace are listed; owned, NULL if there is none. */
static char *pod_label(const struct found *job)
{
	if (job->kind == &kind_job)
		return xasprintf("controller-uid=%s", jsonx_str_or(job->obj, "metadata.uid", ""));
	if (streq(job->kind->group, kind_tfjob.group))
		return xasprintf("training.kubeflow.org/job-name=%s", job->name);
	return NULL;
}

static void start(struct watch *w, const struct found *job)
{
	auto_free char *name = xasprintf("metadata.name=%s", job->name);
	auto_free char *label = pod_label(job);
	auto_free char *about = xasprintf("involvedObject.uid=%s", jsonx_str_or(job->obj, "metadata.uid", ""));
	struct ref jobs = { .api_version = job->api_version, .plural = job->kind->plural, .ns = job->ns };
	struct ref pods = { .api_version = "v1", .plural = "pods", .ns = job->ns };
	struct ref events = { .api_version = "v1", .plural = "events", .ns = job->ns };
	struct list_options which = { .labels = label, .fields = job->kind == &kind_pod ? name : NULL };

	w->jobs = informer_new(w->c->client, &jobs, &(struct list_options){ .fields = name },
			       &(struct informer_handlers){ .change = on_job, .synced = on_synced, .arg = w });
	w->pods = informer_new(w->c->client, &pods, &which, &(struct informer_handlers){ .change = on_pod, .arg = w });
	w->events = informer_new(w->c->client, &events, &(struct list_options){ .fields = about },
				 &(struct informer_handlers){ .change = on_event, .arg = w });
	touch(w);
}

static int catch_signals(struct watch *w, struct err *e)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGQUIT };

	for (size_t i = 0; i < ARRAY_SIZE(signals); i++)
		if (loop_on_signal(w->c->loop, signals[i], on_leave, w, e) < 0)
			return -1;
	return loop_on_signal(w->c->loop, SIGWINCH, on_resize, w, e);
}

/* Blocks and bars need UTF-8, and the environment says whether the terminal has it. */
static bool is_ascii(void)
{
	static const char *const keys[] = { "LC_ALL", "LC_CTYPE", "LANG" };

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		const char *v = getenv(keys[i]);

		if (v && *v)
			return !strcasestr(v, "UTF-8") && !strcasestr(v, "UTF8");
	}
	return true;
}

static void greet(struct watch *w)
{
	if (!w->o->created || w->live || w->o->json)
		return;
	printf("%s created\n", w->state.title);
	fflush(stdout);
	w->state.told = true;
	w->state.told_phase = WORK_PENDING;
}

static void watch_done(struct watch *w)
{
	informer_free(w->jobs);
	informer_free(w->pods);
	informer_free(w->events);
	loop_timer_done(&w->draw);
	loop_timer_done(&w->drain);
	loop_timer_done(&w->say);
	for (size_t i = 0; i < w->state.n; i++)
		tail_free(w->state.replicas[i]->own);
	follow_state_done(&w->state);
	redraw_done(&w->screen);
	sbuf_done(&w->above);
}

int follow_watch(const struct command *cmd, struct connection *c, const struct found *job,
		 const struct follow_options *o)
{
	struct watch w = { .c = c,
			   .job = job,
			   .o = o,
			   .live = isatty(STDOUT_FILENO) && !o->json,
			   .ascii = is_ascii(),
			   .above = SBUF(SIZE_MAX / 2),
			   .draw = { .fire = on_draw, .arg = &w },
			   .drain = { .fire = on_drained, .arg = &w },
			   .say = { .fire = on_say, .arg = &w } };
	struct err e = ERR_INIT;
	int status;

	follow_state_init(&w.state, job);
	greet(&w);
	if (catch_signals(&w, &e) < 0) {
		status = command_fail(cmd, &e);
	} else {
		start(&w, job);
		status = turn(&w);
	}
	watch_done(&w);
	return status;
}
