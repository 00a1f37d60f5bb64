// SPDX-License-Identifier: Apache-2.0
/* names.c - the shapes of names, without a regular expression at run time
 *
 * The complaints are Kubernetes' own texts: tools and people search for them.
 */
#include "kinds/names.h"

#include <ctype.h>
#include <string.h>

#define MAX_SUBDOMAIN 253
#define MAX_LABEL     63
#define MAX_PORT_NAME 15

#define TEXT_SUBDOMAIN                                                                                                 \
	"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must "     \
	"start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is "              \
	"'[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')"
#define TEXT_QUALIFIED                                                                                                 \
	"must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric "       \
	"character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is "                        \
	"'([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"
#define TEXT_LONG_253 "must be no more than 253 characters"
#define TEXT_LONG_63  "must be no more than 63 characters"

static bool is_lower(char c)
{
	return c >= 'a' && c <= 'z';
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_lower(c) || is_digit(c) || (c >= 'A' && c <= 'Z');
}

/* [a-z0-9]([-a-z0-9]*[a-z0-9])? over n bytes. */
static bool is_label(const char *s, size_t n)
{
	if (n == 0 || s[0] == '-' || s[n - 1] == '-')
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_lower(s[i]) && !is_digit(s[i]) && s[i] != '-')
			return false;
	return true;
}

static bool is_subdomain(const char *s, size_t n)
{
	struct str rest = { s, n };
	struct str part;

	while (str_split(&rest, '.', &part))
		if (!is_label(part.p, part.n))
			return false;
	return true;
}

/* ([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9] over n bytes. */
static bool is_word(const char *s, size_t n)
{
	if (n == 0 || !is_alnum(s[0]) || !is_alnum(s[n - 1]))
		return false;
	for (size_t i = 0; i < n; i++)
		if (!is_alnum(s[i]) && !strchr("-_.", s[i]))
			return false;
	return true;
}

const char *name_check_subdomain(const char *s)
{
	size_t n = strlen(s);

	if (n > MAX_SUBDOMAIN)
		return TEXT_LONG_253;
	return is_subdomain(s, n) ? NULL : TEXT_SUBDOMAIN;
}

const char *name_check_label(const char *s)
{
	size_t n = strlen(s);

	if (n > MAX_LABEL)
		return TEXT_LONG_63;
	return is_label(s, n) ? NULL
			      : "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', "
				"and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', "
				"regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
}

const char *name_check_label_1035(const char *s)
{
	size_t n = strlen(s);

	if (n > MAX_LABEL)
		return TEXT_LONG_63;
	return is_lower(s[0]) && is_label(s, n)
		       ? NULL
		       : "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an "
			 "alphabetic character, and end with an alphanumeric character (e.g. 'my-name',  or "
			 "'abc-123', regex used for validation is '[a-z]([-a-z0-9]*[a-z0-9])?')";
}

const char *name_check_path_segment(const char *s)
{
	if (strcmp(s, ".") == 0)
		return "may not be '.'";
	if (strcmp(s, "..") == 0)
		return "may not be '..'";
	if (strchr(s, '/'))
		return "may not contain '/'";
	return strchr(s, '%') ? "may not contain '%'" : NULL;
}

const char *name_check(enum name_rule rule, const char *s)
{
	static const char *(*const checks[])(const char *) = {
		[NAME_SUBDOMAIN] = name_check_subdomain,
		[NAME_LABEL] = name_check_label,
		[NAME_LABEL_1035] = name_check_label_1035,
		[NAME_PATH_SEGMENT] = name_check_path_segment,
	};

	return checks[rule](s);
}

