// SPDX-License-Identifier: Apache-2.0
/* pod_cards.c - a pod gets its GPUs
 *
 * The scheduler chose them, unless somebody put the pod here by hand.  One that another pod still has is waited for: it
 * was told of that pod's end, whose last process may need a moment to go.  A pod whose cards are broken, or do not come
 * free, has failed, as in Kubernetes: its controller makes another, which the scheduler places anew, knowing from the
 * Node which cards are well.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/pod_parts.h"

#define CARDS   "stoker.dev/gpus"
#define REASON  "UnexpectedAdmissionError" /* the kubelet's, for the same */
#define MOST_MS 60000                      /* for a card that should be free */

static void on_annotated(void *arg, const json_t *obj, const struct err *e)
{
	(void)arg;
	(void)obj;
	(void)e;
}

static void annotate(struct pod *p)
{
	auto_free char *cards = gpus_of(p->parts->gpus, p->uid);
	const json_t *old = json_object_get(jsonx_at(p->obj, "metadata.annotations"), CARDS);
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = p->ns, .name = p->name };
	json_auto_t *patch = NULL;

	if (!cards || str_same(json_string_value(old), cards))
		return;
	patch = json_pack("{s:{s:s, s:{s:s}}}", "metadata", "uid", p->uid, "annotations", CARDS, cards);
	p->parts->client->ops->patch(p->parts->client, &ref, "merge", patch, on_annotated, NULL);
	p->parts->cards_changed(p->parts->arg);
}

static int take_all(struct pod *p, struct err *e)
{
	for (size_t i = 0; i < p->n; i++) {
		int n = gpus_wanted(p->ctrs[i].spec);
		int64_t mib = gpus_wanted_mib(p->ctrs[i].spec);

		if (n > 0 && mib > 0)
			return err_set(e, ERR_INVALID, "container %s: whole GPUs or a part of one, not both",
				       p->ctrs[i].name);
		if (gpus_take(p->parts->gpus, p->obj, p->ctrs[i].name, n, e) < 0 ||
		    gpus_share(p->parts->gpus, p->obj, p->ctrs[i].name, mib, e) < 0)
			return err_prefix(e, "container %s", p->ctrs[i].name);
	}
	return 0;
}

/* Will waiting help no more? */
static bool is_hopeless(struct pod *p, const struct err *e)
{
	int64_t now = clock_mono_ms();

	if (e->kind == ERR_INVALID)
		return true;
	if (!p->cards_ms)
		p->cards_ms = now;
	return gpus_are_chosen(p->obj) && e->kind == ERR_UNAVAILABLE && now - p->cards_ms >= MOST_MS;
}

int pod_cards_take(struct pod *p, struct err *e)
{
	if (take_all(p, e) == 0) {
		annotate(p);
		return 0;
	}
	if (is_hopeless(p, e)) {
		auto_free char *message = xasprintf("Pod was rejected: %s", e->text);

		pod_fail(p, REASON, message);
		p->parts->cards_changed(p->parts->arg); /* the scheduler hears which cards are well */
	}
	return -1;
}
