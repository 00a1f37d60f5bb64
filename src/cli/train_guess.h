// SPDX-License-Identifier: Apache-2.0
/* train_guess.h - which framework a command line means.  Pure */
#ifndef STOKER_CLI_TRAIN_GUESS_H
#define STOKER_CLI_TRAIN_GUESS_H

#include "cli/train_job.h"

/* The framework that the command, the options or the imports of a script speak of, or NULL.  Borrowed. */
const char *train_guess(const struct run_options *run, const struct train_options *o);
/* Does the command start MPI programs by itself? */
bool train_is_mpirun(const char *word);

#endif
