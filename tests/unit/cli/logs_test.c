// SPDX-License-Identifier: Apache-2.0
#include <signal.h>

#include "api/front.h"
#include "base/jsonx.h"
#include "capture.h"
#include "loop/kubelet.h"

/* A node whose logs are sentences: what was asked for, and two lines. */
struct kubelet_log {
	struct kubelet_log_handlers h;
	struct loop_hook hook;
	char text[512];
	bool endless;
	struct kubelet_log *next;
};

struct lab {
	struct kubelet base;
	struct front f;
	json_t *found;
	char *socket;
	pid_t interrupt; /* who gets a SIGINT once it follows */
	bool following;
};

static int lab_log(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		   struct kubelet_log **ret, struct err *e);
static void lab_close(struct kubelet_log *l);

static void lab_say(void *arg)
{
	struct kubelet_log *l = arg;
	struct kubelet_log_handlers h = l->h;
	struct err none = ERR_INIT;

	h.text(h.arg, str_of(l->text));
	if (l->endless)
		return;
	free(l);
	h.end(h.arg, &none);
}

static int lab_log(struct kubelet *k, const struct kubelet_log_request *q, const struct kubelet_log_handlers *h,
		   struct kubelet_log **ret, struct err *e)
{
	struct lab *lab = (struct lab *)k;
	struct kubelet_log *l = xcalloc(1, sizeof(*l));

	(void)e;
	l->h = *h;
	l->endless = q->follow;
	lab->following |= q->follow;
	l->hook = (struct loop_hook){ .run = lab_say, .arg = l, .phase = LOOP_WORK };
	snprintf(l->text, sizeof(l->text), "%s %s tail=%lld%s%s%s\nsecond line\n", q->of.pod, q->of.container,
		 (long long)q->tail_lines, q->previous ? " previous" : "", q->timestamps ? " timestamps" : "",
		 q->since_us ? " since" : "");
	loop_schedule(lab->f.s.loop, &l->hook);
	*ret = l;
	return 0;
}

static void lab_pause(struct kubelet_log *l, bool paused)
{
	(void)l;
	(void)paused;
}

static void lab_close(struct kubelet_log *l)
{
	free(l);
}

static json_t *lab_find(struct kubelet *k, const char *ns, const char *name)
{
	struct lab *lab = (struct lab *)k;

	(void)ns;
	return streq(name, "nothing") ? json_array() : jsonx_copy(lab->found);
}

static const struct kubelet_ops lab_ops = {
	.log = lab_log, .log_kept = lab_log, .log_pause = lab_pause, .log_close = lab_close, .logs_find = lab_find
};

static void lab_turn(void *arg)
{
	struct lab *lab = arg;

	front_turn(&lab->f);
}

static void lab_init(struct lab *lab, const char *found)
{
	*lab = (struct lab){ .base = { .ops = &lab_ops }, .f = front_new(), .found = sample_json(found) };
	rest_set_kubelet(lab->f.rest, &lab->base);
	lab->socket = xasprintf("--socket=%s", lab->f.path);
}

static void lab_done(struct lab *lab)
{
	front_done(&lab->f);
	json_decref(lab->found);
	free(lab->socket);
}

#define POD(pod_, uid_, containers_)                                                                                   \
	"{'namespace':'default','pod':'" pod_ "','uid':'" uid_                                                         \
	"','owner':{'kind':'Job','name':'train'},'containers':[" containers_ "],'ended':'2026-01-01T00:00:00Z'}"
#define MAIN     "{'name':'main','attempts':[{'attempt':0,'bytes':12},{'attempt':1,'bytes':34}]}"
#define SIDE     "{'name':'side','attempts':[{'attempt':0,'bytes':5}]}"
#define RUN(...) CAPTURE(lab_turn, &lab, (char *)"logs", lab.socket, (char *)"-n", (char *)"default", __VA_ARGS__)

