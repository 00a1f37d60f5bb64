// SPDX-License-Identifier: Apache-2.0
#include "sched/space.h"

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "sched/parts.h"
#include "test.h"

#define READY "'conditions':[{'type':'Ready','status':'True'}]"
#define NODE                                                                                                           \
	"{'metadata':{'name':'n','labels':{'disk':'ssd','cores':'8'}},'spec':{%s},'status':{" READY                    \
	",'allocatable':{'cpu':'2','memory':'1Gi','ephemeral-storage':'10Gi','pods':'3','nvidia.com/"                  \
	"gpu':'2','alpha.kubernetes.io/nvidia-gpu':'2'}}}"

static void set_node(struct space *s, const char *fmt, const char *part)
{
	auto_free char *text = xasprintf(fmt, part);
	json_auto_t *node = sample_json(text);

	space_set_node(s, node);
}

static struct shape *shape(struct space *s, const char *spec)
{
	auto_free char *text = xasprintf("{'spec':{%s}}", spec);
	json_auto_t *pod = sample_json(text);

	return space_shape(s, pod);
}

/* Where such a pod would go: a node's name, or why nowhere. */
static const char *verdict_of(struct space *s, struct shape *sh)
{
	static char out[500];
	struct seat seat = { .shape = sh };
	size_t mark = space_mark(s);

	snprintf(out, sizeof(out), "%s", space_find(s, &seat, NULL) ? node_name(seat.node) : space_why(s, sh));
	space_undo(s, mark);
	CHECK(!seat.node);
	return out;
}

static const char *verdict(struct space *s, const char *spec)
{
	struct shape *sh = shape(s, spec);
	const char *out = verdict_of(s, sh);

	space_shape_unref(s, sh);
	return out;
}

static struct seat put(struct space *s, const char *spec, const char *node)
{
	struct seat seat = { .shape = shape(s, spec) };

	space_sit(s, &seat, space_node(s, node), 0);
	return seat;
}

static void leave(struct space *s, struct seat *seat)
{
	space_rise(s, seat);
	space_shape_unref(s, seat->shape);
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
	struct space *s = space_new();

	set_node(s, NODE, "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(verdict(s, rows[i].spec), rows[i].want);
	space_free(s);
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
		struct space *s = space_new();

		set_node(s, NODE, rows[i].node);
		CHECK_STR(verdict(s, rows[i].pod), rows[i].want);
		space_free(s);
	}
}

TEST("a node that has not said it is ready takes nothing")
{
	struct space *s = space_new();

	CHECK_STR(verdict(s, "'containers':[]"), "no nodes available to schedule pods");
	set_node(s, "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'2','pods':'9'}%s}}", "");
	CHECK_STR(verdict(s, "'containers':[]"),
		  "0/1 nodes are available: 1 node(s) had untolerated taint {node.kubernetes.io/not-ready: }.");
	set_node(s, "{'metadata':{'name':'n'},'status':{'allocatable':{'cpu':'2','pods':'9'}," READY "%s}}", "");
	CHECK_STR(verdict(s, "'containers':[]"), "n");
	space_free(s);
}

TEST("pods take room and give it back")
{
	struct space *s = space_new();
	struct seat a;
	struct seat b;
	struct seat c;

	set_node(s, NODE, "");
	a = put(s, WANT("'cpu':'1500m'"), "n");
	space_sit(s, &a, space_node(s, "n"), 0); /* the same again */
	CHECK_STR(verdict(s, WANT("'cpu':'500m'")), "n");
	CHECK_STR(verdict(s, WANT("'cpu':'501m'")), "0/1 nodes are available: 1 Insufficient cpu.");
	CHECK_INT(space_total(s, RESOURCE_CPU), 2000);
	CHECK_INT(space_used(s, RESOURCE_CPU), 1500);
	b = put(s, "'containers':[]", "n");
	c = put(s, "'containers':[]", "n");
	CHECK_STR(verdict(s, "'containers':[]"), "0/1 nodes are available: 1 Too many pods.");
	space_rise(s, &a);
	leave(s, &a);
	CHECK_STR(verdict(s, WANT("'cpu':'2'")), "n");
	CHECK(!a.node);
	CHECK_STR(node_name(b.node), "n");
	leave(s, &b);
	leave(s, &c);
	CHECK_INT(space_used(s, RESOURCE_CPU), 0);
	space_free(s);
}

