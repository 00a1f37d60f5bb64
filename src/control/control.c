// SPDX-License-Identifier: Apache-2.0
/* control.c - starts and stops the controllers */
#include "control/control.h"

#include "base/mem.h"
#include "control/claims.h"
#include "control/cronjob.h"
#include "control/endpoints.h"
#include "control/gc.h"
#include "control/job.h"
#include "control/namespace.h"

struct control {
	struct namespaces *namespaces;
	struct gc *gc;
	struct endpoints *endpoints;
	struct claims *claims;
	struct owned *owned; /* the pods of those below */
	struct jobs *jobs;
	struct cronjobs *cronjobs;
};

struct control *control_new(struct client *c)
{
	struct control *k = xcalloc(1, sizeof(*k));

	k->namespaces = namespaces_new(c);
	k->gc = gc_new(c);
	k->endpoints = endpoints_new(c);
	k->claims = claims_new(c);
	k->owned = owned_new(c);
	k->jobs = jobs_new(c, k->owned);
	k->cronjobs = cronjobs_new(c);
	return k;
}

void control_free(struct control *k)
{
	if (!k)
		return;
	cronjobs_free(k->cronjobs);
	jobs_free(k->jobs);
	owned_free(k->owned);
	endpoints_free(k->endpoints);
	claims_free(k->claims);
	gc_free(k->gc);
	namespaces_free(k->namespaces);
	free(k);
}
