// SPDX-License-Identifier: Apache-2.0
/* client.h - the one interface for every reader and writer of objects
 *
 * A controller takes a `struct client` and knows nothing else: client_local calls the API in this process, client_http
 * speaks REST over a kubeconfig or the Unix socket.  Answers come by callback, from the loop, after the commit.
 */
#ifndef STOKER_CLIENT_CLIENT_H
#define STOKER_CLIENT_CLIENT_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "loop/loop.h"

struct client;
struct api;
struct caller;

/* What is meant: group and version as in apiVersion, plural, and where. */
struct ref {
	const char *api_version; /* "v1", "batch/v1" */
	const char *plural;
	const char *ns;          /* NULL or "": cluster scope, or all namespaces for lists */
	const char *name;        /* NULL for collections */
	const char *subresource; /* or NULL */
	bool dry_run;            /* create: only see whether it would be taken */
	const json_t *seen;      /* binding: the pod as an informer has it, which may spare reading it; or NULL */
};

/* The object (borrowed; NULL on error), with kind and apiVersion; `e->kind` is ERR_NONE on success. */
typedef void client_done(void *arg, const json_t *obj, const struct err *e);

/* type: ADDED, MODIFIED, DELETED, BOOKMARK.  A NULL object ends the watch: e says why (ERR_EXPIRED: list again). */
typedef void client_event(void *arg, const char *type, const json_t *obj, const struct err *e);

struct list_options {
	const char *labels, *fields; /* selectors or NULL */
	const char *rv;              /* watch: start after this one */
	int64_t limit;
	const char *cont;
	/* watch without rv, of clients that stream lists: a BOOKMARK follows what there was at first */
	bool mark_list_end;
};

struct client_ops {
	void (*get)(struct client *c, const struct ref *ref, client_done *done, void *arg);
	void (*list)(struct client *c, const struct ref *ref, const struct list_options *o, client_done *done,
		     void *arg);
	void (*create)(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg);
	void (*update)(struct client *c, const struct ref *ref, const json_t *obj, client_done *done, void *arg);
	/* type: "merge", "strategic", "json", "apply" */
	void (*patch)(struct client *c, const struct ref *ref, const char *type, const json_t *patch, client_done *done,
		      void *arg);
	/* Without a name: the whole collection. */
	void (*remove)(struct client *c, const struct ref *ref, const json_t *delete_options, client_done *done,
		       void *arg);
	/* Returns a handle for client_watch_stop(). */
	void *(*watch)(struct client *c, const struct ref *ref, const struct list_options *o, client_event *event,
		       void *arg);
	void (*watch_stop)(struct client *c, void *watch);
	/* Any other path: GET/POST of raw text (discovery, logs, /version).  The reply is text; /api and /apis are
	 * asked for in aggregated form. */
	void (*raw)(struct client *c, const char *method, const char *path, struct str body,
		    void (*done)(void *arg, int code, struct str body, const struct err *e), void *arg);
	/* GET of text that is told piece by piece as it comes.  `done` once at its end, with the server's own words if
	 * that is an error; not after stream_stop(). */
	void *(*stream)(struct client *c, const char *path, void (*piece)(void *arg, struct str piece),
			void (*done)(void *arg, const struct err *e), void *arg);
	void (*stream_stop)(struct client *c, void *stream);
	void (*free)(struct client *c);
};

struct client {
	const struct client_ops *ops;
	struct loop *loop;
	int64_t page;       /* a cache is filled by that many objects at a time; 0: by all at once */
	bool streams_lists; /* a cache is filled by a watch from the beginning, without a list */
	const char *ca_pem; /* whose certificates the server has, for others to know it by; NULL: not known here */
};

/* Who still waits for an answer over HTTP is told that there will be none, and must not ask again. */
static inline void client_free(struct client *c)
{
	if (c)
		c->ops->free(c);
}

/* In this process, as `caller` (kept by reference). */
struct client *client_local_new(struct api *api, const struct caller *caller);

