// SPDX-License-Identifier: Apache-2.0
/* revision_plan.c - which revision a template is, and which old ones may go */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/pod_facts.h"
#include "control/revisions.h"
#include "control/template_hash.h"

#define NAME_PART_MAX 223 /* of the owner's name: Kubernetes leaves room for the hash */

static const char *label_of(const char *kind)
{
	return streq(kind, "StatefulSet") ? LABEL_REVISION_HASH_OF_SET : LABEL_REVISION_HASH;
}

json_t *revision_make(const struct revision_view *v, int64_t number)
{
	const json_t *template = jsonx_at(v->owner, "spec.template");
	const json_t *notes = jsonx_at(v->owner, "metadata.annotations");
	json_t *labels = jsonx_copy(jsonx_at(template, "metadata.labels"));
	json_t *patch = jsonx_copy(template);
	auto_free char *hash = template_hash(template, jsonx_int_or(v->owner, "status.collisionCount", 0));
	json_t *meta =
		json_pack("{s:s, s:o, s:[o]}", "namespace", jsonx_str_or(v->owner, "metadata.namespace", ""), "name",
			  jsonx_stringf("%.*s-%s", NAME_PART_MAX, jsonx_str_or(v->owner, "metadata.name", ""), hash),
			  "ownerReferences", controller_ref(v->api_version, v->kind, v->owner));

	if (!labels)
		labels = json_object();
	json_object_set_new(labels, label_of(v->kind), json_string(hash));
	json_object_set_new(meta, "labels", labels);
	/* `kubectl rollout history` shows the cause of a change from there. */
	if (notes)
		json_object_set_new(meta, "annotations", jsonx_copy(notes));
	if (!patch)
		patch = json_object();
	json_object_set_new(patch, "$patch", json_string("replace"));
	return json_pack("{s:s, s:s, s:o, s:{s:{s:o}}, s:I}", "apiVersion", "apps/v1", "kind", "ControllerRevision",
			 "metadata", meta, "data", "spec", "template", patch, "revision", (json_int_t)number);
}

bool revision_same(const json_t *a, const json_t *b)
{
	const json_t *x = json_object_get(a, "data");
	const json_t *y = json_object_get(b, "data");

	return x && y && jsonx_equal(x, y);
}

const json_t *revision_template(const struct revision *r)
{
	return jsonx_at(r->obj, "data.spec.template");
}

const struct revision *revision_find(const struct revision *all, size_t n, const char *name_or_hash)
{
	for (size_t i = 0; name_or_hash && *name_or_hash && i < n; i++)
		if (streq(all[i].name, name_or_hash) || streq(all[i].hash, name_or_hash))
			return &all[i];
	return NULL;
}

static bool in_use(const struct revision_view *v, const struct revision *r)
{
	for (size_t i = 0; i < v->nused; i++)
		if (str_same(v->used[i], r->name) || (*r->hash && str_same(v->used[i], r->hash)))
			return true;
	return false;
}

static void plan_removal(const struct revision_view *v, struct revision_plan *p)
{
	int64_t limit = jsonx_int_or(v->owner, "spec.revisionHistoryLimit", 10);
	size_t old = 0;

	p->remove = xcalloc(v->n + 1, sizeof(*p->remove));
	for (size_t i = 0; i < v->n; i++)
		if (&v->all[i] != p->update && !in_use(v, &v->all[i]))
			p->remove[old++] = &v->all[i];
	if (limit >= 0 && old > (size_t)limit)
		p->nremove = old - (size_t)limit;
}

void revision_plan(const struct revision_view *v, struct revision_plan *p)
{
	int64_t last = v->n ? v->all[v->n - 1].number : 0;
	json_auto_t *made = revision_make(v, last + 1);

	*p = (struct revision_plan){ .number = last + 1 };
	for (size_t i = v->n; i-- > 0 && !p->update;)
		if (revision_same(v->all[i].obj, made))
			p->update = &v->all[i];
	if (!p->update)
		p->make = TAKE(made);
	else if (p->update->number != last)
		p->renumber = p->update;
	plan_removal(v, p);
}

void revision_plan_done(struct revision_plan *p)
{
	json_decref(p->make);
	free(p->remove);
	*p = (struct revision_plan){ 0 };
}
