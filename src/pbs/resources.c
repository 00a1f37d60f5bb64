// SPDX-License-Identifier: Apache-2.0
/* resources.c - lists of -l
 *
 * A list is merged by name: what the command line says of walltime leaves the script's nodes as they are.
 */
#include "pbs/resources.h"

#include "base/mem.h"
#include "kinds/pbs_resources.h"

/* Where the value that begins at `p` ends: at a comma that is neither quoted nor in brackets. */
static size_t value_length(struct str s)
{
	char quote = s.n && (s.p[0] == '"' || s.p[0] == '\'') ? s.p[0] : 0;
	int depth = 0;
	size_t i = quote ? 1 : 0;

	for (; i < s.n; i++) {
		if (quote)
			quote = s.p[i] == quote ? 0 : quote;
		else if (s.p[i] == '[')
			depth++;
		else if (s.p[i] == ']')
			depth--;
		else if (s.p[i] == ',' && depth <= 0)
			break;
	}
	return i;
}

static struct str unquote(struct str s)
{
	if (s.n >= 2 && (s.p[0] == '"' || s.p[0] == '\'') && s.p[s.n - 1] == s.p[0])
		return (struct str){ s.p + 1, s.n - 2 };
	return s;
}

static enum resources_result illegal(struct err *e, struct str what, const char *must)
{
	err_set(e, ERR_INVALID, "\"%.*s\": %s", STR_FMT(what), must);
	return RESOURCES_ILLEGAL;
}

static enum resources_result add_one(struct pairs *p, struct str name, struct str value, enum source source,
				     struct err *e)
{
	auto_sbuf struct sbuf normal = SBUF(1 << 20);
	auto_free char *n = xstrndup(name.p, name.n);
	auto_free char *v = xstrndup(value.p, value.n);

	if (pbs_resource_normal(n, v, &normal, e) < 0)
		return pbs_resource_type(n) == PBS_UNKNOWN ? RESOURCES_UNKNOWN : RESOURCES_ILLEGAL;
	pairs_set(p, name, sbuf_str(&normal), source);
	return RESOURCES_OK;
}

enum resources_result pbs_resources_add(struct pairs *p, const char *list, enum source source, struct err *e)
{
	struct str rest = str_trim(str_of(list));
	bool nodes = false, procs = false;

	do {
		size_t end = strcspn(rest.p, "=,");
		struct str name = str_trim((struct str){ rest.p, end < rest.n ? end : rest.n });
		enum resources_result r;
		struct str value;

		if (!name.n)
			return illegal(e, str_of(list), "must be NAME=VALUE, joined by commas");
		if (end >= rest.n || rest.p[end] != '=') {
			err_set(e, ERR_INVALID, "\"%.*s\" has no value", STR_FMT(name));
			return RESOURCES_NO_VALUE;
		}
		rest = (struct str){ rest.p + end + 1, rest.n - end - 1 };
		value = (struct str){ rest.p, value_length(rest) };
		r = add_one(p, name, unquote(str_trim(value)), source, e);
		if (r != RESOURCES_OK)
			return r;
		nodes |= str_eq(name, "nodes");
		procs |= str_eq(name, "procs");
		rest = (struct str){ rest.p + value.n, rest.n - value.n };
		if (rest.n == 1)
			return illegal(e, str_of(list), "must not end with a comma");
		if (rest.n)
			rest = (struct str){ rest.p + 1, rest.n - 1 };
	} while (rest.n);
	if (nodes && procs) {
		err_set(e, ERR_INVALID, "nodes and procs cannot be asked for together");
		return RESOURCES_MIXED;
	}
	return RESOURCES_OK;
}
