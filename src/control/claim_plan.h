// SPDX-License-Identifier: Apache-2.0
/* claim_plan.h - which claim gets which volume, and what is written next; pure
 *
 * Binding is several writes, each of which may be the last one before a crash.  So a plan is always the one next write
 * that brings an object nearer to where it belongs, computed anew from what is there.
 */
#ifndef STOKER_CONTROL_CLAIM_PLAN_H
#define STOKER_CONTROL_CLAIM_PLAN_H

#include <jansson.h>
#include <stdbool.h>

#define CLAIM_FINALIZER  "kubernetes.io/pvc-protection"
#define VOLUME_FINALIZER "kubernetes.io/pv-protection"

/* Who uses a claim; flags. */
enum claim_use {
	CLAIM_USE_UNKNOWN = 1 << 0, /* nobody has looked yet */
	CLAIM_USE_WANTED = 1 << 1,  /* a pod that has not ended names it */
	CLAIM_USE_MOUNTED = 1 << 2  /* such a pod is on a node */
};

/* What is there besides the claim. */
struct claim_view {
	const json_t *volumes; /* array of PersistentVolumes */
	const json_t *busy;    /* keys are names of volumes that are being written: not to be chosen; or NULL */
	const json_t *class;   /* its StorageClass, or NULL */
	unsigned use;
};

enum claim_act {
	CLAIM_NOTHING,
	CLAIM_LOOK,      /* plan again when it is known who uses it */
	CLAIM_LET_GO,    /* it is deleted and nobody uses it: drop the finalizer */
	CLAIM_TAKE,      /* write the claim into the volume */
	CLAIM_COMPLETE,  /* write the volume into the claim */
	CLAIM_BOUND,     /* status: Bound, with the volume's capacity and modes */
	CLAIM_LOST,      /* status: Lost */
	CLAIM_PENDING,   /* status: Pending */
	CLAIM_PROVISION, /* ask the class's provisioner for a volume */
	CLAIM__COUNT
};

struct claim_plan {
	enum claim_act act;
	const json_t *volume; /* of TAKE, COMPLETE, BOUND; borrowed */
	bool warning;
	const char *reason; /* of an event, or NULL */
	char message[512];
};

struct claim_plan claim_plan(const json_t *claim, const struct claim_view *v);

enum volume_act {
	VOLUME_NOTHING,
	VOLUME_PROTECT, /* add the finalizer */
	VOLUME_LET_GO,  /* drop it: deleted and not bound */
	VOLUME_PHASE,   /* status.phase, and message if there is one */
	VOLUME_UNBIND,  /* forget a claim that chose another volume */
	VOLUME__COUNT
};

struct volume_plan {
	enum volume_act act;
	const char *phase;
	const char *reason; /* of an event, or NULL */
	char message[512];  /* also the status' */
};

/* `claim` is the one that the volume's claimRef names, whatever its uid, or NULL. */
struct volume_plan volume_plan(const json_t *volume, const json_t *claim);

/* Whether a pod that has not ended names the claim, and whether it is on a node: CLAIM_USE flags. */
unsigned claim_use(const json_t *pods, const char *claim);

#endif
