// SPDX-License-Identifier: Apache-2.0
/* pbs_resources.c - see pbs_parts.h
 *
 * Which resources there are and how they are written, kinds/pbs_resources.h says; here they meet what queues and the
 * server say about them.
 */
#include "kinds/pbs_resources.h"

#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_values.h"
#include "kinds/walltime.h"

/* As a number that can be compared. */
static bool read_value(enum pbs_type type, const char *text, int64_t *ret)
{
	switch (type) {
	case PBS_TIME:
		return pbs_time_parse(text, ret) || walltime_parse(text, ret);
	case PBS_SIZE:
		return pbs_size_parse(text, ret);
	case PBS_INT:
	case PBS_NICE:
	case PBS_NODES: /* a limit on nodes is how many */
	case PBS_DERIVED:
		return str_int64(text, INT32_MIN, INT32_MAX, ret);
	default:
		return false;
	}
}

/* Queues may also say 7d, as people do. */
static bool normal_time(const char *name, const char *value, struct sbuf *out)
{
	char text[PBS_TEXT];
	int64_t seconds;

	if (pbs_resource_type(name) != PBS_TIME || !read_value(PBS_TIME, value, &seconds))
		return false;
	pbs_time_text(seconds, text);
	sbuf_adds(out, text);
	return true;
}

/* No time and no memory at all are no limits that a job could live with. */
static bool is_nothing(const char *name, const char *value)
{
	enum pbs_type type = pbs_resource_type(name);
	int64_t n;

	return (type == PBS_TIME || type == PBS_SIZE) && read_value(type, value, &n) && n == 0;
}

int pbs_resources_normal(json_t *resources, struct err *e)
{
	const char *name;
	json_t *v;
	void *tmp;

	json_object_foreach (resources, name, v)
		if (pbs_resource_type(name) == PBS_UNKNOWN)
			return pbs_error_set(e, ERR_INVALID, PBSE_UNKRESC, "detected request for an unknown resource");
	json_object_foreach_safe (resources, tmp, name, v) {
		auto_sbuf struct sbuf normal = SBUF(LIMIT_BODY);
		struct err why = ERR_INIT;

		if (!normal_time(name, json_string_value(v), &normal) &&
		    pbs_resource_normal(name, json_string_value(v), &normal, &why) < 0)
			return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL, "Resource_List.%.300s", why.text);
		if (is_nothing(name, json_string_value(v)))
			return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL,
					     "Resource_List.%s=%.100s: must be more than 0", name,
					     json_string_value(v));
		json_object_set_new(resources, name, jsonx_string(normal.p ? normal.p : ""));
	}
	return 0;
}

/* ---- what queues and the server say ---- */

/* A queue's walltimes have fields of their own. */
static const char *said(const json_t *spec, const char *map, const char *walltime_field, const char *name)
{
	const char *text = json_string_value(json_object_get(json_object_get(spec, map), name));

	if (!text && streq(name, "walltime"))
		text = json_string_value(json_object_get(spec, walltime_field));
	return text && *text ? text : NULL;
}

/* One way of saying how many nodes and processors; a default for another is none for who has chosen. */
static bool is_shape(const char *name)
{
	static const char *const shapes[] = { "nodes", "select", "procs", "ncpus", "size", "gpus", "ngpus" };

	for (size_t i = 0; i < ARRAY_SIZE(shapes); i++)
		if (streq(shapes[i], name))
			return true;
	return false;
}

static bool has_shape(const json_t *resources)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)resources, name, v)
		if (is_shape(name))
			return true;
	return false;
}

static void fill(json_t *resources, const char *name, const char *value, struct sbuf *ret_names)
{
	if (!value || json_object_get(resources, name))
		return;
	json_object_set_new(resources, name, jsonx_string(value));
	sbuf_addf(ret_names, "%s%s", ret_names->n ? "," : "", name);
}

