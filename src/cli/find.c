// SPDX-License-Identifier: Apache-2.0
/* find.c - see find.h
 *
 * All questions go out together and the loop is turned until the last answer is in, so a name costs one round trip
 * however many kinds there are.
 */
#include "cli/find.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/builtin.h"
#include "kinds/core.h"
#include "kinds/names.h"
#include "kinds/pbs_id.h"
#include "kinds/rest.h"

/* ---- words for kinds ---- */

const struct kind *find_kind(struct str word)
{
	const struct kind *const *const tables[] = { workloads, kinds_core, kinds_rest };

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (size_t i = 0; tables[t][i]; i++)
			if (kind_is_called(tables[t][i], word))
				return tables[t][i];
	return NULL;
}

int find_cut(const char *arg, const struct kind **ret_kind, const char **ret_name, struct err *e)
{
	const char *slash = strchr(arg, '/');
	const struct kind *k = NULL;

	if (slash) {
		k = find_kind((struct str){ arg, (size_t)(slash - arg) });
		if (!k)
			return err_set(
				e, ERR_BAD_REQUEST,
				"\"%.*s\" is no kind of workload; there are pod, job, cronjob, tfjob, pytorchjob, "
				"paddlejob, mpijob, pbsjob, notebook, build, inferenceservice, deployment, "
				"statefulset, daemonset, replicaset and replicationcontroller",
				(int)(slash - arg), arg);
	}
	if (slash ? !slash[1] : !*arg)
		return err_set(e, ERR_BAD_REQUEST, "\"%s\" has no name: write KIND/NAME or NAME", arg);
	*ret_kind = k;
	*ret_name = slash ? slash + 1 : arg;
	return 0;
}

bool find_pbs_id(const struct kind *k, const char *name, struct find_pbs *ret)
{
	int64_t element = -1;
	struct pbs_id id;

	if ((k && k != &kind_pbsjob) || !strpbrk(name, ".[@") || !pbs_id_parse(name, &id) ||
	    (*id.elements && !str_int64(id.elements, 0, INT32_MAX, &element)))
		return false;
	snprintf(ret->job, sizeof(ret->job), "%" PRId64, id.sequence);
	ret->element = element;
	return true;
}

/* ---- one that was found ---- */

void found_init(struct found *f, const struct kind *k, const json_t *obj)
{
	*f = (struct found){ .kind = k,
			     .ns = xstrdup(jsonx_str_or(obj, "metadata.namespace", "")),
			     .name = xstrdup(jsonx_str_or(obj, "metadata.name", "")),
			     .obj = json_incref((json_t *)obj) };
	kind_api_version(k, f->api_version, sizeof(f->api_version));
}

void found_done(struct found *f)
{
	free(f->ns);
	free(f->name);
	json_decref(f->obj);
	*f = (struct found){ 0 };
}

struct ref found_ref(const struct found *f)
{
	return (struct ref){ .api_version = f->api_version, .plural = f->kind->plural, .ns = f->ns, .name = f->name };
}

void found_title(const struct found *f, struct sbuf *out)
{
	sbuf_addf(out, "%s/%s", f->kind->singular, f->name);
}

/* ---- many questions at once ---- */

struct question {
	json_t **ret;
	const struct kind *kind;
	size_t *pending;
	struct err e;
};

void find_type_items(json_t *list, const struct kind *k)
{
	char version[64];
	json_t *item;
	size_t i;

	kind_api_version(k, version, sizeof(version));
	json_array_foreach (json_object_get(list, "items"), i, item) {
		json_object_set_new(item, "apiVersion", json_string(version));
		json_object_set_new(item, "kind", json_string(k->kind));
	}
}

static void on_list(void *arg, const json_t *obj, const struct err *e)
{
	struct question *q = arg;

	--*q->pending;
	q->e = *e;
	if (e->kind != ERR_NONE)
		return;
	*q->ret = json_incref((json_t *)obj);
	find_type_items(*q->ret, q->kind);
}

/* The error of all of them: none if there is a list, unless the server is in trouble. */
static int verdict(const struct question *qs, size_t n, struct err *e)
{
	const struct err *worst = NULL;
	bool any = false;

	for (size_t i = 0; i < n; i++) {
		any |= qs[i].e.kind == ERR_NONE;
		if (qs[i].e.kind == ERR_NONE || qs[i].e.kind == ERR_NOT_FOUND)
			continue;
		if (qs[i].e.kind != ERR_FORBIDDEN) {
			*e = qs[i].e;
			return -1;
		}
		worst = worst ? worst : &qs[i].e;
	}
	if (any || !worst)
		return 0;
	*e = *worst;
	return -1;
}

