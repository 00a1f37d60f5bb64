// SPDX-License-Identifier: Apache-2.0
/* volume_downward.c - what a pod's downwardAPI files say; pure but for the machine's size */
#include <ctype.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/jsonx.h"
#include "base/mem.h"
#include "kinds/quantity.h"
#include "node/volume_parts.h"

/* As Go's %q writes it. */
static void add_quoted(struct sbuf *out, const char *s)
{
	static const char from[] = "\a\b\f\n\r\t\v\\\"";
	static const char to[] = "abfnrtv\\\"";

	sbuf_addc(out, '"');
	for (; *s; s++) {
		const char *at = strchr(from, *s);

		if (at)
			sbuf_addf(out, "\\%c", to[at - from]);
		else if ((unsigned char)*s < 0x20 || *s == 0x7f)
			sbuf_addf(out, "\\x%02x", (unsigned char)*s);
		else
			sbuf_addc(out, *s);
	}
	sbuf_addc(out, '"');
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* key="value" a line, sorted, without a newline at the end. */
static void add_map(const json_t *map, struct sbuf *out)
{
	size_t n = 0;
	auto_free const char **keys = xcalloc(json_object_size(map) + 1, sizeof(*keys));
	const char *key;
	json_t *v;

	json_object_foreach ((json_t *)map, key, v)
		keys[n++] = key;
	qsort(keys, n, sizeof(*keys), by_name);
	for (size_t i = 0; i < n; i++) {
		sbuf_addf(out, "%s%s=", i ? "\n" : "", keys[i]);
		v = json_object_get(map, keys[i]);
		add_quoted(out, json_is_string(v) ? json_string_value(v) : "");
	}
}

/* metadata.labels or metadata.labels['key'] */
static bool add_of_map(const json_t *pod, const char *path, const char *name, struct sbuf *out)
{
	const json_t *map = jsonx_at(pod, name);
	size_t n = strlen(name);
	auto_free char *key = NULL;

	if (streq(path, name)) {
		add_map(map, out);
		return true;
	}
	if (strncmp(path, name, n) != 0 || !str_starts(path + n, "['") || !str_ends(path + n, "']") ||
	    strlen(path + n) < 4)
		return false;
	key = xstrndup(path + n + 2, strlen(path + n) - 4);
	if (json_is_string(json_object_get(map, key)))
		sbuf_adds(out, json_string_value(json_object_get(map, key)));
	return true;
}

static int add_field(const json_t *pod, const char *path, struct sbuf *out, struct err *e)
{
	static const char *const plain[] = { "metadata.name", "metadata.namespace", "metadata.uid" };

	for (size_t i = 0; i < ARRAY_SIZE(plain); i++)
		if (streq(path, plain[i])) {
			sbuf_adds(out, jsonx_str_or(pod, path, ""));
			return 0;
		}
	if (add_of_map(pod, path, "metadata.labels", out) || add_of_map(pod, path, "metadata.annotations", out))
		return 0;
	return err_set(e, ERR_INVALID, "unsupported fieldPath: %s", path);
}

/* ---- requests and limits ---- */

static const json_t *find_container(const json_t *pod, const char *name)
{
	static const char *const lists[] = { "spec.containers", "spec.initContainers" };
	json_t *c;
	size_t k;

	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		json_array_foreach (jsonx_at(pod, lists[i]), k, c)
			if (str_same(jsonx_str(c, "name"), name))
				return c;
	return NULL;
}

/* Without a limit the machine is the limit. */
static struct quantity of_machine(const char *name)
{
	struct quantity q = { 0 };
	struct sysinfo info;

	if (streq(name, "cpu"))
		q.nano = (__int128)sysconf(_SC_NPROCESSORS_ONLN) * 1000000000;
	else if (streq(name, "memory") && sysinfo(&info) == 0)
		q.nano = (__int128)info.totalram * info.mem_unit * 1000000000;
	return q;
}

static int add_resource(const json_t *pod, const json_t *ref, struct sbuf *out, struct err *e)
{
	const char *resource = jsonx_str_or(ref, "resource", "");
	const char *name = jsonx_str_or(ref, "containerName", "");
	const json_t *container = find_container(pod, name);
	bool limit = str_starts(resource, "limits.");
	const char *which = strchr(resource, '.');
	struct quantity amount = { 0 };
	struct quantity divisor;
	const json_t *v;

	if (!container)
		return err_set(e, ERR_INVALID, "container %s not found", name);
	if (!limit && !str_starts(resource, "requests."))
		return err_set(e, ERR_INVALID, "unsupported container resource : %s", resource);
	which++;
	v = json_object_get(jsonx_at(container, limit ? "resources.limits" : "resources.requests"), which);
	if (json_is_string(v))
		quantity_parse(json_string_value(v), &amount);
	if (limit && amount.nano <= 0)
		amount = of_machine(which);
	if (!quantity_parse(jsonx_str_or(ref, "divisor", "1"), &divisor) || divisor.nano <= 0)
		quantity_parse("1", &divisor);
	sbuf_addf(out, "%lld", (long long)((amount.nano + divisor.nano - 1) / divisor.nano));
	return 0;
}

int volume_downward_text(const json_t *pod, const json_t *item, struct sbuf *out, struct err *e)
{
	const char *path = jsonx_str(item, "fieldRef.fieldPath");
	const json_t *resource = json_object_get(item, "resourceFieldRef");

	if (path)
		return add_field(pod, path, out, e);
	if (resource)
		return add_resource(pod, resource, out, e);
	return err_set(e, ERR_INVALID, "downwardAPI item has neither fieldRef nor resourceFieldRef");
}
