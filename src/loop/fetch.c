// SPDX-License-Identifier: Apache-2.0
/* fetch.c - outgoing HTTP by libcurl's multi interface, driven by the loop
 *
 * curl tells which sockets to watch (on_socket_wanted) and when to wake (on_timer_wanted); events go back by
 * socket_action, and finished transfers are collected after each.  curl must not be entered again from its own
 * callbacks, yet a user's callback may cancel its fetch or free the fetcher: both are only noted while `depth` is above
 * zero and done on the way out.
 *
 * A controller asks for a thousand things at once.  Each under way costs a connection and its buffers, here and there,
 * so only some are; the others wait in order, as text.  Streams stay for long and do not count.
 */
#include "loop/fetch.h"

#include <curl/curl.h>
#include <dlfcn.h>
#include <event2/event.h>
#include <sys/queue.h>

#include "base/limits.h"
#include "base/log.h"
#include "base/mem.h"

#define CONNECT_SECONDS 10L
#define PARALLEL        16  /* a lone server is busy with fewer; one across a network of 10 ms serves 1,600 a second */
#define KEEPALIVE_IDLE  30L /* a server that vanished without a word is noticed within two minutes */
#define KEEPALIVE_GAP   10L
#define REPLY_MAX       (512u * 1024 * 1024) /* a list of everything on a large cluster */

/* curl's functions by their own types.  curl.h makes macros of two of the names; these are not called. */
struct curl_library {
	__typeof__(curl_global_init) *global_init;
	__typeof__(curl_easy_init) *easy_init;
	__typeof__(curl_easy_setopt) *easy_setopt;
	__typeof__(curl_easy_getinfo) *easy_getinfo;
	__typeof__(curl_easy_cleanup) *easy_cleanup;
	__typeof__(curl_easy_strerror) *easy_strerror;
	__typeof__(curl_slist_append) *slist_append;
	__typeof__(curl_slist_free_all) *slist_free_all;
	__typeof__(curl_multi_init) *multi_init;
	__typeof__(curl_multi_setopt) *multi_setopt;
	__typeof__(curl_multi_cleanup) *multi_cleanup;
	__typeof__(curl_multi_add_handle) *multi_add_handle;
	__typeof__(curl_multi_remove_handle) *multi_remove_handle;
	__typeof__(curl_multi_socket_action) *multi_socket_action;
	__typeof__(curl_multi_info_read) *multi_info_read;
	__typeof__(curl_multi_assign) *multi_assign;
};

static const struct {
	const char *name;
	size_t offset;
} curl_symbols[] = {
	{ "curl_global_init", offsetof(struct curl_library, global_init) },
	{ "curl_easy_init", offsetof(struct curl_library, easy_init) },
	{ "curl_easy_setopt", offsetof(struct curl_library, easy_setopt) },
	{ "curl_easy_getinfo", offsetof(struct curl_library, easy_getinfo) },
	{ "curl_easy_cleanup", offsetof(struct curl_library, easy_cleanup) },
	{ "curl_easy_strerror", offsetof(struct curl_library, easy_strerror) },
	{ "curl_slist_append", offsetof(struct curl_library, slist_append) },
	{ "curl_slist_free_all", offsetof(struct curl_library, slist_free_all) },
	{ "curl_multi_init", offsetof(struct curl_library, multi_init) },
	{ "curl_multi_setopt", offsetof(struct curl_library, multi_setopt) },
	{ "curl_multi_cleanup", offsetof(struct curl_library, multi_cleanup) },
	{ "curl_multi_add_handle", offsetof(struct curl_library, multi_add_handle) },
	{ "curl_multi_remove_handle", offsetof(struct curl_library, multi_remove_handle) },
	{ "curl_multi_socket_action", offsetof(struct curl_library, multi_socket_action) },
	{ "curl_multi_info_read", offsetof(struct curl_library, multi_info_read) },
	{ "curl_multi_assign", offsetof(struct curl_library, multi_assign) },
};

