// SPDX-License-Identifier: Apache-2.0
/* claims.c - does what claim_plan.c decides: one write at a time for each claim and each volume
 *
 * Every change of a claim, a volume or a class leads to one look at all of them at the end of the turn.  A write
 * carries the revision it was decided on, so that a decision made on old knowledge fails instead of doing harm, and its
 * answer leads to the next look.  Pods are not followed, they are listed when it matters who uses a claim: rarely, and
 * a cache of all pods would cost more.
 *
 * Volumes are made and deleted by provisioners, as in Kubernetes: for the class stoker-local that is
 * node/claim_dirs.c.
 */
#include "control/claims.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "client/events.h"
#include "control/claim_plan.h"

#define AGAIN_MS     200
#define AGAIN_MAX_MS 5000
#define COMPONENT    "persistentvolume-controller"

struct claims {
	struct client *client;
	struct events *events;
	struct informer *claims, *volumes, *classes;
	struct loop_hook look;
	struct loop_timer again;
	int64_t delay_ms;
	struct workqueue_counts counts; /* the one thing to look at is all claims and volumes */
	json_t *busy_volumes;           /* names with a write under way */
	struct map busy_claims;         /* "ns/name" with a write or a question under way */
	struct map said;                /* uid -> the last event's text */
	struct request *requests;       /* under way */
};

/* A write, or the question who uses a claim.  Until its answer nothing else is decided about what it is for. */
struct request {
	struct claims *owner; /* NULL: nobody waits any more */
	struct request *next;
	char *claim;  /* "ns/name", or NULL */
	char *volume; /* or NULL */
};

/* ---- requests under way ---- */

static char *claim_key(const json_t *claim)
{
	return xasprintf("%s/%s", jsonx_str_or(claim, "metadata.namespace", ""),
			 jsonx_str_or(claim, "metadata.name", ""));
}

/* Either may be NULL. */
static struct request *request_new(struct claims *k, const json_t *claim, const json_t *volume)
{
	struct request *r = xcalloc(1, sizeof(*r));

	r->owner = k;
	r->next = k->requests;
	k->requests = r;
	if (claim) {
		r->claim = claim_key(claim);
		map_set(&k->busy_claims, r->claim, r);
	}
	if (volume) {
		r->volume = xstrdup(jsonx_str_or(volume, "metadata.name", ""));
		json_object_set_new(k->busy_volumes, r->volume, json_true());
	}
	return r;
}

/* Returns whom it was for, or NULL. */
static struct claims *request_end(struct request *r)
{
	struct claims *k = r->owner;

	if (k) {
		struct request **at = &k->requests;

		while (*at != r)
			at = &(*at)->next;
		*at = r->next;
		if (r->claim)
			map_remove(&k->busy_claims, r->claim);
		if (r->volume)
			json_object_del(k->busy_volumes, r->volume);
	}
	free(r->claim);
	free(r->volume);
	free(r);
	return k;
}

static void wake(struct claims *k)
{
	k->counts.added += !k->counts.ready;
	k->counts.ready = 1;
	loop_schedule(k->client->loop, &k->look);
}

/* What nobody tells us of is looked at again, ever more rarely. */
static void later(struct claims *k)
{
	if (loop_timer_pending(&k->again))
		return;
	loop_timer_set(k->client->loop, &k->again, k->delay_ms);
	k->delay_ms = k->delay_ms * 2 > AGAIN_MAX_MS ? AGAIN_MAX_MS : k->delay_ms * 2;
}

static void on_written(void *arg, const json_t *obj, const struct err *e)
{
	struct request *r = arg;
	bool expected = e->kind == ERR_NONE || e->kind == ERR_CONFLICT || e->kind == ERR_NOT_FOUND;

	(void)obj;
	if (!expected && r->owner)
		log_warn("bind claim=%s volume=%s: %s, trying again", r->claim ? r->claim : "",
			 r->volume ? r->volume : "", e->text);
	struct claims *k = request_end(r);

	if (k && e->kind == ERR_NONE)
		wake(k);
	else if (k)
		later(k);
}