TEST("cards are counted whichever of their names is used")
{
	struct space *s = space_new();
	struct seat a;

	set_node(s, NODE, "");
	a = put(s, WANT("'alpha.kubernetes.io/nvidia-gpu':'1'"), "n");
	CHECK_STR(verdict(s, WANT("'nvidia.com/gpu':'1'")), "n");
	CHECK_STR(verdict(s, WANT("'nvidia.com/gpu':'2'")), "0/1 nodes are available: 1 Insufficient nvidia.com/gpu.");
	leave(s, &a);
	space_free(s);
}

TEST("a shape that found no room is tried again when something has been freed")
{
	struct space *s = space_new();
	struct seat a;
	struct seat b;

	set_node(s, NODE, "");
	a = put(s, WANT("'cpu':'2'"), "n");
	b = (struct seat){ .shape = shape(s, WANT("'cpu':'1'")) };
	CHECK(!space_failed(s, b.shape));
	CHECK(!space_find(s, &b, NULL));
	CHECK(space_failed(s, b.shape));
	set_node(s, NODE, "");
	CHECK(space_failed(s, b.shape)); /* a report with no news */
	leave(s, &a);
	CHECK(!space_failed(s, b.shape));
	CHECK(space_find(s, &b, NULL));
	CHECK_STR(node_name(b.node), "n");
	leave(s, &b);
	space_free(s);
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
		struct space *s = space_new();
		auto_free char *first = xasprintf(PORT("%s"), rows[i].first);
		auto_free char *second = xasprintf(PORT("%s"), rows[i].second);
		struct seat a;

		set_node(s, NODE, "");
		a = put(s, first, "n");
		CHECK_STR(verdict(s, second), rows[i].fits
						      ? "n"
						      : "0/1 nodes are available: 1 node(s) didn't have free ports "
							"for the requested pod ports.");
		leave(s, &a);
		CHECK_STR(verdict(s, second), "n");
		space_free(s);
	}
}

#define SMALL "{'metadata':{'name':'%s'},'status':{" READY ",'allocatable':{'cpu':'1','pods':'9'}}}"

TEST("of nodes that are used alike the first by name is taken")
{
	struct space *s = space_new();
	struct seat one;
	struct seat two;

	set_node(s, SMALL, "b");
	set_node(s, SMALL, "a");
	set_node(s, SMALL, "c");
	CHECK_INT(space_count_nodes(s), 3);
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "a");
	one = put(s, WANT("'cpu':'1'"), "a");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "b");
	two = put(s, WANT("'cpu':'1'"), "b");
	set_node(s, "{'metadata':{'name':'%s'},'spec':{'unschedulable':true},'status':{" READY "}}", "c");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")),
		  "0/3 nodes are available: 1 node(s) were unschedulable, 2 Insufficient cpu.");
	space_remove_node(s, "c");
	space_remove_node(s, "c");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "0/2 nodes are available: 2 Insufficient cpu.");
	leave(s, &one);
	leave(s, &two);
	space_free(s);
}

TEST("pods of a node that is not known yet are counted when it comes")
{
	struct space *s = space_new();
	struct seat one = put(s, WANT("'cpu':'1'"), "a");
	uint64_t epoch = space_epoch(s);

	CHECK_INT(space_count_nodes(s), 0);
	space_sit(s, &one, space_node(s, "a"), 0);
	CHECK_INT(space_epoch(s), epoch); /* it is there already */
	space_sit(s, &one, space_node(s, "a"), 1);
	CHECK_STR(node_name(one.node), "a");
	set_node(s, SMALL, "a");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "0/1 nodes are available: 1 Insufficient cpu.");
	space_remove_node(s, "a");
	set_node(s, SMALL, "a");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "0/1 nodes are available: 1 Insufficient cpu.");
	set_node(s, SMALL, "b");
	space_sit(s, &one, space_node(s, "b"), 0);
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "a");
	leave(s, &one);
	space_free(s);
}

