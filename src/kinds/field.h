// SPDX-License-Identifier: Apache-2.0
/* field.h - one table of fields per message; everything else is derived from it
 *
 * The same rows decode JSON and protobuf, report unknown fields, fill in defaults, check types, required values and
 *enums, tell patches how lists merge, and become OpenAPI v2, v3 and the text of `kubectl explain`.  A fact about a
 *field is stated here once.
 *
 * Rows are written with the macros at the end of this file, one line a field:
 *
 *	static const struct field container_fields[] = {
 *		F(1, "name", STRING, .flags = FIELD_REQUIRED, .doc = "Name of the container; a DNS label."),
 *		FL(6, "ports", OBJECT, .msg = &container_port, .merge_key = "containerPort",
 *		   .list_keys = "containerPort,protocol", .doc = "..."),
 *		F(14, "imagePullPolicy", STRING, .values = "Always|IfNotPresent|Never"),
 *	};
 *	const struct message container = MESSAGE("io.k8s.api.core.v1.Container", container_fields, .doc = "...",
 *						 .defaults = container_defaults, .validate = container_validate);
 */
#ifndef STOKER_KINDS_FIELD_H
#define STOKER_KINDS_FIELD_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/str.h"

enum field_type {
	FIELD_STRING,
	FIELD_BOOL,
	FIELD_INT32,
	FIELD_INT64,
	FIELD_DOUBLE,
	FIELD_BYTES,     /* base64 text in JSON */
	FIELD_TIME,      /* RFC3339, seconds */
	FIELD_MICROTIME, /* RFC3339, microseconds */
	FIELD_QUANTITY,  /* "500m", "2Gi"; numbers are accepted */
	FIELD_INTSTR,    /* integer or string */
	FIELD_DURATION,  /* Go duration text */
	FIELD_ANY,       /* any JSON value, kept as it is (RawExtension, JSON, FieldsV1) */
	FIELD_OBJECT     /* a message */
};

enum field_shape {
	SHAPE_ONE,
	SHAPE_LIST,
	SHAPE_MAP /* string keys */
};

enum field_flags {
	FIELD_REQUIRED = 1 << 0,    /* absent or "" is "Required value" */
	FIELD_POINTER = 1 << 1,     /* protobuf: a zero value was set on purpose and is kept */
	FIELD_INLINE = 1 << 2,      /* protobuf only: the message's members belong to the parent in JSON */
	FIELD_SET = 1 << 3,         /* list of scalars that is a set: strategic merge unions it, apply owns members */
	FIELD_RETAIN_KEYS = 1 << 4, /* strategic merge: patchStrategy includes retainKeys */
	FIELD_REPLACE = 1 << 5,     /* strategic merge: a map that is replaced */
	FIELD_ATOMIC = 1 << 6,      /* apply: owned as a whole (x-kubernetes-map-type or list-type: atomic) */
	FIELD_EMBEDDED = 1 << 7     /* FIELD_ANY that holds a whole object (x-kubernetes-embedded-resource) */
};

struct field {
	const char *name;          /* in JSON */
	const char *doc;           /* for explain; NULL where none */
	const struct message *msg; /* FIELD_OBJECT */
	const char *dflt;          /* JSON text put in when the field is absent, or NULL */
	const char *values;        /* allowed strings "A|B|C", or NULL */
	const char *merge_key;     /* strategic merge key of a list, or NULL: the list is replaced */
	const char *list_keys;     /* apply: key names "port,protocol"; NULL: merge_key */
	uint16_t number;           /* protobuf field number, 0 = not on that wire */
	uint16_t flags;
	uint8_t type;
	uint8_t shape;
	bool has_min;
	int32_t min; /* numbers: smallest allowed value when has_min */
};

/* Where we are in an object, for error texts; lives on the stack, innermost first. */
struct path {
	const struct path *up;
	const char *name; /* a field, or NULL: an index or a key */
	const char *key;  /* map key, or NULL */
	size_t index;
	const json_t *in; /* the object that has the field; NULL outside of message_validate() */
};

