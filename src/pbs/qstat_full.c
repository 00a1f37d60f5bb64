// SPDX-License-Identifier: Apache-2.0
/* qstat_full.c - see qstat_full.h
 *
 * The text has moments as ctime(3) writes them, XML has seconds: programs read both so.  JSON is OpenPBS's, with the
 * states it has for arrays.
 */
#include "pbs/qstat_full.h"

#include <ctype.h>
#include <time.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/fold.h"
#include "pbs/xml.h"

enum { CTIME_LEN = 26 };

const struct full_sort full_jobs = { "Job Id", "Job", "Job_Id", "Jobs" };
const struct full_sort full_queues = { "Queue", "Queue", "name", "Queue" };
const struct full_sort full_servers = { "Server", "Server", "name", "Server" };

static void ctime_text(int64_t when, char out[CTIME_LEN])
{
	time_t t = (time_t)when;
	struct tm tm;

	localtime_r(&t, &tm);
	strftime(out, CTIME_LEN, "%a %b %e %H:%M:%S %Y", &tm);
}

/* ---- text ---- */

static void add_text(struct full *f, const char *id, const struct pbs_attributes *a)
{
	char moment[CTIME_LEN];

	sbuf_addf(f->out, "%s: %s\n", f->sort->title, id);
	for (size_t i = 0; i < a->n; i++) {
		const struct pbs_attribute *x = &a->items[i];

		if (x->when >= 0)
			ctime_text(x->when, moment);
		fold_attribute(x->name, x->resource, x->when >= 0 ? moment : x->value, f->form == FULL_WHOLE, f->out);
	}
	sbuf_addc(f->out, '\n');
}

/* A delimiter within a value has a backslash before it. */
static void add_escaped(struct full *f, const char *value)
{
	size_t n = strlen(f->delimiter);

	for (; *value; value++) {
		if ((n && strncmp(value, f->delimiter, n) == 0) || *value == '\\')
			sbuf_addc(f->out, '\\');
		if (*value == '\n')
			sbuf_adds(f->out, "\\n");
		else
			sbuf_addc(f->out, *value);
	}
}

static void add_dsv(struct full *f, const char *id, const struct pbs_attributes *a)
{
	char moment[CTIME_LEN];

	sbuf_addf(f->out, "%s: %s", f->sort->title, id);
	for (size_t i = 0; i < a->n; i++) {
		const struct pbs_attribute *x = &a->items[i];

		if (x->when >= 0)
			ctime_text(x->when, moment);
		sbuf_addf(f->out, "%s%s%s%s=", f->delimiter, x->name, x->resource ? "." : "",
			  x->resource ? x->resource : "");
		add_escaped(f, x->when >= 0 ? moment : x->value);
	}
	sbuf_addc(f->out, '\n');
}

/* ---- XML ---- */

static void add_xml(struct full *f, const char *id, const struct pbs_attributes *a)
{
	sbuf_addf(f->out, "<%s>", f->sort->tag);
	xml_element(f->sort->id, id, f->out);
	for (size_t i = 0; i < a->n; i++) {
		const struct pbs_attribute *x = &a->items[i];

		if (!x->resource) {
			xml_element(x->name, x->value, f->out);
			continue;
		}
		if (!i || !streq(a->items[i - 1].name, x->name))
			sbuf_addf(f->out, "<%s>", x->name);
		xml_element(x->resource, x->value, f->out);
		if (i + 1 == a->n || !streq(a->items[i + 1].name, x->name))
			sbuf_addf(f->out, "</%s>", x->name);
	}
	sbuf_addf(f->out, "</%s>", f->sort->tag);
}

/* ---- JSON ---- */

static json_t *json_value(const struct pbs_attribute *x)
{
	static const char *const numbers[] = { "Priority",     "session_id",  "exit_status", "start_count",
					       "job_array_id", "max_running", "total_jobs",  "nodect",
					       "ncpus",        "Remaining" };
	const char *name = x->resource ? x->resource : x->name;
	char moment[CTIME_LEN];
	int64_t v;

	if (x->when >= 0) {
		ctime_text(x->when, moment);
		return json_string(moment);
	}
	for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
		if (streq(name, numbers[i]) && str_int64(x->value, INT64_MIN, INT64_MAX, &v))
			return json_integer(v);
	return jsonx_string(x->value);
}

/* Variables one by one, at the commas that no backslash is before. */
static json_t *json_variables(const char *text)
{
	json_t *all = json_object();

	while (*text) {
		auto_sbuf struct sbuf one = SBUF(4u << 20);
		char *equals;

		for (; *text && *text != ','; text++) {
			text += text[0] == '\\' && text[1] == ',';
			sbuf_addc(&one, *text);
		}
		text += *text == ',';
		equals = one.n ? strchr(one.p, '=') : NULL;
		if (equals) {
			*equals = '\0';
			json_object_set_new(all, one.p, jsonx_string(equals + 1));
		}
	}
	return all;
}

/* OpenPBS says B of an array that has begun, F of one that is through, X of an element that is. */
static const char *openpbs_state(const char *id, const char *state)
{
	const char *open = strchr(id, '[');

	if (!open)
		return state;
	if (open[1] != ']')
		return streq(state, "C") ? "X" : state;
	return streq(state, "R") ? "B" : streq(state, "C") ? "F" : state;
}

static void add_json(struct full *f, const char *id, const struct pbs_attributes *a)
{
	json_t *one = json_object();

	for (size_t i = 0; i < a->n; i++) {
		const struct pbs_attribute *x = &a->items[i];
		json_t *group = json_object_get(one, x->name);

		if (x->resource) {
			if (!group)
				json_object_set_new(one, x->name, group = json_object());
			json_object_set_new(group, x->resource, json_value(x));
		} else if (streq(x->name, "Variable_List")) {
			json_object_set_new(one, x->name, json_variables(x->value));
		} else if (streq(x->name, "job_state")) {
			json_object_set_new(one, x->name, json_string(openpbs_state(id, x->value)));
		} else {
			json_object_set_new(one, streq(x->name, "exit_status") ? "Exit_status" : x->name,
					    json_value(x));
		}
	}
	json_object_set_new(f->json, id, one);
}

/* ---- the listing ---- */

void full_begin(struct full *f)
{
	if (f->form == FULL_XML)
		sbuf_adds(f->out, "<?xml version=\"1.0\"?>\n<Data>");
	if (f->form == FULL_JSON)
		f->json = json_object();
}

void full_add(struct full *f, const char *id, const struct pbs_attributes *a)
{
	if (f->form == FULL_XML)
		add_xml(f, id, a);
	else if (f->form == FULL_JSON)
		add_json(f, id, a);
	else if (f->form == FULL_DSV)
		add_dsv(f, id, a);
	else
		add_text(f, id, a);
}

void full_end(struct full *f, const char *server, int64_t now)
{
	if (f->form == FULL_XML)
		sbuf_adds(f->out, "</Data>\n");
	if (f->form != FULL_JSON)
		return;
	json_auto_t *doc = json_pack("{s:I, s:s, s:o, s:o}", "timestamp", (json_int_t)now, "pbs_version", PBS_VERSION,
				     "pbs_server", jsonx_string(server), f->sort->key, f->json);

	f->json = NULL;
	jsonx_dump_pretty(doc, f->out);
	sbuf_addc(f->out, '\n');
}
