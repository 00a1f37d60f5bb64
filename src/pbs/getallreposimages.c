// SPDX-License-Identifier: Apache-2.0
/* getallreposimages.c - getallreposimages: the images of the site's registry
 *
 * Where the server names none, those that nodes have, by all their names: nodes tell of them in their status, so this
 * needs no right but to see nodes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/about.h"

static const char usage[] = "usage: getallreposimages [registry]\n";

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names with their digests are for machines. */
static void collect(const json_t *node, const char ***names, size_t *n, size_t *cap)
{
	json_t *image;
	json_t *name;
	size_t i;
	size_t k;

	json_array_foreach (jsonx_at(node, "status.images"), i, image)
		json_array_foreach (json_object_get(image, "names"), k, name)
			if (json_is_string(name) && !strchr(json_string_value(name), '@'))
				ARRAY_PUSH(*names, *n, *cap, json_string_value(name));
}

static int show_nodes(struct pbs *p)
{
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	const char **names = NULL;
	size_t n = 0;
	size_t cap = 0;
	json_t *node;
	size_t i;

	if (pbs_get(p, "/api/v1/nodes", &list, &e) < 0)
		return pbs_fail(p, &e, NULL);
	json_array_foreach (json_object_get(list, "items"), i, node)
		collect(node, &names, &n, &cap);
	if (n)
		qsort(names, n, sizeof(*names), by_text);
	for (i = 0; i < n; i++)
		if (!i || !streq(names[i], names[i - 1]))
			puts(names[i]);
	free(names);
	return 0;
}

static int show_registry(struct pbs *p, const char *registry)
{
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	json_t *name;
	size_t i;

	if (p->door->images(registry, &list, &e) < 0) {
		fprintf(stderr, "getallreposimages: %s\n", e.text);
		return 1;
	}
	json_array_foreach (list, i, name)
		puts(json_string_value(name));
	return 0;
}

int getallreposimages_main(struct pbs *p, int argc, char **argv)
{
	const char *registry = argc == 2 ? argv[1] : NULL;
	int status;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc > 2 || (registry && (!*registry || registry[0] == '-' || strpbrk(registry, "/?#@ "))))
		return about_misuse(usage);
	if (!registry) {
		registry = jsonx_str_or(pbs_settings(p), "spec.registry", "");
		status = pbs_fail_connect(p);
		if (status)
			return status;
	}
	if (!*registry)
		return show_nodes(p);
	if (!p->door->images)
		pbs_run_stoker(p->command, argc, argv);
	if (!p->door->images) {
		fprintf(stderr, "getallreposimages: stoker must lie beside this program\n");
		return 1;
	}
	return show_registry(p, registry);
}
