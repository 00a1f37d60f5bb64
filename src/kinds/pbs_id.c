// SPDX-License-Identifier: Apache-2.0
/* pbs_id.c - names of PBS jobs
 *
 * Ports after a server's name are read and forgotten: there is one server, and its name is all that is compared.
 */
#include "kinds/pbs_id.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"

/* Eighteen digits always fit. */
enum { MOST_DIGITS = 18 };

static size_t digits(const char *p)
{
	size_t n = 0;

	while (isdigit((unsigned char)p[n]))
		n++;
	return n;
}

/* NAME[:PORT] up to '@' or the end; NULL if it is none. */
static const char *server_read(const char *p, char out[PBS_SERVER_NAME])
{
	size_t n = 0;

	while (isgraph((unsigned char)p[n]) && !strchr("#@:", p[n]))
		n++;
	if (!n || n >= PBS_SERVER_NAME)
		return NULL;
	memcpy(out, p, n);
	out[n] = 0;
	p += n;
	if (*p == ':') {
		n = digits(++p);
		p = n ? p + n : NULL;
	}
	return p && (!*p || *p == '@') ? p : NULL;
}

/* The part in brackets, or the old 189-3; NULL if it is none. */
static const char *elements_read(const char *p, struct pbs_id *id)
{
	bool old = *p == '-';
	size_t n = old ? digits(p + 1) : strspn(p + 1, "0123456789-,:");

	if (n >= sizeof(id->elements) || (old && !n) || (!old && p[1 + n] != ']'))
		return NULL;
	id->array = true;
	memcpy(id->elements, p + 1, n);
	id->elements[n] = 0;
	return p + 1 + n + (old ? 0 : 1);
}

bool pbs_id_parse(const char *text, struct pbs_id *ret)
{
	struct pbs_id id = { 0 };
	size_t n = digits(text);
	const char *p = text + n;

	if (!n || n > MOST_DIGITS)
		return false;
	id.sequence = strtoll(text, NULL, 10);
	if (*p == '[' || *p == '-')
		p = elements_read(p, &id);
	if (p && *p == '.')
		p = server_read(p + 1, id.server);
	if (p && *p == '@')
		p = server_read(p + 1, id.at);
	if (!p || *p)
		return false;
	*ret = id;
	return true;
}

bool pbs_target_parse(const char *text, struct pbs_id *ret, int64_t *ret_count)
{
	size_t n = strlen(text);
	auto_free char *id = xstrdup(text);
	char *last = n && id[n - 1] == ']' ? strrchr(id, '[') : NULL;
	int64_t count = 0;

	/* The last of two brackets is a number of elements. */
	if (last && strchr(id, '[') != last) {
		id[n - 1] = '\0';
		if (!str_int64(last + 1, 1, INT32_MAX, &count))
			return false;
		*last = '\0';
	}
	if (!pbs_id_parse(id, ret) || (count && (!ret->array || *ret->elements)))
		return false;
	*ret_count = count;
	return true;
}

void pbs_id_text(int64_t sequence, int index, const char *server, struct sbuf *out)
{
	sbuf_addf(out, "%" PRId64, sequence);
	if (index == PBS_ARRAY)
		sbuf_adds(out, "[]");
	else if (index != PBS_PLAIN)
		sbuf_addf(out, "[%d]", index);
	if (server && server[0])
		sbuf_addf(out, ".%s", server);
}

void pbs_id_of(const json_t *job, int index, struct sbuf *out)
{
	const json_t *sequence = jsonx_at(job, "status.sequence");
	const char *id = jsonx_str_or(job, "status.id", jsonx_str_or(job, "metadata.name", ""));
	const char *dot = strchr(id, '.');

	if (index >= 0 && json_is_integer(sequence))
		pbs_id_text(json_integer_value(sequence), index, dot ? dot + 1 : "", out);
	else
		sbuf_adds(out, id);
}

void pbs_id_pod(const char *job, int index, int rank, int run, struct sbuf *out)
{
	sbuf_adds(out, job);
	if (index >= 0)
		sbuf_addf(out, "-%d", index);
	sbuf_addf(out, "-%d", rank);
	if (run)
		sbuf_addf(out, "-r%d", run);
}
