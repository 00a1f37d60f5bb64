// SPDX-License-Identifier: Apache-2.0
/* service_address.h - cluster addresses and node ports of Services */
#ifndef STOKER_API_SERVICE_ADDRESS_H
#define STOKER_API_SERVICE_ADDRESS_H

#include "api/api.h"

/* Which are in use. */
struct service_addresses;
struct service_addresses *service_addresses_new(struct api *api);
void service_addresses_free(struct service_addresses *a);

/* Checks the addresses and ports that a Service asks for and puts those in that it leaves to the server.  Nothing is
 * taken yet: that is for service_address_written(), so a dry run only shows what it might be. */
int service_address_assign(struct api *api, const struct api_request *req, json_t *obj, const json_t *old,
			   struct err *e);
/* Takes and gives back; either may be NULL. */
void service_address_written(struct api *api, const json_t *obj, const json_t *old);

#endif
