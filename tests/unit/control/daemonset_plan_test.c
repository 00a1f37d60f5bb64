// SPDX-License-Identifier: Apache-2.0
#include "control/daemonset_plan.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/str.h"
#include "test.h"

#define MOST         10
#define ROLL(bounds) "'updateStrategy':{'type':'RollingUpdate','rollingUpdate':{" bounds "}},"

/* Pods as "a+r b~ c^": the node; + of the new template, ~ of the old, ^ of the old and not bound yet; then r for ready,
 * F failed, S succeeded, d being deleted. */
struct scene {
	json_t *set, *objs[MOST], *nodes[MOST];
	struct pod_facts facts[MOST];
	const struct pod_facts *pods[MOST];
	size_t npods, nnodes;
};

static json_t *make_pod(const char *word, size_t i)
{
	char node[2] = { word[0], '\0' };
	bool new = word[1] == '+';
	json_t *pod =
		json_pack("{s:{s:o, s:o, s:s, s:{s:s}}, s:{}, s:{s:s}}", "metadata", "name", jsonx_stringf("p%zu", i),
			  "uid", jsonx_stringf("u%zu", i), "creationTimestamp", "2026-01-01T00:00:00Z", "labels",
			  "controller-revision-hash", new ? "new" : "old", "spec", "status", "phase", "Running");

	if (word[1] == '^')
		jsonx_set_new(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution",
			      json_pack("{s:[{s:[{s:s, s:s, s:[s]}]}]}", "nodeSelectorTerms", "matchFields", "key",
					"metadata.name", "operator", "In", "values", node));
	else
		jsonx_set_new(pod, "spec.nodeName", json_string(node));
	if (strchr(word, 'r'))
		jsonx_set_new(pod, "status.conditions",
			      json_pack("[{s:s, s:s, s:s}]", "type", "Ready", "status", "True", "lastTransitionTime",
					"2026-01-01T00:00:00Z"));
	if (strchr(word, 'F') || strchr(word, 'S'))
		jsonx_set_new(pod, "status.phase", json_string(strchr(word, 'F') ? "Failed" : "Succeeded"));
	if (strchr(word, 'd'))
		jsonx_set_new(pod, "metadata.deletionTimestamp", json_string("2026-01-01T00:00:00Z"));
	return pod;
}

/* Nodes are letters; a capital has a taint that no daemon tolerates (NoSchedule), a digit one with NoExecute. */
static struct scene scene_new(const char *spec, const char *nodes, const char *pods)
{
	struct scene s = { 0 };
	struct str rest = str_of(pods);
	struct str word;
	auto_free char *set = xasprintf("{'metadata':{'name':'d','namespace':'default','uid':'U','generation':3},"
					"'spec':{%s'template':{'metadata':{'labels':{'app':'d'}},'spec':{}}}}",
					spec);

	s.set = sample_json(set);
	for (; *nodes; nodes++) {
		char name[2] = { *nodes, '\0' };
		bool capital = *nodes >= 'A' && *nodes <= 'Z';
		bool digit = *nodes >= '0' && *nodes <= '9';
		json_t *node = json_pack("{s:{s:s}, s:{}}", "metadata", "name", name, "spec");

		if (capital || digit)
			jsonx_set_new(
				node, "spec.taints",
				json_pack("[{s:s, s:s}]", "key", "own", "effect", digit ? "NoExecute" : "NoSchedule"));
		s.nodes[s.nnodes++] = node;
	}
	while (*pods && str_split(&rest, ' ', &word)) {
		auto_free char *text = xstrndup(word.p, word.n);

		s.objs[s.npods] = make_pod(text, s.npods);
		s.facts[s.npods] = pod_facts(s.objs[s.npods]);
		s.npods++;
	}
	return s;
}

static void scene_done(struct scene *s)
{
	for (size_t i = 0; i < s->npods; i++)
		json_decref(s->objs[i]);
	for (size_t i = 0; i < s->nnodes; i++)
		json_decref(s->nodes[i]);
	json_decref(s->set);
}

static int64_t no_backoff(void *arg, const char *node)
{
	(void)node;
	return arg ? 5000 : 0;
}

static struct daemon_view view_of(struct scene *s)
{
	for (size_t i = 0; i < s->npods; i++)
		s->pods[i] = &s->facts[i];
	return (struct daemon_view){ .set = s->set,
				     .nodes = (const json_t *const *)s->nodes,
				     .nnodes = s->nnodes,
				     .pods = s->pods,
				     .npods = s->npods,
				     .hash = "new",
				     .now = 2000000000,
				     .create_most = DAEMON_BURST,
				     .backoff = no_backoff };
}

