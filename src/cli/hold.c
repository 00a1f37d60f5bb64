// SPDX-License-Identifier: Apache-2.0
/* hold.c - `stoker hold` and `stoker release`: work that is not to start yet, and work that is
 *
 * Both change one word of the annotation stoker.dev/hold; the scheduler does the holding.  What runs is not touched.
 * PBS jobs have letters of their own for it, which qhold and qrls write too: there it is one of those.
 */
#include <limits.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/find.h"
#include "cli/show.h"
#include "cli/work.h"
#include "kinds/rest.h"
#include "kinds/work_rules.h"

struct hold_settings {
	struct connect_settings connect;
	const char *ns, *output;
	bool operator;
};

#define AT(field) offsetof(struct hold_settings, field)
static const struct opt hold_opts[] = {
	{ .name = "operator",
	  .type = OPT_FLAG,
	  .offset = AT(operator),
	  .help = "the operator's hold, which only who may change queues sets and lifts" },
	NAMESPACE_OPT(AT(ns), "where to look"),
	OUTPUT_OPT_SAYING(struct hold_settings, "print no sentences but what was changed, as it is now"),
	CONNECT_OPTS,
	OPT_END,
};

struct session {
	const struct hold_settings *s;
	struct connection c;
	const char *ns;
	bool release;
};

static void say(const struct session *s, const struct found *f, unsigned before, unsigned after, const struct work *w)
{
	auto_sbuf struct sbuf title = SBUF(512);
	auto_sbuf struct sbuf left = SBUF(128);

	found_title(f, &title);
	hold_text(after, &left);
	if (s->release && before == after)
		printf("%s is not held by %s%s%s\n", title.p, s->s->operator? "an operator" : "its user",
		       after ? ", but by " : "", after ? left.p : "");
	else if (s->release)
		printf("%s released%s%s\n", title.p, after ? "; still held by " : "", after ? left.p : "");
	else
		printf("%s %s%s\n", title.p, before == after ? "was held before" : "held",
		       w->phase == WORK_RUNNING ? "; what runs of it goes on" : "");
}

/* ---- letters of PBS ---- */

static const struct {
	char letter;
	unsigned bit;
} letters[] = { { 'u', HOLD_WORD_USER }, { 'o', HOLD_WORD_OPERATOR }, { 's', HOLD_WORD_SYSTEM } };

/* Elements of an array that their user holds one by one are released with it. */
static unsigned read_letters(const json_t *job, bool release)
{
	const char *hold = jsonx_str_or(job, "spec.hold", "n");
	unsigned bits = release && jsonx_at(job, "spec.elementHold") ? HOLD_WORD_USER : 0;

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (strchr(hold, letters[i].letter))
			bits |= letters[i].bit;
	return bits;
}

/* What qhold or qrls would write; a letter that only PBS knows stays. */
static json_t *letters_patch(const json_t *job, unsigned after)
{
	const char *kept = strchr(jsonx_str_or(job, "spec.hold", "n"), 'p') ? "p" : "";
	json_t *spec = json_object();
	char text[8];
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(letters); i++)
		if (after & letters[i].bit)
			text[n++] = letters[i].letter;
	snprintf(text + n, sizeof(text) - n, "%s", n || *kept ? kept : "n");
	json_object_set_new(spec, "hold", json_string(text));
	if (!(after & HOLD_WORD_USER) && jsonx_at(job, "spec.elementHold"))
		json_object_set_new(spec, "elementHold", json_null());
	return spec;
}

/* ---- one of them ---- */

static json_t *patch_of(const struct found *f, unsigned after)
{
	auto_sbuf struct sbuf text = SBUF(128);
	json_t *patch = json_pack("{s:{s:s}}", "metadata", "uid", jsonx_str_or(f->obj, "metadata.uid", ""));
	bool pbs = f->kind == &kind_pbsjob;

	hold_text(after, &text);
	if (pbs)
		json_object_set_new(patch, "spec", letters_patch(f->obj, after));
	if (!pbs || *work_note(f->obj, HOLD_ANNOTATION))
		jsonx_set_new(patch, "metadata.annotations",
			      json_pack("{s:o}", HOLD_ANNOTATION, after && !pbs ? jsonx_string(text.p) : json_null()));
	return patch;
}

