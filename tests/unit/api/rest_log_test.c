// SPDX-License-Identifier: Apache-2.0
#include "../loop/ws_client.h"
#include "base/clock.h"
#include "base/jsonx.h"
#include "front.h"
#include "loop/kubelet.h"

#define PODS "/api/v1/namespaces/default/pods"
#define LOGS "/apis/stoker.dev/v1/namespaces/default/logs"

/* A node that has one log, says what it was asked for, and lets the test play the container. */
struct kubelet_log {
	struct kubelet_log_handlers h;
};

struct fake {
	struct kubelet base;
	struct kubelet_log log;
	bool open, paused, kept;
	int opened, closed, pauses;
	struct kubelet_log_request asked;
	char uid[64], container[64], pod[64];
	struct err fails; /* what log says */
	json_t *found;    /* what logs_find says */
};

static struct fake *fake_of(struct kubelet_log *l)
{
	return (struct fake *)((char *)l - offsetof(struct fake, log));
}

static int fake_open(struct fake *f, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		     struct kubelet_log **ret)
{
	f->asked = *q;
	f->asked.of = (struct kubelet_target){ 0 };
	snprintf(f->uid, sizeof(f->uid), "%s", q->of.uid);
	snprintf(f->pod, sizeof(f->pod), "%s", q->of.pod);
	snprintf(f->container, sizeof(f->container), "%s", q->of.container);
	f->log.h = *h;
	f->open = true;
	f->opened++;
	*ret = &f->log;
	return 0;
}

static int fake_log(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		    struct kubelet_log **ret, struct err *e)
{
	struct fake *f = (struct fake *)k;

	if (f->fails.kind != ERR_NONE) {
		*e = f->fails;
		return -1;
	}
	f->kept = false;
	return fake_open(f, q, h, ret);
}

static int fake_kept(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		     struct kubelet_log **ret, struct err *e)
{
	struct fake *f = (struct fake *)k;

	if (!json_array_size(f->found))
		return err_set(e, ERR_NOT_FOUND, "none");
	f->kept = true;
	return fake_open(f, q, h, ret);
}

static void fake_pause(struct kubelet_log *l, bool paused)
{
	fake_of(l)->paused = paused;
	fake_of(l)->pauses++;
}

static void fake_close(struct kubelet_log *l)
{
	fake_of(l)->open = false;
	fake_of(l)->closed++;
}

static json_t *fake_find(struct kubelet *k, const char *ns, const char *name)
{
	struct fake *f = (struct fake *)k;

	(void)ns;
	return streq(name, "nothing") || !f->found ? json_array() : jsonx_copy(f->found);
}

static json_t *fake_measures(struct kubelet *k, const char *ns, const json_t *pods)
{
	(void)k;
	(void)ns;
	return json_pack("{s:[{s:s, s:s}, {s:s, s:s}], s:i}", "series", "name", "loss", "pod",
			 jsonx_str_or(json_array_get(pods, 0), "pod", ""), "name", "accuracy", "pod", "x", "left", 3);
}

static const struct kubelet_ops fake_ops = {
	.measures = fake_measures,
	.log = fake_log,
	.log_pause = fake_pause,
	.log_close = fake_close,
	.logs_find = fake_find,
	.log_kept = fake_kept,
};

static void fake_say(struct fake *f, const char *text)
{
	if (f->open)
		f->log.h.text(f->log.h.arg, str_of(text));
}

static void fake_end(struct fake *f)
{
	struct err none = ERR_INIT;

	if (!f->open)
		return;
	f->open = false;
	f->log.h.end(f->log.h.arg, &none);
}

static void fake_init(struct fake *k, struct front *f)
{
	*k = (struct fake){ .base = { .ops = &fake_ops } };
	rest_set_kubelet(f->rest, &k->base);
}

static void make_pods(struct front *f)
{
	server_do(&f->s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'one'},'spec':{'nodeName':'n','containers':[{'name':'c','image':'host'}]}}");
	server_do(&f->s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'two'},'spec':{'nodeName':'n','initContainers':[{'name':'i','image':'host'}],"
		  "'containers':[{'name':'a','image':'host'},{'name':'b','image':'host'}]}}");
	server_do(&f->s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'homeless'},'spec':{'containers':[{'name':'c','image':'host'}]}}");
}

/* Sends a request and leaves its connection open. */
static int ask_open(struct front *f, struct fake *k, const char *line)
{
	auto_free char *request = xasprintf("%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", line);
	int opened = k->opened;
	int fd = front_connect(f);

	sbuf_reset(&f->body);
	front_send(f, fd, request, strlen(request));
	for (int i = 0; i < 50 && k->opened == opened; i++)
		front_turn(f);
	CHECK_INT(k->opened, opened + 1);
	return fd;
}

