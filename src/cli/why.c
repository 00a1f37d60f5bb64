// SPDX-License-Identifier: Apache-2.0
/* why.c - `stoker why`: why something waits, in a sentence, and what would help
 *
 * The scheduler knows about pods that wait or run (api/rest_why.c).  What has ended, has no pods yet, or has them by
 * way of another workload, is found as other commands find it: its own status and events say the rest.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/advice.h"
#include "cli/connect.h"
#include "cli/why_array.h"
#include "cli/work.h"
#include "kinds/rest.h"

#define SHOWN_MOST 8   /* sentences about one name */
#define PODS_MOST  100 /* asked about one by one */
#define WAITING    "Waiting: "

struct why_settings {
	struct connect_settings connect;
	const char *ns, *output;
};

#define AT(field) offsetof(struct why_settings, field)
static const struct opt why_opts[] = {
	NAMESPACE_OPT(AT(ns), "where to look"),
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "json|yaml",
	  .help = "the whole answer as json or yaml" },
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct command *cmd;
	struct connection c;
	const char *ns, *output;
};

/* ---- the scheduler's answer ---- */

/* Nothing if it knows nothing of that name. */
static int ask(const struct session *s, const char *kind, const char *name, json_t *items, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *answer = NULL;

	sbuf_adds(&path, "/apis/stoker.dev/v1/namespaces/");
	client_escape(&path, s->ns);
	sbuf_adds(&path, "/why/");
	client_escape(&path, name);
	if (kind) {
		sbuf_adds(&path, "?kind=");
		client_escape(&path, kind);
	}
	if (client_raw_wait(s->c.client, path.p, &answer, e) < 0) {
		/* Another server may have no such question at all, or a scheduler of its own. */
		if (e->kind != ERR_NOT_FOUND && e->kind != ERR_UNAVAILABLE)
			return -1;
		err_clear(e);
		return 0;
	}
	json_array_extend(items, json_object_get(answer, "items"));
	return 0;
}

static int ask_pods(const struct session *s, const struct about *a, json_t *items, struct err *e)
{
	const json_t *pod;
	size_t i;

	json_array_foreach (a->pods, i, pod) {
		const char *phase = jsonx_str_or(pod, "status.phase", "");

		if (i == PODS_MOST || streq(phase, "Succeeded") || streq(phase, "Failed"))
			continue;
		if (ask(s, "pod", jsonx_str_or(pod, "metadata.name", ""), items, e) < 0)
			return -1;
	}
	return 0;
}

/* ---- what the object itself says ---- */

/* The newest warning about it: why its pods are not made, for one.  That it waits is none, but is said as one. */
static const char *last_warning(const struct about *a)
{
	for (size_t i = json_array_size(a->events); i-- > 0;) {
		const json_t *event = json_array_get(a->events, i);

		const char *message = jsonx_str(event, "message");
		bool waits = streq(jsonx_str_or(event, "reason", ""), "Waiting");

		if (waits && str_starts(message, WAITING))
			return message + strlen(WAITING);
		if (waits || streq(jsonx_str_or(event, "type", ""), "Warning"))
			return message;
	}
	return NULL;
}

static json_t *own_answer(const struct about *a)
{
	auto_sbuf struct sbuf sentence = SBUF(4096);
	auto_sbuf struct sbuf help = SBUF(4096);
	json_auto_t *advice = advice_for(a);
	struct work w = { 0 };
	const char *warning;
	json_t *line;
	size_t i;

	if (a->obj) {
		work_read(a->kind, a->obj, a->pods, &w);
		work_sentence(&w, &sentence);
		warning = w.reason[0] || work_is_over(&w) || json_array_size(a->pods) ? NULL : last_warning(a);
		if (warning)
			sbuf_addf(&sentence, ": %s", warning);
		else if (!json_array_size(a->pods) && w.phase == WORK_PENDING && !w.reason[0])
			sbuf_adds(&sentence, ": its pods have not been made yet");
	} else {
		sbuf_adds(&sentence, "is deleted");
	}
	json_array_foreach (advice, i, line)
		sbuf_addf(&help, "%s%s", i ? "; or " : "", json_string_value(line));
	return json_pack("{s:s, s:o, s:s, s:s, s:s}", "namespace", a->ns, "name",
			 jsonx_stringf("%s/%s", a->kind ? a->kind->singular : "object", a->name), "state",
			 a->obj ? work_phase_name(w.phase) : "Deleted", "sentence", sentence.p, "help",
			 help.p ? help.p : "");
}

/* One that has no pod. */
static int answer_element(const struct session *s, const struct find_pbs *id, json_t *items, struct err *e)
{
	struct about a;

	if (e->kind != ERR_NOT_FOUND)
		return -1;
	err_clear(e);
	about_init(&a);
	if (why_array_element(s->c.client, id->job, id->element, &a.obj, e) < 0) {
		about_done(&a);
		return -1;
	}
	a.kind = &kind_pbsjob;
	a.ns = xstrdup(jsonx_str_or(a.obj, "metadata.namespace", ""));
	a.name = xasprintf("%s[%" PRId64 "]", id->job, id->element);
	json_array_append_new(items, own_answer(&a));
	about_done(&a);
	return 0;
}

