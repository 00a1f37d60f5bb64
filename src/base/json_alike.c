// SPDX-License-Identifier: Apache-2.0
/* json_alike.c - see json_alike.h
 *
 * Objects come by the thousand, and a thousand pods of one job differ in their names.  As jansson has it a pod is
 * twenty kilobytes; what is not the same in the pod before it is two.  Stored objects never change, so whoever keeps
 * them may keep equal parts once.
 *
 * Nothing is looked up: an object is compared with the one that came before it, which costs less than decoding it did,
 * and nobody has to say when a part is no longer needed.
 */
#include "base/json_alike.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/jsonx.h"
#include "base/str.h"

#define DEPTH_MOST 8 /* a difference further down is looked for no more: each level compares all below it again */

/* Numbers of one value but of two types are two texts. */
static bool is_same(const json_t *a, const json_t *b);

/* Equal objects as a rule have their members in the same order, and then none has to be looked up. */
static bool is_same_object(json_t *a, json_t *b)
{
	void *i = json_object_iter(a);
	void *k = json_object_iter(b);

	if (json_object_size(a) != json_object_size(b))
		return false;
	for (; i; i = json_object_iter_next(a, i), k = json_object_iter_next(b, k))
		if (!streq(json_object_iter_key(i), json_object_iter_key(k)) ||
		    !is_same(json_object_iter_value(i), json_object_iter_value(k)))
			return false;
	return true;
}

static bool is_same(const json_t *a, const json_t *b)
{
	if (a == b)
		return true;
	if (json_typeof(a) != json_typeof(b))
		return false;
	switch (json_typeof(a)) {
	case JSON_OBJECT:
		return is_same_object((json_t *)a, (json_t *)b);
	case JSON_ARRAY:
		if (json_array_size(a) != json_array_size(b))
			return false;
		for (size_t i = 0; i < json_array_size(a); i++)
			if (!is_same(json_array_get(a, i), json_array_get(b, i)))
				return false;
		return true;
	case JSON_STRING:
		return json_string_length(a) == json_string_length(b) &&
		       memcmp(json_string_value(a), json_string_value(b), json_string_length(a)) == 0;
	default:
		return json_equal(a, b);
	}
}

static json_t *alike(json_t *v, json_t *like, int depth);

static json_t *alike_object(json_t *v, json_t *like, int depth)
{
	json_t *copy = NULL;
	const char *key;
	json_t *member;
	size_t n;

	json_object_keylen_foreach(v, key, n, member)
	{
		json_t *one = alike(member, json_object_getn(like, key, n), depth);

		if (one != member && !copy)
			copy = json_copy(v);
		if (one != member)
			json_object_setn_new_nocheck(copy, key, n, one);
		else
			json_decref(one);
	}
	return copy ? copy : json_incref(v);
}

static json_t *alike_array(json_t *v, json_t *like, int depth)
{
	json_t *copy = NULL;

	for (size_t i = 0; i < json_array_size(v); i++) {
		json_t *member = json_array_get(v, i);
		json_t *one = alike(member, json_array_get(like, i), depth);

		if (one != member && !copy)
			copy = json_copy(v);
		if (one != member)
			json_array_set_new(copy, i, one);
		else
			json_decref(one);
	}
	return copy ? copy : json_incref(v);
}

static json_t *alike(json_t *v, json_t *like, int depth)
{
	if (!like || v == like)
		return json_incref(v);
	if (is_same(v, like))
		return json_incref(like);
	if (json_typeof(v) != json_typeof(like) || depth >= DEPTH_MOST)
		return json_incref(v);
	if (json_is_object(v))
		return alike_object(v, like, depth + 1);
	return json_is_array(v) ? alike_array(v, like, depth + 1) : json_incref(v);
}

json_t *json_alike(const json_t *v, const json_t *like)
{
	return alike((json_t *)v, (json_t *)like, 0);
}

static const char *sort_of(const json_t *obj)
{
	const json_t *owner;
	size_t i;

	json_array_foreach (jsonx_at(obj, "metadata.ownerReferences"), i, owner)
		if (jsonx_bool_or(owner, "controller", false))
			return jsonx_str_or(owner, "uid", "");
	return jsonx_str_or(obj, "metadata.namespace", "");
}

static uint32_t hash(uint32_t h, const char *s)
{
	for (; *s; s++)
		h = (h ^ (unsigned char)*s) * 16777619u;
	return h ^ h >> 16;
}

json_t *json_alike_next(struct json_alike *a, unsigned kind, const json_t *obj)
{
	uint32_t h = hash(2166136261u + kind, sort_of(obj));
	size_t conditions = json_array_size(jsonx_at(obj, "status.conditions"));
	json_t **last =
		&a->last[hash(h + (uint32_t)conditions, jsonx_str_or(obj, "status.phase", "")) % JSON_ALIKE_SORTS];
	json_t *one = json_alike(obj, *last);

	json_decref(*last);
	*last = json_incref(one);
	return one;
}

void json_alike_done(struct json_alike *a)
{
	for (size_t i = 0; i < JSON_ALIKE_SORTS; i++)
		json_decref(a->last[i]);
	*a = (struct json_alike){ 0 };
}
