// SPDX-License-Identifier: Apache-2.0
#include "api/pbs_board.h"

#include "api/pbs.h"
#include "pbs_lab.h"
#include "store/store_impl.h"

#define JOBS_MADE 600 /* several times what is read in a turn */

/* A server that has just begun to read them; jobs 1 to 600 are of daemon's. */
static struct server begun(void)
{
	struct server s = lab_new();

	s.batch = true;
	for (int i = 0; i < JOBS_MADE; i++)
		json_decref(submit(&s, &daemon_user, "default", "'name':'a'"));
	s.batch = false;
	server_turn(&s);
	server_close(&s);
	server_open(&s);
	return s;
}

static struct pbs_board *board_of(struct server *s)
{
	return pbs_board(api_pbs(s->api));
}

static void check_order(struct pbs_board *b, size_t want)
{
	struct pbs_row *r;
	int64_t sequence = -1;
	uint64_t serial = 0;
	size_t hint = 0;
	size_t n = 0;

	while ((r = pbs_board_after(b, sequence, serial, &hint))) {
		CHECK(r->sequence > sequence);
		sequence = r->sequence;
		serial = r->serial;
		n++;
	}
	CHECK_INT(n, want);
}

TEST("jobs are read a few a turn, and all in the end")
{
	struct server s = begun();
	struct pbs_board *b = board_of(&s);
	int turns = 0;

	CHECK(!pbs_board_loaded(b));
	for (; !pbs_board_loaded(b) && turns < 1000; turns++)
		server_turn(&s);
	CHECK(turns >= 3 && turns < 100);
	check_order(b, JOBS_MADE);
	server_done(&s);
}

TEST("who asks before all are there is told of all")
{
	for (int what = 0; what < 3; what++) {
		struct server s = begun();
		struct pbs_board *b = board_of(&s);
		size_t hint = 0;

		CHECK(!pbs_board_loaded(b));
		if (what == 0)
			CHECK(pbs_board_find(b, JOBS_MADE) != NULL);
		else if (what == 1)
			CHECK(pbs_board_after(b, -1, 0, &hint) != NULL);
		else
			CHECK_INT(pbs_board_jobs_of(b, "daemon"), JOBS_MADE);
		CHECK(pbs_board_loaded(b));
		check_order(b, JOBS_MADE);
		server_done(&s);
	}
}

TEST("what is written while jobs are read is on the board once, as it is now")
{
	struct server s = begun();
	struct pbs_board *b = board_of(&s);
	struct pbs_row *changed;

	CHECK(!pbs_board_loaded(b));
	/* In the order of their names the first, one in the middle and the last. */
	CHECK_STR(change(&s, &daemon_user, "1", "'name':'renamed'"), "");
	CHECK_STR(change(&s, &daemon_user, "99", "'name':'renamed'"), "");
	server_do(&s, VERB_DELETE, JOBS, "default", "10", NULL);
	server_do(&s, VERB_DELETE, JOBS, "default", "98", NULL);
	for (int i = 0; i < 1000 && !pbs_board_loaded(b); i++)
		server_turn(&s);
	check_order(b, JOBS_MADE - 2);
	CHECK(!pbs_board_find(b, 10));
	CHECK(!pbs_board_find(b, 98));
	changed = pbs_board_find(b, 99);
	CHECK(changed && changed->rv > pbs_board_find(b, 100)->rv);
	changed = pbs_board_find(b, 1);
	CHECK(changed && changed->rv > pbs_board_find(b, 100)->rv);
	CHECK_INT(pbs_board_jobs_of(b, "daemon"), JOBS_MADE - 2);
	server_done(&s);
}

TEST("what a turn has changed that fails is on the board as it was")
{
	struct server s = begun();
	struct pbs_board *b = board_of(&s);
	struct pbs_row *r;

	s.batch = true;
	server_do(&s, VERB_DELETE, JOBS, "default", "10", NULL);
	change(&s, &daemon_user, "99", "'name':'renamed'");
	pbs_board_find(b, 1); /* who asks now has all of them read */
	CHECK(pbs_board_loaded(b));
	vfs_fail(s.store->vfs, &(struct store_fail){ .writes = true, .after = 1, .code = SQLITE_FULL });
	server_turn(&s);
	vfs_fail(s.store->vfs, &(struct store_fail){ 0 });
	s.store->full_timer.fire(s.store);
	s.batch = false;
	CHECK(pbs_board_find(b, 10) != NULL);
	r = pbs_board_find(b, 99);
	CHECK(r && r->rv <= pbs_board_find(b, JOBS_MADE)->rv);
	check_order(b, JOBS_MADE);
	CHECK_INT(pbs_board_jobs_of(b, "daemon"), JOBS_MADE);
	server_done(&s);
}
