// SPDX-License-Identifier: Apache-2.0
/* runtime.c - picks the implementation by name */
#include "node/runtime.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"
#include "node/runtime_parts.h"

static const struct {
	const char *name;
	int (*open)(struct loop *loop, const struct runtime_config *config, struct runtime **ret, struct err *e);
} kinds[] = {
	{ "auto", oci_open },
	{ "crun", oci_open },
	{ "runc", oci_open },
	{ "fake", fake_open },
};

int runtime_open(struct loop *loop, const struct runtime_config *config, const struct runtime_events *events,
		 struct runtime **ret, struct err *e)
{
	struct runtime *r = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!streq(kinds[i].name, config->name))
			continue;
		if (kinds[i].open(loop, config, &r, e) < 0)
			return -1;
		r->events = *events;
		*ret = r;
		return 0;
	}
	return err_set(e, ERR_INVALID, "runtime \"%s\": must be auto, crun, runc or fake", config->name);
}

void runtime_free(struct runtime *r)
{
	if (r)
		r->ops->free(r);
}
