// SPDX-License-Identifier: Apache-2.0
/* trace_files.c - see trace_files.h
 *
 * The server's files are root's, or of whoever runs the server; everybody else has the server's word.
 */
#include "pbs/trace_files.h"

#include <errno.h>
#include <unistd.h>

#include "base/day_files.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_account.h"

/* The whole array is asked for with all its elements. */
static bool is_same(const struct pbs_id *asked, const struct pbs_id *other)
{
	return other->sequence == asked->sequence && (!*asked->elements || streq(other->elements, asked->elements));
}

bool trace_file_line(struct str line, const struct pbs_id *id, struct sbuf *out)
{
	struct pbs_account_line l;

	if (!pbs_account_line(str_trim(line), &l) || !is_same(id, &l.id))
		return false;
	sbuf_addf(out, "%-20.*s %-5c%.*s\n", STR_FMT(l.stamp), 'A', STR_FMT(l.text));
	return true;
}

struct search {
	const struct pbs_id *id;
	struct sbuf *out;
};

static void on_line(void *arg, struct str line)
{
	const struct search *s = arg;

	trace_file_line(line, s->id, s->out);
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
	struct search search = { id, &lines };
	struct day_files *files;

	if (strchr(o->without, 'A'))
		return false;
	files = day_files_open(days, o->since);
	while (day_files_read(files, on_line, &search))
		;
	day_files_close(files);
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
