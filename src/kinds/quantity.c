// SPDX-License-Identifier: Apache-2.0
/* quantity.c - Kubernetes' fixed-point numbers, exactly
 *
 * The text is taken apart into digits, a decimal point and a suffix.  A decimal suffix only moves the point, so the
 * value is picked out of the digits without any multiplication that could overflow; a binary one multiplies once, after
 * a check.  Values are capped at 2^63-1, digits below 10^-9 round away from zero.
 */
#include "kinds/quantity.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

#define NANO 1000000000
#define ATTO 1000000000000000000
#define CAP  ((__int128)INT64_MAX * NANO)

/* format 'd': 10^exp, 'b': 2^exp.  "E" followed by a digit is an exponent instead. */
static const struct suffix {
	const char *text;
	char format;
	int exp;
} suffixes[] = {
	{ "", 'd', 0 },    { "n", 'd', -9 },  { "u", 'd', -6 },  { "m", 'd', -3 },
	{ "k", 'd', 3 },   { "M", 'd', 6 },   { "G", 'd', 9 },   { "T", 'd', 12 },
	{ "P", 'd', 15 },  { "E", 'd', 18 },  { "Ki", 'b', 10 }, { "Mi", 'b', 20 },
	{ "Gi", 'b', 30 }, { "Ti", 'b', 40 }, { "Pi", 'b', 50 }, { "Ei", 'b', 60 },
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* "e3", "E-6", "e+12": any exponent; far ones are cut to what already saturates. */
static bool parse_exponent(const char *s, int *ret)
{
	bool negative = s[1] == '-';
	int exp = 0;

	s += s[1] == '-' || s[1] == '+' ? 2 : 1;
	if (!is_digit(*s))
		return false;
	for (; is_digit(*s); s++)
		exp = exp > 99999 ? exp : exp * 10 + (*s - '0');
	*ret = negative ? -exp : exp;
	return *s == '\0';
}

static bool parse_suffix(const char *s, char *ret_format, int *ret_exp)
{
	if ((s[0] == 'e' || s[0] == 'E') && s[1]) {
		if (parse_exponent(s, ret_exp)) {
			*ret_format = 'e';
			return true;
		}
	}
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		if (strcmp(s, suffixes[i].text) == 0) {
			*ret_format = suffixes[i].format;
			*ret_exp = suffixes[i].exp;
			return true;
		}
	}
	return false;
}

/* A number cut at two places below the point: nanos, what is left of one in 10^-18ths, and whether there was more. */
struct parts {
	__int128 nano;
	uint64_t rest;
	bool more;
};

/* Digits (with at most one point among them) read with the point moved `shift` places right. */
static struct parts read_digits(const char *p, size_t n, int shift)
{
	const char *dot = memchr(p, '.', n);
	long whole = (dot ? dot - p : (long)n) + shift; /* digits before the point, once moved */
	struct parts v = { 0 };
	long seen = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '.')
			continue;
		if (seen >= whole + 27)
			v.more |= p[i] != '0';
		else if (seen >= whole + 9)
			v.rest = v.rest * 10 + (uint64_t)(p[i] - '0');
		else if (v.nano <= CAP)
			v.nano = v.nano * 10 + (p[i] - '0');
		seen++;
	}
	for (; seen < whole + 9 && v.nano && v.nano <= CAP; seen++)
		v.nano *= 10;
	for (seen = seen < whole + 9 ? whole + 9 : seen; seen < whole + 27 && v.rest; seen++)
		v.rest *= 10;
	return v;
}

/* Times 2^bits; what is left is only worth rounding up for. */
static __int128 scale_binary(struct parts v, int bits)
{
	__int128 low = (__int128)v.rest << bits;

	if (v.nano > CAP >> bits)
		return CAP;
	return (v.nano << bits) + low / ATTO + (low % ATTO || v.more);
}

