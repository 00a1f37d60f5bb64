// SPDX-License-Identifier: Apache-2.0
/* paths.h - the paths of -o and -e as they are kept: HOST:/absolute/path, with / at the end for a directory */
#ifndef STOKER_PBS_PATHS_H
#define STOKER_PBS_PATHS_H

#include <stdbool.h>

#include "base/str.h"

/* Where a job is submitted. */
struct place {
	const char *host;
	const char *cwd;
	const char *(*variable)(const char *name);
	bool (*is_directory)(const char *path);
};

/* False if it has control characters or is empty.  A directory keeps a / at its end: the job's default name comes
 * behind it. */
bool path_prepare(const char *text, const struct place *at, struct sbuf *out);
/* The working directory as people see it: $PWD if that is where we are. */
char *path_cwd(void);
/* An absolute path, by `cwd`. */
char *path_absolute(const char *path, const char *cwd);

#endif
