// SPDX-License-Identifier: Apache-2.0
/* env.c - a container's environment, in the order Kubernetes builds it
 *
 *	image's own -> services of the namespace -> envFrom -> env
 *
 * Later ones win.  $(VAR) in an env value means a variable named before it; $$ is a dollar sign; a name that is not
 *known stays as it was written.
 */
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "kinds/names.h"
#include "kinds/quantity.h"
#include "node/bundle.h"

void env_expand(const char *text, const json_t *vars, struct sbuf *out)
{
	for (const char *p = text; *p; p++) {
		const char *end;
		const json_t *v;

		if (p[0] != '$') {
			sbuf_addc(out, *p);
			continue;
		}
		if (p[1] == '$') {
			sbuf_addc(out, '$');
			p++;
			continue;
		}
		end = p[1] == '(' ? strchr(p, ')') : NULL;
		if (!end) {
			sbuf_addc(out, '$');
			continue;
		}
		v = json_object_getn(vars, p + 2, (size_t)(end - p - 2));
		if (json_is_string(v))
			sbuf_adds(out, json_string_value(v));
		else
			sbuf_add(out, p, (size_t)(end - p + 1));
		p = end;
	}
}

/* An ordered object: setting a name again keeps its place, as a shell would. */
static void set(json_t *vars, const char *name, const char *value)
{
	json_object_set_new(vars, name, jsonx_string(value));
}

static void add_image(json_t *vars, const json_t *image_config)
{
	json_t *line;
	size_t i;

	set(vars, "PATH", "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin");
	json_array_foreach (jsonx_at(image_config, "config.Env"), i, line) {
		const char *text = json_string_value(line);
		const char *eq = text ? strchr(text, '=') : NULL;
		auto_free char *name = eq ? xstrndup(text, (size_t)(eq - text)) : NULL;

		if (name)
			set(vars, name, eq + 1);
	}
}

/* ---- services: NAME_SERVICE_HOST and friends ---- */

static char *env_name(const char *service)
{
	char *name = xstrdup(service);

	for (char *p = name; *p; p++)
		*p = (char)(*p == '-' ? '_' : (*p >= 'a' && *p <= 'z') ? *p - 'a' + 'A' : *p);
	return name;
}

static void set_new(json_t *vars, char *name, json_t *value)
{
	json_object_set_new(vars, name, value);
	free(name);
}

static void add_port(json_t *vars, const char *name, const char *ip, const json_t *port, bool first)
{
	long long n = jsonx_int_or(port, "port", 0);
	const char *proto = jsonx_str_or(port, "protocol", "TCP");
	const char *port_name = jsonx_str(port, "name");
	auto_free char *lower = xstrdup(proto);

	for (char *p = lower; *p; p++)
		*p = (char)(*p >= 'A' && *p <= 'Z' ? *p - 'A' + 'a' : *p);
	if (first) {
		set_new(vars, xasprintf("%s_SERVICE_PORT", name), jsonx_stringf("%lld", n));
		set_new(vars, xasprintf("%s_PORT", name), jsonx_stringf("%s://%s:%lld", lower, ip, n));
	}
	if (port_name && *port_name) {
		auto_free char *upper = env_name(port_name);

		set_new(vars, xasprintf("%s_SERVICE_PORT_%s", name, upper), jsonx_stringf("%lld", n));
	}
	set_new(vars, xasprintf("%s_PORT_%lld_%s", name, n, proto), jsonx_stringf("%s://%s:%lld", lower, ip, n));
	set_new(vars, xasprintf("%s_PORT_%lld_%s_PROTO", name, n, proto), json_string(lower));
	set_new(vars, xasprintf("%s_PORT_%lld_%s_PORT", name, n, proto), jsonx_stringf("%lld", n));
	set_new(vars, xasprintf("%s_PORT_%lld_%s_ADDR", name, n, proto), jsonx_string(ip));
}

/* Without service links only the API is named. */
static bool is_api(const json_t *service)
{
	return str_same(jsonx_str(service, "metadata.name"), "kubernetes") &&
	       str_same(jsonx_str(service, "metadata.namespace"), "default");
}

static void add_services(json_t *vars, const json_t *services, bool links)
{
	json_t *svc;
	size_t i;

	json_array_foreach ((json_t *)services, i, svc) {
		const char *ip = jsonx_str_or(svc, "spec.clusterIP", "");
		auto_free char *name = env_name(jsonx_str_or(svc, "metadata.name", ""));
		json_t *port;
		size_t k;

		if (!*ip || streq(ip, "None") || (!links && !is_api(svc)))
			continue;
		set_new(vars, xasprintf("%s_SERVICE_HOST", name), jsonx_string(ip));
		json_array_foreach (jsonx_at(svc, "spec.ports"), k, port)
			add_port(vars, name, ip, port, k == 0);
	}
}