const char *name_check_qualified(const char *s)
{
	const char *slash = strchr(s, '/');
	const char *name = slash ? slash + 1 : s;
	size_t n = strlen(name);

	if (slash && strchr(name, '/'))
		return "a qualified name " TEXT_QUALIFIED
		       " with an optional DNS subdomain prefix and '/' (e.g. 'example.com/MyName')";
	if (slash == s)
		return "prefix part must be non-empty";
	if (slash && slash - s > MAX_SUBDOMAIN)
		return "prefix part " TEXT_LONG_253;
	if (slash && !is_subdomain(s, (size_t)(slash - s)))
		return "prefix part " TEXT_SUBDOMAIN;
	if (n == 0)
		return "name part must be non-empty";
	if (n > MAX_LABEL)
		return "name part " TEXT_LONG_63;
	return is_word(name, n) ? NULL : "name part " TEXT_QUALIFIED;
}

const char *name_check_domain_path(const char *s)
{
	static const char punctuation[] = "/-._~%!$&'()*+,;=:";
	const char *slash = strchr(s, '/');
	const char *p;

	if (!slash || slash == s || !slash[1])
		return "must be a domain-prefixed path (such as \"acme.io/foo\")";
	if (slash - s > MAX_SUBDOMAIN)
		return TEXT_LONG_253;
	if (!is_subdomain(s, (size_t)(slash - s)))
		return TEXT_SUBDOMAIN;
	for (p = slash + 1; is_alnum(*p) || (*p && strchr(punctuation, *p));)
		p++;
	return *p ? "Invalid path (regex used for validation is '[A-Za-z0-9/\\-._~%!$&'()*+,;=:]+')" : NULL;
}

const char *name_check_label_value(const char *s)
{
	size_t n = strlen(s);

	if (n > MAX_LABEL)
		return TEXT_LONG_63;
	return n == 0 || is_word(s, n)
		       ? NULL
		       : "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or "
			 "'.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or "
			 "'my_value',  or '12345', regex used for validation is "
			 "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
}

/* One or more of [-._a-zA-Z0-9]. */
static bool is_key(const char *s)
{
	const char *p = s;

	while (*p && (is_alnum(*p) || strchr("-_.", *p)))
		p++;
	return p > s && !*p;
}

const char *name_check_env(const char *s)
{
	return is_key(s) && !is_digit(s[0])
		       ? NULL
		       : "a valid environment variable name must consist of alphabetic characters, digits, '_', '-', "
			 "or '.', and must not start with a digit (e.g. 'my.env-name',  or 'MY_ENV.NAME',  or "
			 "'MyEnvName1', regex used for validation is '[-._a-zA-Z][-._a-zA-Z0-9]*')";
}

const char *name_check_config_key(const char *s)
{
	if (strlen(s) > MAX_SUBDOMAIN)
		return TEXT_LONG_253;
	if (!is_key(s))
		return "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  "
		       "or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')";
	if (strcmp(s, ".") == 0)
		return "must not be '.'";
	if (strcmp(s, "..") == 0)
		return "must not be '..'";
	return strncmp(s, "..", 2) == 0 ? "must not start with '..'" : NULL;
}

const char *name_check_port_name(const char *s)
{
	size_t n = strlen(s);

	if (n > MAX_PORT_NAME)
		return "must be no more than 15 characters";
	if (n == 0 || strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789-") != n)
		return "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)";
	if (strspn(s, "0123456789-") == n)
		return "must contain at least one letter (a-z)";
	if (strstr(s, "--"))
		return "must not contain consecutive hyphens";
	return s[0] == '-' || s[n - 1] == '-' ? "must not begin or end with a hyphen" : NULL;
}

void name_make_label(const char *text, char out[NAME_LABEL_LEN])
{
	size_t n = 0;

	for (const char *p = text; *p && n < NAME_LABEL_LEN - 1; p++) {
		unsigned char c = (unsigned char)*p;
		char to = (char)(c < 128 && isalnum(c) ? tolower(c) : '-');

		if (n || to != '-')
			out[n++] = to;
	}
	while (n && out[n - 1] == '-')
		n--;
	out[n] = '\0';
}