#define LARGE "{'metadata':{'name':'%s'},'status':{" READY ",'allocatable':{'cpu':'4','memory':'8Gi','pods':'9'}}}"

TEST("pack fills nodes one after the other, spread uses the emptiest")
{
	static const struct {
		enum space_policy policy;
		const char *want;
	} rows[] = { { SPACE_PACK, "aaaabbbbcccc-" }, { SPACE_SPREAD, "abcabcabcabc-" } };

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct space *s = space_new();
		struct seat seats[13] = { 0 };
		char got[14] = "";

		space_set_policy(s, rows[i].policy);
		set_node(s, LARGE, "c");
		set_node(s, LARGE, "a");
		set_node(s, LARGE, "b");
		for (size_t k = 0; k < ARRAY_SIZE(seats); k++) {
			seats[k].shape = shape(s, WANT("'cpu':'1'"));
			got[k] = space_find(s, &seats[k], NULL) ? *node_name(seats[k].node) : '-';
		}
		CHECK_STR(got, rows[i].want);
		for (size_t k = 0; k < ARRAY_SIZE(seats); k++)
			leave(s, &seats[k]);
		space_free(s);
	}
}

TEST("pods without GPUs leave nodes with GPUs alone while they can")
{
	struct space *s = space_new();
	struct seat a;

	set_node(s, NODE, "");
	set_node(s, SMALL, "z");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "z");
	CHECK_STR(verdict(s, WANT("'cpu':'2'")), "n");
	CHECK_STR(verdict(s, WANT("'cpu':'1','nvidia.com/gpu':'1'")), "n");
	a = put(s, WANT("'cpu':'1'"), "z");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "n");
	leave(s, &a);
	space_free(s);
}

#define WISH(weight, value)                                                                                            \
	"{'weight':" weight ",'preference':{'matchExpressions':[{'key':'disk','operator':'In','values':['" value       \
	"']}]}}"
#define WISHES(list)                                                                                                   \
	"'affinity':{'nodeAffinity':{'preferredDuringSchedulingIgnoredDuringExecution':[" list "]}}," WANT("'cpu':'"   \
													   "1'")

TEST("what is wished for comes before the policy, and is not insisted upon")
{
	struct space *s = space_new();
	struct seat one;

	set_node(s,
		 "{'metadata':{'name':'a'%s},'spec':{'taints':[{'key':'old','effect':'PreferNoSchedule'}]},"
		 "'status':{" READY ",'allocatable':{'cpu':'1','pods':'9'}}}",
		 "");
	set_node(s,
		 "{'metadata':{'name':'b','labels':{'disk':'hdd'}%s},'status':{" READY
		 ",'allocatable':{'cpu':'1','pods':'9'}}}",
		 "");
	set_node(s,
		 "{'metadata':{'name':'c','labels':{'disk':'ssd'}%s},'status':{" READY
		 ",'allocatable':{'cpu':'1','pods':'9'}}}",
		 "");
	CHECK_STR(verdict(s, WANT("'cpu':'1'")), "b");
	CHECK_STR(verdict(s, "'tolerations':[{'operator':'Exists'}]," WANT("'cpu':'1'")), "a");
	CHECK_STR(verdict(s, WISHES(WISH("10", "ssd") "," WISH("9", "hdd"))), "c");
	one = put(s, WANT("'cpu':'1'"), "c");
	CHECK_STR(verdict(s, WISHES(WISH("10", "ssd") "," WISH("9", "hdd"))), "b");
	CHECK_STR(verdict(s, WISHES(WISH("10", "ssd"))), "b");
	leave(s, &one);
	space_free(s);
}

