// SPDX-License-Identifier: Apache-2.0
/* pbs_nodes.h - which nodes a PBS job asks for: "2:ppn=4:gpus=1:v100+1:cpu", or OpenPBS's "2:ncpus=4:ngpus=1"; pure
 *
 * A word that is no count may be the name of a host or a property: nobody can tell without the nodes, so it is kept as
 * a property, and every node has its own name as one.
 */
#ifndef STOKER_KINDS_PBS_NODES_H
#define STOKER_KINDS_PBS_NODES_H

#include <jansson.h>

#include "base/err.h"
#include "base/str.h"

/* Of a Node: a property is a label of this prefix; how many slots it has, if not as many as processors; and its name as
 * the machine writes it, for Kubernetes has no capital letters. */
#define PBS_PROPERTY_LABEL  "property.stoker.dev/"
#define PBS_NP_ANNOTATION   "stoker.dev/np"
#define PBS_HOST_ANNOTATION "stoker.dev/host"

#define PBS_FINALIZER  "stoker.dev/processes" /* of a PBSJob that is deleted while it runs, until it has ended */
#define PBS_HOST_CLASS "host-process"         /* runtimeClassName of pods that are processes of the machine */
#define PBS_NODES_MOST 10000                  /* nodes of one job */

/* `count` nodes that are alike. */
struct pbs_req {
	int count;
	int ppn;        /* lines in the node file, each */
	int cpus;       /* processors, each: ppn, or what a chunk's ncpus says */
	int gpus;       /* each */
	bool shared;    /* its cards may be others' too (gpumode shared or default) */
	int64_t memory; /* bytes, each; 0: it does not say */
	char **props;   /* case-sensitive; global ones too */
	size_t nprops;
};

struct pbs_nodes {
	struct pbs_req *reqs;
	size_t n;
	int count; /* nodes in all: nodect, PBS_NUM_NODES */
	int tasks; /* lines of the node file: PBS_NP */
	/* pbs_arrange.h: */
	bool apart; /* each is to be another machine */
	bool whole; /* which nobody else is to have */
};

/* ERR_INVALID says what is wrong with which part. */
int pbs_nodes_parse(const char *text, struct pbs_nodes *ret, struct err *e);
int pbs_select_parse(const char *text, struct pbs_nodes *ret, struct err *e);
/* What a job's resources (spec.resources) ask for in all: nodes or select, else procs, ncpus, gpus, else one node; and
 * mem or pmem where a chunk does not say its own. */
int pbs_nodes_of(const json_t *resources, struct pbs_nodes *ret, struct err *e);
/* The name that people and PBS know a Node by; borrowed. */
const char *pbs_host_of(const json_t *node);
/* The other way: the Node's own name, appended. */
void pbs_node_name(const char *host, struct sbuf *out);
void pbs_nodes_done(struct pbs_nodes *n);

#endif
