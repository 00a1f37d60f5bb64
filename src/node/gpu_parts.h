// SPDX-License-Identifier: Apache-2.0
/* gpu_parts.h - what the files of gpu.h share */
#ifndef STOKER_NODE_GPU_PARTS_H
#define STOKER_NODE_GPU_PARTS_H

#include <sys/types.h>

#include "node/gpu.h"

struct gpu_card {
	int index;      /* in the order of their places on the bus, as nvidia-smi counts */
	int minor;      /* /dev/nvidiaMINOR; -1: simulated */
	char *key;      /* what the table knows it by: its place on the bus, or a simulated card's uuid */
	char *uuid;     /* GPU-...; "" if the driver does not say */
	char *name;     /* the model */
	int64_t memory; /* bytes; 0: unknown */
	int numa;       /* the node of memory and processors it is next to; -1: unknown */
	json_t *links;  /* indices of cards that it has NVLink to */
	bool shareable; /* by several pods, says the admin */
	bool broken;    /* the driver itself does not want it used */
};

struct gpus {
	char *path; /* DIR/gpus.json */
	char *root; /* "" or a directory that plays "/" */
	struct gpu_card *cards;
	size_t n;
	json_t *claims; /* gpu_table.c */
};

void gpu_cards_free(struct gpu_card *cards, size_t n);
const struct gpu_card *gpu_card_find(const struct gpus *g, const char *key);
/* Neither broken nor gone since it was found. */
bool gpu_card_usable(const struct gpus *g, const struct gpu_card *c);
bool gpu_pod_has(const struct gpus *g, const char *uid, const char *key);

/* --- gpu_find.c --- */
/* The cards there are, ordered by index; none is no error. */
int gpu_find(const char *root, const char *simulate, struct gpu_card **ret, size_t *ret_n, struct err *e);
/* "00000000:07:00.0" -> "0000:07:00.0", as the kernel writes it; malloc'ed. */
char *gpu_bus_name(const char *text);

/* --- gpu_simulate.c --- */
int gpu_simulate(const char *text, struct gpu_card **ret, size_t *ret_n, struct err *e);

/* --- gpu_nvml.c --- */
/* Array of {"uuid","name","memory","minor","bus","broken","links":[bus]} in NVML's order, or NULL if there is no NVML
 * that works. */
json_t *gpu_nvml_list(const char *root);
/* Starts a child that says, line by line until it is killed, how much each card was used: {bus: percent}.  Its pid, or
 * -1 without NVML; what it says comes through *ret_fd, which does not block. */
pid_t gpu_nvml_watch(const char *root, int *ret_fd);

/* --- gpu_table.c: claims, an array of {"uid","namespace","pod","container","init","cards":[keys]}; those to a part of
 * a card also have "mib" and "podMib", what all containers of the pod together may use --- */
int gpu_table_load(struct gpus *g, struct err *e);
/* The claim of one container, or NULL. */
json_t *gpu_table_find(const struct gpus *g, const char *uid, const char *container);
bool gpu_claim_has(const json_t *claim, const char *key);
bool gpu_claim_is_of(const json_t *claim, const char *uid);
/* Of the claims that one pod has to a card the one that keeps it: not an init container's. */
bool gpu_claim_stands(const struct gpus *g, const json_t *claim, const char *key);
json_t *gpu_claim_new(const json_t *pod, const char *container, const json_t *keys);
/* In place of what the container had; durable. */
int gpu_table_put(struct gpus *g, json_t *claim, struct err *e);

/* --- gpu_given.c: what the scheduler chose for a pod --- */
/* Whether the card is one of them; true for all if it chose none. */
bool gpu_is_given(const json_t *pod, int index);
/* False, with ERR_INVALID, if one of them is not there or broken. */
bool gpu_given_is_sound(const struct gpus *g, const json_t *pod, struct err *e);
/* Sets ERR_UNAVAILABLE: another pod has one of them.  False if none has. */
bool gpu_given_is_held(const struct gpus *g, const json_t *pod, struct err *e);
const char *gpu_given(const json_t *pod);

/* --- gpu_share.c --- */
/* Marks cards as shareable by an admin's text. */
int gpu_share_allow(struct gpus *g, const char *text, struct err *e);

/* --- gpu_path.c: files below a root that may be a test's --- */
/* Where a path leads below `root`, symlinks followed inside it; NULL if nowhere; malloc'ed, with the root in front. */
char *gpu_path_real(const char *root, const char *path);
/* Text of a small file, or NULL; malloc'ed. */
char *gpu_path_text(const char *root, const char *path);
/* Sorted names in a directory that begin with `prefix`; an empty array if there is none. */
json_t *gpu_path_names(const char *root, const char *dir, const char *prefix);

/* --- gpu_ldcache.c --- */
/* Calls `found` for each "NAME -> PATH" of a loader cache (pure); harmless for any bytes. */
void gpu_ldcache_walk(const char *p, size_t n, void (*found)(void *arg, const char *name, const char *path), void *arg);

/* --- gpu_driver.c: what the driver brought along --- */
/* Directories with libraries, best first: an array of paths. */
json_t *gpu_driver_dirs(const char *root);
/* Read-only mounts of libraries, programs and data files. */
void gpu_driver_mounts(const char *root, json_t *mounts);
/* Device nodes that all cards share, then those of one card. */
void gpu_driver_shared_nodes(const char *root, json_t *devices);
void gpu_driver_card_nodes(const char *root, const struct gpu_card *c, json_t *devices);

/* --- gpu_cdi.c --- */
/* Fills the grant from a CDI file of this machine; false, and nothing is added, if none speaks of all of these cards
 * or what it names is not there. */
bool gpu_cdi_grant(const char *root, const struct gpu_card *const *cards, size_t n, struct gpu_grant *grant);

/* --- gpu_grant.c --- */
/* A read-only bind mount, unless something is mounted there already. */
void gpu_grant_mount(json_t *mounts, const char *target, const char *source);
/* The device at a path below root under the name `path`; false if it is none. */
bool gpu_grant_node(const char *root, const char *host_path, const char *path, json_t *devices);
void gpu_grant_node_numbers(json_t *devices, const char *path, const char *type, int64_t major, int64_t minor,
			    int64_t mode, int64_t uid, int64_t gid);
/* Libraries also where the loaders of other distributions look. */
void gpu_grant_spread(json_t *mounts);

#endif
