// SPDX-License-Identifier: Apache-2.0
/* limit_rules.c - one LimitRange against one pod or claim
 *
 * The words are Kubernetes', which people search for.
 */
#include <stdio.h>

#include "api/limit_range.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/resource_list.h"
#include "kinds/rules.h"

#define ANNOTATION "kubernetes.io/limit-ranger"

/* ---- defaults ---- */

static json_t *member(json_t *obj, const char *name)
{
	json_t *v = json_object_get(obj, name);

	if (!json_is_object(v)) {
		v = json_object();
		json_object_set_new(obj, name, v);
	}
	return v;
}

/* Gives a container what it lacks of one list, and says so. */
static void fill(json_t *container, const char *list, const json_t *defaults, const char *what, struct sbuf *said)
{
	size_t n;
	auto_free const char **names = cells_sorted_keys(defaults, &n);
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		json_t *amounts = member(member(container, "resources"), list);

		if (json_object_get(amounts, names[i]))
			continue;
		json_object_set(amounts, names[i], json_object_get(defaults, names[i]));
		sbuf_addf(said, "%s%s", any ? ", " : said->n ? "; " : "", names[i]);
		any = true;
	}
	if (any)
		sbuf_addf(said, " %s %s", what, jsonx_str_or(container, "name", ""));
}

static void fill_all(json_t *containers, const json_t *item, const char *word, struct sbuf *said)
{
	json_t *c;
	size_t i;

	json_array_foreach (containers, i, c) {
		char request[48];
		char limit[48];

		snprintf(request, sizeof(request), "request for %s", word);
		snprintf(limit, sizeof(limit), "limit for %s", word);
		fill(c, "requests", json_object_get(item, "defaultRequest"), request, said);
		fill(c, "limits", json_object_get(item, "default"), limit, said);
	}
}

bool limit_rules_default(const json_t *range, json_t *pod)
{
	auto_sbuf struct sbuf said = SBUF(LIMIT_STATUS_TEXT);
	json_t *spec = json_object_get(pod, "spec");
	json_t *item;
	size_t i;

	json_array_foreach (jsonx_at(range, "spec.limits"), i, item) {
		if (!streq(jsonx_str_or(item, "type", ""), "Container"))
			continue;
		fill_all(json_object_get(spec, "containers"), item, "container", &said);
		fill_all(json_object_get(spec, "initContainers"), item, "init container", &said);
	}
	if (!said.n)
		return false;
	json_object_set_new(member(member(pod, "metadata"), "annotations"), ANNOTATION,
			    jsonx_stringf("LimitRanger plugin set: %s", said.p));
	return true;
}

/* ---- bounds ---- */

/* What is held against the bounds: a container, a pod as a whole, or a claim. */
struct limited {
	const char *type;
	struct resource_list requests, limits;
	json_t *wrong;
};

/* One line of a LimitRange and what there is of its resource; request and limit may be NULL. */
struct bound {
	const char *resource;
	struct quantity enforced;
	const struct quantity *request, *limit;
};

static void complain(struct limited *l, json_t *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (l->wrong, i, v) { /* of two containers with the same fault one is enough */
		if (json_equal(v, text)) {
			json_decref(text);
			return;
		}
	}
	json_array_append_new(l->wrong, text);
}

static void off_bound(struct limited *l, const struct bound *b, const char *word, const char *which,
		      const struct quantity *have)
{
	char enforced[QUANTITY_TEXT];
	char text[QUANTITY_TEXT];

	quantity_text(&b->enforced, enforced);
	if (!have) {
		complain(l, jsonx_stringf("%s %s usage per %s is %s.  No %s is specified", word, b->resource, l->type,
					  enforced, which));
		return;
	}
	quantity_text(have, text);
	complain(l, jsonx_stringf("%s %s usage per %s is %s, but %s is %s", word, b->resource, l->type, enforced, which,
				  text));
}

static void check_min(struct limited *l, const struct bound *b)
{
	if (!b->request || quantity_cmp(b->request, &b->enforced) < 0)
		off_bound(l, b, "minimum", "request", b->request);
	else if (b->limit && quantity_cmp(b->limit, &b->enforced) < 0)
		off_bound(l, b, "minimum", "limit", b->limit);
}