TEST("a trial is taken back as if it had never been")
{
	struct space *s = space_new();
	struct seat a;
	struct seat b = { 0 };
	uint64_t epoch;
	size_t outer;
	size_t inner;

	set_node(s, NODE, "");
	a = put(s, WANT("'cpu':'2','nvidia.com/gpu':'1'"), "n");
	b.shape = shape(s, WANT("'cpu':'1','nvidia.com/gpu':'2'"));
	CHECK(!space_find(s, &b, NULL));
	epoch = space_epoch(s);
	outer = space_mark(s);
	space_rise(s, &a);
	CHECK(space_epoch(s) > epoch);
	CHECK(space_find(s, &b, NULL));
	CHECK_INT(b.cards, 3);
	inner = space_mark(s);
	CHECK(!space_find(s, &a, NULL));
	CHECK(space_failed(s, a.shape));
	space_keep(s, inner);
	space_undo(s, outer);
	CHECK(!b.node);
	CHECK_STR(node_name(a.node), "n");
	CHECK_INT(a.cards, 1);
	CHECK_INT(space_epoch(s), epoch);
	CHECK(space_failed(s, b.shape));
	CHECK(!space_failed(s, a.shape));
	CHECK_INT(space_used(s, RESOURCE_GPU), 1);
	outer = space_mark(s);
	space_rise(s, &a);
	space_keep(s, outer);
	CHECK(space_find(s, &b, NULL));
	leave(s, &b);
	leave(s, &a);
	space_free(s);
}

static bool only_b(void *arg, const struct node *n, const struct shape *sh)
{
	(void)arg;
	(void)sh;
	return streq(node_name(n), "b");
}

static bool nobody(void *arg, const struct node *n, const struct shape *sh)
{
	(void)n;
	(void)sh;
	++*(int *)arg;
	return false;
}

TEST("a filter has the last word, and what it refuses is not remembered")
{
	struct space *s = space_new();
	int asked = 0;
	struct space_filter filter = { only_b, NULL };
	struct seat a = { 0 };

	set_node(s, SMALL, "a");
	set_node(s, SMALL, "b");
	set_node(s, "{'metadata':{'name':'c'},'status':{%s'allocatable':{'cpu':'1','pods':'9'}}}", "");
	a.shape = shape(s, WANT("'cpu':'1'"));
	CHECK(space_find(s, &a, &filter));
	CHECK_STR(node_name(a.node), "b");
	space_rise(s, &a);
	filter = (struct space_filter){ nobody, &asked };
	CHECK(!space_find(s, &a, &filter));
	CHECK_INT(asked, 2); /* c is not ready */
	CHECK(!space_failed(s, a.shape));
	CHECK(space_find(s, &a, NULL));
	leave(s, &a);
	space_free(s);
}

#define NAMES(list)                                                                                                    \
	"'affinity':{'nodeAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':{'nodeSelectorTerms':[{"         \
	"'matchFields':[{'key':'metadata.name','operator':'In','values':[" list "]}]}]}}}," WANT("'cpu':'1'")

TEST("a pod that names its nodes goes to one of them")
{
	struct space *s = space_new();
	struct seat a;

	set_node(s, SMALL, "a");
	set_node(s, SMALL, "b");
	CHECK_STR(verdict(s, NAMES("'b','x'")), "b");
	a = put(s, WANT("'cpu':'1'"), "b");
	CHECK_STR(verdict(s, NAMES("'b','x'")),
		  "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) didn't match Pod's node affinity/selector.");
	set_node(s, SMALL, "x");
	CHECK_STR(verdict(s, NAMES("'b','x'")), "x");
	leave(s, &a);
	space_free(s);
}

static const char *possible(struct space *s, const char *spec)
{
	static char out[500];
	auto_sbuf struct sbuf why = SBUF(500);
	struct shape *sh = shape(s, spec);

	snprintf(out, sizeof(out), "%s", space_possible(s, sh, &why) ? "yes" : why.p);
	space_shape_unref(s, sh);
	return out;
}

