// SPDX-License-Identifier: Apache-2.0
/* statefulset.c - does what statefulset_plan.c decides: one plan at a time for each StatefulSet
 *
 * A look goes as far as the next thing that must have been seen: first the template's revision, then the claims of a
 * pod, then the pod; and a claim that is to go with a pod is told so before the pod goes.
 */
#include "control/statefulset.h"

#include <ctype.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/keeper.h"
#include "control/statefulset_plan.h"

struct statefulsets {
	struct owned *owned;
	struct revisions *revisions;
	struct informer *claims;
	struct keeper *keeper;
};

/* A set while it is looked at. */
struct look {
	struct statefulsets *k;
	const char *key;
	const json_t *set;
	const struct pod_facts **pods;
	size_t n;
};

/* ---- claims ---- */

/* What it carries is {"set", "claim", "pod"}. */
static void on_claim_made(void *arg, const struct answer *a)
{
	struct statefulsets *k = keeper_arg(arg);
	const json_t *set = json_object_get(a->what, "set");
	const char *claim = jsonx_str_or(a->what, "claim", "");
	const char *pod = jsonx_str_or(a->what, "pod", "");
	const char *name = jsonx_str_or(set, "metadata.name", "");

	if (a->e->kind == ERR_NONE) {
		events_note(keeper_events(k->keeper), set, "Normal", "SuccessfulCreate",
			    "create Claim %s Pod %s in StatefulSet %s success", claim, pod, name);
		return;
	}
	/* One that is there is only not seen yet; a namespace on its way out takes nothing new. */
	if (a->e->kind == ERR_EXISTS || (a->e->ncauses && a->e->causes[0].kind == CAUSE_TERMINATING))
		return;
	keeper_refused(k->keeper, a->key, a->e->text);
	events_note(keeper_events(k->keeper), set, "Warning", "FailedCreate",
		    "create Claim %s for Pod %s in StatefulSet %s failed error: %s", claim, pod, name, a->e->text);
}

static void make_claim(const struct look *l, size_t i, int64_t ordinal, const char *pod)
{
	json_auto_t *claim = set_claim(l->set, i, ordinal);
	struct ref ref = { .api_version = "v1",
			   .plural = "persistentvolumeclaims",
			   .ns = jsonx_str(l->set, "metadata.namespace") };
	json_auto_t *what = json_pack("{s:O, s:s, s:s}", "set", l->set, "claim",
				      jsonx_str_or(claim, "metadata.name", ""), "pod", pod);

	calls_create(keeper_calls(l->k->keeper), l->key, &ref, claim, on_claim_made, what);
}

static const json_t *find_claim(const struct look *l, const char *name)
{
	return informer_find(l->k->claims, jsonx_str_or(l->set, "metadata.namespace", ""), name);
}

static void tell_stale(const struct look *l, const char *pod, const char *claim)
{
	auto_free char *why = xasprintf("pvc %s is being deleted", claim);

	keeper_refused(l->k->keeper, l->key, why);
	events_note(keeper_events(l->k->keeper), l->set, "Warning", "FailedCreate",
		    "create Pod %s in StatefulSet %s failed error: %s", pod, jsonx_str_or(l->set, "metadata.name", ""),
		    why);
}

/* Whether a pod that is to be made has all its claims; those that are missing are made. */
static bool claims_ready(const struct look *l, int64_t ordinal)
{
	auto_free char *pod = xasprintf("%s-%lld", jsonx_str_or(l->set, "metadata.name", ""), (long long)ordinal);
	bool ready = true;
	char *name;

	for (size_t i = 0; (name = set_claim_name(l->set, i, ordinal)); i++) {
		const json_t *claim = find_claim(l, name);

		if (!claim)
			make_claim(l, i, ordinal, pod);
		else if (set_claim_is_stale(claim, pod))
			tell_stale(l, pod, name);
		ready = ready && claim && !set_claim_is_stale(claim, pod);
		free(name);
	}
	return ready;
}

/* The retention policy of one claim of a pod that exists; true if it was written. */
static bool settle_claim(const struct look *l, const struct pod_facts *pod, const json_t *claim)
{
	struct ref ref = calls_ref("v1", "persistentvolumeclaims", claim);
	json_auto_t *patch = jsonx_at(claim, "metadata.deletionTimestamp") ? NULL : set_claim_patch(l->set, pod, claim);

	if (patch)
		calls_patch(keeper_calls(l->k->keeper), l->key, &ref, "strategic", patch, NULL, NULL);
	return patch != NULL;
}

