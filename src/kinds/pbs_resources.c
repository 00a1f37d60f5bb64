// SPDX-License-Identifier: Apache-2.0
/* pbs_resources.c - the resources that -l may name
 *
 * Hints to schedulers that Stoker does not have are known all the same: scripts from elsewhere carry them, and they are
 * kept and shown again.
 */
#include "kinds/pbs_resources.h"

#include "base/mem.h"
#include "kinds/pbs_arrange.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_values.h"

static const struct {
	const char *name;
	enum pbs_type type;
} resources[] = {
	{ "advres", PBS_STRING },    { "arch", PBS_STRING },       { "cput", PBS_TIME },
	{ "depend", PBS_STRING },    { "dmem", PBS_SIZE },         { "epilogue", PBS_STRING },
	{ "feature", PBS_STRING },   { "file", PBS_SIZE },         { "flags", PBS_STRING },
	{ "fstype", PBS_STRING },    { "gattr", PBS_STRING },      { "geometry", PBS_STRING },
	{ "gpus", PBS_INT },         { "gres", PBS_STRING },       { "host", PBS_STRING },
	{ "hostlist", PBS_STRING },  { "image", PBS_STRING },      { "jgroup", PBS_STRING },
	{ "jobflags", PBS_STRING },  { "mem", PBS_SIZE },          { "mics", PBS_INT },
	{ "mpiprocs", PBS_INT },     { "naccelerators", PBS_INT }, { "naccesspolicy", PBS_STRING },
	{ "ncpus", PBS_INT },        { "neednodes", PBS_DERIVED }, { "ngpus", PBS_INT },
	{ "nice", PBS_NICE },        { "nodect", PBS_DERIVED },    { "nodes", PBS_NODES },
	{ "nodeset", PBS_STRING },   { "ompthreads", PBS_INT },    { "opsys", PBS_STRING },
	{ "other", PBS_STRING },     { "partition", PBS_STRING },  { "pcput", PBS_TIME },
	{ "place", PBS_PLACE },      { "procct", PBS_DERIVED },    { "pmem", PBS_SIZE },
	{ "pref", PBS_STRING },      { "procs", PBS_INT },         { "procs_bitmap", PBS_STRING },
	{ "prologue", PBS_STRING },  { "pvmem", PBS_SIZE },        { "qos", PBS_STRING },
	{ "queuejob", PBS_STRING },  { "select", PBS_SELECT },     { "signal", PBS_STRING },
	{ "size", PBS_INT },         { "software", PBS_STRING },   { "taskdistpolicy", PBS_STRING },
	{ "taskspernode", PBS_INT }, { "template", PBS_STRING },   { "tpn", PBS_INT },
	{ "trl", PBS_STRING },       { "ttc", PBS_INT },           { "var", PBS_STRING },
	{ "vmem", PBS_SIZE },        { "walltime", PBS_TIME },     { "wclimit", PBS_TIME },
};

enum pbs_type pbs_resource_type(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(resources); i++)
		if (streq(resources[i].name, name))
			return resources[i].type;
	return PBS_UNKNOWN;
}

static int nodes_check(const char *value, int (*parse)(const char *, struct pbs_nodes *, struct err *), struct err *e)
{
	struct pbs_nodes n = { 0 };

	if (parse(value, &n, e) < 0)
		return -1;
	pbs_nodes_done(&n);
	return 0;
}

/* The value as it is shown, in `out` if it is not shown as it was written. */
static int check(enum pbs_type type, const char *value, char out[PBS_TEXT], struct err *e)
{
	int64_t number;

	switch (type) {
	case PBS_TIME:
		if (!pbs_time_parse(value, &number))
			return err_set(e, ERR_INVALID, "must be a time such as 168:00:00 or 3600");
		pbs_time_text(number, out);
		return 0;
	case PBS_SIZE:
		return pbs_size_normal(value, out) ? 0 : err_set(e, ERR_INVALID, "must be a size such as 64gb");
	case PBS_INT:
		return str_int64(value, INT32_MIN, INT32_MAX, &number)
			       ? 0
			       : err_set(e, ERR_INVALID, "must be a whole number");
	case PBS_NICE:
		return str_int64(value, -20, 19, &number) ? 0
							  : err_set(e, ERR_INVALID, "must be a number from -20 to 19");
	case PBS_PLACE:
		return pbs_arrange_check(value, e);
	case PBS_NODES:
		return nodes_check(value, pbs_nodes_parse, e);
	case PBS_SELECT:
		return nodes_check(value, pbs_select_parse, e);
	case PBS_DERIVED:
		return err_set(e, ERR_INVALID, "is set by the server and cannot be asked for");
	default:
		return value[0] ? 0 : err_set(e, ERR_INVALID, "must not be empty");
	}
}

int pbs_resource_normal(const char *name, const char *value, struct sbuf *out, struct err *e)
{
	enum pbs_type type = pbs_resource_type(name);
	char text[PBS_TEXT] = "";

	if (type == PBS_UNKNOWN)
		return pbs_error_set(e, ERR_INVALID, PBSE_UNKRESC, "detected request for an unknown resource %s", name);
	if (check(type, value, text, e) < 0)
		return err_prefix(e, "%s=%s", name, value);
	sbuf_adds(out, text[0] ? text : value);
	return 0;
}
