// SPDX-License-Identifier: Apache-2.0
/* image.c - `stoker image`: the images in a server's data directory
 *
 * Images are files of the node, not objects of the API: many gigabytes that belong to one machine.  So these commands
 * work on DIR/images itself, as whoever owns the directory, on the machine where it is; whoever may not enter DIR is
 * refused by the kernel, but for `list`, which then asks the server (cli/image_nodes.c).  A running server is not asked
 * and not disturbed: both sides change the index only under its lock, look at it anew before each use, and never remove
 * what a container uses or a pull is bringing in (node/image_store.c).  The three laws stay whole, for no object is
 * touched.
 */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/image_nodes.h"
#include "cli/image_session.h"

struct image_settings {
	struct connect_settings connect; /* of list alone */
	const char *data, *output, *authfile, *cert_dir, *name, *format;
	bool plain_http, force, all, quiet;
	int64_t older;
};

#define OPT(member_)  .offset = offsetof(struct image_settings, member_)
#define DATA_OPT      IMAGE_DATA_OPT(struct image_settings)
#define QUIET_OPT     IMAGE_QUIET_OPT(struct image_settings)
#define REGISTRY_OPTS IMAGE_REGISTRY_OPTS(struct image_settings)
#define OUTPUT_OPT                                                                                                     \
	{                                                                                                              \
		.name = "output", .letter = 'o', .type = OPT_CHOICE, OPT(output), .arg = "FORM",                       \
		.choices = "text|json", .help = "how to print (default: text)"                                         \
	}

static struct pull_options options_of(const struct image_settings *s, struct image_session *session)
{
	return (struct pull_options){
		.plain_http = s->plain_http,
		.progress = image_session_progress,
		.arg = session,
		.authfile = s->authfile ? s->authfile : "",
		.cert_dir = s->cert_dir,
	};
}

/* Options, and an open store: 0, or the exit status to leave with. */
static int begin(const struct command *cmd, int argc, char **argv, int min, int max, struct image_settings *s,
		 struct image_session *session, char ***ret_rest, int *ret_n)
{
	struct err e = ERR_INIT;

	if (command_parse(cmd, s, argc, argv, min, max, ret_rest, ret_n) < 0)
		return 2;
	return image_session_open(s->data, s->quiet, session, &e) < 0 ? command_fail(cmd, &e) : 0;
}

static void print_json(const json_t *doc)
{
	auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

	jsonx_dump_pretty(doc, &out);
	printf("%s", out.p);
	if (!out.n || out.p[out.n - 1] != '\n')
		putchar('\n');
}

static void size_text(int64_t bytes, char *out, size_t n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB", "TB" };
	double v = (double)bytes;
	size_t i = 0;

	for (; v >= 1000 && i + 1 < ARRAY_SIZE(units); i++)
		v /= 1000;
	snprintf(out, n, i && v < 10 ? "%.1f%s" : "%.0f%s", v, units[i]);
}

/* ---- list ---- */

static const struct opt list_opts[] = { OUTPUT_OPT, DATA_OPT, CONNECT_OPTS, OPT_END };

static void print_line(const char *name, const json_t *image)
{
	char size[32], age[32] = "-";
	int64_t used = 0;

	size_text(jsonx_int_or(image, "bytes", 0), size, sizeof(size));
	if (clock_parse_rfc3339(jsonx_str_or(image, "used", ""), &used))
		clock_age(clock_wall() - used / 1000000, age, sizeof(age));
	printf("%-12.12s %8s %8s  %s\n", jsonx_str_or(image, "id", "") + strlen("sha256:"), size, age, name);
}

static void print_store(const json_t *list)
{
	json_t *image, *name;
	size_t i, k;

	printf("%-12s %8s %8s  %s\n", "ID", "SIZE", "USED", "NAME");
	json_array_foreach (list, i, image) {
		json_array_foreach (json_object_get(image, "names"), k, name)
			print_line(json_string_value(name), image);
		if (!k)
			print_line("<none>", image);
	}
}

static void print_nodes(const json_t *list)
{
	json_t *image, *name;
	char size[32];
	size_t i, k;

	printf("%-12s %8s  %s\n", "NODE", "SIZE", "NAME");
	json_array_foreach (list, i, image) {
		size_text(jsonx_int_or(image, "bytes", 0), size, sizeof(size));
		json_array_foreach (json_object_get(image, "names"), k, name)
			printf("%-12s %8s  %s\n", jsonx_str_or(image, "node", ""), size, json_string_value(name));
	}
}

static int run_list(const struct command *cmd, int argc, char **argv)
{
	struct image_settings s = { 0 };
	struct image_session session;
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	bool ask;
	char **rest;
	int n;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &n) < 0)
		return 2;
	ask = !s.data && (s.connect.socket || s.connect.kubeconfig || image_store_closed(s.data));
	if ((ask ? image_nodes_list(&s.connect, &list, &e) : image_session_open(s.data, s.quiet, &session, &e)) < 0)
		return command_fail(cmd, &e);
	if (!ask) {
		list = images_list(session.images);
		image_session_close(&session);
	}
	if (s.output && streq(s.output, "json"))
		print_json(list);
	else if (ask)
		print_nodes(list);
	else
		print_store(list);
	return 0;
}

