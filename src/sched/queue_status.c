// SPDX-License-Identifier: Apache-2.0
/* queue_status.c - see queue_status.h
 *
 * Whether a status is right is seen by the object itself, so after a restart nothing is written that is there already.
 * One write a queue is under way at a time.
 */
#include "sched/queue_status.h"

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/map.h"
#include "base/mem.h"

#define SOON_MS  50 /* a burst of pods is one change */
#define AGAIN_MS 1000

struct queue_status {
	struct client *client;
	struct world *world;
	struct informer *queues;
	struct loop_timer timer;
	int64_t last_ms;   /* monotonic: when they were looked at */
	struct map writes; /* name -> itself, while a write is under way */
	bool freed;
};

struct write {
	struct queue_status *s;
	char *name;
};

static void status_done(struct queue_status *s)
{
	map_done(&s->writes);
	free(s);
}

static void on_written(void *arg, const json_t *obj, const struct err *e)
{
	struct write *wr = arg;
	struct queue_status *s = wr->s;

	(void)obj;
	map_remove(&s->writes, wr->name);
	if (!s->freed && e->kind != ERR_NONE && e->kind != ERR_NOT_FOUND)
		log_warn("tell what is in queue %s: %s, ignoring", wr->name, e->text);
	free(wr->name);
	free(wr);
	if (!s->freed)
		queue_status_touch(s);
	else if (!s->writes.n)
		status_done(s);
}

static json_t *cpus_text(int64_t milli)
{
	return milli % 1000 ? jsonx_stringf("%lldm", (long long)milli) : jsonx_stringf("%lld", (long long)milli / 1000);
}

/* Bytes as people write them. */
static json_t *memory_text(int64_t bytes)
{
	static const char *const units[] = { "", "Ki", "Mi", "Gi", "Ti" };
	size_t u = 0;

	while (bytes && bytes % 1024 == 0 && u + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		u++;
	}
	return jsonx_stringf("%lld%s", (long long)bytes, units[u]);
}

static json_t *status_of(const struct world *w, const struct queue *q, const json_t *obj)
{
	struct queue_counts c = world_count(w, q, clock_wall_micros() / 1000);
	const struct amount_of_limits *use = &q->use.total;

	return json_pack("{s:I, s:I, s:I, s:I, s:I, s:I, s:o, s:o, s:I}", "total", (json_int_t)c.total, "queued",
			 (json_int_t)c.queued, "held", (json_int_t)c.held, "waiting", (json_int_t)c.waiting, "running",
			 (json_int_t)c.running, "gpus", (json_int_t)use->v[LIMIT_GPUS], "cpus",
			 cpus_text(use->v[LIMIT_CPUS]), "memory", memory_text(use->v[LIMIT_MEMORY]),
			 "observedGeneration", (json_int_t)jsonx_int_or(obj, "metadata.generation", 0));
}

/* What others write into it stays. */
static bool is_told(const json_t *obj, const json_t *status)
{
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)status, key, v)
		if (!jsonx_equal(v, json_object_get(json_object_get(obj, "status"), key)))
			return false;
	return true;
}

static bool tell(void *arg, struct queue *q)
{
	struct queue_status *s = arg;
	const json_t *obj = informer_find(s->queues, "", q->name);
	json_auto_t *status = obj ? status_of(s->world, q, obj) : NULL;
	struct ref ref = {
		.api_version = "stoker.dev/v1", .plural = "queues", .ns = "", .name = q->name, .subresource = "status"
	};
	json_auto_t *patch = NULL;
	struct write *wr;

	if (!obj || map_find(&s->writes, q->name) || is_told(obj, status))
		return true;
	patch = json_pack("{s:{s:s}, s:O}", "metadata", "uid", jsonx_str_or(obj, "metadata.uid", ""), "status", status);
	wr = xcalloc(1, sizeof(*wr));
	*wr = (struct write){ .s = s, .name = xstrdup(q->name) };
	map_set(&s->writes, q->name, wr);
	s->client->ops->patch(s->client, &ref, "merge", patch, on_written, wr);
	return true;
}

static void on_timer(void *arg)
{
	struct queue_status *s = arg;

	s->last_ms = clock_mono_ms();
	world_each_queue(s->world, tell, s);
}

void queue_status_touch(struct queue_status *s)
{
	int64_t since = clock_mono_ms() - s->last_ms;

	if (!loop_timer_pending(&s->timer))
		loop_timer_set(s->client->loop, &s->timer, since >= AGAIN_MS ? SOON_MS : AGAIN_MS - since);
}

struct queue_status *queue_status_new(struct client *c, struct world *w, struct informer *queues)
{
	struct queue_status *s = xcalloc(1, sizeof(*s));

	*s = (struct queue_status){ .client = c, .world = w, .queues = queues, .last_ms = -AGAIN_MS };
	s->timer = (struct loop_timer){ .fire = on_timer, .arg = s };
	map_init(&s->writes, NULL);
	return s;
}

void queue_status_free(struct queue_status *s)
{
	if (!s)
		return;
	loop_timer_done(&s->timer);
	s->freed = true;
	if (!s->writes.n)
		status_done(s);
}
