// SPDX-License-Identifier: Apache-2.0
/* pod_success.c - a training job hears of its replica's success from the node itself
 *
 * A pod that has succeeded is nobody's but its job's, and the controller writes the success down as soon as it sees it.
 * But it may be away, and the pod deleted before it is back: then nothing would say that this replica has done its
 * work, and it would all be done again.  So whoever tells the API of the success tells the job, too; in this process
 * both are one commit.  The job's record says which run it was, so that a late word of an earlier one means nothing.
 *
 * (A finalizer would keep the pod instead; but then pods, jobs and namespaces could not go while controllers are away.)
 */
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/training_names.h"
#include "node/pod_parts.h"

static const json_t *training_job_of(const json_t *pod)
{
	json_t *ref;
	size_t i;

	json_array_foreach (jsonx_at(pod, "metadata.ownerReferences"), i, ref)
		if (jsonx_bool_or(ref, "controller", false) &&
		    str_starts(jsonx_str_or(ref, "apiVersion", ""), TRAINING_GROUP "/"))
			return ref;
	return NULL;
}

/* "TFJob" -> "tfjobs" */
static char *plural_of(const char *kind)
{
	char *text = xasprintf("%ss", kind);

	for (char *c = text; *c; c++)
		if (*c >= 'A' && *c <= 'Z')
			*c = (char)(*c - 'A' + 'a');
	return text;
}

/* The pod may be gone by now. */
static void on_told(void *arg, const json_t *obj, const struct err *e)
{
	(void)arg;
	(void)obj;
	if (e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && e->kind != ERR_CONFLICT)
		log_warn("tell a training job of a success: %s, ignoring", e->text);
}

void pod_tell_success(const struct pod *p)
{
	const json_t *job = training_job_of(p->obj);
	const json_t *labels = jsonx_at(p->obj, "metadata.labels");
	const char *type = json_string_value(json_object_get(labels, LABEL_TRAINING_TYPE));
	const char *index = json_string_value(json_object_get(labels, LABEL_TRAINING_INDEX));
	const char *run =
		json_string_value(json_object_get(jsonx_at(p->obj, "metadata.annotations"), TRAINING_ATTEMPT));
	int64_t number = 0;

	if (!job || !type || !index || (run && !str_int64(run, 0, INT32_MAX, &number)))
		return;
	auto_free char *plural = plural_of(jsonx_str_or(job, "kind", ""));
	auto_free char *replica = xasprintf("%s-%s", type, index);
	struct ref ref = { .api_version = jsonx_str_or(job, "apiVersion", ""),
			   .plural = plural,
			   .ns = p->ns,
			   .name = jsonx_str_or(job, "name", ""),
			   .subresource = "status" };
	json_auto_t *patch =
		json_pack("{s:{s:s}, s:{s:{s:{s:b, s:I}}}}", "metadata", "uid", jsonx_str_or(job, "uid", ""), "status",
			  "replicas", replica, "succeeded", 1, "run", (json_int_t)number);

	p->parts->client->ops->patch(p->parts->client, &ref, "merge", patch, on_told, NULL);
}
