// SPDX-License-Identifier: Apache-2.0
/* selector.c - label and field selectors as lists of terms that must all hold
 *
 * Three sources (query text for labels, query text for fields, a LabelSelector object) end in the same sorted terms, so
 * matching and printing are written once.  selector_text.c has the two parsers of text.
 */
#include "kinds/selector_terms.h"

#include <stdlib.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/names.h"

struct selector *selector_new(void)
{
	return xcalloc(1, sizeof(struct selector));
}

static void term_done(struct term *t)
{
	free(t->key);
	for (size_t i = 0; i < t->nvalues; i++)
		free(t->values[i]);
	free(t->values);
}

void selector_free(struct selector *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->n; i++)
		term_done(&s->terms[i]);
	free(s->terms);
	free(s);
}

void selector_free_cleanup(struct selector **s)
{
	selector_free(*s);
}

struct term *selector_add(struct selector *s, enum term_op op, struct str key, struct err *e)
{
	struct term t = { .op = op };

	if (s->n >= LIMIT_SELECTOR_TERMS) {
		err_set(e, ERR_BAD_REQUEST, "a selector may have at most %d terms", LIMIT_SELECTOR_TERMS);
		return NULL;
	}
	t.key = xstrndup(key.p, key.n);
	ARRAY_PUSH(s->terms, s->n, s->cap, t);
	return &s->terms[s->n - 1];
}

void term_add_value(struct term *t, struct str value)
{
	ARRAY_PUSH(t->values, t->nvalues, t->cap, xstrndup(value.p, value.n));
}

static int compare_terms(const void *a, const void *b)
{
	const struct term *x = a, *y = b;
	int c = strcmp(x->key, y->key);

	return c ? c : (int)x->op - (int)y->op;
}

static int compare_values(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

void selector_sort(struct selector *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->terms[i].nvalues > 1)
			qsort(s->terms[i].values, s->terms[i].nvalues, sizeof(char *), compare_values);
	if (s->n > 1)
		qsort(s->terms, s->n, sizeof(*s->terms), compare_terms);
}

int term_check(struct term *t, struct err *e)
{
	const char *complaint = name_check_qualified(t->key);

	if (complaint)
		return err_set(e, ERR_BAD_REQUEST, "key: Invalid value: \"%.200s\": %s", t->key, complaint);
	for (size_t i = 0; i < t->nvalues; i++) {
		complaint = name_check_label_value(t->values[i]);
		if (complaint)
			return err_set(e, ERR_BAD_REQUEST, "values[%zu][%s]: Invalid value: \"%.200s\": %s", i, t->key,
				       t->values[i], complaint);
	}
	if ((t->op == TERM_GREATER || t->op == TERM_LESS) &&
	    (t->nvalues != 1 || !str_int64(t->values[0], INT64_MIN, INT64_MAX, &t->number)))
		return err_set(e, ERR_BAD_REQUEST,
			       "values[0][%s]: Invalid value: \"%.200s\": for 'Gt', 'Lt' operators, the value must be "
			       "an integer",
			       t->key, t->nvalues ? t->values[0] : "");
	return 0;
}

static int add_expression(struct selector *s, const json_t *expr, struct err *e)
{
	static const struct {
		const char *name;
		enum term_op op;
		bool values;
	} operators[] = {
		{ "In", TERM_IN, true },
		{ "NotIn", TERM_NOT_IN, true },
		{ "Exists", TERM_EXISTS, false },
		{ "DoesNotExist", TERM_ABSENT, false },
	};
	const char *key = jsonx_str_or(expr, "key", "");
	const char *name = jsonx_str_or(expr, "operator", "");
	const json_t *values = json_object_get(expr, "values");
	size_t row = 0;
	struct term *t;

	while (row < ARRAY_SIZE(operators) && !streq(operators[row].name, name))
		row++;
	if (row == ARRAY_SIZE(operators))
		return err_set(e, ERR_INVALID, "\"%.100s\" is not a valid label selector operator", name);
	if (operators[row].values != (json_array_size(values) > 0))
		return err_set(e, ERR_INVALID, "values: Invalid value: for '%s' operator, values set %s", name,
			       operators[row].values ? "can't be empty" : "must be empty");
	t = selector_add(s, operators[row].op, str_of(key), e);
	if (!t)
		return -1;
	for (size_t i = 0; i < json_array_size(values); i++) {
		const char *v = json_string_value(json_array_get(values, i));

		term_add_value(t, str_of(v ? v : ""));
	}
	return term_check(t, e);
}

