// SPDX-License-Identifier: Apache-2.0
#include "control/uid_queue.h"

#include "base/mem.h"
#include "test.h"

TEST("uids leave in the order they came, while others come")
{
	struct uid_queue q = { 0 };
	char uid[16];
	int in = 0;

	CHECK(!uid_queue_steal(&q));
	for (int out = 0; out < 1000; out++) {
		while (in < 1000 && in < out * 2 + 3) {
			snprintf(uid, sizeof(uid), "u%d", in++);
			uid_queue_push(&q, uid);
		}
		auto_free char *got = uid_queue_steal(&q);

		snprintf(uid, sizeof(uid), "u%d", out);
		CHECK_STR(got, uid);
	}
	CHECK_INT(q.n, 0);
	uid_queue_push(&q, "left");
	uid_queue_done(&q);
}
