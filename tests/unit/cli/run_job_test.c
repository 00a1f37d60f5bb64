// SPDX-License-Identifier: Apache-2.0
#include "cli/run_job.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/rest.h"
#include "kinds/work_rules.h"
#include "test.h"

static char *words[] = { (char *)"python", (char *)"train.py", NULL };

static const char *my_variable(const char *key)
{
	return streq(key, "MINE") ? "my own" : NULL;
}

static struct run_options options(void)
{
	return (struct run_options){ .ns = "alice",
				     .command = words,
				     .ncommand = 2,
				     .suffix = "x7k2p",
				     .cwd = "/home/alice/lab",
				     .variable = my_variable };
}

static struct opt_strings strings(const char **items, size_t n)
{
	return (struct opt_strings){ .items = items, .n = n };
}
#define STRINGS(...)                                                                                                   \
	strings((const char *[]){ __VA_ARGS__ }, sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(const char *))

TEST("a name is made of the command")
{
	static const struct {
		const char *words[4];
		const char *name;
	} rows[] = {
		{ { "python", "train.py" }, "python-train-x7k2p" },
		{ { "/usr/bin/python3.11", "-u", "./src/Train_Net.v2.py" }, "python3-train-net-v2-x7k2p" },
		{ { "python", "-m", "lab.ddp" }, "python-lab-x7k2p" },
		{ { "sh", "-c", "echo hello" }, "sh-x7k2p" },
		{ { "./run.sh", "all" }, "run-x7k2p" },
		{ { "make", "test" }, "make-x7k2p" },
		{ { "7z", "x" }, "job-7z-x7k2p" },
		{ { "ü" }, "job-x7k2p" },
		{ { "" }, "job-x7k2p" },
		{ { "an-extraordinarily-long-name-of-a-command-that-does-little" },
		  "an-extraordinarily-long-name-of-a-comman-x7k2p" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(256);
		int n = 0;

		while (n < 4 && rows[i].words[n])
			n++;
		run_pod_made_name((char *const *)rows[i].words, n, "x7k2p", &out);
		CHECK_STR(out.p, rows[i].name);
	}
}

TEST("memory is written in many ways and means powers of 1024")
{
	static const struct {
		const char *text, *quantity; /* NULL: refused */
	} rows[] = {
		{ "512M", "512Mi" }, { "8g", "8Gi" },    { "8Gi", "8Gi" },   { "8GB", "8Gi" },  { "1.5GiB", "1.5Gi" },
		{ "1t", "1Ti" },     { "4096", "4096" }, { "64kb", "64Ki" }, { "100b", "100" }, { "8x", NULL },
		{ "G", NULL },       { "", NULL },       { "-1G", NULL },    { "0", NULL },     { "8GG", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(64);
		struct err e = ERR_INIT;
		int r = run_pod_memory(rows[i].text, &out, &e);

		if (r != (rows[i].quantity ? 0 : -1) || (r == 0 && !streq(out.p, rows[i].quantity)))
			test_fail(__FILE__, __LINE__, "%s: %d %s", rows[i].text, r, out.p ? out.p : "");
	}
}

/* Makes a Job and checks it as the server would. */
static json_t *job_of(const struct run_options *o, json_t **ret_service)
{
	struct decode_report report = { 0 };
	struct err e = ERR_INIT;
	json_t *service = NULL;
	json_t *job = NULL;

	if (run_job_make(o, &job, &service, &e) < 0) {
		test_fail(__FILE__, __LINE__, "%s", e.text);
		return NULL;
	}
	json_auto_t *copy = jsonx_copy(job);
	CHECK_INT(kind_decode(&kind_job, copy, &report, &e), 0);
	kind_default(&kind_job, copy);
	CHECK_STR(e.text, "");
	if (ret_service)
		*ret_service = service;
	else
		json_decref(service);
	return job;
}

TEST("a plain command is a Job of one pod that fails for good")
{
	struct run_options o = options();
	json_t *service = NULL;
	json_auto_t *job = job_of(&o, &service);
	const json_t *spec = jsonx_at(job, "spec.template.spec");
	const json_t *c = json_array_get(json_object_get(spec, "containers"), 0);

	CHECK(!service);
	CHECK_STR(jsonx_str(job, "metadata.name"), "python-train-x7k2p");
	CHECK_STR(jsonx_str(job, "metadata.namespace"), "alice");
	CHECK_INT(jsonx_int_or(job, "spec.backoffLimit", -1), 0);
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(job, "spec.podFailurePolicy.rules"), 0), "action"), "Ignore");
	CHECK_INT(jsonx_int_or(job, "spec.ttlSecondsAfterFinished", -1), 7 * 86400);
	CHECK(!jsonx_at(job, "spec.completions") && !jsonx_at(job, "spec.activeDeadlineSeconds"));
	CHECK_STR(jsonx_str(spec, "restartPolicy"), "Never");
	CHECK_STR(jsonx_str(c, "image"), "host");
	CHECK_STR(json_string_value(json_array_get(json_object_get(c, "command"), 1)), "train.py");
	CHECK(!json_object_get(c, "resources") && !json_object_get(c, "env") && !json_object_get(spec, "volumes"));
}

