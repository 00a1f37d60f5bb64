// SPDX-License-Identifier: Apache-2.0
/* work.c - request texts: Kubernetes objects of 1 KiB, and the same amount as an etcd put
 *
 * Objects but "wait" and "noop" ask for no work beyond being stored: the Pod names a scheduler that does not exist, Job
 * and TFJob are suspended, the PBSJob is held.  So P1 measures the same thing on a bare API server and on one with
 * controllers.
 */
#include <inttypes.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <string.h>

#include "conn.h"
#include "work.h"

struct kind {
	const char *name, *base, *plural;
	const char *body; /* %s: metadata.name, %s: padding */
};

#define CONTAINER(name)                                                                                                \
	"{\"name\":\"" name "\",\"image\":\"host\",\"command\":[\"python3\",\"train.py\",\"--epochs=10\"],"            \
	"\"env\":[{\"name\":\"SEED\",\"value\":\"1\"}],"                                                               \
	"\"resources\":{\"requests\":{\"cpu\":\"500m\",\"memory\":\"1Gi\"},\"limits\":{\"memory\":\"2Gi\"}}}"

static const struct kind kinds[] = {
	{ "configmap", "/api/v1", "configmaps",
	  "{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\",\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"bench\"}},"
	  "\"data\":{\"text\":\"%s\"}}" },
	{ "pod", "/api/v1", "pods",
	  "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"annotations\":{\"pad\":\"%s\"}},"
	  "\"spec\":{\"schedulerName\":\"none\",\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER("main") "]}}" },
	/* One that is to be placed, and runs nowhere. */
	{ "wait", "/api/v1", "pods",
	  "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"annotations\":{\"pad\":\"%s\"}},"
	  "\"spec\":{\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER("main") "]}}" },
	/* One that does run, and ends at once. */
	{ "noop", "/api/v1", "pods",
	  "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"%s\",\"annotations\":{\"pad\":\"%s\"}},"
	  "\"spec\":{\"restartPolicy\":\"Never\",\"automountServiceAccountToken\":false,\"containers\":["
	  "{\"name\":\"main\",\"image\":\"bench/box:1\",\"command\":[\"/bin/true\"]}]}}" },
	{ "job", "/apis/batch/v1", "jobs",
	  "{\"apiVersion\":\"batch/"
	  "v1\",\"kind\":\"Job\",\"metadata\":{\"name\":\"%s\",\"annotations\":{\"pad\":\"%s\"}},"
	  "\"spec\":{\"suspend\":true,\"completions\":4,\"parallelism\":2,\"template\":{\"spec\":{"
	  "\"restartPolicy\":\"Never\",\"containers\":[" CONTAINER("main") "]}}}}" },
	{ "tfjob", "/apis/kubeflow.org/v1", "tfjobs",
	  "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"%s\",\"annotations\":"
	  "{\"pad\":\"%s\"}},\"spec\":{\"runPolicy\":{\"suspend\":true},\"tfReplicaSpecs\":{\"Worker\":{\"replicas\":2,"
	  "\"restartPolicy\":\"Never\",\"template\":{\"spec\":{\"containers\":[" CONTAINER("tensorflow") "]}}}}}}" },
	{ "pbsjob", "/apis/stoker.dev/v1", "pbsjobs",
	  "{\"apiVersion\":\"stoker.dev/v1\",\"kind\":\"PBSJob\",\"metadata\":{\"name\":\"%s\",\"annotations\":"
	  "{\"pad\":\"%s\"}},\"spec\":{\"name\":\"bench\",\"script\":\"true\",\"hold\":\"u\",\"resources\":{\"nodes\":"
	  "\"1\"}}}" },
	/* One that waits for room as long as others have it. */
	{ "pbswait", "/apis/stoker.dev/v1", "pbsjobs",
	  "{\"apiVersion\":\"stoker.dev/v1\",\"kind\":\"PBSJob\",\"metadata\":{\"name\":\"%s\",\"annotations\":"
	  "{\"pad\":\"%s\"}},\"spec\":{\"name\":\"bench\",\"script\":\"true\",\"outputPath\":\"/dev/"
	  "null\",\"joinPath\":\"oe\","
	  "\"resources\":{\"nodes\":\"1\"}}}" },
};

int work_init(struct work *w)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(kinds[i].name, w->kind_name) == 0) {
			w->kind = &kinds[i];
			return 0;
		}
	}
	return -1;
}

/* Letters that repeat with a long period, so that the text is neither one run nor noise. */
static void fill(char *p, size_t n, uint64_t seed)
{
	uint64_t x = seed * 2654435761u + 1;

	for (size_t i = 0; i < n; i++) {
		x = x * 6364136223846793005u + 1442695040888963407u;
		p[i] = (char)('a' + (x >> 60));
	}
	p[n] = '\0';
}

