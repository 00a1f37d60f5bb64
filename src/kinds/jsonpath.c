// SPDX-License-Identifier: Apache-2.0
/* jsonpath.c - the part of JSONPath that printer columns use
 *
 * A path is a list of steps; matching walks them depth first and stops as soon as the caller has enough.  Every step
 * goes one level down, so the work is bounded by the document's size.  A filter holds a path of its own, relative to
 * the item it judges.  Not here: "..", unions, && and ||.
 */
#include "kinds/jsonpath.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define MAX_NESTED_FILTERS 4

enum step_type { STEP_FIELD, STEP_ALL, STEP_INDEX, STEP_SLICE, STEP_FILTER };
enum filter_op { FILTER_EXISTS, FILTER_EQ, FILTER_NE, FILTER_LE, FILTER_GE, FILTER_LT, FILTER_GT };

struct step {
	enum step_type type;
	char *name;          /* STEP_FIELD */
	int64_t from, to;    /* STEP_INDEX uses from; negative counts from the end */
	bool has_to;         /* STEP_SLICE: [a:] reaches to the end */
	struct jsonpath *of; /* STEP_FILTER: the left side */
	enum filter_op op;
	json_t *literal; /* the right side */
};

struct jsonpath {
	struct step *steps;
	size_t n, cap;
};

struct parser {
	const char *text, *p;
	struct err *e;
	unsigned depth; /* filters around this path */
};

void jsonpath_free(struct jsonpath *p)
{
	if (!p)
		return;
	for (size_t i = 0; i < p->n; i++) {
		free(p->steps[i].name);
		jsonpath_free(p->steps[i].of);
		json_decref(p->steps[i].literal);
	}
	free(p->steps);
	free(p);
}

static void free_cleanup(struct jsonpath **p)
{
	jsonpath_free(*p);
}

#define auto_jsonpath __attribute__((cleanup(free_cleanup)))

static int bad(struct parser *ps, const char *expected)
{
	return err_set(ps->e, ERR_BAD_REQUEST, "JSONPath \"%.200s\", column %zu: expected %s", ps->text,
		       (size_t)(ps->p - ps->text) + 1, expected);
}

static void skip_space(struct parser *ps)
{
	ps->p += strspn(ps->p, " \t");
}

static bool accept(struct parser *ps, const char *mark)
{
	if (!str_starts(ps->p, mark))
		return false;
	ps->p += strlen(mark);
	return true;
}

/* 'a.b' or "a.b"; a backslash takes the next byte as it is. */
static int parse_quoted(struct parser *ps, char **ret)
{
	char quote = *ps->p;
	auto_sbuf struct sbuf s = SBUF(strlen(ps->p));

	for (ps->p++; *ps->p != quote; ps->p++) {
		if (*ps->p == '\\' && ps->p[1])
			ps->p++;
		if (!*ps->p)
			return bad(ps, "a closing quote");
		sbuf_addc(&s, *ps->p);
	}
	ps->p++;
	*ret = sbuf_steal(&s);
	return 0;
}

static int parse_name(struct parser *ps, char **ret)
{
	auto_sbuf struct sbuf s = SBUF(strlen(ps->p));

	for (; *ps->p && !strchr(".[]{}()=!<>&| \t'\"", *ps->p); ps->p++) {
		if (*ps->p == '\\' && ps->p[1])
			ps->p++;
		sbuf_addc(&s, *ps->p);
	}
	if (!s.n)
		return bad(ps, "a field name");
	*ret = sbuf_steal(&s);
	return 0;
}

static bool parse_int(struct parser *ps, int64_t *ret)
{
	size_t n = (*ps->p == '-') + strspn(ps->p + (*ps->p == '-'), "0123456789");
	auto_free char *text = xstrndup(ps->p, n);

	if (!str_int64(text, INT32_MIN, INT32_MAX, ret))
		return false;
	ps->p += n;
	return true;
}

