// SPDX-License-Identifier: Apache-2.0
/* pbs_stage.c - see pbs_parts.h: which files may be copied for a job
 *
 * All machines see the same files, so the host is only a word; but one that is no machine of ours means files that
 * nobody here can reach.
 */
#include "kinds/pbs_stage.h"
#include "api/pbs_parts.h"
#include "base/jsonx.h"
#include "base/mem.h"

/* Domains are not compared: names of one site. */
static bool is_host(struct str host, const char *name)
{
	size_t n = strcspn(name, ".");
	const char *dot = memchr(host.p, '.', host.n);
	size_t len = dot ? (size_t)(dot - host.p) : host.n;

	return n && n == len && strncasecmp(host.p, name, n) == 0;
}

static bool is_ours(struct str host, const json_t *spec, const json_t *settings)
{
	json_auto_t *own = pbs_own_host();

	return is_host(host, "localhost") || is_host(host, jsonx_str_or(spec, "submitHost", "")) ||
	       is_host(host, jsonx_str_or(settings, "serverName", "")) || is_host(host, json_string_value(own));
}

int pbs_stage_check(const json_t *spec, const json_t *settings, bool in_container, struct err *e)
{
	static const char *const fields[] = { "stageIn", "stageOut" };
	struct pbs_stage s;
	json_t *v;
	size_t i;

	for (size_t k = 0; k < ARRAY_SIZE(fields); k++)
		json_array_foreach (json_object_get(spec, fields[k]), i, v) {
			const char *text = json_string_value(v);

			if (in_container)
				return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL,
						     "spec.%s: jobs in containers have nothing copied", fields[k]);
			if (!pbs_stage_parse(str_of(text), &s))
				return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL,
						     "spec.%s: \"%.200s\": must be LOCAL@HOST:REMOTE", fields[k], text);
			if (!is_ours(s.host, spec, settings))
				return pbs_error_set(e, ERR_INVALID, PBSE_BADATVAL,
						     "spec.%s: host %.*s: must be %.100s or the submit host", fields[k],
						     (int)(s.host.n < 100 ? s.host.n : 100), s.host.p,
						     jsonx_str_or(settings, "serverName", "this machine"));
		}
	return 0;
}
