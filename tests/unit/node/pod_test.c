// SPDX-License-Identifier: Apache-2.0
/* Workers of pods, with everything real but the runtime: the fake one reads what its containers do from annotations. */
#include "node/node.h"

#include "api/server.h"
#include "base/clock.h"
#include "client/client.h"
#include "node/pod.h"
#include "node/tree.h"

#define PATIENCE_MS 120000

struct machine {
	struct server s;
	struct client *client;
	struct node *node;
};

static void boot(struct machine *m)
{
	struct node_config config = { .dir = m->s.dir, .name = "box", .runtime = "fake", .gpus = "2" };
	struct err e = ERR_INIT;

	CHECK_INT(node_new(m->client, &config, &m->node, &e), 0);
}

static struct machine machine_new(void)
{
	struct machine m = { .s = server_new() };

	m.client = client_local_new(m.s.api, &caller_system);
	boot(&m);
	return m;
}

static void machine_done(struct machine *m)
{
	node_free(m->node);
	server_settle(&m->s);
	client_free(m->client);
	server_done(&m->s);
}

/* The server stops or is killed: for the node that is the same. */
static void restart(struct machine *m)
{
	node_free(m->node);
	server_settle(&m->s);
	boot(m);
}

static json_t *get(struct machine *m, const char *name)
{
	return server_ask(&m->s, VERB_GET, "v1/pods", "default", name, NULL);
}

/* Waits until the text at `path` is `want`; NULL: until the pod is gone. */
static bool wait_for(struct machine *m, const char *name, const char *path, const char *want)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *pod = get(m, name);

		if (want ? str_same(jsonx_str(pod, path), want) : !pod)
			return true;
		server_settle(&m->s);
		usleep(2000);
	}
	return false;
}

/* Waits until its program runs, or has run: one of a few tenths of a second may be over when somebody looks. */
static bool wait_begun(struct machine *m, const char *name)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (clock_mono_ms() < end) {
		json_auto_t *pod = get(m, name);

		if (!streq(jsonx_str_or(pod, "status.phase", "Pending"), "Pending"))
			return true;
		server_settle(&m->s);
		usleep(2000);
	}
	return false;
}

static void delete_pod(struct machine *m, const char *name)
{
	struct api_request req = server_request(&m->s, VERB_DELETE, "v1/pods", "default", name);
	json_auto_t *done = NULL;

	req.grace_seconds = -1;
	done = server_call(&m->s, &req, NULL);
	CHECK(done != NULL);
}

static const json_t *status_of(const json_t *pod, const char *list, size_t i)
{
	return json_array_get(jsonx_at(pod, list), i);
}

#define C0 "status.containerStatuses"

/* `fake` are the runtime's orders ('seconds':'0.01'), `spec` is more of the spec. */
static void create(struct machine *m, const char *name, const char *fake, const char *spec)
{
	auto_free char *body = xasprintf("{'metadata':{'name':'%s','annotations':{%s}},'spec':{'nodeName':'box',%s"
					 "'containers':[{'name':'c','image':'host','command':['x']}]}}",
					 name, fake, spec);

	server_do(&m->s, VERB_CREATE, "v1/pods", "default", NULL, body);
}

TEST("a pod that ends well has succeeded, and its status says when and how")
{
	struct machine m = machine_new();

	create(&m, "a", "'stoker.dev/fake-seconds':'0.02'", "'restartPolicy':'Never',");
	CHECK(wait_for(&m, "a", "status.phase", "Succeeded"));
	json_auto_t *pod = get(&m, "a");
	const json_t *c = status_of(pod, C0, 0);

	CHECK_STR(jsonx_str(c, "state.terminated.reason"), "Completed");
	CHECK_INT(jsonx_int_or(c, "state.terminated.exitCode", -1), 0);
	CHECK(jsonx_str(c, "state.terminated.finishedAt") != NULL);
	CHECK(jsonx_str(pod, "status.startTime") != NULL);
	machine_done(&m);
}

TEST("a container that fails is started again after a while, and the pod says why it waits")
{
	struct machine m = machine_new();

	create(&m, "a", "'stoker.dev/fake-exit-code':'3'", "'restartPolicy':'OnFailure',");
	CHECK(wait_for(&m, "a", "status.phase", "Running"));
	int64_t end = clock_mono_ms() + PATIENCE_MS;
	bool waits = false;

	while (!waits && clock_mono_ms() < end) {
		json_auto_t *pod = get(&m, "a");
		const json_t *c = status_of(pod, C0, 0);

		waits = str_same(jsonx_str(c, "state.waiting.reason"), "CrashLoopBackOff") &&
			jsonx_int_or(c, "lastState.terminated.exitCode", 0) == 3;
		server_settle(&m.s);
	}
	CHECK(waits);
	machine_done(&m);
}

