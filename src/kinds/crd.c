// SPDX-License-Identifier: Apache-2.0
/* crd.c - apiextensions.k8s.io/v1 CustomResourceDefinition: a kind that users add
 *
 * Here is the definition as an object.  Making it a served kind, and checking its schema, is the API's part.
 */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

#define APIEXTENSIONS "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1."

static const struct field names_fields[] = {
	F(1, "plural", STRING, .flags = FIELD_REQUIRED, .doc = "Name in paths, such as crontabs."),
	F(2, "singular", STRING, .doc = "Name for one of them; the kind in lower case by default."),
	FL(3, "shortNames", STRING, .flags = FIELD_ATOMIC, .doc = "Short names for the command line."),
	F(4, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Name in manifests, such as CronTab."),
	F(5, "listKind", STRING, .doc = "Name of a list of them; the kind and List by default."),
	FL(6, "categories", STRING, .flags = FIELD_ATOMIC, .doc = "Groups such as all, for kubectl get all."),
};

/* Both are derived from the kind as Kubernetes derives them. */
static void names_defaults(json_t *obj)
{
	auto_free char *lower = xstrdup(jsonx_str_or(obj, "kind", ""));

	if (!lower[0])
		return;
	if (value_is_empty(json_object_get(obj, "listKind")))
		json_object_set_new(obj, "listKind", jsonx_stringf("%sList", lower));
	for (char *c = lower; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	if (value_is_empty(json_object_get(obj, "singular")))
		json_object_set_new(obj, "singular", jsonx_string(lower));
}

/* kind and listKind are labels but for their capitals. */
static void check_camel(const json_t *obj, const char *name, const struct path *at, struct err *e)
{
	auto_free char *lower = xstrdup(jsonx_str_or(obj, name, ""));
	const char *complaint;

	for (char *c = lower; *c; c++)
		*c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
	complaint = lower[0] ? name_check_label_1035(lower) : NULL;
	if (complaint)
		path_invalid(PATH_FIELD(at, name), e, json_object_get(obj, name),
			     "may have mixed case, but should otherwise match: %s", complaint);
}

static void names_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *list_kind = json_object_get(obj, "listKind");
	json_t *v;
	size_t i;

	rule_name(obj, "plural", name_check_label_1035, at, e);
	rule_name(obj, "singular", name_check_label_1035, at, e);
	check_camel(obj, "kind", at, e);
	check_camel(obj, "listKind", at, e);
	json_array_foreach (json_object_get(obj, "shortNames"), i, v) {
		const char *complaint = name_check_label_1035(json_string_value(v));

		if (complaint)
			path_invalid(PATH_INDEX(PATH_FIELD(at, "shortNames"), i), e, v, "%s", complaint);
	}
	if (!value_is_empty(list_kind) && str_same(jsonx_str(obj, "kind"), json_string_value(list_kind)))
		path_invalid(PATH_FIELD(at, "listKind"), e, list_kind, "kind and listKind may not be the same");
}

static const struct message names =
	MESSAGE(APIEXTENSIONS "CustomResourceDefinitionNames", names_fields, .doc = "What the kind is called.",
		.defaults = names_defaults, .validate = names_validate);

static const struct field column_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Heading."),
	F(2, "type", STRING, .flags = FIELD_REQUIRED, .values = "integer|number|string|boolean|date",
	  .doc = "What is shown; a date as an age."),
	F(3, "format", STRING, .doc = "A hint for programs, such as name."),
	F(4, "description", STRING, .doc = "What the column tells."),
	F(5, "priority", INT32, .doc = "Above 0: only with -o wide."),
	F(6, "jsonPath", STRING, .flags = FIELD_REQUIRED, .doc = "Where the value is, such as .status.phase."),
};

static const struct message column =
	MESSAGE(APIEXTENSIONS "CustomResourceColumnDefinition", column_fields, .doc = "A column of kubectl get.");

