// SPDX-License-Identifier: Apache-2.0
/* negotiate.c - media types in tables
 *
 * Clauses are tried in the order the client wrote them; quality values are not weighed, as in Kubernetes.  Protobuf
 * clauses are passed over: every client that sends one accepts JSON as well.
 */
#include "api/negotiate.h"

#include <strings.h>

#include "base/mem.h"

static bool str_is(struct str s, const char *text)
{
	return s.n == strlen(text) && strncasecmp(s.p, text, s.n) == 0;
}

/* The as=, g= and v= parameters of one clause. */
struct clause {
	struct str type, as, group, version;
};

static struct clause parse_clause(struct str text)
{
	struct clause c = { 0 };
	struct str part;

	str_split(&text, ';', &part);
	c.type = str_trim(part);
	while (str_split(&text, ';', &part)) {
		struct str key;
		struct str value = part;

		str_split(&value, '=', &key);
		key = str_trim(key);
		if (!value.p)
			continue;
		value = str_trim(value);
		if (str_is(key, "as"))
			c.as = value;
		else if (str_is(key, "g"))
			c.group = value;
		else if (str_is(key, "v"))
			c.version = value;
	}
	return c;
}

static const struct {
	const char *as, *group, *version;
	enum reply_form form;
} transforms[] = {
	{ "Table", "meta.k8s.io", "v1", REPLY_TABLE },
	{ "Table", "meta.k8s.io", "v1beta1", REPLY_TABLE },
	{ "PartialObjectMetadata", "meta.k8s.io", "v1", REPLY_PARTIAL },
	{ "PartialObjectMetadata", "meta.k8s.io", "v1beta1", REPLY_PARTIAL },
	{ "PartialObjectMetadataList", "meta.k8s.io", "v1", REPLY_PARTIAL_LIST },
	{ "PartialObjectMetadataList", "meta.k8s.io", "v1beta1", REPLY_PARTIAL_LIST },
	{ "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2", REPLY_DISCOVERY },
	{ "APIGroupDiscoveryList", "apidiscovery.k8s.io", "v2beta1", REPLY_DISCOVERY },
};

static bool serve_clause(const struct clause *c, unsigned forms, struct accept *ret)
{
	bool json = str_is(c->type, "application/json") || str_is(c->type, "*/*") || str_is(c->type, "application/*");

	if (c->as.n) {
		if (!json)
			return false;
		for (size_t i = 0; i < ARRAY_SIZE(transforms); i++) {
			if (!str_eq(c->as, transforms[i].as) || !str_eq(c->group, transforms[i].group) ||
			    !str_eq(c->version, transforms[i].version) || !(forms & (1u << transforms[i].form)))
				continue;
			*ret = (struct accept){ transforms[i].form, transforms[i].version };
			return true;
		}
		return false;
	}
	if (json && (forms & FORM(JSON))) {
		*ret = (struct accept){ REPLY_JSON, "v1" };
		return true;
	}
	if (str_is(c->type, "application/yaml") && (forms & FORM(YAML))) {
		*ret = (struct accept){ REPLY_YAML, "v1" };
		return true;
	}
	return false;
}

int negotiate_accept(const char *header, unsigned forms, struct accept *ret, struct err *e)
{
	struct str rest = str_of(header);
	struct str part;

	*ret = (struct accept){ REPLY_JSON, "v1" };
	if (!header || !str_trim(rest).n)
		return 0;
	while (str_split(&rest, ',', &part)) {
		struct clause c = parse_clause(part);

		if (serve_clause(&c, forms, ret))
			return 0;
	}
	return err_set(e, ERR_NOT_ACCEPTABLE,
		       "only the following media types are accepted: application/json, application/yaml");
}

static struct str media_type(const char *header)
{
	struct str rest = str_of(header);
	struct str type = { "", 0 };

	if (header)
		str_split(&rest, ';', &type);
	return str_trim(type);
}

enum include_object negotiate_include(const char *param)
{
	static const struct {
		const char *name;
		enum include_object include;
	} rows[] = { { "Object", INCLUDE_OBJECT }, { "None", INCLUDE_NONE } };

	for (size_t i = 0; param && i < ARRAY_SIZE(rows); i++)
		if (streq(param, rows[i].name))
			return rows[i].include;
	return INCLUDE_METADATA;
}

enum body_type negotiate_body(const char *content_type)
{
	static const struct {
		const char *name;
		enum body_type type;
	} rows[] = {
		{ "", BODY_JSON },
		{ "application/json", BODY_JSON },
		{ "application/yaml", BODY_YAML },
		{ "application/vnd.kubernetes.protobuf", BODY_PROTOBUF },
	};
	struct str type = media_type(content_type);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_is(type, rows[i].name))
			return rows[i].type;
	return BODY_UNKNOWN;
}

enum patch_type negotiate_patch(const char *content_type)
{
	static const struct {
		const char *name;
		enum patch_type type;
	} rows[] = {
		{ "application/json-patch+json", PATCH_JSON },
		{ "application/merge-patch+json", PATCH_MERGE },
		{ "application/strategic-merge-patch+json", PATCH_STRATEGIC },
		{ "application/apply-patch+yaml", PATCH_APPLY },
	};
	struct str type = media_type(content_type);

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_is(type, rows[i].name))
			return rows[i].type;
	return PATCH_NONE;
}
