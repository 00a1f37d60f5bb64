// SPDX-License-Identifier: Apache-2.0
/* services.c - keeps the network's rules and names as the API's objects say
 *
 * Each service is turned into its part of the network's document when it or its Endpoints change; the parts together go
 * to the network once a turn at most, and less often where that takes long.  So a turn in which nothing of this changed
 * costs nothing.
 *
 * Names come early: a pod that is about to start is behind its headless services at once, although its Endpoints will
 * list it as not ready until it runs, so that no process has to wait for its own name or that of a peer.  This holds
 * until Endpoints have it as ready because it is, or it was ready and is no more.
 *
 * Isolation is in force from the first pod on that belongs to a user; while all pods are everybody's, nothing is asked
 * of the packet filter.
 */
#include "node/services.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"
#include "kinds/condition.h"
#include "node/services_doc.h"

#define RETRY_MS   1000
#define SHORT_US   2000
#define CHEAP_US   10000 /* a sync that costs less may happen at every start of a pod */
#define REST_RATIO 4     /* one that takes longer is followed by a rest of so many times its length */

enum { FOLLOW_SERVICES, FOLLOW_ENDPOINTS, FOLLOW_NAMESPACES, FOLLOW_PODS, FOLLOW__COUNT };

struct services {
	struct client *client;
	struct net *net; /* NULL: there is only the environment to tell */
	struct informer *informers[FOLLOW__COUNT];
	void (*synced)(void *arg);
	void *arg;
	bool told; /* `synced` has been called */

	char *api_ip; /* where the API is; NULL: nobody is to be told */
	int api_port;
	struct map docs;     /* "ns/name" -> json_t *, a service of the network's document */
	struct map headless; /* "ns/name" -> json_t *, a Service with a selector */
	struct map env;      /* namespace -> json_t *, array for services_for_env(); emptied when services change */
	bool dirty;          /* docs changed, */
	bool urgent;         /* and a pod is about to start that is in them: no rest */
	int64_t cost_us;     /* of the last sync, in processor time: what else the machine does is no reason to wait */
	int64_t rest_until;  /* ms */

	struct map pods;   /* uid -> struct member */
	struct map by_ip;  /* the same */
	size_t starting;   /* how many of them are */
	json_t *changes;   /* of isolation, for net_change_isolation() */
	bool walls_wanted; /* a pod belongs to somebody */
	bool walls_up;

	struct loop_hook work;
	struct loop_timer later;
};

/* A pod with an address. */
struct member {
	char *uid, *ns, *ip, *group;
	json_t *pod; /* while starting */
	bool starting, was_ready;
};

static void decref(void *v)
{
	json_decref(v);
}

static void member_free(void *p)
{
	struct member *m = p;

	free(m->uid);
	free(m->ns);
	free(m->ip);
	free(m->group);
	json_decref(m->pod);
	free(m);
}

static void work_soon(struct services *s)
{
	loop_schedule(s->client->loop, &s->work);
}

/* --- services --- */

/* Pods that this service's names lead to before its Endpoints do; new reference. */
static json_t *starting_pods(const struct services *s, const json_t *service)
{
	json_t *list = json_object();
	size_t pos = 0;
	void *p;

	while (s->starting && map_next(&s->pods, &pos, NULL, &p)) {
		const struct member *m = p;
		const char *name = jsonx_str_or(service, "metadata.name", "");
		bool named = str_same(jsonx_str(m->pod, "spec.subdomain"), name);

		if (m->starting && service_names_early(service, m->pod))
			json_object_set_new(list, m->ip,
					    jsonx_string(named ? jsonx_str_or(m->pod, "spec.hostname", "") : ""));
	}
	return list;
}

