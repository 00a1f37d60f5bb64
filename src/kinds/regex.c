// SPDX-License-Identifier: Apache-2.0
/* regex.c - compiling a pattern: recursive descent, straight into a program
 *
 * There is no syntax tree; a repeated atom's instructions are cut out and put back as often as wanted, up to a cap on
 * the program's size.  Only "does it match" will be asked (regex_match.c), so greedy and lazy, capturing or not, are
 * the same.
 */
#include <ctype.h>

#include "base/mem.h"
#include "base/str.h"
#include "kinds/regex_impl.h"

#define REGEX_MAX_PROGRAM 20000 /* instructions */
#define REGEX_MAX_REPEAT  1000  /* RE2's figure */
#define REGEX_MAX_DEPTH   100   /* groups within groups */

struct parser {
	struct regex *re;
	const char *text, *p;
	int depth;
	struct err *e;
};

static const struct {
	char letter; /* upper case negates */
	struct range r[4];
	size_t n;
} shorthands[] = {
	{ 'd', { { '0', '9' } }, 1 },
	{ 'w', { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } }, 4 },
	{ 's', { { '\t', '\n' }, { '\f', '\r' }, { ' ', ' ' } }, 3 },
};

static const struct {
	const char *name;
	struct range r[4];
	size_t n;
} posix_classes[] = {
	{ "alnum", { { '0', '9' }, { 'A', 'Z' }, { 'a', 'z' } }, 3 },
	{ "alpha", { { 'A', 'Z' }, { 'a', 'z' } }, 2 },
	{ "ascii", { { 0, 0x7f } }, 1 },
	{ "blank", { { '\t', '\t' }, { ' ', ' ' } }, 2 },
	{ "cntrl", { { 0, 0x1f }, { 0x7f, 0x7f } }, 2 },
	{ "digit", { { '0', '9' } }, 1 },
	{ "graph", { { '!', '~' } }, 1 },
	{ "lower", { { 'a', 'z' } }, 1 },
	{ "print", { { ' ', '~' } }, 1 },
	{ "punct", { { '!', '/' }, { ':', '@' }, { '[', '`' }, { '{', '~' } }, 4 },
	{ "space", { { '\t', '\r' }, { ' ', ' ' } }, 2 },
	{ "upper", { { 'A', 'Z' } }, 1 },
	{ "word", { { '0', '9' }, { 'A', 'Z' }, { '_', '_' }, { 'a', 'z' } }, 4 },
	{ "xdigit", { { '0', '9' }, { 'A', 'F' }, { 'a', 'f' } }, 3 },
};

static int fail(struct parser *ps, const char *why)
{
	return err_set(ps->e, ERR_BAD_REQUEST, "%s at byte %zu", why, (size_t)(ps->p - ps->text));
}

static int emit(struct parser *ps, struct inst in)
{
	struct regex *re = ps->re;

	if (re->n >= REGEX_MAX_PROGRAM)
		return fail(ps, "expression is too large");
	ARRAY_PUSH(re->prog, re->n, re->cap, in);
	return 0;
}

static void add_range(struct regex *re, uint32_t lo, uint32_t hi)
{
	ARRAY_PUSH(re->ranges, re->nranges, re->ranges_cap, ((struct range){ lo, hi }));
}

/* Everything outside of `r`, whose ranges are in order. */
static void add_ranges(struct regex *re, const struct range *r, size_t n, bool negated)
{
	uint32_t from = 0;

	for (size_t i = 0; i < n; i++) {
		if (!negated)
			add_range(re, r[i].lo, r[i].hi);
		else if (r[i].lo > from)
			add_range(re, from, r[i].lo - 1);
		from = r[i].hi + 1;
	}
	if (negated)
		add_range(re, from, 0x10ffff);
}

static bool add_shorthand(struct regex *re, char c)
{
	for (size_t i = 0; i < ARRAY_SIZE(shorthands); i++) {
		if (tolower((unsigned char)c) != shorthands[i].letter)
			continue;
		add_ranges(re, shorthands[i].r, shorthands[i].n, isupper((unsigned char)c) != 0);
		return true;
	}
	return false;
}

