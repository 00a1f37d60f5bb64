// SPDX-License-Identifier: Apache-2.0
/* status.c - a server's refusal becomes an error with its own words */
#include "client/status.h"

#include "base/jsonx.h"

/* What the server says of single fields, so that callers need not know where an error comes from. */
static void add_causes(const json_t *doc, struct err *e)
{
	json_t *cause;
	size_t i;

	json_array_foreach (jsonx_at(doc, "details.causes"), i, cause)
		for (int k = 0; k < CAUSE__COUNT; k++)
			if (str_same(jsonx_str(cause, "reason"), cause_reason((enum cause_kind)k))) {
				err_cause(e, (enum cause_kind)k, jsonx_str_or(cause, "field", ""), "%s",
					  jsonx_str_or(cause, "message", ""));
				break;
			}
}

int client_status_error(const json_t *doc, int code, struct err *e)
{
	const char *text = jsonx_str(doc, "message");

	if (code >= 200 && code < 300 && !str_same(jsonx_str(doc, "status"), "Failure"))
		return 0;
	err_set(e, err_kind_of(jsonx_str(doc, "reason"), code), "%s",
		text ? text : "the server answered with an error and no explanation");
	e->retry_after = (int)jsonx_int_or(doc, "details.retryAfterSeconds", 0);
	add_causes(doc, e);
	client_status_settle(e);
	return -1;
}

void client_status_settle(struct err *e)
{
	for (unsigned i = 0; e->kind == ERR_INVALID && i < e->ncauses && i < ERR_MAX_CAUSES; i++)
		if (streq(err_cause_field(e, i), "metadata.uid"))
			e->kind = ERR_CONFLICT;
}

int client_status_plain(int code, struct err *e)
{
	bool refused = code >= 300;

	if (code == 404)
		return err_set(e, ERR_NOT_FOUND, CLIENT_UNKNOWN);
	return err_set(e, refused ? err_kind_of(NULL, code) : ERR_INTERNAL, "the server's answer (%d) is not JSON",
		       code);
}
