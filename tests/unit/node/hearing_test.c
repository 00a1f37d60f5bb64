// SPDX-License-Identifier: Apache-2.0
/* hearing_test.c - who in a container is told to stop when its first process does not hear; by table
 *
 * A process is PID<PARENT with letters: 1 the first of its namespace, h it hears.
 */
#include "node/hearing.h"

#include <signal.h>

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

static size_t read_all(const char *words, struct listener *all)
{
	struct str rest = str_of(words), word;
	size_t n = 0;

	while (str_split(&rest, ' ', &word)) {
		auto_free char *text = xstrndup(word.p, word.n);
		char letters[8] = "";

		if (sscanf(text, "%d<%d%7s", &all[n].pid, &all[n].parent, letters) < 2)
			continue;
		all[n].first = strstr(letters, "f") != NULL;
		all[n].hears = strstr(letters, "h") != NULL;
		n++;
	}
	return n;
}

TEST("those are told who listen, and only if the first does not")
{
	static const struct {
		const char *processes, *wanted;
	} rows[] = {
		{ "", "wait" },
		{ "10<5fh", "wait" },
		{ "10<5f", "deaf" },                         /* sleep */
		{ "10<5", "wait" },                          /* of a shared namespace: it dies of it */
		{ "10<5f 11<10h", "deaf 11" },               /* sh -c "python train.py; true" */
		{ "10<5f 11<10 12<11h", "deaf 12" },         /* a shell in a shell */
		{ "10<5f 11<10h 12<11h 13<11h", "deaf 11" }, /* torchrun tells its own */
		{ "10<5f 11<10h 12<10h", "deaf 11 12" },     /* two in the background */
		{ "10<5f 11<10 12<10", "deaf" },             /* nobody at all */
		{ "10<5f 20<6h 21<20h", "deaf" },            /* kubectl exec holds nobody up */
		{ "10<5f 11<10f 12<11h", "deaf 12" },        /* a namespace in a namespace */
		{ "10<5fh 11<10h", "wait" },                 /* an init that hands it on */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf got = SBUF(256);
		struct listener all[8] = { 0 };
		size_t n = read_all(rows[i].processes, all);
		pid_t pids[8];
		size_t npids;

		sbuf_adds(&got, hearing_pick(all, n, pids, &npids) ? "deaf" : "wait");
		for (size_t k = 0; k < npids; k++)
			sbuf_addf(&got, " %d", pids[k]);
		CHECK_STR(got.p, rows[i].wanted);
	}
}

#define STATUS(state_, ns_, blocked_, caught_)                                                                         \
	"Name:\tx\nState:\t" state_ " (sleeping)\nPid:\t812\nPPid:\t700\nNSpid:\t" ns_ "\nSigBlk:\t" blocked_          \
	"\nSigIgn:\t0000000000004000\nSigCgt:\t" caught_ "\n"
#define NONE "0000000000000000"
#define TERM "0000000000004000"

TEST("a process in /proc")
{
	struct listener l;

	CHECK(listener_parse(STATUS("S", "812\t1", NONE, TERM), SIGTERM, &l));
	CHECK_INT(l.pid, 812);
	CHECK_INT(l.parent, 700);
	CHECK(l.first && l.hears);
	CHECK(listener_parse(STATUS("S", "812\t1", TERM, NONE), SIGTERM, &l) && l.hears);
	CHECK(listener_parse(STATUS("S", "812\t11", NONE, NONE), SIGTERM, &l) && !l.first && !l.hears);
	CHECK(listener_parse(STATUS("S", "812\t40\t1", NONE, TERM), SIGINT, &l) && l.first && !l.hears);
	CHECK(!listener_parse(STATUS("Z", "812\t1", NONE, NONE), SIGTERM, &l));
	CHECK(!listener_parse("", SIGTERM, &l));
	CHECK(!listener_parse("State:\tS\nPid:\t1\n", SIGTERM, &l));
}