static const char *message(struct front *f, const char *line)
{
	static char text[2048];

	front_ask(f, line, "", NULL);
	json_auto_t *doc = front_json(f);
	snprintf(text, sizeof(text), "%s", jsonx_str_or(doc, "message", ""));
	return text;
}

TEST("a log is streamed as plain text until it ends")
{
	struct front f = front_new();
	struct fake k;
	int fd;

	fake_init(&k, &f);
	make_pods(&f);
	fd = ask_open(&f, &k, "GET " PODS "/one/log?follow=true");
	fake_say(&k, "hello\n");
	front_receive(&f, fd, "hello\n");
	CHECK(k.asked.follow && !k.kept && !k.asked.previous && !k.asked.timestamps);
	CHECK_INT(k.asked.tail_lines, -1);
	CHECK_INT(k.asked.limit_bytes, -1);
	CHECK_INT(k.asked.since_us, 0);
	CHECK_STR(k.container, "c");
	CHECK_STR(k.pod, "one");
	CHECK_INT(strlen(k.uid), 36);
	fake_say(&k, "world\n");
	fake_end(&k);
	front_receive(&f, fd, NULL);
	close(fd);
	front_cut(&f);
	CHECK_INT(f.code, 200);
	CHECK(strstr(f.head, "Content-Type: text/plain") && strstr(f.head, "chunked"));
	CHECK_STR(f.body.p, "hello\nworld\n");
	CHECK_INT(k.closed, 0);
	front_done(&f);
}

TEST("a client that goes away closes its log, and a slow one pauses it")
{
	struct front f = front_new();
	auto_free char *much = xmalloc(100001);
	struct fake k;
	int fd;

	memset(much, 'x', 100000);
	much[100000] = '\0';
	fake_init(&k, &f);
	make_pods(&f);
	fd = ask_open(&f, &k, "GET " PODS "/one/log?follow=1");
	for (int i = 0; i < 50 && !k.paused; i++) {
		fake_say(&k, much);
		front_turn(&f);
	}
	CHECK(k.paused);
	for (int i = 0; i < 200 && k.paused; i++) {
		char sink[65536];

		while (recv(fd, sink, sizeof(sink), MSG_DONTWAIT) > 0)
			;
		front_turn(&f);
	}
	CHECK(!k.paused);
	CHECK_INT(k.pauses, 2);
	close(fd);
	for (int i = 0; i < 50 && k.open; i++)
		front_turn(&f);
	CHECK_INT(k.closed, 1);
	front_done(&f);
}

TEST("the options of a log are kubectl's and python's, and wrong ones are named")
{
	static const struct {
		const char *query;
		int code;
		const char *text;
	} rows[] = {
		{ "tailLines=x", 400, "tailLines: Invalid value: \"x\": must be a whole number" },
		{ "tailLines=-1", 422, "tailLines: Invalid value: -1: must be greater than or equal to 0" },
		{ "limitBytes=0", 422, "limitBytes: Invalid value: 0: must be greater than 0" },
		{ "sinceSeconds=0", 422, "sinceSeconds: Invalid value: 0: must be greater than 0" },
		{ "sinceTime=noon", 400, "sinceTime: Invalid value: \"noon\": must be a time in RFC 3339" },
		{ "sinceSeconds=1&sinceTime=2026-01-01T00:00:00Z", 422,
		  "at most one of `sinceTime` or `sinceSeconds` may be specified" },
		{ "stream=stdout", 422, "stream: Unsupported value: \"stdout\"" },
		{ "stream=Stdout&tailLines=3", 422, "tailLines: Forbidden: `tailLines` and specific `stream`" },
	};
	struct front f = front_new();
	struct fake k;

	fake_init(&k, &f);
	make_pods(&f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET " PODS "/one/log?%s", rows[i].query);
		const char *text = message(&f, line);

		CHECK_INT(f.code, rows[i].code);
		if (!strstr(text, rows[i].text))
			test_fail(__FILE__, __LINE__, "\"%s\" is not in \"%s\"", rows[i].text, text);
	}
	CHECK_INT(k.opened, 0);
	int fd = ask_open(&f, &k,
			  "GET " PODS "/one/log?container=c&follow=False&previous=True&timestamps=true&tailLines=7&"
			  "limitBytes=99&sinceTime=1970-01-02T00:00:00Z&pretty=true&insecureSkipTLSVerifyBackend=true");
	CHECK(!k.asked.follow && k.asked.previous && k.asked.timestamps);
	CHECK_INT(k.asked.tail_lines, 7);
	CHECK_INT(k.asked.limit_bytes, 99);
	CHECK_INT(k.asked.since_us, 86400LL * 1000000);
	close(fd);
	front_turn(&f);
	clock_fake(1000);
	fd = ask_open(&f, &k, "GET " PODS "/one/log?sinceSeconds=10");
	CHECK_INT(k.asked.since_us, 990LL * 1000000);
	CHECK_INT(k.asked.stream, 0);
	close(fd);
	front_turn(&f);
	fd = ask_open(&f, &k, "GET " PODS "/one/log?stream=Stderr");
	CHECK_INT(k.asked.stream, 2);
	clock_fake(-1);
	close(fd);
	front_turn(&f);
	front_done(&f);
}