#define PATH_FIELD(up_, name_) (&(struct path){ .up = (up_), .name = (name_) })
#define PATH_INDEX(up_, i_)    (&(struct path){ .up = (up_), .index = (i_) })
#define PATH_KEY(up_, key_)    (&(struct path){ .up = (up_), .key = (key_) })
/* "spec.containers[0].env[2].name", "metadata.labels[a/b]"; cut to fit.  Returns buf. */
const char *path_text(const struct path *at, char *buf, size_t n);
/* The usual complaints, as Kubernetes words them. `at` may be NULL for the object itself. */
int path_required(const struct path *at, struct err *e, const char *detail /* or NULL */);
int path_invalid(const struct path *at, struct err *e, const json_t *value, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
int path_unsupported(const struct path *at, struct err *e, const char *value, const char *values /* "A|B" */);
int path_duplicate(const struct path *at, struct err *e, const json_t *value);
int path_forbidden(const struct path *at, struct err *e, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

struct message {
	const char *name; /* OpenAPI definition: io.k8s.api.core.v1.Container */
	const char *doc;
	const struct field *fields;
	size_t nfields;
	bool atomic; /* apply owns values of this message as a whole */
	/* What a table of literals cannot say.  Runs after the rows' own defaults for this object, before its children.
	 */
	void (*defaults)(json_t *obj);
	/* Further rules for one value of this message; adds causes to e.  Runs after the rows' own checks. */
	void (*validate)(const json_t *obj, const struct path *at, struct err *e);
};

/* The row of a JSON member, also one that belongs to an inlined message; NULL if there is none. */
const struct field *message_field(const struct message *m, const char *name);
const struct field *message_field_number(const struct message *m, unsigned number);

/* What decoding noticed: fields that the table does not know (paths, joined later into warnings or an error).  Only the
 * first DECODE_MAX_UNKNOWN are kept. */
#define DECODE_MAX_UNKNOWN 100

struct decode_report {
	json_t *unknown; /* array of path strings; NULL until the first */
};

/* Checks the types of everything in obj against the table and normalises (quantities, times, nulls dropped); removes
 * unknown fields and reports them.  A wrong type is ERR_BAD_REQUEST naming the path: `json: cannot unmarshal string
 * into Go struct field JobSpec.spec.parallelism of type int32` in spirit. */
int message_decode(const struct message *m, json_t *obj, struct decode_report *report, struct err *e);
/* The same for a part of an object: `at` says where it is. */
int message_decode_at(const struct message *m, json_t *obj, const struct path *at, struct decode_report *report,
		      struct err *e);
/* Fills in defaults everywhere below obj. */
void message_default(const struct message *m, json_t *obj);
/* Only what the message itself says, nothing within its members. */
void message_default_top(const struct message *m, json_t *obj);
/* Rows' rules, then the messages' own functions, depth first.  Adds causes; returns -1 if there is any. */
int message_validate(const struct message *m, const json_t *obj, const struct path *at, struct err *e);

#define MESSAGE(name_, fields_, ...)                                                                                   \
	{                                                                                                              \
		.name = name_, .fields = fields_, .nfields = sizeof(fields_) / sizeof((fields_)[0]), __VA_ARGS__       \
	}

/* One value, a list, a map.  TYPE is the part after FIELD_. */
#define F(no_, name_, type_, ...)                                                                                      \
	{                                                                                                              \
		.number = no_, .name = name_, .type = FIELD_##type_, .shape = SHAPE_ONE, ##__VA_ARGS__                 \
	}
#define FL(no_, name_, type_, ...)                                                                                     \
	{                                                                                                              \
		.number = no_, .name = name_, .type = FIELD_##type_, .shape = SHAPE_LIST, ##__VA_ARGS__                \
	}
#define FM(no_, name_, type_, ...)                                                                                     \
	{                                                                                                              \
		.number = no_, .name = name_, .type = FIELD_##type_, .shape = SHAPE_MAP, ##__VA_ARGS__                 \
	}

#endif
