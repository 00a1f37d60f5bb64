// SPDX-License-Identifier: Apache-2.0
/* operate_pbs.c - see operate_pbs.h
 *
 *	store and API -> socket -> the cluster's nodes, mirrored -> [while it leads] PBSJobs become pods
 *
 * Two controllers look after the API itself: what is deleted with its dependents must go, though the dependents are on
 * the cluster, and so must namespaces.  That the directory is locked makes sure that there is one operator of its jobs.
 */
#include "cli/operate_pbs.h"

#include <sys/stat.h>

#include "api/accounts.h"
#include "api/rest.h"
#include "api/stored.h"
#include "api/watch.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "cli/own_api.h"
#include "client/far_kubelet.h"
#include "control/mirror.h"
#include "control/pbs.h"
#include "control/pbs_order.h"
#include "kinds/pbs_far.h"
#include "loop/http.h"
#include "loop/kubelet_run.h"
#include "sched/gate.h"

#define HISTORY_SECONDS 600
#define AUDIT_BYTES     (64 * 1024 * 1024)
#define GROUP           "stoker.dev"
#define HOUSEKEEPERS    "namespace,garbagecollector"

struct operate_pbs {
	struct own_api own;
	struct rest *rest;
	struct http_server *http;
	struct control *housekeepers;
	struct client *cluster; /* for the mirror, always */
	struct mirror *mirror;
	struct far_kubelet *kubelet;
	char *launch;               /* or NULL */
	char *away;                 /* why the cluster was, the last time */
	bool asking;                /* whether it is back */
	char *id;                   /* of the store, in notes on the cluster */
	struct pbs_account account; /* the last one that was asked for */
	json_t *groups;
	/* while it leads */
	struct client *split;
	struct gate *gate;
	struct control *control;
};

/* ---- accounts ---- */

static int find_account(void *arg, const char *user, const struct pbs_account **ret)
{
	struct operate_pbs *p = arg;
	struct err e = ERR_INIT;
	const struct account *a = accounts_find(api_accounts(p->own.api), user, &e);

	if (!a) {
		log_warn("%s, trying again", e.text);
		return -1;
	}
	*ret = NULL;
	if (!a->real)
		return 0;
	json_decref(p->groups);
	p->groups = json_array();
	for (size_t i = 0; i < a->ngroups; i++)
		json_array_append_new(p->groups, json_integer(a->groups[i]));
	p->account = (struct pbs_account){
		.name = a->name, .home = a->home, .uid = a->uid, .gid = a->gid, .groups = p->groups
	};
	*ret = &p->account;
	return 0;
}

