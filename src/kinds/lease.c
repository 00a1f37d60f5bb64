// SPDX-License-Identifier: Apache-2.0
/* lease.c - coordination.k8s.io/v1 Lease: who leads, and since when nobody heard of them */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field spec_fields[] = {
	FP(1, "holderIdentity", STRING, .doc = "Who holds the lease."),
	FP(2, "leaseDurationSeconds", INT32, .doc = "Seconds after renewTime at which others may take it."),
	F(3, "acquireTime", MICROTIME, .doc = "When the holder took it."),
	F(4, "renewTime", MICROTIME, .doc = "When the holder last renewed it."),
	FP(5, "leaseTransitions", INT32, .has_min = true, .doc = "How often it has changed hands."),
	FP(6, "strategy", STRING, .doc = "How a holder is chosen where several coordinate."),
	FP(7, "preferredHolder", STRING, .doc = "Who should have it next; with strategy."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *seconds = json_object_get(obj, "leaseDurationSeconds");

	if (json_is_integer(seconds) && json_integer_value(seconds) <= 0)
		path_invalid(PATH_FIELD(at, "leaseDurationSeconds"), e, seconds, "must be greater than 0");
	if (json_object_get(obj, "preferredHolder") && !json_object_get(obj, "strategy"))
		path_forbidden(PATH_FIELD(at, "preferredHolder"), e,
			       "may only be specified when `strategy` is defined");
}

static const struct message spec = MESSAGE("io.k8s.api.coordination.v1.LeaseSpec", spec_fields,
					   .doc = "Who holds a lease.", .validate = spec_validate);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .doc = "Who holds it."),
};

static const struct message lease = MESSAGE("io.k8s.api.coordination.v1.Lease", fields,
					    .doc = "Something that one holder has at a time, such as leadership.");

CELL_STR(cell_holder, "spec.holderIdentity", "")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Holder", "Who holds it.", cell_holder),
	COLUMN_AGE,
};

const struct kind kind_lease = {
	.group = "coordination.k8s.io",
	.version = "v1",
	.kind = "Lease",
	.plural = "leases",
	.singular = "lease",
	.namespaced = true,
	.flags = KIND_NEEDS_RV | KIND_CREATE_ON_UPDATE,
	.verbs = VERBS_ALL,
	.message = &lease,
	KIND_COLUMNS(columns),
};
