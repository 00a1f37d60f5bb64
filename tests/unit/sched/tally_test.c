// SPDX-License-Identifier: Apache-2.0
#include "sched/tally.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/card_part.h"
#include "sched/usage_sum.h"
#include "test.h"

/* A pod has as many GPUs as its uid ends with, and two processors. */
static void amounts(void *arg, const json_t *pod, struct tally_amounts *ret)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "0");

	(void)arg;
	*ret = (struct tally_amounts){ .gpus = uid[strlen(uid) - 1] - '0', .cpus_milli = 2000 };
}

static void tally_new(struct tally *t)
{
	tally_init(t);
	t->amounts = amounts;
}

static const char *at(int64_t seconds)
{
	static char out[4][CLOCK_RFC3339_LEN];
	static unsigned next;

	clock_rfc3339(seconds, out[++next % 4]);
	return out[next % 4];
}

/* A pod in a phase; times of 0 are absent. */
static json_t *pod(const char *uid, const char *gang, const char *phase, int64_t started, int64_t ended)
{
	json_t *p = json_pack("{s:{s:s, s:s, s:s, s:s}, s:{s:s}, s:{s:s}}", "metadata", "uid", uid, "name", uid,
			      "namespace", "ns", "creationTimestamp", at(5), "spec", "nodeName", "n", "status", "phase",
			      phase);

	if (gang)
		jsonx_set_new(p, "metadata.annotations",
			      json_pack("{s:s, s:s}", "stoker.dev/gang", gang, "stoker.dev/gang-size", "2"));
	if (started)
		jsonx_set_new(p, "status.startTime", json_string(at(started)));
	if (ended)
		jsonx_set_new(p, "status.containerStatuses",
			      json_pack("[{s:{s:{s:s}}}]", "state", "terminated", "finishedAt", at(ended)));
	return p;
}

static void see(struct tally *t, json_t *p, int64_t now)
{
	tally_see(t, p, now);
	json_decref(p);
}

static void gone(struct tally *t, json_t *p, int64_t now)
{
	tally_gone(t, p, now);
	json_decref(p);
}

static const char *records(const struct tally *t)
{
	return t->records.p && t->records.n ? t->records.p : "";
}

TEST("a pod is recorded once, when it ends, with the time of its containers")
{
	struct tally t;

	tally_new(&t);
	see(&t, pod("u1", NULL, "Pending", 0, 0), 9);
	see(&t, pod("u1", NULL, "Running", 10, 0), 11);
	CHECK_STR(records(&t), "");
	CHECK_INT(tally_open(&t), 1);
	see(&t, pod("u1", NULL, "Succeeded", 10, 30), 35);
	CHECK_STR(records(&t), "u1,ns,Pod,ns,,batch,0,5,10,30,1,1,2000,0,,Succeeded,u1,,,,\n");
	see(&t, pod("u1", NULL, "Succeeded", 10, 30), 36);
	gone(&t, pod("u1", NULL, "Succeeded", 10, 30), 37);
	CHECK_STR(records(&t), "u1,ns,Pod,ns,,batch,0,5,10,30,1,1,2000,0,,Succeeded,u1,,,,\n");
	CHECK_INT(tally_open(&t), 0);
	tally_done(&t);
}

TEST("what never ran is not recorded; what begins and ends between two looks is")
{
	struct tally t;

	tally_new(&t);
	see(&t, pod("u1", NULL, "Pending", 0, 0), 9);
	gone(&t, pod("u1", NULL, "Pending", 0, 0), 10);
	CHECK_STR(records(&t), "");
	see(&t, pod("u2", NULL, "Pending", 0, 0), 9);
	see(&t, pod("u2", NULL, "Failed", 10, 11), 12);
	CHECK_STR(records(&t), "u2,ns,Pod,ns,,batch,0,5,10,11,1,2,2000,0,,Failed,u2,,,,\n");
	tally_done(&t);
}

