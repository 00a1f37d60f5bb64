// SPDX-License-Identifier: Apache-2.0
/* http_create.c - creating something once, although answers may be lost
 *
 * If a connection breaks after a creation was sent, nobody can say whether the object is there.  A controller that
 * took that for a failure would make a second one.  So the name is chosen here, where the server would have chosen it,
 * and the same object is sent again until there is an answer; that it exists already is then a success.
 */
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/http_parts.h"
#include "loop/crypto.h"

#define RETRY_MIN_MS  200
#define RETRY_MAX_MS  5000
#define NAMES_MAX     8  /* tries, as a server has */
#define PUSHED_MAX    10 /* times a server may ask for patience */
#define SUFFIX_LEN    5
#define GENERATED_MAX 63 /* Kubernetes' limit of a generated name */

struct creation {
	struct http_client *client;
	char *api_version, *plural, *ns, *subresource;
	char *text, *name, *owner; /* of the object, which as text is a tenth of its size in memory */
	size_t text_n;
	client_done *done;
	void *arg;
	bool generated; /* its name is ours */
	bool lost;      /* an answer was */
	bool asking;    /* for what is there */
	unsigned names, pushed;
	int64_t delay_ms;
	struct loop_timer again;
	LIST_ENTRY(creation) link;
};

static void try(void *arg);

static void creation_end(struct creation *c, const json_t *obj, const struct err *e)
{
	LIST_REMOVE(c, link);
	c->done(c->arg, obj, e);
	loop_timer_done(&c->again);
	free(c->text);
	free(c->name);
	free(c->owner);
	free(c->api_version);
	free(c->plural);
	free(c->ns);
	free(c->subresource);
	free(c);
}

static void keep(struct creation *c, const json_t *obj)
{
	struct sbuf text = SBUF(LIMIT_BODY);

	jsonx_dump(obj, &text);
	free(c->text);
	c->text_n = text.n;
	c->text = sbuf_steal(&text);
	free(c->name);
	c->name = xstrdup(jsonx_str_or(obj, "metadata.name", ""));
}

/* Letters that make no words, as the server does it. */
static void choose_name(struct creation *c, json_t *obj)
{
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	json_t *meta = json_object_get(obj, "metadata");
	const char *base = jsonx_str_or(meta, "generateName", "");
	unsigned char random[SUFFIX_LEN];
	char suffix[SUFFIX_LEN + 1] = "";

	crypto_random_public(random, sizeof(random));
	for (size_t i = 0; i < SUFFIX_LEN; i++)
		suffix[i] = letters[random[i] % (sizeof(letters) - 1)];
	c->names++;
	json_object_set_new(meta, "name", jsonx_stringf("%.*s%s", GENERATED_MAX - SUFFIX_LEN, base, suffix));
}

static void choose_another_name(struct creation *c)
{
	json_auto_t *obj = NULL;
	struct err e = ERR_INIT;

	if (jsonx_parse(c->text, c->text_n, NULL, NULL, &obj, &e) < 0)
		return; /* cannot be: we wrote it */
	choose_name(c, obj);
	keep(c, obj);
}

static void later(struct creation *c, int64_t ms)
{
	loop_timer_set(c->client->base.loop, &c->again, ms);
}

static void back_off(struct creation *c)
{
	c->lost = true;
	c->delay_ms = c->delay_ms ? c->delay_ms * 2 : RETRY_MIN_MS;
	if (c->delay_ms > RETRY_MAX_MS)
		c->delay_ms = RETRY_MAX_MS;
	later(c, c->delay_ms);
}

static bool is_unknown(const struct creation *c, const struct err *e)
{
	return (e->kind == ERR_UNAVAILABLE || e->kind == ERR_TIMEOUT) && !c->client->closing;
}

static const char *owner_of(const json_t *obj)
{
	return jsonx_str(json_array_get(jsonx_at(obj, "metadata.ownerReferences"), 0), "uid");
}

/* Whether what is there is what was sent. */
static bool is_ours(const struct creation *c, const json_t *there)
{
	return c->owner ? str_same(c->owner, owner_of(there)) : c->generated;
}

static void on_there(void *arg, const json_t *obj, const struct err *e)
{
	struct creation *c = arg;
	struct err exists = ERR_INIT;

	if (is_unknown(c, e)) {
		back_off(c);
		return;
	}
	if (e->kind == ERR_NONE && !is_ours(c, obj)) {
		err_set(&exists, ERR_EXISTS, "%s \"%s\" already exists", c->plural, c->name);
		creation_end(c, NULL, &exists);
		return;
	}
	creation_end(c, obj, e); /* not found: it was there, and is gone */
}

static void on_posted(void *arg, const json_t *obj, const struct err *e)
{
	struct creation *c = arg;

	if (is_unknown(c, e)) {
		back_off(c);
	} else if (e->kind == ERR_TOO_MANY && c->pushed < PUSHED_MAX && !c->client->closing) {
		c->pushed++;
		later(c, e->retry_after > 0 ? clock_ms_of(e->retry_after) : 1000);
	} else if (e->kind == ERR_EXISTS && c->lost) {
		c->asking = true;
		try(c);
	} else if (e->kind == ERR_EXISTS && c->generated && c->names < NAMES_MAX) {
		choose_another_name(c);
		try(c);
	} else {
		creation_end(c, obj, e);
	}
}

static void try(void *arg)
{
	struct creation *c = arg;
	struct ref ref = {
		.api_version = c->api_version, .plural = c->plural, .ns = c->ns, .subresource = c->subresource
	};

	if (c->asking) {
		ref.name = c->name;
		c->client->base.ops->get(&c->client->base, &ref, on_there, c);
	} else {
		http_post(c->client, &ref, (struct str){ c->text, c->text_n }, on_posted, c);
	}
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

bool creation_start(struct http_client *h, const struct ref *ref, const json_t *obj, client_done *done, void *arg)
{
	const char *name = jsonx_str(obj, "metadata.name");
	const char *owner = owner_of(obj);
	json_auto_t *named = NULL;
	struct creation *c;

	if (ref->name || (!name && !jsonx_str(obj, "metadata.generateName")))
		return false; /* a binding, a review */
	c = xcalloc(1, sizeof(*c));
	c->client = h;
	c->api_version = xstrdup(ref->api_version);
	c->plural = xstrdup(ref->plural);
	c->ns = copy(ref->ns);
	c->subresource = copy(ref->subresource);
	c->owner = copy(owner);
	c->done = done;
	c->arg = arg;
	c->again = (struct loop_timer){ .fire = try, .arg = c };
	c->generated = !name || !*name;
	named = json_copy((json_t *)obj);
	if (c->generated) {
		json_object_set_new(named, "metadata", json_copy(json_object_get(obj, "metadata")));
		choose_name(c, named);
	}
	keep(c, named);
	LIST_INSERT_HEAD(&h->creations, c, link);
	try(c);
	return true;
}

void creations_end(struct http_client *h, const struct err *e)
{
	while (!LIST_EMPTY(&h->creations))
		creation_end(LIST_FIRST(&h->creations), NULL, e);
}
