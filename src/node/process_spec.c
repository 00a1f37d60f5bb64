// SPDX-License-Identifier: Apache-2.0
/* process_spec.c - what monitor/protocol.h says about the file "process", written and read */
#include "node/process_spec.h"

#include <sys/resource.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "monitor/protocol.h"

static const struct {
	const char *name;
	uint32_t number;
} limit_names[] = {
	{ "RLIMIT_AS", RLIMIT_AS },       { "RLIMIT_CPU", RLIMIT_CPU },     { "RLIMIT_CORE", RLIMIT_CORE },
	{ "RLIMIT_DATA", RLIMIT_DATA },   { "RLIMIT_FSIZE", RLIMIT_FSIZE }, { "RLIMIT_NOFILE", RLIMIT_NOFILE },
	{ "RLIMIT_STACK", RLIMIT_STACK },
};

static const struct {
	const char *name;
	uint32_t stream;
} joined_names[] = { { "stdout", MONITOR_STDOUT }, { "stderr", MONITOR_STDERR } };

static void add_limits(const json_t *process, struct monitor_process *head, struct sbuf *out)
{
	struct monitor_limit nice = { .soft = (uint64_t)jsonx_int_or(process, "nice", 0), .resource = MONITOR_NICE };
	json_t *row;
	size_t i;

	if (nice.soft) {
		sbuf_add(out, &nice, sizeof(nice));
		head->limits++;
	}
	json_array_foreach (json_object_get(process, "rlimits"), i, row) {
		const char *name = jsonx_str_or(row, "type", "");

		for (size_t k = 0; k < ARRAY_SIZE(limit_names); k++) {
			struct monitor_limit limit = { .soft = (uint64_t)jsonx_int_or(row, "soft", 0),
						       .hard = (uint64_t)jsonx_int_or(row, "hard", 0),
						       .resource = limit_names[k].number };

			if (!streq(limit_names[k].name, name))
				continue;
			sbuf_add(out, &limit, sizeof(limit));
			head->limits++;
		}
	}
}

static void add_groups(const json_t *process, struct monitor_process *head, struct sbuf *out)
{
	json_t *gid;
	size_t i;

	json_array_foreach (jsonx_at(process, "user.additionalGids"), i, gid) {
		uint32_t number = (uint32_t)json_integer_value(gid);

		sbuf_add(out, &number, sizeof(number));
		head->groups++;
	}
}

static void add_text(struct sbuf *out, const char *text)
{
	sbuf_add(out, text, strlen(text) + 1);
}

static uint32_t add_list(struct sbuf *out, const json_t *list)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		add_text(out, json_is_string(v) ? json_string_value(v) : "");
	return (uint32_t)json_array_size(list);
}

static uint32_t add_joins(struct sbuf *out, const char *joins)
{
	struct str rest = str_of(joins ? joins : ""), line;
	uint32_t n = 0;

	while (rest.n && str_split(&rest, '\n', &line)) {
		if (!line.n)
			continue;
		sbuf_add(out, line.p, line.n);
		sbuf_addc(out, '\0');
		n++;
	}
	return n;
}

int process_spec_encode(const json_t *process, const char *joins, struct sbuf *out, struct err *e)
{
	const json_t *user = json_object_get(process, "user"), *args = json_object_get(process, "args");
	const char *joined = jsonx_str_or(process, "joined", ""), *first = json_string_value(json_array_get(args, 0));
	struct monitor_process head = { .uid = (uint32_t)jsonx_int_or(user, "uid", -1),
					.gid = (uint32_t)jsonx_int_or(user, "gid", -1),
					.umask = (uint32_t)jsonx_int_or(user, "umask", 077),
					.only = jsonx_bool_or(user, "only", false) };

	if (head.uid == UINT32_MAX || head.gid == UINT32_MAX)
		return err_set(e, ERR_INVALID, "the process has no user");
	for (size_t i = 0; i < ARRAY_SIZE(joined_names); i++)
		if (streq(joined_names[i].name, joined))
			head.joined = joined_names[i].stream;
	sbuf_add(out, &head, sizeof(head));
	add_limits(process, &head, out);
	add_groups(process, &head, out);
	add_text(out, jsonx_str_or(process, "program", first ? first : ""));
	add_text(out, jsonx_str_or(process, "cwd", "/"));
	add_text(out, jsonx_str_or(process, "stdout", ""));
	add_text(out, jsonx_str_or(process, "stderr", ""));
	head.joins = add_joins(out, joins);
	head.args = add_list(out, args);
	if (!head.args) {
		add_text(out, "");
		head.args = 1;
	}
	head.env = add_list(out, json_object_get(process, "env"));
	head.allows = add_list(out, json_object_get(process, "allowed"));
	if (out->over)
		return err_set(e, ERR_TOO_LARGE, "arguments and environment are longer than %u bytes",
			       PROCESS_SPEC_MAX);
	memcpy(out->p, &head, sizeof(head));
	return 0;
}

