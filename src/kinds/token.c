// SPDX-License-Identifier: Apache-2.0
/* token.c - stoker.dev/v1 Token: who a bearer token stands for
 *
 * The token itself is never stored, only its SHA-256, so whoever reads the store cannot use it.  Admins alone may see
 * these objects.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

enum { HASH_LEN = 64 };

static const struct field spec_fields[] = {
	F(0, "user", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the user it stands for."),
	FL(0, "groups", STRING, .flags = FIELD_SET, .doc = "Groups of the user; system:masters is an admin."),
	F(0, "expires", TIME, .doc = "Until when it is good; for ever without."),
	F(0, "hash", STRING, .flags = FIELD_REQUIRED, .doc = "SHA-256 of the token, in lower-case hexadecimal."),
	F(0, "description", STRING, .doc = "What it is for."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *hash = json_object_get(obj, "hash");
	const char *s = json_is_string(hash) ? json_string_value(hash) : "";

	if (s[0] && (strlen(s) != HASH_LEN || strspn(s, "0123456789abcdef") != HASH_LEN))
		path_invalid(PATH_FIELD(at, "hash"), e, json_null(), "must be %d lower-case hexadecimal digits",
			     HASH_LEN);
}

static const struct message spec =
	MESSAGE("dev.stoker.v1.TokenSpec", spec_fields, .doc = "Who it stands for.", .validate = spec_validate);

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "Who it stands for."),
};

static const struct message token = MESSAGE("dev.stoker.v1.Token", fields, .doc = "Who a bearer token stands for.");

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec.user", e);
	rule_fixed(obj, old, "spec.hash", e);
}

CELL_STR(cell_user, "spec.user", "")

static json_t *cell_groups(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_join(jsonx_at(obj, "spec.groups"), ",", "<none>");
}

CELL_STR(cell_expires, "spec.expires", "<never>")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("User", "Name of the user it stands for.", cell_user),
	COLUMN("Groups", "Groups of the user.", cell_groups),
	COLUMN("Expires", "Until when it is good.", cell_expires),
	COLUMN_AGE,
};

const struct kind kind_token = {
	.group = "stoker.dev",
	.version = "v1",
	.kind = "Token",
	.plural = "tokens",
	.singular = "token",
	.verbs = VERBS_ALL,
	.message = &token,
	KIND_COLUMNS(columns),
	.validate_update = validate_update,
};
