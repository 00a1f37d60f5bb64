// SPDX-License-Identifier: Apache-2.0
/* kubeconfig.c - reading and writing kubeconfig files
 *
 * Credentials that need a helper program (exec, auth-provider) are refused by name: a clear error beats an anonymous
 * request.
 */
#include "client/kubeconfig.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "base/yamlx.h"

/* Entry `name` of a list of {name, PART}; NULL if absent. */
static const json_t *named(const json_t *doc, const char *list, const char *name, const char *part)
{
	json_t *entry;
	size_t i;

	json_array_foreach (json_object_get(doc, list), i, entry)
		if (str_same(jsonx_str(entry, "name"), name))
			return json_object_get(entry, part);
	return NULL;
}

static char *copy_or_null(const char *s)
{
	return s && *s ? xstrdup(s) : NULL;
}

/* Names of files are relative to the kubeconfig. */
static char *beside(const char *path, const char *file)
{
	const char *slash = strrchr(path, '/');

	return *file == '/' || !slash ? xstrdup(file) : xasprintf("%.*s/%s", (int)(slash - path), path, file);
}

/* KEY-data in base64, or KEY as a file. */
static int read_pem(const json_t *entry, const char *key, const char *path, char **ret, struct err *e)
{
	auto_free char *data_key = xasprintf("%s-data", key);
	const char *data = json_string_value(json_object_get(entry, data_key));
	const char *file = json_string_value(json_object_get(entry, key));
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	auto_free char *full = NULL;

	if (data && *data) {
		if (!base64_decode(data, strlen(data), &text))
			return err_set(e, ERR_BAD_REQUEST, "%s: %s is not base64", path, data_key);
		*ret = sbuf_steal(&text);
		return 0;
	}
	if (!file || !*file)
		return 0;
	full = beside(path, file);
	if (file_read(full, LIMIT_BODY, &text, e) < 0)
		return err_prefix(e, "%s: %s", path, key);
	*ret = sbuf_steal(&text);
	return 0;
}

static int read_user(const json_t *user, const char *path, struct kubeconfig *k, struct err *e)
{
	static const char *const helpers[] = { "exec", "auth-provider" };
	const char *token_file = jsonx_str(user, "tokenFile");
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);

	for (size_t i = 0; i < ARRAY_SIZE(helpers); i++)
		if (json_object_get(user, helpers[i]))
			return err_set(
				e, ERR_BAD_REQUEST,
				"%s: user credentials by \"%s\" are not supported; use a token or a client certificate",
				path, helpers[i]);
	k->token = copy_or_null(jsonx_str(user, "token"));
	if (!k->token && token_file && *token_file) {
		auto_free char *full = beside(path, token_file);

		if (file_read(full, LIMIT_BODY, &text, e) < 0)
			return err_prefix(e, "%s: tokenFile", path);
		k->token = xstrndup(str_trim(sbuf_str(&text)).p, str_trim(sbuf_str(&text)).n);
		k->token_file = TAKE(full);
	}
	if (read_pem(user, "client-certificate", path, &k->cert_pem, e) < 0)
		return -1;
	return read_pem(user, "client-key", path, &k->key_pem, e);
}

static int fill(const json_t *doc, const char *path, const char *context, struct kubeconfig *k, struct err *e)
{
	const char *name = context ? context : jsonx_str(doc, "current-context");
	const json_t *ctx = name ? named(doc, "contexts", name, "context") : NULL;
	const json_t *cluster;
	const json_t *user;

	if (!name || !*name)
		return err_set(e, ERR_BAD_REQUEST, "%s: current-context is not set; use --context NAME", path);
	if (!ctx)
		return err_set(e, ERR_BAD_REQUEST, "%s: there is no context \"%s\"", path, name);
	cluster = named(doc, "clusters", jsonx_str_or(ctx, "cluster", ""), "cluster");
	user = named(doc, "users", jsonx_str_or(ctx, "user", ""), "user");
	if (!jsonx_str(cluster, "server"))
		return err_set(e, ERR_BAD_REQUEST, "%s: context \"%s\" names cluster \"%s\", which has no server", path,
			       name, jsonx_str_or(ctx, "cluster", ""));
	if (!user && *jsonx_str_or(ctx, "user", ""))
		return err_set(e, ERR_BAD_REQUEST, "%s: context \"%s\" names user \"%s\", who is not in the file", path,
			       name, jsonx_str(ctx, "user"));
	k->server = xstrdup(jsonx_str(cluster, "server"));
	k->insecure = jsonx_bool_or(cluster, "insecure-skip-tls-verify", false);
	k->ns = copy_or_null(jsonx_str(ctx, "namespace"));
	if (read_pem(cluster, "certificate-authority", path, &k->ca_pem, e) < 0)
		return -1;
	return user ? read_user(user, path, k, e) : 0;
}

int kubeconfig_parse(struct str text, const char *path, const char *context, struct kubeconfig *ret, struct err *e)
{
	struct kubeconfig k = { 0 };
	json_auto_t *doc = NULL;

	if (yamlx_parse(text.p, text.n, NULL, NULL, &doc, e) < 0)
		return err_prefix(e, "%s", path);
	if (fill(doc, path, context, &k, e) < 0) {
		kubeconfig_done(&k);
		return -1;
	}
	*ret = k;
	return 0;
}

int kubeconfig_read(const char *path, const char *context, struct kubeconfig *ret, struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);

	if (file_read(path, LIMIT_BODY, &text, e) < 0)
		return -1;
	return kubeconfig_parse(sbuf_str(&text), path, context, ret, e);
}

void kubeconfig_done(struct kubeconfig *k)
{
	char *const owned[] = { k->server, k->ca_pem, k->cert_pem, k->key_pem, k->token, k->token_file, k->ns };

	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		free(owned[i]);
	*k = (struct kubeconfig){ 0 };
}

static void add_base64(struct sbuf *out, const char *key, struct str pem)
{
	if (!pem.n)
		return;
	sbuf_addf(out, "    %s: ", key);
	base64_encode(pem.p, pem.n, out);
	sbuf_addc(out, '\n');
}

void kubeconfig_write(const char *server, struct str ca_pem, struct str cert_pem, struct str key_pem, const char *token,
		      const char *user, const char *ns, struct sbuf *out)
{
	sbuf_adds(out, "apiVersion: v1\nkind: Config\nclusters:\n- name: stoker\n  cluster:\n");
	sbuf_addf(out, "    server: %s\n", server);
	add_base64(out, "certificate-authority-data", ca_pem);
	sbuf_addf(out, "users:\n- name: %s\n  user:\n", user);
	add_base64(out, "client-certificate-data", cert_pem);
	add_base64(out, "client-key-data", key_pem);
	if (token)
		sbuf_addf(out, "    token: %s\n", token);
	sbuf_addf(out, "contexts:\n- name: stoker\n  context:\n    cluster: stoker\n    user: %s\n    namespace: %s\n",
		  user, ns);
	sbuf_adds(out, "current-context: stoker\n");
}
