// SPDX-License-Identifier: Apache-2.0
/* cluster.c - reading TF_CONFIG
 *
 *	{"cluster": {"ps": ["host:port", ...], "worker": [...], "master": [...]}, "task": {"type": "ps", "index": 0}}
 *
 * "environment" and unknown types of replicas are let be.  With dynamic workers a list may be an object from index to
 * address that names only some.
 */
#include "psgd/cluster.h"

#include <jansson.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "psgd/wire.h"

static const struct {
	const char *name;
	enum role role;
} role_names[] = {
	{ "chief", ROLE_CHIEF }, { "master", ROLE_CHIEF },        { "worker", ROLE_WORKER },
	{ "ps", ROLE_PS },       { "evaluator", ROLE_EVALUATOR },
};

const char *role_name(enum role role)
{
	for (size_t i = 0; i < ARRAY_SIZE(role_names); i++)
		if (role_names[i].role == role)
			return role_names[i].name;
	return "";
}

static enum role role_of(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(role_names); i++)
		if (strcasecmp(role_names[i].name, name) == 0)
			return role_names[i].role;
	return ROLE__COUNT;
}

static int check_address(const char *field, const char *address, struct err *e)
{
	const char *colon = strrchr(address, ':');
	int64_t port;

	if (!colon || colon == address || !str_int64(colon + 1, 1, 65535, &port))
		return err_set(e, ERR_INVALID, "%s: \"%s\" is not host:port", field, address);
	return 0;
}

static int add_server(struct cluster *c, const char *field, const char *address, struct err *e)
{
	if (c->nservers == WIRE_MAX_SERVERS)
		return err_set(e, ERR_TOO_LARGE, "%s: more than %d parameter servers", field, WIRE_MAX_SERVERS);
	if (check_address(field, address, e) < 0)
		return -1;
	c->servers = xreallocarray(c->servers, c->nservers + 1, sizeof(*c->servers));
	c->servers[c->nservers++] = xstrdup(address);
	return 0;
}

/* One list of addresses.  Only those of parameter servers are kept: nobody connects to the others. */
static int read_list(struct cluster *c, const char *name, const json_t *list, struct err *e)
{
	enum role role = role_of(name);
	size_t i;
	json_t *item;

	if (role == ROLE__COUNT || role == ROLE_EVALUATOR)
		return 0;
	if (json_is_object(list) && role == ROLE_WORKER)
		return 0; /* sparse: how many there are, it does not tell */
	if (!json_is_array(list))
		return err_set(e, ERR_INVALID, "cluster.%s: a list of host:port belongs here", name);
	json_array_foreach (list, i, item) {
		auto_free char *field = xasprintf("cluster.%s[%zu]", name, i);

		if (!json_is_string(item))
			return err_set(e, ERR_INVALID, "%s: a text host:port belongs here", field);
		if (role == ROLE_PS ? add_server(c, field, json_string_value(item), e) < 0
				    : check_address(field, json_string_value(item), e) < 0)
			return -1;
	}
	if (role == ROLE_WORKER)
		c->workers = json_array_size(list);
	if (role == ROLE_CHIEF && json_array_size(list) > 1)
		return err_set(e, ERR_INVALID, "cluster.%s: has %zu entries; there is one at most", name,
			       json_array_size(list));
	if (role == ROLE_CHIEF && json_array_size(list) == 1 && c->chief)
		return err_set(e, ERR_INVALID, "cluster: has both a chief and a master; they are the same");
	c->chief |= role == ROLE_CHIEF && json_array_size(list) == 1;
	return 0;
}

static int read_task(struct cluster *c, const json_t *task, struct err *e)
{
	const json_t *type = json_object_get(task, "type"), *index = json_object_get(task, "index");
	int64_t i = 0;

	if (!json_is_string(type))
		return err_set(e, ERR_INVALID, "task.type: required, one of chief, master, worker, ps, evaluator");
	c->role = role_of(json_string_value(type));
	if (c->role == ROLE__COUNT)
		return err_set(e, ERR_INVALID, "task.type: \"%s\" is not one of chief, master, worker, ps, evaluator",
			       json_string_value(type));
	if (json_is_string(index)) {
		if (!str_int64(json_string_value(index), 0, WIRE_MAX_RANKS, &i))
			return err_set(e, ERR_INVALID, "task.index: \"%s\" is not a number", json_string_value(index));
	} else if (index && !json_is_integer(index)) {
		return err_set(e, ERR_INVALID, "task.index: a number belongs here");
	} else if (index) {
		i = json_integer_value(index);
	}
	if (i < 0 || i > WIRE_MAX_RANKS)
		return err_set(e, ERR_INVALID, "task.index: %lld is not from 0 to %d", (long long)i, WIRE_MAX_RANKS);
	c->index = (size_t)i;
	return 0;
}

