// SPDX-License-Identifier: Apache-2.0
/* rules.c - the checks that many messages share; see rules.h */
#include "kinds/rules.h"

#include <arpa/inet.h>

#include "base/jsonx.h"
#include "kinds/names.h"

#define RULE_PATH_TEXT 512

bool rule_one_of(const char *s, const char *values)
{
	struct str rest = str_of(values), part;

	while (str_split(&rest, '|', &part))
		if (str_eq(part, s))
			return true;
	return false;
}

bool rule_subscript(const char *s, const char *base)
{
	size_t n = strlen(base);

	return str_starts(s, base) && str_starts(s + n, "['") && str_ends(s, "']") && strlen(s) > n + strlen("['']");
}

void rule_required(const json_t *obj, const char *name, const struct path *at, struct err *e)
{
	const json_t *value = json_object_get(obj, name);

	if (!value || (json_is_string(value) && !json_string_length(value)))
		path_required(PATH_FIELD(at, name), e, NULL);
}

void rule_text(const json_t *value, const struct path *at, struct err *e, const char *(*check)(const char *))
{
	const char *complaint;

	if (!json_string_length(value))
		return;
	complaint = check(json_string_value(value));
	if (complaint)
		path_invalid(at, e, value, "%s", complaint);
}

void rule_texts(const json_t *array, const struct path *at, struct err *e, const char *(*check)(const char *))
{
	size_t i;
	json_t *item;

	json_array_foreach (array, i, item)
		rule_text(item, PATH_INDEX(at, i), e, check);
}

void rule_invalid(const json_t *value, const struct path *at, struct err *e, const char *why)
{
	json_auto_t *blank = json_string("");

	path_invalid(at, e, value ? value : blank, "%s", why);
}

void rule_not_found(const struct path *at, struct err *e, const char *value)
{
	char text[RULE_PATH_TEXT];

	err_cause(e, CAUSE_NOT_FOUND, path_text(at, text, sizeof(text)), "Not found: \"%s\"", value);
}

void rule_too_long(const struct path *at, struct err *e, size_t bytes)
{
	char text[RULE_PATH_TEXT];

	err_cause(e, CAUSE_TOO_LONG, path_text(at, text, sizeof(text)), "Too long: may not be more than %zu bytes",
		  bytes);
}

void rule_immutable(const json_t *value, const json_t *old, const struct path *at, struct err *e)
{
	if (value != old && (!value || !old || !jsonx_equal(value, old)))
		path_invalid(at, e, value, "field is immutable");
}

void rule_range(const json_t *value, int64_t min, int64_t max, const struct path *at, struct err *e)
{
	if (json_is_integer(value) && (json_integer_value(value) < min || json_integer_value(value) > max))
		path_invalid(at, e, value, "must be between %lld and %lld, inclusive", (long long)min, (long long)max);
}

void rule_port(const json_t *value, const struct path *at, struct err *e)
{
	rule_range(value, 1, 65535, at, e);
}

void rule_port_or_name(const json_t *value, const struct path *at, struct err *e)
{
	if (json_is_string(value) && !json_string_length(value))
		path_invalid(at, e, value, "must contain at least one letter (a-z)");
	rule_text(value, at, e, name_check_port_name);
	rule_port(value, at, e);
}

void rule_file_mode(const json_t *value, const struct path *at, struct err *e)
{
	if (json_is_integer(value) && (json_integer_value(value) < 0 || json_integer_value(value) > 0777))
		path_invalid(at, e, value, "must be a number between 0 and 0777 (octal), both inclusive");
}

static bool climbs(const char *path)
{
	struct str rest = str_of(path), part;

	while (str_split(&rest, '/', &part))
		if (str_eq(part, ".."))
			return true;
	return false;
}

void rule_relative_path(const json_t *value, const struct path *at, struct err *e)
{
	const char *s = json_string_value(value);

	if (!s)
		return;
	if (s[0] == '/')
		path_invalid(at, e, value, "must be a relative path");
	if (climbs(s))
		path_invalid(at, e, value, "must not contain '..'");
}

void rule_absolute_path(const json_t *value, const struct path *at, struct err *e)
{
	const char *s = json_string_value(value);

	if (s && s[0] && s[0] != '/')
		path_invalid(at, e, value, "must be an absolute path");
}

static bool is_ip(const char *s)
{
	struct in6_addr a;

	return inet_pton(AF_INET, s, &a) == 1 || inet_pton(AF_INET6, s, &a) == 1;
}

static const char *ip_check(const char *s)
{
	return is_ip(s) ? NULL : "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)";
}

void rule_ip(const json_t *value, const struct path *at, struct err *e)
{
	rule_text(value, at, e, ip_check);
}

static const char *cidr_check(const char *s)
{
	static const char complaint[] = "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)";
	const char *slash = strchr(s, '/');
	char address[INET6_ADDRSTRLEN];
	int64_t bits;

	if (!slash || (size_t)(slash - s) >= sizeof(address))
		return complaint;
	memcpy(address, s, (size_t)(slash - s));
	address[slash - s] = '\0';
	if (!is_ip(address) || !str_int64(slash + 1, 0, strchr(address, ':') ? 128 : 32, &bits))
		return complaint;
	return NULL;
}

void rule_cidr(const json_t *value, const struct path *at, struct err *e)
{
	rule_text(value, at, e, cidr_check);
}

void rule_labels(const json_t *map, const struct path *at, struct err *e)
{
	const char *key, *complaint;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value) {
		json_auto_t *text = jsonx_string(key);

		complaint = name_check_qualified(key);
		if (complaint)
			path_invalid(at, e, text, "%s", complaint);
		rule_text(value, at, e, name_check_label_value);
	}
}

bool rule_quantity_parse(const json_t *value, struct quantity *ret)
{
	char text[QUANTITY_TEXT];

	if (json_is_string(value))
		return quantity_parse(json_string_value(value), ret);
	if (!json_is_integer(value))
		return false;
	snprintf(text, sizeof(text), "%lld", (long long)json_integer_value(value));
	return quantity_parse(text, ret);
}

void rule_quantity(const json_t *value, const struct path *at, struct err *e)
{
	struct quantity q;

	if (value && rule_quantity_parse(value, &q) && q.nano < 0)
		path_invalid(at, e, value, "must be greater than or equal to 0");
}

void rule_quantities(const json_t *map, const struct path *at, struct err *e)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)map, key, value)
		rule_quantity(value, PATH_KEY(at, key), e);
}

void rule_unique(const json_t *array, const char *name, const struct path *at, struct err *e)
{
	json_auto_t *seen = json_object();
	size_t i;
	json_t *item;

	json_array_foreach (array, i, item) {
		json_t *value = json_object_get(item, name);
		const char *text = json_string_value(value);

		if (!text || !text[0])
			continue;
		if (json_object_get(seen, text))
			path_duplicate(PATH_FIELD(PATH_INDEX(at, i), name), e, value);
		json_object_set_new(seen, text, json_true());
	}
}