/* Writes the volume; `claim` (or NULL) waits for it too.  Takes patch. */
static void write_volume(struct claims *k, const json_t *volume, const json_t *claim, const char *subresource,
			 json_t *patch)
{
	struct ref ref = { .api_version = "v1",
			   .plural = "persistentvolumes",
			   .name = jsonx_str(volume, "metadata.name"),
			   .subresource = subresource };

	jsonx_set_new(patch, "metadata.resourceVersion", json_incref(jsonx_at(volume, "metadata.resourceVersion")));
	k->client->ops->patch(k->client, &ref, "merge", patch, on_written, request_new(k, claim, volume));
	json_decref(patch);
}

/* Takes patch. */
static void write_claim(struct claims *k, const json_t *claim, const char *subresource, json_t *patch)
{
	struct ref ref = { .api_version = "v1",
			   .plural = "persistentvolumeclaims",
			   .ns = jsonx_str(claim, "metadata.namespace"),
			   .name = jsonx_str(claim, "metadata.name"),
			   .subresource = subresource };

	jsonx_set_new(patch, "metadata.resourceVersion", json_incref(jsonx_at(claim, "metadata.resourceVersion")));
	k->client->ops->patch(k->client, &ref, "merge", patch, on_written, request_new(k, claim, NULL));
	json_decref(patch);
}

static json_t *finalizers(const json_t *obj, const char *without, const char *with)
{
	json_t *out = json_array();
	json_t *f;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.finalizers"), i, f)
		if (!without || !str_same(json_string_value(f), without))
			json_array_append(out, f);
	if (with)
		json_array_append_new(out, json_string(with));
	return json_pack("{s:{s:o}}", "metadata", "finalizers", out);
}

/* An event once, until something else is to be said. */
static void tell(struct claims *k, const json_t *obj, bool warning, const char *reason, const char *message)
{
	const char *uid = jsonx_str_or(obj, "metadata.uid", "");
	auto_free char *text = xasprintf("%s %s", reason, message);

	if (str_same(map_find(&k->said, uid), text))
		return;
	map_set(&k->said, uid, TAKE(text));
	events_note(k->events, obj, warning ? "Warning" : "Normal", reason, "%s", message);
}

/* ---- claims ---- */

/* The claim goes into the volume; the note says that we, not a person, chose. */
static void take(struct claims *k, const json_t *claim, const json_t *volume)
{
	bool ours = !jsonx_at(volume, "spec.claimRef");
	json_t *patch =
		json_pack("{s:{s:{s:s, s:s, s:O, s:O, s:O, s:O}}}", "spec", "claimRef", "kind", "PersistentVolumeClaim",
			  "apiVersion", "v1", "namespace", jsonx_at(claim, "metadata.namespace"), "name",
			  jsonx_at(claim, "metadata.name"), "uid", jsonx_at(claim, "metadata.uid"), "resourceVersion",
			  jsonx_at(claim, "metadata.resourceVersion"));

	if (ours)
		jsonx_set_new(patch, "metadata.annotations",
			      json_pack("{s:s}", "pv.kubernetes.io/bound-by-controller", "yes"));
	write_volume(k, volume, claim, NULL, patch);
}

static json_t *completed(const json_t *claim, const json_t *volume)
{
	json_t *annotations = json_pack("{s:s}", "pv.kubernetes.io/bind-completed", "yes");

	if (!*jsonx_str_or(claim, "spec.volumeName", ""))
		json_object_set_new(annotations, "pv.kubernetes.io/bound-by-controller", json_string("yes"));
	return json_pack("{s:{s:o}, s:{s:O}}", "metadata", "annotations", annotations, "spec", "volumeName",
			 jsonx_at(volume, "metadata.name"));
}

static json_t *bound_status(const json_t *volume)
{
	return json_pack("{s:{s:s, s:O, s:O}}", "status", "phase", "Bound", "accessModes",
			 jsonx_at(volume, "spec.accessModes"), "capacity", jsonx_at(volume, "spec.capacity"));
}

