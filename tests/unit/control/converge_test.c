// SPDX-License-Identifier: Apache-2.0
/* Thousands of things happen by chance; when nothing happens any more, everything is as the API promises.
 *
 * A run is its seed: CONVERGE_SEED=n runs that one alone, CONVERGE_STEPS=n makes runs longer.
 */
#include "converge_model.h"

#define SEEDS       4
#define STEPS       500
#define PATIENCE_MS 120000
#define REST_MS     700 /* longer than changes are left to gather */
#define REST_LOOKS  20  /* for times that have come; who turns in circles looks at each of a thousand turns */

static const struct sort sorts[] = {
	{ "apps/v1/replicasets", "set", 3, .scales = true, .adopts = true, .holds = replicas_hold },
	{ "v1/replicationcontrollers", "con", 2, .plain = true, .scales = true, .adopts = true,
	  .holds = replicas_hold },
	{ "apps/v1/deployments", "dep", 2, .scales = true, .rolls = true, .holds = deployment_holds },
	{ "apps/v1/statefulsets", "sts", 2, .scales = true, .rolls = true, .holds = stateful_set_holds },
	{ "apps/v1/daemonsets", "dae", 2, .rolls = true, .adopts = true, .holds = daemon_set_holds },
	{ "batch/v1/jobs", "job", 4, .holds = job_holds },
	{ "v1/services", "svc", 2 },
	{ "v1/configmaps", "map", 3 },
};
static const char *const spaces[] = { "east", "west" };

/* ---- who is meant ---- */

struct target {
	const struct sort *sort;
	const char *ns;
	char name[32];
	char key[100];
};

static void set_target(struct target *t, const struct sort *sort, const char *ns, unsigned number)
{
	t->sort = sort;
	t->ns = ns;
	snprintf(t->name, sizeof(t->name), "%s-%u", sort->prefix, number);
	snprintf(t->key, sizeof(t->key), "%s %s/%s", sort->what, ns, t->name);
}

static struct target any_target(struct world *w)
{
	const struct sort *sort = &sorts[dice(w, ARRAY_SIZE(sorts))];
	struct target t;

	set_target(&t, sort, spaces[dice(w, ARRAY_SIZE(spaces))], dice(w, sort->names));
	return t;
}

static void wish(struct world *w, const struct target *t, int replicas)
{
	struct wish *one = xcalloc(1, sizeof(*one));

	one->replicas = replicas;
	map_set(&w->wishes, t->key, one);
}

static json_t *any_pod(struct world *w)
{
	json_auto_t *pods = list_of(w, "v1/pods");

	return json_array_size(pods) ? json_incref(json_array_get(pods, dice(w, (unsigned)json_array_size(pods))))
				     : NULL;
}

/* ---- what is made ---- */

/* Takes the name of the app and a number that makes it another template. */
#define TEMPLATE(more_)                                                                                                \
	"'template':{'metadata':{'labels':{'app':'%s'}},'spec':{" more_                                                \
	"'terminationGracePeriodSeconds':5,'containers':[{'name':'c','image':'host:v%u'}]}}"
#define SELECTOR "'selector':{'matchLabels':{'app':'%s'}},"
#define HEAD     "{'metadata':{'name':'%s'},'spec':{"

static char *set_body(struct world *w, const struct target *t, int replicas)
{
	return xasprintf(HEAD "'replicas':%d," SELECTOR TEMPLATE("") "}}", t->name, replicas, t->name, t->name,
			 dice(w, 3));
}

static char *controller_body(struct world *w, const struct target *t, int replicas)
{
	return xasprintf(HEAD "'replicas':%d," TEMPLATE("") "}}", t->name, replicas, t->name, dice(w, 3));
}

static char *deployment_body(struct world *w, const struct target *t, int replicas)
{
	return xasprintf(
		HEAD "'replicas':%d,'revisionHistoryLimit':%u,'strategy':{'type':'%s'}," SELECTOR TEMPLATE("") "}}",
		t->name, replicas, dice(w, 3), dice(w, 3) ? "RollingUpdate" : "Recreate", t->name, t->name, dice(w, 3));
}

