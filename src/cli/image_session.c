// SPDX-License-Identifier: Apache-2.0
/* image_session.c - opening a store for one command, and waiting for its work */
#include "cli/image_session.h"

#include <signal.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "client/client.h"
#include "node/rootless.h"

#define INTERRUPTED 130 /* as a shell reports it */

int image_session_open(const char *data, bool quiet, struct image_session *ret, struct err *e)
{
	auto_sbuf struct sbuf dir = SBUF(4096);
	struct images_config config = { .dir = data, .prefix = "", .patient = true };
	struct stat st;

	*ret = (struct image_session){ .quiet = quiet, .err = ERR_INIT };
	if (!config.dir) {
		default_data_dir(&dir);
		config.dir = dir.p;
	}
	/* A mistyped directory must not become a new, empty store. */
	if (stat(config.dir, &st) < 0)
		return err_errno(e, ERR_NOT_FOUND, "%s (give the server's data directory with --data)", config.dir);
	/* Layers of an ordinary user's store belong to ids that exist only in its user namespace.  Without one there
	 * are none such. */
	if (geteuid() != 0 && rootless_enter(config.dir, false, e) < 0)
		err_clear(e);
	ret->loop = loop_new();
	if (images_open(ret->loop, &config, &ret->images, e) < 0) {
		loop_free(ret->loop);
		return -1;
	}
	return 0;
}

void image_session_close(struct image_session *s)
{
	images_settle(s->images);
	images_free(s->images);
	loop_free(s->loop);
	free(s->id);
	free(s->name);
}

void image_session_progress(void *arg, const char *line)
{
	const struct image_session *s = arg;

	if (!s->quiet)
		fprintf(stderr, "%s\n", line);
}

void image_session_done(void *arg, const struct image_info *info, const struct err *e)
{
	struct image_session *s = arg;

	s->done = true;
	s->err = *e;
	if (!info)
		return;
	s->id = xstrdup(info->id);
	s->name = xstrdup(info->name);
}

static void on_interrupt(void *arg, int signo)
{
	struct image_session *s = arg;

	(void)signo;
	s->interrupted = true;
}

int image_session_wait(const struct command *cmd, struct image_session *s)
{
	struct err e = ERR_INIT;
	int status = 0;

	(void)!loop_on_signal(s->loop, SIGINT, on_interrupt, s, &e);
	(void)!loop_on_signal(s->loop, SIGTERM, on_interrupt, s, &e);
	while (!s->done && !s->interrupted)
		loop_turn(s->loop, false);
	if (s->interrupted) {
		images_cancel(s->images);
		fprintf(stderr, "stoker %s: interrupted\n", cmd->name);
		status = INTERRUPTED;
	} else if (s->err.kind != ERR_NONE) {
		status = command_fail(cmd, &s->err);
	} else {
		printf("%s %s\n", s->id, s->name && *s->name ? s->name : "-");
	}
	image_session_close(s);
	return status;
}
