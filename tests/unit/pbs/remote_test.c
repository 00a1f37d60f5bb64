// SPDX-License-Identifier: Apache-2.0
/* remote_test.c - programs in pods that do not run yet, by a server that says so a few times */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/mem.h"
#include "pbs/pbs.h"
#include "test.h"

#define NOT_YET                                                                                                        \
	"{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":404,\"message\":\"container not found (\\\"job\\\")\"}"
#define NEVER "{\"kind\":\"Status\",\"status\":\"Failure\",\"code\":403,\"message\":\"not for you\"}"

/* One connection, one answer. */
static void answer(int door, const char *line, const char *body)
{
	char request[8192];
	size_t have = 0;
	ssize_t n = 1;
	int c = accept(door, NULL, NULL);

	while (n > 0 && have < sizeof(request) - 1 && !memmem(request, have, "\r\n\r\n", 4)) {
		n = read(c, request + have, sizeof(request) - 1 - have);
		have += n > 0 ? (size_t)n : 0;
	}
	dprintf(c,
		"HTTP/1.1 %s\r\nContent-Type: application/json\r\nContent-Length: %zu\r\nConnection: close\r\n\r\n%s",
		line, strlen(body), body);
	close(c);
}

/* A process that says `times` times that the container does not run, and then that nobody may. */
static pid_t serve(const char *path, int times)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int door = socket(AF_UNIX, SOCK_STREAM, 0);
	pid_t pid;

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	CHECK_INT(bind(door, (struct sockaddr *)&at, sizeof(at)), 0);
	CHECK_INT(listen(door, 8), 0);
	pid = fork();
	if (pid == 0) {
		(void)!accept(door, NULL, NULL); /* the socket's own way, which nobody goes here */
		for (int i = 0; i < times; i++)
			answer(door, "404 Not Found", NOT_YET);
		answer(door, "403 Forbidden", NEVER);
		_exit(0);
	}
	close(door);
	return pid;
}

TEST("a container that does not run yet is waited for by those who have patience")
{
	static const struct {
		bool patient;
		const char *said;
	} rows[] = {
		{ false, "container not found" },
		{ true, "not for you" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *path = xasprintf("%s/sock%zu", test_dir(), i);
		struct pbs_join join = { .path = "/api/v1/namespaces/a/pods/1-0/exec?command=true&stdout=true",
					 .patient = rows[i].patient,
					 .e = ERR_INIT };
		struct err e = ERR_INIT;
		pid_t server = serve(path, 2);
		void *door;

		setenv("STOKER_SOCKET", path, 1);
		door = pbs_door_remote.open(&e);
		if (!door)
			test_fail(__FILE__, __LINE__, "%s", e.text);
		else
			CHECK_INT(pbs_door_remote.join(door, &join, 1, NULL, NULL, &e), 0);
		CHECK(join.over);
		if (!strstr(join.e.text, rows[i].said))
			test_fail(__FILE__, __LINE__, "\"%s\" is not \"%s\"", join.e.text, rows[i].said);
		if (door)
			pbs_door_remote.close(door);
		kill(server, SIGKILL);
		waitpid(server, NULL, 0);
		unsetenv("STOKER_SOCKET");
	}
}
