// SPDX-License-Identifier: Apache-2.0
/* select.c - see select.h
 *
 * Values are compared as what they are: times, sizes and numbers by amount, all else as text, where only equal and not
 * equal mean anything.
 */
#include "pbs/select.h"

#include <stdlib.h>

#include "base/mem.h"
#include "kinds/pbs_resources.h"
#include "kinds/pbs_values.h"
#include "pbs/when.h"

static const struct {
	const char *text;
	enum select_op op;
} ops[] = { { ".eq.", OP_EQ }, { ".ne.", OP_NE }, { ".gt.", OP_GT },
	    { ".ge.", OP_GE }, { ".lt.", OP_LT }, { ".le.", OP_LE } };

static int illegal(struct err *e, char option)
{
	return err_set(e, ERR_BAD_REQUEST, "illegal -%c value", option);
}

static void push(struct select_terms *s, char option, enum select_op op, char *name, char *value)
{
	ARRAY_PUSH(s->items, s->n, s->cap,
		   ((struct select_term){ .option = option, .op = op, .name = name, .value = value }));
}

/* [.op.]value */
static int add_with_op(struct select_terms *s, char option, const char *text, int64_t now, struct err *e)
{
	enum select_op op = OP_EQ;
	int64_t n;

	for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
		if (str_starts(text, ops[i].text)) {
			op = ops[i].op;
			text += strlen(ops[i].text);
			break;
		}
	if (option == 'a') {
		if (!pbs_when_parse(text, now, &n))
			return illegal(e, option);
		push(s, option, op, NULL, xasprintf("%lld", (long long)n));
		return 0;
	}
	if (!*text || (option == 'p' && !str_int64(*text == '+' ? text + 1 : text, -1024, 1023, &n)))
		return illegal(e, option);
	push(s, option, op, NULL, xstrdup(text));
	return 0;
}

/* Where the operator of name.op.value or name=value begins; NULL if there is none. */
static const char *find_op(const char *text, enum select_op *ret_op, size_t *ret_length)
{
	for (const char *p = text; *p; p++) {
		if (*p == '=') {
			*ret_op = OP_EQ;
			*ret_length = 1;
			return p;
		}
		for (size_t i = 0; i < ARRAY_SIZE(ops); i++)
			if (str_starts(p, ops[i].text)) {
				*ret_op = ops[i].op;
				*ret_length = strlen(ops[i].text);
				return p;
			}
	}
	return NULL;
}

static int add_resources(struct select_terms *s, const char *text, struct err *e)
{
	struct str rest = str_of(text);
	struct str part;

	while (str_split(&rest, ',', &part)) {
		auto_free char *one = xstrndup(part.p, part.n);
		enum select_op op;
		size_t n;
		const char *at = find_op(one, &op, &n);

		if (!at || at == one || !at[n])
			return illegal(e, 'l');
		push(s, 'l', op, xstrndup(one, (size_t)(at - one)), xstrdup(at + n));
	}
	return 0;
}

static int add_letters(struct select_terms *s, char option, const char *text, const char *letters, struct err *e)
{
	if (!*text || strspn(text, letters) != strlen(text))
		return illegal(e, option);
	push(s, option, OP_EQ, NULL, xstrdup(text));
	return 0;
}

int select_add(struct select_terms *s, char option, const char *text, int64_t now, struct err *e)
{
	s->full |= strchr("aAchlr", option) != NULL;
	switch (option) {
	case 'a':
	case 'c':
	case 'p':
		return add_with_op(s, option, text, now, e);
	case 'l':
		return add_resources(s, text, e);
	case 's':
		return add_letters(s, option, text, "CEHQRSTW", e);
	case 'h':
		return add_letters(s, option, text, "uosn", e);
	case 'r':
		if (!streq(text, "y") && !streq(text, "n"))
			return illegal(e, option);
		break;
	default:
		if (!*text)
			return illegal(e, option);
	}
	push(s, option, OP_EQ, NULL, xstrdup(text));
	return 0;
}

