// SPDX-License-Identifier: Apache-2.0
/* workload.c - see workload.h */
#include "sched/workload.h"

#include <math.h>
#include <stdlib.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "base/yamlx.h"
#include "kinds/quantity.h"
#include "kinds/rest.h"
#include "sched/account.h"

#define CHOICES_MOST 16
#define GPUS_NAME    "nvidia.com/gpu"
#define START_MS     ((int64_t)1767225600000) /* 2026-01-01: when what is made up begins */

void workload_init(struct workload *w)
{
	*w = (struct workload){ 0 };
	map_init(&w->texts, free);
}

void workload_done(struct workload *w)
{
	free(w->jobs);
	map_done(&w->texts);
	json_decref(w->nodes);
	json_decref(w->queues);
	workload_init(w);
}

/* One copy of each text, for as long as the workload lives. */
static const char *keep(struct workload *w, struct str text)
{
	const char *known = map_find_n(&w->texts, text.p ? text.p : "", text.n);
	char *copy;

	if (known)
		return known;
	copy = xstrndup(text.p ? text.p : "", text.n);
	map_set(&w->texts, copy, copy);
	return copy;
}

static void add_job(struct workload *w, struct sim_job j)
{
	char key[32];

	snprintf(key, sizeof(key), "job %zu", w->n);
	j.key = keep(w, (struct str){ key, strlen(key) });
	ARRAY_PUSH(w->jobs, w->n, w->cap, j);
}

/* ---- accounts ---- */

static struct str next_line(struct str *rest)
{
	const char *end = memchr(rest->p, '\n', rest->n);
	struct str line = { rest->p, end ? (size_t)(end - rest->p) : rest->n };
	size_t used = line.n + (end != NULL);

	*rest = (struct str){ rest->p + used, rest->n - used };
	return line;
}

static int64_t part(double all, int64_t pods)
{
	return (int64_t)ceil(all / (double)pods - 1e-9);
}

static int add_record(struct workload *w, const struct account_record *r, struct err *e)
{
	/* Where the clock was set back in between it seems to have begun before it came. */
	int64_t submitted = r->submitted && r->submitted < r->started ? r->submitted : r->started;

	if (r->pods < 1 || r->pods > WORKLOAD_MOST)
		return err_set(e, ERR_INVALID, "pods: %lld is not between 1 and %d", (long long)r->pods, WORKLOAD_MOST);
	if (r->ended < r->started || r->started < 0 || r->ended > INT32_MAX * (int64_t)100)
		return err_set(e, ERR_INVALID, "ended: %lld is not a time after its start, %lld", (long long)r->ended,
			       (long long)r->started);
	if (submitted < 0)
		return err_set(e, ERR_INVALID, "submitted: %lld is below 0", (long long)submitted);
	if (r->gpus < 0 || r->gpus > WORKLOAD_MOST || r->cpus_milli < 0 || r->memory_bytes < 0)
		return err_set(e, ERR_INVALID, "gpus, cpus_milli and memory_bytes may not be below 0");
	/* What was evicted runs again, and has another line for that. */
	if (r->state == ACCOUNT_EVICTED)
		return 0;
	add_job(w,
		(struct sim_job){
			.queue = keep(w, r->queue.n ? r->queue : STR("batch")),
			.user = keep(w, r->user.n ? r->user : r->ns),
			.group = keep(w, r->group),
			.submit_ms = submitted * 1000,
			.run_ms = (r->ended > r->started ? r->ended - r->started : 1) * 1000,
			.walltime_ms = r->walltime >= 0 && r->walltime < INT32_MAX ? r->walltime * 1000 : WALLTIME_NONE,
			.priority = r->priority,
			.members = (size_t)r->pods,
			.gpus = part(r->gpus, r->pods),
			.cpu_milli = part((double)r->cpus_milli, r->pods),
			.memory = part((double)r->memory_bytes, r->pods),
		});
	return 0;
}

