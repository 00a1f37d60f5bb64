// SPDX-License-Identifier: Apache-2.0
#include "api/negotiate.h"

#include "base/mem.h"
#include "test.h"

TEST("the first clause of an Accept header that can be served wins")
{
	static const struct {
		const char *header;
		unsigned forms;
		enum reply_form form;
		const char *version;
	} rows[] = {
		{ NULL, FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "  ", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "application/json", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "Application/JSON", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "*/*", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "application/*;q=0.1", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "application/yaml", FORMS_OBJECT, REPLY_YAML, "v1" },
		{ "application/yaml, application/json", FORMS_OBJECT, REPLY_YAML, "v1" },
		{ "application/json;q=0.1,application/yaml;q=1", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "application/vnd.kubernetes.protobuf,application/json", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "text/html, */*", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", FORMS_OBJECT, REPLY_TABLE, "v1" },
		{ " application/json ; v=v1beta1 ; g=meta.k8s.io ; as=Table ", FORMS_OBJECT, REPLY_TABLE, "v1beta1" },
		{ "application/json;as=Table;v=v1;g=meta.k8s.io,application/json", FORMS_DOCUMENT, REPLY_JSON, "v1" },
		{ "application/json;as=Table;v=v9;g=meta.k8s.io,application/json", FORMS_OBJECT, REPLY_JSON, "v1" },
		{ "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io", FORMS_OBJECT, REPLY_PARTIAL, "v1" },
		{ "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io", FORMS_OBJECT, REPLY_PARTIAL_LIST,
		  "v1" },
		{ "application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json", FORMS_OBJECT,
		  REPLY_JSON, "v1" },
		{ "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json",
		  FORMS_DOCUMENT | FORM(DISCOVERY), REPLY_DISCOVERY, "v2" },
		{ "application/json;g=apidiscovery.k8s.io;v=v2beta1;as=APIGroupDiscoveryList", FORM(DISCOVERY),
		  REPLY_DISCOVERY, "v2beta1" },
		{ ",,;;,application/json", FORMS_OBJECT, REPLY_JSON, "v1" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct accept a = { 0 };
		struct err e = ERR_INIT;

		if (negotiate_accept(rows[i].header, rows[i].forms, &a, &e) < 0 || a.form != rows[i].form ||
		    strcmp(a.meta_version, rows[i].version) != 0)
			test_fail(__FILE__, __LINE__, "%s gives form %d %s", rows[i].header ? rows[i].header : "NULL",
				  (int)a.form, a.meta_version);
	}
}

TEST("a client that insists on what we do not have is told what there is")
{
	static const char *const rows[] = {
		"text/html",
		"application/vnd.kubernetes.protobuf",
		"application/json;as=Table;v=v1;g=example.org",
		"application/json;as=Table",
		"application/yaml;as=Table;v=v1;g=meta.k8s.io",
		"applicationjson",
		",",
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct accept a;
		struct err e = ERR_INIT;

		if (negotiate_accept(rows[i], FORMS_OBJECT, &a, &e) == 0)
			test_fail(__FILE__, __LINE__, "%s is accepted", rows[i]);
		CHECK_INT(e.kind, ERR_NOT_ACCEPTABLE);
		CHECK_STR(e.text, "only the following media types are accepted: application/json, application/yaml");
	}
}

TEST("a body without a type is JSON, and parameters of a type do not matter")
{
	static const struct {
		const char *header;
		enum body_type type;
	} rows[] = {
		{ NULL, BODY_JSON },
		{ "", BODY_JSON },
		{ "application/json", BODY_JSON },
		{ "application/json; charset=utf-8", BODY_JSON },
		{ " APPLICATION/JSON ", BODY_JSON },
		{ "application/yaml", BODY_YAML },
		{ "application/vnd.kubernetes.protobuf", BODY_PROTOBUF },
		{ "application/jsonx", BODY_UNKNOWN },
		{ "text/plain", BODY_UNKNOWN },
		{ "application/merge-patch+json", BODY_UNKNOWN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(negotiate_body(rows[i].header), rows[i].type);
}

TEST("a patch says which of the four it is")
{
	static const struct {
		const char *header;
		enum patch_type type;
	} rows[] = {
		{ "application/json-patch+json", PATCH_JSON },
		{ "application/merge-patch+json; charset=utf-8", PATCH_MERGE },
		{ "application/strategic-merge-patch+json", PATCH_STRATEGIC },
		{ "application/apply-patch+yaml", PATCH_APPLY },
		{ "application/json", PATCH_NONE },
		{ "", PATCH_NONE },
		{ NULL, PATCH_NONE },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_INT(negotiate_patch(rows[i].header), rows[i].type);
}

TEST("a table's rows carry what includeObject asks for, else metadata")
{
	CHECK_INT(negotiate_include(NULL), INCLUDE_METADATA);
	CHECK_INT(negotiate_include("Object"), INCLUDE_OBJECT);
	CHECK_INT(negotiate_include("None"), INCLUDE_NONE);
	CHECK_INT(negotiate_include("Metadata"), INCLUDE_METADATA);
	CHECK_INT(negotiate_include("object"), INCLUDE_METADATA);
}
