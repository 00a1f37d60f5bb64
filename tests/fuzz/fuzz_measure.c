// SPDX-License-Identifier: Apache-2.0
/* fuzz_measure.c - whatever a program prints, a measurement is whole: a place in the run, values with names */
#include "base/measure.h"

#include <math.h>
#include <stdint.h>

#include "base/mem.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	/* a copy of its own, so that a byte read past the end is found */
	auto_free char *line = xstrndup((const char *)data, n);
	struct measure m;

	if (!measure_read((struct str){ line, strlen(line) }, &m))
		return 0;
	if (m.n < 1 || m.n > MEASURE_MOST || !(m.at >= 0) || !isfinite(m.at) || !(m.of >= 0) || m.rank < -1)
		__builtin_trap();
	for (size_t i = 0; i < m.n; i++)
		if (!m.values[i].name[0] || !memchr(m.values[i].name, 0, MEASURE_NAME) || isinf(m.values[i].value))
			__builtin_trap();
	return 0;
}
