// SPDX-License-Identifier: Apache-2.0
/* meta.c - meta/v1: the metadata of every object, selectors, statuses and the options of requests
 *
 * meta_object's own rules hold wherever metadata appears, so also in pod templates; what depends on the kind (the name,
 * the namespace) is in kind.c.
 */
#include <ctype.h>

#include "base/limits.h"
#include "base/mem.h"
#include "kinds/builtin.h"
#include "kinds/names.h"

#define META "io.k8s.apimachinery.pkg.apis.meta.v1."

#define DOC_API_VERSION "The version of the schema of this object, as GROUP/VERSION; the group is left out for v1."
#define DOC_KIND        "What this object is, in CamelCase; the server may infer it from where the object is sent."

static const struct field owner_reference_fields[] = {
	F(5, "apiVersion", STRING, .flags = FIELD_REQUIRED, .doc = "API version of the owner."),
	F(1, "kind", STRING, .flags = FIELD_REQUIRED, .doc = "Kind of the owner."),
	F(3, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the owner."),
	F(4, "uid", STRING, .flags = FIELD_REQUIRED, .doc = "UID of the owner."),
	F(6, "controller", BOOL, .flags = FIELD_POINTER,
	  .doc = "True if this owner is the controller of the object; at most one may be."),
	F(7, "blockOwnerDeletion", BOOL, .flags = FIELD_POINTER,
	  .doc = "True if a foreground deletion of the owner waits until this object is gone."),
};

const struct message meta_owner_reference =
	MESSAGE(META "OwnerReference", owner_reference_fields, .atomic = true,
		.doc = "An object in the same namespace, or without one, that this object depends on.");

static const struct field managed_fields_entry_fields[] = {
	F(1, "manager", STRING, .doc = "Who manages these fields."),
	F(2, "operation", STRING, .doc = "Apply or Update."),
	F(3, "apiVersion", STRING, .doc = "Version of the object in which the fields are named."),
	F(4, "time", TIME, .flags = FIELD_POINTER, .doc = "When this entry last changed."),
	F(6, "fieldsType", STRING, .doc = "Always FieldsV1."),
	F(7, "fieldsV1", ANY, .flags = FIELD_POINTER, .doc = "The set of fields."),
	F(8, "subresource", STRING, .doc = "The subresource through which they were set; empty for the object itself."),
};

static const struct message managed_fields_entry = MESSAGE(META "ManagedFieldsEntry", managed_fields_entry_fields,
							   .doc = "A manager, and the set of fields it has set.");

static const struct field object_meta_fields[] = {
	F(1, "name", STRING, .doc = "Unique among objects of this kind in the namespace; cannot be changed."),
	F(2, "generateName", STRING,
	  .doc = "With no name given, the server makes one by adding five random characters to this prefix."),
	F(3, "namespace", STRING, .doc = "The space in which the name is unique; cannot be changed."),
	F(4, "selfLink", STRING, .doc = "Deprecated and never set."),
	F(5, "uid", STRING, .doc = "Unique in time and space; set by the server on creation."),
	F(6, "resourceVersion", STRING,
	  .doc = "Changes with every change of the object.  Opaque: only compare for equality, and send it back with "
		 "an "
		 "update to refuse overwriting somebody else's."),
	F(7, "generation", INT64, .doc = "Counts changes of the wanted state; set by the server."),
	F(8, "creationTimestamp", TIME, .doc = "When the server created the object."),
	F(9, "deletionTimestamp", TIME, .flags = FIELD_POINTER,
	  .doc = "When the object will go or, with finalizers, may go; set by the server on a deletion."),
	F(10, "deletionGracePeriodSeconds", INT64, .flags = FIELD_POINTER,
	  .doc = "Seconds the object was given to end by itself."),
	FM(11, "labels", STRING, .doc = "Keys and values to select objects by."),
	FM(12, "annotations", STRING, .doc = "Keys and values that tools keep with the object; not selectable."),
	FL(13, "ownerReferences", OBJECT, .msg = &meta_owner_reference, .merge_key = "uid",
	   .doc = "Objects this one depends on; when all of them are gone, so is it."),
	FL(14, "finalizers", STRING, .flags = FIELD_SET,
	   .doc = "Names of those that have work to do before the object may go; each removes its own."),
	FL(17, "managedFields", OBJECT, .msg = &managed_fields_entry, .flags = FIELD_ATOMIC,
	   .doc = "Who set which field; kept by server-side apply."),
};

static void check_labels(const json_t *labels, const struct path *at, struct err *e)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)labels, key, v) {
		const char *complaint = name_check_qualified(key);

		if (complaint) {
			json_auto_t *quoted = json_string_nocheck(key);

			path_invalid(at, e, quoted, "%s", complaint);
		}
		complaint = json_is_string(v) ? name_check_label_value(json_string_value(v)) : NULL;
		if (complaint)
			path_invalid(at, e, v, "%s", complaint);
	}
}

