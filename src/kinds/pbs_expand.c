// SPDX-License-Identifier: Apache-2.0
/* pbs_expand.c - variables in the paths of a PBS job's files */
#include "kinds/pbs_expand.h"

#include <ctype.h>

#include "base/mem.h"

#define OPENPBS_INDEX "^array_index^"

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return isdigit((unsigned char)p[0]) ? 0 : n;
}

/* At a '$': the name, and how many characters it takes in all; 0 if the '$' is only a '$', -1 if "${" does not end. */
static int variable_at(const char *p, struct str *ret_name)
{
	bool braces = p[1] == '{';
	const char *name = p + (braces ? 2 : 1);
	size_t n = name_length(name);

	*ret_name = (struct str){ name, n };
	if (braces)
		return n && name[n] == '}' ? (int)n + 3 : -1;
	return n ? (int)n + 1 : 0;
}

static int add_value(const char *name, pbs_lookup *lookup, void *arg, struct sbuf *out, struct err *e)
{
	const char *value = lookup(arg, name);

	if (!value)
		return err_set(e, ERR_INVALID, "variable %s is not in the job's environment", name);
	sbuf_adds(out, value);
	return 0;
}

int pbs_expand(const char *path, pbs_lookup *lookup, void *arg, struct sbuf *out, struct err *e)
{
	const char *p = path;

	if (p[0] == '~' && (!p[1] || p[1] == '/')) {
		if (add_value("HOME", lookup, arg, out, e) < 0)
			return -1;
		p++;
	}
	while (*p) {
		auto_free char *name = NULL;
		struct str view;
		int n = *p == '$' ? variable_at(p, &view) : 0;

		if (n < 0)
			return err_set(e, ERR_INVALID, "\"%s\": ${ needs a name and a }", path);
		if (n > 0) {
			name = xstrndup(view.p, view.n);
		} else if (str_starts(p, OPENPBS_INDEX)) {
			name = xstrdup("PBS_ARRAYID");
			n = (int)strlen(OPENPBS_INDEX);
		}
		if (!name)
			sbuf_addc(out, *p++);
		else if (add_value(name, lookup, arg, out, e) < 0)
			return -1;
		else
			p += n;
	}
	return 0;
}

bool pbs_expand_tells_apart(const char *path)
{
	static const char *const names[] = { "PBS_ARRAYID", "PBS_ARRAY_INDEX", "PBS_JOBID" };
	struct str name;

	if (strstr(path, OPENPBS_INDEX))
		return true;
	for (const char *p = strchr(path, '$'); p; p = strchr(p + 1, '$'))
		for (size_t i = 0; i < ARRAY_SIZE(names); i++)
			if (variable_at(p, &name) > 0 && str_eq(name, names[i]))
				return true;
	return false;
}
