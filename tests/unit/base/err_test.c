// SPDX-License-Identifier: Apache-2.0
#include "base/err.h"

#include "base/str.h"
#include "test.h"

TEST("an error carries its kind and gains context on the way up")
{
	struct err e = ERR_INIT;

	CHECK_INT(err_set(&e, ERR_NOT_FOUND, "pods \"%s\" not found", "x"), -1);
	CHECK_INT(err_prefix(&e, "manifest %d", 2), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK_STR(e.text, "manifest 2: pods \"x\" not found");
	CHECK_INT(err_http_code(e.kind), 404);
	CHECK_STR(err_reason(e.kind), "NotFound");
	err_clear(&e);
	CHECK_INT(e.kind, ERR_NONE);
	CHECK_STR(e.text, "");
}

TEST("causes make an error invalid and keep field and text")
{
	struct err e = ERR_INIT;

	err_cause(&e, CAUSE_REQUIRED, "spec.a", "Required value");
	err_cause(&e, CAUSE_INVALID, "spec.b", "Invalid value: %d: too small", 1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK_INT(e.ncauses, 2);
	CHECK_STR(err_cause_field(&e, 0), "spec.a");
	CHECK_STR(err_cause_text(&e, 0), "Required value");
	CHECK_STR(err_cause_field(&e, 1), "spec.b");
	CHECK_STR(err_cause_text(&e, 1), "Invalid value: 1: too small");
	CHECK_STR(e.text, "spec.a: Required value");
	CHECK_STR(cause_reason(CAUSE_INVALID), "FieldValueInvalid");
}

TEST("more causes than fit are harmless")
{
	struct err e = ERR_INIT;
	char big[600];

	memset(big, 'x', sizeof(big) - 1);
	big[sizeof(big) - 1] = '\0';
	for (int i = 0; i < 100; i++)
		err_cause(&e, CAUSE_INVALID, big, "%s", big);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK(e.ncauses > 0);
	for (unsigned i = 0; i < e.ncauses && i < ERR_MAX_CAUSES; i++)
		CHECK(strlen(err_cause_text(&e, i)) < 600);
}

TEST("a text cut in the middle of a character stays UTF-8")
{
	struct err e = ERR_INIT;
	char big[2000];

	for (size_t i = 0; i + 3 < sizeof(big); i += 3)
		memcpy(big + i, "\xe2\x82\xac", 4);
	err_set(&e, ERR_INTERNAL, "a%s", big);
	CHECK(str_is_utf8(e.text, strlen(e.text)));
	err_set(&e, ERR_INTERNAL, "ab%s", big);
	CHECK(str_is_utf8(e.text, strlen(e.text)));
}

TEST("clients find the kind again by reason, else by code")
{
	CHECK_INT(err_kind_of("AlreadyExists", 409), ERR_EXISTS);
	CHECK_INT(err_kind_of("Conflict", 409), ERR_CONFLICT);
	CHECK_INT(err_kind_of(NULL, 404), ERR_NOT_FOUND);
	CHECK_INT(err_kind_of("Whatever", 418), ERR_BAD_REQUEST);
	CHECK_INT(err_kind_of(NULL, 599), ERR_INTERNAL);
	CHECK_INT(err_kind_of(NULL, 201), ERR_NONE);
}

TEST("an error may be told in other words and keep its causes")
{
	struct err e = ERR_INIT;

	err_cause(&e, CAUSE_BUDGET, "", "needs 2 and has 1");
	CHECK_INT(err_reword(&e, ERR_TOO_MANY, "not %s", "now"), -1);
	CHECK_INT(e.kind, ERR_TOO_MANY);
	CHECK_STR(e.text, "not now");
	CHECK_INT(e.ncauses, 1);
	CHECK_STR(err_cause_text(&e, 0), "needs 2 and has 1");
	CHECK_STR(cause_reason(e.causes[0].kind), "DisruptionBudget");
}