/* Annotation keys may have capitals in their prefix, unlike those of labels. */
static const char *check_annotation_key(const char *key)
{
	const char *complaint = name_check_qualified(key);
	auto_free char *lower = NULL;

	if (!complaint)
		return NULL;
	lower = xstrdup(key);
	for (char *p = lower; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return name_check_qualified(lower);
}

static void check_annotations(const json_t *annotations, const struct path *at, struct err *e)
{
	size_t total = 0;
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)annotations, key, v) {
		const char *complaint = check_annotation_key(key);

		if (complaint) {
			json_auto_t *quoted = json_string_nocheck(key);

			path_invalid(at, e, quoted, "%s", complaint);
		}
		total += strlen(key) + json_string_length(v);
	}
	if (total > LIMIT_ANNOTATIONS) {
		char where[256];

		err_cause(e, CAUSE_TOO_LONG, path_text(at, where, sizeof(where)),
			  "Too long: must have at most %u bytes", LIMIT_ANNOTATIONS);
	}
}

static void check_finalizers(const json_t *finalizers, const struct path *at, struct err *e)
{
	bool orphan = false;
	bool foreground = false;
	size_t i;
	json_t *v;

	json_array_foreach (finalizers, i, v) {
		const char *s = json_string_value(v);
		const char *complaint = s ? name_check_qualified(s) : NULL;

		if (complaint)
			path_invalid(at, e, v, "%s", complaint);
		orphan |= s && streq(s, "orphan");
		foreground |= s && streq(s, "foregroundDeletion");
	}
	if (orphan && foreground)
		path_invalid(at, e, finalizers, "finalizer %s and %s cannot be both set", "orphan",
			     "foregroundDeletion");
}

static void check_owners(const json_t *owners, const struct path *at, struct err *e)
{
	const char *controller = NULL;
	size_t i;
	json_t *v;

	json_array_foreach (owners, i, v) {
		const char *name = json_string_value(json_object_get(v, "name"));

		if (!json_is_true(json_object_get(v, "controller")))
			continue;
		if (controller)
			path_invalid(at, e, owners,
				     "Only one reference can have Controller set to true. Found \"true\" in references "
				     "for %s and %s",
				     controller, name ? name : "");
		controller = name ? name : "";
	}
}

static void object_meta_validate(const json_t *meta, const struct path *at, struct err *e)
{
	static const struct {
		const char *name;
		void (*check)(const json_t *v, const struct path *at, struct err *e);
	} rules[] = {
		{ "labels", check_labels },
		{ "annotations", check_annotations },
		{ "ownerReferences", check_owners },
		{ "finalizers", check_finalizers },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		const json_t *v = json_object_get(meta, rules[i].name);

		if (v)
			rules[i].check(v, PATH_FIELD(at, rules[i].name), e);
	}
}

const struct message meta_object = MESSAGE(META "ObjectMeta", object_meta_fields, .validate = object_meta_validate,
					   .doc = "What all stored objects have in common.");

static const struct field list_meta_fields[] = {
	F(1, "selfLink", STRING, .doc = "Deprecated and never set."),
	F(2, "resourceVersion", STRING, .doc = "The state of the server this list shows; a watch may start from it."),
	F(3, "continue", STRING, .doc = "Send it back for the next part of a list that was cut by a limit."),
	F(4, "remainingItemCount", INT64, .flags = FIELD_POINTER, .doc = "How many items follow this part."),
};

