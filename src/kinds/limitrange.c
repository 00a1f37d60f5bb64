// SPDX-License-Identifier: Apache-2.0
/* limitrange.c - LimitRange: how small and large single pods, containers and claims may be, and what they get by
 * default */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "kinds/rules.h"

static json_t *list_of(json_t *obj, const char *name)
{
	json_t *list = json_object_get(obj, name);

	if (!json_is_object(list)) {
		list = json_object();
		json_object_set_new(obj, name, list);
	}
	return list;
}

static void drop_if_empty(json_t *obj, const char *name)
{
	if (!json_object_size(json_object_get(obj, name)))
		json_object_del(obj, name);
}

/* A container's default limit is its maximum, its default request the default limit, else the minimum. */
static void limit_item_defaults(json_t *obj)
{
	json_t *limit, *request;

	if (!streq(jsonx_str_or(obj, "type", ""), "Container"))
		return;
	limit = list_of(obj, "default");
	request = list_of(obj, "defaultRequest");
	json_object_update_missing(limit, json_object_get(obj, "max"));
	json_object_update_missing(request, limit);
	json_object_update_missing(request, json_object_get(obj, "min"));
	drop_if_empty(obj, "default");
	drop_if_empty(obj, "defaultRequest");
}

/* Pairs of lists of which the first may not exceed the second, the words for it, and which of the two is at fault. */
static const struct {
	const char *low, *high, *low_word, *high_word, *fault;
} limit_orders[] = {
	{ "min", "max", "min", "max", "min" },
	{ "min", "defaultRequest", "min", "default request", "defaultRequest" },
	{ "defaultRequest", "max", "default request", "max", "defaultRequest" },
	{ "defaultRequest", "default", "default request", "default limit", "defaultRequest" },
	{ "default", "max", "default", "max", "default" },
	{ "min", "default", "min", "default", "default" },
};

static void order_validate(const json_t *obj, size_t row, const struct path *at, struct err *e)
{
	const char *fault = limit_orders[row].fault;
	const struct path *here = PATH_FIELD(at, fault);
	const char *name;
	json_t *low;

	json_object_foreach (json_object_get(obj, limit_orders[row].low), name, low) {
		const json_t *high = json_object_get(json_object_get(obj, limit_orders[row].high), name);
		char low_text[QUANTITY_TEXT], high_text[QUANTITY_TEXT];
		struct quantity a, b;

		if (!high || !rule_quantity_parse(low, &a) || !rule_quantity_parse(high, &b) ||
		    quantity_cmp(&a, &b) <= 0)
			continue;
		quantity_text(&a, low_text);
		quantity_text(&b, high_text);
		path_invalid(PATH_KEY(here, name), e, json_object_get(json_object_get(obj, fault), name),
			     "%s value %s is greater than %s value %s", limit_orders[row].low_word, low_text,
			     limit_orders[row].high_word, high_text);
	}
}

/* Bounds of pods and containers are of what those can ask for. */
static void limit_names_validate(const json_t *list, bool of_pods, const struct path *at, struct err *e)
{
	const char *name;
	json_t *amount;

	json_object_foreach ((json_t *)list, name, amount) {
		const char *complaint = name_check_qualified(name);
		json_auto_t *text = jsonx_string(name);

		if (complaint)
			path_invalid(PATH_KEY(at, name), e, text, "%s", complaint);
		else if (!strchr(name, '/') && !resource_is_standard(name) && (of_pods || !streq(name, "storage")))
			path_invalid(PATH_KEY(at, name), e, text, "%s",
				     of_pods ? "must be a standard resource for containers"
					     : "must be a standard resource type or fully qualified");
	}
}

static void ratio_validate(const json_t *obj, const char *name, const json_t *ratio, const struct path *at,
			   struct err *e)
{
	const json_t *min = json_object_get(json_object_get(obj, "min"), name);
	const json_t *max = json_object_get(json_object_get(obj, "max"), name);
	struct quantity q, low, high;
	char text[QUANTITY_TEXT];

	if (!rule_quantity_parse(ratio, &q))
		return;
	quantity_text(&q, text);
	if (q.nano < 1000000000)
		path_invalid(at, e, ratio, "ratio %s is less than 1", text);
	if (min && max && rule_quantity_parse(min, &low) && rule_quantity_parse(max, &high) && low.nano > 0 &&
	    (double)q.nano / 1e9 > (double)high.nano / (double)low.nano)
		path_invalid(at, e, ratio, "ratio %s is greater than max/min = %f", text,
			     (double)high.nano / (double)low.nano);
}

