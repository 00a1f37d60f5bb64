// SPDX-License-Identifier: Apache-2.0
/* selector_text.c - selectors as queries write them
 *
 * Labels have a small grammar with tokens; fields are cut at commas and have escapes instead.
 */
#include "base/mem.h"
#include "kinds/selector_terms.h"

enum token { TOK_END, TOK_WORD, TOK_COMMA, TOK_OPEN, TOK_CLOSE, TOK_NOT, TOK_EQ, TOK_NE, TOK_GT, TOK_LT };

struct lexer {
	const char *text, *p;
	enum token token;
	struct str word; /* the token's own bytes */
};

/* Longest first. */
static const struct {
	const char *text;
	enum token token;
} marks[] = {
	{ "!=", TOK_NE },  { "==", TOK_EQ },   { "=", TOK_EQ }, { "!", TOK_NOT }, { ",", TOK_COMMA },
	{ "(", TOK_OPEN }, { ")", TOK_CLOSE }, { ">", TOK_GT }, { "<", TOK_LT },
};

static void advance(struct lexer *l)
{
	size_t n;

	l->p += strspn(l->p, " \t\r\n");
	for (size_t i = 0; i < ARRAY_SIZE(marks); i++) {
		if (str_starts(l->p, marks[i].text)) {
			l->token = marks[i].token;
			l->word = (struct str){ l->p, strlen(marks[i].text) };
			l->p += l->word.n;
			return;
		}
	}
	n = strcspn(l->p, " \t\r\n!=,()<>");
	l->token = n ? TOK_WORD : TOK_END;
	l->word = (struct str){ l->p, n };
	l->p += n;
}

static int unexpected(const struct lexer *l, const char *expected, struct err *e)
{
	return err_set(e, ERR_BAD_REQUEST, "unable to parse requirement: found '%.*s' at column %zu, expected: %s",
		       l->word.n > 100 ? 100 : (int)l->word.n, l->word.p, (size_t)(l->word.p - l->text) + 1, expected);
}

/* "(a,b)"; empty values are values too. */
static int parse_set(struct lexer *l, struct term *t, struct err *e)
{
	if (l->token != TOK_OPEN)
		return unexpected(l, "'('", e);
	do {
		struct str value = STR("");

		advance(l);
		if (l->token == TOK_WORD) {
			value = l->word;
			advance(l);
		}
		term_add_value(t, value);
	} while (l->token == TOK_COMMA);
	if (l->token != TOK_CLOSE)
		return unexpected(l, "',' or ')'", e);
	advance(l);
	return 0;
}

/* What follows a key.  The lexer stands behind it. */
static int parse_operator(struct lexer *l, struct term *t, struct err *e)
{
	switch (l->token) {
	case TOK_END:
	case TOK_COMMA:
		t->op = TERM_EXISTS;
		return 0;
	case TOK_WORD:
		if (!str_eq(l->word, "in") && !str_eq(l->word, "notin"))
			break;
		t->op = l->word.n == 2 ? TERM_IN : TERM_NOT_IN;
		advance(l);
		return parse_set(l, t, e);
	case TOK_EQ:
	case TOK_NE:
	case TOK_GT:
	case TOK_LT:
		t->op = l->token == TOK_EQ   ? TERM_EQUALS
			: l->token == TOK_NE ? TERM_NOT_EQUALS
			: l->token == TOK_GT ? TERM_GREATER
					     : TERM_LESS;
		advance(l);
		term_add_value(t, l->token == TOK_WORD ? l->word : STR(""));
		if (l->token == TOK_WORD)
			advance(l);
		return 0;
	default:
		break;
	}
	return unexpected(l, "in, notin, =, ==, !=, >, <", e);
}

static int parse_term(struct lexer *l, struct selector *s, struct err *e)
{
	bool negated = l->token == TOK_NOT;
	struct term *t;

	if (negated)
		advance(l);
	if (l->token != TOK_WORD)
		return unexpected(l, negated ? "identifier" : "!, identifier", e);
	t = selector_add(s, TERM_ABSENT, l->word, e);
	if (!t)
		return -1;
	advance(l);
	if (!negated && parse_operator(l, t, e) < 0)
		return -1;
	if (l->token != TOK_COMMA && l->token != TOK_END)
		return unexpected(l, "',' or end of text", e);
	if (term_check(t, e) < 0)
		return err_prefix(e, "unable to parse requirement");
	return 0;
}