TEST("which container is asked in Kubernetes' words")
{
	static const struct {
		const char *path, *text;
		int code;
	} rows[] = {
		{ "/two/log",
		  "a container name must be specified for pod two, choose one of: [a b] or one of the init containers: "
		  "[i]",
		  400 },
		{ "/two/log?container=x", "container x is not valid for pod two", 400 },
		{ "/homeless/log", "pod homeless does not have a host assigned", 400 },
		{ "/nobody/log", "pods \"nobody\" not found", 404 },
	};
	struct front f = front_new();
	struct fake k;

	fake_init(&k, &f);
	make_pods(&f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET " PODS "%s", rows[i].path);

		CHECK_STR(message(&f, line), rows[i].text);
		CHECK_INT(f.code, rows[i].code);
	}
	int fd = ask_open(&f, &k, "GET " PODS "/two/log?container=i");
	CHECK_STR(k.container, "i");
	close(fd);
	front_turn(&f);
	front_done(&f);
}

static void set_status(struct front *f, const char *status)
{
	struct api_request req = server_request(&f->s, VERB_PATCH, "v1/pods", "default", "one");
	auto_free char *body = xasprintf("{'status':{'containerStatuses':[{'name':'c','image':'host','imageID':'',"
					 "'ready':false,'restartCount':0,'state':%s}]}}",
					 status);

	req.subresource = "status";
	req.patch = PATCH_MERGE;
	json_auto_t *answer = server_call(&f->s, &req, body);
	CHECK_STR(f->s.message, "");
}

TEST("a container without a log says why, and one that the node has forgotten has the log that was kept")
{
	static const struct {
		const char *query, *state, *text;
	} rows[] = {
		{ "", "{'waiting':{'reason':'ContainerCreating'}}",
		  "container \"c\" in pod \"one\" is waiting to start: ContainerCreating" },
		{ "?follow=true", "{'waiting':{'reason':'ErrImagePull'}}",
		  "container \"c\" in pod \"one\" is waiting to start: image can't be pulled" },
		{ "", "{'waiting':{'reason':'ImagePullBackOff'}}",
		  "container \"c\" in pod \"one\" is waiting to start: trying and failing to pull image" },
		{ "?previous=true", "{'running':{}}", "previous terminated container \"c\" in pod \"one\" not found" },
		{ "", "{'terminated':{'exitCode':1}}", "container \"c\" in pod \"one\" is terminated" },
	};
	struct front f = front_new();
	struct fake k;
	int fd;

	fake_init(&k, &f);
	make_pods(&f);
	err_set(&k.fails, ERR_NOT_FOUND, "no worker");
	CHECK_STR(message(&f, "GET " PODS "/one/log"),
		  "container \"c\" in pod \"one\" is waiting to start: ContainerCreating");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line = xasprintf("GET " PODS "/one/log%s", rows[i].query);

		set_status(&f, rows[i].state);
		CHECK_STR(message(&f, line), rows[i].text);
		CHECK_INT(f.code, 400);
	}
	k.found = json_pack("[{}]");
	fd = ask_open(&f, &k, "GET " PODS "/one/log");
	CHECK(k.kept);
	CHECK_INT(k.asked.attempt, -1);
	close(fd);
	front_turn(&f);
	err_set(&k.fails, ERR_BAD_REQUEST, "the node's own words");
	CHECK_STR(message(&f, "GET " PODS "/one/log"), "the node's own words");
	json_decref(k.found);
	front_done(&f);
}

