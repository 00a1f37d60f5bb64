// SPDX-License-Identifier: Apache-2.0
/* selector.h - label and field selectors: parsed once, matched often */
#ifndef STOKER_KINDS_SELECTOR_H
#define STOKER_KINDS_SELECTOR_H

#include "kinds/kind.h"

struct selector;

/* "a=b,c in (d,e),!f,g>1".  Bad text is ERR_BAD_REQUEST with what is wrong and where.  NULL or empty text gives a
 * selector that matches everything. */
int selector_parse_labels(const char *text, struct selector **ret, struct err *e);
/* "metadata.name=x,status.phase!=Failed" for one kind; an unknown label is ERR_BAD_REQUEST `field label not supported:
 * x`. */
int selector_parse_fields(const char *text, const struct kind *k, struct selector **ret, struct err *e);
/* From a LabelSelector object (matchLabels, matchExpressions); an empty one matches everything, NULL nothing. */
int selector_from_json(const json_t *label_selector, struct selector **ret, struct err *e);
void selector_free(struct selector *s);
bool selector_is_everything(const struct selector *s); /* NULL too */
/* `labels` may be NULL. */
bool selector_match_labels(const struct selector *s, const json_t *labels);
bool selector_match_fields(const struct selector *s, const json_t *obj);
/* A quick look at an object's text before it is decoded: false only if it cannot match, because a key or value that it
 * needs is nowhere in the text.  For selectors of labels or of fields. */
bool selector_may_match(const struct selector *s, struct str text);
/* The one value a field selector demands for `label` by '=', or NULL: lets a list go straight to an object. */
const char *selector_field_equals(const struct selector *s, const char *label);
/* Canonical text for Scale.status.selector. */
void selector_text(const struct selector *s, struct sbuf *out);

#endif
