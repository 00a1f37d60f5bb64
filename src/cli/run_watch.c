// SPDX-License-Identifier: Apache-2.0
/* run_watch.c - see run_watch.h
 *
 * Three informers feed it: the Job, its pods, and Events about the Job itself (a pod that cannot even be made is told
 * nowhere else).  Each pod whose container has started gets a log stream (run_log.c).  When the Job is over and every
 * stream has reached its end, the status is read off the pods.
 *
 * Signals only set flags; what takes a round trip is done between turns of the loop.
 */
#include "cli/run_watch.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/map.h"
#include "base/mem.h"
#include "cli/ending.h"
#include "cli/run_job.h"
#include "cli/run_log.h"
#include "cli/work.h"
#include "kinds/condition.h"

#define AGAIN_MS 3000 /* within which a second Ctrl-C means it */
#define DRAIN_MS 5000 /* how long output may be silent after the end */

struct watch;

struct worker {
	struct watch *watch;
	char *title; /* "train[1]", or the Job's name */
	struct run_log *log;
	bool started;  /* told */
	bool failed;   /* told */
	int status;    /* exit status, -1 while it runs */
	bool stopped;  /* it was being deleted when it ended */
	int64_t ended; /* microseconds */
	char *why;     /* it could not be started, or NULL */
	char *memory;  /* ": out of memory ...", or "" */
};

struct watch {
	const struct command *cmd;
	struct connection *c;
	const struct found *job;
	const struct run_watch_options *o;
	struct informer *jobs, *pods, *events;
	struct map workers; /* by the pod's uid */
	struct work work;   /* the Job, as last seen */
	struct sbuf waits;  /* the reason that was told last */
	bool over, deleted, timed_out, drained;
	bool deaf; /* nobody reads our output */
	int64_t asked_ms;
	int signal; /* that ends the Job, 0 for none */
	bool ending, leave;
	struct loop_timer drain;
	uint64_t shown; /* when it was last looked at */
};

/* Takes the text. */
static void print_sentence(char *taken)
{
	auto_free char *text = taken;
	bool colours = output_colours(STDERR_FILENO);

	/* Sentences quote what pods say. */
	for (unsigned char *p = (unsigned char *)text; *p; p++)
		if (*p < ' ' || *p == 0x7f)
			*p = ' ';
	fflush(stdout);
	fprintf(stderr, "%s%s%s\n", colours ? tint_begin(TINT_DIM) : "", text, colours ? tint_end(TINT_DIM) : "");
}

static void tell(const struct watch *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void tell(const struct watch *w, const char *fmt, ...)
{
	va_list ap;

	if (w->o->quiet)
		return;
	va_start(ap, fmt);
	print_sentence(xvasprintf(fmt, ap));
	va_end(ap);
}

/* ---- pods ---- */

static void worker_free(void *v)
{
	struct worker *k = v;

	run_log_free(k->log);
	free(k->title);
	free(k->why);
	free(k->memory);
	free(k);
}

static struct worker *worker_of(struct watch *w, const json_t *pod)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	const char *index = json_string_value(
		json_object_get(jsonx_at(pod, "metadata.annotations"), "batch.kubernetes.io/job-completion-index"));
	struct worker *k = map_find(&w->workers, uid);

	if (k)
		return k;
	k = xcalloc(1, sizeof(*k));
	k->watch = w;
	k->status = -1;
	k->title = w->o->many && index ? xasprintf("%s[%s]", w->job->name, index) : xstrdup(w->job->name);
	map_set(&w->workers, uid, k);
	return k;
}

static const json_t *main_container(const json_t *pod)
{
	json_t *s;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, s)
		if (str_same(jsonx_str(s, "name"), RUN_CONTAINER))
			return s;
	return NULL;
}

static void on_deaf(void *arg)
{
	((struct watch *)arg)->deaf = true;
}

