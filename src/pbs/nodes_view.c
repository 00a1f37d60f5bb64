// SPDX-License-Identifier: Apache-2.0
/* nodes_view.c - see nodes_view.h */
#include "pbs/nodes_view.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "kinds/quantity.h"
#include "pbs/slots.h"

#define TEXT_MAX (1u << 20)

static const char *annotation(const json_t *node, const char *name)
{
	return json_string_value(json_object_get(jsonx_at(node, "metadata.annotations"), name));
}

static int amount(const json_t *node, const char *name)
{
	const char *text = json_string_value(json_object_get(jsonx_at(node, "status.allocatable"), name));
	struct quantity q;
	int64_t n = text && quantity_parse(text, &q) ? quantity_milli(&q) / 1000 : 0;

	return n < 0 ? 0 : n > SLOT_MOST ? SLOT_MOST : (int)n;
}

static int slots_of(const json_t *node)
{
	const char *text = annotation(node, PBS_NP_ANNOTATION);
	int64_t np;

	return text && str_int64(text, 0, SLOT_MOST, &np) ? (int)np : amount(node, "cpu");
}

static json_t *cards_of(const json_t *node)
{
	const char *text = annotation(node, "stoker.dev/gpus");
	struct err e = ERR_INIT;
	json_t *list = NULL;

	if (!text || jsonx_parse(text, strlen(text), NULL, NULL, &list, &e) < 0 || !json_is_array(list)) {
		json_decref(list);
		return json_array();
	}
	return list;
}

void node_view_init(struct node_view *v, const json_t *node)
{
	const char *key;
	json_t *label;

	*v = (struct node_view){ .node = node,
				 .name = pbs_host_of(node),
				 .object = jsonx_str_or(node, "metadata.name", ""),
				 .np = slots_of(node),
				 .gpus = amount(node, "nvidia.com/gpu"),
				 .down = !condition_holds(node, "Ready"),
				 .offline = jsonx_bool_or(node, "spec.unschedulable", false),
				 .properties = SBUF(TEXT_MAX),
				 .cards = cards_of(node) };
	json_object_foreach (jsonx_at(node, "metadata.labels"), key, label) {
		const char *property = key + strlen(PBS_PROPERTY_LABEL);

		if (str_starts(key, PBS_PROPERTY_LABEL) && !streq(property, v->name) && !streq(property, v->object))
			sbuf_addf(&v->properties, "%s%s", v->properties.n ? "," : "", property);
	}
}

void node_view_done(struct node_view *v)
{
	for (size_t i = 0; i < v->n; i++) {
		free(v->jobs[i].id);
		free(v->jobs[i].owner);
		sbuf_done(&v->jobs[i].slots);
	}
	free(v->jobs);
	sbuf_done(&v->properties);
	json_decref(v->cards);
	*v = (struct node_view){ 0 };
}

/* Hosts in exec_host may have a domain that the node's name lacks, and capitals, which no Node may have. */
static bool is_host(struct str host, const char *name)
{
	size_t n = strlen(name);

	return host.n >= n && strncasecmp(host.p, name, n) == 0 && (host.n == n || host.p[n] == '.');
}

static void add_ranges(struct node_job *job, struct str ranges)
{
	int first;
	int last;

	while (slots_range(&ranges, &first, &last)) {
		sbuf_addf(&job->slots, "%s%d", job->slots.n ? "," : "", first);
		if (last > first)
			sbuf_addf(&job->slots, "-%d", last);
		job->count += last - first + 1;
	}
}

void node_view_job(struct node_view *v, const struct board_row *r)
{
	struct node_job job = { .slots = SBUF(TEXT_MAX) };
	struct str rest = r->c[COL_EXEC_HOST];
	struct slots s;

	if (!strchr("RSE", board_row_state(r)))
		return;
	while (slots_next(&rest, &s))
		if (is_host(s.host, v->name))
			add_ranges(&job, s.ranges);
	if (!job.count) {
		sbuf_done(&job.slots);
		return;
	}
	job.id = xstrndup(r->c[COL_ID].p, r->c[COL_ID].n);
	job.owner = xstrndup(r->c[COL_OWNER].p, r->c[COL_OWNER].n);
	v->used += job.count;
	ARRAY_PUSH(v->jobs, v->n, v->cap, job);
}

bool node_view_has_property(const struct node_view *v, const char *property)
{
	auto_free char *key = xasprintf(PBS_PROPERTY_LABEL "%s", property);

	return streq(property, v->name) || json_object_get(jsonx_at(v->node, "metadata.labels"), key);
}

const char *node_view_note(const struct node_view *v)
{
	const char *note = annotation(v->node, NOTE_ANNOTATION);

	return note ? note : "";
}

/* ---- states ---- */

static bool is_full(const struct node_view *v)
{
	return v->np > 0 && v->used >= v->np;
}

void node_view_state(const struct node_view *v, struct sbuf *out)
{
	const struct {
		const char *word;
		bool holds;
	} states[] = { { "down", v->down }, { "offline", v->offline }, { "job-exclusive", is_full(v) } };
	bool any = false;

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].holds) {
			sbuf_addf(out, "%s%s", any ? "," : "", states[i].word);
			any = true;
		}
	if (!any)
		sbuf_adds(out, "free");
}

bool node_view_is(const struct node_view *v, const char *state, bool *ret_known)
{
	bool up = !v->down && !v->offline;
	const struct {
		const char *word;
		bool holds;
	} states[] = {
		{ "", !up },
		{ "all", true },
		{ "free", up && !is_full(v) },
		{ "offline", v->offline },
		{ "down", v->down },
		{ "up", up },
		{ "active", v->n > 0 },
		{ "job-exclusive", is_full(v) },
		{ "job-sharing", false },
		{ "busy", false },
		{ "reserve", false },
		{ "time-shared", false },
		{ "state-unknown", false },
		{ "unknown", false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (streq(state, states[i].word)) {
			*ret_known = true;
			return states[i].holds;
		}
	*ret_known = false;
	return false;
}

/* ---- cards ---- */

void node_gpus_of(const struct board_row *r, const char *node, void (*each)(void *arg, int index), void *arg)
{
	static const char suffix[] = "-gpu";
	struct str rest = r->c[COL_EXEC_GPUS];
	size_t n = strlen(node);
	struct slots s;
	int first;
	int last;

	while (slots_next(&rest, &s)) {
		if (s.host.n != n + sizeof(suffix) - 1 || strncasecmp(s.host.p, node, n) != 0 ||
		    memcmp(s.host.p + n, suffix, sizeof(suffix) - 1) != 0)
			continue;
		while (slots_range(&s.ranges, &first, &last))
			for (int i = first; i <= last; i++)
				each(arg, i);
	}
}
