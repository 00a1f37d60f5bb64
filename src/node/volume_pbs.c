// SPDX-License-Identifier: Apache-2.0
/* volume_pbs.c - csi: {driver: pbs.stoker.dev}: the node file, GPU file and script of the PBS job that a pod is of
 *
 * Who has the pod's job writes them (pod_pbs.c).  They are written once: a script that runs must not change under it.
 */
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/volume_parts.h"

#define DRIVER "pbs.stoker.dev"

int volume_pbs_prepare(const struct volume *v, struct err *e)
{
	const char *driver = jsonx_str_or(v->source, "driver", "");
	auto_free char *made = xasprintf("%s/aux", v->path);

	if (!streq(driver, DRIVER))
		return err_set(e, ERR_INVALID, "csi driver %s is not known here; there is only " DRIVER, driver);
	if (!v->c->job_files)
		return err_set(e, ERR_INVALID, "csi driver " DRIVER " is for pods of PBSJobs only");
	return access(made, F_OK) == 0 ? 0 : v->c->job_files(v->c->arg, v->path, e);
}
