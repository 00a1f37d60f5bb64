// SPDX-License-Identifier: Apache-2.0
/* measure.c - numbers that training programs print
 *
 * One walk over the line: words wait for the number that follows them, and what stands between them (an equals sign, a
 * colon, a comma) says whether they belong together.  Anything that begins like a number and goes on like something
 * else (a date, an address, a version, 6ms) is passed over whole.  measure_name.c knows the words.
 *
 * Most lines of a log are not for us, so a first look without memory sends them away: no digit, or no word that could
 * say where in the run it is.
 */
#include "base/measure.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>

#include "base/measure_parts.h"

#define LINE_MOST   1024 /* what is visible of a line; the rest is not looked at */
#define NUMBER_MOST 32   /* characters of a number */
#define AT_MOST     1e15 /* whole numbers below are exact, and no run has more steps */

static const char *const by_names[] = { [MEASURE_BY_EPOCH] = "epoch", [MEASURE_BY_STEP] = "step" };

const char *measure_by_name(enum measure_by by)
{
	return by_names[by];
}

/* A place in the run: 3 of 10. */
struct place {
	bool set;
	double at, of;
};

struct number {
	double value;
	bool percent, whole; /* whole: written without a point or an exponent */
};

struct walk {
	const char *p, *end; /* *end is 0 */
	struct measure *m;
	struct place epoch, step, batch, share; /* share: 640/60000 without a name */
	bool known;                             /* some value has a known name */
	/* the word that waits for a number */
	struct str name, before;
	bool blank; /* only blanks since */
	bool equals, colon, spaced;
	/* a number without a name: the last of the line, right after the place */
	bool after_place, bare_set;
	double bare;
};

/* --- the first look ------------------------------------------------------------------------------------------- */

static bool around(struct str s, size_t i, size_t back, const char *word)
{
	size_t n = strlen(word);

	return i >= back && s.n - (i - back) >= n && strncasecmp(s.p + i - back, word, n) == 0;
}

/* Each word that says where we are is known by one of its letters. */
static bool may_count(struct str s)
{
	bool digit = false, place = false;

	for (size_t i = 0; i < s.n && !(digit && place); i++) {
		switch (s.p[i]) {
		case '0' ... '9':
			digit = true;
			break;
		case 'p':
		case 'P':
			place = place || around(s, i, 1, "epoch") || around(s, i, 3, "step") || around(s, i, 0, "pass");
			break;
		case 'b':
		case 'B':
			place = place || around(s, i, 0, "batch");
			break;
		case 't':
		case 'T':
			place = place || around(s, i, 1, "iter");
			break;
		case '/':
			place = place || (i > 0 && isdigit((unsigned char)s.p[i - 1]));
			break;
		}
	}
	return digit && place;
}

/* --- what a terminal would show ------------------------------------------------------------------------------- */

/* A progress bar draws itself over and over; the last drawing counts. */
static struct str last_drawing(struct str s)
{
	struct str rest = s, part;

	while (s.n && (s.p[s.n - 1] == '\r' || s.p[s.n - 1] == '\n'))
		s.n--;
	for (rest = s; str_split(&rest, '\r', &part);)
		s = part;
	return s;
}

/* Past a colour or cursor sequence that begins at s[i]. */
static size_t skip_escape(struct str s, size_t i)
{
	i++;
	if (i >= s.n || s.p[i] != '[')
		return i + 1;
	for (i++; i < s.n && !(s.p[i] >= '@' && s.p[i] <= '~');)
		i++;
	return i + 1;
}

static size_t visible(struct str s, char ret[LINE_MOST])
{
	size_t n = 0;

	s = last_drawing(s);
	for (size_t i = 0; i < s.n && n + 1 < LINE_MOST;) {
		unsigned char c = (unsigned char)s.p[i];

		if (c == 0x1b) {
			i = skip_escape(s, i);
			continue;
		}
		ret[n++] = c < ' ' || c == 0x7f ? ' ' : (char)c;
		i++;
	}
	ret[n] = 0;
	return n;
}

/* --- numbers -------------------------------------------------------------------------------------------------- */

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return isalnum((unsigned char)c) && (unsigned char)c < 0x80;
}

static const char *skip_digits(const char *p)
{
	while (is_digit(*p))
		p++;
	return p;
}

/* What follows a number decides whether it was one: not 3s, 1.2.3, 05:22, 2026-11-16. */
static bool ends_well(const char *p)
{
	if (is_alnum(*p) || *p == '_')
		return false;
	if (*p == '.' || *p == ':' || *p == '-' || *p == '+')
		return !is_alnum(p[1]);
	return *p != '/' || is_digit(p[1]) || p[1] == ' ';
}

