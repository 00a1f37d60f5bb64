// SPDX-License-Identifier: Apache-2.0
/* pbs_order.c - see pbs_order.h
 *
 * A job without an image is a process of the host: the pod asks for room, and everything else the node takes from the
 * PBSJob.  A job with an image is an ordinary container; its script comes as a file made from an annotation.
 */
#include "control/pbs_order.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "control/pbs_abroad.h"
#include "control/pod_template.h"
#include "control/template_hash.h"
#include "kinds/pbs_array.h"
#include "kinds/pbs_id.h"
#include "kinds/pbs_values.h"
#include "kinds/queue.h"
#include "kinds/work_rules.h"

#define KEEP_DEFAULT    300
#define KILL_DELAY      2
#define WALLTIME_CODE   (-11)
#define EXEC_HOST_STYLE 6

/* ---- settings ---- */

/* The first that says something. */
static int64_t setting(const json_t *first, const json_t *second, const char *key, int64_t fallback)
{
	return jsonx_int_or(first, key, jsonx_int_or(second, key, fallback));
}

struct pbs_settings pbs_settings_of(const json_t *server, const json_t *queue)
{
	int64_t slots = jsonx_int_or(server, "maxSlotLimit", 0);

	return (struct pbs_settings){
		.scheduling = jsonx_bool_or(server, "scheduling", true),
		.keep = setting(queue, server, "keepCompletedSeconds", KEEP_DEFAULT),
		.kill_delay = setting(queue, server, "killDelaySeconds", KILL_DELAY),
		.slots = slots > 0 ? slots : INT32_MAX,
		.requeue_code = jsonx_int_or(server, "automaticRequeueExitCode", PBS_NO_CODE),
		.cancel_code = jsonx_int_or(server, "exitCodeCanceledJob", PBS_NO_CODE),
		.walltime_code = (int)jsonx_int_or(server, "walltimeExitStatus", WALLTIME_CODE),
		.exec_host_style = (int)jsonx_int_or(server, "execHostStyle", EXEC_HOST_STYLE),
		.image = jsonx_str_or(queue, "image", ""),
		.confined = streq(jsonx_str_or(queue, "containers", ""), "required"),
		.host_roots = json_object_get(server, "hostRoots"),
		.read_only_roots = json_object_get(server, "readOnlyRoots"),
	};
}

const char *pbs_queue(const json_t *job)
{
	const char *queue = jsonx_str_or(job, "spec.queue", "");

	return *queue ? queue : QUEUE_DEFAULT;
}

/* ---- what is ordered ---- */

const char *pbs_order_image(const struct pbs_order *o)
{
	const char *image = jsonx_str_or(o->spec, "image", "");

	if (!*image)
		image = jsonx_str_or(o->spec, "resources.image", "");
	return *image ? image : o->set->image;
}

static int64_t kill_delay_of(const struct pbs_order *o)
{
	return jsonx_int_or(o->spec, "killDelaySeconds", o->set->kill_delay);
}

/* Of everything that may change while a job waits. */
static char *hash_of(const struct pbs_order *o)
{
	static const char *const fields[] = { "resources", "priority",   "rank",        "runNow",
					      "runHosts",  "rerunnable", "interactive", "nodeExclusive" };
	json_auto_t *all = json_object();

	for (size_t i = 0; i < ARRAY_SIZE(fields); i++)
		json_object_set(all, fields[i], json_object_get(o->spec, fields[i]));
	json_object_set_new(all, "queue", jsonx_string(pbs_queue(o->job)));
	json_object_set_new(all, "image", jsonx_string(pbs_order_image(o)));
	json_object_set_new(all, "place", jsonx_string(o->place));
	json_object_set(all, "turn", json_object_get(o->spec, "place"));
	json_object_set_new(all, "grace", json_integer(kill_delay_of(o)));
	return template_hash(all, 0);
}

int pbs_order_init(struct pbs_order *o, const json_t *job, const struct pbs_settings *set, const char *place,
		   struct err *e)
{
	*o = (struct pbs_order){
		.job = json_incref((json_t *)job), .spec = json_object_get(job, "spec"), .set = set, .place = place
	};
	if (pbs_nodes_of(json_object_get(o->spec, "resources"), &o->nodes, e) < 0)
		return -1;
	o->hash = hash_of(o);
	return 0;
}

