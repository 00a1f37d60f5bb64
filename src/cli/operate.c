// SPDX-License-Identifier: Apache-2.0
/* operate.c - `stoker operate`: controllers outside the server, on any Kubernetes API
 *
 *	connect -> does the server have what they need? -> become the leader -> run them
 *
 * Two clients: one for the question and the Lease, and one for the controllers, which is given up together with them.
 * Whatever they had queued is then never sent, so nothing of an earlier leader follows when the next one has begun.  A
 * server that is away is waited for, at every step.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/metrics.h"
#include "cli/connect.h"
#include "cli/operate_pbs.h"
#include "client/leader.h"
#include "control/control.h"
#include "control/served.h"
#include "loop/http.h"
#include "sched/gate.h"

#define RETRY_MIN_MS  500
#define RETRY_MAX_MS  10000
#define CUSTOM_MS     5000 /* between looks for a kind that is not installed yet */
#define RELEASE_MS    5000 /* for the last word */
#define LEASE_SECONDS 15

struct operate_settings {
	struct connect_settings connect;
	const char *controllers, *leader_elect, *lease_name, *lease_ns, *listen, *admission;
	const char *pbs, *pbs_socket, *pbs_account, *admin_group;
	int64_t lease_seconds;
};

#define OPT(member_) .offset = offsetof(struct operate_settings, member_)

static const struct opt operate_opts[] = {
	CONNECT_OPTS,
	{ .name = "controllers",
	  .type = OPT_STRING,
	  OPT(controllers),
	  .arg = "LIST",
	  .help = "which to run: names separated by commas, * for all, -NAME for all but that one" },
	{ .name = "admission",
	  .type = OPT_CHOICE,
	  OPT(admission),
	  .arg = "HOW",
	  .choices = GATE_HOW,
	  .help = "whether training jobs wait until there is room for all their pods, and how: off, gates, delay, or "
		  "auto "
		  "(the default), which is gates if the server has them, else delay" },
	{ .name = "leader-elect",
	  .type = OPT_CHOICE,
	  OPT(leader_elect),
	  .arg = "BOOL",
	  .choices = "true|false",
	  .help = "whether only one of several operators acts (default: true, but false for PBS jobs alone)" },
	{ .name = "lease-name",
	  .type = OPT_STRING,
	  OPT(lease_name),
	  .arg = "NAME",
	  .help = "the Lease by which they agree (default: stoker)" },
	{ .name = "lease-namespace",
	  .type = OPT_STRING,
	  OPT(lease_ns),
	  .arg = "NAME",
	  .help = "its namespace (default: kube-system)" },
	{ .name = "lease-duration",
	  .type = OPT_DURATION,
	  OPT(lease_seconds),
	  .arg = "TIME",
	  .help = "how long a leader may be silent, at least 3s (default: 15s)" },
	{ .name = "listen",
	  .type = OPT_STRING,
	  OPT(listen),
	  .arg = "HOST:PORT",
	  .help = "serve /healthz, /readyz and /metrics there, over plain HTTP; port 0 picks a free one" },
	{ .name = "pbs",
	  .type = OPT_STRING,
	  OPT(pbs),
	  .arg = "DIR",
	  .help = "take PBS jobs (qsub), keep them in this directory, and run them as pods of the cluster" },
	{ .name = "pbs-socket",
	  .type = OPT_STRING,
	  OPT(pbs_socket),
	  .arg = "PATH",
	  .help = "Unix socket for qsub and the others (default as root: /run/stoker/stoker.sock)" },
	{ .name = "pbs-account",
	  .type = OPT_STRING,
	  OPT(pbs_account),
	  .arg = "NAME",
	  .help = "with --pbs: service account by which jobs of several nodes start programs on them (pbsdsh); it is "
		  "made in users' namespaces with the right to run commands in pods" },
	{ .name = "admin-group",
	  .type = OPT_STRING,
	  OPT(admin_group),
	  .arg = "GROUP",
	  .help = "with --pbs: Unix group whose members are admins there, like root" },
	OPT_END,
};

struct operating {
	const struct operate_settings *settings;
	struct client_options options;
	control_set set;         /* on objects of the cluster, */
	control_set pbs_set;     /* and on PBS jobs that are kept here */
	struct operate_pbs *pbs; /* or NULL */
	struct loop *loop;
	struct client *client;  /* for questions and the Lease */
	struct client *workers; /* of the controllers, while they run */
	struct control *control;
	struct gate *gate; /* or NULL */
	struct leader *leader;
	struct http_server *http;
	struct loop_timer retry, last_word;
	int64_t delay_ms;
	char *said; /* why it waits, */
	enum err_kind trouble;
	bool ready; /* the server has what is needed */
	bool stopping;
	int status;
};

