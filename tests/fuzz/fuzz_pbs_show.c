// SPDX-License-Identifier: Apache-2.0
/* fuzz_pbs_show.c - what a server or a kernel sends, as the PBS commands show it */
#include "base/mem.h"
#include "pbs/board.h"
#include "pbs/fold.h"
#include "pbs/gpu_board.h"
#include "pbs/kernel_log.h"
#include "pbs/processes.h"
#include "pbs/qstat_rows.h"
#include "pbs/slots.h"
#include "pbs/xml.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = xstrndup((const char *)data, size);
	struct qstat_wide w = { .layout = 6, .host_style = 4, .unit = 'G', .nodes = true, .comment = true };
	struct str rest = { (const char *)data, size };
	auto_sbuf struct sbuf out = SBUF(1u << 20);
	struct process process;
	struct board_row r;
	struct pbs_id id;

	while (board_row_next(&rest, &r)) {
		qstat_plain_row(&r, &out);
		qstat_wide_row(&r, &w, &out);
		gpu_board_job(&r, &out);
		if (pbs_id_parse("189[2-4]", &id))
			board_is(&r, &id, true);
		board_row_is_of(&r, "a,b@c");
	}
	kernel_log_add((struct str){ (const char *)data, size }, 0, 0, &out);
	process_parse(text, text, 4, &process);
	fold_attribute("name", NULL, text, false, &out);
	xml_element(text, text, &out);
	return 0;
}
