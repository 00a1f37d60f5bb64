// SPDX-License-Identifier: Apache-2.0
/* processes.c - see processes.h */
#include "pbs/processes.h"

#include <dirent.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

enum { TEXT_MAX = 4096, NAME_MAX_ = 64, ROWS_MAX = 50 };

/* The name is in parentheses and may itself have any; what follows the last one is fields. */
bool process_parse(const char *stat, const char *statm, int64_t page_kb, struct process *ret)
{
	enum { UTIME = 11, STIME = 12 }; /* counted from the state on */
	const char *open = strchr(stat, '(');
	const char *close = strrchr(stat, ')');
	struct process p = { .pid = (int)strtol(stat, NULL, 10) };
	const char *at;

	if (!open || !close || close < open || p.pid <= 0)
		return false;
	snprintf(p.name, sizeof(p.name), "%.*s", (int)(close - open - 1), open + 1);
	at = close + 1;
	for (int i = 0; i <= STIME; i++) {
		at += strspn(at, " ");
		if (i >= UTIME)
			p.ticks += strtoull(at, NULL, 10);
		at += strcspn(at, " ");
	}
	at = strchr(statm, ' ');
	p.rss_kb = at ? strtoll(at, NULL, 10) * page_kb : 0;
	*ret = p;
	return true;
}

static bool read_one(const char *pid, struct process *ret)
{
	auto_sbuf struct sbuf stat_ = SBUF(TEXT_MAX);
	auto_sbuf struct sbuf statm = SBUF(TEXT_MAX);
	struct err e = ERR_INIT;
	char path[NAME_MAX_];
	struct stat st;

	snprintf(path, sizeof(path), "/proc/%.20s/stat", pid);
	if (stat(path, &st) < 0 || file_read(path, TEXT_MAX, &stat_, &e) < 0)
		return false;
	snprintf(path, sizeof(path), "/proc/%.20s/statm", pid);
	if (file_read(path, TEXT_MAX, &statm, &e) < 0 || !stat_.n ||
	    !process_parse(stat_.p, statm.n ? statm.p : "", sysconf(_SC_PAGESIZE) / 1024, ret))
		return false;
	ret->uid = st.st_uid;
	return true;
}

void processes_read(struct processes *ret)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;
	struct process p;

	while (dir && (d = readdir(dir)))
		if (strspn(d->d_name, "0123456789") == strlen(d->d_name) && read_one(d->d_name, &p))
			ARRAY_PUSH(ret->items, ret->n, ret->cap, p);
	if (dir)
		closedir(dir);
}

void processes_done(struct processes *p)
{
	free(p->items);
	*p = (struct processes){ 0 };
}

const struct process *processes_find(const struct processes *p, int pid)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i].pid == pid)
			return &p->items[i];
	return NULL;
}

/* ---- the table ---- */

struct share {
	unsigned uid;
	const struct process *process; /* of one; NULL: of a user */
	int count;
	double cpu; /* percent of one processor */
	int64_t rss_kb;
};

static int by_use(const void *a, const void *b)
{
	const struct share *x = a;
	const struct share *y = b;

	if (x->cpu != y->cpu)
		return x->cpu < y->cpu ? 1 : -1;
	return x->rss_kb < y->rss_kb ? 1 : x->rss_kb > y->rss_kb ? -1 : 0;
}

static void user_name(unsigned uid, char out[NAME_MAX_])
{
	struct passwd *pw = getpwuid(uid);

	if (pw)
		snprintf(out, NAME_MAX_, "%s", pw->pw_name);
	else
		snprintf(out, NAME_MAX_, "%u", uid);
}

static double percent(const struct processes *before, const struct process *p, double seconds)
{
	const struct process *old = processes_find(before, p->pid);
	uint64_t ticks = old && old->ticks <= p->ticks ? p->ticks - old->ticks : 0;

	return seconds > 0 ? 100.0 * (double)ticks / (double)sysconf(_SC_CLK_TCK) / seconds : 0;
}

static void add_share(struct share **shares, size_t *n, size_t *cap, const struct process *p, double cpu, bool alone)
{
	size_t i = alone ? *n : 0;

	while (i < *n && (*shares)[i].uid != p->uid)
		i++;
	if (i == *n)
		ARRAY_PUSH(*shares, *n, *cap, ((struct share){ .uid = p->uid, .process = alone ? p : NULL }));
	(*shares)[i].count++;
	(*shares)[i].cpu += cpu;
	(*shares)[i].rss_kb += p->rss_kb;
}

void processes_table(const struct processes *before, const struct processes *after, double seconds, const char *user,
		     struct sbuf *out)
{
	struct share *shares = NULL;
	size_t n = 0;
	size_t cap = 0;
	char name[NAME_MAX_];

	for (size_t i = 0; i < after->n; i++) {
		user_name(after->items[i].uid, name);
		if (!user || streq(user, name))
			add_share(&shares, &n, &cap, &after->items[i], percent(before, &after->items[i], seconds),
				  user != NULL);
	}
	if (n)
		qsort(shares, n, sizeof(*shares), by_use);
	sbuf_addf(out, "%-14s %5s %6s %9s%s\n", "USER", user ? "PID" : "PROCS", "%CPU", "MEM(MB)",
		  user ? "  COMMAND" : "");
	for (size_t i = 0; i < n && i < ROWS_MAX; i++) {
		user_name(shares[i].uid, name);
		sbuf_addf(out, "%-14s %5d %6.1f %9lld", name, user ? shares[i].process->pid : shares[i].count,
			  shares[i].cpu, (long long)(shares[i].rss_kb / 1024));
		sbuf_addf(out, "%s%s\n", user ? "  " : "", user ? shares[i].process->name : "");
	}
	free(shares);
}
