// SPDX-License-Identifier: Apache-2.0
/* log_rest.h - the rest of a program's output, from its log, for who was joined with it and lost the server */
#ifndef STOKER_PBS_LOG_REST_H
#define STOKER_PBS_LOG_REST_H

#include "client/client.h"
#include "pbs/pbs.h"

/* Until the program has ended (0), the server goes away (-1), or *stop is set. */
int log_rest_write(struct client *c, const struct pbs_rest *rest, const bool *stop, struct err *e);
/* The query of one stream's (1 or 2) log from there on, appended; says how many bytes of it are to be skipped.  Pure.
 */
uint64_t log_rest_query(struct sbuf *out, const char *container, int stream, const struct terminal_told *told);

#endif
