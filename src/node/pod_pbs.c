// SPDX-License-Identifier: Apache-2.0
/* pod_pbs.c - from a pod and the PBS job that controls it to a process of the host
 *
 * The job is fetched once, when the pod is to be started.  Where it runs on several nodes its controller must have said
 * which (status.execHost), for they are in the node file: until then the job is followed.  A job of one pod waits for
 * nobody: this node is all there is to say.
 *
 * Whose process it is the job says (spec.owner, which only the API writes).  The API has also put into the pod the
 * number of the user in whose name it was made; if that is another, nothing is run.
 */
#include "node/pod_pbs.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_element.h"
#include "kinds/pbs_id.h"
#include "kinds/quantity.h"
#include "monitor/protocol.h"
#include "node/host_users.h"
#include "node/idmap.h"
#include "node/pbs_files.h"
#include "node/pbs_programs.h"

#define INDEX_LABEL   "stoker.dev/pbs-index"
#define RANK_LABEL    "stoker.dev/pbs-rank"
#define OWNER_UID     "stoker.dev/uid"
#define GANG_SIZE     "stoker.dev/gang-size"
#define ASK_AGAIN_MS  1000
#define NODE_FILE     "PBS_NODEFILE="
#define IN_CONTAINERS "/var/spool/pbs"

/* ---- whose pod it is ---- */

static const json_t *controller_of(const json_t *obj)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, ref)
		if (jsonx_bool_or(ref, "controller", false) && str_same(jsonx_str(ref, "kind"), "PBSJob"))
			return ref;
	return NULL;
}

static int number_in(const json_t *map, const char *key, int fallback)
{
	const char *text = json_string_value(json_object_get(map, key));
	int64_t n;

	return text && str_int64(text, 0, INT32_MAX, &n) ? (int)n : fallback;
}

void pod_pbs_init(struct pod *p)
{
	const json_t *labels = jsonx_at(p->obj, "metadata.labels");
	const json_t *notes = jsonx_at(p->obj, "metadata.annotations");
	bool process = str_same(jsonx_str(p->obj, "spec.runtimeClassName"), PBS_HOST_CLASS);

	if (p->parts->fake || (!process && !controller_of(p->obj)))
		return;
	p->process = process;
	p->pbs = xcalloc(1, sizeof(*p->pbs));
	p->pbs->index = number_in(labels, INDEX_LABEL, PBS_PLAIN);
	p->pbs->rank = number_in(labels, RANK_LABEL, 0);
	p->pbs->alone = number_in(notes, GANG_SIZE, 1) < 2;
}

void pod_pbs_done(struct pod *p)
{
	if (!p->pbs)
		return;
	if (p->pbs->asked)
		p->pbs->asked->pod = NULL;
	informer_free(p->pbs->follow);
	loop_timer_done(&p->pbs->look);
	loop_timer_done(&p->pbs->stop);
	json_decref(p->pbs->job);
	free(p->pbs);
	p->pbs = NULL;
}

/* ---- the job ---- */

static int64_t memory_limit(const struct ctr *c)
{
	const char *text = jsonx_str(c->spec, "resources.limits.memory");
	struct quantity q;

	return text && quantity_parse(text, &q) ? quantity_value(&q) : 0;
}

static void take_job(struct pod *p, const json_t *job)
{
	const json_t *ref = controller_of(p->obj);

	/* Another of the same name is none of ours. */
	if (!str_same(jsonx_str(job, "metadata.uid"), jsonx_str_or(ref, "uid", "")))
		return;
	json_decref(p->pbs->job);
	p->pbs->job = pbs_element_view(job, p->pbs->index);
	p->pbs->limits = pbs_limits_of(p->pbs->job);
	/* Of this node, and of pmem if there is no mem. */
	p->pbs->limits.mem = p->n ? memory_limit(&p->ctrs[p->n - 1]) : 0;
	pod_kick(p);
}

static void on_ask_again(void *arg)
{
	pod_kick(arg);
}

