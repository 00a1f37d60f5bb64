// SPDX-License-Identifier: Apache-2.0
/* qmsg.c - qmsg: a line into the output of running jobs */
#include <getopt.h>

#include "base/jsonx.h"
#include "pbs/about.h"
#include "pbs/ask_node.h"

/* clang-format off */
static const char usage[] =
	"usage: qmsg [-O] [-E] message job_identifier...\n"
	"Writes a message into the output files of running jobs.\n"
	"  -O   into standard output\n"
	"  -E   into standard error (the default)\n";
/* clang-format on */

struct message {
	const char *text;
	bool out, err;
};

static int send_to(const struct act *a, const struct act_target *t, const char *stream, struct err *e)
{
	const struct message *m = a->arg;
	json_auto_t *body = json_pack("{s:s,s:o}", "stream", stream, "text", jsonx_string(m->text));

	return ask_node(a, t, "message", body, e);
}

static int send(const struct act *a, const struct act_target *t, struct err *e)
{
	const struct message *m = a->arg;

	if (m->out && send_to(a, t, "out", e) < 0)
		return -1;
	return m->err ? send_to(a, t, "err", e) : 0;
}

int qmsg_main(struct pbs *p, int argc, char **argv)
{
	struct message m = { 0 };
	struct act a = { .pbs = p, .states = "RSE", .missing = "cannot locate job", .send = send, .arg = &m };
	int c;

	if (about_asked(argc, argv, usage))
		return 0;
	opterr = 0;
	optind = 0;
	while ((c = getopt(argc, argv, "+EO")) != -1) {
		if (c == '?')
			return about_misuse(usage);
		m.out |= c == 'O';
		m.err |= c == 'E';
	}
	if (argc - optind < 2)
		return about_misuse(usage);
	m.text = argv[optind];
	m.err |= !m.out;
	return act_on_jobs(&a, argv + optind + 1, argc - optind - 1);
}