int find_lists(struct client *c, const struct kind *const *kinds, size_t n, const char *ns,
	       const struct list_options *o, json_t **lists, struct err *e)
{
	auto_free struct question *qs = xcalloc(n, sizeof(*qs));
	size_t pending = n;
	int r;

	for (size_t i = 0; i < n; i++) {
		char version[64];
		struct ref ref = { .api_version = version, .plural = kinds[i]->plural, .ns = ns };

		kind_api_version(kinds[i], version, sizeof(version));
		lists[i] = NULL;
		qs[i] = (struct question){ .ret = &lists[i], .kind = kinds[i], .pending = &pending };
		if (!kinds[i]->namespaced)
			ref.ns = NULL;
		c->ops->list(c, &ref, o, on_list, &qs[i]);
	}
	while (pending)
		loop_turn(c->loop, false);
	r = verdict(qs, n, e);
	for (size_t i = 0; r < 0 && i < n; i++) {
		json_decref(lists[i]);
		lists[i] = NULL;
	}
	return r;
}

/* ---- one name ---- */

const json_t *find_controller(const json_t *obj)
{
	json_t *o;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, o)
		if (jsonx_bool_or(o, "controller", false))
			return o;
	return NULL;
}

/* Was it made by a workload, so that it is that one which people mean? */
static bool made_by_workload(const json_t *obj)
{
	const json_t *owner = find_controller(obj);

	return owner && workload_of(owner);
}

static int say_candidates(const char *name, const json_t *all, bool only_roots, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(700);
	json_t *obj;
	size_t i;

	json_array_foreach ((json_t *)all, i, obj) {
		struct found f;

		if (only_roots && made_by_workload(obj))
			continue;
		found_init(&f, workload_of(obj), obj);
		if (text.n)
			sbuf_adds(&text, ", ");
		found_title(&f, &text);
		sbuf_addf(&text, " -n %s", f.ns);
		found_done(&f);
	}
	return err_set(e, ERR_CONFLICT, "\"%s\" is the name of several workloads; say which one: %s", name, text.p);
}

static int none_found(const char *name, const char *ns, struct err *e)
{
	if (ns)
		return err_set(
			e, ERR_NOT_FOUND,
			"there is no workload \"%s\" in namespace \"%s\"; `stoker ps -a` shows what there is, and -n "
			"looks in another namespace",
			name, ns);
	return err_set(e, ERR_NOT_FOUND,
		       "there is no workload \"%s\" in any namespace; `stoker ps -a -A` shows what there is", name);
}

static int choose(const char *name, const char *ns, const json_t *all, struct found *ret, struct err *e)
{
	const json_t *root = NULL;
	json_t *obj;
	size_t roots = 0;
	size_t i;

	json_array_foreach ((json_t *)all, i, obj)
		if (!made_by_workload(obj)) {
			root = obj;
			roots++;
		}
	if (!json_array_size(all))
		return none_found(name, ns, e);
	if (roots > 1 || (!roots && json_array_size(all) > 1))
		return say_candidates(name, all, roots > 0, e);
	root = root ? root : json_array_get(all, 0);
	found_init(ret, workload_of(root), root);
	return 0;
}

static int find_any(struct client *c, const struct kind *const *kinds, size_t n, const char *name, const char *ns,
		    struct found *ret, struct err *e)
{
	auto_free char *field = xasprintf("metadata.name=%s", name);
	auto_free json_t **lists = xcalloc(n, sizeof(json_t *));
	json_auto_t *all = json_array();
	int r = find_lists(c, kinds, n, ns, &(struct list_options){ .fields = field }, lists, e);

	for (size_t i = 0; i < n; i++) {
		json_array_extend(all, json_object_get(lists[i], "items"));
		json_decref(lists[i]);
	}
	return r < 0 ? -1 : choose(name, ns, all, ret, e);
}

static int find_exact(struct client *c, const struct kind *k, const char *name, const char *ns, struct found *ret,
		      struct err *e)
{
	char version[64];
	struct ref ref = { .api_version = version, .plural = k->plural, .ns = k->namespaced ? ns : NULL, .name = name };
	json_auto_t *obj = NULL;

	kind_api_version(k, version, sizeof(version));
	if (client_get_wait(c, &ref, &obj, e) < 0) {
		if (e->kind == ERR_NOT_FOUND && ref.ns)
			err_set(e, ERR_NOT_FOUND,
				"there is no %s \"%s\" in namespace \"%s\"; `stoker ps -a` shows what there is, and -n "
				"looks in "
				"another namespace",
				k->singular, name, ns);
		return -1;
	}
	found_init(ret, k, obj);
	return 0;
}

