// SPDX-License-Identifier: Apache-2.0
/* setting_write.c - see setting_write.h
 *
 * Two things PBS has that a Queue has not: a list of users that is there without counting (acl_users without
 * acl_user_enable), and a Route queue that has no destinations yet.  Both are what an administrator's script makes on
 * its way, line by line, so they are kept beside the Queue until the rest is said.
 */
#include "pbs/setting_write.h"

#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_error.h"
#include "kinds/pbs_nodes.h"
#include "kinds/pbs_resources.h"

#define TEXT_MAX (1u << 20)

/* One change under way. */
struct change {
	const struct setting *table, *s;
	json_t *object;
	const char *resource; /* or NULL */
	enum setting_op op;
	const char *value; /* "" to unset */
	struct err *e;
};

static int bad_value(const struct change *c, const char *must)
{
	return pbs_error_set(c->e, ERR_INVALID, PBSE_BADATVAL, "%s%s%s = \"%.200s\": %s", c->s->name,
			     c->resource ? "." : "", c->resource ? c->resource : "", c->value, must);
}

static int undefined(struct err *e, const char *name, const char *resource)
{
	return pbs_error_set(e, ERR_INVALID, PBSE_NOATTR, "%.60s%s%.60s", name, resource ? "." : "",
			     resource ? resource : "");
}

/* A map in the object, made if need be. */
static json_t *map_at(json_t *object, const char *path)
{
	json_t *map = jsonx_at(object, path);

	if (!json_is_object(map)) {
		map = json_object();
		jsonx_set_new(object, path, map);
	}
	return map;
}

/* NULL removes it. */
static void put_note(json_t *object, const char *key, const char *value)
{
	json_t *notes = map_at(object, "metadata.annotations");

	if (value)
		json_object_set_new(notes, key, jsonx_string(value));
	else
		json_object_del(notes, key);
}

static void put_kept(json_t *object, const char *name, const char *value)
{
	auto_free char *key = xasprintf(KEPT_PREFIX "%s", name);

	put_note(object, key, value);
}

/* ---- values ---- */

static bool read_bool(const char *text, bool *ret)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = { { "true", true },   { "t", true },  { "yes", true }, { "y", true },  { "1", true },
		      { "false", false }, { "f", false }, { "no", false }, { "n", false }, { "0", false } };

	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strcasecmp(words[i].word, text) == 0) {
			*ret = words[i].value;
			return true;
		}
	return false;
}

static int write_text(struct change *c)
{
	const char *was = jsonx_str_or(c->object, c->s->path, "");

	if (c->op == SETTING_REMOVE)
		return bad_value(c, "a text cannot be taken from");
	jsonx_set_new(c->object, c->s->path,
		      c->op == SETTING_ADD ? jsonx_stringf("%s%s", was, c->value) : jsonx_string(c->value));
	return 0;
}

static int write_number(struct change *c)
{
	int64_t was = jsonx_int_or(c->object, c->s->path, 0);
	int64_t n;

	if (!str_int64(c->value, INT32_MIN, INT32_MAX, &n))
		return bad_value(c, "must be a whole number");
	if (c->op != SETTING_SET)
		n = c->op == SETTING_ADD ? was + n : was - n;
	jsonx_set_new(c->object, c->s->path, json_integer(n));
	return 0;
}

static int write_bool(struct change *c)
{
	bool value;

	if (c->op != SETTING_SET || !read_bool(c->value, &value))
		return bad_value(c, "must be True or False");
	jsonx_set_new(c->object, c->s->path, json_boolean(value));
	return 0;
}

