// SPDX-License-Identifier: Apache-2.0
/* serve.c - `stoker serve`: builds the server from its rooms, in order, and takes it down in reverse
 *
 *	directory -> keys and certificates -> store -> API -> HTTP listeners -> this machine as a node -> ready
 *
 * It is ready when the objects made at first start are committed and admin.kubeconfig is written; then it prints one
 *line. Nothing here decides anything: this file is the wiring.
 */
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/api.h"
#include "api/rest.h"
#include "api/watch.h"
#include "base/file.h"
#include "base/json_pool.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/yamlx.h"
#include "cli/command.h"
#include "cli/notify.h"
#include "cli/own_api.h"
#include "client/client.h"
#include "client/kubeconfig.h"
#include "control/control.h"
#include "loop/http.h"
#include "node/gpu.h"
#include "node/node.h"
#include "node/rootless.h"
#include "sched/sched.h"

#define HISTORY_SECONDS 600
#define AUDIT_MIB       64
#define LOG_SECONDS     (7 * 86400)
#define LOG_MIB         10240
#define HALF_LIFE       (7 * 86400)
#define HALF_LIFE_MAX   ((int64_t)3650 * 86400)
#define HEAP_KEEP       (4 * 1024 * 1024)
#define HEAP_STEP       (512 * 1024)

struct serve_settings {
	const char *data, *listen, *socket, *config, *node_name, *runtime, *admin_group, *log_level;
	struct opt_strings sans, host_paths, share_gpus;
	bool no_node, no_controllers;
	const char *controllers, *gpus;
	int64_t audit_mib, history, log_keep, log_mib, half_life;
};

#define OPT(member_) .offset = offsetof(struct serve_settings, member_)

static const struct opt serve_opts[] = {
	{ .name = "data",
	  .type = OPT_STRING,
	  OPT(data),
	  .arg = "DIR",
	  .help = "where everything is kept (default as root: /var/lib/stoker)" },
	{ .name = "listen",
	  .type = OPT_STRING,
	  OPT(listen),
	  .arg = "HOST:PORT",
	  .help = "HTTPS address; port 0 picks a free one (default: 127.0.0.1:6443)" },
	{ .name = "socket",
	  .type = OPT_STRING,
	  OPT(socket),
	  .arg = "PATH",
	  .help = "Unix socket for this machine's users (default as root: /run/stoker/stoker.sock)" },
	{ .name = "config",
	  .type = OPT_STRING,
	  OPT(config),
	  .arg = "FILE",
	  .help = "YAML file with any of these options by name; the command line wins" },
	{ .name = "admin-group",
	  .type = OPT_STRING,
	  OPT(admin_group),
	  .arg = "GROUP",
	  .help = "Unix group whose members are admins, like root" },
	{ .name = "tls-san",
	  .type = OPT_STRINGS,
	  OPT(sans),
	  .arg = "NAME",
	  .help = "further name or address in the server's certificate; may be repeated" },
	{ .name = "node-name",
	  .type = OPT_STRING,
	  OPT(node_name),
	  .arg = "NAME",
	  .help = "name of this machine's node (default: the short host name)" },
	{ .name = "no-node", .type = OPT_FLAG, OPT(no_node), .help = "serve the API only: this machine runs no pods" },
	{ .name = "controllers",
	  .type = OPT_STRING,
	  OPT(controllers),
	  .arg = "LIST",
	  .help = "which controllers to run: names separated by commas, * for all, -NAME for all but that one "
		  "(default: *)" },
	{ .name = "no-controllers",
	  .type = OPT_FLAG,
	  OPT(no_controllers),
	  .help = "run none of them: `stoker operate` does it" },
	{ .name = "gpus",
	  .type = OPT_STRING,
	  OPT(gpus),
	  .arg = "N",
	  .help = "simulate N GPUs instead of looking for real ones; also 2xA100-80G,2xV100-16G, and 4:pairs with "
		  "NVLink "
		  "and NUMA" },
	{ .name = "share-gpus",
	  .type = OPT_STRINGS,
	  OPT(share_gpus),
	  .arg = "LIST",
	  .help = "GPUs that several pods may use at a time: numbers separated by commas, or all; may be repeated "
		  "(default: none)" },
	{ .name = "runtime",
	  .type = OPT_CHOICE,
	  OPT(runtime),
	  .arg = "NAME",
	  .choices = "auto|crun|runc|fake",
	  .help = "container runtime (default: auto)" },
	{ .name = "host-path",
	  .type = OPT_STRINGS,
	  OPT(host_paths),
	  .arg = "DIR",
	  .help = "directory below which users may mount host paths; may be repeated (default: each user's home)" },
	{ .name = "history",
	  .type = OPT_DURATION,
	  OPT(history),
	  .arg = "TIME",
	  .help = "how far back a watch can resume (default: 10m)" },
	{ .name = "log-keep",
	  .type = OPT_DURATION,
	  OPT(log_keep),
	  .arg = "TIME",
	  .help = "how long logs outlive their pods; 0 is for ever (default: 7d)" },
	{ .name = "log-size",
	  .type = OPT_INT,
	  OPT(log_mib),
	  .arg = "MIB",
	  .min = 0,
	  .max = 1 << 30,
	  .help = "all logs together; the oldest of ended pods go first; 0 is no limit (default: 10240)" },
	{ .name = "fair-half-life",
	  .type = OPT_DURATION,
	  OPT(half_life),
	  .arg = "TIME",
	  .help = "how long until half of what someone used is forgotten; 0: first come, first served (default: 7d)" },
	{ .name = "audit-size",
	  .type = OPT_INT,
	  OPT(audit_mib),
	  .arg = "MIB",
	  .min = 1,
	  .max = 65536,
	  .help = "size at which audit.log is rotated (default: 64)" },
	{ .name = "log-level",
	  .type = OPT_CHOICE,
	  OPT(log_level),
	  .arg = "LEVEL",
	  .choices = "error|warn|info|debug",
	  .help = "what goes to stderr (default: info)" },
	OPT_END,
};

