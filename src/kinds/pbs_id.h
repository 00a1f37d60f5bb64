// SPDX-License-Identifier: Apache-2.0
/* pbs_id.h - names of PBS jobs: 380963.Ghead, 189[].Ghead, 189[3].Ghead, 189[2-4], 189-3; pure */
#ifndef STOKER_KINDS_PBS_ID_H
#define STOKER_KINDS_PBS_ID_H

#include <jansson.h>

#include "base/str.h"

#define PBS_SERVER_NAME 256
#define PBS_INDEX_LABEL "stoker.dev/pbs-index" /* of a pod: which element of an array it is of */

struct pbs_id {
	int64_t sequence;
	bool array;                   /* has [...] */
	char elements[128];           /* what stands in the brackets: "", "3", "2-4" */
	char server[PBS_SERVER_NAME]; /* after the dot, or "" */
	char at[PBS_SERVER_NAME];     /* after the @, or "" */
};

/* False if it is none: it must begin with a digit. */
bool pbs_id_parse(const char *text, struct pbs_id *ret);
/* What a dependency names: a job, an element, or of an array so many elements, as 189[][4] or 189[].Ghead[4];
 * `ret_count` is 0 if it does not say how many. */
bool pbs_target_parse(const char *text, struct pbs_id *ret, int64_t *ret_count);
/* index: -1 none, -2 the array itself ("[]"). */
enum { PBS_PLAIN = -1, PBS_ARRAY = -2 };
void pbs_id_text(int64_t sequence, int index, const char *server, struct sbuf *out);
/* That of a PBSJob as it is known, or of its element `index`. */
void pbs_id_of(const json_t *job, int index, struct sbuf *out);
/* The name of a pod: the rank-th node of its run number `run`, counted from 0, or of that of its element `index`. */
void pbs_id_pod(const char *job, int index, int rank, int run, struct sbuf *out);

#endif
