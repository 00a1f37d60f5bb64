// SPDX-License-Identifier: Apache-2.0
/* run_here.c - see run_here.h */
#include "cli/run_here.h"

#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <strings.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"

#define ENV_FILE_MAX (1024 * 1024)

static void make_suffix(char out[RUN_SUFFIX + 1])
{
	/* Kubernetes' own: nothing that reads as a word or as another letter. */
	static const char letters[] = "bcdfghjklmnpqrstvwxz2456789";
	unsigned char bytes[RUN_SUFFIX] = { 0 };

	if (getrandom(bytes, sizeof(bytes), 0) < 0)
		bytes[0] = (unsigned char)getpid();
	for (size_t i = 0; i < RUN_SUFFIX; i++)
		out[i] = letters[bytes[i] % (sizeof(letters) - 1)];
	out[RUN_SUFFIX] = '\0';
}

static const char *variable(const char *key)
{
	return getenv(key);
}

/* What may not be looked at may be there. */
static bool is_missing(const char *path)
{
	struct stat st;

	return stat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR);
}

static bool is_this_machine(const char *node)
{
	char name[HOST_NAME_MAX + 1] = "";

	return gethostname(name, sizeof(name) - 1) == 0 && strcasecmp(name, node) == 0;
}

static int read_env_files(struct run_here *h, struct err *e)
{
	const struct opt_strings *files = &h->s->env_files;

	h->env_files = xcalloc(files->n + 1, sizeof(*h->env_files));
	h->env_texts = xcalloc(files->n + 1, sizeof(*h->env_texts));
	for (size_t i = 0; i < files->n; i++) {
		h->env_texts[i] = SBUF(ENV_FILE_MAX);
		if (file_read(files->items[i], ENV_FILE_MAX, &h->env_texts[i], e) < 0)
			return err_prefix(e, "--env-file");
		h->env_files[i] = (struct run_env_file){ files->items[i], sbuf_str(&h->env_texts[i]) };
	}
	h->s->job.env_files = h->env_files;
	h->s->job.nenv_files = files->n;
	return 0;
}

static bool is_below(const char *dir, const char *path)
{
	size_t n = strlen(dir);

	return n > 1 && strncmp(dir, path, n) == 0 && (!path[n] || path[n] == '/');
}

/* The home if the directory is in it, else the directory itself. */
static char *mount_for(const char *dir)
{
	const struct passwd *pw = getpwuid(geteuid());
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode) || streq(dir, "/"))
		return NULL;
	return xstrdup(pw && is_below(pw->pw_dir, dir) ? pw->pw_dir : dir);
}

/* Does the image `host` show it by itself?  It is the root file system without what is mounted on it. */
static bool is_in_image(const char *dir)
{
	static const char *const hidden[] = { "/proc", "/sys", "/dev", "/run", "/tmp" };
	struct stat root;
	struct stat st;

	for (size_t i = 0; i < ARRAY_SIZE(hidden); i++)
		if (is_below(hidden[i], dir))
			return false;
	return stat("/", &root) == 0 && stat(dir, &st) == 0 && root.st_dev == st.st_dev;
}

/* Where the command runs, and what is mounted for it. */
static void choose_place(struct run_here *h)
{
	struct run_options *o = &h->s->job;
	bool host = !o->image || streq(o->image, RUN_IMAGE);

	if (!host || !client_is_local(h->client))
		return;
	if (!o->workdir)
		o->workdir = h->cwd;
	if (!h->s->no_mount && !run_pod_covers(&o->volumes, o->workdir))
		h->mount = mount_for(o->workdir);
	o->mount = h->mount;
	if (!h->mount && o->workdir == h->cwd && !is_in_image(h->cwd) && !run_pod_covers(&o->volumes, h->cwd))
		o->workdir = NULL;
}

int run_here_init(struct run_here *h, struct run_here_settings *s, struct client *c, struct err *e)
{
	struct run_options *o = &s->job;

	*h = (struct run_here){ .s = s, .client = c };
	if (!getcwd(h->cwd, sizeof(h->cwd)))
		return err_errno(e, ERR_INTERNAL, "the current directory");
	if (o->workdir && o->workdir[0] != '/')
		return err_set(e, ERR_BAD_REQUEST, "--workdir: \"%s\" does not begin with /", o->workdir);
	make_suffix(h->suffix);
	o->ns = o->ns ? o->ns : client_default_namespace(c);
	o->cwd = h->cwd;
	o->suffix = h->suffix;
	o->now = clock_wall();
	o->variable = variable;
	if (client_is_local(c) && (!o->node || is_this_machine(o->node)))
		o->is_missing = is_missing;
	if (read_env_files(h, e) < 0)
		return -1;
	choose_place(h);
	return 0;
}

void run_here_done(struct run_here *h)
{
	struct run_here_settings *s = h->s;

	for (size_t i = 0; h->env_texts && i < s->env_files.n; i++)
		sbuf_done(&h->env_texts[i]);
	free(h->env_texts);
	free(h->env_files);
	free(h->mount);
	opt_strings_done(&s->env_files);
	opt_strings_done(&s->job.env);
	opt_strings_done(&s->job.volumes);
	opt_strings_done(&s->job.labels);
	opt_strings_done(&s->job.after);
}

/* Other complaints are for the job to hear. */
static bool is_mount_refused(struct run_here *h, const json_t *pod_spec, struct err *e)
{
	json_auto_t *pod = json_pack("{s:s, s:s, s:{s:s}, s:O}", "apiVersion", "v1", "kind", "Pod", "metadata",
				     "generateName", "run-", "spec", pod_spec);
	struct ref ref = { .api_version = "v1", .plural = "pods", .ns = h->s->job.ns, .dry_run = true };

	return client_create_wait(h->client, &ref, pod, NULL, e) < 0 && strstr(e->text, "hostPath");
}

int run_here_settle(struct run_here *h, const char *command, const json_t *pod_spec, bool *ret_changed, struct err *e)
{
	struct run_options *o = &h->s->job;
	struct err why = ERR_INIT;

	*ret_changed = false;
	if (!o->mount || !is_mount_refused(h, pod_spec, &why))
		return 0;
	if (!is_in_image(o->workdir))
		return err_set(e, ERR_FORBIDDEN,
			       "%s cannot be mounted into the job: %s. Go to a directory below your home, or say where "
			       "it runs "
			       "with --workdir and --volume",
			       o->mount, why.text);
	fprintf(stderr, "stoker %s: %s may not be mounted; the job sees it, but what it writes there is lost.\n",
		command, o->mount);
	o->mount = NULL;
	*ret_changed = true;
	return 0;
}

int run_here_advice(struct err *e)
{
	auto_free char *text = xstrdup(e->text);
	const char *advice = e->kind == ERR_EXISTS      ? "; choose another --name, or leave it out"
			     : e->kind == ERR_FORBIDDEN ? "; -n runs it in another namespace"
							: "";

	return err_reword(e, e->kind, "%s%s", text, advice);
}
