// SPDX-License-Identifier: Apache-2.0
/* dsh_plan.c - see dsh_plan.h
 *
 * Slots are numbered node by node, as the lines of the node file are.  A program whose name has a blank is the
 * beginning of a line for a shell: so MPIs call what they take for ssh.
 */
#include "pbs/dsh_plan.h"

#include <stdlib.h>
#include <strings.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_nodes.h"

#define FIRST_TASK 2 /* 1 is the script */

/* ---- where ---- */

static bool same_host(const char *a, const char *b)
{
	size_t n = strcspn(a, ".");

	return n == strcspn(b, ".") && strncasecmp(a, b, n) == 0;
}

static bool is_asked(const struct dsh_ask *ask, const struct dsh_task *t, const char *host, size_t have)
{
	if (ask->slot >= 0)
		return t->slot == ask->slot;
	if (ask->host)
		return have == 0 && same_host(host, ask->host);
	return !ask->copies || (int64_t)have < ask->copies;
}

static bool seen_host(const json_t *pods, size_t before, const char *host)
{
	for (size_t i = 0; i < before; i++)
		if (same_host(jsonx_str_or(json_array_get(pods, i), "spec.nodeName", ""), host))
			return true;
	return false;
}

static int ppn_of(const struct pbs_nodes *nodes, int rank)
{
	for (size_t i = 0; i < nodes->n; i++) {
		if (rank < nodes->reqs[i].count)
			return nodes->reqs[i].ppn > 0 ? nodes->reqs[i].ppn : 1;
		rank -= nodes->reqs[i].count;
	}
	return 1;
}

static int nothing(const struct dsh_ask *ask, struct err *e)
{
	if (ask->host)
		return err_set(e, ERR_INVALID, "host %s is not one of this job's", ask->host);
	return err_set(e, ERR_INVALID, "node number %lld is not one of this job's", (long long)ask->slot);
}

int dsh_plan(const struct dsh_ask *ask, const json_t *job, const json_t *pods, struct dsh_task **ret, size_t *ret_n,
	     struct err *e)
{
	struct dsh_task *tasks = NULL;
	struct pbs_nodes nodes = { 0 };
	size_t n = 0;
	int slot = 0;

	if (pbs_nodes_of(jsonx_at(job, "spec.resources"), &nodes, e) < 0)
		return -1;
	for (size_t rank = 0; rank < json_array_size(pods); rank++) {
		const json_t *pod = json_array_get(pods, rank);
		const char *host = jsonx_str_or(pod, "spec.nodeName", "");
		int ppn = ppn_of(&nodes, (int)rank);
		bool skip = ask->each_host && seen_host(pods, rank, host);

		for (int i = 0; i < ppn; i++, slot++) {
			struct dsh_task t = { jsonx_str_or(pod, "metadata.name", ""), (int)rank, slot };

			if (skip || (ask->each_host && i) || !is_asked(ask, &t, host, n))
				continue;
			tasks = xreallocarray(tasks, n + 1, sizeof(*tasks));
			tasks[n++] = t;
		}
	}
	pbs_nodes_done(&nodes);
	if (!n)
		return nothing(ask, e);
	*ret = tasks;
	*ret_n = n;
	return 0;
}

/* ---- what ---- */

struct texts {
	char **items;
	size_t n;
};

static void add(struct texts *t, char *text)
{
	t->items = xreallocarray(t->items, t->n + 2, sizeof(*t->items));
	t->items[t->n++] = text;
	t->items[t->n] = NULL;
}

static const char *variable(char *const *env, const char *name)
{
	size_t n = strlen(name);

	for (; env && *env; env++)
		if (strncmp(*env, name, n) == 0 && (*env)[n] == '=')
			return *env + n + 1;
	return NULL;
}

/* What the node says of a job's processes is not passed on: it is another's there. */
static bool is_the_nodes(const char *variable_text)
{
	static const char *const names[] = { "PBS_NODENUM=", "PBS_VNODENUM=", "PBS_TASKNUM=", "CUDA_VISIBLE_DEVICES=",
					     "_=" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		if (str_starts(variable_text, names[i]))
			return true;
	return false;
}

static void add_variables(const struct dsh_ask *ask, struct texts *t)
{
	struct str rest = str_of(ask->env ? ask->env : ""), one;

	for (char *const *v = ask->all_env ? ask->environ : NULL; v && *v; v++)
		if (strchr(*v, '=') > *v && !is_the_nodes(*v))
			add(t, xstrdup(*v));
	while (rest.n && str_split(&rest, ',', &one)) {
		auto_free char *text = xstrndup(one.p, one.n);
		const char *value = strchr(text, '=') ? NULL : variable(ask->environ, text);

		if (strchr(text, '=') > text)
			add(t, xstrdup(text));
		else if (value)
			add(t, xasprintf("%s=%s", text, value));
	}
}

static char *joined(char *const *words)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_BODY);

	for (size_t i = 0; words[i]; i++)
		sbuf_addf(&out, "%s%s", i ? " " : "", words[i]);
	return sbuf_steal(&out);
}

char **dsh_command(const struct dsh_ask *ask, const struct dsh_task *task)
{
	struct texts t = { 0 };
	bool line = ask->program[0] && strpbrk(ask->program[0], " \t;&|");

	add(&t, xstrdup("/usr/bin/env"));
	add_variables(ask, &t);
	add(&t, xasprintf("PBS_NODENUM=%d", task->rank));
	add(&t, xasprintf("PBS_VNODENUM=%d", task->slot));
	add(&t, xasprintf("PBS_TASKNUM=%d", task->slot + FIRST_TASK));
	if (line) {
		add(&t, xstrdup("/bin/sh"));
		add(&t, xstrdup("-c"));
		add(&t, joined(ask->program));
	}
	for (char *const *p = ask->program; *p && !line; p++)
		add(&t, xstrdup(*p));
	return t.items;
}

void dsh_command_free(char **command)
{
	for (char **p = command; p && *p; p++)
		free(*p);
	free(command);
}
