// SPDX-License-Identifier: Apache-2.0
/* opt.c - command lines by table
 *
 * Long options take "--name value" or "--name=value", short ones "-n value" or "-nvalue"; short flags may share a dash.
 * Positional arguments are moved to the end of argv in their order, so nothing is allocated for them.
 */
#include "base/opt.h"

#include <stdint.h>

#include "base/clock.h"
#include "base/mem.h"

#define HELP_COLUMN 28 /* where the help text begins; longer options get a line of their own */

static const struct opt *find_long(const struct opt *opts, struct str name)
{
	for (; opts->name; opts++)
		if (str_eq(name, opts->name))
			return opts;
	return NULL;
}

static const struct opt *find_short(const struct opt *opts, char letter)
{
	for (; opts->name; opts++)
		if (opts->letter && opts->letter == letter)
			return opts;
	return NULL;
}

static bool is_choice(const char *choices, const char *value)
{
	struct str rest = str_of(choices);
	struct str part;

	while (str_split(&rest, '|', &part))
		if (str_eq(part, value))
			return true;
	return false;
}

/* What an option that wants a value makes of it. */
static int set_value(const struct opt *o, void *settings, const char *value, struct err *e)
{
	void *at = (char *)settings + o->offset;
	struct opt_strings *list = at;

	switch (o->type) {
	case OPT_STRINGS:
		ARRAY_PUSH(list->items, list->n, list->cap, value);
		return 0;
	case OPT_INT:
		if (!str_int64(value, o->min, o->max, at))
			return err_set(e, ERR_BAD_REQUEST, "--%s: \"%s\" is not a number from %lld to %lld", o->name,
				       value, (long long)o->min, (long long)o->max);
		return 0;
	case OPT_DURATION:
		if (!clock_parse_duration(value, at))
			return err_set(e, ERR_BAD_REQUEST, "--%s: \"%s\" is not a duration like 90s, 1h30m or 2d",
				       o->name, value);
		return 0;
	case OPT_CHOICE:
		if (!is_choice(o->choices, value))
			return err_set(e, ERR_BAD_REQUEST, "--%s: \"%s\" is not one of %s", o->name, value, o->choices);
		break;
	default:
		break;
	}
	*(const char **)at = value;
	return 0;
}

static int set_flag(const struct opt *o, void *settings, const char *value, struct err *e)
{
	bool *at = (bool *)((char *)settings + o->offset);

	if (value && !is_choice("true|false", value))
		return err_set(e, ERR_BAD_REQUEST, "--%s is true or false, not \"%s\"", o->name, value);
	*at = !value || value[0] == 't';
	return 0;
}

static int unknown(const struct opt *opts, struct str name, struct err *e)
{
	const char *names[128];
	auto_free char *wanted = xstrndup(name.p, name.n);
	const char *near;
	size_t n = 0;

	for (; opts->name && n < ARRAY_SIZE(names); opts++)
		names[n++] = opts->name;
	near = opt_nearest(wanted, names, n);
	if (near)
		return err_set(e, ERR_BAD_REQUEST, "unknown option --%s; did you mean --%s?", wanted, near);
	return err_set(e, ERR_BAD_REQUEST, "unknown option --%s", wanted);
}

struct cursor {
	const struct opt *opts;
	void *settings;
	int argc;
	char **argv;
	int i; /* of the argument at hand */
};

static int take_value(struct cursor *c, const struct opt *o, const char *inlined, struct err *e)
{
	const char *value = inlined;

	if (!value && c->i + 1 < c->argc)
		value = c->argv[++c->i];
	if (!value)
		return err_set(e, ERR_BAD_REQUEST, "--%s needs a value: --%s %s", o->name, o->name,
			       o->arg ? o->arg : "VALUE");
	return set_value(o, c->settings, value, e);
}

