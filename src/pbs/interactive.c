// SPDX-License-Identifier: Apache-2.0
/* interactive.c - qsub -I
 *
 * The job is one like others, but its pod has a terminal: when it runs, this process's is joined with it.  A signal
 * interrupts the waiting for news of the job; what it means is asked outside of its handler.
 */
#include "pbs/interactive.h"

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "pbs/block.h"

enum { PAUSE_SECONDS = 1, LOOK_MICROSECONDS = 50000 };

static volatile sig_atomic_t interrupted; /* a handler has no other way to tell */

struct wait {
	struct pbs *pbs;
	const char *id;
	json_t *job; /* as it was last seen */
	enum interactive_state state;
	bool given_up;
};

enum interactive_state interactive_state(const json_t *job, bool gone)
{
	const char *state = jsonx_str_or(job, "status.state", "Q");
	bool has_pods = json_array_size(jsonx_at(job, "status.pods")) > 0;

	/* It was faster than who wanted to sit down. */
	if (!gone && streq(state, "C") && has_pods && !jsonx_bool_or(job, "status.cancelled", false))
		return INTERACTIVE_READY;
	if (gone || streq(state, "C") || streq(state, "E"))
		return INTERACTIVE_GONE;
	return streq(state, "R") && has_pods ? INTERACTIVE_READY : INTERACTIVE_WAITS;
}

/* A signal that comes just before the waiting begins interrupts nothing: the alarm does, a second later. */
static void on_interrupt(int signo)
{
	if (signo == SIGINT) {
		interrupted = 1;
		alarm(PAUSE_SECONDS);
	}
}

static void catch_interrupt(bool on)
{
	struct sigaction act = { .sa_handler = on ? on_interrupt : SIG_DFL }; /* without SA_RESTART */

	alarm(0);
	sigaction(SIGALRM, &act, NULL);
	sigaction(SIGINT, &act, NULL);
}

/* Did the user mean it?  Another Ctrl-C says so, too. */
static bool wants_end(void)
{
	char answer[64] = "";

	alarm(0);
	printf("Do you wish to terminate the job and exit (y|[n])? ");
	fflush(stdout);
	if (!fgets(answer, sizeof(answer), stdin))
		return true;
	return answer[0] == 'y' || answer[0] == 'Y';
}

static bool on_event(void *arg, const char *type, const json_t *obj)
{
	struct wait *w = arg;

	if (interrupted) {
		interrupted = 0;
		w->given_up = wants_end();
		return !w->given_up;
	}
	if (!obj || streq(type, "BOOKMARK"))
		return true;
	json_decref(w->job);
	w->job = json_incref((json_t *)obj);
	w->state = interactive_state(obj, streq(type, "DELETED"));
	return w->state == INTERACTIVE_WAITS;
}

static void wait_for_start(struct wait *w)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	pbs_job_path(w->job, &path);
	while (w->state == INTERACTIVE_WAITS && !w->given_up) {
		json_auto_t *now = NULL;
		struct err e = ERR_INIT;

		if (block_watch(w->pbs, w->job, on_event, w, &e) == 0)
			continue;
		/* The watch was too old, or the server is away. */
		if (!interrupted)
			sleep(PAUSE_SECONDS);
		err_clear(&e);
		if (pbs_get(w->pbs, path.p, &now, &e) == 0)
			on_event(w, "MODIFIED", now);
		else if (e.kind == ERR_NOT_FOUND)
			w->state = INTERACTIVE_GONE;
		else if (interrupted)
			on_event(w, "SIGNAL", NULL);
	}
}

static int gone(const struct wait *w)
{
	printf("qsub: Job %s apparently deleted\n", w->id);
	return 1;
}

static int cancel(struct wait *w, const char *why, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *patch = json_pack("{s:{s:{s:s}}}", "spec", "cancel", "message", why);

	pbs_job_path(w->job, &path);
	return pbs_patch(w->pbs, path.p, patch, NULL, e);
}

static int end_job(struct wait *w)
{
	struct err e = ERR_INIT;

	if (cancel(w, "given up before its start", &e) < 0)
		return pbs_fail(w->pbs, &e, w->id);
	printf("Job %s is being deleted\n", w->id);
	return 1;
}

/* A job runs as soon as it has its nodes; its program begins a moment later.  False if the pod is gone. */
static bool wait_for_program(struct wait *w, const char *pod)
{
	for (;;) {
		json_auto_t *now = NULL;
		struct err e = ERR_INIT;
		const json_t *first;

		if (interrupted || pbs_get(w->pbs, pod, &now, &e) < 0)
			return false;
		first = json_array_get(jsonx_at(now, "status.containerStatuses"), 0);
		if (jsonx_at(first, "state.running") || jsonx_at(first, "state.terminated"))
			return true;
		usleep(LOOK_MICROSECONDS);
	}
}

static bool has_ended(struct wait *w, const char *pod)
{
	json_auto_t *now = NULL;
	struct err e = ERR_INIT;

	return pbs_get(w->pbs, pod, &now, &e) == 0 &&
	       jsonx_at(json_array_get(jsonx_at(now, "status.containerStatuses"), 0), "state.terminated");
}

/* A command that had ended before anybody sat down: what it said is in its log. */
static int show_log(struct wait *w, const char *pod)
{
	auto_free char *path = xasprintf("%s/log", pod);
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	struct err e = ERR_INIT;

	if (pbs_get_text(w->pbs, path, &text, &e) < 0)
		return pbs_fail(w->pbs, &e, w->id);
	fwrite(text.p ? text.p : "", 1, text.n, stdout);
	printf("\nqsub: job %s completed\n", w->id);
	return 0;
}

static int sit_down(struct wait *w)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	const char *pod = json_string_value(json_array_get(jsonx_at(w->job, "status.pods"), 0));
	auto_free char *at = NULL;
	struct err e = ERR_INIT;
	int status = 0, r;

	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, jsonx_str_or(w->job, "metadata.namespace", ""));
	sbuf_adds(&path, "/pods/");
	client_escape(&path, pod ? pod : "");
	if (!wait_for_program(w, path.p))
		return gone(w);
	printf("qsub: job %s ready\n\n", w->id);
	fflush(stdout);
	at = xstrdup(path.p);
	if (has_ended(w, at))
		return show_log(w, at);
	sbuf_adds(&path, "/attach?container=job&stdin=true&stdout=true&tty=true");
	r = w->pbs->door->attach(w->pbs->open, path.p, &status, &e);
	if (r < 0 && has_ended(w, at))
		return show_log(w, at);
	if (r < 0) { /* nobody will come back to it */
		struct err ignored = ERR_INIT;

		pbs_fail(w->pbs, &e, w->id);
		cancel(w, "its terminal is gone", &ignored);
		return 1;
	}
	printf("\nqsub: job %s completed\n", w->id);
	return 0;
}

int interactive_run(struct pbs *p, const json_t *job)
{
	struct wait w = { .pbs = p, .job = json_incref((json_t *)job) };
	auto_free char *id = xstrdup(jsonx_str_or(job, "status.id", jsonx_str_or(job, "metadata.name", "")));
	int status;

	w.id = id;
	catch_interrupt(true);
	printf("qsub: waiting for job %s to start\n", id);
	fflush(stdout);
	wait_for_start(&w);
	catch_interrupt(false);
	if (w.given_up)
		status = end_job(&w);
	else
		status = w.state == INTERACTIVE_GONE ? gone(&w) : sit_down(&w);
	json_decref(w.job);
	return status;
}
