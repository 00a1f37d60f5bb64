// SPDX-License-Identifier: Apache-2.0
#include "sched/neighbours.h"

#include "api/sample_json.h"
#include "base/mem.h"
#include "sched/parts.h"
#include "sched/space.h"
#include "test.h"

#define READY "'conditions':[{'type':'Ready','status':'True'}]"

/* a1 and a2 in zone a, b1 in zone b, and x which has no zone. */
static struct space *four_nodes(void)
{
	static const char *const nodes[][2] = { { "a1", "a" }, { "a2", "a" }, { "b1", "b" }, { "x", NULL } };
	struct space *s = space_new();

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++) {
		auto_free char *zone = nodes[i][1] ? xasprintf(",'zone':'%s'", nodes[i][1]) : xstrdup("");
		auto_free char *text = xasprintf("{'metadata':{'name':'%s','labels':{'host':'%s'%s}},'status':{" READY
						 ",'allocatable':{'cpu':'8','pods':'9'}}}",
						 nodes[i][0], nodes[i][0], zone);
		json_auto_t *node = sample_json(text);

		space_set_node(s, node);
	}
	return s;
}

static struct shape *shape(struct space *s, const char *labels, const char *spec)
{
	auto_free char *text =
		xasprintf("{'metadata':{'namespace':'default','labels':{%s}},'spec':{%s}}", labels, spec);
	json_auto_t *pod = sample_json(text);

	return space_shape(s, pod);
}

static struct seat put(struct space *s, const char *labels, const char *spec, const char *node)
{
	struct seat seat = { .shape = shape(s, labels, spec) };

	space_sit(s, &seat, space_node(s, node), 0);
	return seat;
}

static void leave(struct space *s, struct seat *seat)
{
	space_rise(s, seat);
	space_shape_unref(s, seat->shape);
}

static bool listed(void *arg, const struct node *n, const struct shape *sh)
{
	char *list = arg;

	(void)sh;
	if (*list)
		strncat(list, " ", 2);
	strncat(list, node_name(n), 10);
	return false;
}

/* All nodes that would take it, in order. */
static const char *where(struct space *s, const char *labels, const char *spec)
{
	static char out[100];
	struct seat seat = { .shape = shape(s, labels, spec) };
	struct space_filter filter = { listed, out };

	*out = '\0';
	CHECK(!space_find(s, &seat, &filter));
	space_shape_unref(s, seat.shape);
	return out;
}

static const char *why(struct space *s, const char *labels, const char *spec)
{
	static char out[500];
	struct shape *sh = shape(s, labels, spec);

	snprintf(out, sizeof(out), "%s", space_why(s, sh));
	space_shape_unref(s, sh);
	return out;
}

#define APP(app)            "'labelSelector':{'matchLabels':{'app':'" app "'}}"
#define TERM(app, topology) "{'topologyKey':'" topology "'," APP(app) "}"
#define NEAR(terms)         "'affinity':{'podAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}}"
#define FAR(terms)          "'affinity':{'podAntiAffinity':{'requiredDuringSchedulingIgnoredDuringExecution':[" terms "]}}"

