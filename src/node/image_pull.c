// SPDX-License-Identifier: Apache-2.0
/* image_pull.c - an image from a registry, in a worker
 *
 * First the manifest alone: its hash is the image's digest in that registry, and if it is known here nothing else is
 * fetched.  That makes imagePullPolicy Always cost one request.  Then the copy, by that digest, so that what arrives is
 * what was looked at even if the tag moves meanwhile.
 */
#include <stdio.h>
#include <unistd.h>

#include "base/file.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "loop/crypto.h"
#include "node/image_parts.h"

#define MANIFEST_MAX  (4u << 20) /* as registries limit them */
#define ASK_TIMEOUT   "2m"
#define COPY_TIMEOUT  "12h" /* 20 GB over 4 Mbit/s; skopeo notices dead connections itself */
#define SYSTEM_POLICY "/etc/containers/policy.json"
#define AUTH_FILE     "auth.json"

/* ---- skopeo's command line ---- */

void skopeo_add(struct skopeo *s, const char *word)
{
	if (s->argc + 1 < ARRAY_SIZE(s->argv))
		s->argv[s->argc++] = word;
}

static void add_owned(struct skopeo *s, char *word)
{
	if (s->nowned == ARRAY_SIZE(s->owned)) {
		free(word);
		return;
	}
	s->owned[s->nowned++] = word;
	skopeo_add(s, word);
}

void skopeo_done(struct skopeo *s)
{
	while (s->nowned)
		free(s->owned[--s->nowned]);
}

void skopeo_begin(struct skopeo *s, const char *dir, struct image_worker *w, const char *timeout, const char *verb)
{
	*s = (struct skopeo){ .dir = dir, .worker = w };
	skopeo_add(s, "skopeo");
	/* Without a policy of the machine's own there is nothing to obey, and skopeo would refuse to work. */
	if (access(SYSTEM_POLICY, F_OK) < 0)
		skopeo_add(s, "--insecure-policy");
	skopeo_add(s, "--tmpdir");
	skopeo_add(s, ".");
	skopeo_add(s, "--override-os");
	skopeo_add(s, "linux");
	skopeo_add(s, "--command-timeout");
	skopeo_add(s, timeout);
	skopeo_add(s, verb);
}

/* {"auths": {REGISTRY: {"auth": base64 of user:password}}}, from either way of writing an entry. */
static json_t *auth_document(const json_t *entry, const char *normal)
{
	struct str host = image_name_registry(normal);
	auto_free char *registry = xstrndup(host.p, host.n);
	json_t *copy = jsonx_copy(entry);

	if (!jsonx_str(copy, "auth") && jsonx_str(copy, "username")) {
		auto_sbuf struct sbuf plain = SBUF(65536);
		auto_sbuf struct sbuf text = SBUF(131072);

		sbuf_addf(&plain, "%s:%s", jsonx_str(copy, "username"), jsonx_str_or(copy, "password", ""));
		base64_encode(plain.p, plain.n, &text);
		json_object_set_new(copy, "auth", json_string(text.p));
		mem_wipe(plain.p, plain.n);
	}
	return json_pack("{s:{s:o}}", "auths", registry, copy);
}

static int write_auth(const char *dir, const json_t *auths, const char *normal, struct err *e)
{
	const json_t *entry = auths ? image_auth_pick(auths, normal) : NULL;
	json_auto_t *doc = entry ? auth_document(entry, normal) : json_pack("{s:{}}", "auths");
	auto_free char *path = xasprintf("%s/" AUTH_FILE, dir);
	auto_sbuf struct sbuf text = SBUF(1u << 20);

	jsonx_dump(doc, &text);
	return file_write(path, 0600, sbuf_str(&text), e);
}

int skopeo_add_access(struct skopeo *s, const struct image_request *r, const char *normal, const char *side,
		      struct err *e)
{
	struct str host = image_name_registry(normal);

	if (r->authfile && *r->authfile) {
		skopeo_add(s, "--authfile");
		skopeo_add(s, r->authfile);
	} else if (!r->authfile) {
		/* Even if it is empty: the server's own credentials are not everybody's. */
		if (write_auth(s->dir, r->auths, normal, e) < 0)
			return -1;
		skopeo_add(s, "--authfile");
		skopeo_add(s, AUTH_FILE);
	}
	if (r->cert_dir) {
		add_owned(s, xasprintf("--%scert-dir", side));
		skopeo_add(s, r->cert_dir);
	}
	/* Whoever gives certificates wants them checked, also on this machine. */
	if ((image_name_is_loopback(normal) && !r->cert_dir) || (r->plain_http && memchr(host.p, ':', host.n)))
		add_owned(s, xasprintf("--%stls-verify=false", side));
	return 0;
}

/* ---- the pull ---- */

