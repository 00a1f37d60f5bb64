// SPDX-License-Identifier: Apache-2.0
/* rbac_rules.c - matching a request against a rule, and rules against rules
 *
 * Matching follows Kubernetes' evaluation to the letter: a rule allows a resource request when verb, API group,
 * resource (with its subresource) and name all match; a rule with names never matches a request without one, so such a
 * rule gives neither create nor an unnamed list.
 *
 * Covering decides escalation.  The wanted rule is taken apart into rights of one verb on one resource (and one name),
 * and each must lie within one of the rules held.  The product of a rule's lists is bounded, because its author is
 * just the person who is not trusted yet.
 */
#include "api/rbac_rules.h"

#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"

/* Rights of one role that are looked at singly, ten times those of "admin"; a role with more is refused as a whole. */
#define MAX_RIGHTS 10000

static void words_init(struct words *w, const json_t *list)
{
	size_t i;
	json_t *item;

	*w = (struct words){ 0 };
	if (!json_array_size(list))
		return;
	w->items = xcalloc(json_array_size(list), sizeof(*w->items));
	json_array_foreach (list, i, item) {
		if (!json_is_string(item))
			continue;
		w->items[w->n++] = json_string_value(item);
		w->any |= streq(json_string_value(item), "*");
	}
}

static bool words_have(const struct words *w, const char *word)
{
	for (size_t i = 0; i < w->n; i++)
		if (streq(w->items[i], word))
			return true;
	return false;
}

static bool words_match(const struct words *w, const char *word)
{
	return w->any || words_have(w, word);
}

void rbac_rules_init(struct rbac_rules *r, const json_t *array)
{
	size_t n = json_array_size(array);

	*r = (struct rbac_rules){ 0 };
	if (!n)
		return;
	r->source = json_incref((json_t *)array);
	r->rules = xcalloc(n, sizeof(*r->rules));
	r->n = n;
	for (size_t i = 0; i < n; i++) {
		const json_t *rule = json_array_get(array, i);
		struct rbac_rule *to = &r->rules[i];

		words_init(&to->verbs, json_object_get(rule, "verbs"));
		words_init(&to->groups, json_object_get(rule, "apiGroups"));
		words_init(&to->resources, json_object_get(rule, "resources"));
		words_init(&to->names, json_object_get(rule, "resourceNames"));
		words_init(&to->urls, json_object_get(rule, "nonResourceURLs"));
	}
}

void rbac_rules_done(struct rbac_rules *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct rbac_rule *rule = &r->rules[i];

		free(rule->verbs.items);
		free(rule->groups.items);
		free(rule->resources.items);
		free(rule->names.items);
		free(rule->urls.items);
	}
	free(r->rules);
	json_decref(r->source);
	*r = (struct rbac_rules){ 0 };
}

/* --- a request against a rule --- */

/* "pods", "pods/log", "*", and "*" "/log" for that subresource of anything. */
static bool resource_matches(const struct words *w, const char *resource, const char *sub)
{
	size_t n = strlen(resource);

	if (w->any)
		return true;
	for (size_t i = 0; i < w->n; i++) {
		const char *r = w->items[i];

		if (strncmp(r, resource, n) == 0 && (*sub ? r[n] == '/' && streq(r + n + 1, sub) : r[n] == '\0'))
			return true;
		if (*sub && r[0] == '*' && r[1] == '/' && streq(r + 2, sub))
			return true;
	}
	return false;
}

/* A '*' at the end stands for anything; elsewhere it is itself. */
static bool url_matches(const char *rule, const char *path)
{
	size_t n = strlen(rule);

	if (streq(rule, path))
		return true;
	if (!n || rule[n - 1] != '*')
		return false;
	while (n && rule[n - 1] == '*')
		n--;
	return strncmp(rule, path, n) == 0;
}