/* A number that begins at p; returns its end, NULL if it is none. */
static const char *read_number(const char *p, struct number *ret)
{
	const char *begin = p, *q;
	char text[NUMBER_MOST];

	ret->whole = true;
	ret->percent = false;
	if (*p == '-' || *p == '+')
		p++;
	q = skip_digits(p);
	if (*q == '.' && (is_digit(q[1]) || q > p)) {
		if (is_digit(q[1]) || !is_alnum(q[1])) {
			ret->whole = !is_digit(q[1]);
			q = is_digit(q[1]) ? skip_digits(q + 1) : q;
		}
	}
	if (q == p)
		return NULL;
	if ((*q == 'e' || *q == 'E') && (is_digit(q[1]) || ((q[1] == '-' || q[1] == '+') && is_digit(q[2])))) {
		q = skip_digits(q + 2);
		ret->whole = false;
	}
	if ((size_t)(q - begin) >= sizeof(text))
		return NULL;
	memcpy(text, begin, (size_t)(q - begin));
	text[q - begin] = 0;
	ret->value = strtod(text, NULL);
	if (!isfinite(ret->value))
		ret->value = NAN;
	if (*q == '%') {
		ret->percent = true;
		q++;
	}
	return ends_well(q) ? q : NULL;
}

static const char *skip_blanks(const char *p)
{
	while (*p == ' ')
		p++;
	return p;
}

/* "/500" or " of 500" after a number; returns where it ends, or p if there is none. */
static const char *read_total(const char *p, double *ret_of)
{
	const char *q = skip_blanks(p), *end;
	struct number n;

	if (*q == '/')
		q = skip_blanks(q + 1);
	else if (q > p && strncasecmp(q, "of ", 3) == 0)
		q = skip_blanks(q + 3);
	else
		return p;
	end = is_digit(*q) ? read_number(q, &n) : NULL;
	if (!end || !(n.value > 0))
		return p;
	*ret_of = n.value;
	return end;
}

/* --- the walk ------------------------------------------------------------------------------------------------- */

static void forget_name(struct walk *w)
{
	w->name = w->before = (struct str){ "", 0 };
	w->equals = w->colon = w->spaced = w->blank = false;
}

static void add_value(struct walk *w, const char *name, double value)
{
	struct measure *m = w->m;

	for (size_t i = 0; i < m->n; i++)
		if (streq(m->values[i].name, name))
			return;
	if (m->n == MEASURE_MOST)
		return;
	memcpy(m->values[m->n].name, name, strlen(name) + 1);
	m->values[m->n++].value = value;
}

static void set_place(struct place *p, double at, double of)
{
	if (!p->set && at >= 0 && at < AT_MOST && of < AT_MOST)
		*p = (struct place){ true, at, of };
}

/* A number with the name that waits for it; false if the two have nothing to do with each other. */
static bool take_named(struct walk *w, const struct number *n, double of)
{
	char name[MEASURE_NAME];
	enum measure_word word = measure_word(w->before, w->name, name);
	struct place *places[] = {
		[MEASURE_WORD_EPOCH] = &w->epoch, [MEASURE_WORD_STEP] = &w->step, [MEASURE_WORD_BATCH] = &w->batch
	};
	double value = n->percent ? n->value / 100 : n->value;

	switch (word) {
	case MEASURE_WORD_EPOCH:
	case MEASURE_WORD_STEP:
	case MEASURE_WORD_BATCH:
		set_place(places[word], n->value, of);
		w->after_place = true;
		return true;
	case MEASURE_WORD_RANK:
		if (n->whole && n->value >= 0 && n->value < 1e6)
			w->m->rank = (int)n->value;
		return true;
	case MEASURE_WORD_KNOWN:
		add_value(w, name, of > 0 ? value / of : value);
		w->known = true;
		return true;
	case MEASURE_WORD_UNKNOWN:
		if (of > 0 || !(w->equals || (w->colon && w->spaced)))
			return false;
		add_value(w, name, value);
		return true;
	case MEASURE_WORD_NONE:
		return !of;
	}
	return false;
}

static void take_number(struct walk *w, const struct number *n)
{
	double of = 0;
	bool after_place = w->after_place;

	w->p = read_total(w->p, &of);
	w->bare_set = w->after_place = false;
	if (!w->name.n || !take_named(w, n, of)) {
		if (of > 0 && n->value <= of)
			set_place(&w->share, n->value, of);
		else if (after_place && !n->whole && !n->percent) {
			w->bare_set = true;
			w->bare = n->value;
		}
	}
	forget_name(w);
}

/* A date, an address, 6ms/step: to its end. */
static void skip_junk(struct walk *w)
{
	w->p += strcspn(w->p, " ,;()[]{}|'\"");
	w->after_place = w->bare_set = false;
	forget_name(w);
}

