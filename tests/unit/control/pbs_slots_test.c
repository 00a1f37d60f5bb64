// SPDX-License-Identifier: Apache-2.0
/* Numbers of slots: the lowest that are free, each node's own. */
#include "control/pbs_slots.h"

#include "test.h"

static const char *take(struct pbs_slots *s, const char *holder, const char *node, int slots, int style)
{
	static char out[200];
	auto_sbuf struct sbuf text = SBUF(sizeof(out) - 1);
	struct pbs_seat seat = { node, slots };

	pbs_slots_take(s, holder, &seat, 1, style, &text);
	snprintf(out, sizeof(out), "%s", text.p);
	return out;
}

TEST("jobs get the lowest slots that nobody has")
{
	struct pbs_slots s;

	pbs_slots_init(&s);
	CHECK_STR(take(&s, "a", "G1", 2, 6), "G1/0-1");
	CHECK_STR(take(&s, "b", "G1", 1, 6), "G1/2");
	CHECK_STR(take(&s, "c", "G2", 1, 6), "G2/0");
	pbs_slots_hold(&s, "a", NULL);
	CHECK_STR(take(&s, "d", "G1", 4, 6), "G1/0-1,3-4");
	CHECK_STR(take(&s, "e", "G1", 2, 4), "G1/5+G1/6");
	/* What it had before is free for itself. */
	CHECK_STR(take(&s, "d", "G1", 1, 6), "G1/0");
	/* What a status says counts, whoever else says so. */
	pbs_slots_hold(&s, "f", "G1/1,3-4+G3/0");
	CHECK_STR(take(&s, "g", "G1", 1, 6), "G1/7");
	CHECK_STR(take(&s, "h", "G3", 1, 6), "G3/1");
	pbs_slots_hold(&s, "f", "nonsense");
	pbs_slots_hold(&s, "i", "G4/99999999999+/+G4/");
	CHECK_STR(take(&s, "j", "G4", 1, 6), "G4/0");
	pbs_slots_done(&s);
}
