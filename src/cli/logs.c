// SPDX-License-Identifier: Apache-2.0
/* logs.c - `stoker logs`: what a pod or a job has printed, while it runs, after its end, and when it is deleted
 *
 * The server is first asked what logs there are under the name (api/rest_logs.c).  One pod's are shown as they are; of
 * several the command says which, unless it may show all.  Lines of more than one log carry their origin; as JSON each
 * line does.
 */
#include <ctype.h>
#include <signal.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/find.h"
#include "client/status.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"

#define LINE_LIMIT (1024 * 1024)

struct logs_settings {
	struct connect_settings connect;
	const char *ns, *container, *output;
	int64_t tail, since;
	bool follow, timestamps, previous, all_containers, all_pods, list;
};

#define AT(field) offsetof(struct logs_settings, field)
static const struct opt logs_opts[] = {
	NAMESPACE_OPT(AT(ns), "where to look"),
	{ .name = "container",
	  .letter = 'c',
	  .type = OPT_STRING,
	  .offset = AT(container),
	  .arg = "NAME",
	  .help = "which container, if the pod has several" },
	{ .name = "follow", .letter = 'f', .type = OPT_FLAG, .offset = AT(follow), .help = "go on until it ends" },
	{ .name = "tail",
	  .type = OPT_INT,
	  .offset = AT(tail),
	  .arg = "N",
	  .min = 0,
	  .max = INT64_MAX,
	  .help = "only the last N lines" },
	{ .name = "since",
	  .type = OPT_DURATION,
	  .offset = AT(since),
	  .arg = "TIME",
	  .help = "only what is younger, such as 90s or 2h" },
	{ .name = "timestamps", .type = OPT_FLAG, .offset = AT(timestamps), .help = "begin each line with its time" },
	{ .name = "previous",
	  .letter = 'p',
	  .type = OPT_FLAG,
	  .offset = AT(previous),
	  .help = "of the run before the last restart" },
	{ .name = "all-containers", .type = OPT_FLAG, .offset = AT(all_containers), .help = "of every container" },
	{ .name = "all-pods",
	  .type = OPT_FLAG,
	  .offset = AT(all_pods),
	  .help = "of every pod that the name stands for; of one job's pods without it, too" },
	{ .name = "list",
	  .type = OPT_FLAG,
	  .offset = AT(list),
	  .help = "show which logs there are, not what they say" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "text|json",
	  .help = "json: each line, or with --list each log, as an object" },
	CONNECT_OPTS,
	OPT_END,
};

/* One run of the command. */
struct session {
	const struct command *cmd;
	const struct logs_settings *s;
	struct connection c;
	const char *ns, *name;
	const struct kind *kind; /* or NULL */
	char *pbs_name;          /* of an id of PBS's, or NULL */
	const char *literal;     /* that id */
	struct origin *origins;
	size_t n, cap;
	size_t running;
	bool interrupted, deaf; /* Ctrl-C; nobody reads our output */
	int status;
};

/* One log that is being shown. */
struct origin {
	struct session *session;
	char *uid, *pod, *container; /* uid and container may be NULL: as the server thinks */
	void *stream;                /* while it runs */
	struct sbuf line;            /* the beginning of one, where lines are marked */
};

static bool is_json(const struct session *s)
{
	return s->s->output && streq(s->s->output, "json");
}

/* ---- the name ---- */

static void add_query(struct sbuf *path, const char *key, const char *value)
{
	if (!value)
		return;
	sbuf_addf(path, "%c%s=", strchr(path->p, '?') ? '&' : '?', key);
	client_escape(path, value);
}

static void add_number(struct sbuf *path, const char *key, int64_t value)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", (long long)value);
	add_query(path, key, text);
}

static void logs_url(const struct session *s, const char *kind, const char *name, struct sbuf *path)
{
	sbuf_adds(path, "/apis/stoker.dev/v1/namespaces/");
	client_escape(path, s->ns);
	sbuf_adds(path, "/logs/");
	client_escape(path, name);
	add_query(path, "kind", kind);
}

static const char *kind_word(const struct session *s)
{
	return s->kind ? s->kind->singular : NULL;
}