struct fetcher {
	struct loop *loop;
	struct fetch_config config;
	struct curl_library lib;
	void *handle; /* of dlopen; never closed, for OpenSSL keeps exit handlers */
	CURLM *multi;
	struct loop_timer timer;
	LIST_HEAD(, fetch) fetches;  /* known to curl */
	TAILQ_HEAD(, fetch) waiting; /* not yet */
	unsigned running;            /* of `fetches`, those that are no streams */
	char *peer;                  /* its address, once it has answered */
	char *token;                 /* in place of the one in `config`, or NULL */
	unsigned depth;              /* calls into curl, or into a user's callback, on the stack */
	bool inside;                 /* curl itself is on the stack: it may not be entered */
	bool doomed;
};

struct fetch {
	struct fetcher *fetcher;
	CURL *easy;
	struct curl_slist *headers;
	struct sbuf body;
	void (*done)(void *arg, int code, struct str body, const struct err *e);
	void (*piece)(void *arg, struct str piece);
	void *arg;
	bool added; /* to curl */
	bool cancelled;
	struct fetch_request request; /* while it waits, with strings of its own */
	char why[CURL_ERROR_SIZE];
	LIST_ENTRY(fetch) link;
	TAILQ_ENTRY(fetch) place;
};

/* --- loading --- */

static int load(struct fetcher *f, struct err *e)
{
	f->handle = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
	if (!f->handle)
		return err_set(e, ERR_UNAVAILABLE, "cannot load libcurl (%s): install the package libcurl4", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(curl_symbols); i++) {
		void *symbol = dlsym(f->handle, curl_symbols[i].name);

		if (!symbol)
			return err_set(e, ERR_UNAVAILABLE, "libcurl lacks %s: install a newer libcurl4",
				       curl_symbols[i].name);
		memcpy((char *)&f->lib + curl_symbols[i].offset, &symbol, sizeof(symbol));
	}
	if (f->lib.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
		return err_set(e, ERR_UNAVAILABLE, "libcurl does not start");
	return 0;
}

/* --- the end of a fetch --- */

static void request_done(struct fetch_request *r)
{
	const char *const owned[] = { r->method, r->path, r->content_type, r->accept, r->body.p };

	for (size_t i = 0; i < ARRAY_SIZE(owned); i++)
		free((char *)(uintptr_t)owned[i]);
	*r = (struct fetch_request){ 0 };
}

static void fetch_free(struct fetch *t)
{
	struct fetcher *f = t->fetcher;

	if (t->added) {
		LIST_REMOVE(t, link);
		f->lib.multi_remove_handle(f->multi, t->easy);
		f->lib.easy_cleanup(t->easy);
		f->running -= !t->piece;
	} else {
		TAILQ_REMOVE(&f->waiting, t, place);
		request_done(&t->request);
	}
	f->lib.slist_free_all(t->headers);
	sbuf_done(&t->body);
	free(t);
}

static void enter(struct fetcher *f)
{
	f->depth++;
}

static void leave(struct fetcher *f)
{
	if (--f->depth == 0 && f->doomed)
		fetcher_free(f);
}

static void note_peer(const struct fetch *t)
{
	struct fetcher *f = t->fetcher;
	char *ip = NULL;

	f->lib.easy_getinfo(t->easy, CURLINFO_PRIMARY_IP, &ip);
	if (!ip || !*ip || str_same(ip, f->peer))
		return;
	free(f->peer);
	f->peer = xstrdup(ip);
}

const char *fetcher_peer(const struct fetcher *f)
{
	return f->peer;
}

static void tell(struct fetch *t, CURLcode result)
{
	struct err e = ERR_INIT;
	struct str body = sbuf_str(&t->body);
	long code = 0;

	t->fetcher->lib.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &code);
	if (result == CURLE_COULDNT_CONNECT && t->fetcher->config.unix_socket) {
		/* curl speaks of localhost and port 80, which nobody asked for */
		err_set(&e, ERR_UNAVAILABLE, "cannot connect to %s; is the server running?",
			t->fetcher->config.unix_socket);
		code = 0;
		body = STR("");
	} else if (result != CURLE_OK) {
		err_set(&e, result == CURLE_OPERATION_TIMEDOUT ? ERR_TIMEOUT : ERR_UNAVAILABLE, "%s: %s",
			t->fetcher->config.unix_socket ? t->fetcher->config.unix_socket : t->fetcher->config.base_url,
			t->why[0] ? t->why : t->fetcher->lib.easy_strerror(result));
		code = 0;
		body = STR("");
	} else {
		note_peer(t);
	}
	if (t->body.over)
		err_set(&e, ERR_TOO_LARGE, "the reply is larger than %u bytes", REPLY_MAX);
	if (t->done)
		t->done(t->arg, (int)code, body, &e);
}

