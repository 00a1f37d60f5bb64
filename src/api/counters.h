// SPDX-License-Identifier: Apache-2.0
/* counters.h - what /metrics tells of the API: requests answered, objects stored */
#ifndef STOKER_API_COUNTERS_H
#define STOKER_API_COUNTERS_H

#include "api/api.h"

struct counters;

struct counters *counters_new(struct api *api);
void counters_free(struct counters *c);
/* One request was answered; k is NULL for what is no resource. */
void counters_request(struct counters *c, const char *verb, const struct kind *k, const char *subresource, int code);
/* When the turn's writes are committed, for what is counted then is kept up to date from there on. */
void counters_text(struct counters *c, struct sbuf *out);

#endif
