// SPDX-License-Identifier: Apache-2.0
/* fuzz_log_line.c - what a line says lies within the line, and a line put together again says the same */
#include "base/clock.h"
#include "base/mem.h"
#include "node/logs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_free char *copy = xmemdup(data, n + !n);
	auto_sbuf struct sbuf again = SBUF(n + 64);
	struct str line = { copy, n };
	struct str text;
	struct str text2;
	char time[CLOCK_MICRO_LEN];
	int64_t us;
	int64_t us2;
	bool is_stderr;
	bool partial;

	if (!log_line_parse(line, &us, &is_stderr, &partial, &text))
		return 0;
	if (text.n && (text.p < line.p || text.p + text.n != line.p + line.n))
		__builtin_trap();
	if (us < 0) /* before 1970 the text form is not ours */
		return 0;
	clock_rfc3339_micro(us, time);
	sbuf_addf(&again, "%s %s %s ", time, is_stderr ? "stderr" : "stdout", partial ? "P" : "F");
	sbuf_add(&again, text.p, text.n);
	if (!log_line_parse(sbuf_str(&again), &us2, &is_stderr, &partial, &text2) || us2 != us || text2.n != text.n)
		__builtin_trap();
	return 0;
}