/* True if the policy was written for any of them: no pod may go before that is seen. */
static bool settle_claims(const struct look *l)
{
	bool written = false;

	for (size_t n = 0; n < l->n; n++) {
		const struct pod_facts *pod = l->pods[n];
		int64_t ordinal = set_ordinal(l->set, pod->name);
		char *name;

		for (size_t i = 0; !pod->deleting && (name = set_claim_name(l->set, i, ordinal)); i++) {
			const json_t *claim = find_claim(l, name);

			if (claim)
				written = settle_claim(l, pod, claim) || written;
			else if (pod->phase == POD_IS_PENDING && set_wants(l->set, ordinal))
				make_claim(l, i, ordinal, pod->name);
			free(name);
		}
	}
	return written;
}

/* ---- one set ---- */

static void remove_pod(const struct look *l, const struct set_removal *r)
{
	const char *ns = jsonx_str_or(l->set, "metadata.namespace", "");
	const char *name = jsonx_str_or(l->set, "metadata.name", "");
	bool failed = r->pod->phase == POD_IS_FAILED;

	if (r->why == SET_ENDED)
		events_note(keeper_events(l->k->keeper), l->set, failed ? "Warning" : "Normal",
			    failed ? "RecreatingFailedPod" : "RecreatingTerminatedPod",
			    "StatefulSet %s/%s is recreating %s Pod %s", ns, name, failed ? "failed" : "terminated",
			    r->pod->name);
	keeper_remove_pod(l->k->keeper, l->key, l->set, r->pod);
}

static void apply(const struct look *l, const struct set_plan *p)
{
	bool deleting = jsonx_at(l->set, "metadata.deletionTimestamp") != NULL;
	bool settled = deleting || !settle_claims(l);

	for (size_t i = 0; i < p->ncreate; i++)
		if (claims_ready(l, p->create[i].ordinal)) {
			json_auto_t *pod = set_pod(l->set, &p->create[i]);

			keeper_create_pod(l->k->keeper, l->key, l->set, pod);
		}
	for (size_t i = 0; settled && i < p->nremove; i++)
		remove_pod(l, &p->remove[i]);
	keeper_write_status(l->k->keeper, l->key, l->set, p->status);
	if (p->again >= 0)
		keeper_look_after(l->k->keeper, l->key, clock_until_ms(p->again));
}

/* Plans on revisions that are all there: `update` is the template's, or NULL in a set that goes. */
static void plan_pods(const struct look *l, const struct revision_view *r, const struct revision *update)
{
	const struct revision *current = revision_find(r->all, r->n, jsonx_str(l->set, "status.currentRevision"));
	struct set_view v = { .set = l->set,
			      .pods = l->pods,
			      .n = l->n,
			      .current = current ? current : update,
			      .update = update,
			      .now = clock_wall(),
			      .create_most = keeper_failures(l->k->keeper, l->key) ? 1 : SET_CREATE_MOST,
			      .refused = keeper_create_error(l->k->keeper, l->key) };
	struct set_plan p;

	set_plan(&v, &p);
	apply(l, &p);
	set_plan_done(&p);
}

/* Revisions first: a pod is made of one. */
static void plan_revisions(const struct look *l, struct revision_view *r)
{
	auto_free const char **used = xcalloc(l->n + 1, sizeof(*used));
	struct calls *calls = keeper_calls(l->k->keeper);
	struct revision_plan p;

	for (size_t i = 0; i < l->n; i++)
		used[i] = json_string_value(
			json_object_get(jsonx_at(l->pods[i]->obj, "metadata.labels"), LABEL_REVISION_HASH));
	used[l->n] = jsonx_str(l->set, "status.currentRevision");
	r->used = used;
	r->nused = l->n + 1;
	if (revisions_adopt(l->k->revisions, calls, l->key, r))
		return;
	revision_plan(r, &p);
	if (!revision_apply(calls, l->key, r, &p))
		plan_pods(l, r, p.update);
	revision_plan_done(&p);
}