static int read_config(struct cluster *c, const json_t *doc, struct err *e)
{
	json_t *lists = json_object_get(doc, "cluster"), *task = json_object_get(doc, "task"), *list;
	const char *name;

	if (!json_is_object(doc) || !json_is_object(lists))
		return err_set(e, ERR_INVALID, "cluster: required, an object of lists of host:port");
	json_object_foreach (lists, name, list) {
		if (read_list(c, name, list, e) < 0)
			return -1;
	}
	if (!json_is_object(task))
		return err_set(e, ERR_INVALID, "task: required, {\"type\": ..., \"index\": ...}");
	return read_task(c, task, e);
}

int cluster_from_tf_config(const char *text, struct cluster *ret, struct err *e)
{
	json_auto_t *doc = NULL;
	struct cluster c = { 0 };

	if (jsonx_parse(text, strlen(text), NULL, NULL, &doc, e) < 0 || read_config(&c, doc, e) < 0) {
		cluster_done(&c);
		return err_prefix(e, "TF_CONFIG");
	}
	*ret = c;
	return 0;
}

int cluster_from_options(const char *task, const char *servers, size_t workers, bool chief, struct cluster *ret,
			 struct err *e)
{
	const char *colon = strchr(task, ':');
	auto_free char *name = xstrndup(task, colon ? (size_t)(colon - task) : strlen(task));
	struct cluster c = { .workers = workers, .chief = chief, .role = role_of(name) };
	struct str rest = str_of(servers ? servers : ""), part;
	int64_t index = 0;

	if (c.role == ROLE__COUNT || (colon && !str_int64(colon + 1, 0, WIRE_MAX_RANKS, &index)))
		return err_set(e, ERR_BAD_REQUEST, "--task: \"%s\" is not chief, evaluator, worker:N or ps:N", task);
	c.index = (size_t)index;
	c.chief |= c.role == ROLE_CHIEF;
	while (servers && str_split(&rest, ',', &part)) {
		auto_free char *address = xstrndup(part.p, part.n);

		if (add_server(&c, "--ps", address, e) < 0) {
			cluster_done(&c);
			return -1;
		}
	}
	*ret = c;
	return 0;
}

int cluster_check(const struct cluster *c, struct err *e)
{
	if (c->nservers == 0)
		return err_set(e, ERR_INVALID, "no parameter server: cluster.ps of TF_CONFIG (or --ps) names none");
	if (c->role == ROLE_PS && c->index >= c->nservers)
		return err_set(e, ERR_INVALID, "task.index: %zu, but there are %zu parameter servers", c->index,
			       c->nservers);
	if (c->role == ROLE_PS)
		return 0; /* trainers tell it how many they are */
	if (cluster_ranks(c) == 0)
		return err_set(e, ERR_INVALID,
			       "no trainer: neither a chief nor workers are named; --workers gives their number");
	if (cluster_ranks(c) > WIRE_MAX_RANKS)
		return err_set(e, ERR_TOO_LARGE, "more than %d trainers", WIRE_MAX_RANKS);
	if (c->role == ROLE_WORKER && c->index >= c->workers)
		return err_set(e, ERR_INVALID, "task.index: %zu, but there are %zu workers", c->index, c->workers);
	if (c->role == ROLE_CHIEF && (!c->chief || c->index != 0))
		return err_set(e, ERR_INVALID, "task: chief %zu, but cluster has no such one", c->index);
	return 0;
}

void cluster_done(struct cluster *c)
{
	for (size_t i = 0; i < c->nservers; i++)
		free(c->servers[i]);
	free(c->servers);
	*c = (struct cluster){ 0 };
}

size_t cluster_ranks(const struct cluster *c)
{
	return c->workers + c->chief;
}

size_t cluster_rank(const struct cluster *c)
{
	return c->role == ROLE_WORKER ? c->index + c->chief : 0;
}
