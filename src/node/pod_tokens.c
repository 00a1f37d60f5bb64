// SPDX-License-Identifier: Apache-2.0
/* pod_tokens.c - tokens for the serviceAccountToken projections of a pod's volumes
 *
 * Each is asked for before the volumes are made, bound to the pod, and again when four fifths of its life are over: the
 * newer one reaches running containers like any other object that has changed.  One that is refused is asked for again
 * after a while; until then its text is the reason, for whoever makes the volume.
 */
#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/pod_parts.h"

#define RETRY_MS   5000
#define LIFE_S     3600 /* Kubernetes' default */
#define REFRESH_OF 5    /* all but this part of its life */

struct pod_token {
	struct pod *pod; /* NULL: gone while the answer was under way */
	char *key;       /* "tokens/VOLUME/PATH" */
	json_t *source;
	json_t *answer; /* its text, or {"error": why}; NULL before the first */
	bool asking;
	struct loop_timer again;
};

static void token_free(struct pod_token *t)
{
	loop_timer_clear(&t->again);
	json_decref(t->source);
	json_decref(t->answer);
	free(t->key);
	free(t);
}

static void on_answer(void *arg, const json_t *obj, const struct err *e)
{
	struct pod_token *t = arg;
	struct pod *p = t->pod;
	const char *text = jsonx_str(obj, "status.token");
	int64_t life = jsonx_int_or(obj, "spec.expirationSeconds", LIFE_S);

	t->asking = false;
	if (!p) {
		token_free(t);
		return;
	}
	loop_timer_set(p->parts->loop, &t->again, text ? clock_ms_of(life - life / REFRESH_OF) : RETRY_MS);
	if (!text && json_is_string(t->answer))
		return; /* the old one is good for a while */
	json_decref(t->answer);
	t->answer = text ? jsonx_string(text) : json_pack("{s:o}", "error", jsonx_string(e->text));
	p->objects_new = true;
	p->setup_after_ms = 0;
	pod_kick(p);
}

static void ask(void *arg)
{
	struct pod_token *t = arg;
	struct pod *p = t->pod;
	const char *audience = jsonx_str_or(t->source, "audience", "");
	struct ref ref = { .api_version = "v1",
			   .plural = "serviceaccounts",
			   .ns = p->ns,
			   .name = jsonx_str_or(p->obj, "spec.serviceAccountName", "default"),
			   .subresource = "token" };
	json_auto_t *doc = json_pack("{s:s, s:s, s:{s:I, s:{s:s, s:s, s:s, s:s}}}", "apiVersion",
				     "authentication.k8s.io/v1", "kind", "TokenRequest", "spec", "expirationSeconds",
				     (json_int_t)jsonx_int_or(t->source, "expirationSeconds", LIFE_S), "boundObjectRef",
				     "apiVersion", "v1", "kind", "Pod", "name", p->name, "uid", p->uid);

	if (*audience)
		jsonx_set_new(doc, "spec.audiences", json_pack("[o]", jsonx_string(audience)));
	t->asking = true;
	p->parts->client->ops->create(p->parts->client, &ref, doc, on_answer, t);
}

static struct pod_token *find(const struct pod *p, const char *key)
{
	for (size_t i = 0; i < p->ntokens; i++)
		if (streq(p->tokens[i]->key, key))
			return p->tokens[i];
	return NULL;
}

static void want(struct pod *p, const char *volume, json_t *source)
{
	auto_free char *key = xasprintf("tokens/%s/%s", volume, jsonx_str_or(source, "path", "token"));
	struct pod_token *t;

	if (find(p, key))
		return;
	t = xcalloc(1, sizeof(*t));
	t->pod = p;
	t->key = TAKE(key);
	t->source = json_incref(source);
	t->again.fire = ask;
	t->again.arg = t;
	ARRAY_PUSH(p->tokens, p->ntokens, p->tokens_cap, t);
	ask(t);
}

bool pod_tokens_ready(struct pod *p)
{
	json_t *volume;
	json_t *source;
	size_t i;
	size_t k;

	if (p->parts->fake)
		return true; /* nobody makes the volume */
	json_array_foreach (jsonx_at(p->obj, "spec.volumes"), i, volume)
		json_array_foreach (jsonx_at(volume, "projected.sources"), k, source)
			if (json_object_get(source, "serviceAccountToken"))
				want(p, jsonx_str_or(volume, "name", ""),
				     json_object_get(source, "serviceAccountToken"));
	for (i = 0; i < p->ntokens; i++)
		if (!p->tokens[i]->answer)
			return false;
	return true;
}

void pod_tokens_add(const struct pod *p, json_t *objects)
{
	for (size_t i = 0; i < p->ntokens; i++)
		if (p->tokens[i]->answer)
			json_object_set(objects, p->tokens[i]->key, p->tokens[i]->answer);
}

void pod_tokens_stop(struct pod *p)
{
	for (size_t i = 0; i < p->ntokens; i++) {
		struct pod_token *t = p->tokens[i];

		t->pod = NULL;
		loop_timer_clear(&t->again);
		if (!t->asking)
			token_free(t);
	}
	free(p->tokens);
	p->tokens = NULL;
	p->ntokens = p->tokens_cap = 0;
}
