// SPDX-License-Identifier: Apache-2.0
/* depend.h - -W depend: "afterok:12:13,on:2" as a PBSJob's spec.dependencies; pure */
#ifndef STOKER_PBS_DEPEND_H
#define STOKER_PBS_DEPEND_H

#include <jansson.h>

#include "base/err.h"

/* *ret is an array, empty for an empty text.  ERR_INVALID says which part is wrong. */
int depend_parse(const char *text, json_t **ret, struct err *e);

#endif
