// SPDX-License-Identifier: Apache-2.0
/* err.c - errors on the stack: text, HTTP meaning, and a list of wrong fields
 *
 * Field paths and messages of causes are packed into err.pool; when it is full further causes are only counted, so that
 * a hostile object cannot make an error grow.
 */
#include "base/err.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const struct {
	int code;
	const char *reason;
} kinds[ERR__COUNT] = {
	[ERR_NONE] = { 200, "" },
	[ERR_BAD_REQUEST] = { 400, "BadRequest" },
	[ERR_UNAUTHORIZED] = { 401, "Unauthorized" },
	[ERR_FORBIDDEN] = { 403, "Forbidden" },
	[ERR_NOT_FOUND] = { 404, "NotFound" },
	[ERR_NO_METHOD] = { 405, "MethodNotAllowed" },
	[ERR_NOT_ACCEPTABLE] = { 406, "NotAcceptable" },
	[ERR_EXISTS] = { 409, "AlreadyExists" },
	[ERR_CONFLICT] = { 409, "Conflict" },
	[ERR_EXPIRED] = { 410, "Expired" },
	[ERR_TOO_LARGE] = { 413, "RequestEntityTooLarge" },
	[ERR_UNSUPPORTED_MEDIA] = { 415, "UnsupportedMediaType" },
	[ERR_INVALID] = { 422, "Invalid" },
	[ERR_TOO_MANY] = { 429, "TooManyRequests" },
	[ERR_INTERNAL] = { 500, "InternalError" },
	[ERR_UNAVAILABLE] = { 503, "ServiceUnavailable" },
	[ERR_TIMEOUT] = { 504, "Timeout" },
	[ERR_STORAGE_FULL] = { 507, "StorageFull" },
	[ERR_CORRUPT] = { 500, "InternalError" },
};

static const char *const cause_reasons[CAUSE__COUNT] = {
	[CAUSE_REQUIRED] = "FieldValueRequired",
	[CAUSE_INVALID] = "FieldValueInvalid",
	[CAUSE_NOT_SUPPORTED] = "FieldValueNotSupported",
	[CAUSE_DUPLICATE] = "FieldValueDuplicate",
	[CAUSE_FORBIDDEN] = "FieldValueForbidden",
	[CAUSE_NOT_FOUND] = "FieldValueNotFound",
	[CAUSE_TOO_LONG] = "FieldValueTooLong",
	[CAUSE_TOO_MANY] = "FieldValueTooMany",
	[CAUSE_TYPE] = "FieldValueTypeInvalid",
	[CAUSE_MANAGER] = "FieldManagerConflict",
	[CAUSE_TERMINATING] = "NamespaceTerminating",
	[CAUSE_RV_TOO_LARGE] = "ResourceVersionTooLarge",
	[CAUSE_BUDGET] = "DisruptionBudget",
};

/* A text cut in the middle of a UTF-8 sequence would make the whole Status unprintable. */
static void trim_utf8(char *s)
{
	size_t n = strlen(s);
	size_t back = 0;

	while (back < n && back < 4 && ((unsigned char)s[n - 1 - back] & 0xc0) == 0x80)
		back++;
	if (back < n && back < 4) {
		unsigned char lead = (unsigned char)s[n - 1 - back];
		size_t need = lead >= 0xf0 ? 3 : lead >= 0xe0 ? 2 : lead >= 0xc0 ? 1 : 0;

		if (need > back)
			s[n - 1 - back] = '\0';
	}
}

static void set_text(struct err *e, enum err_kind kind, const char *fmt, va_list ap)
{
	e->kind = kind;
	e->retry_after = 0;
	e->ncauses = 0;
	e->pool_used = 0;
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	trim_utf8(e->text);
}

int err_set(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_text(e, kind, fmt, ap);
	va_end(ap);
	return -1;
}

int err_reword(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	va_list ap;

	e->kind = kind;
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	trim_utf8(e->text);
	return -1;
}

int err_errno(struct err *e, enum err_kind kind, const char *fmt, ...)
{
	int saved = errno;
	size_t n;
	va_list ap;

	va_start(ap, fmt);
	set_text(e, kind, fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", strerror(saved));
	return -1;
}

int err_prefix(struct err *e, const char *fmt, ...)
{
	char old[sizeof(e->text)];
	size_t n;
	va_list ap;

	memcpy(old, e->text, sizeof(old));
	va_start(ap, fmt);
	vsnprintf(e->text, sizeof(e->text), fmt, ap);
	va_end(ap);
	n = strlen(e->text);
	snprintf(e->text + n, sizeof(e->text) - n, ": %s", old);
	trim_utf8(e->text);
	return -1;
}

static uint16_t pool_add(struct err *e, const char *s)
{
	size_t at = e->pool_used;
	size_t room = sizeof(e->pool) - at;

	snprintf(e->pool + at, room, "%s", s);
	trim_utf8(e->pool + at);
	e->pool_used += strlen(e->pool + at) + 1;
	return (uint16_t)at;
}

int err_cause(struct err *e, enum cause_kind kind, const char *field, const char *fmt, ...)
{
	char text[512];
	unsigned i = e->ncauses++;
	va_list ap;

	if (e->kind == ERR_NONE)
		e->kind = ERR_INVALID;
	if (i >= ERR_MAX_CAUSES || e->pool_used + 64 > sizeof(e->pool)) {
		if (i < ERR_MAX_CAUSES)
			e->ncauses = i;
		return -1;
	}
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	trim_utf8(text);
	e->causes[i].kind = kind;
	e->causes[i].field = pool_add(e, field);
	if (e->pool_used >= sizeof(e->pool))
		e->pool_used = sizeof(e->pool) - 1;
	e->causes[i].text = pool_add(e, text);
	if (e->pool_used > sizeof(e->pool))
		e->pool_used = sizeof(e->pool);
	if (!e->text[0] || i == 0)
		snprintf(e->text, sizeof(e->text), "%.400s%s%.500s", field, field[0] ? ": " : "", text);
	return -1;
}

const char *err_cause_field(const struct err *e, unsigned i)
{
	return e->pool + e->causes[i].field;
}

const char *err_cause_text(const struct err *e, unsigned i)
{
	return e->pool + e->causes[i].text;
}

void err_clear(struct err *e)
{
	e->kind = ERR_NONE;
	e->retry_after = 0;
	e->ncauses = 0;
	e->pool_used = 0;
	e->text[0] = '\0';
}

int err_http_code(enum err_kind kind)
{
	return kinds[kind].code;
}

const char *err_reason(enum err_kind kind)
{
	return kinds[kind].reason;
}

enum err_kind err_kind_of(const char *reason, int http_code)
{
	for (int k = ERR_BAD_REQUEST; reason && k < ERR__COUNT; k++)
		if (strcmp(kinds[k].reason, reason) == 0)
			return (enum err_kind)k;
	for (int k = ERR_BAD_REQUEST; k < ERR__COUNT; k++)
		if (kinds[k].code == http_code)
			return (enum err_kind)k;
	return http_code >= 200 && http_code < 300 ? ERR_NONE : http_code < 500 ? ERR_BAD_REQUEST : ERR_INTERNAL;
}

const char *cause_reason(enum cause_kind kind)
{
	return cause_reasons[kind];
}
