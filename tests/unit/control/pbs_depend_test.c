// SPDX-License-Identifier: Apache-2.0
/* What other jobs let a job do, by table.  Other jobs are written in words:
 *
 *	1:Q waits, 1:R runs, 1:C0 ended with 0, 1:C ended before it ran; 1:o is held until others have done their part
 *(on) 1:[0-9]R=0-3;C:0=4 is an array of ten, with status.elements; 1<beforeok goes before job 9; 1:-0 is gone, ended
 *with 0
 *
 * Job 9 is the one that is asked about.
 */
#include "control/pbs_book.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

struct world {
	json_t *jobs; /* number -> job */
	json_t *gone; /* number -> how it ended */
	const json_t *before[10];
	size_t nbefore;
};

static const json_t *find(void *arg, int64_t number)
{
	char name[24];

	snprintf(name, sizeof(name), "%lld", (long long)number);
	return json_object_get(((struct world *)arg)->jobs, name);
}

static bool past(void *arg, int64_t number, struct pbs_standing *ret)
{
	char name[24];
	const json_t *v;

	snprintf(name, sizeof(name), "%lld", (long long)number);
	v = json_object_get(((struct world *)arg)->gone, name);
	if (!v)
		return false;
	*ret = (struct pbs_standing){ 1, 1, json_integer_value(v) == 0, 1 };
	return true;
}

static json_t *job_named(const char *name)
{
	return json_pack("{s:{s:s}, s:{s:s}, s:{}}", "metadata", "name", name, "spec", "owner", "anna", "status");
}

static void set_array(json_t *job, const char *words)
{
	const char *end = strchr(words, ']');
	struct str rest = str_of(end + 1);
	struct str part;
	json_t *elements = json_object();

	jsonx_set_new(job, "spec.array.request", json_stringn(words + 1, (size_t)(end - words - 1)));
	while (rest.n && str_split(&rest, ';', &part)) {
		struct str key;

		str_split(&part, '=', &key);
		auto_free char *name = xstrndup(key.p, key.n);
		json_object_set_new(elements, name, json_stringn(part.p, part.n));
	}
	jsonx_set_new(job, "status.elements", elements);
}

static void set_state(json_t *job, const char *words)
{
	if (*words == '[') {
		set_array(job, words);
		return;
	}
	if (*words == 'o')
		jsonx_set_new(job, "spec.dependencies", json_pack("[{s:s, s:i}]", "type", "on", "count", 1));
	jsonx_set_new(job, "status.state", json_stringn(*words == 'o' ? "H" : words, 1));
	if (*words == 'R' || words[1])
		jsonx_set_new(job, "status.startCount", json_integer(1));
	if (words[1])
		jsonx_set_new(job, "status.exitStatus", json_integer(strtol(words + 1, NULL, 10)));
}

static void add(struct world *w, const char *word)
{
	size_t n = strspn(word, "0123456789");
	auto_free char *name = xstrndup(word, n);
	const char *before = strchr(word, '<');
	json_t *job = job_named(name);

	if (word[n + 1] == '-') {
		json_object_set_new(w->gone, name, json_integer(strtol(word + n + 2, NULL, 10)));
		json_decref(job);
		return;
	}
	set_state(job, word + n + 1);
	if (before) {
		jsonx_set_new(job, "spec.dependencies", json_pack("[{s:s, s:[s]}]", "type", before + 1, "jobs", "9"));
		w->before[w->nbefore++] = job;
	}
	json_object_set_new(w->jobs, name, job);
}