void pbs_order_done(struct pbs_order *o)
{
	pbs_nodes_done(&o->nodes);
	free(o->hash);
	json_decref((json_t *)o->job);
	*o = (struct pbs_order){ 0 };
}

const struct pbs_req *pbs_order_req(const struct pbs_order *o, int rank)
{
	for (size_t i = 0; i < o->nodes.n; i++) {
		if (rank < o->nodes.reqs[i].count)
			return &o->nodes.reqs[i];
		rank -= o->nodes.reqs[i].count;
	}
	return NULL;
}

/* ---- what it asks of a node ---- */

static json_t *resources_of(const struct pbs_req *r)
{
	json_t *requests = json_pack("{s:o}", "cpu", jsonx_stringf("%d", r->cpus));
	json_t *limits = json_object();

	if (r->memory) {
		json_object_set_new(requests, "memory", jsonx_stringf("%lld", (long long)r->memory));
		json_object_set_new(limits, "memory", jsonx_stringf("%lld", (long long)r->memory));
	}
	if (r->gpus) {
		json_object_set_new(requests, "nvidia.com/gpu", jsonx_stringf("%d", r->gpus));
		json_object_set_new(limits, "nvidia.com/gpu", jsonx_stringf("%d", r->gpus));
	}
	return json_pack("{s:o, s:o}", "requests", requests, "limits", limits);
}

/* Nodes here have their names as labels; those of another cluster are asked for by name. */
static void add_property(const struct pbs_order *o, json_t *spec, const char *property)
{
	const struct pbs_abroad *abroad = o->set->abroad;
	const char *node = abroad && abroad->node ? abroad->node(abroad->arg, property) : NULL;
	auto_free char *key = xasprintf(PBS_PROPERTY_LABEL "%s", property);
	json_t *terms;

	if (!node) {
		json_object_set_new(object_at(spec, "nodeSelector"), key, json_string(""));
		return;
	}
	terms = array_at(object_at(object_at(object_at(spec, "affinity"), "nodeAffinity"),
				   "requiredDuringSchedulingIgnoredDuringExecution"),
			 "nodeSelectorTerms");
	if (!json_array_size(terms))
		json_array_append_new(terms, json_object());
	json_array_append_new(array_at(json_array_get(terms, 0), "matchFields"),
			      json_pack("{s:s, s:s, s:[s]}", "key", "metadata.name", "operator", "In", "values", node));
}

static void add_properties(const struct pbs_order *o, const struct pbs_req *r, int rank, json_t *spec)
{
	const json_t *hosts = json_object_get(o->spec, "runHosts");
	size_t n = json_array_size(hosts);

	for (size_t i = 0; i < r->nprops; i++)
		add_property(o, spec, r->props[i]);
	if (n && json_is_string(json_array_get(hosts, (size_t)rank % n)))
		add_property(o, spec, json_string_value(json_array_get(hosts, (size_t)rank % n)));
}

/* -l place=scatter: on no node where another of the same job, or element, is. */
static void keep_apart(const struct pbs_order *o, int index, json_t *spec)
{
	json_t *labels = json_pack("{s:s}", PBS_JOB_LABEL, jsonx_str_or(o->job, "metadata.name", ""));
	json_t *terms = array_at(object_at(object_at(spec, "affinity"), "podAntiAffinity"),
				 "requiredDuringSchedulingIgnoredDuringExecution");

	if (index >= 0)
		json_object_set_new(labels, PBS_INDEX_LABEL, jsonx_stringf("%d", index));
	json_array_append_new(terms, json_pack("{s:s, s:{s:o}}", "topologyKey", "kubernetes.io/hostname",
					       "labelSelector", "matchLabels", labels));
}

/* ---- a container ---- */

static void add_env(json_t *env, const char *name, json_t *value)
{
	json_array_append_new(env, json_pack("{s:s, s:o}", "name", name, "value", value));
}

/* Of the job, or of an element of it. */
static char *own_id(const struct pbs_order *o, int index)
{
	auto_sbuf struct sbuf id = SBUF(512);

	pbs_id_of(o->job, index, &id);
	return sbuf_steal(&id);
}

