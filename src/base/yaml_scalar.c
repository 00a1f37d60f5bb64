// SPDX-License-Identifier: Apache-2.0
/* yaml_scalar.c - plain scalars as Kubernetes' parser resolves them
 *
 * The rules are those of Go's yaml.v2 followed by a trip through JSON: 0644 is octal, 1_000 is a number, y and off are
 * booleans, dates stay strings, and a float without a fraction comes out as an integer ("replicas: 3.0" is valid).
 */
#include "base/yaml_scalar.h"

#include <errno.h>
#include <stdio.h>

#include "base/mem.h"

#define NUMBER_MAX 400 /* longer than any number worth reading */

static const struct {
	const char *text;
	char value; /* t, f, n(ull), x: not in JSON */
} words[] = {
	{ "", 'n' },      { "~", 'n' },     { "null", 'n' },  { "Null", 'n' },  { "NULL", 'n' },  { "true", 't' },
	{ "True", 't' },  { "TRUE", 't' },  { "y", 't' },     { "Y", 't' },     { "yes", 't' },   { "Yes", 't' },
	{ "YES", 't' },   { "on", 't' },    { "On", 't' },    { "ON", 't' },    { "false", 'f' }, { "False", 'f' },
	{ "FALSE", 'f' }, { "n", 'f' },     { "N", 'f' },     { "no", 'f' },    { "No", 'f' },    { "NO", 'f' },
	{ "off", 'f' },   { "Off", 'f' },   { "OFF", 'f' },   { ".nan", 'x' },  { ".NaN", 'x' },  { ".NAN", 'x' },
	{ ".inf", 'x' },  { ".Inf", 'x' },  { ".INF", 'x' },  { "+.inf", 'x' }, { "+.Inf", 'x' }, { "+.INF", 'x' },
	{ "-.inf", 'x' }, { "-.Inf", 'x' }, { "-.INF", 'x' },
};

/* 't', 'f', 'n', 'x', or 0. */
static char find_word(const char *s, size_t n)
{
	if (n > 5)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (strlen(words[i].text) == n && memcmp(words[i].text, s, n) == 0)
			return words[i].value;
	return 0;
}

static size_t skip_digits(const char *s, size_t i)
{
	return i + strspn(s + i, "0123456789");
}

/* [-+]?(\.[0-9]+|[0-9]+(\.[0-9]*)?)([eE][-+]?[0-9]+)? */
static bool is_float(const char *s)
{
	size_t i = *s == '-' || *s == '+';
	size_t whole = i;
	size_t digits;

	i = skip_digits(s, i);
	digits = i - whole;
	if (s[i] == '.') {
		size_t fraction = ++i;

		i = skip_digits(s, i);
		digits += i - fraction;
	}
	if (digits == 0)
		return false;
	if (s[i] == 'e' || s[i] == 'E') {
		size_t exponent;

		i += s[i + 1] == '-' || s[i + 1] == '+' ? 2 : 1;
		exponent = i;
		i = skip_digits(s, i);
		if (i == exponent)
			return false;
	}
	return s[i] == '\0';
}

/* Decimal, 0x, 0o, 0b and the old octal with a leading zero; false if it is none or does not fit. */
static bool parse_int(const char *s, int64_t *ret)
{
	bool negative = *s == '-';
	const char *p = s + (*s == '-' || *s == '+');
	const char *digits = "0123456789";
	int base = 10;
	unsigned long long v;

	if (p[0] == '0' && p[1]) {
		char c = (char)(p[1] | 0x20);

		base = c == 'x' ? 16 : c == 'b' ? 2 : 8;
		digits = base == 16 ? "0123456789abcdefABCDEF" : base == 2 ? "01" : "01234567";
		p += c == 'x' || c == 'b' || c == 'o' ? 2 : 1;
	}
	if (!*p || p[strspn(p, digits)])
		return false;
	errno = 0;
	v = strtoull(p, NULL, base);
	if (errno || v > (unsigned long long)INT64_MAX + negative)
		return false;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return true;
}

static json_t *parse_number(const char *s, size_t n)
{
	char plain[NUMBER_MAX];
	size_t used = 0;
	int64_t i;
	double d;

	if (n >= sizeof(plain))
		return NULL;
	for (size_t k = 0; k < n; k++)
		if (s[k] != '_')
			plain[used++] = s[k];
	plain[used] = '\0';
	if (s[0] != '.' && parse_int(plain, &i))
		return json_integer(i);
	if (!is_float(plain))
		return NULL;
	d = strtod(plain, NULL);
	if (d > -9e15 && d < 9e15 && d == (double)(int64_t)d)
		return json_integer((int64_t)d);
	return json_real(d); /* NULL for an overflow */
}

json_t *yaml_scalar_resolve(const char *s, size_t n)
{
	json_t *number;

	switch (find_word(s, n)) {
	case 't':
		return json_true();
	case 'f':
		return json_false();
	case 'n':
		return json_null();
	case 'x':
		return NULL;
	default:
		break;
	}
	number = memchr("+-.0123456789", s[0], 13) ? parse_number(s, n) : NULL;
	return number ? number : jsonx_stringn(s, n);
}

/* 2001-01-01, 2001-1-1T2:3:4Z, 2001-01-01 02:03:04: strings for us, timestamps for others. */
static bool is_timestamp(const char *s, size_t n)
{
	static const char shape[] = "dddd-d-d";
	size_t i = 0;

	for (const char *p = shape; *p; p++) {
		if (i >= n || (*p == 'd' ? s[i] < '0' || s[i] > '9' : s[i] != *p))
			return false;
		i++;
		/* Months and days may have two digits. */
		if (p >= shape + 5 && *p == 'd' && i < n && s[i] >= '0' && s[i] <= '9')
			i++;
	}
	return i == n || s[i] == 'T' || s[i] == 't' || s[i] == ' ';
}

/* 190:20:30 is a number to YAML 1.1 readers that know base 60. */
static bool is_base60(const char *s, size_t n)
{
	size_t colons = 0;

	for (size_t i = n && (s[0] == '-' || s[0] == '+'); i < n; i++) {
		if (!memchr("0123456789_:.", s[i], 13))
			return false;
		colons += s[i] == ':';
	}
	return colons > 0;
}

bool yaml_scalar_needs_quotes(const char *s, size_t n)
{
	json_auto_t *v = yaml_scalar_resolve(s, n);

	return !json_is_string(v) || is_timestamp(s, n) || is_base60(s, n) || (n == 2 && memcmp(s, "<<", 2) == 0);
}

void yaml_scalar_number(double v, char *buf, size_t n)
{
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(buf, n, "%.*g", digits, v);
		if (strtod(buf, NULL) == v)
			return;
	}
}