TEST("what no node could ever take is told with the numbers")
{
	static const struct {
		const char *spec, *want;
	} rows[] = {
		{ WANT("'cpu':'2','nvidia.com/gpu':'2'"), "yes" },
		{ WANT("'nvidia.com/gpu':'8'"), "needs 8 GPUs on one node, the largest node has 2 GPUs" },
		{ WANT("'cpu':'4500m'"), "needs 4.5 CPUs on one node, the largest node has 4 CPUs" },
		{ WANT("'memory':'16Gi','cpu':'5'"), "needs 5 CPUs on one node, the largest node has 4 CPUs; needs "
						     "16Gi of memory on one node, the largest "
						     "node has 8Gi of memory" },
		{ WANT("'cpu':'3','nvidia.com/gpu':'1'"),
		  "needs 3 CPUs and 1 GPU on one node, and no node has all of it" },
		{ WANT("'example.org/fpga':'1'"),
		  "needs 1 of example.org/fpga on one node, the largest node has 0 of example.org/fpga" },
		{ "'nodeSelector':{'disk':'tape'}",
		  "no node takes it: node(s) didn't match Pod's node affinity/selector" },
		{ "'nodeSelector':{'disk':'ssd'}," WANT("'cpu':'3'"),
		  "needs 3 CPUs on one node, the largest node has 2 CPUs" },
		{ WANT("'stoker.dev/gpu-memory':'4096'"),
		  "needs 4096 MiB of one shared GPU, and no GPU may be shared" },
	};
	struct space *s = space_new();
	struct seat a = put(s, WANT("'cpu':'2'"), "n");

	CHECK_STR(possible(s, WANT("'nvidia.com/gpu':'8'")), "yes"); /* nodes may come */
	set_node(s, NODE, "");
	set_node(s, LARGE, "m");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(possible(s, rows[i].spec), rows[i].want);
	set_node(s, NODE,
		 "'unschedulable':true,'taints':[{'key':'node.kubernetes.io/not-ready','effect':'NoSchedule'}]");
	CHECK_STR(possible(s, WANT("'nvidia.com/gpu':'2'")), "yes");
	set_node(s, NODE, "'taints':[{'key':'mine','effect':'NoSchedule'}]");
	CHECK_STR(possible(s, WANT("'nvidia.com/gpu':'2'")), "needs 2 GPUs on one node, the largest node has 0 GPUs");
	leave(s, &a);
	space_free(s);
}

static struct shape *shape_of_pod(struct space *s, const char *text)
{
	json_auto_t *pod = sample_json(text);

	return space_shape(s, pod);
}

static void set_card_node(struct space *s, const char *name, const char *cards)
{
	json_auto_t *list = sample_json(cards);
	auto_free char *note = json_dumps(list, JSON_COMPACT);
	json_auto_t *node = sample_json("{'metadata':{'annotations':{}},'status':{" READY
					",'allocatable':{'cpu':'8','pods':'9','nvidia.com/gpu':'2'}}}");

	jsonx_set_new(node, "metadata.name", json_string(name));
	json_object_set_new(jsonx_at(node, "metadata.annotations"), CARDS_ANNOTATION, json_string(note));
	space_set_node(s, node);
}

#define MODEL(model, want) "{'metadata':{'annotations':{'stoker.dev/gpu-model':'" model "'}},'spec':{" WANT(want) "}}"
#define PART(mib)          "{'spec':{'containers':[{'resources':{'limits':{'stoker.dev/gpu-memory':'" mib "'}}}]}}"

static const char *goes_to(struct space *s, const char *pod)
{
	struct shape *sh = shape_of_pod(s, pod);
	const char *out = verdict_of(s, sh);

	space_shape_unref(s, sh);
	return out;
}

