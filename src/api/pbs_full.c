// SPDX-License-Identifier: Apache-2.0
/* pbs_full.c - see pbs_full.h
 *
 * A script is nobody's business here, not even its owner's: who may read the object has it there.  What else may hold
 * secrets, environment and arguments, is shown to the owner and to operators.
 */
#include "api/pbs_full.h"

#include "api/pbs.h"
#include "api/stored.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/pbs_values.h"

static void hide(const struct pbs_view *v, json_t *job)
{
	static const char *const others[] = { "env", "command", "arguments", "submitArgs" };
	json_t *spec = json_object_get(job, "spec");

	json_object_del(spec, "script");
	jsonx_del(job, "metadata.managedFields");
	jsonx_del(job, "metadata.annotations");
	if (streq(v->row->owner, v->caller->user) || pbs_is_operator(v->api, v->caller))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(others); i++)
		json_object_del(spec, others[i]);
}

static void set_used(json_t *status, const struct pbs_used *used)
{
	json_t *map = json_object_get(status, "resourcesUsed");
	char text[PBS_TEXT];

	if (!json_is_object(map)) {
		map = json_object();
		json_object_set_new(status, "resourcesUsed", map);
	}
	pbs_time_text(used->walltime, text);
	json_object_set_new(map, "walltime", json_string(text));
	if (used->cput < 0)
		return;
	pbs_time_text(used->cput, text);
	json_object_set_new(map, "cput", json_string(text));
	pbs_size_kb_text(used->memory, text);
	json_object_set_new(map, "mem", json_string(text));
}

static void add_live(struct pbs_view *v, json_t *job)
{
	const json_t *active = v->index >= 0 ? pbs_element_active(v->elements, v->row, v->index) : NULL;
	json_t *status = json_object_get(job, "status");
	struct pbs_used used;

	if (v->index < 0 && v->row->run.start) {
		pbs_run_used(v->api, v->kubelet, v->row->ns, &v->row->run, v->now, &used);
		set_used(status, &used);
	} else if (active) {
		struct pbs_run run;

		pbs_run_read(&run, active);
		pbs_run_used(v->api, v->kubelet, v->row->ns, &run, v->now, &used);
		if (run.start)
			set_used(status, &used);
		pbs_run_done(&run);
	}
}

static void set_comment(json_t *job, const struct sbuf *comment)
{
	if (comment->n)
		jsonx_set_new(job, "status.comment", jsonx_string(comment->p));
	else
		jsonx_del(job, "status.comment");
}

bool pbs_full_item(struct pbs_view *v, struct sbuf *out)
{
	struct stored_kind k = { .group = "stoker.dev", .version = "v1", .plural = "pbsjobs" };
	auto_sbuf struct sbuf comment = SBUF(LIMIT_STATUS_TEXT);
	json_auto_t *job = NULL;
	struct err e = ERR_INIT;

	if (stored_get(v->api, &k, v->row->ns, v->row->name, &job, &e) < 0)
		return false;
	hide(v, job);
	if (v->index >= 0)
		pbs_element_object(job, v);
	else if (pbs_row_comment(v, &comment))
		set_comment(job, &comment);
	add_live(v, job);
	jsonx_dump(job, out);
	return true;
}
