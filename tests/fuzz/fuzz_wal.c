// SPDX-License-Identifier: Apache-2.0
/* fuzz_wal.c - any bytes as a write-ahead log: read, refused, never followed out of bounds */
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/wal_scan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct wal_mark mark = { .frames = size % 3 };
	struct wal_scan w;
	struct err e = ERR_INIT;
	char path[32];
	int fd = memfd_create("wal", MFD_CLOEXEC);

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (wal_scan(path, &mark, &w, &e) == 0) {
		for (uint32_t page = 0; page < 64; page++)
			(void)wal_scan_find(&w, page);
		wal_scan_done(&w);
	}
	close(fd);
	return 0;
}