static const struct field scale_fields[] = {
	F(1, "specReplicasPath", STRING, .flags = FIELD_REQUIRED, .doc = "Where the wanted number is, below .spec."),
	F(2, "statusReplicasPath", STRING, .flags = FIELD_REQUIRED,
	  .doc = "Where the present number is, below .status."),
	FP(3, "labelSelectorPath", STRING, .doc = "Where the selector's text is, below .status or .spec."),
};

static void scale_validate(const json_t *obj, const struct path *at, struct err *e)
{
	static const char *const below[][2] = { { "specReplicasPath", ".spec." },
						{ "statusReplicasPath", ".status." } };

	for (size_t i = 0; i < ARRAY_SIZE(below); i++) {
		const json_t *v = json_object_get(obj, below[i][0]);

		if (!value_is_empty(v) && !str_starts(json_string_value(v), below[i][1]))
			path_invalid(PATH_FIELD(at, below[i][0]), e, v, "should be a json path under %.*s",
				     (int)strlen(below[i][1]) - 1, below[i][1]);
	}
}

static const struct message scale = MESSAGE(APIEXTENSIONS "CustomResourceSubresourceScale", scale_fields,
					    .doc = "Where /scale finds its numbers.", .validate = scale_validate);

/* It has no fields: that it is there says all. */
static const struct message status_subresource = { .name = APIEXTENSIONS "CustomResourceSubresourceStatus",
						   .doc = "Status is written on its own." };

static const struct field subresource_fields[] = {
	F(1, "status", OBJECT, .msg = &status_subresource,
	  .doc = "{} if status is written on its own, through /status."),
	F(2, "scale", OBJECT, .msg = &scale, .doc = "Where /scale finds its numbers."),
};

static const struct message subresources = MESSAGE(APIEXTENSIONS "CustomResourceSubresources", subresource_fields,
						   .doc = "Parts of an object that are written on their own.");

/* A schema is kept as it is written; api/proto_types.c knows its form in protobuf. */
static const struct field validation_fields[] = {
	F(0, "openAPIV3Schema", ANY, .doc = "What objects look like: a structural OpenAPI v3 schema."),
};

static const struct message validation = MESSAGE(APIEXTENSIONS "CustomResourceValidation", validation_fields,
						 .doc = "What objects of a version look like.");

static const struct field selectable_fields[] = {
	F(1, "jsonPath", STRING, .flags = FIELD_REQUIRED, .doc = "Where the field is, such as .spec.color."),
};

static const struct message selectable =
	MESSAGE(APIEXTENSIONS "SelectableField", selectable_fields, .doc = "A field that field selectors may name.");

static const struct field version_fields[] = {
	F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the version, such as v1."),
	F(2, "served", BOOL, .doc = "Whether clients can use it."),
	F(3, "storage", BOOL, .doc = "Whether objects are stored in its form; true for exactly one version."),
	F(4, "schema", OBJECT, .msg = &validation, .doc = "What objects look like."),
	F(5, "subresources", OBJECT, .msg = &subresources, .doc = "Parts of an object that are written on their own."),
	FL(6, "additionalPrinterColumns", OBJECT, .msg = &column, .flags = FIELD_ATOMIC,
	   .doc = "Columns of kubectl get."),
	F(7, "deprecated", BOOL, .doc = "Whether clients are warned against it."),
	FP(8, "deprecationWarning", STRING, .doc = "The warning."),
	FL(9, "selectableFields", OBJECT, .msg = &selectable, .flags = FIELD_ATOMIC,
	   .doc = "Fields that field selectors may name."),
};

static void version_validate(const json_t *obj, const struct path *at, struct err *e)
{
	rule_name(obj, "name", name_check_label_1035, at, e);
	if (!jsonx_at(obj, "schema.openAPIV3Schema"))
		path_required(PATH_FIELD(at, "schema.openAPIV3Schema"), e, "schemas are required");
	if (json_object_get(obj, "deprecationWarning") && !jsonx_bool_or(obj, "deprecated", false))
		path_invalid(PATH_FIELD(at, "deprecationWarning"), e, json_object_get(obj, "deprecationWarning"),
			     "can only be set for deprecated versions");
}