TEST("what is deleted while it runs ended then; what was evicted says so")
{
	struct tally t;
	json_t *p = pod("u2", NULL, "Running", 10, 0);

	tally_new(&t);
	see(&t, pod("u1", NULL, "Running", 10, 0), 11);
	gone(&t, pod("u1", NULL, "Running", 10, 0), 20);
	jsonx_set_new(p, "status.conditions", json_pack("[{s:s, s:s}]", "type", "DisruptionTarget", "status", "True"));
	see(&t, json_incref(p), 11);
	gone(&t, p, 21);
	CHECK_STR(records(&t), "u1,ns,Pod,ns,,batch,0,5,10,20,1,1,2000,0,,Deleted,u1,,,,\n"
			       "u2,ns,Pod,ns,,batch,0,5,10,21,1,2,2000,0,,Evicted,u2,,,,\n");
	tally_done(&t);
}

TEST("a gang is one record with the exact use of all its pods")
{
	struct tally t;

	tally_new(&t);
	see(&t, pod("u1", "g", "Running", 10, 0), 11);
	see(&t, pod("u2", "g", "Running", 10, 0), 11);
	see(&t, pod("u2", "g", "Succeeded", 10, 20), 21);
	CHECK_STR(records(&t), "");
	gone(&t, pod("u1", "g", "Running", 10, 0), 40);
	/* 1 GPU for 30 s and 2 for 10; the pod that was deleted in the end does not decide */
	CHECK_STR(records(&t), "u1,ns,Pod,ns,,batch,0,5,10,40,2,3,4000,0,,Succeeded,u1,g,50,80,0\n");
	tally_done(&t);
}

TEST("a clock that was set back ends nothing before it began")
{
	struct tally t;

	tally_new(&t);
	see(&t, pod("u1", NULL, "Running", 100, 0), 50);
	gone(&t, pod("u1", NULL, "Running", 100, 0), 60);
	CHECK_STR(records(&t), "u1,ns,Pod,ns,,batch,0,5,100,100,1,1,2000,0,,Deleted,u1,,,,\n");
	tally_done(&t);
}

TEST("a Deployment's pods are its own, not its ReplicaSet's")
{
	struct tally t;
	json_t *p = pod("u1", NULL, "Running", 10, 0);

	tally_new(&t);
	jsonx_set_new(p, "metadata.ownerReferences",
		      json_pack("[{s:s, s:s, s:b}]", "kind", "ReplicaSet", "name", "web-5d9f", "controller", 1));
	jsonx_set_new(p, "metadata.labels", json_pack("{s:s}", "pod-template-hash", "5d9f"));
	see(&t, json_incref(p), 11);
	gone(&t, p, 20);
	CHECK(str_starts(records(&t), "web,ns,Deployment,ns,"));
	tally_done(&t);
}

/* ---- after a crash ---- */

static void read_lines(struct tally *t, const char *lines,
		       void (*take)(struct tally *t, const struct account_record *r))
{
	auto_sbuf struct sbuf title = SBUF(ACCOUNT_LINE_MAX);
	struct str rest = str_of(lines);
	struct account_columns c;
	struct err e = ERR_INIT;
	struct str line;

	account_title(&title);
	CHECK_INT(account_columns_read((struct str){ title.p, title.n - 1 }, &c, &e), 0);
	while (rest.n && str_split(&rest, '\n', &line)) {
		struct account_record r;

		if (!line.n || str_starts(line.p, "job,"))
			continue;
		CHECK_INT(account_read(&c, line, &r, &e), 0);
		take(t, &r);
	}
}

/* What a life leaves behind, and what the next one makes of it: the journal and the records up to some lines each, and
 * the pods of the API. */
static const char *next_life(const char *journal, const char *recorded, const json_t *pods, struct tally *t)
{
	tally_new(t);
	t->recovering = true;
	read_lines(t, recorded, tally_recorded);
	read_lines(t, journal, tally_replay);
	tally_see_all(t, pods, 0, 50, 60);
	return records(t);
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == '\n';
	return n;
}

