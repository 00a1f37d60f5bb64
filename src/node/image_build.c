// SPDX-License-Identifier: Apache-2.0
/* image_build.c - a Dockerfile becomes an image, by buildah
 *
 *	DIR/images/build/DRIVER   buildah's storage: base images and cached steps, so that a second build is quick
 *	DIR/images/build.lock     shared while one builds, exclusive to throw the storage away
 *
 * buildah knows nothing of our store, and we touch nothing of this machine's own containers: its storage, settings and
 * state are all below DIR.  The order: fetch the context, lay ready the base images that are here, build, and let
 * buildah write the result as an OCI layout whose blobs are our store's; then it is taken in like any other image.
 * Steps run in a chroot with this machine's network, as root, for whoever builds here owns DIR.
 */
#include "node/image_build.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "node/image_dockerfile.h"

#define SYSTEM_POLICY     "/etc/containers/policy.json"
#define SYSTEM_REGISTRIES "/etc/containers/registries.conf"
#define SEARCH            "unqualified-search-registries"
#define WORDS_MAX         256

/* ---- command lines ---- */

struct words {
	const char *argv[WORDS_MAX];
	size_t n;
	char *owned[WORDS_MAX];
	size_t nowned;
};

static void add(struct words *w, const char *word)
{
	if (w->n + 1 < WORDS_MAX)
		w->argv[w->n++] = word;
}

static void add_text(struct words *w, char *word)
{
	if (w->nowned == WORDS_MAX) {
		free(word);
		return;
	}
	w->owned[w->nowned++] = word;
	add(w, word);
}

static void words_done(struct words *w)
{
	for (size_t i = 0; i < w->nowned; i++)
		free(w->owned[i]);
}

/* "buildah", where its things are, then `verb`. */
static void begin(const struct build *b, struct words *w, const char *verb)
{
	*w = (struct words){ .n = 0 };
	add(w, "buildah");
	add(w, "--root");
	add_text(w, xasprintf("%s/%s", b->storage, b->driver));
	add(w, "--runroot");
	add_text(w, xasprintf("%s/run", b->dir));
	add(w, "--storage-driver");
	add(w, b->driver);
	add(w, verb);
	if (b->policy && !streq(verb, "tag")) {
		add(w, "--signature-policy");
		add(w, b->policy);
	}
}

static int run(const struct build *b, struct words *w, struct sbuf *output, struct err *e)
{
	auto_free char *conf = xasprintf("CONTAINERS_CONF=%s/containers.conf", b->dir);
	auto_free char *storage = xasprintf("CONTAINERS_STORAGE_CONF=%s/storage.conf", b->dir);
	auto_free char *registries = xasprintf("CONTAINERS_REGISTRIES_CONF=%s/registries.conf", b->dir);
	auto_free char *tmp = xasprintf("TMPDIR=%s/tmp", b->dir);
	auto_free char *state = xasprintf("%s/state", b->dir);
	const char *const env[] = { conf, storage, registries, tmp, NULL };
	struct tool t = {
		.argv = w->argv, .env = env, .dir = b->dir, .state = state, .worker = b->worker, .output = output
	};
	int r;

	w->argv[w->n] = NULL;
	r = tool_run(&t, e);
	words_done(w);
	return r;
}

/* ---- settings ---- */

static int write_text(const struct build *b, const char *name, const char *text, struct err *e)
{
	auto_free char *path = xasprintf("%s/%s", b->dir, name);

	return file_write(path, 0600, str_of(text), e);
}

/* This machine's own settings, and short names mean Docker Hub, as in image_normalize(), unless they say otherwise. */
static int write_registries(const struct build *b, struct err *e)
{
	auto_sbuf struct sbuf system = SBUF(LIMIT_BODY);
	auto_sbuf struct sbuf text = SBUF(2 * LIMIT_BODY);
	struct err ignored = ERR_INIT;

	(void)!file_read(SYSTEM_REGISTRIES, LIMIT_BODY, &system, &ignored);
	if (!system.p || (!strstr(system.p, "\n" SEARCH) && !str_starts(system.p, SEARCH)))
		sbuf_adds(&text, SEARCH " = [\"docker.io\"]\n");
	if (system.p)
		sbuf_adds(&text, system.p);
	return write_text(b, "registries.conf", text.p, e);
}

static int prepare(struct build *b, struct err *e)
{
	static const char *const dirs[] = { "run", "tmp", "state", "net", "probe", "built" };
	auto_free char *containers = xasprintf("[network]\nnetwork_config_dir = \"%s/net\"\n", b->dir);
	auto_free char *probe = xasprintf("%s/probe", b->dir);
	auto_free char *storage = NULL;
	auto_free char *root = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++) {
		auto_free char *path = xasprintf("%s/%s", b->dir, dirs[i]);

		if (file_make_dirs(path, 0700, e) < 0)
			return -1;
	}
	b->driver = tool_overlay_works(probe) ? "overlay" : "vfs";
	root = xasprintf("%s/%s", b->storage, b->driver);
	storage = xasprintf("[storage]\ndriver = \"%s\"\ngraphroot = \"%s\"\nrunroot = \"%s/run\"\n", b->driver, root,
			    b->dir);
	if (access(SYSTEM_POLICY, F_OK) < 0) {
		b->policy = "policy.json";
		if (write_text(b, b->policy, "{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}", e) < 0)
			return -1;
	}
	if (file_make_dirs(root, 0700, e) < 0 || write_text(b, "containers.conf", containers, e) < 0 ||
	    write_text(b, "storage.conf", storage, e) < 0)
		return -1;
	return write_registries(b, e);
}

