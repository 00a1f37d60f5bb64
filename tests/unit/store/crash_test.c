// SPDX-License-Identifier: Apache-2.0
/* crash_test.c - what was answered survives the killing of the server, wherever it strikes */
#include <signal.h>
#include <sys/wait.h>
#include <time.h>

#include "util.h"

struct server {
	struct fixture f;
	int ack_fd;
	int last;
};

static void ack(void *arg, const struct err *e)
{
	struct server *sv = arg;

	if (e->kind != ERR_NONE || write(sv->ack_fd, &sv->last, sizeof(sv->last)) != sizeof(sv->last))
		_exit(1);
}

/* Creates objects from `first` on, three a turn, and tells the number of the last durable one, until it is killed. */
static void serve(struct server *sv, int first)
{
	struct store_after after = { .fn = ack, .arg = sv };

	if (util_open(&sv->f) < 0)
		_exit(2);
	for (int i = first;; i++) {
		char name[16];

		snprintf(name, sizeof(name), "n%06d", i);
		if (util_put(&sv->f, sv->f.pods, "a", name, "v") < 0)
			_exit(3);
		util_put(&sv->f, sv->f.pods, "a", "counter", name);
		if (i % 3)
			continue;
		sv->last = i;
		store_after(sv->f.s, &after);
		util_turn(&sv->f);
	}
}

TEST("every answered write is there after the server was killed")
{
	struct server sv = { .f = util_new() };
	int acked = 0;

	util_close(&sv.f);
	for (int round = 0; round < 12; round++) {
		int pipe_fd[2];
		int status;
		int got;
		pid_t child;

		CHECK_INT(pipe(pipe_fd), 0);
		child = fork();
		if (child == 0) {
			sv.ack_fd = pipe_fd[1];
			serve(&sv, acked + 1);
		}
		close(pipe_fd[1]);
		/* A few answers, then the blow at some moment of the next ones. */
		for (int i = 0; i <= round * 13 && read(pipe_fd[0], &got, sizeof(got)) == sizeof(got); i++)
			acked = got;
		nanosleep(&(struct timespec){ .tv_nsec = round * 317000 }, NULL);
		kill(child, SIGKILL);
		waitpid(child, &status, 0);
		CHECK(WIFSIGNALED(status));
		while (read(pipe_fd[0], &got, sizeof(got)) == sizeof(got))
			acked = got;
		close(pipe_fd[0]);
		CHECK_INT(util_open(&sv.f), 0);
		CHECK(store_count(sv.f.s, sv.f.pods, NULL) >= acked + 1);
		CHECK_INT(store_revision(sv.f.s), (store_count(sv.f.s, sv.f.pods, NULL) - 1) * 2);
		acked = (int)store_count(sv.f.s, sv.f.pods, NULL) - 1;
		util_close(&sv.f);
		sv.f.loop = (loop_free(sv.f.loop), NULL);
	}
	CHECK_INT(util_open(&sv.f), 0);
	util_done(&sv.f);
}
