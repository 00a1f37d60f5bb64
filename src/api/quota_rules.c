// SPDX-License-Identifier: Apache-2.0
/* quota_rules.c - one quota: what it allows, what is used of it, and whether one more fits
 *
 * Pure: how quotas get here and who is charged when is quota.c's.
 */
#include "api/quota_parts.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/cells.h"
#include "kinds/rules.h"

/* Of these every container must say how much it needs.  Kubernetes asks for no others. */
#define STATED "cpu|memory|requests.cpu|requests.memory|limits.cpu|limits.memory"

struct quota *quota_new(const json_t *obj)
{
	const json_t *hard = jsonx_at(obj, "spec.hard");
	struct quota *q = xcalloc(1, sizeof(*q));
	auto_free const char **names = cells_sorted_keys(hard, &q->n);

	q->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
	q->spec = json_incref(json_object_get(obj, "spec"));
	q->scopes = quota_scopes(q->spec);
	q->items = xcalloc(q->n + 1, sizeof(*q->items));
	for (size_t i = 0; i < q->n; i++) {
		quota_item_init(&q->items[i], names[i]);
		rule_quantity_parse(json_object_get(hard, names[i]), &q->items[i].hard);
	}
	return q;
}

void quota_free(struct quota *q)
{
	if (!q)
		return;
	for (size_t i = 0; i < q->n; i++)
		quota_item_done(&q->items[i]);
	free(q->items);
	free(q->name);
	json_decref(q->spec);
	json_decref(q->scopes);
	free(q);
}

bool quota_inherit(struct quota *q, const struct quota *old)
{
	size_t k = 0;

	if (!json_equal(q->scopes, old->scopes))
		return false;
	for (size_t i = 0; i < q->n; i++) {
		while (k < old->n && strcmp(old->items[k].name, q->items[i].name) < 0)
			k++;
		if (k == old->n || !streq(old->items[k].name, q->items[i].name))
			return false;
		q->items[i].used = old->items[k].used;
	}
	return true;
}

/* What an item grows by when `now` takes the place of `before`; either may be NULL. */
static struct quantity growth(const struct quota_item *i, struct quota_subject *now, struct quota_subject *before)
{
	struct quantity more = { .format = 'd' };

	if (now)
		more = quota_measure(now, i);
	if (before) {
		struct quantity less = quota_measure(before, i);

		quantity_add(&more, &less, -1);
	}
	return more;
}

static struct quota_subject *if_matches(const struct quota *q, struct quota_subject *s)
{
	return s && quota_matches(q, s) ? s : NULL;
}

bool quota_charge(struct quota *q, struct quota_subject *now, struct quota_subject *before)
{
	bool changed = false;

	now = if_matches(q, now);
	before = if_matches(q, before);
	for (size_t i = 0; (now || before) && i < q->n; i++) {
		struct quantity more = growth(&q->items[i], now, before);

		if (more.nano == 0)
			continue;
		quantity_add(&q->items[i].used, &more, 1);
		changed = true;
	}
	return changed;
}

/* ---- what a pod must say ---- */

static bool says(const json_t *owner, const struct quota_item *i)
{
	const char *list = i->measure == QUOTA_REQUEST ? "requests" : "limits";

	return json_object_get(json_object_get(json_object_get(owner, "resources"), list), i->what) != NULL;
}

/* Names of the containers that do not, as the keys of an object. */
static json_t *silent_containers(const json_t *spec, const struct quota_item *i)
{
	static const char *const lists[] = { "containers", "initContainers" };
	json_t *found = json_object();
	json_t *c;
	size_t k;

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++)
		json_array_foreach (json_object_get(spec, lists[l]), k, c)
			if (!says(c, i))
				json_object_set_new(found, jsonx_str_or(c, "name", ""), json_true());
	return found;
}

static void add_missing(struct sbuf *out, const struct quota_item *i, const json_t *spec)
{
	json_auto_t *silent = silent_containers(spec, i);
	size_t n;
	auto_free const char **names = cells_sorted_keys(silent, &n);

	if (n == 0)
		return;
	sbuf_addf(out, "%s%s for: ", out->n ? "; " : "", i->name);
	for (size_t k = 0; k < n; k++)
		sbuf_addf(out, "%s%s", k ? "," : "", names[k]);
}

int quota_check_stated(const struct quota *q, const struct quota_subject *s, struct err *e)
{
	const json_t *spec = json_object_get(s->obj, "spec");
	auto_sbuf struct sbuf missing = SBUF(LIMIT_STATUS_TEXT);

	if (!s->pod || !quota_matches(q, s))
		return 0;
	for (size_t i = 0; i < q->n; i++)
		if (rule_one_of(q->items[i].name, STATED) && !says(spec, &q->items[i]))
			add_missing(&missing, &q->items[i], spec);
	if (!missing.n)
		return 0;
	return err_set(e, ERR_FORBIDDEN, "failed quota: %s: must specify %s", q->name, missing.p);
}

/* ---- whether there is room ---- */

static void add_amount(struct sbuf *out, const char *name, const struct quantity *amount)
{
	char text[QUANTITY_TEXT];

	quantity_text(amount, text);
	sbuf_addf(out, "%s%s=%s", out->n ? "," : "", name, text);
}

int quota_check_room(const struct quota *q, struct quota_subject *now, struct quota_subject *before, struct err *e)
{
	auto_sbuf struct sbuf requested = SBUF(LIMIT_STATUS_TEXT);
	auto_sbuf struct sbuf used = SBUF(LIMIT_STATUS_TEXT);
	auto_sbuf struct sbuf limited = SBUF(LIMIT_STATUS_TEXT);

	if (!quota_matches(q, now))
		return 0;
	before = if_matches(q, before);
	for (size_t i = 0; i < q->n; i++) {
		const struct quota_item *item = &q->items[i];
		struct quantity more = growth(item, now, before);
		struct quantity after = item->used;

		quantity_add(&after, &more, 1);
		/* A write that frees some is always welcome, however much is used. */
		if (more.nano <= 0 || quantity_cmp(&after, &item->hard) <= 0)
			continue;
		add_amount(&requested, item->name, &more);
		add_amount(&used, item->name, &item->used);
		add_amount(&limited, item->name, &item->hard);
	}
	if (!requested.n)
		return 0;
	return err_set(e, ERR_FORBIDDEN, "exceeded quota: %s, requested: %s, used: %s, limited: %s", q->name,
		       requested.p, used.p, limited.p);
}

json_t *quota_status(const struct quota *q)
{
	const json_t *hard = json_object_get(q->spec, "hard");
	json_t *used = json_object();

	if (!q->n)
		return used;
	for (size_t i = 0; i < q->n; i++) {
		char text[QUANTITY_TEXT];

		quantity_text(&q->items[i].used, text);
		json_object_set_new(used, q->items[i].name, json_string(text));
	}
	return json_pack("{s:o, s:o}", "hard", jsonx_copy(hard), "used", used);
}