/* What the server has under a name; of one pod only, if `uid` says which. */
static int add_logs(const struct session *s, const char *kind, const char *name, const char *uid, json_t *items,
		    struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *list = NULL;

	logs_url(s, kind, name, &path);
	add_query(&path, "uid", uid);
	add_query(&path, "list", "1");
	if (client_raw_wait(s->c.client, path.p, &list, e) < 0)
		return !streq(e->text, CLIENT_UNKNOWN)
			       ? -1
			       : err_set(e, ERR_NOT_FOUND,
					 "%s keeps no logs of its own; `kubectl logs` shows those of pods that are "
					 "there",
					 client_server(s->c.client));
	json_array_extend(items, json_object_get(list, "items"));
	return 0;
}

/* A log knows its pod's owner, not whose that one is.  Where the name says nothing to it, a Deployment or a CronJob may
 * be meant, whose pods are found as other commands find them. */
static void add_logs_of_pods(const struct session *s, json_t *items)
{
	auto_free char *arg = xasprintf("%s%s%s", s->kind ? s->kind->singular : "", s->kind ? "/" : "", s->name);
	json_auto_t *pods = NULL;
	struct err e = ERR_INIT;
	struct found f;
	json_t *pod;
	size_t i;

	if (find_one(s->c.client, arg, s->ns, false, &f, &e) < 0)
		return;
	if (!streq(f.kind->plural, "pods") && find_pods(s->c.client, &f, &pods, &e) == 0)
		json_array_foreach (pods, i, pod)
			add_logs(s, "pod", jsonx_str_or(pod, "metadata.name", ""), jsonx_str(pod, "metadata.uid"),
				 items, &e);
	found_done(&f);
}

/* ---- the list ---- */

/* How long ago its pod was deleted, "-" if it is still there.  Its containers may have ended all the same. */
static void when_gone(const json_t *item, char *out, size_t n)
{
	int64_t us = 0;
	char age[32];

	if (jsonx_bool_or(item, "alive", false)) {
		snprintf(out, n, "-");
		return;
	}
	if (!clock_parse_rfc3339(jsonx_str_or(item, "ended", ""), &us)) {
		snprintf(out, n, "now");
		return;
	}
	clock_age(clock_wall() - us / 1000000, age, sizeof(age));
	snprintf(out, n, "%s ago", age);
}

