// SPDX-License-Identifier: Apache-2.0
/* revisions.c - the ControllerRevisions of each kind of owner that is followed, in the order of their numbers
 *
 * children.c keeps them, one cache for each follower; who follows is told when all of them are complete.
 */
#include "control/revisions.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "control/children.h"
#include "control/pod_facts.h"
#include "kinds/selector.h"

struct follower {
	struct revisions *all;
	struct revisions_handlers h;
	struct children_kind kind;
	struct children *children;
	struct follower *next;
};

struct revisions {
	struct client *client;
	struct follower *followers;
};

static void on_change(void *arg, const char *owner_key)
{
	struct follower *f = arg;

	f->h.change(f->h.arg, owner_key);
}

/* It has the name of whose it was: if there is one of that name, it may take it. */
static void on_orphan(void *arg, const json_t *obj)
{
	struct follower *f = arg;
	const char *name = jsonx_str_or(obj, "metadata.name", "");
	const char *dash = strrchr(name, '-');
	auto_free char *key =
		xasprintf("%s/%.*s", jsonx_str_or(obj, "metadata.namespace", ""), dash ? (int)(dash - name) : 0, name);

	f->h.change(f->h.arg, key);
}

static void on_synced(void *arg)
{
	const struct revisions *r = ((struct follower *)arg)->all;

	if (!revisions_synced(r))
		return;
	for (const struct follower *f = r->followers; f; f = f->next)
		f->h.synced(f->h.arg);
}

bool revisions_synced(const struct revisions *r)
{
	for (const struct follower *f = r->followers; f; f = f->next)
		if (!f->children || !children_synced(f->children))
			return false;
	return true;
}

static struct revision revision_of(const json_t *obj)
{
	const json_t *labels = jsonx_at(obj, "metadata.labels");
	const char *hash = json_string_value(json_object_get(labels, LABEL_REVISION_HASH));

	if (!hash)
		hash = json_string_value(json_object_get(labels, LABEL_REVISION_HASH_OF_SET));
	return (struct revision){ .obj = obj,
				  .name = jsonx_str_or(obj, "metadata.name", ""),
				  .hash = hash ? hash : "",
				  .number = jsonx_int_or(obj, "revision", 0) };
}

static int by_age(const void *a, const void *b)
{
	const struct revision *x = a;
	const struct revision *y = b;
	int64_t made_x;
	int64_t made_y;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	made_x = time_at(x->obj, "metadata.creationTimestamp");
	made_y = time_at(y->obj, "metadata.creationTimestamp");
	if (made_x != made_y)
		return made_x < made_y ? -1 : 1;
	return strcmp(x->name, y->name);
}

size_t revisions_of(const struct revisions *r, const char *owner_uid, struct revision **ret)
{
	struct revision *all = NULL;
	size_t n = 0;
	size_t cap = 0;

	for (const struct follower *f = r->followers; f; f = f->next) {
		const json_t **objs;
		size_t found = children_of(f->children, owner_uid, &objs);

		for (size_t i = 0; i < found; i++)
			if (!jsonx_at(objs[i], "metadata.deletionTimestamp") &&
			    str_same(jsonx_str(controller_of(objs[i]), "kind"), f->h.kind))
				ARRAY_PUSH(all, n, cap, revision_of(objs[i]));
		free(objs);
	}
	if (n)
		qsort(all, n, sizeof(*all), by_age);
	*ret = all;
	return n;
}

bool revisions_adopt(const struct revisions *r, struct calls *calls, const char *key, const struct revision_view *v)
{
	struct claim_request request = {
		.owner = v->owner, .api_version = v->api_version, .kind = v->kind, .plural = v->plural, .adopt = true
	};
	struct selector *selector = NULL;
	struct err e = ERR_INIT;
	bool called = false;

	if (selector_from_json(jsonx_at(v->owner, "spec.selector"), &selector, &e) < 0)
		return false;
	request.selector = selector;
	for (const struct follower *f = r->followers; f; f = f->next)
		if (streq(f->h.kind, v->kind))
			called = children_claim(f->children, calls, key, &request);
	selector_free(selector);
	return called;
}

void revisions_follow(struct revisions *r, const struct revisions_handlers *h)
{
	struct follower *f = xcalloc(1, sizeof(*f));

	f->all = r;
	f->h = *h;
	f->kind = (struct children_kind){ .api_version = "apps/v1",
					  .plural = "controllerrevisions",
					  .owner = h->kind,
					  .change = on_change,
					  .orphan = on_orphan,
					  .synced = on_synced };
	f->next = r->followers;
	r->followers = f;
	f->children = children_new(r->client, &f->kind, f);
}

static void follower_free(struct follower *f)
{
	children_free(f->children);
	free(f);
}

void revisions_unfollow(struct revisions *r, void *arg)
{
	for (struct follower **at = &r->followers; *at; at = &(*at)->next)
		if ((*at)->h.arg == arg) {
			struct follower *f = *at;

			*at = f->next;
			follower_free(f);
			return;
		}
}

struct revisions *revisions_new(struct client *c)
{
	struct revisions *r = xcalloc(1, sizeof(*r));

	r->client = c;
	return r;
}

void revisions_free(struct revisions *r)
{
	while (r && r->followers) {
		struct follower *f = r->followers;

		r->followers = f->next;
		follower_free(f);
	}
	free(r);
}