int selector_from_json(const json_t *label_selector, struct selector **ret, struct err *e)
{
	auto_selector struct selector *s = selector_new();
	const json_t *exprs = json_object_get(label_selector, "matchExpressions");
	const char *key;
	json_t *v;

	s->nothing = !json_is_object(label_selector);
	json_object_foreach (json_object_get(label_selector, "matchLabels"), key, v) {
		struct term *t = selector_add(s, TERM_EQUALS, str_of(key), e);

		if (!t)
			return -1;
		term_add_value(t, str_of(json_is_string(v) ? json_string_value(v) : ""));
		if (term_check(t, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < json_array_size(exprs); i++)
		if (add_expression(s, json_array_get(exprs, i), e) < 0)
			return -1;
	selector_sort(s);
	*ret = TAKE(s);
	return 0;
}

bool selector_is_everything(const struct selector *s)
{
	return !s || (s->n == 0 && !s->nothing);
}

static bool is_among(const struct term *t, const char *value)
{
	for (size_t i = 0; i < t->nvalues; i++)
		if (streq(t->values[i], value))
			return true;
	return false;
}

/* value is NULL where the key is absent. */
static bool term_match(const struct term *t, const char *value)
{
	int64_t number;

	switch (t->op) {
	case TERM_EQUALS:
	case TERM_IN:
		return value && is_among(t, value);
	case TERM_NOT_EQUALS:
	case TERM_NOT_IN:
		return !value || !is_among(t, value);
	case TERM_EXISTS:
		return value;
	case TERM_ABSENT:
		return !value;
	default:
		if (!value || !str_int64(value, INT64_MIN, INT64_MAX, &number))
			return false;
		return t->op == TERM_GREATER ? number > t->number : number < t->number;
	}
}

bool selector_match_labels(const struct selector *s, const json_t *labels)
{
	if (!s)
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (!term_match(&s->terms[i], json_string_value(json_object_get(labels, s->terms[i].key))))
			return false;
	return !s->nothing;
}

/* A field's value as selectors compare it: always text, never absent. */
static bool field_match(const struct term *t, const json_t *obj)
{
	const json_t *v = jsonx_at(obj, t->path);
	char number[32];

	if (json_is_string(v) && json_string_length(v))
		return term_match(t, json_string_value(v));
	if (json_is_integer(v)) {
		snprintf(number, sizeof(number), "%lld", (long long)json_integer_value(v));
		return term_match(t, number);
	}
	if (json_is_boolean(v))
		return term_match(t, json_is_true(v) ? "true" : "false");
	return term_match(t, t->fallback ? t->fallback : "");
}

bool selector_match_fields(const struct selector *s, const json_t *obj)
{
	if (!s)
		return true;
	for (size_t i = 0; i < s->n; i++)
		if (!field_match(&s->terms[i], obj))
			return false;
	return !s->nothing;
}

/* Does the text have this word?  A word that JSON would escape is given the benefit of the doubt. */
static bool has_word(struct str text, const char *word)
{
	return strpbrk(word, "\"\\") || memmem(text.p, text.n, word, strlen(word));
}

/* Has the text a member of this name, wherever that is? */
static bool has_member(struct str text, const char *path)
{
	const char *dot = strrchr(path, '.');
	auto_free char *word = xasprintf("\"%s\":", dot ? dot + 1 : path);

	return memmem(text.p, text.n, word, strlen(word));
}

static bool term_may_match(const struct term *t, struct str text)
{
	bool present = t->op == TERM_EQUALS || t->op == TERM_IN || t->op == TERM_EXISTS || t->op == TERM_GREATER ||
		       t->op == TERM_LESS;

	if (t->path) { /* a field's default is in no text */
		bool fallback = t->nvalues && streq(t->values[0], t->fallback ? t->fallback : "");

		if (t->op == TERM_NOT_EQUALS && fallback)
			return has_member(text, t->path);
		return t->op != TERM_EQUALS || fallback || has_word(text, t->values[0]);
	}
	return !present || (has_word(text, t->key) && (t->op != TERM_EQUALS || has_word(text, t->values[0])));
}

bool selector_may_match(const struct selector *s, struct str text)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (!term_may_match(&s->terms[i], text))
			return false;
	return true;
}

const char *selector_field_equals(const struct selector *s, const char *label)
{
	for (size_t i = 0; s && i < s->n; i++)
		if (s->terms[i].op == TERM_EQUALS && streq(s->terms[i].key, label))
			return s->terms[i].values[0];
	return NULL;
}

void selector_text(const struct selector *s, struct sbuf *out)
{
	static const struct {
		const char *before, *between, *after;
	} forms[] = {
		[TERM_EQUALS] = { "", "=", "" },  [TERM_NOT_EQUALS] = { "", "!=", "" },
		[TERM_IN] = { "", " in (", ")" }, [TERM_NOT_IN] = { "", " notin (", ")" },
		[TERM_EXISTS] = { "", "", "" },   [TERM_ABSENT] = { "!", "", "" },
		[TERM_GREATER] = { "", ">", "" }, [TERM_LESS] = { "", "<", "" },
	};

	for (size_t i = 0; s && i < s->n; i++) {
		const struct term *t = &s->terms[i];

		sbuf_addf(out, "%s%s%s%s", i ? "," : "", forms[t->op].before, t->key, forms[t->op].between);
		for (size_t k = 0; k < t->nvalues; k++)
			sbuf_addf(out, "%s%s", k ? "," : "", t->values[k]);
		sbuf_adds(out, forms[t->op].after);
	}
}
