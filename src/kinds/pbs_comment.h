// SPDX-License-Identifier: Apache-2.0
/* pbs_comment.h - what the comment of a PBS job says, whoever says it; pure */
#ifndef STOKER_KINDS_PBS_COMMENT_H
#define STOKER_KINDS_PBS_COMMENT_H

#include <stddef.h>
#include <stdint.h>

#define PBS_NOT_RUNNING "Not Running: "
#define PBS_STARTED     "Job started on "

/* With its number and a colon: what an event of an array is about, if it is about one element. */
#define PBS_ELEMENT_EVENT "Element "

/* "Thu May 06 at 17:06" */
#define PBS_DATE 40
void pbs_date(int64_t seconds, char out[PBS_DATE]);

/* These write a text of at most n bytes. */
void pbs_comment_started(int64_t at, char *out, size_t n);
void pbs_comment_held(const char *letters, char *out, size_t n);
void pbs_comment_until(int64_t at, char *out, size_t n);
/* An element of an array that runs as many as it may: so many. */
void pbs_comment_slots(int64_t slots, char *out, size_t n);
/* An element that comes after others that have no room yet. */
void pbs_comment_behind(char *out, size_t n);

#endif
