// SPDX-License-Identifier: Apache-2.0
/* options.h - qsub's and qalter's options: one table, read from the environment, from directives and from the command
 * line
 *
 * Each word is checked where it stands, also if a stronger one follows.  What is asked for in the end is in `struct
 * ask`, as text; pbs/job.c makes a PBSJob of it.
 */
#ifndef STOKER_PBS_OPTIONS_H
#define STOKER_PBS_OPTIONS_H

#include "base/err.h"
#include "pbs/pairs.h"

/* How a refusal is shown. */
enum refusal {
	REFUSE_PLAIN,  /* qsub: TEXT */
	REFUSE_USAGE,  /* [qsub: TEXT], DETAIL, an empty line, the usage */
	REFUSE_BARE,   /* TEXT */
	REFUSE_SUBMIT, /* qsub: submit error (TEXT), as if the server had said it */
	REFUSE_SHORT,  /* the usage alone */
};

struct ask {
	bool alter;           /* qalter asks: some options mean something else, and some are not for it */
	struct pairs options; /* by letter; flags have "" */
	struct pairs resources, variables, attributes;
	const char *script;   /* operand, or NULL: standard input */
	char *const *command; /* after --, or NULL */
	const char **extra;   /* further operands, which only -I -x may have: arguments of the script */
	size_t nextra, cap_extra;
	int status; /* after a refusal: qsub's exit status */
	enum refusal refusal;
	char *detail; /* what exactly is wrong, or NULL */
};

void ask_done(struct ask *a);
/* Text of an option, "" for a flag, NULL if it was not given. */
const char *ask_find(const struct ask *a, char letter);
/* -1, and how qsub ends. */
int ask_refuse(struct ask *a, struct err *e, enum refusal how, int status, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));
/* illegal -X value, with what is wrong with it. */
int ask_illegal(struct ask *a, struct err *e, char letter, const char *fmt, ...) __attribute__((format(printf, 4, 5)));

/* The command line: options in any place, then at most one operand, or -- and a command. */
int options_argv(struct ask *a, int argc, char *const *argv, struct err *e);
/* qalter's: options in any place; the others are put into `ids`, which has room for argc. */
int options_alter(struct ask *a, int argc, char *const *argv, char **ids, int *ret_n, struct err *e);
/* Adds the line of the script to what exactly is wrong. */
void ask_refused_at(struct ask *a, size_t line);
/* One directive's text: words that are no options are left alone, as is -C. */
int options_directive(struct ask *a, struct str text, struct err *e);
/* What the environment asks for. */
void options_environment(struct ask *a);

/* The usage, and a line for each option. */
void options_usage(bool alter, struct sbuf *out);
void options_help(bool alter, struct sbuf *out);

#endif