static int parse_literal(struct parser *ps, json_t **ret)
{
	auto_free char *text = NULL;
	struct err ignored = ERR_INIT;

	if (*ps->p == '"' || *ps->p == '\'') {
		if (parse_quoted(ps, &text) < 0)
			return -1;
		*ret = jsonx_string(text);
		return 0;
	}
	text = xstrndup(ps->p, strcspn(ps->p, " \t)"));
	if (jsonx_parse(text, strlen(text), NULL, NULL, ret, &ignored) < 0)
		return bad(ps, "a string, a number, true or false");
	ps->p += strlen(text);
	return 0;
}

static int parse_steps(struct parser *ps, struct jsonpath **ret);

/* Behind "?(": a path, and perhaps an operator and a literal. */
static int parse_filter(struct parser *ps, struct step *s)
{
	static const struct {
		const char *mark;
		enum filter_op op;
	} ops[] = {
		{ "==", FILTER_EQ }, { "!=", FILTER_NE }, { "<=", FILTER_LE },
		{ ">=", FILTER_GE }, { "<", FILTER_LT },  { ">", FILTER_GT },
	};

	s->type = STEP_FILTER;
	if (++ps->depth > MAX_NESTED_FILTERS)
		return bad(ps, "fewer nested filters");
	skip_space(ps);
	if (!accept(ps, "@"))
		return bad(ps, "@");
	if (parse_steps(ps, &s->of) < 0)
		return -1;
	ps->depth--;
	skip_space(ps);
	for (size_t i = 0; i < ARRAY_SIZE(ops) && s->op == FILTER_EXISTS; i++)
		if (accept(ps, ops[i].mark))
			s->op = ops[i].op;
	skip_space(ps);
	if (s->op != FILTER_EXISTS && parse_literal(ps, &s->literal) < 0)
		return -1;
	skip_space(ps);
	return accept(ps, ")") ? 0 : bad(ps, "')'");
}

/* Behind "[". */
static int parse_bracket(struct parser *ps, struct step *s)
{
	bool number;

	if (accept(ps, "*")) {
		s->type = STEP_ALL;
	} else if (accept(ps, "?(")) {
		if (parse_filter(ps, s) < 0)
			return -1;
	} else if (*ps->p == '\'' || *ps->p == '"') {
		s->type = STEP_FIELD;
		if (parse_quoted(ps, &s->name) < 0)
			return -1;
	} else {
		number = parse_int(ps, &s->from);
		s->type = STEP_INDEX;
		if (accept(ps, ":")) {
			s->type = STEP_SLICE;
			s->has_to = parse_int(ps, &s->to);
		} else if (!number) {
			return bad(ps, "an index, '*', a quoted name or '?('");
		}
	}
	return accept(ps, "]") ? 0 : bad(ps, "']'");
}

static int parse_step(struct parser *ps, bool first, struct step *s)
{
	if (accept(ps, "["))
		return parse_bracket(ps, s);
	if (!accept(ps, ".") && !first)
		return bad(ps, "'.' or '['");
	if (*ps->p == '[') {
		ps->p++;
		return parse_bracket(ps, s);
	}
	if (accept(ps, "*")) {
		s->type = STEP_ALL;
		return 0;
	}
	s->type = STEP_FIELD;
	return parse_name(ps, &s->name);
}

/* Until the end of the text, or inside a filter until something that belongs to it. */
static int parse_steps(struct parser *ps, struct jsonpath **ret)
{
	auto_jsonpath struct jsonpath *path = xcalloc(1, sizeof(*path));
	const char *stop = ps->depth ? ")=!<> \t" : "}";

	while (*ps->p && !strchr(stop, *ps->p)) {
		struct step s = { 0 };
		int rc = parse_step(ps, path->n == 0 && ps->depth == 0, &s);

		ARRAY_PUSH(path->steps, path->n, path->cap, s);
		if (rc < 0)
			return -1;
	}
	*ret = TAKE(path);
	return 0;
}

int jsonpath_parse(const char *text, struct jsonpath **ret, struct err *e)
{
	struct parser ps = { .text = text, .p = text, .e = e };
	auto_jsonpath struct jsonpath *path = NULL;
	bool brace = accept(&ps, "{");

	accept(&ps, "$");
	if (streq(ps.p, ".") || streq(ps.p, ".}"))
		ps.p++; /* the document itself */
	if (parse_steps(&ps, &path) < 0)
		return -1;
	if (brace && !accept(&ps, "}"))
		return bad(&ps, "'}'");
	if (*ps.p)
		return bad(&ps, "the end");
	*ret = TAKE(path);
	return 0;
}

