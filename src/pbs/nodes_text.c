// SPDX-License-Identifier: Apache-2.0
/* nodes_text.c - see nodes_text.h
 *
 * Scripts look for the line with "gpus" in it and expect one: no other name here has that word.
 */
#include "pbs/nodes_text.h"

#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/quantity.h"
#include "pbs/xml.h"

#define TEXT_MAX (1u << 20)

enum { SERVICE_PORT = 15002, MANAGER_PORT = 15003 /* Torque's own; nobody listens there */ };

static void add_jobs(const struct node_view *v, struct pbs_attributes *ret)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	for (size_t i = 0; i < v->n; i++)
		sbuf_addf(&text, "%s%s/%s", i ? ", " : "", v->jobs[i].slots.p, v->jobs[i].id);
	if (text.n)
		pbs_attributes_add(ret, "jobs", NULL, sbuf_steal(&text));
}

/* ---- status ---- */

static int64_t capacity_kb(const json_t *node, const char *name)
{
	const char *text = json_string_value(json_object_get(jsonx_at(node, "status.capacity"), name));
	struct quantity q;

	return text && quantity_parse(text, &q) ? quantity_value(&q) / 1024 : 0;
}

/* When it last told of itself. */
static int64_t last_word(const json_t *node)
{
	const char *at = jsonx_str_or(condition_of(node, "Ready"), "lastHeartbeatTime", "");
	int64_t micros;

	return clock_parse_rfc3339(at, &micros) ? micros / 1000000 : 0;
}

static int count_users(const struct node_view *v)
{
	int users = 0;

	for (size_t i = 0; i < v->n; i++) {
		size_t k = 0;

		while (k < i && !streq(v->jobs[k].owner, v->jobs[i].owner))
			k++;
		users += k == i;
	}
	return users;
}

/* What Torque's agent would report, as far as anyone knows it here. */
static void add_status(const struct node_view *v, const struct node_use *use, struct pbs_attributes *ret)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	auto_sbuf struct sbuf state = SBUF(256);
	int64_t memory = capacity_kb(v->node, "memory");

	node_view_state(v, &state);
	sbuf_addf(&text, "opsys=linux,uname=Linux %s %s %s,nsessions=%zu,nusers=%d,", v->name,
		  jsonx_str_or(v->node, "status.nodeInfo.kernelVersion", ""),
		  jsonx_str_or(v->node, "status.nodeInfo.architecture", ""), v->n, count_users(v));
	sbuf_addf(&text, "totmem=%lldkb,", (long long)memory);
	if (use && use->known)
		sbuf_addf(&text, "availmem=%lldkb,", (long long)(memory - use->memory / 1024));
	sbuf_addf(&text, "physmem=%lldkb,ncpus=%d,", (long long)memory, v->np);
	if (use && use->known && use->load_milli >= 0)
		sbuf_addf(&text, "loadave=%.2f,", (double)use->load_milli / 1000);
	sbuf_addf(&text, "gres=,state=%s,varattr= ,version=%s,rectime=%lld,jobs=", state.p, PBS_VERSION,
		  (long long)last_word(v->node));
	for (size_t i = 0; i < v->n; i++)
		sbuf_addf(&text, "%s%s", i ? " " : "", v->jobs[i].id);
	pbs_attributes_add(ret, "status", NULL, sbuf_steal(&text));
}

/* ---- cards ---- */

static const char *card_use(const json_t *card)
{
	if (!jsonx_bool_or(card, "healthy", true))
		return "Unavailable";
	if (*jsonx_str_or(card, "pod", ""))
		return "Exclusive";
	return json_array_size(json_object_get(card, "shares")) ? "Shared" : "Unallocated";
}

static void add_cards(const struct node_view *v, struct pbs_attributes *ret)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	time_t when = (time_t)last_word(v->node);
	char moment[32];
	struct tm tm;

	if (!json_array_size(v->cards))
		return;
	for (size_t i = json_array_size(v->cards); i-- > 0;) {
		const json_t *card = json_array_get(v->cards, i);

		sbuf_addf(&text, "gpu[%lld]=gpu_id=%s;gpu_product_name=%s;gpu_memory_total=%lld MB;",
			  (long long)jsonx_int_or(card, "index", 0), jsonx_str_or(card, "uuid", ""),
			  jsonx_str_or(card, "name", ""), (long long)(jsonx_int_or(card, "memoryBytes", 0) >> 20));
		sbuf_addf(&text, "gpu_mode=Default;gpu_state=%s,", card_use(card));
	}
	localtime_r(&when, &tm);
	strftime(moment, sizeof(moment), "%a %b %e %H:%M:%S %Y", &tm);
	sbuf_addf(&text, "timestamp=%s", moment);
	pbs_attributes_add(ret, "gpu_status", NULL, sbuf_steal(&text));
}

/* ---- a node ---- */

void node_attributes(const struct node_view *v, const struct node_use *use, struct pbs_attributes *ret)
{
	auto_sbuf struct sbuf state = SBUF(256);

	node_view_state(v, &state);
	pbs_attributes_add(ret, "state", NULL, sbuf_steal(&state));
	pbs_attributes_add(ret, "power_state", NULL, xstrdup("Running"));
	pbs_attributes_add(ret, "np", NULL, xasprintf("%d", v->np));
	if (v->properties.n)
		pbs_attributes_add(ret, "properties", NULL, xstrdup(v->properties.p));
	pbs_attributes_add(ret, "ntype", NULL, xstrdup("cluster"));
	add_jobs(v, ret);
	add_status(v, use, ret);
	if (*node_view_note(v))
		pbs_attributes_add(ret, "note", NULL, xstrdup(node_view_note(v)));
	pbs_attributes_add(ret, "mom_service_port", NULL, xasprintf("%d", SERVICE_PORT));
	pbs_attributes_add(ret, "mom_manager_port", NULL, xasprintf("%d", MANAGER_PORT));
	pbs_attributes_add(ret, "gpus", NULL, xasprintf("%d", v->gpus));
	add_cards(v, ret);
}

void node_text(const char *name, const struct pbs_attributes *a, struct sbuf *out)
{
	sbuf_addf(out, "%s\n", name);
	for (size_t i = 0; i < a->n; i++)
		sbuf_addf(out, "     %s = %s\n", a->items[i].name, a->items[i].value);
	sbuf_addc(out, '\n');
}

void node_xml(const char *name, const struct pbs_attributes *a, struct sbuf *out)
{
	sbuf_adds(out, "<Node>");
	xml_element("name", name, out);
	for (size_t i = 0; i < a->n; i++)
		xml_element(a->items[i].name, a->items[i].value, out);
	sbuf_adds(out, "</Node>");
}

void node_line(const struct node_view *v, bool note, struct sbuf *out)
{
	auto_sbuf struct sbuf state = SBUF(256);

	node_view_state(v, &state);
	if (note)
		sbuf_addf(out, "%-20.20s %-26.26s %s\n", v->name, state.p, node_view_note(v));
	else
		sbuf_addf(out, "%-20.20s %s\n", v->name, state.p);
}
