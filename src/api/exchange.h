// SPDX-License-Identifier: Apache-2.0
/* exchange.h - one request under way: for the rest_*.c files only
 *
 * An exchange owns everything its request needs until the reply has been queued or the client has gone.  A reply never
 * leaves before the turn's commit when the turn has written anything: exchange_finish() waits for it.  A write whose
 * client does not wait for the answer is finished all the same, because the audit log must say how it ended.
 */
#ifndef STOKER_API_EXCHANGE_H
#define STOKER_API_EXCHANGE_H

#include <sys/queue.h>

#include "api/authn.h"
#include "api/negotiate.h"
#include "api/rest.h"
#include "api/status.h"
#include "api/watch.h"

#define MAX_SEGMENTS 12

struct exchange {
	struct rest *rest;
	struct http_request *http; /* NULL once the client has gone: */
	char *address, *agent;     /* then, or when it may go, these are ours, for the audit log */
	bool abandoned;
	LIST_ENTRY(exchange) link; /* among rest->abandoned */
	struct identity *id;
	struct api_request req;
	struct accept accept;
	/* the path, decoded and cut */
	char *path;
	const char *segments[MAX_SEGMENTS];
	size_t nsegments;
	bool is_proxy;      /* .../proxy: its query and */
	struct str proxied; /* what follows, from its slash on, are not ours to read */
	json_t *query;      /* first value of each parameter */
	struct selector *labels, *fields;
	json_t *body;
	/* the answer */
	struct api_result result;
	struct err err;
	bool mutating;
	bool pretty;
	struct store_after after;
	bool waiting;
	/* a stream: list or watch */
	struct list_stream *list;
	struct watcher *watcher;
	struct sweep *sweep;
	void (*serve)(struct exchange *x); /* for a path that names no resource but asks for a right to one, */
	char *found;                       /* and the name of what it found */
	/* or bytes to and from a container (rest_pod.c); the exchange lets go of it when it ends */
	void *stream;
	void (*stream_free)(void *stream);
};

struct rest {
	struct api *api;
	struct docs *docs;
	struct kubelet *kubelet;         /* or NULL */
	struct scheduler *scheduler;     /* or NULL */
	LIST_HEAD(, exchange) abandoned; /* writes that outlive their clients */
	struct counters *counters;
	void (*add_metrics)(void *arg, struct sbuf *out); /* or NULL */
	void *metrics_arg;
};

/* exchange.c */
struct exchange *exchange_new(struct rest *r, struct http_request *http);
void exchange_free(struct exchange *x);
/* The server stops: what its client has left behind is audited as it stands. */
void exchange_stop(struct exchange *x);
/* Sends x->result or x->err, after the commit where there is one, and frees x. */
void exchange_finish(struct exchange *x);
/* Sends a finished document at once and frees x. */
void exchange_reply_json(struct exchange *x, int code, json_t *doc /* taken */);
void exchange_reply_text(struct exchange *x, int code, const char *type, struct str text);
/* For a reply that is a stream; all others are audited when they are sent. */
void exchange_audit(struct exchange *x, int code);
/* For /metrics; part of exchange_audit(), and for what is not audited. */
void exchange_count(struct exchange *x, int code);
/* The connection leaves HTTP: the first before, for the audit log needs what goes with the request; the second, which
 * audits and frees x, after. */
void exchange_keep_peer(struct exchange *x);
void exchange_upgraded(struct exchange *x);
/* Whether these are the words of its path; NULL stands for any word. */
bool exchange_path_is(const struct exchange *x, const char *const *words, size_t n);
/* Text of a query parameter or NULL. */
const char *exchange_param(const struct exchange *x, const char *name);
/* Kubernetes' rule: absent, "0" and "false" are false, all else is true. */
bool exchange_flag(const struct exchange *x, const char *name);

/* rest_body.c: reads the body of a write into x->body. */
int body_read(struct exchange *x, struct err *e);
/* Options of a delete, from body and query. */
int body_delete_options(struct exchange *x, struct err *e);