TEST("required affinity and anti-affinity decide which nodes are left")
{
	static const struct {
		const char *labels, *spec, *nodes;
	} rows[] = {
		{ "'app':'web'", NEAR(TERM("db", "zone")), "a1 a2" },
		{ "'app':'web'", NEAR(TERM("db", "host")), "a1" },
		{ "'app':'web'", NEAR(TERM("none", "zone")), "" },
		{ "'app':'none'", NEAR(TERM("none", "zone")),
		  "a1 a2 b1" }, /* may be the first, where there are zones */
		{ "'app':'db'", NEAR(TERM("db", "zone")), "a1 a2" },
		{ "'app':'web'", NEAR(TERM("db", "zone") "," TERM("db", "host")), "a1" },
		{ "'app':'web'", NEAR(TERM("db", "zone") "," TERM("cache", "zone")), "" }, /* nobody is both */
		{ "'app':'web'", FAR(TERM("db", "zone")), "b1 x" },
		{ "'app':'web'", FAR(TERM("db", "host")), "a2 b1 x" },
		{ "'app':'web'", FAR(TERM("none", "host")), "a1 a2 b1 x" },
		{ "'app':'web'", NEAR("{'topologyKey':'zone','namespaces':['other']," APP("db") "}"), "" },
		{ "'app':'web'", NEAR("{'topologyKey':'zone','namespaces':['other','default']," APP("db") "}"),
		  "a1 a2" },
		{ "'app':'web'", NEAR("{'topologyKey':'zone','namespaceSelector':{}," APP("db") "}"), "a1 a2" },
		{ "'app':'web'",
		  NEAR("{'topologyKey':'zone','namespaceSelector':{'matchLabels':{'kubernetes.io/"
		       "metadata.name':'default'}}," APP("db") "}"),
		  "a1 a2" },
		{ "'app':'web'", NEAR("{'topologyKey':'zone'}"), "" }, /* no selector means nobody */
		{ "'app':'web'", NEAR("{'topologyKey':'zone','labelSelector':{}}"), "a1 a2" },
		{ "'app':'web','v':'2'", FAR("{'topologyKey':'host','matchLabelKeys':['v'],'labelSelector':{}}"),
		  "a1 b1 x" },
		{ "'app':'web','v':'1'", FAR("{'topologyKey':'host','matchLabelKeys':['v'],'labelSelector':{}}"),
		  "a2 b1 x" },
		{ "'app':'web','v':'1'",
		  FAR("{'topologyKey':'host','mismatchLabelKeys':['v'],'labelSelector':{'matchExpressions':[{'key':'"
		      "app',"
		      "'operator':'Exists'}]}}"),
		  "a1 b1 x" },
	};
	struct space *s = four_nodes();
	struct seat db = put(s, "'app':'db','v':'1'", "'containers':[]", "a1");
	struct seat cache = put(s, "'app':'cache','v':'2'", "'containers':[]", "a2");

	CHECK_STR(where(s, "'app':'web'", "'containers':[]"), "a1 a2 b1 x");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(where(s, rows[i].labels, rows[i].spec), rows[i].nodes);
	leave(s, &db);
	CHECK_STR(where(s, "'app':'web'", NEAR(TERM("db", "zone"))), "");
	leave(s, &cache);
	space_free(s);
}

#define TEAM(value_) "{'topologyKey':'zone','namespaceSelector':{'matchLabels':{'team':'" value_ "'}}," APP("db") "}"

TEST("namespaces are meant by their labels, as these are now")
{
	struct space *s = four_nodes();
	struct space *copy = four_nodes();
	json_auto_t *vision = sample_json("{'team':'vision','kubernetes.io/metadata.name':'default'}");
	json_auto_t *speech = sample_json("{'team':'speech','kubernetes.io/metadata.name':'default'}");
	struct seat db = put(s, "'app':'db'", "'containers':[]", "a1");
	uint64_t epoch;

	CHECK_STR(where(s, "'app':'web'", NEAR(TEAM("vision"))), "");
	space_set_namespace(s, "default", vision);
	CHECK_STR(where(s, "'app':'web'", NEAR(TEAM("vision"))), "a1 a2");
	CHECK_STR(where(s, "'app':'web'", FAR(TEAM("vision"))), "b1 x");
	CHECK_STR(where(s, "'app':'web'", FAR(TEAM("speech"))), "a1 a2 b1 x");
	epoch = space_epoch(s);
	space_set_namespace(s, "default", vision);
	CHECK_INT(space_epoch(s), epoch);
	space_set_namespace(s, "default", speech);
	CHECK(space_epoch(s) != epoch);
	CHECK_STR(where(s, "'app':'web'", NEAR(TEAM("vision"))), "");
	CHECK_STR(where(s, "'app':'web'", NEAR(TEAM("speech"))), "a1 a2");
	leave(s, &db);
	/* It may be the first of those it wants to be near only if it is one of them. */
	CHECK_STR(where(s, "'app':'db'", NEAR(TEAM("vision"))), "");
	CHECK_STR(where(s, "'app':'db'", NEAR(TEAM("speech"))), "a1 a2 b1");
	space_copy_namespaces(copy, s);
	CHECK_STR(where(copy, "'app':'db'", NEAR(TEAM("speech"))), "a1 a2 b1");
	space_set_namespace(s, "default", NULL);
	CHECK_STR(where(s, "'app':'db'", NEAR(TEAM("speech"))), "");
	space_free(copy);
	space_free(s);
}

TEST("rules that sit are counted anew when a namespace has other labels")
{
	struct space *s = four_nodes();
	json_auto_t *vision = sample_json("{'team':'vision'}");
	struct seat lonely = put(s, "'app':'cache'", FAR(TEAM("vision")), "a1");
	struct seat db = put(s, "'app':'db'", NEAR(TEAM("vision")), "b1");

	CHECK_STR(where(s, "'app':'db'", "'containers':[]"), "a1 b1 a2 x");
	space_set_namespace(s, "default", vision);
	CHECK_STR(where(s, "'app':'db'", "'containers':[]"), "b1 x");
	CHECK_STR(where(s, "'app':'web'", NEAR(TEAM("vision"))), "b1");
	space_set_namespace(s, "default", NULL);
	CHECK_STR(where(s, "'app':'db'", "'containers':[]"), "a1 b1 a2 x");
	space_set_namespace(s, "default", vision);
	leave(s, &db);
	CHECK_STR(where(s, "'app':'web'", NEAR(TEAM("vision"))), "");
	leave(s, &lonely);
	space_free(s);
}

