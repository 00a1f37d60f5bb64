// SPDX-License-Identifier: Apache-2.0
/* rest_body.c - request bodies: JSON, YAML or protobuf, and the options of a delete */
#include "api/exchange.h"
#include "api/wire.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/yamlx.h"

static void on_duplicate(void *arg, const char *path)
{
	struct exchange *x = arg;

	if (!x->req.duplicates)
		x->req.duplicates = json_array();
	json_array_append_new(x->req.duplicates, jsonx_string(path));
}

static int unsupported(struct err *e)
{
	return err_set(
		e, ERR_UNSUPPORTED_MEDIA,
		"the body of the request was in an unknown format - accepted media types include: application/json, "
		"application/yaml, application/vnd.kubernetes.protobuf");
}

static int read_patch(struct exchange *x, struct str text, struct err *e)
{
	x->req.patch = negotiate_patch(http_header(x->http, "Content-Type"));
	if (x->req.patch == PATCH_NONE)
		return err_set(e, ERR_UNSUPPORTED_MEDIA,
			       "the body of the request was in an unknown format - accepted media types include: "
			       "application/json-patch+json, application/merge-patch+json, "
			       "application/strategic-merge-patch+json, application/apply-patch+yaml");
	if (x->req.patch == PATCH_APPLY)
		return yamlx_parse(text.p, text.n, on_duplicate, x, &x->body, e);
	return jsonx_parse(text.p, text.n, on_duplicate, x, &x->body, e);
}

static int read_document(struct exchange *x, struct str text, struct err *e)
{
	enum body_type type = negotiate_body(http_header(x->http, "Content-Type"));

	if (proto_is_magic(text))
		type = BODY_PROTOBUF;
	switch (type) {
	case BODY_JSON:
		return jsonx_parse(text.p, text.n, on_duplicate, x, &x->body, e);
	case BODY_YAML:
		return yamlx_parse(text.p, text.n, on_duplicate, x, &x->body, e);
	case BODY_PROTOBUF:
		return proto_decode(api_registry(x->rest->api), text, &x->body, e);
	default:
		return unsupported(e);
	}
}

int body_read(struct exchange *x, struct err *e)
{
	struct str text = http_body(x->http);
	int r;

	if (!text.n)
		return err_set(e, ERR_BAD_REQUEST, "the request has no body; an object is expected");
	r = x->req.verb == VERB_PATCH ? read_patch(x, text, e) : read_document(x, text, e);
	if (r < 0)
		return -1;
	x->req.body = x->body;
	x->req.body_bytes = text.n;
	return 0;
}

static int parse_propagation(const char *text, struct api_request *req, struct err *e)
{
	static const struct {
		const char *name;
		enum propagation p;
	} rows[] = {
		{ "Background", PROPAGATE_BACKGROUND },
		{ "Foreground", PROPAGATE_FOREGROUND },
		{ "Orphan", PROPAGATE_ORPHAN },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(text, rows[i].name)) {
			req->propagation = rows[i].p;
			return 0;
		}
	return err_cause(e, CAUSE_NOT_SUPPORTED, "propagationPolicy",
			 "Unsupported value: \"%.60s\": supported values: \"Foreground\", \"Background\", \"Orphan\"",
			 text);
}

static int options_from_body(struct exchange *x, struct err *e)
{
	struct api_request *req = &x->req;
	const char *policy = jsonx_str(x->body, "propagationPolicy");
	const json_t *grace = json_object_get(x->body, "gracePeriodSeconds");
	const json_t *orphan = json_object_get(x->body, "orphanDependents");

	if (grace && !json_is_null(grace) && (!json_is_integer(grace) || json_integer_value(grace) < 0))
		return err_cause(e, CAUSE_INVALID, "gracePeriodSeconds",
				 "Invalid value: must be a whole number greater than or equal to 0");
	if (json_is_integer(grace))
		req->grace_seconds = json_integer_value(grace);
	if (policy && parse_propagation(policy, req, e) < 0)
		return -1;
	if (json_is_boolean(orphan) && req->propagation == PROPAGATE_DEFAULT)
		req->propagation = json_is_true(orphan) ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
	req->if_uid = jsonx_str(x->body, "preconditions.uid");
	req->if_rv = jsonx_str(x->body, "preconditions.resourceVersion");
	if (json_array_size(json_object_get(x->body, "dryRun")))
		req->dry_run = true;
	return 0;
}

int body_delete_options(struct exchange *x, struct err *e)
{
	struct str text = http_body(x->http);
	const char *grace = exchange_param(x, "gracePeriodSeconds");
	const char *policy = exchange_param(x, "propagationPolicy");

	if (grace && !str_int64(grace, 0, INT32_MAX, &x->req.grace_seconds))
		return err_cause(e, CAUSE_INVALID, "gracePeriodSeconds",
				 "Invalid value: \"%.40s\": must be a whole number greater than or equal to 0", grace);
	if (policy && parse_propagation(policy, &x->req, e) < 0)
		return -1;
	if (exchange_param(x, "orphanDependents") && !policy)
		x->req.propagation = exchange_flag(x, "orphanDependents") ? PROPAGATE_ORPHAN : PROPAGATE_BACKGROUND;
	if (!text.n)
		return 0;
	if (read_document(x, text, e) < 0)
		return -1;
	if (!json_is_object(x->body))
		return err_set(e, ERR_BAD_REQUEST, "delete options must be an object");
	return options_from_body(x, e);
}