static int answer(const struct session *s, const char *arg, json_t *items, struct err *e)
{
	const struct kind *kind = NULL;
	const char *name = NULL;
	struct find_pbs id = { .element = -1 };
	struct about a;

	if (find_cut(arg, &kind, &name, e) < 0)
		return -1;
	if (find_pbs_id(kind, name, &id)) {
		kind = &kind_pbsjob;
		name = id.element < 0 ? id.job : NULL; /* one of an array is found by its pod */
	}
	if (name && ask(s, kind ? kind->singular : NULL, name, items, e) < 0)
		return -1;
	if (json_array_size(items))
		return why_array_rest(s->c.client, s->ns, items, e);
	if (about_find(s->c.client, arg, s->ns, &a, e) < 0)
		return id.element < 0 ? -1 : answer_element(s, &id, items, e);
	if (a.kind && !is_workload(a.kind)) {
		about_done(&a);
		return err_set(e, ERR_BAD_REQUEST, "%s is no workload: nothing of it waits", arg);
	}
	about_fill(s->c.client, &a);
	if (a.obj && ask_pods(s, &a, items, e) < 0) {
		about_done(&a);
		return -1;
	}
	if (!json_array_size(items))
		json_array_append_new(items, own_answer(&a));
	about_done(&a);
	return 0;
}

/* ---- showing ---- */

/* What is said twice is said once: of a job's pods the places differ, the rest does not. */
static const char *without_place(const char *sentence)
{
	const char *at = strstr(sentence, "; ");

	return at && strstr(sentence, "in queue ") && strstr(sentence, "in queue ") < at ? at : sentence;
}

static bool was_said(const json_t *items, size_t n)
{
	const char *sentence = without_place(jsonx_str_or(json_array_get(items, n), "sentence", ""));

	for (size_t i = 0; i < n; i++)
		if (streq(without_place(jsonx_str_or(json_array_get(items, i), "sentence", "")), sentence))
			return true;
	return false;
}

static void print_line(const char *before, const char *text)
{
	fputs(before, stdout);
	for (; *text; text++)
		putchar((unsigned char)*text < ' ' || *text == 127 ? ' ' : *text);
	putchar('\n');
}

static void print_item(const json_t *item)
{
	const char *help = jsonx_str_or(item, "help", "");
	const char *name = jsonx_str_or(item, "name", "");
	const char *state = jsonx_str_or(item, "state", "");
	auto_free char *before = NULL;

	/* The scheduler's sentences have no subject. */
	if (streq(state, "waiting") || streq(state, "held") || streq(state, "starting"))
		before = xasprintf("%s is %s: ", name, state);
	else
		before = xasprintf("%s ", name);
	print_line(before, jsonx_str_or(item, "sentence", ""));
	if (*help)
		print_line("what would help: ", help);
}

static void print_all(const json_t *items)
{
	size_t left = 0;
	size_t shown = 0;

	for (size_t i = 0; i < json_array_size(items); i++) {
		if (shown == SHOWN_MOST || was_said(items, i)) {
			left++;
			continue;
		}
		print_item(json_array_get(items, i));
		shown++;
	}
	if (left)
		printf("and %zu more; -o json and `stoker queue` show all of them\n", left);
}

static int run_why(const struct command *cmd, int argc, char **argv)
{
	struct why_settings settings = { 0 };
	struct session s = { .cmd = cmd };
	json_auto_t *items = json_array();
	auto_free char *arg = NULL;
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int r;

	if (command_parse(cmd, &settings, argc, argv, 1, 2, &rest, &nrest) < 0)
		return 2;
	arg = about_argument(rest, nrest);
	if (connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	r = answer(&s, arg, items, &e);
	if (r == 0 && settings.output) {
		json_auto_t *doc = json_pack("{s:O}", "items", items);

		output_object(settings.output, doc);
	} else if (r == 0) {
		print_all(items);
	}
	connect_close(&s.c);
	return r < 0 ? command_fail(cmd, &e) : 0;
}

const struct command cmd_why = {
	.name = "why",
	.args = "[KIND/]NAME [-n NAMESPACE] [-o json|yaml]",
	.summary = "Say why something waits, and what would help",
	.details = "One sentence: its place in its queue, what it lacks, who has that and until when, and when it is\n"
		   "expected to start. Of what runs, has ended or has no pods yet it says how that stands.\n\n"
		   "Examples:\n"
		   "  stoker why train\n"
		   "  stoker why tfjob/mnist -n alice\n"
		   "  stoker why 380963.Ghead\n"
		   "  stoker why train -o json | jq -r '.items[0].expectedStart'\n",
	.names = true,
	.opts = why_opts,
	.run = run_why,
};
