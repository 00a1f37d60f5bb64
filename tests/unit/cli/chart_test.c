// SPDX-License-Identifier: Apache-2.0
/* chart_test.c - plots as text */
#include "cli/chart.h"

#include <math.h>

#include "base/mem.h"
#include "test.h"

static const struct chart_point falling[] = { { 0, 1 }, { 1, 0.6 }, { 2, 0.4 }, { 3, 0.25 }, { 4, 0.2 } };
static const struct chart_point gap[] = { { 0, 0.9 }, { 1, 0.8 }, { 2, NAN }, { 3, 0.5 }, { 4, 0.5 } };

static const struct chart_point none[] = { { 0, NAN } };
static const struct chart_line lines[] = { { "master-0", falling, 5 }, { "worker-0", gap, 5 } };
static const struct chart_line nothing = { "master-0", none, 1 };
static const struct chart_line single = { "master-0", falling, 1 };

static void check_drawn(const struct chart *c, const char *want)
{
	auto_sbuf struct sbuf out = SBUF(64 * 1024);

	chart_draw(c, &out);
	CHECK_STR(out.p, want);
}

TEST("one line is drawn in braille")
{
	check_drawn(&(struct chart){ "loss", "epoch", lines, 1, 36, 6, true, false },
		    "loss\n"
		    "1.0 ┤⠑⠢⣀\n"
		    "    │   ⠑⠢⢄\n"
		    "0.5 ┤      ⠉⠒⠤⢄⡀\n"
		    "    │          ⠈⠉⠒⠢⠤⢄⣀⡀\n"
		    "    │                 ⠈⠉⠑⠒⠒⠒⠒⠤⠤⠤⠤\n"
		    "0.0 ┤\n"
		    "    └┬─────────────┬────────────┬\n"
		    "     0             2            4  epoch\n"
		    "     ━━ master-0  1 → 0.2  (5 points)\n");
}

TEST("several without colours have letters, and a gap where there is no number")
{
	check_drawn(&(struct chart){ "loss", "epoch", lines, 2, 36, 6, true, false },
		    "loss\n"
		    "1.0 ┤**++\n"
		    "    │  ****++\n"
		    "0.5 ┤      *****         ++++++++\n"
		    "    │           ******\n"
		    "    │                 ***********\n"
		    "0.0 ┤\n"
		    "    └┬─────────────┬────────────┬\n"
		    "     0             2            4  epoch\n"
		    "     * master-0  1 → 0.2  (5 points)\n"
		    "     + worker-0  0.9 → 0.5  (5 points)\n");
}

TEST("without UTF-8 all is ASCII")
{
	check_drawn(&(struct chart){ "loss", "epoch", lines, 2, 36, 6, false, false },
		    "loss\n"
		    "1.0 +**++\n"
		    "    |  ****++\n"
		    "0.5 +      *****         ++++++++\n"
		    "    |           ******\n"
		    "    |                 ***********\n"
		    "0.0 +\n"
		    "    ++-------------+------------+\n"
		    "     0             2            4  epoch\n"
		    "     * master-0  1 -> 0.2  (5 points)\n"
		    "     + worker-0  0.9 -> 0.5  (5 points)\n");
}

TEST("in colours several are drawn in braille")
{
	check_drawn(
		&(struct chart){ "loss", "epoch", lines, 2, 30, 4, true, true },
		"loss\n"
		"1.0 "
		"┤\033[36m⠓\033[0m\033[36m⠢\033[0m\033[36m⢤\033[0m\033[36m⡤\033[0m\033[33m⢄\033[0m\033[33m⣀\033[0m\n"
		"0.5 ┤   "
		"\033[36m⠈\033[0m\033[36m⠑\033[0m\033[36m⠢\033[0m\033[36m⢄\033[0m\033[36m⣀\033[0m\033[36m⡀\033[0m      "
		" \033[33m⣀\033[0m\033[33m⣀\033[0m\033[33m⣀\033[0m\033[33m⣀\033[0m\033[33m⣀\033[0m\033[33m⣀\033[0m\n"
		"    │        "
		"\033[36m⠈\033[0m\033[36m⠉\033[0m\033[36m⠑\033[0m\033[36m⠒\033[0m\033[36m⠢\033[0m\033[36m⠤\033[0m\033["
		"36m⠤\033[0m\033[36m⣀\033[0m\033[36m⣀\033[0m\033[36m⣀\033[0m\033[36m⣀\033[0m\n"
		"0.0 ┤                   \033[36m⠉\033[0m\033[36m⠉\033[0m\033[36m⠉\033[0m\n"
		"    └┬──────────┬─────────┬\n"
		"     0          2         4  epoch\n"
		"     \033[36m━━\033[0m master-0  1 → 0.2  (5 points)\n"
		"     \033[33m━━\033[0m worker-0  0.9 → 0.5  (5 points)\n");
}

TEST("no number at all draws nothing")
{
	check_drawn(&(struct chart){ "loss", "epoch", &nothing, 1, 36, 6, true, false },
		    "loss\n"
		    "  ━━ master-0  no number  (1 point)\n");
}

TEST("a single point is in the middle")
{
	check_drawn(&(struct chart){ "loss", "epoch", &single, 1, 36, 4, false, false },
		    "loss\n"
		    "1.2 +\n"
		    "    |\n"
		    "1.0 +              *\n"
		    "0.8 +\n"
		    "    ++-------------+------------+\n"
		    "    -1             0            1  epoch\n"
		    "     * master-0  1 -> 1  (1 point)\n");
}

TEST("ticks are round")
{
	static const struct {
		double range;
		int ticks;
		double want;
	} rows[] = {
		{ 10, 5, 2 }, { 1, 3, 0.5 }, { 0.54, 5, 0.2 }, { 90, 6, 20 }, { 1e-9, 4, 5e-10 }, { 1e12, 1, 1e12 }
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(fabs(chart_step(rows[i].range, rows[i].ticks) / rows[i].want - 1) < 1e-9);
}

TEST("whatever the numbers are, a plot is drawn")
{
	static const double odd[] = { 0, -0.0, 1e-320, -1e300, 1e300, 1, 1 + 1e-15, 12345678, NAN, INFINITY };
	struct chart_point p[3];

	for (size_t i = 0; i < ARRAY_SIZE(odd) * ARRAY_SIZE(odd) * ARRAY_SIZE(odd); i++) {
		struct chart_line l = { "x", p, 3 };
		struct chart c = { "t", "step", &l, 1, (int)i % 90, (int)i % 7, i % 2, i % 3 == 0 };
		auto_sbuf struct sbuf out = SBUF(64 * 1024);

		p[0] = (struct chart_point){ odd[i % 10], odd[i / 10 % 10] };
		p[1] = (struct chart_point){ odd[i / 10 % 10], odd[i / 100] };
		p[2] = (struct chart_point){ odd[i / 100], odd[i % 10] };
		chart_draw(&c, &out);
		CHECK(out.n > 0 && !out.over);
	}
}

TEST("more lines than can be told apart are counted")
{
	struct chart_line many[12];
	struct chart c = { "t", "step", many, 12, 40, 4, false, false };
	auto_sbuf struct sbuf out = SBUF(64 * 1024);

	for (size_t i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = lines[i % 2];
	chart_draw(&c, &out);
	CHECK(strstr(out.p, "and 4 more") != NULL);
}
