// SPDX-License-Identifier: Apache-2.0
/* claim_plan.c - which claim gets which volume
 *
 * The order of writes, each of which only happens if the one before is seen:
 *
 *	volume.spec.claimRef -> claim.spec.volumeName -> claim.status, volume.status
 *
 * Two claims that want one volume differ in the first write, where only one can win.
 */
#include "control/claim_plan.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "kinds/quantity.h"
#include "kinds/selector.h"

#define COMPLETED      "pv.kubernetes.io/bind-completed"
#define PROVISIONED_BY "pv.kubernetes.io/provisioned-by"
#define PROVISIONER    "volume.kubernetes.io/storage-provisioner"
#define NO_PROVISIONER "kubernetes.io/no-provisioner"

static const char *annotation(const json_t *obj, const char *name)
{
	return json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), name));
}

static bool has_finalizer(const json_t *obj, const char *name)
{
	json_t *f;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.finalizers"), i, f)
		if (str_same(json_string_value(f), name))
			return true;
	return false;
}

static const char *name_of(const json_t *obj)
{
	return jsonx_str_or(obj, "metadata.name", "");
}

__attribute__((format(printf, 3, 4))) static struct claim_plan say(enum claim_act act, const char *reason,
								   const char *fmt, ...)
{
	struct claim_plan p = { .act = act, .reason = reason };
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p.message, sizeof(p.message), fmt, ap);
	va_end(ap);
	return p;
}

static struct claim_plan warn(struct claim_plan p)
{
	p.warning = true;
	return p;
}

static struct claim_plan with(enum claim_act act, const json_t *volume)
{
	return (struct claim_plan){ .act = act, .volume = volume };
}

/* ---- does it fit ---- */

static bool amount(const json_t *obj, const char *path, struct quantity *ret)
{
	return quantity_parse(jsonx_str_or(obj, path, ""), ret);
}

static bool is_large_enough(const json_t *volume, const json_t *claim)
{
	struct quantity has, wants;

	if (!amount(claim, "spec.resources.requests.storage", &wants))
		return true;
	return amount(volume, "spec.capacity.storage", &has) && quantity_cmp(&has, &wants) >= 0;
}

static bool has_modes(const json_t *volume, const json_t *claim)
{
	json_t *want;
	json_t *has;
	size_t i;
	size_t k;

	json_array_foreach (jsonx_at(claim, "spec.accessModes"), i, want) {
		bool found = false;

		json_array_foreach (jsonx_at(volume, "spec.accessModes"), k, has)
			found |= json_equal(want, has);
		if (!found)
			return false;
	}
	return true;
}

/* Why not, in Kubernetes' words; NULL if it does. */
static const char *misfit(const json_t *volume, const json_t *claim)
{
	if (!is_large_enough(volume, claim))
		return "requested PV is too small";
	if (!streq(jsonx_str_or(volume, "spec.storageClassName", ""), jsonx_str_or(claim, "spec.storageClassName", "")))
		return "storageClassName does not match";
	if (!streq(jsonx_str_or(volume, "spec.volumeMode", "Filesystem"),
		   jsonx_str_or(claim, "spec.volumeMode", "Filesystem")))
		return "incompatible volumeMode";
	return has_modes(volume, claim) ? NULL : "incompatible accessMode";
}

static bool is_selected(const json_t *volume, const json_t *claim)
{
	const json_t *wanted = jsonx_at(claim, "spec.selector");
	struct selector *s = NULL;
	struct err e = ERR_INIT;
	bool ok;

	if (!wanted)
		return true;
	ok = selector_from_json(wanted, &s, &e) == 0 && selector_match_labels(s, jsonx_at(volume, "metadata.labels"));
	selector_free(s);
	return ok;
}

/* Whether the volume's claimRef means this claim; one without uid was written by a person beforehand. */
static bool is_meant(const json_t *volume, const json_t *claim)
{
	const char *uid = jsonx_str_or(volume, "spec.claimRef.uid", "");

	return str_same(jsonx_str(volume, "spec.claimRef.name"), jsonx_str(claim, "metadata.name")) &&
	       str_same(jsonx_str(volume, "spec.claimRef.namespace"), jsonx_str(claim, "metadata.namespace")) &&
	       (!*uid || str_same(uid, jsonx_str(claim, "metadata.uid")));
}

static bool is_bound_to(const json_t *volume, const json_t *claim)
{
	return is_meant(volume, claim) && *jsonx_str_or(volume, "spec.claimRef.uid", "");
}

static bool is_free(const json_t *volume)
{
	const char *phase = jsonx_str_or(volume, "status.phase", "Pending");

	return !jsonx_at(volume, "spec.claimRef") && (streq(phase, "Available") || streq(phase, "Pending"));
}

static bool is_smaller(const json_t *a, const json_t *b)
{
	struct quantity x, y;
	int order;

	if (!b)
		return true;
	if (!amount(a, "spec.capacity.storage", &x) || !amount(b, "spec.capacity.storage", &y))
		return false;
	order = quantity_cmp(&x, &y);
	return order < 0 || (order == 0 && strcmp(name_of(a), name_of(b)) < 0);
}

