// SPDX-License-Identifier: Apache-2.0
/* revision_apply.c - writes what revision_plan.c decides
 *
 * A revision's name is its content's, so making one twice is harmless: the second time it is found to be there already.
 */
#include "base/jsonx.h"
#include "base/log.h"
#include "control/pod_facts.h"
#include "control/revisions.h"

#define VERSION "apps/v1"
#define PLURAL  "controllerrevisions"

/* What these calls carry is {"made", "owner", "version", "plural", "collisions"}. */
static void on_other(void *arg, const struct answer *a)
{
	const json_t *made = json_object_get(a->what, "made");
	struct ref owner = calls_ref(jsonx_str(a->what, "version"), jsonx_str(a->what, "plural"),
				     json_object_get(a->what, "owner"));
	json_auto_t *patch = NULL;

	(void)arg;
	if (a->e->kind != ERR_NONE)
		return;
	if (revision_same(a->obj, made) &&
	    str_same(jsonx_str(controller_of(a->obj), "uid"), jsonx_str(controller_of(made), "uid")))
		return; /* only not seen yet */
	patch = json_pack("{s:{s:s}, s:{s:I}}", "metadata", "uid",
			  jsonx_str_or(json_object_get(a->what, "owner"), "metadata.uid", ""), "status",
			  "collisionCount", (json_int_t)jsonx_int_or(a->what, "collisions", 0) + 1);
	owner.subresource = "status";
	calls_patch(a->calls, a->key, &owner, "merge", patch, NULL, NULL);
}

static void on_made(void *arg, const struct answer *a)
{
	struct ref ref = calls_ref(VERSION, PLURAL, json_object_get(a->what, "made"));

	(void)arg;
	if (a->e->kind == ERR_EXISTS)
		calls_get(a->calls, a->key, &ref, on_other, a->what);
	/* A namespace on its way out takes nothing new, and the owner goes with it. */
	else if (a->e->kind != ERR_NONE && !(a->e->ncauses && a->e->causes[0].kind == CAUSE_TERMINATING))
		log_warn("make a revision of %s: %s, trying again", a->key, a->e->text);
}

static void make(struct calls *calls, const char *key, const struct revision_view *v, json_t *made)
{
	struct ref ref = { .api_version = VERSION, .plural = PLURAL, .ns = jsonx_str(made, "metadata.namespace") };
	json_auto_t *what = json_pack("{s:O, s:O, s:s, s:s, s:I}", "made", made, "owner", v->owner, "version",
				      v->api_version, "plural", v->plural, "collisions",
				      (json_int_t)jsonx_int_or(v->owner, "status.collisionCount", 0));

	calls_create(calls, key, &ref, made, on_made, what);
}

static void renumber(struct calls *calls, const char *key, const struct revision *r, int64_t number)
{
	struct ref ref = calls_ref(VERSION, PLURAL, r->obj);
	json_auto_t *patch = json_pack("{s:{s:s}, s:I}", "metadata", "uid", jsonx_str_or(r->obj, "metadata.uid", ""),
				       "revision", (json_int_t)number);

	calls_patch(calls, key, &ref, "merge", patch, NULL, NULL);
}

bool revision_apply(struct calls *calls, const char *key, const struct revision_view *v, const struct revision_plan *p)
{
	for (size_t i = 0; i < p->nremove; i++) {
		struct ref ref = calls_ref(VERSION, PLURAL, p->remove[i]->obj);
		json_auto_t *options = json_pack("{s:{s:s}}", "preconditions", "uid",
						 jsonx_str_or(p->remove[i]->obj, "metadata.uid", ""));

		calls_remove(calls, key, &ref, options, NULL, NULL);
	}
	if (p->make)
		make(calls, key, v, p->make);
	if (p->renumber)
		renumber(calls, key, p->renumber, p->number);
	return p->make || p->renumber;
}
