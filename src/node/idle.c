// SPDX-License-Identifier: Apache-2.0
/* idle.c - see idle.h */
#include "node/idle.h"

#include "base/clock.h"

#define PARTS     8 /* readings before a warning */
#define LEAST_MS  250
#define MOST_MS   10000
#define NOTE_MOST 60000
#define GAP_PARTS 3 /* a longer gap between readings than so many periods was no watching: the machine slept */

static int64_t within(int64_t ms, int64_t most)
{
	return ms < LEAST_MS ? LEAST_MS : ms > most ? most : ms;
}

int64_t idle_period_ms(const struct idle_policy *p)
{
	return within(clock_ms_of(p->warn_s) / PARTS, MOST_MS);
}

int64_t idle_note_ms(const struct idle_policy *p)
{
	return within(clock_ms_of(p->warn_s) / 2, NOTE_MOST);
}

void idle_step(struct idle *i, const struct idle_reading *r, const struct idle_policy *p)
{
	int64_t gap = r->ms - i->last_ms;
	int64_t most = idle_period_ms(p) * GAP_PARTS;

	if (r->starts || r->most >= p->below) {
		*i = (struct idle){ 0 };
		return;
	}
	if (r->unknown || r->most < 0) {
		i->begun = false;
		return;
	}
	if (i->begun && gap > 0)
		i->ms += gap < most ? gap : most;
	i->begun = true;
	i->last_ms = r->ms;
}

enum idle_state idle_state(const struct idle *i, const struct idle_policy *p)
{
	if (!p->warn_s || i->ms < clock_ms_of(p->warn_s))
		return IDLE_NOT;
	return p->end_s && i->ms >= clock_ms_of(p->end_s) ? IDLE_TOO_LONG : IDLE_WARN;
}