/* The service's part anew; NULL if it is gone. */
static void rebuild(struct services *s, const char *key, const json_t *service)
{
	const char *ns = jsonx_str_or(service, "metadata.namespace", "");
	const char *name = jsonx_str_or(service, "metadata.name", "");
	const json_t *endpoints;
	json_auto_t *starting = NULL;
	json_auto_t *doc = NULL;

	if (!service) {
		s->dirty |= map_remove(&s->docs, key);
		work_soon(s);
		return;
	}
	endpoints = informer_find(s->informers[FOLLOW_ENDPOINTS], ns, name);
	starting = map_find(&s->headless, key) ? starting_pods(s, service) : NULL;
	doc = service_doc(service, endpoints, starting);
	if (json_equal(doc, map_find(&s->docs, key)))
		return;
	map_set(&s->docs, key, json_incref(doc));
	s->dirty = true;
	work_soon(s);
}

static char *key_of(const json_t *obj)
{
	return xasprintf("%s/%s", jsonx_str_or(obj, "metadata.namespace", ""), jsonx_str_or(obj, "metadata.name", ""));
}

static void on_service(void *arg, const json_t *obj, const json_t *old)
{
	struct services *s = arg;
	auto_free char *key = key_of(obj ? obj : old);

	map_done(&s->env);
	if (obj && str_same(jsonx_str(obj, "spec.clusterIP"), "None") &&
	    json_object_size(jsonx_at(obj, "spec.selector")))
		map_set(&s->headless, key, json_incref((json_t *)obj));
	else
		map_remove(&s->headless, key);
	rebuild(s, key, obj);
}

static bool has_early_name(const struct services *s, const json_t *pod)
{
	size_t pos = 0;
	void *service;

	while (map_next(&s->headless, &pos, NULL, &service))
		if (service_names_early(service, pod))
			return true;
	return false;
}

/* The services that this pod's start or end of starting concerns. */
static void rebuild_around(struct services *s, const json_t *pod)
{
	size_t pos = 0;
	const char *key;
	void *service;

	while (map_next(&s->headless, &pos, &key, &service))
		if (service_names_early(service, pod))
			rebuild(s, key, service);
}

static void stop_starting(struct services *s, struct member *m)
{
	json_auto_t *pod = NULL;

	if (!m->starting)
		return;
	m->starting = false;
	s->starting--;
	pod = TAKE(m->pod);
	rebuild_around(s, pod);
}

/* The Endpoints speak for these from now on. */
static void end_starting_of(struct services *s, const char *ns, const json_t *addresses)
{
	const json_t *a;
	size_t i;

	json_array_foreach (addresses, i, a) {
		struct member *m = map_find(&s->by_ip, jsonx_str_or(a, "ip", ""));

		if (!m || !m->starting || !streq(m->ns, ns))
			continue;
		m->starting = false;
		s->starting--;
		json_decref(m->pod);
		m->pod = NULL;
	}
}

static void on_published(void *arg, const json_t *obj, const struct err *e)
{
	(void)arg;
	(void)obj;
	if (e->kind != ERR_NONE)
		log_warn("say where the API is: %s, ignoring", e->text);
}

static void publish_api(const struct services *s)
{
	struct client *c = s->client;
	struct ref ref = { .api_version = "v1", .plural = "endpoints", .ns = "default", .name = "kubernetes" };
	json_auto_t *obj = json_pack("{s:{s:s, s:s}, s:[{s:[{s:s}], s:[{s:s, s:i, s:s}]}]}", "metadata", "name",
				     "kubernetes", "namespace", "default", "subsets", "addresses", "ip", s->api_ip,
				     "ports", "name", "https", "port", s->api_port, "protocol", "TCP");

	c->ops->update(c, &ref, obj, on_published, NULL);
}

void services_publish_api(struct services *s, const char *ip, int port)
{
	free(s->api_ip);
	s->api_ip = xstrdup(ip);
	s->api_port = port;
	publish_api(s);
}