static const struct {
	const char *depend, *others;
	enum pbs_verdict want;
	const char *culprit;
} rows[] = {
	/* One that is there. */
	{ "after:1", "1:Q", PBS_WAITS, "1" },
	{ "after:1", "1:R", PBS_MET, "" },
	{ "after:1", "1:C0", PBS_MET, "" },
	{ "after:1", "1:C", PBS_NEVER, "1" },
	{ "afterok:1", "1:R", PBS_WAITS, "1" },
	{ "afterok:1", "1:C0", PBS_MET, "" },
	{ "afterok:1", "1:C3", PBS_NEVER, "1" },
	{ "afterok:1", "1:C271", PBS_NEVER, "1" },
	{ "afterok:1", "1:C", PBS_NEVER, "1" },
	{ "afternotok:1", "1:R", PBS_WAITS, "1" },
	{ "afternotok:1", "1:C0", PBS_NEVER, "1" },
	{ "afternotok:1", "1:C271", PBS_MET, "" },
	{ "afternotok:1", "1:C-11", PBS_MET, "" },
	{ "afternotok:1", "1:C", PBS_NEVER, "1" },
	{ "afterany:1", "1:R", PBS_WAITS, "1" },
	{ "afterany:1", "1:C0", PBS_MET, "" },
	{ "afterany:1", "1:C1", PBS_MET, "" },
	{ "afterany:1", "1:C", PBS_NEVER, "1" },
	/* Several: all must have come true, and one that cannot decides. */
	{ "after:1:2", "1:C0 2:R", PBS_MET, "" },
	{ "afterok:1:2", "1:C0 2:R", PBS_WAITS, "2" },
	{ "afterany:1:2", "1:C0 2:R", PBS_WAITS, "2" },
	{ "afternotok:1:2", "1:C0 2:R", PBS_NEVER, "1" },
	{ "afterok:2:1", "1:C3 2:R", PBS_NEVER, "1" },
	{ "afterok:1,afternotok:2", "1:C0 2:C0", PBS_NEVER, "2" },
	/* Names. */
	{ "afterok:1.Ghead", "1:C0", PBS_MET, "" },
	{ "afterok:x", "", PBS_NEVER, "x" },
	/* One that is gone, or that nobody knows: it has been if its number is lower. */
	{ "afterok:1", "1:-0", PBS_MET, "" },
	{ "afterok:1", "1:-3", PBS_NEVER, "1" },
	{ "afterany:1", "", PBS_MET, "" },
	{ "afterok:1", "", PBS_NEVER, "1" },
	{ "afterany:10", "", PBS_NEVER, "10" },
	/* Arrays. */
	{ "afterok:1[]", "1:[0-3]R=0;C:0=1-3", PBS_WAITS, "1[]" },
	{ "afterok:1[]", "1:[0-3]C:0=0-3", PBS_MET, "" },
	{ "afterok:1[]", "1:[0-3]R=0;C:1=1", PBS_NEVER, "1[]" },
	{ "after:1[]", "1:[0-3]R=0", PBS_MET, "" },
	{ "afternotok:1[]", "1:[0-3]C:0=0-2;C:1=3", PBS_MET, "" },
	{ "afternotok:1[]", "1:[0-3]C:0=0-3", PBS_NEVER, "1[]" },
	{ "afterok:1[2]", "1:[0-3]R=0;C:0=2", PBS_MET, "" },
	{ "afterok:1[0]", "1:[0-3]R=0;C:0=2", PBS_WAITS, "1[0]" },
	{ "afterstartarray:1[][2]", "1:[0-3]R=0", PBS_WAITS, "1[][2]" },
	{ "afterstartarray:1[][2]", "1:[0-3]R=0;C:0=1", PBS_MET, "" },
	{ "afterstartarray:1[]", "1:[0-3]R=0-2", PBS_WAITS, "1[]" },
	{ "afterokarray:1[][2]", "1:[0-3]C:0=0-1;R=2", PBS_MET, "" },
	{ "afterokarray:1[][3]", "1:[0-3]C:1=0-1;R=2", PBS_NEVER, "1[][3]" },
	{ "afternotokarray:1[].Ghead[2]", "1:[0-3]C:1=0-1", PBS_MET, "" },
	{ "afternotokarray:1[][2]", "1:[0-3]C:0=0-2", PBS_NEVER, "1[][2]" },
	{ "afteranyarray:1[][2]", "1:[0-3]C:0=0;C:4=3", PBS_MET, "" },
	{ "afteranyarray:1[]", "1:[0-3]C:0=0-2", PBS_WAITS, "1[]" },
	/* The other way round. */
	{ "on:1", "1:Q", PBS_WAITS, "1" },
	{ "on:1", "1:R<before", PBS_MET, "" },
	{ "on:1", "1:R<beforeok", PBS_WAITS, "1" },
	{ "on:1", "1:C0<beforeok", PBS_MET, "" },
	{ "on:1", "1:C3<beforeok", PBS_NEVER, "1" },
	{ "on:1", "1:C3<beforenotok", PBS_MET, "" },
	{ "on:1", "1:C3<beforeany", PBS_MET, "" },
	{ "on:2", "1:C0<beforeok", PBS_WAITS, "1" },
	{ "on:2", "1:C0<beforeok 2:R<before", PBS_MET, "" },
	{ "before:1", "1:o", PBS_MET, "" },
	{ "beforeok:1", "1:Q", PBS_NEVER, "1" },
	{ "beforeok:1", "1:C0", PBS_NEVER, "1" },
	{ "beforeany:1", "", PBS_NEVER, "1" },
	{ "syncwith:1", "1:Q", PBS_NEVER, "1" },
	/* What is not done is no obstacle. */
	{ "runone:1", "1:Q", PBS_MET, "" },
};