/* ---- running ---- */

static void give_up(struct operating *op, const char *text)
{
	log_error("%s", text);
	op->status = 1;
	loop_stop(op->loop);
}

static void start_control(void *arg)
{
	struct operating *op = arg;
	struct gate_config admission = { .how = op->settings->admission, .ns = op->settings->lease_ns };
	struct err e = ERR_INIT;

	if (client_http_new(op->loop, &op->options, &op->workers, &e) < 0) {
		give_up(op, e.text);
		return;
	}
	admission.room = control_has_gangs(op->set);
	if (control_has_jobs(op->set))
		op->gate = gate_new(op->workers, &admission);
	if (op->set)
		op->control = control_new_gated(op->workers, op->set, op->gate);
	admission.pbs = admission.room = true;
	if (op->pbs)
		operate_pbs_start(op->pbs, op->workers, op->pbs_set, &admission);
	log_info("run controllers=%s server=%s", op->settings->controllers, client_server(op->workers));
}

static void stop_control(void *arg)
{
	struct operating *op = arg;

	control_free(op->control);
	gate_free(op->gate);
	if (op->pbs)
		operate_pbs_pause(op->pbs);
	client_free(op->workers);
	if (op->pbs)
		operate_pbs_stop(op->pbs);
	op->control = NULL;
	op->gate = NULL;
	op->workers = NULL;
}

static void begin(struct operating *op)
{
	auto_free char *identity = leader_identity();
	struct leader_config config = {
		.ns = op->settings->lease_ns,
		.name = op->settings->lease_name,
		.identity = identity,
		.lease_seconds = op->settings->lease_seconds,
	};

	op->ready = true;
	if (streq(op->settings->leader_elect, "true"))
		op->leader =
			leader_new(op->client, &config, &(struct leader_handlers){ start_control, stop_control, op });
	else
		start_control(op);
}

/* ---- what the server has ---- */

/* Says the same kind of trouble only once: the words may have a time in them. */
static void wait_for(struct operating *op, int64_t ms, enum err_kind trouble, const char *why)
{
	if (!op->said || op->trouble != trouble)
		log_warn("%s", why);
	free(op->said);
	op->said = xstrdup(why);
	op->trouble = trouble;
	loop_timer_set(op->loop, &op->retry, ms);
}

static void on_served(void *arg, const struct served_answer *a)
{
	struct operating *op = arg;
	auto_free char *text = NULL;

	if (op->stopping)
		return;
	if (a->e->kind != ERR_NONE) {
		op->delay_ms = op->delay_ms ? op->delay_ms * 2 : RETRY_MIN_MS;
		if (op->delay_ms > RETRY_MAX_MS)
			op->delay_ms = RETRY_MAX_MS;
		text = xasprintf("%s, trying again", a->e->text);
		wait_for(op, op->delay_ms, a->e->kind, text);
	} else if (a->plural && a->custom) {
		text = xasprintf("%s does not serve %s of %s, which the controller \"%s\" needs; waiting for its "
				 "CustomResourceDefinition to be installed",
				 client_server(op->client), a->plural, a->api_version, a->controller);
		wait_for(op, CUSTOM_MS, ERR_NONE, text);
	} else if (a->plural) {
		text = xasprintf("%s does not serve %s of %s, which the controller \"%s\" needs",
				 client_server(op->client), a->plural, a->api_version, a->controller);
		give_up(op, text);
	} else {
		begin(op);
	}
}

static void check(void *arg)
{
	struct operating *op = arg;

	served_check(op->client, op->set, on_served, op);
}

/* ---- what it tells of itself ---- */

static void add_metrics(const struct operating *op, struct sbuf *out)
{
	const struct control *all[] = { op->control, op->pbs ? operate_pbs_control(op->pbs) : NULL };

	metrics_process(out);
	metrics_family(out, "leader_election_master_status", "gauge", "1 if this program leads, 0 if it stands by.");
	if (op->leader)
		metrics_sample(out, "leader_election_master_status", leader_leads(op->leader), "name",
			       op->settings->lease_name, NULL);
	control_metrics_all(all, ARRAY_SIZE(all), out);
}