TEST("who sits keeps those away whom it does not want")
{
	struct space *s = four_nodes();
	struct seat lonely = put(s, "'app':'db'", FAR(TERM("web", "zone")), "a1");

	CHECK_STR(where(s, "'app':'web'", "'containers':[]"), "b1 x");
	CHECK_STR(where(s, "'app':'other'", "'containers':[]"), "a1 a2 b1 x");
	CHECK_STR(why(s, "'app':'web'", "'nodeSelector':{'zone':'a'}"),
		  "0/4 nodes are available: 2 node(s) didn't match Pod's node affinity/selector, 2 node(s) didn't "
		  "satisfy existing pods anti-affinity rules.");
	space_rise(s, &lonely);
	CHECK_STR(where(s, "'app':'web'", "'containers':[]"), "a1 a2 b1 x");
	leave(s, &lonely);
	space_free(s);
}

TEST("why neighbours refuse is told in Kubernetes' words")
{
	struct space *s = four_nodes();
	struct seat db = put(s, "'app':'db'", "'containers':[]", "a1");

	CHECK_STR(why(s, "", NEAR(TERM("web", "zone"))),
		  "0/4 nodes are available: 4 node(s) didn't match pod affinity rules.");
	CHECK_STR(
		why(s, "", FAR(TERM("db", "host")) ",'nodeSelector':{'host':'a1'}"),
		"0/4 nodes are available: 1 node(s) didn't match pod anti-affinity rules, 3 node(s) didn't match Pod's "
		"node affinity/selector.");
	leave(s, &db);
	space_free(s);
}

TEST("a pod that hopes for a neighbour is tried again when one comes")
{
	struct space *s = four_nodes();
	struct seat web = { .shape = shape(s, "'app':'web'", NEAR(TERM("db", "zone"))) };
	struct seat other;
	struct seat db;
	uint64_t epoch;

	CHECK(!space_find(s, &web, NULL));
	CHECK(space_failed(s, web.shape));
	epoch = space_epoch(s);
	other = put(s, "'app':'other'", "'containers':[]", "b1");
	CHECK(space_failed(s, web.shape));
	CHECK_INT(space_epoch(s), epoch);
	db = put(s, "'app':'db'", "'containers':[]", "b1");
	CHECK(space_epoch(s) > epoch);
	CHECK(!space_failed(s, web.shape));
	CHECK(space_find(s, &web, NULL));
	CHECK_STR(node_name(web.node), "b1");
	leave(s, &web);
	leave(s, &other);
	leave(s, &db);
	space_free(s);
}

#define SPREAD(skew, topology, when, more)                                                                             \
	"'topologySpreadConstraints':[{'maxSkew':" skew ",'topologyKey':'" topology "','whenUnsatisfiable':'" when     \
	"'," APP("web") more "}]"

TEST("pods are spread over domains as evenly as they ask for")
{
	struct space *s = four_nodes();
	struct seat one = put(s, "'app':'web'", "'containers':[]", "a1");
	struct seat two;

	CHECK_STR(where(s, "'app':'web'", SPREAD("1", "zone", "DoNotSchedule", "")), "b1");
	CHECK_STR(where(s, "'app':'web'", SPREAD("2", "zone", "DoNotSchedule", "")), "a1 a2 b1");
	CHECK_STR(where(s, "'app':'db'", SPREAD("1", "zone", "DoNotSchedule", "")), "a1 a2 b1"); /* not one of them */
	CHECK_STR(where(s, "'app':'web'", SPREAD("1", "host", "DoNotSchedule", "")), "a2 b1 x");
	/* Where its node affinity does not let it go does not count. */
	CHECK_STR(where(s, "'app':'web'", SPREAD("1", "zone", "DoNotSchedule", "") ",'nodeSelector':{'zone':'a'}"),
		  "a1 a2");
	CHECK_STR(
		where(s, "'app':'web'",
		      SPREAD("1", "zone", "DoNotSchedule", ",'nodeAffinityPolicy':'Ignore'") ",'nodeSelector':{'zone':"
											     "'a'}"),
		"");
	two = put(s, "'app':'web'", "'containers':[]", "b1");
	CHECK_STR(where(s, "'app':'web'", SPREAD("1", "zone", "DoNotSchedule", "")), "a1 b1 a2");
	CHECK_STR(where(s, "'app':'web'", SPREAD("1", "zone", "DoNotSchedule", ",'minDomains':3")), "");
	CHECK_STR(why(s, "'app':'web'", SPREAD("1", "zone", "DoNotSchedule", ",'minDomains':3")),
		  "0/4 nodes are available: 1 node(s) didn't match pod topology spread constraints (missing required "
		  "label), 3 node(s) didn't match pod topology spread constraints.");
	leave(s, &one);
	leave(s, &two);
	space_free(s);
}