struct server {
	struct loop *loop;
	struct own_api own;
	struct rest *rest;
	struct control *control;
	struct sched *sched;
	struct node *node;
	struct tls_server *tls;
	struct http_server *http;
	struct store_after started;
	json_t *host_roots; /* of --host-path, or NULL */
	char *share_gpus;   /* of --share-gpus, or NULL */
	const char *data;
	char *url;
	char *kubeconfig;
	char *advertise;
	int port;
	int status;
	/* without root */
	bool in_user_namespace, fresh_namespace;
	uid_t owner;
	struct err no_namespace; /* why there is none */
};

/* ---- settings ---- */

/* Turns a YAML mapping into the arguments it stands for; `words` owns them. */
static int config_words(const char *path, struct opt_strings *words, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	json_auto_t *doc = NULL;
	const char *key;
	json_t *v;

	if (file_read(path, LIMIT_BODY, &text, e) < 0)
		return -1;
	if (yamlx_parse(text.p ? text.p : "", text.n, NULL, NULL, &doc, e) < 0)
		return err_prefix(e, "%s", path);
	if (!json_is_object(doc))
		return err_set(e, ERR_BAD_REQUEST, "%s: a mapping of option names to values is expected", path);
	json_object_foreach (doc, key, v) {
		size_t n = json_is_array(v) ? json_array_size(v) : 1;

		for (size_t i = 0; i < n; i++) {
			json_t *one = json_is_array(v) ? json_array_get(v, i) : v;
			auto_sbuf struct sbuf value = SBUF(LIMIT_URL);

			if (streq(key, "config"))
				return err_set(e, ERR_BAD_REQUEST, "%s: config: not allowed in a config file", path);
			if (json_is_string(one))
				sbuf_adds(&value, json_string_value(one));
			else
				jsonx_dump(one, &value);
			ARRAY_PUSH(words->items, words->n, words->cap,
				   (const char *)xasprintf("--%s=%s", key, value.p ? value.p : ""));
		}
	}
	return 0;
}

static void free_words(struct opt_strings *words)
{
	for (size_t i = 0; i < words->n; i++)
		free((char *)words->items[i]);
	free(words->items);
}

static int read_config(const struct command *cmd, struct serve_settings *s, struct opt_strings *words, struct err *e)
{
	char **rest;
	int nrest;

	ARRAY_PUSH(words->items, words->n, words->cap, (const char *)xstrdup(cmd->name));
	if (config_words(s->config, words, e) < 0)
		return -1;
	if (opt_parse(cmd->opts, s, (int)words->n, (char **)words->items, false, &rest, &nrest, e) < 0)
		return err_prefix(e, "%s", s->config);
	return 0;
}

static int split_address(const char *listen, char **ret_host, int *ret_port, struct err *e)
{
	const char *colon = strrchr(listen, ':');
	int64_t port;
	size_t n;

	if (!colon || !str_int64(colon + 1, 0, 65535, &port))
		return err_set(e, ERR_BAD_REQUEST,
			       "--listen: \"%s\": HOST:PORT is expected, for example 127.0.0.1:6443", listen);
	n = (size_t)(colon - listen);
	if (n >= 2 && listen[0] == '[' && colon[-1] == ']')
		*ret_host = xstrndup(listen + 1, n - 2);
	else
		*ret_host = xstrndup(listen, n);
	*ret_port = (int)port;
	return 0;
}

