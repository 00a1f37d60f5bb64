// SPDX-License-Identifier: Apache-2.0
#include "base/mem.h"
#include "kinds/builtin.h"
#include "test.h"

static struct kind custom(const char *group, const char *version, const char *plural, const char *kind)
{
	return (struct kind){
		.group = group, .version = version, .plural = plural, .kind = kind, .flags = KIND_CUSTOM
	};
}

TEST("custom kinds are found once added and gone once removed")
{
	struct registry *r = registry_new();
	struct kind a = custom("z.example.com", "v1beta1", "as", "A");
	struct kind b = custom("z.example.com", "v1", "as", "A");
	struct kind c = custom("z.example.com", "v2alpha1", "as", "A");
	unsigned before = registry_generation(r);

	registry_add(r, &a);
	registry_add(r, &b);
	registry_add(r, &c);
	CHECK(registry_generation(r) != before);
	CHECK(registry_find(r, "z.example.com", "v1beta1", "as") == &a);
	CHECK(registry_find_kind(r, "z.example.com", "v1", "A") == &b);
	CHECK(registry_find(r, "z.example.com", "v1", "A") == NULL);
	CHECK(registry_preferred(r, "z.example.com", "as") == &b);
	CHECK(registry_has_group(r, "z.example.com", NULL));
	CHECK(registry_has_group(r, "z.example.com", "v2alpha1"));
	CHECK(!registry_has_group(r, "z.example.com", "v3"));
	registry_remove(r, &b);
	CHECK(registry_preferred(r, "z.example.com", "as") == &a);
	registry_remove(r, &a);
	registry_remove(r, &c);
	CHECK(!registry_has_group(r, "z.example.com", NULL));
	CHECK(registry_find(r, "z.example.com", "v1", "as") == NULL);
	registry_free(r);
}

TEST("a custom kind cannot take the place of a built-in one")
{
	struct registry *r = registry_new();
	const struct kind *first = registry_at(r, 0);
	struct kind thief;

	CHECK(first != NULL);
	if (first) {
		thief = custom(first->group, first->version, first->plural, first->kind);
		registry_add(r, &thief);
		CHECK(registry_find(r, first->group, first->version, first->plural) == first);
		registry_remove(r, &thief);
	}
	registry_free(r);
}

TEST("kinds are listed group by group, core first, and versions by preference")
{
	struct registry *r = registry_new();
	struct kind rows[] = {
		custom("b.example.com", "v1alpha1", "as", "A"), custom("a.example.com", "v1", "as", "A"),
		custom("b.example.com", "v1", "as", "A"),       custom("b.example.com", "v2", "as", "A"),
		custom("b.example.com", "v1beta2", "as", "A"),  custom("b.example.com", "weird", "as", "A"),
		custom("kubeflow.org", "v9", "nines", "Nine"),
	};
	static const char *const want[] = { "a.example.com/v1",      "b.example.com/v2",       "b.example.com/v1",
					    "b.example.com/v1beta2", "b.example.com/v1alpha1", "b.example.com/weird" };
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		registry_add(r, &rows[i]);
	while (registry_at(r, n))
		n++;
	CHECK_STR(registry_at(r, 0)->group, "");
	for (size_t i = 0; i < ARRAY_SIZE(want) && n >= ARRAY_SIZE(want); i++) {
		const struct kind *k = registry_at(r, n - ARRAY_SIZE(want) + i);
		auto_free char *name = xasprintf("%s/%s", k->group, k->version);

		CHECK_STR(name, want[i]);
	}
	/* Each group and each of its versions is one run. */
	for (size_t i = 1; i < n; i++)
		for (size_t k = i + 1; k < n; k++)
			if (strcmp(registry_at(r, i)->group, registry_at(r, k)->group) == 0)
				CHECK_STR(registry_at(r, k - 1)->group, registry_at(r, k)->group);
	registry_free(r);
}

TEST("bodies are found by version and kind, DeleteOptions under any version")
{
	struct registry *r = registry_new();

	CHECK(registry_message(r, "v1", "DeleteOptions") == &meta_delete_options);
	CHECK(registry_message(r, "batch/v1", "DeleteOptions") == &meta_delete_options);
	CHECK(registry_message(r, "v1", "Status") == &meta_status);
	CHECK(registry_message(r, "v1", "Nonsense") == NULL);
	CHECK(registry_find(r, "", "v1", "nonsense") == NULL);
	registry_free(r);
}

TEST("every built-in kind is found by all of its names")
{
	struct registry *r = registry_new();
	const struct kind *k;

	for (size_t i = 0; (k = registry_at(r, i)); i++) {
		char version[128];

		kind_api_version(k, version, sizeof(version));
		CHECK(registry_find(r, k->group, k->version, k->plural) == k);
		CHECK(registry_find_kind(r, k->group, k->version, k->kind) != NULL);
		CHECK(registry_preferred(r, k->group, k->plural) != NULL);
		CHECK(!k->message == !registry_message(r, version, k->kind));
	}
	registry_free(r);
}