int workload_add_line(struct workload_accounts *a, struct str line, struct err *e)
{
	struct account_record r;

	a->line++;
	if (line.n && line.p[line.n - 1] == '\r')
		line.n--;
	if (a->line == 1)
		return account_columns_read(line, &a->columns, e) < 0 ? err_prefix(e, "line 1") : 0;
	if (line.n && (account_read(&a->columns, line, &r, e) < 0 || add_record(a->workload, &r, e) < 0))
		return err_prefix(e, "line %zu", a->line);
	return 0;
}

int workload_read_accounts(struct workload *w, struct str text, struct err *e)
{
	struct workload_accounts a = { .workload = w };
	struct str rest = text;

	do {
		if (workload_add_line(&a, next_line(&rest), e) < 0)
			return -1;
	} while (rest.n);
	return 0;
}

/* ---- chance ---- */

static uint64_t next_random(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state >> 11;
}

/* A number, a range, or a choice of those. */
struct range {
	double low[CHOICES_MOST], high[CHOICES_MOST];
	size_t n;
};

enum unit { COUNT, SECONDS };

static bool read_bound(const char *text, enum unit unit, double *ret)
{
	int64_t seconds;
	char *end;

	if (unit == SECONDS && clock_parse_duration(text, &seconds)) {
		*ret = (double)seconds;
		return seconds >= 0;
	}
	*ret = strtod(text, &end);
	return end != text && !*end && isfinite(*ret) && *ret >= 0 && *ret <= 1e12;
}

static bool read_choice(const char *text, enum unit unit, double *low, double *high)
{
	const char *dash = strchr(text, '-');
	auto_free char *first = xstrndup(text, dash ? (size_t)(dash - text) : strlen(text));

	if (!read_bound(first, unit, low) || !read_bound(dash ? dash + 1 : first, unit, high))
		return false;
	return *low <= *high;
}

static int read_range(const char *text, enum unit unit, struct range *ret, struct err *e)
{
	*ret = (struct range){ 0 };
	for (const char *p = text; p;) {
		const char *bar = strchr(p, '|');
		auto_free char *one = xstrndup(p, bar ? (size_t)(bar - p) : strlen(p));

		if (ret->n == CHOICES_MOST || !read_choice(one, unit, &ret->low[ret->n], &ret->high[ret->n]))
			return err_set(e, ERR_INVALID, "\"%s\" is not %s, a range like %s or a choice like %s", text,
				       unit == SECONDS ? "a time like 90s" : "a number",
				       unit == SECONDS ? "10m-4h" : "1-8", unit == SECONDS ? "1h|8h" : "1|2|8");
		ret->n++;
		p = bar ? bar + 1 : NULL;
	}
	return 0;
}

static double pick(const struct range *r, uint64_t *random)
{
	size_t i = r->n > 1 ? next_random(random) % r->n : 0;

	return r->low[i] + (r->high[i] - r->low[i]) * ((double)(next_random(random) % 1000001) / 1e6);
}

/* ---- what is made up ---- */

enum fact { GPUS, PODS, CPUS, MEMORY, RUN, WALLTIME, EVERY, FACT__COUNT };
static const struct {
	const char *name;
	enum unit unit;
	const char *otherwise; /* NULL: there is none */
} facts[FACT__COUNT] = {
	[GPUS] = { "gpus", COUNT, "1" },      [PODS] = { "pods", COUNT, "1" },
	[CPUS] = { "cpus", COUNT, "1" },      [MEMORY] = { "memory", COUNT, "1" }, /* GiB */
	[RUN] = { "run", SECONDS, "10m-4h" }, [WALLTIME] = { "walltime", SECONDS, NULL },
	[EVERY] = { "every", SECONDS, "0" },
};

/* Jobs of one sort. */
struct sort {
	struct range of[FACT__COUNT];
	const char *user, *group, *queue;
	int64_t priority;
};