static void follow(struct worker *k, const json_t *pod, const json_t *container)
{
	struct watch *w = k->watch;
	const char *index = strchr(k->title, '[');
	int64_t number = index ? strtol(index + 1, NULL, 10) : 0;

	if (!k->log)
		k->log = run_log_new(&(struct run_log_options){ .client = w->c->client,
								.ns = w->job->ns,
								.pod = jsonx_str_or(pod, "metadata.name", ""),
								.container = RUN_CONTAINER,
								.mark = w->o->many ? k->title : NULL,
								.number = (size_t)number,
								.deaf = on_deaf,
								.arg = w });
	if (jsonx_at(container, "state.terminated"))
		log_stream_ending(run_log_stream(k->log));
}

/* Why nothing happens, once for each reason. */
static void tell_waiting(struct watch *w, const json_t *pod)
{
	auto_sbuf struct sbuf why = SBUF(WORK_REASON);

	work_pod_waits(pod, &why);
	if (!why.n || str_same(why.p, w->waits.p))
		return;
	sbuf_reset(&w->waits);
	sbuf_adds(&w->waits, why.p);
	tell(w, "job/%s waits: %s", w->job->name, why.p);
}

static void tell_started(struct worker *k, const json_t *pod)
{
	if (k->started)
		return;
	k->started = true;
	sbuf_reset(&k->watch->waits);
	tell(k->watch, "%s%s started on %s", k->watch->o->many ? "" : "job/", k->title,
	     jsonx_str_or(pod, "spec.nodeName", "?"));
}

static char *memory_sentence(const json_t *pod)
{
	auto_sbuf struct sbuf text = SBUF(WORK_REASON);

	work_out_of_memory(pod, &text);
	return text.n ? xasprintf(": %s; raise --mem", text.p) : xstrdup("");
}

static void take_end(struct worker *k, const json_t *pod)
{
	struct watch *w = k->watch;
	int status = work_exit_status(pod);
	const char *why = work_start_error(pod);
	json_t *s;
	size_t i;

	if (status < 0)
		return;
	if (k->status < 0)
		k->stopped = jsonx_at(pod, "metadata.deletionTimestamp");
	k->status = status;
	free(k->why);
	k->why = why ? xstrdup(why) : NULL;
	free(k->memory);
	k->memory = memory_sentence(pod);
	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, s)
		clock_parse_rfc3339(jsonx_str_or(s, "state.terminated.finishedAt", ""), &k->ended);
	if (status > 0 && !k->failed && (w->o->many || jsonx_int_or(w->job->obj, "spec.backoffLimit", 0) > 0))
		tell(w, "%s %s%s: exit status %d%s", k->title, why ? "could not start: " : "failed", why ? why : "",
		     status, k->memory);
	k->failed = status > 0;
}

static void on_pod(void *arg, const json_t *pod, const json_t *old)
{
	struct watch *w = arg;
	struct worker *k = worker_of(w, pod ? pod : old);
	const json_t *container = main_container(pod);

	if (!pod) {
		take_end(k, old);
		if (k->log)
			log_stream_ending(run_log_stream(k->log));
		return;
	}
	if (jsonx_at(container, "state.running") ||
	    (jsonx_at(container, "state.terminated") && !work_start_error(pod))) {
		tell_started(k, pod);
		follow(k, pod, container);
	} else if (!jsonx_at(pod, "metadata.deletionTimestamp")) {
		tell_waiting(w, pod);
	}
	take_end(k, pod);
}

/* ---- the Job ---- */

/* Silent for that long: then no more will come. */
static void on_drained(void *arg)
{
	struct watch *w = arg;
	uint64_t shown = 0;
	size_t pos = 0;
	const char *uid;
	void *v;

	while (map_next(&w->workers, &pos, &uid, &v))
		shown += ((struct worker *)v)->log ? log_stream_count(run_log_stream(((struct worker *)v)->log)) : 0;
	w->drained = shown == w->shown;
	w->shown = shown;
	if (!w->drained)
		loop_timer_set(w->c->loop, &w->drain, DRAIN_MS);
}

static void job_over(struct watch *w)
{
	if (w->over)
		return;
	w->over = true;
	loop_timer_set(w->c->loop, &w->drain, DRAIN_MS);
}

