// SPDX-License-Identifier: Apache-2.0
/* wait.c - one answer at a time, for commands: turns the loop until the callback has come */
#include "base/jsonx.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/status.h"

struct answer {
	bool done;
	json_t *obj;
	struct err *e;
};

static void on_answer(void *arg, const json_t *obj, const struct err *e)
{
	struct answer *a = arg;

	a->done = true;
	if (e->kind != ERR_NONE)
		*a->e = *e;
	else
		a->obj = json_incref((json_t *)obj);
}

static int await(struct client *c, struct answer *a, json_t **ret_obj)
{
	while (!a->done)
		loop_turn(c->loop, false);
	if (a->e->kind != ERR_NONE) {
		json_decref(a->obj);
		return -1;
	}
	if (ret_obj)
		*ret_obj = a->obj;
	else
		json_decref(a->obj);
	return 0;
}

int client_get_wait(struct client *c, const struct ref *ref, json_t **ret_obj, struct err *e)
{
	struct answer a = { .e = e };

	c->ops->get(c, ref, on_answer, &a);
	return await(c, &a, ret_obj);
}

int client_list_wait(struct client *c, const struct ref *ref, const struct list_options *o, json_t **ret_obj,
		     struct err *e)
{
	struct answer a = { .e = e };

	c->ops->list(c, ref, o, on_answer, &a);
	return await(c, &a, ret_obj);
}

int client_create_wait(struct client *c, const struct ref *ref, const json_t *obj, json_t **ret_obj, struct err *e)
{
	struct answer a = { .e = e };

	c->ops->create(c, ref, obj, on_answer, &a);
	return await(c, &a, ret_obj);
}

int client_patch_wait(struct client *c, const struct ref *ref, const char *type, const json_t *patch, json_t **ret_obj,
		      struct err *e)
{
	struct answer a = { .e = e };

	c->ops->patch(c, ref, type, patch, on_answer, &a);
	return await(c, &a, ret_obj);
}

int client_remove_wait(struct client *c, const struct ref *ref, const json_t *options, json_t **ret_obj, struct err *e)
{
	struct answer a = { .e = e };

	c->ops->remove(c, ref, options, on_answer, &a);
	return await(c, &a, ret_obj);
}

int client_delete_wait(struct client *c, const struct ref *ref, json_t **ret_obj, struct err *e)
{
	return client_remove_wait(c, ref, NULL, ret_obj, e);
}

static void on_raw(void *arg, int code, struct str body, const struct err *transport)
{
	struct answer *a = arg;
	struct err e = *transport;
	json_auto_t *doc = NULL;

	if (e.kind == ERR_NONE && jsonx_parse(body.p, body.n, NULL, NULL, &doc, &e) < 0)
		client_status_plain(code, &e);
	else if (e.kind == ERR_NONE && code >= 300)
		err_set(&e, err_kind_of(jsonx_str(doc, "reason"), code), "%s",
			jsonx_str_or(doc, "message", "the server answered with an error and no explanation"));
	on_answer(a, doc, &e);
}

int client_raw_wait(struct client *c, const char *path, json_t **ret_doc, struct err *e)
{
	struct answer a = { .e = e };

	c->ops->raw(c, "GET", path, (struct str){ NULL, 0 }, on_raw, &a);
	return await(c, &a, ret_doc);
}
