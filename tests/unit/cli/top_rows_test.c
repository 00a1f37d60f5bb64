// SPDX-License-Identifier: Apache-2.0
#include "cli/top_rows.h"

#include "about_text.h"

#define POD(name_, phase_, limits_)                                                                                    \
	"{'metadata':{'name':'" name_ "','namespace':'lab'},'spec':{'nodeName':'vm','containers':[{'resources':"       \
	"{'limits':{" limits_ "},'requests':{" limits_ "}}}]},'status':{'phase':'" phase_ "'}}"
#define PODS                                                                                                           \
	"[" POD("a", "Running", "'cpu':'1','memory':'100Mi'") "," POD("b", "Running", "'nvidia.com/gpu':'2'") "," POD( \
		"c", "Succeeded", "'cpu':'8'") "," POD("d", "Pending", "'cpu':'500m'") "," POD("e", "Running", "") "]"
#define METRICS                                                                                                        \
	"[{'metadata':{'name':'a','namespace':'lab'},'containers':[{'usage':{'cpu':'950m','memory':'50Mi'}}]},"        \
	"{'metadata':{'name':'b','namespace':'lab'},'containers':[{'usage':{'cpu':'2','memory':'1Gi'}}]},"             \
	"{'metadata':{'name':'e','namespace':'other'},'containers':[{'usage':{'cpu':'2'}}]}]"

static void expect(const struct table *t, bool wide, bool colours, const char *want)
{
	auto_sbuf struct sbuf out = SBUF(8192);

	table_text(t, wide, colours, 0, &out);
	CHECK_STR(out.p, want);
}

TEST("running pods are shown with what they use of what they may")
{
	json_auto_t *pods = about_json(PODS);
	json_auto_t *metrics = about_json(METRICS);
	struct top_rows r;
	struct table t;

	top_rows_pods(pods, metrics, &r);
	top_rows_sort(&r, NULL);
	top_pods_table(&r, false, NULL, &t);
	expect(&t, false, false,
	       "POD   CPU  CPU%  MEMORY  MEM%  GPUS  NODE\n"
	       "b       2     -     1Gi     -     2  vm\n"
	       "a    950m   95%    50Mi   50%     0  vm\n"
	       "e       -     -       -     -     0  vm\n");
	table_done(&t);
	top_rows_sort(&r, "memory");
	top_pods_table(&r, true, "12:00:00", &t);
	expect(&t, true, false,
	       "TIME      NAMESPACE  POD   CPU  CPU%  MEMORY  MEM%  GPUS  CPU ASKED  CPU LIMIT  MEM ASKED  MEM LIMIT  "
	       "NODE\n"
	       "12:00:00  lab        b       2     -     1Gi     -     2          -          -          -          -  "
	       "vm\n"
	       "12:00:00  lab        a    950m   95%    50Mi   50%     0          1          1      100Mi      100Mi  "
	       "vm\n"
	       "12:00:00  lab        e       -     -       -     -     0          -          -          -          -  "
	       "vm\n");
	table_done(&t);
	top_rows_done(&r);
}

#define NODE(annotation_)                                                                                              \
	"[{'metadata':{'name':'vm'" annotation_ "},'status':{'allocatable':{'cpu':'4','memory':'8Gi','pods':'110',"    \
	"'nvidia.com/gpu':'4'}}}]"
#define CARDS                                                                                                          \
	",'annotations':{'stoker.dev/gpus':'[{\\\"index\\\":0,\\\"pod\\\":\\\"b\\\",\\\"name\\\":\\\"T4\\\","          \
	"\\\"namespace\\\":\\\"lab\\\"},{\\\"index\\\":1,\\\"healthy\\\":false},{\\\"index\\\":2}]'}"
#define USAGE "[{'metadata':{'name':'vm'},'usage':{'cpu':'1','memory':'2Gi'}}]"

TEST("a node's GPUs are what it says of them, else what pods ask for")
{
	json_auto_t *pods = about_json(PODS);
	json_auto_t *metrics = about_json(USAGE);
	json_auto_t *plain = about_json(NODE(""));
	json_auto_t *with_cards = about_json(NODE(CARDS));
	struct top_rows r;
	struct table t;

	top_rows_nodes(plain, metrics, pods, &r);
	top_nodes_table(&r, NULL, &t);
	expect(&t, true, false,
	       "NODE  CPU  CPU%  MEMORY  MEM%  GPUS USED  GPUS FREE   PODS  CPU ASKED  CPUS  MEM ASKED  MEMORY ALL\n"
	       "vm      1   25%     2Gi   25%          2          2  4/110        1.5     4      100Mi         8Gi\n");
	table_done(&t);
	top_rows_done(&r);
	top_rows_nodes(with_cards, NULL, NULL, &r);
	top_nodes_table(&r, NULL, &t);
	expect(&t, false, false,
	       "NODE  CPU  CPU%  MEMORY  MEM%  GPUS USED  GPUS FREE  PODS\n"
	       "vm      -     -       -     -          1          1     -\n");
	table_done(&t);
	top_rows_done(&r);
	top_cards_table(with_cards, &t);
	expect(&t, false, false,
	       "NODE  GPU  MODEL  MEMORY  STATE   NAMESPACE  POD  CONTAINER\n"
	       "vm      0  T4          0  used    lab        b    -\n"
	       "vm      1  -           0  broken  -          -    -\n"
	       "vm      2  -           0  free    -          -    -\n");
	table_done(&t);
}

TEST("programs get plain numbers")
{
	json_auto_t *pods = about_json(PODS);
	json_auto_t *metrics = about_json(METRICS);
	json_auto_t *out = json_array();
	struct top_rows r;

	top_rows_pods(pods, metrics, &r);
	top_rows_sort(&r, "gpu");
	top_rows_json(&r, "Pod", out);
	CHECK_INT(json_array_size(out), 3);
	CHECK_STR(jsonx_str(json_array_get(out, 0), "name"), "b");
	CHECK_INT(jsonx_int_or(json_array_get(out, 0), "used.cpuMillis", 0), 2000);
	CHECK_INT(jsonx_int_or(json_array_get(out, 0), "limits.gpus", 0), 2);
	CHECK(!jsonx_bool_or(json_array_get(out, 2), "measured", true));
	top_rows_done(&r);
}