/* Finished transfers, each taken out of curl before its owner hears of it. */
static void collect(struct fetcher *f)
{
	CURLMsg *msg;
	int left;

	while ((msg = f->lib.multi_info_read(f->multi, &left))) {
		CURLcode result = msg->data.result;
		struct fetch *t = NULL;

		if (msg->msg != CURLMSG_DONE)
			continue;
		f->lib.easy_getinfo(msg->easy_handle, CURLINFO_PRIVATE, (char **)&t);
		if (!t->cancelled) {
			t->cancelled = true; /* from here on cancelling is nothing: it ends anyway */
			tell(t, result);
		}
		fetch_free(t);
	}
}

static void begin_waiting(struct fetcher *f);

/* What was cancelled or started from inside curl, and what waited for those that have ended. */
static void catch_up(struct fetcher *f)
{
	struct fetch *next;

	for (struct fetch *t = LIST_FIRST(&f->fetches); t; t = next) {
		next = LIST_NEXT(t, link);
		if (t->cancelled)
			fetch_free(t);
	}
	begin_waiting(f);
}

static void act(struct fetcher *f, curl_socket_t fd, int what)
{
	int running;

	enter(f);
	f->inside = true;
	f->lib.multi_socket_action(f->multi, fd, what, &running);
	f->inside = false;
	collect(f);
	catch_up(f);
	leave(f);
}

/* --- what curl wants --- */

static void on_socket_ready(evutil_socket_t fd, short what, void *arg)
{
	act(arg, (curl_socket_t)fd, (what & EV_READ ? CURL_CSELECT_IN : 0) | (what & EV_WRITE ? CURL_CSELECT_OUT : 0));
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg, void *socket_arg)
{
	struct fetcher *f = arg;
	struct event *event = socket_arg;
	short flags = EV_PERSIST;

	(void)easy;
	if (event)
		event_free(event);
	event = NULL;
	if (what != CURL_POLL_REMOVE) {
		if (what != CURL_POLL_OUT)
			flags |= EV_READ;
		if (what != CURL_POLL_IN)
			flags |= EV_WRITE;
		event = event_new(loop_base(f->loop), fd, flags, on_socket_ready, f);
		event_add(event, NULL);
	}
	f->lib.multi_assign(f->multi, fd, event);
	return 0;
}

static void on_timer(void *arg)
{
	act(arg, CURL_SOCKET_TIMEOUT, 0);
}

static int on_timer_wanted(CURLM *multi, long ms, void *arg)
{
	struct fetcher *f = arg;

	(void)multi;
	if (ms < 0)
		loop_timer_clear(&f->timer);
	else
		loop_timer_set(f->loop, &f->timer, ms);
	return 0;
}

static size_t on_body(char *p, size_t size, size_t count, void *arg)
{
	struct fetch *t = arg;
	size_t n = size * count;
	long code = 0;

	if (t->cancelled)
		return 0; /* ends the transfer */
	t->fetcher->lib.easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &code);
	if (t->piece && code >= 200 && code < 300)
		t->piece(t->arg, (struct str){ p, n });
	else
		sbuf_add(&t->body, p, n);
	return t->cancelled || t->body.over ? 0 : n;
}

/* --- the fetcher --- */

