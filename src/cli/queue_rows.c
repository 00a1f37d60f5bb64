// SPDX-License-Identifier: Apache-2.0
/* queue_rows.c - see queue_rows.h */
#include "cli/queue_rows.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "kinds/walltime.h"

json_t *queue_rows(const json_t *items, const char *ns, size_t *ret_others)
{
	json_t *rows = json_array();
	json_t *row;
	size_t i;

	json_array_foreach ((json_t *)items, i, row)
		if (!ns || str_same(jsonx_str(row, "namespace"), ns))
			json_array_append(rows, row);
	*ret_others = json_array_size(items) - json_array_size(rows);
	return rows;
}

void queue_size_text(const json_t *row, struct sbuf *out)
{
	int64_t pods = jsonx_int_or(row, "size", 1);
	int64_t gpus = jsonx_int_or(row, "gpus", 0);
	int64_t part = jsonx_int_or(row, "gpuMemoryMiB", 0);
	int64_t memory = jsonx_int_or(row, "memory", 0);
	char text[QUANTITY_TEXT];
	double cpus = (double)jsonx_int_or(row, "cpuMilli", 0) / 1000;

	quantity_bytes_text(part ? part << 20 : memory, text);
	if (pods != 1)
		sbuf_addf(out, "%lld pods, ", (long long)pods);
	if (gpus)
		sbuf_addf(out, "%lld GPU%s", (long long)gpus, gpus == 1 ? "" : "s");
	else if (part)
		sbuf_addf(out, "%s of GPU%s", text, pods == 1 ? "" : "s");
	else if (cpus > 0 || !memory)
		sbuf_addf(out, "%g CPU%s", cpus, cpus == 1 ? "" : "s");
	else
		sbuf_addf(out, "%s of memory", text);
}

/* The first is left out where all are of one. */
static const struct table_column columns[] = {
	{ "NAMESPACE" },
	{ "QUEUE" },
	{ "POS", .right = true },
	{ "NAME" },
	{ "USER" },
	{ "SIZE" },
	{ "WALLTIME", .right = true },
	{ "STATE" },
	{ "START" },
	{ "ENDS BY" },
	{ "PRIORITY", .wide = true, .right = true },
	{ "SUBMITTED", .wide = true },
	{ "REASON", .wide = true, .cut = true },
};

static enum tint tint_of(const char *state)
{
	static const struct {
		const char *state;
		enum tint tint;
	} rows[] = { { "running", TINT_GOOD }, { "starting", TINT_GOOD }, { "waiting", TINT_BUSY } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].state, state))
			return rows[i].tint;
	return TINT_DIM;
}

static void add_time(struct table *t, const json_t *row, const char *field, const char *before, int64_t now)
{
	char text[CLOCK_SHORT_LEN];
	int64_t micros;

	if (!clock_parse_rfc3339(jsonx_str_or(row, field, ""), &micros)) {
		table_add(t, TINT_NONE, NULL);
		return;
	}
	clock_short(micros / 1000000, now, text);
	table_addf(t, TINT_NONE, "%s%s", before, text);
}

static void add_row(struct table *t, const json_t *row, bool with_namespace, int64_t now)
{
	const char *state = jsonx_str_or(row, "state", "");
	auto_sbuf struct sbuf size = SBUF(128);
	char walltime[WALLTIME_TEXT] = "";
	int64_t position = jsonx_int_or(row, "position", 0);

	queue_size_text(row, &size);
	if (jsonx_at(row, "walltime"))
		walltime_text(jsonx_int_or(row, "walltime", 0), walltime);
	if (with_namespace)
		table_add(t, TINT_NONE, jsonx_str(row, "namespace"));
	table_add(t, TINT_NONE, jsonx_str(row, "queue"));
	if (position)
		table_addf(t, TINT_NONE, "%lld", (long long)position);
	else
		table_add(t, TINT_NONE, NULL);
	table_add(t, TINT_NONE, jsonx_str(row, "name"));
	table_add(t, TINT_NONE, jsonx_str(row, "user"));
	table_add(t, TINT_NONE, size.p);
	table_add(t, TINT_NONE, walltime);
	table_add(t, tint_of(state), state);
	/* What has begun has a start; of others it is a guess. */
	if (jsonx_at(row, "started"))
		add_time(t, row, "started", "", now);
	else
		add_time(t, row, "expectedStart", "~", now);
	add_time(t, row, "endsBy", "", now);
	table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(row, "priority", 0));
	add_time(t, row, "submitted", "", now);
	table_add(t, TINT_NONE, streq(state, "running") ? NULL : jsonx_str(row, "sentence"));
}

void queue_table(const json_t *rows, bool with_namespace, int64_t now, struct table *ret)
{
	json_t *row;
	size_t i;

	*ret = TABLE(columns);
	if (!with_namespace)
		table_drop_first(ret);
	json_array_foreach ((json_t *)rows, i, row)
		add_row(ret, row, with_namespace, now);
}
