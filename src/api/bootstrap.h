// SPDX-License-Identifier: Apache-2.0
/* bootstrap.h - the objects every cluster has from its first second */
#ifndef STOKER_API_BOOTSTRAP_H
#define STOKER_API_BOOTSTRAP_H

#include "api/api.h"

/* Makes what is missing; a complete store costs one look-up a row. */
int bootstrap(struct api *api, struct err *e);
/* Makes one object from JSON text unless it exists. */
int bootstrap_object(struct api *api, const char *group, const char *version, const char *plural, const char *ns,
		     const char *name, const char *json, struct err *e);

/* A Service was written or, with obj NULL, removed: default/kubernetes comes back at once, in the same transaction. */
void bootstrap_written(struct api *api, const json_t *obj, const json_t *old);

#endif
