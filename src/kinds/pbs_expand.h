// SPDX-License-Identifier: Apache-2.0
/* pbs_expand.h - variables in the paths of a PBS job's files: $PBS_JOBID, ${HOME}, ~, ^array_index^; pure
 *
 * No shell: nothing is run, blanks and quotes stay as they are, and what a variable holds is not looked at again.
 */
#ifndef STOKER_KINDS_PBS_EXPAND_H
#define STOKER_KINDS_PBS_EXPAND_H

#include "base/err.h"
#include "base/str.h"

/* The value of a variable of the job's environment, or NULL. */
typedef const char *pbs_lookup(void *arg, const char *name);

/* Appends the path with its variables replaced.  ~ and ~/... are $HOME, ^array_index^ is $PBS_ARRAYID.  A variable that
 * is not there, or a ${ without its }, is ERR_INVALID that names it. */
int pbs_expand(const char *path, pbs_lookup *lookup, void *arg, struct sbuf *out, struct err *e);
/* Does the path differ between the elements of an array by itself?  Then no -INDEX is put behind it. */
bool pbs_expand_tells_apart(const char *path);

#endif
