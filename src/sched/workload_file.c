// SPDX-License-Identifier: Apache-2.0
/* workload_file.c - jobs for a simulation from files: accounts as the server keeps them, months that are packed too,
 * and descriptions
 */
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "loop/gzip.h"
#include "sched/workload.h"

#define DESCRIPTION_MOST ((size_t)64 << 20)

struct reading {
	struct workload_accounts accounts;
	struct err *e;
	bool failed;
};

static bool read_line(void *arg, struct str line)
{
	struct reading *r = arg;

	r->failed = workload_add_line(&r->accounts, line, r->e) < 0;
	return !r->failed;
}

static int read_accounts(struct workload *w, const char *path, struct err *e)
{
	struct reading r = { .accounts.workload = w, .e = e };

	if (gzip_lines(path, ACCOUNT_LINE_MAX, read_line, &r, e) < 0)
		return -1;
	return r.failed ? err_prefix(e, "%s", path) : 0;
}

static int read_description(struct workload *w, const char *path, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(DESCRIPTION_MOST);

	if (file_read(path, DESCRIPTION_MOST, &text, e) < 0)
		return -1;
	return workload_read_yaml(w, sbuf_str(&text), e) < 0 ? err_prefix(e, "%s", path) : 0;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text);

	return n >= strlen(end) && streq(text + n - strlen(end), end);
}

int workload_read_file(struct workload *w, const char *path, struct err *e)
{
	return ends_with(path, ".csv") || ends_with(path, ".csv.gz") ? read_accounts(w, path, e)
								     : read_description(w, path, e);
}
