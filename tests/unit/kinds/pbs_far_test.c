// SPDX-License-Identifier: Apache-2.0
/* Commands for pods of other clusters, as a shell takes them. */
#include "kinds/pbs_far.h"

#include <signal.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

TEST("a signal and a message are a shell's words, and nothing in them is the shell's")
{
	const struct {
		json_t *command;
		const char *words;
	} rows[] = {
		{ pbs_far_signal(SIGUSR1), "[\"/bin/sh\",\"-c\",\"kill -\\\"$1\\\" -1\",\"pbs\",\"10\"]" },
		{ pbs_far_message(2, STR("it's $HOME; %s\n")),
		  "[\"/bin/sh\",\"-c\",\"read -r p </var/spool/pbs/aux/pid && printf %s \\\"$2\\\" "
		  ">>\\\"/proc/$p/fd/$1\\\"\",\"pbs\",\"2\",\"it's $HOME; %s\\n\"]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf text = SBUF(4096);

		jsonx_dump(rows[i].command, &text);
		CHECK_STR(text.p, rows[i].words);
		json_decref(rows[i].command);
	}
}
