// SPDX-License-Identifier: Apache-2.0
/* socket.c - the way to the server of this machine, which knows us by the kernel's word */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/quick.h"
#include "pbs/pbs.h"

bool pbs_socket_path(struct sbuf *out)
{
	const char *socket = getenv("STOKER_SOCKET");
	const char *config = getenv("KUBECONFIG");

	if (socket && *socket) {
		sbuf_adds(out, socket);
		return true;
	}
	if (config && *config)
		return false;
	return usual_socket_path(out);
}

void pbs_run_stoker(const char *command, int argc, char *const *argv)
{
	char self[LIMIT_URL];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - sizeof("stoker"));
	auto_free char **args = xcalloc((size_t)argc + 1, sizeof(*args));
	auto_free char *name = xstrdup(command);

	if (n <= 0)
		return;
	self[n] = 0;
	memcpy(strrchr(self, '/') + 1, "stoker", sizeof("stoker"));
	args[0] = name;
	for (int i = 1; i < argc; i++)
		args[i] = argv[i];
	execv(self, args);
}

static void *socket_open(struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct quick *q = NULL;

	if (!pbs_socket_path(&path)) {
		errno = ENOENT;
		err_set(e, ERR_UNAVAILABLE, "no server found");
		return NULL;
	}
	return quick_open(path.p, &q, e) < 0 ? NULL : q;
}

static void socket_close(void *self)
{
	quick_free(self);
}

static int socket_call(void *self, const char *method, const char *path, const char *type, struct str body,
		       int *ret_code, struct sbuf *reply, struct err *e)
{
	return quick_call(self, method, path, type, body, ret_code, reply, e);
}

static int socket_stream(void *self, const char *path, int *ret_code, bool (*piece)(void *arg, struct str piece),
			 void *arg, struct err *e)
{
	return quick_stream(self, path, ret_code, piece, arg, e);
}

static char *socket_ns(void *self)
{
	(void)self;
	return client_own_namespace();
}

static const char *socket_place(void *self)
{
	const char *socket = getenv("STOKER_SOCKET");

	(void)self;
	return socket && *socket ? socket : SYSTEM_SOCKET;
}

const struct pbs_door pbs_door_socket = { .open = socket_open,
					  .close = socket_close,
					  .call = socket_call,
					  .stream = socket_stream,
					  .ns = socket_ns,
					  .place = socket_place };
