// SPDX-License-Identifier: Apache-2.0
/* build.c - stoker.dev/v1 Build: an image made from a Dockerfile, on the server and without root */
#include "kinds/cells.h"
#include "kinds/core.h"
#include "kinds/rest.h"
#include "kinds/rest_rules.h"

static const struct field git_fields[] = {
	F(0, "url", STRING, .flags = FIELD_REQUIRED, .doc = "Repository to clone."),
	F(0, "ref", STRING, .doc = "Branch, tag or commit; the default branch without."),
	F(0, "subPath", STRING, .doc = "Directory in it; the whole without."),
};

static const struct message git = MESSAGE("dev.stoker.v1.BuildGit", git_fields, .doc = "A repository.");

static const struct field source_fields[] = {
	F(0, "path", STRING, .doc = "A directory of the machine that the owner can read."),
	F(0, "git", OBJECT, .msg = &git, .doc = "A repository."),
	FM(0, "inline", STRING, .doc = "The files themselves: text by name."),
};

static void source_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const char *path = jsonx_str_or(obj, "path", "");
	bool has_git = json_object_get(obj, "git"), has_files = !value_is_empty(json_object_get(obj, "inline"));

	if (!!path[0] + has_git + has_files != 1)
		path_invalid(at, e, json_null(), "exactly one of path, git and inline must be specified");
	if (path[0] && path[0] != '/')
		path_invalid(PATH_FIELD(at, "path"), e, json_object_get(obj, "path"), "must be an absolute path");
}

static const struct message source =
	MESSAGE("dev.stoker.v1.BuildSource", source_fields, .doc = "Where the Dockerfile and what it copies are.",
		.validate = source_validate);

static const struct field spec_fields[] = {
	F(0, "source", OBJECT, .msg = &source, .flags = FIELD_REQUIRED,
	  .doc = "Where the Dockerfile and what it copies are."),
	F(0, "dockerfile", STRING, .dflt = "\"Dockerfile\"", .doc = "The Dockerfile, in the source."),
	F(0, "tag", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the image, such as test-python:1.0."),
	FM(0, "args", STRING, .doc = "Values of the Dockerfile's ARGs."),
	F(0, "target", STRING, .doc = "Stage of the Dockerfile to build; the last without."),
	F(0, "noCache", BOOL, .doc = "Whether to build every step anew."),
	F(0, "push", BOOL, .doc = "Whether to push the image to the registry in its name."),
	F(0, "resources", OBJECT, .msg = &core_resource_requirements, .doc = "What the build may use."),
	F(0, "timeoutSeconds", INT32, .has_min = true, .min = 1, .doc = "Seconds after which the build fails."),
};

static void spec_validate(const json_t *obj, const struct path *at, struct err *e)
{
	const json_t *tag = json_object_get(obj, "tag"), *file = json_object_get(obj, "dockerfile");
	const char *name = json_is_string(tag) ? json_string_value(tag) : "";

	if (strpbrk(name, " \t\r\n\"'\\") || name[0] == '-')
		path_invalid(PATH_FIELD(at, "tag"), e, tag, "must be the name of an image, such as test-python:1.0");
	if (json_is_string(file) && (json_string_value(file)[0] == '/' || strstr(json_string_value(file), "..")))
		path_invalid(PATH_FIELD(at, "dockerfile"), e, file, "must be a relative path without '..'");
}

static const struct message spec =
	MESSAGE("dev.stoker.v1.BuildSpec", spec_fields, .doc = "What to build.", .validate = spec_validate);

static const struct field status_fields[] = {
	F(0, "phase", STRING, .values = "Pending|Running|Succeeded|Failed",
	  .doc = "Pending, Running, Succeeded or Failed."),
	F(0, "image", STRING, .doc = "The image, by digest."),
	F(0, "pod", STRING, .doc = "The pod that builds."),
	F(0, "message", STRING, .doc = "What went wrong."),
	F(0, "startTime", TIME, .doc = "When the build began."),
	F(0, "completionTime", TIME, .doc = "When it ended."),
	F(0, "observedGeneration", INT64, .doc = "The metadata.generation that this status is about."),
};

static const struct message status = MESSAGE("dev.stoker.v1.BuildStatus", status_fields, .doc = "How a Build stands.");

static const struct field fields[] = {
	FIELDS_OBJECT,
	F(0, "spec", OBJECT, .msg = &spec, .dflt = "{}", .doc = "What to build."),
	F(0, "status", OBJECT, .msg = &status, .doc = "How it stands; written by the controller."),
};

static const struct message build = MESSAGE("dev.stoker.v1.Build", fields, .doc = "Makes an image from a Dockerfile.");

static void prepare_create(json_t *obj)
{
	json_object_set_new(obj, "status", json_pack("{s:s}", "phase", "Pending"));
}

static void validate_update(const json_t *obj, const json_t *old, struct err *e)
{
	rule_fixed(obj, old, "spec", e);
}

CELL_STR(cell_tag, "spec.tag", "")
CELL_STR(cell_phase, "status.phase", "Pending")
CELL_STR(cell_image, "status.image", "<none>")

static const struct column columns[] = {
	COLUMN_NAME,
	COLUMN("Tag", "Name of the image.", cell_tag),
	COLUMN("Phase", "How it stands.", cell_phase),
	COLUMN_AGE,
	COLUMN_WIDE("Image", "The image, by digest.", cell_image),
};

const struct kind kind_build = {
	.group = "stoker.dev",
	.version = "v1",
	.kind = "Build",
	.plural = "builds",
	.singular = "build",
	.categories = category_all,
	.namespaced = true,
	.flags = KIND_STATUS | KIND_GENERATION,
	.verbs = VERBS_ALL,
	.message = &build,
	KIND_COLUMNS(columns),
	KIND_SUBRESOURCES(status_only),
	.prepare_create = prepare_create,
	.validate_update = validate_update,
};
