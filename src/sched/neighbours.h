// SPDX-License-Identifier: Apache-2.0
/* neighbours.h - pods that want to be near others, or far from them: affinity and topology spread; pure
 *
 * Which pods a term means depends on namespace and labels only (its own and those of its namespace), so each distinct
 * term is matched once against each pod that sits, and counted by node and by topology domain.  A term that nobody has
 * costs nothing, and neither does a pod that no term means.
 *
 * Nodes are numbers (node_index()).
 */
#ifndef STOKER_SCHED_NEIGHBOURS_H
#define STOKER_SCHED_NEIGHBOURS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct neighbours;
struct who;        /* a pod as terms see it: its namespace and labels */
struct near_rules; /* the terms of one */

struct neighbours *neighbours_new(void);
void neighbours_free(struct neighbours *nb);

/* NULL if it has neither namespace nor labels. */
struct who *who_new(const json_t *pod);
void who_free(struct who *w);
bool who_is(const struct who *w, const json_t *pod);

/* NULL if it has none.  Terms that cannot be read mean nobody. */
struct near_rules *near_rules_new(struct neighbours *nb, const json_t *pod);
void near_rules_free(struct neighbours *nb, struct near_rules *r);

/* The labels of a node, or NULL: it is not known. */
void neighbours_set_node(struct neighbours *nb, size_t node, const json_t *labels);
/* The labels of a namespace, or NULL: it is gone.  True if they are others than before. */
bool neighbours_set_namespace(struct neighbours *nb, const char *name, const json_t *labels);
void neighbours_copy_namespaces(struct neighbours *nb, const struct neighbours *from);
/* Somebody sits down; `r` may be NULL.  True if this may have made room for who wants to be near it. */
bool neighbours_sit(struct neighbours *nb, struct who *w, struct near_rules *r, size_t node);
void neighbours_rise(struct neighbours *nb, struct who *w, struct near_rules *r, size_t node);

/* Whether any of this matters to a pod: it has rules, or those who sit do and mean it. */
bool neighbours_matter(struct neighbours *nb, struct who *w, const struct near_rules *r);
/* Whether it is meant by an anti-affinity of somebody who sits. */
bool neighbours_shun(struct neighbours *nb, struct who *w);
/* Whether some nodes are liked more than others. */
bool neighbours_have_wishes(struct neighbours *nb, struct who *w, const struct near_rules *r);

/* Which nodes count for an even spread: those that the pod's node affinity allows, or also its tolerations. */
struct near_nodes {
	bool all; /* the pod's node affinity allows all */
	bool (*counts)(void *arg, size_t node, bool affinity, bool taints);
	void *arg;
};
/* Before near_judge() and near_score(): numbers for spreading, as they are now. */
void near_prepare(struct neighbours *nb, struct near_rules *r, const struct near_nodes *nodes);

enum near_verdict { NEAR_OK, NEAR_SPREAD_LABEL, NEAR_SPREAD, NEAR_AFFINITY, NEAR_ANTI, NEAR_OTHERS_ANTI, NEAR__COUNT };
/* May it sit there?  The first refusal, in Kubernetes' order. */
enum near_verdict near_judge(struct neighbours *nb, struct who *w, const struct near_rules *r, size_t node);
/* As Kubernetes puts it. */
const char *near_text(enum near_verdict v);
/* How much it would like the node; higher is better. */
int64_t near_score(struct neighbours *nb, struct who *w, const struct near_rules *r, size_t node);

#endif