int selector_parse_labels(const char *text, struct selector **ret, struct err *e)
{
	auto_selector struct selector *s = selector_new();
	struct lexer l = { .text = text, .p = text };

	if (text) {
		advance(&l);
		while (l.token != TOK_END || s->n > 0) {
			if (parse_term(&l, s, e) < 0)
				return -1;
			if (l.token == TOK_END)
				break;
			advance(&l);
		}
	}
	selector_sort(s);
	*ret = TAKE(s);
	return 0;
}

/* Cuts the text before the next unescaped comma off *rest. */
static bool next_field_term(const char **rest, struct str *ret)
{
	const char *from = *rest;
	const char *p = from;

	if (!from)
		return false;
	while (*p && *p != ',')
		p += p[0] == '\\' && p[1] ? 2 : 1;
	*ret = (struct str){ from, (size_t)(p - from) };
	*rest = *p ? p + 1 : NULL;
	return true;
}

static int unescape(struct str in, struct sbuf *out, struct err *e)
{
	for (size_t i = 0; i < in.n; i++) {
		if (in.p[i] == '\\') {
			i++;
			if (i == in.n || !strchr("\\,=", in.p[i]))
				return err_set(e, ERR_BAD_REQUEST, "invalid field selector: invalid escape in '%.*s'",
					       in.n > 100 ? 100 : (int)in.n, in.p);
		}
		sbuf_addc(out, in.p[i]);
	}
	return 0;
}

/* Where the kind keeps the value of a field label. */
static bool find_selectable(const struct kind *k, struct str label, struct selectable *ret)
{
	static const struct selectable common[] = { { "metadata.name", "metadata.name", NULL },
						    { "metadata.namespace", "metadata.namespace", NULL } };

	for (size_t i = 0; i < ARRAY_SIZE(common); i++) {
		if (str_eq(label, common[i].label) && (i == 0 || k->namespaced)) {
			*ret = common[i];
			return true;
		}
	}
	for (size_t i = 0; i < k->nselectable; i++) {
		if (str_eq(label, k->selectable[i].label)) {
			*ret = k->selectable[i];
			return true;
		}
	}
	return false;
}

static int parse_field_term(struct str text, const struct kind *k, struct selector *s, struct err *e)
{
	const char *eq = memchr(text.p, '=', text.n);
	const char *op = eq > text.p && eq[-1] == '!' ? eq - 1 : eq;
	auto_sbuf struct sbuf value = SBUF(text.n);
	struct selectable field;
	struct str label;
	struct term *t;

	if (!eq)
		return err_set(e, ERR_BAD_REQUEST, "invalid selector: '%.*s'; can't understand it: there is no '='",
			       text.n > 200 ? 200 : (int)text.n, text.p);
	label = str_trim((struct str){ text.p, (size_t)(op - text.p) });
	eq += op == eq && eq + 1 < text.p + text.n && eq[1] == '=' ? 2 : 1;
	if (unescape((struct str){ eq, (size_t)(text.p + text.n - eq) }, &value, e) < 0)
		return -1;
	if (!find_selectable(k, label, &field))
		return err_set(e, ERR_BAD_REQUEST, "field label not supported: %.*s",
			       label.n > 200 ? 200 : (int)label.n, label.p);
	t = selector_add(s, *op == '!' ? TERM_NOT_EQUALS : TERM_EQUALS, label, e);
	if (!t)
		return -1;
	t->path = field.path;
	t->fallback = field.fallback;
	term_add_value(t, sbuf_str(&value));
	return 0;
}

int selector_parse_fields(const char *text, const struct kind *k, struct selector **ret, struct err *e)
{
	auto_selector struct selector *s = selector_new();
	const char *rest = text;
	struct str part;

	while (next_field_term(&rest, &part))
		if (str_trim(part).n && parse_field_term(part, k, s, e) < 0)
			return -1;
	selector_sort(s);
	*ret = TAKE(s);
	return 0;
}
