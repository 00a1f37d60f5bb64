// SPDX-License-Identifier: Apache-2.0
/* settings.c - the table of options, and what depends on more than one of them */
#include "psgd/settings.h"

#include <errno.h>
#include <math.h>

#include "base/mem.h"
#include "base/opt.h"
#include "psgd/share.h"

#define AT(member) offsetof(struct settings, member)

static const struct opt rows[] = {
	{ "mode", 'm', OPT_CHOICE, AT(mode_text), "MODE", "sync, async, ssp, easgd or eamsgd (sync)",
	  .choices = MODE_CHOICES },
	{ "model", 0, OPT_CHOICE, AT(model_text), "MODEL", "mlp or softmax (mlp)", .choices = "mlp|softmax" },
	{ "hidden", 0, OPT_STRING, AT(hidden), "LIST", "widths of the perceptron's hidden layers (128)" },
	{ "data", 'd', OPT_STRING, AT(data), "DIR", "IDX files (/usr/share/datasets/fashion-mnist)" },
	{ "limit", 0, OPT_INT, AT(limit), "N", "use only the first N training samples", .max = 1 << 30 },
	{ "epochs", 'e', OPT_INT, AT(epochs), "N", "passes over the training data, all trainers together (10)", 1,
	  1000000 },
	{ "batch", 'b', OPT_INT, AT(batch), "N", "samples of one step of one trainer (32)", 1, 65536 },
	{ "rate", 'r', OPT_STRING, AT(rate_text), "X", "learning rate (0.1)" },
	{ "decay", 0, OPT_STRING, AT(decay_text), "X", "the rate is multiplied by this after each epoch (0.9)" },
	{ "backup", 0, OPT_INT, AT(backup), "N", "sync: do not wait for the N slowest trainers (0)", 0,
	  WIRE_MAX_RANKS },
	{ "staleness", 0, OPT_INT, AT(staleness), "N", "ssp: steps ahead of the slowest trainer (4)", 0, 1000000 },
	{ "tau", 0, OPT_INT, AT(tau), "N", "easgd, eamsgd: steps between exchanges (10)", 1, 1000000 },
	{ "alpha", 0, OPT_STRING, AT(alpha_text), "X", "easgd, eamsgd: pull per exchange (0.9 / trainers)" },
	{ "rho", 0, OPT_STRING, AT(rho_text), "X", "instead of --alpha, which is then rate * rho" },
	{ "momentum", 0, OPT_STRING, AT(momentum_text), "X", "eamsgd: Nesterov momentum (0.9)" },
	{ "seed", 0, OPT_INT, AT(seed), "N", "of random numbers (1)", 0, INT32_MAX },
	{ "threads", 0, OPT_INT, AT(threads), "N", "OpenBLAS threads of a process (1)", 1, 1024 },
	{ "checkpoint", 'c', OPT_STRING, AT(checkpoint), "DIR", "save there, and go on from what is there" },
	{ "save-every", 0, OPT_DURATION, AT(save_every), "TIME", "between a server's own checkpoints (10s)" },
	{ "servers", 0, OPT_INT, AT(servers), "N", "on this machine: start N parameter servers (1)", 1,
	  WIRE_MAX_SERVERS },
	{ "workers", 'w', OPT_INT, AT(workers), "N", "number of workers (1)", 1, WIRE_MAX_RANKS },
	{ "task", 0, OPT_STRING, AT(task), "TASK", "without TF_CONFIG: chief, evaluator, worker:N or ps:N" },
	{ "ps", 0, OPT_STRING, AT(ps), "LIST", "with --task: host:port of every parameter server" },
	{ "chief", 0, OPT_FLAG, AT(chief), NULL, "with --task: there is a chief besides the workers" },
	{ "shm", 0, OPT_STRING, AT(shm), "DIR", "share memory with tasks that see DIR too ($PSGD_SHM)" },
	{ "eval-every", 0, OPT_DURATION, AT(eval_every), "TIME", "between an evaluator's looks (2s)" },
	{ "patience", 0, OPT_DURATION, AT(patience), "TIME", "a server waits so long for an absent trainer (30s)" },
	{ "give-up", 0, OPT_DURATION, AT(give_up), "TIME", "a trainer tries so long to reach a server (60s)" },
	{ "idle", 0, OPT_DURATION, AT(idle), "TIME", "a server without any trainer ends after this (5m)" },
	{ "quiet", 'q', OPT_FLAG, AT(quiet), NULL, "only results and warnings" },
	{ "version", 0, OPT_FLAG, AT(version), NULL, "print the version" },
	{ "help", 'h', OPT_FLAG, AT(help), NULL, "print this" },
	OPT_END,
};

