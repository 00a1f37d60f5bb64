// SPDX-License-Identifier: Apache-2.0
/* registry.c - every served kind, in discovery order, and found in one step
 *
 * `order` is the truth; the maps are made anew from it whenever a custom kind comes or goes, which is rare.  A request
 * costs one map look-up.  Where two kinds claim the same names the one that was there first is served, so a
 * CustomResourceDefinition cannot replace a built-in kind.
 */
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "kinds/builtin.h"

#define KEY_MAX 512 /* longer than any valid group/version/name */

struct registry {
	const struct kind **order;
	size_t n, cap;
	unsigned generation;
	struct map by_plural; /* "group/version/plural" */
	struct map by_kind;   /* "group/version/kind" */
	struct map preferred; /* "group/plural": the first served version */
	struct map groups;    /* "group" and "group/version" */
	struct map bodies;    /* "apiVersion kind": a message */
};

/* Groups in the order in which discovery lists them; any other comes after, by name. */
static const char *const group_order[] = {
	"",
	"apps",
	"events.k8s.io",
	"authentication.k8s.io",
	"authorization.k8s.io",
	"autoscaling",
	"batch",
	"certificates.k8s.io",
	"networking.k8s.io",
	"extensions",
	"policy",
	"rbac.authorization.k8s.io",
	"storage.k8s.io",
	"apiextensions.k8s.io",
	"scheduling.k8s.io",
	"coordination.k8s.io",
	"node.k8s.io",
	"discovery.k8s.io",
	"metrics.k8s.io",
	"kubeflow.org",
	"serving.kserve.io",
	"stoker.dev",
};

static size_t group_rank(const char *group)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(group_order) && !streq(group_order[i], group))
		i++;
	return i;
}

/* v2 before v1 before v2beta1 before v1alpha1: stability first, then the larger number. */
struct version_rank {
	int stage; /* 3 stable, 2 beta, 1 alpha, 0 not a version as Kubernetes writes them */
	long major, minor;
};

static struct version_rank version_rank(const char *v)
{
	static const struct {
		const char *word;
		int stage;
	} stages[] = { { "beta", 2 }, { "alpha", 1 } };
	struct version_rank r = { 0 };
	char *end;

	if (v[0] != 'v' || v[1] < '1' || v[1] > '9')
		return r;
	r.major = strtol(v + 1, &end, 10);
	if (!*end)
		r.stage = 3;
	for (size_t i = 0; i < ARRAY_SIZE(stages) && *end; i++) {
		if (!str_starts(end, stages[i].word))
			continue;
		r.minor = strtol(end + strlen(stages[i].word), &end, 10);
		r.stage = *end ? 0 : stages[i].stage;
		break;
	}
	return r;
}

static int version_cmp(const char *a, const char *b)
{
	struct version_rank x = version_rank(a);
	struct version_rank y = version_rank(b);

	if (x.stage != y.stage)
		return x.stage > y.stage ? -1 : 1;
	if (x.stage == 0)
		return strcmp(a, b);
	if (x.major != y.major)
		return x.major > y.major ? -1 : 1;
	return x.minor > y.minor ? -1 : x.minor < y.minor;
}

static int kind_cmp(const struct kind *a, const struct kind *b)
{
	size_t ra = group_rank(a->group);
	size_t rb = group_rank(b->group);
	int c = ra < rb ? -1 : ra > rb;

	if (!c)
		c = strcmp(a->group, b->group);
	return c ? c : version_cmp(a->version, b->version);
}

/* Behind its equals, so that kinds of one version keep the order in which they came. */
static void insert(struct registry *r, const struct kind *k)
{
	size_t at;

	ARRAY_PUSH(r->order, r->n, r->cap, k);
	for (at = r->n - 1; at > 0 && kind_cmp(k, r->order[at - 1]) < 0; at--)
		r->order[at] = r->order[at - 1];
	r->order[at] = k;
}

static bool make_key(char key[KEY_MAX], const char *a, const char *b, const char *c)
{
	int n = snprintf(key, KEY_MAX, "%s/%s%s%s", a, b, c ? "/" : "", c ? c : "");

	return n >= 0 && n < KEY_MAX;
}

static void set_first(struct map *m, const char *key, const void *value)
{
	if (!map_find(m, key))
		map_set(m, key, (void *)value);
}

