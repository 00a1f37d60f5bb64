// SPDX-License-Identifier: Apache-2.0
/* gpu.h - the cards of this machine: which there are, who has them, what a container needs to use its own
 *
 * Cards come from NVML (dlopen), else from /proc/driver/nvidia, else they are simulated.  Who has which is on disk
 * before a container starts, so that no card is given twice, also across a crash.
 */
#ifndef STOKER_NODE_GPU_H
#define STOKER_NODE_GPU_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct gpus;
struct gpus_config {
	const char *dir;      /* DIR/gpus.json says who has what */
	const char *simulate; /* gpu_simulate.c: "4", "2xA100-80G,2xV100-16G:pairs"; NULL: look for real ones */
	const char *share;    /* cards that several pods may have at a time: "0,2", "all"; NULL: none */
	const char *root;     /* where /dev, /proc and the driver's libraries are looked up; NULL: "/".  For tests */
};
/* Whether the two texts can be understood; for who wants to know before he begins. */
int gpus_check(const char *simulate, const char *share, struct err *e);
int gpus_open(const struct gpus_config *config, struct gpus **ret, struct err *e);
void gpus_free(struct gpus *g);
/* Cards that can be given to someone: not those that are broken or gone. */
size_t gpus_count(const struct gpus *g);
/* Memory of all those that may be shared, in MiB. */
int64_t gpus_shared_mib(const struct gpus *g);
/* Labels and annotations for the Node: {"nvidia.com/gpu.product":..., "nvidia.com/gpu.memory":...}. */
json_t *gpus_labels(const struct gpus *g);

/* How many cards a container's limits or requests ask for, by either name. */
int gpus_wanted(const json_t *container);
/* And how much memory of a shared one, in MiB. */
int64_t gpus_wanted_mib(const json_t *container);
/* By the scheduler, in the pod's annotation stoker.dev/cards. */
bool gpus_are_chosen(const json_t *pod);
/* Gives a container its cards and remembers it durably; the same cards again for the same uid and container.  If
 * some were chosen, these and no others.  ERR_UNAVAILABLE if too few are free now,
 * ERR_INVALID if those that were
 * chosen will not be. */
int gpus_take(struct gpus *g, const json_t *pod, const char *container, int n, struct err *e);
/* The same for a part of one card, beside other pods; the containers of one pod share one. */
int gpus_share(struct gpus *g, const json_t *pod, const char *container, int64_t mib, struct err *e);
/* True if it had any. */
bool gpus_release(struct gpus *g, const char *uid);
/* After a restart: pods that are gone have none.  uids: an array of texts. */
void gpus_keep_only(struct gpus *g, const json_t *uids);

/* For the OCI document of a container: devices, mounts, "NAME=value" texts; empty arrays without cards (but
 * NVIDIA_VISIBLE_DEVICES=void then, so that an image's own "all" means nothing). */
struct gpu_grant {
	json_t *devices, *mounts, *env;
};
void gpus_grant(struct gpus *g, const char *uid, const char *container, struct gpu_grant *ret);
/* The same of cards by their numbers, whoever has claimed them. */
void gpus_grant_these(struct gpus *g, const int *indices, size_t count, struct gpu_grant *ret);
void gpu_grant_done(struct gpu_grant *grant);
/* The devices, as OCI has them, of all cards but those with these indices; empty if there are none, or only simulated
 * ones. */
json_t *gpus_withheld(const struct gpus *g, const int *own, size_t n);
/* "0,2" of a pod, for its annotation; NULL if it has none; malloc'ed. */
char *gpus_of(const struct gpus *g, const char *uid);
/* Array of {"index","uuid","name","memoryBytes","device","healthy","numa","links":[indices],"shareable","namespace",
 * "pod","container","shares":[{"namespace","pod","container","memoryMib"}]}.  The three are "" if nobody has the card
 * for himself; numa is -1 if not known. */
json_t *gpus_list(const struct gpus *g);
/* For the Node: {"stoker.dev/gpus": the list as text, "stoker.dev/gpu-0": "default/train-0 (main)" | "free" | "broken"
 * | "shared: lab/a 4096MiB, lab/b 8192MiB", ...}.  One short line a card, because `kubectl describe node` cuts long
 * ones. */
json_t *gpus_annotations(const struct gpus *g);

#endif