static void on_endpoints(void *arg, const json_t *obj, const json_t *old)
{
	struct services *s = arg;
	const json_t *any = obj ? obj : old;
	const char *ns = jsonx_str_or(any, "metadata.namespace", "");
	const char *name = jsonx_str_or(any, "metadata.name", "");
	const json_t *service = informer_find(s->informers[FOLLOW_SERVICES], ns, name);
	auto_free char *key = key_of(any);
	const json_t *subset;
	size_t i;

	if (!obj && s->api_ip && streq(key, "default/kubernetes"))
		publish_api(s);
	if (s->starting && !jsonx_bool_or(service, "spec.publishNotReadyAddresses", false))
		json_array_foreach (json_object_get(obj, "subsets"), i, subset)
			end_starting_of(s, ns, json_object_get(subset, "addresses"));
	if (service)
		rebuild(s, key, service);
}

/* --- pods and their groups --- */

/* A namespace we have not heard of is nobody else's: '/' is in no user's name. */
static char *group_of(const struct services *s, const char *ns)
{
	const json_t *obj = informer_find(s->informers[FOLLOW_NAMESPACES], NULL, ns);

	return obj ? xstrdup(namespace_group(obj)) : xasprintf("/%s", ns);
}

static void set_group(struct services *s, struct member *m)
{
	char *group = group_of(s, m->ns);

	if (*group)
		s->walls_wanted = true;
	if (str_same(m->group, group)) {
		free(group);
		return;
	}
	free(m->group);
	m->group = group;
	json_object_set_new(s->changes, m->ip, jsonx_string(group));
	work_soon(s);
}

static void on_namespace(void *arg, const json_t *obj, const json_t *old)
{
	struct services *s = arg;
	const char *ns = jsonx_str_or(obj ? obj : old, "metadata.name", "");
	size_t pos = 0;
	void *p;

	while (obj && map_next(&s->pods, &pos, NULL, &p))
		if (streq(((struct member *)p)->ns, ns))
			set_group(s, p);
}

/* Unless it is somebody else's already. */
static void forget_ip(struct services *s, const struct member *m)
{
	if (map_find(&s->by_ip, m->ip) != m)
		return;
	map_remove(&s->by_ip, m->ip);
	json_object_set_new(s->changes, m->ip, json_null());
}

static struct member *put_member(struct services *s, const json_t *pod, const char *ip)
{
	const char *uid = jsonx_str_or(pod, "metadata.uid", "");
	struct member *m = map_find(&s->pods, uid);

	if (!m) {
		m = xcalloc(1, sizeof(*m));
		m->uid = xstrdup(uid);
		m->ns = xstrdup(jsonx_str_or(pod, "metadata.namespace", ""));
		map_set(&s->pods, uid, m);
	}
	if (!str_same(m->ip, ip)) {
		if (m->ip)
			forget_ip(s, m);
		free(m->ip);
		m->ip = xstrdup(ip);
		map_set(&s->by_ip, ip, m);
		free(m->group);
		m->group = NULL;
	}
	set_group(s, m);
	return m;
}

static void drop_member(struct services *s, const char *uid)
{
	struct member *m = map_find(&s->pods, uid);

	if (!m)
		return;
	stop_starting(s, m);
	forget_ip(s, m);
	map_remove(&s->pods, uid);
	work_soon(s);
}

/* Has it names that go when it is not ready?  Then Endpoints are to say that it is, else they would go and come. */
static bool waits_for_endpoints(const struct services *s, const json_t *pod)
{
	size_t pos = 0;
	void *service;

	while (map_next(&s->headless, &pos, NULL, &service))
		if (service_names_early(service, pod) &&
		    !jsonx_bool_or(service, "spec.publishNotReadyAddresses", false))
			return true;
	return false;
}

