// SPDX-License-Identifier: Apache-2.0
/* pod_objects.c - the ConfigMaps, Secrets and claims a pod names
 *
 * Each is followed by an informer of its own, with a selector that leaves one object: an object that is made later lets
 * the pod go on at once, and one that changes reaches the files of running containers.  A pod that names none costs
 * nothing here.  The ConfigMap with the server's CA, which nearly every pod names, has one informer for all of them.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/pod_parts.h"

static bool is_pull_secret(const struct pod *p, const char *key)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(p->obj, "spec.imagePullSecrets"), i, ref)
		if (str_starts(key, "secrets/") && streq(key + strlen("secrets/"), jsonx_str_or(ref, "name", "")))
			return true;
	return false;
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct follow *f = arg;
	bool pulls = is_pull_secret(f->pod, f->key);

	(void)obj;
	(void)old;
	f->pod->objects_new = true;
	f->pod->setup_after_ms = 0;
	for (size_t i = 0; i < f->pod->n; i++) {
		struct ctr *c = &f->pod->ctrs[i];

		/* An image that cannot be had is asked for again when credentials come, not with every ConfigMap. */
		if (pulls)
			c->pull_after_ms = 0;
		if (c->state == CTR_WAITING && (pulls || !c->pull_failures))
			c->not_before_ms = 0;
	}
	pod_kick(f->pod);
}

static void on_synced(void *arg)
{
	struct follow *f = arg;

	pod_kick(f->pod);
}

static const struct follow *find(const struct pod *p, const char *key)
{
	for (size_t i = 0; i < p->nfollows; i++)
		if (streq(p->follows[i]->key, key))
			return p->follows[i];
	return NULL;
}

void pod_root_ca_changed(struct pod *p, const char *ns)
{
	if (!p->wants_root_ca || (ns && !streq(p->ns, ns)))
		return;
	p->objects_new = true;
	p->setup_after_ms = 0;
	pod_kick(p);
}

/* want: "configmaps/NAME", with '?' in front where its absence is no error. */
static void follow(struct pod *p, const char *want)
{
	bool optional = *want == '?';
	const char *key = want + optional;
	const char *name = strchr(key, '/');
	struct follow *f;

	if (p->parts->root_cas && streq(key, "configmaps/" ROOT_CA)) {
		p->wants_root_ca = true;
		return;
	}
	if (!name || find(p, key))
		return;
	f = xcalloc(1, sizeof(*f));
	f->pod = p;
	f->key = xstrdup(key);
	ARRAY_PUSH(p->follows, p->nfollows, p->follows_cap, f);
	auto_free char *plural = xstrndup(key, (size_t)(name - key));
	auto_free char *field = xasprintf("metadata.name=%s", name + 1);
	struct ref ref = { .api_version = "v1",
			   .plural = plural,
			   .ns = streq(plural, "persistentvolumes") ? NULL : p->ns };
	struct informer_handlers h = { .change = on_change, .synced = on_synced, .arg = f };

	f->informer = informer_new(p->parts->client, &ref, &(struct list_options){ .fields = field }, &h);
}

static void follow_ref(struct pod *p, const char *plural, const json_t *ref)
{
	const char *name = jsonx_str(ref, "name");

	if (!name || !*name)
		return;
	auto_free char *want = xasprintf("?%s/%s", plural, name);
	follow(p, want);
}

/* Whether they may be missing is decided where they are used. */
static void follow_environment(struct pod *p, const json_t *container)
{
	json_t *item;
	size_t i;

	json_array_foreach (json_object_get(container, "env"), i, item) {
		follow_ref(p, "configmaps", jsonx_at(item, "valueFrom.configMapKeyRef"));
		follow_ref(p, "secrets", jsonx_at(item, "valueFrom.secretKeyRef"));
	}
	json_array_foreach (json_object_get(container, "envFrom"), i, item) {
		follow_ref(p, "configmaps", json_object_get(item, "configMapRef"));
		follow_ref(p, "secrets", json_object_get(item, "secretRef"));
	}
}

static void follow_all(struct pod *p)
{
	json_auto_t *objects = pod_objects(p);
	json_auto_t *wants = volumes_needed(p->obj, objects);
	json_t *item;
	size_t i;

	json_array_foreach (wants, i, item)
		follow(p, json_string_value(item));
	for (i = 0; i < p->n; i++)
		follow_environment(p, p->ctrs[i].spec);
	json_array_foreach (jsonx_at(p->obj, "spec.imagePullSecrets"), i, item)
		follow_ref(p, "secrets", item);
}

bool pod_objects_ready(struct pod *p)
{
	/* A claim that has just been seen names its volume. */
	follow_all(p);
	for (size_t i = 0; i < p->nfollows; i++)
		if (!informer_synced(p->follows[i]->informer))
			return false;
	if (p->wants_root_ca && !informer_synced(p->parts->root_cas))
		return false;
	return pod_tokens_ready(p);
}

json_t *pod_objects(const struct pod *p)
{
	json_t *objects = json_object();
	const json_t *ca = p->wants_root_ca ? informer_find(p->parts->root_cas, p->ns, ROOT_CA) : NULL;

	/* Where no controller hands the CA out, as on a server without any, this node knows it all the same. */
	if (ca)
		json_object_set(objects, "configmaps/" ROOT_CA, (json_t *)ca);
	else if (p->wants_root_ca && p->parts->client->ca_pem)
		json_object_set_new(objects, "configmaps/" ROOT_CA,
				    json_pack("{s:{s:s}}", "data", "ca.crt", p->parts->client->ca_pem));
	for (size_t i = 0; i < p->nfollows; i++) {
		const json_t *obj;
		size_t pos = 0;

		if (informer_next(p->follows[i]->informer, &pos, &obj))
			json_object_set(objects, p->follows[i]->key, (json_t *)obj);
	}
	pod_tokens_add(p, objects);
	return objects;
}

void pod_objects_stop(struct pod *p)
{
	for (size_t i = 0; i < p->nfollows; i++) {
		informer_free(p->follows[i]->informer);
		free(p->follows[i]->key);
		free(p->follows[i]);
	}
	free(p->follows);
	p->follows = NULL;
	p->nfollows = p->follows_cap = 0;
	pod_tokens_stop(p);
}
