// SPDX-License-Identifier: Apache-2.0
/* test.c - runs the registered tests, all or those whose name contains argv[1], and counts */
#include "test.h"

#include <ftw.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

static struct test *first, **last = &first;
static unsigned failures_now;
static char dir[64];

void test_register(struct test *t)
{
	*last = t;
	last = &t->next;
}

void test_fail(const char *file, int line, const char *fmt, ...)
{
	va_list ap;

	failures_now++;
	printf("  %s:%d: ", file, line);
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	printf("\n");
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_dir(void)
{
	if (dir[0])
		nftw(dir, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

const char *test_dir(void)
{
	if (!dir[0]) {
		const char *tmp = getenv("TMPDIR");

		snprintf(dir, sizeof(dir), "%s/stoker-unit-XXXXXX", tmp ? tmp : "/tmp");
		if (!mkdtemp(dir))
			abort();
		atexit(remove_dir);
	}
	return dir;
}

int main(int argc, char **argv)
{
	unsigned passed = 0;
	unsigned failed = 0;

	setvbuf(stdout, NULL, _IOLBF, 0);
	for (struct test *t = first; t; t = t->next) {
		if (argc > 1 && !strstr(t->name, argv[1]) && !strstr(t->file, argv[1]))
			continue;
		failures_now = 0;
		t->run();
		if (failures_now) {
			printf("not ok - %s\n", t->name);
			failed++;
		} else {
			passed++;
		}
	}
	printf("%u passed, %u failed\n", passed, failed);
	return failed ? 1 : 0;
}
