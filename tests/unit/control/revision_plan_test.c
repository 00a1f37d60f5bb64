// SPDX-License-Identifier: Apache-2.0
#include "base/jsonx.h"
#include "base/mem.h"
#include "control/revisions.h"
#include "test.h"

#define MOST 8

/* An owner with revisions of the images in `images`, one letter each, the oldest first and numbered from 1. */
struct history {
	json_t *owner;
	struct revision all[MOST];
	struct revision_view v;
};

static json_t *owner_of(char image, int limit)
{
	return json_pack("{s:{s:s, s:s, s:s, s:{s:s}}, s:{s:i, s:{s:{s:{s:s}}, s:{s:s%}}}}", "metadata", "name", "web",
			 "namespace", "ns", "uid", "u1", "annotations", "kubernetes.io/change-cause", "why", "spec",
			 "revisionHistoryLimit", limit, "template", "metadata", "labels", "app", "web", "spec", "image",
			 &image, (size_t)1);
}

static void history_init(struct history *h, const char *images, char now, int limit)
{
	*h = (struct history){ .owner = owner_of(now, limit) };
	h->v = (struct revision_view){ .api_version = "apps/v1",
				       .kind = "StatefulSet",
				       .plural = "statefulsets",
				       .owner = h->owner,
				       .all = h->all,
				       .n = strlen(images) };
	for (size_t i = 0; i < h->v.n; i++) {
		json_auto_t *owner = owner_of(images[i], limit);
		struct revision_view v = h->v;
		json_t *obj;

		v.owner = owner;
		obj = revision_make(&v, (int64_t)i + 1);
		h->all[i] = (struct revision){ .obj = obj,
					       .name = jsonx_str(obj, "metadata.name"),
					       .hash = strrchr(jsonx_str(obj, "metadata.name"), '-') + 1,
					       .number = (int64_t)i + 1 };
	}
}

static void history_done(struct history *h)
{
	for (size_t i = 0; i < h->v.n; i++)
		json_decref((json_t *)h->all[i].obj);
	json_decref(h->owner);
}

TEST("a revision has the form that kubectl rollout undo applies, and a name from its content")
{
	struct history h;

	history_init(&h, "a", 'a', 10);
	const json_t *obj = h.all[0].obj;
	const json_t *labels = jsonx_at(obj, "metadata.labels");
	auto_free char *name =
		xasprintf("web-%s", json_string_value(json_object_get(labels, LABEL_REVISION_HASH_OF_SET)));

	CHECK_STR(jsonx_str(obj, "metadata.name"), name);
	CHECK_STR(jsonx_str(obj, "metadata.namespace"), "ns");
	CHECK_STR(json_string_value(json_object_get(labels, "app")), "web");
	CHECK_STR(jsonx_str(obj, "data.spec.template.$patch"), "replace");
	CHECK_STR(jsonx_str(obj, "data.spec.template.spec.image"), "a");
	CHECK_STR(jsonx_str(json_array_get(jsonx_at(obj, "metadata.ownerReferences"), 0), "uid"), "u1");
	CHECK_STR(
		json_string_value(json_object_get(jsonx_at(obj, "metadata.annotations"), "kubernetes.io/change-cause")),
		"why");
	CHECK_STR(jsonx_str(revision_template(&h.all[0]), "spec.image"), "a");
	CHECK(revision_find(h.all, 1, name) == &h.all[0]);
	CHECK(revision_find(h.all, 1, h.all[0].hash) == &h.all[0]);
	CHECK(!revision_find(h.all, 1, "") && !revision_find(h.all, 1, NULL));
	history_done(&h);
}

TEST("a DaemonSet's revision has the hash in the label that its pods have")
{
	json_auto_t *owner = owner_of('a', 10);
	struct revision_view v = { .api_version = "apps/v1", .kind = "DaemonSet", .owner = owner };
	json_auto_t *obj = revision_make(&v, 1);

	CHECK(json_object_get(jsonx_at(obj, "metadata.labels"), LABEL_REVISION_HASH) != NULL);
}

TEST("a template gets a revision once, and an old one that comes back the highest number")
{
	static const struct {
		const char *images;
		char now;
		char update; /* image of the revision it is, 0: made */
		int number;  /* of what is made or renumbered, 0: neither */
	} rows[] = {
		{ "", 'a', 0, 1 },     { "a", 'a', 'a', 0 },   { "a", 'b', 0, 2 },     { "ab", 'b', 'b', 0 },
		{ "ab", 'a', 'a', 3 }, { "abc", 'b', 'b', 4 }, { "aba", 'a', 'a', 0 }, /* made twice by someone: the
											  newer one counts */
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct revision_plan p;
		struct history h;

		history_init(&h, rows[i].images, rows[i].now, 10);
		revision_plan(&h.v, &p);
		CHECK_INT(p.update ? *jsonx_str(p.update->obj, "data.spec.template.spec.image") : 0, rows[i].update);
		CHECK((p.make != NULL) == !rows[i].update);
		CHECK((p.renumber != NULL) == (rows[i].update && rows[i].number));
		if (rows[i].number)
			CHECK_INT(p.number, rows[i].number);
		if (p.make)
			CHECK_INT(jsonx_int_or(p.make, "revision", 0), rows[i].number);
		CHECK_INT(p.nremove, 0);
		revision_plan_done(&p);
		history_done(&h);
	}
}

TEST("old revisions beyond the limit go, the oldest first, but none that is in use")
{
	static const struct {
		const char *images;
		char now;
		int limit;
		int used; /* place of one in use by name, -1: none */
		const char *gone;
	} rows[] = {
		{ "abcd", 'd', 10, -1, "" },   { "abcd", 'd', 3, -1, "" }, { "abcd", 'd', 1, -1, "ab" },
		{ "abcd", 'd', 0, -1, "abc" }, { "abcd", 'd', 1, 0, "b" }, { "abcd", 'b', 1, -1, "ac" },
		{ "abcd", 'e', 3, -1, "a" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct revision_plan p;
		struct history h;
		char gone[MOST + 1] = "";

		history_init(&h, rows[i].images, rows[i].now, rows[i].limit);
		if (rows[i].used >= 0) {
			h.v.used = &h.all[rows[i].used].name;
			h.v.nused = 1;
		}
		revision_plan(&h.v, &p);
		for (size_t n = 0; n < p.nremove; n++)
			gone[n] = *jsonx_str(p.remove[n]->obj, "data.spec.template.spec.image");
		CHECK_STR(gone, rows[i].gone);
		revision_plan_done(&p);
		history_done(&h);
	}
}

TEST("a hash as a pod of a DaemonSet has it keeps its revision too")
{
	struct revision_plan p;
	struct history h;

	history_init(&h, "ab", 'b', 0);
	h.v.used = &h.all[0].hash;
	h.v.nused = 1;
	revision_plan(&h.v, &p);
	CHECK_INT(p.nremove, 0);
	revision_plan_done(&p);
	history_done(&h);
}