bool quantity_parse(const char *text, struct quantity *ret)
{
	bool negative = *text == '-';
	const char *digits = text + (*text == '-' || *text == '+');
	size_t n = strspn(digits, "0123456789.");
	const char *dot = memchr(digits, '.', n);
	struct parts parts;
	char format;
	int exp;
	__int128 v;

	if (n == (size_t)(dot != NULL) || (dot && memchr(dot + 1, '.', (size_t)(digits + n - dot - 1))))
		return false;
	if (!parse_suffix(digits + n, &format, &exp))
		return false;
	parts = read_digits(digits, n, format == 'b' ? 0 : exp);
	v = format == 'b' ? scale_binary(parts, exp) : parts.nano + (parts.rest || parts.more);
	if (v > CAP)
		v = CAP;
	*ret = (struct quantity){ .nano = negative ? -v : v, .format = format };
	return true;
}

static void put_number(__int128 v, bool negative, const char *suffix, char out[QUANTITY_TEXT])
{
	char digits[44];
	size_t at = sizeof(digits) - 1;

	digits[at] = '\0';
	do {
		digits[--at] = (char)('0' + (int)(v % 10));
		v /= 10;
	} while (v);
	snprintf(out, QUANTITY_TEXT, "%s%s%s", negative ? "-" : "", digits + at, suffix);
}

static const char *suffix_of(char format, int exp)
{
	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++)
		if (suffixes[i].format == format && suffixes[i].exp == exp)
			return suffixes[i].text;
	return "";
}

void quantity_text(const struct quantity *q, char out[QUANTITY_TEXT])
{
	bool negative = q->nano < 0;
	__int128 v = negative ? -q->nano : q->nano;
	char suffix[8] = "";
	int exp = -9;

	if (v == 0) {
		put_number(0, false, "", out);
		return;
	}
	/* Small and fractional ones are clearer, and exact, in decimal. */
	if (q->format == 'b' && v >= (__int128)1024 * NANO && v % NANO == 0) {
		v /= NANO;
		for (exp = 0; v % 1024 == 0 && exp < 60; exp += 10)
			v /= 1024;
		put_number(v, negative, exp ? suffix_of('b', exp) : "", out);
		return;
	}
	for (; v % 1000 == 0 && exp < 18; exp += 3)
		v /= 1000;
	if (q->format == 'e' && exp)
		snprintf(suffix, sizeof(suffix), "e%d", exp);
	put_number(v, negative, q->format == 'e' ? suffix : suffix_of('d', exp), out);
}

int quantity_cmp(const struct quantity *a, const struct quantity *b)
{
	return (a->nano > b->nano) - (a->nano < b->nano);
}

void quantity_add(struct quantity *sum, const struct quantity *b, int times)
{
	if (sum->nano == 0)
		sum->format = b->format;
	sum->nano += b->nano * times;
}

/* Up means away from zero, as for precision. */
static int64_t scaled_up(__int128 nano, int64_t step)
{
	__int128 v = nano >= 0 ? (nano + step - 1) / step : -((-nano + step - 1) / step);

	return v > INT64_MAX ? INT64_MAX : v < INT64_MIN ? INT64_MIN : (int64_t)v;
}

int64_t quantity_value(const struct quantity *q)
{
	return scaled_up(q->nano, NANO);
}

int64_t quantity_milli(const struct quantity *q)
{
	return scaled_up(q->nano, NANO / 1000);
}

void quantity_bytes_text(int64_t bytes, char out[QUANTITY_TEXT])
{
	const int64_t mi = (int64_t)1 << 20;
	const int64_t gi = (int64_t)1 << 30;
	struct quantity q = { .nano = (__int128)bytes * 1000000000, .format = 'b' };

	if (bytes % mi == 0 || bytes < mi)
		quantity_text(&q, out);
	else if (bytes < gi)
		snprintf(out, QUANTITY_TEXT, "%lldMi", (long long)(bytes / mi));
	else
		snprintf(out, QUANTITY_TEXT, "%lld.%lldGi", (long long)(bytes / gi), (long long)(bytes % gi * 10 / gi));
}