/* Called for each match; true stops the walk. */
typedef bool match_fn(void *arg, const json_t *v);

static bool walk(const struct jsonpath *p, size_t i, const json_t *v, match_fn *fn, void *arg);

static int compare(const json_t *a, const json_t *b)
{
	if (json_is_string(a) && json_is_string(b))
		return strcmp(json_string_value(a), json_string_value(b));
	return json_number_value(a) < json_number_value(b) ? -1 : json_number_value(a) > json_number_value(b);
}

static bool filter_holds(const struct step *s, const json_t *item)
{
	const json_t *v = jsonpath_first(s->of, item);
	bool comparable;

	if (s->op == FILTER_EXISTS || !v)
		return v != NULL;
	if (s->op == FILTER_EQ || s->op == FILTER_NE)
		return jsonx_equal(v, s->literal) == (s->op == FILTER_EQ);
	comparable = json_is_number(v) ? json_is_number(s->literal) : json_is_string(v) && json_is_string(s->literal);
	if (!comparable)
		return false;
	switch (s->op) {
	case FILTER_LE:
		return compare(v, s->literal) <= 0;
	case FILTER_GE:
		return compare(v, s->literal) >= 0;
	case FILTER_LT:
		return compare(v, s->literal) < 0;
	default:
		return compare(v, s->literal) > 0;
	}
}

/* STEP_ALL and STEP_FILTER over a list's items or an object's values. */
static bool walk_children(const struct jsonpath *p, size_t i, const json_t *v, match_fn *fn, void *arg)
{
	const struct step *s = &p->steps[i];
	const char *key;
	json_t *child;
	size_t k;

	json_array_foreach (v, k, child)
		if ((s->type == STEP_ALL || filter_holds(s, child)) && walk(p, i + 1, child, fn, arg))
			return true;
	json_object_foreach ((json_t *)v, key, child)
		if ((s->type == STEP_ALL || filter_holds(s, child)) && walk(p, i + 1, child, fn, arg))
			return true;
	return false;
}

static int64_t clamp(int64_t i, int64_t n)
{
	i = i < 0 ? i + n : i;
	return i < 0 ? 0 : i > n ? n : i;
}

static bool walk(const struct jsonpath *p, size_t i, const json_t *v, match_fn *fn, void *arg)
{
	int64_t n = (int64_t)json_array_size(v);
	const struct step *s;
	int64_t at, end;

	if (!v)
		return false;
	if (i == p->n)
		return fn(arg, v);
	s = &p->steps[i];
	switch (s->type) {
	case STEP_FIELD:
		return walk(p, i + 1, json_object_get(v, s->name), fn, arg);
	case STEP_INDEX:
		at = s->from < 0 ? s->from + n : s->from;
		return at >= 0 && at < n && walk(p, i + 1, json_array_get(v, (size_t)at), fn, arg);
	case STEP_SLICE:
		end = s->has_to ? clamp(s->to, n) : n;
		for (at = clamp(s->from, n); at < end; at++)
			if (walk(p, i + 1, json_array_get(v, (size_t)at), fn, arg))
				return true;
		return false;
	default:
		return walk_children(p, i, v, fn, arg);
	}
}

static bool take_first(void *arg, const json_t *v)
{
	*(const json_t **)arg = v;
	return true;
}

static bool append(void *arg, const json_t *v)
{
	json_array_append(arg, (json_t *)v);
	return false;
}

json_t *jsonpath_first(const struct jsonpath *p, const json_t *doc)
{
	const json_t *found = NULL;

	walk(p, 0, doc, take_first, &found);
	return (json_t *)found;
}

json_t *jsonpath_all(const struct jsonpath *p, const json_t *doc)
{
	json_t *all = json_array();

	walk(p, 0, doc, append, all);
	return all;
}
