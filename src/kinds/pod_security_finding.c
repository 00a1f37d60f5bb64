// SPDX-License-Identifier: Apache-2.0
/* pod_security_finding.c - who of a pod asked for what, and how that is put into words
 *
 * The words are those of Kubernetes: values in order of the alphabet, containers in the order of the pod.
 */
#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/pod_security_rules.h"

/* ---- who set what ---- */

struct finding finding_new(void)
{
	return (struct finding){ .containers = json_array(), .values = json_object() };
}

void finding_done(struct finding *f)
{
	json_decref(f->containers);
	json_decref(f->values);
}

bool finding_any(const struct finding *f)
{
	return f->pod || json_array_size(f->containers);
}

const json_t *security_next_container(const json_t *spec, struct security_walk *w)
{
	for (; w->list < ARRAY_SIZE(pod_container_lists); w->list++, w->i = 0) {
		const json_t *list = json_object_get(spec, pod_container_lists[w->list]);

		if (w->i < json_array_size(list))
			return json_array_get(list, w->i++);
	}
	return NULL;
}

void finding_container(struct finding *f, const json_t *container)
{
	json_array_append_new(f->containers, jsonx_string(jsonx_str_or(container, "name", "")));
}

void finding_value(struct finding *f, const char *value)
{
	json_object_set_new(f->values, value, json_true());
}

const json_t *security_context_field(const json_t *holder, const char *path)
{
	return jsonx_at(json_object_get(holder, "securityContext"), path);
}

void finding_gather(const struct security_subject *s, const char *path, bool pod_too, security_bad_fn *bad,
		    struct finding *f)
{
	const json_t *value = pod_too ? security_context_field(s->spec, path) : NULL;
	struct security_walk w = { 0 };
	const json_t *c;

	if (pod_too && bad(value)) {
		f->pod = true;
		finding_value(f, json_is_string(value) ? json_string_value(value) : "");
	}
	while ((c = security_next_container(s->spec, &w))) {
		value = security_context_field(c, path);
		if (!bad(value))
			continue;
		finding_container(f, c);
		finding_value(f, json_is_string(value) ? json_string_value(value) : "");
	}
}

void finding_gather_unset(const struct security_subject *s, const char *path, struct finding *f)
{
	struct security_walk w = { 0 };
	const json_t *c;

	if (security_context_field(s->spec, path))
		return;
	while ((c = security_next_container(s->spec, &w)))
		if (!security_context_field(c, path))
			finding_container(f, c);
}

/* ---- words ---- */

const char *finding_plural(const char *one, const char *many, size_t n)
{
	return n == 1 ? one : many;
}

void finding_say_names(const json_t *names, struct sbuf *out)
{
	json_t *name;
	size_t i;

	json_array_foreach ((json_t *)names, i, name)
		sbuf_addf(out, "%s\"%s\"", i ? ", " : "", json_string_value(name));
}

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

void finding_say_set(const json_t *set, const char *quote, struct sbuf *out)
{
	size_t n = json_object_size(set);
	auto_free const char **keys = xcalloc(n + 1, sizeof(*keys));
	const char *key;
	json_t *v;
	size_t i = 0;

	json_object_foreach ((json_t *)set, key, v)
		keys[i++] = key;
	qsort(keys, n, sizeof(*keys), by_text);
	for (i = 0; i < n; i++)
		sbuf_addf(out, "%s%s%s%s", i ? ", " : "", quote, keys[i], quote);
}

void finding_say_containers(const struct finding *f, struct sbuf *out)
{
	sbuf_addf(out, "%s ", finding_plural("container", "containers", json_array_size(f->containers)));
	finding_say_names(f->containers, out);
}

void finding_say_setters(const struct finding *f, struct sbuf *out)
{
	bool containers = json_array_size(f->containers) > 0;

	if (f->pod)
		sbuf_adds(out, containers ? "pod and " : "pod");
	if (containers)
		finding_say_containers(f, out);
}
