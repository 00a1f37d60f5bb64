// SPDX-License-Identifier: Apache-2.0
/* docker_plan_test.c - from startdocker's arguments to a pod, and from its end to a status */
#include "pbs/docker_plan.h"

#include <errno.h>

#include "../api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "test.h"

static const char *variable(const char *name)
{
	return streq(name, "MINE") ? "m$" : NULL;
}

static int may_read(const char *path)
{
	return strstr(path, "secret") ? EACCES : strstr(path, "gone") ? ENOENT : 0;
}

struct plan {
	json_t *settings, *pod;
	struct err e;
};

static struct plan plan(struct docker_ask ask, const char *options)
{
	struct plan p = { .settings = sample_json("{'hostRoots':['/ghome','/gdata/'],'readOnlyRoots':['/gpub']}"),
			  .e = ERR_INIT };

	ask.user = "ana";
	ask.home = "/ghome/ana";
	ask.image = "bit:5000/deepo";
	ask.settings = p.settings;
	ask.variable = variable;
	ask.may_read = may_read;
	if (docker_options_parse(str_of(options), &ask.options, &p.e) == 0)
		docker_plan(&ask, &p.pod, &p.e);
	docker_options_done(&ask.options);
	return p;
}

static void plan_done(struct plan *p)
{
	json_decref(p->settings);
	json_decref(p->pod);
}

TEST("a command in a job becomes a pod that is a part of it")
{
	struct plan p = plan((struct docker_ask){ .command = "python x.py", .job_pod = "7-0", .cards = 2 }, "");

	CHECK_JSON(p.pod, "{'apiVersion':'v1','kind':'Pod','metadata':{'generateName':'startdocker-','labels':"
			  "{'app.kubernetes.io/name':'startdocker'},'annotations':{'stoker.dev/await-attach':'true',"
			  "'stoker.dev/ttl-seconds-after-finished':'600','stoker.dev/"
			  "in-job':'7-0'}},'spec':{'restartPolicy':'Never',"
			  "'terminationGracePeriodSeconds':10,'automountServiceAccountToken':false,"
			  "'enableServiceLinks':false,'containers':[{'name':'main','image':'bit:5000/deepo',"
			  "'imagePullPolicy':'IfNotPresent','workingDir':'/','args':['python','x.py'],'env':["
			  "{'name':'HOME','value':'/ghome/ana'},{'name':'USER','value':'ana'},"
			  "{'name':'LOGNAME','value':'ana'}],'volumeMounts':[{'name':'v0','mountPath':'/ghome/ana',"
			  "'readOnly':false}]}],'volumes':[{'hostPath':{'path':'/ghome/ana'},'name':'v0'}]}}");
	plan_done(&p);
	p = plan((struct docker_ask){ .command = "x", .cards = 2 }, "-it --read-only -h box");
	CHECK_STR(json_string_value(json_object_get(
			  jsonx_at(json_array_get(jsonx_at(p.pod, "spec.containers"), 0), "resources.limits"),
			  "nvidia.com/gpu")),
		  "2");
	CHECK(jsonx_bool_or(json_array_get(jsonx_at(p.pod, "spec.containers"), 0), "tty", false));
	CHECK(jsonx_bool_or(json_array_get(jsonx_at(p.pod, "spec.containers"), 0), "stdinOnce", true) == false);
	CHECK_STR(jsonx_str(p.pod, "spec.hostname"), "box");
	plan_done(&p);
}

static const char *command_text(const json_t *pod, struct sbuf *out)
{
	const json_t *c = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	static const char *const fields[] = { "command", "args" };

	for (size_t f = 0; f < ARRAY_SIZE(fields); f++) {
		json_t *v;
		size_t i;

		json_array_foreach (json_object_get(c, fields[f]), i, v)
			sbuf_addf(out, "<%s>", json_string_value(v));
	}
	return out->p;
}

