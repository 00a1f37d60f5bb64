// SPDX-License-Identifier: Apache-2.0
/* image_nodes.c - `stoker image list` for users
 *
 * Only its owner can enter the data directory, but whoever writes `startdocker ... IMAGE` must see which images there
 * are. A node tells it in its status, which everyone may read: without ids and times of use, and anew once in a while.
 */
#include <unistd.h>

#include "base/jsonx.h"
#include "cli/image_nodes.h"

bool image_store_closed(const char *data)
{
	auto_sbuf struct sbuf dir = SBUF(4096);

	if (!data) {
		default_data_dir(&dir);
		data = dir.p;
	}
	return access(data, R_OK | X_OK) < 0;
}

static json_t *rows_of(const json_t *nodes)
{
	json_t *rows = json_array();
	json_t *node, *image;
	size_t i, k;

	json_array_foreach (jsonx_at(nodes, "items"), i, node)
		json_array_foreach (jsonx_at(node, "status.images"), k, image)
			json_array_append_new(rows, json_pack("{s:s, s:O?, s:I}", "node",
							      jsonx_str_or(node, "metadata.name", ""), "names",
							      json_object_get(image, "names"), "bytes",
							      (json_int_t)jsonx_int_or(image, "sizeBytes", 0)));
	return rows;
}

int image_nodes_list(const struct connect_settings *s, json_t **ret, struct err *e)
{
	static const struct ref nodes = { .api_version = "v1", .plural = "nodes" };
	json_auto_t *list = NULL;
	struct connection c;
	int r;

	if (connect_open(s, &c, e) < 0)
		return -1;
	r = client_list_wait(c.client, &nodes, &(struct list_options){ 0 }, &list, e);
	connect_close(&c);
	if (r == 0)
		*ret = rows_of(list);
	return r;
}