static json_t *phase_status(const char *phase, const char *message)
{
	json_t *patch = json_pack("{s:{s:s}}", "status", "phase", phase);

	if (message && *message)
		jsonx_set_new(patch, "status.message", jsonx_string(message));
	return patch;
}

static json_t *asked(const json_t *class)
{
	const char *provisioner = jsonx_str_or(class, "provisioner", "");

	return json_pack("{s:{s:{s:s, s:s}}}", "metadata", "annotations", "volume.kubernetes.io/storage-provisioner",
			 provisioner, "volume.beta.kubernetes.io/storage-provisioner", provisioner);
}

static void apply(struct claims *k, const json_t *claim, const struct claim_view *v, const struct claim_plan *p);

static const json_t *class_of(struct claims *k, const json_t *claim)
{
	const char *name = jsonx_str_or(claim, "spec.storageClassName", "");

	return *name ? informer_find(k->classes, NULL, name) : NULL;
}

/* New array of what an informer has; items are its own. */
static json_t *all_of(const struct informer *i)
{
	json_t *out = json_array();
	const json_t *obj;
	size_t pos = 0;

	while (informer_next(i, &pos, &obj))
		json_array_append(out, (json_t *)obj);
	return out;
}

static void plan_claim(struct claims *k, const json_t *claim, const json_t *volumes, unsigned use)
{
	auto_free char *key = claim_key(claim);
	struct claim_view v = { .volumes = volumes, .busy = k->busy_volumes, .class = class_of(k, claim), .use = use };
	struct claim_plan p;

	if (map_find(&k->busy_claims, key))
		return;
	p = claim_plan(claim, &v);
	if (p.reason)
		tell(k, claim, p.warning, p.reason, p.message);
	apply(k, claim, &v, &p);
}

static void on_pods(void *arg, const json_t *list, const struct err *e)
{
	struct request *r = arg;
	auto_free char *ns = xstrdup(r->claim);
	char *name = strchr(ns, '/');
	struct claims *k = request_end(r);
	json_auto_t *volumes = k ? all_of(k->volumes) : NULL;
	json_auto_t *claim = NULL;

	if (!k)
		return;
	*name++ = '\0';
	claim = json_incref((json_t *)informer_find(k->claims, ns, name));
	if (claim && e->kind == ERR_NONE)
		plan_claim(k, claim, volumes, claim_use(json_object_get(list, "items"), name));
	later(k);
}

static void ask_pods(struct claims *k, const json_t *claim)
{
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = jsonx_str(claim, "metadata.namespace") };

	k->client->ops->list(k->client, &ref, &(struct list_options){ 0 }, on_pods, request_new(k, claim, NULL));
}

static void apply(struct claims *k, const json_t *claim, const struct claim_view *v, const struct claim_plan *p)
{
	switch (p->act) {
	case CLAIM_LOOK:
		ask_pods(k, claim);
		break;
	case CLAIM_LET_GO:
		write_claim(k, claim, NULL, finalizers(claim, CLAIM_FINALIZER, NULL));
		break;
	case CLAIM_TAKE:
		take(k, claim, p->volume);
		break;
	case CLAIM_COMPLETE:
		write_claim(k, claim, NULL, completed(claim, p->volume));
		break;
	case CLAIM_BOUND:
		write_claim(k, claim, "status", bound_status(p->volume));
		break;
	case CLAIM_LOST:
		write_claim(k, claim, "status", phase_status("Lost", NULL));
		break;
	case CLAIM_PENDING:
		write_claim(k, claim, "status", phase_status("Pending", NULL));
		break;
	case CLAIM_PROVISION:
		write_claim(k, claim, NULL, asked(v->class));
		break;
	case CLAIM_NOTHING:
	case CLAIM__COUNT:
		break;
	}
}

/* ---- volumes ---- */

