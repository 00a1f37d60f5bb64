// SPDX-License-Identifier: Apache-2.0
/* own_job.c - see own_job.h */
#include "pbs/own_job.h"

#include <stdlib.h>

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"

#define RANK "stoker.dev/pbs-rank"

void job_pod_path(const char *ns, const char *name, struct sbuf *out)
{
	sbuf_adds(out, "/api/v1/namespaces/");
	client_escape(out, ns);
	sbuf_adds(out, "/pods");
	if (name) {
		sbuf_addc(out, '/');
		client_escape(out, name);
	}
}

static int64_t rank_of(const json_t *pod)
{
	const char *text = json_string_value(json_object_get(jsonx_at(pod, "metadata.labels"), RANK));
	int64_t n;

	return text && str_int64(text, 0, INT32_MAX, &n) ? n : -1;
}

static bool is_here(const json_t *pod)
{
	const char *phase = jsonx_str_or(pod, "status.phase", "");

	return rank_of(pod) >= 0 && *jsonx_str_or(pod, "spec.nodeName", "") && !streq(phase, "Failed") &&
	       !streq(phase, "Succeeded") && !jsonx_at(pod, "metadata.deletionTimestamp");
}

static int by_rank(const void *a, const void *b)
{
	int64_t x = rank_of(*(json_t *const *)a), y = rank_of(*(json_t *const *)b);

	return x < y ? -1 : x > y;
}

static json_t *in_order(const json_t *items)
{
	size_t n = 0, i;
	auto_free json_t **pods = xcalloc(json_array_size(items) + 1, sizeof(*pods));
	json_t *list = json_array(), *pod;

	json_array_foreach ((json_t *)items, i, pod)
		if (is_here(pod))
			pods[n++] = pod;
	qsort(pods, n, sizeof(*pods), by_rank);
	for (i = 0; i < n; i++)
		json_array_append(list, pods[i]);
	return list;
}

static int list_pods(struct pbs *p, const json_t *job, const char *index, json_t **ret, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *list = NULL;

	free(p->ns);
	p->ns = xstrdup(jsonx_str_or(job, "metadata.namespace", ""));
	job_pod_path(p->ns, NULL, &path);
	sbuf_adds(&path, "?labelSelector=stoker.dev%2Fpbsjob%3D");
	client_escape(&path, jsonx_str_or(job, "metadata.name", ""));
	if (index) {
		sbuf_adds(&path, "%2Cstoker.dev%2Fpbs-index%3D");
		client_escape(&path, index);
	}
	if (pbs_get(p, path.p, &list, e) < 0)
		return -1;
	*ret = in_order(json_object_get(list, "items"));
	return 0;
}

int job_pods(struct pbs *p, json_t **ret, struct err *e)
{
	const char *text = getenv("PBS_JOBID");
	json_auto_t *job = NULL;
	struct pbs_id id;

	*ret = NULL;
	if (!text || !*text)
		return 0;
	if (!pbs_id_parse(text, &id))
		return err_set(e, ERR_INVALID, "PBS_JOBID: illegally formed job identifier: %s", text);
	if (pbs_job_find(p, &id, &job, e) < 0)
		return err_prefix(e, "job %s", text);
	/* An element is found as a job of its own, but its object is the array. */
	return list_pods(p, job, id.array && id.elements[0] ? id.elements : NULL, ret, e);
}

int job_pod_here(struct pbs *p, char **ret, struct err *e)
{
	const char *text = getenv("PBS_NODENUM");
	json_auto_t *pods = NULL;
	int64_t rank = 0;
	json_t *pod;
	size_t i;

	*ret = NULL;
	if (job_pods(p, &pods, e) < 0)
		return -1;
	if (!pods)
		return 0;
	if (text && !str_int64(text, 0, INT32_MAX, &rank))
		return err_set(e, ERR_INVALID, "PBS_NODENUM: \"%s\" is not a number", text);
	json_array_foreach (pods, i, pod)
		if (rank_of(pod) == rank) {
			*ret = xstrdup(jsonx_str_or(pod, "metadata.name", ""));
			return 0;
		}
	return err_set(e, ERR_NOT_FOUND, "job %s does not run", getenv("PBS_JOBID"));
}
