// SPDX-License-Identifier: Apache-2.0
/* status.c - what went wrong, in the words clients match on
 *
 * Callers set an error's kind and, where they know better, its text.  The standard sentences (not found, already
 * exists, modified, invalid) are spelled here once.
 */
#include "api/status.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

static json_t *causes_of(const struct err *e)
{
	json_t *causes = json_array();

	for (unsigned i = 0; i < e->ncauses && i < ERR_MAX_CAUSES; i++) {
		json_t *c = json_pack("{s:s, s:o}", "reason", cause_reason(e->causes[i].kind), "message",
				      jsonx_string(err_cause_text(e, i)));

		if (*err_cause_field(e, i))
			json_object_set_new(c, "field", jsonx_string(err_cause_field(e, i)));
		json_array_append_new(causes, c);
	}
	return causes;
}

/* `Pod "x" is invalid: spec.a: Required value`, or `[a: ..., b: ...]` for several. */
static void invalid_text(const struct err *e, const struct status_subject *about, struct sbuf *out)
{
	unsigned n = e->ncauses < ERR_MAX_CAUSES ? e->ncauses : ERR_MAX_CAUSES;

	sbuf_addf(out, "%s%s%s \"%s\" is invalid: ", about->kind ? about->kind->kind : "object",
		  about->kind && *about->kind->group ? "." : "", about->kind ? about->kind->group : "",
		  about->name ? about->name : "");
	if (n == 0)
		sbuf_adds(out, e->text);
	if (n > 1)
		sbuf_addc(out, '[');
	for (unsigned i = 0; i < n; i++)
		sbuf_addf(out, "%s%s%s%s", i ? ", " : "", err_cause_field(e, i), *err_cause_field(e, i) ? ": " : "",
			  err_cause_text(e, i));
	if (e->ncauses > n)
		sbuf_addf(out, ", and %u more", e->ncauses - n);
	if (n > 1)
		sbuf_addc(out, ']');
}

static void standard_text(const struct err *e, const struct status_subject *about, struct sbuf *out)
{
	char resource[320] = "";
	const char *name = about->name ? about->name : "";

	if (about->kind)
		kind_resource_name(about->kind, resource, sizeof(resource));
	if (e->kind == ERR_INVALID && e->ncauses)
		invalid_text(e, about, out);
	else if (e->text[0])
		sbuf_adds(out, e->text);
	else if (e->kind == ERR_NOT_FOUND && about->kind)
		sbuf_addf(out, "%s \"%s\" not found", resource, name);
	else if (e->kind == ERR_NOT_FOUND)
		sbuf_adds(out, "the server could not find the requested resource");
	else if (e->kind == ERR_EXISTS)
		sbuf_addf(out, "%s \"%s\" already exists", resource, name);
	else if (e->kind == ERR_CONFLICT)
		sbuf_addf(out,
			  "Operation cannot be fulfilled on %s \"%s\": the object has been modified; please apply your "
			  "changes to the latest version and try again",
			  resource, name);
	else if (e->kind == ERR_NO_METHOD)
		sbuf_adds(out, "the server does not allow this method on the requested resource");
	else
		sbuf_adds(out, err_reason(e->kind));
}

static json_t *details_of(const struct err *e, const struct status_subject *about)
{
	json_t *details = json_object();
	/* kubectl shows either the name and the causes, or the message: without causes it must get no name, yet
	 * details. */
	bool named = e->kind != ERR_INVALID || e->ncauses;

	if (named && about->name)
		json_object_set_new(details, "name", jsonx_string(about->name));
	if (named && about->kind && *about->kind->group)
		json_object_set_new(details, "group", json_string(about->kind->group));
	if (named && about->kind)
		json_object_set_new(details, "kind",
				    json_string(e->kind == ERR_INVALID ? about->kind->kind : about->kind->plural));
	if (e->ncauses)
		json_object_set_new(details, "causes", causes_of(e));
	if (e->retry_after)
		json_object_set_new(details, "retryAfterSeconds", json_integer(e->retry_after));
	return details;
}

json_t *status_from_err(const struct err *e, const struct status_subject *about)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_STATUS_TEXT * 2);
	json_t *details = details_of(e, about);
	json_t *status;

	standard_text(e, about, &text);
	status =
		json_pack("{s:s, s:s, s:{}, s:s, s:o, s:s}", "kind", "Status", "apiVersion", "v1", "metadata", "status",
			  "Failure", "message", jsonx_string(text.p ? text.p : ""), "reason", err_reason(e->kind));
	if (json_object_size(details))
		json_object_set(status, "details", details);
	json_decref(details);
	json_object_set_new(status, "code", json_integer(err_http_code(e->kind)));
	return status;
}

json_t *status_success(const struct status_subject *about, const char *uid)
{
	json_t *status = json_pack("{s:s, s:s, s:{}, s:s}", "kind", "Status", "apiVersion", "v1", "metadata", "status",
				   "Success");
	json_t *details = json_object();

	if (about->name)
		json_object_set_new(details, "name", jsonx_string(about->name));
	if (about->kind && *about->kind->group)
		json_object_set_new(details, "group", json_string(about->kind->group));
	if (about->kind)
		json_object_set_new(details, "kind", json_string(about->kind->plural));
	if (uid)
		json_object_set_new(details, "uid", jsonx_string(uid));
	if (json_object_size(details))
		json_object_set(status, "details", details);
	json_decref(details);
	return status;
}
