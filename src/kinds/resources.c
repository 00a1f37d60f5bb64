// SPDX-License-Identifier: Apache-2.0
/* resources.c - requests and limits
 *
 * cpu and memory may be asked for below their limit; everything else (GPUs, hugepages) cannot be shared, so the two
 * must be equal.
 */
#include "base/jsonx.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "kinds/rules.h"

bool resource_is_standard(const char *name)
{
	return rule_one_of(name, "cpu|memory|ephemeral-storage") || str_starts(name, "hugepages-");
}

bool resource_may_overcommit(const char *name)
{
	return rule_one_of(name, "cpu|memory|ephemeral-storage") || str_starts(name, "kubernetes.io/");
}

static void resource_name_validate(const char *name, const struct path *at, struct err *e)
{
	const char *complaint = name_check_qualified(name);
	json_auto_t *text = jsonx_string(name);

	if (complaint)
		path_invalid(at, e, text, "%s", complaint);
	else if (!strchr(name, '/') && !resource_is_standard(name))
		path_invalid(at, e, text, "must be a standard resource for containers");
}

static void resource_list_validate(const json_t *list, const struct path *at, struct err *e)
{
	const char *name;
	json_t *amount;

	json_object_foreach ((json_t *)list, name, amount) {
		const struct path *here = PATH_KEY(at, name);
		struct quantity q;

		resource_name_validate(name, here, e);
		rule_quantity(amount, here, e);
		if (!resource_may_overcommit(name) && rule_quantity_parse(amount, &q) && quantity_milli(&q) % 1000)
			path_invalid(here, e, amount, "must be an integer");
	}
}

static void request_validate(const char *name, const json_t *request, const json_t *limit, const struct path *at,
			     struct err *e)
{
	struct quantity r, l;
	char text[QUANTITY_TEXT];
	const struct path *requests = PATH_FIELD(at, "requests");

	if (!limit) {
		if (!resource_may_overcommit(name))
			path_required(PATH_FIELD(at, "limits"), e,
				      "Limit must be set for non overcommitable resources");
		return;
	}
	if (!rule_quantity_parse(request, &r) || !rule_quantity_parse(limit, &l))
		return;
	quantity_text(&l, text);
	if (!resource_may_overcommit(name) && quantity_cmp(&r, &l) != 0)
		path_invalid(requests, e, request, "must be equal to %s limit of %s", name, text);
	else if (quantity_cmp(&r, &l) > 0)
		path_invalid(requests, e, request, "must be less than or equal to %s limit of %s", name, text);
}

static void resources_validate(const json_t *obj, const struct path *at, struct err *e)
{
	json_t *limits = json_object_get(obj, "limits"), *requests = json_object_get(obj, "requests"), *amount;
	const char *name;

	resource_list_validate(limits, PATH_FIELD(at, "limits"), e);
	resource_list_validate(requests, PATH_FIELD(at, "requests"), e);
	json_object_foreach (requests, name, amount)
		request_validate(name, amount, json_object_get(limits, name), at, e);
}

static const struct field resource_claim_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the entry in the pod's resourceClaims."),
	F(2, "request", STRING, .doc = "The part of the claim; all of it if absent."),
};
static const struct message resource_claim = MESSAGE("io.k8s.api.core.v1.ResourceClaim", resource_claim_fields,
						     .doc = "A claim of the pod that a container uses.");

static const struct field resource_requirements_fields[] = {
	FM(1, "limits", QUANTITY, .doc = "The most it may use, by resource name."),
	FM(2, "requests", QUANTITY, .doc = "What it is promised; equal to the limit where only that is given."),
	FL(3, "claims", OBJECT, .msg = &resource_claim, .list_keys = "name",
	   .doc = "Entries of the pod's resourceClaims that it uses."),
};
const struct message core_resource_requirements =
	MESSAGE("io.k8s.api.core.v1.ResourceRequirements", resource_requirements_fields,
		.doc = "How much a container needs and may use.", .validate = resources_validate);

static const struct field volume_resource_requirements_fields[] = {
	FM(1, "limits", QUANTITY, .doc = "The most the volume may hold."),
	FM(2, "requests", QUANTITY, .doc = "The least the volume must hold."),
};
const struct message core_volume_resource_requirements =
	MESSAGE("io.k8s.api.core.v1.VolumeResourceRequirements", volume_resource_requirements_fields,
		.doc = "How much space a claim needs.");
