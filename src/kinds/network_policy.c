// SPDX-License-Identifier: Apache-2.0
/* network_policy.c - networking.k8s.io/v1 NetworkPolicy, kept as data */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field block_fields[] = {
	F(1, "cidr", STRING, .flags = FIELD_REQUIRED, .doc = "Addresses, such as 10.0.0.0/8."),
	FL(2, "except", STRING, .flags = FIELD_ATOMIC, .doc = "Addresses among them that are not meant."),
};

static const struct message block = MESSAGE("io.k8s.api.networking.v1.IPBlock", block_fields, .doc = "Addresses.");

static const struct field peer_fields[] = {
	F(1, "podSelector", OBJECT, .msg = &meta_label_selector, .doc = "Pods with these labels."),
	F(2, "namespaceSelector", OBJECT, .msg = &meta_label_selector, .doc = "Pods of namespaces with these labels."),
	F(3, "ipBlock", OBJECT, .msg = &block, .doc = "Addresses; not together with the selectors."),
};

static void peer_validate(const json_t *obj, const struct path *at, struct err *e)
{
	bool selected = json_object_get(obj, "podSelector") || json_object_get(obj, "namespaceSelector");
	const json_t *addresses = json_object_get(obj, "ipBlock");

	if (!selected && !addresses)
		path_required(at, e, "must specify a peer");
	if (selected && addresses)
		path_forbidden(at, e, "may not specify both ipBlock and another peer");
}

static const struct message peer = MESSAGE("io.k8s.api.networking.v1.NetworkPolicyPeer", peer_fields,
					   .doc = "Someone at the other end.", .validate = peer_validate);

static const struct field port_fields[] = {
	FP(1, "protocol", STRING, .dflt = "\"TCP\"", .values = "TCP|UDP|SCTP", .doc = "Protocol."),
	FP(2, "port", INTSTR, .doc = "Number or name of the port; all without."),
	FP(3, "endPort", INT32, .doc = "Last port of a range that begins with port."),
};

static const struct message port =
	MESSAGE("io.k8s.api.networking.v1.NetworkPolicyPort", port_fields, .doc = "A port or a range of them.");

static const struct field ingress_fields[] = {
	FL(1, "ports", OBJECT, .msg = &port, .flags = FIELD_ATOMIC, .doc = "To these ports; to all without."),
	FL(2, "from", OBJECT, .msg = &peer, .flags = FIELD_ATOMIC, .doc = "From these; from all without."),
};

static const struct message ingress_rule = MESSAGE("io.k8s.api.networking.v1.NetworkPolicyIngressRule", ingress_fields,
						   .doc = "Traffic that may come in.");

static const struct field egress_fields[] = {
	FL(1, "ports", OBJECT, .msg = &port, .flags = FIELD_ATOMIC, .doc = "To these ports; to all without."),
	FL(2, "to", OBJECT, .msg = &peer, .flags = FIELD_ATOMIC, .doc = "To these; to all without."),
};

static const struct message egress_rule =
	MESSAGE("io.k8s.api.networking.v1.NetworkPolicyEgressRule", egress_fields, .doc = "Traffic that may go out.");

static const struct field spec_fields[] = {
	F(1, "podSelector", OBJECT, .msg = &meta_label_selector, .dflt = "{}",
	  .doc = "The pods it is about; {} for all of the namespace."),
	FL(2, "ingress", OBJECT, .msg = &ingress_rule, .flags = FIELD_ATOMIC, .doc = "Traffic that may come in."),
	FL(3, "egress", OBJECT, .msg = &egress_rule, .flags = FIELD_ATOMIC, .doc = "Traffic that may go out."),
	FL(4, "policyTypes", STRING, .flags = FIELD_ATOMIC, .values = "Ingress|Egress",
	   .doc = "Whether it limits what comes in, what goes out, or both."),
};

static void spec_defaults(json_t *obj)
{
	json_t *types;

	if (!value_is_empty(json_object_get(obj, "policyTypes")))
		return;
	types = json_pack("[s]", "Ingress");
	if (!value_is_empty(json_object_get(obj, "egress")))
		json_array_append_new(types, json_string("Egress"));
	json_object_set_new(obj, "policyTypes", types);
}

static const struct message spec = MESSAGE("io.k8s.api.networking.v1.NetworkPolicySpec", spec_fields,
					   .doc = "Which traffic of which pods.", .defaults = spec_defaults);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .doc = "Which traffic of which pods."),
};

static const struct message network_policy =
	MESSAGE("io.k8s.api.networking.v1.NetworkPolicy", fields, .doc = "Limits the traffic of pods.");

static json_t *cell_pods(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_label_selector(jsonx_at(obj, "spec.podSelector"));
}

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Pod-Selector", "The pods it is about.", cell_pods),
	COLUMN_AGE,
};

static const char *const short_names[] = { "netpol", NULL };

const struct kind kind_network_policy = {
	.group = "networking.k8s.io",
	.version = "v1",
	.kind = "NetworkPolicy",
	.plural = "networkpolicies",
	.singular = "networkpolicy",
	.short_names = short_names,
	.namespaced = true,
	.flags = KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &network_policy,
	KIND_COLUMNS(columns),
};