static char *stateful_set_body(struct world *w, const struct target *t, int replicas)
{
	return xasprintf(HEAD
			 "'replicas':%d,'serviceName':'none','podManagementPolicy':'%s'," SELECTOR TEMPLATE("") "}}",
			 t->name, replicas, dice(w, 2) ? "Parallel" : "OrderedReady", t->name, t->name, dice(w, 3));
}

static char *daemon_set_body(struct world *w, const struct target *t, int replicas)
{
	return xasprintf(HEAD "'updateStrategy':{'rollingUpdate':{'maxUnavailable':%d}}," SELECTOR TEMPLATE("") "}}",
			 t->name, replicas % 3 + 1, t->name, t->name, dice(w, 3));
}

static char *job_body(struct world *w, const struct target *t, int replicas)
{
	return xasprintf(
		HEAD "'completions':%d,'parallelism':%u,'backoffLimit':%u%s,'podReplacementPolicy':'%s'," TEMPLATE(
			"'restartPolicy':'Never',") "}}",
		t->name, replicas + 1, dice(w, 3) + 1, dice(w, 4), dice(w, 2) ? ",'completionMode':'Indexed'" : "",
		dice(w, 2) ? "Failed" : "TerminatingOrFailed", t->name, 0u);
}

static char *service_body(struct world *w, const struct target *t, int replicas)
{
	(void)w;
	return xasprintf(HEAD "'selector':{'app':'set-%d'},'ports':[{'port':80}]}}", t->name, replicas % 3);
}

/* Some belong to a ReplicaSet and are to go with it. */
static char *map_body(struct world *w, const struct target *t, int replicas)
{
	struct target owner;
	json_auto_t *obj = NULL;

	set_target(&owner, &sorts[0], t->ns, dice(w, sorts[0].names));
	obj = replicas % 2 ? ask(w, VERB_GET, owner.sort->what, owner.ns, owner.name, NULL) : NULL;
	if (!obj)
		return xasprintf("{'metadata':{'name':'%s'}}", t->name);
	return xasprintf(
		"{'metadata':{'name':'%s','labels':{'app':'%s'},'ownerReferences':[{'apiVersion':'apps/v1','kind':"
		"'ReplicaSet','name':'%s','uid':'%s'}]}}",
		t->name, owner.name, owner.name, jsonx_str(obj, "metadata.uid"));
}

static void op_create(struct world *w)
{
	static char *(*const bodies[])(struct world *, const struct target *, int) = {
		set_body,        controller_body, deployment_body, stateful_set_body,
		daemon_set_body, job_body,        service_body,    map_body,
	};
	struct target t = any_target(w);
	int replicas = (int)dice(w, 6);
	auto_free char *body = bodies[t.sort - sorts](w, &t, replicas);

	if (tell(w, VERB_CREATE, t.sort->what, t.ns, NULL, body) && !strstr(body, "ownerReferences"))
		wish(w, &t, replicas);
}

static void op_create_space(struct world *w)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s'}}", spaces[dice(w, ARRAY_SIZE(spaces))]);

	tell(w, VERB_CREATE, "v1/namespaces", "", NULL, body);
}

static void op_create_pod(struct world *w)
{
	struct target t = any_target(w);
	auto_free char *body =
		xasprintf("{'metadata':{'name':'bare-%u','labels':{'app':'%s'}},'spec':{"
			  "'terminationGracePeriodSeconds':5,'containers':[{'name':'c','image':'host'}]}}",
			  dice(w, 100), dice(w, 2) ? t.name : "alone");

	tell(w, VERB_CREATE, "v1/pods", t.ns, NULL, body);
}

/* No more pods than so many, for a while. */
static void op_quota(struct world *w)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'few'},'spec':{'hard':{'pods':'%u'}}}", dice(w, 12));
	const char *ns = spaces[dice(w, ARRAY_SIZE(spaces))];

	if (dice(w, 2))
		tell(w, VERB_CREATE, "v1/resourcequotas", ns, NULL, body);
	else
		tell(w, VERB_DELETE, "v1/resourcequotas", ns, "few", NULL);
}