static json_t *env_of(const struct pbs_order *o, int index, int rank)
{
	const char *id = jsonx_str_or(o->job, "status.id", jsonx_str_or(o->job, "metadata.name", ""));
	const char *server = strchr(id, '.') ? strchr(id, '.') + 1 : "";
	auto_free char *own = own_id(o, index);
	json_t *env = json_array();
	int64_t seconds;
	const char *name;
	json_t *value;

	json_object_foreach (json_object_get(o->spec, "env"), name, value)
		add_env(env, name, json_incref(value));
	if (index >= 0) {
		add_env(env, "PBS_ARRAYID", jsonx_stringf("%d", index));
		add_env(env, "PBS_ARRAY_INDEX", jsonx_stringf("%d", index));
		add_env(env, "PBS_ARRAY_ID", jsonx_string(id));
	}
	add_env(env, "PBS_JOBID", jsonx_string(own));
	add_env(env, "PBS_SERVER", jsonx_string(server));
	add_env(env, "HOME", jsonx_string(jsonx_str_or(o->spec, "env.PBS_O_HOME", "/")));
	add_env(env, "USER", jsonx_string(jsonx_str_or(o->spec, "owner", "")));
	add_env(env, "LOGNAME", jsonx_string(jsonx_str_or(o->spec, "owner", "")));
	add_env(env, "PBS_NODEFILE", jsonx_stringf(PBS_SPOOL "/aux/%s", own));
	add_env(env, "PBS_GPUFILE", jsonx_stringf(PBS_SPOOL "/aux/%sgpu", own));
	if (pbs_time_parse(jsonx_str_or(o->spec, "resources.walltime", ""), &seconds))
		add_env(env, "PBS_WALLTIME", jsonx_stringf("%lld", (long long)seconds));
	add_env(env, "PBS_JOBNAME", jsonx_string(jsonx_str_or(o->spec, "name", "")));
	add_env(env, "PBS_QUEUE", jsonx_string(pbs_queue(o->job)));
	add_env(env, "PBS_ENVIRONMENT", json_string("PBS_BATCH"));
	add_env(env, "PBS_NODENUM", jsonx_stringf("%d", rank));
	add_env(env, "PBS_TASKNUM", json_string("1"));
	add_env(env, "PBS_VNODENUM", json_string("0"));
	add_env(env, "PBS_NUM_NODES", jsonx_stringf("%d", o->nodes.count));
	add_env(env, "PBS_NUM_PPN", jsonx_stringf("%d", o->nodes.reqs[0].ppn));
	add_env(env, "PBS_NP", jsonx_stringf("%d", o->nodes.tasks));
	return env;
}

static json_t *command_of(const struct pbs_order *o, int index, int rank)
{
	auto_free char *id = own_id(o, index);
	const json_t *command = json_object_get(o->spec, "command");
	const char *shell = jsonx_str_or(o->spec, "shell", "");
	json_t *all;

	if (rank > 0)
		return json_pack("[s, s, s]", "/bin/sh", "-c",
				 "trap exit TERM; while :; do sleep 3600 & wait $!; done");
	if (json_array_size(command))
		return jsonx_copy(command);
	all = json_pack("[s, o]", *shell ? shell : "/bin/sh", jsonx_stringf(PBS_SPOOL "/spool/%s.SC", id));
	json_array_extend(all, json_object_get(o->spec, "arguments"));
	return all;
}

void pbs_pod_mount(json_t *spec, json_t *container, json_t *volume, const char *path, bool read_only)
{
	json_t *volumes = array_at(spec, "volumes");
	json_t *name = jsonx_stringf("v%zu", json_array_size(volumes));

	json_object_set(volume, "name", name);
	json_array_append_new(volumes, volume);
	json_array_append_new(array_at(container, "volumeMounts"),
			      json_pack("{s:o, s:s, s:b}", "name", name, "mountPath", path, "readOnly", read_only));
}

static void mount_roots(json_t *spec, json_t *container, const json_t *roots, bool read_only)
{
	json_t *root;
	size_t i;

	json_array_foreach ((json_t *)roots, i, root)
		if (json_is_string(root))
			pbs_pod_mount(spec, container, json_pack("{s:{s:O}}", "hostPath", "path", root),
				      json_string_value(root), read_only);
}

