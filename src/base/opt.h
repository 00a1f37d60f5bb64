// SPDX-License-Identifier: Apache-2.0
/* opt.h - option tables: one row is parsed, shown in --help, completed by bash and checked against the man page
 *
 * A command owns a struct of settings and a table of rows that point into it.
 */
#ifndef STOKER_BASE_OPT_H
#define STOKER_BASE_OPT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/str.h"

enum opt_type {
	OPT_FLAG,     /* bool */
	OPT_STRING,   /* const char *, borrowed from argv */
	OPT_STRINGS,  /* struct opt_strings: may be given several times */
	OPT_INT,      /* int64_t within [min, max] */
	OPT_DURATION, /* int64_t seconds: 90s, 1h30m, 2d */
	OPT_CHOICE    /* const char *, one of `choices` */
};

struct opt_strings {
	const char **items;
	size_t n;
	size_t cap;
};

struct opt {
	const char *name; /* "data": --data X, --data=X */
	char letter;      /* 'n': -n X, or 0 */
	enum opt_type type;
	size_t offset;   /* of the member in the settings struct */
	const char *arg; /* "DIR" in the help */
	const char *help;
	int64_t min, max;    /* OPT_INT */
	const char *choices; /* OPT_CHOICE: "auto|crun|runc|fake" */
};

#define OPT_END                                                                                                        \
	{                                                                                                              \
		.name = NULL                                                                                           \
	}

/* Fills `settings` from argv (argv[0] is skipped) and leaves the positional arguments in *ret_rest (borrowed, a count
 * in *ret_nrest).  "--" ends options.  Unknown options are ERR_BAD_REQUEST and name the nearest known one.  With
 * `stop_at_first` the first positional argument ends options too (for commands that run commands). */
int opt_parse(const struct opt *opts, void *settings, int argc, char **argv, bool stop_at_first, char ***ret_rest,
	      int *ret_nrest, struct err *e);
/* The options' part of a --help text. */
void opt_help(const struct opt *opts, struct sbuf *out);
void opt_strings_done(struct opt_strings *s);
/* The row closest in spelling to `name` or NULL: for "did you mean". */
const char *opt_nearest(const char *name, const char *const *names, size_t n);

#endif
