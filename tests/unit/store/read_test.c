// SPDX-License-Identifier: Apache-2.0
/* read_test.c - a list in steps shows one moment, whatever happens between them */
#include "util.h"

#define OBJECTS 400
#define STEP    7

struct stepper {
	struct sbuf seen;
	char *name;
	int left;
};

/* As api/list.c: the record that ends a step is given again in the next. */
static bool on_step(void *arg, const struct record *r)
{
	struct stepper *st = arg;

	if (st->left-- == 0)
		return false;
	sbuf_addf(&st->seen, " %s", r->name);
	sbuf_add(&st->seen, r->body.p, r->body.n);
	free(st->name);
	st->name = xstrdup(r->name);
	return true;
}

/* One step; false at the end. */
static bool step(struct fixture *f, struct stepper *st, int64_t at, struct store_past **past)
{
	auto_free char *after = st->name ? xstrdup(st->name) : NULL;
	struct store_range range = {
		.kind = f->pods, .after_ns = after ? "a" : NULL, .after_name = after, .at = at, .past = past
	};

	st->left = STEP;
	CHECK_INT(store_list(f->s, &range, on_step, st, &f->e), 0);
	return st->left < 0;
}

/* Writes to a few objects of any age. */
static void disturb(struct fixture *f, unsigned *seed)
{
	for (int i = 0; i < 5; i++) {
		auto_free char *name = xasprintf("o%03d", (int)(rand_r(seed) % (OBJECTS * 2)));

		if (rand_r(seed) % 3)
			util_put(f, f->pods, "a", name, "later");
		else if (store_exists(f->s, f->pods, "a", name))
			util_delete(f, f->pods, "a", name);
	}
}

static void walk_disturbed(bool between, bool within, bool lost)
{
	struct fixture f = util_new();
	struct stepper want = { .seen = SBUF(1 << 24) };
	struct stepper got = { .seen = SBUF(1 << 24) };
	struct store_past *past = NULL;
	unsigned seed = 1;
	int64_t at;

	for (int i = 0; i < OBJECTS; i++) {
		auto_free char *name = xasprintf("o%03d", i * 2);

		util_put(&f, f.pods, "a", name, "first");
	}
	util_turn(&f);
	at = store_revision(f.s);
	while (step(&f, &want, at, NULL))
		;
	disturb(&f, &seed);
	util_turn(&f);
	for (bool more = true; more;) {
		if (within)
			disturb(&f, &seed);
		more = step(&f, &got, at, &past);
		if (between)
			disturb(&f, &seed);
		if (lost && f.s->open)
			txn_fail(f.s, SQLITE_ABORT, "testing", &f.e);
		f.e = ERR_INIT;
		util_turn(&f);
	}
	CHECK(want.seen.n > (size_t)OBJECTS * 20);
	CHECK_STR(got.seen.p, want.seen.p);
	store_past_free(past);
	sbuf_done(&want.seen);
	sbuf_done(&got.seen);
	free(want.name);
	free(got.name);
	util_done(&f);
}

TEST("a list in steps shows one moment, while others write between its steps")
{
	walk_disturbed(true, false, false);
}

TEST("a list in steps shows one moment, also in turns with writes of their own")
{
	walk_disturbed(false, true, false);
	walk_disturbed(true, true, false);
}

TEST("a list in steps is not misled by writes that were undone")
{
	walk_disturbed(false, true, true);
	walk_disturbed(true, true, true);
}