/* The volume that waits for this claim, busy or not, else the smallest that fits. */
static const json_t *choose(const json_t *claim, const struct claim_view *v)
{
	const json_t *best = NULL;
	json_t *volume;
	size_t i;

	json_array_foreach ((json_t *)v->volumes, i, volume) {
		if (jsonx_at(volume, "metadata.deletionTimestamp"))
			continue;
		if (is_bound_to(volume, claim))
			return volume;
		if (misfit(volume, claim) || !is_selected(volume, claim))
			continue;
		if (is_meant(volume, claim))
			return volume;
		if (is_free(volume) && !json_object_get(v->busy, name_of(volume)) && is_smaller(volume, best))
			best = volume;
	}
	return best;
}

/* ---- claims ---- */

static const json_t *find_volume(const struct claim_view *v, const char *name)
{
	json_t *volume;
	size_t i;

	json_array_foreach ((json_t *)v->volumes, i, volume)
		if (streq(name_of(volume), name))
			return volume;
	return NULL;
}

static bool is_bound_status(const json_t *claim, const json_t *volume)
{
	return streq(jsonx_str_or(claim, "status.phase", ""), "Bound") &&
	       json_equal(jsonx_at(claim, "status.accessModes"), jsonx_at(volume, "spec.accessModes")) &&
	       json_equal(jsonx_at(claim, "status.capacity"), jsonx_at(volume, "spec.capacity"));
}

/* A chosen volume, brought one write further. */
static struct claim_plan bind(const json_t *claim, const json_t *volume)
{
	if (!is_bound_to(volume, claim))
		return with(CLAIM_TAKE, volume);
	if (!streq(jsonx_str_or(claim, "spec.volumeName", ""), name_of(volume)) || !annotation(claim, COMPLETED))
		return with(CLAIM_COMPLETE, volume);
	return with(is_bound_status(claim, volume) ? CLAIM_NOTHING : CLAIM_BOUND, volume);
}

static struct claim_plan lose(const json_t *claim, const char *reason, const char *message)
{
	bool known = streq(jsonx_str_or(claim, "status.phase", ""), "Lost");

	return warn(say(known ? CLAIM_NOTHING : CLAIM_LOST, reason, "%s", message));
}

/* Bound before: it stays with its volume or is lost. */
static struct claim_plan plan_completed(const json_t *claim, const struct claim_view *v)
{
	const char *name = jsonx_str_or(claim, "spec.volumeName", "");
	const json_t *volume = find_volume(v, name);

	if (!*name)
		return lose(claim, "ClaimLost",
			    "Bound claim has lost reference to PersistentVolume. Data on the volume is lost!");
	if (!volume)
		return lose(claim, "ClaimLost",
			    "Bound claim has lost its PersistentVolume. Data on the volume is lost!");
	if (jsonx_at(volume, "spec.claimRef") && !is_meant(volume, claim))
		return lose(claim, "ClaimMisbound",
			    "Two claims are bound to the same volume, this one is bound incorrectly");
	return bind(claim, volume);
}

/* The claim asks for one volume by name. */
static struct claim_plan plan_named(const json_t *claim, const char *name, const struct claim_view *v)
{
	const json_t *volume = find_volume(v, name);
	const char *why;

	if (!volume)
		return warn(say(CLAIM_NOTHING, "FailedBinding", "volume \"%s\" not found", name));
	if (json_object_get(v->busy, name))
		return (struct claim_plan){ 0 };
	if (jsonx_at(volume, "spec.claimRef") && !is_meant(volume, claim))
		return warn(
			say(CLAIM_NOTHING, "FailedBinding", "volume \"%s\" already bound to a different claim.", name));
	why = is_bound_to(volume, claim) ? NULL : misfit(volume, claim);
	if (why)
		return warn(
			say(CLAIM_NOTHING, "VolumeMismatch", "Cannot bind to requested volume \"%s\": %s", name, why));
	return bind(claim, volume);
}

/* No volume fits: who could make one? */
static struct claim_plan plan_provision(const json_t *claim, const struct claim_view *v)
{
	const char *class = jsonx_str_or(claim, "spec.storageClassName", "");
	const char *provisioner = jsonx_str_or(v->class, "provisioner", "");

	if (!*class)
		return say(CLAIM_NOTHING, "FailedBinding",
			   "no persistent volumes available for this claim and no storage class is set");
	if (!v->class)
		return warn(say(CLAIM_NOTHING, "ProvisioningFailed", "storageclass.storage.k8s.io \"%s\" not found",
				class));
	if (streq(provisioner, NO_PROVISIONER))
		return say(CLAIM_NOTHING, "FailedBinding", "no persistent volumes available for this claim");
	if (str_same(annotation(claim, PROVISIONER), provisioner))
		return say(CLAIM_NOTHING, "ExternalProvisioning",
			   "Waiting for a volume to be created either by the external provisioner '%s' or manually by "
			   "the system administrator. If volume creation is delayed, please verify that the "
			   "provisioner is running and correctly registered.",
			   provisioner);
	return with(CLAIM_PROVISION, NULL);
}

