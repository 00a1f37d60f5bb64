// SPDX-License-Identifier: Apache-2.0
/* job_attributes.c - see job_attributes.h
 *
 * A row of the table is an attribute: where the object has it, and in which form.  Only what is set is listed, as by
 * Torque; what a job always has there has a default here.
 */
#include "pbs/job_attributes.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_expand.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_resources.h"
#include "kinds/pbs_time.h"
#include "kinds/pbs_values.h"
#include "pbs/slots.h"

#define TEXT_MAX (4u << 20)

/* One list that is being made. */
struct making {
	const json_t *job;
	const struct pbs_view *view;
	struct pbs_attributes *out;
};

struct attribute_row {
	const char *name;
	const char *path;
	void (*add)(const struct making *m, const struct attribute_row *row);
	const char *fallback; /* shown if the object says nothing; NULL: nothing is */
};

void pbs_attributes_add(struct pbs_attributes *a, const char *name, const char *resource, char *value)
{
	ARRAY_PUSH(a->items, a->n, a->cap,
		   ((struct pbs_attribute){ .name = name, .resource = resource, .value = value, .when = -1 }));
}

void pbs_attributes_done(struct pbs_attributes *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->items[i].value);
	free(a->items);
	*a = (struct pbs_attributes){ 0 };
}

const char *pbs_attributes_find(const struct pbs_attributes *a, const char *name, const char *resource)
{
	for (size_t i = 0; i < a->n; i++)
		if (streq(a->items[i].name, name) && str_same(a->items[i].resource, resource))
			return a->items[i].value;
	return NULL;
}

/* ---- moments ---- */

static int64_t moment(const json_t *job, const char *path)
{
	const char *text = jsonx_str(job, path);
	int64_t micros;

	return text && clock_parse_rfc3339(text, &micros) ? micros / 1000000 : -1;
}

static void add_moment(const struct making *m, const char *name, int64_t when)
{
	if (when < 0)
		return;
	pbs_attributes_add(m->out, name, NULL, xasprintf("%lld", (long long)when));
	m->out->items[m->out->n - 1].when = when;
}

static void add_time(const struct making *m, const struct attribute_row *row)
{
	int64_t when = moment(m->job, row->path);

	add_moment(m, row->name, when < 0 && row->fallback ? moment(m->job, row->fallback) : when);
}

/* The last thing that happened to it. */
static void add_mtime(const struct making *m, const struct attribute_row *row)
{
	static const char *const paths[] = { "metadata.creationTimestamp", "status.queueTime", "status.eligibleTime",
					     "status.startTime", "status.completionTime" };
	int64_t last = -1;

	for (size_t i = 0; i < ARRAY_SIZE(paths); i++) {
		int64_t when = moment(m->job, paths[i]);

		last = when > last ? when : last;
	}
	add_moment(m, row->name, last);
}

static void add_runtime(const struct making *m, const struct attribute_row *row)
{
	int64_t start = moment(m->job, "status.startTime");
	int64_t end = moment(m->job, "status.completionTime");
	const char *exact = jsonx_str(m->job, "status.totalRuntime");

	if (exact)
		pbs_attributes_add(m->out, row->name, NULL, xstrdup(exact));
	else if (start >= 0 && end >= start)
		pbs_attributes_add(m->out, row->name, NULL, xasprintf("%lld.000000", (long long)(end - start)));
}

/* ---- plain values ---- */

static void add_text(const struct making *m, const struct attribute_row *row)
{
	const char *text = jsonx_str_or(m->job, row->path, "");

	if (!*text)
		text = row->fallback;
	if (text)
		pbs_attributes_add(m->out, row->name, NULL, xstrdup(text));
}

static void add_number(const struct making *m, const struct attribute_row *row)
{
	const json_t *v = jsonx_at(m->job, row->path);

	if (json_is_integer(v))
		pbs_attributes_add(m->out, row->name, NULL, xasprintf("%lld", (long long)json_integer_value(v)));
	else if (row->fallback)
		pbs_attributes_add(m->out, row->name, NULL, xstrdup(row->fallback));
}

static void add_bool(const struct making *m, const struct attribute_row *row)
{
	const json_t *v = jsonx_at(m->job, row->path);

	if (json_is_boolean(v) || row->fallback)
		pbs_attributes_add(m->out, row->name, NULL,
				   xstrdup(json_is_boolean(v) ? json_is_true(v) ? "True" : "False" : row->fallback));
}

