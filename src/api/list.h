// SPDX-License-Identifier: Apache-2.0
/* list.h - a list in steps: at one revision, in key order, never longer than a turn may take */
#ifndef STOKER_API_LIST_H
#define STOKER_API_LIST_H

#include "api/api.h"

struct list_walk {
	int kind;
	int64_t at;     /* the revision every step reads at */
	char *after_ns; /* where the next step starts */
	char *after_name;
	struct store_past *past; /* what has changed since */
	int64_t sent;            /* matches given out, earlier pages included */
	int64_t all;  /* that there were at that revision, counted at the end of the first page; -1: not yet */
	int64_t left; /* of the page's limit; -1: no limit */
	bool more;    /* the limit was reached and at least one match is behind it */
	bool done;
};

/* Reads the request's limit, continue token and resourceVersion. */
int list_walk_init(struct api *api, const struct api_request *req, struct list_walk *w, struct err *e);
/* The pure half: sets where a continue token says to go on; ERR_BAD_REQUEST if it is none, or not from before `now`. */
int list_walk_resume(struct list_walk *w, const char *token, int64_t now, struct err *e);
void list_walk_done(struct list_walk *w);
/* Looks at no more than `max_scan` objects and gives the matching ones to fn until it returns false (the object it was
 * called with counts as given).  Sets w->done at the end.  fn may not call the store. */
int list_walk_step(struct api *api, const struct api_request *req, struct list_walk *w, bool want_objects, int max_scan,
		   bool (*fn)(void *arg, const struct api_item *item), void *arg, struct err *e);
/* Token for the rest, owned, or NULL; and how many are behind it, -1 if unknown. */
char *list_walk_token(struct api *api, const struct api_request *req, struct list_walk *w, int64_t *ret_remaining);

#endif