/* A queue's default for neednodes says what its nodes must have, and nothing else of a -l nodes. */
static int check_needed(struct change *c)
{
	auto_free char *nodes = xasprintf("1:%s", c->value);
	struct pbs_nodes n = { 0 };
	struct err why = ERR_INIT;
	bool plain = pbs_nodes_parse(nodes, &n, &why) == 0 && n.count == 1 && n.reqs[0].ppn == 1 && !n.reqs[0].gpus &&
		     !strpbrk(c->value, "#=");

	pbs_nodes_done(&n);
	if (c->table != queue_settings || !streq(c->s->name, "resources_default"))
		return bad_value(c, "must be a default of a queue: what its nodes must have");
	return plain ? 0 : bad_value(c, "must be properties of nodes, such as gpu or gpu:big");
}

/* How a resource is limited: nodect, too, which jobs cannot ask for. */
static int normal(struct change *c, const char *resource, struct sbuf *out)
{
	struct err why = ERR_INIT;
	const char *words;

	if (streq(resource, "neednodes") && check_needed(c) < 0)
		return -1;
	if (pbs_resource_type(resource) == PBS_DERIVED) {
		sbuf_adds(out, c->value);
		return 0;
	}
	if (pbs_resource_normal(resource, c->value, out, &why) == 0)
		return 0;
	if (pbs_error_find(why.text, &words)) {
		*c->e = why;
		return -1;
	}
	return bad_value(c, why.text);
}

static int write_map(struct change *c)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	if (c->op != SETTING_SET)
		return bad_value(c, "resources take = only");
	if (normal(c, c->resource, &text) < 0)
		return -1;
	json_object_set_new(map_at(c->object, c->s->path), c->resource, jsonx_string(text.p));
	return 0;
}

static int write_entry(struct change *c)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);

	if (c->op != SETTING_SET)
		return bad_value(c, "resources take = only");
	if (normal(c, c->s->resource, &text) < 0)
		return -1;
	jsonx_set_new(c->object, c->s->path, jsonx_string(text.p));
	return 0;
}

static int write_kept(struct change *c)
{
	auto_free char *name = c->resource ? xasprintf("%s.%s", c->s->name, c->resource) : xstrdup(c->s->name);
	const char *was = setting_kept(c->object, name);
	auto_free char *joined = was && c->op == SETTING_ADD ? xasprintf("%s,%s", was, c->value) : xstrdup(c->value);
	bool value;

	if (c->op == SETTING_REMOVE)
		return bad_value(c, "this attribute takes = and += only");
	if (c->s->form == SETTING_FALSE && read_bool(c->value, &value) && value)
		return bad_value(c, "who may submit is said by queues: there is no list of the server");
	put_kept(c->object, name, joined);
	return 0;
}

static int write_note(struct change *c)
{
	int64_t n;

	if (c->op != SETTING_SET)
		return bad_value(c, "this attribute takes = only");
	if (streq(c->s->name, "np") && !str_int64(c->value, 1, INT32_MAX, &n))
		return bad_value(c, "must be a number of processors");
	put_note(c->object, c->s->path, c->value);
	return 0;
}

/* ---- lists ---- */

static bool has(const json_t *list, struct str text)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (str_eq(text, json_string_value(v)))
			return true;
	return false;
}

static void drop(json_t *list, struct str text)
{
	for (size_t i = json_array_size(list); i-- > 0;)
		if (str_eq(text, json_string_value(json_array_get(list, i))))
			json_array_remove(list, i);
}

/* The list as it becomes. */
static json_t *next_list(const struct change *c)
{
	json_t *list = c->op == SETTING_SET || c->op == SETTING_UNSET ? json_array() : setting_list(c->s, c->object);
	struct str rest = str_of(c->value), part;

	while (str_split(&rest, ',', &part)) {
		part = str_trim(part);
		if (c->op == SETTING_REMOVE)
			drop(list, part);
		else if (part.n && !has(list, part))
			json_array_append_new(list, jsonx_stringn(part.p, part.n));
	}
	return list;
}

