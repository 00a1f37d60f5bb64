// SPDX-License-Identifier: Apache-2.0
/* pbs_process.h - what the process of a PBS job is: arguments, environment, directory, files of its output; pure
 *
 * For the node, which runs it, and for who makes it a container of another cluster.
 */
#ifndef STOKER_KINDS_PBS_PROCESS_H
#define STOKER_KINDS_PBS_PROCESS_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

/* Who a job runs as. */
struct pbs_account {
	const char *name, *home, *shell;
	uint32_t uid, gid;
	const json_t *groups; /* further ones */
};

/* A job, or an element of an array, on one node. */
struct pbs_place {
	const json_t *job; /* PBSJob */
	int index;         /* of the element, or PBS_PLAIN */
	int rank;          /* of the node among the job's: 0 runs the script */
	bool alone;        /* the job has no other node */
	const struct pbs_account *account;
	const char *node;   /* this one's name */
	const char *dir;    /* where aux/ and spool/ are */
	const char *socket; /* of the server, if it is not where commands look for it; or NULL */
	const int *cards;   /* it has on this machine: indices, ascending */
	size_t ncards;
	bool hidden; /* other cards are hidden from it, so that the driver counts only its own */
};

/* What the controller says of where it runs; NULL: nothing yet. */
const char *pbs_process_hosts(const json_t *job, int index, const char *field /* execHost, execGpus */);

/* Indices of the cards that it has on a node, by execGpus: of all its parts there.  Ascending; how many. */
size_t pbs_process_cards(const json_t *job, int index, const char *node, int *ret, size_t max);

/* Lines of the node file: from execHost, or this node's own for a job that has no other. */
void pbs_node_file(const struct pbs_place *p, struct sbuf *out);
/* The same for cards; nothing if there are none. */
void pbs_gpu_file(const struct pbs_place *p, struct sbuf *out);
/* Is there a script to be put into the spool? */
bool pbs_has_script(const struct pbs_place *p);

/* Words that an error about the files of its output, or about what it runs, begins with; the node has one more. */
#define PBS_NO_OUTPUT "OutputUnwritable"
#define PBS_NO_EXEC   "ExecFailed"

/* The document of node/process_spec.h.  ERR_INVALID begins with such a word. */
int pbs_process(const struct pbs_place *p, json_t **ret, struct err *e);
/* The part of it that is about output, for a job in a container. */
int pbs_process_files(const struct pbs_place *p, json_t **ret, struct err *e);

#endif
