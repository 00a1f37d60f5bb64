// SPDX-License-Identifier: Apache-2.0
/* request.c - what commands ask of the server, in one call each */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/limits.h"
#include "base/mem.h"
#include "client/client.h"
#include "client/status.h"
#include "kinds/pbs_error.h"
#include "pbs/pbs.h"

#define RETRY_US    200000 /* between two tries to connect */
#define JSON        "application/json"
#define MERGE_PATCH "application/merge-patch+json"

static int connected(struct pbs *p, struct err *e)
{
	int64_t until = clock_mono_ms() + p->retry_seconds * 1000;

	if (p->open)
		return 0;
	errno = 0;
	p->open = p->door->open(e);
	while (!p->open && clock_mono_ms() < until) {
		usleep(RETRY_US);
		err_clear(e);
		errno = 0;
		p->open = p->door->open(e);
	}
	p->connect_errno = p->open ? 0 : errno ? errno : ECONNREFUSED;
	return p->open ? 0 : -1;
}

const char *pbs_namespace(struct pbs *p, struct err *e)
{
	if (!p->ns && connected(p, e) == 0)
		p->ns = p->door->ns(p->open);
	return p->ns;
}

/* A reply as an object, or its refusal as an error. */
static int answer(int code, struct str text, json_t **ret, struct err *e)
{
	json_auto_t *doc = NULL;

	if (jsonx_parse(text.p, text.n, NULL, NULL, &doc, e) < 0)
		return client_status_plain(code, e);
	if (client_status_error(doc, code, e) < 0)
		return -1;
	if (ret)
		*ret = TAKE(doc);
	return 0;
}

static int call(struct pbs *p, const char *method, const char *path, const char *type, const json_t *body, json_t **ret,
		struct err *e)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	auto_sbuf struct sbuf reply = SBUF(PBS_REPLY_MAX);
	int code;

	if (body)
		jsonx_dump(body, &text);
	if (text.over)
		return err_set(e, ERR_TOO_LARGE, "larger than the %u bytes that the server takes", LIMIT_BODY);
	if (connected(p, e) < 0 || p->door->call(p->open, method, path, type, sbuf_str(&text), &code, &reply, e) < 0)
		return -1;
	return answer(code, sbuf_str(&reply), ret, e);
}

int pbs_get(struct pbs *p, const char *path, json_t **ret, struct err *e)
{
	return call(p, "GET", path, NULL, NULL, ret, e);
}

int pbs_post(struct pbs *p, const char *path, const json_t *body, json_t **ret, struct err *e)
{
	return call(p, "POST", path, JSON, body, ret, e);
}

int pbs_patch(struct pbs *p, const char *path, const json_t *patch, json_t **ret, struct err *e)
{
	return call(p, "PATCH", path, MERGE_PATCH, patch, ret, e);
}

int pbs_put(struct pbs *p, const char *path, const json_t *obj, json_t **ret, struct err *e)
{
	return call(p, "PUT", path, JSON, obj, ret, e);
}

int pbs_delete(struct pbs *p, const char *path, struct err *e)
{
	return call(p, "DELETE", path, NULL, NULL, NULL, e);
}

int pbs_get_text(struct pbs *p, const char *path, struct sbuf *out, struct err *e)
{
	int code;

	if (connected(p, e) < 0 || p->door->call(p->open, "GET", path, NULL, (struct str){ 0 }, &code, out, e) < 0)
		return -1;
	return code == 200 ? 0 : answer(code, sbuf_str(out), NULL, e);
}

/* ---- watches ---- */

struct watch {
	struct sbuf line;
	pbs_event *event;
	void *arg;
	struct err *e;
	bool failed; /* a line was no event: e says what it was */
};

static bool tell(struct watch *w, struct str line)
{
	json_auto_t *doc = NULL;
	const json_t *obj;
	const char *type;

	if (!str_trim(line).n)
		return true;
	if (jsonx_parse(line.p, line.n, NULL, NULL, &doc, w->e) < 0) {
		w->failed = true;
		return false;
	}
	type = jsonx_str(doc, "type");
	obj = json_object_get(doc, "object");
	w->failed = !type || streq(type, "ERROR");
	if (w->failed)
		client_status_error(type ? obj : doc, (int)jsonx_int_or(type ? obj : doc, "code", 500), w->e);
	return !w->failed && w->event(w->arg, type, obj);
}

