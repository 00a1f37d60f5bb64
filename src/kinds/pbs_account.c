// SPDX-License-Identifier: Apache-2.0
/* pbs_account.c - see pbs_account.h */
#include "kinds/pbs_account.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_nodes.h"

void pbs_account_add(struct sbuf *out, const char *key, const char *value)
{
	bool quoted = value && strchr(value, ' ');

	if (!value || !*value)
		return;
	sbuf_addf(out, "%s%s=%s", out->n ? " " : "", key, quoted ? "\"" : "");
	for (; *value; value++)
		sbuf_addc(out, (unsigned char)*value < ' ' || *value == 0x7f || *value == '"' ? '_' : *value);
	if (quoted)
		sbuf_addc(out, '"');
}

static int64_t moment(const json_t *obj, const char *path)
{
	int64_t micros;

	return clock_parse_rfc3339(jsonx_str_or(obj, path, ""), &micros) ? micros / 1000000 : -1;
}

static void add_number(struct sbuf *out, const char *key, int64_t value)
{
	sbuf_addf(out, "%s%s=%lld", out->n ? " " : "", key, (long long)value);
}

static void add_moment(struct sbuf *out, const char *key, int64_t when)
{
	if (when >= 0)
		add_number(out, key, when);
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* PREFIX.name=value for each, in alphabetical order. */
static void add_all(struct sbuf *out, const char *prefix, const json_t *values)
{
	auto_free const char **names = xcalloc(json_object_size(values) + 1, sizeof(*names));
	const char *name;
	size_t n = 0;
	json_t *v;

	json_object_foreach ((json_t *)values, name, v)
		names[n++] = name;
	qsort(names, n, sizeof(*names), by_name);
	for (size_t i = 0; i < n; i++) {
		auto_free char *key = xasprintf("%s.%s", prefix, names[i]);

		pbs_account_add(out, key, json_string_value(json_object_get(values, names[i])));
	}
}

/* With the number of nodes that the request comes to. */
static void add_resources(struct sbuf *out, const json_t *resources)
{
	json_auto_t *all = resources ? json_copy((json_t *)resources) : json_object();
	struct pbs_nodes nodes = { 0 };
	struct err e = ERR_INIT;

	if (pbs_nodes_of(resources, &nodes, &e) == 0 && nodes.count > 0)
		json_object_set_new(all, "nodect", jsonx_stringf("%d", nodes.count));
	pbs_nodes_done(&nodes);
	add_all(out, "Resource_List", all);
}

static void add_owner(struct sbuf *out, const json_t *job)
{
	const char *host = jsonx_str_or(job, "spec.submitHost", "");
	auto_free char *owner = xasprintf("%s%s%s", jsonx_str_or(job, "spec.owner", ""), *host ? "@" : "", host);

	pbs_account_add(out, "owner", owner);
}

/* What Torque 6 says of the hosts: G1/0-1,3+G2/0 is four slots on two. */
static void add_hosts(struct sbuf *out, const char *hosts)
{
	struct str rest = str_of(hosts), part, last = { 0 };
	int64_t slots = 0, nodes = 0;

	while (rest.n && str_split(&rest, '+', &part)) {
		auto_free char *text = xstrndup(part.p, part.n);
		char *slash = strchr(text, '/');
		struct pbs_set set = { 0 };
		struct str host = { part.p, slash ? (size_t)(slash - text) : part.n };

		pbs_element_read(slash ? slash + 1 : NULL, &set);
		slots += slash ? (int64_t)pbs_set_count(&set) : 1;
		nodes += host.n != last.n || strncmp(host.p, last.p, host.n) != 0;
		last = host;
		pbs_set_done(&set);
	}
	if (!*hosts)
		return;
	add_number(out, "total_execution_slots", slots);
	add_number(out, "unique_node_count", nodes);
}

void pbs_account_text(const json_t *job, const json_t *run, const struct pbs_account_end *end, struct sbuf *out)
{
	int64_t queued = moment(job, "status.queueTime");
	int64_t session = jsonx_int_or(run, "sessionId", 0);
	const char *title = jsonx_str_or(job, "spec.name", "");
	json_t *index = json_object_get(run, "index"); /* of an element */
	auto_free char *name = json_is_integer(index)
				       ? xasprintf("%s-%lld", title, (long long)json_integer_value(index))
				       : xstrdup(title);

	pbs_account_add(out, "user", jsonx_str_or(job, "spec.owner", ""));
	pbs_account_add(out, "group", jsonx_str_or(job, "status.egroup", ""));
	pbs_account_add(out, "account", jsonx_str_or(job, "spec.account", ""));
	pbs_account_add(out, "jobname", name);
	pbs_account_add(out, "queue", jsonx_str_or(job, "spec.queue", "batch"));
	add_moment(out, "ctime", moment(job, "metadata.creationTimestamp"));
	add_moment(out, "qtime", queued >= 0 ? queued : moment(job, "metadata.creationTimestamp"));
	add_moment(out, "etime", moment(job, "status.eligibleTime"));
	add_moment(out, "start", moment(run, "startTime"));
	add_owner(out, job);
	pbs_account_add(out, "exec_host", jsonx_str_or(run, "execHost", ""));
	add_resources(out, jsonx_at(job, "spec.resources"));
	if (!end)
		return;
	if (session)
		add_number(out, "session", session);
	add_hosts(out, jsonx_str_or(run, "execHost", ""));
	add_moment(out, "end", end->at);
	if (end->has_exit)
		add_number(out, "Exit_status", end->exit);
	add_all(out, "resources_used", end->used);
}

struct pbs_account_end pbs_account_end(const json_t *job)
{
	const json_t *code = jsonx_at(job, "status.exitStatus");

	return (struct pbs_account_end){ .at = moment(job, "status.completionTime"),
					 .has_exit = json_is_integer(code),
					 .exit = json_integer_value(code),
					 .used = jsonx_at(job, "status.resourcesUsed") };
}

bool pbs_account_line(struct str line, struct pbs_account_line *ret)
{
	struct str stamp, type, id;
	auto_free char *text = NULL;

	if (!str_split(&line, ';', &stamp) || !str_split(&line, ';', &type) || !str_split(&line, ';', &id))
		return false;
	text = xstrndup(id.p, id.n);
	if (!pbs_id_parse(text, &ret->id))
		return false;
	ret->stamp = stamp;
	ret->text = line;
	return true;
}