int fetcher_new(struct loop *loop, const struct fetch_config *config, struct fetcher **ret, struct err *e)
{
	struct fetcher *f = xcalloc(1, sizeof(*f));

	f->loop = loop;
	f->config = *config;
	f->timer = (struct loop_timer){ .fire = on_timer, .arg = f };
	LIST_INIT(&f->fetches);
	TAILQ_INIT(&f->waiting);
	if (load(f, e) < 0) {
		free(f);
		return -1;
	}
	f->multi = f->lib.multi_init();
	if (!f->multi)
		abort(); /* out of memory, as in base/mem.c */
	f->lib.multi_setopt(f->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
	f->lib.multi_setopt(f->multi, CURLMOPT_SOCKETDATA, f);
	f->lib.multi_setopt(f->multi, CURLMOPT_TIMERFUNCTION, on_timer_wanted);
	f->lib.multi_setopt(f->multi, CURLMOPT_TIMERDATA, f);
	*ret = f;
	return 0;
}

void fetcher_free(struct fetcher *f)
{
	if (!f)
		return;
	if (f->depth) {
		struct fetch *t;

		f->doomed = true;
		LIST_FOREACH(t, &f->fetches, link)
		t->cancelled = true;
		return;
	}
	f->depth = 1; /* curl calls back while it is taken down */
	f->doomed = false;
	while (!TAILQ_EMPTY(&f->waiting))
		fetch_free(TAILQ_FIRST(&f->waiting));
	while (!LIST_EMPTY(&f->fetches))
		fetch_free(LIST_FIRST(&f->fetches));
	f->lib.multi_cleanup(f->multi);
	loop_timer_done(&f->timer);
	free(f->token);
	free(f->peer);
	free(f);
}

/* --- one fetch --- */

static void add_header(struct fetch *t, const char *name, const char *value)
{
	auto_free char *line = xasprintf("%s: %s", name, value);

	t->headers = t->fetcher->lib.slist_append(t->headers, line);
}

static void set_headers(struct fetch *t, const struct fetch_request *req)
{
	const struct fetch_config *config = &t->fetcher->config;
	struct curl_library *lib = &t->fetcher->lib;

	/* curl would wait a second for a server that does not answer "100 Continue". */
	t->headers = lib->slist_append(t->headers, "Expect:");
	if (req->accept)
		add_header(t, "Accept", req->accept);
	if (req->content_type)
		add_header(t, "Content-Type", req->content_type);
	if (t->fetcher->token || config->token) {
		auto_free char *bearer = xasprintf("Bearer %s", t->fetcher->token ? t->fetcher->token : config->token);

		add_header(t, "Authorization", bearer);
	}
	for (const char *const *h = config->headers; h && *h; h++)
		t->headers = lib->slist_append(t->headers, *h);
	lib->easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->headers);
}

static void set_blob(struct fetch *t, CURLoption option, const char *pem)
{
	struct curl_blob blob = { .data = (void *)(uintptr_t)pem,
				  .len = pem ? strlen(pem) : 0,
				  .flags = CURL_BLOB_COPY };

	if (pem)
		t->fetcher->lib.easy_setopt(t->easy, option, &blob);
}

/* Never through a proxy of the environment. */
static bool is_this_machine(const char *url)
{
	static const char *const hosts[] = { "localhost", "127.", "[::1]" };
	const char *host = strstr(url, "://");

	for (size_t i = 0; host && i < ARRAY_SIZE(hosts); i++)
		if (str_starts(host + 3, hosts[i]))
			return true;
	return false;
}