static const struct message version = MESSAGE(APIEXTENSIONS "CustomResourceDefinitionVersion", version_fields,
					      .doc = "One form of the kind.", .validate = version_validate);

static const struct field service_fields[] = {
	F(1, "namespace", STRING, .flags = FIELD_REQUIRED, .doc = "Namespace of the Service."),
	F(2, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Its name."),
	FP(3, "path", STRING, .doc = "Path of the requests."),
	FP(4, "port", INT32, .dflt = "443", .doc = "Its port."),
};

static const struct message service = MESSAGE(APIEXTENSIONS "ServiceReference", service_fields, .doc = "A Service.");

static const struct field client_fields[] = {
	F(1, "service", OBJECT, .msg = &service, .doc = "The Service that converts; or:"),
	F(2, "caBundle", BYTES, .doc = "Certificates to trust."),
	FP(3, "url", STRING, .doc = "Where requests go."),
};

static const struct message client =
	MESSAGE(APIEXTENSIONS "WebhookClientConfig", client_fields, .doc = "How a webhook is reached.");

static const struct field webhook_fields[] = {
	F(2, "clientConfig", OBJECT, .msg = &client, .doc = "How it is reached."),
	FL(3, "conversionReviewVersions", STRING, .flags = FIELD_ATOMIC,
	   .doc = "Forms of the question it understands."),
};

static const struct message webhook =
	MESSAGE(APIEXTENSIONS "WebhookConversion", webhook_fields, .doc = "A webhook that converts.");

static const struct field conversion_fields[] = {
	F(1, "strategy", STRING, .dflt = "\"None\"", .values = "None|Webhook",
	  .doc = "None changes only apiVersion; Webhook asks someone."),
	F(2, "webhook", OBJECT, .msg = &webhook, .doc = "Who is asked."),
};

static const struct message conversion = MESSAGE(APIEXTENSIONS "CustomResourceConversion", conversion_fields,
						 .doc = "How objects get from one version's form into another's.");

static const struct field spec_fields[] = {
	F(1, "group", STRING, .flags = FIELD_REQUIRED, .doc = "API group, such as example.com; it cannot change."),
	F(3, "names", OBJECT, .msg = &names, .flags = FIELD_REQUIRED, .doc = "What the kind is called."),
	F(4, "scope", STRING, .flags = FIELD_REQUIRED, .values = "Cluster|Namespaced",
	  .doc = "Whether objects live in a namespace; it cannot change."),
	FL(7, "versions", OBJECT, .msg = &version, .flags = FIELD_REQUIRED | FIELD_ATOMIC, .doc = "The kind's forms."),
	F(9, "conversion", OBJECT, .msg = &conversion, .dflt = "{}",
	  .doc = "How objects get from one form into another."),
	F(10, "preserveUnknownFields", BOOL, .doc = "Must be false: unknown fields are kept where the schema says so."),
};

static void check_versions(const json_t *versions, const struct path *at, struct err *e)
{
	json_auto_t *seen = json_object();
	size_t stored = 0;
	json_t *v;
	size_t i;

	json_array_foreach (versions, i, v) {
		const char *name = jsonx_str_or(v, "name", "");

		if (json_object_get(seen, name))
			path_duplicate(PATH_FIELD(PATH_INDEX(at, i), "name"), e, json_object_get(v, "name"));
		json_object_set_new(seen, name, json_true());
		stored += jsonx_bool_or(v, "storage", false);
	}
	if (json_array_size(versions) > 0 && stored != 1)
		path_invalid(at, e, versions, "must have exactly one version marked as storage version");
}

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *group = jsonx_str_or(obj, "group", "");

	rule_name(obj, "group", name_check_subdomain, at, e);
	if (group[0] && !strchr(group, '.'))
		path_invalid(PATH_FIELD(at, "group"), e, json_object_get(obj, "group"),
			     "should be a domain with at least one dot");
	if (jsonx_bool_or(obj, "preserveUnknownFields", false))
		path_invalid(PATH_FIELD(at, "preserveUnknownFields"), e, json_true(), "must be false");
	check_versions(json_object_get(obj, "versions"), PATH_FIELD(at, "versions"), e);
}

