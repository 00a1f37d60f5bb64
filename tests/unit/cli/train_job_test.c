// SPDX-License-Identifier: Apache-2.0
#include "cli/train_job.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "base/yamlx.h"
#include "cli/train_guess.h"
#include "kinds/rest.h"
#include "kinds/work_rules.h"
#include "test.h"

static const char *script = "";

static bool read_script(const char *path, struct sbuf *out)
{
	if (!str_ends(path, ".py"))
		return false;
	sbuf_adds(out, script);
	return true;
}

static struct run_options run_of(const char *const *words)
{
	struct run_options o = {
		.ns = "alice", .command = (char **)words, .suffix = "x7k2p", .cwd = "/home/alice/lab"
	};

	while (words[o.ncommand])
		o.ncommand++;
	return o;
}
#define RUN(...) run_of((const char *const[]){ __VA_ARGS__, NULL })

/* Makes the job and checks it as the server would. */
static json_t *made(const struct run_options *run, const struct train_options *o)
{
	struct decode_report report = { 0 };
	const struct kind *k = NULL;
	struct err e = ERR_INIT;
	json_t *job = NULL;

	if (train_job_make(run, o, &k, &job, &e) < 0) {
		test_fail(__FILE__, __LINE__, "%s", e.text);
		return NULL;
	}
	json_auto_t *copy = jsonx_copy(job);
	CHECK_INT(kind_decode(k, copy, &report, &e), 0);
	kind_default(k, copy);
	kind_validate(k, copy, &e);
	CHECK_STR(e.text, "");
	return job;
}

/* "Master 1 gpu 1; Worker 3 gpu 1": the parts of a job. */
static char *parts_of(const json_t *job)
{
	auto_sbuf struct sbuf out = SBUF(4096);
	const char *key;
	const char *type;
	json_t *specs;
	json_t *v;

	json_object_foreach (jsonx_at(job, "spec"), key, specs) {
		if (!str_ends(key, "ReplicaSpecs"))
			continue;
		json_object_foreach (specs, type, v) {
			const json_t *c = json_array_get(jsonx_at(v, "template.spec.containers"), 0);
			const char *gpus =
				json_string_value(json_object_get(jsonx_at(c, "resources.limits"), "nvidia.com/gpu"));

			sbuf_addf(&out, "%s%s %lld%s%s", out.n ? "; " : "", type,
				  (long long)jsonx_int_or(v, "replicas", 0), gpus ? " gpu " : "", gpus ? gpus : "");
		}
	}
	return sbuf_steal(&out);
}