static void print_pod(const json_t *item)
{
	auto_sbuf struct sbuf owner = SBUF(1024);
	char gone[64];
	json_t *c;
	json_t *a;
	size_t i;
	size_t j;

	when_gone(item, gone, sizeof(gone));
	sbuf_adds(&owner, jsonx_str_or(item, "owner.kind", jsonx_str(item, "job") ? "job" : "-"));
	for (char *p = owner.p; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	if (jsonx_str(item, "owner.name") || jsonx_str(item, "job"))
		sbuf_addf(&owner, "/%s", jsonx_str_or(item, "owner.name", jsonx_str_or(item, "job", "")));
	json_array_foreach (json_object_get(item, "containers"), i, c)
		json_array_foreach (json_object_get(c, "attempts"), j, a)
			printf("%-32s %-16s %3lld %10lld  %-12s %s\n", jsonx_str_or(item, "pod", ""),
			       jsonx_str_or(c, "name", ""), (long long)jsonx_int_or(a, "attempt", 0),
			       (long long)jsonx_int_or(a, "bytes", 0), gone, owner.p);
}

static int print_list(const struct session *s, const json_t *items)
{
	json_t *item;
	size_t i;

	if (is_json(s)) {
		auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

		jsonx_dump_pretty(items, &out);
		fputs(out.p, stdout);
		return 0;
	}
	printf("%-32s %-16s %3s %10s  %-12s %s\n", "POD", "CONTAINER", "RUN", "BYTES", "GONE", "OWNER");
	json_array_foreach (items, i, item)
		print_pod(item);
	return 0;
}

/* ---- which of them ---- */

static void add_origin(struct session *s, const json_t *item, const char *container)
{
	struct origin o = { .session = s, .line = SBUF(LINE_LIMIT) };

	if (item) {
		o.uid = xstrdup(jsonx_str_or(item, "uid", ""));
		o.pod = xstrdup(jsonx_str_or(item, "pod", ""));
	}
	o.container = container ? xstrdup(container) : NULL;
	ARRAY_PUSH(s->origins, s->n, s->cap, o);
}

static void add_pod(struct session *s, const json_t *item)
{
	json_t *containers = json_object_get(item, "containers");
	bool each = s->s->all_containers || (is_json(s) && !s->s->container && json_array_size(containers) == 1);
	json_t *c;
	size_t i;

	if (!each) {
		add_origin(s, item, s->s->container);
		return;
	}
	json_array_foreach (containers, i, c)
		add_origin(s, item, jsonx_str_or(c, "name", ""));
}

/* Is a newer pod of the same name behind it? */
static bool replaced(const json_t *items, size_t at)
{
	const char *pod = jsonx_str(json_array_get(items, at), "pod");

	for (size_t i = at + 1; i < json_array_size(items); i++)
		if (str_same(pod, jsonx_str(json_array_get(items, i), "pod")))
			return true;
	return false;
}

static bool same_owner(const json_t *a, const json_t *b)
{
	return str_same(jsonx_str(a, "owner.kind"), jsonx_str(b, "owner.kind")) &&
	       str_same(jsonx_str(a, "owner.name"), jsonx_str(b, "owner.name")) &&
	       str_same(jsonx_str(a, "job"), jsonx_str(b, "job"));
}

/* Whether the name has one meaning, a job's: all its pods are meant then. */
static bool are_one_job(const json_t *items)
{
	const json_t *first = json_array_get(items, 0);
	json_t *item;
	size_t i;

	json_array_foreach (items, i, item)
		if (!same_owner(first, item))
			return false;
	return jsonx_str(first, "owner.name") || jsonx_str(first, "job");
}

static int which_one(const struct session *s, const json_t *items)
{
	json_t *item;
	size_t i;

	fprintf(stderr, "stoker logs: \"%s\" stands for pods of several owners:\n", s->name);
	json_array_foreach (items, i, item) {
		char gone[64];

		if (replaced(items, i))
			continue;
		when_gone(item, gone, sizeof(gone));
		fprintf(stderr, "  pod/%-32s of %s %s%s%s\n", jsonx_str_or(item, "pod", ""),
			jsonx_str_or(item, "owner.kind", "job"),
			jsonx_str_or(item, "owner.name", jsonx_str_or(item, "job", "-")),
			*gone == '-' ? "" : ", deleted ", *gone == '-' ? "" : gone);
	}
	fprintf(stderr, "Name one of them, or show them all with --all-pods.\n");
	return 1;
}

static int choose(struct session *s, const json_t *items)
{
	size_t pods = 0;

	for (size_t i = 0; i < json_array_size(items); i++)
		pods += !replaced(items, i);
	if (pods > 1 && !s->s->all_pods && !are_one_job(items))
		return which_one(s, items);
	if (!pods) /* perhaps it has not started; then the server knows more */
		add_origin(s, NULL, s->s->container);
	for (size_t i = 0; i < json_array_size(items); i++)
		if (!replaced(items, i))
			add_pod(s, json_array_get(items, i));
	return 0;
}

/* ---- showing ---- */

static void print(struct session *s, struct str text)
{
	if (fwrite(text.p, 1, text.n, stdout) != text.n)
		s->deaf = true;
}

/* Programs print any bytes, JSON has text: what is none becomes the character that stands for such. */
static json_t *text_of(struct str line)
{
	auto_sbuf struct sbuf text = SBUF(3 * LINE_LIMIT);

	if (!line.n || str_is_utf8(line.p, line.n))
		return json_stringn(line.n ? line.p : "", line.n);
	for (size_t i = 0, n; i < line.n; i += n) {
		for (n = 1; n < 4 && i + n < line.n && ((unsigned char)line.p[i + n] & 0xc0) == 0x80; n++)
			;
		if (str_is_utf8(line.p + i, n))
			sbuf_add(&text, line.p + i, n);
		else
			sbuf_adds(&text, "\xef\xbf\xbd");
	}
	return json_stringn(text.p, text.n);
}

static void print_object(struct origin *o)
{
	json_auto_t *obj =
		json_pack("{s:s, s:s*}", "pod", o->pod ? o->pod : o->session->name, "container", o->container);
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);
	struct str line = sbuf_str(&o->line);
	struct str rest = line;
	struct str word;
	int64_t us;

	if (str_split(&rest, ' ', &word) && word.n < 64) {
		auto_free char *time = xstrndup(word.p, word.n);

		if (clock_parse_rfc3339(time, &us)) {
			json_object_set_new(obj, "time", json_string(time));
			line = rest;
		}
	}
	json_object_set_new(obj, "line", text_of(line));
	jsonx_dump(obj, &out);
	sbuf_addc(&out, '\n');
	print(o->session, sbuf_str(&out));
	sbuf_reset(&o->line);
}