static void index_kind(struct registry *r, const struct kind *k)
{
	char key[KEY_MAX];

	if (make_key(key, k->group, k->version, k->plural))
		set_first(&r->by_plural, key, k);
	if (make_key(key, k->group, k->version, k->kind))
		set_first(&r->by_kind, key, k);
	if (make_key(key, k->group, k->plural, NULL))
		set_first(&r->preferred, key, k);
	if (make_key(key, k->group, k->version, NULL))
		set_first(&r->groups, key, k);
	set_first(&r->groups, k->group, k);
}

static void index_all(struct registry *r)
{
	struct map *maps[] = { &r->by_plural, &r->by_kind, &r->preferred, &r->groups };

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++)
		map_done(maps[i]);
	/* Built-in kinds first, whatever their place in the order. */
	for (size_t i = 0; i < r->n; i++)
		if (!(r->order[i]->flags & KIND_CUSTOM))
			index_kind(r, r->order[i]);
	for (size_t i = 0; i < r->n; i++)
		if (r->order[i]->flags & KIND_CUSTOM)
			index_kind(r, r->order[i]);
	r->generation++;
}

static void add_bodies(struct registry *r, const struct body_message *rows)
{
	char key[KEY_MAX];

	for (; rows->kind; rows++)
		if (make_key(key, rows->api_version, rows->kind, NULL))
			set_first(&r->bodies, key, rows->message);
}

struct registry *registry_new(void)
{
	static const struct kind *const *const tables[] = { kinds_core, kinds_rest };
	struct registry *r = xcalloc(1, sizeof(*r));

	for (size_t t = 0; t < ARRAY_SIZE(tables); t++)
		for (const struct kind *const *k = tables[t]; *k; k++)
			insert(r, *k);
	add_bodies(r, body_messages_core);
	add_bodies(r, body_messages_rest);
	add_bodies(r, body_messages_meta);
	index_all(r);
	return r;
}

void registry_free(struct registry *r)
{
	if (!r)
		return;
	map_done(&r->by_plural);
	map_done(&r->by_kind);
	map_done(&r->preferred);
	map_done(&r->groups);
	map_done(&r->bodies);
	free(r->order);
	free(r);
}

const struct kind *registry_find(const struct registry *r, const char *group, const char *version, const char *plural)
{
	char key[KEY_MAX];

	return make_key(key, group, version, plural) ? map_find(&r->by_plural, key) : NULL;
}

const struct kind *registry_find_kind(const struct registry *r, const char *group, const char *version,
				      const char *kind)
{
	char key[KEY_MAX];

	return make_key(key, group, version, kind) ? map_find(&r->by_kind, key) : NULL;
}

const struct kind *registry_preferred(const struct registry *r, const char *group, const char *plural)
{
	char key[KEY_MAX];

	return make_key(key, group, plural, NULL) ? map_find(&r->preferred, key) : NULL;
}

bool registry_has_group(const struct registry *r, const char *group, const char *version)
{
	char key[KEY_MAX];

	if (!version)
		return map_find(&r->groups, group) != NULL;
	return make_key(key, group, version, NULL) && map_find(&r->groups, key);
}

const struct kind *registry_at(const struct registry *r, size_t i)
{
	return i < r->n ? r->order[i] : NULL;
}

void registry_add(struct registry *r, const struct kind *k)
{
	insert(r, k);
	index_all(r);
}

void registry_remove(struct registry *r, const struct kind *k)
{
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++)
		if (r->order[i] != k)
			r->order[kept++] = r->order[i];
	if (kept == r->n)
		return;
	r->n = kept;
	index_all(r);
}

unsigned registry_generation(const struct registry *r)
{
	return r->generation;
}

const struct message *registry_message(const struct registry *r, const char *api_version, const char *kind)
{
	const char *slash = strchr(api_version, '/');
	char group[256] = "";
	char key[KEY_MAX];
	const struct kind *k;

	/* Clients send it under the version of whatever they delete. */
	if (streq(kind, "DeleteOptions"))
		return &meta_delete_options;
	if (slash)
		snprintf(group, sizeof(group), "%.*s", (int)(slash - api_version), api_version);
	k = registry_find_kind(r, group, slash ? slash + 1 : api_version, kind);
	if (k && k->message)
		return k->message;
	return make_key(key, api_version, kind, NULL) ? map_find(&r->bodies, key) : NULL;
}
