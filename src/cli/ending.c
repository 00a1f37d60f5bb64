// SPDX-License-Identifier: Apache-2.0
/* ending.c - see ending.h */
#include "cli/ending.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/core.h"
#include "kinds/rest.h"

struct ending {
	struct informer *informer;
	char *ns, *name, *uid;
	bool stays; /* as one that has ended */
	bool told;
	void (*done)(void *arg);
	void *arg;
};

static json_t *options_for(const json_t *obj, bool now, bool pod)
{
	json_t *o = json_pack("{s:s, s:s, s:{s:s}}", "kind", "DeleteOptions", "apiVersion", "v1", "preconditions",
			      "uid", jsonx_str_or(obj, "metadata.uid", ""));

	if (!pod)
		json_object_set_new(o, "propagationPolicy", json_string("Foreground"));
	else if (now)
		json_object_set_new(o, "gracePeriodSeconds", json_integer(0));
	return o;
}

static int remove_one(struct client *c, const struct ref *ref, const json_t *obj, bool now, bool pod, struct err *e)
{
	json_auto_t *options = options_for(obj, now, pod);

	if (client_remove_wait(c, ref, options, NULL, e) == 0)
		return 0;
	/* Gone by itself, or followed by another one of its name: it is ended either way. */
	if (e->kind != ERR_NOT_FOUND && e->kind != ERR_CONFLICT)
		return -1;
	err_clear(e);
	return 0;
}

static int kill_pods(struct client *c, const struct found *f, struct err *e)
{
	json_auto_t *pods = NULL;
	json_t *pod;
	size_t i;

	if (find_pods(c, f, &pods, e) < 0)
		return -1;
	json_array_foreach (pods, i, pod) {
		struct ref ref = { .api_version = "v1",
				   .plural = "pods",
				   .ns = f->ns,
				   .name = jsonx_str_or(pod, "metadata.name", "") };

		if (remove_one(c, &ref, pod, true, true, e) < 0)
			return -1;
	}
	return 0;
}

static bool has_completed(const json_t *job)
{
	return streq(jsonx_str_or(job, "status.state", ""), "C");
}

/* A PBS job is told to end, and qstat shows for a while how it did. */
static bool is_cancelled(const struct found *f)
{
	return f->kind == &kind_pbsjob && !has_completed(f->obj);
}

static int cancel(struct client *c, const struct ref *ref, const struct found *f, bool now, struct err *e)
{
	json_auto_t *patch = json_pack("{s:{s:s}, s:{s:{s:n}}}", "metadata", "uid",
				       jsonx_str_or(f->obj, "metadata.uid", ""), "spec", "cancel", "elements");
	json_auto_t *changed = NULL;

	if (now)
		jsonx_set_new(patch, "spec.cancel.delaySeconds", json_integer(0));
	if (client_patch_wait(c, ref, "merge", patch, &changed, e) == 0)
		return 0;
	if (e->kind != ERR_NOT_FOUND)
		return -1;
	err_clear(e);
	return 0;
}

int ending_begin(struct client *c, const struct found *f, bool now, struct err *e)
{
	struct ref ref = found_ref(f);
	bool pod = f->kind == &kind_pod;

	if (is_cancelled(f))
		return cancel(c, &ref, f, now, e);
	if (remove_one(c, &ref, f->obj, now, pod, e) < 0)
		return -1;
	return now && !pod ? kill_pods(c, f, e) : 0;
}

static void tell(struct ending *w)
{
	if (w->told)
		return;
	w->told = true;
	w->done(w->arg);
}

static void on_change(void *arg, const json_t *obj, const json_t *old)
{
	struct ending *w = arg;

	(void)old;
	if (!obj || !str_same(jsonx_str(obj, "metadata.uid"), w->uid) || (w->stays && has_completed(obj)))
		tell(w);
}

static void on_synced(void *arg)
{
	struct ending *w = arg;

	if (!informer_find(w->informer, w->ns, w->name))
		tell(w);
}

struct ending *ending_watch(struct client *c, const struct found *f, void (*done)(void *arg), void *arg)
{
	auto_free char *field = xasprintf("metadata.name=%s", f->name);
	struct ending *w = xcalloc(1, sizeof(*w));
	struct ref ref = found_ref(f);

	w->ns = xstrdup(f->ns);
	w->name = xstrdup(f->name);
	w->uid = xstrdup(jsonx_str_or(f->obj, "metadata.uid", ""));
	w->stays = is_cancelled(f);
	w->done = done;
	w->arg = arg;
	ref.name = NULL;
	w->informer = informer_new(c, &ref, &(struct list_options){ .fields = field },
				   &(struct informer_handlers){ .change = on_change, .synced = on_synced, .arg = w });
	return w;
}

void ending_free(struct ending *w)
{
	if (!w)
		return;
	informer_free(w->informer);
	free(w->ns);
	free(w->name);
	free(w->uid);
	free(w);
}