static void on_job(void *arg, const json_t *obj, const struct err *e)
{
	struct pbs_question *q = arg;
	struct pod *p = q->pod;

	free(q);
	if (!p)
		return;
	p->pbs->asked = NULL;
	if (e->kind == ERR_NONE)
		take_job(p, obj);
	if (p->pbs->job)
		return;
	/* A job that is gone takes its pods along; what else it may be passes. */
	p->pbs->look = (struct loop_timer){ .fire = on_ask_again, .arg = p };
	loop_timer_set(p->parts->loop, &p->pbs->look, ASK_AGAIN_MS);
}

static void ask(struct pod *p, const char *name)
{
	struct ref ref = { .api_version = "stoker.dev/v1", .plural = "pbsjobs", .ns = p->ns, .name = name };
	struct pbs_question *q;

	if (p->pbs->asked || loop_timer_pending(&p->pbs->look))
		return;
	q = xcalloc(1, sizeof(*q));
	q->pod = p;
	p->pbs->asked = q;
	p->parts->client->ops->get(p->parts->client, &ref, on_job, q);
}

static void on_job_changed(void *arg, const json_t *obj, const json_t *old)
{
	(void)old;
	if (obj)
		take_job(arg, obj);
}

static void follow(struct pod *p, const char *name)
{
	struct ref ref = { .api_version = "stoker.dev/v1", .plural = "pbsjobs", .ns = p->ns };
	struct informer_handlers h = { .change = on_job_changed, .arg = p };
	auto_free char *field = xasprintf("metadata.name=%s", name);

	if (!p->pbs->follow)
		p->pbs->follow = informer_new(p->parts->client, &ref, &(struct list_options){ .fields = field }, &h);
}

/* Is what the job says of its nodes about this run of it? */
static bool says_nodes(const struct pod *p)
{
	const json_t *job = p->pbs->job, *run = json_object_get(job, "status");
	json_t *one;
	size_t i;

	if (p->pbs->alone)
		return true;
	if (!pbs_process_hosts(job, p->pbs->index, "execHost"))
		return false;
	json_array_foreach (jsonx_at(job, "status.active"), i, one)
		if (p->pbs->index >= 0 && jsonx_int_or(one, "index", -1) == p->pbs->index)
			run = one;
	json_array_foreach (json_object_get(run, "pods"), i, one)
		if (str_same(json_string_value(one), p->name))
			return true;
	return json_array_size(json_object_get(run, "pods")) == 0;
}

bool pod_pbs_ready(struct pod *p)
{
	const json_t *ref = controller_of(p->obj);
	struct err e = ERR_INIT;

	if (!ref) {
		err_set(&e, ERR_INVALID, START_NO_EXEC ": only a PBSJob has processes of the host");
		pod_pbs_fault(p, &e);
		return false;
	}
	if (!p->pbs->job) {
		ask(p, jsonx_str_or(ref, "name", ""));
		return false;
	}
	if (!says_nodes(p)) {
		follow(p, jsonx_str_or(ref, "name", ""));
		return false;
	}
	informer_free(p->pbs->follow);
	p->pbs->follow = NULL;
	return true;
}

bool pod_pbs_fault(struct pod *p, const struct err *e)
{
	static const char *const words[] = { START_NO_OUTPUT, START_NO_DIR, START_NO_EXEC, START_NO_MEMORY };

	for (size_t i = 0; e->kind == ERR_INVALID && i < ARRAY_SIZE(words); i++) {
		size_t n = strlen(words[i]);

		if (!str_starts(e->text, words[i]) || e->text[n] != ':')
			continue;
		pod_fail(p, words[i], e->text + n + 2);
		return true;
	}
	return false;
}

/* ---- the user ---- */

/* -W group_list=group[@host],...: the group it runs as. */
static int choose_group(const struct pod *p, struct pbs_account *a, struct err *e)
{
	json_t *v;
	size_t i;

	json_array_foreach (jsonx_at(p->pbs->job, "spec.groupList"), i, v) {
		const char *text = json_string_value(v), *at = strchr(text, '@');
		auto_free char *name = xstrndup(text, at ? (size_t)(at - text) : strlen(text));

		if (at && !streq(at + 1, p->parts->host))
			continue;
		if (host_user_has_group(a, name, &a->gid))
			return 0;
		return err_set(e, ERR_INVALID, START_NO_EXEC ": %s is not in group %s", a->name, name);
	}
	return 0;
}

