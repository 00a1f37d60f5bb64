// SPDX-License-Identifier: Apache-2.0
#include "base/clock.h"
#include "server.h"

#define CLAIM(name, more)                                                                                              \
	"{'metadata':{'name':'" name "'},'spec':{'accessModes':['ReadWriteOnce']," more                                \
	"'resources':{'requests':{'storage':'1Gi'}}}}"
#define CLASSES "storage.k8s.io/v1/storageclasses"

/* The class a new claim gets; "(none)" without the field. */
static char *class_of(struct server *s, const char *body)
{
	json_auto_t *claim = server_ask(s, VERB_CREATE, "v1/persistentvolumeclaims", "default", NULL, body);

	CHECK(claim != NULL);
	return xstrdup(jsonx_str_or(claim, "spec.storageClassName", "(none)"));
}

TEST("a claim without a class gets the default one, and a claim with one keeps it")
{
	struct server s = server_new();
	auto_free char *by_default = class_of(&s, CLAIM("a", ""));
	auto_free char *chosen = class_of(&s, CLAIM("b", "'storageClassName':'other',"));
	auto_free char *empty = class_of(&s, CLAIM("c", "'storageClassName':'',"));
	auto_free char *none = NULL;

	CHECK_STR(by_default, "stoker-local");
	CHECK_STR(chosen, "other");
	CHECK_STR(empty, "");
	server_do(&s, VERB_DELETE, CLASSES, "", "stoker-local", NULL);
	none = class_of(&s, CLAIM("d", ""));
	CHECK_STR(none, "(none)");
	server_done(&s);
}

TEST("of several default classes the first of the youngest is taken")
{
	struct server s = server_new();
	auto_free char *got = NULL;

	for (const char *name = "abc"; *name; name++) {
		auto_free char *body = xasprintf("{'metadata':{'name':'%c','annotations':{"
						 "'storageclass.kubernetes.io/is-default-class':'%s'}},"
						 "'provisioner':'p'}",
						 *name, *name == 'a' ? "false" : "true");

		clock_fake(clock_wall() + 60);
		server_do(&s, VERB_CREATE, CLASSES, "", NULL, body);
	}
	clock_fake(-1);
	got = class_of(&s, CLAIM("x", ""));
	CHECK_STR(got, "c");
	server_done(&s);
}
