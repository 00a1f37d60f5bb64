// SPDX-License-Identifier: Apache-2.0
/* image_build.c - `stoker image build`: a Dockerfile becomes an image on this machine */
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/image_session.h"

struct build_settings {
	const char *data, *authfile, *cert_dir, *file, *target;
	struct opt_strings tags, args;
	bool plain_http, quiet, no_cache;
};

#define OPT(member_) .offset = offsetof(struct build_settings, member_)

static const struct opt build_opts[] = {
	{ .name = "tag",
	  .letter = 't',
	  .type = OPT_STRINGS,
	  OPT(tags),
	  .arg = "NAME",
	  .help = "what to call it; may be repeated" },
	{ .name = "file",
	  .letter = 'f',
	  .type = OPT_STRING,
	  OPT(file),
	  .arg = "FILE",
	  .help = "the Dockerfile (default: Dockerfile or Containerfile in the context)" },
	{ .name = "build-arg",
	  .type = OPT_STRINGS,
	  OPT(args),
	  .arg = "NAME=VALUE",
	  .help = "a value for an ARG; may be repeated" },
	{ .name = "target", .type = OPT_STRING, OPT(target), .arg = "STAGE", .help = "the stage to stop at" },
	{ .name = "no-cache", .type = OPT_FLAG, OPT(no_cache), .help = "run every step again" },
	IMAGE_REGISTRY_OPTS(struct build_settings),
	IMAGE_QUIET_OPT(struct build_settings),
	IMAGE_DATA_OPT(struct build_settings),
	OPT_END,
};

static json_t *texts(const struct opt_strings *s)
{
	json_t *list = json_array();

	for (size_t i = 0; i < s->n; i++)
		json_array_append_new(list, jsonx_string(s->items[i]));
	return list;
}

static int run_build(const struct command *cmd, int argc, char **argv)
{
	struct build_settings s = { 0 };
	struct build_options o;
	struct image_session session;
	json_auto_t *names = NULL;
	json_auto_t *args = NULL;
	struct err e = ERR_INIT;
	char **rest;
	int n;

	if (command_parse(cmd, &s, argc, argv, 1, 1, &rest, &n) < 0)
		return 2;
	if (image_session_open(s.data, s.quiet, &session, &e) < 0)
		return command_fail(cmd, &e);
	names = texts(&s.tags);
	args = texts(&s.args);
	opt_strings_done(&s.tags);
	opt_strings_done(&s.args);
	o = (struct build_options){ .context = rest[0],
				    .file = s.file,
				    .target = s.target,
				    .names = names,
				    .args = args,
				    .no_cache = s.no_cache,
				    .pull = { .plain_http = s.plain_http,
					      .progress = image_session_progress,
					      .arg = &session,
					      .authfile = s.authfile ? s.authfile : "",
					      .cert_dir = s.cert_dir } };
	images_build(session.images, &o, image_session_done, &session);
	return image_session_wait(cmd, &session);
}

const struct command cmd_image_build = {
	.name = "image build",
	.args = "DIR|URL [-t NAME]",
	.summary = "Build an image from a Dockerfile",
	.details = "DIR holds the files that COPY may take; URL is a git repository "
		   "(https://host/repo.git#BRANCH:SUBDIR)\n"
		   "or a tar archive. Base images that are on this machine are not fetched. Needs buildah.\n\n"
		   "Examples:\n"
		   "  stoker image build . -t train:v4\n"
		   "  stoker image build https://example.org/lab/train.git#main -t train --build-arg CUDA=12.4\n",
	.opts = build_opts,
	.run = run_build,
};
