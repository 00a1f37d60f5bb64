// SPDX-License-Identifier: Apache-2.0
/* describe_things.c - pages of what runs nothing itself: services, nodes, claims, namespaces, quotas, data */
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/amounts.h"
#include "cli/describe_parts.h"
#include "cli/top_rows.h"
#include "cli/work.h"
#include "kinds/cells.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/quantity.h"

/* ---- services ---- */

/* Calls fn for every address of every slice. */
static void each_endpoint(const struct about *a, void (*fn)(void *arg, const json_t *endpoint), void *arg)
{
	json_t *slice;
	json_t *e;
	size_t i;
	size_t k;

	json_array_foreach (a->beside, i, slice)
		json_array_foreach (json_object_get(slice, "endpoints"), k, e)
			fn(arg, e);
}

struct tally {
	size_t ready, all;
};

static void count_endpoint(void *arg, const json_t *endpoint)
{
	struct tally *t = arg;

	t->all++;
	t->ready += jsonx_bool_or(endpoint, "conditions.ready", true);
}

enum tint service_state(const struct about *a, struct sbuf *out)
{
	const char *external = jsonx_str(a->obj, "spec.externalName");
	struct tally t = { 0 };

	if (external) {
		sbuf_addf(out, "Another name for %s", external);
		return TINT_NONE;
	}
	each_endpoint(a, count_endpoint, &t);
	if (!t.all)
		sbuf_adds(out, "No pod answers for it: connections to it fail");
	else
		sbuf_addf(out, "%zu of %zu endpoint%s ready", t.ready, t.all, t.all == 1 ? "" : "s");
	return t.ready && t.ready == t.all ? TINT_GOOD : t.ready ? TINT_BUSY : TINT_BAD;
}

static void ports_words(const json_t *obj, struct sbuf *out)
{
	json_t *port;
	size_t i;

	json_array_foreach (jsonx_at(obj, "spec.ports"), i, port) {
		const json_t *target = json_object_get(port, "targetPort");
		const char *name = jsonx_str_or(port, "name", "");
		int64_t node = jsonx_int_or(port, "nodePort", 0);

		sbuf_addf(out, "%s%s%s%lld/%s", i ? "; " : "", name, *name ? " " : "",
			  (long long)jsonx_int_or(port, "port", 0), jsonx_str_or(port, "protocol", "TCP"));
		if (json_is_string(target))
			sbuf_addf(out, " to the pods' port %s", json_string_value(target));
		else if (json_is_integer(target))
			sbuf_addf(out, " to the pods' port %lld", (long long)json_integer_value(target));
		if (node)
			sbuf_addf(out, ", %lld on every node", (long long)node);
	}
}

void service_fields(const struct about *a, struct page *p)
{
	const char *ip = jsonx_str_or(a->obj, "spec.clusterIP", "");
	auto_sbuf struct sbuf ports = SBUF(2048);
	auto_sbuf struct sbuf selector = SBUF(2048);

	ports_words(a->obj, &ports);
	map_words(jsonx_at(a->obj, "spec.selector"), &selector);
	page_field(p, "Type", "%s", jsonx_str_or(a->obj, "spec.type", "ClusterIP"));
	page_field(p, "Address", "%s",
		   streq(ip, "None") ? "none of its own: its name leads to the pods (headless)" : ip);
	page_field(p, "Name", "%s.%s.svc", a->name, a->ns);
	page_field(p, "Ports", "%s", ports.n ? ports.p : "");
	page_field(p, "Selects", "%s", selector.n ? selector.p : "nothing: its endpoints are kept by somebody else");
}

static const struct table_column endpoint_columns[] = { { "ADDRESS" }, { "READY" }, { "OBJECT" }, { "NODE" } };

static void add_endpoint(void *arg, const json_t *e)
{
	struct table *t = arg;
	const char *kind = jsonx_str_or(e, "targetRef.kind", "");
	bool ready = jsonx_bool_or(e, "conditions.ready", true);
	const char *address = json_string_value(json_array_get(json_object_get(e, "addresses"), 0));

	table_add(t, TINT_NONE, address);
	table_add(t, ready ? TINT_GOOD : TINT_BAD, ready ? "yes" : "no");
	table_addf(t, TINT_NONE, "%s%s%s", streq(kind, "Pod") ? "pod" : kind, *kind ? "/" : "",
		   jsonx_str_or(e, "targetRef.name", ""));
	table_add(t, TINT_NONE, jsonx_str_or(e, "nodeName", ""));
}

void service_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(endpoint_columns);

	each_endpoint(a, add_endpoint, &t);
	if (!table_rows(&t))
		return;
	page_section(p, "Endpoints");
	page_table(p, &t);
}

/* ---- nodes ---- */

enum tint node_state(const struct about *a, struct sbuf *out)
{
	const json_t *ready = condition_of(a->obj, "Ready");
	bool well = streq(jsonx_str_or(ready, "status", ""), "True");
	bool shut = jsonx_bool_or(a->obj, "spec.unschedulable", false);
	char age[32];

