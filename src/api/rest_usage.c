// SPDX-License-Identifier: Apache-2.0
/* rest_usage.c - GET /apis/stoker.dev/v1/usage and /apis/stoker.dev/v1/shares: who used how much, and whose turn it is
 *
 *	usage?by=user|group|queue|job&from=SECONDS&to=SECONDS&user=NAME
 *
 * Times are seconds since 1970 or RFC 3339; without them it is the last seven days.  Everyone may see his own; whoever
 * may list the pods of all namespaces may see everyone's.  Of the shares everyone sees queues and groups, and of the
 * users himself.
 */
#include "api/authz.h"
#include "api/exchange.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define LAST 4 /* segments: apis, stoker.dev, v1, and this */
#define WEEK (7 * 86400)

static bool is_admin(const struct exchange *x)
{
	struct authz_attributes at = {
		.verb = "list", .group = "", .resource = "pods", .subresource = "", .ns = "", .name = ""
	};

	return authz_allowed(api_authz(x->rest->api), x->req.caller, &at);
}

static int read_time(const struct exchange *x, const char *name, int64_t fallback, int64_t *ret, struct err *e)
{
	const char *text = exchange_param(x, name);
	int64_t us;

	if (!text || !*text)
		*ret = fallback;
	else if (clock_parse_rfc3339(text, &us))
		*ret = us / 1000000;
	else if (!str_int64(text, 0, (int64_t)1 << 40, ret))
		return err_set(e, ERR_BAD_REQUEST,
			       "%s: Invalid value: \"%.40s\": seconds since 1970 or a time like 2026-11-01T00:00:00Z",
			       name, text);
	return 0;
}

/* Whose use is asked for: NULL is everyone's. */
static int read_user(const struct exchange *x, const char **ret, struct err *e)
{
	const char *user = exchange_param(x, "user");

	if (user && !*user)
		user = NULL;
	if (user && streq(user, x->req.caller->user)) {
		*ret = user;
		return 0;
	}
	if (is_admin(x)) {
		*ret = user;
		return 0;
	}
	if (user)
		return err_set(e, ERR_FORBIDDEN,
			       "usage of user \"%.100s\" is forbidden: User \"%.100s\" may see his own only", user,
			       x->req.caller->user);
	*ret = x->req.caller->user;
	return 0;
}

static json_t *usage(struct exchange *x, struct err *e)
{
	struct scheduler *s = x->rest->scheduler;
	const char *by = exchange_param(x, "by");
	const char *user = NULL;
	int64_t from = 0, to = 0;
	json_t *items = NULL;
	char since[CLOCK_RFC3339_LEN], until[CLOCK_RFC3339_LEN];

	by = by && *by ? by : "user";
	if (read_time(x, "to", clock_wall(), &to, e) < 0 || read_time(x, "from", to - WEEK, &from, e) < 0 ||
	    read_user(x, &user, e) < 0 || s->ops->usage(s, by, from, to, user, &items, e) < 0)
		return NULL;
	clock_rfc3339(from, since);
	clock_rfc3339(to, until);
	return json_pack("{s:s, s:s, s:o, s:s, s:s, s:o*, s:o}", "kind", "Usage", "apiVersion", "stoker.dev/v1", "by",
			 jsonx_string(by), "from", since, "to", until, "user", user ? jsonx_string(user) : NULL,
			 "items", items);
}

static void keep_user(json_t *list, const char *user)
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (!str_same(jsonx_str(json_array_get(list, i), "name"), user))
			json_array_remove(list, i);
}

static json_t *shares(struct exchange *x, struct err *e)
{
	struct scheduler *s = x->rest->scheduler;
	json_t *doc = s->ops->shares(s);
	bool all = is_admin(x);
	json_t *queue, *group;
	size_t i, k;

	(void)e;
	json_array_foreach (json_object_get(doc, "queues"), i, queue)
		json_array_foreach (json_object_get(queue, "groups"), k, group)
			if (!all)
				keep_user(json_object_get(group, "users"), x->req.caller->user);
	json_object_set_new(doc, "kind", json_string("Shares"));
	json_object_set_new(doc, "apiVersion", json_string("stoker.dev/v1"));
	return doc;
}

static const struct {
	const char *path;
	json_t *(*answer)(struct exchange *x, struct err *e); /* NULL with *e */
} rows[] = {
	{ "usage", usage },
	{ "shares", shares },
};

bool rest_usage_path(const struct exchange *x)
{
	if (x->nsegments != LAST || !streq(x->segments[0], "apis") || !streq(x->segments[1], "stoker.dev") ||
	    !streq(x->segments[2], "v1"))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(x->segments[LAST - 1], rows[i].path))
			return true;
	return false;
}

void rest_usage(struct exchange *x)
{
	json_t *doc = NULL;

	if (!x->rest->scheduler)
		err_set(&x->err, ERR_UNAVAILABLE, "this server runs no pods, and keeps no accounts");
	for (size_t i = 0; x->rest->scheduler && i < ARRAY_SIZE(rows); i++)
		if (streq(x->segments[LAST - 1], rows[i].path))
			doc = rows[i].answer(x, &x->err);
	if (doc)
		exchange_reply_json(x, 200, doc);
	else
		exchange_finish(x);
}
