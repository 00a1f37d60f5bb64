// SPDX-License-Identifier: Apache-2.0
/* measure_parts.h - what measure.c and measure_name.c share: what a word before a number means */
#ifndef STOKER_BASE_MEASURE_PARTS_H
#define STOKER_BASE_MEASURE_PARTS_H

#include "base/measure.h"

enum measure_word {
	MEASURE_WORD_UNKNOWN, /* counts only if it is written name=number or name: number */
	MEASURE_WORD_KNOWN,   /* loss, accuracy ... */
	MEASURE_WORD_EPOCH,
	MEASURE_WORD_STEP,  /* goes on through the epochs */
	MEASURE_WORD_BATCH, /* begins anew in each epoch */
	MEASURE_WORD_RANK,
	MEASURE_WORD_NONE, /* never something to draw: a port, a seed, a size */
};

/* `before` is the word that stands before it with only blanks between ("test" accuracy), or empty.  ret_name gets the
 * one spelling of a known or unknown name. */
enum measure_word measure_word(struct str before, struct str word, char ret_name[MEASURE_NAME]);

#endif