TEST("a container that cannot be started fails its pod if nothing restarts it")
{
	struct machine m = machine_new();

	create(&m, "a", "'stoker.dev/fake-start-error':'no such program'", "'restartPolicy':'Never',");
	CHECK(wait_for(&m, "a", "status.phase", "Failed"));
	json_auto_t *pod = get(&m, "a");
	const json_t *c = status_of(pod, C0, 0);

	CHECK_STR(jsonx_str(c, "state.terminated.reason"), "StartError");
	CHECK_INT(jsonx_int_or(c, "state.terminated.exitCode", 0), 128);
	CHECK(strstr(jsonx_str_or(c, "state.terminated.message", ""), "no such program") != NULL);
	machine_done(&m);
}

TEST("init containers run one after the other, before the others")
{
	struct machine m = machine_new();

	create(&m, "a", "'stoker.dev/fake-seconds':'0.05'",
	       "'restartPolicy':'Never','initContainers':[{'name':'i','image':'host'},{'name':'j','image':'host'}],");
	CHECK(wait_for(&m, "a", "status.phase", "Succeeded"));
	json_auto_t *pod = get(&m, "a");
	const json_t *i = status_of(pod, "status.initContainerStatuses", 0);
	const json_t *j = status_of(pod, "status.initContainerStatuses", 1);

	CHECK_STR(jsonx_str(i, "state.terminated.reason"), "Completed");
	CHECK_STR(jsonx_str(j, "state.terminated.reason"), "Completed");
	CHECK(strcmp(jsonx_str(i, "state.terminated.finishedAt"), jsonx_str(j, "state.terminated.startedAt")) <= 0);
	machine_done(&m);
}

TEST("a deleted pod is asked to end, then made to, and is gone after that")
{
	struct machine m = machine_new();
	struct api_request req;
	json_t *done;

	create(&m, "a", "'stoker.dev/fake-ignore-term':'true'", "'terminationGracePeriodSeconds':1,");
	CHECK(wait_for(&m, "a", "status.phase", "Running"));
	req = server_request(&m.s, VERB_DELETE, "v1/pods", "default", "a");
	req.grace_seconds = -1;
	done = server_call(&m.s, &req, NULL);
	CHECK(done != NULL);
	json_decref(done);
	server_settle(&m.s);
	json_auto_t *pod = get(&m, "a");

	CHECK(jsonx_at(pod, "metadata.deletionTimestamp") != NULL);
	CHECK(wait_for(&m, "a", NULL, NULL));
	machine_done(&m);
}

TEST("a pod past its deadline is failed and says so")
{
	struct machine m = machine_new();

	create(&m, "a", "", "'activeDeadlineSeconds':1,'terminationGracePeriodSeconds':1,");
	CHECK(wait_for(&m, "a", "status.phase", "Failed"));
	json_auto_t *pod = get(&m, "a");

	CHECK_STR(jsonx_str(pod, "status.reason"), "DeadlineExceeded");
	machine_done(&m);
}

TEST("a new server finds running containers, and those that ended meanwhile, and starts neither again")
{
	struct machine m = machine_new();

	create(&m, "runs", "", "'restartPolicy':'Never',");
	create(&m, "ends", "'stoker.dev/fake-seconds':'0.3','stoker.dev/fake-exit-code':'7'",
	       "'restartPolicy':'Never',");
	CHECK(wait_for(&m, "runs", "status.phase", "Running"));
	CHECK(wait_begun(&m, "ends"));
	json_auto_t *before = get(&m, "runs");

	node_free(m.node);
	server_settle(&m.s);
	usleep(400000);
	boot(&m);
	CHECK(wait_for(&m, "ends", "status.phase", "Failed"));
	json_auto_t *ended = get(&m, "ends");
	json_auto_t *after = get(&m, "runs");

	CHECK_INT(jsonx_int_or(status_of(ended, C0, 0), "state.terminated.exitCode", 0), 7);
	CHECK_INT(jsonx_int_or(status_of(ended, C0, 0), "restartCount", -1), 0);
	CHECK_STR(jsonx_str(after, "status.phase"), "Running");
	CHECK_INT(jsonx_int_or(status_of(after, C0, 0), "restartCount", -1), 0);
	CHECK_STR(jsonx_str(status_of(after, C0, 0), "state.running.startedAt"),
		  jsonx_str(status_of(before, C0, 0), "state.running.startedAt"));
	machine_done(&m);
}