static char *first_lines(const char *text, size_t n)
{
	const char *p = text;

	while (n && *p)
		n -= *p++ == '\n';
	return xstrndup(text, (size_t)(p - text));
}

TEST("killed between any two writes, every workload is recorded exactly once")
{
	/* A pod and a gang; pods may be gone from the API afterwards, or not. */
	struct tally whole;
	size_t njournal, nrecords;

	tally_new(&whole);
	see(&whole, pod("u1", NULL, "Running", 10, 0), 11);
	see(&whole, pod("u2", "g", "Running", 12, 0), 12);
	see(&whole, pod("u3", "g", "Running", 12, 0), 12);
	see(&whole, pod("u1", NULL, "Succeeded", 10, 30), 30);
	see(&whole, pod("u2", "g", "Failed", 12, 31), 31);
	see(&whole, pod("u3", "g", "Succeeded", 12, 32), 32);
	njournal = count_lines(whole.journal.p);
	nrecords = count_lines(whole.records.p);
	CHECK_INT(njournal, 6);
	CHECK_INT(nrecords, 2);
	for (size_t j = 0; j <= njournal; j++)
		for (size_t r = 0; r <= nrecords; r++) {
			auto_free char *journal = first_lines(whole.journal.p, j);
			auto_free char *recorded = first_lines(whole.records.p, r);
			json_auto_t *all = json_array();
			auto_sbuf struct sbuf together = SBUF(65536);
			struct tally t;

			json_array_append_new(all, pod("u1", NULL, "Succeeded", 10, 30));
			json_array_append_new(all, pod("u2", "g", "Failed", 12, 31));
			json_array_append_new(all, pod("u3", "g", "Succeeded", 12, 32));
			sbuf_addf(&together, "%s%s", recorded, next_life(journal, recorded, all, &t));
			CHECK_INT(count_lines(together.p), 2);
			CHECK(strstr(together.p, "u1,ns,Pod,ns,,batch,0,5,10,30,1,1,2000,0,,Succeeded,u1,,,,\n") !=
			      NULL);
			CHECK(strstr(together.p, ",12,32,2,5,4000,0,,Succeeded,u2,g,98,78,0\n") != NULL);
			CHECK_INT(tally_open(&t), 0);
			tally_done(&t);
		}
	tally_done(&whole);
}

TEST("what was deleted in the moment of the crash is recorded from the journal")
{
	struct tally before;
	struct tally t;
	json_auto_t *none = json_array();

	tally_new(&before);
	see(&before, pod("u1", NULL, "Running", 10, 0), 11);
	CHECK_STR(next_life(before.journal.p, "", none, &t),
		  "u1,ns,Pod,ns,,batch,0,5,10,50,1,1,2000,0,,Deleted,u1,,,,\n");
	tally_done(&t);
	tally_done(&before);
}

TEST("what still runs after a crash goes on, and a new journal has it")
{
	struct tally before;
	struct tally t;
	json_auto_t *pods = json_array();
	auto_sbuf struct sbuf journal = SBUF(65536);

	tally_new(&before);
	see(&before, pod("u1", NULL, "Running", 10, 0), 11);
	json_array_append_new(pods, pod("u1", NULL, "Running", 10, 0));
	CHECK_STR(next_life(before.journal.p, "", pods, &t), "");
	tally_journal(&t, &journal);
	CHECK(strstr(journal.p, "\nu1,ns,Pod,ns,,batch,0,5,10,,1,1,2000,0,,,u1,,,,\n") != NULL);
	see(&t, pod("u1", NULL, "Succeeded", 10, 70), 71);
	CHECK_STR(records(&t), "u1,ns,Pod,ns,,batch,0,5,10,70,1,1,2000,0,,Succeeded,u1,,,,\n");
	tally_done(&t);
	tally_done(&before);
}

/* ---- sums ---- */

static void add(void *arg, const struct account_record *r)
{
	usage_sum_add(arg, r);
}

