// SPDX-License-Identifier: Apache-2.0
/* qmgr_print.c - see qmgr_print.h
 *
 * What is printed can be said again to qmgr.  Lists are printed one by one, as Torque does it, so that no line is
 * longer than a terminal.
 */
#include "pbs/qmgr_print.h"

#include <strings.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_nodes.h"

static const struct {
	const char *word, *title;
	const struct setting *settings;
} kinds[] = {
	[QMGR_SERVER] = { "server", "Server", server_settings },
	[QMGR_QUEUE] = { "queue", "Queue", queue_settings },
	[QMGR_NODE] = { "node", "Node", node_settings },
};

const struct setting *qmgr_settings(enum qmgr_object kind)
{
	return kinds[kind].settings;
}

const char *qmgr_word(enum qmgr_object kind)
{
	return kinds[kind].word;
}

const char *qmgr_name(enum qmgr_object kind, const json_t *object)
{
	return kind == QMGR_NODE ? pbs_host_of(object) : jsonx_str_or(object, "metadata.name", "");
}

static bool is_asked(const struct qmgr_command *c, const char *name, const char *resource)
{
	for (size_t i = 0; i < c->nitems; i++)
		if (strcasecmp(c->items[i].name, name) == 0 &&
		    (!c->items[i].resource || str_same(c->items[i].resource, resource)))
			return true;
	return !c->nitems;
}

static void print_line(const char *what, const struct pbs_attribute *a, const char *op, const char *value,
		       struct sbuf *out)
{
	sbuf_addf(out, "set %s %s%s%s %s ", what, a->name, a->resource ? "." : "", a->resource ? a->resource : "", op);
	qmgr_quote(value, out);
	sbuf_addc(out, '\n');
}

static void print_setting(const char *what, const struct setting *s, const json_t *object, const struct qmgr_command *c,
			  struct sbuf *out)
{
	auto_attributes struct pbs_attributes a = { 0 };
	json_auto_t *list = setting_is_list(s) ? setting_list(s, object) : NULL;
	json_t *v;
	size_t i;

	setting_show(s, object, &a);
	for (size_t k = 0; k < a.n && !list; k++)
		if (is_asked(c, a.items[k].name, a.items[k].resource))
			print_line(what, &a.items[k], "=", a.items[k].value, out);
	json_array_foreach (list, i, v)
		if (a.n && is_asked(c, s->name, NULL))
			print_line(what, &a.items[0], i ? "+=" : "=", json_string_value(v), out);
}

void qmgr_print(enum qmgr_object kind, const json_t *object, const struct qmgr_command *c, struct sbuf *out)
{
	const char *name = qmgr_name(kind, object);
	auto_free char *what = kind == QMGR_SERVER ? xstrdup("server") : xasprintf("%s %s", kinds[kind].word, name);

	if (kind != QMGR_SERVER && !c->nitems)
		sbuf_addf(out, "#\n# Create and define %s\n#\ncreate %s\n", what, what);
	for (const struct setting *s = kinds[kind].settings; s->name; s++)
		print_setting(what, s, object, c, out);
}

void qmgr_print_head(struct sbuf *out)
{
	sbuf_adds(out, "#\n# Create queues and set their attributes.\n#\n");
}

void qmgr_print_server_head(struct sbuf *out)
{
	sbuf_adds(out, "#\n# Set server attributes.\n#\n");
}

void qmgr_list(enum qmgr_object kind, const char *name, const struct pbs_attributes *a, const struct qmgr_command *c,
	       struct sbuf *out)
{
	sbuf_addf(out, "%s %s\n", kinds[kind].title, name);
	for (size_t i = 0; i < a->n; i++)
		if (is_asked(c, a->items[i].name, a->items[i].resource))
			sbuf_addf(out, "\t%s%s%s = %s\n", a->items[i].name, a->items[i].resource ? "." : "",
				  a->items[i].resource ? a->items[i].resource : "", a->items[i].value);
	sbuf_addc(out, '\n');
}

#define FIELD_LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ."

/* The setting that a word means: its whole path, or for those with a field of their own its name alone. */
static const struct setting *meant(const struct setting *table, struct str word)
{
	for (const struct setting *s = table; s->name; s++) {
		bool alone = s->form == SETTING_ENTRY && str_eq(word, s->path + strlen("spec."));

		if (*s->path && s->form != SETTING_SOME && (alone || str_eq(word, s->path)))
			return s;
	}
	return NULL;
}

void qmgr_words(enum qmgr_object kind, const char *text, struct sbuf *out)
{
	while (*text) {
		struct str word = { text, strspn(text, FIELD_LETTERS) };
		const struct setting *s = meant(kinds[kind].settings, word);

		word.n += !word.n; /* something between words */
		if (s)
			sbuf_addf(out, "%s%s%s", s->name, s->resource ? "." : "", s->resource ? s->resource : "");
		else
			sbuf_add(out, word.p, word.n);
		text += word.n;
	}
}