static bool on_piece(void *arg, struct str piece)
{
	struct watch *w = arg;
	bool more = piece.n || w->event(w->arg, "SIGNAL", NULL);

	while (more && piece.n) {
		const char *end = memchr(piece.p, '\n', piece.n);
		size_t n = end ? (size_t)(end - piece.p) + 1 : piece.n;

		sbuf_add(&w->line, piece.p, n);
		piece = (struct str){ piece.p + n, piece.n - n };
		if (end) {
			more = tell(w, sbuf_str(&w->line));
			sbuf_reset(&w->line);
		}
	}
	return more;
}

int pbs_watch(struct pbs *p, const char *path, pbs_event *event, void *arg, struct err *e)
{
	struct err said = ERR_INIT;
	struct watch w = { .line = SBUF(PBS_REPLY_MAX), .event = event, .arg = arg, .e = &said };
	int code = 0, result;

	if (connected(p, e) < 0)
		return -1;
	result = p->door->stream(p->open, path, &code, on_piece, &w, e);
	if (result == 0 && !w.failed && w.line.n) /* a refusal is one document without an end of line */
		tell(&w, sbuf_str(&w.line));
	sbuf_done(&w.line);
	if (w.failed) {
		*e = said;
		return -1;
	}
	return result;
}

/* ---- the server and its jobs ---- */

const json_t *pbs_settings(struct pbs *p)
{
	struct err e = ERR_INIT;

	if (!p->settings && pbs_get(p, PBS_API "/pbsservers/default", &p->settings, &e) < 0)
		p->settings = json_object();
	return p->settings;
}

/* Operators and managers may change jobs of all namespaces; who is one depends on more than the lists (hosts), so the
 * server is asked. */
static int may_all(struct pbs *p, bool *ret, struct err *e)
{
	json_auto_t *ask = json_pack("{s:s,s:s,s:{s:{s:s,s:s,s:s}}}", "apiVersion", "authorization.k8s.io/v1", "kind",
				     "SelfSubjectAccessReview", "spec", "resourceAttributes", "group", "stoker.dev",
				     "resource", "pbsjobs", "verb", "patch");
	json_auto_t *said = NULL;

	if (pbs_post(p, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", ask, &said, e) < 0)
		return -1;
	*ret = jsonx_bool_or(said, "status.allowed", false);
	return 0;
}

int pbs_self(struct pbs *p, char **ret_user, bool *ret_operator, struct err *e)
{
	json_auto_t *ask =
		json_pack("{s:s,s:s}", "apiVersion", "authentication.k8s.io/v1", "kind", "SelfSubjectReview");
	json_auto_t *said = NULL;

	if (pbs_post(p, "/apis/authentication.k8s.io/v1/selfsubjectreviews", ask, &said, e) < 0 ||
	    may_all(p, ret_operator, e) < 0)
		return -1;
	*ret_user = xstrdup(jsonx_str_or(said, "status.userInfo.username", ""));
	return 0;
}

void pbs_host_name(struct sbuf *out)
{
	char name[256] = "";

	gethostname(name, sizeof(name) - 1);
	name[strcspn(name, ".")] = 0;
	sbuf_adds(out, name[0] ? name : "localhost");
}

const char *pbs_server_name(struct pbs *p)
{
	const json_t *settings = pbs_settings(p);
	auto_sbuf struct sbuf host = SBUF(256);

	if (!jsonx_str(settings, "spec.serverName")) {
		pbs_host_name(&host);
		jsonx_set_new(p->settings, "spec.serverName", json_string(host.p));
	}
	return jsonx_str(settings, "spec.serverName");
}

int pbs_job_find(struct pbs *p, const struct pbs_id *id, json_t **ret_job, struct err *e)
{
	auto_sbuf struct sbuf path = SBUF(LIMIT_URL);
	json_auto_t *list = NULL;
	json_t *job;

	sbuf_addf(&path, PBS_API "/pbs/jobs?format=full&ids=%" PRId64, id->sequence);
	if (id->array) {
		sbuf_adds(&path, "%5B");
		client_escape(&path, id->elements);
		sbuf_adds(&path, "%5D");
	}
	if (pbs_get(p, path.p, &list, e) < 0)
		return -1;
	job = json_array_get(json_object_get(list, "items"), 0);
	if (!job)
		return pbs_error_set(e, ERR_NOT_FOUND, PBSE_UNKJOBID, NULL);
	*ret_job = json_incref(job);
	return 0;
}

void pbs_job_path(const json_t *job, struct sbuf *out)
{
	sbuf_adds(out, PBS_API "/namespaces/");
	client_escape(out, jsonx_str_or(job, "metadata.namespace", "default"));
	sbuf_adds(out, "/pbsjobs/");
	client_escape(out, jsonx_str_or(job, "metadata.name", ""));
}