static json_t *dependencies(const char *text)
{
	json_t *list = json_array();
	struct str rest = str_of(text);
	struct str one;

	while (rest.n && str_split(&rest, ',', &one)) {
		struct str type;
		struct str id;
		json_t *jobs = json_array();

		str_split(&one, ':', &type);
		if (str_eq(type, "on")) {
			json_array_append_new(list, json_pack("{s:s, s:i}", "type", "on", "count", one.p[0] - '0'));
			json_decref(jobs);
			continue;
		}
		while (one.n && str_split(&one, ':', &id))
			json_array_append_new(jobs, json_stringn(id.p, id.n));
		json_array_append_new(list,
				      json_pack("{s:o, s:o}", "type", json_stringn(type.p, type.n), "jobs", jobs));
	}
	return list;
}

static struct world world_new(const char *others)
{
	struct world w = { .jobs = json_object(), .gone = json_object() };
	struct str rest = str_of(others);
	struct str word;

	while (rest.n && str_split(&rest, ' ', &word)) {
		auto_free char *text = xstrndup(word.p, word.n);

		add(&w, text);
	}
	return w;
}

static void world_done(struct world *w)
{
	json_decref(w->jobs);
	json_decref(w->gone);
}

static struct pbs_judgement judge(struct world *w, const json_t *job)
{
	struct pbs_others o = { .find = find, .past = past, .arg = w, .before = w->before, .nbefore = w->nbefore };
	struct pbs_judgement j;

	pbs_judge(job, &o, &j);
	return j;
}

TEST("what other jobs let a PBS job do")
{
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct world w = world_new(rows[i].others);
		json_auto_t *job = job_named("9");
		struct pbs_judgement j;

		jsonx_set_new(job, "spec.dependencies", dependencies(rows[i].depend));
		j = judge(&w, job);
		if (j.verdict != rows[i].want || !streq(j.culprit, rows[i].culprit))
			test_fail(__FILE__, __LINE__, "%s with %s: %d of %s, %s", rows[i].depend, rows[i].others,
				  (int)j.verdict, j.culprit, j.words);
		pbs_judgement_done(&j);
		world_done(&w);
	}
}

TEST("how a job ended is noted by who waits for it, and stays true when it is gone")
{
	struct world w = world_new("1:C0 2:R 3:C0<beforeok");
	struct world later = world_new("2:C0");
	json_auto_t *job = job_named("9");
	struct pbs_judgement j;

	jsonx_set_new(job, "spec.dependencies", dependencies("afterok:1:2,on:1"));
	CHECK(!pbs_depend_noted(job, 1));
	j = judge(&w, job);
	CHECK_INT(j.verdict, PBS_WAITS);
	jsonx_set_new(job, "status.parents", json_incref(j.parents));
	pbs_judgement_done(&j);
	CHECK(pbs_depend_noted(job, 1));
	CHECK(pbs_depend_noted(job, 3));
	CHECK(!pbs_depend_noted(job, 2));
	j = judge(&later, job);
	CHECK_INT(j.verdict, PBS_MET);
	jsonx_set_new(job, "status.parents", json_incref(j.parents));
	pbs_judgement_done(&j);
	world_done(&later);
	later = world_new("");
	j = judge(&later, job);
	CHECK_INT(j.verdict, PBS_MET);
	pbs_judgement_done(&j);
	/* qalter -W depend= asks for something else. */
	jsonx_set_new(job, "spec.dependencies", dependencies("afternotok:2"));
	j = judge(&later, job);
	CHECK_INT(j.verdict, PBS_NEVER);
	pbs_judgement_done(&j);
	world_done(&later);
	world_done(&w);
}

