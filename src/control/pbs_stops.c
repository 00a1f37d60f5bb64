// SPDX-License-Identifier: Apache-2.0
/* pbs_stops.c - see pbs_stops.h */
#include "control/pbs_stops.h"

#include <signal.h>
#include <sys/queue.h>

#include "base/jsonx.h"
#include "base/mem.h"

/* A pod that is being told. */
struct stop {
	struct pbs_stops *of;
	void *handle;
	char *key;
	json_t *pod;
	bool suspend;
	LIST_ENTRY(stop) link;
};

struct pbs_stops {
	const struct pbs_abroad_config *config;
	struct pbs_stops_handlers h;
	LIST_HEAD(, stop) all;
};

struct pbs_stops *pbs_stops_new(const struct pbs_abroad_config *config, const struct pbs_stops_handlers *h)
{
	struct pbs_stops *s = xcalloc(1, sizeof(*s));

	s->config = config;
	s->h = *h;
	LIST_INIT(&s->all);
	return s;
}

static void stop_free(struct stop *one)
{
	LIST_REMOVE(one, link);
	json_decref(one->pod);
	free(one->key);
	free(one);
}

void pbs_stops_free(struct pbs_stops *s)
{
	if (!s)
		return;
	while (!LIST_EMPTY(&s->all)) {
		struct stop *one = LIST_FIRST(&s->all);

		s->config->signal_stop(s->config->arg, one->handle);
		stop_free(one);
	}
	free(s);
}

static void on_done(void *arg, const struct err *e)
{
	struct stop *one = arg;
	struct pbs_stops *s = one->of;

	if (e->kind == ERR_NONE)
		s->h.heard(s->h.arg, one->key, one->pod, one->suspend);
	else
		s->h.failed(s->h.arg, one->key, e->text);
	stop_free(one);
}

static bool is_under_way(const struct pbs_stops *s, const char *uid)
{
	const struct stop *one;

	LIST_FOREACH(one, &s->all, link)
	if (str_same(jsonx_str(one->pod, "metadata.uid"), uid))
		return true;
	return false;
}

void pbs_stops_mark(struct pbs_stops *s, const char *key, const struct pbs_mark *m)
{
	struct stop *one;
	struct err e = ERR_INIT;

	if (is_under_way(s, m->pod->uid))
		return;
	one = xcalloc(1, sizeof(*one));
	*one = (struct stop){
		.of = s, .key = xstrdup(key), .pod = json_incref((json_t *)m->pod->obj), .suspend = m->suspend
	};
	LIST_INSERT_HEAD(&s->all, one, link);
	one->handle = s->config->signal(s->config->arg, one->pod, m->suspend ? SIGSTOP : SIGCONT, on_done, one, &e);
	if (!one->handle)
		on_done(one, &e);
}