/* rest_list.c, rest_watch.c: take x over. */
void rest_list(struct exchange *x);
void list_stream_free(struct list_stream *l);
void rest_watch(struct exchange *x);

/* rest_delete.c: deletecollection; takes x over. */
void rest_delete_collection(struct exchange *x);

/* rest_pod.c: subresources that are streams; NULL if the request is not for one.  A row's function takes x over, when
 * the caller is known to have the right and before any body is read. */
typedef void stream_fn(struct exchange *x);
stream_fn *rest_stream_find(const struct exchange *x);
/* The pod of the request, decoded, and the kubelet that runs it; ERR_UNAVAILABLE if this server runs no pods. */
int rest_pod_get(struct exchange *x, json_t **ret_pod, struct kubelet **ret_kubelet, struct err *e);
/* GET of a pod that is another cluster's: takes x over; false if it is none. */
bool rest_pod_elsewhere(struct exchange *x);
/* The container a request means (borrowed from the pod): the one it names, or the only one.  Kubernetes' words if that
 * cannot be said. */
int rest_pod_container(const json_t *pod, const char *given, const char **ret, struct err *e);
/* Its entry in the pod's status, or NULL. */
const json_t *rest_pod_container_status(const json_t *pod, const char *container);
stream_fn rest_log;               /* rest_log.c */
stream_fn rest_exec, rest_attach; /* rest_exec.c */
stream_fn rest_portforward;       /* rest_forward.c */
stream_fn rest_proxy;             /* rest_proxy.c */
/* A log's options, from the query. */
int rest_log_query(const struct exchange *x, struct kubelet_log_request *q, struct err *e);
/* Streams a log that outlived its pod. */
void rest_log_kept(struct exchange *x, struct kubelet *k, const struct kubelet_log_request *q);
/* rest_logs.c: /apis/stoker.dev/v1/namespaces/NS/logs/NAME and .../measures/NAME; false if the path is another. */
bool rest_logs_route(struct exchange *x);
/* The pods with logs that such a request means: what the kubelet's logs_find says, with "alive". */
json_t *rest_logs_choose(struct exchange *x, struct kubelet *k);
stream_fn rest_measures; /* rest_measures.c */

/* rest_why.c: /apis/stoker.dev/v1/namespaces/NS/why/NAME; false if the path is another. */
bool rest_why_route(struct exchange *x);
/* /apis/stoker.dev/v1/line: a path that is no resource; the second takes x over. */
bool rest_line_is(const struct exchange *x);
bool rest_line(struct exchange *x);

/* rest_pbs.c: /apis/stoker.dev/v1/pbs/jobs, in the same way. */
bool rest_pbs_is(const struct exchange *x);
bool rest_pbs(struct exchange *x);
/* rest_pbs_past.c: /apis/stoker.dev/v1/pbs/records, in the same way. */
bool rest_pbs_past_path(const struct exchange *x);
bool rest_pbs_past(struct exchange *x);
/* Do these lines of accounts say that the job is the user's?  Pure. */
bool rest_pbs_past_is_of(struct str lines, const char *user);
/* rest_pbs_act.c: .../namespaces/NS/pbsjobs/NAME/signal and /message; false if the path is another. */
bool rest_pbs_act_route(struct exchange *x);
/* rest_pbs_far.c: the command in all pods of the job, which are another cluster's, or in the first of each run; takes x
 * over if it succeeds. */
int pbs_act_far(struct exchange *x, const json_t *job, const json_t *command, bool first, struct err *e);

/* rest_metrics.c: takes x over if it asks what pods or nodes use. */
bool rest_metrics(struct exchange *x);

/* rest_counters.c: /metrics; takes x over. */
void rest_counters(struct exchange *x);

/* rest_usage.c: /apis/stoker.dev/v1/usage and shares; takes x over.  The first says whether the path is one of them. */
bool rest_usage_path(const struct exchange *x);
void rest_usage(struct exchange *x);

/* rest_docs.c: paths that are no resource; false if the path is none of them. */
bool rest_document(struct exchange *x);
struct docs *docs_new(struct api *api);
void docs_free(struct docs *d);

#endif