static bool urls_match(const struct words *w, const char *path)
{
	for (size_t i = 0; i < w->n; i++)
		if (url_matches(w->items[i], path))
			return true;
	return false;
}

static const char *or_empty(const char *s)
{
	return s ? s : "";
}

bool rbac_rule_allows(const struct rbac_rule *rule, const struct authz_attributes *at)
{
	if (!words_match(&rule->verbs, at->verb))
		return false;
	if (!at->resource)
		return urls_match(&rule->urls, or_empty(at->path));
	return words_match(&rule->groups, or_empty(at->group)) &&
	       resource_matches(&rule->resources, at->resource, or_empty(at->subresource)) &&
	       (!rule->names.n || words_have(&rule->names, or_empty(at->name)));
}

/* --- rules against rules --- */

/* One verb on one thing; NULL where the rule it came from does not speak of it. */
struct right {
	const char *verb, *group, *resource, *name, *url;
};

/* A subresource is covered by its own name or by that subresource of anything, never by its parent's name. */
static bool resource_covers(const struct words *w, const char *resource)
{
	const char *slash = strchr(resource, '/');

	if (words_match(w, resource))
		return true;
	if (!slash)
		return false;
	for (size_t i = 0; i < w->n; i++)
		if (str_starts(w->items[i], "*/") && streq(w->items[i] + 2, slash + 1))
			return true;
	return false;
}

static bool right_within(const struct right *r, const struct rbac_rule *rule)
{
	if (!words_match(&rule->verbs, r->verb))
		return false;
	if (r->url)
		return urls_match(&rule->urls, r->url);
	if (!words_match(&rule->groups, r->group) || !resource_covers(&rule->resources, r->resource))
		return false;
	return !rule->names.n || (r->name && words_have(&rule->names, r->name));
}

struct missing {
	const struct rbac_rule *const *have;
	size_t nhave;
	struct right *rights;
	size_t n, cap;
};

static void check_right(struct missing *m, struct right r)
{
	for (size_t i = 0; i < m->nhave; i++)
		if (right_within(&r, m->have[i]))
			return;
	ARRAY_PUSH(m->rights, m->n, m->cap, r);
}

static void check_names(struct missing *m, const struct rbac_rule *rule, struct right r)
{
	if (!rule->names.n)
		check_right(m, r);
	for (size_t i = 0; i < rule->names.n; i++) {
		r.name = rule->names.items[i];
		check_right(m, r);
	}
}

static void check_rule(struct missing *m, const struct rbac_rule *rule)
{
	for (size_t g = 0; g < rule->groups.n; g++)
		for (size_t r = 0; r < rule->resources.n; r++)
			for (size_t v = 0; v < rule->verbs.n; v++)
				check_names(m, rule,
					    (struct right){ .verb = rule->verbs.items[v],
							    .group = rule->groups.items[g],
							    .resource = rule->resources.items[r] });
	for (size_t u = 0; u < rule->urls.n; u++)
		for (size_t v = 0; v < rule->verbs.n; v++)
			check_right(m, (struct right){ .verb = rule->verbs.items[v], .url = rule->urls.items[u] });
}

/* How many rights a rule gives, or more than MAX_RIGHTS when it is too many to count. */
static size_t count_rights(const struct rbac_rule *rule)
{
	size_t sizes[] = { rule->groups.n, rule->resources.n, rule->names.n ? rule->names.n : 1 };
	size_t n = 1;

	for (size_t i = 0; i < ARRAY_SIZE(sizes) && n <= MAX_RIGHTS; i++)
		n = sizes[i] > MAX_RIGHTS ? MAX_RIGHTS + 1 : n * sizes[i];
	n += rule->urls.n;
	if (n > MAX_RIGHTS || rule->verbs.n > MAX_RIGHTS)
		return MAX_RIGHTS + 1;
	return n * rule->verbs.n;
}