TEST("logs of a job whose pod is gone are shown by the job's name")
{
	struct lab lab;

	lab_init(&lab, "[" POD("train-a", "1", MAIN) "]");
	struct capture c = RUN((char *)"jobs.batch/train", (char *)"--tail=5", (char *)"--timestamps", (char *)"-p",
			       (char *)"--since=1h");
	CHECK_STR(c.err.p, "");
	CHECK_STR(c.out.p, "train-a main tail=5 previous timestamps since\nsecond line\n");
	CHECK_INT(c.status, 0);
	capture_done(&c);
	struct capture wrong = RUN((char *)"pytorchjob/train");
	CHECK_INT(wrong.status, 1);
	CHECK(strstr(wrong.err.p, "there are no logs of \"train\" in namespace \"default\"; `stoker ps"));
	capture_done(&wrong);
	lab_done(&lab);
}

TEST("of a job with several pods all are shown with their origin")
{
	struct lab lab;

	lab_init(&lab, "[" POD("train-a", "1", MAIN) "," POD("train-b", "2", MAIN) "," POD("train-b", "3", MAIN) "]");
	struct capture c = RUN((char *)"train");
	CHECK_INT(c.status, 0);
	CHECK_STR(c.err.p, "");
	CHECK_STR(c.out.p, "[train-a] train-a main tail=-1\n[train-a] second line\n"
			   "[train-b] train-b main tail=-1\n[train-b] second line\n");
	capture_done(&c);
	struct capture all = RUN((char *)"train", (char *)"--all-pods");
	CHECK_INT(all.status, 0);
	CHECK_STR(all.out.p, "[train-a] train-a main tail=-1\n[train-a] second line\n"
			     "[train-b] train-b main tail=-1\n[train-b] second line\n");
	capture_done(&all);
	lab_done(&lab);
}

TEST("a pod that has ended is not deleted as long as it is there")
{
	json_auto_t *pod = NULL;
	struct lab lab;

	lab_init(&lab, "[]");
	pod = server_ask(&lab.f.s, VERB_CREATE, "v1/pods", "default", NULL,
			 "{'metadata':{'name':'train-a'},'spec':{'containers':[{'name':'main','image':'host'}]}}");
	json_decref(lab.found);
	lab.found =
		sample_json("[" POD("train-a", "1", MAIN) "," POD("train-b", "2", MAIN) "," POD("c", "3", MAIN) "]");
	jsonx_set_new(json_array_get(lab.found, 2), "owner.kind", json_string("TFJob"));
	json_object_set(json_array_get(lab.found, 0), "uid", jsonx_at(pod, "metadata.uid"));
	struct capture c = RUN((char *)"train");
	CHECK(strstr(c.err.p, "of Job train\n"));
	CHECK(strstr(c.err.p, "of Job train, deleted "));
	capture_done(&c);
	lab_done(&lab);
}

TEST("of several containers too")
{
	struct lab lab;

	lab_init(&lab, "[" POD("train-a", "1", MAIN "," SIDE) "]");
	struct capture c = RUN((char *)"train");
	CHECK_INT(c.status, 1);
	CHECK_STR(c.err.p,
		  "stoker logs: a container name must be specified for pod train-a, choose one of: [main side]; "
		  "use -c NAME or --all-containers\n");
	capture_done(&c);
	struct capture one = RUN((char *)"train", (char *)"-c", (char *)"side");
	CHECK_STR(one.out.p, "train-a side tail=-1\nsecond line\n");
	capture_done(&one);
	struct capture all = RUN((char *)"train", (char *)"--all-containers");
	CHECK_STR(all.out.p, "[train-a/main] train-a main tail=-1\n[train-a/main] second line\n"
			     "[train-a/side] train-a side tail=-1\n[train-a/side] second line\n");
	capture_done(&all);
	lab_done(&lab);
}

