// SPDX-License-Identifier: Apache-2.0
/* patch_merge.c - RFC 7386: a patch has the shape of the object, null removes, anything but an object replaces
 *
 * Values are copied in, so that the object and the patch share nothing afterwards: defaulting edits the object in
 * place.
 */
#include "api/patch.h"
#include "base/jsonx.h"

static void merge_member(json_t *obj, const char *key, const json_t *value)
{
	json_t *old = json_object_get(obj, key);

	if (json_is_null(value)) {
		json_object_del(obj, key);
		return;
	}
	if (!json_is_object(value)) {
		json_object_set_new(obj, key, jsonx_copy(value));
		return;
	}
	if (!json_is_object(old)) {
		/* Merging into an empty object, not copying: nulls below must go. */
		old = json_object();
		json_object_set_new(obj, key, old);
	}
	patch_merge(old, value);
}

void patch_merge(json_t *obj, const json_t *patch)
{
	const char *key;
	json_t *value;

	json_object_foreach ((json_t *)patch, key, value)
		merge_member(obj, key, value);
}
