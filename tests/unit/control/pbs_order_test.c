// SPDX-License-Identifier: Apache-2.0
/* Pods of PBS jobs. */
#include "control/pbs_order.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pbs_id.h"
#include "test.h"

static json_t *job_with(const char *spec)
{
	auto_free char *text = xasprintf("{'metadata':{'name':'7','namespace':'anna','uid':'u'},'status':{'sequence':7,"
					 "'id':'7[].Ghead'},'spec':%s}",
					 spec);

	for (char *c = text; *c; c++)
		*c = *c == '\'' ? '"' : *c;
	return json_loads(text, 0, NULL);
}

static json_t *pod_for(const char *spec, int index, int rank, int run)
{
	json_auto_t *job = job_with(spec);
	struct pbs_settings set = pbs_settings_of(NULL, NULL);
	struct pbs_order o;
	struct err e = ERR_INIT;
	json_t *pod;

	CHECK_INT(pbs_order_init(&o, job, &set, "100/7", &e), 0);
	pod = pbs_pod(&o, index, rank, run);
	pbs_order_done(&o);
	return pod;
}

static const json_t *note(const json_t *pod, const char *key)
{
	return json_object_get(jsonx_at(pod, "metadata.annotations"), key);
}

static const char *resource(const json_t *pod, const char *list, const char *name)
{
	const json_t *c = json_array_get(jsonx_at(pod, "spec.containers"), 0);

	return json_string_value(json_object_get(json_object_get(json_object_get(c, "resources"), list), name));
}

TEST("a pod asks for what the node of its rank is to have")
{
	json_auto_t *pod = pod_for("{'script':'x','resources':{'nodes':'2:ppn=4:gpus=1:v100+1:Cpu','mem':'3gb',"
				   "'walltime':'01:00:00'}}",
				   PBS_PLAIN, 1, 0);
	json_auto_t *last =
		pod_for("{'script':'x','resources':{'nodes':'2:ppn=4:gpus=1:v100+1:Cpu'}}", PBS_PLAIN, 2, 3);

	CHECK_STR(jsonx_str(pod, "metadata.name"), "7-1");
	CHECK_STR(resource(pod, "requests", "cpu"), "4");
	CHECK_STR(resource(pod, "limits", "nvidia.com/gpu"), "1");
	CHECK_STR(resource(pod, "limits", "memory"), "1073741824");
	CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "spec.nodeSelector"), PBS_PROPERTY_LABEL "v100")),
		  "");
	CHECK_INT(jsonx_int_or(pod, "spec.activeDeadlineSeconds", 0), 3600);
	CHECK_STR(jsonx_str(pod, "spec.runtimeClassName"), "host-process");
	CHECK_STR(json_string_value(note(pod, "stoker.dev/gang-size")), "3");
	CHECK_STR(json_string_value(note(pod, "stoker.dev/place")), "100/7/0");
	CHECK_STR(jsonx_str(last, "metadata.name"), "7-2-r3");
	CHECK_STR(json_string_value(note(last, "stoker.dev/gang")), "7-r3");
	CHECK_STR(resource(last, "requests", "cpu"), "1");
	CHECK(!resource(last, "limits", "nvidia.com/gpu"));
	CHECK(json_object_get(jsonx_at(last, "spec.nodeSelector"), PBS_PROPERTY_LABEL "Cpu"));
}

/* [{}] asks for none (api/apply.c). */
TEST("there is no record of who set which field of a job's pod")
{
	json_auto_t *pod = pod_for("{'script':'x'}", PBS_PLAIN, 0, 0);
	const json_t *record = jsonx_at(pod, "metadata.managedFields");

	CHECK_INT(json_array_size(record), 1);
	CHECK_INT(json_object_size(json_array_get(record, 0)), 0);
}

TEST("parts of a job that is scattered keep away from each other")
{
	json_auto_t *pod = pod_for("{'script':'x','resources':{'select':'2','place':'scatter:excl'}}", 3, 1, 0);
	json_auto_t *lone = pod_for("{'script':'x','resources':{'select':'1','place':'scatter'}}", PBS_PLAIN, 0, 0);
	const json_t *term = json_array_get(
		jsonx_at(pod, "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution"), 0);
	const json_t *labels = jsonx_at(term, "labelSelector.matchLabels");

	CHECK_STR(jsonx_str(term, "topologyKey"), "kubernetes.io/hostname");
	CHECK_INT(json_object_size(labels), 2);
	CHECK_STR(json_string_value(json_object_get(labels, PBS_JOB_LABEL)), "7");
	CHECK_STR(json_string_value(json_object_get(labels, PBS_INDEX_LABEL)), "3");
	CHECK_STR(json_string_value(note(pod, "stoker.dev/exclusive")), "true");
	CHECK(!jsonx_at(lone, "spec.affinity"));
	CHECK(!note(lone, "stoker.dev/exclusive"));
}