static int find_account(const struct pod *p, struct pbs_account *ret, struct err *e)
{
	const char *owner = jsonx_str_or(p->pbs->job, "spec.owner", "");
	auto_free char *name = xstrndup(owner, strcspn(owner, "@"));
	const char *made_by = json_string_value(json_object_get(jsonx_at(p->obj, "metadata.annotations"), OWNER_UID));
	const struct pbs_account *found;
	int64_t uid;

	if (host_users_get(p->parts->users, name, &found, e) < 0) {
		auto_free char *why = xstrdup(e->text);

		return e->kind == ERR_NOT_FOUND ? err_set(e, ERR_INVALID, START_NO_EXEC ": %s", why) : -1;
	}
	*ret = *found;
	if (ret->uid == 0)
		return err_set(e, ERR_INVALID, START_NO_EXEC ": root's jobs are not run");
	if (made_by && (!str_int64(made_by, 0, UINT32_MAX, &uid) || uid != ret->uid))
		return err_set(e, ERR_INVALID, START_NO_EXEC ": the job is %s's, but user %s has made it", name,
			       made_by);
	return choose_group(p, ret, e);
}

/* ---- the process ---- */

size_t pod_pbs_cards(const struct pod *p, int *ret, size_t max)
{
	const struct pod *of = p->inside ? pod_inside_host(p) : p;

	if (!of || !of->pbs || !of->pbs->job || of->pbs->alone)
		return 0;
	return pbs_process_cards(of->pbs->job, of->pbs->index, of->parts->host, ret, max);
}

static size_t cards_of(const struct pod *p, int *ret, size_t max)
{
	auto_free char *text = gpus_of(p->parts->gpus, p->uid);
	struct str rest = str_of(text), one;
	size_t n = pod_pbs_cards(p, ret, max);

	if (n)
		return n;
	while (rest.n && n < max && str_split(&rest, ',', &one)) {
		auto_free char *number = xstrndup(one.p, one.n);
		int64_t index;

		if (str_int64(number, 0, INT32_MAX, &index))
			ret[n++] = (int)index;
	}
	return n;
}

static struct pbs_place place_of(const struct pod *p, const struct pbs_account *a, const char *dir, const int *cards,
				 size_t n)
{
	return (struct pbs_place){
		.job = p->pbs->job,
		.index = p->pbs->index,
		.rank = p->pbs->rank,
		.alone = p->pbs->alone,
		.account = a,
		.node = p->parts->host,
		.dir = dir,
		.socket = p->parts->socket,
		.cards = cards,
		.ncards = n,
	};
}

/* Devices of cards that others have, or nobody. */
static size_t foreign_cards(const struct pod *p, const int *own, size_t nown, struct cgroup_device *ret, size_t max)
{
	json_auto_t *nodes = gpus_withheld(p->parts->gpus, own, nown);
	json_t *node;
	size_t i, n = 0;

	json_array_foreach (nodes, i, node)
		if (n < max)
			ret[n++] = (struct cgroup_device){ (unsigned)jsonx_int_or(node, "major", 0),
							   (unsigned)jsonx_int_or(node, "minor", 0) };
	return n;
}

/* The group is the job's: containers of startdocker are in others below it.  Where the kernel allows no process beside
 * those, or the process may not use devices that runtimes ask for, it has one below, too. */
static int make_group(struct ctr *c, const struct cgroup_device *deny, size_t n, struct err *e)
{
	const struct cgroups *g = &c->pod->parts->runtime->groups;
	struct cgroup_limits limits = { .memory_bytes = memory_limit(c) };
	auto_free char *own = xasprintf("%s/" MONITOR_OWN, c->cgroup);
	bool apart = n > 0 || g->v2;

	free(c->joins);
	c->joins = NULL;
	if (cgroup_make_process(g, c->cgroup, &limits, n > 0, &c->joins, e) < 0)
		return -1;
	if (!apart)
		return 0;
	free(c->joins);
	c->joins = NULL;
	if (cgroup_make_process(g, own, NULL, n > 0, &c->joins, e) < 0)
		return -1;
	return cgroup_deny_devices(g, own, deny, n, e);
}

/* Where the queue wants programs to be in containers, those of the host are few: of the job's own only its script,
 * which may begin with #!. */
