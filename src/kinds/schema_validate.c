// SPDX-License-Identifier: Apache-2.0
/* schema_validate.c - one object against its CRD's schema, complaints worded as Kubernetes words them
 *
 * The branches of anyOf, oneOf and not are tried with no error to fill in: only the answer counts there.  A pattern
 * that takes too long has no answer, so the object is refused wherever that happened, also below a `not`.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/schema_impl.h"

/* What all patterns of one object may take together: some 25 ms, and enough for any object of the
 * largest size and a simple pattern. */
#define PATTERN_STEPS (10 * 1000 * 1000)

struct patterns {
	int64_t steps;     /* left */
	const char *spent; /* the pattern that used up the last of them, if one did */
	bool said;
};

/* One check: where its complaints go (NULL: only the answer counts), and what it shares with all others. */
struct check {
	struct err *e;
	struct patterns *patterns;
};

static int check(const struct schema_node *n, const json_t *v, const struct path *at, bool root, struct check *c);

static const char *type_of(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "object";
	case JSON_ARRAY:
		return "array";
	case JSON_STRING:
		return "string";
	case JSON_INTEGER:
		return "integer";
	case JSON_REAL:
		return "number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "boolean";
	default:
		return "null";
	}
}

/* "spec.replicas: Invalid value: 15: spec.replicas in body should be ..." */
static int complain(const struct path *at, struct check *c, const json_t *v, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));
static int complain(const struct path *at, struct check *c, const json_t *v, const char *fmt, ...)
{
	char where[512];
	char what[512];
	va_list ap;

	if (!c->e)
		return -1;
	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	path_text(at, where, sizeof(where));
	return path_invalid(at, c->e, v, "%s in body %s", where, what);
}

static int wrong_type(const struct path *at, struct check *c, const json_t *v, const char *want)
{
	char where[512];

	if (!c->e)
		return -1;
	path_text(at, where, sizeof(where));
	return err_cause(c->e, CAUSE_TYPE, where, "Invalid value: \"%s\": %s in body must be of type %s: \"%s\"",
			 type_of(v), where, want, type_of(v));
}

/* Doubles this large have no fraction. */
#define NO_FRACTION 4503599627370496.0

static double distance_to_integer(double d)
{
	double rest = d < 0 ? -d : d;

	if (rest >= NO_FRACTION)
		return 0;
	rest -= (double)(int64_t)rest;
	return rest > 0.5 ? 1 - rest : rest;
}

static bool is_integral(const json_t *v)
{
	return json_is_integer(v) || (json_is_real(v) && distance_to_integer(json_real_value(v)) == 0);
}

static bool type_fits(const struct schema_node *n, const json_t *v)
{
	if (n->int_or_string && n->type == TYPE_NONE)
		return json_is_integer(v) || json_is_string(v);
	switch (n->type) {
	case TYPE_OBJECT:
		return json_is_object(v);
	case TYPE_ARRAY:
		return json_is_array(v);
	case TYPE_STRING:
		return json_is_string(v);
	case TYPE_INTEGER:
		return is_integral(v);
	case TYPE_NUMBER:
		return json_is_number(v);
	case TYPE_BOOLEAN:
		return json_is_boolean(v);
	default:
		return true;
	}
}

static int check_enum(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	auto_sbuf struct sbuf all = SBUF(400);
	auto_sbuf struct sbuf got = SBUF(200);
	char where[512];
	size_t i;
	json_t *item;

	json_array_foreach ((json_t *)n->enums, i, item)
		if (jsonx_equal(item, v))
			return 0;
	if (!c->e)
		return -1;
	jsonx_dump(v, &got);
	json_array_foreach ((json_t *)n->enums, i, item) {
		sbuf_adds(&all, i ? ", " : "");
		jsonx_dump(item, &all);
	}
	return err_cause(c->e, CAUSE_NOT_SUPPORTED, path_text(at, where, sizeof(where)),
			 "Unsupported value: %s: supported values: %s", sbuf_str(&got).p, sbuf_str(&all).p);
}

/* A pattern has used up what all may take; said once, at the first place that can be named. */
static int out_of_steps(const struct path *at, struct check *c)
{
	struct patterns *p = c->patterns;
	char where[512];

	if (!c->e || p->said)
		return -1;
	p->said = true;
	return err_cause(c->e, CAUSE_INVALID, path_text(at, where, sizeof(where)),
			 "Invalid value: too long to be checked against the pattern '%.200s'", p->spent);
}

static int check_pattern(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	int hit = regex_match(n->regex, json_string_value(v), json_string_length(v), &c->patterns->steps);

	if (hit > 0)
		return 0;
	if (hit == 0)
		return complain(at, c, v, "should match '%s'", n->pattern);
	if (!c->patterns->spent)
		c->patterns->spent = n->pattern;
	return out_of_steps(at, c);
}