static bool is_loopback(const char *host)
{
	return str_starts(host, "127.") || streq(host, "::1") || streq(host, "localhost");
}

/* ---- building ---- */

static int open_store(struct server *sv, const struct serve_settings *s, struct err *e)
{
	struct own_api_config config = { .dir = s->data,
					 .sans = s->sans.n ? s->sans.items : NULL,
					 .history_seconds = s->history };

	return own_api_open_store(&sv->own, sv->loop, &config, e);
}

static int read_host_paths(struct server *sv, const struct serve_settings *s, struct err *e)
{
	for (size_t i = 0; i < s->host_paths.n; i++) {
		const char *dir = s->host_paths.items[i];

		if (dir[0] != '/')
			return err_set(e, ERR_BAD_REQUEST, "--host-path: \"%s\": an absolute path is expected", dir);
		if (!sv->host_roots)
			sv->host_roots = json_array();
		json_array_append_new(sv->host_roots, jsonx_string(dir));
	}
	return 0;
}

/* --share-gpus may be repeated. */
static int read_gpus(struct server *sv, const struct serve_settings *s, struct err *e)
{
	auto_sbuf struct sbuf all = SBUF(LIMIT_BODY);

	for (size_t i = 0; i < s->share_gpus.n; i++)
		sbuf_addf(&all, "%s%s", i ? "," : "", s->share_gpus.items[i]);
	if (s->share_gpus.n)
		sv->share_gpus = sbuf_steal(&all);
	return gpus_check(s->gpus, sv->share_gpus, e);
}

static void add_metrics(void *arg, struct sbuf *out)
{
	const struct server *sv = arg;

	control_metrics(sv->control, out);
}

static int open_api(struct server *sv, const struct serve_settings *s, struct err *e)
{
	control_set set = 0;
	struct api_config config = {
		.data_dir = s->data,
		.admin_group = s->admin_group,
		.audit_bytes = s->audit_mib * 1024 * 1024,
		.advertise = sv->advertise,
		.host_roots = sv->host_roots,
		.in_user_namespace = sv->in_user_namespace,
		.owner = sv->owner,
	};

	if (!s->no_controllers && control_choose(s->controllers, &set, e) < 0)
		return -1;
	if (own_api_open(&sv->own, sv->loop, &config, e) < 0)
		return -1;
	sv->rest = rest_new(sv->own.api);
	sv->control = control_new(sv->own.client, set);
	rest_set_metrics(sv->rest, add_metrics, sv);
	return 0;
}

static int listen_all(struct server *sv, const struct serve_settings *s, const char *host, int port, struct err *e)
{
	struct http_handlers handlers = rest_handlers(sv->rest);

	sv->http = http_server_new(sv->loop, &handlers);
	sv->tls = tls_server_new(sv->own.pki);
	if (http_listen_tcp(sv->http, host, port, sv->tls, &port, e) < 0 || own_api_socket(sv->http, s->socket, e) < 0)
		return -1;
	sv->port = port;
	snprintf(sv->advertise, 300, strchr(host, ':') ? "[%.250s]:%d" : "%.250s:%d", host, port);
	sv->url = xasprintf("https://%s", sv->advertise);
	if (!is_loopback(host))
		log_info("listen beyond this machine address=%s", sv->advertise);
	return 0;
}

static int open_scheduler(struct server *sv, const struct serve_settings *s, struct err *e)
{
	auto_free char *accounts = xasprintf("%s/accounting", s->data);
	struct sched_config config = { .accounts = accounts, .half_life = s->half_life };

	if (s->half_life > HALF_LIFE_MAX)
		return err_set(e, ERR_BAD_REQUEST, "--fair-half-life: at most 3650d");
	if (sched_open(sv->own.client, &config, &sv->sched, e) < 0) {
		/* Who wants to make room on a full disk needs a server first. */
		log_error("keep accounts: %s; none are kept until the next start", e->text);
		err_clear(e);
		config.accounts = NULL;
		if (sched_open(sv->own.client, &config, &sv->sched, e) < 0)
			return -1;
	}
	rest_set_scheduler(sv->rest, sched_door(sv->sched));
	return 0;
}