TEST("without a node there are no logs; HEAD is answered; other methods are not; rights are asked for")
{
	struct front f = front_new();
	struct fake k;

	make_pods(&f);
	CHECK_STR(message(&f, "GET " PODS "/one/log"), "this server runs no pods");
	CHECK_INT(f.code, 503);
	CHECK_STR(message(&f, "GET " LOGS "/one"), "this server runs no pods");
	fake_init(&k, &f);
	CHECK_INT(front_ask(&f, "HEAD " PODS "/one/log?follow=true", "", NULL), 200);
	CHECK_INT(f.body.n, 0);
	CHECK_INT(k.closed, 1);
	CHECK_INT(front_ask(&f, "POST " PODS "/one/log", "", "{}"), 405);
	CHECK_INT(front_ask(&f, "GET " PODS "/one/log", "Impersonate-User: eve\r\n", NULL), 403);
	CHECK_INT(front_ask(&f, "GET " LOGS "/one", "Impersonate-User: eve\r\n", NULL), 403);
	CHECK_INT(front_ask(&f, "DELETE " LOGS "/one", "", NULL), 404);
	front_done(&f);
}

/* ---- by name ---- */

#define ITEM(pod_, uid_, kind_, owner_)                                                                                \
	"{'namespace':'default','pod':'" pod_ "','uid':'" uid_ "','owner':{'kind':'" kind_ "','name':'" owner_         \
	"'},'containers':[{'name':'main','attempts':[{'attempt':0,'bytes':1}]}],'ended':null}"

TEST("logs by name list what there is")
{
	struct front f = front_new();
	struct fake k;

	fake_init(&k, &f);
	make_pods(&f);
	k.found = sample_json("[" ITEM("train-a", "1", "Job", "train") "," ITEM("train", "2", "PyTorchJob", "x") "]");
	CHECK_INT(front_ask(&f, "GET " LOGS "/train?list=1", "", NULL), 200);
	json_auto_t *all = front_json(&f);
	CHECK_STR(jsonx_str(all, "kind"), "LogList");
	CHECK_INT(json_array_size(json_object_get(all, "items")), 2);
	CHECK(json_is_false(json_object_get(json_array_get(json_object_get(all, "items"), 0), "alive")));
	CHECK_INT(front_ask(&f, "GET " LOGS "/train?list=1&kind=job", "", NULL), 200);
	json_auto_t *job = front_json(&f);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(job, "items"), 0), "pod"), "train-a");
	CHECK_INT(json_array_size(json_object_get(job, "items")), 1);
	CHECK_INT(front_ask(&f, "GET " LOGS "/train?list=1&kind=Pod", "", NULL), 200);
	json_auto_t *pod = front_json(&f);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(pod, "items"), 0), "uid"), "2");
	CHECK_STR(message(&f, "GET " LOGS "/train"),
		  "2 pods have logs under \"train\", choose one of: [train-a train]");
	CHECK_INT(f.code, 400);
	CHECK_STR(message(&f, "GET " LOGS "/nothing"), "there are no logs of \"nothing\" in namespace \"default\"");
	CHECK_INT(f.code, 404);
	json_decref(k.found);
	front_done(&f);
}

#define MEASURES_ "/apis/stoker.dev/v1/namespaces/default/measures"

TEST("measurements are found as logs are, and a metric chooses")
{
	struct front f = front_new();
	struct fake k;

	CHECK_STR(message(&f, "GET " MEASURES_ "/train"), "this server runs no pods");
	fake_init(&k, &f);
	k.found = sample_json("[" ITEM("train-a", "1", "Job", "train") "," ITEM("train", "2", "PyTorchJob", "x") "]");
	CHECK_INT(front_ask(&f, "GET " MEASURES_ "/train?kind=pod", "", NULL), 200);
	json_auto_t *all = front_json(&f);
	CHECK_STR(jsonx_str(all, "kind"), "Measures");
	CHECK_STR(jsonx_str(all, "job"), "train");
	CHECK_INT(jsonx_int_or(all, "left", 0), 3);
	CHECK_INT(json_array_size(json_object_get(all, "series")), 2);
	CHECK_STR(jsonx_str(json_array_get(json_object_get(all, "series"), 0), "pod"), "train");
	CHECK_INT(front_ask(&f, "GET " MEASURES_ "/train?metric=loss,accurac", "", NULL), 200);
	json_auto_t *one = front_json(&f);
	CHECK_INT(json_array_size(json_object_get(one, "series")), 1);
	CHECK_STR(message(&f, "GET " MEASURES_ "/nothing"),
		  "there are no logs of \"nothing\" in namespace \"default\"");
	CHECK_INT(f.code, 404);
	CHECK_INT(front_ask(&f, "GET " MEASURES_ "/train", "Impersonate-User: eve\r\n", NULL), 403);
	CHECK_INT(front_ask(&f, "DELETE " MEASURES_ "/train", "", NULL), 404);
	json_decref(k.found);
	front_done(&f);
}