/* What follows from other resources is nothing to ask for: a queue's neednodes is about its nodes (kinds/queue.h). */
static void fill_map(json_t *resources, const json_t *defaults, bool shaped, struct sbuf *ret_names)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)defaults, name, v)
		if (pbs_resource_type(name) != PBS_DERIVED && (!shaped || !is_shape(name)))
			fill(resources, name, json_string_value(v), ret_names);
}

void pbs_resources_default(json_t *resources, const json_t *queue, const json_t *server, struct sbuf *ret_names)
{
	bool shaped = has_shape(resources);

	fill_map(resources, json_object_get(queue, "resourcesDefault"), shaped, ret_names);
	fill(resources, "walltime", said(queue, "resourcesDefault", "defaultWalltime", "walltime"), ret_names);
	shaped = has_shape(resources);
	fill_map(resources, json_object_get(server, "resourcesDefault"), shaped, ret_names);
	fill(resources, "walltime", said(queue, "resourcesMax", "maxWalltime", "walltime"), ret_names);
	fill(resources, "walltime", said(server, "resourcesMax", "", "walltime"), ret_names);
}

/* ---- limits ---- */

/* How much the job asks for; false if it does not say. */
static bool asked(const json_t *resources, const struct pbs_nodes *nodes, const char *name, int64_t *ret)
{
	const char *text = json_string_value(json_object_get(resources, name));
	int64_t gpus = 0;

	for (size_t i = 0; i < nodes->n; i++)
		gpus += (int64_t)nodes->reqs[i].count * nodes->reqs[i].gpus;
	if (streq(name, "nodect") || streq(name, "nodes"))
		*ret = nodes->count;
	else if (streq(name, "procct") || streq(name, "procs"))
		*ret = nodes->tasks;
	else if (streq(name, "gpus") || streq(name, "ngpus"))
		*ret = gpus;
	else
		return text && read_value(pbs_resource_type(name), text, ret);
	return true;
}

static bool breaks(const json_t *resources, const struct pbs_nodes *nodes, const char *name, const char *limit,
		   bool is_max)
{
	int64_t wants, edge;

	if (!read_value(pbs_resource_type(name), limit, &edge) || !asked(resources, nodes, name, &wants))
		return false;
	return is_max ? wants > edge : wants < edge;
}

/* Every limit in spec.MAP and, for walltime, in spec.FIELD. */
static json_t *limits_of(const json_t *spec, const char *map, const char *field)
{
	const char *walltime = said(spec, map, field, "walltime");
	json_t *all = json_object();

	json_object_update(all, json_object_get(spec, map));
	if (walltime)
		json_object_set_new(all, "walltime", jsonx_string(walltime));
	return all;
}

static int check_max(const json_t *resources, const struct pbs_nodes *nodes, const json_t *limits, const char *whose,
		     const json_t *stronger, struct err *e)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)limits, name, v)
		if (!json_object_get(stronger, name) && breaks(resources, nodes, name, json_string_value(v), true))
			return pbs_error_set(e, ERR_FORBIDDEN, PBSE_EXCQRESC, "cannot satisfy %s max %.60s requirement",
					     whose, name);
	return 0;
}

int pbs_resources_limits(const json_t *resources, const struct pbs_nodes *nodes, const json_t *queue,
			 const json_t *server, struct err *e)
{
	json_auto_t *most = limits_of(queue, "resourcesMax", "maxWalltime");
	json_auto_t *most_here = limits_of(server, "resourcesMax", "");
	json_auto_t *least = limits_of(queue, "resourcesMin", "minWalltime");
	const char *name;
	json_t *v;

	if (check_max(resources, nodes, most, "queue", NULL, e) < 0 ||
	    check_max(resources, nodes, most_here, "server", most, e) < 0)
		return -1;
	json_object_foreach (least, name, v)
		if (breaks(resources, nodes, name, json_string_value(v), false))
			return pbs_error_set(e, ERR_FORBIDDEN, PBSE_EXCQRESC, "job violates queue min resource limits");
	return 0;
}
