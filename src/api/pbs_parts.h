// SPDX-License-Identifier: Apache-2.0
/* pbs_parts.h - what the files of pbs.h share
 *
 *	pbs_settings.c   the PBSServer, and who its managers and operators are
 *	pbs_resources.c  names and values of resources: known, normal, defaults, limits.  Pure
 *	pbs_fit.c        whether empty nodes could ever hold a job.  Pure
 *	pbs_machines.c   the nodes for it
 *	pbs_queue.c      whether a queue takes a job
 *	pbs_number.c     sequence numbers
 *	pbs_depend.c     other jobs that a job waits for
 *	pbs_stage.c      files that are copied for a job
 *	pbs_submit.c     new jobs
 *	pbs_begun.c      jobs that run although they do not say so yet
 *	pbs_change.c     what may be changed, when and by whom
 *	pbs_change_elements.c  the same of single elements of an array
 *	pbs_delete.c     what goes, and when
 *	pbs_board.c      all jobs as qstat shows them
 */
#ifndef STOKER_API_PBS_PARTS_H
#define STOKER_API_PBS_PARTS_H

#include "api/pbs.h"
#include "api/queue_parts.h"
#include "api/stored.h"
#include "api/turn_guard.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_nodes.h"

/* Resources of a job that its queue or the server filled in, so that another queue may say otherwise. */
#define PBS_DEFAULTS_ANNOTATION "stoker.dev/pbs-defaults"

struct pbs_machine {
	char *name;
	json_t *labels;
	int64_t cpus, gpus, memory; /* bytes; INT64_MAX: it does not say */
};

struct pbs {
	struct api *api;
	struct pbs_board *board;
	bool started; /* the bootstrap is over */
	struct turn_guard guard;
	struct stored_kind server_kind, node_kind, job_kind;
	json_t *settings; /* PBSServer's spec, or NULL: to be read */
	bool machines_known;
	struct pbs_machine *machines;
	size_t nmachines, machines_cap;
};

static inline bool pbs_is_admin(const struct caller *c)
{
	return caller_in_group(c, "system:masters");
}

/* --- pbs_settings.c --- */
/* This machine's, without its domain. */
json_t *pbs_own_host(void);
bool pbs_is_manager(struct api *api, const struct caller *c);

/* --- pbs_stage.c --- */
/* 15016 for files to be copied that are none, or from a host that is none of ours. */
int pbs_stage_check(const json_t *spec, const json_t *settings, bool in_container, struct err *e);

/* --- pbs_resources.c --- */
/* Refuses what nobody knows (15037) and values that are none (15016), and writes the others as qstat shows them. */
int pbs_resources_normal(json_t *resources, struct err *e);
/* What the job left open, from the queue, then the server; their names are added to `ret_names`, separated by commas.
 */
void pbs_resources_default(json_t *resources, const json_t *queue, const json_t *server, struct sbuf *ret_names);
/* 15038 if it asks for more or less than it may; a queue's maximum goes before the server's. */
int pbs_resources_limits(const json_t *resources, const struct pbs_nodes *nodes, const json_t *queue,
			 const json_t *server, struct err *e);

/* --- pbs_fit.c --- */
bool pbs_fits(const struct pbs_nodes *asked, const json_t *properties, const struct pbs_machine *machines, size_t n);

/* Why they do not fit: "no node has property s". */
void pbs_misfit(const struct pbs_nodes *asked, const json_t *properties, const struct pbs_machine *machines, size_t n,
		struct sbuf *out);

/* --- pbs_machines.c --- */
int pbs_machines(struct api *api, const struct pbs_machine **ret, size_t *ret_n, struct err *e);
/* 15064 if one of the names is no node's. */
int pbs_check_hosts(struct api *api, const json_t *hosts, struct err *e);
void pbs_machines_forget(struct pbs *p);