TEST("a container the runtime knows nothing of has ended with the machine, and is not run as if it never had")
{
	struct machine m = machine_new();
	auto_free char *state = xasprintf("%s/run/fake", m.s.dir);

	create(&m, "a", "", "'restartPolicy':'Never',");
	CHECK(wait_for(&m, "a", "status.phase", "Running"));
	node_free(m.node);
	server_settle(&m.s);
	tree_remove(state, NULL);
	boot(&m);
	CHECK(wait_for(&m, "a", "status.phase", "Failed"));
	json_auto_t *pod = get(&m, "a");

	CHECK_STR(jsonx_str(status_of(pod, C0, 0), "state.terminated.reason"), "ContainerStatusUnknown");
	CHECK_INT(jsonx_int_or(status_of(pod, C0, 0), "state.terminated.exitCode", 0), 255);
	machine_done(&m);
}

TEST("what has succeeded stays so across a restart")
{
	struct machine m = machine_new();

	create(&m, "a", "'stoker.dev/fake-seconds':'0.01'", "'restartPolicy':'Never',");
	CHECK(wait_for(&m, "a", "status.phase", "Succeeded"));
	json_auto_t *before = get(&m, "a");

	restart(&m);
	for (int i = 0; i < 20; i++)
		server_settle(&m.s);
	json_auto_t *after = get(&m, "a");

	CHECK_STR(jsonx_str(after, "metadata.resourceVersion"), jsonx_str(before, "metadata.resourceVersion"));
	machine_done(&m);
}

TEST("a pod gets cards, says which, and gives them back")
{
	struct machine m = machine_new();

	server_do(&m.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'a','annotations':{'stoker.dev/fake-seconds':'0.2'}},'spec':{'nodeName':'box',"
		  "'restartPolicy':'Never','containers':[{'name':'c','image':'host','resources':{'limits':"
		  "{'nvidia.com/gpu':'2'}}}]}}");
	CHECK(wait_begun(&m, "a"));
	json_auto_t *pod = get(&m, "a");

	CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.annotations"), "stoker.dev/gpus")), "0,1");
	CHECK(wait_for(&m, "a", "status.phase", "Succeeded"));
	for (int i = 0; i < 20; i++)
		server_settle(&m.s);
	json_auto_t *node = server_ask(&m.s, VERB_GET, "v1/nodes", "", "box", NULL);
	const char *cards =
		json_string_value(json_object_get(jsonx_at(node, "metadata.annotations"), "stoker.dev/gpus"));

	CHECK(cards && !strstr(cards, "\"pod\":\"a\""));
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(node, "status.conditions"), 3), "status"), "True");
	machine_done(&m);
}

/* A pod that the scheduler bound with a choice of cards. */
static void bind_with(struct machine *m, const char *name, const char *limits, const char *cards)
{
	struct api_request bind = server_request(&m->s, VERB_CREATE, "v1/pods", "default", name);
	auto_free char *pod =
		xasprintf("{'metadata':{'name':'%s'},'spec':{'restartPolicy':'Never','containers':[{'name':"
			  "'c','image':'host','resources':{'limits':{%s}}}]}}",
			  name, limits);
	auto_free char *binding = xasprintf("{'metadata':{'name':'%s','annotations':{'stoker.dev/cards':'%s'}},"
					    "'target':{'kind':'Node','name':'box'}}",
					    name, cards);

	server_do(&m->s, VERB_CREATE, "v1/pods", "default", NULL, pod);
	bind.subresource = "binding";
	json_decref(server_call(&m->s, &bind, binding));
}

TEST("a pod has the cards that the scheduler chose, or has failed")
{
	struct machine m = machine_new();

	bind_with(&m, "a", "'nvidia.com/gpu':'1'", "1");
	CHECK(wait_for(&m, "a", "status.phase", "Running"));
	json_auto_t *a = get(&m, "a");

	CHECK_STR(json_string_value(json_object_get(jsonx_at(a, "metadata.annotations"), "stoker.dev/gpus")), "1");
	bind_with(&m, "b", "'nvidia.com/gpu':'1'", "7");
	CHECK(wait_for(&m, "b", "status.phase", "Failed"));
	json_auto_t *b = get(&m, "b");

	CHECK_STR(jsonx_str(b, "status.reason"), "UnexpectedAdmissionError");
	CHECK_STR(jsonx_str(b, "status.message"),
		  "Pod was rejected: container c: the scheduler chose GPU 7, and there are only 2");
	bind_with(&m, "c", "'stoker.dev/gpu-memory':'1Gi'", "0");
	CHECK(wait_for(&m, "c", "status.phase", "Failed"));
	machine_done(&m);
}

static void on_events(void *arg, const json_t *obj, const struct err *e)
{
	CHECK(e->kind == ERR_NONE);
	*(json_t **)arg = json_incref((json_t *)obj);
}

static json_t *list_events(struct machine *m)
{
	struct ref ref = { .api_version = "v1", .plural = "events", .ns = "default" };
	json_t *events = NULL;

	m->client->ops->list(m->client, &ref, NULL, on_events, &events);
	server_settle(&m->s);
	return events;
}