static const char *goes_to(struct space *s, const char *labels, const char *spec)
{
	static char out[20];
	struct seat seat = { .shape = shape(s, labels, spec) };
	size_t mark = space_mark(s);

	snprintf(out, sizeof(out), "%s", space_find(s, &seat, NULL) ? node_name(seat.node) : "-");
	space_undo(s, mark);
	space_shape_unref(s, seat.shape);
	return out;
}

#define WEIGHED(which, weight, app, topology)                                                                          \
	"'affinity':{'" which "':{'preferredDuringSchedulingIgnoredDuringExecution':[{'weight':" weight                \
	",'podAffinityTerm':" TERM(app, topology) "}]}}"

TEST("wishes about neighbours choose among nodes")
{
	struct space *s = four_nodes();
	struct seat db = put(s, "'app':'db'", "'containers':[]", "b1");
	struct seat web;
	struct seat fan;

	CHECK_STR(goes_to(s, "'app':'web'", WEIGHED("podAffinity", "5", "db", "zone")), "b1");
	CHECK_STR(goes_to(s, "'app':'web'", WEIGHED("podAntiAffinity", "5", "db", "zone")), "a1");
	CHECK_STR(goes_to(s, "'app':'web'", WEIGHED("podAffinity", "5", "none", "zone")), "b1"); /* fullest */
	web = put(s, "'app':'web'", "'containers':[]", "a1");
	CHECK_STR(goes_to(s, "'app':'web'", SPREAD("1", "zone", "ScheduleAnyway", "")), "b1");
	CHECK_STR(goes_to(s, "'app':'web'", SPREAD("1", "host", "ScheduleAnyway", "")), "b1");
	/* Who sits wishes for company too. */
	fan = put(s, "'app':'fan'", WEIGHED("podAffinity", "100", "star", "zone"), "x");
	CHECK_STR(goes_to(s, "'app':'star'", "'containers':[]"), "a1");
	space_sit(s, &fan, space_node(s, "a2"), 0);
	space_rise(s, &web);
	CHECK_STR(goes_to(s, "'app':'star'", "'containers':[]"), "a2");
	leave(s, &db);
	leave(s, &web);
	leave(s, &fan);
	space_free(s);
}

TEST("a node that moves to another zone takes its pods along")
{
	struct space *s = four_nodes();
	struct seat db = put(s, "'app':'db'", "'containers':[]", "a1");
	struct seat shy = put(s, "'app':'shy'", FAR(TERM("web", "zone")), "a1");
	struct shape *keep = shape(s, "'app':'x'", NEAR(TERM("db", "zone")));
	json_auto_t *moved = sample_json("{'metadata':{'name':'a1','labels':{'host':'a1','zone':'c'}},'status':{" READY
					 ",'allocatable':{'cpu':'8','pods':'9'}}}");

	CHECK_STR(where(s, "'app':'x'", NEAR(TERM("db", "zone"))), "a1 a2");
	space_set_node(s, moved);
	CHECK_STR(where(s, "'app':'x'", NEAR(TERM("db", "zone"))), "a1");
	CHECK_STR(where(s, "'app':'web'", "'containers':[]"), "a2 b1 x");
	space_remove_node(s, "a1");
	CHECK_STR(where(s, "'app':'x'", NEAR(TERM("db", "zone"))), "");
	CHECK_STR(where(s, "'app':'web'", "'containers':[]"), "a2 b1 x");
	space_shape_unref(s, keep);
	leave(s, &db);
	leave(s, &shy);
	space_free(s);
}

TEST("pods that differ only in labels share their demands")
{
	struct space *s = four_nodes();
	struct shape *a = shape(s, "'app':'a','i':'1'", "'containers':[]");
	struct shape *b = shape(s, "'app':'a','i':'1'", "'containers':[]");
	struct shape *c = shape(s, "'app':'a','i':'2'", "'containers':[]");

	CHECK(a == b);
	CHECK(a != c);
	CHECK(a->core == c->core);
	space_shape_unref(s, a);
	space_shape_unref(s, c);
	space_shape_unref(s, b);
	space_free(s);
}
