// SPDX-License-Identifier: Apache-2.0
/* reserve.c - `stoker reserve`: nodes or GPUs for some people, for a time
 *
 * A small front for Reservations; `kubectl get reservations` shows the same.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/output.h"
#include "cli/when.h"
#include "kinds/reservation.h"

static const struct ref reservations = { .api_version = "stoker.dev/v1", .plural = "reservations" };

struct reserve_settings {
	struct connect_settings connect;
	const char *name, *from, *to, *reason, *output;
	int64_t gpus, time;
	struct opt_strings nodes, users, groups, queues;
};

#define AT(field) offsetof(struct reserve_settings, field)
static const struct opt reserve_opts[] = {
	{ .name = "gpus",
	  .letter = 'g',
	  .type = OPT_INT,
	  .offset = AT(gpus),
	  .arg = "N",
	  .max = 100000,
	  .help = "so many GPUs, of any node or of those that --node names" },
	{ .name = "node",
	  .type = OPT_STRINGS,
	  .offset = AT(nodes),
	  .arg = "NAME",
	  .help = "a node, whole without --gpus; may be repeated" },
	{ .name = "for",
	  .type = OPT_STRINGS,
	  .offset = AT(users),
	  .arg = "USER",
	  .help = "whose work may use it; may be repeated" },
	{ .name = "group",
	  .type = OPT_STRINGS,
	  .offset = AT(groups),
	  .arg = "GROUP",
	  .help = "a group whose work may use it; may be repeated" },
	{ .name = "queue",
	  .letter = 'Q',
	  .type = OPT_STRINGS,
	  .offset = AT(queues),
	  .arg = "QUEUE",
	  .help = "a queue whose work may use it; may be repeated" },
	{ .name = "from",
	  .type = OPT_STRING,
	  .offset = AT(from),
	  .arg = "TIME",
	  .help = "when it begins: 14:00, \"tomorrow 9:00\", \"2026-11-20 09:00\", +2h (default: now)" },
	{ .name = "to", .type = OPT_STRING, .offset = AT(to), .arg = "TIME", .help = "when it ends" },
	{ .name = "time",
	  .letter = 't',
	  .type = OPT_DURATION,
	  .offset = AT(time),
	  .arg = "TIME",
	  .help = "how long it lasts, instead of --to" },
	{ .name = "name", .type = OPT_STRING, .offset = AT(name), .arg = "NAME", .help = "of the reservation" },
	{ .name = "reason", .type = OPT_STRING, .offset = AT(reason), .arg = "TEXT", .help = "what it is for" },
	OUTPUT_OPT_SAYING(struct reserve_settings, "print the reservation, and no sentence"),
	CONNECT_OPTS,
	OPT_END,
};

static void set_list(json_t *spec, const char *field, const struct opt_strings *list)
{
	json_t *array;

	if (!list->n)
		return;
	array = json_array();
	for (size_t i = 0; i < list->n; i++)
		json_array_append_new(array, jsonx_string(list->items[i]));
	json_object_set_new(spec, field, array);
}

static int read_times(const struct reserve_settings *s, int64_t *ret_start, int64_t *ret_end, struct err *e)
{
	int64_t now = clock_wall();
	int64_t start = now;
	int64_t end = 0;

	if (s->from && when_parse("--from", s->from, now, &start, e) < 0)
		return -1;
	if (!s->to == !s->time)
		return err_set(e, ERR_BAD_REQUEST, "say how long it lasts: --to TIME or --time DURATION");
	/* "14:00" is the next one after the beginning. */
	if (s->to && when_parse("--to", s->to, start, &end, e) < 0)
		return -1;
	if (s->time)
		end = start + s->time;
	if (end <= start)
		return err_set(e, ERR_BAD_REQUEST, "--to: \"%s\" is not after the beginning", s->to ? s->to : "");
	*ret_start = start;
	*ret_end = end;
	return 0;
}

