// SPDX-License-Identifier: Apache-2.0
/* k_log.c - k_log: what the kernel of this node has said in the last five minutes */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mem.h"
#include "pbs/about.h"
#include "pbs/kernel_log.h"
#include "pbs/this_node.h"

enum { MINUTES = 5, RECORD_MAX = 8192 /* the kernel's own most */ };

static const char usage[] = "usage: k_log [node]\n";

static void read_log(int fd, struct sbuf *out)
{
	int64_t now = clock_wall();
	int64_t booted = now - clock_awake_ms() / 1000; /* the log's clock stands still while the machine sleeps */
	char record[RECORD_MAX];
	ssize_t n;

	/* EPIPE: a record was overwritten before we came; the next read has the one after. */
	while ((n = read(fd, record, sizeof(record))) > 0 || (n < 0 && (errno == EPIPE || errno == EINTR)))
		if (n > 0)
			kernel_log_add((struct str){ record, (size_t)n }, booted, now - MINUTES * 60, out);
}

int k_log_main(struct pbs *p, int argc, char **argv)
{
	auto_sbuf struct sbuf out = SBUF(64u << 20);
	auto_close int fd = -1;
	struct this_node at;
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 2 || (argc == 2 && argv[1][0] == '-'))
		return about_misuse(usage);
	status = this_node_need(p, argc == 2 ? argv[1] : NULL, &at);
	if (status)
		return status;
	sbuf_addf(&out, "====Node %s====\n", at.name);
	this_node_done(&at);
	fd = open("/dev/kmsg", O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		fprintf(stderr,
			"k_log: /dev/kmsg: %s; the kernel's log is for root, or for everyone with "
			"sysctl kernel.dmesg_restrict=0\n",
			strerror(errno));
		return 1;
	}
	read_log(fd, &out);
	about_write(&out, stdout);
	return 0;
}