static void put_properties(json_t *node, const json_t *list)
{
	json_t *labels = map_at(node, "metadata.labels");
	const char *key;
	json_t *v;
	void *tmp;
	size_t i;

	json_object_foreach_safe (labels, tmp, key, v)
		if (setting_is_property(node, key))
			json_object_del(labels, key);
	json_array_foreach ((json_t *)list, i, v) {
		auto_free char *label = xasprintf(PBS_PROPERTY_LABEL "%s", json_string_value(v));

		json_object_set_new(labels, label, json_string(""));
	}
}

static void put_acl(const struct setting *s, json_t *queue, json_t *list, bool enabled)
{
	auto_sbuf struct sbuf text = SBUF(TEXT_MAX);
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		sbuf_addf(&text, "%s%s", i ? "," : "", json_string_value(v));
	put_kept(queue, s->name, enabled || !text.n ? NULL : text.p);
	if (!enabled) {
		jsonx_del(queue, s->path);
		return;
	}
	if (!json_array_size(list))
		json_array_append_new(list, json_string(ACL_NOBODY));
	jsonx_set_new(queue, s->path, json_incref(list));
}

static int write_list(struct change *c)
{
	json_auto_t *list = next_list(c);

	if (c->s->form == SETTING_PROPERTIES)
		put_properties(c->object, list);
	else if (c->s->form == SETTING_ACL)
		put_acl(c->s, c->object, list, json_array_size(jsonx_at(c->object, c->s->path)) > 0);
	else
		jsonx_set_new(c->object, c->s->path, json_incref(list));
	return 0;
}

/* The list that it enables is the next row. */
static int write_enable(struct change *c)
{
	json_auto_t *list = setting_list(c->s + 1, c->object);
	bool enabled = false;

	if (c->op != SETTING_UNSET && (c->op != SETTING_SET || !read_bool(c->value, &enabled)))
		return bad_value(c, "must be True or False");
	put_acl(c->s + 1, c->object, list, enabled);
	return 0;
}

/* ---- queues that pass jobs on, nodes out of use ---- */

static int write_type(struct change *c)
{
	bool route = strcasecmp(c->value, "route") == 0 || strcasecmp(c->value, "r") == 0;

	if (c->op != SETTING_UNSET && !route && strcasecmp(c->value, "execution") != 0 &&
	    strcasecmp(c->value, "e") != 0)
		return bad_value(c, "must be Execution or Route");
	jsonx_set_new(c->object, c->s->path, json_string(route ? "Route" : "Execution"));
	put_kept(c->object, c->s->name, NULL);
	return 0;
}

/* A Route queue without destinations is only said to be one. */
static void settle_type(json_t *queue)
{
	bool route = setting_kept(queue, "queue_type") || streq(jsonx_str_or(queue, "spec.type", ""), "Route");
	bool leads = json_array_size(jsonx_at(queue, "spec.destinations")) > 0;

	if (!route)
		return;
	jsonx_set_new(queue, "spec.type", json_string(leads ? "Route" : "Execution"));
	put_kept(queue, "queue_type", leads ? NULL : "Route");
}

/* Of the states only this one is an administrator's to set. */
static int write_offline(struct change *c)
{
	bool offline = strcasecmp(c->value, "offline") == 0;

	if (!offline && (c->op != SETTING_SET || strcasecmp(c->value, "free") != 0))
		return bad_value(c, "must be offline or free");
	if (offline && c->op != SETTING_REMOVE)
		jsonx_set_new(c->object, c->s->path, json_true());
	else
		jsonx_del(c->object, c->s->path);
	return 0;
}

/* ---- all of them ---- */

/* A node that has not said anything yet will. */
static int write_told(struct change *c)
{
	const char *told = json_string_value(json_object_get(jsonx_at(c->object, "status.capacity"), c->s->path));
	int64_t n;

	if (c->op != SETTING_SET || !str_int64(c->value, 0, INT32_MAX, &n))
		return bad_value(c, "must be a number");
	if (!jsonx_at(c->object, "status.capacity") || streq(told ? told : "0", c->value))
		return 0;
	return pbs_error_set(c->e, ERR_INVALID, PBSE_BADATVAL, "%s = %.200s: the node itself finds %s", c->s->name,
			     c->value, told ? told : "none");
}

