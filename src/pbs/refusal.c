// SPDX-License-Identifier: Apache-2.0
/* refusal.c - see refusal.h */
#include "pbs/refusal.h"

#include <stdio.h>
#include <string.h>

#include "pbs/pbs.h"

static void show_usage(bool alter)
{
	auto_sbuf struct sbuf text = SBUF(1 << 16);

	options_usage(alter, &text);
	fputs(text.p, stderr);
}

int refusal_show(const struct ask *a, const char *command, const struct err *e)
{
	const char *words = e->text;

	switch (a->refusal) {
	case REFUSE_USAGE:
		fprintf(stderr, "[%s: %s]\n", command, e->text);
		if (a->detail)
			fprintf(stderr, "%s: %s\n", command, a->detail);
		fputc('\n', stderr);
		show_usage(a->alter);
		break;
	case REFUSE_SHORT:
		show_usage(a->alter);
		break;
	case REFUSE_BARE:
		fprintf(stderr, "%s\n", e->text);
		break;
	case REFUSE_SUBMIT:
		pbs_error_of(e, &words);
		fprintf(stderr, a->alter ? "%s: %s\n" : "%s: submit error (%s)\n", command, words);
		break;
	default:
		fprintf(stderr, "%s: %s\n", command, e->text);
	}
	return a->status;
}

int refusal_show_each(const struct ask *a, struct pbs *p, char *const *ids, int n, const struct err *e)
{
	const char *words = e->text;

	if (a->refusal != REFUSE_SUBMIT || !n)
		return refusal_show(a, p->command, e);
	pbs_error_of(e, &words);
	for (int i = 0; i < n; i++)
		fprintf(stderr, "%s: %s %s%s%s\n", p->command, words, ids[i], strchr(ids[i], '.') ? "" : ".",
			strchr(ids[i], '.') ? "" : pbs_server_name(p));
	return a->status;
}