static void make_job(struct workload *w, const struct sort *s, int64_t at_ms, uint64_t *random)
{
	double pods = floor(pick(&s->of[PODS], random));
	double run = pick(&s->of[RUN], random);

	add_job(w, (struct sim_job){
			   .queue = s->queue,
			   .user = s->user,
			   .group = s->group,
			   .priority = s->priority,
			   .submit_ms = at_ms,
			   .run_ms = (int64_t)(run < 1 ? 1000 : run * 1000),
			   .walltime_ms =
				   s->of[WALLTIME].n ? (int64_t)(pick(&s->of[WALLTIME], random) * 1000) : WALLTIME_NONE,
			   .members = pods < 1 ? 1 : (size_t)fmin(pods, 100000),
			   .gpus = (int64_t)fmin(pick(&s->of[GPUS], random) + 0.5, 1e6),
			   .cpu_milli = (int64_t)(fmin(pick(&s->of[CPUS], random), 1e6) * 1000),
			   .memory = (int64_t)(fmin(pick(&s->of[MEMORY], random), 1e6) * (1 << 30)),
		   });
}

static int default_facts(struct sort *s, struct err *e)
{
	*s = (struct sort){ 0 };
	for (int i = 0; i < FACT__COUNT; i++)
		if (facts[i].otherwise && read_range(facts[i].otherwise, facts[i].unit, &s->of[i], e) < 0)
			return -1;
	return 0;
}

static int fact_named(const char *name)
{
	for (int i = 0; i < FACT__COUNT; i++)
		if (streq(facts[i].name, name))
			return i;
	return -1;
}

struct generator {
	struct sort sort;
	struct range users, jobs, seed, span;
};

static int set_generator(struct generator *g, const char *key, const char *value, struct err *e)
{
	const struct {
		const char *name;
		struct range *to;
		enum unit unit;
	} more[] = { { "users", &g->users, COUNT },
		     { "jobs", &g->jobs, COUNT },
		     { "seed", &g->seed, COUNT },
		     { "span", &g->span, SECONDS } };
	int fact = fact_named(key);

	if (fact >= 0)
		return read_range(value, facts[fact].unit, &g->sort.of[fact], e);
	for (size_t i = 0; i < ARRAY_SIZE(more); i++)
		if (streq(more[i].name, key))
			return read_range(value, more[i].unit, more[i].to, e);
	return err_set(e, ERR_INVALID,
		       "there is no such thing to set; there are users, jobs, seed, span, gpus, pods, "
		       "cpus, memory, run and walltime");
}

static int read_generator(struct generator *g, const char *spec, struct err *e)
{
	for (const char *p = spec; p && *p;) {
		const char *comma = strchr(p, ',');
		auto_free char *pair = xstrndup(p, comma ? (size_t)(comma - p) : strlen(p));
		char *equals = strchr(pair, '=');

		if (!equals)
			return err_set(e, ERR_INVALID, "\"%s\" has no value: write %s=VALUE", pair, pair);
		*equals = '\0';
		if (set_generator(g, pair, equals + 1, e) < 0)
			return err_prefix(e, "%s", pair);
		p = comma ? comma + 1 : NULL;
	}
	return 0;
}

int workload_generate(struct workload *w, const char *spec, struct err *e)
{
	struct generator g = { 0 };
	uint64_t random;
	size_t jobs, users;

	if (default_facts(&g.sort, e) < 0 || read_range("20", COUNT, &g.users, e) < 0 ||
	    read_range("1000", COUNT, &g.jobs, e) < 0 || read_range("1", COUNT, &g.seed, e) < 0 ||
	    read_range("1d", SECONDS, &g.span, e) < 0 || read_generator(&g, spec, e) < 0)
		return -1;
	random = (uint64_t)g.seed.low[0] * 2654435761u + 88172645463325252u;
	jobs = (size_t)g.jobs.low[0];
	users = (size_t)g.users.low[0];
	if (!users || users > 1000000 || jobs > WORKLOAD_MOST)
		return err_set(e, ERR_INVALID, "users may be from 1 to 1000000, and jobs up to %d", WORKLOAD_MOST);
	g.sort.queue = keep(w, STR("batch"));
	g.sort.group = keep(w, STR(""));
	for (size_t i = 0; i < jobs; i++) {
		char name[32];
		double at = (double)(next_random(&random) % 1000001) / 1e6 * g.span.low[0];

		snprintf(name, sizeof(name), "user%02zu", (size_t)(next_random(&random) % users) + 1);
		g.sort.user = keep(w, (struct str){ name, strlen(name) });
		make_job(w, &g.sort, START_MS + (int64_t)at * 1000, &random);
	}
	return 0;
}

