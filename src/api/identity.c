// SPDX-License-Identifier: Apache-2.0
/* identity.c - one verified identity
 *
 * Counted, because caches hand the same one to many requests; a request keeps its own for as long as it lives, whatever
 * becomes of the cache.
 */
#include "api/authn_parts.h"

#include "base/jsonx.h"
#include "base/mem.h"

struct identity {
	unsigned refs;
	struct caller caller;
	char *user, *uid, *impersonator;
	const char **groups; /* NULL-terminated; the texts are ours */
	size_t ngroups;
	json_t *extra;
};

struct identity *identity_new(const char *user, const char *uid)
{
	struct identity *id = xcalloc(1, sizeof(*id));

	id->refs = 1;
	id->user = xstrdup(user);
	id->uid = xstrdup(uid);
	id->groups = xcalloc(1, sizeof(*id->groups));
	id->caller = (struct caller){ .user = id->user, .uid = id->uid, .groups = id->groups };
	return id;
}

struct identity *identity_ref(struct identity *id)
{
	id->refs++;
	return id;
}

void identity_free(struct identity *id)
{
	if (!id || --id->refs)
		return;
	for (size_t i = 0; i < id->ngroups; i++)
		free((char *)id->groups[i]);
	free(id->groups);
	free(id->user);
	free(id->uid);
	free(id->impersonator);
	json_decref(id->extra);
	free(id);
}

void identity_add_group(struct identity *id, const char *group)
{
	if (caller_in_group(&id->caller, group))
		return;
	id->groups = xreallocarray(id->groups, id->ngroups + 2, sizeof(*id->groups));
	id->groups[id->ngroups++] = xstrdup(group);
	id->groups[id->ngroups] = NULL;
	id->caller.groups = id->groups;
}

void identity_add_extra(struct identity *id, const char *key, const char *value)
{
	json_t *values;

	if (!id->extra)
		id->extra = json_object();
	values = json_object_get(id->extra, key);
	if (!values) {
		values = json_array();
		json_object_set_new(id->extra, key, values);
	}
	json_array_append_new(values, jsonx_string(value));
	id->caller.extra = id->extra;
}

void identity_set_impersonator(struct identity *id, const char *user)
{
	free(id->impersonator);
	id->impersonator = xstrdup(user);
}

void identity_set_local(struct identity *id)
{
	id->caller.local = true;
}

const struct caller *identity_caller(const struct identity *id)
{
	return &id->caller;
}

const char *identity_impersonator(const struct identity *id)
{
	return id->impersonator;
}

json_t *identity_user_info(const struct identity *id)
{
	json_t *ret = json_object();
	json_t *groups = json_array();

	json_object_set_new(ret, "username", jsonx_string(id->user));
	if (*id->uid)
		json_object_set_new(ret, "uid", jsonx_string(id->uid));
	for (size_t i = 0; i < id->ngroups; i++)
		json_array_append_new(groups, jsonx_string(id->groups[i]));
	json_object_set_new(ret, "groups", groups);
	if (id->extra)
		json_object_set(ret, "extra", id->extra);
	return ret;
}