TEST("commands with signs of the shell go to one; scripts are found below -P or home")
{
	static const struct {
		const char *command, *script, *proc, *options, *want;
	} rows[] = {
		{ "which python", NULL, NULL, "", "<which><python>" },
		{ "sh /p/train.sh ", NULL, NULL, "", "<sh></p/train.sh>" },
		{ "echo 'a  b'", NULL, NULL, "", "<echo><a  b>" },
		{ "nvcc a && b", NULL, NULL, "", "</bin/sh><-c><nvcc a && b>" },
		{ "echo $A", NULL, NULL, "", "</bin/sh><-c><echo $$A>" },
		{ "A=b env", NULL, NULL, "", "</bin/sh><-c><A=b env>" },
		{ "x --a=b", NULL, NULL, "", "<x><--a=b>" },
		{ "a b", NULL, NULL, "--entrypoint /e", "</e><a><b>" },
		{ NULL, "/ghome/ana/r.py", NULL, "", "</ghome/ana/r.py>" },
		{ NULL, "r.py", NULL, "", "</ghome/ana/r.py>" },
		{ NULL, "shell/my.sh", "/gdata/ana", "", "</gdata/ana/shell/my.sh>" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan p = plan((struct docker_ask){ .command = rows[i].command,
							  .script = rows[i].script,
							  .proc = rows[i].proc },
				     rows[i].options);
		auto_sbuf struct sbuf got = SBUF(4096);

		CHECK_STR(p.e.text, "");
		CHECK_STR(command_text(p.pod, &got), rows[i].want);
		plan_done(&p);
	}
}

TEST("variables are the caller's wish, and dollars stay dollars")
{
	struct plan p = plan((struct docker_ask){ .command = "x", .env_text = STR("# no\nF=1\nHOME=/f\n\n") },
			     "-e HOME=/x -e MINE -e OTHER -e A=$(B)");

	CHECK_JSON(json_object_get(json_array_get(jsonx_at(p.pod, "spec.containers"), 0), "env"),
		   "[{'name':'HOME','value':'/x'},{'name':'USER','value':'ana'},{'name':'LOGNAME','value':'ana'},"
		   "{'name':'F','value':'1'},{'name':'MINE','value':'m$$'},{'name':'A','value':'$$(B)'}]");
	plan_done(&p);
}

static void mounts_text(const json_t *pod, struct sbuf *out)
{
	const json_t *c = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	json_t *m;
	size_t i;

	json_array_foreach (json_object_get(c, "volumeMounts"), i, m) {
		const json_t *v = json_array_get(jsonx_at(pod, "spec.volumes"), i);
		const char *size = jsonx_str(v, "emptyDir.sizeLimit");

		sbuf_addf(out, " %s:%s:%s", jsonx_str_or(v, "hostPath.path", size ? size : "memory"),
			  jsonx_str_or(m, "mountPath", ""), jsonx_bool_or(m, "readOnly", false) ? "ro" : "rw");
	}
}

TEST("mounts stay at the user's level of the shared directories")
{
	static const struct {
		const char *data, *proc, *options, *want;
		bool bad;
	} rows[] = {
		{ NULL, NULL, "", "" },
		{ "/gdata/ana/", "/gdata/ana", "", " /gdata/ana:/gdata/ana:rw" },
		{ "/ghome/ana", NULL, "", "" },
		{ NULL, NULL, "-v /gpub/set:/gpub/set", " /gpub/set:/gpub/set:ro" },
		{ NULL, NULL, "-v /gpub:/data", " /gpub:/data:ro" },
		{ NULL, NULL, "-v /ghome/ben/x:/x:ro", " /ghome/ben/x:/x:ro" },
		{ "/gdata", NULL, "",
		  "-D: /gdata is too high to be mounted: at least the user's level, such as /gdata/ana", true },
		{ NULL, "/ghome/", "",
		  "-P: /ghome is too high to be mounted: at least the user's level, such as /ghome/ana", true },
		{ "data", NULL, "", "-D data: an absolute path without a colon is needed", true },
		{ "/gdata/ana/../ben", NULL, "", "-D /gdata/ana/../ben: the path must have no ..", true },
		{ NULL, NULL, "-v /etc:/x",
		  "-u: -v /etc:/x: /etc may not be mounted: only what is below /ghome/ana, /ghome, /gdata/, /gpub",
		  true },
		{ NULL, NULL, "-v /:/x",
		  "-u: -v /:/x: / may not be mounted: only what is below /ghome/ana, /ghome, /gdata/, /gpub", true },
		{ NULL, NULL, "-v /gdatax/y:/x",
		  "-u: -v /gdatax/y:/x: /gdatax/y may not be mounted: only what is below /ghome/ana, /ghome, /gdata/, "
		  "/gpub",
		  true },
		{ NULL, NULL, "-v /gdata/secret:/x",
		  "-u: -v /gdata/secret:/x: cannot mount /gdata/secret: Permission denied", true },
		{ "/gdata/gone", NULL, "", "-D: cannot mount /gdata/gone: No such file or directory", true },
		{ NULL, NULL, "-v /gdata/a:/x -v /gdata/b:/x", "-u: -v /gdata/b:/x: Duplicate mount point: /x", true },
		{ NULL, NULL, "-v relative:/x", "-u: -v relative:/x: both paths must begin with / and have no ..",
		  true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct plan p = plan((struct docker_ask){ .command = "x", .data = rows[i].data, .proc = rows[i].proc },
				     rows[i].options);
		auto_sbuf struct sbuf got = SBUF(4096);
		auto_free char *want =
			rows[i].bad ? xstrdup(rows[i].want) : xasprintf(" /ghome/ana:/ghome/ana:rw%s", rows[i].want);

		mounts_text(p.pod, &got);
		CHECK_STR(rows[i].bad ? p.e.text : got.p, want);
		plan_done(&p);
	}
}

TEST("memory is mounted first, for others may be below it")
{
	struct plan p = plan((struct docker_ask){ .command = "x" }, "--shm-size 64m --tmpfs /run:size=1m --tmpfs /tmp");
	auto_sbuf struct sbuf got = SBUF(4096);

	mounts_text(p.pod, &got);
	CHECK_STR(got.p, " 67108864:/dev/shm:rw 1048576:/run:rw memory:/tmp:rw /ghome/ana:/ghome/ana:rw");
	plan_done(&p);
}

TEST("a pod's end has docker's statuses and words")
{
	static const struct {
		const char *status, *words;
		bool running, over;
		int code;
	} rows[] = {
		{ "{'phase':'Pending'}", "", false, false, 0 },
		{ "{'phase':'Pending','conditions':[{'type':'PodScheduled','status':'False','message':'no room'}]}",
		  "no room", false, false, 0 },
		{ "{'containerStatuses':[{'state':{'running':{}}}]}", "", true, false, 0 },
		{ "{'containerStatuses':[{'state':{'waiting':{'reason':'ContainerCreating','message':'pulls'}}}]}",
		  "pulls", false, false, DOCKER_FAILED },
		{ "{'containerStatuses':[{'state':{'waiting':{'reason':'ErrImagePull','message':'no'}}}]}",
		  "Unable to find image 'i': no", false, true, DOCKER_FAILED },
		{ "{'containerStatuses':[{'state':{'waiting':{'reason':'CreateContainerConfigError','message':'m'}}}]}",
		  "m", false, true, DOCKER_FAILED },
		{ "{'containerStatuses':[{'state':{'waiting':{'reason':'ContainerCreating','message':"
		  "'MountVolume.SetUp failed for v: no'}}}]}",
		  "MountVolume.SetUp failed for v: no", false, true, DOCKER_FAILED },
		{ "{'containerStatuses':[{'state':{'terminated':{'exitCode':9,'reason':'Error'}}}]}", "", false, true,
		  9 },
		{ "{'containerStatuses':[{'state':{'terminated':{'exitCode':137,'reason':'OOMKilled'}}}]}",
		  "the container was killed: out of memory", false, true, 137 },
		{ "{'containerStatuses':[{'state':{'terminated':{'exitCode':128,'reason':'StartError','message':"
		  "'crun: open executable: Permission denied'}}}]}",
		  "exec: \"p\": permission denied", false, true, 126 },
		{ "{'containerStatuses':[{'state':{'terminated':{'exitCode':128,'reason':'StartError','message':"
		  "'executable file p not found in $PATH: No such file or directory'}}}]}",
		  "exec: \"p\": no such file or directory", false, true, 127 },
		{ "{'containerStatuses':[{'state':{'terminated':{'exitCode':128,'reason':'StartError','message':"
		  "'exec p: Exec format error'}}}]}",
		  "exec: \"p\": exec format error", false, true, 1 },
		{ "{'containerStatuses':[{'state':{'terminated':{'exitCode':128,'reason':'StartError','message':'x'}}}]"
		  "}",
		  "x", false, true, 125 },
		{ "{'phase':'Failed','message':'the job has ended'}", "the job has ended", false, true, 125 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *status = sample_json(rows[i].status);
		json_auto_t *pod = json_pack("{s:{s:[{s:s, s:[s]}]}, s:O}", "spec", "containers", "image", "i", "args",
					     "p", "status", status);
		struct docker_end end;

		docker_look(pod, &end);
		CHECK_INT(end.running, rows[i].running);
		CHECK_INT(end.over, rows[i].over);
		CHECK_INT(end.status, rows[i].code);
		CHECK_STR(end.words.p ? end.words.p : "", rows[i].words);
		sbuf_done(&end.words);
	}
}

TEST("a runtime that could not run the interpreter is heard in what was printed")
{
	static const struct {
		int status;
		const char *output;
		int want;
		const char *words;
	} rows[] = {
		{ 1, "exec container process (missing dynamic library?) `/h/x.sh`: No such file or directory\n", 127,
		  "exec: \"x.sh\": no such file or directory" },
		{ 1, "exec container process `/h/x.sh`: Permission denied\n", 126,
		  "exec: \"x.sh\": permission denied" },
		{ 1, "exec /h/x.sh: no such file or directory\n", 127, "exec: \"x.sh\": no such file or directory" },
		{ 1, "cat: y: No such file or directory\n", 1, "" },
		{ 2, "exec /h/x.sh: no such file or directory\n", 2, "" },
		{ 1, "exec container process: whatever\n", 1, "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct docker_end end = { .words = SBUF(4096), .over = true, .status = rows[i].status };

		docker_look_at_output("x.sh", rows[i].output, &end);
		CHECK_INT(end.status, rows[i].want);
		CHECK_STR(end.words.p ? end.words.p : "", rows[i].words);
		sbuf_done(&end.words);
	}
}
