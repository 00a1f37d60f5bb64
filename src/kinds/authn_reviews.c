// SPDX-License-Identifier: Apache-2.0
/* authn_reviews.c - authentication.k8s.io/v1: who a token stands for, who I am, and requests for tokens
 *
 * Nothing here is stored; the server answers in the status of what it was sent.
 */
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field user_fields[] = {
	F(1, "username", STRING, .doc = "Name of the user."),
	F(2, "uid", STRING, .doc = "A value that tells users of the same name apart over time."),
	FL(3, "groups", STRING, .doc = "Groups the user is in."),
	/* A map of lists, which no row can say; api/proto_types.c knows its form in protobuf. */
	FM(0, "extra", ANY, .doc = "Whatever else the authenticator knows, lists of text by name."),
};

static const struct message user_info =
	MESSAGE("io.k8s.api.authentication.v1.UserInfo", user_fields, .doc = "Who someone is.");

static const struct field review_spec_fields[] = {
	F(1, "token", STRING, .doc = "The token in question."),
	FL(2, "audiences", STRING, .doc = "For whom it should be meant; the server itself by default."),
};

static const struct message review_spec =
	MESSAGE("io.k8s.api.authentication.v1.TokenReviewSpec", review_spec_fields, .doc = "The question.");

static const struct field review_status_fields[] = {
	F(1, "authenticated", BOOL, .doc = "Whether the token is good."),
	F(2, "user", OBJECT, .msg = &user_info, .doc = "Whom it stands for."),
	F(3, "error", STRING, .doc = "Why it could not be checked."),
	FL(4, "audiences", STRING, .doc = "The audiences asked for that it is good for."),
};

static const struct message review_status =
	MESSAGE("io.k8s.api.authentication.v1.TokenReviewStatus", review_status_fields, .doc = "The answer.");

static const struct field review_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &review_spec, .flags = FIELD_REQUIRED, .doc = "The question."),
	F(3, "status", OBJECT, .msg = &review_status, .doc = "The answer."),
};

static const struct message token_review =
	MESSAGE("io.k8s.api.authentication.v1.TokenReview", review_fields, .doc = "Asks whom a token stands for.");

static const struct field self_status_fields[] = {
	F(1, "userInfo", OBJECT, .msg = &user_info, .doc = "Who the caller is."),
};

static const struct message self_status =
	MESSAGE("io.k8s.api.authentication.v1.SelfSubjectReviewStatus", self_status_fields, .doc = "The answer.");

static const struct field self_fields[] = {
	FIELDS_OBJECT,
	F(2, "status", OBJECT, .msg = &self_status, .doc = "The answer."),
};

static const struct message self_review = MESSAGE("io.k8s.api.authentication.v1.SelfSubjectReview", self_fields,
						  .doc = "Asks who the caller is; kubectl auth whoami.");

static const struct field bound_fields[] = {
	F(1, "kind", STRING, .values = "Pod|Secret|Node", .doc = "Kind of the object."),
	F(2, "apiVersion", STRING, .doc = "Its group and version."),
	F(3, "name", STRING, .doc = "Its name."),
	F(4, "uid", STRING, .doc = "Its UID."),
};

static const struct message bound_object = MESSAGE("io.k8s.api.authentication.v1.BoundObjectReference", bound_fields,
						   .doc = "An object without which a token is no longer good.");

static const struct field request_spec_fields[] = {
	FL(1, "audiences", STRING, .doc = "For whom the token is meant; the server itself by default."),
	F(3, "boundObjectRef", OBJECT, .msg = &bound_object, .doc = "The token dies with this object."),
	FP(4, "expirationSeconds", INT64, .dflt = "3600", .doc = "How long the token is good; at least 10 minutes."),
};

static void request_spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *seconds = json_object_get(obj, "expirationSeconds");

	if (json_is_integer(seconds) && json_integer_value(seconds) < 600)
		path_invalid(PATH_FIELD(at, "expirationSeconds"), e, seconds,
			     "may not specify a duration less than 10 minutes");
	if (json_is_integer(seconds) && json_integer_value(seconds) > 1ll << 32)
		path_invalid(PATH_FIELD(at, "expirationSeconds"), e, seconds,
			     "may not specify a duration larger than 2^32 seconds");
}

static const struct message request_spec = MESSAGE("io.k8s.api.authentication.v1.TokenRequestSpec", request_spec_fields,
						   .doc = "What is asked for.", .validate = request_spec_validate);

static const struct field request_status_fields[] = {
	F(1, "token", STRING, .doc = "The token."),
	F(2, "expirationTimestamp", TIME, .doc = "Until when it is good."),
};

static const struct message request_status =
	MESSAGE("io.k8s.api.authentication.v1.TokenRequestStatus", request_status_fields, .doc = "What was given.");

static const struct field request_fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &request_spec, .dflt = "{}", .doc = "What is asked for."),
	F(3, "status", OBJECT, .msg = &request_status, .doc = "What was given."),
};

const struct message token_request_message = MESSAGE("io.k8s.api.authentication.v1.TokenRequest", request_fields,
						     .doc = "Asks for a token of a ServiceAccount.");

const struct kind kind_token_review = {
	.group = "authentication.k8s.io",
	.version = "v1",
	.kind = "TokenReview",
	.plural = "tokenreviews",
	.singular = "tokenreview",
	.flags = KIND_VIRTUAL,
	.verbs = V(CREATE),
	.message = &token_review,
};

const struct kind kind_self_subject_review = {
	.group = "authentication.k8s.io",
	.version = "v1",
	.kind = "SelfSubjectReview",
	.plural = "selfsubjectreviews",
	.singular = "selfsubjectreview",
	.flags = KIND_VIRTUAL,
	.verbs = V(CREATE),
	.message = &self_review,
};
