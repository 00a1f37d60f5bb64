// SPDX-License-Identifier: Apache-2.0
/* budgets.c - see budgets.h
 *
 * How many evictions a budget allows now is its status's word; the API counts each of them as it happens.
 */
#include "sched/budgets.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/budget.h"
#include "kinds/selector.h"

struct budget {
	char *ns;
	struct selector *selector; /* NULL: of nobody */
	json_t *obj;
	int64_t allowed;
	int64_t asked; /* in the question that is being answered */
};

struct budgets {
	const struct feed *feed;
	const struct informer *pods;
	struct informer *informer;
	struct map all; /* ns/name -> struct budget */
	void (*more)(void *arg);
	void *arg;
};

static void budget_free(void *v)
{
	struct budget *b = v;

	selector_free(b->selector);
	json_decref(b->obj);
	free(b->ns);
	free(b);
}

static void on_budget(void *arg, const json_t *obj, const json_t *old)
{
	struct budgets *bs = arg;
	const json_t *any = obj ? obj : old;
	const char *ns = jsonx_str_or(any, "metadata.namespace", "");
	auto_free char *key = xasprintf("%s/%s", ns, jsonx_str_or(any, "metadata.name", ""));
	struct err e = ERR_INIT;
	struct budget *b;

	if (!obj) {
		map_remove(&bs->all, key);
		bs->more(bs->arg);
		return;
	}
	b = xcalloc(1, sizeof(*b));
	*b = (struct budget){ .ns = xstrdup(ns),
			      .obj = json_incref((json_t *)obj),
			      .allowed = jsonx_int_or(obj, "status.disruptionsAllowed", 0) };
	selector_from_json(jsonx_at(obj, "spec.selector"), &b->selector, &e);
	map_set(&bs->all, key, b);
	if (b->allowed > jsonx_int_or(old, "status.disruptionsAllowed", 0))
		bs->more(bs->arg);
}

/* False if it is too much for its budget, or it has two: then the API lets it go by neither. */
static bool ask_for_pod(struct budgets *bs, const struct feed_pod *p)
{
	const json_t *pod = informer_find(bs->pods, p->ns, p->name);
	int found = 0;
	size_t pos = 0;
	void *v;

	if (!pod || !budget_is_needed(pod))
		return true;
	while (map_next(&bs->all, &pos, NULL, &v)) {
		struct budget *b = v;

		if (!streq(b->ns, p->ns) || !b->selector ||
		    !selector_match_labels(b->selector, jsonx_at(pod, "metadata.labels")))
			continue;
		if (++found > 1 || (budget_counts(b->obj, pod) && ++b->asked > b->allowed))
			return false;
	}
	return true;
}

bool budgets_allow(void *arg, struct work *const *works, size_t n)
{
	struct budgets *bs = arg;
	size_t pos = 0;
	void *v;

	if (!bs->all.n)
		return true;
	while (map_next(&bs->all, &pos, NULL, &v))
		((struct budget *)v)->asked = 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < works[i]->n; k++) {
			const struct feed_pod *p = feed_find(bs->feed, works[i]->members[k].id);

			if (p && !ask_for_pod(bs, p))
				return false;
		}
	return true;
}

struct budgets *budgets_new(struct client *c, const struct feed *feed, const struct informer *pods,
			    void (*more)(void *arg), void *arg)
{
	struct budgets *bs = xcalloc(1, sizeof(*bs));
	struct informer_handlers h = { .change = on_budget, .arg = bs };

	bs->feed = feed;
	bs->pods = pods;
	bs->more = more;
	bs->arg = arg;
	map_init(&bs->all, budget_free);
	bs->informer = informer_new(c, &(struct ref){ .api_version = "policy/v1", .plural = "poddisruptionbudgets" },
				    NULL, &h);
	return bs;
}

void budgets_free(struct budgets *bs)
{
	if (!bs)
		return;
	informer_free(bs->informer);
	map_done(&bs->all);
	free(bs);
}

bool budgets_synced(const struct budgets *bs)
{
	return informer_synced(bs->informer);
}