/* ---- what is changed ---- */

static void op_scale(struct world *w)
{
	struct target t = any_target(w);
	const struct wish *old = map_find(&w->wishes, t.key);
	int replicas = (int)dice(w, 9);
	auto_free char *body = xasprintf("{'spec':{'replicas':%d}}", replicas);
	struct api_request req = server_request(&w->s, VERB_PATCH, t.sort->what, t.ns, t.name);

	if (!old || !t.sort->scales)
		return;
	req.patch = PATCH_MERGE;
	req.subresource = dice(w, 2) ? "scale" : NULL;
	json_auto_t *done = server_call(&w->s, &req, body);

	if (done)
		wish(w, &t, replicas);
}

static void op_roll(struct world *w)
{
	struct target t = any_target(w);
	auto_free char *body = xasprintf("{'spec':{" TEMPLATE("") "}}", t.name, dice(w, 4));

	if (t.sort->rolls)
		tell(w, VERB_PATCH, t.sort->what, t.ns, t.name, body);
}

static void op_pause(struct world *w)
{
	struct target t = any_target(w);

	if (t.sort->holds == deployment_holds)
		tell(w, VERB_PATCH, t.sort->what, t.ns, t.name,
		     dice(w, 2) ? "{'spec':{'paused':true}}" : "{'spec':{'paused':false}}");
}

static void op_suspend(struct world *w)
{
	struct target t = any_target(w);

	if (t.sort->holds == job_holds)
		tell(w, VERB_PATCH, t.sort->what, t.ns, t.name,
		     dice(w, 3) ? "{'spec':{'suspend':false}}" : "{'spec':{'suspend':true}}");
}

/* Only those that are named by chance: the place of another would stay taken, in Kubernetes too. */
static bool may_relabel(const json_t *pod)
{
	const char *name = jsonx_str_or(pod, "metadata.name", "");

	return str_starts(name, "set-") || str_starts(name, "con-") || str_starts(name, "bare-");
}

static void op_relabel(struct world *w)
{
	json_auto_t *pod = any_pod(w);
	struct target t = any_target(w);
	auto_free char *body = xasprintf("{'metadata':{'labels':{'app':'%s'}}}", dice(w, 2) ? t.name : "alone");

	if (!pod || !may_relabel(pod))
		return;
	if (tell(w, VERB_PATCH, "v1/pods", jsonx_str(pod, "metadata.namespace"), jsonx_str(pod, "metadata.name"), body))
		map_set(&w->let_go, jsonx_str_or(pod, "metadata.uid", ""), w);
}

/* ---- what is deleted ---- */

static void op_delete(struct world *w)
{
	static const enum propagation ways[] = { PROPAGATE_BACKGROUND, PROPAGATE_FOREGROUND, PROPAGATE_ORPHAN };
	struct target t = any_target(w);
	struct api_request req = server_request(&w->s, VERB_DELETE, t.sort->what, t.ns, t.name);
	auto_free char *app = xasprintf("%s/%s", t.ns, t.name);

	req.propagation = ways[dice(w, 3)];
	json_auto_t *done = server_call(&w->s, &req, NULL);

	if (!done)
		return;
	map_remove(&w->wishes, t.key);
	if (req.propagation == PROPAGATE_ORPHAN)
		map_set(&w->let_go, app, w);
}

static void op_delete_pod(struct world *w)
{
	json_auto_t *pod = any_pod(w);

	if (pod)
		tell(w, VERB_DELETE, "v1/pods", jsonx_str(pod, "metadata.namespace"), jsonx_str(pod, "metadata.name"),
		     NULL);
}

static void delete_space(struct world *w, const char *ns)
{
	auto_free char *part = xasprintf(" %s/", ns);
	size_t pos = 0;
	const char *key;
	void *one;

	if (!tell(w, VERB_DELETE, "v1/namespaces", "", ns, NULL))
		return;
	while (map_next(&w->wishes, &pos, &key, &one))
		if (strstr(key, part))
			map_remove(&w->wishes, key);
}