/* "+a +b -p0": nodes that get a pod, then pods that go. */
static const char *text_of(const struct daemon_plan *p)
{
	static char out[300];
	auto_sbuf struct sbuf b = SBUF(sizeof(out) - 1);

	for (size_t i = 0; i < p->ncreate; i++)
		sbuf_addf(&b, "%s+%s", b.n ? " " : "", p->create[i]);
	for (size_t i = 0; i < p->nremove; i++)
		sbuf_addf(&b, "%s-%s", b.n ? " " : "", p->remove[i]->name);
	snprintf(out, sizeof(out), "%s", b.p ? b.p : "");
	return out;
}

TEST("each node that takes it gets one pod, and what is too many goes")
{
	static const struct {
		const char *spec, *nodes, *pods, *want;
	} rows[] = {
		{ "", "ab", "", "+a +b" },
		{ "", "ab", "a+r", "+b" },
		{ "", "aB", "", "+a" },
		{ "", "1a", "", "+a" },
		/* a taint that only keeps away lets stay who is there */
		{ "", "A", "A+r", "" },
		{ "", "1", "1+r", "-p0" },
		/* the oldest stays, and one that is bound rather than one that waits */
		{ "", "a", "a+r a+r a+", "-p1 -p2" },
		{ "", "a", "a^ a+r", "-p0" },
		/* who is being deleted still takes the place */
		{ "", "a", "a+d", "" },
		{ "", "a", "a+dF", "+a" },
		{ "", "a", "a+F", "-p0" },
		{ "", "a", "a+S", "-p0" },
		/* the node is gone: one that runs is for the pod GC, one that waits for it is not */
		{ "", "a", "a+r b+r", "" },
		{ "", "b", "b+r a^ c^", "-p1 -p2" },
		{ "'template':{},", "", "", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s = scene_new(rows[i].spec, rows[i].nodes, rows[i].pods);
		struct daemon_view v = view_of(&s);
		struct daemon_plan p;

		daemon_plan(&v, &p);
		CHECK_STR(text_of(&p), rows[i].want);
		daemon_plan_done(&p);
		scene_done(&s);
	}
}

TEST("an update takes no more nodes at once than it may")
{
	static const struct {
		const char *spec, *nodes, *pods, *want;
	} rows[] = {
		{ ROLL("'maxUnavailable':1"), "abc", "a~r b~r c~r", "-p0" },
		{ "", "abc", "a~r b~r c~r", "-p0" },
		{ ROLL("'maxUnavailable':2"), "abc", "a~r b~r c~r", "-p0 -p1" },
		{ ROLL("'maxUnavailable':'50%'"), "abc", "a~r b~r c~r", "-p0 -p1" },
		{ ROLL("'maxUnavailable':'1%'"), "abc", "a~r b~r c~r", "-p0" },
		/* one is missing, being deleted, or not yet well: wait */
		{ ROLL("'maxUnavailable':1"), "abc", "b~r c~r", "+a" },
		{ ROLL("'maxUnavailable':1"), "abc", "a~d b~r c~r", "" },
		{ ROLL("'maxUnavailable':1"), "abc", "a+ b~r c~r", "" },
		{ ROLL("'maxUnavailable':1"), "abc", "a+r b~r c~r", "-p1" },
		/* those that do not work anyway go at once */
		{ ROLL("'maxUnavailable':1"), "abc", "a~r b~ c~", "-p1 -p2" },
		{ "'updateStrategy':{'type':'OnDelete'},", "abc", "a~r b~ c~r", "" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "abc", "a~r b~r c~r", "+a" },
		{ ROLL("'maxUnavailable':0,'maxSurge':2"), "abc", "a~r b~r c~r", "+a +b" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "abc", "a~r a+ b~r c~r", "" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "abc", "a~r a+r b~r c~r", "+b -p0" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "abc", "a~ a+ b~r c~r", "+b -p0" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "abc", "a~ b~r c~r", "+a +b" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "a", "a~r a+ a+ a~r", "-p2 -p3" },
		{ ROLL("'maxUnavailable':0,'maxSurge':1"), "A", "A~r", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s = scene_new(rows[i].spec, rows[i].nodes, rows[i].pods);
		struct daemon_view v = view_of(&s);
		struct daemon_plan p;

		daemon_plan(&v, &p);
		CHECK_STR(text_of(&p), rows[i].want);
		daemon_plan_done(&p);
		scene_done(&s);
	}
}

TEST("the status counts nodes, not pods")
{
	struct scene s = scene_new("", "Eabcd", "a+r a~ b~r c+ E+r");
	struct daemon_view v = view_of(&s);
	struct daemon_plan p;

	daemon_plan(&v, &p);
	CHECK_JSON(p.status, "{'currentNumberScheduled':3,'numberMisscheduled':1,'desiredNumberScheduled':4,"
			     "'numberReady':2,'updatedNumberScheduled':2,'numberAvailable':2,'numberUnavailable':2,"
			     "'observedGeneration':3}");
	daemon_plan_done(&p);
	scene_done(&s);
}

TEST("a failed pod in its back-off stays, and one that is told of goes")
{
	struct scene s = scene_new("'updateStrategy':{'type':'OnDelete'},", "a", "a+F");
	struct daemon_view v = view_of(&s);
	struct daemon_plan p;

	daemon_plan(&v, &p);
	CHECK_INT(p.nended, 1);
	CHECK_STR(p.ended[0].node, "a");
	CHECK_INT(p.wait_ms, -1);
	daemon_plan_done(&p);
	v.arg = &s;
	daemon_plan(&v, &p);
	CHECK_STR(text_of(&p), "");
	CHECK_INT(p.wait_ms, 5000);
	daemon_plan_done(&p);
	scene_done(&s);
}

TEST("nothing is made or deleted for a set that is being deleted")
{
	struct scene s = scene_new("", "ab", "a+r a+r");
	struct daemon_view v = view_of(&s);
	struct daemon_plan p;

	jsonx_set_new(s.set, "metadata.deletionTimestamp", json_string("2026-01-01T00:00:00Z"));
	daemon_plan(&v, &p);
	CHECK_STR(text_of(&p), "");
	daemon_plan_done(&p);
	scene_done(&s);
}

TEST("a daemon's pod is for one node and stays where others must go")
{
	json_auto_t *set = sample_json(
		"{'metadata':{'name':'d','namespace':'n','uid':'U'},'spec':{'template':{'metadata':{'labels':{'app':'d'"
		"}},"
		"'spec':{'hostNetwork':true,'tolerations':[{'key':'own','operator':'Exists'}],"
		"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':["
		"{'matchExpressions':[{'key':'x','operator':'Exists'}]}]}}}}}}}");
	json_auto_t *pod = daemon_pod(set, "box", "abc", 7);

	CHECK_JSON(jsonx_at(pod, "metadata.labels"),
		   "{'app':'d','controller-revision-hash':'abc','pod-template-generation':'7'}");
	CHECK_JSON(
		jsonx_at(pod, "spec.affinity.nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution"),
		"{'nodeSelectorTerms':[{'matchFields':[{'key':'metadata.name','operator':'In','values':['box']}]}]}");
	CHECK_INT(json_array_size(jsonx_at(pod, "spec.tolerations")), 8);
	CHECK_STR(daemon_pod_node(pod), "box");
	CHECK_STR(jsonx_str(pod, "metadata.generateName"), "d-");
}

TEST("nodes are chosen by name, labels, affinity and taints")
{
	static const struct {
		const char *spec, *node;
		bool run, keep;
	} rows[] = {
		{ "", "{'metadata':{'name':'a'}}", true, true },
		{ "'nodeName':'b'", "{'metadata':{'name':'a'}}", false, false },
		{ "'nodeSelector':{'x':'1'}", "{'metadata':{'name':'a','labels':{'x':'1'}}}", true, true },
		{ "'nodeSelector':{'x':'1'}", "{'metadata':{'name':'a','labels':{'x':'2'}}}", false, false },
		{ "", "{'spec':{'taints':[{'key':'node.kubernetes.io/unschedulable','effect':'NoSchedule'}]}}", true,
		  true },
		{ "",
		  "{'spec':{'taints':[{'key':'node.kubernetes.io/unreachable','effect':'NoExecute'},"
		  "{'key':'node.kubernetes.io/unreachable','effect':'NoSchedule'}]}}",
		  false, true },
		{ "", "{'spec':{'taints':[{'key':'own','effect':'NoExecute'}]}}", false, false },
		{ "", "{'spec':{'taints':[{'key':'own','effect':'PreferNoSchedule'}]}}", true, true },
		{ "'tolerations':[{'key':'own','operator':'Exists'}]",
		  "{'spec':{'taints':[{'key':'own','effect':'NoExecute'}]}}", true, true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *text = xasprintf("{'spec':{'template':{'spec':{%s}}}}", rows[i].spec);
		json_auto_t *set = sample_json(text);
		json_auto_t *node = sample_json(rows[i].node);
		json_auto_t *tolerations = daemon_tolerations(set);
		struct daemon_fit fit = daemon_fits(set, tolerations, node);

		CHECK_INT(fit.run, rows[i].run);
		CHECK_INT(fit.keep, rows[i].keep);
	}
}
