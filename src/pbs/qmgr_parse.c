// SPDX-License-Identifier: Apache-2.0
/* qmgr_parse.c - see qmgr_parse.h
 *
 * A comma stands between attributes and between the values of a list.  It ends a value only where a name and an
 * operator follow, so that acl_users = alice,bob means what it seems to.
 */
#include "pbs/qmgr_parse.h"

#include <ctype.h>
#include <strings.h>

#include "base/mem.h"

#define LONGEST (1u << 20)

/* Where the parser is. */
struct scan {
	struct str text;
	size_t at;
	struct err *e;
};

void qmgr_command_done(struct qmgr_command *c)
{
	for (size_t i = 0; i < c->nnames; i++)
		free(c->names[i]);
	for (size_t i = 0; i < c->nitems; i++) {
		free(c->items[i].name);
		free(c->items[i].resource);
		free(c->items[i].value);
	}
	free(c->names);
	free(c->items);
	*c = (struct qmgr_command){ 0 };
}

/* ---- characters ---- */

static char peek(const struct scan *s)
{
	return s->at < s->text.n ? s->text.p[s->at] : 0;
}

static bool over(const struct scan *s)
{
	return s->at >= s->text.n;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void skip_blanks(struct scan *s)
{
	while (!over(s) && is_blank(peek(s)))
		s->at++;
}

static bool is_word(char c)
{
	return isalnum((unsigned char)c) || c == '_';
}

static struct str take_word(struct scan *s)
{
	size_t from = s->at;

	while (!over(s) && is_word(peek(s)))
		s->at++;
	return (struct str){ s->text.p + from, s->at - from };
}

bool qmgr_cut(struct str *line, struct str *ret)
{
	char quote = 0;
	size_t i = 0;

	*line = str_trim(*line);
	if (!line->n || line->p[0] == '#')
		return false;
	for (; i < line->n; i++) {
		char c = line->p[i];

		if (quote)
			quote = c == quote ? 0 : quote;
		else if (c == '"' || c == '\'')
			quote = c;
		else if (c == ';')
			break;
	}
	*ret = (struct str){ line->p, i };
	i = i < line->n ? i + 1 : i;
	*line = (struct str){ line->p + i, line->n - i };
	return true;
}

/* ---- words that may be cut short ---- */

struct keyword {
	const char *word;
	int value;
};

static const struct keyword verbs[] = {
	{ "active", QMGR_ACTIVE }, { "create", QMGR_CREATE }, { "delete", QMGR_DELETE }, { "set", QMGR_SET },
	{ "unset", QMGR_UNSET },   { "list", QMGR_LIST },     { "print", QMGR_PRINT },   { "help", QMGR_HELP },
	{ "?", QMGR_HELP },        { "quit", QMGR_QUIT },     { "exit", QMGR_QUIT },
};

static const struct keyword objects[] = {
	{ "server", QMGR_SERVER },  { "queue", QMGR_QUEUE },  { "node", QMGR_NODE },
	{ "servers", QMGR_SERVER }, { "queues", QMGR_QUEUE }, { "nodes", QMGR_NODE },
};

/* 0 if it is none of them. */
static int keyword(struct str word, const struct keyword *rows, size_t n)
{
	for (size_t i = 0; word.n && i < n; i++)
		if (word.n <= strlen(rows[i].word) && strncasecmp(rows[i].word, word.p, word.n) == 0)
			return rows[i].value;
	return 0;
}

/* ---- names ---- */

/* What names of objects and servers are made of: everything that separates nothing. */
static bool is_name(char c)
{
	return c && !is_blank(c) && !strchr(",=;\"'", c);
}

/* Whether an operator follows: then what was read is an attribute. */
static bool operator_follows(struct scan s)
{
	skip_blanks(&s);
	if (peek(&s) == '+' || peek(&s) == '-')
		s.at++;
	return peek(&s) == '=';
}

/* Does NAME[.RESOURCE] OPERATOR stand here? */
static bool assignment_follows(struct scan s)
{
	skip_blanks(&s);
	if (!take_word(&s).n)
		return false;
	if (peek(&s) == '.') {
		s.at++;
		if (!take_word(&s).n)
			return false;
	}
	return operator_follows(s);
}

/* NAME,NAME... */
static int take_names(struct scan *s, struct qmgr_command *c)
{
	for (;;) {
		size_t from;

		skip_blanks(s);
		from = s->at;
		while (!over(s) && is_name(peek(s)))
			s->at++;
		if (s->at == from)
			return err_set(s->e, ERR_INVALID, "a name is missing");
		ARRAY_PUSH(c->names, c->nnames, c->names_cap, xstrndup(s->text.p + from, s->at - from));
		skip_blanks(s);
		if (peek(s) != ',')
			return 0;
		s->at++;
	}
}

/* ---- attributes ---- */

/* Quoted and plain pieces, side by side. */
static int take_value(struct scan *s, struct sbuf *out)
{
	for (;;) {
		char c = peek(s);

		if (over(s) || is_blank(c))
			return 0;
		if (c == ',' && assignment_follows((struct scan){ s->text, s->at + 1, s->e }))
			return 0;
		s->at++;
		if (c == '"' || c == '\'') {
			const char *end = memchr(s->text.p + s->at, c, s->text.n - s->at);

			if (!end)
				return err_set(s->e, ERR_INVALID, "a quote is not closed");
			sbuf_add(out, s->text.p + s->at, (size_t)(end - s->text.p) - s->at);
			s->at = (size_t)(end - s->text.p) + 1;
		} else {
			sbuf_addc(out, c);
		}
		if (c == ',')
			skip_blanks(s);
	}
}

/* After a value: blanks before a comma that goes on with the list. */
static int take_values(struct scan *s, struct sbuf *out)
{
	for (;;) {
		struct scan ahead;

		if (take_value(s, out) < 0)
			return -1;
		ahead = *s;
		skip_blanks(&ahead);
		if (peek(&ahead) != ',' || assignment_follows((struct scan){ s->text, ahead.at + 1, s->e }))
			return 0;
		*s = ahead;
	}
}

static int take_operator(struct scan *s, enum setting_op *ret)
{
	static const struct {
		char sign;
		enum setting_op op;
	} signs[] = { { '+', SETTING_ADD }, { '-', SETTING_REMOVE } };

	*ret = SETTING_SET;
	for (size_t i = 0; i < ARRAY_SIZE(signs); i++)
		if (peek(s) == signs[i].sign) {
			*ret = signs[i].op;
			s->at++;
			break;
		}
	if (peek(s) != '=')
		return err_set(s->e, ERR_INVALID, "=, += or -= is missing");
	s->at++;
	return 0;
}

/* NAME[.RESOURCE], and with `assigned` an operator and a value. */
static int take_item(struct scan *s, struct qmgr_command *c, bool assigned)
{
	auto_sbuf struct sbuf value = SBUF(LONGEST);
	struct qmgr_item item = { .op = SETTING_UNSET };
	struct str name, resource = { 0 };

	skip_blanks(s);
	name = take_word(s);
	if (!name.n)
		return err_set(s->e, ERR_INVALID, "the name of an attribute is missing");
	if (peek(s) == '.') {
		s->at++;
		resource = take_word(s);
		if (!resource.n)
			return err_set(s->e, ERR_INVALID, "the name of a resource is missing");
	}
	skip_blanks(s);
	if (assigned) {
		if (take_operator(s, &item.op) < 0)
			return -1;
		skip_blanks(s);
		if (take_values(s, &value) < 0)
			return -1;
		skip_blanks(s);
		item.value = sbuf_steal(&value);
	}
	item.name = xstrndup(name.p, name.n);
	item.resource = resource.n ? xstrndup(resource.p, resource.n) : NULL;
	ARRAY_PUSH(c->items, c->nitems, c->items_cap, item);
	return 0;
}

static int take_items(struct scan *s, struct qmgr_command *c, bool assigned)
{
	for (;;) {
		if (take_item(s, c, assigned) < 0)
			return -1;
		if (over(s))
			return 0;
		if (peek(s) != ',')
			return err_set(s->e, ERR_INVALID, "a comma or the end of the command is missing");
		s->at++;
	}
}

/* ---- commands ---- */

/* Whether names of objects stand here, and no attributes. */
static bool names_follow(const struct scan *s, const struct qmgr_command *c)
{
	struct scan ahead = *s;
	bool known = c->verb == QMGR_CREATE || c->verb == QMGR_DELETE || c->verb == QMGR_ACTIVE;

	if (known || peek(s) == '@')
		return true;
	if (c->verb == QMGR_SET)
		return !assignment_follows(*s);
	/* One word: of a server an attribute, of others a name; unset always has attributes. */
	do {
		skip_blanks(&ahead);
		while (!over(&ahead) && is_name(peek(&ahead)))
			ahead.at++;
		skip_blanks(&ahead);
	} while (peek(&ahead) == ',' && ahead.at++ < s->text.n);
	return !over(&ahead) || (c->object != QMGR_SERVER && c->verb != QMGR_UNSET);
}

static int parse_rest(struct scan *s, struct qmgr_command *c)
{
	bool assigned = c->verb == QMGR_SET || c->verb == QMGR_CREATE;

	skip_blanks(s);
	if (!over(s) && names_follow(s, c) && take_names(s, c) < 0)
		return -1;
	if ((c->verb == QMGR_CREATE || c->verb == QMGR_DELETE) && !c->nnames)
		return err_set(s->e, ERR_INVALID, "a name is missing");
	if (!over(s) && (c->verb == QMGR_DELETE || c->verb == QMGR_ACTIVE))
		return err_set(s->e, ERR_INVALID, "nothing more is expected");
	if (over(s))
		return c->verb == QMGR_SET || c->verb == QMGR_UNSET
			       ? err_set(s->e, ERR_INVALID, "an attribute is missing")
			       : 0;
	return take_items(s, c, assigned);
}

static int parse(struct scan *s, struct qmgr_command *c)
{
	struct str word;
	size_t from;

	skip_blanks(s);
	if (over(s) || peek(s) == '#')
		return 0;
	from = s->at;
	while (!over(s) && !is_blank(peek(s)))
		s->at++;
	word = (struct str){ s->text.p + from, s->at - from };
	c->verb = (enum qmgr_verb)keyword(word, verbs, ARRAY_SIZE(verbs));
	if (c->verb == QMGR_NOTHING) {
		s->at = from;
		return err_set(s->e, ERR_INVALID, "Illegal operation: %.*s", STR_FMT(word));
	}
	if (c->verb == QMGR_HELP || c->verb == QMGR_QUIT)
		return 0;
	skip_blanks(s);
	if (over(s) && c->verb == QMGR_ACTIVE)
		return 0;
	from = s->at;
	word = take_word(s);
	c->object = (enum qmgr_object)keyword(word, objects, ARRAY_SIZE(objects));
	if (c->object == QMGR_NONE || (!over(s) && !is_blank(peek(s)))) {
		s->at = from;
		return err_set(s->e, ERR_INVALID, "Illegal object type: %.*s",
			       STR_FMT(((struct str){ s->text.p + from, s->text.n - from })));
	}
	return parse_rest(s, c);
}

int qmgr_parse(struct str text, struct qmgr_command *ret, size_t *ret_at, struct err *e)
{
	struct scan s = { .text = text, .e = e };
	struct qmgr_command c = { 0 };

	if (text.n > LONGEST)
		return err_set(e, ERR_TOO_LARGE, "a command has at most %u bytes", LONGEST);
	if (parse(&s, &c) < 0) {
		qmgr_command_done(&c);
		*ret_at = s.at;
		return -1;
	}
	*ret = c;
	return 0;
}

/* ---- values as text ---- */

void qmgr_quote(const char *value, struct sbuf *out)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.:+@/*%=-";

	if (*value && !value[strspn(value, plain)]) {
		sbuf_adds(out, value);
		return;
	}
	do {
		char quote = *value == '"' ? '\'' : '"';
		size_t n = strcspn(value, quote == '"' ? "\"" : "'");

		sbuf_addc(out, quote);
		for (size_t i = 0; i < n; i++) /* a line is a command */
			sbuf_addc(out, value[i] == '\n' || value[i] == '\r' ? ' ' : value[i]);
		sbuf_addc(out, quote);
		value += n;
	} while (*value);
}
