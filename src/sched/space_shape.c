// SPDX-License-Identifier: Apache-2.0
/* space_shape.c - shapes: shared by pods that ask for the same
 *
 * Pods of one job often differ in labels, which matter only to others.  So a shape is a core, which has the demands and
 * what a search has found out about them, and around it a thin one with the pod's labels.  A pod with rules about
 * other pods has a core of its own.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "sched/space_parts.h"

static struct shape *core_of(struct space *s, const json_t *pod)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
	struct shape *core;

	shape_text(pod, &text);
	core = map_find(&s->shapes, text.p);
	if (core)
		return core;
	core = shape_new(&s->names, pod, text.p);
	core->near = near_rules_new(s->neighbours, pod);
	core->who = core->near ? who_new(pod) : NULL;
	core->rules = rules_of(s, core);
	space_widen(s);
	map_set(&s->shapes, text.p, core);
	return core;
}

/* The same demands, of somebody. */
static struct shape *thin_of(struct shape *core, const json_t *pod)
{
	struct who *who = NULL;
	struct shape *sh;

	if (core->latest && who_is(core->latest->who, pod))
		return core->latest;
	who = who_new(pod);
	if (!who)
		return core;
	sh = xmemdup(core, sizeof(*core));
	sh->text = sh->why = sh->impossible = NULL;
	sh->refs = 0;
	sh->failed = sh->explained = sh->judged = 0;
	sh->who = who;
	sh->core = shape_ref(core);
	core->latest = sh;
	return sh;
}

struct shape *space_shape(struct space *s, const json_t *pod)
{
	struct shape *core = core_of(s, pod);

	return shape_ref(core->near ? core : thin_of(core, pod));
}

struct shape *space_shape_plain(struct space *s, int64_t cpu_milli, int64_t memory, int64_t gpus, const char *model)
{
	json_auto_t *pod = json_pack("{s:{s:[{s:{s:{s:o, s:o, s:o}}}]}}", "spec", "containers", "resources", "requests",
				     "cpu", jsonx_stringf("%lldm", (long long)cpu_milli), "memory",
				     jsonx_stringf("%lld", (long long)memory), "nvidia.com/gpu",
				     jsonx_stringf("%lld", (long long)gpus));

	if (model)
		json_object_set_new(pod, "metadata",
				    json_pack("{s:{s:o}}", "annotations", "stoker.dev/gpu-model", jsonx_string(model)));
	return space_shape(s, pod);
}

struct shape *shape_ref(struct shape *sh)
{
	sh->refs++;
	return sh;
}

static void thin_free(struct shape *sh)
{
	if (sh->core->latest == sh)
		sh->core->latest = NULL;
	who_free(sh->who);
	free(sh->why);
	free(sh);
}

void space_shape_unref(struct space *s, struct shape *sh)
{
	struct shape *core = sh ? sh->core : NULL;

	if (!sh || --sh->refs > 0)
		return;
	if (sh != core) {
		thin_free(sh);
		space_shape_unref(s, core);
		return;
	}
	map_remove(&s->shapes, sh->text);
	rules_unref(s, sh->rules);
	near_rules_free(s->neighbours, sh->near);
	who_free(sh->who);
	shape_free(sh);
}

int64_t shape_wants(const struct shape *sh, size_t resource)
{
	return amounts_get(&sh->wants, resource);
}

struct shape *shape_memory(const struct space *s, struct shape *sh)
{
	return sh != sh->core && neighbours_shun(s->neighbours, sh->who) ? sh : sh->core;
}

const struct shape *shape_core(const struct shape *sh)
{
	return sh->core;
}

bool space_shuns(const struct space *s, struct shape *sh)
{
	return shape_memory(s, sh) != sh->core;
}

uint64_t shape_epoch(const struct space *s, const struct shape *sh)
{
	return s->epoch + (sh->near ? s->near_epoch : 0);
}
