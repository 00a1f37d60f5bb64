// SPDX-License-Identifier: Apache-2.0
/* watch.h - changes as they are committed, to everyone who asked
 *
 * A watcher is fed in one of three states: LISTING (the objects there at its start), BEHIND (reading the store's
 * history), LIVE (events as they are committed).  A reader too slow for LIVE falls back to BEHIND, where it costs
 * nothing but its place in the history, and is cut off when it does not move for a minute or its place has been
 * compacted.
 */
#ifndef STOKER_API_WATCH_H
#define STOKER_API_WATCH_H

#include "api/api.h"
#include "api/wire.h"

struct watcher;
struct http_shared;

enum watch_form { WATCH_JSON, WATCH_TABLE, WATCH_PARTIAL };

/* Where a watcher's events go: as lines, which end with '\n' and are shared between watchers (write() must copy or
 * queue them), or, for clients in this process, as objects with kind and apiVersion. */
struct watch_sink {
	/* `shared` is NULL, or a place to keep the line's framed form for the next watcher. */
	void (*write)(void *arg, struct str line, struct http_shared **shared);
	/* Set: takes every event but errors instead of write(). */
	void (*object)(void *arg, const char *type, const json_t *obj);
	/* Bytes the other end has not taken yet. */
	size_t (*pending)(void *arg);
	/* The stream is over: cleanly, or cut because the reader was too slow or its place is gone. */
	void (*end)(void *arg, bool cut);
	void *arg;
};

struct watch_options {
	enum watch_form form;
	enum include_object include; /* tables */
	const char *meta_version;    /* "v1", "v1beta1": of tables and partial metadata */
	bool bookmarks;
	bool initial_events; /* sendInitialEvents: a bookmark marks the end of the list */
	bool skip_list;      /* start behind `since` */
	int64_t since;       /* a resourceVersion; 0: none was given, start with the changes from now on */
	int64_t timeout_seconds;
};

struct watch_hub *watch_hub_new(struct api *api);
void watch_hub_free(struct watch_hub *hub);
/* Ends every watch that goes over the wire, cleanly; those of clients in this process stay. */
void watch_hub_drain(struct watch_hub *hub);
/* The same for the watches of one stored kind that is no longer served, once they have told what happened to it. */
void watch_hub_retire(struct watch_hub *hub, int store_kind);
/* Checks rights and parameters, then starts; events follow from the loop.  Selectors in req are taken over on success.
 */
int watch_start(struct watch_hub *hub, const struct api_request *req, const struct watch_options *o,
		const struct watch_sink *sink, struct watcher **ret, struct err *e);
/* The sink is gone; no call into it follows. */
void watch_stop(struct watcher *w);
/* The sink has taken all that was pending. */
void watch_drained(struct watcher *w);
size_t watch_count(const struct watch_hub *hub);

#endif
