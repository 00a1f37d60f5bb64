// SPDX-License-Identifier: Apache-2.0
/* find.h - what a person means by [KIND/]NAME
 *
 * Workloads are what leads to containers: pods, jobs of every sort, Deployments and their like.  A name without a kind
 * is looked up among all of them at once; of two that have it, one that the other made does not count.
 */
#ifndef STOKER_CLI_FIND_H
#define STOKER_CLI_FIND_H

#include <jansson.h>

#include "client/client.h"
#include "kinds/workloads.h"

/* "job", "jobs", "Job", "jobs.batch", "jobs.v1.batch", "sts": any kind that is built in, or NULL. */
const struct kind *find_kind(struct str word);
/* "kind/name": *ret_kind is NULL if there is no slash.  A word that is no kind is an error that says what is. */
int find_cut(const char *arg, const struct kind **ret_kind, const char **ret_name, struct err *e);

/* An id as qsub prints it: 5.Ghead, 3[].Ghead, 3[4], pbsjob/5.Ghead.  False if it is none, or a bare number, which is a
 * name as it is. */
struct find_pbs {
	char job[24];    /* the PBSJob's name */
	int64_t element; /* -1: the job, or the array */
};
bool find_pbs_id(const struct kind *k, const char *name, struct find_pbs *ret);

struct found {
	const struct kind *kind;
	char api_version[64];
	char *ns, *name; /* ns is "" for a kind without namespaces */
	json_t *obj;     /* with kind and apiVersion */
	bool element;    /* a pod that stands for an element of a PBS array */
};
void found_init(struct found *f, const struct kind *k, const json_t *obj);
void found_done(struct found *f);
struct ref found_ref(const struct found *f);
/* "job/train". */
void found_title(const struct found *f, struct sbuf *out);

/* Resolves one argument; an element of a PBS array to its pod.  `ns` NULL: all namespaces.  With `any_kind` the word
 * before the slash may be any built-in kind, else only a workload.  Errors: ERR_NOT_FOUND with advice, ERR_CONFLICT
 * that lists the candidates. */
int find_one(struct client *c, const char *arg, const char *ns, bool any_kind, struct found *ret, struct err *e);

/* Lists of several kinds, all asked for at once.  lists[i] is owned, its items say what they are; NULL for a kind that
 * the server does not have or that we may not see.  Fails only if there is no list at all, or no server. */
int find_lists(struct client *c, const struct kind *const *kinds, size_t n, const char *ns,
	       const struct list_options *o, json_t **lists, struct err *e);
/* The pods that belong to it, also through a ReplicaSet or a Job of its own: a new array. */
int find_pods(struct client *c, const struct found *f, json_t **ret_pods, struct err *e);

/* The ownerReference of who controls it, or NULL.  Borrowed. */
const json_t *find_controller(const json_t *obj);
/* What lists over HTTP leave out: apiVersion and kind of their items. */
void find_type_items(json_t *list, const struct kind *k);

#endif