static int parse_hex(struct parser *ps, uint32_t *ret)
{
	bool braces = *ps->p == '{';
	int digits = 0;
	uint32_t v = 0;

	ps->p += braces;
	for (; isxdigit((unsigned char)*ps->p) && digits < (braces ? 6 : 2); digits++, ps->p++)
		v = v * 16 + (uint32_t)(isdigit((unsigned char)*ps->p) ? *ps->p - '0'
								       : tolower((unsigned char)*ps->p) - 'a' + 10);
	if (!digits || v > 0x10ffff || (braces && *ps->p++ != '}'))
		return fail(ps, "bad \\x escape");
	*ret = v;
	return 0;
}

/* The character after a backslash, shorthands excepted. */
static int parse_escape(struct parser *ps, uint32_t *ret)
{
	static const char from[] = "nrtfva0";
	static const char to[] = "\n\r\t\f\v\a\0";
	char c = *ps->p;
	const char *at = c ? strchr(from, c) : NULL;

	if (!c)
		return fail(ps, "trailing backslash");
	ps->p++;
	if (c == 'x')
		return parse_hex(ps, ret);
	if (c == 'u') { /* ECMA's \uXXXX */
		char hex[5] = { 0 };

		for (int i = 0; i < 4; i++, ps->p++) {
			if (!isxdigit((unsigned char)*ps->p))
				return fail(ps, "bad \\u escape");
			hex[i] = *ps->p;
		}
		*ret = (uint32_t)strtoul(hex, NULL, 16);
		return 0;
	}
	if (!at && isalnum((unsigned char)c))
		return fail(ps, "invalid escape sequence");
	*ret = at ? (uint32_t)to[at - from] : (unsigned char)c;
	return 0;
}

static int parse_posix_class(struct parser *ps)
{
	bool negated = ps->p[2] == '^';
	const char *name = ps->p + 2 + negated;
	const char *end = strstr(name, ":]");

	for (size_t i = 0; end && i < ARRAY_SIZE(posix_classes); i++)
		if (str_eq((struct str){ name, (size_t)(end - name) }, posix_classes[i].name)) {
			add_ranges(ps->re, posix_classes[i].r, posix_classes[i].n, negated);
			ps->p = end + 2;
			return 0;
		}
	return fail(ps, "invalid character class");
}

static int parse_class_rune(struct parser *ps, uint32_t *ret)
{
	if (*ps->p == '\\') {
		ps->p++;
		return parse_escape(ps, ret);
	}
	*ret = regex_rune(&ps->p, ps->p + strlen(ps->p));
	return 0;
}

static int parse_class_item(struct parser *ps)
{
	uint32_t lo;
	uint32_t hi;

	if (ps->p[0] == '[' && ps->p[1] == ':')
		return parse_posix_class(ps);
	if (ps->p[0] == '\\' && ps->p[1] && add_shorthand(ps->re, ps->p[1])) {
		ps->p += 2;
		return 0;
	}
	if (parse_class_rune(ps, &lo) < 0)
		return -1;
	hi = lo;
	if (ps->p[0] == '-' && ps->p[1] && ps->p[1] != ']') {
		ps->p++;
		if (parse_class_rune(ps, &hi) < 0)
			return -1;
		if (hi < lo)
			return fail(ps, "invalid character class range");
	}
	add_range(ps->re, lo, hi);
	return 0;
}

static int parse_class(struct parser *ps)
{
	struct inst in = { .op = OP_CLASS, .a = (uint32_t)ps->re->nranges };
	bool first = true;

	ps->p++;
	if (*ps->p == '^') {
		in.negated = true;
		ps->p++;
	}
	for (; first || *ps->p != ']'; first = false) {
		if (!*ps->p)
			return fail(ps, "missing closing ]");
		if (parse_class_item(ps) < 0)
			return -1;
	}
	ps->p++;
	in.b = (uint32_t)ps->re->nranges - in.a;
	return emit(ps, in);
}

static int emit_rune(struct parser *ps, uint32_t r)
{
	struct inst in = { .op = OP_CLASS, .a = (uint32_t)ps->re->nranges, .b = 1 };

	add_range(ps->re, r, r);
	return emit(ps, in);
}

static int parse_alternation(struct parser *ps);

static int parse_flags(struct parser *ps)
{
	bool on = true;

	for (; *ps->p && *ps->p != ')' && *ps->p != ':'; ps->p++) {
		switch (*ps->p) {
		case '-':
			on = false;
			break;
		case 'i':
			ps->re->fold = on;
			break;
		case 's':
			ps->re->any_line = on;
			break;
		case 'm':
			ps->re->multi = on;
			break;
		case 'U':
			break; /* greed does not matter here */
		default:
			return fail(ps, "invalid or unsupported Perl syntax");
		}
	}
	return 0;
}