static void set_transport(struct fetch *t)
{
	const struct fetch_config *config = &t->fetcher->config;
	struct curl_library *lib = &t->fetcher->lib;

	set_blob(t, CURLOPT_CAINFO_BLOB, config->ca_pem);
	if (config->ca_pem) /* that one, and not the system's as well */
		lib->easy_setopt(t->easy, CURLOPT_CAPATH, NULL);
	set_blob(t, CURLOPT_SSLCERT_BLOB, config->cert_pem);
	set_blob(t, CURLOPT_SSLKEY_BLOB, config->key_pem);
	if (config->insecure) {
		lib->easy_setopt(t->easy, CURLOPT_SSL_VERIFYPEER, 0L);
		lib->easy_setopt(t->easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	if (config->unix_socket)
		lib->easy_setopt(t->easy, CURLOPT_UNIX_SOCKET_PATH, config->unix_socket);
	if (config->unix_socket || is_this_machine(config->base_url))
		lib->easy_setopt(t->easy, CURLOPT_PROXY, "");
	if (config->user_agent)
		lib->easy_setopt(t->easy, CURLOPT_USERAGENT, config->user_agent);
	lib->easy_setopt(t->easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	lib->easy_setopt(t->easy, CURLOPT_NOSIGNAL, 1L);
	lib->easy_setopt(t->easy, CURLOPT_TCP_KEEPALIVE, 1L);
	lib->easy_setopt(t->easy, CURLOPT_TCP_KEEPIDLE, KEEPALIVE_IDLE);
	lib->easy_setopt(t->easy, CURLOPT_TCP_KEEPINTVL, KEEPALIVE_GAP);
	lib->easy_setopt(t->easy, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS);
	if (!t->piece)
		lib->easy_setopt(t->easy, CURLOPT_TIMEOUT, (long)LIMIT_REQUEST_SECONDS);
	lib->easy_setopt(t->easy, CURLOPT_ERRORBUFFER, t->why);
	lib->easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body);
	lib->easy_setopt(t->easy, CURLOPT_WRITEDATA, t);
	lib->easy_setopt(t->easy, CURLOPT_PRIVATE, t);
}

static void set_request(struct fetch *t, const struct fetch_request *req)
{
	struct curl_library *lib = &t->fetcher->lib;
	auto_free char *url = xasprintf("%s%s", t->fetcher->config.base_url, req->path);

	lib->easy_setopt(t->easy, CURLOPT_URL, url);
	lib->easy_setopt(t->easy, CURLOPT_PATH_AS_IS, 1L);
	if (streq(req->method, "HEAD"))
		lib->easy_setopt(t->easy, CURLOPT_NOBODY, 1L);
	if (req->body.n) {
		lib->easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)req->body.n);
		lib->easy_setopt(t->easy, CURLOPT_COPYPOSTFIELDS, req->body.p);
		if (!req->content_type)
			t->headers = lib->slist_append(t->headers, "Content-Type:");
	}
	lib->easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, req->method);
}

/* Hands it to curl, which asks for a timer at once: nothing is called back before the next turn. */
static void begin(struct fetch *t, const struct fetch_request *req)
{
	struct fetcher *f = t->fetcher;

	t->easy = f->lib.easy_init();
	if (!t->easy)
		abort(); /* out of memory, as in base/mem.c */
	set_transport(t);
	set_request(t, req);
	set_headers(t, req);
	LIST_INSERT_HEAD(&f->fetches, t, link);
	t->added = true;
	f->running += !t->piece;
	f->lib.multi_add_handle(f->multi, t->easy);
}

static bool may_begin(const struct fetch *t)
{
	return !t->fetcher->inside && (t->piece || t->fetcher->running < PARALLEL);
}

static void begin_waiting(struct fetcher *f)
{
	struct fetch *t;

	while (!f->doomed && (t = TAILQ_FIRST(&f->waiting)) && may_begin(t)) {
		struct fetch_request req = t->request;

		TAILQ_REMOVE(&f->waiting, t, place);
		begin(t, &req);
		request_done(&req);
		t->request = req;
	}
}

static char *copy(const char *s)
{
	return s ? xstrdup(s) : NULL;
}

/* A stream waits only for curl to be left, so it is first. */
static void hold(struct fetch *t, const struct fetch_request *req)
{
	t->request = (struct fetch_request){ .method = copy(req->method),
					     .path = copy(req->path),
					     .content_type = copy(req->content_type),
					     .accept = copy(req->accept),
					     .body = { xstrndup(req->body.p ? req->body.p : "", req->body.n),
						       req->body.n } };
	if (t->piece)
		TAILQ_INSERT_HEAD(&t->fetcher->waiting, t, place);
	else
		TAILQ_INSERT_TAIL(&t->fetcher->waiting, t, place);
}

struct fetch *fetch_start(struct fetcher *f, const struct fetch_request *req)
{
	struct fetch *t = xcalloc(1, sizeof(*t));

	t->fetcher = f;
	t->done = req->done;
	t->piece = req->piece;
	t->arg = req->arg;
	sbuf_init(&t->body, REPLY_MAX);
	if (may_begin(t))
		begin(t, req);
	else
		hold(t, req);
	return t;
}

void fetch_cancel(struct fetch *t)
{
	struct fetcher *f = t ? t->fetcher : NULL;

	if (!t || t->cancelled)
		return;
	t->cancelled = true;
	if (t->added && f->depth)
		return;
	fetch_free(t);
	if (!f->depth)
		begin_waiting(f);
}

void fetcher_set_token(struct fetcher *f, const char *token)
{
	free(f->token);
	f->token = xstrdup(token);
}
