// SPDX-License-Identifier: Apache-2.0
/* training_paddle.c - how PaddlePaddle's processes find each other
 *
 * With a Master the job has parameter servers, and that is where all meet; otherwise it is collective, and they meet at
 * the first worker.  The one they meet at is told its own address as that of its pod, which is there before its name
 * is.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/training_job.h"

#define OWN_ADDRESS "POD_IP_DUMMY"

void paddle_env(const struct training_job *j, const struct training_role *r, int index, json_t *env)
{
	const struct training_role *master = training_role(j, "Master");
	const struct training_role *meet = master ? master : r;
	auto_free char *host = training_host(j, meet, 0);

	training_env(env, "PYTHONUNBUFFERED", "1");
	training_env(env, "PADDLE_JOB_ID", "%s", j->name);
	training_env(env, "PADDLE_NNODES", "%d", j->total);
	if (r == meet && index == 0) {
		json_array_append_new(env, json_pack("{s:s, s:{s:{s:s}}}", "name", OWN_ADDRESS, "valueFrom", "fieldRef",
						     "fieldPath", "status.podIP"));
		training_env(env, "PADDLE_MASTER", "$(" OWN_ADDRESS "):%d", meet->port);
	} else {
		training_env(env, "PADDLE_MASTER", "%s:%d", host, meet->port);
	}
	if (master)
		training_env(env, r == master ? "PADDLE_SERVER_NUM" : "PADDLE_TRAINER_NUM", "1");
}
