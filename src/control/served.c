// SPDX-License-Identifier: Apache-2.0
/* served.c - asks for the list of each group and version that is needed, one after the other
 *
 * These lists are as old as Kubernetes; the document that has them all at once came with 1.26.
 */
#include "control/served.h"

#include "base/jsonx.h"
#include "base/mem.h"

struct check {
	struct client *client;
	control_set set;
	void (*done)(void *arg, const struct served_answer *a);
	void *arg;
	size_t pos;       /* of control_needs() */
	const char *name; /* of the controller */
	const char *rest; /* what it needs besides */
	char *api_version, *plural;
	json_t *lists; /* by apiVersion */
};

bool served_has(const json_t *list, const char *plural)
{
	json_t *r;
	size_t i;

	json_array_foreach (json_object_get(list, "resources"), i, r)
		if (str_same(jsonx_str(r, "name"), plural))
			return true;
	return false;
}

bool served_is_custom(const char *api_version)
{
	static const char *const own[] = { "v1", "apps/", "batch/", "autoscaling/", "policy/" };
	const char *slash = strchr(api_version, '/');
	size_t n = slash ? (size_t)(slash - api_version) : 0;

	for (size_t i = 0; i < ARRAY_SIZE(own); i++)
		if (str_starts(api_version, own[i]))
			return false;
	return n < strlen(".k8s.io") || memcmp(api_version + n - strlen(".k8s.io"), ".k8s.io", strlen(".k8s.io")) != 0;
}

static void end(struct check *k, const struct err *e, bool missing)
{
	struct served_answer a = { .controller = k->name, .e = e };

	if (missing) {
		a.api_version = k->api_version;
		a.plural = k->plural;
		a.custom = served_is_custom(k->api_version);
	}
	k->done(k->arg, &a);
	free(k->api_version);
	free(k->plural);
	json_decref(k->lists);
	free(k);
}

/* The next thing that is needed; false at the end. */
static bool next_need(struct check *k)
{
	const char *slash = NULL;
	size_t n;

	while (!k->rest || !*k->rest) {
		k->rest = control_needs(k->set, &k->pos, &k->name);
		if (!k->rest)
			return false;
	}
	n = strcspn(k->rest, " ");
	for (size_t i = 0; i < n; i++)
		if (k->rest[i] == '/')
			slash = k->rest + i;
	free(k->api_version);
	free(k->plural);
	k->api_version = xstrndup(k->rest, (size_t)(slash - k->rest));
	k->plural = xstrndup(slash + 1, n - (size_t)(slash + 1 - k->rest));
	k->rest += n + strspn(k->rest + n, " ");
	return true;
}

static void step(struct check *k);

static void on_list(void *arg, int code, struct str body, const struct err *transport)
{
	struct check *k = arg;
	struct err e = *transport;
	json_t *list = NULL;

	if (e.kind == ERR_NONE && code == 404) {
		list = json_object();
	} else if (e.kind == ERR_NONE && code != 200) {
		err_set(&e, err_kind_of(NULL, code), "the server answers %d when asked for the resources of %s", code,
			k->api_version);
	} else if (e.kind == ERR_NONE) {
		jsonx_parse(body.p, body.n, NULL, NULL, &list, &e);
	}
	if (!list) {
		end(k, &e, false);
		return;
	}
	json_object_set_new(k->lists, k->api_version, list);
	if (!served_has(list, k->plural))
		end(k, &e, true);
	else
		step(k);
}

static void step(struct check *k)
{
	while (next_need(k)) {
		const json_t *list = json_object_get(k->lists, k->api_version);
		auto_free char *path = NULL;

		if (list && served_has(list, k->plural))
			continue;
		if (list) {
			end(k, &ERR_INIT, true);
			return;
		}
		path = xasprintf("/%s/%s", strchr(k->api_version, '/') ? "apis" : "api", k->api_version);
		k->client->ops->raw(k->client, "GET", path, STR(""), on_list, k);
		return;
	}
	end(k, &ERR_INIT, false);
}

void served_check(struct client *c, control_set set, void (*done)(void *arg, const struct served_answer *a), void *arg)
{
	struct check *k = xcalloc(1, sizeof(*k));

	k->client = c;
	k->set = set;
	k->done = done;
	k->arg = arg;
	k->lists = json_object();
	step(k);
}