TEST("every option finds its place")
{
	struct run_options o = options();
	struct run_env_file file = { "vars", STR("# comment\n\nA=from file\nB=two \r\nMINE\n") };

	o.name = "train";
	o.image = "localhost/box:1";
	o.cpus = "0.5";
	o.mem = "8G";
	o.gpus = 2;
	o.retries = 3;
	o.time = "1:30:00";
	o.keep = "1h";
	o.node = "g1";
	o.queue = "long";
	o.priority_class = "high";
	o.now = 1794773009;
	o.begin = "+2h";
	o.after = STRINGS("ok:job/prepare,any:pod/clean", "notok:tfjob/first");
	o.workdir = "/w";
	o.mount = "/home/alice";
	o.env = STRINGS("A=1=$(B) $$", "MINE");
	o.env_files = &file;
	o.nenv_files = 1;
	o.volumes = STRINGS("/data:/data:ro", "claim:store:/store", "sub/dir:/x");
	o.labels = STRINGS("team=vision");
	json_auto_t *job = job_of(&o, NULL);
	json_auto_t *want = json_loads(
		"{\"restartPolicy\":\"Never\",\"shareProcessNamespace\":true,\"priorityClassName\":\"high\","
		"\"nodeSelector\":{\"kubernetes.io/hostname\":\"g1\"},"
		"\"containers\":[{\"name\":\"main\",\"image\":\"localhost/"
		"box:1\",\"command\":[\"python\",\"train.py\"],"
		"\"workingDir\":\"/w\",\"resources\":{\"limits\":{\"cpu\":\"0.5\",\"memory\":\"8Gi\",\"nvidia.com/"
		"gpu\":\"2\"}},"
		"\"env\":[{\"name\":\"A\",\"value\":\"1=$$(B) $$$$\"},{\"name\":\"B\",\"value\":\"two \"},"
		"{\"name\":\"MINE\",\"value\":\"my own\"}],"
		"\"volumeMounts\":[{\"name\":\"v0\",\"mountPath\":\"/home/alice\"},{\"name\":\"v1\",\"mountPath\":\"/"
		"data\","
		"\"readOnly\":true},{\"name\":\"v2\",\"mountPath\":\"/store\"},{\"name\":\"v3\",\"mountPath\":\"/"
		"x\"}]}],"
		"\"volumes\":[{\"name\":\"v0\",\"hostPath\":{\"path\":\"/home/alice\",\"type\":\"Directory\"}},"
		"{\"name\":\"v1\",\"hostPath\":{\"path\":\"/data\"}},"
		"{\"name\":\"v2\",\"persistentVolumeClaim\":{\"claimName\":\"store\"}},"
		"{\"name\":\"v3\",\"hostPath\":{\"path\":\"/home/alice/lab/sub/dir\"}}]}",
		0, NULL);
	auto_sbuf struct sbuf got = SBUF(8192);

	jsonx_dump(jsonx_at(job, "spec.template.spec"), &got);
	if (!want || !jsonx_equal(want, jsonx_at(job, "spec.template.spec")))
		test_fail(__FILE__, __LINE__, "%s", got.p);
	CHECK_INT(jsonx_int_or(job, "spec.backoffLimit", 0), 3);
	CHECK_INT(jsonx_int_or(job, "spec.activeDeadlineSeconds", 0), 5400);
	CHECK_INT(jsonx_int_or(job, "spec.ttlSecondsAfterFinished", 0), 3600);
	CHECK_STR(jsonx_str(job, "metadata.labels.team"), "vision");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "metadata.labels"), "stoker.dev/queue")), "long");
	CHECK(jsonx_equal(jsonx_at(job, "metadata.labels"), jsonx_at(job, "spec.template.metadata.labels")));
	CHECK_STR(work_note(job, "stoker.dev/not-before"), "2026-11-15T22:03:29Z");
	CHECK_STR(work_note(job, "stoker.dev/after"), "ok:job/prepare,any:pod/clean,notok:tfjob/first");
}