static struct claim_plan plan_open(const json_t *claim, const struct claim_view *v)
{
	const char *name = jsonx_str_or(claim, "spec.volumeName", "");
	bool waits = streq(jsonx_str_or(v->class, "volumeBindingMode", "Immediate"), "WaitForFirstConsumer");
	const json_t *volume;

	if (!streq(jsonx_str_or(claim, "status.phase", "Pending"), "Pending"))
		return with(CLAIM_PENDING, NULL);
	if (*name)
		return plan_named(claim, name, v);
	volume = choose(claim, v);
	if (volume && json_object_get(v->busy, name_of(volume)))
		return (struct claim_plan){ 0 };
	if (volume && jsonx_at(volume, "spec.claimRef"))
		return bind(claim, volume);
	if (waits && (v->use & CLAIM_USE_UNKNOWN))
		return with(CLAIM_LOOK, NULL);
	if (waits && !(v->use & CLAIM_USE_WANTED))
		return say(CLAIM_NOTHING, "WaitForFirstConsumer",
			   "waiting for first consumer to be created before binding");
	return volume ? bind(claim, volume) : plan_provision(claim, v);
}

struct claim_plan claim_plan(const json_t *claim, const struct claim_view *v)
{
	if (jsonx_at(claim, "metadata.deletionTimestamp")) {
		if (!has_finalizer(claim, CLAIM_FINALIZER) || (v->use & CLAIM_USE_MOUNTED))
			return (struct claim_plan){ 0 };
		return with(v->use & CLAIM_USE_UNKNOWN ? CLAIM_LOOK : CLAIM_LET_GO, NULL);
	}
	return annotation(claim, COMPLETED) ? plan_completed(claim, v) : plan_open(claim, v);
}

unsigned claim_use(const json_t *pods, const char *claim)
{
	unsigned use = 0;
	json_t *volume;
	json_t *pod;
	size_t i;
	size_t k;

	json_array_foreach ((json_t *)pods, i, pod) {
		const char *phase = jsonx_str_or(pod, "status.phase", "Pending");

		if (streq(phase, "Succeeded") || streq(phase, "Failed"))
			continue;
		json_array_foreach (jsonx_at(pod, "spec.volumes"), k, volume)
			if (str_same(jsonx_str(volume, "persistentVolumeClaim.claimName"), claim))
				use |= *jsonx_str_or(pod, "spec.nodeName", "") ? CLAIM_USE_WANTED | CLAIM_USE_MOUNTED
									       : CLAIM_USE_WANTED;
	}
	return use;
}

/* ---- volumes ---- */

static struct volume_plan phase(const json_t *volume, const char *want)
{
	struct volume_plan p = { .act = VOLUME_PHASE, .phase = want };

	if (streq(jsonx_str_or(volume, "status.phase", ""), want))
		p.act = VOLUME_NOTHING;
	return p;
}

/* Its claim is gone.  A provisioner deletes what it made; nobody else does. */
static struct volume_plan plan_released(const json_t *volume)
{
	const char *policy = jsonx_str_or(volume, "spec.persistentVolumeReclaimPolicy", "Retain");
	const char *now = jsonx_str_or(volume, "status.phase", "");
	struct volume_plan p;

	if (streq(now, "Failed"))
		return (struct volume_plan){ 0 };
	if (streq(now, "Released") &&
	    (streq(policy, "Recycle") || (streq(policy, "Delete") && !annotation(volume, PROVISIONED_BY)))) {
		p = phase(volume, "Failed");
		p.reason = streq(policy, "Delete") ? "VolumeFailedDelete" : "VolumeFailedRecycle";
		snprintf(p.message, sizeof(p.message),
			 "reclaim policy %s: no provisioner made this volume, so nobody %s", policy,
			 streq(policy, "Delete") ? "deletes it" : "empties it");
		return p;
	}
	return phase(volume, "Released");
}

struct volume_plan volume_plan(const json_t *volume, const json_t *claim)
{
	bool deleted = jsonx_at(volume, "metadata.deletionTimestamp");
	bool with_uid = *jsonx_str_or(volume, "spec.claimRef.uid", "");
	bool same = claim && is_bound_to(volume, claim);
	const char *chosen = jsonx_str_or(claim, "spec.volumeName", "");

	if (deleted && !same)
		return (struct volume_plan){ has_finalizer(volume, VOLUME_FINALIZER) ? VOLUME_LET_GO : VOLUME_NOTHING };
	if (!deleted && !has_finalizer(volume, VOLUME_FINALIZER))
		return (struct volume_plan){ VOLUME_PROTECT };
	if (!with_uid)
		return phase(volume, "Available");
	if (!same)
		return plan_released(volume);
	if (streq(chosen, name_of(volume)))
		return phase(volume, "Bound");
	/* It chose another.  What a provisioner made for it alone is of no use to anyone. */
	if (*chosen)
		return annotation(volume, PROVISIONED_BY) ? plan_released(volume)
							  : (struct volume_plan){ VOLUME_UNBIND };
	return (struct volume_plan){ 0 };
}
