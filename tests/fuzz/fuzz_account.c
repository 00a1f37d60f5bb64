// SPDX-License-Identifier: Apache-2.0
/* fuzz_account.c - a file of accounts: what can be read is written so that it is read again as the same */
#include "sched/account.h"

#include <stdint.h>
#include <string.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static struct account_columns ours(void)
{
	auto_sbuf struct sbuf title = SBUF(ACCOUNT_LINE_MAX);
	struct account_columns c = { .n = 0 };
	struct err e = ERR_INIT;

	account_title(&title);
	if (account_columns_read((struct str){ title.p, title.n - 1 }, &c, &e) < 0)
		__builtin_trap();
	return c;
}

static void check(const struct account_record *r)
{
	struct account_columns c = ours();
	auto_sbuf struct sbuf once = SBUF((size_t)1 << 20);
	struct account_record back;
	struct err e = ERR_INIT;

	account_write(r, &once);
	if (memchr(once.p, '\n', once.n) != once.p + once.n - 1)
		__builtin_trap();
	if (account_read(&c, (struct str){ once.p, once.n - 1 }, &back, &e) < 0)
		__builtin_trap();
	if (back.started != r->started || back.ended != r->ended || back.pods != r->pods || back.state != r->state ||
	    back.job.n != r->job.n || back.gang.n != r->gang.n || back.priority != r->priority)
		__builtin_trap();
	account_use_between(r, 10, 1000, 500);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *input = xstrndup((const char *)data, n);
	struct str rest = str_of(input);
	struct account_columns c;
	struct err e = ERR_INIT;
	struct str line;

	if (!str_split(&rest, '\n', &line) || account_columns_read(line, &c, &e) < 0)
		return 0;
	while (str_split(&rest, '\n', &line)) {
		struct account_record r;

		if (account_read(&c, line, &r, &e) == 0)
			check(&r);
	}
	return 0;
}