TEST("a pod gets cards of the model it names, and shared ones are filled first")
{
	struct space *s = space_new();
	struct seat a = { 0 };
	struct seat b = { 0 };

	set_card_node(s, "v",
		      "[{'index':0,'name':'V100','memoryBytes':17179869184,'shareable':true},{'index':1,'name':'V100'"
		      ",'memoryBytes':17179869184,'shareable':true}]");
	set_card_node(s, "a",
		      "[{'index':0,'name':'A100','memoryBytes':42949672960,'shareable':true},{'index':1,'name':'V100'"
		      ",'memoryBytes':17179869184}]");
	CHECK_STR(goes_to(s, MODEL("a100", "'nvidia.com/gpu':'1'")), "a");
	CHECK_STR(goes_to(s, MODEL("V100", "'nvidia.com/gpu':'2'")), "v");
	CHECK_STR(goes_to(s, MODEL("a100", "'nvidia.com/gpu':'2'")),
		  "0/2 nodes are available: 1 Insufficient nvidia.com/gpu, 1 node(s) didn't have the requested GPU "
		  "model or "
		  "memory.");
	CHECK_STR(goes_to(s, PART("4096")), "a");
	CHECK_STR(goes_to(s, PART("17Gi")), "a");
	a.shape = shape_of_pod(s, PART("4096"));
	space_sit(s, &a, space_node(s, "v"), 0);
	CHECK_INT(a.cards, 1);
	CHECK_STR(goes_to(s, PART("12288")), "v"); /* where one is shared already */
	CHECK_STR(goes_to(s, PART("12289")), "v"); /* its other card: it is fuller */
	CHECK_STR(goes_to(s, PART("16385")), "a");
	CHECK_STR(goes_to(s, MODEL("V100", "'nvidia.com/gpu':'2'")),
		  "0/2 nodes are available: 2 Insufficient nvidia.com/gpu.");
	b.shape = shape_of_pod(s, MODEL("V100", "'nvidia.com/gpu':'1'"));
	space_sit(s, &b, space_node(s, "v"), 2);
	CHECK_INT(b.cards, 2);
	CHECK_STR(goes_to(s, MODEL("V100", "'nvidia.com/gpu':'1'")), "a");
	leave(s, &a);
	leave(s, &b);
	CHECK_STR(goes_to(s, MODEL("V100", "'nvidia.com/gpu':'2'")), "v");
	space_free(s);
}

TEST("a shape without a pod asks for the same as one with")
{
	struct space *s = space_new();
	struct shape *sh = space_shape_plain(s, 1500, 1 << 20, 2, "A100");

	CHECK_INT(shape_wants(sh, RESOURCE_CPU), 1500);
	CHECK_INT(shape_wants(sh, RESOURCE_MEMORY), 1 << 20);
	CHECK_INT(shape_wants(sh, RESOURCE_GPU), 2);
	CHECK_INT(shape_wants(sh, RESOURCE_PODS), 1);
	CHECK_STR(sh->cards.model, "A100");
	space_shape_unref(s, sh);
	space_free(s);
}

#define ALONE  "'metadata':{'annotations':{'stoker.dev/exclusive':'true'}},"
#define DAEMON "'metadata':{'ownerReferences':[{'controller':true,'kind':'DaemonSet'}]},"

static struct shape *shape_with(struct space *s, const char *metadata)
{
	auto_free char *text = xasprintf("{%s'spec':{" WANT("'stoker.dev/node':'7'") "}}", metadata);
	json_auto_t *pod = sample_json(text);

	return space_shape(s, pod);
}

TEST("a pod that wants its node for itself starts where nobody is, and nobody comes, but for daemons")
{
	static const struct {
		const char *there, *comes, *want;
	} rows[] = {
		{ NULL, ALONE, "n" },
		{ "", "", "n" },
		{ "", ALONE, "0/1 nodes are available: 1 node(s) weren't empty." },
		{ ALONE, ALONE, "0/1 nodes are available: 1 node(s) weren't empty." },
		{ ALONE, "", "0/1 nodes are available: 1 node(s) had a pod that has the node for itself." },
		{ DAEMON, ALONE, "n" },
		{ ALONE, DAEMON, "n" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct space *s = space_new();
		struct shape *comes = shape_with(s, rows[i].comes);
		struct seat seat = { 0 };

		set_node(s, NODE, "");
		if (rows[i].there) {
			seat.shape = shape_with(s, rows[i].there);
			space_sit(s, &seat, space_node(s, "n"), 0);
		}
		CHECK_STR(verdict_of(s, comes), rows[i].want);
		CHECK(space_possible(s, comes, NULL));
		if (rows[i].there)
			leave(s, &seat);
		CHECK_STR(verdict_of(s, comes), "n");
		space_shape_unref(s, comes);
		space_free(s);
	}
}
