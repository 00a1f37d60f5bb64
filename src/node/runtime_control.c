// SPDX-License-Identifier: Apache-2.0
/* runtime_control.c - asking a running container's monitor: attach, terminal size, a new log file */
#include "node/runtime_parts.h"

static struct box *running(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = map_find(&((struct oci *)r)->boxes, id);

	if (b && b->state == BOX_RUNNING)
		return b;
	err_set(e, ERR_NOT_FOUND, "container %s is not running", id);
	return NULL;
}

int oci_resize(struct runtime *r, const char *id, int rows, int cols, struct err *e)
{
	struct box *b = running(r, id, e);
	struct monitor_command command = { .what = MONITOR_RESIZE, .rows = rows, .cols = cols };

	return b ? monitor_tell(b, &command, e) : -1;
}

int oci_reopen_log(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = running(r, id, e);
	struct monitor_command command = { .what = MONITOR_REOPEN };

	return b ? monitor_tell(b, &command, e) : -1;
}

int oci_attach(struct runtime *r, const char *id, struct err *e)
{
	struct box *b = running(r, id, e);

	return b ? monitor_connect(b, MONITOR_ATTACH, e) : -1;
}
