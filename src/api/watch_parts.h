// SPDX-License-Identifier: Apache-2.0
/* watch_parts.h - what the files of watches share */
#ifndef STOKER_API_WATCH_PARTS_H
#define STOKER_API_WATCH_PARTS_H

#include "api/list.h"
#include "api/watch_line.h"
#include "base/json_alike.h"

#define STEP_BYTES (256 * 1024) /* told or read in one step */

enum watch_state { LISTING, BEHIND, LIVE };

struct watcher {
	struct watch_hub *hub;
	struct watcher *next, **pprev; /* of the same stored kind */
	struct watcher *run_next;
	bool queued;
	bool stopped; /* while readers are called: released when they are done */
	enum watch_state state;
	bool placed;   /* `walk` or `since` says where it is */
	bool from_now; /* BEHIND, from the revision of the first step */
	bool last;     /* its kind has gone: it ends when it has told everything */
	struct api_request req;
	char *ns;
	int kind;
	struct watch_shape shape;
	bool bookmarks;
	bool mark_list_end;
	bool columns_sent;
	struct list_walk walk;
	struct watcher *leader; /* LISTING: whose walk it follows, or NULL: its own */
	bool leads;             /* others follow */
	int64_t since;          /* BEHIND: last revision dealt with */
	int64_t progress_ms;    /* when the reader last took everything */
	struct watch_sink sink;
	struct loop_timer timeout;
};

struct watch_hub {
	struct api *api;
	struct store_subscriber sub;
	struct watcher **by_kind;
	int nkinds;
	size_t count;
	size_t outside; /* of them, those that have a queue of what is not sent yet */
	struct watcher *runnable, **run_last;
	unsigned telling; /* readers are being called, who may stop any watch: nobody is unlinked */
	unsigned stopped; /* meanwhile */
	struct loop_hook work;
	struct loop_timer tick;
	unsigned ticks;
	struct json_alike alike; /* what clients in this process were told last */
};

/* The object of one change, shared by all that keep it. */
struct shared_object {
	const struct kind *kind;
	bool deleted;
	json_t *obj;
};

void watch_make_runnable(struct watcher *w);
void watch_send(struct watcher *w, const struct sbuf *line);
/* To a client in this process; `shared` is made by the first of them and freed by the caller. */
void watch_send_object(struct watcher *w, const struct watch_event *ev, struct shared_object *shared);
void watch_send_bookmark(struct watcher *w, int64_t rv, bool list_end);
void watch_end_expired(struct watcher *w);

/* ---- watch_list.c ---- */

/* Before its first step: it leads all others that may go with it. */
void watch_gather(struct watcher *w);
/* It leaves: those that followed it follow the first of them. */
void watch_hand_over(struct watcher *w);
void watch_step_listing(struct watcher *w);

/* ---- watch_behind.c ---- */

void watch_step_behind(struct watcher *w);
bool watch_in_scope(const struct watcher *w, const char *ns);
/* What a change from `old` to `obj` (either may be NULL) is for this watcher: ADDED, ...; NULL: nothing. */
const char *watch_event_type(const struct watcher *w, const json_t *obj, const json_t *old);

#endif
