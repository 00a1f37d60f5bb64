// SPDX-License-Identifier: Apache-2.0
#include "api/status.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "sample_json.h"
#include "test.h"

static const struct kind pods = { .group = "", .version = "v1", .kind = "Pod", .plural = "pods" };
static const struct kind jobs = { .group = "batch", .version = "v1", .kind = "Job", .plural = "jobs" };

TEST("an error without text gets the usual sentence of its kind")
{
	static const struct {
		enum err_kind kind;
		const struct kind *about;
		const char *name;
		int code;
		const char *reason, *message;
	} rows[] = {
		{ ERR_NOT_FOUND, &pods, "a", 404, "NotFound", "pods \"a\" not found" },
		{ ERR_NOT_FOUND, &jobs, "a", 404, "NotFound", "jobs.batch \"a\" not found" },
		{ ERR_NOT_FOUND, NULL, NULL, 404, "NotFound", "the server could not find the requested resource" },
		{ ERR_EXISTS, &jobs, "a", 409, "AlreadyExists", "jobs.batch \"a\" already exists" },
		{ ERR_CONFLICT, &pods, "a", 409, "Conflict",
		  "Operation cannot be fulfilled on pods \"a\": the object has been modified; please apply your "
		  "changes to the latest version and try again" },
		{ ERR_NO_METHOD, &pods, NULL, 405, "MethodNotAllowed",
		  "the server does not allow this method on the requested resource" },
		{ ERR_EXPIRED, NULL, NULL, 410, "Expired", "Expired" },
		{ ERR_STORAGE_FULL, NULL, NULL, 507, "StorageFull", "StorageFull" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = { .kind = rows[i].kind };
		json_auto_t *s = status_from_err(&e, &(struct status_subject){ rows[i].about, rows[i].name });

		CHECK_STR(jsonx_str(s, "kind"), "Status");
		CHECK_STR(jsonx_str(s, "apiVersion"), "v1");
		CHECK_STR(jsonx_str(s, "status"), "Failure");
		CHECK_STR(jsonx_str(s, "message"), rows[i].message);
		CHECK_STR(jsonx_str(s, "reason"), rows[i].reason);
		CHECK_INT(jsonx_int_or(s, "code", 0), rows[i].code);
	}
}

TEST("an error's own text is left as it is")
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_NOT_FOUND, "namespaces \"x\" not found");
	e.retry_after = 7;
	json_auto_t *s = status_from_err(&e, &(struct status_subject){ &pods, "a" });

	CHECK_STR(jsonx_str(s, "message"), "namespaces \"x\" not found");
	CHECK_INT(jsonx_int_or(s, "details.retryAfterSeconds", 0), 7);
	CHECK_STR(jsonx_str(s, "details.name"), "a");
	CHECK_STR(jsonx_str(s, "details.kind"), "pods");
	CHECK(!jsonx_at(s, "details.group"));
}

TEST("one wrong field is named, several are put in brackets")
{
	struct err e = ERR_INIT;

	err_cause(&e, CAUSE_REQUIRED, "spec.containers", "Required value");
	json_auto_t *one = status_from_err(&e, &(struct status_subject){ &pods, "a" });

	err_cause(&e, CAUSE_INVALID, "", "Invalid value: 3");
	json_auto_t *two = status_from_err(&e, &(struct status_subject){ &jobs, NULL });

	CHECK_STR(jsonx_str(one, "message"), "Pod \"a\" is invalid: spec.containers: Required value");
	CHECK_STR(jsonx_str(one, "reason"), "Invalid");
	CHECK_INT(jsonx_int_or(one, "code", 0), 422);
	CHECK_STR(jsonx_str(one, "details.kind"), "Pod");
	CHECK_JSON(jsonx_at(one, "details.causes"),
		   "[{'reason':'FieldValueRequired','message':'Required value','field':'spec.containers'}]");
	CHECK_STR(jsonx_str(two, "message"),
		  "Job.batch \"\" is invalid: [spec.containers: Required value, Invalid value: 3]");
	CHECK_INT(json_array_size(jsonx_at(two, "details.causes")), 2);
	CHECK(!json_object_get(json_array_get(jsonx_at(two, "details.causes"), 1), "field"));
}

TEST("more causes than are kept are counted")
{
	struct err e = ERR_INIT;

	for (int i = 0; i < ERR_MAX_CAUSES + 4; i++)
		err_cause(&e, CAUSE_REQUIRED, "f", "Required value");
	json_auto_t *s = status_from_err(&e, &(struct status_subject){ &pods, "a" });

	CHECK_INT(json_array_size(jsonx_at(s, "details.causes")), ERR_MAX_CAUSES);
	CHECK(strstr(jsonx_str_or(s, "message", ""), ", and 4 more]") != NULL);
}

TEST("text that is not UTF-8 still makes a document")
{
	struct err e = ERR_INIT;

	err_set(&e, ERR_BAD_REQUEST, "bad \xff byte");
	json_auto_t *s = status_from_err(&e, &(struct status_subject){ &pods, "\xfe" });

	CHECK(s != NULL);
	CHECK_STR(jsonx_str(s, "message"), "bad \xef\xbf\xbd byte");
	CHECK_STR(jsonx_str(s, "details.name"), "\xef\xbf\xbd");
}

TEST("success says what it was about")
{
	json_auto_t *s = status_success(&(struct status_subject){ &jobs, "a" }, "u-1");
	json_auto_t *bare = status_success(&(struct status_subject){ 0 }, NULL);

	CHECK_JSON(s, "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success','details':{'name':'a',"
		      "'group':'batch','kind':'jobs','uid':'u-1'}}");
	CHECK_JSON(bare, "{'kind':'Status','apiVersion':'v1','metadata':{},'status':'Success'}");
}
