// SPDX-License-Identifier: Apache-2.0
/* certificate.c - certificates.k8s.io/v1 CertificateSigningRequest, kept as data for an admin to approve */
#include "base/clock.h"
#include "kinds/cells.h"
#include "kinds/condition.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field spec_fields[] = {
	F(1, "request", BYTES, .flags = FIELD_REQUIRED, .doc = "The request itself: PEM, in base64."),
	F(2, "username", STRING, .doc = "Who asks; set by the server."),
	F(3, "uid", STRING, .doc = "UID of who asks; set by the server."),
	FL(4, "groups", STRING, .doc = "Groups of who asks; set by the server."),
	FL(5, "usages", STRING, .doc = "What the certificate's key is for, such as client auth."),
	/* A map of lists, which no row can say; api/proto_types.c knows its form in protobuf. */
	FM(0, "extra", ANY, .doc = "What else is known of who asks; set by the server."),
	F(7, "signerName", STRING, .flags = FIELD_REQUIRED, .doc = "Who should sign, such as example.com/signer."),
	FP(8, "expirationSeconds", INT32, .doc = "For how long; at least 600."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *seconds = json_object_get(obj, "expirationSeconds");

	rule_some(json_object_get(obj, "usages"), PATH_FIELD(at, "usages"), e, NULL);
	if (json_is_integer(seconds) && json_integer_value(seconds) < 600)
		path_invalid(PATH_FIELD(at, "expirationSeconds"), e, seconds,
			     "may not specify a duration less than 600 seconds (10 minutes)");
}

static const struct message spec = MESSAGE("io.k8s.api.certificates.v1.CertificateSigningRequestSpec", spec_fields,
					   .doc = "What is asked for.", .validate = spec_validate);

static const struct field condition_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .doc = "Approved, Denied or Failed."),
	F(2, "reason", STRING, .doc = "One word for programs."),
	F(3, "message", STRING, .doc = "The same for people."),
	F(4, "lastUpdateTime", TIME, .doc = "When this condition was last written."),
	F(5, "lastTransitionTime", TIME, .doc = "When status last changed."),
	F(6, "status", STRING, .flags = FIELD_REQUIRED, .doc = "True, False or Unknown."),
};

static const struct message condition = MESSAGE("io.k8s.api.certificates.v1.CertificateSigningRequestCondition",
						condition_fields, .doc = "What was decided.");

static const struct field status_fields[] = {
	FL(1, "conditions", OBJECT, .msg = &condition, .list_keys = "type", .doc = "What was decided."),
	F(2, "certificate", BYTES, .doc = "The certificate: PEM, in base64."),
};

static const struct message status = MESSAGE("io.k8s.api.certificates.v1.CertificateSigningRequestStatus",
					     status_fields, .doc = "What was decided and issued.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .flags = FIELD_REQUIRED, .doc = "What is asked for."),
	F(3, "status", OBJECT, .msg = &status, .doc = "What was decided and issued."),
};

static const struct message certificate =
	MESSAGE("io.k8s.api.certificates.v1.CertificateSigningRequest", fields, .doc = "Asks for a certificate.");

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec", e);
}

static json_t *cell_duration(const json_t *obj, int64_t now)
{
	const json_t *seconds = jsonx_at(obj, "spec.expirationSeconds");
	char text[32];

	(void)now;
	if (!json_is_integer(seconds))
		return json_string("<none>");
	clock_age(json_integer_value(seconds), text, sizeof(text));
	return json_string(text);
}

static json_t *cell_condition(const json_t *obj, int64_t now)
{
	const char *word = condition_of(obj, "Denied")     ? "Denied"
			   : condition_of(obj, "Approved") ? "Approved"
							   : "Pending";

	(void)now;
	return jsonx_stringf("%s%s%s", word, condition_of(obj, "Failed") ? ",Failed" : "",
			     jsonx_at(obj, "status.certificate") ? ",Issued" : "");
}

CELL_STR(cell_signer, "spec.signerName", "<none>")
CELL_STR(cell_requestor, "spec.username", "")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN_AGE,
	COLUMN("SignerName", "Who should sign.", cell_signer),
	COLUMN("Requestor", "Who asks.", cell_requestor),
	COLUMN("RequestedDuration", "For how long.", cell_duration),
	COLUMN("Condition", "What was decided.", cell_condition),
};

static const struct subresource subresources[] = {
	{ "status", VERBS_STATUS },
	{ "approval", VERBS_STATUS },
};

static const char *const short_names[] = { "csr", NULL };

const struct kind kind_certificate = {
	.group = "certificates.k8s.io",
	.version = "v1",
	.kind = "CertificateSigningRequest",
	.plural = "certificatesigningrequests",
	.singular = "certificatesigningrequest",
	.short_names = short_names,
	.flags = KIND_STATUS,
	.verbs = VERBS_ALL,
	.message = &certificate,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(subresources),
	.prepare_create = status_begin,
	.validate_update = validate_update,
};