static int real(const char *option, const char *text, double min, double max, double *ret, struct err *e)
{
	char *end = NULL;
	double v = strtod(text, &end);

	if (end == text || *end || !isfinite(v) || v < min || v > max)
		return err_set(e, ERR_BAD_REQUEST, "--%s: \"%s\" is not a number from %g to %g", option, text, min,
			       max);
	*ret = v;
	return 0;
}

/* Options that mean nothing in this mode are mistakes. */
static int check_mode(const struct settings *s, struct err *e)
{
	const struct {
		const char *option, *where;
		bool wrong;
	} table[] = {
		{ "backup", "sync", s->backup > 0 && s->mode != MODE_SYNC },
		{ "staleness", "ssp", s->staleness >= 0 && s->mode != MODE_SSP },
		{ "tau", "easgd and eamsgd", s->tau > 0 && !mode_is_elastic(s->mode) },
		{ "alpha", "easgd and eamsgd", s->alpha_text && !mode_is_elastic(s->mode) },
		{ "rho", "easgd and eamsgd", s->rho_text && !mode_is_elastic(s->mode) },
		{ "momentum", "eamsgd", s->momentum_text && s->mode != MODE_EAMSGD },
	};

	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (table[i].wrong)
			return err_set(e, ERR_BAD_REQUEST, "--%s is for --mode %s, not %s", table[i].option,
				       table[i].where, mode_name(s->mode));
	if (s->alpha_text && s->rho_text)
		return err_set(e, ERR_BAD_REQUEST, "--alpha and --rho say the same; give one of them");
	return 0;
}

static int interpret(struct settings *s, struct err *e)
{
	double rate = 0, decay = 0, momentum = 0;

	s->mode = mode_of(s->mode_text);
	if (check_mode(s, e) < 0)
		return -1;
	if (real("rate", s->rate_text, 0, 1000, &rate, e) < 0 || real("decay", s->decay_text, 0, 1, &decay, e) < 0 ||
	    real("momentum", s->momentum_text ? s->momentum_text : "0.9", 0, 0.9999, &momentum, e) < 0)
		return -1;
	if ((s->alpha_text && real("alpha", s->alpha_text, 0, 1, &s->alpha, e) < 0) ||
	    (s->rho_text && real("rho", s->rho_text, 0, 1e6, &s->rho, e) < 0))
		return -1;
	if (s->rho >= 0 && s->rho * rate > 1)
		return err_set(e, ERR_BAD_REQUEST, "--rho: rate * rho is %g; more than 1 would overshoot",
			       s->rho * rate);
	s->rate = (float)rate;
	s->decay = (float)decay;
	s->momentum = (float)momentum;
	s->tau = s->tau > 0 ? s->tau : 10;
	s->staleness = s->staleness >= 0 ? s->staleness : 4;
	if (streq(s->model_text, "softmax"))
		s->hidden = "";
	return 0;
}

int settings_read(struct settings *s, int argc, char **argv, struct err *e)
{
	char **rest;
	int nrest;

	*s = (struct settings){ .data = "/usr/share/datasets/fashion-mnist",
				.mode_text = "sync",
				.model_text = "mlp",
				.hidden = "128",
				.rate_text = "0.1",
				.decay_text = "0.9",
				.epochs = 10,
				.batch = 32,
				.staleness = -1,
				.seed = 1,
				.servers = 1,
				.threads = 1,
				.eval_every = 2,
				.patience = 30,
				.give_up = 60,
				.idle = 300,
				.save_every = 10,
				.shm = getenv("PSGD_SHM"),
				.alpha = -1,
				.rho = -1 };
	if (opt_parse(rows, s, argc, argv, false, &rest, &nrest, e) < 0)
		return -1;
	if (nrest > 0)
		return err_set(e, ERR_BAD_REQUEST, "\"%s\": psgd takes options only", rest[0]);
	if (s->shm && !s->shm[0])
		s->shm = NULL;
	if (s->shm && strlen(s->shm) > SHARE_MAX_DIR)
		return err_set(e, ERR_BAD_REQUEST, "--shm: %s: longer than %d bytes", s->shm, SHARE_MAX_DIR);
	return interpret(s, e);
}

float settings_alpha(const struct settings *s, size_t ranks)
{
	if (!mode_is_elastic(s->mode))
		return 0;
	if (s->alpha >= 0)
		return (float)s->alpha;
	if (s->rho >= 0)
		return (float)(s->rho * (double)s->rate);
	return 0.9f / (float)ranks;
}

void settings_help(struct sbuf *out)
{
	sbuf_adds(out, "psgd: train a model on parameter servers\n\n"
		       "Usage: psgd [options]                     servers and workers on this machine\n"
		       "       TF_CONFIG=... psgd [options]       one task of a TFJob\n"
		       "       psgd --task TASK --ps LIST ...     one task, by options\n\nOptions:\n");
	opt_help(rows, out);
}
