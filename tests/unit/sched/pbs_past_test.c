// SPDX-License-Identifier: Apache-2.0
#include "sched/pbs_past.h"

#include <stdlib.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"
#include "test.h"

#define NOON 1763208000 /* 2025-11-15T12:00:00Z */

/* Longer than one piece: lines that lie across its end are whole. */
static void write_day(const char *dir, const char *day, int lines)
{
	auto_free char *path = xasprintf("%s/%s", dir, day);
	auto_sbuf struct sbuf text = SBUF(8u << 20);
	struct err e = ERR_INIT;

	for (int i = 0; i < lines; i++)
		sbuf_addf(&text, "11/15/2025 12:00:00;S;%d.Ghead;user=ana day=%s line=%d some more words to be long\n",
			  i % 1000, day, i);
	sbuf_adds(&text, "11/15/2025 12:00:00;S;7.Ghead;the last one has no e");
	CHECK_INT(file_place(path, 0600, sbuf_str(&text), &e), 0);
}

TEST("accounts are read from a day on, piece by piece, with every line about the job and no other")
{
	auto_free char *dir = xasprintf("%s/past", test_dir());
	auto_sbuf struct sbuf out = SBUF(1u << 20);
	struct scheduler_past *p;
	struct str rest, line;
	int pieces = 0;
	int found = 0;

	setenv("TZ", "UTC", 1);
	mkdir(dir, 0700);
	write_day(dir, "20251114", 1000);
	write_day(dir, "20251115", 9000);
	write_day(dir, "20251116", 1000);
	write_day(dir, "notaday1", 1000);
	p = pbs_past_open(dir, NOON);
	while (pbs_past_read(p, 7, &out))
		pieces++;
	pbs_past_close(p);
	CHECK(pieces >= 4);
	rest = sbuf_str(&out);
	while (rest.n && str_split(&rest, '\n', &line)) {
		struct pbs_account_line l;

		CHECK(pbs_account_line(line, &l));
		CHECK_INT(l.id.sequence, 7);
		CHECK(line.n > 60);
		found++;
	}
	CHECK_INT(found, 10);
	CHECK(!strstr(out.p, "day=20251114"));
	p = pbs_past_open("/nonexistent", 0);
	CHECK(!pbs_past_read(p, 7, &out));
	pbs_past_close(p);
}
