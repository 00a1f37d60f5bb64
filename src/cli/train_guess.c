// SPDX-License-Identifier: Apache-2.0
/* train_guess.c - see train_guess.h */
#include "cli/train_guess.h"

#include <ctype.h>

#include "base/mem.h"

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

bool train_is_mpirun(const char *word)
{
	const char *base = base_name(word);

	return streq(base, "mpirun") || streq(base, "mpiexec") || streq(base, "orterun");
}

static const char *guess_by_program(const char *word)
{
	static const struct {
		const char *program, *framework;
	} rows[] = {
		{ "torchrun", "pytorch" },
		{ "accelerate", "pytorch" },
		{ "deepspeed", "pytorch" },
		{ "psgd", "tensorflow" },
	};

	if (train_is_mpirun(word))
		return "mpi";
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (streq(base_name(word), rows[i].program))
			return rows[i].framework;
	return NULL;
}

static const char *guess_by_module(struct str module)
{
	static const struct {
		const char *module, *framework;
	} rows[] = {
		{ "torch", "pytorch" },     { "pytorch_lightning", "pytorch" },
		{ "lightning", "pytorch" }, { "tensorflow", "tensorflow" },
		{ "keras", "tensorflow" },  { "paddle", "paddle" },
		{ "mpi4py", "mpi" },        { "horovod", "mpi" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (str_eq(module, rows[i].module))
			return rows[i].framework;
	return NULL;
}

/* "torch" of "torch.distributed.run", of "torch, sys" and of "torch as t". */
static struct str first_name(const char *text, size_t max)
{
	size_t n = 0;

	while (n < max && (isalnum((unsigned char)text[n]) || text[n] == '_'))
		n++;
	return (struct str){ text, n };
}

/* The first line of a script that imports one of them. */
static const char *guess_by_imports(struct str text)
{
	static const char *const words[] = { "import ", "from " };
	const char *found = NULL;
	struct str line;

	while (!found && text.n && str_split(&text, '\n', &line)) {
		struct str s = str_trim(line);

		for (size_t i = 0; !found && i < ARRAY_SIZE(words); i++) {
			size_t n = strlen(words[i]);

			if (s.n > n && strncmp(s.p, words[i], n) == 0)
				found = guess_by_module(first_name(s.p + n, s.n - n));
		}
	}
	return found;
}

static const char *guess_by_options(const struct train_options *o)
{
	if (o->nproc || o->elastic)
		return "pytorch";
	if (o->slots >= 0)
		return "mpi";
	return o->ps >= 0 || o->chief || o->no_chief || o->evaluator ? "tensorflow" : NULL;
}

const char *train_guess(const struct run_options *run, const struct train_options *o)
{
	auto_sbuf struct sbuf text = SBUF(1024 * 1024);
	const char *script = run_pod_script(run->command, run->ncommand);
	const char *path = script ? script : run->command[0];
	const char *guess = guess_by_program(run->command[0]);

	if (!guess && script)
		guess = guess_by_module(first_name(script, strlen(script)));
	if (!guess)
		guess = guess_by_options(o);
	if (!guess && o->read && o->read(path, &text))
		guess = guess_by_imports(sbuf_str(&text));
	return guess;
}
