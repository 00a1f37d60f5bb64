// SPDX-License-Identifier: Apache-2.0
/* gang.c - who belongs to which gang, and whether all of one fit */
#include "sched/gang.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define GANG      "stoker.dev/gang"
#define GANG_SIZE "stoker.dev/gang-size"

static void gang_free(void *v)
{
	struct gang *g = v;

	free(g->key);
	free(g->waiting);
	free(g->why);
	free(g);
}

void gangs_init(struct gangs *g)
{
	map_init(&g->by_key, gang_free);
	map_init(&g->by_bound, NULL);
}

void gangs_done(struct gangs *g)
{
	map_done(&g->by_bound);
	map_done(&g->by_key);
}

/* The gang that a pod says it is in, made if it is the first; NULL if there is none, or nothing to wait for. */
static struct gang *gang_of(struct gangs *all, const json_t *pod)
{
	const json_t *notes = jsonx_at(pod, "metadata.annotations");
	const char *name = json_string_value(json_object_get(notes, GANG));
	const char *text = json_string_value(json_object_get(notes, GANG_SIZE));
	auto_free char *key = NULL;
	struct gang *g;
	int64_t size;

	if (!name || !*name || !text || !str_int64(text, 2, LIMIT_GANG, &size))
		return NULL;
	key = xasprintf("%s/%s", jsonx_str_or(pod, "metadata.namespace", ""), name);
	g = map_find(&all->by_key, key);
	if (!g) {
		g = xcalloc(1, sizeof(*g));
		g->key = xstrdup(key);
		map_set(&all->by_key, key, g);
	}
	g->size = (size_t)size;
	g->failed = 0;
	return g;
}

static void drop_if_empty(struct gangs *all, struct gang *g)
{
	auto_free char *key = xstrdup(g->key);

	if (!g->n && !g->bound)
		map_remove(&all->by_key, key);
}

void gangs_wait(struct gangs *all, const json_t *pod, struct waiting *w)
{
	w->gang = gang_of(all, pod);
	if (w->gang)
		ARRAY_PUSH(w->gang->waiting, w->gang->n, w->gang->cap, w);
}

void gangs_leave(struct gangs *all, struct waiting *w)
{
	struct gang *g = w->gang;

	if (!g)
		return;
	for (size_t i = 0; i < g->n; i++)
		if (g->waiting[i] == w) {
			memmove(&g->waiting[i], &g->waiting[i + 1], (--g->n - i) * sizeof(w));
			break;
		}
	w->gang = NULL;
	g->failed = 0;
	drop_if_empty(all, g);
}

void gangs_bound(struct gangs *all, const json_t *pod, const char *uid)
{
	struct gang *g = map_find(&all->by_bound, uid) ? NULL : gang_of(all, pod);

	if (!g)
		return;
	g->bound++;
	map_set(&all->by_bound, uid, g);
}

void gangs_gone(struct gangs *all, const char *uid)
{
	struct gang *g = map_find(&all->by_bound, uid);

	if (!g)
		return;
	map_remove(&all->by_bound, uid);
	g->bound--;
	drop_if_empty(all, g);
}

/* Pods with a node, or that will have one in a moment. */
static size_t count_placed(const struct gang *g)
{
	size_t n = g->bound;

	for (size_t i = 0; i < g->n; i++)
		n += g->waiting[i]->binding || g->waiting[i]->placed;
	return n;
}

static bool has_begun(const struct gang *g)
{
	return count_placed(g) > 0;
}

/* "namespace/name" without the namespace: names have slashes too. */
static const char *name_of(const struct gang *g)
{
	return strchr(g->key, '/') + 1;
}

static void say_why(struct gang *g, char *text)
{
	free(g->why);
	g->why = text;
}

bool gang_place(struct gang *g, struct fit *f)
{
	auto_sbuf struct sbuf why = SBUF(LIMIT_STATUS_TEXT);
	struct fit_want *wants;
	size_t placed;

	if (has_begun(g))
		return true;
	if (g->failed == fit_epoch(f))
		return false;
	g->failed = fit_epoch(f);
	if (g->n < g->size) {
		say_why(g, xasprintf("%zu of the %zu pods of gang %s are there", g->n, g->size, name_of(g)));
		return false;
	}
	wants = xcalloc(g->n, sizeof(*wants));
	for (size_t i = 0; i < g->n; i++)
		wants[i] = (struct fit_want){ .uid = g->waiting[i]->uid, .shape = g->waiting[i]->shape };
	placed = fit_put_all(f, wants, g->n, g->size, &why);
	for (size_t i = 0; placed >= g->size && i < g->n; i++)
		g->waiting[i]->placed = wants[i].placed;
	free(wants);
	if (placed < g->size)
		say_why(g, xasprintf("%s %zu of the %zu pods of gang %s would find room", why.p ? why.p : "", placed,
				     g->size, name_of(g)));
	return placed >= g->size;
}

/* Its missing pods, as far as there is room. */
static void complete(struct gang *g, struct fit *f)
{
	size_t have = count_placed(g);

	if (!have || g->failed == fit_epoch(f))
		return;
	for (size_t i = 0; i < g->n && have < g->size; i++) {
		struct waiting *w = g->waiting[i];
		const char *node = w->binding || w->placed || fit_failed(f, w->shape) ? NULL : fit_find(f, w->shape);

		if (!node)
			continue;
		fit_put_pod(f, w->uid, w->shape, node);
		w->placed = true;
		have++;
	}
	g->failed = fit_epoch(f);
}

void gangs_complete(struct gangs *all, struct fit *f)
{
	size_t pos = 0;
	void *g;

	while (map_next(&all->by_key, &pos, NULL, &g))
		complete(g, f);
}

const char *gang_why(const struct gang *g)
{
	return has_begun(g) || !g->failed ? NULL : g->why;
}
