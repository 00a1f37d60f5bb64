// SPDX-License-Identifier: Apache-2.0
/* control.c - starts and stops the controllers */
#include "control/control.h"

#include "base/mem.h"
#include "control/claims.h"
#include "control/endpoints.h"
#include "control/gc.h"
#include "control/namespace.h"

struct control {
	struct namespaces *namespaces;
	struct gc *gc;
	struct endpoints *endpoints;
	struct claims *claims;
};

struct control *control_new(struct client *c)
{
	struct control *k = xcalloc(1, sizeof(*k));

	k->namespaces = namespaces_new(c);
	k->gc = gc_new(c);
	k->endpoints = endpoints_new(c);
	k->claims = claims_new(c);
	return k;
}

void control_free(struct control *k)
{
	if (!k)
		return;
	endpoints_free(k->endpoints);
	claims_free(k->claims);
	gc_free(k->gc);
	namespaces_free(k->namespaces);
	free(k);
}
