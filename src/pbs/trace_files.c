// SPDX-License-Identifier: Apache-2.0
/* trace_files.c - see trace_files.h
 *
 * The server's files are root's, or of whoever runs the server; everybody else has the server's word.
 */
#include "pbs/trace_files.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/limits.h"
#include "base/mem.h"

#define DAY_LEN 8 /* 20261116 */

/* The whole array is asked for with all its elements. */
static bool is_same(struct str text, const struct pbs_id *id)
{
	auto_free char *copy = xstrndup(text.p, text.n);
	struct pbs_id other;

	return pbs_id_parse(copy, &other) && other.sequence == id->sequence &&
	       (!*id->elements || streq(other.elements, id->elements));
}

bool trace_file_line(struct str line, const struct pbs_id *id, struct sbuf *out)
{
	struct str stamp, type, name;

	if (!str_split(&line, ';', &stamp) || !str_split(&line, ';', &type) || !str_split(&line, ';', &name) ||
	    !is_same(name, id))
		return false;
	sbuf_addf(out, "%-20.*s %-5c%.*s\n", STR_FMT(stamp), 'A', STR_FMT(line));
	return true;
}

static void read_day(const char *path, const struct pbs_id *id, struct sbuf *out)
{
	FILE *f = fopen(path, "re");
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;

	while (f && (n = getline(&line, &cap, f)) > 0)
		trace_file_line(str_trim((struct str){ line, (size_t)n }), id, out);
	free(line);
	if (f)
		fclose(f);
}

static int is_day(const struct dirent *d)
{
	return strlen(d->d_name) == DAY_LEN && strspn(d->d_name, "0123456789") == DAY_LEN;
}

static bool add_found(const struct sbuf *lines, const struct pbs_id *id, const struct trace_options *o,
		      struct sbuf *out)
{
	if (!lines->n)
		return false;
	sbuf_addf(out, "\nJob: %lld%s%s%s.%s\n\n", (long long)id->sequence, id->array ? "[" : "", id->elements,
		  id->array ? "]" : "", o->server);
	sbuf_add(out, lines->p, lines->n);
	return true;
}

bool trace_files(const char *dir, const struct pbs_id *id, const struct trace_options *o, struct sbuf *out)
{
	auto_free char *days = xasprintf("%s/accounting/pbs", dir);
	auto_sbuf struct sbuf lines = SBUF(out->max);
	struct dirent **found = NULL;
	int n = strchr(o->without, 'A') ? 0 : scandir(days, &found, is_day, alphasort);
	time_t since = (time_t)o->since;
	char first[DAY_LEN + 1];
	struct tm tm;

	localtime_r(&since, &tm);
	strftime(first, sizeof(first), "%Y%m%d", &tm);
	for (int i = 0; i < n; i++) {
		auto_free char *path = xasprintf("%s/%s", days, found[i]->d_name);

		if (strcmp(found[i]->d_name, first) >= 0)
			read_day(path, id, &lines);
		free(found[i]);
	}
	free(found);
	return add_found(&lines, id, o, out);
}

bool trace_records(struct pbs *p, const struct pbs_id *id, const struct trace_options *o, struct sbuf *out)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf text = SBUF(out->max);
	auto_sbuf struct sbuf lines = SBUF(out->max);
	struct err e = ERR_INIT;
	struct str rest, line;

	sbuf_addf(&path, PBS_API "/pbs/records?job=%lld&since=%lld", (long long)id->sequence,
		  (long long)(o->since > 0 ? o->since : 0));
	if (strchr(o->without, 'A') || pbs_get_text(p, path.p, &text, &e) < 0)
		return false;
	rest = sbuf_str(&text);
	while (rest.n && str_split(&rest, '\n', &line))
		trace_file_line(line, id, &lines);
	return add_found(&lines, id, o, out);
}

int trace_files_trouble(const char *dir)
{
	auto_free char *days = xasprintf("%s/accounting/pbs", dir);

	return access(days, R_OK | X_OK) == 0 ? 0 : errno;
}