static const struct message spec = MESSAGE(APIEXTENSIONS "CustomResourceDefinitionSpec", spec_fields,
					   .doc = "What the kind is.", .validate = spec_validate);

static const struct field condition_fields[] = { CONDITION_ROWS };

static const struct message condition = MESSAGE(APIEXTENSIONS "CustomResourceDefinitionCondition", condition_fields,
						.doc = "One fact about a definition.");

static const struct field status_fields[] = {
	FL(1, "conditions", OBJECT, .msg = &condition, .list_keys = "type", .doc = "Established once it is served."),
	F(2, "acceptedNames", OBJECT, .msg = &names, .doc = "The names it is served under."),
	FL(3, "storedVersions", STRING, .flags = FIELD_ATOMIC, .doc = "Versions that objects may be stored in."),
};

static const struct message status = MESSAGE(APIEXTENSIONS "CustomResourceDefinitionStatus", status_fields,
					     .doc = "Whether and how the kind is served.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(2, "spec", OBJECT, .msg = &spec, .flags = FIELD_REQUIRED, .doc = "What the kind is."),
	F(3, "status", OBJECT, .msg = &status, .doc = "Whether and how it is served."),
};

static const struct message crd =
	MESSAGE(APIEXTENSIONS "CustomResourceDefinition", fields, .doc = "A kind of object that users add to the API.");

static void validate(const json_t *obj, struct err *e)
{
	const json_t *name = jsonx_at(obj, "metadata.name");
	const char *plural = jsonx_str_or(obj, "spec.names.plural", ""), *group = jsonx_str_or(obj, "spec.group", "");
	auto_free char *want = xasprintf("%s.%s", plural, group);

	if (plural[0] && group[0] && !str_same(json_string_value(name), want))
		path_invalid(PATH_FIELD(NULL, "metadata.name"), e, name ? name : json_null(),
			     "must be spec.names.plural+\".\"+spec.group");
}

static bool has_version(const json_t *obj, const char *name)
{
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(obj, "spec.versions"), i, v)
		if (str_same(jsonx_str(v, "name"), name))
			return true;
	return false;
}

/* Objects stored in a version's form must stay readable. */
static void check_stored_versions(const json_t *obj, struct err *e)
{
	const struct path at = { .name = "status.storedVersions" };
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(obj, "status.storedVersions"), i, v)
		if (!has_version(obj, json_string_value(v)))
			path_invalid(PATH_INDEX(&at, i), e, v, "must appear in spec.versions");
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	static const char *const fixed[] = { "spec.group", "spec.scope", "spec.names.plural", "spec.names.kind" };

	for (size_t i = 0; i < ARRAY_SIZE(fixed); i++)
		rule_fixed(obj, old, fixed[i], e);
	check_stored_versions(obj, e);
}

static const struct column columns[] = { COLUMN_NAME, COLUMN_CREATED_AT };

static const char *const short_names[] = { "crd", "crds", NULL };
static const char *const categories[] = { "api-extensions", NULL };

const struct kind kind_crd = {
	.group = "apiextensions.k8s.io",
	.version = "v1",
	.kind = "CustomResourceDefinition",
	.plural = "customresourcedefinitions",
	.singular = "customresourcedefinition",
	.short_names = short_names,
	.categories = categories,
	.flags = KIND_STATUS | KIND_GENERATION | KIND_NEEDS_RV,
	.verbs = VERBS_ALL,
	.message = &crd,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = status_begin,
	.validate = validate,
	.validate_update = validate_update,
};
