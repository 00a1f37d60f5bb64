// SPDX-License-Identifier: Apache-2.0
/* err.h - the one way an error travels
 *
 * A `struct err` lives on the caller's stack, is never NULL, and owns nothing.  Going up, callers add
 * context with err_prefix(); at the edge it is shown once: as a Kubernetes Status by api/status.c, as a
 * line on stderr by cli/.  `kind` alone decides the HTTP code and reason.
 *
 * An invalid object may be wrong in several places; err_cause() collects them, each with its field path.
 */
#ifndef STOKER_BASE_ERR_H
#define STOKER_BASE_ERR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum err_kind {
	ERR_NONE,
	ERR_BAD_REQUEST,
	ERR_UNAUTHORIZED,
	ERR_FORBIDDEN,
	ERR_NOT_FOUND,
	ERR_NO_METHOD,
	ERR_NOT_ACCEPTABLE,
	ERR_EXISTS,
	ERR_CONFLICT,
	ERR_EXPIRED,
	ERR_TOO_LARGE,
	ERR_UNSUPPORTED_MEDIA,
	ERR_INVALID,
	ERR_TOO_MANY,
	ERR_INTERNAL,
	ERR_UNAVAILABLE,
	ERR_TIMEOUT,
	ERR_STORAGE_FULL,
	ERR_CORRUPT,
	ERR__COUNT
};

/* Why one field is wrong; the names are those of Kubernetes' StatusCause. */
enum cause_kind {
	CAUSE_REQUIRED,      /* FieldValueRequired      "Required value"      */
	CAUSE_INVALID,       /* FieldValueInvalid       "Invalid value: ..."  */
	CAUSE_NOT_SUPPORTED, /* FieldValueNotSupported  "Unsupported value:"  */
	CAUSE_DUPLICATE,     /* FieldValueDuplicate     "Duplicate value: "   */
	CAUSE_FORBIDDEN,     /* FieldValueForbidden     "Forbidden: ..."      */
	CAUSE_NOT_FOUND,     /* FieldValueNotFound      "Not found: ..."      */
	CAUSE_TOO_LONG,      /* FieldValueTooLong       "Too long: ..."       */
	CAUSE_TOO_MANY,      /* FieldValueTooMany       "Too many: ..."       */
	CAUSE_TYPE,          /* FieldValueTypeInvalid   "Invalid value: ..."  */
	CAUSE_MANAGER,       /* FieldManagerConflict    conflict with "m"     */
	CAUSE_TERMINATING,   /* NamespaceTerminating                          */
	CAUSE_RV_TOO_LARGE,  /* ResourceVersionTooLarge                       */
	CAUSE_BUDGET,        /* DisruptionBudget                              */
	CAUSE__COUNT
};

#define ERR_MAX_CAUSES 16

struct err {
	enum err_kind kind;
	int retry_after;  /* seconds, 0 = none */
	unsigned ncauses; /* all of them; only the first ERR_MAX_CAUSES are kept */
	struct {
		enum cause_kind kind;
		uint16_t field; /* offsets into pool */
		uint16_t text;
	} causes[ERR_MAX_CAUSES];
	size_t pool_used;
	char text[1024];
	char pool[3072];
};

#define ERR_INIT ((struct err){ .kind = ERR_NONE })

/* Sets kind and text, forgets causes.  Returns -1 so that a caller can `return err_set(...)`. */
int err_set(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* As err_set with ": " and strerror(errno) at the end. */
int err_errno(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Another kind and text for an error that keeps its causes.  Returns -1. */
int err_reword(struct err *e, enum err_kind kind, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Puts "context: " before the text.  Returns -1. */
int err_prefix(struct err *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Adds one wrong field and makes the error ERR_INVALID (unless it already has a kind).  The message is the
 * text after the field, in full: cause_text(kind) gives its usual opening.  Returns -1. */
int err_cause(struct err *e, enum cause_kind kind, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

const char *err_cause_field(const struct err *e, unsigned i);
const char *err_cause_text(const struct err *e, unsigned i);

/* Forgets everything. */
void err_clear(struct err *e);

/* HTTP code and Kubernetes reason of a kind: 404, "NotFound". */
int err_http_code(enum err_kind kind);
const char *err_reason(enum err_kind kind);
/* The reverse, for clients: reason first, else code. */
enum err_kind err_kind_of(const char *reason, int http_code);
/* "FieldValueRequired" ... */
const char *cause_reason(enum cause_kind kind);

#endif
