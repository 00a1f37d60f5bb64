// SPDX-License-Identifier: Apache-2.0
/* fuzz_idmap.c - tables of ids: the kernel's and /etc/subuid; what is planned can be read again */
#include <assert.h>
#include <stdint.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/idmap.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	auto_free char *text = xstrndup((const char *)data, size);
	auto_sbuf struct sbuf again = SBUF(65536);
	struct idmap m;
	struct idmap same;

	if (idmap_parse(text, &m))
		(void)idmap_has(&m, 5);
	idmap_plan(text, "ann", 1000, 1000, &m);
	for (size_t i = 0; i < m.n; i++) {
		assert(m.rows[i].count > 0 && (!i || m.rows[i].inside > m.rows[i - 1].inside));
		sbuf_addf(&again, "%u %u %u\n", m.rows[i].inside, m.rows[i].outside, m.rows[i].count);
	}
	assert(idmap_parse(again.p, &same) && same.n == m.n);
	return 0;
}