static void on_pod(void *arg, const json_t *obj, const json_t *old)
{
	struct services *s = arg;
	const char *uid = jsonx_str_or(obj ? obj : old, "metadata.uid", "");
	const char *old_uid = jsonx_str_or(old, "metadata.uid", uid);
	const char *ip = jsonx_str_or(obj, "status.podIP", "");
	struct member *m;

	if (!obj || !streq(uid, old_uid))
		drop_member(s, old_uid);
	if (!obj || jsonx_bool_or(obj, "spec.hostNetwork", false))
		return;
	m = *ip ? put_member(s, obj, ip) : map_find(&s->pods, uid);
	if (!m)
		return;
	if (m->starting && (condition_holds(obj, "Ready") ? !waits_for_endpoints(s, m->pod) : m->was_ready))
		stop_starting(s, m);
	m->was_ready = condition_holds(obj, "Ready");
}

/* --- telling the network --- */

static int sync_docs(struct services *s, struct err *e)
{
	json_auto_t *all = json_array();
	int64_t start = clock_mono_ns(), spent = clock_cpu_ns();
	int64_t took_us;
	size_t pos = 0;
	void *doc;
	int r;

	while (map_next(&s->docs, &pos, NULL, &doc))
		json_array_append(all, doc);
	r = s->net ? net_sync_services(s->net, all, e) : 0;
	took_us = (clock_mono_ns() - start) / 1000;
	s->cost_us = (clock_cpu_ns() - spent) / 1000;
	if (took_us > SHORT_US)
		s->rest_until = clock_mono_ms() + took_us * REST_RATIO / 1000;
	if (r == 0)
		s->dirty = s->urgent = false;
	return r;
}

static int raise_walls(struct services *s, struct err *e)
{
	json_auto_t *groups = json_object();
	size_t pos = 0;
	void *p;

	while (map_next(&s->pods, &pos, NULL, &p))
		json_object_set_new(groups, ((struct member *)p)->ip, jsonx_string(((struct member *)p)->group));
	if (net_sync_isolation(s->net, groups, e) < 0)
		return -1;
	s->walls_up = true;
	json_object_clear(s->changes);
	return 0;
}

static int sync_walls(struct services *s, struct err *e)
{
	if (!s->net)
		json_object_clear(s->changes);
	if (!json_object_size(s->changes))
		return 0;
	if (s->walls_wanted && !s->walls_up)
		return raise_walls(s, e);
	if (s->walls_up && net_change_isolation(s->net, s->changes, e) < 0)
		return -1;
	json_object_clear(s->changes);
	return 0;
}

static bool all_synced(const struct services *s)
{
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		if (!s->informers[i] || !informer_synced(s->informers[i]))
			return false;
	return true;
}

/* The first whole document.  Walls of an earlier server that nobody needs any more go. */
static int sync_first(struct services *s, struct err *e)
{
	size_t pos = 0;
	void *p;

	/* Pods may have been told of before their namespaces were. */
	s->walls_wanted = false;
	while (map_next(&s->pods, &pos, NULL, &p))
		s->walls_wanted |= *((struct member *)p)->group != '\0';
	if (sync_docs(s, e) < 0)
		return -1;
	if (s->net && s->walls_wanted)
		return raise_walls(s, e);
	json_object_clear(s->changes);
	return s->net ? net_sync_isolation(s->net, NULL, e) : 0;
}

static void on_work(void *arg)
{
	struct services *s = arg;
	struct err e = ERR_INIT;
	int64_t now = clock_mono_ms();
	int r;

	if (!all_synced(s))
		return;
	if (!s->told) {
		r = sync_first(s, &e);
	} else {
		r = sync_walls(s, &e);
		if (r == 0 && s->dirty && (s->urgent || now >= s->rest_until))
			r = sync_docs(s, &e);
	}
	if (r < 0) {
		log_warn("tell the pod network what has changed: %s, trying again", e.text);
		loop_timer_set(s->client->loop, &s->later, RETRY_MS);
		return;
	}
	if (s->dirty)
		loop_timer_set(s->client->loop, &s->later, s->rest_until - now);
	if (!s->told) {
		s->told = true;
		if (s->synced)
			s->synced(s->arg);
	}
}