static void plan(void *arg, const char *key, const json_t *set)
{
	struct statefulsets *k = arg;
	const char *uid = jsonx_str_or(set, "metadata.uid", "");
	struct owned_list own = owned_by(k->owned, uid);
	auto_free const struct pod_facts **pods = xcalloc(own.n + 1, sizeof(*pods));
	struct look l = { .k = k, .key = key, .set = set, .pods = pods, .n = own.n };
	struct revision_view r = { .api_version = SET_VERSION, .kind = SET_KIND, .plural = SET_PLURAL, .owner = set };
	struct revision *all;

	for (size_t i = 0; i < own.n; i++)
		pods[i] = &own.pods[i]->facts;
	r.n = revisions_of(k->revisions, uid, &all);
	r.all = all;
	if (jsonx_at(set, "metadata.deletionTimestamp"))
		plan_pods(&l, &r, revision_find(r.all, r.n, jsonx_str(set, "status.updateRevision")));
	else
		plan_revisions(&l, &r);
	free(all);
}

/* ---- what happens ---- */

static bool is_member(const json_t *set, const json_t *pod)
{
	return set_ordinal(set, jsonx_str_or(pod, "metadata.name", "")) >= 0;
}

static char *pod_event(const json_t *set, const char *verb, const char *pod, const char *error)
{
	const char *name = jsonx_str_or(set, "metadata.name", "");

	return error ? xasprintf("%s Pod %s in StatefulSet %s failed error: %s", verb, pod, name, error)
		     : xasprintf("%s Pod %s in StatefulSet %s successful", verb, pod, name);
}

/* The length of a name without "-<number>", or 0. */
static size_t stem_of(const char *name)
{
	size_t n = strlen(name);

	while (n && isdigit((unsigned char)name[n - 1]))
		n--;
	return n > 1 && name[n] && name[n - 1] == '-' ? n - 1 : 0;
}

static void look_at(struct statefulsets *k, const char *ns, const char *name, size_t n)
{
	auto_free char *key = xasprintf("%s/%.*s", ns, (int)n, name);

	if (keeper_find(k->keeper, key))
		keeper_look(k->keeper, key);
}

/* A set may wait for the name of a pod that was not its own. */
static void on_gone(void *arg, const struct pod_facts *pod)
{
	look_at(arg, jsonx_str_or(pod->obj, "metadata.namespace", ""), pod->name, stem_of(pod->name));
}

/* "<template>-<set>-<number>": where the template's name ends, its author knows; so every end is tried. */
static void on_claim(void *arg, const json_t *obj, const json_t *old)
{
	struct statefulsets *k = arg;
	const json_t *any = obj ? obj : old;
	const char *name = jsonx_str_or(any, "metadata.name", "");
	size_t n = stem_of(name);

	for (const char *p = name; k->keeper && (p = memchr(p, '-', n - (size_t)(p - name)));) {
		p++;
		look_at(k, jsonx_str_or(any, "metadata.namespace", ""), p, n - (size_t)(p - name));
	}
}

static void on_revision(void *arg, const char *key)
{
	struct statefulsets *k = arg;

	if (k->keeper)
		keeper_look(k->keeper, key);
}

static void on_synced(void *arg)
{
	struct statefulsets *k = arg;

	if (k->keeper)
		keeper_start(k->keeper);
}

static bool is_synced(void *arg)
{
	const struct statefulsets *k = arg;

	return k->claims && informer_synced(k->claims) && revisions_synced(k->revisions);
}

static const struct keeper_kind kind = {
	.api_version = SET_VERSION,
	.kind = SET_KIND,
	.plural = SET_PLURAL,
	.component = "statefulset-controller",
	.plan = plan,
	.pod_changed = keeper_pod_counts,
	.synced = is_synced,
	.is_member = is_member,
	.pod_gone = on_gone,
	.pod_event = pod_event,
};

struct statefulsets *statefulsets_new(struct client *c, struct owned *owned)
{
	struct statefulsets *k = xcalloc(1, sizeof(*k));
	struct ref claims = { .api_version = "v1", .plural = "persistentvolumeclaims" };

	k->owned = owned;
	k->revisions = revisions_new(c);
	revisions_follow(k->revisions, &(struct revisions_handlers){ SET_KIND, on_revision, on_synced, k });
	k->claims = informer_new(c, &claims, NULL,
				 &(struct informer_handlers){ .change = on_claim, .synced = on_synced, .arg = k });
	k->keeper = keeper_new(c, owned, &kind, k);
	return k;
}

void statefulsets_free(struct statefulsets *k)
{
	if (!k)
		return;
	revisions_free(k->revisions);
	informer_free(k->claims);
	keeper_free(k->keeper);
	free(k);
}

struct workqueue_counts statefulsets_counts(const struct statefulsets *k)
{
	return keeper_counts(k->keeper);
}
