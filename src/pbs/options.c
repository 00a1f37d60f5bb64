// SPDX-License-Identifier: Apache-2.0
/* options.c - qsub's and qalter's options: the table and its readers */
#include "pbs/options.h"

#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_error.h"
#include "pbs/attributes.h"
#include "pbs/checks.h"
#include "pbs/resources.h"
#include "pbs/variables.h"
#include "pbs/words.h"

struct option {
	char letter;
	const char *arg; /* NULL: a flag */
	value_check *check;
	/* Instead of check: for values that are merged, or refused in their own way. */
	int (*take)(struct ask *a, const char *value, enum source source, struct err *e);
	const char *help;
	const char *must; /* what a value must be, where the help does not say it */
	bool alter;       /* qalter's own */
	bool refused; /* only root or another scheduler could do it: not left undone in silence; the help says why */
};

void ask_done(struct ask *a)
{
	pairs_done(&a->options);
	pairs_done(&a->resources);
	pairs_done(&a->variables);
	pairs_done(&a->attributes);
	free(a->extra);
	free(a->detail);
}

const char *ask_find(const struct ask *a, char letter)
{
	return pairs_find(&a->options, (char[]){ letter, 0 });
}

int ask_refuse(struct ask *a, struct err *e, enum refusal how, int status, const char *fmt, ...)
{
	auto_free char *text = NULL;
	va_list ap;

	va_start(ap, fmt);
	text = xvasprintf(fmt, ap);
	va_end(ap);
	a->refusal = how;
	a->status = status;
	return err_set(e, ERR_INVALID, "%s", text);
}

int ask_illegal(struct ask *a, struct err *e, char letter, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	free(a->detail);
	a->detail = xvasprintf(fmt, ap);
	va_end(ap);
	return ask_refuse(a, e, REFUSE_USAGE, 2, "illegal -%c value%s", letter, letter == 'r' ? " (y/n)" : "");
}

static void set(struct ask *a, char letter, const char *value, enum source source)
{
	pairs_set(&a->options, (struct str){ &letter, 1 }, str_of(value), source);
}

/* ---- values with ways of their own ---- */

static int take_resources(struct ask *a, const char *value, enum source source, struct err *e)
{
	struct err why = ERR_INIT;

	switch (pbs_resources_add(&a->resources, value, source, &why)) {
	case RESOURCES_OK:
		return 0;
	case RESOURCES_NO_VALUE:
		return ask_refuse(a, e, REFUSE_PLAIN, 1, "illegal -l value: %s", why.text);
	case RESOURCES_UNKNOWN:
		return ask_refuse(a, e, REFUSE_SUBMIT, PBSE_UNKRESC % 256, "%s", why.text);
	default:
		return ask_illegal(a, e, 'l', "%s", why.text);
	}
}

static const char *variable_of_environment(const char *name)
{
	return getenv(name);
}

static int take_variables(struct ask *a, const char *value, enum source source, struct err *e)
{
	if (variables_add(&a->variables, value, variable_of_environment, source) == 0)
		return 0;
	return ask_refuse(a, e, REFUSE_BARE, 3, "invalid -v syntax");
}

static int take_destination(struct ask *a, const char *value, enum source source, struct err *e)
{
	auto_sbuf struct sbuf queue = SBUF(256);

	if (!destination_queue(value, &queue))
		return ask_refuse(a, e, REFUSE_PLAIN, 2, "illegally formed destination: %s", value);
	set(a, 'q', value, source);
	return 0;
}

static int take_array(struct ask *a, const char *value, enum source source, struct err *e)
{
	struct err why = ERR_INIT;
	struct pbs_set indexes;
	int slots;

	if (strchr(value, ':') || pbs_array_parse(value, &indexes, &slots, &why) < 0) {
		pbs_error_set(e, ERR_INVALID, PBSE_BAD_ARRAY_REQ, "-t %s", value);
		a->refusal = REFUSE_SUBMIT;
		a->status = PBSE_BAD_ARRAY_REQ % 256;
		return -1;
	}
	pbs_set_done(&indexes);
	set(a, 't', value, source);
	return 0;
}

