// SPDX-License-Identifier: Apache-2.0
/* depend.c - reads the jobs that a job waits for */
#include "pbs/depend.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"

static const char *const job_types[] = {
	"after",           "afterok",       "afternotok",       "afterany",      "before",           "beforeok",
	"beforenotok",     "beforeany",     "syncwith",         "runone",        "afterstartarray",  "afterokarray",
	"afternotokarray", "afteranyarray", "beforestartarray", "beforeokarray", "beforenotokarray", "beforeanyarray",
};
static const char *const count_types[] = { "on", "synccount" };

static bool one_of(struct str word, const char *const *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (str_eq(word, list[i]))
			return true;
	return false;
}

static int wrong(struct err *e, struct str what, const char *must)
{
	return err_set(e, ERR_INVALID, "\"%.*s\": %s", STR_FMT(what), must);
}

static int add_arguments(json_t *dependency, struct str rest, bool counts, struct err *e)
{
	json_t *jobs = counts ? NULL : json_array();
	struct str arg;
	int64_t n;

	if (jobs)
		json_object_set_new(dependency, "jobs", jobs);
	while (str_split(&rest, ':', &arg)) {
		auto_free char *text = NULL;
		struct pbs_id id;

		arg = str_trim(arg);
		text = xstrndup(arg.p, arg.n);
		if (!counts) {
			if (!pbs_target_parse(text, &id, &n))
				return wrong(e, arg, "must be a job's id, such as 380963 or 189[].server");
			json_array_append_new(jobs, jsonx_string(text));
		} else if (!str_int64(text, 0, INT32_MAX, &n) || json_object_get(dependency, "count")) {
			return wrong(e, arg, "must be one number of jobs");
		} else {
			json_object_set_new(dependency, "count", json_integer(n));
		}
	}
	return 0;
}

/* TYPE:ARG[:ARG...] */
static int dependency_parse(struct str text, json_t *list, struct err *e)
{
	json_auto_t *dependency = json_object();
	struct str rest = text, type;
	bool counts;

	str_split(&rest, ':', &type);
	type = str_trim(type);
	counts = one_of(type, count_types, ARRAY_SIZE(count_types));
	if (!counts && !one_of(type, job_types, ARRAY_SIZE(job_types)))
		return wrong(e, type,
			     "must be after, afterok, afternotok, afterany, before..., on or their array forms");
	if (!rest.p)
		return wrong(e, text, "must have an argument after a colon");
	json_object_set_new(dependency, "type", jsonx_stringn(type.p, type.n));
	if (add_arguments(dependency, rest, counts, e) < 0)
		return -1;
	json_array_append(list, dependency);
	return 0;
}

int depend_parse(const char *text, json_t **ret, struct err *e)
{
	json_auto_t *list = json_array();
	struct str rest = str_trim(str_of(text)), part;

	while ((rest.n || json_array_size(list)) && str_split(&rest, ',', &part))
		if (dependency_parse(str_trim(part), list, e) < 0)
			return -1;
	*ret = TAKE(list);
	return 0;
}