static void op_delete_space(struct world *w)
{
	delete_space(w, spaces[dice(w, ARRAY_SIZE(spaces))]);
}

/* ---- what happens by itself ---- */

static void op_node(struct world *w)
{
	static const struct {
		enum verb verb;
		const char *body;
		bool status;
	} rows[] = {
		{ VERB_PATCH, "{'spec':{'unschedulable':true}}" },
		{ VERB_PATCH, "{'spec':{'unschedulable':null}}" },
		{ VERB_PATCH, "{'status':{'conditions':[{'type':'Ready','status':'False'}]}}", true },
		{ VERB_PATCH, "{'status':{'conditions':[{'type':'Ready','status':'True'}]}}", true },
		{ VERB_DELETE, NULL },
	};
	size_t i = dice(w, ARRAY_SIZE(rows));
	auto_free char *name = xasprintf("n%u", dice(w, NODES) + 1);
	struct api_request req = server_request(&w->s, rows[i].verb, "v1/nodes", "", name);

	req.patch = rows[i].body ? PATCH_MERGE : PATCH_NONE;
	req.subresource = rows[i].status ? "status" : NULL;
	json_auto_t *done = server_call(&w->s, &req, rows[i].body);
}

static void op_live(struct world *w)
{
	json_auto_t *pod = any_pod(w);

	if (pod)
		pod_live(w, pod, true);
}

static void op_turns(struct world *w)
{
	for (unsigned n = dice(w, 6); n > 0; n--)
		server_turn(&w->s);
}

static void op_clock(struct world *w)
{
	clock_step(w, dice(w, 5) ? (int64_t)dice(w, 300) : -(int64_t)dice(w, 60));
}

static void op_crash_control(struct world *w)
{
	world_uncontrol(w);
	world_control(w);
}

/* clang-format off */
static const struct {
	unsigned share; /* of a hundred and a bit */
	void (*run)(struct world *w);
} operations[] = {
	{ 16, op_create }, { 4, op_create_space }, { 4, op_create_pod }, { 2, op_quota },
	{ 10, op_scale }, { 8, op_roll }, { 3, op_suspend }, { 3, op_pause }, { 4, op_relabel },
	{ 7, op_delete }, { 5, op_delete_pod }, { 1, op_delete_space },
	{ 30, op_live }, { 2, op_node }, { 18, op_turns }, { 4, op_clock }, { 4, op_crash_control }, { 1, world_restart },
};
/* clang-format on */

static void one_operation(struct world *w)
{
	unsigned sum = 0;
	unsigned n;

	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		sum += operations[i].share;
	n = dice(w, sum);
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++) {
		if (n < operations[i].share) {
			operations[i].run(w);
			break;
		}
		n -= operations[i].share;
	}
	w->operations++;
}

/* ---- quiet ---- */

/* Pods do what they are there for; whoever waits for a time sees that it has come. */
static void let_live(struct world *w)
{
	json_auto_t *pods = list_of(w, "v1/pods");
	json_auto_t *jobs = list_of(w, "batch/v1/jobs");
	json_t *obj;
	size_t i;

	clock_step(w, 30);
	world_nodes(w);
	json_array_foreach (pods, i, obj)
		pod_live(w, obj, false);
	json_array_foreach (jobs, i, obj) {
		auto_free char *body = xasprintf("{'metadata':{'annotations':{'now':'%lld'}}}", (long long)w->wall);

		if (!has_condition(obj, "Complete") && !has_condition(obj, "Failed") &&
		    !jsonx_bool_or(obj, "spec.suspend", false))
			tell(w, VERB_PATCH, "batch/v1/jobs", jsonx_str(obj, "metadata.namespace"),
			     jsonx_str(obj, "metadata.name"), body);
	}
	server_settle(&w->s);
}

