// SPDX-License-Identifier: Apache-2.0
/* training_sample.h - training jobs for tests, as they are stored: with the defaults that the API fills in */
#ifndef STOKER_TEST_TRAINING_SAMPLE_H
#define STOKER_TEST_TRAINING_SAMPLE_H

#include "api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/training_job.h"
#include "kinds/training.h"
#include "test.h"

/* "'Worker':{...}" with so many replicas. */
#define ROLE(type_, n_, restart_, container_, port_)                                                                   \
	"'" type_ "':{'replicas':" #n_ ",'restartPolicy':'" restart_                                                   \
	"','template':{'metadata':{'labels':{'mine':'1'}},"                                                            \
	"'spec':{'restartPolicy':'Always','containers':[{'name':'" container_ "','image':'i','ports':[" port_          \
	"]},{'name':'side','image':'i'}]}}}"
#define TF_ROLE(type_, n_, restart_)                                                                                   \
	ROLE(type_, n_, restart_, "tensorflow", "{'name':'tfjob-port','containerPort':2222,'protocol':'TCP'}")
#define TORCH_ROLE(type_, n_, restart_)                                                                                \
	ROLE(type_, n_, restart_, "pytorch", "{'name':'pytorchjob-port','containerPort':23456,'protocol':'TCP'}")
#define PADDLE_ROLE(type_, n_, restart_)                                                                               \
	ROLE(type_, n_, restart_, "paddle", "{'name':'master','containerPort':36543,'protocol':'TCP'}")
#define MPI_ROLE(type_, n_, restart_) ROLE(type_, n_, restart_, "mpi", "")

#define OLD_TORCH(workers_)                                                                                            \
	"'masterPort':'23456','replicaSpecs':[{'replicas':1,'replicaType':'MASTER','masterPort':23456,'template':{'"   \
	"spec'"                                                                                                        \
	":{'restartPolicy':'OnFailure','containers':[{'name':'pytorch'},{'name':'side'}]}}},{'replicas':" #workers_    \
	",'replicaType':'WORKER','masterPort':23456,'template':{'spec':{'restartPolicy':'Never','containers':[{'name'" \
	":"                                                                                                            \
	"'pytorch'}]}}}]"

/* `version` is what it was written as, or NULL; `spec` the fields of its spec.  A new object. */
static inline json_t *sample_job(const char *name, const char *version, const char *spec)
{
	auto_free char *text =
		xasprintf("{'metadata':{'name':'%s','namespace':'default','uid':'u-1'%s%s%s},'spec':{%s}}", name,
			  version ? ",'annotations':{'stoker.dev/written-as':'" : "", version ? version : "",
			  version ? "'}" : "", spec);

	return sample_json(text);
}

#endif