static bool was_said(struct machine *m, const char *pod, const char *message)
{
	json_auto_t *events = list_events(m);
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(events, "items"), i, e)
		if (str_same(jsonx_str(e, "involvedObject.name"), pod) && str_same(jsonx_str(e, "message"), message))
			return true;
	return false;
}

static bool wait_said(struct machine *m, const char *pod, const char *message)
{
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	while (!was_said(m, pod, message) && clock_mono_ms() < end)
		usleep(2000);
	return was_said(m, pod, message);
}

TEST("a pod waits for the card that was chosen for it, though another is free")
{
	struct machine m = machine_new();

	server_do(&m.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'x'},'spec':{'nodeName':'box','restartPolicy':'Never','containers':[{'name':'c',"
		  "'image':'host','resources':{'limits':{'nvidia.com/gpu':'1'}}}]}}");
	CHECK(wait_for(&m, "x", "status.phase", "Running"));
	bind_with(&m, "y", "'nvidia.com/gpu':'1'", "0");
	CHECK(wait_said(&m, "y", "container c: waits for GPU 0, which pod default/x still has"));
	json_auto_t *waits = get(&m, "y");

	CHECK_STR(jsonx_str(waits, "status.phase"), "Pending");
	delete_pod(&m, "x");
	CHECK(wait_for(&m, "y", "status.phase", "Running"));
	json_auto_t *y = get(&m, "y");

	CHECK_STR(json_string_value(json_object_get(jsonx_at(y, "metadata.annotations"), "stoker.dev/gpus")), "0");
	machine_done(&m);
}

static bool complains(struct machine *m, const char *pod)
{
	json_auto_t *events = list_events(m);
	json_t *e;
	size_t i;

	json_array_foreach (json_object_get(events, "items"), i, e)
		if (str_same(jsonx_str(e, "reason"), "FailedGPU") && str_same(jsonx_str(e, "involvedObject.name"), pod))
			return true;
	return false;
}

TEST("a pod whose cards are taken waits, says so, and goes on as soon as they are free")
{
	static const char body[] = "{'metadata':{'name':'%s','annotations':{%s}},'spec':{'nodeName':'box',"
				   "'restartPolicy':'Never','containers':[{'name':'c','image':'host',"
				   "'resources':{'limits':{'nvidia.com/gpu':'2'}}}]}}";
	struct machine m = machine_new();
	auto_free char *first = xasprintf(body, "first", "");
	auto_free char *second = xasprintf(body, "second", "'stoker.dev/fake-seconds':'0.01'");
	int64_t end = clock_mono_ms() + PATIENCE_MS;

	server_do(&m.s, VERB_CREATE, "v1/pods", "default", NULL, first);
	CHECK(wait_for(&m, "first", "status.phase", "Running"));
	server_do(&m.s, VERB_CREATE, "v1/pods", "default", NULL, second);
	while (!complains(&m, "second") && clock_mono_ms() < end)
		usleep(2000);
	CHECK(complains(&m, "second"));
	delete_pod(&m, "first");
	CHECK(wait_for(&m, "second", "status.phase", "Succeeded"));
	machine_done(&m);
}

#define GANG "'stoker.dev/gang':'g','stoker.dev/gang-size':'2'"

TEST("programs of a gang start when all its pods are set up")
{
	static const char body[] =
		"{'metadata':{'name':'%s','annotations':{%s}},'spec':{'nodeName':'box','restartPolicy':"
		"'Never','containers':[{'name':'c','image':'host','resources':{'limits':{"
		"'nvidia.com/gpu':'2'}}}]}}";
	struct machine m = machine_new();
	auto_free char *before = xasprintf(body, "before", "");
	auto_free char *second = xasprintf(body, "b", GANG);

	server_do(&m.s, VERB_CREATE, "v1/pods", "default", NULL, before);
	CHECK(wait_for(&m, "before", "status.phase", "Running"));
	server_do(&m.s, VERB_CREATE, "v1/pods", "default", NULL, second); /* has no cards yet */
	create(&m, "a", GANG, "");
	for (int i = 0; i < 20; i++)
		server_settle(&m.s);
	json_auto_t *waits = get(&m, "a");

	CHECK_STR(jsonx_str(waits, "status.phase"), "Pending");
	delete_pod(&m, "before");
	CHECK(wait_for(&m, "a", "status.phase", "Running"));
	CHECK(wait_for(&m, "b", "status.phase", "Running"));
	machine_done(&m);
}

TEST("a pod of a gang whose others are elsewhere starts after a moment")
{
	struct machine m = machine_new();

	create(&m, "a", GANG, "");
	CHECK(wait_for(&m, "a", "status.phase", "Running"));
	machine_done(&m);
}
