// SPDX-License-Identifier: Apache-2.0
/* Jobs from accounts, from a description and from a line of settings, by the first byte; small ones are played. */
#include "base/mem.h"
#include "sched/outcome.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = size ? xstrndup((const char *)data + 1, size - 1) : xstrdup("");
	struct world_config config = WORLD_CONFIG;
	json_auto_t *nodes = NULL;
	struct err e = ERR_INIT;
	struct outcome o = { 0 };
	struct workload w;
	int r;

	workload_init(&w);
	if (size && data[0] == 'a')
		r = workload_read_accounts(&w, (struct str){ (const char *)data + 1, size - 1 }, &e);
	else if (size && data[0] == 'y')
		r = workload_read_yaml(&w, (struct str){ (const char *)data + 1, size - 1 }, &e);
	else
		r = size && data[0] == 'n' ? workload_nodes(text, &nodes, &e) : -1;
	for (size_t i = 0; i < w.n && i < 50; i++)
		w.jobs[i].members = w.jobs[i].members > 8 ? 8 : w.jobs[i].members;
	if (r == 0 && w.n < 50 && workload_nodes("3x4", &w.nodes, &e) == 0) {
		outcome_run(&o, &w, w.nodes, &config, NULL);
		outcome_done(&o);
	}
	workload_done(&w);
	return 0;
}