/* Where a command finds its server: --socket, $STOKER_SOCKET, --kubeconfig, $KUBECONFIG, the default socket, then the
 * cluster whose pod it runs in. */
struct client_options {
	const char *socket;     /* --socket */
	const char *kubeconfig; /* --kubeconfig */
	const char *context;    /* --context */
	const char *as;         /* --as USER */
	/* For controllers: a creation whose answer was lost is sent again, under one name, until the server has said
	 * yes or no; and objects come without what controllers never look at (lean.h). */
	bool patient;
};
int client_http_new(struct loop *loop, const struct client_options *o, struct client **ret, struct err *e);
/* Where it is: a URL, or the path of a socket. */
const char *client_server(const struct client *c);
/* Why the last request had no answer, borrowed until the next; NULL: it had one. */
const char *client_trouble(const struct client *c);
/* The namespace a command means when none is given: the kubeconfig context's, else the local user's name ("default" for
 * root). */
const char *client_default_namespace(const struct client *c);
/* That of the local user; the caller owns it. */
char *client_own_namespace(void);
/* Is the server on this machine, so that its files are ours? */
bool client_is_local(const struct client *c);
/* A name as a segment of a path, or a value in a query. */
void client_escape(struct sbuf *out, const char *s);
#define SYSTEM_SOCKET "/run/stoker/stoker.sock"
/* Paths used by server and clients alike: as root that one, else under $XDG_RUNTIME_DIR. */
void default_socket_path(struct sbuf *out);
/* The one there is: that of a server of one's own, else of the machine's.  False: neither; `out` is where the latter
 * would be. */
bool usual_socket_path(struct sbuf *out);
void default_data_dir(struct sbuf *out);

/* Waits for one answer by turning the loop: for commands, never for the server.  *ret_obj is owned. */
int client_get_wait(struct client *c, const struct ref *ref, json_t **ret_obj, struct err *e);
int client_list_wait(struct client *c, const struct ref *ref, const struct list_options *o, json_t **ret_obj,
		     struct err *e);
int client_create_wait(struct client *c, const struct ref *ref, const json_t *obj, json_t **ret_obj, struct err *e);
/* type: as client_ops.patch. */
int client_patch_wait(struct client *c, const struct ref *ref, const char *type, const json_t *patch, json_t **ret_obj,
		      struct err *e);
/* Any request over HTTP, `type` being that of its body: the code and text of the reply. */
int client_call_wait(struct client *c, const char *method, const char *path, const char *type, struct str body,
		     int *ret_code, struct sbuf *reply, struct err *e);
/* GET of a path that is no object: any JSON. */
int client_raw_wait(struct client *c, const char *path, json_t **ret_doc, struct err *e);
int client_delete_wait(struct client *c, const struct ref *ref, json_t **ret_obj, struct err *e);
/* With DeleteOptions. */
int client_remove_wait(struct client *c, const struct ref *ref, const json_t *options, json_t **ret_obj, struct err *e);

/* Does this BOOKMARK say that what there was at first has been told? */
bool client_list_ends(const json_t *bookmark);

/* --- informer.c: a list and a watch kept as a local cache, with callbacks --- */
struct informer;
struct informer_handlers {
	/* obj NULL: deleted (old is the last state); old NULL: new.  Both borrowed. */
	void (*change)(void *arg, const json_t *obj, const json_t *old);
	/* The first list is complete. */
	void (*synced)(void *arg);
	void *arg;
	/* Whether an object is to be kept and told of; NULL: all are.  One that no longer is counts as deleted. */
	bool (*keep)(void *arg, const json_t *obj);
};
struct informer *informer_new(struct client *c, const struct ref *ref, const struct list_options *o,
			      const struct informer_handlers *h);
void informer_free(struct informer *i);
bool informer_synced(const struct informer *i);
const json_t *informer_find(const struct informer *i, const char *ns, const char *name);
bool informer_next(const struct informer *i, size_t *pos, const json_t **ret_obj);

#endif