void select_done(struct select_terms *s)
{
	for (size_t i = 0; i < s->n; i++) {
		free(s->items[i].name);
		free(s->items[i].value);
	}
	free(s->items);
	*s = (struct select_terms){ 0 };
}

/* ---- comparing ---- */

static bool holds(enum select_op op, int order)
{
	switch (op) {
	case OP_EQ:
		return order == 0;
	case OP_NE:
		return order != 0;
	case OP_GT:
		return order > 0;
	case OP_GE:
		return order >= 0;
	case OP_LT:
		return order < 0;
	case OP_LE:
		return order <= 0;
	}
	return false;
}

static bool amount(enum pbs_type type, const char *text, int64_t *ret)
{
	if (type == PBS_TIME)
		return pbs_time_parse(text, ret);
	if (type == PBS_SIZE)
		return pbs_size_parse(text, ret);
	return str_int64(*text == '+' ? text + 1 : text, INT64_MIN, INT64_MAX, ret);
}

static bool compare(enum select_op op, enum pbs_type type, const char *has, const char *wants)
{
	int64_t a;
	int64_t b;

	if (amount(type, has, &a) && amount(type, wants, &b))
		return holds(op, (a > b) - (a < b));
	return (op == OP_EQ || op == OP_NE) && holds(op, strcmp(has, wants));
}

static bool attribute(const struct select_term *t, const struct pbs_attributes *a, const char *name,
		      const char *resource, enum pbs_type type)
{
	const char *has = a ? pbs_attributes_find(a, name, resource) : NULL;

	return has ? compare(t->op, type, has, t->value) : t->op == OP_NE;
}

/* Of holds each asked for must be there, and n means none. */
static bool has_holds(const struct select_term *t, const struct pbs_attributes *a)
{
	const char *has = a ? pbs_attributes_find(a, "Hold_Types", NULL) : NULL;

	for (const char *c = t->value; *c; c++)
		if (!has || !strchr(has, *c))
			return false;
	return true;
}

/* Rows have it as a number, objects as an attribute. */
static bool has_priority(const struct select_term *t, const char *text, int64_t has)
{
	int64_t wants = 0;

	if (text)
		amount(PBS_INT, text, &has);
	amount(PBS_INT, t->value, &wants);
	return holds(t->op, (has > wants) - (has < wants));
}

static bool is_queue(struct str queue, const char *wants)
{
	size_t n = strcspn(wants, "@");

	return !n || (queue.n == n && memcmp(queue.p, wants, n) == 0);
}

static bool term_holds(const struct select_term *t, const struct board_row *r, const struct pbs_attributes *a)
{
	switch (t->option) {
	case 's':
		return strchr(t->value, board_row_state(r)) != NULL;
	case 'u':
		return board_row_is_of(r, t->value);
	case 'q':
		return is_queue(r->c[COL_QUEUE], t->value);
	case 'N':
		return str_eq(r->c[COL_NAME], t->value);
	case 'p':
		return has_priority(t, a && a->n ? pbs_attributes_find(a, "Priority", NULL) : NULL,
				    board_row_number(r, COL_PRIORITY, 0));
	case 'a':
		return attribute(t, a, "Execution_Time", NULL, PBS_INT);
	case 'A':
		return attribute(t, a, "Account_Name", NULL, PBS_STRING);
	case 'c':
		return attribute(t, a, "Checkpoint", NULL, PBS_STRING);
	case 'h':
		return has_holds(t, a);
	case 'r':
		return str_same(a ? pbs_attributes_find(a, "Rerunable", NULL) : NULL,
				*t->value == 'y' ? "True" : "False");
	case 'l':
		return attribute(t, a, "Resource_List", t->name, pbs_resource_type(t->name));
	default:
		return true;
	}
}

bool select_matches(const struct select_terms *s, const struct board_row *r, const struct pbs_attributes *a)
{
	for (size_t i = 0; i < s->n; i++)
		if (!term_holds(&s->items[i], r, a))
			return false;
	return true;
}
