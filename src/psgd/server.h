// SPDX-License-Identifier: Apache-2.0
/* server.h - a parameter server: sockets around a slice */
#ifndef STOKER_PSGD_SERVER_H
#define STOKER_PSGD_SERVER_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"

struct server_settings {
	int listener; /* taken over */
	uint32_t index, servers;
	const char *checkpoint_dir; /* or NULL */
	const char *share_dir;      /* or NULL: where trainers on this machine may find shared memory */
	int64_t save_every_ms;
	int64_t patience_ms; /* for a trainer that is away */
	int64_t idle_ms;     /* without any trainer: then the server gives up */
	const sigset_t *waiting;
};

/* Serves until the leader says that training is over (0), a signal comes (0; see stop_signal()), or something is wrong.
 */
int server_run(const struct server_settings *settings, struct err *e);

#endif
