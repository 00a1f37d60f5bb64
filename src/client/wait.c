// SPDX-License-Identifier: Apache-2.0
/* wait.c - one answer at a time, for commands: turns the loop until the callback has come */
#include "base/mem.h"
#include "client/client.h"

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

int client_delete_wait(struct client *c, const struct ref *ref, json_t **ret_obj, struct err *e)
{
	struct answer a = { .e = e };

	c->ops->remove(c, ref, NULL, on_answer, &a);
	return await(c, &a, ret_obj);
}