TEST("the list of logs is for people and programs")
{
	struct lab lab;

	lab_init(&lab, "[" POD("train-a", "1", MAIN "," SIDE) "]");
	struct capture c = RUN((char *)"train", (char *)"--list");
	CHECK_INT(c.status, 0);
	CHECK(strstr(c.out.p, "POD ") && strstr(c.out.p, "train-a") && strstr(c.out.p, "job/train"));
	capture_done(&c);
	struct capture json = RUN((char *)"train", (char *)"--list", (char *)"-o", (char *)"json");
	json_auto_t *doc = json_loads(json.out.p, 0, NULL);
	CHECK_INT(json_array_size(doc), 1);
	CHECK_STR(jsonx_str(json_array_get(doc, 0), "owner.name"), "train");
	capture_done(&json);
	lab_done(&lab);
}

TEST("where a name stands for pods of several owners the command says which")
{
	struct lab lab;

	lab_init(&lab, "[" POD("train-a", "1",
			       MAIN) ",{'namespace':'default','pod':'train','uid':'2','containers':[" MAIN "]}]");
	struct capture c = RUN((char *)"train");
	CHECK_INT(c.status, 1);
	CHECK(strstr(c.err.p, "\"train\" stands for pods of several owners:\n  pod/train-a "));
	CHECK(strstr(c.err.p, "Name one of them, or show them all with --all-pods.\n"));
	CHECK_STR(c.out.p, "");
	capture_done(&c);
	struct capture all = RUN((char *)"train", (char *)"--all-pods");
	CHECK_INT(all.status, 0);
	CHECK(strstr(all.out.p, "[train] "));
	capture_done(&all);
	lab_done(&lab);
}

TEST("as JSON each line says where and when")
{
	struct lab lab;

	lab_init(&lab, "[" POD("train-a", "1", MAIN) "," POD("2026-01-01T00:00:00.5Z", "2", SIDE) "]");
	struct capture c = RUN((char *)"train", (char *)"--all-pods", (char *)"-o", (char *)"json");
	CHECK_STR(c.err.p, "");
	CHECK_STR(c.out.p,
		  "{\"pod\":\"train-a\",\"container\":\"main\",\"line\":\"train-a main tail=-1 timestamps\"}\n"
		  "{\"pod\":\"train-a\",\"container\":\"main\",\"line\":\"second line\"}\n"
		  "{\"pod\":\"2026-01-01T00:00:00.5Z\",\"container\":\"side\",\"time\":\"2026-01-01T00:00:00.5Z\","
		  "\"line\":\"side tail=-1 timestamps\"}\n"
		  "{\"pod\":\"2026-01-01T00:00:00.5Z\",\"container\":\"side\",\"line\":\"second line\"}\n");
	capture_done(&c);
	lab_done(&lab);
}

/* Waits for the command to follow, then presses Ctrl-C. */
static void turn_and_interrupt(void *arg)
{
	struct lab *lab = arg;

	front_turn(&lab->f);
	if (!lab->following)
		return;
	for (int i = 0; i < 200; i++)
		front_turn(&lab->f);
	if (lab->following && lab->interrupt != -1) {
		auto_free char *children = xasprintf("/proc/self/task/%d/children", getpid());
		auto_sbuf struct sbuf text = SBUF(4096);
		struct err e = ERR_INIT;
		long pid = 0;

		if (file_read(children, 4096, &text, &e) == 0 && text.p)
			pid = strtol(text.p, NULL, 10);
		if (pid > 0)
			kill((pid_t)pid, SIGINT);
		lab->interrupt = -1;
	}
}

TEST("Ctrl-C ends a log that is followed, and the output is whole")
{
	struct lab lab;

	lab_init(&lab, "[]");
	server_do(&lab.f.s, VERB_CREATE, "v1/pods", "default", NULL,
		  "{'metadata':{'name':'one'},'spec':{'nodeName':'n','containers':[{'name':'c','image':'host'}]}}");
	struct capture c = CAPTURE(turn_and_interrupt, &lab, (char *)"logs", lab.socket, (char *)"-n",
				   (char *)"default", (char *)"-f", (char *)"pod/one");
	CHECK_INT(c.status, 130);
	CHECK_STR(c.out.p, "one c tail=-1\nsecond line\n");
	CHECK_STR(c.err.p, "");
	capture_done(&c);
	lab_done(&lab);
}
