// SPDX-License-Identifier: Apache-2.0
/* main.c - psgd: a trainer with parameter servers
 *
 * Finds out which task of which cluster this process is and runs it.  A signal ends it with 128 and its number, after a
 * server has saved its slice.
 */
#include <stdio.h>

#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "psgd/cluster.h"
#include "psgd/local.h"
#include "psgd/net.h"
#include "psgd/settings.h"
#include "psgd/trainer.h"

/* 1: this process is one task; 0: all of them. */
static int find_cluster(const struct settings *s, struct cluster *ret, struct err *e)
{
	const char *config = getenv("TF_CONFIG");
	size_t workers = (size_t)s->workers;

	if (!s->task && s->ps)
		return err_set(e, ERR_BAD_REQUEST, "--ps needs --task: which one is this?");
	if (s->task) {
		if (cluster_from_options(s->task, s->ps, workers || s->chief ? workers : 1, s->chief, ret, e) < 0)
			return -1;
	} else if (config && config[0]) {
		if (cluster_from_tf_config(config, ret, e) < 0)
			return -1;
		if (!ret->workers)
			ret->workers = workers;
	} else {
		return 0;
	}
	return cluster_check(ret, e) < 0 ? -1 : 1;
}

static int run_task(const struct settings *s, const struct cluster *c, const sigset_t *waiting, struct err *e)
{
	int listener;

	if (c->role == ROLE_EVALUATOR)
		return evaluator_run(s, c, waiting, e);
	if (c->role != ROLE_PS)
		return trainer_run(s, c, waiting, e);
	if (net_listen(c->servers[c->index], &listener, e) < 0)
		return -1;
	return local_serve(s, listener, (uint32_t)c->index, (uint32_t)c->nservers, waiting, e);
}

int main(int argc, char **argv)
{
	auto_sbuf struct sbuf help = SBUF(1u << 16);
	struct settings s;
	struct cluster c = { 0 };
	struct err e = ERR_INIT;
	sigset_t waiting;
	int r, status;

	if (settings_read(&s, argc, argv, &e) < 0) {
		fprintf(stderr, "psgd: %s\nTry 'psgd --help'.\n", e.text);
		return 2;
	}
	if (s.help || s.version) {
		settings_help(&help);
		fputs(s.help ? help.p : "psgd " STOKER_VERSION "\n", stdout);
		return 0;
	}
	if (s.quiet)
		log_set_level(LOG_WARN);
	r = find_cluster(&s, &c, &e);
	stop_prepare(&waiting);
	if (r >= 0 && s.checkpoint && file_make_dirs(s.checkpoint, 0755, &e) < 0)
		r = -1;
	if (r == 0)
		status = local_run(&s, &waiting);
	else
		status = r < 0 || run_task(&s, &c, &waiting, &e) < 0;
	if (status && e.kind != ERR_NONE && !stop_signal())
		fprintf(stderr, "psgd: %s\n", e.text);
	cluster_done(&c);
	return stop_signal() ? 128 + stop_signal() : status;
}