static void on_request(void *arg, struct http_request *req)
{
	struct operating *op = arg;
	auto_sbuf struct sbuf text = SBUF(LIMIT_REPLY_QUEUE);
	const char *type = "text/plain; charset=utf-8";
	int code = 200;

	if (!streq(http_method(req), "GET") && !streq(http_method(req), "HEAD")) {
		code = 405;
		sbuf_adds(&text, "only GET is served here\n");
	} else if (str_eq(http_path(req), "/metrics")) {
		type = METRICS_TYPE;
		add_metrics(op, &text);
	} else if (str_eq(http_path(req), "/readyz") && !op->ready) {
		code = 500;
		sbuf_addf(&text, "%s\n", op->said ? op->said : "the server has not answered yet");
	} else if (str_eq(http_path(req), "/readyz") || str_eq(http_path(req), "/healthz") ||
		   str_eq(http_path(req), "/livez")) {
		sbuf_adds(&text, "ok");
	} else {
		code = 404;
		sbuf_adds(&text, "there are /healthz, /readyz and /metrics\n");
	}
	http_reply(req, code, type, text.p, text.n);
}

static void on_bad_request(void *arg, const struct err *e, int code, struct sbuf *body, const char **ret_type)
{
	(void)arg;
	(void)code;
	sbuf_addf(body, "%s\n", e->text);
	*ret_type = "text/plain; charset=utf-8";
}

static int parse_listen(const char *text, char **ret_host, int64_t *ret_port, struct err *e)
{
	const char *colon = strrchr(text, ':');

	if (!colon || !str_int64(colon + 1, 0, 65535, ret_port))
		return err_set(e, ERR_BAD_REQUEST,
			       "--listen: \"%s\": HOST:PORT is expected, for example 127.0.0.1:8080", text);
	*ret_host = xstrndup(text, (size_t)(colon - text));
	return 0;
}

static int listen_to(struct operating *op, struct err *e)
{
	struct http_handlers handlers = { .request = on_request, .bad_request = on_bad_request, .arg = op };
	auto_free char *host = NULL;
	int64_t port;
	int used;

	if (parse_listen(op->settings->listen, &host, &port, e) < 0)
		return -1;
	op->http = http_server_new(op->loop, &handlers);
	if (http_listen_tcp(op->http, host, (int)port, NULL, &used, e) < 0)
		return -1;
	log_info("listen url=http://%s:%d", host, used);
	return 0;
}

/* ---- life ---- */

static void on_released(void *arg)
{
	struct operating *op = arg;

	loop_stop(op->loop);
}

/* First nothing is done any more, then the next one may begin. */
static void on_stop(void *arg, int signo)
{
	struct operating *op = arg;
	bool again = op->stopping;

	(void)signo;
	op->stopping = true;
	stop_control(op);
	if (!op->leader || again) {
		loop_stop(op->loop);
		return;
	}
	loop_timer_set(op->loop, &op->last_word, RELEASE_MS);
	leader_release(op->leader, on_released, op);
}

static int open_pbs(struct operating *op, struct err *e)
{
	auto_sbuf struct sbuf usual = SBUF(4096);
	const struct operate_settings *s = op->settings;
	struct operate_pbs_config config = { .dir = s->pbs,
					     .socket = s->pbs_socket,
					     .admin_group = s->admin_group,
					     .account = s->pbs_account,
					     .remote = &op->options };

	default_socket_path(&usual);
	if (!config.socket)
		config.socket = usual.p;
	return operate_pbs_open(op->loop, &config, &op->pbs, e);
}

static int start(struct operating *op, struct err *e)
{
	static const int stops[] = { SIGTERM, SIGINT };
	const struct connect_settings *s = &op->settings->connect;
	struct client_options quick = {
		.socket = s->socket, .kubeconfig = s->kubeconfig, .context = s->context, .as = s->as
	};

	op->options = quick;
	op->options.patient = true;
	if (op->settings->pbs && open_pbs(op, e) < 0)
		return -1;
	if (client_http_new(op->loop, &quick, &op->client, e) < 0 || (op->settings->listen && listen_to(op, e) < 0))
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		if (loop_on_signal(op->loop, stops[i], on_stop, op, e) < 0)
			return -1;
	op->retry = (struct loop_timer){ .fire = check, .arg = op };
	op->last_word = (struct loop_timer){ .fire = on_released, .arg = op };
	loop_timer_set(op->loop, &op->retry, 0);
	return 0;
}

