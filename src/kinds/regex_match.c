// SPDX-License-Identifier: Apache-2.0
/* regex_match.c - running a program over a text: all threads side by side (Thompson's construction)
 *
 * No backtracking: time is text times program at most, whatever the pattern.  A step is one instruction looked at, or
 * four ranges of a class.
 */
#include <ctype.h>

#include "base/mem.h"
#include "kinds/regex_impl.h"

uint32_t regex_rune(const char **p, const char *end)
{
	const unsigned char *s = (const unsigned char *)*p;
	size_t left = (size_t)(end - *p);
	size_t len = s[0] < 0xc2 ? 1 : s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : s[0] < 0xf5 ? 4 : 1;
	uint32_t r = len == 1 ? s[0] : s[0] & (0xffu >> (len + 1));

	if (len > left)
		len = 1;
	for (size_t i = 1; i < len; i++) {
		if ((s[i] & 0xc0) != 0x80) {
			(*p)++;
			return s[0];
		}
		r = r << 6 | (s[i] & 0x3f);
	}
	*p += len;
	return len == 1 ? s[0] : r;
}

/* The threads waiting at one place of the text; `mark` tells who is already in, by generation. */
struct threads {
	uint32_t *pc;
	size_t n;
};

struct run {
	const struct regex *re;
	uint32_t *mark, *stack;
	uint32_t gen;
	uint32_t before, after; /* runes around the place; NO_RUNE at the ends */
	bool tied;              /* a match can begin at the beginning only */
	int64_t steps;          /* left */
};

#define NO_RUNE UINT32_MAX

static bool is_word(uint32_t r)
{
	return r == '_' || (r < 128 && isalnum((int)r));
}

static bool holds(const struct run *run, const struct inst *in)
{
	switch (in->op) {
	case OP_BEGIN:
		return run->before == NO_RUNE || (in->negated && run->before == '\n');
	case OP_END:
		return run->after == NO_RUNE || (in->negated && run->after == '\n');
	case OP_WORD:
	case OP_NOT_WORD:
		return (is_word(run->before) != is_word(run->after)) == (in->op == OP_WORD);
	default:
		return true;
	}
}

/* Adds the thread at pc and all it reaches without reading; true if one of them is the match. */
static bool add_thread(struct run *run, struct threads *list, uint32_t pc)
{
	size_t top = 0;

	run->stack[top++] = pc;
	while (top) {
		const struct inst *in;

		pc = run->stack[--top];
		run->steps--;
		if (run->mark[pc] == run->gen)
			continue;
		run->mark[pc] = run->gen;
		in = &run->re->prog[pc];
		if (in->op == OP_MATCH)
			return true;
		if (in->op == OP_CLASS || in->op == OP_ANY) {
			list->pc[list->n++] = pc;
		} else if (in->op == OP_SPLIT) {
			run->stack[top++] = in->b;
			run->stack[top++] = in->a;
		} else if (in->op == OP_JUMP) {
			run->stack[top++] = in->a;
		} else if (holds(run, in)) {
			run->stack[top++] = pc + 1;
		}
	}
	return false;
}

static bool in_class(const struct regex *re, const struct inst *in, uint32_t r)
{
	for (uint32_t i = in->a; i < in->a + in->b; i++)
		if (r >= re->ranges[i].lo && r <= re->ranges[i].hi)
			return true;
	return false;
}

static bool accepts(const struct regex *re, const struct inst *in, uint32_t r)
{
	bool hit;

	if (in->op == OP_ANY)
		return r != '\n' || in->negated;
	hit = in_class(re, in, r);
	if (!hit && re->fold && r < 128 && isalpha((int)r))
		hit = in_class(re, in, r ^ 0x20);
	return hit != in->negated;
}

static bool is_tied(const struct regex *re)
{
	size_t i = 0;

	while (re->prog[i].op == OP_EMPTY)
		i++;
	return re->prog[i].op == OP_BEGIN && !re->prog[i].negated;
}

/* The threads that go on from here; true if one of them is the match. */
static bool follow(struct run *run, const struct threads *now, struct threads *next)
{
	/* Threads that read the last rune were kept apart until what follows is known: here it is. */
	next->n = 0;
	for (size_t i = 0; i < now->n && run->steps > 0; i++)
		if (add_thread(run, next, now->pc[i]))
			return true;
	/* A match may begin here. */
	return (!run->tied || run->before == NO_RUNE) && add_thread(run, next, 0);
}

/* Those of `next` that take the rune. */
static void read_rune(struct run *run, const struct threads *next, struct threads *now)
{
	now->n = 0;
	for (size_t i = 0; i < next->n && run->steps > 0; i++) {
		const struct inst *in = &run->re->prog[next->pc[i]];

		run->steps -= in->op == OP_CLASS ? 1 + in->b / 4 : 1;
		if (accepts(run->re, in, run->after))
			now->pc[now->n++] = next->pc[i] + 1;
	}
}

int regex_match(const struct regex *re, const char *text, size_t n, int64_t *steps)
{
	auto_free uint32_t *room = xcalloc(re->n * 5 + 2, sizeof(*room));
	struct run run = { .re = re, .mark = room, .stack = room + re->n, .gen = 1, .before = NO_RUNE };
	struct threads now = { .pc = room + re->n * 3 + 2 };
	struct threads next = { .pc = room + re->n * 4 + 2 };
	const char *p = text;
	const char *end = text + n;
	int hit = -1;

	run.tied = is_tied(re);
	run.steps = *steps - (int64_t)(re->n / 8); /* for the room */
	for (; hit < 0 && run.steps > 0; run.gen++) {
		bool last = p >= end;

		run.after = last ? NO_RUNE : regex_rune(&p, end);
		if (follow(&run, &now, &next)) {
			hit = 1;
		} else if (run.steps > 0 && (last || (run.tied && !next.n))) {
			hit = 0;
		} else {
			read_rune(&run, &next, &now);
			run.before = run.after;
		}
	}
	*steps = run.steps;
	return hit;
}