/* The pod of its last run, that of the script. */
static int find_element(struct client *c, const struct find_pbs *id, const char *ns, struct found *ret, struct err *e)
{
	auto_free char *label = xasprintf("stoker.dev/pbsjob=%s,stoker.dev/pbs-index=%" PRId64, id->job, id->element);
	const struct kind *const pod = &kind_pod;
	const json_t *last = NULL;
	json_auto_t *list = NULL;
	json_t *obj;
	size_t i;

	if (find_lists(c, &pod, 1, ns, &(struct list_options){ .labels = label }, &list, e) < 0)
		return -1;
	json_array_foreach (json_object_get(list, "items"), i, obj)
		if (!last || strcmp(jsonx_str_or(obj, "metadata.creationTimestamp", ""),
				    jsonx_str_or(last, "metadata.creationTimestamp", "")) > 0)
			last = obj;
	if (!last)
		return err_set(e, ERR_NOT_FOUND,
			       "element %" PRId64 " of pbsjob/%s has no pod now; `qstat -f '%s[%" PRId64
			       "]'` shows how it stands",
			       id->element, id->job, id->job, id->element);
	found_init(ret, pod, last);
	ret->element = true;
	return 0;
}

static int find_pbs(struct client *c, const struct find_pbs *id, const char *ns, struct found *ret, struct err *e)
{
	const struct kind *const k = &kind_pbsjob;

	if (id->element >= 0)
		return find_element(c, id, ns, ret, e);
	return ns ? find_exact(c, k, id->job, ns, ret, e) : find_any(c, &k, 1, id->job, ns, ret, e);
}

int find_one(struct client *c, const char *arg, const char *ns, bool any_kind, struct found *ret, struct err *e)
{
	const struct kind *k = NULL;
	struct find_pbs id;
	const char *complaint;
	const char *name = NULL;

	if (find_cut(arg, &k, &name, e) < 0)
		return -1;
	if (k && !any_kind && !is_workload(k))
		return err_set(e, ERR_BAD_REQUEST, "%s is no workload: nothing of it runs", arg);
	complaint = name_check(k ? k->name_rule : NAME_SUBDOMAIN, name);
	if (find_pbs_id(k, name, &id)) {
		/* "5.vm" may be a name as well. */
		if (find_pbs(c, &id, ns, ret, e) == 0)
			return 0;
		if (e->kind != ERR_NOT_FOUND || complaint)
			return -1;
		err_clear(e);
	}
	if (complaint)
		return err_set(e, ERR_BAD_REQUEST, "\"%s\" cannot be a name: %s", name, complaint);
	if (k && (ns || !k->namespaced))
		return find_exact(c, k, name, ns, ret, e);
	return find_any(c, k ? &k : workloads, k ? 1 : workloads_count(), name, ns, ret, e);
}

/* ---- its pods ---- */

/* What stands between a workload and its pods. */
static const struct {
	const struct kind *kind, *between;
} chains[] = {
	{ &kind_deployment, &kind_replica_set },
	{ &kind_cron_job, &kind_job },
	{ &kind_inference_service, &kind_deployment },
	{ &kind_notebook, &kind_stateful_set },
};

static void add_owned(const json_t *list, const struct map *owners, json_t *out)
{
	json_t *obj;
	size_t i;

	json_array_foreach (json_object_get(list, "items"), i, obj) {
		const char *uid = jsonx_str(find_controller(obj), "uid");

		if (uid && map_find(owners, uid))
			json_array_append(out, obj);
	}
}

static const struct kind *between(const struct kind *k)
{
	for (size_t i = 0; i < ARRAY_SIZE(chains); i++)
		if (chains[i].kind == k)
			return chains[i].between;
	return NULL;
}

/* Adds the uids of what `f` made and what makes pods in its turn. */
static int add_between(struct client *c, const struct found *f, struct map *owners, struct err *e)
{
	for (const struct kind *k = between(f->kind); k; k = between(k)) {
		json_auto_t *list = NULL;
		json_auto_t *made = json_array();
		json_t *obj;
		size_t i;

		if (find_lists(c, &k, 1, f->ns, NULL, &list, e) < 0)
			return -1;
		add_owned(list, owners, made);
		json_array_foreach (made, i, obj)
			map_set(owners, jsonx_str_or(obj, "metadata.uid", ""), (void *)f);
	}
	return 0;
}

int find_pods(struct client *c, const struct found *f, json_t **ret_pods, struct err *e)
{
	const struct kind *const pod = &kind_pod;
	const char *uid = jsonx_str_or(f->obj, "metadata.uid", "");
	/* Pods of Jobs carry this label in every version of Kubernetes; it spares a list of the whole namespace. */
	auto_free char *label = f->kind == &kind_job ? xasprintf("controller-uid=%s", uid) : NULL;
	json_auto_t *list = NULL;
	json_t *pods = json_array();
	struct map owners;
	int r;

	map_init(&owners, NULL);
	map_set(&owners, uid, (void *)f);
	if (f->kind == &kind_pod) {
		json_array_append(pods, f->obj);
		r = 0;
	} else if ((r = add_between(c, f, &owners, e)) == 0) {
		r = find_lists(c, &pod, 1, f->ns, &(struct list_options){ .labels = label }, &list, e);
		add_owned(list, &owners, pods);
	}
	map_done(&owners);
	if (r < 0)
		json_decref(pods);
	else
		*ret_pods = pods;
	return r;
}
