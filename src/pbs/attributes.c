// SPDX-License-Identifier: Apache-2.0
/* attributes.c - -W
 *
 * Torque takes one attribute an option, and everything after the first = is its value; its manual promises a list.  A
 * comma divides only where the name of an attribute and a = follow, so that values may have commas.
 */
#include "pbs/attributes.h"

#include <strings.h>

#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_stage.h"
#include "pbs/checks.h"
#include "pbs/depend.h"

struct attribute {
	const char *name;
	char join; /* between values of one that may be repeated; 0: the last counts */
	int (*check)(struct ask *a, const char *value, struct err *e);
};

static int check_depend(struct ask *a, const char *value, struct err *e)
{
	json_auto_t *list = NULL;
	struct err why = ERR_INIT;

	if (depend_parse(value, &list, &why) == 0)
		return 0;
	ask_refuse(a, e, REFUSE_USAGE, 2, "illegal -W dependency value: '%s'", value);
	a->detail = xstrdup(why.text);
	return -1;
}

static int check_umask(struct ask *a, const char *value, struct err *e)
{
	unsigned mask;

	if (umask_parse(value, &mask))
		return 0;
	return ask_illegal(a, e, 'W', "umask=%s: must be an octal number such as 022, at most 0777", value);
}

static int check_groups(struct ask *a, const char *value, struct err *e)
{
	return check_users(value) ? 0 : ask_illegal(a, e, 'W', "group_list=%s: must be GROUP[@HOST],...", value);
}

/* local@host:remote,... */
static int check_stage(struct ask *a, const char *value, struct err *e)
{
	struct str rest = str_of(value), part;
	struct pbs_stage s;

	while (str_split(&rest, ',', &part))
		if (!pbs_stage_parse(part, &s))
			return ask_illegal(a, e, 'W', "\"%.*s\": must be LOCAL@HOST:REMOTE", STR_FMT(part));
	return 0;
}

static int check_bool(struct ask *a, const char *value, struct err *e)
{
	if (strcasecmp(value, "true") == 0 || strcasecmp(value, "false") == 0)
		return 0;
	return ask_illegal(a, e, 'W', "\"%s\": must be true or false", value);
}

static const struct attribute attributes[] = {
	{ "depend", 0, check_depend },
	{ "group_list", 0, check_groups },
	{ "umask", 0, check_umask },
	{ "stagein", ',', check_stage },
	{ "stageout", ',', check_stage },
	{ "block", 0, check_bool },
	{ "interactive", 0, check_bool },
	{ "x", ';', NULL },
	{ "job_radix", 0, NULL },
	{ "fault_tolerant", 0, NULL },
	{ "sandbox", 0, NULL },
	{ "run_count", 0, NULL },
	{ "release_nodes_on_stageout", 0, NULL },
	{ "pwd", 0, NULL },
};

static const struct attribute *find(struct str name)
{
	for (size_t i = 0; i < ARRAY_SIZE(attributes); i++)
		if (str_eq(name, attributes[i].name))
			return &attributes[i];
	return NULL;
}

/* The attribute whose name and = stand here; NULL if none does. */
static const struct attribute *attribute_at(const char *p)
{
	const char *equals = strchr(p, '=');

	return equals ? find(str_trim((struct str){ p, (size_t)(equals - p) })) : NULL;
}

static size_t value_length(const char *p)
{
	for (const char *comma = strchr(p, ','); comma; comma = strchr(comma + 1, ','))
		if (attribute_at(comma + 1))
			return (size_t)(comma - p);
	return strlen(p);
}

static int add_one(struct ask *a, struct str name, struct str value, enum source source, struct err *e)
{
	const struct attribute *row = find(name);
	auto_free char *text = xstrndup(value.p, value.n);

	if (!row) {
		pbs_error_set(e, ERR_INVALID, PBSE_NOATTR, "-W %.*s", STR_FMT(name));
		a->status = PBSE_NOATTR % 256;
		a->refusal = REFUSE_SUBMIT;
		return -1;
	}
	if (row->check && row->check(a, text, e) < 0)
		return -1;
	if (row->join)
		pairs_join(&a->attributes, name, row->join, value, source);
	else
		pairs_set(&a->attributes, name, value, source);
	return 0;
}

int attributes_add(struct ask *a, const char *list, enum source source, struct err *e)
{
	const char *p = list;

	if (!strchr(list, '='))
		return add_one(a, STR("x"), str_of(list), source, e);
	for (;;) {
		const char *equals = strchr(p, '=');
		struct str name = str_trim((struct str){ p, (size_t)(equals - p) });
		size_t n = value_length(equals + 1);
		struct str value = str_trim((struct str){ equals + 1, n });

		if (!name.n)
			return ask_illegal(a, e, 'W', "\"%s\": must be ATTRIBUTE=VALUE", list);
		if (add_one(a, name, value, source, e) < 0)
			return -1;
		p = equals + 1 + n;
		if (!*p)
			return 0;
		p++;
	}
}
