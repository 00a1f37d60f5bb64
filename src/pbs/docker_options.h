// SPDX-License-Identifier: Apache-2.0
/* docker_options.h - startdocker -u "...": docker's options as far as a user may have them; pure
 *
 * What is not in the table is refused by name, so that nothing passes that nobody has thought of.
 */
#ifndef STOKER_PBS_DOCKER_OPTIONS_H
#define STOKER_PBS_DOCKER_OPTIONS_H

#include "base/err.h"
#include "base/str.h"
#include "pbs/words.h"

struct docker_texts {
	const char **items;
	size_t n, room;
};

struct docker_options {
	bool in, tty, read_only;
	const char *workdir, *entrypoint, *hostname, *shm_size, *ipc, *network;
	struct docker_texts volumes, env, env_files, tmpfs;
	struct docker_texts ignored; /* as they were written: said, and without effect */
	struct words words;          /* what all of them point into */
};

/* { 0 } before.  ERR_INVALID names the option and says why not. */
int docker_options_parse(struct str text, struct docker_options *ret, struct err *e);
void docker_options_done(struct docker_options *o);

/* -v A:B[:ro]; the two are owned. */
struct docker_volume {
	char *source, *target;
	bool read_only;
};
int docker_volume_parse(const char *text, struct docker_volume *ret, struct err *e);
void docker_volume_done(struct docker_volume *v);
/* --shm-size: 64m, 8G, 8gb, 1024; powers of 1024. */
bool docker_size_parse(const char *text, int64_t *ret);

#endif