/* After "(": the group's own syntax, its inside, and ")". */
static int parse_group(struct parser *ps)
{
	bool only_flags = false;

	if (++ps->depth > REGEX_MAX_DEPTH)
		return fail(ps, "groups are nested too deep");
	if (ps->p[0] == '?') {
		ps->p++;
		if (str_starts(ps->p, "P<") || (ps->p[0] == '<' && ps->p[1] != '=' && ps->p[1] != '!')) {
			const char *end = strchr(ps->p, '>');

			if (!end)
				return fail(ps, "invalid named group");
			ps->p = end + 1;
		} else {
			if (parse_flags(ps) < 0)
				return -1;
			only_flags = *ps->p == ')';
			ps->p += *ps->p == ':';
		}
	}
	if (only_flags ? emit(ps, (struct inst){ .op = OP_EMPTY }) : parse_alternation(ps))
		return -1;
	if (*ps->p != ')')
		return fail(ps, "missing closing )");
	ps->p++;
	ps->depth--;
	return 0;
}

static int parse_backslash(struct parser *ps)
{
	static const struct {
		char letter;
		enum op op;
	} asserts[] = { { 'A', OP_BEGIN }, { 'z', OP_END }, { 'b', OP_WORD }, { 'B', OP_NOT_WORD } };
	uint32_t first = (uint32_t)ps->re->nranges;
	uint32_t r;

	ps->p++;
	for (size_t i = 0; i < ARRAY_SIZE(asserts); i++)
		if (*ps->p == asserts[i].letter) {
			ps->p++;
			return emit(ps, (struct inst){ .op = asserts[i].op });
		}
	if (*ps->p && add_shorthand(ps->re, *ps->p)) {
		ps->p++;
		return emit(ps, (struct inst){ .op = OP_CLASS, .a = first, .b = (uint32_t)ps->re->nranges - first });
	}
	return parse_escape(ps, &r) < 0 ? -1 : emit_rune(ps, r);
}

static int parse_atom(struct parser *ps)
{
	switch (*ps->p) {
	case '(':
		ps->p++;
		return parse_group(ps);
	case '[':
		return parse_class(ps);
	case '\\':
		return parse_backslash(ps);
	case '.':
		ps->p++;
		return emit(ps, (struct inst){ .op = OP_ANY, .negated = ps->re->any_line });
	case '^':
		ps->p++;
		return emit(ps, (struct inst){ .op = OP_BEGIN, .negated = ps->re->multi });
	case '$':
		ps->p++;
		return emit(ps, (struct inst){ .op = OP_END, .negated = ps->re->multi });
	case '*':
	case '+':
	case '?':
		return fail(ps, "missing argument to repetition operator");
	default:
		return emit_rune(ps, regex_rune(&ps->p, ps->p + strlen(ps->p)));
	}
}

/* {n}, {n,} or {n,m} at *p; false (and *p untouched) if the brace is a plain character. */
static bool parse_counts(const char **p, int *ret_min, int *ret_max)
{
	const char *s = *p + 1;
	int v[2] = { -1, -1 };

	for (int i = 0; i < 2; i++) {
		for (; isdigit((unsigned char)*s); s++)
			if ((v[i] = (v[i] < 0 ? 0 : v[i]) * 10 + (*s - '0')) > REGEX_MAX_REPEAT + 1)
				v[i] = REGEX_MAX_REPEAT + 1;
		if (i == 0 && (v[0] < 0 || *s != ','))
			break;
		s += i == 0;
	}
	if (v[0] < 0 || *s != '}')
		return false;
	*ret_min = v[0];
	*ret_max = s[-1] == ',' ? -1 : v[1] >= 0 ? v[1] : v[0];
	*p = s + 1;
	return true;
}

static bool parse_quantifier(struct parser *ps, int *ret_min, int *ret_max)
{
	switch (*ps->p) {
	case '*':
		*ret_min = 0;
		*ret_max = -1;
		break;
	case '+':
		*ret_min = 1;
		*ret_max = -1;
		break;
	case '?':
		*ret_min = 0;
		*ret_max = 1;
		break;
	case '{':
		if (!parse_counts(&ps->p, ret_min, ret_max))
			return false;
		ps->p += *ps->p == '?';
		return true;
	default:
		return false;
	}
	ps->p++;
	ps->p += *ps->p == '?'; /* lazy: same answer */
	return true;
}