/* ---- descriptions ---- */

/* A number or a text, as text. */
static char *scalar_text(const json_t *v)
{
	if (json_is_string(v))
		return xstrdup(json_string_value(v));
	if (json_is_integer(v))
		return xasprintf("%lld", (long long)json_integer_value(v));
	return json_is_real(v) ? xasprintf("%.17g", json_real_value(v)) : NULL;
}

static int read_fact(struct sort *s, int fact, const json_t *v, struct err *e)
{
	auto_free char *text = scalar_text(v);

	if (!text)
		return err_set(e, ERR_INVALID, "must be a number or a text");
	return read_range(text, facts[fact].unit, &s->of[fact], e);
}

static int read_text(struct workload *w, const json_t *v, const char **ret, struct err *e)
{
	if (!json_is_string(v))
		return err_set(e, ERR_INVALID, "must be a text");
	*ret = keep(w, (struct str){ json_string_value(v), json_string_length(v) });
	return 0;
}

static int read_count(const json_t *v, int64_t *ret, struct err *e)
{
	if (!json_is_integer(v) || llabs(json_integer_value(v)) > WORKLOAD_MOST)
		return err_set(e, ERR_INVALID, "must be a whole number up to %d", WORKLOAD_MOST);
	*ret = json_integer_value(v);
	return 0;
}

static int read_user_field(struct workload *w, struct sort *s, int64_t *jobs, const char *key, const json_t *v,
			   struct err *e)
{
	int fact = fact_named(key);

	if (fact >= 0)
		return read_fact(s, fact, v, e);
	if (streq(key, "name"))
		return read_text(w, v, &s->user, e);
	if (streq(key, "group"))
		return read_text(w, v, &s->group, e);
	if (streq(key, "queue"))
		return read_text(w, v, &s->queue, e);
	if (streq(key, "jobs"))
		return read_count(v, jobs, e);
	if (streq(key, "priority"))
		return read_count(v, &s->priority, e);
	return err_set(e, ERR_INVALID,
		       "no such field; a user has name, group, queue, priority, jobs, gpus, pods, cpus, "
		       "memory, run, walltime and every");
}

static int read_user(struct workload *w, const json_t *user, uint64_t *random, struct err *e)
{
	int64_t at_ms = START_MS;
	int64_t jobs = 1;
	struct sort s;
	const char *key;
	json_t *v;

	if (default_facts(&s, e) < 0)
		return -1;
	s.user = NULL;
	s.group = keep(w, STR(""));
	s.queue = keep(w, STR("batch"));
	if (!json_is_object(user))
		return err_set(e, ERR_INVALID, "must be an object with a name and jobs");
	json_object_foreach ((json_t *)user, key, v)
		if (read_user_field(w, &s, &jobs, key, v, e) < 0)
			return err_prefix(e, "%s", key);
	if (!s.user || jobs < 0 || (size_t)jobs + w->n > WORKLOAD_MOST)
		return err_set(e, ERR_INVALID, !s.user ? "name: required" : "jobs: there may be up to 10000000 in all");
	for (int64_t i = 0; i < jobs; i++) {
		make_job(w, &s, at_ms, random);
		at_ms += (int64_t)fmin(pick(&s.of[EVERY], random), 1e9) * 1000;
	}
	return 0;
}

/* "weigth": what a queue has instead. */
static int no_such_queue_field(const char *name, struct err *e)
{
	const struct message *spec = message_field(kind_queue.message, "spec")->msg;
	auto_sbuf struct sbuf names = SBUF(2048);

	for (size_t i = 0; i < spec->nfields; i++)
		sbuf_addf(&names, ", %s", spec->fields[i].name);
	return err_set(e, ERR_INVALID, "%s: no such field; a queue has name%s", name, names.p);
}

