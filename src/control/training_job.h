// SPDX-License-Identifier: Apache-2.0
/* training_job.h - a training job of any framework and version, read into one struct; pure
 *
 * What frameworks and versions differ in is a row of `training_forms`: names of fields, labels and words, who decides
 * about the end, and two functions that say it to the programs.  Everything else is the same code for all.
 */
#ifndef STOKER_CONTROL_TRAINING_JOB_H
#define STOKER_CONTROL_TRAINING_JOB_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "kinds/training_names.h"

#define TRAINING_VERSION "kubeflow.org/v1" /* the version that is stored, and that controllers speak */

/* On pods, for the scheduler: those of one gang get nodes together, this many at least. */
#define TRAINING_GANG      "stoker.dev/gang"
#define TRAINING_GANG_SIZE "stoker.dev/gang-size"

#define LABEL_TRAINING_JOB      "training.kubeflow.org/job-name"
#define LABEL_TRAINING_OPERATOR "training.kubeflow.org/operator-name"
#define LABEL_TRAINING_ROLE     "training.kubeflow.org/job-role"

enum training_restart { RESTART_NEVER, RESTART_ON_FAILURE, RESTART_ALWAYS, RESTART_EXIT_CODE };
enum training_clean { CLEAN_NONE, CLEAN_RUNNING, CLEAN_ALL };

struct training_job;
struct training_role;

struct training_form {
	const char *kind, *plural, *operator; /* "TFJob", "tfjobs", "tfjob-controller" */
	const char *written_as;               /* the older version that it was written in, or NULL */
	const char *specs;                    /* where its replicas are: "tfReplicaSpecs" */
	const char *container;                /* the framework's own container, or NULL: the first */
	const char *port_name;                /* of that container, or NULL */
	int port;
	const char *order;   /* replica types, in the order of ranks and of blame */
	const char *leaders; /* types of which one, if it is there, decides alone */
	const char *members; /* the type that decides otherwise */
	const char *lone;    /* type of which there is one, named without a number */

	enum training_clean clean;      /* cleanPodPolicy where nothing is said */
	int64_t backoff;                /* backoffLimit where nothing is said; -1: none */
	bool elastic;                   /* elasticPolicy: some workers are enough to begin, and one to end */
	bool first_decides;             /* of the members, the first alone may decide */
	bool replaces_failed;           /* whoever does not decide is run again, whatever its restartPolicy */
	bool pod_restarts;              /* restartPolicy is the template's */
	bool listed;                    /* replicas are a list, names have an id, status is one word */
	bool late_start;                /* startTime is when all replicas of a type run */
	bool one_port;                  /* services have the framework's port only */
	bool cluster_ip;                /* services have an address */
	bool env_everywhere;            /* every container gets the environment */
	bool codes_listed;              /* which exit codes are worth another try: a list, else all from 128 on */
	bool old_words;                 /* messages of before v1 */
	bool full_name;                 /* messages say namespace/name */
	const char *succeeded, *failed; /* words of messages: "successfully completed", "has failed" */
	const char *set_policy;         /* reason of the event that the template's restartPolicy is not used, or NULL */

	/* Appends a replica's variables. */
	void (*env)(const struct training_job *j, const struct training_role *r, int index, json_t *env);
	/* Labels of the framework's earlier versions; every version's pods have all of them. */
	void (*labels)(const struct training_job *j, const struct training_role *r, int index, json_t *labels);
	/* What else a pod needs, or NULL. */
	void (*finish)(const struct training_job *j, const struct training_role *r, json_t *pod);
	/* The objects that must be there before any pod, one after the other, the last a ConfigMap; NULL after it. */
	json_t *(*need)(const struct training_job *j, int step, const char **ret_version, const char **ret_plural);
};

extern const struct training_form training_forms[];
extern const size_t training_nforms;

struct training_role {
	char *type, *lower; /* "Worker", "worker" */
	int replicas;
	int first_rank; /* how many replicas come before this type */
	enum training_restart restart;
	const json_t *template;
	const char *container; /* name of the framework's container, "" if there is none */
	const json_t *ports;   /* that container's */
	int port;
	bool leads; /* decides alone */
};

struct training_job {
	const struct training_form *form;
	const json_t *obj, *spec;
	const char *name, *ns, *uid;
	struct training_role *roles; /* in the form's order */
	size_t n, cap;
	int total;
	char *id; /* part of names where the form has one, else "" */
	enum training_clean clean;
	int64_t ttl, deadline, backoff; /* -1: none */
	int64_t hang_after;             /* seconds of silence; 0: it may be as silent as it likes */
	bool suspend, gang, dynamic, elastic;
};

/* The form of a stored object of that kind. */
const struct training_form *training_form(const char *kind, const json_t *obj);
struct training_job training_job(const struct training_form *form, const json_t *obj);
void training_job_done(struct training_job *j);
const struct training_role *training_role(const struct training_job *j, const char *type);
/* One type among several, "Chief|Master". */
bool training_is_among(const char *types, const char *type);
/* The type that decides when nobody leads; NULL: everybody does. */
const struct training_role *training_members(const struct training_job *j);

/* "worker-1": how messages and the status call a replica. */
char *training_replica(const struct training_role *r, int index);
/* The name of its Service, which is its host name. */
char *training_host(const struct training_job *j, const struct training_role *r, int index);
/* The name of its pod: the same, unless names have an id. */
char *training_pod_name(const struct training_job *j, const struct training_role *r, int index, int attempt);

/* --- training_pod.c --- */
json_t *training_pod(const struct training_job *j, const struct training_role *r, int index, int attempt);
json_t *training_service(const struct training_job *j, const struct training_role *r, int index);
/* "a=b,c=d": the labels by which all replicas of a type are found. */
char *training_selector(const struct training_job *j, const struct training_role *r);
/* {"name", "value"}, appended. */
void training_env(json_t *env, const char *name, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* --- one file a framework --- */
void tf_env(const struct training_job *j, const struct training_role *r, int index, json_t *env);
void tf_env_v1alpha2(const struct training_job *j, const struct training_role *r, int index, json_t *env);
void tf_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels);
/* TF_CONFIG itself: host names with `suffix` behind them; owned. */
char *tf_config(const struct training_job *j, const struct training_role *r, int index, const char *suffix, bool cloud);
void pytorch_env(const struct training_job *j, const struct training_role *r, int index, json_t *env);
void pytorch_env_v1alpha1(const struct training_job *j, const struct training_role *r, int index, json_t *env);
void pytorch_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels);
void paddle_env(const struct training_job *j, const struct training_role *r, int index, json_t *env);
void mpi_env(const struct training_job *j, const struct training_role *r, int index, json_t *env);
void mpi_labels(const struct training_job *j, const struct training_role *r, int index, json_t *labels);
void mpi_finish(const struct training_job *j, const struct training_role *r, json_t *pod);
json_t *mpi_need(const struct training_job *j, int step, const char **ret_version, const char **ret_plural);

#endif
