// SPDX-License-Identifier: Apache-2.0
/* idmap.c - see idmap.h
 *
 * The kernel's table is asked each time rather than remembered: it is one short read, and this process changes its
 * namespace while it starts.
 */
#include "node/idmap.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/str.h"

#define MAP_MAX (64u * 1024)

/* The next number of a line of columns. */
static bool next_number(struct str *line, uint32_t *ret)
{
	struct str part = { 0 };
	auto_free char *text = NULL;
	int64_t n;

	*line = str_trim(*line);
	if (!line->n || !str_split(line, ' ', &part))
		return false;
	text = xstrndup(part.p, part.n);
	if (!str_int64(text, 0, UINT32_MAX, &n))
		return false;
	*ret = (uint32_t)n;
	return true;
}

bool idmap_parse(const char *text, struct idmap *ret)
{
	struct str rest = str_of(text);
	struct str line;

	ret->n = 0;
	while (rest.n && str_split(&rest, '\n', &line)) {
		uint32_t inside;
		uint32_t outside;
		uint32_t count;

		if (!str_trim(line).n)
			continue;
		if (ret->n == IDMAP_ROWS || !next_number(&line, &inside) || !next_number(&line, &outside) ||
		    !next_number(&line, &count) || str_trim(line).n)
			return false;
		ret->rows[ret->n].inside = inside;
		ret->rows[ret->n].outside = outside;
		ret->rows[ret->n++].count = count;
	}
	return ret->n > 0;
}

static bool is_account(struct str field, const char *account, uint32_t uid)
{
	char number[16];

	snprintf(number, sizeof(number), "%u", uid);
	return str_eq(field, number) || (account && str_eq(field, account));
}

static bool range_number(struct str field, uint32_t *ret)
{
	auto_free char *text = xstrndup(field.p, field.n);
	int64_t n;

	if (!str_int64(text, 1, UINT32_MAX - 1, &n))
		return false;
	*ret = (uint32_t)n;
	return true;
}

static void add_range(struct idmap *m, uint32_t first, uint32_t count)
{
	uint32_t next = m->rows[m->n - 1].inside + m->rows[m->n - 1].count;

	/* The largest number is no id. */
	if (m->n == IDMAP_ROWS || count > UINT32_MAX - 1 - next || count > UINT32_MAX - first)
		return;
	m->rows[m->n].inside = next;
	m->rows[m->n].outside = first;
	m->rows[m->n++].count = count;
}

void idmap_plan(const char *subordinate, const char *account, uint32_t uid, uint32_t own, struct idmap *ret)
{
	struct str rest = str_of(subordinate);
	struct str line;

	ret->rows[0].inside = 0;
	ret->rows[0].outside = own;
	ret->rows[0].count = 1;
	ret->n = 1;
	while (rest.n && str_split(&rest, '\n', &line)) {
		struct str who;
		struct str first_text;
		struct str count_text;
		uint32_t first;
		uint32_t count;

		line = str_trim(line);
		if (line.n && str_split(&line, ':', &who) && is_account(who, account, uid) &&
		    str_split(&line, ':', &first_text) && str_split(&line, ':', &count_text) &&
		    range_number(first_text, &first) && range_number(count_text, &count))
			add_range(ret, first, count);
	}
}

bool idmap_has(const struct idmap *m, uint32_t inside)
{
	for (size_t i = 0; i < m->n; i++)
		if (inside >= m->rows[i].inside && inside - m->rows[i].inside < m->rows[i].count)
			return true;
	return false;
}

/* ---- of this process ---- */

static bool read_map(const char *path, struct idmap *ret)
{
	auto_sbuf struct sbuf text = SBUF(MAP_MAX);
	struct err e = ERR_INIT;

	/* A kernel without user namespaces has no such file. */
	return file_read(path, MAP_MAX, &text, &e) == 0 && text.p && idmap_parse(text.p, ret);
}

static bool has(const char *path, uint32_t id)
{
	struct idmap m;

	return !read_map(path, &m) || idmap_has(&m, id);
}

uint32_t idmap_own_uid(void)
{
	struct idmap m;

	if (read_map("/proc/self/uid_map", &m))
		for (size_t i = 0; i < m.n; i++)
			if (m.rows[i].inside == 0)
				return m.rows[i].outside;
	return 0;
}

bool idmap_is_whole(void)
{
	struct idmap m;

	return !read_map("/proc/self/uid_map", &m) ||
	       (m.n == 1 && m.rows[0].outside == 0 && m.rows[0].count == UINT32_MAX);
}

bool idmap_has_uid(uint32_t uid)
{
	return has("/proc/self/uid_map", uid);
}

bool idmap_has_gid(uint32_t gid)
{
	return has("/proc/self/gid_map", gid);
}
