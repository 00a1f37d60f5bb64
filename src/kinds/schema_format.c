// SPDX-License-Identifier: Apache-2.0
/* schema_format.c - the string formats that CRD schemas may ask for
 *
 * A format that is not in the table is a comment, as in Kubernetes.
 */
#include <arpa/inet.h>
#include <ctype.h>

#include "base/clock.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/names.h"
#include "kinds/schema_impl.h"

static bool is_date_time(const char *s)
{
	int64_t micros;

	return clock_parse_rfc3339(s, &micros);
}

static bool is_date(const char *s)
{
	char whole[32];
	int64_t micros;

	if (strlen(s) != 10)
		return false;
	snprintf(whole, sizeof(whole), "%sT00:00:00Z", s);
	return clock_parse_rfc3339(whole, &micros);
}

static bool is_ipv4(const char *s)
{
	struct in_addr a;

	return inet_pton(AF_INET, s, &a) == 1;
}

static bool is_ipv6(const char *s)
{
	struct in6_addr a;

	return inet_pton(AF_INET6, s, &a) == 1;
}

static bool is_cidr(const char *s)
{
	const char *slash = strchr(s, '/');
	auto_free char *host = slash ? xstrndup(s, (size_t)(slash - s)) : NULL;
	int64_t bits;

	return slash && ((is_ipv4(host) && str_int64(slash + 1, 0, 32, &bits)) ||
			 (is_ipv6(host) && str_int64(slash + 1, 0, 128, &bits)));
}

/* Hexadecimal digits in groups of the given lengths, separated by `sep`. */
static bool is_hex_groups(const char *s, const int *groups, char sep)
{
	for (; *groups; groups++) {
		for (int i = 0; i < *groups; i++)
			if (!isxdigit((unsigned char)*s++))
				return false;
		if (groups[1] && *s++ != sep)
			return false;
	}
	return !*s;
}

static bool is_uuid(const char *s)
{
	static const int groups[] = { 8, 4, 4, 4, 12, 0 };

	return is_hex_groups(s, groups, '-');
}

static bool is_mac(const char *s)
{
	static const int groups[] = { 2, 2, 2, 2, 2, 2, 0 };

	return is_hex_groups(s, groups, ':') || is_hex_groups(s, groups, '-');
}

static bool is_hostname(const char *s)
{
	auto_free char *lower = xstrdup(s);

	for (char *p = lower; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return name_check_subdomain(lower) == NULL;
}

static bool is_uri(const char *s)
{
	const char *p = s;

	if (*s == '/')
		return true;
	if (!isalpha((unsigned char)*p))
		return false;
	while (isalnum((unsigned char)*p) || strchr("+-.", *p) != NULL) {
		if (!*p)
			return false;
		p++;
	}
	return *p == ':' && p[1] && !strpbrk(s, " \t\r\n<>\"");
}

static bool is_email(const char *s)
{
	const char *at = strrchr(s, '@');

	return at && at > s && is_hostname(at + 1) && !strpbrk(s, " \t\r\n<>");
}

static bool is_byte(const char *s)
{
	auto_sbuf struct sbuf out = SBUF(strlen(s) + 1);

	return base64_decode(s, strlen(s), &out);
}

/* Go's durations: a sign, then numbers with units. */
static bool is_duration(const char *s)
{
	static const char *const units[] = { "ns", "us", "\xc2\xb5s", "ms", "s", "m", "h", "d", "w" };

	s += *s == '-' || *s == '+';
	if (streq(s, "0"))
		return true;
	if (!*s)
		return false;
	while (*s) {
		const char *num = s;
		const char *unit;

		while (isdigit((unsigned char)*s) || *s == '.')
			s++;
		unit = s;
		for (size_t i = 0; i < ARRAY_SIZE(units) && s == unit; i++)
			if (str_starts(s, units[i]) && !isalpha((unsigned char)s[strlen(units[i])]))
				s += strlen(units[i]);
		if (unit == num || s == unit)
			return false;
	}
	return true;
}

bool schema_format_ok(const char *format, const char *s)
{
	static const struct {
		const char *name;
		bool (*ok)(const char *s);
	} rows[] = {
		{ "date-time", is_date_time }, { "datetime", is_date_time },
		{ "date", is_date },           { "ipv4", is_ipv4 },
		{ "ipv6", is_ipv6 },           { "cidr", is_cidr },
		{ "uuid", is_uuid },           { "mac", is_mac },
		{ "hostname", is_hostname },   { "uri", is_uri },
		{ "email", is_email },         { "byte", is_byte },
		{ "duration", is_duration },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(rows[i].name, format))
			return rows[i].ok(s);
	return true;
}
