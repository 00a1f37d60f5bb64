// SPDX-License-Identifier: Apache-2.0
/* queue_acl.c - see queue.h
 *
 * A list that only keeps some out lets all others in.  Hosts are for who submits from one (PBS); others come from
 * anywhere.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/queue.h"

enum verdict { NOT_LISTED, LISTED, KEPT_OUT };

static bool is_user(const struct queue_visitor *v, const char *name)
{
	return streq(v->user, name);
}

static bool is_member(const struct queue_visitor *v, const char *name)
{
	return v->in_group(v->arg, name);
}

/* "*@g1": an entry is about who it names, and from where. */
static bool is_meant(const char *entry, const struct queue_visitor *v,
		     bool (*is)(const struct queue_visitor *v, const char *name))
{
	size_t n = strcspn(entry, "@");
	auto_free char *name = xstrndup(entry, n);

	return (streq(name, "*") || is(v, name)) && (!entry[n] || !v->on_host || v->on_host(v->arg, entry + n + 1));
}

/* The first entry that is about the visitor decides. */
static enum verdict look_up(const json_t *list, const struct queue_visitor *v,
			    bool (*is)(const struct queue_visitor *v, const char *name))
{
	bool lets_in = false;
	json_t *item;
	size_t i;

	json_array_foreach ((json_t *)list, i, item) {
		const char *text = json_string_value(item);
		bool out = *text == '-';

		if (is_meant(text + (out || *text == '+'), v, is))
			return out ? KEPT_OUT : LISTED;
		lets_in |= !out;
	}
	return lets_in ? NOT_LISTED : LISTED;
}

static const struct {
	const char *field;
	bool (*is)(const struct queue_visitor *v, const char *name);
	const char *not_listed, *kept_out;
} lists[] = {
	{ "users", is_user, "user %s is not in acl.users", "user %s is kept out by acl.users" },
	{ "groups", is_member, "user %s is in no group of acl.groups", "user %s is in a group kept out by acl.groups" },
};

bool queue_acl_allows(const json_t *acl, const struct queue_visitor *v, struct sbuf *ret_why)
{
	bool any = jsonx_bool_or(acl, "anyOf", false);
	bool listed = false;
	bool missing = false;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list = json_object_get(acl, lists[i].field);
		enum verdict verdict = json_array_size(list) ? look_up(list, v, lists[i].is) : LISTED;

		if (verdict == KEPT_OUT) {
			sbuf_reset(ret_why);
			sbuf_addf(ret_why, lists[i].kept_out, v->user);
			return false;
		}
		listed |= json_array_size(list) && verdict == LISTED;
		if (verdict == LISTED)
			continue;
		if (missing)
			sbuf_adds(ret_why, any ? " and " : ", ");
		sbuf_addf(ret_why, lists[i].not_listed, v->user);
		missing = true;
	}
	return !missing || (any && listed);
}