/* ---- base images ---- */

/* Lets a layout of `b->dir` use the store's blobs. */
static int link_blobs(const struct build *b, const char *layout, struct err *e)
{
	auto_free char *link = xasprintf("%s/%s/blobs", b->dir, layout);
	auto_free char *blobs = image_store_path(b->store, "blobs");

	return symlink(blobs, link) < 0 ? err_errno(e, ERR_INTERNAL, "%s", link) : 0;
}

/* An image of ours into buildah's storage, under the name the Dockerfile will ask for. */
static int lay_ready(const struct build *b, const char *name, const char *normal, size_t number, struct err *e)
{
	auto_free char *layout = xasprintf("base%zu", number);
	auto_free char *dir = xasprintf("%s/%s", b->dir, layout);
	auto_free char *id = NULL;
	auto_sbuf struct sbuf output = SBUF(65536);
	struct words w;

	if (file_make_dirs(dir, 0700, e) < 0 || image_layout_write(b->store, normal, dir, &id, e) < 0 ||
	    link_blobs(b, layout, e) < 0)
		return -1;
	image_worker_say(b->worker, "Using %s from here", name);
	begin(b, &w, "pull");
	add(&w, "--quiet");
	add_text(&w, xasprintf("oci:%s:image", layout));
	if (run(b, &w, &output, e) < 0)
		return -1;
	begin(b, &w, "tag");
	add(&w, id + strlen("sha256:"));
	add(&w, normal);
	return run(b, &w, &output, e);
}

static int lay_all_ready(const struct build *b, const char *file, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	json_auto_t *names = NULL;
	json_t *v;
	size_t i;

	if (file_read(file, LIMIT_BODY, &text, e) < 0)
		return -1;
	names = dockerfile_images(text.p ? text.p : "", json_object_get(b->request->details, "args"));
	json_array_foreach (names, i, v) {
		auto_sbuf struct sbuf normal = SBUF(8192);
		const char *name = json_string_value(v);
		struct err ignored = ERR_INIT;
		const char *id;

		if (streq(name, IMAGE_HOST))
			return err_set(e, ERR_INVALID,
				       "FROM %s: this machine's own file system cannot be a base; pods can run on it",
				       name);
		/* What is no name here is buildah's to complain about. */
		if (image_normalize(name, &normal, &ignored) == 0 && image_store_find(b->store, normal.p, &id) &&
		    lay_ready(b, name, normal.p, i, e) < 0)
			return err_prefix(e, "FROM %s", name);
	}
	return 0;
}

/* ---- building ---- */

static int find_file(const struct build *b, const char *context, char **ret, struct err *e)
{
	static const char *const usual[] = { "Dockerfile", "Containerfile" };
	const char *file = jsonx_str(b->request->details, "file");

	if (file && file[0] == '/' && access(file, R_OK) == 0) {
		*ret = xstrdup(file);
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(usual); i++) {
		auto_free char *path = xasprintf("%s/%s", context, file ? file : usual[i]);

		if (access(path, R_OK) == 0) {
			*ret = TAKE(path);
			return 0;
		}
	}
	return err_set(e, ERR_NOT_FOUND, "there is no %s in %s; name it with -f", file ? file : "Dockerfile",
		       jsonx_str_or(b->request->details, "context", context));
}

static void add_options(const struct build *b, struct words *w)
{
	const struct image_request *r = b->request;
	json_t *v;
	size_t i;

	add(w, jsonx_bool_or(r->details, "noCache", false) ? "--no-cache" : "--layers");
	if (r->authfile && *r->authfile) {
		add(w, "--authfile");
		add(w, r->authfile);
	}
	if (r->cert_dir) {
		add(w, "--cert-dir");
		add(w, r->cert_dir);
	}
	if (r->plain_http)
		add(w, "--tls-verify=false");
	if (jsonx_str(r->details, "target")) {
		add(w, "--target");
		add(w, jsonx_str(r->details, "target"));
	}
	json_array_foreach (json_object_get(r->details, "args"), i, v) {
		add(w, "--build-arg");
		add(w, json_string_value(v));
	}
}

/* The id that buildah gave it. */
static int read_id(const struct build *b, char **ret, struct err *e)
{
	auto_free char *path = xasprintf("%s/iid", b->dir);
	auto_sbuf struct sbuf text = SBUF(256);
	struct str id;

	if (file_read(path, 255, &text, e) < 0)
		return err_prefix(e, "what buildah made");
	id = str_trim(sbuf_str(&text));
	*ret = xstrndup(id.p, id.n);
	return 0;
}

