// SPDX-License-Identifier: Apache-2.0
/* default_class.c - a claim that names no StorageClass gets the default one
 *
 * An empty name is a choice: a volume without a class.  Of several default classes the youngest wins, as in Kubernetes.
 */
#include "api/default_class.h"

#include "api/stored.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define DEFAULT_CLASS "storageclass.kubernetes.io/is-default-class"
#define OLD_CLASS     "volume.beta.kubernetes.io/storage-class" /* how claims of old named theirs */

struct best {
	char *name;
	char *made;
};

static const char *annotation(const json_t *obj, const char *name)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), name));
}

static bool on_class(void *arg, const struct record *r)
{
	struct best *b = arg;
	json_auto_t *class = NULL;
	struct err e = ERR_INIT;
	const char *made;

	if (jsonx_parse(r->body.p, r->body.n, NULL, NULL, &class, &e) < 0 ||
	    !str_same(annotation(class, DEFAULT_CLASS), "true"))
		return true;
	made = jsonx_str_or(class, "metadata.creationTimestamp", "");
	/* Names come in order, so of the same age the first stays. */
	if (b->name && strcmp(made, b->made) <= 0)
		return true;
	free(b->name);
	free(b->made);
	b->name = xstrdup(jsonx_str_or(class, "metadata.name", ""));
	b->made = xstrdup(made);
	return true;
}

int default_class_admit(struct api *api, const struct api_request *req, json_t *obj, const json_t *old, struct err *e)
{
	struct stored_kind classes = { .group = "storage.k8s.io", .version = "v1", .plural = "storageclasses" };
	struct best b = { 0 };

	if (old || req->subresource || jsonx_at(obj, "spec.storageClassName") || annotation(obj, OLD_CLASS))
		return 0;
	if (stored_resolve(api, &classes, e) < 0 ||
	    store_list(api_store(api), &(struct store_range){ .kind = classes.number }, on_class, &b, e) < 0)
		return -1;
	if (b.name)
		jsonx_set_new(obj, "spec.storageClassName", jsonx_string(b.name));
	free(b.name);
	free(b.made);
	return 0;
}
