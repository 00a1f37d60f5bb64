// SPDX-License-Identifier: Apache-2.0
/* describe.c - `stoker describe`: one page about one thing
 *
 * The facts are gathered first (about.h) and the page is made of them (describe_page.h); nothing is asked while it is
 * written.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/describe_page.h"

struct describe_settings {
	struct connect_settings connect;
	const char *ns, *output;
};

#define AT(field) offsetof(struct describe_settings, field)
static const struct opt describe_opts[] = {
	NAMESPACE_OPT(AT(ns), "where to look"),
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = AT(output),
	  .arg = "FORM",
	  .choices = "json|yaml",
	  .help = "all the page is made of, as json or yaml" },
	CONNECT_OPTS,
	OPT_END,
};

static void print(const struct about *a, const char *form)
{
	auto_sbuf struct sbuf text = SBUF(SIZE_MAX / 2);
	struct page p = { .out = &text,
			  .colours = output_colours(STDOUT_FILENO),
			  .width = output_width(STDOUT_FILENO) };

	if (form) {
		json_auto_t *doc = describe_json(a);

		output_object(form, doc);
		return;
	}
	describe_page(a, &p);
	fputs(text.p, stdout);
}

static int run_describe(const struct command *cmd, int argc, char **argv)
{
	struct describe_settings s = { 0 };
	auto_free char *arg = NULL;
	struct connection c;
	struct err e = ERR_INIT;
	struct about a;
	char **rest;
	int nrest;

	if (command_parse(cmd, &s, argc, argv, 1, 2, &rest, &nrest) < 0)
		return 2;
	arg = about_argument(rest, nrest);
	if (connect_open(&s.connect, &c, &e) < 0)
		return command_fail(cmd, &e);
	if (about_find(c.client, arg, s.ns ? s.ns : client_default_namespace(c.client), &a, &e) < 0) {
		connect_close(&c);
		return command_fail(cmd, &e);
	}
	about_fill(c.client, &a);
	print(&a, s.output);
	about_done(&a);
	connect_close(&c);
	return 0;
}

const struct command cmd_describe = {
	.name = "describe",
	.args = "[KIND/]NAME [-n NAMESPACE] [-o json|yaml]",
	.summary = "Explain how something stands, and what to do about it",
	.details =
		"One page: its state in a sentence, what it runs and uses, its pods, what is not as it should be, the "
		"last\n"
		"events, and what to do next if it waits or has failed. NAME is a workload's, or with KIND "
		"anything's:\n"
		"service, node, pvc, namespace, resourcequota ... Of what is deleted it shows what is still known.\n\n"
		"Examples:\n"
		"  stoker describe train\n"
		"  stoker describe pod/train-x7k2p -n alice\n"
		"  stoker describe node/gpu1              # who has its processors, memory and GPUs\n"
		"  stoker describe train -o json | jq -r '.advice[]'\n",
	.names = true,
	.opts = describe_opts,
	.run = run_describe,
};
