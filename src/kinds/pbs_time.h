// SPDX-License-Identifier: Apache-2.0
/* pbs_time.h - how long a PBS job has run, as its limit counts it; pure
 *
 * Time in which it is suspended is not walltime.  The status of a PBSJob, or the entry of an element in status.active,
 * has since when it is (suspendTime) and how long it was before (suspendedSeconds).
 */
#ifndef STOKER_KINDS_PBS_TIME_H
#define STOKER_KINDS_PBS_TIME_H

#include <jansson.h>
#include <stdint.h>

/* In the "used" of a pod's status: seconds from its start to its end, with six decimals. */
#define PBS_RUNTIME "runtime"

/* Seconds of this run until then, which is in seconds since 1970. */
int64_t pbs_time_suspended(const json_t *run, int64_t until);
int64_t pbs_time_used(const json_t *run, int64_t until);

#endif
