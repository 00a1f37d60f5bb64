// SPDX-License-Identifier: Apache-2.0
/* getallreposimages.c - getallreposimages: the images that nodes have, by all their names
 *
 * Nodes tell of their images in their status, so this needs no right but to see nodes.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "pbs/about.h"

static const char usage[] = "usage: getallreposimages\n";

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

int getallreposimages_main(struct pbs *p, int argc, char **argv)
{
	json_auto_t *list = NULL;
	struct err e = ERR_INIT;
	const char **names = NULL;
	size_t n = 0;
	size_t cap = 0;
	json_t *node;
	size_t i;

	if (about_asked(argc, argv, usage))
		return 0;
	if (argc != 1)
		return about_misuse(usage);
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