static bool is_shared(void *arg, const char *path)
{
	struct stat st;

	(void)arg;
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* ---- whether the cluster is there ---- */

static void on_version(void *arg, int code, struct str body, const struct err *e)
{
	struct operate_pbs *p = arg;

	(void)code;
	(void)body;
	(void)e;
	p->asking = false; /* the client knows whether it had an answer */
}

/* Nobody may have asked since it came back: so that is asked, too. */
static const char *why_away(void *arg)
{
	struct operate_pbs *p = arg;
	const char *trouble = client_trouble(p->cluster);

	if (!trouble)
		return NULL;
	free(p->away);
	p->away = xasprintf("the cluster does not answer, it is tried again: %s", trouble);
	if (!p->asking) {
		p->asking = true;
		p->cluster->ops->raw(p->cluster, "GET", "/version", STR(""), on_version, p);
	}
	return p->away;
}

/* ---- signals ---- */

struct far_signal {
	struct kubelet_run *run;
	void (*done)(void *arg, const struct err *e);
	void *arg;
};

static void on_signalled(void *arg, int code, struct str text, const struct err *e)
{
	struct far_signal *s = arg;
	struct err failed = ERR_INIT;

	(void)kubelet_run_failed(code, text, e, &failed);
	s->done(s->arg, &failed);
	free(s);
}

static void *send_signal(void *arg, const json_t *pod, int signo, void (*done)(void *done_arg, const struct err *e),
			 void *done_arg, struct err *e)
{
	struct operate_pbs *p = arg;
	struct far_signal *s = xcalloc(1, sizeof(*s));
	json_auto_t *command = pbs_far_signal(signo);
	struct kubelet_target of = { .ns = jsonx_str_or(pod, "metadata.namespace", ""),
				     .pod = jsonx_str_or(pod, "metadata.name", ""),
				     .uid = jsonx_str_or(pod, "metadata.uid", ""),
				     .container = "job" };

	s->done = done;
	s->arg = done_arg;
	if (kubelet_run_new(far_kubelet_door(p->kubelet), &of, command, on_signalled, s, &s->run, e) == 0)
		return s;
	free(s);
	return NULL;
}

static void give_up_signal(void *arg, void *handle)
{
	struct far_signal *s = handle;

	(void)arg;
	kubelet_run_free(s->run);
	free(s);
}

/* ---- opening ---- */

/* Any object that is there from the first start on and cannot be deleted would do. */
static int read_id(struct operate_pbs *p, struct err *e)
{
	struct stored_kind k = { .group = "", .version = "v1", .plural = "namespaces" };
	json_auto_t *namespace = NULL;

	if (stored_get(p->own.api, &k, "", "kube-system", &namespace, e) < 0)
		return err_prefix(e, "read namespace kube-system");
	p->id = xstrdup(jsonx_str_or(namespace, "metadata.uid", ""));
	return 0;
}

static int open_api(struct operate_pbs *p, struct loop *loop, const struct operate_pbs_config *config, struct err *e)
{
	struct own_api_config store = { .dir = config->dir, .history_seconds = HISTORY_SECONDS };
	struct api_config api = { .data_dir = config->dir,
				  .admin_group = config->admin_group,
				  .audit_bytes = AUDIT_BYTES,
				  .advertise = "127.0.0.1:0",
				  .pbs_abroad = true };
	struct http_handlers handlers;

	umask(077);
	if (own_api_open_store(&p->own, loop, &store, e) < 0 || own_api_open(&p->own, loop, &api, e) < 0 ||
	    read_id(p, e) < 0)
		return -1;
	p->rest = rest_new(p->own.api);
	handlers = rest_handlers(p->rest);
	p->http = http_server_new(loop, &handlers);
	return own_api_socket(p->http, config->socket, e);
}

int operate_pbs_open(struct loop *loop, const struct operate_pbs_config *config, struct operate_pbs **ret,
		     struct err *e)
{
	struct operate_pbs *p = xcalloc(1, sizeof(*p));
	control_set set;

	*ret = p;
	p->launch = config->account ? xstrdup(config->account) : NULL;
	if (client_http_new(loop, config->remote, &p->cluster, e) < 0)
		return -1;
	if (streq(client_server(p->cluster), config->socket))
		return err_set(e, ERR_BAD_REQUEST,
			       "--pbs-socket: %s is where the cluster is looked for; say where that is by --kubeconfig",
			       config->socket);
	if (open_api(p, loop, config, e) < 0 || control_choose(HOUSEKEEPERS, &set, e) < 0)
		return -1;
	p->housekeepers = control_new(p->own.client, set);
	p->mirror = mirror_new(p->own.client, p->cluster);
	p->kubelet = far_kubelet_new(
		&(struct split_config){ .far = p->cluster, .group = GROUP, .id = p->id, .pods = PBS_JOB_LABEL });
	rest_set_kubelet(p->rest, far_kubelet_door(p->kubelet));
	log_info("serve PBS dir=%s socket=%s", config->dir, config->socket);
	return 0;
}

void operate_pbs_close(struct operate_pbs *p)
{
	if (!p)
		return;
	operate_pbs_pause(p);
	operate_pbs_stop(p);
	if (p->http)
		http_server_drain(p->http);
	if (p->own.api)
		watch_hub_drain(api_hub(p->own.api));
	http_server_free(p->http);
	rest_free(p->rest);
	far_kubelet_free(p->kubelet);
	mirror_free(p->mirror);
	control_free(p->housekeepers);
	client_free(p->cluster);
	own_api_close(&p->own);
	json_decref(p->groups);
	free(p->id);
	free(p->launch);
	free(p->away);
	free(p);
}

/* ---- running ---- */

void operate_pbs_start(struct operate_pbs *p, struct client *cluster, control_set set,
		       const struct gate_config *admission)
{
	bool held = !streq(admission->how, "off");
	struct split_config config = {
		.near = p->own.client, .far = cluster, .group = GROUP, .id = p->id, .pods = held ? NULL : PBS_JOB_LABEL
	};
	struct pbs_abroad_config abroad = { .account = find_account,
					    .shared = is_shared,
					    .away = why_away,
					    .signal = send_signal,
					    .signal_stop = give_up_signal,
					    .arg = p };

	p->split = client_split_new(&config);
	p->gate = gate_new(p->split, admission);
	abroad.gate = p->gate;
	abroad.launch = p->launch;
	p->control = control_new_gated(p->split, set, p->gate);
	control_send_abroad(p->control, &abroad);
}

void operate_pbs_pause(struct operate_pbs *p)
{
	control_free(p->control);
	p->control = NULL;
	gate_free(p->gate);
	p->gate = NULL;
}

void operate_pbs_stop(struct operate_pbs *p)
{
	client_free(p->split);
	p->split = NULL;
}

const struct control *operate_pbs_control(const struct operate_pbs *p)
{
	return p->control;
}
