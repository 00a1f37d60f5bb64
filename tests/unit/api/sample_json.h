// SPDX-License-Identifier: Apache-2.0
/* sample_json.h - tests write JSON with single quotes, so that tables stay readable */
#ifndef STOKER_TEST_SAMPLE_JSON_H
#define STOKER_TEST_SAMPLE_JSON_H

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A new reference; a backquote stands for a backslash.  A mistake in a test ends it. */
static inline json_t *sample_json(const char *text)
{
	json_error_t je;
	char *copy = strdup(text);
	json_t *v;

	for (char *p = copy; *p; p++)
		*p = *p == '\'' ? '"' : *p == '`' ? '\\' : *p;
	v = json_loads(copy, JSON_DECODE_ANY, &je);
	if (!v) {
		printf("bad JSON in a test: %s: %s\n", je.text, copy);
		abort();
	}
	free(copy);
	return v;
}

/* Compact text with double quotes as single ones, to be freed. */
static inline char *sample_text(const json_t *v)
{
	char *text = v ? json_dumps(v, JSON_COMPACT | JSON_ENCODE_ANY) : strdup("(none)");

	for (char *p = text; *p; p++)
		*p = *p == '"' ? '\'' : *p == '\\' ? '`' : *p;
	return text;
}

#define CHECK_JSON(got, want)                                                                                          \
	do {                                                                                                           \
		char *got_text_ = sample_text(got);                                                                    \
		CHECK_STR(got_text_, want);                                                                            \
		free(got_text_);                                                                                       \
	} while (0)

#endif
