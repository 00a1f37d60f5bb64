// SPDX-License-Identifier: Apache-2.0
/* fuzz_pbs_script.c - any bytes as a job's script: it is kept as it was but for joined directives, and every directive
 * is taken or refused with words */
#include <stdlib.h>

#include "base/mem.h"
#include "pbs/job.h"
#include "pbs/script.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const char *variable(const char *name)
{
	(void)name;
	return NULL;
}

static bool is_directory(const char *path)
{
	(void)path;
	return false;
}

static int on_directive(void *arg, struct str rest, struct err *e)
{
	return options_directive(arg, rest, e);
}

static int count(void *arg, struct str rest, struct err *e)
{
	(void)rest;
	(void)e;
	++*(int *)arg;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	struct str text = { (const char *)data, n };
	struct submitter who = { .place = { "h", "/", variable, is_directory },
				 .environment = (char *const[]){ NULL },
				 .arguments = "" };
	auto_sbuf struct sbuf kept = SBUF(1 << 22);
	auto_sbuf struct sbuf again = SBUF(1 << 22);
	struct ask a = { 0 };
	struct err e = ERR_INIT;
	int first = 0, second = 0;

	if (script_check(text, &e) == 0 && script_scan(text, "#PBS", on_directive, &a, &kept, NULL, &e) == 0 &&
	    job_check(&a, &e) == 0)
		json_decref(job_make(&a, &who, sbuf_str(&kept)));
	else if (!e.text[0])
		abort();
	ask_done(&a);
	sbuf_reset(&kept);
	/* What is kept, scanned again, is the same, unless joining has left another backslash at the end of a line. */
	if (script_scan(text, "#PBS", count, &first, &kept, NULL, &e) == 0 && kept.n &&
	    !memmem(kept.p, kept.n, "\\\n", 2) &&
	    (script_scan(sbuf_str(&kept), "#PBS", count, &second, &again, NULL, &e) < 0 || first != second ||
	     kept.n != again.n || memcmp(kept.p, again.p, kept.n) != 0))
		abort();
	return 0;
}