static void add_list(const struct making *m, const struct attribute_row *row)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	const char *between = row->fallback ? row->fallback : ",";
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(m->job, row->path), i, v)
		sbuf_addf(&text, "%s%s", i ? between : "", json_is_string(v) ? json_string_value(v) : "");
	if (text.n)
		pbs_attributes_add(m->out, row->name, NULL, sbuf_steal(&text));
}

/* ---- output ---- */

/* The file that a job without -o or -e writes; nothing if it is not known where it was submitted. */
static void default_path(const struct making *m, const char *element, char letter, struct sbuf *out)
{
	const char *dir = jsonx_str_or(m->job, "spec.workingDir", ""),
		   *name = jsonx_str_or(m->job, "spec.name", "STDIN");
	const char *host = jsonx_str_or(m->job, "spec.submitHost", ""), *slash = strrchr(name, '/');
	size_t n;

	if (!*dir || jsonx_bool_or(m->job, "spec.interactive", false))
		return;
	name = slash ? slash + 1 : name;
	n = strlen(name);
	if (*element && n > strlen(element) && str_ends(name, element)) /* an element is called NAME-3 */
		n -= strlen(element) + 1;
	sbuf_addf(out, "%s%s%s/%.*s.%c%lld", host, *host ? ":" : "", dir, (int)n, name, letter,
		  (long long)jsonx_int_or(m->job, "status.sequence", 0));
}

static void add_path(const struct making *m, const struct attribute_row *row)
{
	const char *text = jsonx_str_or(m->job, row->path, "");
	auto_sbuf struct sbuf path = SBUF(TEXT_MAX);
	struct pbs_id id = { 0 };

	(void)pbs_id_parse(jsonx_str_or(m->job, "status.id", ""), &id);
	if (*text)
		sbuf_adds(&path, text);
	else
		default_path(m, id.elements, row->name[0] == 'O' ? 'o' : 'e', &path);
	if (path.n && id.elements[0] && !pbs_expand_tells_apart(text) && !str_ends(path.p, "/dev/null"))
		sbuf_addf(&path, "%s%s", jsonx_str_or(m->job, "spec.attributes.array_separator", "-"), id.elements);
	if (path.n)
		pbs_attributes_add(m->out, row->name, NULL, sbuf_steal(&path));
}

/* ---- particular ones ---- */

static void add_owner(const struct making *m, const struct attribute_row *row)
{
	const char *host = jsonx_str_or(m->job, "spec.submitHost", "");

	pbs_attributes_add(m->out, row->name, NULL,
			   xasprintf("%s%s%s", jsonx_str_or(m->job, "spec.owner", ""), *host ? "@" : "", host));
}

static void add_used(const struct making *m, const struct attribute_row *row)
{
	static const char *const order[] = { "cput", "vmem", "walltime", "mem", "energy_used" };
	const json_t *used = jsonx_at(m->job, row->path);

	for (size_t i = 0; i < ARRAY_SIZE(order); i++) {
		const char *text = json_string_value(json_object_get(used, order[i]));

		if (text)
			pbs_attributes_add(m->out, row->name, order[i], xstrdup(text));
	}
}

static void add_server(const struct making *m, const struct attribute_row *row)
{
	if (m->view->server && *m->view->server)
		pbs_attributes_add(m->out, row->name, NULL, xstrdup(m->view->server));
}

/* type:job:job,type:count */
static void add_depend(const struct making *m, const struct attribute_row *row)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	json_t *d;
	json_t *v;
	size_t i;
	size_t k;

	json_array_foreach (jsonx_at(m->job, row->path), i, d) {
		const json_t *count = json_object_get(d, "count");

		sbuf_addf(&text, "%s%s", i ? "," : "", jsonx_str_or(d, "type", ""));
		if (json_is_integer(count))
			sbuf_addf(&text, ":%lld", (long long)json_integer_value(count));
		json_array_foreach (json_object_get(d, "jobs"), k, v)
			sbuf_addf(&text, ":%s", json_is_string(v) ? json_string_value(v) : "");
	}
	if (text.n)
		pbs_attributes_add(m->out, row->name, NULL, sbuf_steal(&text));
}

static void add_exec_host(const struct making *m, const struct attribute_row *row)
{
	const char *text = jsonx_str_or(m->job, row->path, "");
	auto_sbuf struct sbuf expanded = SBUF(TEXT_MAX);

	if (!*text)
		return;
	if (m->view->host_style == 4)
		slots_expand(str_of(text), &expanded);
	pbs_attributes_add(m->out, row->name, NULL, expanded.n ? sbuf_steal(&expanded) : xstrdup(text));
}