/* What cannot be shared is given as it is asked for. */
static void equal_defaults_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *name;
	json_t *request;

	json_object_foreach (json_object_get(obj, "defaultRequest"), name, request) {
		const json_t *limit = json_object_get(json_object_get(obj, "default"), name);
		char limit_text[QUANTITY_TEXT], request_text[QUANTITY_TEXT];
		struct quantity a, b;

		if (resource_may_overcommit(name) || !limit || !rule_quantity_parse(limit, &a) ||
		    !rule_quantity_parse(request, &b) || quantity_cmp(&a, &b) == 0)
			continue;
		quantity_text(&a, limit_text);
		quantity_text(&b, request_text);
		path_invalid(PATH_KEY(at, name), e, request,
			     "default value %s must equal to defaultRequest value %s in %s", limit_text, request_text,
			     name);
	}
}

static void limit_item_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char *const lists[] = { "max", "min", "default", "defaultRequest", "maxLimitRequestRatio" };
	const char *type = jsonx_str_or(obj, "type", "");
	const struct path *ratios = PATH_FIELD(at, "maxLimitRequestRatio");
	const char *name;
	json_t *ratio;

	if (*type && !strchr(type, '/') && !rule_one_of(type, "Container|PersistentVolumeClaim|Pod"))
		path_invalid(PATH_FIELD(at, "type"), e, json_object_get(obj, "type"),
			     "must be a standard limit type or fully qualified");
	if (streq(type, "Pod") && json_object_size(json_object_get(obj, "default")))
		path_forbidden(PATH_FIELD(at, "default"), e, "may not be specified when `type` is 'Pod'");
	if (streq(type, "Pod") && json_object_size(json_object_get(obj, "defaultRequest")))
		path_forbidden(PATH_FIELD(at, "defaultRequest"), e, "may not be specified when `type` is 'Pod'");
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		const json_t *list = json_object_get(obj, lists[i]);

		limit_names_validate(list, rule_one_of(type, "Container|Pod"), PATH_FIELD(at, lists[i]), e);
		rule_quantities(list, PATH_FIELD(at, lists[i]), e);
	}
	for (size_t i = 0; i < ARRAY_SIZE(limit_orders); i++)
		order_validate(obj, i, at, e);
	json_object_foreach (json_object_get(obj, "maxLimitRequestRatio"), name, ratio)
		ratio_validate(obj, name, ratio, PATH_KEY(ratios, name), e);
	equal_defaults_validate(obj, PATH_FIELD(at, "defaultRequest"), e);
	if (streq(type, "PersistentVolumeClaim") && !jsonx_at(obj, "min.storage") && !jsonx_at(obj, "max.storage"))
		path_required(PATH_FIELD(at, "limits"), e,
			      "either minimum or maximum storage value is required, but neither was provided");
}

static const struct field limit_range_item_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .doc = "Pod, Container or PersistentVolumeClaim."),
	FM(2, "max", QUANTITY, .doc = "The most one may ask for, by resource."),
	FM(3, "min", QUANTITY, .doc = "The least one may ask for."),
	FM(4, "default", QUANTITY, .doc = "Limit of a container that has none."),
	FM(5, "defaultRequest", QUANTITY, .doc = "Request of a container that has none."),
	FM(6, "maxLimitRequestRatio", QUANTITY, .doc = "Largest allowed ratio of limit to request."),
};
static const struct message limit_range_item =
	MESSAGE("io.k8s.api.core.v1.LimitRangeItem", limit_range_item_fields, .doc = "Bounds for one type of thing.",
		.defaults = limit_item_defaults, .validate = limit_item_validate);

static void limit_spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_unique(json_object_get(obj, "limits"), "type", PATH_FIELD(at, "limits"), e);
}

static const struct field limit_range_spec_fields[] = {
	FL(1, "limits", OBJECT, .msg = &limit_range_item, .flags = FIELD_REQUIRED, .doc = "Bounds, one for each type."),
};
static const struct message limit_range_spec = MESSAGE("io.k8s.api.core.v1.LimitRangeSpec", limit_range_spec_fields,
						       .doc = "The bounds.", .validate = limit_spec_validate);

static const struct field limit_range_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &limit_range_spec, .dflt = "{}", .doc = "The bounds."),
};
const struct message core_limit_range =
	MESSAGE("io.k8s.api.core.v1.LimitRange", limit_range_fields,
		.doc = "Bounds and defaults for single pods, containers and claims of a namespace.");

static const struct column limit_columns[] = {
	COLUMN_NAME,
	COLUMN_CREATED_AT,
};

const struct kind kind_limit_range = {
	.group = "",
	.version = "v1",
	.kind = "LimitRange",
	.plural = "limitranges",
	.singular = "limitrange",
	.short_names = (const char *const[]){ "limits", NULL },
	.namespaced = true,
	.flags = KIND_CREATE_ON_UPDATE,
	.verbs = VERBS_ALL,
	.message = &core_limit_range,
	.columns = limit_columns,
	.ncolumns = ARRAY_SIZE(limit_columns),
};