static void on_later(void *arg)
{
	work_soon(arg);
}

static void on_synced(void *arg)
{
	work_soon(arg);
}

/* --- for pods --- */

int services_add_pod(struct services *s, const json_t *pod, const char *ip, struct err *e)
{
	struct member *m;

	if (!s->net || jsonx_bool_or(pod, "spec.hostNetwork", false))
		return 0;
	m = put_member(s, pod, ip);
	if (!m->starting && !condition_holds(pod, "Ready") && has_early_name(s, pod)) {
		m->starting = true;
		m->pod = json_incref((json_t *)pod);
		s->starting++;
		rebuild_around(s, pod);
	}
	/* Before the first sync nothing starts, and then everybody is in it. */
	if (!s->told)
		return 0;
	if (sync_walls(s, e) < 0)
		return err_prefix(e, "isolation");
	/* Where this costs much, the end of the turn is soon enough: a runtime needs milliseconds to start. */
	s->urgent = s->dirty;
	if (s->dirty && s->cost_us <= CHEAP_US && sync_docs(s, e) < 0)
		return err_prefix(e, "names");
	return 0;
}

static json_t *list_for_env(const struct services *s, const char *ns)
{
	json_t *list = json_array();
	const json_t *service;
	size_t pos = 0;

	while (informer_next(s->informers[FOLLOW_SERVICES], &pos, &service)) {
		const char *of = jsonx_str_or(service, "metadata.namespace", "");
		bool api = streq(of, "default") && streq(jsonx_str_or(service, "metadata.name", ""), "kubernetes");

		if (streq(of, ns) || api)
			json_array_append(list, (json_t *)service);
	}
	return list;
}

json_t *services_for_env(struct services *s, const char *ns)
{
	json_t *list = map_find(&s->env, ns);

	if (!list) {
		list = list_for_env(s, ns);
		map_set(&s->env, ns, list);
	}
	return json_copy(list);
}

/* --- life --- */

struct services *services_new(struct client *c, struct net *net, void (*synced)(void *arg), void *arg)
{
	static const struct {
		const char *plural, *fields;
		void (*change)(void *arg, const json_t *obj, const json_t *old);
	} rows[FOLLOW__COUNT] = {
		[FOLLOW_SERVICES] = { "services", NULL, on_service },
		[FOLLOW_ENDPOINTS] = { "endpoints", NULL, on_endpoints },
		[FOLLOW_NAMESPACES] = { "namespaces", NULL, on_namespace },
		[FOLLOW_PODS] = { "pods", "status.phase!=Succeeded,status.phase!=Failed", on_pod },
	};
	struct services *s = xcalloc(1, sizeof(*s));

	*s = (struct services){ .client = c, .net = net, .synced = synced, .arg = arg, .changes = json_object() };
	map_init(&s->docs, decref);
	map_init(&s->headless, decref);
	map_init(&s->env, decref);
	map_init(&s->pods, member_free);
	map_init(&s->by_ip, NULL);
	s->work = (struct loop_hook){ .run = on_work, .arg = s, .phase = LOOP_WORK };
	s->later = (struct loop_timer){ .fire = on_later, .arg = s };
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		s->informers[i] = informer_new(c, &(struct ref){ .api_version = "v1", .plural = rows[i].plural },
					       &(struct list_options){ .fields = rows[i].fields },
					       &(struct informer_handlers){ rows[i].change, on_synced, s });
	return s;
}

void services_free(struct services *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < FOLLOW__COUNT; i++)
		informer_free(s->informers[i]);
	loop_unschedule(s->client->loop, &s->work);
	loop_timer_done(&s->later);
	map_done(&s->docs);
	map_done(&s->headless);
	map_done(&s->env);
	map_done(&s->by_ip);
	map_done(&s->pods);
	json_decref(s->changes);
	free(s->api_ip);
	free(s);
}