static void check_max(struct limited *l, const struct bound *b)
{
	if (!b->limit || quantity_cmp(b->limit, &b->enforced) > 0)
		off_bound(l, b, "maximum", "limit", b->limit);
	else if (b->request && quantity_cmp(b->request, &b->enforced) > 0)
		off_bound(l, b, "maximum", "request", b->request);
}

/* Claims have no limit. */
static void check_max_request(struct limited *l, const struct bound *b)
{
	if (!b->request || quantity_cmp(b->request, &b->enforced) > 0)
		off_bound(l, b, "maximum", "request", b->request);
}

static void check_ratio(struct limited *l, const struct bound *b)
{
	char enforced[QUANTITY_TEXT];
	double ratio;

	quantity_text(&b->enforced, enforced);
	if (!b->request || b->request->nano == 0 || !b->limit || b->limit->nano == 0) {
		const char *which = !b->request || b->request->nano == 0 ? "request" : "limit";

		complain(l,
			 jsonx_stringf("%s max limit to request ratio per %s is %s, but no %s is specified or %s is 0",
				       b->resource, l->type, enforced, which, which));
		return;
	}
	ratio = (double)b->limit->nano / (double)b->request->nano;
	if (ratio > (double)b->enforced.nano / 1e9)
		complain(l, jsonx_stringf("%s max limit to request ratio per %s is %s, but provided ratio is %f",
					  b->resource, l->type, enforced, ratio));
}

struct check {
	const char *list;
	void (*fn)(struct limited *l, const struct bound *b);
};

static const struct check pod_checks[] = {
	{ "min", check_min },
	{ "max", check_max },
	{ "maxLimitRequestRatio", check_ratio },
	{ NULL, NULL },
};

static const struct check claim_checks[] = {
	{ "min", check_min },
	{ "max", check_max_request },
	{ NULL, NULL },
};

static void check_item(struct limited *l, const json_t *item, const struct check *checks)
{
	for (; checks->list; checks++) {
		const json_t *bounds = json_object_get(item, checks->list);
		size_t n;
		auto_free const char **names = cells_sorted_keys(bounds, &n);

		for (size_t i = 0; i < n; i++) {
			struct bound b = { .resource = names[i],
					   .request = resource_list_find(&l->requests, names[i]),
					   .limit = resource_list_find(&l->limits, names[i]) };

			if (rule_quantity_parse(json_object_get(bounds, names[i]), &b.enforced))
				checks->fn(l, &b);
		}
	}
	resource_list_done(&l->requests);
	resource_list_done(&l->limits);
}

static void check_containers(const json_t *containers, const json_t *item, json_t *wrong)
{
	json_t *c;
	size_t i;

	json_array_foreach ((json_t *)containers, i, c) {
		struct limited l = { .type = "Container", .wrong = wrong };

		resource_list_read(&l.requests, jsonx_at(c, "resources.requests"));
		resource_list_read(&l.limits, jsonx_at(c, "resources.limits"));
		check_item(&l, item, pod_checks);
	}
}

static void check_pod(const json_t *pod, const json_t *item, json_t *wrong)
{
	const json_t *spec = json_object_get(pod, "spec");
	struct limited l = { .type = "Pod", .wrong = wrong };

	if (streq(jsonx_str_or(item, "type", ""), "Container")) {
		check_containers(json_object_get(spec, "containers"), item, wrong);
		check_containers(json_object_get(spec, "initContainers"), item, wrong);
	} else if (streq(jsonx_str_or(item, "type", ""), "Pod")) {
		pod_resources(spec, "requests", false, &l.requests);
		pod_resources(spec, "limits", false, &l.limits);
		check_item(&l, item, pod_checks);
	}
}

static void check_claim(const json_t *claim, const json_t *item, json_t *wrong)
{
	struct limited l = { .type = "PersistentVolumeClaim", .wrong = wrong };

	if (!streq(jsonx_str_or(item, "type", ""), l.type))
		return;
	resource_list_read(&l.requests, jsonx_at(claim, "spec.resources.requests"));
	check_item(&l, item, claim_checks);
}

json_t *limit_rules_check(const json_t *range, const char *plural, const json_t *obj)
{
	json_t *wrong = json_array();
	json_t *item;
	size_t i;

	json_array_foreach (jsonx_at(range, "spec.limits"), i, item) {
		if (streq(plural, "pods"))
			check_pod(obj, item, wrong);
		else
			check_claim(obj, item, wrong);
	}
	return wrong;
}
