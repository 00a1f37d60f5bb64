// SPDX-License-Identifier: Apache-2.0
/* What a ReplicaSet needs next, by table.  Pods are written in words:
 *
 *	a:R  a is running (P pending, S succeeded, F failed)
 *	...  further letters: r ready, x being deleted, l without the template's label
 *	...  further numbers: @2 on node 2, $5 costs 5 to delete, *3 restarts, ~60 ready for 60 s, ^90 made 90 s ago
 *
 * The answer: +2 pods to create, -a to remove, then the counts of the status, its condition, and when to look again.
 */
#include "control/replicas_plan.h"

#include "api/sample_json.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define NOW      1000000000
#define MAX_PODS 20

static long number_after(const char *word, char mark, long fallback)
{
	const char *at = strchr(word, mark);

	return at ? strtol(at + 1, NULL, 10) : fallback;
}

static void set_time(json_t *obj, const char *path, long ago)
{
	char text[CLOCK_RFC3339_LEN];

	clock_rfc3339(NOW - ago, text);
	jsonx_set_new(obj, path, json_string(text));
}

static json_t *pod_of(const char *word)
{
	static const char *const phases[] = { "Pending", "Running", "Succeeded", "Failed" };
	const char *colon = strchr(word, ':');
	const char *c = colon + 1;
	auto_free char *name = xstrndup(word, (size_t)(colon - word));
	json_t *pod = json_pack("{s:{s:s, s:s, s:{s:s}}, s:{}, s:{}}", "metadata", "name", name, "uid", name, "labels",
				"app", strchr(c, 'l') ? "other" : "x", "spec", "status");

	for (size_t i = 0; i < ARRAY_SIZE(phases); i++)
		if (*c == *phases[i])
			jsonx_set_new(pod, "status.phase", json_string(phases[i]));
	set_time(pod, "metadata.creationTimestamp", number_after(c, '^', 1000));
	if (strchr(c, 'x'))
		set_time(pod, "metadata.deletionTimestamp", 0);
	if (*c != 'P' || strchr(c, '@'))
		jsonx_set_new(pod, "spec.nodeName", jsonx_stringf("node%ld", number_after(c, '@', 1)));
	if (strchr(c, 'r')) {
		json_t *ready = json_pack("{s:s, s:s}", "type", "Ready", "status", "True");

		set_time(ready, "lastTransitionTime", number_after(c, '~', 1000));
		jsonx_set_new(pod, "status.conditions", json_pack("[o]", ready));
	}
	if (strchr(c, '$'))
		json_object_set_new(
			json_object_get(pod, "metadata"), "annotations",
			json_pack("{s:o}", POD_DELETION_COST, jsonx_stringf("%ld", number_after(c, '$', 0))));
	jsonx_set_new(pod, "status.containerStatuses",
		      json_pack("[{s:I}]", "restartCount", (json_int_t)number_after(c, '*', 0)));
	return pod;
}

static void add_status(struct sbuf *out, const json_t *status)
{
	static const char *const counts[] = { "replicas", "fullyLabeledReplicas", "readyReplicas",
					      "availableReplicas" };
	json_t *c;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		sbuf_addf(out, "%s%lld", i ? "," : " ", (long long)jsonx_int_or(status, counts[i], 0));
	json_array_foreach (json_object_get(status, "conditions"), i, c)
		sbuf_addf(out, " %s:%s", jsonx_str_or(c, "reason", ""), jsonx_str_or(c, "message", ""));
}

static size_t read_pods(const char *words, json_t *keep, struct pod_facts *facts, const struct pod_facts **pods)
{
	struct str rest = str_of(words);
	struct str word;
	size_t n = 0;

	while (*words && str_split(&rest, ' ', &word) && n < MAX_PODS) {
		auto_free char *text = xstrndup(word.p, word.n);
		json_t *pod = pod_of(text);

		json_array_append_new(keep, pod);
		facts[n] = pod_facts(pod);
		pods[n] = &facts[n];
		n++;
	}
	return n;
}

struct row {
	const char *spec, *status, *pods, *want;
	const char *others; /* related pods */
	const char *create_error, *remove_error;
	size_t most;
	bool deleting;
};

static char *answer(const struct row *r)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'a','uid':'u','generation':3%s},'spec':{%s,'template':{"
					 "'metadata':{'labels':{'app':'x'}}}},'status':{'replicas':0%s}}",
					 r->deleting ? ",'deletionTimestamp':'2001-09-09T01:46:30Z'" : "", r->spec,
					 r->status ? r->status : "");
	json_auto_t *obj = sample_json(text);
	json_auto_t *keep = json_array();
	struct pod_facts facts[MAX_PODS];
	struct pod_facts other_facts[MAX_PODS];
	const struct pod_facts *pods[MAX_PODS];
	const struct pod_facts *related[2 * MAX_PODS];
	struct replicas_view v = { .obj = obj,
				   .pods = pods,
				   .related = related,
				   .now = NOW,
				   .create_most = r->most ? r->most : REPLICAS_BURST,
				   .create_error = r->create_error,
				   .remove_error = r->remove_error };
	auto_sbuf struct sbuf out = SBUF(4000);
	struct replicas_plan p;

	v.n = read_pods(r->pods, keep, facts, pods);
	memcpy(related, pods, v.n * sizeof(pods[0]));
	v.nrelated = v.n + read_pods(r->others ? r->others : "", keep, other_facts, related + v.n);
	replicas_plan(&v, &p);
	CHECK_INT(jsonx_int_or(p.status, "observedGeneration", 0), 3);
	if (p.create)
		sbuf_addf(&out, "+%zu", p.create);
	for (size_t i = 0; i < p.nremove; i++)
		sbuf_addf(&out, "%s-%s", i ? " " : "", p.remove[i]->name);
	add_status(&out, p.status);
	if (p.again >= 0)
		sbuf_addf(&out, " again=%lld", (long long)p.again);
	replicas_plan_done(&p);
	return sbuf_steal(&out);
}

