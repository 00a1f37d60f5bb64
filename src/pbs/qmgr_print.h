// SPDX-License-Identifier: Apache-2.0
/* qmgr_print.h - objects as qmgr prints and lists them; pure */
#ifndef STOKER_PBS_QMGR_PRINT_H
#define STOKER_PBS_QMGR_PRINT_H

#include "pbs/qmgr_parse.h"

/* Commands that make the object as it is; with items only those attributes. */
void qmgr_print(enum qmgr_object kind, const json_t *object, const struct qmgr_command *c, struct sbuf *out);
/* The comments that `print server` has around them. */
void qmgr_print_head(struct sbuf *out);
void qmgr_print_server_head(struct sbuf *out);
/* Its name, then an attribute a line; with items only those. */
void qmgr_list(enum qmgr_object kind, const char *name, const struct pbs_attributes *a, const struct qmgr_command *c,
	       struct sbuf *out);
const struct setting *qmgr_settings(enum qmgr_object kind);
/* What people call it. */
const char *qmgr_name(enum qmgr_object kind, const json_t *object);
/* "queue" */
const char *qmgr_word(enum qmgr_object kind);
/* The server's words about an object, its fields called as they are in qmgr: spec.maxWalltime is
 * resources_max.walltime. */
void qmgr_words(enum qmgr_object kind, const char *text, struct sbuf *out);

#endif
