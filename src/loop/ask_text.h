// SPDX-License-Identifier: Apache-2.0
/* ask_text.h - the text of a question, and where a redirect leads.  Pure; for ask.c and its tests */
#ifndef STOKER_LOOP_ASK_TEXT_H
#define STOKER_LOOP_ASK_TEXT_H

#include <jansson.h>

#include "base/str.h"

/* What is asked, and of whom; owns its texts. */
struct ask_place {
	char *host, *path; /* path NULL: only connect */
	int port;
	bool https;
};

/* "host:port", "[::1]:80"; malloc'ed. */
char *ask_text_address(const struct ask_place *at);
/* What may not stand in a request line is escaped; what is escaped already stays.  Malloc'ed. */
char *ask_text_path(const char *path);
void ask_text_question(const struct ask_place *to, const char *agent, const json_t *headers, struct sbuf *out);
/* Goes where a Location header leads; false if that is another host, or nothing we can ask. */
bool ask_text_redirect(struct ask_place *at, const char *location);

#endif