/* What somebody holds up is let go on. */
static void end_pauses(struct world *w)
{
	json_auto_t *list = list_of(w, "apps/v1/deployments");
	json_t *obj;
	size_t i;

	json_array_foreach (list, i, obj)
		tell(w, VERB_PATCH, "apps/v1/deployments", jsonx_str(obj, "metadata.namespace"),
		     jsonx_str(obj, "metadata.name"), "{'spec':{'paused':false}}");
	for (i = 0; i < ARRAY_SIZE(spaces); i++)
		tell(w, VERB_DELETE, "v1/resourcequotas", spaces[i], "few", NULL);
}

static void wait_for_promises(struct world *w, unsigned seed)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	end_pauses(w);

	for (;;) {
		auto_sbuf struct sbuf why = SBUF(4000);
		struct picture p;
		bool hold;

		let_live(w);
		p = picture_take(w);
		hold = promises_hold(w, &p, &why);
		picture_done(&p);
		if (hold)
			return;
		if (clock_mono_ms() > end) {
			test_fail(__FILE__, __LINE__, "seed %u after %zu operations: %s", seed, w->operations, why.p);
			return;
		}
		usleep(1000);
	}
}

static uint64_t looks(const struct world *w)
{
	struct workqueue_counts c;
	const char *name;
	uint64_t sum = 0;
	size_t pos = 0;

	while (control_next(w->control, &pos, &name, &c))
		sum += c.looked;
	return sum;
}

/* What holds goes on holding without another write, and without anybody looking again and again. */
static void check_rest(struct world *w, unsigned seed)
{
	struct picture before = picture_take(w);
	struct picture after;
	auto_free char *text = picture_text(&before);
	auto_free char *later = NULL;
	int64_t end = clock_mono_ms() + REST_MS;
	uint64_t looked = looks(w);

	while (clock_mono_ms() < end) {
		server_turn(&w->s);
		usleep(500);
	}
	after = picture_take(w);
	later = picture_text(&after);
	if (!streq(text, later))
		test_fail(__FILE__, __LINE__, "seed %u: there is no rest\n%s\nthen\n%s", seed, text, later);
	if (looks(w) > looked + REST_LOOKS)
		test_fail(__FILE__, __LINE__, "seed %u: %llu looks at rest", seed,
			  (unsigned long long)(looks(w) - looked));
	picture_done(&before);
	picture_done(&after);
}

static void check_empty(struct world *w, unsigned seed)
{
	struct picture p = picture_take(w);
	json_t *obj;
	size_t i;

	json_array_foreach (p.all, i, obj)
		if (in_play(obj))
			test_fail(__FILE__, __LINE__, "seed %u: %s %s outlives its namespace", seed,
				  jsonx_str(obj, "what"), jsonx_str(obj, "metadata.name"));
	picture_done(&p);
}

static unsigned number_from(const char *variable, unsigned fallback)
{
	const char *text = getenv(variable);

	return text ? (unsigned)strtoul(text, NULL, 10) : fallback;
}

static void run_seed(unsigned seed)
{
	unsigned steps = number_from("CONVERGE_STEPS", STEPS);
	struct world w = world_new(seed);

	w.sorts = sorts;
	w.nsorts = ARRAY_SIZE(sorts);
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'%s'}}", spaces[i]);

		tell(&w, VERB_CREATE, "v1/namespaces", "", NULL, body);
	}
	/* quiet in between too: what was settled once is disturbed again */
	for (unsigned part = 0; part < 3; part++) {
		for (unsigned i = 0; i < steps / 3 + 1; i++)
			one_operation(&w);
		wait_for_promises(&w, seed);
	}
	check_rest(&w, seed);
	for (size_t i = 0; i < ARRAY_SIZE(spaces); i++)
		delete_space(&w, spaces[i]);
	wait_for_promises(&w, seed);
	check_empty(&w, seed);
	world_done(&w);
}

TEST("whatever happens, when nothing happens any more everything is as promised, and rests")
{
	unsigned only = number_from("CONVERGE_SEED", 0);

	for (unsigned seed = only ? only : 1; seed <= (only ? only : SEEDS); seed++)
		run_seed(seed);
}
