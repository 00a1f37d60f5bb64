// SPDX-License-Identifier: Apache-2.0
/* training.h - what the training kinds of kubeflow.org have in common
 *
 * Each framework's job is a map from a replica type to how many pods of which template.  A `struct training` says what
 * differs between frameworks; training.c does the rest for all of them.
 *
 * Fields that steer a run (when to stop, what to clean up) stood in spec in 2019 and stand in spec.runPolicy today;
 * both places are accepted and kept as written.
 */
#ifndef STOKER_KINDS_TRAINING_H
#define STOKER_KINDS_TRAINING_H

#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest_rules.h"

/* Set on objects created through an older version than the stored one, with that version ("kubeflow.org/v1alpha2"):
 * controllers run them by the older rules.  Clients of the older version do not see it. */
#define TRAINING_WRITTEN_AS "stoker.dev/written-as"

/* "gang": all replicas are restarted when one fails, or when they hang. */
#define TRAINING_RESTART "stoker.dev/restart"

#define TRAINING_REPLICAS_MOST 10000 /* of all types together */

struct training {
	const char *specs;     /* name of the map in spec: "tfReplicaSpecs" */
	const char *container; /* the container that must be there, or NULL */
	const char *port_name; /* port given to that container, or NULL */
	int port;
	const char *restart; /* default restartPolicy */
	const char *types;   /* replica types as they are spelled, "Chief|Worker" */
	bool other_types;    /* whether others are allowed */
	const char *leaders; /* types of which there may be one replica in all, or NULL */
};

/* Rows of a spec: the run policy in its two places. */
#define TRAINING_POLICY_ROWS                                                                                           \
	F(0, "runPolicy", OBJECT, .msg = &training_run_policy, .doc = "When the job stops, and what is cleaned up."),  \
		F(0, "cleanPodPolicy", STRING, .values = "All|Running|None",                                           \
		  .doc = "Older place of runPolicy.cleanPodPolicy."),                                                  \
		F(0, "ttlSecondsAfterFinished", INT32, .has_min = true,                                                \
		  .doc = "Older place of runPolicy.ttlSecondsAfterFinished."),                                         \
		F(0, "activeDeadlineSeconds", INT64, .has_min = true,                                                  \
		  .doc = "Older place of runPolicy.activeDeadlineSeconds."),                                           \
		F(0, "backoffLimit", INT32, .has_min = true, .doc = "Older place of runPolicy.backoffLimit.")

/* Rows of a status but for the counters of replicas. */
#define TRAINING_STATUS_ROWS                                                                                           \
	FL(0, "conditions", OBJECT, .msg = &training_condition, .flags = FIELD_ATOMIC,                                 \
	   .doc = "How the job stands; the last one is the newest."),                                                  \
		F(0, "startTime", TIME, .doc = "When the job was first worked on."),                                   \
		F(0, "completionTime", TIME, .doc = "When the job ended."),                                            \
		F(0, "lastReconcileTime", TIME, .doc = "When the controller last looked at it."),                      \
		FM(0, "replicas", OBJECT, .msg = &training_record,                                                     \
		   .doc = "Stoker's own: what is remembered of single replicas, by name."),                            \
		F(0, "gangRestarts", INT32, .doc = "Stoker's own: how often all replicas were restarted together.")

extern const struct message training_run_policy, training_replica_spec, training_replica_status, training_condition,
	training_record;
/* Status of a job that has nothing beyond the usual. */
extern const struct message training_status;
/* Name, State, Age. */
extern const struct column training_columns[3];
/* Name, Age: what versions without printer columns show. */
extern const struct column training_plain_columns[2];

/* Spells replica types as they should be and fills in replicas, restart policies and ports. */
void training_default_replicas(json_t *spec, const struct training *t);
/* runPolicy of the present day, unless the spec is written in the older way. */
void training_default_policy(json_t *spec);
/* The rules of the replicas; the rows below have been checked. */
void training_validate(const json_t *spec, const struct path *at, const struct training *t, struct err *e);
/* Of the object: its replicas' names, NAME-worker-0, are names of Services too and must not be too long for that; and
 * its annotations. */
void training_validate_object(const json_t *obj, const struct training *t, struct err *e);
/* Those that are Stoker's to read. */
void training_validate_annotations(const json_t *obj, struct err *e);
/* prepare_create: a job begins without a status. */
void training_begin(json_t *obj);
/* to_storage and from_storage of older versions are these two, with their version.  An object is of the version it was
 * created through, whichever it is changed through. */
void training_mark(json_t *obj, const json_t *old, const char *version);
/* prepare_update of the stored version: the mark is nobody's to change. */
void training_keep_mark(json_t *obj, const json_t *old);
void training_unmark(json_t *obj);

#endif
