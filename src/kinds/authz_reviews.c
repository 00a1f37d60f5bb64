// SPDX-License-Identifier: Apache-2.0
/* authz_reviews.c - authorization.k8s.io/v1: may someone do something; never stored */
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field requirement_fields[] = {
	F(1, "key", STRING, .doc = "The label or field."),
	F(2, "operator", STRING, .values = "In|NotIn|Exists|DoesNotExist", .doc = "How it is compared."),
	FL(3, "values", STRING, .doc = "With what."),
};

static const struct message requirement = MESSAGE("io.k8s.apimachinery.pkg.apis.meta.v1.FieldSelectorRequirement",
						  requirement_fields, .doc = "One term of a selector.");

static const struct field selector_fields[] = {
	F(1, "rawSelector", STRING, .doc = "The selector as text."),
	FL(2, "requirements", OBJECT, .msg = &requirement, .doc = "The selector as terms."),
};

static const struct message field_selector = MESSAGE("io.k8s.api.authorization.v1.FieldSelectorAttributes",
						     selector_fields, .doc = "A selector that limits a list.");
static const struct message label_selector = MESSAGE("io.k8s.api.authorization.v1.LabelSelectorAttributes",
						     selector_fields, .doc = "A selector that limits a list.");

static const struct field resource_fields[] = {
	F(1, "namespace", STRING, .doc = "Namespace; none for cluster scope or for all of them."),
	F(2, "verb", STRING, .doc = "get, list, watch, create, update, patch, delete ... or *."),
	F(3, "group", STRING, .doc = "API group, or *."),
	F(4, "version", STRING, .doc = "API version, or *."),
	F(5, "resource", STRING, .doc = "Resource in its plural, or *."),
	F(6, "subresource", STRING, .doc = "Subresource."),
	F(7, "name", STRING, .doc = "Name of one object; all of them without."),
	F(8, "fieldSelector", OBJECT, .msg = &field_selector, .doc = "Limits the question to these fields."),
	F(9, "labelSelector", OBJECT, .msg = &label_selector, .doc = "Limits the question to these labels."),
};

static const struct message resource_attributes =
	MESSAGE("io.k8s.api.authorization.v1.ResourceAttributes", resource_fields, .doc = "Something done to objects.");

static const struct field path_fields[] = {
	F(1, "path", STRING, .doc = "Path of the request."),
	F(2, "verb", STRING, .doc = "HTTP method in lower case."),
};

static const struct message path_attributes = MESSAGE("io.k8s.api.authorization.v1.NonResourceAttributes", path_fields,
						      .doc = "A request for a path that is no object.");

#define ATTRIBUTE_ROWS                                                                                                 \
	F(1, "resourceAttributes", OBJECT, .msg = &resource_attributes, .doc = "Something done to objects."),          \
		F(2, "nonResourceAttributes", OBJECT, .msg = &path_attributes,                                         \
		  .doc = "A request for a path that is no object.")

static void attributes_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *resource = json_object_get(obj, "resourceAttributes");
	const json_t *path = json_object_get(obj, "nonResourceAttributes");

	if (resource && path)
		path_invalid(PATH_FIELD(at, "nonResourceAttributes"), e, path,
			     "cannot be specified in combination with resourceAttributes");
	if (!resource && !path)
		path_invalid(PATH_FIELD(at, "resourceAttributes"), e, json_null(),
			     "exactly one of nonResourceAttributes or resourceAttributes must be specified");
}

static void subject_validate(const json_t *obj, const struct path *at, struct err *e)
{
	attributes_validate(obj, at, e);
	if (value_is_empty(json_object_get(obj, "user")) && value_is_empty(json_object_get(obj, "groups")))
		path_invalid(PATH_FIELD(at, "user"), e, json_null(), "at least one of user or group must be specified");
}

static const struct field self_spec_fields[] = { ATTRIBUTE_ROWS };

static const struct message self_spec =
	MESSAGE("io.k8s.api.authorization.v1.SelfSubjectAccessReviewSpec", self_spec_fields, .doc = "The question.",
		.validate = attributes_validate);

static const struct field subject_spec_fields[] = {
	ATTRIBUTE_ROWS,
	F(3, "user", STRING, .doc = "Who is meant."),
	FL(4, "groups", STRING, .doc = "Groups of that user."),
	/* A map of lists, which no row can say; api/proto_types.c knows its form in protobuf. */
	FM(0, "extra", ANY, .doc = "What else the authenticator knows."),
	F(6, "uid", STRING, .doc = "UID of that user."),
};

static const struct message subject_spec =
	MESSAGE("io.k8s.api.authorization.v1.SubjectAccessReviewSpec", subject_spec_fields, .doc = "The question.",
		.validate = subject_validate);

static const struct field status_fields[] = {
	F(1, "allowed", BOOL, .doc = "Whether it is allowed."),
	F(2, "reason", STRING, .doc = "Why."),
	F(3, "evaluationError", STRING, .doc = "What went wrong while deciding."),
	F(4, "denied", BOOL, .doc = "Whether it is expressly forbidden."),
};

