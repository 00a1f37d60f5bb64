// SPDX-License-Identifier: Apache-2.0
/* fuzz_apply.c - a live object and a configuration: applying with force works or complains, applying again changes
 * nothing, and an update to the same configuration keeps a valid record */
#include <stdlib.h>

#include "../unit/api/sample_types.h"
#include "api/fieldset.h"
#include "api/managers.h"
#include "api/patch.h"
#include "two_documents.h"

static bool record_valid(const json_t *obj)
{
	struct managers m;
	bool valid = managers_read(jsonx_at(obj, "metadata.managedFields"), false, &m);

	managers_done(&m);
	return valid;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct apply_request req = { .kind = &sample_kind, .manager = "fuzz", .force = true, .now = 1 };
	json_t *live, *config, *once = NULL, *twice = NULL;
	struct err e = ERR_INIT;

	if (!two_documents(data, n, &live, &config))
		return 0;
	if (json_is_object(live) && json_is_object(config)) {
		if (apply_merge(&req, live, config, &once, &e) == 0) {
			if (record_valid(live) && !record_valid(once))
				abort();
			req.now = 2;
			if (apply_merge(&req, once, config, &twice, &e) < 0)
				abort();
			/* Once nobody owns anything the next apply begins a new record. */
			if (jsonx_at(once, "metadata.managedFields") && !jsonx_equal(once, twice))
				abort();
		}
		req.manager = "other";
		apply_track_update(&req, live, config);
	}
	json_decref(once);
	json_decref(twice);
	json_decref(live);
	json_decref(config);
	return 0;
}