static void add_one(struct sbuf *b, const char *label, const char *word)
{
	if (!word)
		return;
	if (b->n > 1)
		sbuf_adds(b, ", ");
	sbuf_addf(b, "%s:[", label);
	sbuf_add_json_string(b, word, strlen(word));
	sbuf_addc(b, ']');
}

static bool same_thing(const struct right *a, const struct right *b)
{
	return !a->url && !b->url && streq(a->group, b->group) && streq(a->resource, b->resource) &&
	       str_same(a->name, b->name);
}

/* The line of right i together with the verbs of the later ones on the same thing, which are marked as told. */
static char *right_line(struct missing *m, size_t i)
{
	auto_sbuf struct sbuf b = SBUF(LIMIT_STATUS_TEXT);
	struct right r = m->rights[i];

	sbuf_addc(&b, '{');
	add_one(&b, "APIGroups", r.group);
	add_one(&b, "Resources", r.resource);
	add_one(&b, "NonResourceURLs", r.url);
	add_one(&b, "ResourceNames", r.name);
	sbuf_adds(&b, ", Verbs:[");
	sbuf_add_json_string(&b, r.verb, strlen(r.verb));
	for (size_t j = i + 1; j < m->n; j++) {
		struct right *other = &m->rights[j];

		if (!other->verb || !same_thing(&r, other))
			continue;
		sbuf_addc(&b, ' ');
		sbuf_add_json_string(&b, other->verb, strlen(other->verb));
		other->verb = NULL;
	}
	sbuf_adds(&b, "]}");
	return sbuf_steal(&b);
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* An error's text holds about a dozen lines; looking further would only take time. */
#define MAX_LINES 64

static void tell_missing(struct missing *m, struct sbuf *out)
{
	char *lines[MAX_LINES];
	size_t n = 0;

	for (size_t i = 0; i < m->n && n < MAX_LINES; i++)
		if (m->rights[i].verb)
			lines[n++] = right_line(m, i);
	qsort(lines, n, sizeof(*lines), by_text);
	for (size_t i = 0; i < n; i++) {
		if (i == 0 || !streq(lines[i], lines[i - 1])) {
			if (out->n)
				sbuf_addc(out, '\n');
			sbuf_adds(out, lines[i]);
		}
	}
	for (size_t i = 0; i < n; i++)
		free(lines[i]);
}

bool rbac_covers(const struct rbac_rule *const *have, size_t nhave, const struct rbac_rules *want, struct sbuf *missing)
{
	struct missing m = { .have = have, .nhave = nhave };
	size_t total = 0;
	bool covered;

	for (size_t i = 0; i < want->n; i++) {
		total += count_rights(&want->rules[i]);
		if (total > MAX_RIGHTS) {
			sbuf_addf(missing, "more than %d of them in one role", MAX_RIGHTS);
			return false;
		}
	}
	for (size_t i = 0; i < want->n; i++)
		check_rule(&m, &want->rules[i]);
	covered = m.n == 0;
	tell_missing(&m, missing);
	free(m.rights);
	return covered;
}

json_t *rbac_with_missing(const json_t *stored, const json_t *wanted)
{
	struct rbac_rules have, want;
	const struct rbac_rule **held;
	json_t *ret = NULL;

	rbac_rules_init(&have, stored);
	rbac_rules_init(&want, wanted);
	held = xcalloc(have.n + 1, sizeof(*held));
	for (size_t i = 0; i < have.n; i++)
		held[i] = &have.rules[i];
	for (size_t i = 0; i < want.n; i++) {
		struct missing m = { .have = held, .nhave = have.n };

		check_rule(&m, &want.rules[i]);
		if (m.n && !ret)
			ret = stored ? json_copy((json_t *)stored) : json_array();
		if (m.n)
			json_array_append(ret, json_array_get(wanted, i));
		free(m.rights);
	}
	free(held);
	rbac_rules_done(&have);
	rbac_rules_done(&want);
	return ret;
}