/* --- back --- */

static bool take_text(struct str *rest, const char **ret)
{
	const char *end = rest->n ? memchr(rest->p, '\0', rest->n) : NULL;

	if (!end)
		return false;
	*ret = rest->p;
	rest->n -= (size_t)(end + 1 - rest->p);
	rest->p = end + 1;
	return true;
}

static bool take_list(struct str *rest, uint32_t n, json_t *list)
{
	const char *text;

	for (uint32_t i = 0; i < n; i++) {
		if (!take_text(rest, &text))
			return false;
		json_array_append_new(list, jsonx_string(text));
	}
	return true;
}

static bool take_bytes(struct str *rest, size_t n, const char **ret)
{
	if (rest->n < n)
		return false;
	*ret = rest->p;
	rest->p += n;
	rest->n -= n;
	return true;
}

/* Everything in order; the joins are a list of their own. */
static json_t *decode(struct str rest, json_t *joins)
{
	json_auto_t *doc = json_pack("{s:{s:[]}, s:[], s:[]}", "user", "additionalGids", "args", "env");
	static const char *const names[] = { "program", "cwd", "stdout", "stderr" };
	json_t *user = json_object_get(doc, "user");
	struct monitor_process head;
	const char *at;

	if (!take_bytes(&rest, sizeof(head), &at))
		return NULL;
	memcpy(&head, at, sizeof(head));
	json_object_set_new(user, "uid", json_integer(head.uid));
	json_object_set_new(user, "gid", json_integer(head.gid));
	json_object_set_new(user, "umask", json_integer(head.umask));
	if (head.only)
		json_object_set_new(user, "only", json_true());
	if (!take_bytes(&rest, head.limits * sizeof(struct monitor_limit), &at))
		return NULL;
	for (uint32_t i = 0; i < head.groups; i++) {
		uint32_t gid;

		if (!take_bytes(&rest, sizeof(gid), &at))
			return NULL;
		memcpy(&gid, at, sizeof(gid));
		json_array_append_new(json_object_get(user, "additionalGids"), json_integer(gid));
	}
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		if (!take_text(&rest, &at))
			return NULL;
		json_object_set_new(doc, names[i], jsonx_string(at));
	}
	for (size_t i = 0; i < ARRAY_SIZE(joined_names); i++)
		if (joined_names[i].stream == head.joined)
			json_object_set_new(doc, "joined", json_string(joined_names[i].name));
	if (!take_list(&rest, head.joins, joins) || !take_list(&rest, head.args, json_object_get(doc, "args")) ||
	    !take_list(&rest, head.env, json_object_get(doc, "env")))
		return NULL;
	if (head.allows) {
		json_object_set_new(doc, "allowed", json_array());
		if (!take_list(&rest, head.allows, json_object_get(doc, "allowed")))
			return NULL;
	}
	return TAKE(doc);
}

json_t *process_spec_decode(struct str bytes)
{
	json_auto_t *joins = json_array();

	return decode(bytes, joins);
}

char *process_spec_joins(struct str bytes)
{
	json_auto_t *joins = json_array();
	json_auto_t *doc = decode(bytes, joins);
	auto_sbuf struct sbuf text = SBUF(PROCESS_SPEC_MAX);
	json_t *v;
	size_t i;

	if (!doc)
		return NULL;
	json_array_foreach (joins, i, v)
		sbuf_addf(&text, "%s\n", json_string_value(v));
	return text.n ? sbuf_steal(&text) : xstrdup("");
}