static int build_image(const struct build *b, const char *context, const char *file, struct err *e)
{
	auto_free char *id = NULL;
	struct words w;

	begin(b, &w, "bud");
	add(&w, "--isolation=chroot");
	add(&w, "--network=host");
	add(&w, "--pull=false");
	add(&w, "--format=oci");
	add(&w, "--force-rm");
	add(&w, "--iidfile=iid");
	add_options(b, &w);
	add(&w, "-f");
	add(&w, file);
	add(&w, "--");
	add(&w, context);
	if (run(b, &w, NULL, e) < 0 || read_id(b, &id, e) < 0 || link_blobs(b, "built", e) < 0)
		return -1;
	begin(b, &w, "push");
	add(&w, "--quiet");
	add(&w, "--disable-compression");
	add(&w, id);
	add(&w, "oci:built:image");
	return run(b, &w, NULL, e);
}

static int build(struct build *b, json_t **ret, struct err *e)
{
	const json_t *details = b->request->details;
	const json_t *names = json_object_get(details, "names");
	auto_free char *built = xasprintf("%s/built", b->dir);
	json_auto_t *digests = json_array();
	auto_free char *context = NULL;
	auto_free char *file = NULL;

	if (prepare(b, e) < 0 || build_context(b, jsonx_str_or(details, "context", ""), &context, e) < 0 ||
	    find_file(b, context, &file, e) < 0 || lay_all_ready(b, file, e) < 0 ||
	    build_image(b, context, file, e) < 0 ||
	    image_take_in(b->store, b->worker, built, names, digests, ret, e) < 0)
		return -1;
	if (json_array_size(names))
		json_object_set(*ret, "name", json_array_get(names, 0));
	return 0;
}

/* ---- the storage ---- */

static int lock_storage(struct image_store *s, int how)
{
	auto_free char *path = image_store_path(s, "build.lock");
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	if (fd >= 0 && flock(fd, how) < 0) {
		close(fd);
		return -1;
	}
	return fd;
}

void build_storage_expire(struct image_store *s, int64_t age)
{
	auto_free char *dir = image_store_path(s, "build");
	auto_free char *trash = xasprintf("%s/trash/build-%lld", s->root, (long long)clock_mono_ns());
	auto_close int lock = -1;
	struct stat st;

	if (stat(dir, &st) < 0 || clock_wall() - st.st_mtime < age)
		return;
	lock = lock_storage(s, LOCK_EX | LOCK_NB);
	if (lock >= 0)
		(void)!rename(dir, trash);
}

int image_build_work(struct image_worker *w, void *arg, json_t **ret, struct err *e)
{
	const struct image_request *r = arg;
	struct image_store *s = r->images->store;
	auto_close int lock = lock_storage(s, LOCK_SH);
	auto_free char *storage = image_store_path(s, "build");
	struct build b = { .request = r, .worker = w, .store = s, .storage = storage };
	struct image_bench bench;
	int result;

	if (lock < 0)
		return err_errno(e, ERR_INTERNAL, "%s.lock", storage);
	if (file_make_dirs(storage, 0700, e) < 0 || image_bench_open(s, &bench, e) < 0)
		return -1;
	(void)!utimensat(AT_FDCWD, storage, NULL, 0); /* used now: see build_storage_expire() */
	b.dir = bench.dir;
	result = build(&b, ret, e);
	image_bench_done(&bench);
	return result;
}

static int normal_names(const json_t *names, json_t *ret, struct err *e)
{
	json_t *v;
	size_t i;

	json_array_foreach ((json_t *)names, i, v) {
		auto_sbuf struct sbuf normal = SBUF(8192);

		if (image_normalize(json_string_value(v), &normal, e) < 0)
			return -1;
		if (strchr(normal.p, '@') || streq(normal.p, IMAGE_HOST))
			return err_set(e, ERR_INVALID, "\"%s\" cannot be the name of a new image; give NAME:TAG",
				       json_string_value(v));
		json_array_append_new(ret, json_string(normal.p));
	}
	return 0;
}

/* Paths count from where the command was given, and the worker goes elsewhere. */
static char *absolute(const char *path)
{
	auto_free char *here = path[0] == '/' || build_context_is_url(path) ? NULL : getcwd(NULL, 0);

	return here ? xasprintf("%s/%s", here, path) : xstrdup(path);
}

void images_build(struct images *i, const struct build_options *o, images_done_fn *done, void *arg)
{
	struct image_request *r = image_request_new(i, image_build_work, NULL, &o->pull);
	auto_free char *context = absolute(o->context);
	/* As docker has it: beside whoever asks; else in the context. */
	auto_free char *file = o->file ? absolute(o->file) : NULL;
	json_t *names = json_array();

	normal_names(o->names, names, &r->err);
	r->details = json_pack("{s:o, s:o, s:O?, s:b}", "context", jsonx_string(context), "names", names, "args",
			       o->args, "noCache", o->no_cache);
	if (o->file)
		json_object_set_new(r->details, "file", jsonx_string(file && access(file, R_OK) == 0 ? file : o->file));
	if (o->target)
		json_object_set_new(r->details, "target", jsonx_string(o->target));
	image_request_wait(r, &o->pull, done, arg);
	image_request_start(r);
}