TEST("what runs counts up to now, and a gang is one job")
{
	struct usage_sum sum;
	struct err e = ERR_INIT;
	json_auto_t *rows = NULL;
	struct tally t;

	tally_new(&t);
	see(&t, pod("u1", "g", "Running", 10, 0), 11);
	see(&t, pod("u2", "g", "Running", 10, 0), 11);
	see(&t, pod("u2", "g", "Succeeded", 10, 20), 21);
	CHECK_INT(usage_sum_init(&sum, "user", 0, 100, &e), 0);
	sum.now = 40;
	tally_each_pod(&t, add, &sum);
	rows = usage_sum_json(&sum);
	CHECK_INT(json_array_size(rows), 1);
	CHECK_INT(jsonx_int_or(json_array_get(rows, 0), "jobs", 0), 1);
	CHECK_INT(jsonx_int_or(json_array_get(rows, 0), "running", 0), 1);
	CHECK(json_number_value(jsonx_at(json_array_get(rows, 0), "gpuSeconds")) == 50);
	usage_sum_done(&sum);
	tally_done(&t);
}

TEST("sums are by user, group, queue or job, the most first, and of one user alone if asked for")
{
	static const struct {
		const char *by, *user, *names;
	} rows[] = {
		{ "user", NULL, "bob ada " }, { "group", NULL, "x y " }, { "queue", NULL, "q " },
		{ "job", NULL, "k j " },      { "job", "ada", "j " },    { "user", "eve", "" },
	};
	struct account_record a = { .job = STR("j"),
				    .ns = STR("n"),
				    .kind = STR("Job"),
				    .user = STR("ada"),
				    .group = STR("y"),
				    .queue = STR("q"),
				    .pods = 1,
				    .gpus = 1,
				    .started = 10,
				    .ended = 20 };
	struct account_record b = a;

	a.use = account_use_for(&a, 10);
	b.job = STR("k");
	b.user = STR("bob");
	b.group = STR("x");
	b.gpus = 2;
	b.use = account_use_for(&b, 10);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf names = SBUF(1024);
		struct usage_sum sum;
		struct err e = ERR_INIT;
		json_auto_t *list = NULL;
		json_t *row;
		size_t k;

		CHECK_INT(usage_sum_init(&sum, rows[i].by, 0, 100, &e), 0);
		sum.user = rows[i].user;
		usage_sum_add(&sum, &a);
		usage_sum_add(&sum, &b);
		list = usage_sum_json(&sum);
		json_array_foreach (list, k, row)
			sbuf_addf(&names, "%s ", jsonx_str_or(row, "name", "?"));
		CHECK_STR(names.p ? names.p : "", rows[i].names);
		usage_sum_done(&sum);
	}
}

TEST("sums by something else, or of a time that runs backwards, are refused")
{
	struct usage_sum sum;
	struct err e = ERR_INIT;

	CHECK_INT(usage_sum_init(&sum, "colour", 0, 1, &e), -1);
	CHECK_STR(e.text, "by: \"colour\" is not one of user, group, queue, job");
	CHECK_INT(usage_sum_init(&sum, "user", 2, 1, &e), -1);
}

/* ---- parts of cards ---- */

TEST("a part of a card is its memory's part of the card that was given")
{
	static const struct {
		card_set given;
		int64_t mib;
		double part;
	} rows[] = {
		{ 1, 0, 0 },    { 1, 8192, 0.5 }, { 2, 8192, 0.25 }, { 0, 8192, 0.25 },
		{ 4, 8192, 1 }, { 1, 99999, 1 },  { 8, 8192, 1 },
	};
	json_auto_t *node = json_pack("{s:{s:{s:s}}}", "metadata", "annotations", CARDS_ANNOTATION,
				      "[{\"index\":0,\"memoryBytes\":17179869184},{\"index\":1,\"memoryBytes\":"
				      "34359738368,\"shareable\":true},"
				      "{\"index\":2}]");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK(card_part(node, rows[i].given, rows[i].mib) == rows[i].part);
	CHECK(card_part(NULL, 1, 100) == 1);
}
