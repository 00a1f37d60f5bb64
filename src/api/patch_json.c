// SPDX-License-Identifier: Apache-2.0
/* patch_json.c - RFC 6902: a list of operations on places named by JSON pointers
 *
 * The operations run on a private copy, so a patch that fails half-way leaves nothing behind.  A short patch must not
 * make a large document: what `copy` duplicates (and what `move` pushes deeper, since its depth has to be measured) is
 * counted against the size of a request body, and no result is nested deeper than a parsed document may be.  Nor may it
 * take long: an item put into a list or taken out of it moves all that follow, which is counted too.
 *
 * Where the RFC and Kubernetes differ, Kubernetes is followed: a `test` for null passes where the member is absent.
 */
#include "api/patch.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

#define MAX_OPERATIONS 10000 /* kube-apiserver's figure */

/* Items of lists that one patch may move: 8 bytes each, about 20 ms in all. */
#define MAX_MOVES (50u * 1000 * 1000)

/* Clients match on this text; what follows it is for people. */
#define REJECTED "the server rejected our request due to an error in our request: "

/* One run over the operations. */
struct run {
	json_t *doc;
	size_t budget; /* bytes that may still be duplicated */
	size_t moves;  /* items of lists that may still be moved */
	size_t index;  /* of the operation, for error texts */
	struct err *e;
};

/* Where a pointer leads: the container that exists, and the last part, which may not. */
struct place {
	json_t *parent; /* NULL: the document itself */
	char *key;      /* unescaped */
	size_t depth;   /* parts of the pointer */
};

static void place_done(struct place *p)
{
	free(p->key);
}

#define auto_place __attribute__((cleanup(place_done)))

static int bad(struct run *r, const char *what)
{
	return err_set(r->e, ERR_BAD_REQUEST, "operation %zu of the JSON patch: %s", r->index, what);
}

static int missing(struct run *r, const char *pointer)
{
	return err_set(r->e, ERR_INVALID, REJECTED "operation %zu: %.500s does not exist", r->index, pointer);
}

static const char *member_text(struct run *r, const json_t *op, const char *name)
{
	const char *s = json_string_value(json_object_get(op, name));

	if (!s)
		err_set(r->e, ERR_BAD_REQUEST, "operation %zu of the JSON patch: \"%s\" must be a string", r->index,
			name);
	return s;
}

/* An array index as RFC 6901 writes it: no sign, no leading zero. */
static bool array_index(const char *key, size_t limit, size_t *ret)
{
	int64_t i;

	if ((key[0] == '0' && key[1]) || key[0] == '+' || !str_int64(key, 0, INT32_MAX, &i) || (size_t)i > limit)
		return false;
	*ret = (size_t)i;
	return true;
}

static json_t *child_find(const json_t *parent, const char *key)
{
	size_t i;

	if (json_is_array(parent))
		return array_index(key, SIZE_MAX, &i) ? json_array_get(parent, i) : NULL;
	return json_object_get(parent, key);
}

/* "a~1b~0" to "a/b~"; NULL for any other escape. */
static char *unescape(struct str part)
{
	char *out = xmalloc(part.n + 1);
	size_t n = 0;

	for (size_t i = 0; i < part.n; i++) {
		out[n] = part.p[i];
		if (part.p[i] == '~') {
			char c = i + 1 < part.n ? part.p[++i] : '\0';

			if (c != '0' && c != '1') {
				free(out);
				return NULL;
			}
			out[n] = c == '1' ? '/' : '~';
		}
		n++;
	}
	out[n] = '\0';
	return out;
}

static int place_get(struct run *r, const char *pointer, struct place *ret)
{
	struct str rest = str_of(pointer);
	struct str part;
	auto_place struct place p = { 0 };
	json_t *at = r->doc;

	if (*pointer && *pointer != '/')
		return bad(r, "a pointer must be empty or begin with /");
	str_split(&rest, '/', &part); /* the empty part before the first slash */
	while (rest.p && str_split(&rest, '/', &part)) {
		if (p.key) {
			at = child_find(at, p.key);
			free(TAKE(p.key));
		}
		p.key = unescape(part);
		if (!p.key)
			return bad(r, "~ in a pointer must be followed by 0 or 1");
		if (!json_is_object(at) && !json_is_array(at))
			return missing(r, pointer);
		p.parent = at;
		p.depth++;
	}
	*ret = p;
	p.key = NULL;
	return 0;
}

