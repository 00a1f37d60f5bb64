// SPDX-License-Identifier: Apache-2.0
/* day_files.h - files of lines that are named by days, such as 20261116, in one directory */
#ifndef STOKER_BASE_DAY_FILES_H
#define STOKER_BASE_DAY_FILES_H

#include <stdint.h>

#include "base/str.h"

#define DAY_NAME 9
/* The local day of a time in seconds since 1970. */
void day_name(int64_t seconds, char out[DAY_NAME]);

/* Those in a directory, oldest first; none if it cannot be read. */
struct day_list {
	char **names;
	size_t n;
};
struct day_list day_list(const char *dir);
void day_list_done(struct day_list *l);

/* Reads them a piece at a time, for days may be long: from the day of that time on. */
struct day_files;
struct day_files *day_files_open(const char *dir, int64_t since);
/* Calls back for every line that ends in the next piece; the line has its end.  False: there are no more pieces. */
bool day_files_read(struct day_files *d, void (*on_line)(void *arg, struct str line), void *arg);
void day_files_close(struct day_files *d);

#endif