	sbuf_addf(out, "%s for %s", well ? "Ready" : "Not ready", since(a, time_in(ready, "lastTransitionTime"), age));
	if (!well)
		sbuf_addf(out, ": %s", jsonx_str_or(ready, "message", jsonx_str_or(ready, "reason", "")));
	if (shut)
		sbuf_adds(out, "; it takes no new pods (cordoned)");
	return !well ? TINT_BAD : shut ? TINT_BUSY : TINT_GOOD;
}

static void taints_words(const json_t *obj, struct sbuf *out)
{
	json_t *t;
	size_t i;

	json_array_foreach (jsonx_at(obj, "spec.taints"), i, t) {
		const char *value = jsonx_str_or(t, "value", "");

		sbuf_addf(out, "%s%s%s%s:%s", i ? ", " : "", jsonx_str_or(t, "key", ""), *value ? "=" : "", value,
			  jsonx_str_or(t, "effect", ""));
	}
}

static void addresses_words(const json_t *obj, struct sbuf *out)
{
	json_t *t;
	size_t i;

	json_array_foreach (jsonx_at(obj, "status.addresses"), i, t)
		sbuf_addf(out, "%s%s", i ? ", " : "", jsonx_str_or(t, "address", ""));
}

void node_fields(const struct about *a, struct page *p)
{
	const json_t *info = jsonx_at(a->obj, "status.nodeInfo");
	auto_sbuf struct sbuf addresses = SBUF(1024);
	auto_sbuf struct sbuf taints = SBUF(1024);

	addresses_words(a->obj, &addresses);
	taints_words(a->obj, &taints);
	page_field(p, "Addresses", "%s", addresses.n ? addresses.p : "");
	page_field(p, "System", "%s, Linux %s, %s", jsonx_str_or(info, "osImage", "?"),
		   jsonx_str_or(info, "kernelVersion", "?"), jsonx_str_or(info, "architecture", "?"));
	page_field(p, "Runs", "%s with %s", jsonx_str_or(info, "kubeletVersion", "?"),
		   jsonx_str_or(info, "containerRuntimeVersion", "?"));
	page_field(p, "Taints", "%s", taints.n ? taints.p : "");
}

static const struct table_column resource_columns[] = {
	{ "RESOURCE" },        { "FOR PODS", .right = true }, { "ASKED FOR", .right = true },
	{ "", .right = true }, { "USED", .right = true },     { "", .right = true },
};

typedef const char *amount_text(int64_t amount, char out[AMOUNT_TEXT]);

static void add_resource(struct table *t, const char *name, int64_t all, int64_t asked, int64_t used, amount_text *text)
{
	char buf[AMOUNT_TEXT];

	table_add(t, TINT_NONE, name);
	table_add(t, TINT_NONE, text(all, buf));
	table_add(t, TINT_NONE, text(asked, buf));
	table_add(t, TINT_NONE, percent_text(asked, all, buf));
	table_add(t, TINT_NONE, used < 0 ? "-" : text(used, buf));
	table_add(t, TINT_NONE, used < 0 ? "-" : percent_text(used, all, buf));
}

static const char *plain_number(int64_t n, char out[AMOUNT_TEXT])
{
	snprintf(out, AMOUNT_TEXT, "%lld", (long long)n);
	return out;
}

void node_tables(const struct about *a, struct page *p)
{
	json_auto_t *self = json_pack("[O]", a->obj);
	auto_table struct table t = TABLE(resource_columns);
	auto_table struct table cards = { 0 };
	struct top_rows rows;
	const struct top_row *r;

	top_rows_nodes(self, a->metrics, a->pods, &rows);
	r = &rows.rows[0];
	add_resource(&t, "cpu", r->most.cpu, r->requested.cpu, r->measured ? r->used.cpu : -1, cpu_text);
	add_resource(&t, "memory", r->most.memory, r->requested.memory, r->measured ? r->used.memory : -1, memory_text);
	if (r->most.gpus)
		add_resource(&t, "GPUs", r->most.gpus, r->requested.gpus, r->used.gpus, plain_number);
	add_resource(&t, "pods", r->pods_most, r->pods, r->pods, plain_number);
	page_section(p, "Resources");
	page_table(p, &t);
	top_cards_table(self, &cards);
	if (table_rows(&cards)) {
		page_section(p, "GPUs");
		page_table(p, &cards);
	}
	top_rows_done(&rows);
	pods_tables(a, p);
}

/* ---- claims ---- */

enum tint claim_state(const struct about *a, struct sbuf *out)
{
	const char *phase = jsonx_str_or(a->obj, "status.phase", "Pending");
	const char *size = json_string_value(json_object_get(jsonx_at(a->obj, "status.capacity"), "storage"));
	const json_t *last = json_array_get(a->events, json_array_size(a->events) - 1);

	if (streq(phase, "Bound")) {
		sbuf_addf(out, "Bound to volume %s%s%s", jsonx_str_or(a->obj, "spec.volumeName", "?"),
			  size ? " of " : "", size ? size : "");
		return TINT_GOOD;
	}
	sbuf_addf(out, "%s%s%s", phase, last ? ": " : "", last ? jsonx_str_or(last, "message", "") : "");
	return streq(phase, "Lost") ? TINT_BAD : TINT_BUSY;
}

