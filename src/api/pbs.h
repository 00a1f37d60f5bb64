// SPDX-License-Identifier: Apache-2.0
/* pbs.h - PBS jobs as they come in: numbers, owners, queues, who may do what; for api/admission.c and the routes
 *
 * What qsub and kubectl submit is made whole here and checked in the order in which Torque checks it, and refused with
 * Torque's numbers and words (kinds/pbs_error.h).  Pods that the controller makes of an accepted job follow it.
 */
#ifndef STOKER_API_PBS_H
#define STOKER_API_PBS_H

#include "api/api.h"

struct pbs;
struct pbs *pbs_new(struct api *api);
/* After the bootstrap: reads the jobs there are, and sees to the roles of managers and operators. */
int pbs_start(struct pbs *p, struct err *e);
void pbs_free(struct pbs *p);

bool pbs_is_job(const struct kind *k);

/* Gives a job without a name its number as one, before anything else. */
int pbs_name(struct api *api, const struct api_request *req, json_t *obj, struct err *e);
/* Whose a new job is and what it asks for; whether the caller may change a job so. */
int pbs_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* Queue, defaults, limits; the number. */
int pbs_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
int pbs_admit_delete(struct api *api, const struct api_request *req, const json_t *old, struct err *e);
/* What else a deletion does to the object (its last state, or the one in which it waits for its end) and leaves in its
 * finalizers; nothing to other kinds. */
int pbs_mark_deleted(struct api *api, const struct api_request *req, json_t *finalizers, json_t **obj, struct err *e);
/* Only pods of PBS jobs run as processes of the host itself. */
int pbs_admit_pod(struct api *api, const struct api_request *req, json_t *pod, const json_t *old, struct err *e);
/* What a pod of a PBS job says about itself to the server's parts (keys of stoker.dev, its owners), only they change.
 */
int pbs_check_pod_notes(const struct caller *c, const json_t *pod, const json_t *old, struct err *e);
int pbs_admit_server(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* Operators take nodes out of use, and no more. */
int pbs_admit_node(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
/* And start, stop, enable and disable queues. */
int pbs_admit_queue(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e);
void pbs_server_written(struct api *api, const json_t *obj, const json_t *old);
void pbs_node_written(struct api *api, const json_t *obj, const json_t *old);

/* Whether the caller is one; admins and managers are operators, too. */
bool pbs_is_operator(struct api *api, const struct caller *c);
/* May the caller act on the job?  ERR_FORBIDDEN, 15007, if not. */
int pbs_may_act(struct api *api, const struct caller *c, const json_t *job, struct err *e);
/* What is added to a refusal that is about PBS jobs, or "". */
const char *pbs_refusal(const char *group, const char *resource);

struct pbs_board *pbs_board(struct pbs *p);
/* PBSServer's spec; borrowed until the next write. */
int pbs_server_settings(struct api *api, const json_t **ret, struct err *e);

#endif