static const struct message review_status =
	MESSAGE("io.k8s.api.authorization.v1.SubjectAccessReviewStatus", status_fields, .doc = "The answer.");

#define REVIEW_ROWS(spec_)                                                                                             \
	FIELDS_OBJECT, F(2, "spec", OBJECT, .msg = (spec_), .dflt = "{}", .doc = "The question."),                     \
		F(3, "status", OBJECT, .msg = &review_status, .doc = "The answer.")

static const struct field self_fields[] = { REVIEW_ROWS(&self_spec) };
static const struct field subject_fields[] = { REVIEW_ROWS(&subject_spec) };

static const struct message self_review = MESSAGE("io.k8s.api.authorization.v1.SelfSubjectAccessReview", self_fields,
						  .doc = "Asks whether the caller may do something.");
static const struct message subject_review = MESSAGE("io.k8s.api.authorization.v1.SubjectAccessReview", subject_fields,
						     .doc = "Asks whether someone may do something.");
static const struct message local_review =
	MESSAGE("io.k8s.api.authorization.v1.LocalSubjectAccessReview", subject_fields,
		.doc = "Asks whether someone may do something in one namespace.");

static const struct field rules_spec_fields[] = {
	F(1, "namespace", STRING, .doc = "The namespace in question."),
};

static const struct message rules_spec =
	MESSAGE("io.k8s.api.authorization.v1.SelfSubjectRulesReviewSpec", rules_spec_fields, .doc = "The question.");

static const struct field resource_rule_fields[] = {
	FL(1, "verbs", STRING, .doc = "What may be done."),
	FL(2, "apiGroups", STRING, .doc = "In which groups."),
	FL(3, "resources", STRING, .doc = "To which resources."),
	FL(4, "resourceNames", STRING, .doc = "To which objects; all without."),
};

static const struct message resource_rule = MESSAGE("io.k8s.api.authorization.v1.ResourceRule", resource_rule_fields,
						    .doc = "What may be done to which objects.");

static const struct field path_rule_fields[] = {
	FL(1, "verbs", STRING, .doc = "HTTP methods in lower case."),
	FL(2, "nonResourceURLs", STRING, .doc = "Paths; a * stands for the rest."),
};

static const struct message path_rule = MESSAGE("io.k8s.api.authorization.v1.NonResourceRule", path_rule_fields,
						.doc = "Which paths may be asked for.");

static const struct field rules_status_fields[] = {
	FL(1, "resourceRules", OBJECT, .msg = &resource_rule, .doc = "What may be done to objects."),
	FL(2, "nonResourceRules", OBJECT, .msg = &path_rule, .doc = "Which paths may be asked for."),
	F(3, "incomplete", BOOL, .doc = "Whether there may be more."),
	F(4, "evaluationError", STRING, .doc = "What went wrong while deciding."),
};

static const struct message rules_status =
	MESSAGE("io.k8s.api.authorization.v1.SubjectRulesReviewStatus", rules_status_fields, .doc = "The answer.");

static const struct field rules_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &rules_spec, .dflt = "{}", .doc = "The question."),
	F(3, "status", OBJECT, .msg = &rules_status, .doc = "The answer."),
};

static const struct message rules_review =
	MESSAGE("io.k8s.api.authorization.v1.SelfSubjectRulesReview", rules_fields,
		.doc = "Asks for everything the caller may do in a namespace; kubectl auth can-i --list.");

static void local_validate(const json_t *obj, struct err *e)
{
	const json_t *path = jsonx_at(obj, "spec.nonResourceAttributes");
	const json_t *ns = jsonx_at(obj, "spec.resourceAttributes.namespace");

	if (path)
		path_invalid(PATH_FIELD(NULL, "spec.nonResourceAttributes"), e, path,
			     "disallowed on this kind of request");
	else if (!str_same(json_string_value(ns), jsonx_str(obj, "metadata.namespace")))
		path_invalid(PATH_FIELD(NULL, "spec.resourceAttributes.namespace"), e, ns ? ns : json_null(),
			     "must match metadata.namespace");
}

#define REVIEW(kind_, lower_, message_)                                                                                \
	.group = "authorization.k8s.io", .version = "v1", .kind = kind_, .plural = lower_ "s", .singular = lower_,     \
	.flags = KIND_VIRTUAL, .verbs = V(CREATE), .message = message_

const struct kind kind_self_subject_access_review = {
	REVIEW("SelfSubjectAccessReview", "selfsubjectaccessreview", &self_review),
};
const struct kind kind_subject_access_review = {
	REVIEW("SubjectAccessReview", "subjectaccessreview", &subject_review),
};
const struct kind kind_local_subject_access_review = {
	REVIEW("LocalSubjectAccessReview", "localsubjectaccessreview", &local_review),
	.namespaced = true,
	.validate = local_validate,
};
const struct kind kind_self_subject_rules_review = {
	REVIEW("SelfSubjectRulesReview", "selfsubjectrulesreview", &rules_review),
};
