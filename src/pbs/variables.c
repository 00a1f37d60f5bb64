// SPDX-License-Identifier: Apache-2.0
/* variables.c - lists of -v
 *
 * A value may be quoted whole and then has commas; elsewhere a backslash before a comma keeps it.  Nothing else is
 * special: values may have newlines, quotes in their middle and backslashes.
 */
#include "pbs/variables.h"

#include "base/mem.h"

/* Appends the value at *p up to its comma or the end, and moves behind it; false if a quote does not end. */
static bool value_read(const char **p, struct sbuf *out)
{
	const char *at = *p;

	if (*at == '\'' || *at == '"') {
		const char *end = strchr(at + 1, *at);

		/* A quote that closes in the middle of the value is only a character of it. */
		if (!end)
			return false;
		if (!end[1] || end[1] == ',') {
			sbuf_add(out, at + 1, (size_t)(end - at) - 1);
			*p = end + 1;
			return true;
		}
	}
	while (*at && *at != ',') {
		if (at[0] == '\\' && at[1] == ',')
			at++;
		sbuf_addc(out, *at++);
	}
	*p = at;
	return true;
}

int variables_add(struct pairs *p, const char *list, variable_lookup *lookup, enum source source)
{
	const char *at = list;

	for (;;) {
		auto_sbuf struct sbuf value = SBUF(strlen(list) + 1);
		size_t n;
		struct str name;

		at += strspn(at, " \t\n");
		n = strcspn(at, "=,");
		name = str_trim((struct str){ at, n });
		at += n;
		if (!name.n)
			return -1;
		if (*at == '=') {
			at++;
			if (!value_read(&at, &value))
				return -1;
			pairs_set(p, name, sbuf_str(&value), source);
		} else {
			auto_free char *text = xstrndup(name.p, name.n);
			const char *mine = lookup(text);

			pairs_set(p, name, str_of(mine ? mine : ""), source);
		}
		if (!*at)
			return 0;
		at++;
	}
}
