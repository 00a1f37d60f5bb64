// SPDX-License-Identifier: Apache-2.0
/* api.h - the one write path: every reader and writer of objects ends in these verbs
 *
 * The HTTP front end (api/rest.c) and the in-process client (client/local.c) both fill in a `struct api_request` and
 * call api_call().  There, in order: may the caller (authz) -> decode -> admit and default -> validate -> verb ->
 * store.  Nothing else touches the store.
 */
#ifndef STOKER_API_API_H
#define STOKER_API_API_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"
#include "kinds/kind.h"
#include "kinds/selector.h"
#include "loop/crypto.h"
#include "loop/loop.h"
#include "store/store.h"

struct api;
struct authn;
struct authz;
struct audit;
struct watch_hub;
struct crds;
struct service_addresses;
struct quotas;
struct limit_ranges;
struct accounts;
struct queues;

/* Who is asking.  Strings are owned by whoever made it and outlive the call. */
struct caller {
	const char *user;
	const char *uid;           /* "" if none */
	const char *const *groups; /* NULL-terminated */
	const json_t *extra;       /* object of string arrays, or NULL */
	bool local;                /* came over the Unix socket: owns the namespace of its name */
};
bool caller_in_group(const struct caller *c, const char *group);
/* The server's own parts: system:masters. */
extern const struct caller caller_system;

enum patch_type { PATCH_NONE, PATCH_JSON, PATCH_MERGE, PATCH_STRATEGIC, PATCH_APPLY };
enum field_validation { FIELDS_WARN, FIELDS_STRICT, FIELDS_IGNORE };
enum propagation { PROPAGATE_DEFAULT, PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN };

struct api_request {
	const struct caller *caller;
	enum verb verb;
	const struct kind *kind;
	const char *subresource; /* NULL: the object itself */
	const char *ns;          /* "" for cluster scope or all namespaces */
	const char *name;        /* NULL for collections */
	/* writes */
	const json_t *seen; /* the object as a cache of this process has it; NULL: unknown */
	struct str
		managers; /* write_store(): text of metadata.managedFields, which the objects are without; or empty */
	json_t *body;     /* decoded body, borrowed; may be changed */
	enum patch_type patch;
	bool dry_run;
	bool force;                /* apply: take fields over */
	const char *field_manager; /* NULL: from user_agent */
	const char *user_agent;
	enum field_validation fields;
	size_t body_bytes;  /* how long the body was */
	json_t *duplicates; /* array of paths that the body's parser saw twice, or NULL */
	/* deletes; -1 = not given */
	int64_t grace_seconds;
	enum propagation propagation;
	const char *if_uid, *if_rv;
	bool evicting; /* a pod that stays for its grace period says why it goes */
	/* reads */
	const struct selector *labels, *field_sel; /* NULL: everything */
	int64_t limit;                             /* 0 = all */
	const char *cont;                          /* continue token or NULL */
	const char *rv;                            /* resourceVersion parameter or NULL */
	const char *rv_match;                      /* resourceVersionMatch or NULL */
	bool decoded;                              /* get: the object is wanted, not its text */
};

/* What a verb gives back.  `object` is a whole object of the kind's version without kind and apiVersion where `kind`
 * says what it is, or (kind NULL) a finished document such as a Status. */
struct api_result {
	int code;                /* 200, 201 */
	const struct kind *kind; /* what `object`/`text` is; NULL: it says so itself */
	json_t *object;          /* owned; or NULL: */
	char *text;              /* owned stored text of the object (get without conversion), text_len */
	size_t text_len;
	const json_t *text_of; /* with both: the text serves as long as `object` is this one */
	json_t *warnings;      /* owned array of strings or NULL */
	json_t *notes;         /* owned object of texts for the audit log's line, or NULL */
};
void api_result_done(struct api_result *r);

struct api_config {
	const char *data_dir;
	const char *admin_group; /* Unix group whose members are admins; NULL: root only */
	int64_t audit_bytes;     /* cap of audit.log */
	const char *advertise;   /* host:port for /api and kubeconfig */
	/* Array of directories below which users' hostPath volumes may be, owned by the caller; NULL: each user's home.
	 */
	const json_t *host_roots;
	/* Who runs the server; 0 is root. */
	uid_t owner;
	/* The server is root in a user namespace of the owner's.  The kernel tells it of everybody else on the Unix
	 * socket only that it is somebody else. */
	bool in_user_namespace;
	/* PBS jobs become pods of another cluster: they need an image, and an account here to run as. */
	bool pbs_abroad;
};

int api_new(struct loop *loop, struct store *store, struct pki *pki, const struct api_config *config, struct api **ret,
	    struct err *e);
void api_free(struct api *api);

/* get, create, update, patch, delete, deletecollection and their subresources.  Synchronous up to the commit: the
 * result is final only after store_after() says so. */
int api_call(struct api *api, struct api_request *req, struct api_result *ret, struct err *e);

/* Lists: text of each object in order.  fn returns false to stop.  *ret_cont (owned) is the continue token or NULL,
 * *ret_remaining the count behind it or -1. */
struct api_item {
	const struct kind *kind;
	struct str text; /* stored form without kind and apiVersion, in the request's version */
	json_t *object;  /* decoded, borrowed; NULL unless it was needed or `want_objects` */
};
int api_list(struct api *api, struct api_request *req, bool want_objects,
	     bool (*fn)(void *arg, const struct api_item *item), void *arg, int64_t *ret_rv, char **ret_cont,
	     int64_t *ret_remaining, struct err *e);

/* The parts, for the files of this room and for wiring. */
struct loop *api_loop(struct api *api);
struct store *api_store(struct api *api);
struct registry *api_registry(struct api *api);
struct authn *api_authn(struct api *api);
struct authz *api_authz(struct api *api);
struct audit *api_audit(struct api *api);
struct watch_hub *api_hub(struct api *api);
struct crds *api_crds(struct api *api);
struct service_addresses *api_addresses(struct api *api);
struct quotas *api_quotas(struct api *api);
struct limit_ranges *api_limit_ranges(struct api *api);
struct accounts *api_accounts(struct api *api);
struct queues *api_queues(struct api *api);
struct pbs *api_pbs(struct api *api);
struct pki *api_pki(struct api *api);
/* The namespace that the call under way has looked at: stored_namespace(). */
struct api_namespace {
	char *name;
	json_t *doc;
};
struct api_namespace *api_namespace(struct api *api);
void api_namespace_forget(struct api_namespace *n);
const struct api_config *api_config(const struct api *api);
/* Store number of a kind's storage. */
int api_store_kind(struct api *api, const struct kind *k, int *ret, struct err *e);

#endif