/* Characters, not bytes. */
static int64_t text_length(const json_t *v)
{
	const char *s = json_string_value(v);
	int64_t n = 0;

	for (size_t i = 0; i < json_string_length(v); i++)
		n += ((unsigned char)s[i] & 0xc0) != 0x80;
	return n;
}

static int check_string(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	int64_t len = n->min_length >= 0 || n->max_length >= 0 ? text_length(v) : 0;
	int r = 0;

	if (n->min_length >= 0 && len < n->min_length)
		r |= complain(at, c, v, "should be at least %lld chars long", (long long)n->min_length);
	if (n->max_length >= 0 && len > n->max_length) {
		char where[512];

		r |= c->e ? err_cause(c->e, CAUSE_TOO_LONG, path_text(at, where, sizeof(where)),
				      "Too long: may not be more than %lld bytes", (long long)n->max_length)
			  : -1;
	}
	if (n->regex)
		r |= check_pattern(n, v, at, c);
	if (n->format && !schema_format_ok(n->format, json_string_value(v)))
		r |= complain(at, c, v, "must be of type %s: \"%s\"", n->format, json_string_value(v));
	return r;
}

static int check_number(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	double d = json_number_value(v);
	int r = 0;

	if (n->max.set && (n->max.exclusive ? d >= n->max.value : d > n->max.value))
		r |= complain(at, c, v, "should be less than %s%.15g", n->max.exclusive ? "" : "or equal to ",
			      n->max.value);
	if (n->min.set && (n->min.exclusive ? d <= n->min.value : d < n->min.value))
		r |= complain(at, c, v, "should be greater than %s%.15g", n->min.exclusive ? "" : "or equal to ",
			      n->min.value);
	if (n->multiple.set && n->multiple.value > 0 && distance_to_integer(d / n->multiple.value) > 1e-9)
		r |= complain(at, c, v, "should be a multiple of %.15g", n->multiple.value);
	if (n->format && streq(n->format, "int32") && (d < INT32_MIN || d > INT32_MAX))
		r |= complain(at, c, v, "must be of type int32");
	return r;
}

/* What makes two items of a list the same: the keys of a list map, or the whole of a set's item. */
static void item_identity(const struct schema_node *n, const json_t *item, struct sbuf *out)
{
	size_t i;
	json_t *key;

	if (!n->list_map) {
		jsonx_dump(item, out);
		return;
	}
	json_array_foreach ((json_t *)n->list_keys, i, key) {
		const char *name = json_string_value(key);
		const json_t *v = json_object_get(item, name);
		const struct schema_node *prop = map_find(&n->items->properties, name);

		sbuf_adds(out, i ? "," : "{");
		sbuf_add_json_string(out, name, strlen(name));
		sbuf_addc(out, ':');
		jsonx_dump(v ? v : prop && prop->dflt ? prop->dflt : json_null(), out);
	}
	sbuf_addc(out, '}');
}

static int check_unique(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	struct map seen;
	size_t i;
	json_t *item;
	int r = 0;

	map_init(&seen, NULL);
	json_array_foreach ((json_t *)v, i, item) {
		auto_sbuf struct sbuf id = SBUF(1 << 20);

		item_identity(n, item, &id);
		if (map_find(&seen, sbuf_str(&id).p)) {
			json_auto_t *same = json_loads(sbuf_str(&id).p, JSON_DECODE_ANY, NULL);

			r = c->e ? path_duplicate(PATH_INDEX(at, i), c->e, same ? same : item) : -1;
		}
		map_set(&seen, sbuf_str(&id).p, &seen);
	}
	map_done(&seen);
	return r;
}

static int check_array(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	int64_t count = (int64_t)json_array_size(v);
	int r = 0;

	if (n->min_items >= 0 && count < n->min_items)
		r |= complain(at, c, v, "should have at least %lld items", (long long)n->min_items);
	if (n->max_items >= 0 && count > n->max_items) {
		char where[512];

		if (!c->e)
			return -1;
		return err_cause(c->e, CAUSE_TOO_MANY, path_text(at, where, sizeof(where)),
				 "Too many: %lld: must have at most %lld items", (long long)count,
				 (long long)n->max_items);
	}
	for (int64_t i = 0; n->items && i < count; i++)
		r |= check(n->items, json_array_get(v, (size_t)i), PATH_INDEX(at, (size_t)i), false, c);
	if (n->list_set || n->list_map)
		r |= check_unique(n, v, at, c);
	return r;
}

