// SPDX-License-Identifier: Apache-2.0
/* qstart.c - qstart, qstop, qenable and qdisable: the two switches of a queue */
#include <getopt.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "kinds/pbs_error.h"
#include "pbs/about.h"
#include "pbs/checks.h"

struct queue_switch {
	const char *usage;
	const char *field;
	bool on;
};

static int switch_one(struct pbs *p, const struct queue_switch *s, const char *queue)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *patch = json_object();
	struct err e = ERR_INIT;

	jsonx_set_new(patch, s->field, json_boolean(s->on));
	sbuf_adds(&path, PBS_API "/queues/");
	client_escape(&path, queue);
	if (pbs_patch(p, path.p, patch, NULL, &e) == 0)
		return 0;
	if (e.kind == ERR_NOT_FOUND)
		pbs_error_set(&e, ERR_NOT_FOUND, PBSE_UNKQUE, NULL);
	if (e.kind == ERR_FORBIDDEN)
		pbs_error_set(&e, ERR_FORBIDDEN, PBSE_PERM, NULL);
	return pbs_fail(p, &e, queue);
}

/* @SERVER alone: all queues. */
static int switch_all(struct pbs *p, const struct queue_switch *s)
{
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	int status = 0;
	json_t *v;
	size_t i;

	if (pbs_get(p, PBS_API "/queues", &list, &e) < 0)
		return pbs_fail(p, &e, NULL);
	json_array_foreach (json_object_get(list, "items"), i, v) {
		int one = switch_one(p, s, jsonx_str_or(v, "metadata.name", ""));

		status = one ? one : status;
	}
	return status;
}

static int run(struct pbs *p, const struct queue_switch *s, int argc, char **argv)
{
	int status = 0;

	if (about_asked(argc, argv, s->usage))
		return 0;
	opterr = 0;
	optind = 0;
	if (getopt(argc, argv, "") != -1 || optind == argc)
		return about_misuse(s->usage);
	for (int i = optind; i < argc && !p->connect_errno; i++) {
		auto_sbuf struct sbuf queue = SBUF(256);
		int one;

		if (!destination_queue(argv[i], &queue)) {
			fprintf(stderr, "%s: illegally formed destination: %s\n", p->command, argv[i]);
			one = 2;
		} else {
			one = queue.n ? switch_one(p, s, queue.p) : switch_all(p, s);
		}
		status = one ? one : status;
	}
	return status;
}

int qstart_main(struct pbs *p, int argc, char **argv)
{
	static const struct queue_switch s = { "usage: qstart queue...\nJobs of these queues may start.\n",
					       "spec.started", true };

	return run(p, &s, argc, argv);
}

int qstop_main(struct pbs *p, int argc, char **argv)
{
	static const struct queue_switch s = {
		"usage: qstop queue...\nNo more jobs of these queues start; those that run go on.\n", "spec.started",
		false
	};

	return run(p, &s, argc, argv);
}

int qenable_main(struct pbs *p, int argc, char **argv)
{
	static const struct queue_switch s = { "usage: qenable queue...\nThese queues take jobs.\n", "spec.enabled",
					       true };

	return run(p, &s, argc, argv);
}

int qdisable_main(struct pbs *p, int argc, char **argv)
{
	static const struct queue_switch s = { "usage: qdisable queue...\nThese queues take no more jobs.\n",
					       "spec.enabled", false };

	return run(p, &s, argc, argv);
}