static bool is_not_a_number(struct str s)
{
	static const char *const words[] = { "nan", "inf", "infinity" };

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (s.n == strlen(words[i]) && strncasecmp(s.p, words[i], s.n) == 0)
			return true;
	return false;
}

static bool goes_on(const char *p)
{
	if (*p == '-' || *p == '.' || *p == '/' || *p == '@')
		return isalpha((unsigned char)p[1]) || (*p == '@' && is_digit(p[1]));
	return is_alnum(*p) || *p == '_';
}

/* "rank0" is a rank and its number. */
static bool take_rank_word(struct walk *w, struct str word)
{
	int rank = 0;

	if (word.n < 5 || word.n > 9 || strncasecmp(word.p, "rank", 4) != 0)
		return false;
	for (size_t i = 4; i < word.n; i++) {
		if (!is_digit(word.p[i]))
			return false;
		rank = rank * 10 + (word.p[i] - '0');
	}
	w->m->rank = rank;
	forget_name(w);
	return true;
}

static void take_word(struct walk *w)
{
	struct str word = { w->p, 0 }, before = w->blank ? w->name : (struct str){ "", 0 };

	while (w->p < w->end && goes_on(w->p))
		w->p++;
	word.n = (size_t)(w->p - word.p);
	if (*w->p == '.' && is_digit(w->p[1])) {
		skip_junk(w); /* v1.2 */
		return;
	}
	if (is_not_a_number(word) && (w->name.n || w->after_place)) {
		take_number(w, &(struct number){ NAN, false, false });
		return;
	}
	w->after_place = w->bare_set = false;
	if (w->name.n && (str_eq(word, "is") || str_eq(word, "was")) && w->blank)
		return;
	if (take_rank_word(w, word))
		return;
	forget_name(w);
	w->before = before;
	w->name = word;
	w->blank = true;
}

/* What may stand between a name and its number. */
static void take_mark(struct walk *w)
{
	char c = *w->p++;

	w->blank = w->blank && c == ' ';
	switch (c) {
	case ' ':
		w->spaced = w->spaced || w->colon;
		break;
	case '=':
		w->equals = true;
		break;
	case ':':
		w->colon = true;
		break;
	case '\'':
	case '"':
	case '[':
	case '(':
	case '{':
	case '-':
	case '+':
	case '>':
		break;
	default:
		forget_name(w);
	}
}

static bool begins_number(const struct walk *w, const char *begin)
{
	const char *p = w->p;

	if (*p == '-' || *p == '+') {
		if (p > begin && (is_alnum(p[-1]) || strchr(")]%", p[-1])))
			return false;
		p++;
	}
	return is_digit(*p) || (*p == '.' && is_digit(p[1]));
}

static void walk(struct walk *w)
{
	const char *begin = w->p;

	while (w->p < w->end) {
		struct number n;
		const char *end;

		if (begins_number(w, begin)) {
			end = read_number(w->p, &n);
			if (end) {
				w->p = end;
				take_number(w, &n);
			} else
				skip_junk(w);
		} else if (is_alnum(*w->p)) {
			take_word(w);
		} else {
			take_mark(w);
		}
	}
}

/* Where in the run the line is; false if it does not say. */
static bool settle_place(const struct walk *w, struct measure *m)
{
	const struct place *part = w->batch.set ? &w->batch : &w->share;
	const struct place *at = w->step.set ? &w->step : w->batch.set ? &w->batch : w->known ? &w->share : NULL;

	m->by = MEASURE_BY_STEP;
	m->epoch = w->epoch.set ? w->epoch.at : -1;
	if (w->epoch.set && !w->step.set && (part->of > 0 || !w->batch.set)) {
		m->by = MEASURE_BY_EPOCH;
		m->epoch = -1;
		m->at = w->epoch.at;
		m->of = w->epoch.of;
		if (part->of > 0 && part->at <= part->of && m->at == floor(m->at))
			m->at += part->at / part->of;
		return true;
	}
	if (!at || !at->set)
		return false;
	m->at = at->at;
	m->of = at->of;
	return true;
}

bool measure_read(struct str line, struct measure *ret)
{
	char text[LINE_MOST];
	struct walk w = { .m = ret, .name = { "", 0 }, .before = { "", 0 } };

	if (!may_count(line))
		return false;
	w.p = text;
	w.end = text + visible(line, text);
	ret->n = 0;
	ret->rank = -1;
	walk(&w);
	if (!ret->n && w.bare_set && (w.epoch.set || w.step.set))
		add_value(&w, "loss", w.bare);
	return ret->n > 0 && settle_place(&w, ret);
}
