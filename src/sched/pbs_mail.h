// SPDX-License-Identifier: Apache-2.0
/* pbs_mail.h - which records of PBS's accounts their users are told of by mail, and in which words; pure
 *
 *	b  S            e  E            f  E with a status that is not 0
 *	a  A, an E that was not the script's own, and a D by somebody else
 */
#ifndef STOKER_SCHED_PBS_MAIL_H
#define STOKER_SCHED_PBS_MAIL_H

#include "sched/pbs_records.h"

/* The arguments of the program that sends it, for exec(), and what it reads.  False: nobody is told.  `settings` is the
 * PBSServer's spec; without a mailCommand there is no mail. */
bool pbs_mail(const struct pbs_record *r, const json_t *settings, json_t **ret_args, struct sbuf *out);

#endif
