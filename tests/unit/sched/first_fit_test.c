// SPDX-License-Identifier: Apache-2.0
#include "sched/first_fit.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

#define READY "'conditions':[{'type':'Ready','status':'True'}]"
#define NODE                                                                                                           \
	"{'metadata':{'name':'n','labels':{'disk':'ssd','cores':'8'}},'spec':{%s},'status':{" READY                    \
	",'allocatable':{'cpu':'2','memory':'1Gi','ephemeral-storage':'10Gi','pods':'3','nvidia.com/"                  \
	"gpu':'2','alpha.kubernetes.io/nvidia-gpu':'2'}}}"

static void set_node(struct fit *f, const char *fmt, const char *spec)
{
	auto_free char *text = xasprintf(fmt, spec);
	json_auto_t *node = sample_json(text);

	fit_set_node(f, node);
}

static struct shape *shape(struct fit *f, const char *spec)
{
	auto_free char *text = xasprintf("{'spec':{%s}}", spec);
	json_auto_t *pod = sample_json(text);

	return fit_shape(f, pod);
}

/* Where such a pod goes: a node's name, or why nowhere. */
static const char *verdict(struct fit *f, const char *spec)
{
	static char out[500];
	struct shape *s = shape(f, spec);
	const char *node = fit_find(f, s);

	snprintf(out, sizeof(out), "%s", node ? node : fit_why(f, s));
	fit_drop_shape(f, s);
	return out;
}

static void put(struct fit *f, const char *uid, const char *spec, const char *node)
{
	struct shape *s = shape(f, spec);

	fit_put_pod(f, uid, s, node);
	fit_drop_shape(f, s);
}

#define WANT(requests) "'containers':[{'resources':{'requests':{" requests "}}}]"