static json_t *place_value(const struct run *r, const struct place *p)
{
	return p->parent ? child_find(p->parent, p->key) : r->doc;
}

/* Bytes of a value as text, roughly; stops counting once it is more than `max`.  *ret_depth is the deepest nesting. */
static size_t measure(const json_t *v, size_t max, size_t depth, size_t *ret_depth)
{
	size_t n = 8;
	size_t i;
	const char *key;
	json_t *child;

	if (depth > *ret_depth)
		*ret_depth = depth;
	if (json_is_string(v))
		return n + json_string_length(v);
	json_object_foreach ((json_t *)v, key, child) {
		n += 4 + strlen(key);
		if (n > max)
			return n;
		n += measure(child, max - n, depth + 1, ret_depth);
	}
	json_array_foreach (v, i, child) {
		if (n > max)
			return n;
		n += measure(child, max - n, depth + 1, ret_depth);
	}
	return n;
}

/* May `v` be duplicated or moved to `depth` levels below the root?  Pays for it. */
static int afford(struct run *r, const json_t *v, size_t depth)
{
	size_t deepest = 0;
	size_t n = measure(v, r->budget, 0, &deepest);

	if (n > r->budget)
		return err_set(r->e, ERR_TOO_LARGE, "operation %zu of the JSON patch copies more than %u bytes",
			       r->index, LIMIT_BODY);
	if (depth + deepest >= LIMIT_JSON_DEPTH)
		return err_set(r->e, ERR_TOO_LARGE, "operation %zu of the JSON patch nests deeper than %d levels",
			       r->index, LIMIT_JSON_DEPTH);
	r->budget -= n;
	return 0;
}

/* May the items of a list from `i` on be moved?  Pays for it. */
static int afford_moves(struct run *r, const json_t *list, size_t i)
{
	size_t n = json_array_size(list) - i;

	if (n > r->moves)
		return err_set(r->e, ERR_TOO_LARGE,
			       "operation %zu of the JSON patch: changing a list of %zu items this often takes too "
			       "long, replace it instead",
			       r->index, json_array_size(list));
	r->moves -= n;
	return 0;
}

/* Takes `value`. */
static int put(struct run *r, const struct place *p, const char *pointer, json_t *value, bool replace)
{
	size_t n = json_array_size(p->parent);
	size_t i;

	if (!p->parent) {
		json_decref(r->doc);
		r->doc = value;
		return 0;
	}
	if (replace && !child_find(p->parent, p->key)) {
		json_decref(value);
		return missing(r, pointer);
	}
	if (json_is_object(p->parent)) {
		json_object_set_new(p->parent, p->key, value);
		return 0;
	}
	if (!replace && streq(p->key, "-"))
		i = n;
	else if (!array_index(p->key, n, &i)) {
		json_decref(value);
		return missing(r, pointer);
	}
	if (replace)
		return json_array_set_new(p->parent, i, value);
	if (afford_moves(r, p->parent, i) < 0) {
		json_decref(value);
		return -1;
	}
	return json_array_insert_new(p->parent, i, value);
}

/* The value, a new reference, taken out of the document. */
static int cut(struct run *r, const struct place *p, json_t **ret)
{
	json_t *v = child_find(p->parent, p->key);
	size_t i;

	if (json_is_object(p->parent)) {
		*ret = json_incref(v);
		return json_object_del(p->parent, p->key);
	}
	if (!array_index(p->key, SIZE_MAX, &i) || afford_moves(r, p->parent, i) < 0)
		return -1;
	*ret = json_incref(v);
	return json_array_remove(p->parent, i);
}

static int write_value(struct run *r, const json_t *op, const char *path, bool replace)
{
	const json_t *value = json_object_get(op, "value");
	auto_place struct place p = { 0 };
	size_t deepest = 0;

	if (!value)
		return bad(r, "\"value\" is missing");
	if (place_get(r, path, &p) < 0)
		return -1;
	measure(value, LIMIT_BODY, 0, &deepest);
	if (p.depth + deepest >= LIMIT_JSON_DEPTH)
		return err_set(r->e, ERR_TOO_LARGE, "operation %zu of the JSON patch nests deeper than %d levels",
			       r->index, LIMIT_JSON_DEPTH);
	return put(r, &p, path, jsonx_copy(value), replace);
}

