// SPDX-License-Identifier: Apache-2.0
/* work_rules.c - see work_rules.h */
#include "kinds/work_rules.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/after.h"

#define SLOTS_MOST 1000000

static const struct {
	const char *name;
	unsigned bit;
} hold_words[] = {
	{ "user", HOLD_WORD_USER },
	{ "operator", HOLD_WORD_OPERATOR },
	{ "system", HOLD_WORD_SYSTEM },
};

static unsigned hold_bit(struct str word)
{
	for (size_t i = 0; i < ARRAY_SIZE(hold_words); i++)
		if (str_eq(word, hold_words[i].name))
			return hold_words[i].bit;
	return 0;
}

bool hold_parse(const char *text, unsigned *ret_bits)
{
	struct str rest = str_trim(str_of(text));
	unsigned bits = 0;
	bool good = true;
	struct str word;

	while (rest.n && str_split(&rest, ',', &word)) {
		unsigned bit = hold_bit(str_trim(word));

		good &= bit != 0;
		bits |= bit;
	}
	*ret_bits = bits;
	return good;
}

void hold_text(unsigned bits, struct sbuf *out)
{
	for (size_t i = 0; i < ARRAY_SIZE(hold_words); i++)
		if (bits & hold_words[i].bit)
			sbuf_addf(out, "%s%s", out->n ? "," : "", hold_words[i].name);
}

const char *work_note(const json_t *obj, const char *annotation)
{
	const char *text = json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), annotation));

	return text ? text : "";
}

/* ---- what is wrong ---- */

static void check_hold(const char *text, struct err *e)
{
	unsigned bits;

	if (!hold_parse(text, &bits))
		err_set(e, ERR_INVALID, "must be user, operator or system, or several of them with commas");
}

static void check_time(const char *text, struct err *e)
{
	int64_t us;

	if (*text && !clock_parse_rfc3339(text, &us))
		err_set(e, ERR_INVALID, "must be a time such as 2026-11-16T14:00:00Z");
}

static void check_after(const char *text, struct err *e)
{
	auto_free struct after *items = NULL;
	size_t n;

	after_parse(text, &items, &n, e);
}

static void check_slots(const char *text, struct err *e)
{
	int64_t n;

	if (*text && !str_int64(text, 1, SLOTS_MOST, &n))
		err_set(e, ERR_INVALID, "must be a whole number from 1 to %d", SLOTS_MOST);
}

static const struct {
	const char *annotation;
	void (*check)(const char *text, struct err *e);
} rules[] = {
	{ HOLD_ANNOTATION, check_hold },
	{ NOT_BEFORE_ANNOTATION, check_time },
	{ AFTER_ANNOTATION, check_after },
	{ SLOTS_ANNOTATION, check_slots },
};

bool work_rules_any(const json_t *obj)
{
	const json_t *notes = jsonx_at(obj, "metadata.annotations");

	for (size_t i = 0; notes && i < ARRAY_SIZE(rules); i++)
		if (json_object_get(notes, rules[i].annotation))
			return true;
	return false;
}

void work_rules_check(const json_t *obj, const json_t *old, const struct path *at, struct err *e)
{
	const json_t *notes = jsonx_at(obj, "metadata.annotations");
	const struct path *where = PATH_FIELD(PATH_FIELD(at, "metadata"), "annotations");

	for (size_t i = 0; notes && i < ARRAY_SIZE(rules); i++) {
		const json_t *value = json_object_get(notes, rules[i].annotation);
		struct err why = ERR_INIT;

		if (!json_is_string(value) || streq(json_string_value(value), work_note(old, rules[i].annotation)))
			continue;
		rules[i].check(json_string_value(value), &why);
		if (why.kind != ERR_NONE)
			path_invalid(PATH_KEY(where, rules[i].annotation), e, value, "%s", why.text);
	}
}