/* Who waits for other jobs is held by the system, which no user has asked for. */
static void add_hold(const struct making *m, const struct attribute_row *row)
{
	const char *hold = jsonx_str_or(m->job, row->path, "n");
	bool held = streq(jsonx_str_or(m->job, "status.state", "Q"), "H");
	bool depends = json_array_size(jsonx_at(m->job, "spec.dependencies")) > 0;

	if (!*hold || streq(hold, "n"))
		hold = held && depends ? "s" : "n";
	pbs_attributes_add(m->out, row->name, NULL, xstrdup(hold));
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static int count_nodes(const json_t *resources)
{
	struct pbs_nodes nodes = { 0 };
	struct err e = ERR_INIT;
	int n = 0;

	if (pbs_nodes_of(resources, &nodes, &e) < 0)
		return 0;
	n = nodes.count;
	pbs_nodes_done(&nodes);
	return n;
}

/* As PBS writes it, whoever wrote it down. */
static char *resource_text(const char *name, const char *value)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	struct err e = ERR_INIT;

	return pbs_resource_normal(name, value, &text, &e) < 0 ? xstrdup(value) : sbuf_steal(&text);
}

/* In alphabetical order, with the number of nodes that the request comes to. */
static void add_resources(const struct making *m, const struct attribute_row *row)
{
	json_t *resources = jsonx_at(m->job, row->path);
	size_t most = json_object_size(resources) + 1;
	auto_free const char **names = xcalloc(most, sizeof(char *));
	int nodes = count_nodes(resources);
	const char *key;
	size_t n = 0;
	json_t *v;

	json_object_foreach (resources, key, v)
		if (json_is_string(v) && !streq(key, "nodect"))
			names[n++] = key;
	if (nodes > 0)
		names[n++] = "nodect";
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_object_get(resources, names[i]));

		pbs_attributes_add(m->out, row->name, names[i],
				   streq(names[i], "nodect") ? xasprintf("%d", nodes) : resource_text(names[i], text));
	}
}

/* A comma within a value is written \, as in what qsub takes. */
static void add_variables(const struct making *m, const struct attribute_row *row)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	const char *key;
	json_t *v;

	json_object_foreach (jsonx_at(m->job, row->path), key, v) {
		sbuf_addf(&text, "%s%s=", text.n ? "," : "", key);
		for (const char *p = json_is_string(v) ? json_string_value(v) : ""; *p; p++) {
			if (*p == ',')
				sbuf_addc(&text, '\\');
			sbuf_addc(&text, *p);
		}
	}
	if (text.n)
		pbs_attributes_add(m->out, row->name, NULL, sbuf_steal(&text));
}

static void add_array(const struct making *m, const struct attribute_row *row)
{
	const char *request = jsonx_str(m->job, row->path);
	int64_t slots = jsonx_int_or(m->job, "spec.array.slots", 0);

	if (!request)
		return;
	pbs_attributes_add(m->out, row->name, NULL,
			   slots ? xasprintf("%s%%%lld", request, (long long)slots) : xstrdup(request));
}

/* The index in the id of an element: 3 of 189[3].Ghead. */
static void add_array_id(const struct making *m, const struct attribute_row *row)
{
	const char *open = strchr(jsonx_str_or(m->job, row->path, ""), '[');
	size_t n = open ? strspn(open + 1, "0123456789") : 0;

	if (n)
		pbs_attributes_add(m->out, row->name, NULL, xstrndup(open + 1, n));
}

static void add_rest(const struct making *m, const struct attribute_row *row)
{
	const char *key;
	json_t *v;

	json_object_foreach (jsonx_at(m->job, row->path), key, v)
		if (json_is_string(v) && !pbs_attributes_find(m->out, key, NULL))
			pbs_attributes_add(m->out, key, NULL, xstrdup(json_string_value(v)));
}

