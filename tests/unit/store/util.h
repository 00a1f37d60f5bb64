// SPDX-License-Identifier: Apache-2.0
/* util.h - a store in a directory of its own, and short words for what tests do to it */
#ifndef STOKER_TESTS_STORE_UTIL_H
#define STOKER_TESTS_STORE_UTIL_H

#include <fcntl.h>
#include <jansson.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/log.h"
#include "base/mem.h"
#include "kinds/kind.h"
#include "store/store_impl.h"
#include "test.h"

struct fixture {
	struct loop *loop;
	struct store *s;
	struct store_config config;
	char *dir;
	struct err e;
	int pods, secrets, events;
	int after_calls;
	struct err after_err;
};

static inline char *util_path(const struct fixture *f, const char *name)
{
	return xasprintf("%s/%s", f->dir, name);
}

static inline int util_open(struct fixture *f)
{
	f->e = ERR_INIT;
	f->s = NULL;
	if (!f->loop)
		f->loop = loop_new();
	if (store_open(f->loop, &f->config, &f->s, &f->e) < 0)
		return -1;
	store_kind(f->s, "/pods", 0, &f->pods, &f->e);
	store_kind(f->s, "/secrets", KIND_SEALED, &f->secrets, &f->e);
	store_kind(f->s, "/events", KIND_EXPIRES, &f->events, &f->e);
	return 0;
}

static inline void util_close(struct fixture *f)
{
	store_close(f->s);
	f->s = NULL;
}

static inline struct fixture util_new(void)
{
	struct fixture f = { 0 };
	auto_free char *key = NULL;

	log_set_level(LOG_ERROR);
	f.dir = xasprintf("%s/store-XXXXXX", test_dir());
	if (!mkdtemp(f.dir))
		abort();
	key = xasprintf("%s.key", f.dir);
	f.config = (struct store_config){
		.dir = f.dir, .history_seconds = 600, .history_rows = 100000, .event_seconds = 3600
	};
	CHECK_INT(seal_open(key, &f.config.seal, &f.e), 0);
	if (util_open(&f) < 0) {
		printf("%s\n", f.e.text);
		abort();
	}
	return f;
}

static inline void util_done(struct fixture *f)
{
	util_close(f);
	loop_free(f->loop);
	seal_free(f->config.seal);
	free(f->dir);
}

static inline void util_turn(struct fixture *f)
{
	loop_turn(f->loop, true);
}

static inline int64_t util_put(struct fixture *f, int kind, const char *ns, const char *name, const char *data)
{
	json_t *obj = json_pack("{s:{s:s,s:s},s:s}", "metadata", "name", name, "namespace", ns, "data", data);
	json_t *old = store_exists(f->s, kind, ns, name) ? json_pack("{s:{}}", "metadata") : NULL;
	int64_t rv = -1;

	f->e = ERR_INIT;
	store_put(f->s, kind, ns, name, obj, old, &rv, &f->e);
	json_decref(obj);
	json_decref(old);
	return rv;
}

static inline int64_t util_delete(struct fixture *f, int kind, const char *ns, const char *name)
{
	json_t *old = json_pack("{s:{}}", "metadata");
	int64_t rv = -1;

	f->e = ERR_INIT;
	store_delete(f->s, kind, ns, name, old, &rv, &f->e);
	json_decref(old);
	return rv;
}

/* The data of an object, or "" if it is not there. */
static inline const char *util_get(struct fixture *f, int kind, const char *ns, const char *name)
{
	static char text[64];
	struct record r;
	json_t *v = NULL;

	text[0] = '\0';
	f->e = ERR_INIT;
	if (store_get(f->s, kind, ns, name, &r, &f->e) < 0)
		return text;
	if (jsonx_parse(r.body.p, r.body.n, NULL, NULL, &v, &f->e) == 0)
		snprintf(text, sizeof(text), "%s", jsonx_str_or(v, "data", "?"));
	json_decref(v);
	return text;
}

static inline bool util_collect(void *arg, const struct record *r)
{
	static const char ops[] = "+~-";

	sbuf_addf(arg, "%s%c%s/%s", ((struct sbuf *)arg)->n ? " " : "", ops[r->op], r->ns, r->name);
	return true;
}

/* "+ns/name ~ns/name ..." */
static inline char *util_list(struct fixture *f, const struct store_range *range)
{
	struct sbuf b;

	sbuf_init(&b, 1 << 20);
	f->e = ERR_INIT;
	if (store_list(f->s, range, util_collect, &b, &f->e) < 0) {
		sbuf_reset(&b);
		sbuf_addf(&b, "error %d", f->e.kind);
	}
	return sbuf_steal(&b);
}

static inline char *util_history(struct fixture *f, int kind, int64_t since)
{
	struct sbuf b;

	sbuf_init(&b, 1 << 20);
	f->e = ERR_INIT;
	if (store_history(f->s, kind, since, util_collect, &b, &f->e) < 0) {
		sbuf_reset(&b);
		sbuf_addf(&b, "error %d", f->e.kind);
	}
	return sbuf_steal(&b);
}

static inline void util_on_after(void *arg, const struct err *e)
{
	struct fixture *f = arg;

	f->after_calls++;
	f->after_err = *e;
}

#define CHECK_LIST(f, want, ...)                                                                                       \
	do {                                                                                                           \
		auto_free char *list_ = util_list(f, &(struct store_range){ __VA_ARGS__ });                            \
		CHECK_STR(list_, want);                                                                                \
	} while (0)

#define CHECK_HISTORY(f, want, kind, since)                                                                            \
	do {                                                                                                           \
		auto_free char *history_ = util_history(f, kind, since);                                               \
		CHECK_STR(history_, want);                                                                             \
	} while (0)

/* A copy of a file's bytes; *ret_n is -1 if it is not there. */
static inline unsigned char *util_slurp(const char *path, ssize_t *ret_n)
{
	struct stat st;
	auto_close int fd = open(path, O_RDONLY | O_CLOEXEC);
	unsigned char *p;

	*ret_n = -1;
	if (fd < 0 || fstat(fd, &st) < 0)
		return NULL;
	p = xmalloc((size_t)st.st_size + 1);
	*ret_n = read(fd, p, (size_t)st.st_size);
	return p;
}

static inline void util_spew(const char *path, const void *p, ssize_t n)
{
	auto_close int fd = -1;

	if (n < 0) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, p, (size_t)n) != n)
		abort();
}

#endif