/* Its fields are those of a Queue's spec, and its name. */
static int check_queue(const json_t *queue, struct err *e)
{
	const struct message *spec = message_field(kind_queue.message, "spec")->msg;
	json_auto_t *copy = json_deep_copy(queue);
	struct decode_report report = { 0 };
	int r;

	json_object_del(copy, "name");
	r = message_decode(spec, copy, &report, e);
	if (r == 0 && report.unknown)
		r = no_such_queue_field(json_string_value(json_array_get(report.unknown, 0)), e);
	json_decref(report.unknown);
	return r < 0 ? -1 : message_validate(spec, copy, NULL, e);
}

static int read_queues(struct workload *w, const json_t *queues, struct err *e)
{
	json_t *queue;
	size_t i;

	w->queues = w->queues ? w->queues : json_object();
	json_array_foreach ((json_t *)queues, i, queue) {
		const char *name = json_string_value(json_object_get(queue, "name"));

		if (!name)
			return err_set(e, ERR_INVALID, "queues[%zu].name: required", i);
		if (check_queue(queue, e) < 0)
			return err_prefix(e, "queues[%zu]", i);
		json_object_set(w->queues, name, queue);
	}
	return 0;
}

/* A name that is mistyped would be a queue of its own, with rules that nobody wrote. */
static int check_queue_name(const struct workload *w, const char *name, struct err *e)
{
	auto_sbuf struct sbuf names = SBUF(2048);
	const char *one;
	json_t *v;

	if (streq(name, "batch") || json_object_get(w->queues, name))
		return 0;
	json_object_foreach (w->queues, one, v)
		if (!streq(one, "batch"))
			sbuf_addf(&names, ", %s", one);
	return err_set(e, ERR_INVALID, "queue: \"%s\" is not described under queues; there are batch%s", name, names.p);
}

/* What each part of a description must be. */
static int check_parts(const json_t *doc, struct err *e)
{
	static const struct {
		const char *name, *what;
		json_type type;
	} parts[] = { { "seed", "a whole number", JSON_INTEGER },
		      { "nodes", "a text like 4x8", JSON_STRING },
		      { "queues", "a list", JSON_ARRAY },
		      { "users", "a list", JSON_ARRAY } };
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)doc, key, v) {
		size_t i = 0;

		while (i < ARRAY_SIZE(parts) && !streq(key, parts[i].name))
			i++;
		if (i == ARRAY_SIZE(parts))
			return err_set(e, ERR_INVALID, "%s: no such field; there are seed, nodes, queues and users",
				       key);
		if (json_typeof(v) != parts[i].type)
			return err_set(e, ERR_INVALID, "%s: must be %s", key, parts[i].what);
	}
	return 0;
}

static int read_document(struct workload *w, const json_t *doc, struct err *e)
{
	uint64_t random = (uint64_t)jsonx_int_or(doc, "seed", 1) * 2654435761u + 88172645463325252u;
	const char *nodes = json_string_value(json_object_get(doc, "nodes"));
	json_t *v;
	size_t i;

	if (check_parts(doc, e) < 0)
		return -1;
	if (nodes && workload_nodes(nodes, &w->nodes, e) < 0)
		return err_prefix(e, "nodes");
	if (read_queues(w, json_object_get(doc, "queues"), e) < 0)
		return -1;
	json_array_foreach (json_object_get(doc, "users"), i, v)
		if (check_queue_name(w, jsonx_str_or(v, "queue", "batch"), e) < 0 || read_user(w, v, &random, e) < 0)
			return err_prefix(e, "users[%zu]", i);
	return 0;
}

int workload_read_yaml(struct workload *w, struct str text, struct err *e)
{
	json_auto_t *doc = NULL;

	if (yamlx_parse(text.p, text.n, NULL, NULL, &doc, e) < 0)
		return -1;
	if (!json_is_object(doc))
		return err_set(e, ERR_INVALID, "must be an object with users");
	return read_document(w, doc, e);
}

