// SPDX-License-Identifier: Apache-2.0
/* image_parts.h - what the files of image.h share */
#ifndef STOKER_NODE_IMAGE_PARTS_H
#define STOKER_NODE_IMAGE_PARTS_H

#include "base/map.h"
#include "node/image.h"
#include "node/image_name.h"
#include "node/image_store.h"

struct image_job;
struct image_request;

struct images {
	struct loop *loop;
	struct image_store *store;
	struct map configs;             /* id -> config document, as long as the index stays the same */
	struct image_request *requests; /* pulls, pushes, imports, exports under way */
	bool host_mounted;              /* image_host.c */
	pid_t sweeper;                  /* empties trash/, or 0 */
	void (*noticed)(void *arg);     /* an image came or was used: image_keep.c */
	void *noticed_arg;
};

/* Where a pod's token is mounted, in nearly every container: a directory for it below all layers need not be made in,
 * and removed from, each container's own. */
#define IMAGE_TOKEN_DIR "/run/secrets/kubernetes.io/serviceaccount"

/* What an id stands for, with a fresh copy of everything. */
int images_info(struct images *i, const char *id, const json_t *record, struct image_info *ret, struct err *e);

/* --- image_job.c: long work in a child process --- */
/* What the work may say while it runs. */
struct image_worker {
	int fd;
};
void image_worker_say(struct image_worker *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

typedef int image_work_fn(struct image_worker *w, void *arg, json_t **ret, struct err *e);
struct image_job_events {
	void (*line)(void *arg, const char *text);
	/* Once; the job is gone when it returns.  result is borrowed. */
	void (*done)(void *arg, const json_t *result, const struct err *e);
	void *arg;
};
/* Runs work(arg) in a child process, which sees this process' memory as it is now. */
int image_job_start(struct loop *loop, image_work_fn *work, void *arg, const struct image_job_events *events,
		    struct image_job **ret, struct err *e);
/* Kills it; no event follows. */
void image_job_free(struct image_job *j);
/* Signals back to their defaults and descriptors from `first` on closed: what any forked child does first. */
void image_child_begin(int first);

/* --- image_skopeo.c: blocking, for workers --- */
struct skopeo {
	const char *dir; /* where it runs: relative paths on its command line count from here */
	const char *argv[32];
	size_t argc;
	char *owned[8]; /* words made on the way; skopeo_done() frees them */
	size_t nowned;
	struct image_worker *worker; /* hears its output, or NULL */
	struct sbuf *output;         /* gets its output instead, or NULL */
};
int skopeo_run(const struct skopeo *s, struct err *e);
void skopeo_done(struct skopeo *s);
/* What skopeo's last words mean (pure): sets kind and text. */
int skopeo_explain(const char *words, struct err *e);

/* --- image_unpack.c: blocking, for workers --- */
/* Takes in the image that an OCI layout at `dir` (blobs in the store) describes: checks, unpacks, adds to the index
 * under names and digests (arrays of text).  *ret: {"id"}. */
int image_take_in(struct image_store *s, struct image_worker *w, const char *dir, const json_t *names,
		  const json_t *digests, json_t **ret, struct err *e);

/* --- image_request.c: what was asked for, and who waits --- */
struct image_waiter {
	void (*progress)(void *arg, const char *line);
	void *progress_arg;
	images_done_fn *done;
	void *arg;
};

struct image_request {
	struct images *images;
	struct image_request *next;
	image_work_fn *work;
	char *name;      /* as it was given, or normalised for a pull */
	char *to;        /* push: the other name; export, import: the path */
	char *form;      /* export */
	json_t *details; /* build, commit */
	json_t *auths;   /* or NULL */
	char *authfile, *cert_dir;
	bool plain_http;
	struct image_waiter *waiters;
	size_t nwaiters, cap;
	struct image_job *job;
	struct loop_hook refusal; /* delivers `err` when there was nothing to start */
	struct err err;
};

/* A request with the options copied; not yet started. */
struct image_request *image_request_new(struct images *i, image_work_fn *work, const char *name,
					const struct pull_options *o);
void image_request_wait(struct image_request *r, const struct pull_options *o, images_done_fn *done, void *arg);
/* Starts its work, or, if r->err is set, only tells the waiters. */
void image_request_start(struct image_request *r);
void image_requests_free(struct images *i);

/* For workers: a directory of their own below tmp/, and `busy`; ends with image_bench_done(). */
struct image_bench {
	int busy;
	char *dir;
};
int image_bench_open(struct image_store *s, struct image_bench *ret, struct err *e);
void image_bench_done(struct image_bench *b);

/* Command lines for skopeo, grown word by word; words are borrowed. */
void skopeo_add(struct skopeo *s, const char *word);
/* "skopeo", what concerns trust and time, then `verb`. */
void skopeo_begin(struct skopeo *s, const char *dir, struct image_worker *w, const char *timeout, const char *verb);
/* Credentials and TLS for the registry of `normal`; `side` is "", "src-" or "dest-". */
int skopeo_add_access(struct skopeo *s, const struct image_request *r, const char *normal, const char *side,
		      struct err *e);

image_work_fn image_pull_work, image_push_work, image_export_work, image_import_work, image_build_work,
	image_commit_work;

/* --- image_move.c --- */
/* Writes an OCI layout (without blobs) of a local image to the directory `to`, as "image"; *ret_id is a copy. */
int image_layout_write(struct image_store *s, const char *name, const char *to, char **ret_id, struct err *e);

/* --- image_change.c --- */
/* Applies one line of a Dockerfile ("CMD [..]", "ENV A=b") to an image config document (pure). */
int image_change(json_t *config, const char *line, struct err *e);

/* --- image_gc.c --- */
static inline void image_notice(const struct images *i)
{
	if (i->noticed)
		i->noticed(i->noticed_arg);
}
/* Which ids go (pure).  images: array of {"id", "bytes", "used", "named", "inUse", "local"}; a new array of ids. */
json_t *image_gc_plan(const json_t *images, const struct images_policy *policy, int64_t now);
/* Moves what no index and no container knows into trash/, if nobody is bringing anything in, and starts emptying it. */
void image_sweep(struct images *i);
/* Empties trash/ and forgets abandoned work in tmp/; blocks. */
void image_trash_empty(const struct image_store *s);

/* --- image_mount.c --- */
bool image_is_mount(const char *path);
int image_overlay(const char *lower, const char *upper, const char *work, const char *target, bool read_only,
		  struct err *e);

/* --- image_host.c --- */
/* This machine's root file system without /proc, /sys, /dev, /run, /tmp and the data directory, mounted read-only in
 * the store; made when first needed.  *ret is the caller's to free. */
int image_host_base(struct images *i, char **ret, struct err *e);
/* What a killed server left mounted is this one's to unmount. */
void image_host_adopt(struct images *i);
void image_host_done(struct images *i);
/* Adds what lies on file systems of its own below /usr and /opt, read-only. */
void image_host_extras(const char *data, const char *target);

/* --- image_host_parts.c --- */
/* The same in a user namespace, onto the empty file system at `target`, whose upper directory is SCRATCH/upper. */
int image_host_parts(const char *data, const char *scratch, const char *target, bool read_only, struct err *e);

/* Removes more than the loop may: a grandchild does it, so that nobody must wait for it.  If the machine stops
 * meanwhile, the next start of the server finds the rest in trash/. */
void image_remove_apart(const char *path);

#endif