static void print_marked(struct origin *o)
{
	auto_sbuf struct sbuf mark = SBUF(1024);

	if (is_json(o->session)) {
		print_object(o);
		return;
	}
	sbuf_addf(&mark, "[%s%s%s] ", o->pod ? o->pod : o->session->name, o->container ? "/" : "",
		  o->container ? o->container : "");
	print(o->session, sbuf_str(&mark));
	print(o->session, sbuf_str(&o->line));
	print(o->session, STR("\n"));
	sbuf_reset(&o->line);
}

static void on_piece(void *arg, struct str piece)
{
	struct origin *o = arg;
	const char *nl;

	if (o->session->n == 1 && !is_json(o->session)) {
		print(o->session, piece);
	} else {
		while (piece.n && (nl = memchr(piece.p, '\n', piece.n))) {
			size_t n = (size_t)(nl - piece.p);

			sbuf_add(&o->line, piece.p, n);
			print_marked(o);
			piece.p += n + 1;
			piece.n -= n + 1;
		}
		sbuf_add(&o->line, piece.p, piece.n);
	}
	if (fflush(stdout) != 0)
		o->session->deaf = true;
}

/* What to do next, where the server cannot know it. */
static const char *advice(const struct session *s, const struct err *e)
{
	if (e->kind == ERR_NOT_FOUND)
		return "; `stoker ps -a -A` shows what there is, and -n looks in another namespace";
	if (e->kind == ERR_BAD_REQUEST && strstr(e->text, "container name must be specified"))
		return "; use -c NAME or --all-containers";
	if (e->kind == ERR_BAD_REQUEST && s->s->previous && strstr(e->text, "previous terminated"))
		return "; it has not been restarted, leave --previous out";
	if (e->kind == ERR_BAD_REQUEST && strstr(e->text, "waiting to start"))
		return "; `stoker describe` says what it waits for";
	return "";
}

static void on_done(void *arg, const struct err *e)
{
	struct origin *o = arg;
	struct session *s = o->session;
	struct err shown = *e;

	o->stream = NULL;
	s->running--;
	if (o->line.n)
		print_marked(o);
	if (e->kind == ERR_NONE)
		return;
	err_reword(&shown, e->kind, "%s%s", e->text, advice(s, e));
	s->status = command_fail(s->cmd, &shown);
}

static void start(struct origin *o)
{
	struct session *s = o->session;
	struct client *c = s->c.client;
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	logs_url(s, o->pod ? "pod" : kind_word(s), o->pod ? o->pod : s->name, &path);
	add_query(&path, "uid", o->uid);
	add_query(&path, "container", o->container);
	if (s->s->follow)
		add_query(&path, "follow", "true");
	if (s->s->previous)
		add_query(&path, "previous", "true");
	if (s->s->timestamps || is_json(s))
		add_query(&path, "timestamps", "true");
	if (s->s->tail >= 0)
		add_number(&path, "tailLines", s->s->tail);
	if (s->s->since)
		add_number(&path, "sinceSeconds", s->s->since);
	s->running++;
	o->stream = c->ops->stream(c, path.p, on_piece, on_done, o);
}

static void on_interrupt(void *arg, int signo)
{
	struct session *s = arg;

	(void)signo;
	s->interrupted = true;
}

