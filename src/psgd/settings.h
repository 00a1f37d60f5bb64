// SPDX-License-Identifier: Apache-2.0
/* settings.h - psgd's options */
#ifndef STOKER_PSGD_SETTINGS_H
#define STOKER_PSGD_SETTINGS_H

#include "base/str.h"
#include "psgd/wire.h"

struct settings {
	/* as typed */
	const char *data, *mode_text, *model_text, *hidden, *checkpoint, *task, *ps, *shm;
	const char *rate_text, *decay_text, *alpha_text, *rho_text, *momentum_text;
	int64_t epochs, batch, tau, backup, staleness, seed, limit, servers, workers, threads, eval_every;
	int64_t patience, give_up, idle, save_every;
	bool chief, help, version, quiet;
	/* as meant */
	enum mode mode;
	float rate, decay, momentum;
	double alpha, rho; /* -1: not given */
};

/* Defaults, then argv.  Errors name the option. */
int settings_read(struct settings *s, int argc, char **argv, struct err *e);
/* Alpha for so many trainers: given, from rho, or such that all of them together pull with 0.9. */
float settings_alpha(const struct settings *s, size_t ranks);
void settings_help(struct sbuf *out);

#endif