const struct message meta_list = MESSAGE(META "ListMeta", list_meta_fields, .doc = "Metadata of a list.");

static const struct field requirement_fields[] = {
	F(1, "key", STRING, .flags = FIELD_REQUIRED, .doc = "The label's key."),
	F(2, "operator", STRING, .flags = FIELD_REQUIRED, .doc = "In, NotIn, Exists or DoesNotExist."),
	FL(3, "values", STRING, .flags = FIELD_ATOMIC,
	   .doc = "Values for In and NotIn; empty for Exists and DoesNotExist."),
};

static void requirement_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *key = json_string_value(json_object_get(obj, "key"));
	const char *op = json_string_value(json_object_get(obj, "operator"));
	size_t n = json_array_size(json_object_get(obj, "values"));
	const char *complaint = key && key[0] ? name_check_qualified(key) : NULL;

	if (complaint)
		path_invalid(PATH_FIELD(at, "key"), e, json_object_get(obj, "key"), "%s", complaint);
	if (!op || !op[0])
		return;
	if (streq(op, "In") || streq(op, "NotIn")) {
		if (n == 0)
			path_required(PATH_FIELD(at, "values"), e,
				      "must be specified when `operator` is 'In' or 'NotIn'");
	} else if (streq(op, "Exists") || streq(op, "DoesNotExist")) {
		if (n > 0)
			path_forbidden(PATH_FIELD(at, "values"), e,
				       "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
	} else {
		path_invalid(PATH_FIELD(at, "operator"), e, json_object_get(obj, "operator"),
			     "not a valid selector operator");
	}
}

static const struct message requirement =
	MESSAGE(META "LabelSelectorRequirement", requirement_fields, .validate = requirement_validate,
		.doc = "A key, an operator and the values it compares the label with.");

static const struct field label_selector_fields[] = {
	FM(1, "matchLabels", STRING, .doc = "Each label must have exactly this value."),
	FL(2, "matchExpressions", OBJECT, .msg = &requirement, .flags = FIELD_ATOMIC, .doc = "Each must hold as well."),
};

static void label_selector_validate(const json_t *obj, const struct path *at, struct err *e)
{
	check_labels(json_object_get(obj, "matchLabels"), PATH_FIELD(at, "matchLabels"), e);
}

const struct message meta_label_selector =
	MESSAGE(META "LabelSelector", label_selector_fields, .atomic = true, .validate = label_selector_validate,
		.doc = "Selects objects by their labels; an empty one selects all of them.");

static const struct field condition_fields[] = {
	F(1, "type", STRING, .flags = FIELD_REQUIRED, .doc = "What the condition is about, in CamelCase."),
	F(2, "status", STRING, .flags = FIELD_REQUIRED, .values = "True|False|Unknown",
	  .doc = "True, False or Unknown."),
	F(3, "observedGeneration", INT64, .doc = "The metadata.generation it was set for."),
	F(4, "lastTransitionTime", TIME, .flags = FIELD_REQUIRED, .doc = "When the status last changed."),
	F(5, "reason", STRING, .flags = FIELD_REQUIRED, .doc = "One CamelCase word for programs."),
	F(6, "message", STRING, .doc = "A sentence for people."),
};

const struct message meta_condition =
	MESSAGE(META "Condition", condition_fields, .doc = "One aspect of the state of an object.");

static const struct field preconditions_fields[] = {
	F(1, "uid", STRING, .flags = FIELD_POINTER, .doc = "The object must have this UID."),
	F(2, "resourceVersion", STRING, .flags = FIELD_POINTER, .doc = "The object must be at this version."),
};

static const struct message preconditions =
	MESSAGE(META "Preconditions", preconditions_fields, .doc = "What must hold for a deletion to happen.");