/* Which elements there are was settled by qsub: here it is said which are meant, or how many run at once. */
static int take_slots(struct ask *a, const char *value, enum source source, struct err *e)
{
	struct pbs_set which = { 0 };
	struct err why = ERR_INIT;
	int64_t slots;
	int n;
	bool good = value[0] == '%' ? str_int64(value + 1, 1, INT32_MAX, &slots)
				    : pbs_array_parse(value, &which, &n, &why) == 0;

	pbs_set_done(&which);
	if (!good)
		return ask_illegal(a, e, 't', "-t \"%s\": must be indexes, such as 2-4, or %%SLOTS, such as %%5",
				   value);
	set(a, 't', value, source);
	return 0;
}

/* In the order of the alphabet. */
static const struct option options[] = {
	{ 'a', "TIME", check_time, NULL, "not before [[[[CC]YY]MM]DD]hhmm[.SS]", "[[[[CC]YY]MM]DD]hhmm[.SS]" },
	{ 'A', "ACCOUNT", check_text, NULL, "account", "a name" },
	{ 'b', "SECONDS", check_retry, NULL, "how long to try to reach the server", "a number of seconds" },
	{ 'c', "WORDS", check_checkpoint, NULL, "checkpointing; kept, without effect",
	  "words of n, s, c, c=MINUTES, none, enabled, shutdown, periodic, interval=MINUTES, depth=N, dir=PATH, joined "
	  "by commas" },
	{ 'C', "PREFIX", NULL, NULL, "what directives begin with (#PBS); \"\" for none" },
	{ 'd', "DIR", check_directory, NULL, "directory the job starts in (the home directory)", "a directory" },
	{ 'D', "DIR", NULL, NULL, "jobs with another root directory are not supported here: -l image",
	  .refused = true },
	{ 'e', "[HOST:]PATH", check_path, NULL, "where standard error goes", "a path without control characters" },
	{ 'E', NULL, NULL, NULL, "as -n" },
	{ 'f', NULL, NULL, NULL, "taken, without effect" },
	{ 'F', "ARGUMENTS", NULL, NULL, "arguments of the script" },
	{ 'h', NULL, NULL, NULL, "hold the job until it is released" },
	{ 'i', "N", check_positive, NULL, "how many elements of an array wait at once", "a number from 1 on" },
	{ 'I', NULL, NULL, NULL, "an interactive job" },
	{ 'j', "oe|eo|n", check_join, NULL, "both streams into one file" },
	{ 'J', "X-Y[:STEP][%SLOTS]", check_steps, NULL, "an array, as OpenPBS writes it", "X-Y[:STEP][%SLOTS]" },
	{ 'k', "WHAT", check_keep, NULL, "keep o, e, oe in the home directory; n for none; with d in the final place",
	  "n, or letters of oe (and d)" },
	{ 'K', "SECONDS", check_positive, NULL, "between SIGTERM and SIGKILL", "a number of seconds from 1 on" },
	{ 'l', "RESOURCES", NULL, take_resources, "resources: nodes=1:gpus=1:S,walltime=24:00:00" },
	{ 'L', "REQUEST", NULL, NULL, "requests of this form are not supported here: use -l", .refused = true },
	{ 'm', "POINTS", check_mail_points, NULL, "when to write mail: letters of abef, n for never",
	  "n, p, or letters of abefj" },
	{ 'M', "USERS", check_users, NULL, "to whom", "USER[@HOST], joined by commas" },
	{ 'n', NULL, NULL, NULL, "nodes for this job alone" },
	{ 'N', "NAME", check_name, NULL, "name of the job",
	  "up to 236 letters, digits and _.+-,=:@%~^, the first a letter, digit or one of _.+-" },
	{ 'o', "[HOST:]PATH", check_path, NULL, "where standard output goes", "a path without control characters" },
	{ 'p', "PRIORITY", check_priority, NULL, "from -1024 to 1023", "a number from -1024 to 1023" },
	{ 'P', "PROJECT", check_text, NULL, "project", "a name" },
	{ 'q', "QUEUE", NULL, take_destination, "queue" },
	{ 'r', "y|n", check_yes_no, NULL, "whether the job may be run again" },
	{ 'R', "oe", NULL, NULL, "files are not removed here: write to /dev/null (-o, -e)", .refused = true },
	{ 'S', "PATH[@HOST],...", check_shells, NULL, "shell that runs the script",
	  "absolute paths, PATH[@HOST] joined by commas, one without a host" },
	{ 't', "INDEXES[%SLOTS]", NULL, take_array, "an array: 0-9,20%5" },
	{ 'T', "NAME", NULL, NULL, "there are no prologues here", .refused = true },
	{ 'u', "USER[@HOST],...", check_users, NULL, "run as another user, if that is allowed" },
	{ 'v', "NAME[=VALUE],...", NULL, take_variables, "variables of the job" },
	{ 'V', NULL, NULL, NULL, "all variables of this shell" },
	{ 'w', "DIR", check_text, NULL, "what PBS_O_WORKDIR says", "a path" },
	{ 'W', "ATTRIBUTE=VALUE,...", NULL, attributes_add,
	  "depend, group_list, umask, stagein, stageout, block, ..." },
	{ 'x', NULL, NULL, NULL, "with -I: the script is the command" },
	{ 'X', NULL, NULL, NULL, "X11 is not passed on here", .refused = true },
	{ 'z', NULL, NULL, NULL, "do not print the job's id" },
	{ 'h', "HOLDS", check_holds, NULL, "holds: letters of u, o and s; n for none", .alter = true },
	{ 'n', "y|n", check_yes_no, NULL, "nodes for this job alone", .alter = true },
	{ 't', "[INDEXES][%SLOTS]", NULL, take_slots, "only these elements of an array; how many run at once",
	  .alter = true },
};

