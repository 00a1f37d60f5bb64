// SPDX-License-Identifier: Apache-2.0
#include "../api/sample_json.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "node/bundle.h"
#include "test.h"

#define PASSWD "root:x:0:0:root:/root:/bin/sh\nana:x:1000:1001:Ana:/home/ana:/bin/sh\n"
#define GROUP  "root:x:0:\nstaff:x:50:ana,bo\nana:x:1001:\n"

TEST("the container's context wins over the pod's, the pod's over the image's USER")
{
	static const struct {
		const char *pod, *container, *user;
		long long uid, gid;
		const char *home;
	} rows[] = {
		{ "{}", "{}", "", 0, 0, "/root" },
		{ "{}", "{}", "ana", 1000, 1001, "/home/ana" },
		{ "{}", "{}", "1000", 1000, 1001, "/home/ana" },
		{ "{}", "{}", "ana:staff", 1000, 50, "/home/ana" },
		{ "{}", "{}", "4711:4712", 4711, 4712, "/" },
		{ "{\"spec\":{\"securityContext\":{\"runAsUser\":1000}}}", "{}", "root", 1000, 1001, "/home/ana" },
		{ "{\"spec\":{\"securityContext\":{\"runAsUser\":7,\"runAsGroup\":8}}}",
		  "{\"securityContext\":{\"runAsUser\":9}}", "ana", 9, 8, "/" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = json_loads(rows[i].pod, 0, NULL);
		json_auto_t *container = json_loads(rows[i].container, 0, NULL);
		json_auto_t *image = json_pack("{s:{s:s}}", "config", "User", rows[i].user);
		json_auto_t *user = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(user_resolve(pod, container, image, PASSWD, GROUP, &user, &e), 0);
		CHECK_INT(jsonx_int_or(user, "uid", -1), rows[i].uid);
		CHECK_INT(jsonx_int_or(user, "gid", -1), rows[i].gid);
		CHECK_STR(jsonx_str(user, "home"), rows[i].home);
	}
}

TEST("groups come from the image, supplementalGroups and fsGroup")
{
	json_auto_t *pod = json_loads(
		"{\"spec\":{\"securityContext\":{\"supplementalGroups\":[3000],\"fsGroup\":4000}}}", 0, NULL);
	json_auto_t *image = json_pack("{s:{s:s}}", "config", "User", "ana");
	json_auto_t *user = NULL;
	struct err e = ERR_INIT;
	auto_sbuf struct sbuf text = SBUF(256);

	CHECK_INT(user_resolve(pod, NULL, image, PASSWD, GROUP, &user, &e), 0);
	jsonx_dump(json_object_get(user, "groups"), &text);
	CHECK_STR(text.p, "[50,3000,4000]");
}

TEST("a strict pod is in no group that only the image knows of")
{
	json_auto_t *pod = json_loads("{\"spec\":{\"securityContext\":{\"supplementalGroups\":[3000],"
				      "\"supplementalGroupsPolicy\":\"Strict\"}}}",
				      0, NULL);
	json_auto_t *image = json_pack("{s:{s:s}}", "config", "User", "ana");
	json_auto_t *user = NULL;
	struct err e = ERR_INIT;
	auto_sbuf struct sbuf text = SBUF(256);

	CHECK_INT(user_resolve(pod, NULL, image, PASSWD, GROUP, &user, &e), 0);
	jsonx_dump(json_object_get(user, "groups"), &text);
	CHECK_STR(text.p, "[3000]");
}

TEST("runAsNonRoot refuses root and what may be root, in Kubernetes' words")
{
	static const struct {
		const char *user; /* of the image */
		int uid;          /* runAsUser, or -1 */
		const char *why;
	} rows[] = {
		{ "", -1, "container has runAsNonRoot and image will run as root" },
		{ "0:5", -1, "container has runAsNonRoot and image will run as root" },
		{ "ana", 0, "container's runAsUser breaks non-root policy" },
		{ "ana:50", -1,
		  "container has runAsNonRoot and image has non-numeric user (ana), cannot verify user is non-root" },
		{ "1000", -1, NULL },
		{ "ana", 7, NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = json_pack("{s:{s:s, s:s, s:s}, s:{s:{s:b}}}", "metadata", "name", "p", "namespace",
					     "n", "uid", "u", "spec", "securityContext", "runAsNonRoot", 1);
		json_auto_t *container = json_pack("{s:s, s:{}}", "name", "c", "securityContext");
		json_auto_t *image = json_pack("{s:{s:s}}", "config", "User", rows[i].user);
		json_auto_t *user = NULL;
		auto_free char *want = xasprintf("%s (pod: \"p_n(u)\", container: c)", rows[i].why ? rows[i].why : "");
		struct err e = ERR_INIT;

		if (rows[i].uid >= 0)
			jsonx_set_new(container, "securityContext.runAsUser", json_integer(rows[i].uid));
		CHECK_INT(user_resolve(pod, container, image, PASSWD, GROUP, &user, &e), rows[i].why ? -1 : 0);
		CHECK_STR(e.text, rows[i].why ? want : "");
		CHECK_INT(e.kind, rows[i].why ? ERR_INVALID : ERR_NONE);
	}
}

TEST("a user the image does not know is named")
{
	json_auto_t *nobody = json_pack("{s:{s:s}}", "config", "User", "nix");
	json_t *user = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(user_resolve(NULL, NULL, nobody, PASSWD, GROUP, &user, &e), -1);
	CHECK_STR(e.text, "unable to find user nix: no matching entries in passwd file");
}

TEST("a uid without an account gets one")
{
	json_auto_t *user = json_pack("{s:i, s:i, s:s}", "uid", 4711, "gid", 4712, "home", "/work");
	json_auto_t *ana = json_pack("{s:i, s:i}", "uid", 1000, "gid", 1001);
	auto_free char *passwd = user_add_passwd("root:x:0:0:root:/root:/bin/sh", user);
	auto_free char *group = user_add_group(NULL, user, NULL);

	CHECK_STR(passwd, "root:x:0:0:root:/root:/bin/sh\nuser4711:x:4711:4712:user:/work:/bin/sh\n");
	CHECK_STR(group, "group4712:x:4712:\n");
	CHECK(!user_add_passwd(PASSWD, ana));
	CHECK(!user_add_group(GROUP, ana, NULL));
}

static bool here(int64_t gid, char *out, size_t n)
{
	static const char *const names[] = { "staff", "lab", "root" };

	if (gid < 50 || gid > 52)
		return false;
	snprintf(out, n, "%s", names[gid - 50]);
	return true;
}

TEST("all groups of an account of this machine have their names inside")
{
	static const struct {
		const char *user, *want;
	} rows[] = {
		{ "{'gid':50,'groups':[51],'name':'ana','real':true}", "root:x:0:\nstaff:x:50:\nlab:x:51:ana\n" },
		/* the image has another group of that name, and this machine none of that number */
		{ "{'gid':52,'groups':[53],'name':'ana','real':true}", "root:x:0:\ngroup52:x:52:\ngroup53:x:53:ana\n" },
		{ "{'gid':50,'groups':[51],'name':'ana','real':false}", "root:x:0:\ngroup50:x:50:\n" },
		{ "{'gid':0,'groups':[0],'name':'ana','real':true}", NULL },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *user = sample_json(rows[i].user);
		auto_free char *got = user_add_group("root:x:0:\n", user, here);

		CHECK_STR(got ? got : "", rows[i].want ? rows[i].want : "");
	}
}

TEST("an account of this machine has its own name and home inside")
{
	static const struct {
		const char *user, *uid, *home, *name, *dir;
	} rows[] = {
		{ "ana", "1000", "/ghome/ana", "ana", "/ghome/ana" },
		{ "ana", "1000", "relative", "ana", "/" },
		{ "ana", "1001", "/ghome/ana", "", "/" },  /* it runs as somebody else */
		{ "root", "1000", "/ghome/ana", "", "/" }, /* the image has another of that name */
		{ "a:b", "1000", "/ghome/ana", "", "/" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *pod = json_pack("{s:{s:{s:s, s:s}}, s:{s:{s:i}}}", "metadata", "annotations",
					     "stoker.dev/user", rows[i].user, "stoker.dev/uid", rows[i].uid, "spec",
					     "securityContext", "runAsUser", 1000);
		json_auto_t *container = json_pack("{s:[{s:s, s:s}]}", "env", "name", "HOME", "value", rows[i].home);
		json_auto_t *user = NULL;
		struct err e = ERR_INIT;

		CHECK_INT(user_resolve(pod, container, NULL, "root:x:0:0::/root:/bin/sh\n", "", &user, &e), 0);
		CHECK_STR(jsonx_str(user, "name"), rows[i].name);
		CHECK_STR(jsonx_str(user, "home"), rows[i].dir);
	}
}