static const struct field delete_options_fields[] = {
	F(0, "apiVersion", STRING, .doc = DOC_API_VERSION),
	F(0, "kind", STRING, .doc = DOC_KIND),
	F(1, "gracePeriodSeconds", INT64, .flags = FIELD_POINTER, .has_min = true, .min = 0,
	  .doc = "Seconds the object has to end by itself; 0 deletes at once."),
	F(2, "preconditions", OBJECT, .msg = &preconditions, .flags = FIELD_POINTER,
	  .doc = "Must hold, else the answer is 409 Conflict."),
	F(3, "orphanDependents", BOOL, .flags = FIELD_POINTER, .doc = "Deprecated: use propagationPolicy."),
	F(4, "propagationPolicy", STRING, .flags = FIELD_POINTER,
	  .doc = "Orphan, Background or Foreground: what happens to objects that this one owns."),
	FL(5, "dryRun", STRING, .doc = "[All]: answer as if done, but change nothing."),
	F(6, "ignoreStoreReadErrorWithClusterBreakingPotential", BOOL, .flags = FIELD_POINTER,
	  .doc = "Accepted and not used."),
};

const struct message meta_delete_options =
	MESSAGE(META "DeleteOptions", delete_options_fields, .doc = "How an object is to be deleted.");

static const struct field status_cause_fields[] = {
	F(1, "reason", STRING, .doc = "One word for programs."),
	F(2, "message", STRING, .doc = "A sentence for people."),
	F(3, "field", STRING, .doc = "The field of the object that caused it, as a path."),
};

static const struct message status_cause =
	MESSAGE(META "StatusCause", status_cause_fields, .doc = "One of several things that were wrong.");

static const struct field status_details_fields[] = {
	F(1, "name", STRING, .doc = "Name of the object."),
	F(2, "group", STRING, .doc = "Its API group."),
	F(3, "kind", STRING, .doc = "Its kind, or the resource's plural."),
	FL(4, "causes", OBJECT, .msg = &status_cause, .flags = FIELD_ATOMIC, .doc = "What exactly was wrong."),
	F(5, "retryAfterSeconds", INT32, .doc = "Try again after so many seconds."),
	F(6, "uid", STRING, .doc = "UID of the object."),
};

static const struct message status_details =
	MESSAGE(META "StatusDetails", status_details_fields, .doc = "What a Status is about.");

static const struct field status_fields[] = {
	F(0, "apiVersion", STRING, .doc = DOC_API_VERSION),
	F(0, "kind", STRING, .doc = DOC_KIND),
	F(1, "metadata", OBJECT, .msg = &meta_list, .doc = "Metadata of a list."),
	F(2, "status", STRING, .doc = "Success or Failure."),
	F(3, "message", STRING, .doc = "A sentence for people."),
	F(4, "reason", STRING, .doc = "One word for programs."),
	F(5, "details", OBJECT, .msg = &status_details, .flags = FIELD_POINTER, .doc = "What it is about."),
	F(6, "code", INT32, .doc = "The HTTP code."),
};

const struct message meta_status =
	MESSAGE(META "Status", status_fields, .doc = "The answer to a request that returns no object.");

static const struct field create_options_fields[] = {
	FL(1, "dryRun", STRING),
	F(3, "fieldManager", STRING),
	F(4, "fieldValidation", STRING, .values = "Ignore|Warn|Strict"),
};

static const struct message create_options = MESSAGE(META "CreateOptions", create_options_fields);

static const struct field patch_options_fields[] = {
	FL(1, "dryRun", STRING),
	F(2, "force", BOOL, .flags = FIELD_POINTER),
	F(3, "fieldManager", STRING),
	F(4, "fieldValidation", STRING, .values = "Ignore|Warn|Strict"),
};

static const struct message patch_options = MESSAGE(META "PatchOptions", patch_options_fields);

static const struct field update_options_fields[] = {
	FL(1, "dryRun", STRING),
	F(2, "fieldManager", STRING),
	F(3, "fieldValidation", STRING, .values = "Ignore|Warn|Strict"),
};

static const struct message update_options = MESSAGE(META "UpdateOptions", update_options_fields);

const struct body_message body_messages_meta[] = {
	{ "v1", "Status", &meta_status },
	{ "v1", "DeleteOptions", &meta_delete_options },
	{ "meta.k8s.io/v1", "Status", &meta_status },
	{ "meta.k8s.io/v1", "CreateOptions", &create_options },
	{ "meta.k8s.io/v1", "PatchOptions", &patch_options },
	{ "meta.k8s.io/v1", "UpdateOptions", &update_options },
	{ NULL, NULL, NULL },
};
