// SPDX-License-Identifier: Apache-2.0
/* circle.c - see circle.h
 *
 * Members are keys of a map: "uid U", "Kind ns/name" or "* ns/name".
 */
#include "cli/circle.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define ROUNDS 4 /* a CronJob's Job's pod; a Deployment's ReplicaSet's pod */

static const struct {
	const char *begins, *kind;
} births[] = {
	{ "Created pod: ", "Pod" },
	{ "Deleted pod: ", "Pod" },
	{ "create Pod ", "Pod" },
	{ "delete Pod ", "Pod" },
	{ "Created job ", "Job" },
	{ "Deleted job ", "Job" },
	{ "Scaled up replica set ", "ReplicaSet" },
	{ "Scaled down replica set ", "ReplicaSet" },
};

void circle_init(struct circle *c)
{
	map_init(&c->members, NULL);
}

void circle_done(struct circle *c)
{
	map_done(&c->members);
}

/* The value is of no account. */
static void put(struct circle *c, const char *key)
{
	map_set(&c->members, key, c);
}

static char *key_of(const char *kind, const char *ns, const char *name)
{
	return xasprintf("%s %s/%s", kind, ns, name);
}

void circle_add_name(struct circle *c, const char *kind, const char *ns, const char *name)
{
	auto_free char *key = key_of(kind ? kind : "*", ns ? ns : "", name);

	put(c, key);
}

void circle_add(struct circle *c, const char *kind, const json_t *obj)
{
	auto_free char *key = xasprintf("uid %s", jsonx_str_or(obj, "metadata.uid", ""));

	/* Agents of nodes write the name where the uid belongs. */
	if (streq(kind, "Node"))
		circle_add_name(c, kind, "", jsonx_str_or(obj, "metadata.name", ""));
	put(c, key);
}

static bool has(const struct circle *c, const json_t *event)
{
	const char *kind = jsonx_str_or(event, "involvedObject.kind", "");
	const char *ns = jsonx_str_or(event, "involvedObject.namespace", "");
	const char *name = jsonx_str_or(event, "involvedObject.name", "");
	auto_free char *uid = xasprintf("uid %s", jsonx_str_or(event, "involvedObject.uid", ""));
	auto_free char *named = key_of(kind, ns, name);
	auto_free char *any = key_of("*", ns, name);

	return map_find(&c->members, uid) || map_find(&c->members, named) || map_find(&c->members, any);
}

/* Whom a member's event tells of; true if that one is new. */
static bool learn(struct circle *c, const json_t *event)
{
	const char *ns = jsonx_str_or(event, "involvedObject.namespace", "");
	const char *message = jsonx_str_or(event, "message", "");

	for (size_t i = 0; i < ARRAY_SIZE(births); i++) {
		size_t n = strlen(births[i].begins);
		auto_free char *name = NULL;
		auto_free char *key = NULL;

		if (!str_starts(message, births[i].begins))
			continue;
		name = xstrndup(message + n, strcspn(message + n, " ,;"));
		key = key_of(births[i].kind, ns, name);
		if (map_find(&c->members, key))
			return false;
		put(c, key);
		return true;
	}
	return false;
}

json_t *circle_events(struct circle *c, const json_t *events)
{
	json_t *chosen = json_array();
	bool more = true;
	json_t *e;
	size_t i;

	for (int round = 0; more && round < ROUNDS; round++) {
		more = false;
		json_array_foreach ((json_t *)events, i, e)
			more |= has(c, e) && learn(c, e);
	}
	json_array_foreach ((json_t *)events, i, e)
		if (has(c, e))
			json_array_append(chosen, e);
	return chosen;
}