/* Where pods reach the API: a wildcard is no address. */
static int open_node(struct server *sv, const struct serve_settings *s, struct err *e)
{
	const char *colon = strrchr(sv->advertise, ':');
	auto_free char *host = xstrndup(sv->advertise, (size_t)(colon - sv->advertise));
	auto_free char *socket = realpath(s->socket, NULL);
	auto_sbuf struct sbuf usual = SBUF(LIMIT_URL);
	struct node_config config = {
		.dir = s->data,
		.name = s->node_name,
		.runtime = s->runtime ? s->runtime : "auto",
		.gpus = s->gpus,
		.share_gpus = sv->share_gpus,
		.host_roots = sv->host_roots,
		.api_host = streq(host, "0.0.0.0") || strchr(host, '[') ? "127.0.0.1" : host,
		.api_port = sv->port,
		.log_keep_seconds = s->log_keep,
		.log_max_bytes = s->log_mib * 1024 * 1024,
		.rootless = sv->in_user_namespace,
		.problem = sv->no_namespace.kind != ERR_NONE ? sv->no_namespace.text : NULL,
	};

	if (s->no_node)
		return 0;
	default_socket_path(&usual);
	config.socket = streq(s->socket, usual.p) ? NULL : socket;
	if (node_new(sv->own.client, &config, &sv->node, e) < 0)
		return -1;
	rest_set_kubelet(sv->rest, node_kubelet(sv->node));
	return open_scheduler(sv, s, e);
}

static int write_kubeconfig(struct server *sv, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	/* A wildcard address is no place to connect to. */
	bool any = str_starts(sv->advertise, "0.0.0.0:") || str_starts(sv->advertise, "[::]:");
	auto_free char *url = any ? xasprintf("https://127.0.0.1%s", strrchr(sv->advertise, ':')) : xstrdup(sv->url);

	kubeconfig_write(url, pki_ca_pem(sv->own.pki), pki_admin_cert_pem(sv->own.pki), pki_admin_key_pem(sv->own.pki),
			 NULL, "admin", "default", &text);
	sv->kubeconfig = xasprintf("%s/admin.kubeconfig", sv->data);
	return file_write(sv->kubeconfig, 0600, sbuf_str(&text), e);
}

static void on_started(void *arg, const struct err *commit)
{
	struct server *sv = arg;
	struct err e = *commit;

	if (e.kind == ERR_NONE && write_kubeconfig(sv, &e) < 0 && e.kind == ERR_STORAGE_FULL) {
		/* Who wants to delete something needs a server first. */
		log_warn("write the admin's kubeconfig: %s, ignoring", e.text);
		err_clear(&e);
	}
	if (e.kind != ERR_NONE) {
		log_error("start: %s", e.text);
		sv->status = 1;
		loop_stop(sv->loop);
		return;
	}
	printf("stoker: ready %s %s\n", sv->url, sv->kubeconfig);
	fflush(stdout);
	notify_manager("READY=1");
}

static void stop(struct server *sv)
{
	http_server_drain(sv->http);
	watch_hub_drain(api_hub(sv->own.api));
	loop_stop(sv->loop);
}

static void on_drained(void *arg)
{
	stop(arg);
}

/* `stoker down`: pods first. */
static void on_down(void *arg, int signo)
{
	struct server *sv = arg;

	(void)signo;
	if (!sv->node) {
		stop(sv);
		return;
	}
	log_info("end all pods, then stop");
	node_drain(sv->node, on_drained, sv);
}

static void on_stop(void *arg, int signo)
{
	(void)signo;
	stop(arg);
}

/* The user namespace goes with the last pod. */
static void leave_namespace(const struct server *sv)
{
	if (sv->in_user_namespace && (sv->node ? node_is_idle(sv->node) : sv->fresh_namespace))
		rootless_leave(sv->data);
}

static void server_done(struct server *sv)
{
	leave_namespace(sv);
	http_server_free(sv->http);
	tls_server_free(sv->tls);
	rest_free(sv->rest);
	node_free(sv->node);
	sched_free(sv->sched);
	control_free(sv->control);
	own_api_close(&sv->own);
	loop_free(sv->loop);
	free(sv->url);
	free(sv->kubeconfig);
	free(sv->advertise);
	json_decref(sv->host_roots);
	free(sv->share_gpus);
}

/* Before anything is opened or started: an ordinary user runs pods as root of a user namespace of its own. */
static void enter_namespace(struct server *sv, const struct serve_settings *s)
{
	int r;

	sv->owner = geteuid();
	if (sv->owner == 0 || s->no_node || (s->runtime && streq(s->runtime, "fake")))
		return;
	r = rootless_enter(s->data, true, &sv->no_namespace);
	if (r < 0) {
		log_error("%s; no pods will run", sv->no_namespace.text);
		return;
	}
	sv->in_user_namespace = true;
	sv->fresh_namespace = r > 0;
}