void claim_fields(const struct about *a, struct page *p)
{
	const json_t *asked = jsonx_at(a->obj, "spec.resources.requests");
	const char *size = json_string_value(json_object_get(asked, "storage"));
	json_auto_t *modes = cell_access_modes(jsonx_at(a->obj, "spec.accessModes"));
	auto_sbuf struct sbuf users = SBUF(2048);
	json_t *pod;
	size_t i;

	json_array_foreach (a->pods, i, pod)
		sbuf_addf(&users, "%spod/%s", i ? ", " : "", jsonx_str_or(pod, "metadata.name", ""));
	page_field(p, "Asks for", "%s", size ? size : "");
	page_field(p, "Access", "%s", json_string_value(modes) ? json_string_value(modes) : "");
	page_field(p, "Class", "%s", jsonx_str_or(a->obj, "spec.storageClassName", ""));
	page_field(p, "Used by", "%s", users.n ? users.p : "no pod");
}

/* ---- namespaces and quotas ---- */

enum tint namespace_state(const struct about *a, struct sbuf *out)
{
	bool ending = streq(jsonx_str_or(a->obj, "status.phase", ""), "Terminating");
	size_t n = json_array_size(a->pods);
	size_t running = 0;
	json_t *pod;
	size_t i;

	json_array_foreach (a->pods, i, pod)
		running += streq(jsonx_str_or(pod, "status.phase", ""), "Running");
	sbuf_addf(out, "%s: %zu pod%s, %zu of them running. `stoker ps -n %s` shows what for",
		  ending ? "Being deleted with all that is in it" : "Active", n, n == 1 ? "" : "s", running, a->name);
	return ending ? TINT_BUSY : TINT_GOOD;
}

static const struct table_column quota_columns[] = {
	{ "QUOTA" }, { "OF" }, { "USED", .right = true }, { "ALLOWED", .right = true }, { "", .right = true },
};

static void add_quota(const json_t *quota, struct table *t)
{
	const json_t *hard = jsonx_at(quota, "status.hard");
	const json_t *used = jsonx_at(quota, "status.used");
	size_t n;
	auto_free const char **keys = NULL;

	hard = hard ? hard : jsonx_at(quota, "spec.hard");
	keys = cells_sorted_keys(hard, &n);
	for (size_t i = 0; i < n; i++) {
		const char *most = json_string_value(json_object_get(hard, keys[i]));
		const char *now = json_string_value(json_object_get(used, keys[i]));
		struct quantity m = { 0 };
		struct quantity u = { 0 };
		char part[AMOUNT_TEXT] = "-";
		bool full;

		if (!quantity_parse(most ? most : "", &m) || !quantity_parse(now ? now : "0", &u))
			continue;
		full = quantity_cmp(&u, &m) >= 0;
		if (m.nano > 0)
			percent_text(quantity_milli(&u), quantity_milli(&m), part);
		table_add(t, TINT_NONE, jsonx_str_or(quota, "metadata.name", ""));
		table_add(t, TINT_NONE, keys[i]);
		table_add(t, full ? TINT_BAD : TINT_NONE, now);
		table_add(t, TINT_NONE, most);
		table_add(t, full ? TINT_BAD : TINT_NONE, part);
	}
}

void namespace_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(quota_columns);
	json_t *q;
	size_t i;

	json_array_foreach (a->beside, i, q)
		add_quota(q, &t);
	if (!table_rows(&t))
		return;
	page_section(p, "Quotas");
	page_table(p, &t);
}

void quota_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(quota_columns);

	add_quota(a->obj, &t);
	page_section(p, "Allowed");
	page_table(p, &t);
}

/* ---- ConfigMaps and Secrets ---- */

static const struct table_column data_columns[] = { { "KEY" }, { "BYTES", .right = true } };

/* How long base64 is when it is decoded. */
static size_t decoded_size(const char *text)
{
	size_t n = strlen(text);

	return n / 4 * 3 - str_ends(text, "=") - str_ends(text, "==");
}

void data_tables(const struct about *a, struct page *p)
{
	auto_table struct table t = TABLE(data_columns);
	static const char *const maps[] = { "data", "binaryData" };

	for (size_t m = 0; m < ARRAY_SIZE(maps); m++) {
		const json_t *map = json_object_get(a->obj, maps[m]);
		bool coded = a->kind == &kind_secret || m == 1;
		size_t n;
		auto_free const char **keys = cells_sorted_keys(map, &n);

		for (size_t i = 0; i < n; i++) {
			const char *text = json_string_value(json_object_get(map, keys[i]));

			table_add(&t, TINT_NONE, keys[i]);
			table_addf(&t, TINT_NONE, "%zu", !text ? 0 : coded ? decoded_size(text) : strlen(text));
		}
	}
	page_section(p, "Data");
	if (table_rows(&t))
		page_table(p, &t);
	else
		page_note(p, "none");
}