const struct command cmd_image_list = {
	.name = "image list",
	.args = "[-o json]",
	.summary = "List the images on this machine",
	.details = "USED is how long ago a container last started from it, or it was fetched.\n"
		   "Who may not enter the data directory sees what the server tells everyone: nodes, sizes, names.\n"
		   "The image `host`, this machine's own file system, is always there and not listed.\n",
	.opts = list_opts,
	.run = run_list,
};

/* ---- transfers: what pull, push, import and export have in common ---- */

struct transfer {
	struct image_session *session;
	const struct image_settings *settings;
	struct pull_options options;
	char **args;
	int n;
};

/* Opens the store, lets `start` begin, and waits for image_session_done(). */
static int run_transfer(const struct command *cmd, int argc, char **argv, int min_args, int max_args,
			void (*start)(struct transfer *t))
{
	struct image_settings s = { 0 };
	struct image_session session;
	struct transfer t = { .session = &session, .settings = &s };
	int status = begin(cmd, argc, argv, min_args, max_args, &s, &session, &t.args, &t.n);

	if (status)
		return status;
	t.options = options_of(&s, &session);
	start(&t);
	return image_session_wait(cmd, &session);
}

/* ---- pull ---- */

static const struct opt pull_opts[] = { REGISTRY_OPTS, QUIET_OPT, DATA_OPT, OPT_END };

static void start_pull(struct transfer *t)
{
	images_pull(t->session->images, t->args[0], &t->options, image_session_done, t->session);
}

static int run_pull(const struct command *cmd, int argc, char **argv)
{
	return run_transfer(cmd, argc, argv, 1, 1, start_pull);
}

const struct command cmd_image_pull = {
	.name = "image pull",
	.args = "NAME",
	.summary = "Fetch an image from its registry",
	.details = "Prints the image's id and full name. What is here already is not fetched again.\n\n"
		   "Examples:\n"
		   "  stoker image pull debian:12\n"
		   "  stoker image pull registry.lab:5000/torch --plain-http\n",
	.opts = pull_opts,
	.run = run_pull,
};

/* ---- push ---- */

static void start_push(struct transfer *t)
{
	images_push(t->session->images, t->args[0], t->n > 1 ? t->args[1] : t->args[0], &t->options, image_session_done,
		    t->session);
}

static int run_push(const struct command *cmd, int argc, char **argv)
{
	return run_transfer(cmd, argc, argv, 1, 2, start_push);
}

const struct command cmd_image_push = {
	.name = "image push",
	.args = "NAME [TO]",
	.summary = "Copy an image to a registry",
	.details = "Without TO it goes where its name says.\n\n"
		   "Example:\n"
		   "  stoker image push train:v3 registry.lab:5000/train:v3\n",
	.opts = pull_opts,
	.run = run_push,
};

/* ---- import ---- */

static const struct opt import_opts[] = {
	{ .name = "name",
	  .type = OPT_STRING,
	  OPT(name),
	  .arg = "NAME",
	  .help = "what to call it (default: what the archive says)" },
	QUIET_OPT,
	DATA_OPT,
	OPT_END,
};

static void start_import(struct transfer *t)
{
	images_import(t->session->images, t->args[0], t->settings->name, &t->options, image_session_done, t->session);
}

static int run_import(const struct command *cmd, int argc, char **argv)
{
	return run_transfer(cmd, argc, argv, 1, 1, start_import);
}

const struct command cmd_image_import = {
	.name = "image import",
	.args = "FILE [--name NAME]",
	.summary = "Take in images from an archive",
	.details = "FILE is what `docker save`, `podman save` or `stoker image export` wrote, or a directory\n"
		   "with an OCI layout. All images in it are taken in.\n",
	.opts = import_opts,
	.run = run_import,
};

/* ---- export ---- */

static const struct opt export_opts[] = {
	{ .name = "format",
	  .type = OPT_CHOICE,
	  OPT(format),
	  .arg = "FORM",
	  .choices = "docker-archive|oci-archive",
	  .help = "form of the archive (default: docker-archive)" },
	QUIET_OPT,
	DATA_OPT,
	OPT_END,
};

static void start_export(struct transfer *t)
{
	images_export(t->session->images, t->args[0], t->args[1],
		      t->settings->format ? t->settings->format : "docker-archive", &t->options, image_session_done,
		      t->session);
}

static int run_export(const struct command *cmd, int argc, char **argv)
{
	return run_transfer(cmd, argc, argv, 2, 2, start_export);
}