TEST("the book knows jobs by number, who asks for them, and how they ended")
{
	struct pbs_book b;
	json_auto_t *one = job_named("1");
	json_auto_t *two = job_named("2");
	const struct pbs_entry *e;

	pbs_book_init(&b);
	jsonx_set_new(two, "spec.dependencies", dependencies("afterok:1"));
	pbs_book_change(&b, "anna/2", two, NULL);
	e = pbs_book_find(&b, 1);
	CHECK(e && !e->key && map_find(&e->asking, "anna/2"));
	pbs_book_change(&b, "anna/1", one, NULL);
	CHECK_STR(pbs_book_find(&b, 1)->key, "anna/1");
	jsonx_set_new(one, "status.startCount", json_integer(1));
	pbs_book_change(&b, "anna/1", NULL, one);
	e = pbs_book_find(&b, 1);
	CHECK(!e->key && e->past);
	CHECK_INT(e->standing.ended, 1);
	CHECK_INT(e->standing.ok, 0);
	pbs_book_change(&b, "anna/2", NULL, two);
	CHECK_INT(pbs_book_find(&b, 1)->asking.n, 0);
	CHECK(!pbs_book_find(&b, 3));
	pbs_book_done(&b);
}

TEST("jobs that are to start together wait for each other")
{
	struct world w = { .jobs = json_object(), .gone = json_object() };
	json_t *first = job_named("1"), *second = job_named("2"), *third = job_named("3");
	struct pbs_judgement j;
	/* Who is there, whether the first has been let go, and what the first and the second may do. */
	static const struct {
		size_t there;
		const char *state, *parents;
		enum pbs_verdict one, two;
	} turns[] = {
		{ 0, "Q", "{}", PBS_WAITS, PBS_WAITS }, { 1, "Q", "{}", PBS_WAITS, PBS_WAITS },
		{ 2, "Q", "{}", PBS_MET, PBS_WAITS },   { 2, "Q", "{\"met\":\"x\"}", PBS_MET, PBS_MET },
		{ 2, "C", "{}", PBS_MET, PBS_NEVER },
	};

	jsonx_set_new(first, "spec.dependencies", json_pack("[{s:s, s:i}]", "type", "synccount", "count", 2));
	jsonx_set_new(second, "spec.dependencies", dependencies("syncwith:1"));
	jsonx_set_new(third, "spec.dependencies", dependencies("syncwith:1"));
	json_object_set_new(w.jobs, "1", first);
	json_object_set_new(w.jobs, "2", second);
	json_object_set_new(w.jobs, "3", third);
	for (size_t i = 0; i < ARRAY_SIZE(turns); i++) {
		w.before[0] = second;
		w.before[1] = third;
		w.nbefore = turns[i].there;
		jsonx_set_new(first, "status.state", json_string("H"));
		jsonx_set_new(first, "status.parents", json_object());
		j = judge(&w, first);
		CHECK_INT(j.verdict, turns[i].one);
		pbs_judgement_done(&j);
		w.nbefore = 0;
		jsonx_set_new(first, "status.state", json_string(turns[i].state));
		jsonx_set_new(first, "status.parents", json_loads(turns[i].parents, 0, NULL));
		j = judge(&w, second);
		CHECK_INT(j.verdict, turns[i].two);
		pbs_judgement_done(&j);
	}
	world_done(&w);
}