/* ---- ConfigMaps and Secrets ---- */

/* Object "configmaps/NAME"; missing is an error unless optional. */
static int find_object(const json_t *objects, const char *plural, const char *what, const json_t *ref,
		       const json_t **ret, struct err *e)
{
	const char *name = jsonx_str_or(ref, "name", "");
	auto_free char *key = xasprintf("%s/%s", plural, name);

	*ret = json_object_get(objects, key);
	if (!*ret && !jsonx_bool_or(ref, "optional", false))
		return err_set(e, ERR_NOT_FOUND, "%s \"%s\" not found", what, name);
	return 0;
}

/* A Secret's data is base64; a value with a NUL cannot be in an environment. */
static json_t *data_value(const json_t *obj, const char *key, bool secret)
{
	const json_t *v = json_object_get(json_object_get(obj, "data"), key);
	auto_sbuf struct sbuf raw = SBUF(LIMIT_OBJECT);

	if (!json_is_string(v))
		return NULL;
	if (!secret)
		return json_incref((json_t *)v);
	if (!base64_decode(json_string_value(v), json_string_length(v), &raw))
		return NULL;
	return jsonx_stringn(raw.p ? raw.p : "", raw.p ? strlen(raw.p) : 0);
}

static int add_all(json_t *vars, const json_t *source, bool secret, const json_t *objects, struct err *e)
{
	const json_t *ref = json_object_get(source, secret ? "secretRef" : "configMapRef");
	const char *prefix = jsonx_str_or(source, "prefix", "");
	const json_t *obj;
	const char *key;
	json_t *v;

	if (!ref)
		return 0;
	if (find_object(objects, secret ? "secrets" : "configmaps", secret ? "secret" : "configmap", ref, &obj, e) < 0)
		return -1;
	json_object_foreach (json_object_get(obj, "data"), key, v) {
		auto_free char *name = xasprintf("%s%s", prefix, key);
		json_t *value = name_check_env(name) ? NULL : data_value(obj, key, secret);

		if (value)
			json_object_set_new(vars, name, value);
	}
	return 0;
}

static int key_value(const json_t *ref, bool secret, const json_t *objects, json_t **ret, struct err *e)
{
	const char *key = jsonx_str_or(ref, "key", "");
	const json_t *obj;

	if (find_object(objects, secret ? "secrets" : "configmaps", secret ? "secret" : "configmap", ref, &obj, e) < 0)
		return -1;
	*ret = data_value(obj, key, secret);
	if (!*ret && obj && !jsonx_bool_or(ref, "optional", false))
		return err_set(e, ERR_NOT_FOUND, "couldn't find key %s in %s %s/%s", key,
			       secret ? "Secret" : "ConfigMap", jsonx_str_or(obj, "metadata.namespace", ""),
			       jsonx_str_or(ref, "name", ""));
	return 0;
}

/* ---- fields of the pod and resources of its containers ---- */

/* metadata.labels['key'] and metadata.annotations['key'] */
static json_t *bracketed(const json_t *pod, const char *path)
{
	static const char *const maps[] = { "metadata.labels['", "metadata.annotations['" };

	for (size_t i = 0; i < ARRAY_SIZE(maps); i++) {
		size_t n = strlen(maps[i]);
		auto_free char *key = NULL;

		if (strncmp(path, maps[i], n) != 0 || !str_ends(path, "']"))
			continue;
		key = xstrndup(path + n, strlen(path) - n - 2);
		return json_object_get(jsonx_at(pod, i == 0 ? "metadata.labels" : "metadata.annotations"), key);
	}
	return NULL;
}

static int field_value(const json_t *pod, const json_t *ref, json_t **ret, struct err *e)
{
	static const char *const known[] = { "metadata.name", "metadata.namespace",      "metadata.uid",
					     "spec.nodeName", "spec.serviceAccountName", "status.hostIP",
					     "status.podIP",  "status.podIPs",           "status.hostIPs" };
	const char *path = jsonx_str_or(ref, "fieldPath", "");
	const json_t *v = bracketed(pod, path);

	if (strchr(path, '[')) {
		*ret = json_string(json_string_value(v) ? json_string_value(v) : "");
		return 0;
	}
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (!streq(known[i], path))
			continue;
		v = jsonx_at(pod, path);
		if (json_is_array(v)) /* podIPs: the addresses, joined */
			v = json_object_get(json_array_get(v, 0), "ip");
		*ret = json_string(json_string_value(v) ? json_string_value(v) : "");
		return 0;
	}
	return err_set(e, ERR_INVALID, "fieldPath \"%s\" is not supported in an environment variable", path);
}

