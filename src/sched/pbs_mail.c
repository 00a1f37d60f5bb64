// SPDX-License-Identifier: Apache-2.0
/* pbs_mail.c - see pbs_mail.h
 *
 * Users write the addresses, and the server's own program is run with them: what could be an option or more than an
 * address is left out.
 */
#include "sched/pbs_mail.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"

#define ADDRESS_MAX 256

/* ---- when ---- */

static bool by_another(const json_t *job)
{
	return !str_same(jsonx_str(job, "spec.cancel.by"), jsonx_str_or(job, "spec.owner", ""));
}

/* The points at which it is sent. */
static const char *points_of(const struct pbs_record *r)
{
	switch (r->type) {
	case 'S':
		return "b";
	case 'A':
		return "a";
	case 'D':
		return by_another(r->job) ? "a" : "";
	case 'E':
		return !r->end || !r->end->has_exit || !r->end->exit ? "e" : r->end->exit < 0 ? "aef" : "ef";
	default:
		return "";
	}
}

static bool is_wanted(const struct pbs_record *r)
{
	const char *asked = jsonx_str_or(r->job, "spec.mail.points", "a");

	return strpbrk(asked, points_of(r)) != NULL;
}

/* ---- to whom ---- */

static bool is_address(const char *text)
{
	size_t n = strlen(text);

	return n && n < ADDRESS_MAX && *text != '-' &&
	       strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._%+@-") == n;
}

static json_t *addresses(const json_t *job)
{
	const json_t *users = jsonx_at(job, "spec.mail.users");
	const char *owner = jsonx_str_or(job, "spec.owner", "");
	json_t *list = json_array();
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)users, i, v)
		if (json_is_string(v) && is_address(json_string_value(v)))
			json_array_append(list, v);
	if (!json_array_size(users) && is_address(owner))
		json_array_append_new(list, jsonx_string(owner));
	return list;
}

/* Words, without a shell. */
static json_t *command_of(const char *text)
{
	json_t *args = json_array();
	struct str rest = str_of(text);
	struct str word;

	while (rest.n && str_split(&rest, ' ', &word))
		if (word.n)
			json_array_append_new(args, jsonx_stringn(word.p, word.n));
	return args;
}

/* ---- what ---- */

static void add_line(struct sbuf *out, const char *name, const char *value)
{
	sbuf_adds(out, name);
	for (; *value; value++)
		sbuf_addc(out, (unsigned char)*value < ' ' || *value == 0x7f ? ' ' : *value);
	sbuf_addc(out, '\n');
}

static void add_head(const json_t *to, const char *id, const json_t *settings, struct sbuf *out)
{
	json_t *v;
	size_t i;

	sbuf_adds(out, "To: ");
	json_array_foreach ((json_t *)to, i, v)
		sbuf_addf(out, "%s%s", i ? ", " : "", json_string_value(v));
	sbuf_addc(out, '\n');
	add_line(out, "From: ", jsonx_str_or(settings, "mailFrom", "adm"));
	add_line(out, "Subject: PBS JOB ", id);
	sbuf_addc(out, '\n');
}

static void add_reason(const struct pbs_record *r, struct sbuf *out)
{
	bool own = r->type == 'E' && !(r->end && r->end->has_exit && r->end->exit < 0);

	if (r->type == 'S')
		sbuf_adds(out, "Begun execution\n");
	else if (own)
		sbuf_adds(out, "Execution terminated\n");
	else
		sbuf_adds(out, "Aborted by PBS Server\n");
	if (r->type == 'D') {
		add_line(out, "Job deleted at request of ", jsonx_str_or(r->job, "spec.cancel.by", "somebody"));
		add_line(out, "", jsonx_str_or(r->job, "spec.cancel.message", ""));
	} else if (!own && r->type != 'S') {
		add_line(out, "", jsonx_str_or(r->job, "status.comment", ""));
	}
}

static void add_details(const struct pbs_account_end *end, struct sbuf *out)
{
	const char *name;
	json_t *v;

	if (end->has_exit)
		sbuf_addf(out, "Exit_status=%lld\n", (long long)end->exit);
	json_object_foreach ((json_t *)end->used, name, v)
		if (json_is_string(v))
			sbuf_addf(out, "resources_used.%s=%s\n", name, json_string_value(v));
}

bool pbs_mail(const struct pbs_record *r, const json_t *settings, json_t **ret_args, struct sbuf *out)
{
	const char *command = jsonx_str_or(settings, "mailCommand", "");
	json_auto_t *args = NULL;
	json_auto_t *to = NULL;

	if (!*command || !r->job || !is_wanted(r))
		return false;
	to = addresses(r->job);
	args = command_of(command);
	if (!json_array_size(to) || !json_array_size(args))
		return false;
	json_array_extend(args, to);
	add_head(to, r->id, settings, out);
	add_line(out, "PBS Job Id: ", r->id);
	add_line(out, "Job Name:   ", jsonx_str_or(r->job, "spec.name", ""));
	if (jsonx_str(r->run, "execHost"))
		add_line(out, "Exec host:  ", jsonx_str_or(r->run, "execHost", ""));
	add_reason(r, out);
	if (r->end)
		add_details(r->end, out);
	*ret_args = TAKE(args);
	return true;
}
