// SPDX-License-Identifier: Apache-2.0
/* rest_metrics.c - metrics.k8s.io/v1beta1: what pods and nodes use at present, for `kubectl top`
 *
 * The stored pod or node gives name, labels and containers, and the kubelet the figures, at the time of the question.
 * What has no figures (yet) is left out of lists and not found by name, which clients take as "not available yet".
 * Rights are those to the metrics and have been checked; that the caller may not see the pod itself does not matter.
 */
#include "api/exchange.h"
#include "api/verbs.h"
#include "api/wire.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "kinds/rest.h"

#define NODE_LOAD "stoker.dev/load" /* for pbsnodes; others look at what they know */

/* NULL if there are no figures. */
typedef json_t *measure_fn(struct kubelet *k, const json_t *obj);

static void set_quantity(json_t *usage, const char *resource, __int128 nano, char format)
{
	struct quantity q = { .nano = nano, .format = format };
	char text[QUANTITY_TEXT];

	quantity_text(&q, text);
	json_object_set_new(usage, resource, json_string(text));
}

static json_t *usage_of(const json_t *figures)
{
	json_t *usage = json_object();

	set_quantity(usage, "cpu", jsonx_int_or(figures, "cpu_nano", 0), 'd');
	set_quantity(usage, "memory", (__int128)jsonx_int_or(figures, "memory_bytes", 0) * 1000000000, 'b');
	return usage;
}

/* The beginning of both kinds. */
static json_t *head(const json_t *obj, const json_t *figures)
{
	char now[CLOCK_RFC3339_LEN];

	clock_rfc3339(clock_wall(), now);
	return json_pack("{s:{s:O, s:O*, s:O*, s:s}, s:O, s:o}", "metadata", "name", jsonx_at(obj, "metadata.name"),
			 "namespace", jsonx_at(obj, "metadata.namespace"), "labels", jsonx_at(obj, "metadata.labels"),
			 "creationTimestamp", now, "timestamp", json_object_get(figures, "timestamp"), "window",
			 jsonx_stringf("%llds", (long long)jsonx_int_or(figures, "window", 0)));
}

static json_t *container_names(const json_t *pod)
{
	static const char *const lists[] = { "spec.initContainers", "spec.containers", "spec.ephemeralContainers" };
	json_t *names = json_array(), *c;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(lists); k++)
		json_array_foreach (jsonx_at(pod, lists[k]), i, c)
			json_array_append(names, json_object_get(c, "name"));
	return names;
}

static json_t *measure_pod(struct kubelet *k, const json_t *pod)
{
	json_auto_t *names = container_names(pod);
	json_t *figures = NULL, *doc, *list = json_array(), *c;
	struct err e = ERR_INIT;
	size_t i;

	if (k->ops->pod_usage(k, jsonx_str_or(pod, "metadata.uid", ""), names, &figures, &e) < 0) {
		json_decref(list);
		return NULL;
	}
	doc = head(pod, figures);
	json_array_foreach (json_object_get(figures, "containers"), i, c)
		json_array_append_new(
			list, json_pack("{s:O, s:o}", "name", json_object_get(c, "name"), "usage", usage_of(c)));
	json_object_set_new(doc, "containers", list);
	json_decref(figures);
	return doc;
}

static json_t *measure_node(struct kubelet *k, const json_t *node)
{
	struct err e = ERR_INIT;
	json_t *figures = NULL, *doc;

	if (k->ops->node_usage(k, jsonx_str_or(node, "metadata.name", ""), &figures, &e) < 0)
		return NULL;
	doc = head(node, figures);
	json_object_set_new(doc, "usage", usage_of(figures));
	if (json_object_get(figures, "load_milli"))
		set_quantity(json_object_get(doc, "usage"), NODE_LOAD,
			     (__int128)jsonx_int_or(figures, "load_milli", 0) * 1000000, 'd');
	json_decref(figures);
	return doc;
}

struct measuring {
	struct kubelet *kubelet;
	measure_fn *measure;
	json_t *items;
};

static bool add_item(void *arg, const struct api_item *item)
{
	struct measuring *m = arg;
	json_t *doc = m->kubelet ? m->measure(m->kubelet, item->object) : NULL;

	if (doc)
		json_array_append_new(m->items, doc);
	return true;
}

/* A list in the form the client asked for; takes items. */
static json_t *list_of(const struct exchange *x, json_t *items)
{
	const struct kind *k = x->req.kind;
	const char *version = x->accept.meta_version;
	enum include_object include = negotiate_include(exchange_param(x, "includeObject"));
	bool table = x->accept.form == REPLY_TABLE;
	bool partial = x->accept.form == REPLY_PARTIAL || x->accept.form == REPLY_PARTIAL_LIST;
	json_t *doc, *item, *rows;
	size_t i;

	if (!table && !partial)
		return json_pack("{s:o, s:o, s:{}, s:o}", "kind", jsonx_stringf("%sList", k->kind), "apiVersion",
				 jsonx_stringf("%s/%s", k->group, k->version), "metadata", "items", items);
	rows = json_array();
	json_array_foreach (items, i, item)
		json_array_append_new(rows, table ? table_row(k, item, include, version, clock_wall())
						  : table_partial(item, version));
	json_decref(items);
	doc = json_pack("{s:s, s:o, s:{}, s:o}", "kind", table ? "Table" : "PartialObjectMetadataList", "apiVersion",
			jsonx_stringf("meta.k8s.io/%s", version), "metadata", table ? "rows" : "items", rows);
	if (table)
		json_object_set_new(doc, "columnDefinitions", table_columns(k));
	return doc;
}

static int measure_list(struct exchange *x, const struct kind *of, measure_fn *measure, struct err *e)
{
	struct api_request req = { .caller = &caller_system,
				   .verb = VERB_LIST,
				   .kind = of,
				   .ns = x->req.ns,
				   .labels = x->req.labels,
				   .field_sel = x->req.field_sel };
	struct measuring m = { x->rest->kubelet, measure, json_array() };
	int64_t rv, remaining;
	char *cont = NULL;

	if (api_list(x->rest->api, &req, true, add_item, &m, &rv, &cont, &remaining, e) < 0) {
		json_decref(m.items);
		return -1;
	}
	free(cont);
	x->result = (struct api_result){ .code = 200, .object = list_of(x, m.items) };
	return 0;
}

static int measure_one(struct exchange *x, const struct kind *of, measure_fn *measure, struct err *e)
{
	json_auto_t *obj = NULL;
	json_t *doc;

	if (verb_load(x->rest->api, of, x->req.ns, x->req.name, &obj, e) < 0)
		return -1;
	doc = x->rest->kubelet ? measure(x->rest->kubelet, obj) : NULL;
	if (!doc)
		return err_set(e, ERR_NOT_FOUND, "%s", "");
	x->result = (struct api_result){ .code = 200, .kind = x->req.kind, .object = doc };
	return 0;
}

bool rest_metrics(struct exchange *x)
{
	const struct kind *k = x->req.kind;
	bool pods = k == &kind_pod_metrics;
	measure_fn *measure = pods ? measure_pod : measure_node;
	const struct kind *of;

	if ((!pods && k != &kind_node_metrics) || x->req.subresource ||
	    (x->req.verb != VERB_GET && x->req.verb != VERB_LIST))
		return false;
	of = registry_find(api_registry(x->rest->api), "", "v1", k->plural);
	if (x->req.name)
		(void)measure_one(x, of, measure, &x->err);
	else
		(void)measure_list(x, of, measure, &x->err);
	exchange_finish(x);
	return true;
}