/* --- pbs_queue.c --- */
/* A job on its way into a queue. */
struct pbs_entry {
	struct api *api;
	const struct api_request *req;
	const json_t *spec;
	const json_t *settings; /* of the PBSServer */
	const char *owner, *host;
	int64_t elements;  /* of an array; else 1 */
	bool operator;     /* limits of resources are not for those */
	json_t *resources; /* with the queue's defaults; owned */
	struct sbuf defaults;
	const struct queue_known *queue; /* the one that took it */
};
/* Whether a host is meant by its name with or without its domain, or by *.domain. */
bool pbs_is_host(const char *pattern, const char *host);
/* Which queue a new job asks for, into `out`; "" if nobody says. */
int pbs_queue_wanted(struct api *api, const char *ns, const json_t *obj, char out[64], struct err *e);
/* Through all checks; fills in resources, defaults and queue. */
int pbs_queue_enter(struct pbs_entry *n, const char *name, const json_t *resources, struct err *e);
/* It stays where it is, with other resources. */
int pbs_queue_stay(struct pbs_entry *n, const char *name, const json_t *resources, struct err *e);
void pbs_entry_done(struct pbs_entry *n);

/* --- pbs_number.c --- */
/* The number that the next job in this namespace gets; `named`: its object is called so, too. */
int pbs_number_next(struct api *api, const char *ns, bool named, int64_t *ret, struct err *e);
int pbs_number_take(struct api *api, int64_t number, struct err *e);
/* The next one from here on. */
int pbs_number_set(struct api *api, int64_t next, struct err *e);

/* --- pbs_depend.c --- */
/* And writes their ids as status.id has them. */
int pbs_depend_check(struct api *api, json_t *spec, const char *owner, struct err *e);

/* --- pbs_submit.c --- */
/* How many jobs an object is: elements of an array, or 1.  ERR_INVALID, 15083, if it is no list of indexes. */
int pbs_elements(const json_t *spec, int64_t *ret, struct err *e);
int pbs_submit_admit(struct api *api, const struct api_request *req, json_t *obj, struct err *e);
int pbs_submit_assign(struct api *api, const struct api_request *req, json_t *obj, struct err *e);
/* What only the server says about whose it is and where it waits. */
void pbs_stamp(json_t *obj, const char *owner, const char *queue);

/* --- pbs_begun.c --- */
/* The pod of a job that is not said to run, or of its element (PBS_PLAIN: none), if a node has been given it; a new
 * reference, or NULL. */
int pbs_begun(struct api *api, const json_t *job, int index, json_t **ret, struct err *e);
/* Each such pod of a job, or of those elements of an array that come next. */
int pbs_begun_all(struct api *api, const json_t *job, int (*each)(void *arg, json_t *pod, struct err *e), void *arg,
		  struct err *e);

/* --- pbs_change.c --- */
int pbs_change_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
int pbs_change_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* Its state, but R if a node has begun to run it and the job does not say so yet. */
int pbs_state(struct api *api, const json_t *job, char *ret, struct err *e);
/* Holds of operators and the like. */
int pbs_check_strong(struct api *api, const struct caller *c, const json_t *spec, const json_t *old, struct err *e);
/* Whether the caller may change the job's spec so, by whose fields they are, and while it runs. */
int pbs_check_fields(struct api *api, const struct caller *c, const json_t *job, const json_t *spec, const json_t *old,
		     bool running, struct err *e);

/* --- pbs_change_elements.c --- */
/* Takes out of spec.elements what the array has been told since, and checks the rest. */
int pbs_elements_admit(struct api *api, const struct caller *c, const json_t *job, json_t *spec, struct err *e);
/* Resources and queues of elements, checked like those of a job; `like` has what is the same for all. */
int pbs_elements_assign(const struct pbs_entry *like, json_t *spec, const json_t *was, struct err *e);

/* --- pbs_delete.c --- */
/* A job that is being deleted stays so: 15018; and stays until it has ended. */
int pbs_check_deleted(const struct caller *c, const json_t *obj, const json_t *old, struct err *e);

#endif