static json_t *make(const struct reserve_settings *s, int64_t start, int64_t end)
{
	json_t *spec = json_object();
	json_t *obj = json_pack("{s:s, s:s, s:o}", "apiVersion", "stoker.dev/v1", "kind", "Reservation", "spec", spec);
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(start, text);
	json_object_set_new(spec, "start", json_string(text));
	clock_rfc3339(end, text);
	json_object_set_new(spec, "end", json_string(text));
	if (s->gpus)
		json_object_set_new(spec, "gpus", json_integer(s->gpus));
	set_list(spec, "nodes", &s->nodes);
	set_list(spec, "users", &s->users);
	set_list(spec, "groups", &s->groups);
	set_list(spec, "queues", &s->queues);
	if (s->reason)
		json_object_set_new(spec, "reason", jsonx_string(s->reason));
	if (s->name)
		jsonx_set_new(obj, "metadata.name", jsonx_string(s->name));
	else
		jsonx_set_new(obj, "metadata.generateName", json_string("r-"));
	return obj;
}

static const struct table_column columns[] = {
	{ .title = "NAME" },  { .title = "FROM" }, { .title = "TO" },    { .title = "GPUS", .right = true },
	{ .title = "NODES" }, { .title = "FOR" },  { .title = "PHASE" }, { .title = "REASON", .cut = true },
};

static void add_joined(struct table *t, const json_t *spec, const char *const *fields, size_t n)
{
	auto_sbuf struct sbuf out = SBUF(1024);

	for (size_t f = 0; f < n; f++) {
		json_t *one;
		size_t i;

		json_array_foreach (json_object_get(spec, fields[f]), i, one)
			sbuf_addf(&out, "%s%s", out.n ? "," : "", json_string_value(one));
	}
	table_add(t, TINT_NONE, out.p);
}

static void add_row(struct table *t, const json_t *obj, int64_t now)
{
	static const char *const who[] = { "users", "groups", "queues" };
	static const char *const where[] = { "nodes" };
	const json_t *spec = json_object_get(obj, "spec");
	const char *phase = reservation_phase(spec, now * 1000);
	char text[CLOCK_SHORT_LEN];
	int64_t start = 0;
	int64_t end = INT64_MAX;

	reservation_times(spec, &start, &end);
	table_add(t, TINT_NONE, jsonx_str(obj, "metadata.name"));
	clock_short(start / 1000, now, text);
	table_add(t, TINT_NONE, text);
	if (end != INT64_MAX)
		clock_short(end / 1000, now, text);
	table_add(t, TINT_NONE, end == INT64_MAX ? NULL : text);
	if (jsonx_int_or(spec, "gpus", 0))
		table_addf(t, TINT_NONE, "%lld", (long long)jsonx_int_or(spec, "gpus", 0));
	else
		table_add(t, TINT_NONE, NULL);
	add_joined(t, json_object_get(spec, "nodeSelector") ? json_object_get(obj, "status") : spec, where, 1);
	add_joined(t, spec, who, ARRAY_SIZE(who));
	table_add(t, streq(phase, "Active") ? TINT_BUSY : streq(phase, "Ended") ? TINT_DIM : TINT_NONE, phase);
	table_add(t, TINT_NONE, jsonx_str(spec, "reason"));
}

/* In the form that -o asks for. */
static void show(const char *output, const json_t *items)
{
	auto_table struct table t = TABLE(columns);
	json_t *obj;
	size_t i;

	if (output_is_objects(output)) {
		output_list(output, items);
		return;
	}
	json_array_foreach ((json_t *)items, i, obj)
		add_row(&t, obj, clock_wall());
	table_print(&t, output && streq(output, "wide"));
}

static int create(struct client *c, const struct reserve_settings *s, int64_t start, int64_t end, struct err *e)
{
	char from[CLOCK_SHORT_LEN], to[CLOCK_SHORT_LEN];
	json_auto_t *obj = make(s, start, end);
	json_auto_t *made = NULL;
	json_auto_t *items = NULL;

	if (client_create_wait(c, &reservations, obj, &made, e) < 0)
		return -1;
	items = json_pack("[O]", made);
	if (s->output) {
		show(s->output, items);
		return 0;
	}
	clock_short(start, clock_wall(), from);
	clock_short(end, clock_wall(), to);
	printf("reservation/%s made, from %s to %s\n", jsonx_str_or(made, "metadata.name", ""), from, to);
	return 0;
}

static int check(const struct reserve_settings *s, int64_t *ret_start, int64_t *ret_end, struct err *e)
{
	if (!s->gpus && !s->nodes.n)
		return err_set(e, ERR_BAD_REQUEST, "say what is to be reserved: --gpus N or --node NAME");
	return read_times(s, ret_start, ret_end, e);
}

