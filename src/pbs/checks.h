// SPDX-License-Identifier: Apache-2.0
/* checks.h - whether an option's value is one; pure but for check_directory() */
#ifndef STOKER_PBS_CHECKS_H
#define STOKER_PBS_CHECKS_H

#include <stdbool.h>

#include "base/str.h"

typedef bool value_check(const char *value);

value_check check_text, check_time, check_checkpoint, check_directory, check_path, check_positive, check_join,
	check_keep, check_mail_points, check_name, check_priority, check_yes_no, check_remove, check_shells,
	check_users, check_steps, check_retry, check_holds;

/* A job's name made of a file's: what may not be in it becomes _. */
void name_from_path(const char *path, struct sbuf *out);
/* QUEUE, @SERVER or QUEUE@SERVER; the queue (may be empty) is appended. */
bool destination_queue(const char *text, struct sbuf *queue);
/* Octal if it looks like it, else decimal; false beyond 0777. */
bool umask_parse(const char *text, unsigned *ret);

#endif
