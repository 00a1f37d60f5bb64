// SPDX-License-Identifier: Apache-2.0
/* What is read does not crash, and what is printed of what was read can be said again. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/qmgr_print.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void apply(const struct qmgr_command *c, json_t *objects[], bool must)
{
	for (size_t i = 0; c->object != QMGR_NONE && i < c->nitems; i++) {
		const struct qmgr_item *m = &c->items[i];
		struct err e = ERR_INIT;

		if (setting_write(qmgr_settings(c->object), objects[c->object], m->name, m->resource, m->op, m->value,
				  &e) < 0 &&
		    must)
			abort();
	}
}

static void say(struct str text, json_t *objects[], bool must)
{
	struct str line, command;

	while (str_split(&text, '\n', &line))
		while (qmgr_cut(&line, &command)) {
			auto_qmgr_command struct qmgr_command c = { 0 };
			struct err e = ERR_INIT;
			size_t at = 0;

			if (qmgr_parse(command, &c, &at, &e) == 0)
				apply(&c, objects, must);
			else if (must || at > command.n)
				abort();
		}
}

static void print(json_t *objects[], struct sbuf *out)
{
	const struct qmgr_command all = { 0 };

	for (int kind = QMGR_SERVER; kind <= QMGR_NODE; kind++)
		qmgr_print((enum qmgr_object)kind, objects[kind], &all, out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	auto_sbuf struct sbuf printed = SBUF(1 << 24), again = SBUF(1 << 24);
	json_t *first[QMGR_NODE + 1], *second[QMGR_NODE + 1];

	if (n > 4096 || memchr(data, 0, n))
		return 0;
	for (int i = 0; i <= QMGR_NODE; i++) {
		first[i] = json_pack("{s:{s:s}}", "metadata", "name", "x");
		second[i] = json_pack("{s:{s:s}}", "metadata", "name", "x");
	}
	say((struct str){ (const char *)data, n }, first, false);
	print(first, &printed);
	say(sbuf_str(&printed), second, true);
	print(second, &again);
	if (strcmp(printed.p, again.p) != 0)
		abort();
	for (int i = 0; i <= QMGR_NODE; i++) {
		json_decref(first[i]);
		json_decref(second[i]);
	}
	return 0;
}
