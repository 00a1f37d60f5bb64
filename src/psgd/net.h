// SPDX-License-Identifier: Apache-2.0
/* net.h - addresses and TCP sockets */
#ifndef STOKER_PSGD_NET_H
#define STOKER_PSGD_NET_H

#include <signal.h>
#include <stdint.h>

#include "base/err.h"

/* A listening socket for "host:port": on that host's address if it is one of this machine, else on all. */
int net_listen(const char *address, int *ret_fd, struct err *e);
/* A connection, or an error within timeout_ms.  The socket does not block. */
int net_connect(const char *address, int timeout_ms, int *ret_fd, struct err *e);
/* For both sides: no waiting for more to send, and a vanished machine is noticed. */
void net_tune(int fd);

/* SIGINT and SIGTERM are blocked from here on and noticed only while waiting, through the mask. */
void stop_prepare(sigset_t *ret_while_waiting);
/* The signal that asked for the end, or 0. */
int stop_signal(void);

#endif
