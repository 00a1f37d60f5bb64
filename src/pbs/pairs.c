// SPDX-License-Identifier: Apache-2.0
/* pairs.c - names with values, each of which knows how strong a word it was said with */
#include "pbs/pairs.h"

#include "base/jsonx.h"
#include "base/mem.h"

void pairs_done(struct pairs *p)
{
	for (size_t i = 0; i < p->n; i++) {
		free(p->items[i].name);
		free(p->items[i].value);
	}
	free(p->items);
	*p = (struct pairs){ 0 };
}

static struct pair *find(const struct pairs *p, struct str name)
{
	for (size_t i = 0; i < p->n; i++)
		if (str_eq(name, p->items[i].name))
			return &p->items[i];
	return NULL;
}

const char *pairs_find(const struct pairs *p, const char *name)
{
	const struct pair *found = find(p, str_of(name));

	return found ? found->value : NULL;
}

/* Takes the value. */
static void put(struct pairs *p, struct pair *at, struct str name, char *value, enum source source)
{
	if (!at) {
		ARRAY_PUSH(p->items, p->n, p->room, ((struct pair){ .name = xstrndup(name.p, name.n) }));
		at = &p->items[p->n - 1];
	}
	free(at->value);
	at->value = value;
	at->source = source;
}

void pairs_set(struct pairs *p, struct str name, struct str value, enum source source)
{
	struct pair *at = find(p, name);

	if (!at || at->source <= source)
		put(p, at, name, xstrndup(value.p, value.n), source);
}

void pairs_join(struct pairs *p, struct str name, char between, struct str value, enum source source)
{
	struct pair *at = find(p, name);

	if (at && at->source == source)
		put(p, at, name, xasprintf("%s%c%.*s", at->value, between, STR_FMT(value)), source);
	else
		pairs_set(p, name, value, source);
}

json_t *pairs_json(const struct pairs *p)
{
	json_t *o = json_object();

	for (size_t i = 0; i < p->n; i++)
		json_object_set_new(o, p->items[i].name, jsonx_string(p->items[i].value));
	return o;
}