TEST("each framework has its parts")
{
	static const struct {
		const char *framework;
		int64_t workers, ps;
		bool chief, no_chief, evaluator;
		const char *elastic, *kind, *parts;
	} rows[] = {
		{ "pytorch", 3, -1, .kind = "PyTorchJob", .parts = "Master 1 gpu 2; Worker 3 gpu 2" },
		{ "pytorch", -1, -1, .kind = "PyTorchJob", .parts = "Master 1 gpu 2" },
		{ "pytorch", 0, -1, .kind = "PyTorchJob", .parts = "Master 1 gpu 2" },
		{ "pytorch", -1, -1, .elastic = "1:4", .kind = "PyTorchJob", .parts = "Worker 4 gpu 2" },
		{ "pytorch", 2, -1, .elastic = "1:4", .kind = "PyTorchJob", .parts = "Worker 2 gpu 2" },
		{ "tensorflow", 2, -1, .kind = "TFJob", .parts = "Worker 2 gpu 2" },
		{ "tensorflow", -1, 2, .kind = "TFJob", .parts = "Chief 1; PS 2; Worker 1 gpu 2" },
		{ "tensorflow", 2, 1, .no_chief = true, .kind = "TFJob", .parts = "PS 1; Worker 2 gpu 2" },
		{ "tensorflow", 2, -1, .chief = true, .evaluator = true, .kind = "TFJob",
		  .parts = "Chief 1 gpu 2; Worker 2 gpu 2; Evaluator 1 gpu 2" },
		{ "paddle", 2, -1, .kind = "PaddleJob", .parts = "Worker 2 gpu 2" },
		{ "paddle", 2, 1, .kind = "PaddleJob", .parts = "Master 1; Worker 2 gpu 2" },
		{ "mpi", 3, -1, .kind = "MPIJob", .parts = "Launcher 1; Worker 3 gpu 2" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run_options run = RUN("./prog");
		struct train_options o = TRAIN_OPTIONS;

		run.gpus = 2;
		o.framework = rows[i].framework;
		o.workers = rows[i].workers;
		o.ps = rows[i].ps;
		o.chief = rows[i].chief;
		o.no_chief = rows[i].no_chief;
		o.evaluator = rows[i].evaluator;
		o.elastic = rows[i].elastic;
		json_auto_t *job = made(&run, &o);
		auto_free char *parts = parts_of(job);

		CHECK_STR(jsonx_str(job, "kind"), rows[i].kind);
		CHECK_STR(parts, rows[i].parts);
		CHECK_STR(jsonx_str(job, "metadata.name"), "prog-x7k2p");
	}
}

TEST("every option of a training job finds its place")
{
	struct run_options run = RUN("torchrun", "train.py");
	struct train_options o = TRAIN_OPTIONS;

	run.time = "1h";
	run.keep = "2d";
	run.queue = "night";
	run.begin = "2026-11-20T07:00:00Z";
	run.after = (struct opt_strings){ .items = (const char *[]){ "ok:job/prepare" }, .n = 1 };
	o.restart = "gang";
	o.backoff = 3;
	o.hang_after = "10m";
	o.nproc = "4";
	o.workers = 1;
	json_auto_t *job = made(&run, &o);
	auto_sbuf struct sbuf policy = SBUF(4096);
	const json_t *worker = jsonx_at(job, "spec.pytorchReplicaSpecs.Worker");
	const json_t *pod = jsonx_at(worker, "template.spec");

	jsonx_dump(jsonx_at(job, "spec.runPolicy"), &policy);
	CHECK_STR(policy.p, "{\"activeDeadlineSeconds\":3600,\"ttlSecondsAfterFinished\":172800,\"backoffLimit\":3,"
			    "\"schedulingPolicy\":{\"queue\":\"night\"}}");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "metadata.annotations"), "stoker.dev/restart")),
		  "gang");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "metadata.annotations"), "stoker.dev/hang-after")),
		  "10m");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(job, "metadata.labels"), "stoker.dev/queue")), "night");
	CHECK_STR(work_note(job, "stoker.dev/not-before"), "2026-11-20T07:00:00Z");
	CHECK_STR(work_note(job, "stoker.dev/after"), "ok:job/prepare");
	CHECK_STR(jsonx_str(job, "spec.nprocPerNode"), "4");
	CHECK_STR(jsonx_str(worker, "restartPolicy"), "OnFailure");
	CHECK(!jsonx_at(pod, "restartPolicy"));
	CHECK_STR(jsonx_str(json_array_get(json_object_get(pod, "containers"), 0), "name"), "pytorch");
}

TEST("a failure is the end unless restarts are asked for")
{
	static const struct {
		const char *restart, *elastic;
		int64_t backoff;
		const char *policy;
		int64_t limit; /* -1: none */
	} rows[] = {
		{ NULL, NULL, -1, "Never", -1 },
		{ NULL, NULL, 2, "OnFailure", 2 },
		{ NULL, NULL, 0, "Never", -1 },
		{ "onfailure", NULL, -1, "OnFailure", TRAIN_BACKOFF },
		{ "exitcode", NULL, 0, "ExitCode", 0 },
		{ "never", NULL, 3, "Never", -1 },
		{ NULL, "1:2", -1, "OnFailure", TRAIN_BACKOFF },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run_options run = RUN("torchrun", "x.py");
		struct train_options o = TRAIN_OPTIONS;

		o.workers = 1;
		o.restart = rows[i].restart;
		o.elastic = rows[i].elastic;
		o.backoff = rows[i].backoff;
		json_auto_t *job = made(&run, &o);

		CHECK_STR(jsonx_str(job, "spec.pytorchReplicaSpecs.Worker.restartPolicy"), rows[i].policy);
		CHECK_INT(jsonx_int_or(job, "spec.runPolicy.backoffLimit", -1), rows[i].limit);
	}
}

