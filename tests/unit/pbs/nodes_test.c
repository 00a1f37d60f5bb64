// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <time.h>

#include "base/jsonx.h"
#include "pbs/nodes_text.h"
#include "test.h"

static const char node_json[] =
	"{'metadata':{'name':'G102','labels':{'kubernetes.io/os':'linux','property.stoker.dev/S':'',"
	"'property.stoker.dev/G102':''},'annotations':{'stoker.dev/np':'16','stoker.dev/gpus':"
	"'[{\\'index\\':0,\\'uuid\\':\\'GPU-a\\',\\'name\\':\\'NVIDIA GeForce GTX 1080 Ti\\',\\'memoryBytes\\':"
	"11720982528,\\'pod\\':\\'\\',\\'healthy\\':true},{\\'index\\':1,\\'uuid\\':\\'GPU-b\\',\\'name\\':\\'X\\',"
	"\\'memoryBytes\\':1048576,\\'pod\\':\\'p\\'}]'}},"
	"'status':{'allocatable':{'cpu':'8','nvidia.com/gpu':'2'},'capacity':{'memory':'257821660Ki'},"
	"'conditions':[{'type':'Ready','status':'True','lastHeartbeatTime':'2021-01-14T01:21:39Z'}],"
	"'nodeInfo':{'kernelVersion':'5.10.0','architecture':'amd64'}}}";

static json_t *object(const char *text)
{
	struct err e = ERR_INIT;
	char *copy = strdup(text);
	json_t *v = NULL;

	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	CHECK_INT(jsonx_parse(copy, strlen(copy), NULL, NULL, &v, &e), 0);
	free(copy);
	return v;
}

static void add_job(struct node_view *v, const char *id, const char *state, const char *hosts, const char *gpus)
{
	char text[512];
	struct str rest;
	struct board_row r;

	snprintf(text, sizeof(text), "%s\tn\tu\th\tq\t%s\t\t\t\t\t\t\t\t%s\t%s", id, state, hosts, gpus);
	rest = str_of(text);
	CHECK(board_row_next(&rest, &r));
	node_view_job(v, &r);
}

TEST("a node is written as Torque writes it")
{
	json_auto_t *node = object(node_json);
	struct node_use use = { true, 930, 359444480 };
	struct pbs_attributes a = { 0 };
	struct sbuf out = SBUF(8192);
	struct node_view v;

	setenv("TZ", "UTC", 1);
	tzset();
	node_view_init(&v, node);
	add_job(&v, "380963.Ghead", "R", "G102/0", "");
	add_job(&v, "380964.Ghead", "R", "G101/0+G102/1-3,5", "");
	add_job(&v, "380965.Ghead", "C", "G102/7", "");
	add_job(&v, "380966.Ghead", "R", "G1021/7", "");
	node_attributes(&v, &use, &a);
	node_text("G102", &a, &out);
	CHECK_STR(out.p,
		  "G102\n"
		  "     state = free\n"
		  "     power_state = Running\n"
		  "     np = 16\n"
		  "     properties = S\n"
		  "     ntype = cluster\n"
		  "     jobs = 0/380963.Ghead, 1-3,5/380964.Ghead\n"
		  "     status = opsys=linux,uname=Linux G102 5.10.0 amd64,nsessions=2,nusers=1,totmem=257821660kb,"
		  "availmem=257470640kb,physmem=257821660kb,ncpus=16,loadave=0.93,gres=,state=free,varattr= ,"
		  "version=6.1.3,rectime=1610587299,jobs=380963.Ghead 380964.Ghead\n"
		  "     mom_service_port = 15002\n"
		  "     mom_manager_port = 15003\n"
		  "     gpus = 2\n"
		  "     gpu_status = gpu[1]=gpu_id=GPU-b;gpu_product_name=X;gpu_memory_total=1 MB;gpu_mode=Default;"
		  "gpu_state=Exclusive,gpu[0]=gpu_id=GPU-a;gpu_product_name=NVIDIA GeForce GTX 1080 Ti;"
		  "gpu_memory_total=11178 MB;gpu_mode=Default;gpu_state=Unallocated,"
		  "timestamp=Thu Jan 14 01:21:39 2021\n"
		  "\n");
	sbuf_reset(&out);
	node_xml("G102", &a, &out);
	CHECK_INT(strncmp(out.p,
			  "<Node><name>G102</name><state>free</state><power_state>Running</power_state><np>16</np>"
			  "<properties>S</properties><ntype>cluster</ntype>",
			  130),
		  0);
	CHECK(strstr(out.p, "<gpus>2</gpus>"));
	sbuf_done(&out);
	pbs_attributes_done(&a);
	node_view_done(&v);
}

TEST("states of a node, and which of them pbsnodes -l means")
{
	json_auto_t *node = object(node_json);
	struct sbuf out = SBUF(8192);
	struct node_view v;
	bool known;

	node_view_init(&v, node);
	CHECK(node_view_is(&v, "free", &known) && node_view_is(&v, "up", &known) && node_view_is(&v, "all", &known));
	CHECK(!node_view_is(&v, "", &known) && !node_view_is(&v, "active", &known));
	add_job(&v, "1.G", "R", "G102.example.org/0-15", "");
	node_line(&v, false, &out);
	CHECK_STR(out.p, "G102                 job-exclusive\n");
	CHECK(node_view_is(&v, "active", &known) && !node_view_is(&v, "free", &known));
	v.down = v.offline = true;
	sbuf_reset(&out);
	node_line(&v, true, &out);
	CHECK_STR(out.p, "G102                 down,offline,job-exclusive \n");
	CHECK(node_view_is(&v, "", &known) && node_view_is(&v, "down", &known) && !node_view_is(&v, "up", &known));
	node_view_is(&v, "G102", &known);
	CHECK(!known);
	CHECK(node_view_has_property(&v, "S") && node_view_has_property(&v, "G102"));
	CHECK(!node_view_has_property(&v, "s"));
	sbuf_done(&out);
	node_view_done(&v);
}

static void note_index(void *arg, int index)
{
	*(int *)arg = *(int *)arg * 10 + index;
}

TEST("a job's cards on a node are found by the whole name of the node")
{
	struct str rest = STR("1.G\tn\tu\th\tq\tR\t\t\t\t\t\t\t\t\tG10-gpu/5+G102-gpu/7+G102-gpu/6");
	struct board_row r;
	int seen = 0;

	CHECK(board_row_next(&rest, &r));
	node_gpus_of(&r, "G102", note_index, &seen);
	CHECK_INT(seen, 76);
}

TEST("a node that says nothing of itself is down")
{
	json_auto_t *node = json_pack("{s:{s:s}}", "metadata", "name", "x");
	struct sbuf out = SBUF(256);
	struct node_view v;

	node_view_init(&v, node);
	node_view_state(&v, &out);
	CHECK_STR(out.p, "down");
	CHECK_INT(v.np, 0);
	sbuf_done(&out);
	node_view_done(&v);
}