/* What qalter has as qsub does; it has -h, -n and -t, too, with rows of their own. */
static const char alter_letters[] = "aAcejkKlLmMNopPqrSuvW";

/* The next option of a program after `o`, or its first after NULL; NULL at the end. */
static const struct option *next(bool alter, const struct option *o)
{
	for (o = o ? o + 1 : options; o < options + ARRAY_SIZE(options); o++)
		if (alter ? o->alter || strchr(alter_letters, o->letter) : !o->alter)
			return o;
	return NULL;
}

static const struct option *find(bool alter, char letter)
{
	const struct option *o = NULL;

	while ((o = next(alter, o)) && o->letter != letter)
		;
	return o;
}

static int take(struct ask *a, const struct option *o, const char *value, enum source source, struct err *e)
{
	if (o->refused)
		return ask_refuse(a, e, REFUSE_PLAIN, 2, "-%c: %s", o->letter, o->help);
	if (o->take)
		return o->take(a, value, source, e);
	if (o->check && !o->check(value))
		return ask_illegal(a, e, o->letter, "-%c \"%s\": must be %s", o->letter, value,
				   o->must ? o->must : o->arg);
	if (o->letter != 'C' || source == FROM_ARGV)
		set(a, o->letter, value, source);
	return 0;
}

/* The options of one word, and of the next if the last one needs it; how many words that were, or -1. */
static int take_word(struct ask *a, int n, char *const *words, enum source source, struct err *e)
{
	for (const char *p = words[0] + 1; *p; p++) {
		const struct option *o = find(a->alter, *p);

		if (!o)
			return ask_refuse(a, e, REFUSE_USAGE, 2, "invalid option -%c", *p);
		if (!o->arg) {
			if (take(a, o, "", source, e) < 0)
				return -1;
			continue;
		}
		if (!p[1] && n < 2)
			return ask_refuse(a, e, REFUSE_USAGE, 2, "option -%c needs a value", *p);
		if (take(a, o, p[1] ? p + 1 : words[1], source, e) < 0)
			return -1;
		return p[1] ? 1 : 2;
	}
	return 1;
}

void ask_refused_at(struct ask *a, size_t line)
{
	char *said = a->detail;

	a->detail = xasprintf("line %zu of the script%s%s", line, said ? ": " : "", said ? said : "");
	free(said);
}