/* The words of a part's command. */
static char *command_of(const json_t *job, const char *path)
{
	auto_sbuf struct sbuf out = SBUF(4096);
	const json_t *c = json_array_get(jsonx_at(job, path), 0);
	json_t *w;
	size_t i;

	json_array_foreach (json_object_get(c, "command"), i, w)
		sbuf_addf(&out, "%s%s", i ? " " : "", json_string_value(w));
	return sbuf_steal(&out);
}

TEST("mpirun is put before the command unless it is there")
{
	static const char *const launcher = "spec.mpiReplicaSpecs.Launcher.template.spec.containers";
	struct run_options plain = RUN("./solve", "-x");
	struct run_options own = RUN("/usr/bin/mpirun", "-np", "2", "./solve");
	struct train_options o = TRAIN_OPTIONS;

	o.framework = "mpi";
	o.workers = 2;
	o.slots = 4;
	json_auto_t *a = made(&plain, &o);
	json_auto_t *b = made(&own, &o);
	auto_free char *words = command_of(a, launcher);
	auto_free char *idle = command_of(a, "spec.mpiReplicaSpecs.Worker.template.spec.containers");
	auto_free char *as_written = command_of(b, launcher);

	CHECK_STR(words, "mpirun -np 8 --hostfile /etc/mpi/hostfile ./solve -x");
	CHECK_STR(idle, "");
	CHECK_STR(as_written, "/usr/bin/mpirun -np 2 ./solve");
	CHECK_INT(jsonx_int_or(a, "spec.slotsPerWorker", 0), 4);
}

