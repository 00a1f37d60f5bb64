// SPDX-License-Identifier: Apache-2.0
/* image_request.c - what was asked for and who waits: pulls, pushes, imports, exports
 *
 * A request owns copies of all it was given, so that its worker, a copy of this process, finds them in memory.  Two
 * pulls of one name with the same credentials are one request with two waiters.  With other credentials they stay
 * apart: nobody gets an image on somebody else's password.
 */
#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/image_parts.h"
#include "node/tree.h"

static char *copy_or_null(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

static void on_refused(void *arg);

struct image_request *image_request_new(struct images *i, image_work_fn *work, const char *name,
					const struct pull_options *o)
{
	struct image_request *r = xcalloc(1, sizeof(*r));

	*r = (struct image_request){
		.images = i,
		.work = work,
		.name = copy_or_null(name),
		.auths = o && o->auths ? jsonx_copy(o->auths) : NULL,
		.authfile = o ? copy_or_null(o->authfile) : NULL,
		.cert_dir = o ? copy_or_null(o->cert_dir) : NULL,
		.plain_http = o && o->plain_http,
		.refusal = { .run = on_refused, .arg = r, .phase = LOOP_WORK },
		.err = ERR_INIT,
		.next = i->requests,
	};
	i->requests = r;
	return r;
}

void image_request_wait(struct image_request *r, const struct pull_options *o, images_done_fn *done, void *arg)
{
	struct image_waiter w = {
		.progress = o ? o->progress : NULL, .progress_arg = o ? o->arg : NULL, .done = done, .arg = arg
	};

	ARRAY_PUSH(r->waiters, r->nwaiters, r->cap, w);
}

static void unlink_request(struct image_request *r)
{
	for (struct image_request **at = &r->images->requests; *at; at = &(*at)->next)
		if (*at == r) {
			*at = r->next;
			return;
		}
}

static void request_free(struct image_request *r)
{
	unlink_request(r);
	loop_unschedule(r->images->loop, &r->refusal);
	json_decref(r->auths);
	json_decref(r->details);
	free(r->name);
	free(r->to);
	free(r->form);
	free(r->authfile);
	free(r->cert_dir);
	free(r->waiters);
	free(r);
}

void image_requests_free(struct images *i)
{
	while (i->requests) {
		image_job_free(i->requests->job);
		request_free(i->requests);
	}
}

/* A waiter may ask for something new from its callback, so the request leaves the list first. */
static void tell(struct image_request *r, const struct image_info *info, const struct err *e)
{
	unlink_request(r);
	for (size_t k = 0; k < r->nwaiters; k++)
		r->waiters[k].done(r->waiters[k].arg, info, e);
	request_free(r);
}

static void on_refused(void *arg)
{
	struct image_request *r = arg;
	struct image_info info = { 0 };
	struct err e = r->err;

	/* The one request that is done before it begins: the machine's own file system. */
	if (e.kind == ERR_NONE && images_find(r->images, r->name, &info, &e) < 0)
		e.kind = e.kind ? e.kind : ERR_INTERNAL;
	tell(r, e.kind == ERR_NONE ? &info : NULL, &e);
	image_info_done(&info);
}

static void on_line(void *arg, const char *text)
{
	struct image_request *r = arg;

	for (size_t k = 0; k < r->nwaiters; k++)
		if (r->waiters[k].progress)
			r->waiters[k].progress(r->waiters[k].progress_arg, text);
}

static void on_done(void *arg, const json_t *result, const struct err *failure)
{
	struct image_request *r = arg;
	struct image_info info = { 0 };
	struct err e = *failure;
	const char *id = jsonx_str(result, "id");
	const char *name = jsonx_str_or(result, "name", id ? id : "");

	r->job = NULL;
	if (e.kind == ERR_NONE && id && images_find(r->images, name, &info, &e) < 0)
		err_prefix(&e, "done, but gone already");
	image_notice(r->images);
	/* After a broken connection what did arrive serves the next try; otherwise it only takes up space. */
	if (e.kind == ERR_STORAGE_FULL || e.kind == ERR_INVALID)
		image_sweep(r->images);
	tell(r, e.kind == ERR_NONE ? &info : NULL, &e);
	image_info_done(&info);
}

void image_request_start(struct image_request *r)
{
	const struct image_job_events events = { .line = on_line, .done = on_done, .arg = r };

	if (r->err.kind != ERR_NONE || (r->name && streq(r->name, IMAGE_HOST)) ||
	    image_job_start(r->images->loop, r->work, r, &events, &r->job, &r->err) < 0)
		loop_schedule(r->images->loop, &r->refusal);
}

static bool same_access(const struct image_request *r, const struct pull_options *o)
{
	const json_t *auths = o ? o->auths : NULL;

	if (!r->auths != !auths || (auths && !jsonx_equal(r->auths, auths)))
		return false;
	return r->plain_http == (o && o->plain_http) && str_same(r->authfile, o ? o->authfile : NULL) &&
	       str_same(r->cert_dir, o ? o->cert_dir : NULL);
}

void images_pull(struct images *i, const char *name, const struct pull_options *o, images_done_fn *done, void *arg)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	struct err e = ERR_INIT;
	struct image_request *r;

	image_normalize(name, &normal, &e);
	for (r = e.kind == ERR_NONE ? i->requests : NULL; r; r = r->next)
		if (r->work == image_pull_work && r->job && streq(r->name, normal.p) && same_access(r, o)) {
			image_request_wait(r, o, done, arg);
			return;
		}
	r = image_request_new(i, image_pull_work, normal.n ? normal.p : name, o);
	r->err = e;
	image_request_wait(r, o, done, arg);
	image_request_start(r);
}

