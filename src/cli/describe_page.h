// SPDX-License-Identifier: Apache-2.0
/* describe_page.h - the page of `stoker describe`.  Pure */
#ifndef STOKER_CLI_DESCRIBE_PAGE_H
#define STOKER_CLI_DESCRIBE_PAGE_H

#include "cli/about.h"
#include "cli/page.h"

void describe_page(const struct about *a, struct page *p);
/* How it stands, in one sentence. */
enum tint describe_state(const struct about *a, struct sbuf *out);
/* The same for programs: state, object, pods, made, beside, events, logs, advice.  A new object. */
json_t *describe_json(const struct about *a);

#endif
