// SPDX-License-Identifier: Apache-2.0
/* after.c - see after.h */
#include "kinds/after.h"

#include "base/mem.h"
#include "kinds/names.h"
#include "kinds/workloads.h"

static const char *const hows[] = { [AFTER_OK] = "ok", [AFTER_NOTOK] = "notok", [AFTER_ANY] = "any" };

const char *after_how_name(enum after_how how)
{
	return hows[how];
}

static bool find_how(struct str word, enum after_how *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(hows); i++)
		if (str_eq(word, hows[i])) {
			*ret = (enum after_how)i;
			return true;
		}
	return false;
}

/* "pod, job, tfjob, ...": those that can be waited for. */
static void list_kinds(struct sbuf *out)
{
	for (size_t i = 0; workloads[i]; i++)
		if (workload_ends(workloads[i]))
			sbuf_addf(out, "%s%s", out->n ? ", " : "", workloads[i]->singular);
}

static int parse_one(struct str text, struct after *ret, struct err *e)
{
	auto_sbuf struct sbuf kinds = SBUF(1024);
	auto_free char *name = NULL;
	struct str rest = text;
	struct str how;
	struct str kind;
	const char *complaint;

	if (!str_split(&rest, ':', &how) || !find_how(how, &ret->how) || how.n == text.n)
		return err_set(e, ERR_INVALID,
			       "\"%.*s\" must be ok:KIND/NAME (has succeeded), notok:KIND/NAME (has failed) or "
			       "any:KIND/NAME (has ended), several with commas",
			       STR_FMT(text));
	if (!str_split(&rest, '/', &kind) || kind.n + how.n + 1 == text.n)
		return err_set(e, ERR_INVALID, "\"%.*s\" has no name: write %s:KIND/NAME", STR_FMT(text),
			       hows[ret->how]);
	ret->kind = workload_named(kind);
	if (!ret->kind || !workload_ends(ret->kind)) {
		list_kinds(&kinds);
		return err_set(e, ERR_INVALID, "\"%.*s\" is no kind of workload that ends; there are %s", STR_FMT(kind),
			       kinds.p);
	}
	name = xstrndup(rest.p, rest.n);
	complaint = name_check_subdomain(name);
	if (complaint)
		return err_set(e, ERR_INVALID, "\"%.100s\" cannot be the name of a workload: %s", name, complaint);
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

int after_parse(const char *text, struct after **ret, size_t *ret_n, struct err *e)
{
	struct str rest = str_trim(str_of(text));
	auto_free struct after *items = NULL;
	size_t n = 0, cap = 0;
	struct str part;

	while (rest.n && str_split(&rest, ',', &part)) {
		struct after one;

		if (n == AFTER_MOST)
			return err_set(e, ERR_INVALID, "waits for more than %d workloads", AFTER_MOST);
		if (parse_one(str_trim(part), &one, e) < 0)
			return -1;
		ARRAY_PUSH(items, n, cap, one);
	}
	*ret = TAKE(items);
	*ret_n = n;
	return 0;
}
