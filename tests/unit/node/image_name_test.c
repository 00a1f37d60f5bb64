// SPDX-License-Identifier: Apache-2.0
/* image_name_test.c - names, credentials, skopeo's words, and what a collection takes */
#include "node/image_name.h"

#include "base/jsonx.h"
#include "base/mem.h"
#include "node/image_parts.h"
#include "test.h"

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST("names are made whole")
{
	static const struct {
		const char *name, *normal;
	} rows[] = {
		{ "busybox", "docker.io/library/busybox:latest" },
		{ "busybox:1.36", "docker.io/library/busybox:1.36" },
		{ "docker.io/busybox", "docker.io/library/busybox:latest" },
		{ "index.docker.io/library/busybox", "docker.io/library/busybox:latest" },
		{ "grafana/grafana", "docker.io/grafana/grafana:latest" },
		{ "localhost/x", "localhost/x:latest" },
		{ "localhost:5000/x", "localhost:5000/x:latest" },
		{ "registry.lab:5000/a/b/c:v1.0-rc_1", "registry.lab:5000/a/b/c:v1.0-rc_1" },
		{ "Registry.Lab/x", "Registry.Lab/x:latest" },
		{ "[::1]:5000/x", "[::1]:5000/x:latest" },
		{ "a/b__c/d-e---f.g", "docker.io/a/b__c/d-e---f.g:latest" },
		{ "x@sha256:" HEX64, "docker.io/library/x@sha256:" HEX64 },
		{ "q.io/x:tag@sha256:" HEX64, "q.io/x@sha256:" HEX64 },
		{ "host", "host" },
		{ "host:latest", "docker.io/library/host:latest" },
		{ "localhost", "docker.io/library/localhost:latest" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1024);
		struct err e = ERR_INIT;

		CHECK_INT(image_normalize(rows[i].name, &out, &e), 0);
		CHECK_STR(out.p, rows[i].normal);
	}
}