static bool is_schema1(const struct sbuf *manifest)
{
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;

	return jsonx_parse(manifest->p ? manifest->p : "", manifest->n, NULL, NULL, &doc, &e) == 0 &&
	       jsonx_int_or(doc, "schemaVersion", 2) == 1;
}

/* "repository@sha256:...", or "" for the old manifests whose digest is not simply their hash. */
static int ask_digest(const struct image_request *r, struct image_worker *w, const char *dir, struct sbuf *out,
		      struct err *e)
{
	auto_free char *source = xasprintf("docker://%s", r->name);
	auto_sbuf struct sbuf manifest = SBUF(MANIFEST_MAX);
	unsigned char hash[SHA256_LEN];
	struct skopeo s;
	int result;

	skopeo_begin(&s, dir, w, ASK_TIMEOUT, "inspect");
	skopeo_add(&s, "--raw");
	result = skopeo_add_access(&s, r, r->name, "", e);
	skopeo_add(&s, source);
	s.output = &manifest;
	if (result == 0)
		result = skopeo_run(&s, e);
	skopeo_done(&s);
	if (result < 0 || is_schema1(&manifest))
		return result;
	image_name_repository(r->name, out);
	crypto_sha256(manifest.p ? manifest.p : "", manifest.n, hash);
	sbuf_adds(out, "@sha256:");
	hex_encode(hash, sizeof(hash), out);
	if (strchr(r->name, '@') && str_starts(strchr(r->name, '@'), "@sha256:") && !streq(out->p, r->name))
		return err_set(e, ERR_INVALID, "the registry sent something else: %s", out->p);
	return 0;
}

static bool layers_here(struct image_store *s, const json_t *record)
{
	json_t *v;
	size_t k;

	json_array_foreach (json_object_get(record, "layers"), k, v) {
		auto_free char *path = image_store_layer(s, json_string_value(v));

		if (access(path, F_OK) < 0)
			return false;
	}
	return true;
}

static json_t *text_array(const char *text)
{
	return text ? json_pack("[s]", text) : json_array();
}

/* The same image as before: at most it gets a name. */
static int keep(struct image_store *s, const char *id, const json_t *record, const json_t *names, struct err *e)
{
	json_auto_t *copy = jsonx_copy(record);

	json_object_set(copy, "names", (json_t *)(uintptr_t)names);
	return image_store_add(s, id, copy, e);
}

static int copy_image(const struct image_request *r, struct image_worker *w, const char *dir, const char *name,
		      struct err *e)
{
	auto_free char *source = xasprintf("docker://%s", name);
	struct skopeo s;
	int result;

	skopeo_begin(&s, dir, w, COPY_TIMEOUT, "copy");
	skopeo_add(&s, "--dest-shared-blob-dir");
	skopeo_add(&s, "../../blobs");
	result = skopeo_add_access(&s, r, r->name, "src-", e);
	skopeo_add(&s, source);
	skopeo_add(&s, "oci:out:image");
	if (result == 0)
		result = skopeo_run(&s, e);
	skopeo_done(&s);
	return result;
}

static int pull(const struct image_request *r, struct image_worker *w, const char *dir, json_t **ret, struct err *e)
{
	struct image_store *store = r->images->store;
	bool by_digest = strchr(r->name, '@');
	auto_free char *out = xasprintf("%s/out", dir);
	auto_sbuf struct sbuf digest = SBUF(8192);
	json_auto_t *names = text_array(by_digest ? NULL : r->name);
	json_auto_t *digests = NULL;
	auto_free char *id = NULL;
	const char *found;
	json_t *known;

	if (ask_digest(r, w, dir, &digest, e) < 0)
		return -1;
	known = digest.n ? image_store_find(store, digest.p, &found) : NULL;
	if (known && layers_here(store, known)) {
		id = xstrdup(found);
		image_worker_say(w, "%s is here already", digest.p);
		if (keep(store, id, known, names, e) < 0)
			return -1;
		*ret = json_pack("{s:s, s:s}", "id", id, "name", r->name);
		return 0;
	}
	if (copy_image(r, w, dir, digest.n ? digest.p : r->name, e) < 0)
		return -1;
	digests = text_array(digest.n ? digest.p : NULL);
	if (image_take_in(store, w, out, names, digests, ret, e) < 0)
		return -1;
	json_object_set_new(*ret, "name", json_string(r->name));
	return 0;
}

int image_pull_work(struct image_worker *w, void *arg, json_t **ret, struct err *e)
{
	struct image_request *r = arg;
	struct image_bench bench;
	int result;

	if (image_bench_open(r->images->store, &bench, e) < 0)
		return -1;
	result = pull(r, w, bench.dir, ret, e);
	image_bench_done(&bench);
	return result < 0 ? err_prefix(e, "%s", r->name) : 0;
}