TEST("what a pod asks for decides whether it fits an empty node")
{
	static const struct {
		const char *spec, *want;
	} rows[] = {
		{ "'containers':[{}]", "n" },
		{ WANT("'cpu':'2'"), "n" },
		{ WANT("'cpu':'2001m'"), "0/1 nodes are available: 1 Insufficient cpu." },
		{ WANT("'cpu':3"), "0/1 nodes are available: 1 Insufficient cpu." },
		{ WANT("'memory':'1Gi'"), "n" },
		{ WANT("'memory':'1025Mi','cpu':'9'"),
		  "0/1 nodes are available: 1 Insufficient cpu, 1 Insufficient memory." },
		{ WANT("'ephemeral-storage':'11Gi'"), "0/1 nodes are available: 1 Insufficient ephemeral-storage." },
		{ WANT("'nvidia.com/gpu':'2'"), "n" },
		{ WANT("'alpha.kubernetes.io/nvidia-gpu':'2'"), "n" },
		{ WANT("'alpha.kubernetes.io/nvidia-gpu':'3'"),
		  "0/1 nodes are available: 1 Insufficient nvidia.com/gpu." },
		{ WANT("'example.org/fpga':'1'"), "0/1 nodes are available: 1 Insufficient example.org/fpga." },
		{ WANT("'example.org/fpga':'0'"), "n" },
		/* Limits stand in for requests. */
		{ "'containers':[{'resources':{'limits':{'nvidia.com/gpu':'3'}}}]",
		  "0/1 nodes are available: 1 Insufficient nvidia.com/gpu." },
		{ "'containers':[{'resources':{'limits':{'cpu':'9'},'requests':{'cpu':'1'}}}]", "n" },
		/* Containers add up, init containers do not. */
		{ "'containers':[{'resources':{'requests':{'cpu':'1'}}},{'resources':{'requests':{'cpu':'1'}}}]", "n" },
		{ "'containers':[{'resources':{'requests':{'cpu':'1'}}},{'resources':{'requests':{'cpu':'1100m'}}}]",
		  "0/1 nodes are available: 1 Insufficient cpu." },
		{ "'initContainers':[{'resources':{'requests':{'cpu':'2'}}},{'resources':{'requests':{'cpu':'2'}}}]"
		  "," WANT("'cpu':'1'"),
		  "n" },
		{ "'initContainers':[{'resources':{'requests':{'cpu':'2100m'}}}]," WANT("'cpu':'1'"),
		  "0/1 nodes are available: 1 Insufficient cpu." },
		/* One that stays runs beside the others, and beside those that start after it. */
		{ "'initContainers':[{'restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}}]," WANT(
			  "'cpu':'1100m'"),
		  "0/1 nodes are available: 1 Insufficient cpu." },
		{ "'initContainers':[{'restartPolicy':'Always','resources':{'requests':{'cpu':'1'}}},{'resources':{'"
		  "requests':{'cpu':'1100m'}}}]," WANT("'cpu':'1'"),
		  "0/1 nodes are available: 1 Insufficient cpu." },
		{ "'initContainers':[{'resources':{'requests':{'cpu':'1100m'}}},{'restartPolicy':'Always','resources':{"
		  "'requests':{'cpu':'1'}}}]," WANT("'cpu':'1'"),
		  "n" },
		{ "'overhead':{'cpu':'500m'}," WANT("'cpu':'1500m'"), "n" },
		{ "'overhead':{'cpu':'501m'}," WANT("'cpu':'1500m'"), "0/1 nodes are available: 1 Insufficient cpu." },
		{ WANT("'memory':'9E'"), "0/1 nodes are available: 1 Insufficient memory." },
	};
	struct fit *f = fit_new();

	set_node(f, NODE, "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(verdict(f, rows[i].spec), rows[i].want);
	fit_free(f);
}

#define NOT_MATCHED "0/1 nodes are available: 1 node(s) didn't match Pod's node affinity/selector."
#define TERMS(t)                                                                                                       \
	"'containers':[],'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'"              \
	"nodeSelectorTerms':[" t "]}}}"
#define EXPRESSION(x) TERMS("{'matchExpressions':[{" x "}]}")

TEST("selectors, affinity and taints decide which nodes a pod may go to")
{
	static const struct {
		const char *node, *pod, *want;
	} rows[] = {
		{ "", "'nodeSelector':{'disk':'ssd'}", "n" },
		{ "", "'nodeSelector':{'disk':'hdd'}", NOT_MATCHED },
		{ "", "'nodeSelector':{'zone':'a'}", NOT_MATCHED },
		{ "", EXPRESSION("'key':'disk','operator':'In','values':['hdd','ssd']"), "n" },
		{ "", EXPRESSION("'key':'disk','operator':'NotIn','values':['hdd','ssd']"), NOT_MATCHED },
		{ "", EXPRESSION("'key':'zone','operator':'NotIn','values':['a']"), "n" },
		{ "", EXPRESSION("'key':'disk','operator':'Exists'"), "n" },
		{ "", EXPRESSION("'key':'disk','operator':'DoesNotExist'"), NOT_MATCHED },
		{ "", EXPRESSION("'key':'cores','operator':'Gt','values':['7']"), "n" },
		{ "", EXPRESSION("'key':'cores','operator':'Gt','values':['8']"), NOT_MATCHED },
		{ "", EXPRESSION("'key':'cores','operator':'Lt','values':['9']"), "n" },
		{ "", EXPRESSION("'key':'disk','operator':'Lt','values':['9']"), NOT_MATCHED },
		{ "", TERMS("{'matchFields':[{'key':'metadata.name','operator':'In','values':['n']}]}"), "n" },
		{ "", TERMS("{'matchFields':[{'key':'metadata.name','operator':'In','values':['m']}]}"), NOT_MATCHED },
		{ "", TERMS("{}"), NOT_MATCHED },
		{ "", TERMS("{},{'matchExpressions':[{'key':'disk','operator':'Exists'}]}"), "n" },
		{ "'unschedulable':true", "'containers':[]", "0/1 nodes are available: 1 node(s) were unschedulable." },
		{ "'unschedulable':true",
		  "'tolerations':[{'key':'node.kubernetes.io/unschedulable','operator':'Exists'}]", "n" },
		{ "'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]", "'containers':[]",
		  "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}." },
		{ "'taints':[{'key':'gpu','effect':'NoExecute'}]", "'containers':[]",
		  "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: }." },
		{ "'taints':[{'key':'gpu','value':'yes','effect':'PreferNoSchedule'}]", "'containers':[]", "n" },
		{ "'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]",
		  "'tolerations':[{'key':'gpu','value':'yes'}]", "n" },
		{ "'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]",
		  "'tolerations':[{'key':'gpu','value':'no'}]",
		  "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}." },
		{ "'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]",
		  "'tolerations':[{'key':'gpu','operator':'Exists','effect':'NoExecute'}]",
		  "0/1 nodes are available: 1 node(s) had untolerated taint {gpu: yes}." },
		{ "'taints':[{'key':'gpu','value':'yes','effect':'NoSchedule'}]",
		  "'tolerations':[{'operator':'Exists'}]", "n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fit *f = fit_new();

		set_node(f, NODE, rows[i].node);
		CHECK_STR(verdict(f, rows[i].pod), rows[i].want);
		fit_free(f);
	}
}

TEST("a node that has not said it is ready takes nothing")
{
	struct fit *f = fit_new();

	CHECK_STR(verdict(f, "'containers':[]"), "no nodes available to schedule pods");
	set_node(f, "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'2','pods':'9'}%s}}", "");
	CHECK_STR(verdict(f, "'containers':[]"),
		  "0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.");
	set_node(f, "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'2','pods':'9'}," READY "%s}}", "");
	CHECK_STR(verdict(f, "'containers':[]"), "n");
	fit_free(f);
}

TEST("pods take room and give it back")
{
	struct fit *f = fit_new();

	set_node(f, NODE, "");
	put(f, "a", WANT("'cpu':'1500m'"), "n");
	put(f, "a", WANT("'cpu':'1500m'"), "n");
	CHECK_STR(verdict(f, WANT("'cpu':'500m'")), "n");
	CHECK_STR(verdict(f, WANT("'cpu':'501m'")), "0/1 nodes are available: 1 Insufficient cpu.");
	put(f, "b", "'containers':[]", "n");
	put(f, "c", "'containers':[]", "n");
	CHECK_STR(verdict(f, "'containers':[]"), "0/1 nodes are available: 1 Too many pods.");
	fit_take_pod(f, "a");
	fit_take_pod(f, "a");
	CHECK_STR(verdict(f, WANT("'cpu':'2'")), "n");
	CHECK(fit_node_of(f, "a") == NULL);
	CHECK_STR(fit_node_of(f, "b"), "n");
	fit_free(f);
}

TEST("cards are counted whichever of their names is used")
{
	struct fit *f = fit_new();

	set_node(f, NODE, "");
	put(f, "a", WANT("'alpha.kubernetes.io/nvidia-gpu':'1'"), "n");
	CHECK_STR(verdict(f, WANT("'nvidia.com/gpu':'1'")), "n");
	CHECK_STR(verdict(f, WANT("'nvidia.com/gpu':'2'")), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
	fit_free(f);
}

TEST("a shape that found no room is tried again when something has been freed")
{
	struct fit *f = fit_new();
	struct shape *s;

	set_node(f, NODE, "");
	put(f, "a", WANT("'cpu':'2'"), "n");
	s = shape(f, WANT("'cpu':'1'"));
	CHECK(!fit_failed(f, s));
	CHECK(fit_find(f, s) == NULL);
	CHECK(fit_failed(f, s));
	set_node(f, NODE, "");
	CHECK(fit_failed(f, s)); /* a report with no news */
	fit_take_pod(f, "a");
	CHECK(!fit_failed(f, s));
	CHECK_STR(fit_find(f, s), "n");
	fit_drop_shape(f, s);
	fit_free(f);
}

#define PORT(p) "'containers':[{'ports':[{" p "}]}]"

TEST("a host port is one pod's at a time")
{
	static const struct {
		const char *first, *second;
		bool fits;
	} rows[] = {
		{ "'hostPort':80", "'hostPort':80", false },
		{ "'hostPort':80", "'hostPort':81", true },
		{ "'hostPort':80,'protocol':'UDP'", "'hostPort':80", true },
		{ "'hostPort':80,'hostIP':'10.0.0.1'", "'hostPort':80,'hostIP':'10.0.0.2'", true },
		{ "'hostPort':80,'hostIP':'10.0.0.1'", "'hostPort':80,'hostIP':'10.0.0.1'", false },
		{ "'hostPort':80,'hostIP':'0.0.0.0'", "'hostPort':80,'hostIP':'10.0.0.1'", false },
		{ "'containerPort':80", "'containerPort':80", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct fit *f = fit_new();
		auto_free char *first = xasprintf(PORT("%s"), rows[i].first);
		auto_free char *second = xasprintf(PORT("%s"), rows[i].second);

		set_node(f, NODE, "");
		put(f, "a", first, "n");
		CHECK_STR(verdict(f, second), rows[i].fits
						      ? "n"
						      : "0/1 nodes are available: 1 node(s) didn't have free ports "
							"for the requested pod ports.");
		fit_take_pod(f, "a");
		CHECK_STR(verdict(f, second), "n");
		fit_free(f);
	}
}

#define SMALL "{'metadata':{'name':'%s'},'status':{" READY ",'allocatable':{'cpu':'1','pods':'9'}}}"

TEST("the first node by name that has room is taken")
{
	struct fit *f = fit_new();

	set_node(f, SMALL, "b");
	set_node(f, SMALL, "a");
	set_node(f, SMALL, "c");
	CHECK_INT(fit_count_nodes(f), 3);
	CHECK_STR(verdict(f, WANT("'cpu':'1'")), "a");
	put(f, "1", WANT("'cpu':'1'"), "a");
	CHECK_STR(verdict(f, WANT("'cpu':'1'")), "b");
	put(f, "2", WANT("'cpu':'1'"), "b");
	set_node(f, "{'metadata':{'name':'%s'},'spec':{'unschedulable':true},'status':{" READY "}}", "c");
	CHECK_STR(verdict(f, WANT("'cpu':'1'")),
		  "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.");
	fit_remove_node(f, "c");
	fit_remove_node(f, "c");
	CHECK_STR(verdict(f, WANT("'cpu':'1'")), "0/2 nodes are available: 2 Insufficient cpu.");
	fit_free(f);
}

TEST("pods of a node that is not known yet are counted when it comes")
{
	struct fit *f = fit_new();

	put(f, "1", WANT("'cpu':'1'"), "a");
	CHECK_INT(fit_count_nodes(f), 0);
	set_node(f, SMALL, "a");
	CHECK_STR(verdict(f, WANT("'cpu':'1'")), "0/1 nodes are available: 1 Insufficient cpu.");
	fit_remove_node(f, "a");
	set_node(f, SMALL, "a");
	CHECK_STR(verdict(f, WANT("'cpu':'1'")), "0/1 nodes are available: 1 Insufficient cpu.");
	set_node(f, SMALL, "b");
	put(f, "1", WANT("'cpu':'1'"), "b");
	CHECK_STR(verdict(f, WANT("'cpu':'1'")), "a");
	fit_free(f);
}
