// SPDX-License-Identifier: Apache-2.0
/* show.c - see show.h */
#include "cli/show.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/ps_rows.h"

/* Watches and lists leave out what every item is. */
static json_t *typed(const struct found *f)
{
	json_t *obj = json_copy(f->obj);

	json_object_set_new(obj, "apiVersion", json_string(f->api_version));
	json_object_set_new(obj, "kind", json_string(f->kind->kind));
	return obj;
}

static void show_rows(struct client *c, const struct found *const *items, size_t n)
{
	auto_table struct table t = { 0 };
	struct ps_row *rows = xcalloc(n + 1, sizeof(*rows));

	for (size_t i = 0; i < n; i++) {
		struct err ignored = ERR_INIT; /* a row says less without its pods */

		rows[i] = (struct ps_row){ .kind = items[i]->kind, .obj = items[i]->obj };
		if (c)
			find_pods(c, items[i], &rows[i].pods, &ignored);
		work_read(rows[i].kind, rows[i].obj, rows[i].pods, &rows[i].work);
	}
	ps_rows_table(rows, n, false, clock_wall(), &t);
	table_print(&t, true);
	ps_rows_free(rows, n);
}

void show_found(struct client *c, const char *form, const struct found *const *items, size_t n)
{
	json_auto_t *objects = json_array();

	if (!output_is_objects(form)) {
		if (n)
			show_rows(c, items, n);
		return;
	}
	for (size_t i = 0; i < n; i++)
		json_array_append_new(objects, typed(items[i]));
	if (n == 1 && !streq(form, "name"))
		output_object(form, json_array_get(objects, 0));
	else
		output_list(form, objects);
}
