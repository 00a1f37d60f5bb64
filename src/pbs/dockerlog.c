// SPDX-License-Identifier: Apache-2.0
/* dockerlog.c - dockerlog: what a job prints, as it prints it, until its end or Ctrl-C */
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "client/client.h"
#include "pbs/about.h"

static const char usage[] = "usage: dockerlog job_identifier\n";

static bool show(void *arg, struct str piece)
{
	(void)arg;
	return fwrite(piece.p, 1, piece.n, stdout) == piece.n && fflush(stdout) == 0;
}

/* A refusal would come in pieces like any output: it is asked for first. */
static int follow(struct pbs *p, const char *ns, const char *pod, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	auto_sbuf struct sbuf nothing = SBUF(LIMIT_BODY);
	size_t n;
	int code;

	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, ns);
	sbuf_adds(&path, "/pods/");
	client_escape(&path, pod);
	n = path.n;
	sbuf_adds(&path, "/log?tailLines=0");
	if (pbs_get_text(p, path.p, &nothing, e) < 0)
		return -1;
	path.n = n;
	sbuf_adds(&path, "/log?follow=true");
	return p->door->stream(p->open, path.p, &code, show, NULL, e);
}

int dockerlog_main(struct pbs *p, int argc, char **argv)
{
	json_auto_t *job = NULL;
	struct err e = ERR_INIT;
	struct pbs_id id;
	const char *pod;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc != 2)
		return about_misuse(usage);
	if (!pbs_id_parse(argv[1], &id)) {
		fprintf(stderr, "dockerlog: illegally formed job identifier: %s\n", argv[1]);
		return 1;
	}
	if (pbs_job_find(p, &id, &job, &e) < 0)
		return pbs_fail(p, &e, argv[1]);
	pod = json_string_value(json_array_get(jsonx_at(job, "status.pods"), 0));
	if (!pod) {
		fprintf(stderr, "dockerlog: job %s has not started (state %s)%s\n",
			jsonx_str_or(job, "status.id", argv[1]), jsonx_str_or(job, "status.state", "Q"),
			id.array && !id.elements[0] ? "; ask for one element, such as 189[3]" : "");
		return 1;
	}
	if (follow(p, jsonx_str_or(job, "metadata.namespace", ""), pod, &e) < 0) {
		fprintf(stderr, "dockerlog: %s\n", e.text);
		return 1;
	}
	return 0;
}