static const char *value_of(const json_t *job, const char *key)
{
	const json_t *c = json_array_get(jsonx_at(job, "spec.template.spec.containers"), 0);
	json_t *v;
	size_t i;

	json_array_foreach (json_object_get(c, "env"), i, v)
		if (streq(jsonx_str_or(v, "name", ""), key))
			return jsonx_str_or(v, "value", jsonx_str_or(v, "valueFrom.fieldRef.fieldPath", "?"));
	return "";
}

TEST("workers are numbered and find each other by a service")
{
	struct run_options o = options();
	json_t *service = NULL;

	o.workers = 3;
	o.env = STRINGS("MASTER_PORT=1234");
	json_auto_t *job = job_of(&o, &service);
	CHECK_STR(jsonx_str(job, "spec.completionMode"), "Indexed");
	CHECK_INT(jsonx_int_or(job, "spec.completions", 0), 3);
	CHECK_INT(jsonx_int_or(job, "spec.parallelism", 0), 3);
	CHECK_STR(value_of(job, "WORKERS"), "3");
	CHECK_STR(value_of(job, "WORLD_SIZE"), "3");
	CHECK_STR(value_of(job, "RANK"), "metadata.annotations['batch.kubernetes.io/job-completion-index']");
	CHECK_STR(value_of(job, "MASTER_ADDR"), "python-train-x7k2p-0.python-train-x7k2p");
	CHECK_STR(value_of(job, "MASTER_PORT"), "1234");
	CHECK_STR(jsonx_str(job, "spec.template.spec.subdomain"), "python-train-x7k2p");
	CHECK_STR(jsonx_str(service, "spec.clusterIP"), "None");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(service, "spec.selector"), "job-name")),
		  "python-train-x7k2p");
	json_decref(service);
}