static int check_required(const struct schema_node *n, const json_t *v, const struct path *at, bool root,
			  struct check *c)
{
	size_t i;
	json_t *name;
	int r = 0;

	json_array_foreach ((json_t *)n->required, i, name) {
		const char *s = json_string_value(name);

		/* The stored form has neither of the two, and metadata has rules of its own. */
		if (json_object_get(v, s) || (root && (streq(s, "apiVersion") || streq(s, "kind"))))
			continue;
		r |= c->e ? path_required(PATH_FIELD(at, s), c->e, NULL) : -1;
	}
	return r;
}

static int check_embedded(const struct schema_node *n, const json_t *v, const struct path *at, struct check *c)
{
	static const char *const needed[] = { "apiVersion", "kind" };
	int r = 0;

	for (size_t i = 0; n->embedded && i < ARRAY_SIZE(needed); i++) {
		const char *s = json_string_value(json_object_get(v, needed[i]));

		if (!s || !*s)
			r |= c->e ? path_required(PATH_FIELD(at, needed[i]), c->e, "must not be empty") : -1;
	}
	return r;
}

static int check_object(const struct schema_node *n, const json_t *v, const struct path *at, bool root, struct check *c)
{
	int64_t count = (int64_t)json_object_size(v);
	const char *name;
	json_t *child;
	int r = check_required(n, v, at, root, c) | check_embedded(n, v, at, c);

	if (n->min_props >= 0 && count < n->min_props)
		r |= complain(at, c, v, "should have at least %lld properties", (long long)n->min_props);
	if (n->max_props >= 0 && count > n->max_props)
		r |= complain(at, c, v, "should have at most %lld properties", (long long)n->max_props);
	json_object_foreach ((json_t *)v, name, child) {
		const struct schema_node *prop = map_find(&n->properties, name);

		if (root && streq(name, "metadata"))
			continue;
		if (prop)
			r |= check(prop, child, PATH_FIELD(at, name), false, c);
		else if (n->additional)
			r |= check(n->additional, child, PATH_KEY(at, name), false, c);
	}
	return r;
}

static size_t count_matches(const struct schema_node *n, enum schema_junctor j, const json_t *v, bool root,
			    const struct check *c)
{
	struct check quiet = { .patterns = c->patterns };
	size_t hits = 0;

	for (size_t i = 0; i < n->njunctors[j]; i++)
		hits += check(n->junctors[j][i], v, NULL, root, &quiet) == 0;
	return hits;
}

static int check_junctors(const struct schema_node *n, const json_t *v, const struct path *at, bool root,
			  struct check *c)
{
	size_t any = n->njunctors[ANY_OF] ? count_matches(n, ANY_OF, v, root, c) : 1;
	size_t one = n->njunctors[ONE_OF] ? count_matches(n, ONE_OF, v, root, c) : 1;
	size_t not = n->njunctors[NOT] ? count_matches(n, NOT, v, root, c) : 0;
	int r = 0;

	for (size_t i = 0; i < n->njunctors[ALL_OF]; i++)
		r |= check(n->junctors[ALL_OF][i], v, at, root, c);
	if (c->patterns->spent)
		return out_of_steps(at, c);
	if (!any)
		r |= complain(at, c, v, "must validate at least one schema (anyOf)");
	if (one != 1)
		r |= complain(at, c, v, "must validate one and only one schema (oneOf). %s",
			      one ? "Found more than one valid" : "Found none valid");
	if (not )
		r |= complain(at, c, v, "must not validate the schema (not)");
	return r;
}

static int check(const struct schema_node *n, const json_t *v, const struct path *at, bool root, struct check *c)
{
	int r = 0;

	if (json_is_null(v) && n->nullable)
		return 0;
	if (!type_fits(n, v))
		return wrong_type(at, c, v, n->type == TYPE_NONE ? "integer or string" : schema_type_names[n->type]);
	if (n->enums)
		r |= check_enum(n, v, at, c);
	if (json_is_string(v))
		r |= check_string(n, v, at, c);
	else if (json_is_number(v))
		r |= check_number(n, v, at, c);
	else if (json_is_array(v))
		r |= check_array(n, v, at, c);
	else if (json_is_object(v))
		r |= check_object(n, v, at, root, c);
	return check_junctors(n, v, at, root, c) | r;
}

int schema_node_validate(const struct schema_node *n, const json_t *v, const struct path *at, bool root, struct err *e)
{
	struct patterns patterns = { .steps = PATTERN_STEPS };
	struct check c = { e, &patterns };

	return check(n, v, at, root, &c) < 0 ? -1 : 0;
}

int schema_validate(const struct schema *s, const json_t *obj, struct err *e)
{
	return schema_node_validate(s->root, obj, NULL, true, e);
}
