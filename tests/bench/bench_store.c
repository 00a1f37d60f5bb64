// SPDX-License-Identifier: Apache-2.0
/* bench_store.c - what the store alone costs: create, update, get, list, open, and the longest pause
 *
 *	bench_store DIR [OBJECTS]
 *
 * DIR must be new.  Times are CPU times, fsync excluded, but for the longest turn, which is by the clock.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/clock.h"
#include "base/mem.h"
#include "store/store_impl.h"

#define PER_TURN 64

struct bench {
	struct loop *loop;
	struct store *s;
	int kind;
	struct err e;
	int64_t longest_turn;
};

/* CPU time of this process: steady on a busy machine, and waiting for the disk is not in it. */
static int64_t cpu_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (int64_t)ts.tv_sec * 1000000000 + ts.tv_nsec;
}

static json_t *make_object(int i, char fill)
{
	char name[32];
	char data[900];

	memset(data, fill, sizeof(data) - 1);
	data[sizeof(data) - 1] = '\0';
	snprintf(name, sizeof(name), "pod-%08x", (unsigned)i * 2654435761u);
	return json_pack("{s:{s:s,s:s,s:s},s:s}", "metadata", "name", name, "namespace", "default", "uid",
			 "0b0a5f0e-0000-4000-8000-000000000000", "data", data);
}

static const char *name_of(const json_t *obj)
{
	return json_string_value(json_object_get(json_object_get(obj, "metadata"), "name"));
}

static void turn(struct bench *b)
{
	int64_t t = clock_mono_ns();

	loop_turn(b->loop, true);
	t = clock_mono_ns() - t;
	if (t > b->longest_turn)
		b->longest_turn = t;
}

static void fail(struct bench *b)
{
	fprintf(stderr, "%s\n", b->e.text);
	exit(1);
}

static void write_many(struct bench *b, int from, int to, bool update)
{
	int64_t put_ns = 0;
	int64_t turn_ns = 0;

	b->longest_turn = 0;
	for (int i = from; i < to; i += PER_TURN) {
		json_t *objs[PER_TURN];
		int n = to - i < PER_TURN ? to - i : PER_TURN;
		int64_t t;
		int64_t rv;

		for (int k = 0; k < n; k++)
			objs[k] = make_object(i + k, update ? 'u' : 'c');
		t = cpu_ns();
		for (int k = 0; k < n; k++)
			if (store_put(b->s, b->kind, "default", name_of(objs[k]), objs[k], update ? objs[k] : NULL, &rv,
				      &b->e) < 0)
				fail(b);
		put_ns += cpu_ns() - t;
		t = cpu_ns();
		turn(b);
		turn_ns += cpu_ns() - t;
		for (int k = 0; k < n; k++)
			json_decref(objs[k]);
	}
	printf("%s %6d..%6d: put %.2f us, commit and checkpoint %.2f us each; longest turn %.1f ms\n",
	       update ? "update" : "create", from, to, (double)put_ns / (to - from) / 1e3,
	       (double)turn_ns / (to - from) / 1e3, (double)b->longest_turn / 1e6);
}

static bool add_size(void *arg, const struct record *r)
{
	*(size_t *)arg += r->body.n;
	return true;
}

static void read_many(struct bench *b, int objects)
{
	size_t bytes = 0;
	struct record r;
	int64_t t = cpu_ns();

	for (int i = 0; i < 100000; i++) {
		char name[32];

		snprintf(name, sizeof(name), "pod-%08x", (unsigned)(i * 7919ll % objects) * 2654435761u);
		if (store_get(b->s, b->kind, "default", name, &r, &b->e) < 0)
			fail(b);
	}
	printf("get: %.2f us\n", (double)(cpu_ns() - t) / 100000 / 1e3);
	t = cpu_ns();
	if (store_list(b->s, &(struct store_range){ .kind = b->kind }, add_size, &bytes, &b->e) < 0)
		fail(b);
	printf("list of %d: %.1f ms, %.1f MB\n", objects, (double)(cpu_ns() - t) / 1e6, (double)bytes / 1e6);
	t = cpu_ns();
	bytes = 0;
	if (store_history(b->s, 0, store_revision(b->s) - 10000, add_size, &bytes, &b->e) < 0)
		fail(b);
	printf("history of 10000: %.1f ms\n", (double)(cpu_ns() - t) / 1e6);
	t = cpu_ns();
	printf("count: %lld in", (long long)store_count(b->s, b->kind, NULL));
	printf(" %.1f ms\n", (double)(cpu_ns() - t) / 1e6);
}

int main(int argc, char **argv)
{
	int objects = argc > 2 ? (int)strtol(argv[2], NULL, 10) : 100000;
	struct store_config config = { .dir = argc > 1 ? argv[1] : "",
				       .history_seconds = 600,
				       .history_rows = objects + 1000,
				       .event_seconds = 3600 };
	struct bench b = { .e = ERR_INIT };
	int64_t t;

	if (argc < 2) {
		fprintf(stderr, "usage: bench_store DIR [OBJECTS]\n");
		return 2;
	}
	b.loop = loop_new();
	if (store_open(b.loop, &config, &b.s, &b.e) < 0 || store_kind(b.s, "/pods", 0, &b.kind, &b.e) < 0)
		fail(&b);
	write_many(&b, 0, 1000, false);
	write_many(&b, 1000, objects / 2, false);
	write_many(&b, objects / 2, objects, false);
	read_many(&b, objects);
	write_many(&b, 0, 20000 < objects ? 20000 : objects, true);
	store_close(b.s);
	t = cpu_ns();
	if (store_open(b.loop, &config, &b.s, &b.e) < 0)
		fail(&b);
	printf("open: %.1f ms\n", (double)(cpu_ns() - t) / 1e6);
	store_close(b.s);
	loop_free(b.loop);
	return 0;
}
