// SPDX-License-Identifier: Apache-2.0
/* work_rules.h - when a workload may start, besides room: annotations of it, of its pods, or of their template; pure
 *
 *	stoker.dev/hold        user, operator, system: any of them, with commas
 *	stoker.dev/not-before  a time
 *	stoker.dev/after       other workloads that must have ended (after.h)
 *	stoker.dev/slots       how many of its pods run at once
 *
 * What a workload says goes for all its pods.
 */
#ifndef STOKER_KINDS_WORK_RULES_H
#define STOKER_KINDS_WORK_RULES_H

#include "kinds/kind.h"
#include "kinds/queue.h"

#define AFTER_ANNOTATION "stoker.dev/after"
#define SLOTS_ANNOTATION "stoker.dev/slots"
/* The text of stoker.dev/after when all of it came true: what has ended may be gone by the next look. */
#define AFTER_MET_ANNOTATION "stoker.dev/after-met"
/* When it was evicted last, for whom and why: "2026-11-16T11:36:00Z by job/urgent, which has a higher priority". */
#define PREEMPTED_ANNOTATION "stoker.dev/preempted"

/* Bits of sched/work.h: enum work_hold. */
enum hold_word { HOLD_WORD_USER = 1 << 0, HOLD_WORD_OPERATOR = 1 << 1, HOLD_WORD_SYSTEM = 1 << 2 };
/* false if one of the words is none of the three; *ret_bits has the others. */
bool hold_parse(const char *text, unsigned *ret_bits);
/* "user,operator"; "" for none. */
void hold_text(unsigned bits, struct sbuf *out);

/* An annotation's text, or "". */
const char *work_note(const json_t *obj, const char *annotation);
/* Whether the object says any of it. */
bool work_rules_any(const json_t *obj);
/* Adds what is wrong to e; `at` is the path of the object that has the metadata, or NULL.  What `old`, or NULL, said
 * already is left alone. */
void work_rules_check(const json_t *obj, const json_t *old, const struct path *at, struct err *e);

#endif