static void use_image(const struct pbs_order *o, int index, int rank, json_t *spec, json_t *container)
{
	const char *dir = jsonx_str_or(o->spec, "initialDir", jsonx_str_or(o->spec, "env.PBS_O_HOME", ""));
	const char *home = jsonx_str_or(o->spec, "env.PBS_O_HOME", "");

	json_object_set_new(container, "command", command_of(o, index, rank));
	json_object_set_new(container, "env", env_of(o, index, rank));
	if (*dir == '/')
		json_object_set_new(container, "workingDir", jsonx_string(dir));
	pbs_pod_mount(spec, container, json_pack("{s:{s:s}}", "csi", "driver", "pbs.stoker.dev"), PBS_SPOOL, false);
	if (*home == '/')
		pbs_pod_mount(spec, container, json_pack("{s:{s:s}}", "hostPath", "path", home), home, false);
	mount_roots(spec, container, o->set->host_roots, false);
	mount_roots(spec, container, o->set->read_only_roots, true);
}

static json_t *spec_of(const struct pbs_order *o, const struct pbs_req *r, int index, int rank, int run)
{
	const char *image = pbs_order_image(o);
	bool terminal = jsonx_bool_or(o->spec, "interactive", false);
	json_t *container = json_pack("{s:s, s:s, s:o}", "name", "job", "image", *image ? image : "host", "resources",
				      resources_of(r));
	json_t *spec =
		json_pack("{s:s, s:b, s:b, s:I, s:{}, s:[O]}", "restartPolicy", "Never", "automountServiceAccountToken",
			  0, "enableServiceLinks", 0, "terminationGracePeriodSeconds", (json_int_t)kill_delay_of(o),
			  "nodeSelector", "containers", container);
	int64_t seconds;

	add_properties(o, r, rank, spec);
	if (o->nodes.apart && o->nodes.count > 1)
		keep_apart(o, index, spec);
	if (pbs_time_parse(jsonx_str_or(o->spec, "resources.walltime", ""), &seconds) && seconds > 0)
		json_object_set_new(spec, "activeDeadlineSeconds", json_integer(seconds));
	if (terminal) {
		json_object_set_new(container, "tty", json_true());
		json_object_set_new(container, "stdin", json_true());
	}
	if (o->set->abroad)
		pbs_abroad_container(o, index, rank, run, spec, container);
	else if (*image)
		use_image(o, index, rank, spec, container);
	else
		json_object_set_new(spec, "runtimeClassName", json_string(PBS_HOST_CLASS));
	json_decref(container);
	return spec;
}

/* ---- names and notes ---- */

/* Who set which field is a record as long as the rest of a pod, and nobody applies to those that only the server makes:
 * it is not begun. */
static void leave_unrecorded(const struct pbs_order *o, json_t *pod)
{
	if (!o->set->abroad)
		jsonx_set_new(pod, "metadata.managedFields", json_pack("[{}]"));
}

/* Annotations of the job that are about what runs in its pods. */
static void pass_on(const json_t *job, json_t *notes)
{
	static const char *const prefixes[] = { "stoker.dev/fake-", "stoker.dev/hang-" };
	const char *key;
	json_t *value;

	json_object_foreach (jsonx_at(job, "metadata.annotations"), key, value)
		for (size_t i = 0; i < ARRAY_SIZE(prefixes); i++)
			if (str_starts(key, prefixes[i]))
				json_object_set(notes, key, value);
}

