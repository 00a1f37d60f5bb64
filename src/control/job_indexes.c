// SPDX-License-Identifier: Apache-2.0
/* job_indexes.c - few long spans are the rule: indexes are started in order, so they also end about in order */
#include "control/job_indexes.h"

#include "base/mem.h"

void index_set_done(struct index_set *s)
{
	free(s->spans);
	*s = (struct index_set){ 0 };
}

/* Position of the first span that ends at or after `index`. */
static size_t seek(const struct index_set *s, int index)
{
	size_t low = 0;
	size_t high = s->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (s->spans[mid].last < index)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

bool index_set_has(const struct index_set *s, int index)
{
	size_t at = seek(s, index);

	return at < s->n && s->spans[at].first <= index;
}

void index_set_add_span(struct index_set *s, int first, int last)
{
	/* A neighbour that only touches is joined too. */
	size_t from = seek(s, first > 0 ? first - 1 : 0);
	size_t to = from;

	while (to < s->n && s->spans[to].first <= last + 1) {
		if (s->spans[to].first < first)
			first = s->spans[to].first;
		if (s->spans[to].last > last)
			last = s->spans[to].last;
		to++;
	}
	if (to == from) {
		ARRAY_PUSH(s->spans, s->n, s->cap, ((struct index_span){ 0, 0 }));
		memmove(&s->spans[from + 1], &s->spans[from], (s->n - 1 - from) * sizeof(*s->spans));
	} else {
		memmove(&s->spans[from + 1], &s->spans[to], (s->n - to) * sizeof(*s->spans));
		s->n -= to - from - 1;
	}
	s->spans[from] = (struct index_span){ first, last };
}

void index_set_add(struct index_set *s, int index)
{
	index_set_add_span(s, index, index);
}

static bool parse_number(struct str text, int64_t *ret)
{
	char digits[12];

	if (!text.n || text.n >= sizeof(digits))
		return false;
	memcpy(digits, text.p, text.n);
	digits[text.n] = '\0';
	return str_int64(digits, 0, INT32_MAX - 1, ret);
}

void index_set_parse(struct index_set *s, const char *text, int limit)
{
	struct str rest = str_of(text);
	struct str part;

	while (text && *text && str_split(&rest, ',', &part)) {
		struct str low = { "", 0 };
		int64_t first;
		int64_t last;

		str_split(&part, '-', &low);
		if (!parse_number(low, &first) || first >= limit)
			continue;
		last = first;
		if (part.n && !parse_number(part, &last))
			continue;
		if (last >= limit)
			last = limit - 1;
		if (last >= first)
			index_set_add_span(s, (int)first, (int)last);
	}
}

void index_set_text(const struct index_set *s, struct sbuf *out)
{
	for (size_t i = 0; i < s->n; i++) {
		const struct index_span *p = &s->spans[i];

		sbuf_addf(out, "%s%d", i ? "," : "", p->first);
		/* Two in a row are written one by one, as Kubernetes does. */
		if (p->last > p->first)
			sbuf_addf(out, "%c%d", p->last == p->first + 1 ? ',' : '-', p->last);
	}
}

int64_t index_set_count(const struct index_set *s)
{
	int64_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += (int64_t)s->spans[i].last - s->spans[i].first + 1;
	return n;
}

int index_set_gap(const struct index_set *s, int from)
{
	size_t at = seek(s, from);

	/* Spans never touch, so one is all there can be in the way. */
	return at < s->n && s->spans[at].first <= from ? s->spans[at].last + 1 : from;
}
