// SPDX-License-Identifier: Apache-2.0
/* negotiate.h - what a client accepts and what it sends: pure functions over header texts */
#ifndef STOKER_API_NEGOTIATE_H
#define STOKER_API_NEGOTIATE_H

#include "api/api.h"
#include "api/wire.h"

enum reply_form {
	REPLY_JSON,
	REPLY_YAML,
	REPLY_TABLE,        /* meta_version says v1 or v1beta1 */
	REPLY_PARTIAL,      /* PartialObjectMetadata */
	REPLY_PARTIAL_LIST, /* PartialObjectMetadataList */
	REPLY_DISCOVERY     /* APIGroupDiscoveryList; meta_version v2 or v2beta1 */
};

struct accept {
	enum reply_form form;
	const char *meta_version;
};

/* Which forms a path can be served in. */
#define FORM(x)        (1u << REPLY_##x)
#define FORMS_OBJECT   (FORM(JSON) | FORM(YAML) | FORM(TABLE) | FORM(PARTIAL) | FORM(PARTIAL_LIST))
#define FORMS_DOCUMENT (FORM(JSON) | FORM(YAML))

/* Takes the first clause of an Accept header (NULL: anything) that can be served; ERR_NOT_ACCEPTABLE if none. */
int negotiate_accept(const char *header, unsigned forms, struct accept *ret, struct err *e);

/* How much of its object a table's row carries: includeObject, NULL if absent. */
enum include_object negotiate_include(const char *param);

enum body_type { BODY_JSON, BODY_YAML, BODY_PROTOBUF, BODY_UNKNOWN };
/* Of a POST, PUT or DELETE; absent is JSON. */
enum body_type negotiate_body(const char *content_type);
/* Of a PATCH; PATCH_NONE if it is none. */
enum patch_type negotiate_patch(const char *content_type);

#endif
