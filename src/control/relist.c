// SPDX-License-Identifier: Apache-2.0
/* relist.c - pages of a list, one after the other */
#include "control/relist.h"

#include "base/jsonx.h"
#include "base/mem.h"

#define PAGE 500

struct relist {
	struct client *client;
	char *api_version, *plural;
	struct relist_handlers h;
	json_t *uids;
	bool freed; /* the answer that is still to come finds nobody */
};

static void release(struct relist *l)
{
	json_decref(l->uids);
	free(l->api_version);
	free(l->plural);
	free(l);
}

void relist_free(struct relist *l)
{
	if (l)
		l->freed = true;
}

static void on_page(void *arg, const json_t *list, const struct err *e);

static void ask(struct relist *l, const char *cont)
{
	struct ref ref = { .api_version = l->api_version, .plural = l->plural };
	struct list_options o = { .limit = PAGE, .cont = cont };

	l->client->ops->list(l->client, &ref, &o, on_page, l);
}

static void on_page(void *arg, const json_t *list, const struct err *e)
{
	struct relist *l = arg;
	const char *cont = jsonx_str_or(list, "metadata.continue", "");
	json_t *obj;
	size_t i;

	json_array_foreach (json_object_get(list, "items"), i, obj) {
		if (l->freed)
			break;
		json_object_set_new(l->uids, jsonx_str_or(obj, "metadata.uid", ""), json_true());
		l->h.object(l->h.arg, obj);
	}
	if (!l->freed && e->kind == ERR_NONE && *cont) {
		ask(l, cont);
		return;
	}
	if (!l->freed)
		l->h.done(l->h.arg, l->uids, jsonx_str_or(list, "metadata.resourceVersion", ""), e);
	release(l);
}

struct relist *relist_new(struct client *c, const struct resource *r, const struct relist_handlers *h)
{
	struct relist *l = xcalloc(1, sizeof(*l));

	l->client = c;
	l->api_version = xstrdup(r->api_version);
	l->plural = xstrdup(r->plural);
	l->h = *h;
	l->uids = json_object();
	ask(l, NULL);
	return l;
}
