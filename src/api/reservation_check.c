// SPDX-License-Identifier: Apache-2.0
/* reservation_check.c - see reservation_check.h
 *
 * A reservation of more than there is would keep everything from everyone.  Only what is new is checked, so that one
 * whose node has left can still be changed and ended; and before the first node nothing is known.
 */
#include "api/reservation_check.h"

#include "api/stored.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/field.h"
#include "kinds/resource_list.h"

struct machine {
	const json_t *wanted; /* names of nodes; NULL: all */
	json_t *names;
	int64_t gpus; /* of those that are wanted */
	struct sbuf *list;
};

/* Cards that are ill for now count too. */
static int64_t node_gpus(const json_t *node)
{
	static const char *const lists[] = { "status.capacity", "status.allocatable" };
	int64_t most = 0;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		struct resource_list l = { 0 };
		const struct quantity *q;

		resource_list_read(&l, jsonx_at(node, lists[i]));
		q = resource_list_find(&l, "nvidia.com/gpu");
		if (q && quantity_value(q) > most)
			most = quantity_value(q);
		resource_list_done(&l);
	}
	return most;
}

static bool names_it(const json_t *list, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)list, i, v)
		if (str_same(json_string_value(v), name))
			return true;
	return false;
}

static bool on_node(void *arg, const struct record *r)
{
	struct machine *m = arg;
	json_auto_t *node = NULL;
	struct err e = ERR_INIT;
	const char *name;

	if (jsonx_parse(r->body.p, r->body.n, NULL, NULL, &node, &e) < 0)
		return true;
	name = jsonx_str_or(node, "metadata.name", "");
	json_array_append_new(m->names, jsonx_string(name));
	sbuf_addf(m->list, "%s%s", m->list->n ? ", " : "", name);
	if (!json_array_size(m->wanted) || names_it(m->wanted, name))
		m->gpus += node_gpus(node);
	return true;
}

static int check(const struct machine *m, const json_t *spec, struct err *e)
{
	const struct path *at = PATH_FIELD(NULL, "spec");
	const json_t *gpus = json_object_get(spec, "gpus");
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)m->wanted, i, v)
		if (!names_it(m->names, json_string_value(v)))
			return path_invalid(PATH_FIELD(at, "nodes"), e, v, "there is no such node, only %.400s",
					    m->list->p);
	if (json_integer_value(gpus) > m->gpus)
		return path_invalid(PATH_FIELD(at, "gpus"), e, gpus, "%s %lld",
				    json_array_size(m->wanted) ? "these nodes have only"
							       : "all nodes together have only",
				    (long long)m->gpus);
	return 0;
}

/* Of the same field, which may be absent. */
static bool is_as_before(const json_t *spec, const json_t *before, const char *field)
{
	const json_t *a = json_object_get(spec, field);
	const json_t *b = json_object_get(before, field);

	return a == b || json_equal(a, b);
}

int reservation_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	struct stored_kind nodes = { .group = "", .version = "v1", .plural = "nodes" };
	const json_t *spec = json_object_get(obj, "spec");
	const json_t *before = json_object_get(old, "spec");
	auto_sbuf struct sbuf list = SBUF(LIMIT_STATUS_TEXT);
	json_auto_t *names = json_array();
	struct machine m = { .wanted = json_object_get(spec, "nodes"), .names = names, .list = &list };

	if (req->subresource || (old && is_as_before(spec, before, "gpus") && is_as_before(spec, before, "nodes")))
		return 0;
	if (stored_resolve(api, &nodes, e) < 0 ||
	    store_list(api_store(api), &(struct store_range){ .kind = nodes.number }, on_node, &m, e) < 0)
		return -1;
	return json_array_size(names) ? check(&m, spec, e) : 0;
}
