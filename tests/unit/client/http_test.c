// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>

#include "api/front.h"
#include "base/file.h"
#include "client/client.h"

static const struct ref maps = { .api_version = "v1", .plural = "configmaps", .ns = "default" };

static struct client *connect_to(struct front *f, const char *as)
{
	struct client *c = NULL;
	struct err e = ERR_INIT;

	CHECK_INT(client_http_new(f->s.loop, &(struct client_options){ .socket = f->path, .as = as }, &c, &e), 0);
	CHECK_STR(e.text, "");
	return c;
}

TEST("what is asked over the socket is what the API has")
{
	struct front f = front_new();
	struct client *c = connect_to(&f, NULL);
	json_auto_t *body = sample_json("{'metadata':{'name':'m','labels':{'a':'b c'}},'data':{'k':'v'}}");
	json_auto_t *bad_label = NULL;
	struct ref m = maps;
	struct err e = ERR_INIT;

	CHECK_INT(client_create_wait(c, &maps, body, &bad_label, &e), -1);
	CHECK_INT(e.kind, ERR_INVALID);
	CHECK(strstr(e.text, "metadata.labels") != NULL);
	err_clear(&e);
	jsonx_set_new(body, "metadata.labels.a", json_string("b"));
	json_auto_t *made = NULL;
	CHECK_INT(client_create_wait(c, &maps, body, &made, &e), 0);
	CHECK_STR(jsonx_str(made, "kind"), "ConfigMap");
	m.name = "m";
	json_auto_t *got = NULL;
	CHECK_INT(client_get_wait(c, &m, &got, &e), 0);
	CHECK(jsonx_equal(made, got));
	json_auto_t *list = NULL;
	CHECK_INT(client_list_wait(
			  c, &maps,
			  &(struct list_options){ .labels = "a in (b, c)", .fields = "metadata.name=m", .limit = 5 },
			  &list, &e),
		  0);
	CHECK_STR(e.text, "");
	CHECK_INT(json_array_size(json_object_get(list, "items")), 1);
	CHECK_INT(client_delete_wait(c, &m, NULL, &e), 0);
	json_auto_t *gone = NULL;
	CHECK_INT(client_get_wait(c, &m, &gone, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK_STR(e.text, "configmaps \"m\" not found");
	client_free(c);
	front_done(&f);
}

TEST("what a server does not serve is not found, whatever it says")
{
	struct front f = front_new();
	struct client *c = connect_to(&f, NULL);
	struct ref things = { .api_version = "nothing.org/v1", .plural = "things" };
	struct err e = ERR_INIT;

	CHECK_INT(client_list_wait(c, &things, NULL, NULL, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	CHECK_STR(e.text, "the server could not find the requested resource");
	err_clear(&e);
	CHECK_INT(client_raw_wait(c, "/apis/nothing.org/v1/things", NULL, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	client_free(c);
	front_done(&f);
}

TEST("a patch that means another object of that name is a conflict")
{
	struct front f = front_new();
	struct client *clients[] = { connect_to(&f, NULL), client_local_new(f.s.api, &caller_system) };
	struct ref m = { .api_version = "v1", .plural = "configmaps", .ns = "default", .name = "m" };
	json_auto_t *patch =
		sample_json("{'metadata':{'uid':'11111111-2222-3333-4444-555555555555'},'data':{'a':'1'}}");

	server_make_map(&f.s, "m", "{}");
	/* On the wire it is a field that may not change, as in Kubernetes. */
	front_ask(&f, "PATCH /api/v1/namespaces/default/configmaps/m", "Content-Type: application/merge-patch+json\r\n",
		  "{\"metadata\":{\"uid\":\"other\"}}");
	CHECK_INT(f.code, 422);
	CHECK(strstr(f.body.p, "metadata.uid: Invalid value: \\\"other\\\": field is immutable"));
	for (size_t i = 0; i < ARRAY_SIZE(clients); i++) {
		struct err e = ERR_INIT;

		CHECK_INT(client_patch_wait(clients[i], &m, "strategic", patch, NULL, &e), -1);
		CHECK_INT(e.kind, ERR_CONFLICT);
		client_free(clients[i]);
	}
	front_done(&f);
}

TEST("names are escaped on their way")
{
	struct front f = front_new();
	struct client *c = connect_to(&f, NULL);
	struct ref odd = maps;
	struct err e = ERR_INIT;

	odd.name = "a b/../ü?x=%";
	CHECK_INT(client_get_wait(c, &odd, NULL, &e), -1);
	CHECK_INT(e.kind, ERR_BAD_REQUEST); /* a segment may not hold a slash, but it arrived as one segment */
	err_clear(&e);
	odd.name = "ü?x=%&+";
	CHECK_INT(client_get_wait(c, &odd, NULL, &e), -1);
	CHECK_STR(e.text, "configmaps \"ü?x=%&+\" not found");
	client_free(c);
	front_done(&f);
}

static void on_done(void *arg, const json_t *obj, const struct err *e)
{
	json_t **ret = arg;

	CHECK_STR(e->text, "");
	*ret = json_incref((json_t *)obj);
}

static void await(struct front *f, json_t **ret)
{
	for (int i = 0; i < 2000 && !*ret; i++)
		front_turn(f);
	CHECK(*ret != NULL);
}

TEST("patches, updates and subresources go to their own paths")
{
	static const struct {
		const char *type, *body, *data;
	} rows[] = {
		{ "merge", "{'data':{'a':'1'}}", "{'a':'1'}" },
		{ "json", "[{'op':'add','path':'/data/b','value':'2'}]", "{'a':'1','b':'2'}" },
		{ "strategic", "{'data':{'a':null}}", "{'b':'2'}" },
		{ "apply", "{'kind':'ConfigMap','apiVersion':'v1','data':{'c':'3'}}", "{'b':'2','c':'3'}" },
	};
	struct front f = front_new();
	struct client *c = connect_to(&f, NULL);
	struct ref ref = { .api_version = "v1", .plural = "configmaps", .ns = "default", .name = "m" };
	struct ref scale = {
		.api_version = "apps/v1", .plural = "deployments", .ns = "default", .name = "d", .subresource = "scale"
	};

	server_make_map(&f.s, "m", "{}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		json_auto_t *body = sample_json(rows[i].body);
		json_auto_t *got = NULL;

		c->ops->patch(c, &ref, rows[i].type, body, on_done, &got);
		await(&f, &got);
		CHECK_JSON(jsonx_at(got, "data"), rows[i].data);
	}
	server_do(
		&f.s, VERB_CREATE, "apps/v1/deployments", "default", NULL,
		"{'metadata':{'name':'d'},'spec':{'selector':{'matchLabels':{'a':'b'}},'template':{'metadata':{'labels'"
		":{'a':'b'}},'spec':{'containers':[{'name':'c','image':'i'}]}}}}");
	json_auto_t *want = sample_json("{'spec':{'replicas':7}}");
	json_auto_t *scaled = NULL;
	c->ops->update(c, &scale, want, on_done, &scaled);
	await(&f, &scaled);
	CHECK_STR(jsonx_str(scaled, "kind"), "Scale");
	CHECK_INT(jsonx_int_or(scaled, "spec.replicas", 0), 7);
	client_free(c);
	front_done(&f);
}

struct seen {
	struct client *c;
	void *watch;
	struct sbuf text;
	int ends;
	struct err e;
	bool stop_at_end;
};

static void on_event(void *arg, const char *type, const json_t *obj, const struct err *e)
{
	struct seen *w = arg;

	if (!obj) {
		w->ends++;
		w->e = *e;
		if (w->stop_at_end) {
			w->c->ops->watch_stop(w->c, w->watch);
			w->watch = NULL;
		}
		return;
	}
	sbuf_addf(&w->text, "%s%c%s", w->text.n ? " " : "", type[0], jsonx_str_or(obj, "metadata.name", ""));
}

/* Turns until the text or an end has come. */
static void await_text(struct front *f, struct seen *w, const char *text)
{
	for (int i = 0; i < 3000 && !w->ends && (!w->text.p || strcmp(w->text.p, text) != 0); i++)
		front_turn(f);
	CHECK_STR(w->text.p, text);
}

TEST("a watch is a stream of lines, and ends when the server does")
{
	struct front f = front_new();
	struct client *c = connect_to(&f, NULL);
	struct seen w = { .c = c, .text = SBUF(1000) };

	server_make_map(&f.s, "a", "{}");
	w.watch = c->ops->watch(c, &maps, NULL, on_event, &w);
	await_text(&f, &w, "Aa");
	server_make_map(&f.s, "b", "{}");
	server_do(&f.s, VERB_DELETE, "v1/configmaps", "default", "a", NULL);
	await_text(&f, &w, "Aa Ab Da");
	http_server_free(f.http);
	f.http = NULL;
	for (int i = 0; i < 2000 && !w.ends; i++)
		front_turn(&f);
	CHECK_INT(w.ends, 1);
	CHECK_INT(w.e.kind, ERR_UNAVAILABLE);
	c->ops->watch_stop(c, w.watch);
	sbuf_done(&w.text);
	client_free(c);
	front_done(&f);
}

TEST("a watch that is refused says why")
{
	struct front f = front_new();
	struct client *c = connect_to(&f, "eve");
	struct seen w = { .c = c, .text = SBUF(1000), .stop_at_end = true };

	w.watch = c->ops->watch(c, &maps, NULL, on_event, &w);
	for (int i = 0; i < 2000 && !w.ends; i++)
		front_turn(&f);
	CHECK_INT(w.ends, 1);
	CHECK_INT(w.e.kind, ERR_FORBIDDEN);
	sbuf_done(&w.text);
	client_free(c);
	front_done(&f);
}

/* A server that says 410 as soon as it is watched. */
static void expire(void *arg, struct http_request *req)
{
	static const char lines[] =
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"x\"}}}\n"
		"{\"type\":\"ERROR\",\"object\":{\"kind\":\"Status\",\"status\":\"Failure\",\"reason\":"
		"\"Expired\",\"message\":\"too old\",\"code\":410}}\n"
		"{\"type\":\"ADDED\",\"object\":{\"metadata\":{\"name\":\"late\"}}}\n";

	(void)arg;
	http_stream_start(req, 200, "application/json");
	http_stream_write(req, lines, sizeof(lines) - 1);
	http_stream_end(req);
}

TEST("a watch may be stopped from its own event")
{
	struct front f = front_new();
	struct http_handlers h = { .request = expire };
	struct seen w = { .text = SBUF(1000), .stop_at_end = true };
	struct err e = ERR_INIT;

	http_server_free(f.http);
	f.http = http_server_new(f.s.loop, &h);
	CHECK_INT(http_listen_unix(f.http, f.path, &e), 0);
	w.c = connect_to(&f, NULL);
	w.watch = w.c->ops->watch(w.c, &maps, NULL, on_event, &w);
	for (int i = 0; i < 2000 && !w.ends; i++)
		front_turn(&f);
	for (int i = 0; i < 20; i++)
		front_turn(&f);
	CHECK_INT(w.ends, 1);
	CHECK_INT(w.e.kind, ERR_EXPIRED);
	CHECK_STR(w.e.text, "too old");
	CHECK_STR(w.text.p, "Ax");
	sbuf_done(&w.text);
	client_free(w.c);
	front_done(&f);
}

TEST("the server is found by the order of the contract")
{
	auto_free char *config = xasprintf("%s/found.kubeconfig", test_dir());
	auto_free char *two = xasprintf("%s:/nowhere/else", config);
	const struct {
		const char *env_socket, *env_config;
		struct client_options o;
		const char *ns; /* lab: of the kubeconfig; NULL: an error */
	} rows[] = {
		{ NULL, NULL, { .kubeconfig = config }, "lab" },
		{ NULL, config, { 0 }, "lab" },
		{ NULL, two, { 0 }, "lab" },
		{ "/nowhere/sock", NULL, { .kubeconfig = config }, "lab" },
		{ "/nowhere/sock", config, { 0 }, "" },
		{ NULL, config, { .socket = "/nowhere/sock" }, "" },
		{ NULL, "/nowhere/config", { 0 }, NULL },
		{ NULL, config, { .context = "none" }, NULL },
	};
	struct loop *loop = loop_new();
	struct err e = ERR_INIT;

	CHECK_INT(file_write(config, 0600,
			     STR("clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\ncontexts: [{name: k, "
				 "context: {cluster: c, namespace: lab}}]\ncurrent-context: k\n"),
			     &e),
		  0);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct client *c = NULL;

		err_clear(&e);
		unsetenv("STOKER_SOCKET");
		unsetenv("KUBECONFIG");
		if (rows[i].env_socket)
			setenv("STOKER_SOCKET", rows[i].env_socket, 1);
		if (rows[i].env_config)
			setenv("KUBECONFIG", rows[i].env_config, 1);
		client_http_new(loop, &rows[i].o, &c, &e);
		CHECK_INT(c != NULL, rows[i].ns != NULL);
		if (c)
			CHECK_INT(streq(client_default_namespace(c), "lab"), streq(rows[i].ns, "lab"));
		client_free(c);
	}
	unsetenv("STOKER_SOCKET");
	unsetenv("KUBECONFIG");
	loop_free(loop);
}

TEST("a server that is not there is an error, not a wait")
{
	struct loop *loop = loop_new();
	struct client *c = NULL;
	struct err e = ERR_INIT;
	json_t *got = NULL;

	CHECK_INT(client_http_new(loop, &(struct client_options){ .socket = "/nowhere/sock" }, &c, &e), 0);
	CHECK_INT(client_list_wait(c, &maps, NULL, &got, &e), -1);
	CHECK_INT(e.kind, ERR_UNAVAILABLE);
	client_free(c);
	loop_free(loop);
}

struct text {
	struct sbuf got;
	struct err e;
	bool done;
};

static void on_piece(void *arg, struct str piece)
{
	struct text *t = arg;

	sbuf_add(&t->got, piece.p, piece.n);
}

static void on_text_done(void *arg, const struct err *e)
{
	struct text *t = arg;

	t->e = *e;
	t->done = true;
}

TEST("text comes in pieces, an error in the server's words, and nothing after a stop")
{
	struct front f = front_new();
	struct client *c = connect_to(&f, NULL);
	struct text t = { .got = SBUF(1 << 20) };
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;
	void *stream;

	c->ops->stream(c, "/healthz", on_piece, on_text_done, &t);
	while (!t.done)
		loop_turn(f.s.loop, false);
	CHECK_INT(t.e.kind, ERR_NONE);
	CHECK_STR(t.got.p, "ok");
	t.done = false;
	sbuf_reset(&t.got);
	c->ops->stream(c, "/api/v1/namespaces/default/pods/x/log", on_piece, on_text_done, &t);
	while (!t.done)
		loop_turn(f.s.loop, false);
	CHECK_INT(t.e.kind, ERR_NOT_FOUND);
	CHECK_STR(t.e.text, "pods \"x\" not found");
	CHECK_INT(t.got.n, 0);
	t.done = false;
	stream = c->ops->stream(c, "/healthz", on_piece, on_text_done, &t);
	c->ops->stream_stop(c, stream);
	for (int i = 0; i < 50; i++)
		front_turn(&f);
	CHECK(!t.done && !t.got.n);
	CHECK_INT(client_raw_wait(c, "/version", &doc, &e), 0);
	CHECK_STR(jsonx_str(doc, "major"), "1");
	CHECK_INT(client_raw_wait(c, "/nowhere", NULL, &e), -1);
	CHECK_INT(e.kind, ERR_NOT_FOUND);
	sbuf_done(&t.got);
	client_free(c);
	front_done(&f);
}
