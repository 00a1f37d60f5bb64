// SPDX-License-Identifier: Apache-2.0
/* image_dockerfile.c - the few words of a Dockerfile that name other images
 *
 * buildah reads the file itself; this is only to know which images of ours to lay ready for it.  So the reading is
 * generous: a name too many (from the text of a here-document, say) costs a look-up, and one that is missed is fetched
 * from its registry.
 */
#include "node/image_dockerfile.h"

#include <ctype.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"

#define LINE_MAX_LEN 65536
#define NAMES_MAX    1000

struct reader {
	json_t *names;
	json_t *stages; /* object: lower-case name -> true */
	json_t *vars;   /* object: ARG name -> value */
	const json_t *args;
};

static void add_once(json_t *list, const char *text)
{
	json_t *v;
	size_t i;

	json_array_foreach (list, i, v)
		if (streq(json_string_value(v), text))
			return;
	if (json_array_size(list) < NAMES_MAX)
		json_array_append_new(list, jsonx_string(text));
}

/* ---- variables ---- */

static const char *argument(const json_t *args, const char *name)
{
	size_t n = strlen(name);
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)args, i, v) {
		const char *text = json_string_value(v);

		if (text && strncmp(text, name, n) == 0 && text[n] == '=')
			return text + n + 1;
	}
	return NULL;
}

static size_t name_length(const char *p)
{
	size_t n = 0;

	while (isalnum((unsigned char)p[n]) || p[n] == '_')
		n++;
	return n;
}

/* "$NAME", "${NAME}" and "${NAME:-default}"; *at stands on the dollar and is moved behind. */
static void expand_one(const struct reader *r, const char **at, struct sbuf *out)
{
	const char *p = *at + 1;
	bool braces = *p == '{';
	size_t n = name_length(p + braces);
	auto_free char *name = xstrndup(p + braces, n);
	const char *value = json_string_value(json_object_get(r->vars, name));
	const char *end = p + braces + n;
	const char *close = braces ? strchr(end, '}') : NULL;

	if (!n || (braces && !close)) {
		sbuf_addc(out, '$');
		*at = p;
		return;
	}
	if ((!value || !*value) && braces && str_starts(end, ":-"))
		sbuf_add(out, end + 2, (size_t)(close - end - 2));
	else if (value)
		sbuf_adds(out, value);
	*at = braces ? close + 1 : end;
}

/* A word with its variables filled in and its quotes gone. */
static void expand(const struct reader *r, struct str word, struct sbuf *out)
{
	auto_free char *text = xstrndup(word.p, word.n);
	const char *p = text;

	while (*p) {
		if (*p == '$')
			expand_one(r, &p, out);
		else if (*p == '"' || *p == '\'')
			p++;
		else
			sbuf_addc(out, *p++);
	}
}

/* ---- lines ---- */

static bool next_word(struct str *rest, struct str *ret)
{
	*rest = str_trim(*rest);
	ret->p = rest->p;
	ret->n = 0;
	while (ret->n < rest->n && !isspace((unsigned char)rest->p[ret->n]))
		ret->n++;
	rest->p += ret->n;
	rest->n -= ret->n;
	return ret->n > 0;
}

static bool is_word(struct str s, const char *word)
{
	return s.n == strlen(word) && strncasecmp(s.p, word, s.n) == 0;
}

static char *lower(const char *text)
{
	char *out = xstrdup(text);

	for (char *p = out; *p; p++)
		*p = (char)tolower((unsigned char)*p);
	return out;
}

static void add_image(struct reader *r, struct str word)
{
	auto_sbuf struct sbuf name = SBUF(4096);
	auto_free char *stage = NULL;

	expand(r, word, &name);
	if (!name.n || streq(name.p, "scratch") || strspn(name.p, "0123456789") == name.n)
		return;
	stage = lower(name.p);
	if (!json_object_get(r->stages, stage))
		add_once(r->names, name.p);
}

static void read_from(struct reader *r, struct str rest)
{
	struct str word;

	while (next_word(&rest, &word) && word.p[0] == '-')
		;
	if (!word.n)
		return;
	add_image(r, word);
	if (next_word(&rest, &word) && is_word(word, "as") && next_word(&rest, &word)) {
		auto_free char *name = xstrndup(word.p, word.n);
		auto_free char *stage = lower(name);

		json_object_set_new(r->stages, stage, json_true());
	}
}

static void read_arg(struct reader *r, struct str rest)
{
	struct str word;

	while (next_word(&rest, &word)) {
		auto_free char *text = xstrndup(word.p, word.n);
		char *eq = strchr(text, '=');
		auto_sbuf struct sbuf value = SBUF(4096);

		if (eq) {
			*eq = '\0';
			expand(r, str_of(eq + 1), &value);
		}
		if (argument(r->args, text))
			json_object_set_new(r->vars, text, jsonx_string(argument(r->args, text)));
		else if (eq)
			json_object_set_new(r->vars, text, jsonx_string(value.p ? value.p : ""));
	}
}

/* --from=NAME, --mount=type=bind,from=NAME,... */
static void read_flags(struct reader *r, struct str rest)
{
	struct str word;

	while (next_word(&rest, &word) && word.n > 2 && word.p[0] == '-' && word.p[1] == '-') {
		struct str part;

		word.p += 2;
		word.n -= 2;
		while (str_split(&word, ',', &part)) {
			const char *from = memmem(part.p, part.n, "from=", 5);

			if (from && (from == part.p || from[-1] == '='))
				add_image(r, (struct str){ from + 5, part.n - (size_t)(from + 5 - part.p) });
		}
	}
}

static const struct {
	const char *word;
	void (*read)(struct reader *r, struct str rest);
} instructions[] = {
	{ "FROM", read_from }, { "ARG", read_arg },   { "COPY", read_flags },
	{ "ADD", read_flags }, { "RUN", read_flags },
};

static void read_line(struct reader *r, struct str line)
{
	struct str word;

	if (!next_word(&line, &word))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(instructions); i++)
		if (is_word(word, instructions[i].word))
			instructions[i].read(r, line);
}

json_t *dockerfile_images(const char *text, const json_t *args)
{
	struct reader r = { .names = json_array(), .stages = json_object(), .vars = json_object(), .args = args };
	auto_sbuf struct sbuf whole = SBUF(LINE_MAX_LEN);
	struct str rest = str_of(text);
	struct str line;

	while (str_split(&rest, '\n', &line)) {
		struct str s = str_trim(line);

		if (s.n && s.p[0] == '#')
			continue;
		/* An instruction goes on behind a backslash; Windows' files may say backtick. */
		if (s.n && (s.p[s.n - 1] == '\\' || s.p[s.n - 1] == '`')) {
			sbuf_add(&whole, s.p, s.n - 1);
			sbuf_addc(&whole, ' ');
			continue;
		}
		sbuf_add(&whole, s.p, s.n);
		read_line(&r, sbuf_str(&whole));
		sbuf_reset(&whole);
	}
	read_line(&r, sbuf_str(&whole));
	json_decref(r.stages);
	json_decref(r.vars);
	return r.names;
}