TEST("a log by name is the kept one of a pod that is gone, and the pod's own while it lives")
{
	struct front f = front_new();
	struct fake k;
	int fd;

	fake_init(&k, &f);
	make_pods(&f);
	k.found = sample_json("[" ITEM("train-a", "1", "Job", "train") "," ITEM("train-a", "2", "Job", "train") "]");
	fd = ask_open(&f, &k, "GET " LOGS "/train?follow=true&tailLines=3");
	CHECK(k.kept && !k.asked.follow);
	CHECK_INT(k.asked.tail_lines, 3);
	CHECK_STR(k.uid, "2"); /* the newest of its name */
	CHECK_STR(k.container, "main");
	fake_say(&k, "gone\n");
	fake_end(&k);
	front_receive(&f, fd, "gone");
	close(fd);
	fd = ask_open(&f, &k, "GET " LOGS "/train?uid=1&attempt=0");
	CHECK_STR(k.uid, "1");
	CHECK_INT(k.asked.attempt, 0);
	close(fd);
	CHECK_STR(message(&f, "GET " LOGS "/train?uid=1&container=other"),
		  "container other is not valid for pod train-a");
	json_decref(k.found);

	json_auto_t *pod = server_ask(&f.s, VERB_GET, "v1/pods", "default", "one", NULL);
	k.found = sample_json("[" ITEM("one", "1", "Job", "train") "]");
	json_object_set(json_array_get(k.found, 0), "uid", jsonx_at(pod, "metadata.uid"));
	fd = ask_open(&f, &k, "GET " LOGS "/train?follow=true");
	CHECK(!k.kept && k.asked.follow);
	CHECK_STR(k.pod, "one");
	CHECK_STR(k.container, "c");
	close(fd);
	front_turn(&f);
	json_decref(k.found);
	k.found = NULL;
	/* A pod without any log yet says so itself. */
	CHECK_STR(message(&f, "GET " LOGS "/homeless"), "pod homeless does not have a host assigned");
	front_done(&f);
}

TEST("a log by WebSocket comes as messages, plain or as text, and ends with a goodbye")
{
	static const struct {
		const char *protocol, *want;
	} rows[] = {
		{ "", "82:one; 88:\\3\\232; " },
		{ "Sec-WebSocket-Protocol: binary.k8s.io\r\n", "82:one; 88:\\3\\232; " },
		{ "Sec-WebSocket-Protocol: base64.binary.k8s.io\r\n", "81:b25l; 88:\\3\\232; " },
	};
	struct front f = front_new();
	struct fake k;

	fake_init(&k, &f);
	make_pods(&f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *line =
			xasprintf("GET " PODS "/one/log?follow=1 HTTP/1.1\r\n" WS_HEAD "%s\r\n", rows[i].protocol);
		auto_sbuf struct sbuf words = SBUF(4096);
		int fd = front_connect(&f);
		char *body;

		k.closed = 0;
		sbuf_reset(&f.body);
		front_send(&f, fd, line, strlen(line));
		front_receive(&f, fd, "\r\n\r\n");
		CHECK(str_starts(f.body.p, "HTTP/1.1 101 "));
		fake_say(&k, "one");
		fake_end(&k);
		front_receive(&f, fd, NULL);
		body = strstr(f.body.p, "\r\n\r\n") + 4;
		ws_read((struct str){ body, f.body.n - (size_t)(body - f.body.p) }, &words);
		CHECK_STR(words.p, rows[i].want);
		CHECK_INT(k.closed, 0);
		close(fd);
	}
	{ /* a client that goes lets go of the log */
		static const char line[] = "GET " PODS "/one/log?follow=1 HTTP/1.1\r\n" WS_HEAD "\r\n";
		int fd = front_connect(&f);

		front_send(&f, fd, line, strlen(line));
		front_receive(&f, fd, "\r\n\r\n");
		close(fd);
		for (int i = 0; i < 100 && !k.closed; i++)
			front_turn(&f);
		CHECK_INT(k.closed, 1);
	}
	CHECK_INT(front_ask(&f, "GET " PODS "/one/log", "Upgrade: websocket\r\nConnection: Upgrade\r\n", NULL), 400);
	front_done(&f);
}