static void confine(const struct pod *p, const struct pbs_place *place, json_t *doc)
{
	const char *note = json_string_value(json_object_get(jsonx_at(p->obj, "metadata.annotations"), PBS_CONFINED));
	auto_sbuf struct sbuf id = SBUF(512);
	auto_free char *script = NULL;
	char self[4096];
	ssize_t n;

	if (!str_same(note, "required"))
		return;
	pbs_id_of(place->job, place->index, &id);
	script = pbs_has_script(place) ? xasprintf("%s/spool/%s.SC", place->dir, id.p) : NULL;
	n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	self[n > 0 ? n : 0] = '\0';
	if (strrchr(self, '/'))
		*strrchr(self, '/') = '\0';
	json_object_set_new(doc, "allowed",
			    pbs_programs(self, (const char *const[]){ place->account->shell, script, NULL }));
}

int ctr_pbs_prepare(struct ctr *c, struct err *e)
{
	struct pod *p = c->pod;
	auto_free char *dir = pbs_files_dir(p->parts->rootless ? p->parts->dir : NULL, p->parts->prefix);
	struct cgroup_device deny[PBS_CARDS_MOST];
	int cards[PBS_CARDS_MOST];
	size_t ncards = cards_of(p, cards, PBS_CARDS_MOST);
	size_t ndeny = foreign_cards(p, cards, ncards, deny, PBS_CARDS_MOST);
	struct pbs_account account;
	struct pbs_place place;
	json_t *doc = NULL;

	if (find_account(p, &account, e) < 0)
		return -1;
	if (p->parts->rootless && account.uid != idmap_own_uid())
		return err_set(e, ERR_INVALID,
			       START_NO_EXEC ": the server was started by user %u, not by root, and cannot run "
					     "processes of other users",
			       idmap_own_uid());
	place = place_of(p, &account, dir, cards, ncards);
	/* The driver leaves out what it cannot open when it counts. */
	place.hidden = ndeny > 0;
	if (pbs_files_write(&place, e) < 0 || pbs_process(&place, &doc, e) < 0)
		return -1;
	confine(p, &place, doc);
	if (p->parts->rootless)
		jsonx_set_new(doc, "user.only", json_true());
	json_decref(c->process);
	c->process = doc;
	if (p->parts->rootless)
		return 0;
	return make_group(c, deny, ndeny, e);
}

int ctr_pbs_files(struct ctr *c, json_t **ret, struct err *e)
{
	struct pbs_account account;
	struct pbs_place place;

	if (c->init || !c->pod->pbs || c->pod->parts->rootless)
		return 0;
	if (find_account(c->pod, &account, e) < 0)
		return -1;
	place = place_of(c->pod, &account, IN_CONTAINERS, NULL, 0);
	return pbs_process_files(&place, ret, e);
}

int pod_pbs_volume(void *pod, const char *dir, struct err *e)
{
	struct pod *p = pod;
	int cards[PBS_CARDS_MOST];
	struct pbs_account account;
	struct pbs_place place;

	if (!p->pbs || !p->pbs->job)
		return err_set(e, ERR_INVALID, "only pods of PBSJobs have this volume");
	if (find_account(p, &account, e) < 0)
		return -1;
	place = place_of(p, &account, dir, cards, cards_of(p, cards, PBS_CARDS_MOST));
	return pbs_files_write(&place, e);
}

/* ---- what it leaves ---- */

const char *pod_pbs_node_file(const struct pod *p)
{
	const json_t *env = p->process && p->n ? json_object_get(p->ctrs[0].process, "env") : NULL;
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)env, i, v)
		if (str_starts(json_string_value(v), NODE_FILE))
			return json_string_value(v) + strlen(NODE_FILE);
	return NULL;
}

void pod_pbs_forget(struct pod *p)
{
	const char *file = pod_pbs_node_file(p);
	size_t pos = 0;
	void *other;

	/* Several pods of a job on one node share them. */
	while (file && !p->pbs->alone && p->parts->pods && map_next(p->parts->pods, &pos, NULL, &other))
		if (other != p && pod_holds(other) && str_same(pod_pbs_node_file(other), file))
			return;
	if (file)
		pbs_files_remove(file);
}