static void settings_done(struct reserve_settings *s)
{
	opt_strings_done(&s->nodes);
	opt_strings_done(&s->users);
	opt_strings_done(&s->groups);
	opt_strings_done(&s->queues);
}

static int run_reserve(const struct command *cmd, int argc, char **argv)
{
	struct reserve_settings s = { 0 };
	struct err e = ERR_INIT;
	struct connection c;
	int64_t start = 0;
	int64_t end = 0;
	char **rest;
	int nrest;
	int status = 0;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0) {
		status = 2;
	} else if (check(&s, &start, &end, &e) < 0) {
		status = command_misused(cmd, &e);
	} else if (connect_open(&s.connect, &c, &e) < 0) {
		status = command_fail(cmd, &e);
	} else {
		if (create(c.client, &s, start, end, &e) < 0)
			status = command_fail(cmd, &e);
		connect_close(&c);
	}
	settings_done(&s);
	return status;
}

const struct command cmd_reserve = {
	.name = "reserve",
	.args = "(--gpus N | --node NAME) [--for USER] [--from TIME] (--to TIME | --time TIME) [-o "
		"wide|json|yaml|name]",
	.summary = "Reserve GPUs or nodes for a time",
	.details = "Work that is not meant starts there only if its walltime ends before the reservation begins. What "
		   "runs is\n"
		   "left alone. Without --for, --group and --queue nobody's work is meant. Only admins reserve.\n\n"
		   "Examples:\n"
		   "  stoker reserve --gpus 4 --for anna --from 14:00 --to 16:00\n"
		   "  stoker reserve --node gpu1 --node gpu2 --queue course --from \"tomorrow 9:00\" --time 3h\n"
		   "  stoker reserve list\n"
		   "  stoker reserve delete r-x7k2p\n",
	.opts = reserve_opts,
	.run = run_reserve,
};

/* ---- list and delete ---- */

struct list_settings {
	struct connect_settings connect;
	const char *output;
};

static const struct opt list_opts[] = {
	OUTPUT_OPT(struct list_settings),
	CONNECT_OPTS,
	OPT_END,
};

static int list(struct client *c, const char *output, struct err *e)
{
	json_auto_t *all = NULL;
	json_t *items;
	json_t *obj;
	size_t i;

	if (client_list_wait(c, &reservations, NULL, &all, e) < 0)
		return -1;
	items = json_object_get(all, "items");
	json_array_foreach (items, i, obj) {
		json_object_set_new(obj, "apiVersion", json_string("stoker.dev/v1"));
		json_object_set_new(obj, "kind", json_string("Reservation"));
	}
	if (json_array_size(items) || output_is_objects(output))
		show(output, items);
	else
		fprintf(stderr, "Nothing is reserved.\n");
	return 0;
}

static int run_list(const struct command *cmd, int argc, char **argv)
{
	struct list_settings s = { 0 };
	struct err e = ERR_INIT;
	struct connection c;
	char **rest;
	int nrest;
	int status = 0;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&s.connect, &c, &e) < 0)
		return command_fail(cmd, &e);
	if (list(c.client, s.output, &e) < 0)
		status = command_fail(cmd, &e);
	connect_close(&c);
	return status;
}

const struct command cmd_reserve_list = {
	.name = "reserve list",
	.args = "[-o wide|json|yaml|name]",
	.summary = "Show what is reserved",
	.opts = list_opts,
	.run = run_list,
};

static const struct opt delete_opts[] = { CONNECT_OPTS, OPT_END };

static int run_delete(const struct command *cmd, int argc, char **argv)
{
	struct connect_settings s = { 0 };
	struct connection c;
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status = 0;

	if (command_parse(cmd, &s, argc, argv, 1, 1000, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&s, &c, &e) < 0)
		return command_fail(cmd, &e);
	for (int i = 0; i < nrest; i++) {
		struct ref ref = reservations;

		e = ERR_INIT;
		ref.name = rest[i];
		if (client_delete_wait(c.client, &ref, NULL, &e) < 0)
			status = command_fail(cmd, &e);
		else
			printf("reservation/%s deleted\n", rest[i]);
	}
	connect_close(&c);
	return status;
}

const struct command cmd_reserve_delete = {
	.name = "reserve delete",
	.args = "NAME...",
	.summary = "Take a reservation back",
	.opts = delete_opts,
	.run = run_delete,
};