TEST("the framework is guessed from the command, the options and the imports")
{
	static const struct {
		const char *words[5];
		int64_t ps, slots;
		const char *elastic, *text, *framework;
	} rows[] = {
		{ { "mpirun", "./x" }, -1, -1, NULL, "", "mpi" },
		{ { "/opt/bin/mpiexec", "./x" }, -1, -1, NULL, "", "mpi" },
		{ { "torchrun", "t.py" }, -1, -1, NULL, "", "pytorch" },
		{ { "./psgd" }, -1, -1, NULL, "", "tensorflow" },
		{ { "python3", "-m", "torch.distributed.run", "t.py" }, -1, -1, NULL, "", "pytorch" },
		{ { "./x" }, 2, -1, NULL, "", "tensorflow" },
		{ { "./x" }, -1, 2, NULL, "", "mpi" },
		{ { "./x" }, -1, -1, "1:2", "", "pytorch" },
		{ { "python3", "t.py" }, -1, -1, NULL, "import os\nimport torch.nn as nn\n", "pytorch" },
		{ { "python3", "-u", "t.py" }, -1, -1, NULL, "  from tensorflow import keras", "tensorflow" },
		{ { "./t.py" }, -1, -1, NULL, "#!/usr/bin/python3\nimport paddle\n", "paddle" },
		{ { "python3", "t.py" }, -1, -1, NULL, "from mpi4py import MPI\n", "mpi" },
		{ { "python3", "t.py" }, -1, -1, NULL, "import torchlike, os\n# import torch\n", NULL },
		{ { "python3", "-c", "import torch" }, -1, -1, NULL, "", NULL },
		{ { "./x" }, -1, -1, NULL, "", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run_options run = run_of(rows[i].words);
		struct train_options o = TRAIN_OPTIONS;

		o.ps = rows[i].ps;
		o.slots = rows[i].slots;
		o.elastic = rows[i].elastic;
		o.read = read_script;
		script = rows[i].text;
		if (!str_same(train_guess(&run, &o), rows[i].framework))
			test_fail(__FILE__, __LINE__, "row %zu: %s", i, train_guess(&run, &o));
	}
}

TEST("what was said wrong is told by its option")
{
	static const struct {
		const char *framework, *elastic, *nproc, *hang;
		int64_t workers, ps, slots;
		bool chief, no_chief;
		const char *text;
	} rows[] = {
		{ NULL, NULL, NULL, NULL, -1, -1, -1, false, false,
		  "--framework: nothing here says which it is; choose tensorflow, pytorch, paddle or mpi" },
		{ "pytorch", NULL, NULL, NULL, -1, 1, -1, false, false,
		  "--ps is for tensorflow and paddle, and this is pytorch (--framework)" },
		{ "tensorflow", NULL, NULL, NULL, -1, -1, 2, false, false,
		  "--slots is for mpi, and this is tensorflow (--framework)" },
		{ "tensorflow", NULL, NULL, NULL, -1, -1, -1, true, true, "--chief and --no-chief exclude each other" },
		{ "tensorflow", NULL, NULL, NULL, 0, -1, -1, false, false,
		  "--workers: \"0\" is not a number from 1 to 10000" },
		{ "pytorch", "4", NULL, NULL, -1, -1, -1, false, false,
		  "--elastic: \"4\" is not MIN:MAX, such as 1:4" },
		{ "pytorch", "4:2", NULL, NULL, -1, -1, -1, false, false,
		  "--elastic: \"4:2\" is not MIN:MAX, such as 1:4" },
		{ "pytorch", "1:2", NULL, NULL, 3, -1, -1, false, false,
		  "--workers: \"3\" is not within --elastic 1:2" },
		{ "pytorch", NULL, "many", NULL, -1, -1, -1, false, false,
		  "--nproc-per-node: \"many\" is not auto, cpu, gpu or a number" },
		{ "pytorch", NULL, "2", NULL, -1, -1, -1, false, false,
		  "--nproc-per-node: nothing here starts several processes; write `-- torchrun ...`" },
		{ "pytorch", NULL, NULL, "soon", -1, -1, -1, false, false,
		  "--hang-after: \"soon\" is no time such as 90s, 10m or 1h" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct run_options run = RUN("./x");
		struct train_options o = { .framework = rows[i].framework,
					   .elastic = rows[i].elastic,
					   .nproc = rows[i].nproc,
					   .hang_after = rows[i].hang,
					   .workers = rows[i].workers,
					   .ps = rows[i].ps,
					   .slots = rows[i].slots,
					   .backoff = -1,
					   .chief = rows[i].chief,
					   .no_chief = rows[i].no_chief };
		const struct kind *k = NULL;
		struct err e = ERR_INIT;
		json_t *job = NULL;

		CHECK_INT(train_job_make(&run, &o, &k, &job, &e), -1);
		CHECK_INT(e.kind, ERR_BAD_REQUEST);
		CHECK_STR(e.text, rows[i].text);
		json_decref(job);
	}
}

TEST("a manifest has one training job")
{
	static const struct {
		const char *text, *ns, *error;
	} rows[] = {
		{ "{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: a}}", NULL, NULL },
		{ "{apiVersion: kubeflow.org/v1alpha1, kind: PyTorchJob, metadata: {name: a, namespace: b}}", "b",
		  NULL },
		{ "{apiVersion: kubeflow.org/v1, kind: TFJob, metadata: {name: a, namespace: b}}", "c",
		  "metadata.namespace is \"b\", but --namespace says \"c\"" },
		{ "{apiVersion: v1, kind: Pod}", NULL, "kind: \"Pod\" is not TFJob, PyTorchJob, PaddleJob or MPIJob" },
		{ "{apiVersion: example.com/v1, kind: TFJob}", NULL,
		  "kind: \"TFJob\" is not TFJob, PyTorchJob, PaddleJob or MPIJob" },
		{ "", NULL,
		  "0 objects, but one training job is expected; use `kubectl apply -f` for these, then `stoker follow "
		  "NAME`" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct kind *k = NULL;
		struct err e = ERR_INIT;
		json_auto_t *docs = NULL;
		json_auto_t *job = NULL;

		CHECK_INT(yamlx_parse_all(rows[i].text, strlen(rows[i].text), NULL, NULL, &docs, &e), 0);
		CHECK_INT(train_job_of_manifest(docs, rows[i].ns, &k, &job, &e), rows[i].error ? -1 : 0);
		CHECK_STR(e.text, rows[i].error ? rows[i].error : "");
	}
}