static size_t request(const struct work *w, char *out, const char *method, const char *path, const char *body, size_t n)
{
	int len = snprintf(out, REQUEST_MAX, "%s %s HTTP/1.1\r\nHost: localhost\r\n", method, path);

	if (w->token)
		len += snprintf(out + len, REQUEST_MAX - (size_t)len, "Authorization: Bearer %s\r\n", w->token);
	if (body)
		len += snprintf(out + len, REQUEST_MAX - (size_t)len,
				"Content-Type: application/json\r\nContent-Length: %zu\r\n", n);
	len += snprintf(out + len, REQUEST_MAX - (size_t)len, "\r\n%s", body ? body : "");
	if (len >= REQUEST_MAX)
		die("request of %d bytes: the token is too long", len);
	return (size_t)len;
}

static size_t object_request(const struct work *w, char *out, const char *method, uint64_t number, uint64_t seed)
{
	char name[64], path[256], pad[BODY_SIZE + 1], body[BODY_SIZE + 1];
	size_t used;

	snprintf(name, sizeof(name), "%s-%" PRIu64, w->prefix, number);
	used = strlen(w->kind->body) - 2 * strlen("%s") + strlen(name);
	if (used > BODY_SIZE)
		die("the body of a %s has %zu bytes without padding", w->kind_name, used);
	fill(pad, BODY_SIZE - used, seed);
	snprintf(body, sizeof(body), w->kind->body, name, pad);
	snprintf(path, sizeof(path), "%s/namespaces/%s/%s%s%s", w->kind->base, w->ns, w->kind->plural,
		 *method == 'P' && method[1] == 'U' ? "/" : "", *method == 'P' && method[1] == 'U' ? name : "");
	return request(w, out, method, path, body, BODY_SIZE);
}

static size_t create(const struct work *w, uint64_t n, char *out)
{
	return object_request(w, out, "POST", n, n);
}

/* A stride prime to any round count visits all objects once before it comes back. */
static uint64_t pick(const struct work *w, uint64_t n)
{
	return w->existing ? n * 7919 % w->existing : 0;
}

static size_t update(const struct work *w, uint64_t n, char *out)
{
	return object_request(w, out, "PUT", pick(w, n), n + w->salt);
}

static size_t get(const struct work *w, uint64_t n, char *out)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/namespaces/%s/%s/%s-%" PRIu64, w->kind->base, w->ns, w->kind->plural,
		 w->prefix, pick(w, n));
	return request(w, out, "GET", path, NULL, 0);
}

static size_t list(const struct work *w, uint64_t n, char *out)
{
	char path[256], query[64] = "";

	(void)n;
	if (w->limit)
		snprintf(query, sizeof(query), "?limit=%" PRIu64, w->limit);
	snprintf(path, sizeof(path), "%s/namespaces/%s/%s%s", w->kind->base, w->ns, w->kind->plural, query);
	return request(w, out, "GET", path, NULL, 0);
}

static size_t watch(const struct work *w, uint64_t n, char *out)
{
	char path[256];

	(void)n;
	snprintf(path, sizeof(path), "%s/namespaces/%s/%s?watch=true", w->kind->base, w->ns, w->kind->plural);
	return request(w, out, "GET", path, NULL, 0);
}

static size_t livez(const struct work *w, uint64_t n, char *out)
{
	(void)n;
	return request(w, out, "GET", "/livez", NULL, 0);
}

static size_t put(const struct work *w, uint64_t n, char *out)
{
	char key[64], value[BODY_SIZE + 1], key64[100], value64[4 * BODY_SIZE / 3 + 8], body[2 * BODY_SIZE];
	int len;

	len = snprintf(key, sizeof(key), "/%s/%s-%" PRIu64, w->ns, w->prefix, n);
	fill(value, BODY_SIZE, n);
	EVP_EncodeBlock((unsigned char *)key64, (unsigned char *)key, len);
	EVP_EncodeBlock((unsigned char *)value64, (unsigned char *)value, BODY_SIZE);
	len = snprintf(body, sizeof(body), "{\"key\":\"%s\",\"value\":\"%s\"}", key64, value64);
	return request(w, out, "POST", "/v3/kv/put", body, (size_t)len);
}

static const struct {
	const char *name;
	request_fn *fn;
} table[] = {
	{ "create", create }, { "update", update }, { "get", get }, { "list", list },
	{ "watch", watch },   { "livez", livez },   { "put", put },
};

request_fn *work_find(const char *name)
{
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(table[i].name, name) == 0)
			return table[i].fn;
	}
	return NULL;
}
