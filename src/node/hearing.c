// SPDX-License-Identifier: Apache-2.0
/* hearing.c - from /proc to those who listen */
#include "node/hearing.h"

#include <stdio.h>
#include <string.h>

#define DEPTH_MOST 64 /* of parents */

/* What stands behind "Key:" at the start of a line, or NULL. */
static const char *after(const char *status, const char *key)
{
	size_t n = strlen(key);

	for (const char *line = status; line; line = strchr(line, '\n'), line = line ? line + 1 : NULL)
		if (strncmp(line, key, n) == 0)
			return line + n;
	return NULL;
}

/* "NSpid: 812 40 1": its number in each namespace, its own last. */
static bool is_first(const char *numbers)
{
	size_t n = strcspn(numbers, "\n");

	return n >= 2 && numbers[n - 1] == '1' && (numbers[n - 2] == '\t' || numbers[n - 2] == ' ');
}

bool listener_parse(const char *status, int signo, struct listener *ret)
{
	const char *state = after(status, "State:");
	const char *pid = after(status, "Pid:");
	const char *parent = after(status, "PPid:");
	const char *numbers = after(status, "NSpid:");
	const char *blocked = after(status, "SigBlk:");
	const char *caught = after(status, "SigCgt:");
	unsigned long long blocks;
	unsigned long long catches;
	char letter;

	*ret = (struct listener){ 0 };
	if (!state || !pid || !parent || !numbers || !blocked || !caught || sscanf(state, " %c", &letter) != 1 ||
	    sscanf(pid, "%d", &ret->pid) != 1 || sscanf(parent, "%d", &ret->parent) != 1 ||
	    sscanf(blocked, "%llx", &blocks) != 1 || sscanf(caught, "%llx", &catches) != 1)
		return false;
	ret->first = is_first(numbers);
	/* One that is blocked is fetched by sigwait or signalfd: so do the small inits that people put in images. */
	ret->hears = ((blocks | catches) >> (signo - 1)) & 1;
	return letter != 'Z' && letter != 'X';
}

static const struct listener *find(const struct listener *all, size_t n, pid_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (all[i].pid == pid)
			return &all[i];
	return NULL;
}

/* Whether it came from the container's first process, and nobody in between hears. */
static bool is_topmost(const struct listener *all, size_t n, const struct listener *l, const struct listener *root)
{
	const struct listener *up = find(all, n, l->parent);

	for (int i = 0; up && i < DEPTH_MOST; i++, up = find(all, n, up->parent)) {
		if (up == root)
			return true;
		if (up->hears)
			return false;
	}
	return false;
}

bool hearing_pick(const struct listener *all, size_t n, pid_t *ret, size_t *ret_n)
{
	const struct listener *root = NULL;

	*ret_n = 0;
	for (size_t i = 0; i < n && !root; i++)
		if (all[i].first && !find(all, n, all[i].parent))
			root = &all[i];
	if (!root || root->hears)
		return false;
	for (size_t i = 0; i < n; i++)
		if (all[i].hears && is_topmost(all, n, &all[i], root))
			ret[(*ret_n)++] = all[i].pid;
	return true;
}