static void check_rows(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		auto_free char *got = answer(&rows[i]);

		if (!streq(got, rows[i].want))
			test_fail(__FILE__, __LINE__, "row %zu (%s | %s): \"%s\", not \"%s\"", i, rows[i].spec,
				  rows[i].pods, got, rows[i].want);
	}
}

TEST("missing pods are made, surplus ones deleted, ended and going ones do not count")
{
	static const struct row rows[] = {
		{ "'replicas':3", NULL, "", "+3 0,0,0,0" },
		{ "'replicas':3", NULL, "a:Rr b:P", "+1 2,2,1,1" },
		{ "'replicas':2", NULL, "a:Rr b:Rr", " 2,2,2,2" },
		{ "'replicas':2", NULL, "a:Rr b:Rrx c:F d:S", "+1 1,1,1,1" },
		{ "'replicas':0", NULL, "a:P", "-a 1,1,0,0" },
		{ "'replicas':1", NULL, "a:Rr b:Rrl", "-a 2,1,2,2" },
		{ "'replicas':900", NULL, "", "+500 0,0,0,0" },
		{ "'replicas':900", NULL, "", "+4 0,0,0,0", .most = 4 },
		{ "'replicas':3", NULL, "a:P", " 1,1,0,0", .deleting = true },
		{ "'replicas':0", NULL, "a:P", " 1,1,0,0", .deleting = true },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

TEST("the least worth go first: state, cost, crowded nodes, young in powers of two, restarts")
{
	static const struct row rows[] = {
		{ "'replicas':1", NULL, "a:Rr b:R c:P@1 d:P", "-d -c -b 4,4,1,1" },
		{ "'replicas':1", NULL, "a:Rr$5 b:Rr$-3 c:Rr", "-b -c 3,3,3,3" },
		{ "'replicas':1", NULL, "a:R$-9 b:P", "-b 2,2,0,0" },
		{ "'replicas':2", NULL, "a:Rr@1 b:Rr@2 c:Rr@2", "-b 3,3,3,3" },
		{ "'replicas':1", NULL, "a:Rr@1 b:Rr@2", "-b 2,2,2,2", .others = "o:Rr@2" },
		{ "'replicas':1", NULL, "a:Rr@1 b:Rr@2", "-a 2,2,2,2", .others = "o:Rr@2x" },
		{ "'replicas':1", NULL, "a:Rr~9000 b:Rr~60", "-b 2,2,2,2" },
		/* the same power of two: then whoever restarted, then chance */
		{ "'replicas':1", NULL, "a:Rr~1050 b:Rr~1000", "-a 2,2,2,2" },
		{ "'replicas':1", NULL, "a:Rr~1050 b:Rr~1000*1", "-b 2,2,2,2" },
		{ "'replicas':1", NULL, "a:P^9000 b:P^60", "-b 2,2,0,0" },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

TEST("a pod is available when it was ready for minReadySeconds, and that moment is not missed")
{
	static const struct row rows[] = {
		{ "'replicas':2,'minReadySeconds':30", NULL, "a:Rr~30 b:Rr~29", " 2,2,2,1 again=1" },
		{ "'replicas':3,'minReadySeconds':30", NULL, "a:Rr~10 b:Rr~5 c:R", " 3,3,2,0 again=20" },
		{ "'replicas':1,'minReadySeconds':30", NULL, "a:R", " 1,1,0,0" },
		{ "'replicas':1", NULL, "a:Rr~-100", " 1,1,1,1" }, /* the clock was set back */
	};

	check_rows(rows, ARRAY_SIZE(rows));
}

#define OLD_FAILURE                                                                                                    \
	",'conditions':[{'type':'ReplicaFailure','status':'True','reason':'FailedCreate','message':'once'},"           \
	"{'type':'Other','status':'True','reason':'Mine','message':'m'}]"

TEST("a failure is told while it lasts, and other conditions stay")
{
	static const struct row rows[] = {
		{ "'replicas':1", NULL, "", "+1 0,0,0,0 FailedCreate:no room", .create_error = "no room" },
		{ "'replicas':1", OLD_FAILURE, "", "+1 0,0,0,0 FailedCreate:once Mine:m", .create_error = "no room" },
		{ "'replicas':1", OLD_FAILURE, "", "+1 0,0,0,0 Mine:m" },
		{ "'replicas':1", OLD_FAILURE, "a:P", " 1,1,0,0 Mine:m", .create_error = "no room" },
		{ "'replicas':0", OLD_FAILURE, "a:P", "-a 1,1,0,0 Mine:m FailedDelete:held", .remove_error = "held" },
		{ "'replicas':1", NULL, "a:P", " 1,1,0,0", .remove_error = "held" },
	};

	check_rows(rows, ARRAY_SIZE(rows));
}