const struct command cmd_image_export = {
	.name = "image export",
	.args = "NAME FILE",
	.summary = "Write an image to an archive",
	.details = "The file is one that `docker load`, `podman load` and `stoker image import` read.\n",
	.opts = export_opts,
	.run = run_export,
};

/* ---- tag ---- */

static const struct opt tag_opts[] = { DATA_OPT, OPT_END };

static int run_tag(const struct command *cmd, int argc, char **argv)
{
	struct image_settings s = { 0 };
	struct image_session session;
	struct err e = ERR_INIT;
	char **rest;
	int n;
	int status = begin(cmd, argc, argv, 2, 2, &s, &session, &rest, &n);

	if (status)
		return status;
	if (images_tag(session.images, rest[0], rest[1], &e) < 0)
		status = command_fail(cmd, &e);
	image_session_close(&session);
	return status;
}

const struct command cmd_image_tag = {
	.name = "image tag",
	.args = "NAME NEW",
	.summary = "Give an image a further name",
	.details = "A name that another image had moves to this one.\n",
	.opts = tag_opts,
	.run = run_tag,
};

/* ---- rm ---- */

static const struct opt rm_opts[] = {
	{ .name = "force",
	  .letter = 'f',
	  .type = OPT_FLAG,
	  OPT(force),
	  .help = "also if containers use it; they keep its files until they end" },
	DATA_OPT,
	OPT_END,
};

static int run_rm(const struct command *cmd, int argc, char **argv)
{
	struct image_settings s = { 0 };
	struct image_session session;
	char **rest;
	int n;
	int status = begin(cmd, argc, argv, 1, 1000, &s, &session, &rest, &n);

	if (status)
		return status;
	for (int i = 0; i < n; i++) {
		struct err e = ERR_INIT;

		if (images_remove(session.images, rest[i], s.force, &e) < 0)
			status = command_fail(cmd, &e);
		else
			printf("image %s removed\n", rest[i]);
	}
	image_session_close(&session);
	return status;
}

const struct command cmd_image_rm = {
	.name = "image rm",
	.args = "NAME...",
	.summary = "Remove names, and images with their last name",
	.opts = rm_opts,
	.run = run_rm,
};

/* ---- inspect ---- */

static int run_inspect(const struct command *cmd, int argc, char **argv)
{
	struct image_settings s = { 0 };
	struct image_session session;
	struct err e = ERR_INIT;
	json_auto_t *doc = NULL;
	char **rest;
	int n;
	int status = begin(cmd, argc, argv, 1, 1, &s, &session, &rest, &n);

	if (status)
		return status;
	if (images_inspect(session.images, rest[0], &doc, &e) < 0)
		status = command_fail(cmd, &e);
	else
		print_json(doc);
	image_session_close(&session);
	return status;
}

const struct command cmd_image_inspect = {
	.name = "image inspect",
	.args = "NAME",
	.summary = "Show all that is known of an image, as JSON",
	.opts = tag_opts,
	.run = run_inspect,
};

/* ---- prune ---- */

static const struct opt prune_opts[] = {
	{ .name = "all", .letter = 'a', .type = OPT_FLAG, OPT(all), .help = "every image that no container uses" },
	{ .name = "older",
	  .type = OPT_DURATION,
	  OPT(older),
	  .arg = "TIME",
	  .help = "also what was not used for so long: 12h, 30d" },
	OUTPUT_OPT,
	DATA_OPT,
	OPT_END,
};

static void print_removed(const json_t *removed)
{
	int64_t bytes = 0;
	char size[32];
	json_t *image;
	size_t i;

	json_array_foreach (removed, i, image) {
		const char *name = json_string_value(json_array_get(json_object_get(image, "names"), 0));

		bytes += jsonx_int_or(image, "bytes", 0);
		printf("%.12s  %s\n", jsonx_str_or(image, "id", "") + strlen("sha256:"), name ? name : "<none>");
	}
	size_text(bytes, size, sizeof(size));
	printf("%zu image%s removed, at most %s\n", i, i == 1 ? "" : "s", size);
}

static int run_prune(const struct command *cmd, int argc, char **argv)
{
	struct image_settings s = { 0 };
	struct images_policy policy;
	struct image_session session;
	json_auto_t *removed = NULL;
	struct err e = ERR_INIT;
	char **rest;
	int n;
	int status = begin(cmd, argc, argv, 0, 0, &s, &session, &rest, &n);

	if (status)
		return status;
	policy = (struct images_policy){ .nameless = true, .all = s.all, .max_age = s.older };
	if (images_prune(session.images, &policy, &removed, &e) < 0)
		status = command_fail(cmd, &e);
	else if (s.output && streq(s.output, "json"))
		print_json(removed);
	else
		print_removed(removed);
	image_session_close(&session);
	return status;
}

const struct command cmd_image_prune = {
	.name = "image prune",
	.args = "[--all] [--older TIME]",
	.summary = "Remove images that lost their name, or more",
	.details = "Images that containers use always stay.\n",
	.opts = prune_opts,
	.run = run_prune,
};