TEST("nonsense is InvalidImageName")
{
	static const struct {
		const char *name, *why;
	} rows[] = {
		{ "", "empty" },
		{ "Busybox", "must be lowercase" },
		{ "a/B", "must be lowercase" },
		{ "a//b", "invalid reference format" },
		{ "/a", "invalid reference format" },
		{ "a/", "invalid reference format" },
		{ "a b", "invalid reference format" },
		{ "a:", "invalid tag" },
		{ "a:.x", "invalid tag" },
		{ "a:x/y", "invalid registry host" },
		{ "a@sha256:12", "invalid digest" },
		{ "a@md5:" HEX64, "invalid digest" },
		{ "a_-b", "invalid reference format" },
		{ "a___b", "invalid reference format" },
		{ "-a", "invalid reference format" },
		{ "a-", "invalid reference format" },
		{ "reg:port/x", "invalid registry host" },
		{ "reg:123456/x", "invalid registry host" },
		{ "reg..x/y", "invalid registry host" },
		{ "../../etc/passwd", "invalid registry host" },
		{ "--flag", "invalid reference format" },
		{ "a;rm -rf", "invalid reference format" },
		{ HEX64, "64-byte hexadecimal" },
		{ "docker://x", "invalid" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(1024);
		struct err e = ERR_INIT;

		CHECK_INT(image_normalize(rows[i].name, &out, &e), -1);
		CHECK_INT(e.kind, ERR_INVALID);
		if (!strstr(e.text, rows[i].why))
			test_fail(__FILE__, __LINE__, "%s: \"%s\"", rows[i].name, e.text);
	}
}

TEST("a name longer than registries take is refused")
{
	char name[400];
	auto_sbuf struct sbuf out = SBUF(1024);
	struct err e = ERR_INIT;

	memset(name, 'a', sizeof(name));
	name[sizeof(name) - 1] = '\0';
	CHECK_INT(image_normalize(name, &out, &e), -1);
	CHECK(strstr(e.text, "255") != NULL);
}

TEST("only this machine is loopback")
{
	CHECK(image_name_is_loopback("localhost:5000/x:latest"));
	CHECK(image_name_is_loopback("127.0.0.1:5000/x:latest"));
	CHECK(image_name_is_loopback("127.1.2.3/x:latest"));
	CHECK(image_name_is_loopback("[::1]:5000/x:latest"));
	CHECK(!image_name_is_loopback("127.evil.example/x:latest"));
	CHECK(!image_name_is_loopback("localhost.example/x:latest"));
	CHECK(!image_name_is_loopback("docker.io/library/x:latest"));
}

TEST("credentials are chosen as Kubernetes does")
{
	static const struct {
		const char *name, *user;
	} rows[] = {
		{ "docker.io/library/x:latest", "hub" },  { "reg.lab:5000/x:latest", "plain" },
		{ "reg.lab:5000/team/x:latest", "team" }, { "a.gcr.example/x:latest", "glob" },
		{ "a.b.gcr.example/x:latest", NULL },     { "other:5000/x:latest", NULL },
		{ "v2.example/x:latest", "v2" },
	};
	json_auto_t *auths =
		json_pack("{s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}, s:{s:s}}", "https://index.docker.io/v1/", "username",
			  "hub", "reg.lab:5000", "username", "plain", "http://reg.lab:5000/team", "username", "team",
			  "*.gcr.example", "username", "glob", "https://v2.example/v2/", "username", "v2");

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_STR(jsonx_str(image_auth_pick(auths, rows[i].name), "username"), rows[i].user);
	CHECK(image_auth_pick(NULL, "docker.io/library/x:latest") == NULL);
}

TEST("skopeo's last words decide the kind")
{
	static const struct {
		const char *words;
		enum err_kind kind;
		const char *text;
	} rows[] = {
		{ "time=\"x\" level=fatal msg=\"reading manifest v9 in reg/x: manifest unknown: manifest unknown\"\n",
		  ERR_NOT_FOUND, "not found in the registry: reading manifest v9" },
		{ "level=warning msg=\"noise\"\nlevel=fatal msg=\"unable to retrieve auth token: invalid "
		  "username/password: unauthorized: \\\"x\\\"\"\n",
		  ERR_FORBIDDEN, "unauthorized: unable to retrieve auth token" },
		{ "FATA[0000] pinging container registry: dial tcp 127.0.0.1:1: connect: connection refused\n",
		  ERR_UNAVAILABLE, "does not answer" },
		{ "level=fatal msg=\"lookup reg on 10.0.0.53:53: read udp 10.0.0.1:35823->10.0.0.53:53: i/o timeout\"",
		  ERR_UNAVAILABLE, "lookup reg on 10.0.0.53:53: read udp 10.0.0.53:53: i/o timeout" },
		{ "level=fatal msg=\"writing blob: no space left on device\"", ERR_STORAGE_FULL, "disk is full" },
		{ "level=fatal msg=\"x509: certificate signed by unknown authority\"", ERR_UNAVAILABLE, "trusted" },
		{ "level=fatal msg=\"Error parsing image name \\\"docker://reg/x\\\": reading manifest v9 in reg/x: "
		  "manifest "
		  "unknown\"",
		  ERR_NOT_FOUND, "not found in the registry: reading manifest v9" },
		{ "level=fatal msg=\"something new\"", ERR_UNAVAILABLE, "something new" },
		{ "", ERR_INTERNAL, "without a word" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;

		skopeo_explain(rows[i].words, &e);
		CHECK_INT(e.kind, rows[i].kind);
		if (!strstr(e.text, rows[i].text))
			test_fail(__FILE__, __LINE__, "\"%s\" is not about \"%s\"", e.text, rows[i].text);
	}
}

/* ---- collection ---- */

static char *plan(const struct images_policy *policy)
{
	json_auto_t *images = json_pack(
		"[{s:s,s:i,s:i,s:b,s:b}, {s:s,s:i,s:i,s:b,s:b}, {s:s,s:i,s:i,s:b,s:b}, {s:s,s:i,s:i,s:b,s:b}]", "id",
		"new", "bytes", 100, "used", 990, "named", 1, "inUse", 0, "id", "old", "bytes", 100, "used", 100,
		"named", 1, "inUse", 0, "id", "held", "bytes", 100, "used", 10, "named", 0, "inUse", 1, "id", "lost",
		"bytes", 100, "used", 500, "named", 0, "inUse", 0);
	json_auto_t *ids = image_gc_plan(images, policy, 1000);
	auto_sbuf struct sbuf out = SBUF(1024);
	json_t *v;
	size_t i;

	json_array_foreach (ids, i, v)
		sbuf_addf(&out, "%s%s", i ? " " : "", json_string_value(v));
	return sbuf_steal(&out);
}

TEST("a collection takes what the policy says, oldest first, and never what is in use")
{
	static const struct {
		struct images_policy policy;
		const char *ids;
	} rows[] = {
		{ { 0 }, "" },
		{ { .all = true }, "old lost new" },
		{ { .nameless = true }, "lost" },
		{ { .max_age = 600 }, "old" },
		{ { .max_age = 400, .nameless = true }, "old lost" },
		{ { .high_percent = 85, .low_percent = 80, .used_bytes = 84000, .total_bytes = 100000 }, "" },
		{ { .high_percent = 85, .low_percent = 80, .used_bytes = 860, .total_bytes = 1000 }, "old" },
		{ { .high_percent = 85, .low_percent = 80, .used_bytes = 990, .total_bytes = 1000 }, "old lost" },
		{ { .high_percent = 85, .low_percent = 10, .used_bytes = 990, .total_bytes = 1000 }, "old lost new" },
		{ { .high_percent = 85, .low_percent = 10, .min_age = 120, .used_bytes = 990, .total_bytes = 1000 },
		  "old lost" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *ids = plan(&rows[i].policy);

		CHECK_STR(ids, rows[i].ids);
	}
}