TEST("a mistake is told by its option")
{
	static const struct {
		struct run_options o;
		const char *env, *volume, *label, *after, *text;
	} rows[] = {
		{ .o = { .name = "Not A Name" }, .text = "--name: \"Not A Name\" cannot be a name: " },
		{ .o = { .name = "7up", .workers = 2 }, .text = "--name: \"7up\" cannot be a name: " },
		{ .o = { .mem = "lots" }, .text = "--mem: \"lots\" is no size such as 512M" },
		{ .o = { .cpus = "-1" }, .text = "--cpus: \"-1\" is no number of processors" },
		{ .o = { .time = "soon" }, .text = "--time: \"soon\" is no time such as 90, 30m" },
		{ .o = { .time = "0" }, .text = "--time: \"0\" is no time" },
		{ .o = { .begin = "soon" }, .text = "--begin: \"soon\" is no time such as 14:00" },
		{ .after = "job/x", .text = "--after: \"job/x\"" },
		{ .after = "ok:deployment/x", .text = "--after: " },
		{ .after = "", .text = "--after: \"\" is no workload such as ok:job/prepare" },
		{ .o = { .keep = "ever" }, .text = "--keep: \"ever\" is no time" },
		{ .o = { .queue = "a b" }, .text = "--queue: \"a b\" cannot be" },
		{ .env = "OTHER", .text = "--env: OTHER is not set in your environment; write OTHER=VALUE" },
		{ .env = "=x", .text = "--env: \"\" cannot be the name of a variable" },
		{ .volume = "data", .text = "--volume: \"data\" is not HOST:PATH[:ro] or claim:NAME:PATH[:ro]" },
		{ .volume = ":/x", .text = "--volume: \":/x\" is not" },
		{ .volume = "/a:b", .text = "--volume: \"/a:b\" is not" },
		{ .volume = "claim:/x", .text = "--volume: \"claim:/x\" is not" },
		{ .volume = "/a:/b:rx", .text = "--volume: \"/a:/b:rx\" is not" },
		{ .label = "team", .text = "--label: \"team\": KEY=VALUE is expected" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run_options o = options();
		struct err e = ERR_INIT;
		json_t *service = NULL;
		json_t *job = NULL;

		o.name = rows[i].o.name;
		o.workers = rows[i].o.workers;
		o.mem = rows[i].o.mem;
		o.cpus = rows[i].o.cpus;
		o.time = rows[i].o.time;
		o.keep = rows[i].o.keep;
		o.queue = rows[i].o.queue;
		o.begin = rows[i].o.begin;
		o.after = strings((const char **)&rows[i].after, rows[i].after != NULL);
		o.env = strings((const char **)&rows[i].env, rows[i].env != NULL);
		o.volumes = strings((const char **)&rows[i].volume, rows[i].volume != NULL);
		o.labels = strings((const char **)&rows[i].label, rows[i].label != NULL);
		CHECK_INT(run_job_make(&o, &job, &service, &e), -1);
		if (!str_starts(e.text, rows[i].text))
			test_fail(__FILE__, __LINE__, "row %zu: %s", i, e.text);
	}
}

static bool is_nope(const char *path)
{
	return str_starts(path, "/nope") || str_starts(path, "/here/nope");
}

TEST("a host path must be there, if the host is this machine")
{
	static const struct {
		const char *volume, *text; /* NULL: it is taken */
	} rows[] = {
		{ "/nope:/x", "--volume /nope:/x: /nope does not exist on this machine" },
		{ "nope:/x:ro", "--volume nope:/x:ro: /here/nope does not exist on this machine" },
		{ "claim:nope:/x", NULL },
		{ "/data:/nope", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run_options o = { .ns = "default",
					 .command = (char *[]){ (char *)"true" },
					 .ncommand = 1,
					 .suffix = "abcde",
					 .cwd = "/here",
					 .volumes = strings((const char **)&rows[i].volume, 1) };

		for (int here = 0; here < 2; here++) {
			json_auto_t *job = NULL;
			json_auto_t *service = NULL;
			struct err e = ERR_INIT;

			o.is_missing = here ? is_nope : NULL;
			CHECK_INT(run_job_make(&o, &job, &service, &e), here && rows[i].text ? -1 : 0);
			CHECK_STR(e.text, here && rows[i].text ? rows[i].text : "");
		}
	}
}

TEST("a bad line of a file of variables is told with its number")
{
	struct run_options o = options();
	struct run_env_file file = { "vars", STR("A=1\nB C=2") };
	struct err e = ERR_INIT;
	json_t *service = NULL;
	json_t *job = NULL;

	o.env_files = &file;
	o.nenv_files = 1;
	CHECK_INT(run_job_make(&o, &job, &service, &e), -1);
	CHECK(str_starts(e.text, "--env-file vars, line 2: \"B C\" cannot be"));
}

TEST("a directory is covered by a volume at or above it")
{
	struct opt_strings v = STRINGS("/x:/home/alice", "/y:/z/", "nonsense");

	CHECK(run_pod_covers(&v, "/home/alice"));
	CHECK(run_pod_covers(&v, "/home/alice/lab"));
	CHECK(run_pod_covers(&v, "/z/y"));
	CHECK(!run_pod_covers(&v, "/home/alice2"));
	CHECK(!run_pod_covers(&v, "/home"));
}