TEST("what the scheduler is told of a job's order goes with its pods")
{
	json_auto_t *pod = pod_for("{'script':'x','priority':5,'runNow':true,'rerunnable':false,'runHosts':['G9'],"
				   "'queue':'long','interactive':true,'nodeExclusive':true}",
				   3, 0, 0);
	struct pod_facts facts = pod_facts(pod);
	struct pbs_pod_is is = pbs_pod_is(&facts);

	CHECK_STR(jsonx_str(pod, "metadata.name"), "7-3-0");
	CHECK_INT(is.index, 3);
	CHECK_INT(is.rank, 0);
	CHECK_INT(is.run, 0);
	CHECK_STR(json_string_value(note(pod, "stoker.dev/priority")), "5");
	CHECK_STR(json_string_value(note(pod, "stoker.dev/run-now")), "true");
	CHECK_STR(json_string_value(note(pod, "stoker.dev/rerun")), "false");
	CHECK_STR(json_string_value(note(pod, "stoker.dev/exclusive")), "true");
	CHECK(!note(pod, "stoker.dev/gang"));
	CHECK(json_object_get(jsonx_at(pod, "spec.nodeSelector"), PBS_PROPERTY_LABEL "G9"));
	CHECK_STR(json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), "stoker.dev/queue")), "long");
	CHECK(jsonx_bool_or(json_array_get(jsonx_at(pod, "spec.containers"), 0), "tty", false));
}

TEST("a job with an image is a container with the script as a file")
{
	json_auto_t *pod = pod_for("{'script':'echo 1','image':'bit:5000/tf','arguments':['a'],"
				   "'env':{'A':'1','PBS_O_HOME':'/ghome/u'}}",
				   3, 0, 0);
	const json_t *c = json_array_get(jsonx_at(pod, "spec.containers"), 0);
	auto_free char *command = json_dumps(json_object_get(c, "command"), 0);
	json_t *v;
	size_t i;
	int seen = 0;

	CHECK(!jsonx_at(pod, "spec.runtimeClassName"));
	CHECK_STR(command, "[\"/bin/sh\", \"" PBS_SPOOL "/spool/7[3].Ghead.SC\", \"a\"]");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "spec.volumes"), 0), "csi.driver"), "pbs.stoker.dev");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(pod, "spec.volumes"), 1), "hostPath.path"), "/ghome/u");
	json_array_foreach (json_object_get(c, "env"), i, v) {
		seen += str_same(jsonx_str(v, "name"), "PBS_JOBID") && str_same(jsonx_str(v, "value"), "7[3].Ghead");
		seen += str_same(jsonx_str(v, "name"), "PBS_ARRAYID") && str_same(jsonx_str(v, "value"), "3");
		seen += str_same(jsonx_str(v, "name"), "PBS_NODEFILE") &&
			str_same(jsonx_str(v, "value"), PBS_SPOOL "/aux/7[3].Ghead");
		seen += str_same(jsonx_str(v, "name"), "A") && str_same(jsonx_str(v, "value"), "1");
	}
	CHECK_INT(seen, 4);
}

TEST("a pod that waits is made anew when what it was made from changes")
{
	json_auto_t *one = pod_for("{'script':'x','resources':{'nodes':'1'}}", PBS_PLAIN, 0, 0);
	json_auto_t *same = pod_for("{'script':'x','resources':{'nodes':'1'},'hold':'u'}", PBS_PLAIN, 0, 0);
	json_auto_t *other = pod_for("{'script':'x','resources':{'nodes':'1:S'}}", PBS_PLAIN, 0, 0);

	CHECK(json_equal(note(one, PBS_FROM_NOTE), note(same, PBS_FROM_NOTE)));
	CHECK(!json_equal(note(one, PBS_FROM_NOTE), note(other, PBS_FROM_NOTE)));
}
