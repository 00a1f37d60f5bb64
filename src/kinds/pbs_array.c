// SPDX-License-Identifier: Apache-2.0
/* pbs_array.c - sets of array indexes as sorted ranges
 *
 * Adding and dropping both rebuild the neighbourhood of a range: first the ranges that lie before it, then what comes
 * of those it touches, then the rest.  Sets have few ranges, and arrays that finish in order have one.
 */
#include "kinds/pbs_array.h"

#include <ctype.h>

#include "base/mem.h"

void pbs_set_done(struct pbs_set *s)
{
	free(s->r);
	*s = (struct pbs_set){ 0 };
}

/* The first range that ends at `index` or later: where it would be. */
static size_t place(const struct pbs_set *s, int index)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;

		if (s->r[mid].last < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Puts `count` ranges in the place of those from `from` up to `to`. */
static void replace(struct pbs_set *s, size_t from, size_t to, const struct pbs_range *with, size_t count)
{
	size_t n = s->n - (to - from) + count;

	if (n > s->room) {
		s->room = n * 2;
		s->r = xreallocarray(s->r, s->room, sizeof(*s->r));
	}
	if (s->n > to)
		memmove(s->r + from + count, s->r + to, (s->n - to) * sizeof(*s->r));
	if (count)
		memcpy(s->r + from, with, count * sizeof(*s->r));
	s->n = n;
}

void pbs_set_add(struct pbs_set *s, int first, int last)
{
	struct pbs_range whole = { first, last };
	size_t from = place(s, first - 1); /* one that ends just before joins too */
	size_t to = from;

	if (first > last)
		return;
	while (to < s->n && s->r[to].first - 1 <= last) {
		whole.first = s->r[to].first < whole.first ? s->r[to].first : whole.first;
		whole.last = s->r[to].last > whole.last ? s->r[to].last : whole.last;
		to++;
	}
	replace(s, from, to, &whole, 1);
}

void pbs_set_drop(struct pbs_set *s, int first, int last)
{
	struct pbs_range rest[2];
	size_t from = place(s, first);
	size_t to = from, n = 0;

	if (first > last)
		return;
	while (to < s->n && s->r[to].first <= last)
		to++;
	if (from == to)
		return;
	if (s->r[from].first < first)
		rest[n++] = (struct pbs_range){ s->r[from].first, first - 1 };
	if (s->r[to - 1].last > last)
		rest[n++] = (struct pbs_range){ last + 1, s->r[to - 1].last };
	replace(s, from, to, rest, n);
}

/* Both are sorted, so one walk does. */
void pbs_set_unite(struct pbs_set *a, const struct pbs_set *b)
{
	for (size_t i = 0; i < b->n; i++)
		pbs_set_add(a, b->r[i].first, b->r[i].last);
}

void pbs_set_subtract(struct pbs_set *a, const struct pbs_set *b)
{
	struct pbs_set left = { 0 };
	size_t k = 0;

	for (size_t i = 0; i < a->n; i++) {
		int at = a->r[i].first;

		while (k < b->n && b->r[k].last < at)
			k++;
		for (size_t n = k; n < b->n && b->r[n].first <= a->r[i].last; n++) {
			if (b->r[n].first > at)
				pbs_set_add(&left, at, b->r[n].first - 1);
			at = b->r[n].last + 1;
		}
		if (at <= a->r[i].last)
			pbs_set_add(&left, at, a->r[i].last);
	}
	pbs_set_done(a);
	*a = left;
}

size_t pbs_set_count(const struct pbs_set *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += (size_t)(s->r[i].last - s->r[i].first) + 1;
	return n;
}

bool pbs_set_has(const struct pbs_set *s, int index)
{
	size_t i = place(s, index);

	return i < s->n && s->r[i].first <= index;
}

bool pbs_set_next(const struct pbs_set *s, int *pos)
{
	size_t i = place(s, *pos + 1);

	if (i == s->n)
		return false;
	*pos = s->r[i].first > *pos + 1 ? s->r[i].first : *pos + 1;
	return true;
}

void pbs_set_text(const struct pbs_set *s, struct sbuf *out)
{
	for (size_t i = 0; i < s->n; i++) {
		sbuf_addf(out, "%s%d", i ? "," : "", s->r[i].first);
		if (s->r[i].last > s->r[i].first)
			sbuf_addf(out, "-%d", s->r[i].last);
	}
}

/* A number at *p, which moves behind it. */
static bool number(const char **p, int most, int *ret)
{
	int64_t v = 0;

	if (!isdigit((unsigned char)**p))
		return false;
	while (isdigit((unsigned char)**p)) {
		v = v * 10 + (*(*p)++ - '0');
		if (v > most)
			return false;
	}
	*ret = (int)v;
	return true;
}

/* N, N-M or N-M:STEP. */
static bool element(const char **p, struct pbs_set *s)
{
	int first, last, step = 1;

	if (!number(p, PBS_INDEX_MOST, &first))
		return false;
	last = first;
	if (**p == '-' && ((*p)++, !number(p, PBS_INDEX_MOST, &last) || last < first))
		return false;
	if (**p == ':' && ((*p)++, !number(p, PBS_INDEX_MOST, &step) || step < 1))
		return false;
	if (step == 1)
		pbs_set_add(s, first, last);
	else
		for (int i = first; i <= last; i += step)
			pbs_set_add(s, i, i);
	return true;
}

int pbs_array_parse(const char *text, struct pbs_set *ret, int *ret_slots, struct err *e)
{
	struct pbs_set s = { 0 };
	const char *p = text;
	int slots = 0;
	bool ok = element(&p, &s);

	while (ok && *p == ',') {
		p++;
		ok = element(&p, &s);
	}
	if (ok && *p == '%' && ret_slots) {
		p++;
		ok = number(&p, PBS_INDEX_MOST, &slots) && slots > 0;
	}
	if (!ok || *p) {
		pbs_set_done(&s);
		return err_set(e, ERR_INVALID,
			       "\"%s\": must be indexes up to %d and ranges, such as 0-9,20%s: wrong from \"%s\" on",
			       text, PBS_INDEX_MOST, ret_slots ? " or 0-99%5" : "", p);
	}
	*ret = s;
	if (ret_slots)
		*ret_slots = slots;
	return 0;
}
