// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "node/image_build.h"
#include "node/image_dockerfile.h"
#include "test.h"

TEST("the images a Dockerfile names are found")
{
	static const struct {
		const char *text, *args, *want;
	} rows[] = {
		{ "FROM debian:12\nRUN x\n", NULL, "[\"debian:12\"]" },
		{ "from debian\r\n", NULL, "[\"debian\"]" },
		{ "FROM scratch\n", NULL, "[]" },
		{ "FROM --platform=linux/amd64 a/b AS one\nFROM ONE\nCOPY --from=one /x /y\n", NULL, "[\"a/b\"]" },
		{ "FROM a\nCOPY --chown=1:2 --from=b/c:1 /x /y\nCOPY --from=0 /x /z\n", NULL, "[\"a\",\"b/c:1\"]" },
		{ "FROM a\nRUN --mount=type=bind,from=tools,target=/t make\n", NULL, "[\"a\",\"tools\"]" },
		{ "ARG V=1\nARG BASE=lab/x:$V\nFROM ${BASE}\n", NULL, "[\"lab/x:1\"]" },
		{ "ARG V=1\nFROM lab/x:${V}\n", "[\"V=2\"]", "[\"lab/x:2\"]" },
		{ "ARG V\nFROM lab/x:${V:-3}\n", NULL, "[\"lab/x:3\"]" },
		{ "# FROM no\nFROM \\\n  # in between\n  yes\n", NULL, "[\"yes\"]" },
		{ "FROM \"quoted\"\n", NULL, "[\"quoted\"]" },
		{ "FROM $\nFROM ${x\nFROM\n\n", NULL, "[\"$\",\"${x\"]" },
		{ "FROM a\nFROM a\nFROM a", NULL, "[\"a\"]" },
		{ "COPY from=x y\n", NULL, "[]" },
		{ "", NULL, "[]" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *args = rows[i].args ? json_loads(rows[i].args, 0, NULL) : NULL;
		json_auto_t *names = dockerfile_images(rows[i].text, args);
		char *text = json_dumps(names, JSON_COMPACT);

		CHECK_STR(text, rows[i].want);
		free(text);
	}
}

TEST("repositories, archives and directories are told apart")
{
	static const struct {
		const char *source;
		bool url, git;
	} rows[] = {
		{ ".", false, false },
		{ "/home/me/x.git", false, false },
		{ "https://example.org/x.git", true, true },
		{ "https://example.org/x.git#v1:sub", true, true },
		{ "https://example.org/x#main", true, true },
		{ "git@example.org:me/x", true, true },
		{ "ssh://git@example.org/x", true, true },
		{ "file:///srv/x.git", true, true },
		{ "https://example.org/x.tar.gz", true, false },
		{ "http://example.org/x.tar", true, false },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		CHECK_INT(build_context_is_url(rows[i].source), rows[i].url);
		CHECK_INT(build_context_is_git(rows[i].source), rows[i].git);
	}
}