/* The instructions of one atom, cut out of the program to be put back as often as wanted. */
struct block {
	struct inst *code;
	size_t n, at; /* where it stood: its jumps count from there */
};

static int emit_block(struct parser *ps, const struct block *blk)
{
	uint32_t delta = (uint32_t)(ps->re->n - blk->at);

	for (size_t i = 0; i < blk->n; i++) {
		struct inst in = blk->code[i];

		if (in.op == OP_SPLIT || in.op == OP_JUMP) {
			in.a += delta;
			in.b += delta;
		}
		if (emit(ps, in) < 0)
			return -1;
	}
	return 0;
}

/* The tail of a repetition after its `min` copies: a loop, or max - min optional copies. */
static int emit_optional(struct parser *ps, const struct block *blk, int min, int max)
{
	struct regex *re = ps->re;

	for (int i = min; max < 0 ? i == min : i < max; i++) {
		uint32_t split = (uint32_t)re->n;

		if (emit(ps, (struct inst){ .op = OP_SPLIT, .a = split + 1 }) < 0 || emit_block(ps, blk) < 0)
			return -1;
		if (max < 0 && emit(ps, (struct inst){ .op = OP_JUMP, .a = split }) < 0)
			return -1;
		re->prog[split].b = (uint32_t)re->n;
	}
	return 0;
}

static int parse_repeat(struct parser *ps)
{
	struct regex *re = ps->re;
	struct block blk = { .at = re->n };
	int min;
	int max;
	int r = 0;

	if (parse_atom(ps) < 0)
		return -1;
	if (!parse_quantifier(ps, &min, &max))
		return 0;
	if (min > REGEX_MAX_REPEAT || max > REGEX_MAX_REPEAT || (max >= 0 && max < min))
		return fail(ps, "invalid repeat count");
	if (*ps->p == '*' || *ps->p == '+' || *ps->p == '?')
		return fail(ps, "invalid nested repetition operator");
	blk.n = re->n - blk.at;
	blk.code = xmemdup(re->prog + blk.at, blk.n * sizeof(*blk.code));
	re->n = blk.at;
	for (int i = 0; i < min && r == 0; i++)
		r = emit_block(ps, &blk);
	if (r == 0)
		r = emit_optional(ps, &blk, min, max);
	free(blk.code);
	return r;
}

static int parse_concat(struct parser *ps)
{
	while (*ps->p && *ps->p != '|' && *ps->p != ')')
		if (parse_repeat(ps) < 0)
			return -1;
	return 0;
}

/* a|b: every alternative is preceded by a split and ends with a jump to the end; the jumps are chained through their
 * targets until the end is known. */
static int parse_alternation(struct parser *ps)
{
	struct regex *re = ps->re;
	uint32_t chain = UINT32_MAX;

	for (;;) {
		uint32_t split = (uint32_t)re->n;

		if (emit(ps, (struct inst){ .op = OP_EMPTY }) < 0 || parse_concat(ps) < 0)
			return -1;
		if (*ps->p != '|')
			break;
		ps->p++;
		if (emit(ps, (struct inst){ .op = OP_JUMP, .a = chain }) < 0)
			return -1;
		chain = (uint32_t)re->n - 1;
		re->prog[split] = (struct inst){ .op = OP_SPLIT, .a = split + 1, .b = (uint32_t)re->n };
	}
	while (chain != UINT32_MAX) {
		uint32_t next = re->prog[chain].a;

		re->prog[chain].a = (uint32_t)re->n;
		chain = next;
	}
	return 0;
}

int regex_compile(const char *pattern, struct regex **ret, struct err *e)
{
	struct regex *re = xcalloc(1, sizeof(*re));
	struct parser ps = { .re = re, .text = pattern, .p = pattern, .e = e };
	int r = parse_alternation(&ps);

	if (r == 0 && *ps.p)
		r = fail(&ps, "unexpected )");
	if (r == 0)
		r = emit(&ps, (struct inst){ .op = OP_MATCH });
	if (r < 0) {
		regex_free(re);
		return -1;
	}
	*ret = re;
	return 0;
}

void regex_free(struct regex *re)
{
	if (!re)
		return;
	free(re->prog);
	free(re->ranges);
	free(re);
}
