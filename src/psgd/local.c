// SPDX-License-Identifier: Apache-2.0
/* local.c - servers and workers on loopback
 *
 * Sockets are made before the processes, so that nobody has to wait for a port.  Children end with their parent,
 * whichever way it goes; what one of them returns with decides for all.
 */
#include "psgd/local.h"

#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "base/mem.h"
#include "psgd/cluster.h"
#include "psgd/net.h"
#include "psgd/server.h"
#include "psgd/trainer.h"

int local_serve(const struct settings *s, int listener, uint32_t index, uint32_t servers, const sigset_t *waiting,
		struct err *e)
{
	const struct server_settings own = {
		.listener = listener,
		.index = index,
		.servers = servers,
		.checkpoint_dir = s->checkpoint,
		.share_dir = s->shm,
		.save_every_ms = s->save_every * 1000,
		.patience_ms = s->patience * 1000,
		.idle_ms = s->idle * 1000,
		.waiting = waiting,
	};

	return server_run(&own, e);
}

struct local {
	const struct settings *settings;
	const sigset_t *waiting;
	struct cluster cluster;
	int *listeners;
	pid_t *children;
	size_t n;
};

static int open_servers(struct local *l, struct err *e)
{
	size_t n = (size_t)l->settings->servers;

	l->cluster.servers = xcalloc(n, sizeof(char *));
	l->listeners = xcalloc(n, sizeof(int));
	for (size_t i = 0; i < n; i++) {
		struct sockaddr_in at = { 0 };
		socklen_t size = sizeof(at);

		if (net_listen("127.0.0.1:0", &l->listeners[i], e) < 0 ||
		    getsockname(l->listeners[i], (struct sockaddr *)&at, &size) < 0)
			return -1;
		l->cluster.servers[l->cluster.nservers++] = xasprintf("127.0.0.1:%u", ntohs(at.sin_port));
	}
	return 0;
}

/* A child's whole life. */
static int live(struct local *l, enum role role, size_t index)
{
	struct err e = ERR_INIT;
	int r;

	l->cluster.role = role;
	l->cluster.index = index;
	for (size_t i = 0; i < l->cluster.nservers; i++)
		if (role != ROLE_PS || i != index)
			close(l->listeners[i]);
	if (role == ROLE_PS)
		r = local_serve(l->settings, l->listeners[index], (uint32_t)index, (uint32_t)l->cluster.nservers,
				l->waiting, &e);
	else
		r = trainer_run(l->settings, &l->cluster, l->waiting, &e);
	if (r < 0 && !stop_signal())
		fprintf(stderr, "psgd: %s %zu: %s\n", role_name(role), index, e.text);
	return r < 0;
}

static int start(struct local *l, enum role role, size_t index, struct err *e)
{
	pid_t parent = getpid(), pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return err_errno(e, ERR_INTERNAL, "fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		exit(getppid() == parent ? live(l, role, index) : 1);
	}
	l->children[l->n++] = pid;
	return 0;
}

static void tell(const struct local *l, int signo)
{
	for (size_t i = 0; i < l->n; i++)
		if (l->children[i] > 0)
			kill(l->children[i], signo);
}

/* Until all have ended.  The first failure ends the others. */
static int wait_for_all(struct local *l)
{
	size_t left = l->n;
	int status = 0, worst = 0;
	bool told = false;

	while (left > 0) {
		pid_t pid = waitpid(-1, &status, WNOHANG);

		if (pid == 0)
			ppoll(NULL, 0, &(struct timespec){ .tv_nsec = 50000000 }, l->waiting);
		for (size_t i = 0; pid > 0 && i < l->n; i++)
			if (l->children[i] == pid) {
				l->children[i] = 0;
				left--;
				worst |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
			}
		if ((stop_signal() || worst) && !told) {
			told = true;
			tell(l, stop_signal() ? stop_signal() : SIGTERM);
		}
		if (pid < 0)
			break;
	}
	return worst;
}

int local_run(const struct settings *s, const sigset_t *waiting)
{
	struct local l = { .settings = s, .waiting = waiting };
	size_t workers = s->workers ? (size_t)s->workers : 1;
	struct err e = ERR_INIT;
	int r;

	l.cluster.workers = workers;
	l.children = xcalloc((size_t)s->servers + workers, sizeof(pid_t));
	r = open_servers(&l, &e);
	for (size_t i = 0; r == 0 && i < l.cluster.nservers; i++)
		r = start(&l, ROLE_PS, i, &e);
	for (size_t i = 0; r == 0 && i < workers; i++)
		r = start(&l, ROLE_WORKER, i, &e);
	if (r < 0) {
		fprintf(stderr, "psgd: %s\n", e.text);
		tell(&l, SIGTERM);
	}
	for (size_t i = 0; i < l.cluster.nservers; i++)
		close(l.listeners[i]);
	r = wait_for_all(&l) || r < 0;
	cluster_done(&l.cluster);
	free(l.listeners);
	free(l.children);
	return r;
}
