// SPDX-License-Identifier: Apache-2.0
/* pbs_far.c - see pbs_far.h */
#include "kinds/pbs_far.h"

#include "base/jsonx.h"

static json_t *shell(const char *script)
{
	return json_pack("[s, s, s, s]", "/bin/sh", "-c", script, "pbs");
}

/* -1 is everybody but who asks, and number 1, which is not the job's. */
json_t *pbs_far_signal(int signo)
{
	json_t *command = shell("kill -\"$1\" -1");

	json_array_append_new(command, jsonx_stringf("%d", signo));
	return command;
}

json_t *pbs_far_message(int stream, struct str text)
{
	json_t *command = shell("read -r p <" PBS_FAR_PID " && printf %s \"$2\" >>\"/proc/$p/fd/$1\"");

	json_array_append_new(command, jsonx_stringf("%d", stream));
	json_array_append_new(command, jsonx_stringn(text.p, text.n));
	return command;
}