int options_directive(struct ask *a, struct str text, struct err *e)
{
	auto_words struct words w = { 0 };
	struct err why = ERR_INIT;
	size_t i = 0;

	if (words_split(text, true, &w, &why) < 0)
		return ask_refuse(a, e, REFUSE_PLAIN, 1, "directive error: %s", why.text);
	while (i < w.n) {
		int n = 1;

		if (streq(w.items[i], "--"))
			return 0;
		if (w.items[i][0] == '-' && w.items[i][1])
			n = take_word(a, (int)(w.n - i), w.items + i, FROM_SCRIPT, e);
		if (n < 0)
			return -1;
		i += (size_t)n;
	}
	return 0;
}

/* After --: a command, which there must be, and no script beside it. */
static int take_command(struct ask *a, char *const *words, struct err *e)
{
	if (!words[0] || a->script)
		return ask_refuse(a, e, REFUSE_SHORT, 2, "usage");
	a->command = words;
	return 0;
}

int options_argv(struct ask *a, int argc, char *const *argv, struct err *e)
{
	int i = 1;

	while (i < argc) {
		const char *word = argv[i];
		int n = 1;

		if (streq(word, "--"))
			return take_command(a, argv + i + 1, e);
		if (word[0] == '-' && word[1])
			n = take_word(a, argc - i, argv + i, FROM_ARGV, e);
		else if (a->script)
			ARRAY_PUSH(a->extra, a->nextra, a->cap_extra, word);
		else
			a->script = word;
		if (n < 0)
			return -1;
		i += n;
	}
	if (a->nextra && !(ask_find(a, 'I') && ask_find(a, 'x')))
		return ask_refuse(a, e, REFUSE_SHORT, 2, "usage");
	return 0;
}

/* What the server would refuse it refuses for each job: the words after it are still looked at. */
int options_alter(struct ask *a, int argc, char *const *argv, char **ids, int *ret_n, struct err *e)
{
	bool refused = false;
	int i = 1;
	int n = 0;

	a->alter = true;
	while (i < argc) {
		int used = 1;

		if (argv[i][0] == '-' && argv[i][1]) {
			struct err other = ERR_INIT;

			used = take_word(a, argc - i, argv + i, FROM_ARGV, refused ? &other : e);
		} else {
			ids[n++] = argv[i];
		}
		if (used < 0 && a->refusal != REFUSE_SUBMIT)
			return -1;
		refused |= used < 0;
		i += used > 0 ? used : argv[i][2] ? 1 : 2;
	}
	*ret_n = n;
	if (!n)
		return ask_refuse(a, e, REFUSE_SHORT, 2, "usage");
	return refused ? -1 : 0;
}

void options_environment(struct ask *a)
{
	const char *prefix = getenv("PBS_DPREFIX");

	if (prefix)
		set(a, 'C', prefix, FROM_ENVIRONMENT);
}

void options_usage(bool alter, struct sbuf *out)
{
	const char *head = alter ? "usage: qalter" : "usage: qsub";
	const struct option *o = NULL;
	size_t column = strlen(head);

	sbuf_adds(out, head);
	while ((o = next(alter, o))) {
		size_t n = sizeof(" [-x]") - 1 + (o->arg ? 1 + strlen(o->arg) : 0);

		if (o->refused)
			continue;
		if (column + n > 79) {
			sbuf_addf(out, "\n%*s", (int)strlen(head), "");
			column = strlen(head);
		}
		sbuf_addf(out, " [-%c%s%s]", o->letter, o->arg ? " " : "", o->arg ? o->arg : "");
		column += n;
	}
	sbuf_addf(out, "\n%*s %s\n", (int)strlen(head), "",
		  alter ? "JOB..." : "[SCRIPT | - | -- COMMAND [ARGUMENT...]]");
}

void options_help(bool alter, struct sbuf *out)
{
	const struct option *o = NULL;

	while ((o = next(alter, o)))
		if (!o->refused)
			sbuf_addf(out, "  -%c %-20s %s\n", o->letter, o->arg ? o->arg : "", o->help);
}
