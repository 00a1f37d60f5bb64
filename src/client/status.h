// SPDX-License-Identifier: Apache-2.0
/* status.h - a server's refusal becomes an error with its own words */
#ifndef STOKER_CLIENT_STATUS_H
#define STOKER_CLIENT_STATUS_H

#include <jansson.h>

#include "base/err.h"

/* The server's Status as an error; 0 if the reply is a success. */
int client_status_error(const json_t *doc, int code, struct err *e);

/* A uid in a patch is how a caller says which object it means; that it is another one by now is refused as an invalid
 * change, but is a conflict like any other. */
void client_status_settle(struct err *e);

#define CLIENT_UNKNOWN "the server could not find the requested resource" /* a path that it does not know */

/* An answer that is no JSON: a real server has none for groups that it does not serve, nor a proxy in front of it. */
int client_status_plain(int code, struct err *e);

#endif
