// SPDX-License-Identifier: Apache-2.0
/* plot_read.h - a job's measurements: what the server kept, or where it keeps none, what the logs of its pods say */
#ifndef STOKER_CLI_PLOT_READ_H
#define STOKER_CLI_PLOT_READ_H

#include <jansson.h>

#include "client/client.h"
#include "kinds/kind.h"

/* A document like the server's (api/rest_measures.c); `kind` may be NULL. */
int plot_read(struct client *c, const struct kind *kind, const char *ns, const char *name, json_t **ret, struct err *e);

#endif