/* What is left of its time, while it runs. */
static void add_remaining(const struct making *m, const struct attribute_row *row)
{
	const char *limit = jsonx_str(m->job, "spec.resources.walltime");
	const char *used = jsonx_str(m->job, "status.resourcesUsed.walltime");
	int64_t seconds;
	int64_t gone;

	if (!streq(jsonx_str_or(m->job, "status.state", ""), "R") || !limit || !pbs_time_parse(limit, &seconds))
		return;
	if (!used || !pbs_time_parse(used, &gone))
		gone = pbs_time_used(json_object_get(m->job, "status"), m->view->now);
	seconds -= gone;
	pbs_attributes_add(m->out, row->name, seconds < 0 ? "Exceeded" : "Remaining",
			   xasprintf("%lld", (long long)(seconds < 0 ? -seconds : seconds)));
}

/* ---- the table ---- */

static const struct attribute_row rows[] = {
	{ "Job_Name", "spec.name", add_text, "STDIN" },
	{ "Job_Owner", "spec.owner", add_owner },
	{ "resources_used", "status.resourcesUsed", add_used },
	{ "job_state", "status.state", add_text, "Q" },
	{ "queue", "spec.queue", add_text },
	{ "server", NULL, add_server },
	{ "Account_Name", "spec.account", add_text },
	{ "Checkpoint", "spec.checkpoint", add_text, "u" },
	{ "ctime", "metadata.creationTimestamp", add_time },
	{ "depend", "spec.dependencies", add_depend },
	{ "Error_Path", "spec.errorPath", add_path },
	{ "exec_host", "status.execHost", add_exec_host },
	{ "exec_gpus", "status.execGpus", add_text },
	{ "Execution_Time", "spec.executionTime", add_time },
	{ "group_list", "spec.groupList", add_list },
	{ "Hold_Types", "spec.hold", add_hold },
	{ "interactive", "spec.interactive", add_bool },
	{ "Join_Path", "spec.joinPath", add_text, "n" },
	{ "Keep_Files", "spec.keepFiles", add_text, "n" },
	{ "Mail_Points", "spec.mail.points", add_text, "a" },
	{ "Mail_Users", "spec.mail.users", add_list },
	{ "mtime", NULL, add_mtime },
	{ "Output_Path", "spec.outputPath", add_path },
	{ "Priority", "spec.priority", add_number, "0" },
	{ "qtime", "status.queueTime", add_time, "metadata.creationTimestamp" },
	{ "Rerunable", "spec.rerunnable", add_bool, "True" },
	{ "Resource_List", "spec.resources", add_resources },
	{ "session_id", "status.sessionId", add_number },
	{ "Shell_Path_List", "spec.shell", add_text },
	{ "stagein", "spec.stageIn", add_list },
	{ "stageout", "spec.stageOut", add_list },
	{ "User_List", "spec.userList", add_list },
	{ "Variable_List", "spec.env", add_variables },
	{ "euser", "spec.owner", add_text },
	{ "egroup", "status.egroup", add_text },
	{ "comment", "status.comment", add_text },
	{ "etime", "status.eligibleTime", add_time },
	{ "exit_status", "status.exitStatus", add_number },
	{ "submit_args", "spec.submitArgs", add_text },
	{ "job_array_id", "status.id", add_array_id },
	{ "job_array_request", "spec.array.request", add_array },
	{ "umask", "spec.umask", add_text },
	{ "start_time", "status.startTime", add_time },
	{ "start_count", "status.startCount", add_number },
	{ "fault_tolerant", "spec.attributes.fault_tolerant", add_text },
	{ "comp_time", "status.completionTime", add_time },
	{ "job_radix", "spec.attributes.job_radix", add_text },
	{ "total_runtime", NULL, add_runtime },
	{ "node_exclusive", "spec.nodeExclusive", add_bool },
	{ "submit_host", "spec.submitHost", add_text },
	{ "init_work_dir", "spec.workingDir", add_text },
	{ "job_arguments", "spec.arguments", add_list, " " },
	{ "project", "spec.project", add_text },
	{ NULL, "spec.attributes", add_rest },
	{ "Walltime", NULL, add_remaining },
};

void pbs_attributes_of(const json_t *job, const struct pbs_view *v, struct pbs_attributes *ret)
{
	struct making m = { .job = job, .view = v, .out = ret };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i].add(&m, &rows[i]);
}

void pbs_job_id(const json_t *job, const char *server, struct sbuf *out)
{
	const char *id = jsonx_str_or(job, "status.id", "");

	if (*id)
		sbuf_adds(out, id);
	else
		sbuf_addf(out, "%s%s.%s", jsonx_str_or(job, "metadata.name", ""),
			  jsonx_at(job, "spec.array") ? "[]" : "", server ? server : "");
}