/* Only what a registry can hold can leave or be called something else. */
static void refuse_host(struct image_request *r)
{
	if (r->name && streq(r->name, IMAGE_HOST))
		err_set(&r->err, ERR_INVALID, "\"" IMAGE_HOST "\" is this machine itself and cannot be moved");
}

void images_push(struct images *i, const char *name, const char *to, const struct pull_options *o, images_done_fn *done,
		 void *arg)
{
	struct image_request *r = image_request_new(i, image_push_work, name, o);
	auto_sbuf struct sbuf normal = SBUF(8192);

	refuse_host(r);
	if (image_normalize(to, &normal, &r->err) == 0)
		r->to = sbuf_steal(&normal);
	image_request_wait(r, o, done, arg);
	image_request_start(r);
}

static char *absolute(const char *path)
{
	auto_free char *here = NULL;

	if (path[0] == '/')
		return xstrdup(path);
	here = getcwd(NULL, 0);
	return xasprintf("%s/%s", here ? here : "", path);
}

void images_export(struct images *i, const char *name, const char *path, const char *form, const struct pull_options *o,
		   images_done_fn *done, void *arg)
{
	struct image_request *r = image_request_new(i, image_export_work, name, o);

	refuse_host(r);
	r->to = absolute(path);
	r->form = xstrdup(form);
	if (!streq(form, "docker-archive") && !streq(form, "oci-archive"))
		err_set(&r->err, ERR_INVALID, "images are not written as \"%s\"", form);
	image_request_wait(r, o, done, arg);
	image_request_start(r);
}

void images_import(struct images *i, const char *path, const char *name, const struct pull_options *o,
		   images_done_fn *done, void *arg)
{
	auto_sbuf struct sbuf normal = SBUF(8192);
	struct err e = ERR_INIT;
	struct image_request *r;

	if (name)
		image_normalize(name, &normal, &e);
	r = image_request_new(i, image_import_work, normal.n ? normal.p : NULL, o);
	r->err = e;
	r->to = absolute(path);
	refuse_host(r);
	if (r->name && strchr(r->name, '@') && r->err.kind == ERR_NONE)
		err_set(&r->err, ERR_INVALID, "an imported image is called by a tag, not by a digest");
	image_request_wait(r, o, done, arg);
	image_request_start(r);
}

/* ---- for workers ---- */

int image_bench_open(struct image_store *s, struct image_bench *ret, struct err *e)
{
	struct image_bench b = { .busy = image_store_busy(s, false), .dir = image_store_path(s, "tmp/job-XXXXXX") };
	auto_free char *out = NULL;

	if (b.busy < 0 || !mkdtemp(b.dir)) {
		err_errno(e, errno == ENOSPC ? ERR_STORAGE_FULL : ERR_INTERNAL, "%s", b.dir);
		if (b.busy >= 0)
			close(b.busy);
		free(b.dir);
		return -1;
	}
	/* A worker's own copy of the store: it has time. */
	s->patient = true;
	*ret = b;
	out = xasprintf("%s/out", b.dir);
	if (mkdir(out, 0700) < 0) {
		err_errno(e, ERR_INTERNAL, "%s", out);
		image_bench_done(ret);
		return -1;
	}
	return 0;
}

void image_bench_done(struct image_bench *b)
{
	tree_remove(b->dir, NULL);
	free(b->dir);
	close(b->busy);
}
