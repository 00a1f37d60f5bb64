// SPDX-License-Identifier: Apache-2.0
/* pbs_resources.c - see pbs_parts.h
 *
 * Names are those of Torque's table and OpenPBS's few that do not collide.  Hints for schedulers that we do not follow
 * are kept: a script that gives them must not fail here.
 */
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_values.h"
#include "kinds/walltime.h"

enum type { TEXT, TIME, SIZE, NUMBER };

static const struct {
	enum type type;
	const char *names; /* separated by blanks */
} known[] = {
	{ TIME, "cput pcput walltime wclimit minwclimit termtime latency" },
	{ SIZE, "dmem file mem pmem pvmem vmem swap mppmem" },
	{ NUMBER,
	  "gpus mics mpiprocs mppdepth mppnppn mppwidth naccelerators ncpus ngpus nice nodect ompthreads procct "
	  "procs size tpn vcores" },
	{ TEXT, "advres arch bandwidth cpapin cpuclock depend energy_used epilogue feature flags fstype gattr geometry "
		"gres host hostlist image ioflag jgroup jobflags maxjobproc minpreempttime minprocspeed mpparch "
		"mpphost mpplabels naccesspolicy nallocpolicy neednodes nodes nodeset nodestate opsys other "
		"partition pattr place pref preemptee procs_bitmap proc_bitmap prologue qos queuejob rmtype select "
		"signal sitetemplate software soft subnode subnode_list taskdistpolicy taskgeometry template termsig "
		"tid trig trl ttc var vnode vntype" },
};

static bool find_type(const char *name, enum type *ret)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct str rest = str_of(known[i].names);
		struct str part;

		while (str_split(&rest, ' ', &part))
			if (str_eq(part, name)) {
				*ret = known[i].type;
				return true;
			}
	}
	return false;
}

/* As a number that can be compared. */
static bool read_value(enum type type, const char *text, int64_t *ret)
{
	switch (type) {
	case TIME:
		return pbs_time_parse(text, ret) || walltime_parse(text, ret);
	case SIZE:
		return pbs_size_parse(text, ret);
	case NUMBER:
		return str_int64(text, INT32_MIN, INT32_MAX, ret);
	default:
		return false;
	}
}

static int bad_value(const char *name, const char *text, enum type type, struct err *e)
{
	static const char *const wanted[] = { "", "a time such as 168:00:00", "a size such as 64gb", "a whole number" };

	return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL, "Resource_List.%.60s: \"%.60s\" is not %s", name, text,
			     wanted[type]);
}

int pbs_resources_normal(json_t *resources, struct err *e)
{
	const char *name;
	json_t *v;
	void *tmp;
	char text[PBS_TEXT];
	enum type type;
	int64_t n;

	json_object_foreach (resources, name, v)
		if (!find_type(name, &type))
			return pbs_error_set(e, ERR_INVALID, PBSE_UNKRESC, "detected request for an unknown resource");
	json_object_foreach_safe (resources, tmp, name, v) {
		find_type(name, &type);
		if (type == TEXT)
			continue;
		if (!read_value(type, json_string_value(v), &n))
			return bad_value(name, json_string_value(v), type, e);
		if (type == TIME)
			pbs_time_text(n, text);
		if (type == TIME || (type == SIZE && pbs_size_normal(json_string_value(v), text)))
			json_object_set_new(resources, name, json_string(text));
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

static void fill_map(json_t *resources, const json_t *defaults, bool shaped, struct sbuf *ret_names)
{
	const char *name;
	json_t *v;

	json_object_foreach ((json_t *)defaults, name, v)
		if (!shaped || !is_shape(name))
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
static bool asked(const json_t *resources, const struct pbs_nodes *nodes, const char *name, enum type type,
		  int64_t *ret)
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
		return text && read_value(type, text, ret);
	return true;
}

static bool breaks(const json_t *resources, const struct pbs_nodes *nodes, const char *name, const char *limit,
		   bool is_max)
{
	enum type type;
	int64_t wants, edge;

	if (!find_type(name, &type) || (type == TEXT && !streq(name, "nodes")))
		return false;
	if (!read_value(type == TEXT ? NUMBER : type, limit, &edge) || !asked(resources, nodes, name, type, &wants))
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