static int parse_long(struct cursor *c, struct err *e)
{
	const char *text = c->argv[c->i] + 2;
	const char *eq = strchr(text, '=');
	struct str name = { text, eq ? (size_t)(eq - text) : strlen(text) };
	const struct opt *o = find_long(c->opts, name);
	const char *inlined = eq ? eq + 1 : NULL;

	if (!o)
		return unknown(c->opts, name, e);
	return o->type == OPT_FLAG ? set_flag(o, c->settings, inlined, e) : take_value(c, o, inlined, e);
}

static int parse_short(struct cursor *c, struct err *e)
{
	for (const char *p = c->argv[c->i] + 1; *p; p++) {
		const struct opt *o = find_short(c->opts, *p);

		if (!o)
			return err_set(e, ERR_BAD_REQUEST, "unknown option -%c", *p);
		if (o->type != OPT_FLAG)
			return take_value(c, o, p[1] ? p + 1 : NULL, e);
		set_flag(o, c->settings, NULL, e);
	}
	return 0;
}

int opt_parse(const struct opt *opts, void *settings, int argc, char **argv, bool stop_at_first, char ***ret_rest,
	      int *ret_nrest, struct err *e)
{
	struct cursor c = { .opts = opts, .settings = settings, .argc = argc, .argv = argv };
	int nrest = 0;

	/* Positional arguments gather in front, over options already read. */
	for (c.i = 1; c.i < argc; c.i++) {
		char *arg = argv[c.i];
		int rc = 0;

		if (streq(arg, "--")) {
			c.i++;
			break;
		}
		if (arg[0] != '-' || !arg[1]) {
			if (stop_at_first)
				break;
			argv[1 + nrest++] = arg;
			continue;
		}
		rc = arg[1] == '-' ? parse_long(&c, e) : parse_short(&c, e);
		if (rc < 0)
			return -1;
	}
	for (; c.i < argc; c.i++)
		argv[1 + nrest++] = argv[c.i];
	*ret_rest = argv + (argc > 0);
	*ret_nrest = nrest;
	return 0;
}

void opt_help(const struct opt *opts, struct sbuf *out)
{
	for (; opts->name; opts++) {
		size_t from = out->n;
		const char *arg = opts->type == OPT_CHOICE && !opts->arg ? opts->choices
				  : opts->type == OPT_FLAG               ? NULL
				  : opts->arg                            ? opts->arg
									 : "VALUE";

		if (opts->letter)
			sbuf_addf(out, "  -%c, --%s", opts->letter, opts->name);
		else
			sbuf_addf(out, "      --%s", opts->name);
		if (arg)
			sbuf_addf(out, " %s", arg);
		if (opts->help) {
			if (out->n - from >= HELP_COLUMN) {
				sbuf_addc(out, '\n');
				from = out->n;
			}
			sbuf_addf(out, "%*s%s", (int)(HELP_COLUMN - (out->n - from)), "", opts->help);
		}
		sbuf_addc(out, '\n');
	}
}

void opt_strings_done(struct opt_strings *s)
{
	free(s->items);
	*s = (struct opt_strings){ 0 };
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t m = a < b ? a : b;

	return m < c ? m : c;
}

/* Insertions, deletions and replacements that turn a into b.  Both are shorter than 64. */
static size_t distance(const char *a, const char *b)
{
	size_t row[64];
	size_t n = strlen(b);

	for (size_t j = 0; j <= n; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t corner = i;

		row[0] = i + 1;
		for (size_t j = 0; j < n; j++) {
			size_t cost = corner + (a[i] != b[j]);

			corner = row[j + 1];
			row[j + 1] = min3(row[j] + 1, corner + 1, cost);
		}
	}
	return row[n];
}

const char *opt_nearest(const char *name, const char *const *names, size_t n)
{
	size_t len = strlen(name);
	size_t best = len / 3 + 2; /* further away is another word, not a misspelling */
	const char *found = NULL;

	if (len >= 64)
		return NULL;
	for (size_t i = 0; i < n; i++) {
		size_t d;

		if (strlen(names[i]) >= 64)
			continue;
		d = distance(name, names[i]);
		if (d < best) {
			best = d;
			found = names[i];
		}
	}
	return found;
}