static void operator_done(struct operating *op)
{
	stop_control(op);
	http_server_free(op->http);
	leader_free(op->leader);
	op->stopping = true; /* a question that is under way is answered by the end of its client */
	client_free(op->client);
	loop_timer_done(&op->retry);
	loop_timer_done(&op->last_word);
	operate_pbs_close(op->pbs);
	loop_free(op->loop);
	free(op->said);
}

/* PBS jobs that are kept here are one controller's, and it needs no Lease: the lock of their directory will do. */
static int read_pbs(struct operate_settings *s, struct operating *op, struct err *e)
{
	const char *only = s->pbs_socket    ? "pbs-socket"
			   : s->pbs_account ? "pbs-account"
			   : s->admin_group ? "admin-group"
					    : NULL;

	if (!s->pbs)
		return only ? err_set(e, ERR_BAD_REQUEST, "--%s: is only of use with --pbs DIR", only) : 0;
	if (control_choose("pbsjob", &op->pbs_set, e) < 0)
		return -1;
	op->set &= ~op->pbs_set;
	if (!s->leader_elect && !op->set)
		s->leader_elect = "false";
	return 0;
}

static int read_settings(struct operate_settings *s, struct operating *op, struct err *e)
{
	auto_sbuf struct sbuf names = SBUF(4096);
	auto_free char *host = NULL;
	int64_t port;

	control_names(&names);
	if (!s->controllers && s->pbs)
		s->controllers = "pbsjob";
	if (!s->controllers)
		return err_set(e, ERR_BAD_REQUEST,
			       "--controllers: required, because a Kubernetes cluster runs its own; for example "
			       "--controllers job. There are %s",
			       names.p);
	if (control_choose(s->controllers, &op->set, e) < 0)
		return -1;
	if (!op->set)
		return err_set(e, ERR_BAD_REQUEST, "--controllers: \"%s\" leaves none; there are %s", s->controllers,
			       names.p);
	if (s->lease_seconds < 3 || s->lease_seconds > 3600)
		return err_set(e, ERR_BAD_REQUEST, "--lease-duration: %llds: must be between 3s and 1h",
			       (long long)s->lease_seconds);
	if (read_pbs(s, op, e) < 0)
		return -1;
	if (!s->leader_elect)
		s->leader_elect = "true";
	return s->listen ? parse_listen(s->listen, &host, &port, e) : 0;
}

static int run_operate(const struct command *cmd, int argc, char **argv)
{
	struct operate_settings s = {
		.admission = "auto", .lease_name = "stoker", .lease_ns = "kube-system", .lease_seconds = LEASE_SECONDS
	};
	struct operating op = { .settings = &s };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	if (read_settings(&s, &op, &e) < 0)
		return command_misused(cmd, &e);
	op.loop = loop_new();
	if (start(&op, &e) == 0)
		loop_run(op.loop);
	else
		op.status = command_fail(cmd, &e);
	operator_done(&op);
	return op.status;
}

const struct command cmd_operate = {
	.name = "operate",
	.args = "--controllers LIST [--pbs DIR] [--kubeconfig FILE] [--context NAME] [--listen HOST:PORT]",
	.summary = "Run controllers outside the server, on any Kubernetes API",
	.details = "It runs in the foreground until SIGTERM or Ctrl-C. Of several operators one acts and the others\n"
		   "stand by, by a Lease: if the leader ends, the next one begins at once; if it is killed, after\n"
		   "--lease-duration. A server that cannot be reached is waited for. The cluster's own controllers of\n"
		   "the same kinds must be off: kube-controller-manager --controllers=*,-job, or\n"
		   "stoker serve --no-controllers.\n\n"
		   "The pods of a training job wait until there is room for all of them: behind a scheduling gate, or\n"
		   "(delay, and where the server has no gates) by being made only then. The job's condition Queued\n"
		   "says why it waits.\n\n"
		   "With --pbs it takes PBS jobs over a Unix socket and runs them as pods of the cluster.\n\n"
		   "Examples:\n"
		   "  stoker operate --kubeconfig ~/.kube/config --controllers job\n"
		   "  stoker operate --controllers job,cronjob --listen 127.0.0.1:8080\n"
		   "  stoker operate --controllers '*,-namespace' --lease-name lab\n"
		   "  stoker operate --controllers tfjob,pytorchjob --admission delay\n"
		   "  stoker operate --kubeconfig ~/.kube/config --pbs /var/lib/stoker-pbs\n"
		   "  curl http://127.0.0.1:8080/metrics\n",
	.opts = operate_opts,
	.run = run_operate,
};
