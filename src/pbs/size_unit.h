// SPDX-License-Identifier: Apache-2.0
/* size_unit.h - sizes in one unit, as qstat -G and -M ask for.  Pure */
#ifndef STOKER_PBS_SIZE_UNIT_H
#define STOKER_PBS_SIZE_UNIT_H

#include "kinds/pbs_values.h"

/* In whole gigabytes ('G') or megawords ('M'), rounded up; with 0, or if it is no size, in `text` as it is. */
const char *size_in_unit(const char *size, char unit, char text[PBS_TEXT]);

#endif