static int (*const writers[])(struct change *c) = {
	[SETTING_TOLD] = write_told,       [SETTING_GIVEN] = write_text,  [SETTING_TEXT] = write_text,
	[SETTING_NUMBER] = write_number,   [SETTING_BOOL] = write_bool,   [SETTING_LIST] = write_list,
	[SETTING_MAP] = write_map,         [SETTING_SOME] = write_enable, [SETTING_ENTRY] = write_entry,
	[SETTING_ACL] = write_list,        [SETTING_KEPT] = write_kept,   [SETTING_FALSE] = write_kept,
	[SETTING_TYPE] = write_type,       [SETTING_NOTE] = write_note,   [SETTING_PROPERTIES] = write_list,
	[SETTING_OFFLINE] = write_offline,
};

/* Fields that are empty then are left out. */
static int unset(struct change *c)
{
	c->value = "";
	switch (c->s->form) {
	case SETTING_ACL:
	case SETTING_PROPERTIES:
	case SETTING_SOME:
	case SETTING_TYPE:
		return writers[c->s->form](c);
	case SETTING_KEPT:
	case SETTING_FALSE: {
		auto_free char *name = c->resource ? xasprintf("%s.%s", c->s->name, c->resource) : xstrdup(c->s->name);

		put_kept(c->object, name, NULL);
		return 0;
	}
	case SETTING_NOTE:
		put_note(c->object, c->s->path, NULL);
		return 0;
	case SETTING_TOLD:
		return bad_value(c, "the node itself finds it");
	case SETTING_GIVEN:
		jsonx_set_new(c->object, c->s->path, json_string(""));
		return 0;
	case SETTING_MAP:
		json_object_del(map_at(c->object, c->s->path), c->resource);
		return 0;
	default:
		jsonx_del(c->object, c->s->path);
		return 0;
	}
}

/* Whether it has a value for each resource. */
static bool has_resources(const struct setting *s)
{
	return s->form == SETTING_MAP || s->form == SETTING_ENTRY ||
	       (s->form == SETTING_KEPT && str_starts(s->name, "resources_"));
}

const struct setting *setting_find(const struct setting *table, const char *name, const char *resource)
{
	for (const struct setting *s = table; s->name; s++)
		if (strcasecmp(s->name, name) == 0 && has_resources(s) == (resource != NULL) &&
		    (s->form != SETTING_ENTRY || streq(s->resource, resource)))
			return s;
	return NULL;
}

/* A map without a resource: all of it. */
static int unset_map(const struct setting *table, json_t *object, const char *name, struct err *e)
{
	bool found = false;

	for (const struct setting *s = table; s->name; s++)
		if (strcasecmp(s->name, name) == 0 && (s->form == SETTING_MAP || s->form == SETTING_ENTRY)) {
			jsonx_del(object, s->path);
			found = true;
		}
	return found ? 0 : undefined(e, name, NULL);
}

int setting_write(const struct setting *table, json_t *object, const char *name, const char *resource,
		  enum setting_op op, const char *value, struct err *e)
{
	const struct setting *s = setting_find(table, name, resource);
	struct change c = { .table = table,
			    .s = s,
			    .object = object,
			    .resource = resource,
			    .op = op,
			    .value = value ? value : "",
			    .e = e };
	int r;

	if (!s)
		return op == SETTING_UNSET && !resource ? unset_map(table, object, name, e)
							: undefined(e, name, resource);
	if (op != SETTING_UNSET && !*c.value)
		c.op = SETTING_UNSET; /* an empty value is none */
	r = c.op == SETTING_UNSET ? unset(&c) : writers[s->form](&c);
	if (r == 0 && table == queue_settings)
		settle_type(object);
	return r;
}
