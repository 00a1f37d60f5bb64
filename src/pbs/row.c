// SPDX-License-Identifier: Apache-2.0
/* row.c - see row.h */
#include "pbs/row.h"

#include "base/mem.h"

bool board_row_next(struct str *rest, struct board_row *ret)
{
	const char *p = rest->p;
	const char *end;
	const char *nl;
	int i = 0;

	if (!rest->n)
		return false;
	nl = memchr(p, '\n', rest->n);
	end = nl ? nl : p + rest->n;
	rest->n -= (size_t)(end - p) + (nl != NULL);
	rest->p = end + (nl != NULL);
	for (; i < COL__COUNT && p <= end; i++) {
		const char *tab = p < end ? memchr(p, '\t', (size_t)(end - p)) : NULL;
		const char *stop = tab ? tab : end;

		ret->c[i] = (struct str){ p, (size_t)(stop - p) };
		p = stop + 1;
	}
	for (; i < COL__COUNT; i++)
		ret->c[i] = STR("");
	return true;
}

char board_row_state(const struct board_row *r)
{
	return r->c[COL_STATE].n ? r->c[COL_STATE].p[0] : 'Q';
}

int64_t board_row_number(const struct board_row *r, enum pbs_column c, int64_t fallback)
{
	struct str s = r->c[c];
	bool minus = s.n && s.p[0] == '-';
	int64_t v = 0;

	if (s.n == (size_t)minus)
		return fallback;
	for (size_t i = minus; i < s.n; i++) {
		if (s.p[i] < '0' || s.p[i] > '9' || v > (INT64_MAX - 9) / 10)
			return fallback;
		v = v * 10 + (s.p[i] - '0');
	}
	return minus ? -v : v;
}

void board_row_text(struct str field, struct sbuf *out)
{
	for (size_t i = 0; i < field.n; i++) {
		if (field.p[i] != '\\' || i + 1 == field.n) {
			sbuf_addc(out, field.p[i]);
			continue;
		}
		i++;
		sbuf_addc(out, field.p[i] == 'n' || field.p[i] == 't' ? ' ' : field.p[i]);
	}
}

static size_t to_dot(struct str id)
{
	const char *dot = id.n ? memchr(id.p, '.', id.n) : NULL;

	return dot ? (size_t)(dot - id.p) : id.n;
}

struct str board_row_short_id(const struct board_row *r)
{
	return (struct str){ r->c[COL_ID].p, to_dot(r->c[COL_ID]) };
}

struct str board_row_server(const struct board_row *r)
{
	struct str id = r->c[COL_ID];
	size_t n = to_dot(id);

	return n < id.n ? (struct str){ id.p + n + 1, id.n - n - 1 } : STR("");
}

bool board_row_is_of(const struct board_row *r, const char *users)
{
	struct str owner = r->c[COL_OWNER];
	struct str rest = str_of(users);
	struct str one;

	while (rest.n && str_split(&rest, ',', &one)) {
		struct str host = str_trim(one);
		struct str user;

		str_split(&host, '@', &user);
		if (user.n && user.n == owner.n && memcmp(user.p, owner.p, user.n) == 0 &&
		    (!host.n || (host.n == r->c[COL_HOST].n && memcmp(host.p, r->c[COL_HOST].p, host.n) == 0)))
			return true;
	}
	return false;
}

/* ---- columns ---- */

static struct str cut_to(struct str s, size_t n)
{
	if (s.n <= n)
		return s;
	while (n && ((unsigned char)s.p[n] & 0xc0) == 0x80)
		n--;
	return (struct str){ s.p, n };
}

static void blanks(struct sbuf *out, size_t n)
{
	static const char some[] = "                                ";

	while (n) {
		size_t now = n < sizeof(some) - 1 ? n : sizeof(some) - 1;

		sbuf_add(out, some, now);
		n -= now;
	}
}

void column_left(struct sbuf *out, struct str s, size_t width, size_t cut)
{
	s = cut_to(s, cut);
	sbuf_add(out, s.p, s.n);
	if (s.n < width)
		blanks(out, width - s.n);
}

void column_right(struct sbuf *out, struct str s, size_t width, size_t cut)
{
	s = cut_to(s, cut);
	if (s.n < width)
		blanks(out, width - s.n);
	sbuf_add(out, s.p, s.n);
}
