// SPDX-License-Identifier: Apache-2.0
/* image_change.c - the few lines of a Dockerfile that change only an image's config */
#include <ctype.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/image_parts.h"

/* ["a", "b"] as it stands; anything else is for a shell. */
static json_t *command_of(const char *value)
{
	struct err e = ERR_INIT;
	json_t *list = NULL;
	json_t *v;
	size_t i;

	if (value[0] == '[' && jsonx_parse(value, strlen(value), NULL, NULL, &list, &e) == 0) {
		json_array_foreach (list, i, v)
			if (!json_is_string(v))
				break;
		if (i == json_array_size(list))
			return list;
	}
	json_decref(list);
	return json_pack("[s, s, o]", "/bin/sh", "-c", jsonx_string(value));
}

static int change_command(json_t *config, const char *field, const char *value, struct err *e)
{
	(void)e;
	json_object_set_new(config, field, command_of(value));
	return 0;
}

/* An entrypoint of one's own makes the base image's arguments meaningless. */
static int change_entrypoint(json_t *config, const char *field, const char *value, struct err *e)
{
	json_object_del(config, "Cmd");
	return change_command(config, field, value, e);
}

static int change_text(json_t *config, const char *field, const char *value, struct err *e)
{
	(void)e;
	json_object_set_new(config, field, jsonx_string(value));
	return 0;
}

/* "NAME=value" or "NAME value"; quotes around the value go. */
static int split_pair(const char *text, char **ret_name, char **ret_value, struct err *e)
{
	size_t n = strcspn(text, "= \t");
	const char *value = text + n;
	size_t len;

	if (!n || !*value)
		return err_set(e, ERR_INVALID, "\"%.*s\": NAME=value is expected", 200, text);
	value++;
	len = strlen(value);
	if (len >= 2 && value[0] == value[len - 1] && (value[0] == '"' || value[0] == '\'')) {
		value++;
		len -= 2;
	}
	*ret_name = xstrndup(text, n);
	*ret_value = xstrndup(value, len);
	return 0;
}

static int change_env(json_t *config, const char *field, const char *text, struct err *e)
{
	auto_free char *name = NULL;
	auto_free char *value = NULL;
	auto_free char *start = NULL;
	json_t *list = json_object_get(config, field);

	if (split_pair(text, &name, &value, e) < 0)
		return -1;
	start = xasprintf("%s=", name);
	if (!json_is_array(list)) {
		list = json_array();
		json_object_set_new(config, field, list);
	}
	for (size_t i = json_array_size(list); i > 0; i--) {
		const char *old = json_string_value(json_array_get(list, i - 1));

		if (!old || str_starts(old, start))
			json_array_remove(list, i - 1);
	}
	json_array_append_new(list, jsonx_stringf("%s=%s", name, value));
	return 0;
}

static int change_label(json_t *config, const char *field, const char *text, struct err *e)
{
	auto_free char *name = NULL;
	auto_free char *value = NULL;

	if (split_pair(text, &name, &value, e) < 0)
		return -1;
	if (!json_is_object(json_object_get(config, field)))
		json_object_set_new(config, field, json_object());
	json_object_set_new(json_object_get(config, field), name, jsonx_string(value));
	return 0;
}

/* "8080" or "53/udp", several. */
static int change_ports(json_t *config, const char *field, const char *text, struct err *e)
{
	struct str rest = str_of(text);
	struct str word;

	(void)e;
	if (!json_is_object(json_object_get(config, field)))
		json_object_set_new(config, field, json_object());
	while (str_split(&rest, ' ', &word)) {
		auto_free char *port = xasprintf("%.*s%s", STR_FMT(word), memchr(word.p, '/', word.n) ? "" : "/tcp");

		if (word.n)
			json_object_set_new(json_object_get(config, field), port, json_object());
	}
	return 0;
}

static const struct {
	const char *word, *field;
	int (*apply)(json_t *config, const char *field, const char *value, struct err *e);
} changes[] = {
	{ "CMD", "Cmd", change_command },    { "ENTRYPOINT", "Entrypoint", change_entrypoint },
	{ "ENV", "Env", change_env },        { "EXPOSE", "ExposedPorts", change_ports },
	{ "LABEL", "Labels", change_label }, { "STOPSIGNAL", "StopSignal", change_text },
	{ "USER", "User", change_text },     { "WORKDIR", "WorkingDir", change_text },
};

int image_change(json_t *config, const char *line, struct err *e)
{
	struct str text = str_trim(str_of(line));
	size_t n = 0;

	while (n < text.n && !isspace((unsigned char)text.p[n]))
		n++;
	for (size_t i = 0; i < ARRAY_SIZE(changes); i++) {
		auto_free char *value = NULL;
		struct str rest = str_trim((struct str){ text.p + n, text.n - n });

		if (strlen(changes[i].word) != n || strncasecmp(changes[i].word, text.p, n) != 0)
			continue;
		if (!rest.n)
			return err_set(e, ERR_INVALID, "%s: a value is expected", changes[i].word);
		if (!json_is_object(json_object_get(config, "config")))
			json_object_set_new(config, "config", json_object());
		value = xstrndup(rest.p, rest.n);
		return changes[i].apply(json_object_get(config, "config"), changes[i].field, value, e);
	}
	return err_set(
		e, ERR_INVALID,
		"\"%.*s\" cannot be changed; CMD, ENTRYPOINT, ENV, EXPOSE, LABEL, STOPSIGNAL, USER and WORKDIR can",
		(int)(n < 200 ? n : 200), text.p);
}
