// SPDX-License-Identifier: Apache-2.0
/* config.h - torque.cfg: what a site says about submitting, and its filter */
#ifndef STOKER_PBS_CONFIG_H
#define STOKER_PBS_CONFIG_H

#include "base/err.h"
#include "pbs/pairs.h"

/* "NAME value" a line, # begins a comment; names in capitals.  No file: nothing. */
void config_read(struct pairs *ret);
void config_parse(struct str text, struct pairs *ret);

/* Runs a script through a filter, with qsub's arguments behind its name.  -1: *ret_text is what to tell. */
int filter_run(const char *filter, int argc, char *const *argv, struct str script, struct sbuf *out, struct err *e);

#endif
