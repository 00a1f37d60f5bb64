// SPDX-License-Identifier: Apache-2.0
/* near_parts.h - the inside of neighbours, shared by neighbours.c and near_rules.c only */
#ifndef STOKER_SCHED_NEAR_PARTS_H
#define STOKER_SCHED_NEAR_PARTS_H

#include "base/map.h"
#include "kinds/selector.h"
#include "sched/neighbours.h"

/* Values of one node label: nodes with the same value are one domain. */
struct topology {
	char *key;
	int refs;
	struct map values; /* value -> domain + 1 */
	int32_t domains;
	int32_t *of;     /* by node; -1: it has no such label */
	int32_t *nodes;  /* by domain: so many are in it */
	int32_t cap;     /* domains that there is room for */
	int32_t missing; /* nodes that are known, but have no such label */
};

/* One condition on a pod. */
struct clause {
	bool everywhere;   /* in all namespaces */
	char **namespaces; /* or in these */
	size_t n, cap;
	struct selector *among; /* or those that it means, by their labels; NULL: none */
	struct selector *labels;
};

/* Pods for which all clauses hold. */
struct crowd {
	char *text;
	int refs;
	struct clause *clauses;
	size_t n, cap;
	uint32_t *at; /* by node: how many sit there */
	struct tie **ties;
	size_t nties, cap_ties;
	unsigned hopes; /* rules that somebody of the crowd can make room for */
};

/* A crowd as a topology sees it; by domain. */
struct tie {
	int refs;
	struct crowd *crowd;
	struct topology *topology;
	int32_t cap;   /* domains that there is room for */
	int32_t *have; /* so many of the crowd */
	int32_t *shun; /* so many who do not want any of the crowd */
	int64_t *pull; /* how much those who sit there would like somebody of the crowd */
	int64_t have_all, shun_all;
	unsigned pullers;
};

struct who {
	char *namespace;
	char *labels; /* key, value, key, value, ..., each with its NUL */
	size_t n;     /* bytes */
	/* The crowds it belongs to, of the first `known` that there are. */
	struct crowd **in;
	size_t nin, cap_in, known;
	uint64_t purge; /* of neighbours */
};

struct wish {
	struct tie *tie;
	int64_t weight;
};

struct spread {
	struct tie *tie;
	int64_t max_skew, min_domains;
	bool hard, affinity, taints;
	bool self; /* it is of the crowd itself */
	/* As of near_prepare(). */
	int64_t *count; /* by domain; -1: no node of it counts */
	int32_t cap;
	int64_t least;
};

struct near_rules {
	struct tie **need, **shun;
	size_t nneed, nshun, cap_need, cap_shun;
	struct wish *wishes;
	size_t nwishes, cap_wishes;
	struct spread *spreads;
	size_t nspreads, cap_spreads;
	bool soft; /* one of these is only a wish */
};

struct sitter {
	struct who *who;
	struct near_rules *rules;
};

struct neighbours {
	struct map by_text;    /* of crowds */
	struct map namespaces; /* name -> labels, json_t */
	struct crowd **crowds;
	size_t ncrowds, cap_crowds;
	uint64_t purge; /* grows when a crowd goes, or a namespace has other labels */
	struct topology **topologies;
	size_t ntopologies, cap_topologies;
	size_t nodes; /* numbers that there is room for */
	json_t **labels;
	struct sitters {
		struct sitter *items;
		size_t n, cap;
	} * sitters; /* by node */
};

bool crowd_has(const struct neighbours *nb, const struct crowd *c, const char *namespace, const json_t *labels);
/* One reference; takes over the clauses. */
struct tie *tie_of(struct neighbours *nb, struct clause *clauses, size_t n, const char *text, const char *key);
void tie_unref(struct neighbours *nb, struct tie *t);
void clauses_free(struct clause *c, size_t n);
/* The domain of a node, or -1. */
static inline int32_t tie_domain(const struct tie *t, size_t node)
{
	return t->topology->of[node];
}
/* The crowds it is in, as they are now. */
void who_refresh(struct neighbours *nb, struct who *w);
/* Room for the domains that there are. */
void tie_widen(struct tie *t);

#endif