static void on_job(void *arg, const json_t *job, const json_t *old)
{
	struct watch *w = arg;
	const json_t *failed = condition_of(job, "Failed");

	(void)old;
	if (!job || !str_same(jsonx_str(job, "metadata.uid"), jsonx_str(w->job->obj, "metadata.uid"))) {
		w->deleted = !w->over;
		job_over(w);
		return;
	}
	work_read(w->job->kind, job, NULL, &w->work);
	if (!work_is_over(&w->work))
		return;
	w->timed_out = str_same(jsonx_str(failed, "status"), "True") &&
		       str_same(jsonx_str(failed, "reason"), "DeadlineExceeded");
	job_over(w);
}

static void on_synced(void *arg)
{
	struct watch *w = arg;

	if (!informer_find(w->jobs, w->job->ns, w->job->name))
		on_job(w, NULL, NULL);
}

/* Warnings about the Job itself: pods that the server refuses. */
static void on_event(void *arg, const json_t *event, const json_t *old)
{
	struct watch *w = arg;
	const char *message = jsonx_str_or(event, "message", "");

	if (!event || old || w->over || !str_same(jsonx_str(event, "type"), "Warning") ||
	    streq(jsonx_str_or(event, "reason", ""), "BackoffLimitExceeded") ||
	    streq(jsonx_str_or(event, "reason", ""), "DeadlineExceeded"))
		return;
	tell(w, "job/%s: %s", w->job->name, message);
}

/* ---- signals ---- */

static void on_interrupt(void *arg, int signo)
{
	struct watch *w = arg;
	int64_t now = clock_mono_ms();
	bool sure = w->o->remove || !isatty(STDERR_FILENO) || (w->asked_ms && now - w->asked_ms < AGAIN_MS);

	(void)signo;
	if (w->ending) {
		w->leave = true;
	} else if (sure) {
		w->signal = SIGINT;
	} else {
		w->asked_ms = now;
		fprintf(stderr,
			"\njob/%s goes on. Ctrl-C again within %d seconds ends it; Ctrl-\\ leaves it running.\n",
			w->job->name, AGAIN_MS / 1000);
	}
}

static void on_terminate(void *arg, int signo)
{
	struct watch *w = arg;

	w->signal = signo;
}

static void on_quit(void *arg, int signo)
{
	struct watch *w = arg;

	w->leave = true;
	if (!w->signal)
		w->signal = signo;
}

static void end_job(struct watch *w)
{
	struct err e = ERR_INIT;

	w->ending = true;
	tell(w, "Ending job/%s ...", w->job->name);
	if (ending_begin(w->c->client, w->job, false, &e) < 0) {
		command_fail(w->cmd, &e);
		w->leave = true;
	}
}

/* ---- the end ---- */

static bool logs_open(const struct watch *w)
{
	size_t pos = 0;
	const char *uid;
	void *v;

	while (map_next(&w->workers, &pos, &uid, &v)) {
		const struct worker *k = v;

		if (k->log && !log_stream_is_done(run_log_stream(k->log)))
			return true;
	}
	return false;
}

/* Of several that failed together the first one is the cause, and the others were stopped because of it, perhaps in the
 * same second; of tries one after the other the last one counts. */
static bool is_cause(const struct watch *w, const struct worker *k, const struct worker *than)
{
	if (k->stopped != than->stopped)
		return than->stopped;
	return (k->ended < than->ended) == w->o->many;
}

static const struct worker *first_failed(const struct watch *w)
{
	const struct worker *chosen = NULL;
	size_t pos = 0;
	const char *uid;
	void *v;

	while (map_next(&w->workers, &pos, &uid, &v)) {
		const struct worker *k = v;

		if (k->status > 0 && (!chosen || is_cause(w, k, chosen)))
			chosen = k;
	}
	return chosen;
}

static int say_failed(const struct watch *w)
{
	const struct worker *k = first_failed(w);
	int status = k ? k->status : 1;

	if (k && k->why) /* an error of ours, not the command's: also told to those who want its output only */
		print_sentence(xasprintf("job/%s could not start: %s", w->job->name, k->why));
	else
		tell(w, "job/%s failed with exit status %d%s", w->job->name, status, k ? k->memory : "");
	return status;
}