static void plan_volume(struct claims *k, const json_t *volume)
{
	const char *name = jsonx_str_or(volume, "metadata.name", "");
	const char *claim_name = jsonx_str(volume, "spec.claimRef.name");
	const json_t *claim =
		claim_name ? informer_find(k->claims, jsonx_str(volume, "spec.claimRef.namespace"), claim_name) : NULL;
	struct volume_plan p;

	if (json_object_get(k->busy_volumes, name))
		return;
	p = volume_plan(volume, claim);
	if (p.reason)
		tell(k, volume, true, p.reason, p.message);
	if (p.act == VOLUME_PROTECT)
		write_volume(k, volume, NULL, NULL, finalizers(volume, NULL, VOLUME_FINALIZER));
	else if (p.act == VOLUME_LET_GO)
		write_volume(k, volume, NULL, NULL, finalizers(volume, VOLUME_FINALIZER, NULL));
	else if (p.act == VOLUME_PHASE)
		write_volume(k, volume, NULL, "status", phase_status(p.phase, p.message));
	else if (p.act == VOLUME_UNBIND)
		write_volume(k, volume, NULL, NULL, json_pack("{s:{s:n}}", "spec", "claimRef"));
}

/* ---- when ---- */

static void on_look(void *arg)
{
	struct claims *k = arg;
	int64_t start = clock_mono_ns();
	json_auto_t *claims = NULL;
	json_auto_t *volumes = NULL;
	json_t *obj;
	size_t i;

	k->counts.ready = 0;
	/* A claim that is merely not known yet must not be taken for deleted, nor a volume for lost. */
	if (!informer_synced(k->claims) || !informer_synced(k->volumes) || !informer_synced(k->classes))
		return;
	claims = all_of(k->claims);
	volumes = all_of(k->volumes);
	json_array_foreach (claims, i, obj)
		plan_claim(k, obj, volumes, CLAIM_USE_UNKNOWN);
	json_array_foreach (volumes, i, obj)
		plan_volume(k, obj);
	k->counts.looked++;
	k->counts.busy_ns += clock_mono_ns() - start;
}

static void on_again(void *arg)
{
	struct claims *k = arg;

	wake(k);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct claims *k = arg;

	if (!obj)
		map_remove(&k->said, jsonx_str_or(old, "metadata.uid", ""));
	k->delay_ms = AGAIN_MS;
	wake(k);
}

static void on_synced(void *arg)
{
	on_again(arg);
}

struct claims *claims_new(struct client *c)
{
	struct claims *k = xcalloc(1, sizeof(*k));
	struct informer_handlers h = { .change = on_change, .synced = on_synced, .arg = k };

	k->client = c;
	k->events = events_new(c, COMPONENT, NULL);
	k->delay_ms = AGAIN_MS;
	k->look = (struct loop_hook){ .run = on_look, .arg = k, .phase = LOOP_WORK };
	k->again = (struct loop_timer){ .fire = on_again, .arg = k };
	k->busy_volumes = json_object();
	map_init(&k->busy_claims, NULL);
	map_init(&k->said, free);
	k->claims = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "persistentvolumeclaims" }, NULL, &h);
	k->volumes = informer_new(c, &(struct ref){ .api_version = "v1", .plural = "persistentvolumes" }, NULL, &h);
	k->classes = informer_new(c, &(struct ref){ .api_version = "storage.k8s.io/v1", .plural = "storageclasses" },
				  NULL, &h);
	return k;
}

void claims_free(struct claims *k)
{
	if (!k)
		return;
	informer_free(k->claims);
	informer_free(k->volumes);
	informer_free(k->classes);
	loop_unschedule(k->client->loop, &k->look);
	loop_timer_done(&k->again);
	for (struct request *r = k->requests; r; r = r->next)
		r->owner = NULL;
	events_free(k->events);
	json_decref(k->busy_volumes);
	map_done(&k->busy_claims);
	map_done(&k->said);
	free(k);
}

struct workqueue_counts claims_counts(const struct claims *k)
{
	struct workqueue_counts c = k->counts;

	c.later = loop_timer_pending(&k->again);
	return c;
}