static json_t *notes_of(const struct pbs_order *o, int index, int rank, int run, const char *gang)
{
	int turn = index >= 0 ? (int)jsonx_int_or(o->spec, "place", index) : 0;
	json_t *notes = json_pack("{s:o, s:s, s:o}", PBS_RUN_NOTE, jsonx_stringf("%d", run), PBS_FROM_NOTE, o->hash,
				  "stoker.dev/place", jsonx_stringf("%s/%d", o->place, turn));
	const json_t *walltime = jsonx_at(o->spec, "resources.walltime");
	const json_t *cput = jsonx_at(o->spec, "resources.cput");
	const char *script = jsonx_str_or(o->spec, "script", "");

	pass_on(o->job, notes);
	if (walltime)
		json_object_set(notes, WALLTIME_ANNOTATION, (json_t *)walltime);
	if (cput)
		json_object_set(notes, PBS_CPUT_NOTE, (json_t *)cput);
	if (o->nodes.count > 1 || o->set->abroad)
		json_object_set_new(notes, "stoker.dev/gang", jsonx_string(gang));
	if (o->nodes.count > 1)
		json_object_set_new(notes, "stoker.dev/gang-size", jsonx_stringf("%d", o->nodes.count));
	if (jsonx_int_or(o->spec, "priority", 0))
		json_object_set_new(notes, "stoker.dev/priority",
				    jsonx_stringf("%lld", (long long)jsonx_int_or(o->spec, "priority", 0)));
	if (jsonx_bool_or(o->spec, "runNow", false))
		json_object_set_new(notes, "stoker.dev/run-now", json_string("true"));
	if (jsonx_bool_or(o->spec, "nodeExclusive", false) || o->nodes.whole)
		json_object_set_new(notes, EXCLUSIVE_ANNOTATION, json_string("true"));
	if (!jsonx_bool_or(o->spec, "rerunnable", true))
		json_object_set_new(notes, "stoker.dev/rerun", json_string("false"));
	if (o->set->confined && !*pbs_order_image(o))
		json_object_set_new(notes, PBS_CONFINED, json_string("required"));
	if (o->set->abroad && rank == 0 && strlen(script) <= PBS_SCRIPT_MOST)
		json_object_set_new(notes, PBS_SCRIPT_NOTE, jsonx_string(script));
	return notes;
}

char *pbs_gang(const json_t *job, int index, int run)
{
	auto_sbuf struct sbuf out = SBUF(LIMIT_URL);

	sbuf_addf(&out, PBS_PLURAL "/%s", jsonx_str_or(job, "metadata.name", ""));
	if (index >= 0)
		sbuf_addf(&out, "/%d", index);
	if (run)
		sbuf_addf(&out, "/r%d", run);
	return sbuf_steal(&out);
}

json_t *pbs_pod(const struct pbs_order *o, int index, int rank, int run)
{
	const char *job = jsonx_str_or(o->job, "metadata.name", "");
	auto_free char *base = index >= 0 ? xasprintf("%s-%d", job, index) : xstrdup(job);
	auto_free char *again = run ? xasprintf("-r%d", run) : xstrdup("");
	auto_free char *gang = o->set->abroad ? pbs_gang(o->job, index, run) : xasprintf("%s%s", base, again);
	auto_sbuf struct sbuf name = SBUF(512);
	json_t *labels = json_pack("{s:s, s:o, s:s}", PBS_JOB_LABEL, job, PBS_RANK_LABEL, jsonx_stringf("%d", rank),
				   QUEUE_LABEL, pbs_queue(o->job));
	json_t *pod;

	pbs_id_pod(job, index, rank, run, &name);
	if (index >= 0)
		json_object_set_new(labels, PBS_INDEX_LABEL, jsonx_stringf("%d", index));
	pod = json_pack("{s:s, s:s, s:{s:o, s:s, s:o, s:o, s:[o]}, s:o}", "apiVersion", "v1", "kind", "Pod", "metadata",
			"name", jsonx_string(name.p), "namespace", jsonx_str_or(o->job, "metadata.namespace", ""),
			"labels", labels, "annotations", notes_of(o, index, rank, run, gang), "ownerReferences",
			controller_ref(PBS_VERSION, PBS_KIND, o->job), "spec",
			spec_of(o, pbs_order_req(o, rank), index, rank, run));
	leave_unrecorded(o, pod);
	return pod;
}

static int number_in(const json_t *map, const char *key, int fallback)
{
	const char *text = json_string_value(json_object_get(map, key));
	int64_t n;

	return text && str_int64(text, 0, INT32_MAX, &n) ? (int)n : fallback;
}

struct pbs_pod_is pbs_pod_is(const struct pod_facts *p)
{
	const json_t *labels = jsonx_at(p->obj, "metadata.labels");

	return (struct pbs_pod_is){
		.index = number_in(labels, PBS_INDEX_LABEL, PBS_PLAIN),
		.rank = number_in(labels, PBS_RANK_LABEL, -1),
		.run = number_in(jsonx_at(p->obj, "metadata.annotations"), PBS_RUN_NOTE, -1),
	};
}