static int verdict(const struct watch *w)
{
	char took[32];

	if (w->deleted) {
		tell(w, "job/%s %s; `stoker logs %s` still shows its output", w->job->name,
		     w->ending ? "ended" : "was deleted", w->job->name);
		return 128 + (w->signal ? w->signal : SIGTERM);
	}
	if (w->timed_out) {
		tell(w, "job/%s reached its time limit of %llds", w->job->name,
		     (long long)jsonx_int_or(w->job->obj, "spec.activeDeadlineSeconds", 0));
		return STATUS_TIME_LIMIT;
	}
	if (w->work.phase == WORK_SUCCEEDED) {
		tell(w, "job/%s succeeded after %s", w->job->name, output_age(w->work.ended - w->work.started, took));
		return 0;
	}
	return say_failed(w);
}

static int left(const struct watch *w)
{
	if (w->deaf)
		return 128 + SIGPIPE;
	if (w->ending)
		fprintf(stderr, "job/%s is still ending; `stoker ps` shows it.\n", w->job->name);
	else
		fprintf(stderr, "job/%s goes on; `stoker logs -f %s` shows its output, `stoker kill %s` ends it.\n",
			w->job->name, w->job->name, w->job->name);
	return 128 + w->signal;
}

static int turn(struct watch *w)
{
	while (!w->leave && !w->deaf && !(w->over && (w->drained || !logs_open(w)))) {
		if (w->signal && !w->ending && !w->over)
			end_job(w);
		loop_turn(w->c->loop, false);
	}
	return w->leave || w->deaf ? left(w) : verdict(w);
}

/* ---- the whole ---- */

static void start(struct watch *w)
{
	const char *uid = jsonx_str_or(w->job->obj, "metadata.uid", "");
	auto_free char *name = xasprintf("metadata.name=%s", w->job->name);
	auto_free char *label = xasprintf("controller-uid=%s", uid);
	auto_free char *about = xasprintf("involvedObject.uid=%s", uid);
	struct ref jobs = { .api_version = w->job->api_version, .plural = w->job->kind->plural, .ns = w->job->ns };
	struct ref pods = { .api_version = "v1", .plural = "pods", .ns = w->job->ns };
	struct ref events = { .api_version = "v1", .plural = "events", .ns = w->job->ns };

	w->jobs = informer_new(w->c->client, &jobs, &(struct list_options){ .fields = name },
			       &(struct informer_handlers){ .change = on_job, .synced = on_synced, .arg = w });
	w->pods = informer_new(w->c->client, &pods, &(struct list_options){ .labels = label },
			       &(struct informer_handlers){ .change = on_pod, .arg = w });
	w->events = informer_new(w->c->client, &events, &(struct list_options){ .fields = about },
				 &(struct informer_handlers){ .change = on_event, .arg = w });
}

static int catch_signals(struct watch *w, struct err *e)
{
	struct loop *loop = w->c->loop;

	return loop_on_signal(loop, SIGINT, on_interrupt, w, e) < 0 ||
			       loop_on_signal(loop, SIGTERM, on_terminate, w, e) < 0 ||
			       loop_on_signal(loop, SIGQUIT, on_quit, w, e) < 0
		       ? -1
		       : 0;
}

int run_watch(const struct command *cmd, struct connection *c, const struct found *job,
	      const struct run_watch_options *o)
{
	struct watch w = { .cmd = cmd,
			   .c = c,
			   .job = job,
			   .o = o,
			   .waits = SBUF(WORK_REASON),
			   .drain = { .fire = on_drained, .arg = &w } };
	struct err e = ERR_INIT;
	int status;

	map_init(&w.workers, worker_free);
	tell(&w, "job/%s created", job->name);
	if (catch_signals(&w, &e) < 0) {
		status = command_fail(cmd, &e);
	} else {
		start(&w);
		status = turn(&w);
	}
	informer_free(w.jobs);
	informer_free(w.pods);
	informer_free(w.events);
	loop_timer_done(&w.drain);
	map_done(&w.workers);
	sbuf_done(&w.waits);
	return status;
}
