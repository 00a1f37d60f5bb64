// SPDX-License-Identifier: Apache-2.0
/* pbs_error.c - PBS's numbers for refusals, and how they travel in an error's text
 *
 * The texts are the interface: scripts and third-party submitters look for them, blanks at the end included.
 */
#include "kinds/pbs_error.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/str.h"

static const struct {
	int number;
	const char *text;
} texts[] = {
	{ PBSE_UNKJOBID, "Unknown Job Id Error" },
	{ PBSE_NOATTR, "Undefined attribute " },
	{ PBSE_IVALREQ, "Invalid request" },
	{ PBSE_PERM, "Unauthorized Request " },
	{ PBSE_BADHOST, "Access from host not allowed, or unknown host" },
	{ PBSE_UNKSIG, "Unknown/illegal signal name" },
	{ PBSE_BADATVAL, "Illegal attribute or resource value for" },
	{ PBSE_MODATRRUN, "Cannot modify attribute while job running " },
	{ PBSE_BADSTATE, "Request invalid for state of job" },
	{ PBSE_UNKQUE, "Unknown queue" },
	{ PBSE_QUNOENB, "Queue is not enabled" },
	{ PBSE_QACESS, "Access to queue is denied" },
	{ PBSE_BADUSER, "Bad UID for job execution" },
	{ PBSE_QUEEXIST, "Queue already exists" },
	{ PBSE_QUEBUSY, "Cannot delete busy queue" },
	{ PBSE_UNKRESC, "Unknown resource type " },
	{ PBSE_EXCQRESC, "Job exceeds queue resource limits" },
	{ PBSE_QUENODFLT, "No default queue specified" },
	{ PBSE_NORERUN, "job is not rerunnable" },
	{ PBSE_BADGRP, "Bad GID for job execution" },
	{ PBSE_MAXQUED, "Maximum number of jobs already in queue" },
	{ PBSE_BADDEPEND, "Invalid Job Dependency" },
	{ PBSE_UNKNODE, "Unknown node " },
	{ PBSE_MAXUSERQUED, "Maximum number of jobs already in queue for user" },
	{ PBSE_NOINTERACTIVE, "Queue does not allow interactive jobs" },
	{ PBSE_NOBATCH, "Queue does not allow batch jobs" },
	{ PBSE_NORERUNABLE, "Queue does not allow rerunable jobs" },
	{ PBSE_NONONRERUNABLE, "Queue does not allow nonrerunable jobs" },
	{ PBSE_UNKARRAYID, "Unknown Array ID" },
	{ PBSE_BAD_ARRAY_REQ, "Bad Job Array Request" },
	{ PBSE_TIMEOUT, "Time out" },
	{ PBSE_NOFAULTTOLERANT, "Queue does not allow fault tolerant jobs" },
	{ PBSE_NOFAULTINTOLERANT, "Queue does not allow fault intolerant jobs" },
	{ PBSE_NO_ARRAYS, "Queue does not allow job arrays" },
};

const char *pbs_error_text(int number)
{
	for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
		if (texts[i].number == number)
			return texts[i].text;
	return "Unknown error";
}

int pbs_error_set(struct err *e, enum err_kind kind, enum pbs_error number, const char *detail, ...)
{
	auto_free char *words = NULL;
	va_list ap;

	va_start(ap, detail);
	if (detail)
		words = xvasprintf(detail, ap);
	va_end(ap);
	return err_set(e, kind, "PBS %d: %s%s%s", number, pbs_error_text(number), words ? " MSG=" : "",
		       words ? words : "");
}

int pbs_error_state(struct err *e, char state)
{
	static const struct {
		char state;
		const char *name;
	} states[] = {
		{ 'T', "TRANSIT" }, { 'Q', "QUEUED" },  { 'H', "HELD" },     { 'W', "WAITING" },
		{ 'R', "RUNNING" }, { 'E', "EXITING" }, { 'C', "COMPLETE" }, { 'S', "SUSPEND" },
	};
	const char *name = "UNKNOWN";

	for (size_t i = 0; i < ARRAY_SIZE(states); i++)
		if (states[i].state == state)
			name = states[i].name;
	return pbs_error_set(e, ERR_CONFLICT, PBSE_BADSTATE, "invalid state for job - %s", name);
}

int pbs_error_find(const char *text, const char **ret_words)
{
	enum { DIGITS = 5 };

	for (const char *at = strstr(text, "PBS "); at; at = strstr(at + 1, "PBS ")) {
		const char *p = at + strlen("PBS ");
		char *end;
		long number = isdigit((unsigned char)*p) ? strtol(p, &end, 10) : 0;

		if (number && end - p == DIGITS && str_starts(end, ": ")) {
			*ret_words = end + 2;
			return (int)number;
		}
	}
	return 0;
}