static int change(struct session *s, struct found *f, struct err *e)
{
	unsigned bit = s->s->operator? HOLD_WORD_OPERATOR : HOLD_WORD_USER;
	struct ref ref = found_ref(f);
	json_auto_t *patch = NULL;
	unsigned before;
	unsigned after;
	struct work w;

	work_read(f->kind, f->obj, NULL, &w);
	if (work_is_over(&w))
		return err_set(e, ERR_BAD_REQUEST, "%s/%s has ended (%s)", f->kind->singular, f->name,
			       work_phase_name(w.phase));
	hold_parse(work_note(f->obj, HOLD_ANNOTATION), &before);
	if (f->kind == &kind_pbsjob)
		before |= read_letters(f->obj, s->release);
	after = s->release ? before & ~bit : before | bit;
	if (before != after) {
		json_t *changed = NULL;

		patch = patch_of(f, after);
		if (client_patch_wait(s->c.client, &ref, "merge", patch, &changed, e) < 0)
			return -1;
		json_decref(f->obj);
		f->obj = changed;
	}
	if (!s->s->output)
		say(s, f, before, after, &w);
	return 0;
}

static int change_all(struct session *s, const struct command *cmd, char **names, int n)
{
	struct found *found = xcalloc((size_t)n + 1, sizeof(*found));
	const struct found **shown = xcalloc((size_t)n + 1, sizeof(*shown));
	size_t nshown = 0;
	int status = 0;

	for (int i = 0; i < n; i++) {
		struct err e = ERR_INIT;

		if (find_one(s->c.client, names[i], s->ns, false, &found[i], &e) < 0) {
			status = command_fail(cmd, &e);
			continue;
		}
		if (found[i].element) {
			err_set(&e, ERR_BAD_REQUEST, "%s is an element of an array: `%s '%s'`", names[i],
				s->release ? "qrls" : "qhold", names[i]);
			status = command_fail(cmd, &e);
			continue;
		}
		if (change(s, &found[i], &e) < 0)
			status = command_fail(cmd, &e);
		else
			shown[nshown++] = &found[i];
	}
	if (s->s->output)
		show_found(s->c.client, s->s->output, shown, nshown);
	for (int i = 0; i < n; i++)
		found_done(&found[i]);
	free(found);
	free(shown);
	return status;
}

static int run_hold(const struct command *cmd, int argc, char **argv)
{
	struct hold_settings settings = { 0 };
	struct session s = { .s = &settings, .release = cmd == &cmd_release };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int status;

	if (command_parse(cmd, &settings, argc, argv, 1, INT_MAX, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&settings.connect, &s.c, &e) < 0)
		return command_fail(cmd, &e);
	s.ns = settings.ns ? settings.ns : client_default_namespace(s.c.client);
	status = change_all(&s, cmd, rest, nrest);
	connect_close(&s.c);
	return status;
}

const struct command cmd_hold = {
	.name = "hold",
	.args = "[KIND/]NAME... [--operator] [-o wide|json|yaml|name]",
	.summary = "Keep work that waits from starting",
	.details = "The work keeps its age in the queue, but none of its pods starts until `stoker release`. What "
		   "runs goes on.\n\n"
		   "Examples:\n"
		   "  stoker hold train-7\n"
		   "  stoker hold --operator -n alice tfjob/big\n",
	.names = true,
	.opts = hold_opts,
	.run = run_hold,
};

const struct command cmd_release = {
	.name = "release",
	.args = "[KIND/]NAME... [--operator] [-o wide|json|yaml|name]",
	.summary = "Let work start that was held",
	.details = "Lifts what `stoker hold` did: your own hold, or with --operator the operator's.\n",
	.names = true,
	.opts = hold_opts,
	.run = run_hold,
};
