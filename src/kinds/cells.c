// SPDX-License-Identifier: Apache-2.0
/* cells.c - the cells that several kinds' tables share; see cells.h */
#include "kinds/cells.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/selector.h"

#define CELL_MAX  (64u * 1024) /* a cell is for one line of a terminal; anything longer is cut */
#define MICROS    1000000
#define AGE_BYTES 32

/* Takes what was built, or the fallback if that is nothing. */
static json_t *cell_of(struct sbuf *b, const char *fallback)
{
	struct str s = sbuf_str(b);

	return s.n ? jsonx_stringn(s.p, s.n) : json_string(fallback);
}

json_t *cell_name(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "metadata.name", "");
}

json_t *cell_age(const json_t *obj, int64_t now)
{
	return cell_age_of(jsonx_str(obj, "metadata.creationTimestamp"), now);
}

json_t *cell_created_at(const json_t *obj, int64_t now)
{
	(void)now;
	return cell_text_or(obj, "metadata.creationTimestamp", "");
}

json_t *cell_age_of(const char *rfc3339, int64_t now)
{
	char text[AGE_BYTES];
	int64_t micros;

	if (!rfc3339 || !clock_parse_rfc3339(rfc3339, &micros))
		return json_string("<unknown>");
	clock_age(now - micros / MICROS, text, sizeof(text));
	return json_string(text);
}

/* One member of every container, joined. */
static json_t *cell_of_containers(const json_t *pod_spec, const char *member)
{
	auto_sbuf struct sbuf b = SBUF(CELL_MAX);
	size_t i;
	json_t *container;

	json_array_foreach (json_object_get(pod_spec, "containers"), i, container)
		sbuf_addf(&b, "%s%s", i ? "," : "", jsonx_str_or(container, member, ""));
	return cell_of(&b, "");
}

json_t *cell_containers(const json_t *pod_spec)
{
	return cell_of_containers(pod_spec, "name");
}

json_t *cell_images(const json_t *pod_spec)
{
	return cell_of_containers(pod_spec, "image");
}

json_t *cell_label_selector(const json_t *label_selector)
{
	auto_sbuf struct sbuf b = SBUF(CELL_MAX);
	struct selector *s = NULL;
	struct err e = ERR_INIT;

	sbuf_init(&b, CELL_MAX);
	if (!json_object_size(label_selector))
		return json_string("<none>");
	if (selector_from_json(label_selector, &s, &e) < 0)
		return json_string("<error>");
	selector_text(s, &b);
	selector_free(s);
	return cell_of(&b, "<none>");
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

const char **cells_sorted_keys(const json_t *map, size_t *ret_n)
{
	const char **keys = xcalloc(json_object_size(map) + 1, sizeof(*keys));
	const char *key;
	json_t *value;
	size_t n = 0;

	json_object_foreach ((json_t *)map, key, value)
		keys[n++] = key;
	qsort(keys, n, sizeof(*keys), by_text);
	*ret_n = n;
	return keys;
}

json_t *cell_map_selector(const json_t *map)
{
	auto_sbuf struct sbuf b = SBUF(CELL_MAX);
	size_t n;
	auto_free const char **keys = cells_sorted_keys(map, &n);

	for (size_t i = 0; i < n; i++) {
		const char *text = json_string_value(json_object_get(map, keys[i]));

		sbuf_addf(&b, "%s%s=%s", i ? "," : "", keys[i], text ? text : "");
	}
	return cell_of(&b, "<none>");
}

json_t *cell_int_or(const json_t *obj, const char *path, int64_t dflt)
{
	return json_integer(jsonx_int_or(obj, path, dflt));
}

json_t *cell_text_or(const json_t *obj, const char *path, const char *fallback)
{
	const char *text = jsonx_str(obj, path);

	return json_string(text && *text ? text : fallback);
}

json_t *cell_join(const json_t *array, const char *sep, const char *fallback)
{
	auto_sbuf struct sbuf b = SBUF(CELL_MAX);
	size_t i;
	json_t *item;

	json_array_foreach (array, i, item)
		sbuf_addf(&b, "%s%s", i ? sep : "", json_is_string(item) ? json_string_value(item) : "");
	return cell_of(&b, fallback);
}

json_t *cell_access_modes(const json_t *modes)
{
	static const struct {
		const char *mode, *letters;
	} rows[] = {
		{ "ReadWriteOnce", "RWO" },
		{ "ReadOnlyMany", "ROX" },
		{ "ReadWriteMany", "RWX" },
		{ "ReadWriteOncePod", "RWOP" },
	};
	json_auto_t *letters = json_array();
	size_t i;
	json_t *mode;

	for (size_t k = 0; k < ARRAY_SIZE(rows); k++) {
		bool found = false;

		json_array_foreach (modes, i, mode)
			found |= json_is_string(mode) && streq(json_string_value(mode), rows[k].mode);
		if (found)
			json_array_append_new(letters, json_string(rows[k].letters));
	}
	return cell_join(letters, ",", "");
}