/* The container of that name as the pod has it, where limits that it lacks are filled in; else the one at hand. */
static const json_t *find_container(const json_t *pod, const json_t *container, const char *name)
{
	static const char *const lists[] = { "spec.containers", "spec.initContainers" };

	for (size_t l = 0; l < ARRAY_SIZE(lists); l++) {
		json_t *c;
		size_t i;

		json_array_foreach (jsonx_at(pod, lists[l]), i, c)
			if (str_same(jsonx_str(c, "name"), name))
				return c;
	}
	return container;
}

static json_t *resource_value(const json_t *pod, const json_t *container, const json_t *ref)
{
	const char *own = jsonx_str_or(container, "name", "");
	const char *resource = jsonx_str_or(ref, "resource", "");
	const char *dot = strchr(resource, '.');
	auto_free char *kind = dot ? xstrndup(resource, (size_t)(dot - resource)) : xstrdup("");
	struct quantity amount = { 0 };
	struct quantity divisor;
	const json_t *v;
	__int128 unit;

	container = find_container(pod, container, jsonx_str_or(ref, "containerName", own));
	v = json_object_get(json_object_get(json_object_get(container, "resources"), kind), dot ? dot + 1 : "");
	if (json_is_string(v))
		quantity_parse(json_string_value(v), &amount);
	if (!quantity_parse(jsonx_str_or(ref, "divisor", "1"), &divisor) || divisor.nano <= 0)
		quantity_parse("1", &divisor);
	unit = divisor.nano;
	return jsonx_stringf("%lld", (long long)((amount.nano + unit - 1) / unit));
}

static int value_from(const json_t *pod, const json_t *container, const json_t *from, const json_t *objects,
		      json_t **ret, struct err *e)
{
	const json_t *ref;

	if ((ref = json_object_get(from, "configMapKeyRef")))
		return key_value(ref, false, objects, ret, e);
	if ((ref = json_object_get(from, "secretKeyRef")))
		return key_value(ref, true, objects, ret, e);
	if ((ref = json_object_get(from, "fieldRef")))
		return field_value(pod, ref, ret, e);
	if ((ref = json_object_get(from, "resourceFieldRef")))
		*ret = resource_value(pod, container, ref);
	return 0;
}

static int add_env(json_t *vars, const json_t *pod, const json_t *container, const json_t *objects, struct err *e)
{
	json_t *var;
	size_t i;

	json_array_foreach (json_object_get(container, "env"), i, var) {
		const char *name = jsonx_str_or(var, "name", "");
		const json_t *from = json_object_get(var, "valueFrom");
		auto_sbuf struct sbuf text = SBUF(LIMIT_OBJECT);
		json_t *value = NULL;

		if (from) {
			if (value_from(pod, container, from, objects, &value, e) < 0)
				return -1;
			if (value)
				json_object_set_new(vars, name, value);
			continue;
		}
		env_expand(jsonx_str_or(var, "value", ""), vars, &text);
		set(vars, name, text.p ? text.p : "");
	}
	return 0;
}

int env_resolve(const json_t *pod, const json_t *container, const json_t *image_config, const json_t *services,
		const json_t *objects, json_t **ret, struct err *e)
{
	json_auto_t *vars = json_object();
	const char *name;
	json_t *source;
	json_t *v;
	size_t i;

	add_image(vars, image_config);
	add_services(vars, services, jsonx_bool_or(pod, "spec.enableServiceLinks", true));
	json_array_foreach (json_object_get(container, "envFrom"), i, source)
		if (add_all(vars, source, false, objects, e) < 0 || add_all(vars, source, true, objects, e) < 0)
			return -1;
	if (add_env(vars, pod, container, objects, e) < 0)
		return -1;
	*ret = json_array();
	json_object_foreach (vars, name, v)
		json_array_append_new(*ret, jsonx_stringf("%s=%s", name, json_string_value(v)));
	return 0;
}

json_t *env_object(const json_t *env)
{
	json_t *vars = json_object();
	json_t *line;
	size_t i;

	json_array_foreach ((json_t *)env, i, line) {
		const char *text = json_string_value(line);
		const char *eq = text ? strchr(text, '=') : NULL;

		if (eq)
			json_object_setn_new(vars, text, (size_t)(eq - text), jsonx_string(eq + 1));
	}
	return vars;
}
