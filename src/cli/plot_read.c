// SPDX-License-Identifier: Apache-2.0
/* plot_read.c - see plot_read.h
 *
 * A Kubernetes that is no Stoker has no such route, and of a pod that belongs to no training job nothing is kept: then
 * the logs that the pods still have are read here, one after the other, and looked through with the same eyes.
 */
#include "cli/plot_read.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/measures.h"
#include "base/mem.h"
#include "cli/find.h"

#define LINE_LIMIT (256 * 1024)

/* ---- what was kept ---- */

static int read_kept(struct client *c, const struct kind *kind, const char *ns, const char *name, json_t **ret,
		     struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);

	sbuf_adds(&path, "/apis/stoker.dev/v1/namespaces/");
	client_escape(&path, ns);
	sbuf_adds(&path, "/measures/");
	client_escape(&path, name);
	if (kind)
		sbuf_addf(&path, "?kind=%s", kind->singular);
	return client_raw_wait(c, path.p, ret, e);
}

/* ---- what logs say ---- */

struct reading {
	struct measures all;
	struct sbuf line;
	bool done;
};

static void on_piece(void *arg, struct str piece)
{
	struct reading *r = arg;
	const char *nl;

	while (piece.n && (nl = memchr(piece.p, '\n', piece.n))) {
		size_t n = (size_t)(nl - piece.p);

		sbuf_add(&r->line, piece.p, n);
		measures_add_stamped(&r->all, sbuf_str(&r->line));
		sbuf_reset(&r->line);
		piece = (struct str){ nl + 1, piece.n - n - 1 };
	}
	sbuf_add(&r->line, piece.p, piece.n);
}

/* A container that has no log has printed nothing. */
static void on_done(void *arg, const struct err *e)
{
	struct reading *r = arg;

	(void)e;
	if (r->line.n)
		measures_add_stamped(&r->all, sbuf_str(&r->line));
	r->done = true;
}

static void read_log(struct client *c, const char *ns, const struct measures_place *at, json_t *series)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	struct reading r = { .line = SBUF(LINE_LIMIT) };

	measures_init(&r.all);
	sbuf_adds(&path, "/api/v1/namespaces/");
	client_escape(&path, ns);
	sbuf_adds(&path, "/pods/");
	client_escape(&path, at->pod);
	sbuf_adds(&path, "/log?timestamps=true&container=");
	client_escape(&path, at->container);
	if (c->ops->stream(c, path.p, on_piece, on_done, &r))
		while (!r.done)
			loop_turn(c->loop, false);
	measures_json(&r.all, at, series);
	measures_done(&r.all);
	sbuf_done(&r.line);
}

static int runs_of(const json_t *pod, const char *container)
{
	json_t *status;
	size_t i;

	json_array_foreach (jsonx_at(pod, "status.containerStatuses"), i, status)
		if (str_same(jsonx_str(status, "name"), container))
			return (int)jsonx_int_or(status, "restartCount", 0);
	return 0;
}

static int read_logs(struct client *c, const struct kind *kind, const char *ns, const char *name, json_t *series,
		     struct err *e)
{
	auto_free char *arg = xasprintf("%s%s%s", kind ? kind->singular : "", kind ? "/" : "", name);
	json_auto_t *pods = NULL;
	struct found f;
	json_t *pod, *container;
	size_t i, j;
	int r;

	if (find_one(c, arg, ns, false, &f, e) < 0)
		return -1;
	r = find_pods(c, &f, &pods, e);
	found_done(&f);
	json_array_foreach (pods, i, pod)
		json_array_foreach (jsonx_at(pod, "spec.containers"), j, container) {
			struct measures_place at = { jsonx_str_or(pod, "metadata.name", ""),
						     jsonx_str_or(container, "name", ""), 0 };

			at.run = runs_of(pod, at.container);
			read_log(c, ns, &at, series);
		}
	return r;
}

int plot_read(struct client *c, const struct kind *kind, const char *ns, const char *name, json_t **ret, struct err *e)
{
	json_auto_t *doc = NULL;
	json_t *series;
	bool known = read_kept(c, kind, ns, name, &doc, e) == 0 && json_is_array(json_object_get(doc, "series"));
	struct err other = ERR_INIT;

	if (!known && e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND && e->kind != ERR_FORBIDDEN &&
	    e->kind != ERR_UNAVAILABLE)
		return -1;
	if (!known) {
		json_decref(doc);
		doc = json_pack("{s:s, s:s, s:s, s:s, s:i, s:[]}", "kind", "Measures", "apiVersion", "stoker.dev/v1",
				"namespace", ns, "job", name, "left", 0, "series");
		err_clear(e);
	}
	series = json_object_get(doc, "series");
	/* One that is gone and whose logs said nothing is no error. */
	if (!json_array_size(series) && read_logs(c, kind, ns, name, series, &other) < 0 && !known) {
		*e = other;
		return -1;
	}
	*ret = TAKE(doc);
	return 0;
}