static int start(struct server *sv, const struct serve_settings *s, struct err *e)
{
	static const int stops[] = { SIGTERM, SIGINT };
	auto_free char *host = NULL;
	int port = 0;

	if (split_address(s->listen, &host, &port, e) < 0 || read_host_paths(sv, s, e) < 0 || read_gpus(sv, s, e) < 0)
		return -1;
	sv->advertise = xcalloc(1, 300);
	if (open_store(sv, s, e) < 0 || open_api(sv, s, e) < 0 || listen_all(sv, s, host, port, e) < 0 ||
	    open_node(sv, s, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(stops); i++)
		if (loop_on_signal(sv->loop, stops[i], on_stop, sv, e) < 0)
			return -1;
	if (loop_on_signal(sv->loop, SIGUSR1, on_down, sv, e) < 0)
		return -1;
	sv->started = (struct store_after){ .fn = on_started, .arg = sv };
	store_after(sv->own.store, &sv->started);
	return 0;
}

/* As many descriptors as the limits allow: each client holds one. */
static void raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 && lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

static int run_serve(const struct command *cmd, int argc, char **argv)
{
	static const struct {
		const char *name;
		enum log_level level;
	} levels[] = { { "error", LOG_ERROR }, { "warn", LOG_WARN }, { "info", LOG_INFO }, { "debug", LOG_DEBUG } };
	struct serve_settings s = { .history = HISTORY_SECONDS,
				    .audit_mib = AUDIT_MIB,
				    .half_life = HALF_LIFE,
				    .log_keep = LOG_SECONDS,
				    .log_mib = LOG_MIB };
	auto_sbuf struct sbuf data = SBUF(4096);
	auto_sbuf struct sbuf sock = SBUF(4096);
	struct opt_strings words = { 0 };
	struct server sv = { .no_namespace = ERR_INIT };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int r;

	/* An event for a thousand watchers takes and returns a megabyte; without this, by hundreds of calls each time.
	 */
	mallopt(M_TRIM_THRESHOLD, HEAP_KEEP);
	mallopt(M_TOP_PAD, HEAP_STEP);
	json_pool_use();
	default_data_dir(&data);
	default_socket_path(&sock);
	s.data = data.p;
	s.socket = sock.p;
	s.listen = "127.0.0.1:6443";
	s.controllers = "*";
	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	/* The file first, then the command line once more on top of it. */
	if (s.config && (read_config(cmd, &s, &words, &e) < 0 ||
			 opt_parse(cmd->opts, &s, argc, argv, false, &rest, &nrest, &e) < 0)) {
		free_words(&words);
		return command_fail(cmd, &e);
	}
	for (size_t i = 0; s.log_level && i < ARRAY_SIZE(levels); i++)
		if (streq(levels[i].name, s.log_level))
			log_set_level(levels[i].level);
	umask(077);
	signal(SIGPIPE, SIG_IGN);
	raise_file_limit();
	ARRAY_PUSH(s.sans.items, s.sans.n, s.sans.cap, (const char *)NULL);
	s.sans.n--;
	sv.data = s.data;
	enter_namespace(&sv, &s);
	sv.loop = loop_new();
	r = start(&sv, &s, &e);
	if (r == 0)
		loop_run(sv.loop);
	else
		sv.status = command_fail(cmd, &e);
	r = sv.status;
	server_done(&sv);
	opt_strings_done(&s.sans);
	opt_strings_done(&s.host_paths);
	opt_strings_done(&s.share_gpus);
	free_words(&words);
	return r;
}

const struct command cmd_serve = {
	.name = "serve",
	.args = "[--data DIR] [--listen HOST:PORT] [--socket PATH] [--config FILE]",
	.summary = "Run the server in the foreground",
	.details = "When it can serve it prints one line, `stoker: ready URL KUBECONFIG`, and has written\n"
		   "DIR/admin.kubeconfig. SIGTERM or Ctrl-C end it cleanly; pods go on and are found again\n"
		   "by the next start. `stoker down` ends them too.\n\n"
		   "Examples:\n"
		   "  stoker serve\n"
		   "  stoker serve --data ./lab --listen 127.0.0.1:0 --socket ./lab/sock\n"
		   "  KUBECONFIG=./lab/admin.kubeconfig kubectl get namespaces\n",
	.opts = serve_opts,
	.run = run_serve,
};
