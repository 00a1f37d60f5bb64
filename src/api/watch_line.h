// SPDX-License-Identifier: Apache-2.0
/* watch_line.h - one event as one line of text, in the form a watcher asked for */
#ifndef STOKER_API_WATCH_LINE_H
#define STOKER_API_WATCH_LINE_H

#include "api/watch.h"

/* What an event is about.  `obj` is in the stored form; `body` is its stored text or empty. */
struct watch_event {
	const char *type; /* ADDED, MODIFIED, DELETED */
	const json_t *obj;
	struct str body;
	int64_t rv;          /* of the event: for DELETED not that of the object */
	struct str managers; /* text that has metadata.managedFields if obj is without them (struct change); or empty */
};

struct watch_shape {
	const struct kind *kind;
	enum watch_form form;
	enum include_object include;
	const char *meta_version;
};

/* Appends the line.  `first`: a table's columns go with it. */
void watch_line(const struct watch_shape *shape, const struct watch_event *ev, bool first, struct sbuf *out);
/* The same event as an object with kind and apiVersion, a new reference. */
json_t *watch_object(const struct watch_shape *shape, const struct watch_event *ev);
/* The object of a bookmark, new; `list_end`: of the one that ends sendInitialEvents. */
json_t *watch_bookmark(const struct watch_shape *shape, int64_t rv, bool list_end);
void watch_line_bookmark(const struct watch_shape *shape, int64_t rv, bool list_end, struct sbuf *out);
void watch_line_error(const struct err *e, struct sbuf *out);

#endif