/* One after the other; those that are followed all at once. */
static void show(struct session *s)
{
	for (size_t i = 0; i < s->n && !s->interrupted && !s->deaf; i++) {
		start(&s->origins[i]);
		if (s->s->follow && i + 1 < s->n)
			continue;
		while (s->running && !s->interrupted && !s->deaf)
			loop_turn(s->c.loop, false);
	}
	for (size_t i = 0; i < s->n; i++)
		if (s->origins[i].stream)
			s->c.client->ops->stream_stop(s->c.client, s->origins[i].stream);
	if (s->interrupted)
		s->status = 128 + SIGINT;
	else if (s->deaf)
		s->status = 1;
}

/* ---- the command ---- */

/* An id of PBS's becomes the name that its logs have: a job's, or that of an element's last pod. */
static void take_pbs(struct session *s, const struct find_pbs *id)
{
	auto_free char *arg = xasprintf("pbsjob/%s[%lld]", id->job, (long long)id->element);
	struct err e = ERR_INIT;
	struct found f;

	s->literal = s->kind ? NULL : s->name;
	s->kind = id->element < 0 ? &kind_pbsjob : &kind_pod;
	if (id->element < 0) {
		s->pbs_name = xstrdup(id->job);
	} else if (find_one(s->c.client, arg, s->ns, false, &f, &e) == 0) {
		s->pbs_name = xstrdup(f.name);
		found_done(&f);
	} else {
		s->pbs_name = xasprintf("%s-%lld-0", id->job, (long long)id->element); /* its pod is gone */
	}
	s->name = s->pbs_name;
}

static int run_session(struct session *s)
{
	json_auto_t *items = json_array();
	struct err e = ERR_INIT;

	if (add_logs(s, kind_word(s), s->name, NULL, items, &e) < 0)
		return command_fail(s->cmd, &e);
	if (!json_array_size(items))
		add_logs_of_pods(s, items);
	/* What looks like an id of PBS's may be a name. */
	if (!json_array_size(items) && s->literal && !name_check(NAME_SUBDOMAIN, s->literal) &&
	    add_logs(s, NULL, s->literal, NULL, items, &e) < 0)
		return command_fail(s->cmd, &e);
	if (s->s->list)
		return print_list(s, items);
	if (choose(s, items) != 0)
		return 1;
	if (loop_on_signal(s->c.loop, SIGINT, on_interrupt, s, &e) < 0)
		return command_fail(s->cmd, &e);
	show(s);
	return s->status;
}

static void session_done(struct session *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->origins[i].uid);
		free(s->origins[i].pod);
		free(s->origins[i].container);
		sbuf_done(&s->origins[i].line);
	}
	free(s->origins);
	free(s->pbs_name);
	connect_close(&s->c);
}

static int run_logs(const struct command *cmd, int argc, char **argv)
{
	struct logs_settings settings = { .tail = -1 };
	struct session s = { .cmd = cmd, .s = &settings };
	struct find_pbs id;
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 1, 1, &rest, &nrest) < 0)
		return 2;
	if (find_cut(rest[0], &s.kind, &s.name, &e) < 0 || connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	if (find_pbs_id(s.kind, s.name, &id))
		take_pbs(&s, &id);
	status = run_session(&s);
	session_done(&s);
	return status;
}

const struct command cmd_logs = {
	.name = "logs",
	.args = "[KIND/]NAME [-n NAMESPACE] [-c CONTAINER] [-f] [--tail N] [--since TIME] [-o json]",
	.summary = "Show what a pod or job printed, also when it is deleted",
	.details =
		"NAME is a pod's or a job's of any kind; KIND (pod, job, pytorchjob ...) says which if there are "
		"both.\n"
		"Of a job with several pods each line begins with its pod.\n"
		"Logs stay for a while after their pods are gone.\n\n"
		"Examples:\n"
		"  stoker logs train-7                  # the job's pod, running or not\n"
		"  stoker logs -f --tail 20 job/train-7\n"
		"  stoker logs mnist                    # every worker, lines marked\n"
		"  stoker logs mnist --list             # which logs there are\n"
		"  stoker logs mnist -o json            # {\"pod\", \"container\", \"time\", \"line\"} for each line\n",
	.names = true,
	.opts = logs_opts,
	.run = run_logs,
};