/* ---- nodes ---- */

static json_t *make_node(size_t number, const long *amounts)
{
	return json_pack("{s:{s:o},s:{s:[{s:s,s:s}],s:{s:o,s:o,s:s,s:o}}}", "metadata", "name",
			 jsonx_stringf("node-%05zu", number), "status", "conditions", "type", "Ready", "status", "True",
			 "allocatable", "cpu", jsonx_stringf("%ld", amounts[2]), "memory",
			 jsonx_stringf("%ldGi", amounts[3]), "pods", "100000", GPUS_NAME,
			 jsonx_stringf("%ld", amounts[1]));
}

/* COUNTxGPUS[xCPUS[xGIB]] */
static bool read_amounts(const char *text, long amounts[4])
{
	char *end = (char *)text;

	for (int i = 0; i < 4; i++) {
		const char *p = end;

		if (*p < '0' || *p > '9')
			return false;
		amounts[i] = strtol(p, &end, 10);
		if (amounts[i] < 0 || amounts[i] > WORKLOAD_MOST / 100)
			return false;
		if (!*end)
			return i >= 1;
		if (*end++ != 'x')
			return false;
	}
	return false;
}

int workload_nodes(const char *text, json_t **ret, struct err *e)
{
	json_auto_t *nodes = json_array();

	for (const char *p = text; p;) {
		const char *comma = strchr(p, ',');
		auto_free char *one = xstrndup(p, comma ? (size_t)(comma - p) : strlen(p));
		long amounts[4] = { 0, 0, 1024, 16384 }; /* so much that GPUs decide */

		if (!read_amounts(one, amounts) || !amounts[0] || amounts[1] > CARDS_MOST)
			return err_set(e, ERR_INVALID,
				       "\"%s\" is not NODESxGPUS, NODESxGPUSxCPUS or NODESxGPUSxCPUSxGIB with 1 to %d "
				       "nodes and up to %d GPUs each, like 4x8",
				       one, WORKLOAD_MOST / 100, CARDS_MOST);
		for (long i = 0; i < amounts[0]; i++)
			json_array_append_new(nodes, make_node(json_array_size(nodes), amounts));
		p = comma ? comma + 1 : NULL;
	}
	json_decref(*ret);
	*ret = json_incref(nodes);
	return 0;
}

static int64_t gpus_of(const json_t *node)
{
	struct quantity q;
	const char *text = json_string_value(json_object_get(jsonx_at(node, "status.allocatable"), GPUS_NAME));

	return text && quantity_parse(text, &q) ? quantity_value(&q) : 0;
}

/* The node to which the next card goes, or NULL: all are full. */
static json_t *fewest_gpus(json_t *nodes)
{
	json_t *best = NULL;
	json_t *node;
	size_t i;

	json_array_foreach (nodes, i, node) {
		int64_t have = gpus_of(node);
		int64_t least = best ? gpus_of(best) : 0;

		if (have < CARDS_MOST && (!best || (have && !least) || ((have || !least) && have < least)))
			best = node;
	}
	return best;
}

/* What is known of its cards one by one goes: of new ones nothing is. */
static void set_gpus(json_t *node, int64_t gpus)
{
	json_object_del(jsonx_at(node, "metadata.annotations"), CARDS_ANNOTATION);
	json_object_set_new(jsonx_at(node, "status.allocatable"), GPUS_NAME, jsonx_stringf("%lld", (long long)gpus));
}

int workload_more_gpus(json_t **nodes, int64_t more, struct err *e)
{
	json_auto_t *copy = json_deep_copy(*nodes);

	for (; more > 0; more--) {
		json_t *node = fewest_gpus(copy);

		if (!node)
			return err_set(e, ERR_INVALID, "no node takes more than %d GPUs", CARDS_MOST);
		set_gpus(node, gpus_of(node) + 1);
	}
	json_decref(*nodes);
	*nodes = json_incref(copy);
	return 0;
}