static int op_add(struct run *r, const json_t *op, const char *path)
{
	return write_value(r, op, path, false);
}

static int op_replace(struct run *r, const json_t *op, const char *path)
{
	return write_value(r, op, path, true);
}

static int op_remove(struct run *r, const json_t *op, const char *path)
{
	auto_place struct place p = { 0 };
	json_auto_t *gone = NULL;

	(void)op;
	if (place_get(r, path, &p) < 0)
		return -1;
	if (!p.parent)
		return bad(r, "the whole object cannot be removed");
	if (!place_value(r, &p))
		return missing(r, path);
	return cut(r, &p, &gone);
}

static int op_test(struct run *r, const json_t *op, const char *path)
{
	const json_t *want = json_object_get(op, "value");
	auto_place struct place p = { 0 };
	const json_t *got;

	if (!want)
		return bad(r, "\"value\" is missing");
	if (place_get(r, path, &p) < 0)
		return -1;
	got = place_value(r, &p);
	if (got ? !jsonx_equal(got, want) : !json_is_null(want))
		return err_set(r->e, ERR_INVALID, REJECTED "operation %zu: testing value %.500s failed", r->index,
			       path);
	return 0;
}

/* Is `inner` the same place as `outer` or below it? */
static bool within(const char *outer, const char *inner)
{
	size_t n = strlen(outer);

	return strncmp(outer, inner, n) == 0 && (inner[n] == '/' || !inner[n]);
}

static int op_move(struct run *r, const json_t *op, const char *path)
{
	const char *from = member_text(r, op, "from");
	auto_place struct place src = { 0 };
	auto_place struct place dst = { 0 };
	json_t *value;

	if (!from || place_get(r, from, &src) < 0)
		return -1;
	value = place_value(r, &src);
	if (!value)
		return missing(r, from);
	if (streq(from, path))
		return 0;
	if (!src.parent || within(from, path))
		return bad(r, "a value cannot be moved into itself");
	/* The copy is thrown away on failure, so taking the value out first is safe. */
	if (cut(r, &src, &value) < 0)
		return -1;
	if (place_get(r, path, &dst) < 0 || (dst.depth > src.depth && afford(r, value, dst.depth) < 0)) {
		json_decref(value);
		return -1;
	}
	return put(r, &dst, path, value, false);
}

static int op_copy(struct run *r, const json_t *op, const char *path)
{
	const char *from = member_text(r, op, "from");
	auto_place struct place src = { 0 };
	auto_place struct place dst = { 0 };
	const json_t *value;

	if (!from || place_get(r, from, &src) < 0)
		return -1;
	value = place_value(r, &src);
	if (!value)
		return missing(r, from);
	if (place_get(r, path, &dst) < 0 || afford(r, value, dst.depth) < 0)
		return -1;
	return put(r, &dst, path, jsonx_copy(value), false);
}

static const struct {
	const char *name;
	int (*run)(struct run *r, const json_t *op, const char *path);
} operations[] = {
	{ "add", op_add },   { "remove", op_remove }, { "replace", op_replace },
	{ "move", op_move }, { "copy", op_copy },     { "test", op_test },
};

static int run_one(struct run *r, const json_t *op)
{
	const char *name, *path;

	if (!json_is_object(op))
		return bad(r, "not an object");
	name = member_text(r, op, "op");
	path = name ? member_text(r, op, "path") : NULL;
	if (!path)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(operations); i++)
		if (streq(operations[i].name, name))
			return operations[i].run(r, op, path);
	return bad(r, "\"op\" must be add, remove, replace, move, copy or test");
}

int patch_json(json_t **doc, const json_t *ops, struct err *e)
{
	struct run r = { .budget = LIMIT_BODY, .moves = MAX_MOVES, .e = e };
	const json_t *op;

	if (!json_is_array(ops))
		return err_set(e, ERR_BAD_REQUEST, "a JSON patch must be an array of operations");
	if (json_array_size(ops) > MAX_OPERATIONS)
		return err_set(e, ERR_TOO_LARGE, "The allowed maximum operations in a JSON patch is %d, got %zu",
			       MAX_OPERATIONS, json_array_size(ops));
	r.doc = jsonx_copy(*doc);
	json_array_foreach (ops, r.index, op) {
		if (run_one(&r, op) < 0) {
			json_decref(r.doc);
			return -1;
		}
	}
	json_decref(*doc);
	*doc = r.doc;
	return 0;
}
