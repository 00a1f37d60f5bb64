// SPDX-License-Identifier: Apache-2.0
#include "api/proxy.h"
#include "hands.h"

#define PROXY PODS "/one/proxy"

/* What has come to the backend, until `want` is part of it. */
static const char *backend_hears(struct front *f, const struct hands_node *n, const char *want)
{
	static char text[65536];
	size_t got = 0;

	text[0] = '\0';
	for (int i = 0; i < 500 && !strstr(text, want); i++) {
		ssize_t more =
			n->nports ? recv(n->port[n->nports - 1], text + got, sizeof(text) - 1 - got, MSG_DONTWAIT) : -1;

		got += more > 0 ? (size_t)more : 0;
		text[got] = '\0';
		front_turn(f);
	}
	CHECK(strstr(text, want));
	return text;
}

static void backend_says(const struct hands_node *n, const char *text)
{
	CHECK_INT(send(n->port[n->nports - 1], text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
}

static int ask(struct front *f, const char *request)
{
	int fd = front_connect(f);

	sbuf_reset(&f->body);
	front_send(f, fd, request, strlen(request));
	return fd;
}

TEST("a request goes to the pod as it came, without what is the client's own business")
{
	struct front f = front_new();
	struct hands_node n;
	const char *heard;
	int fd;

	hands_init(&n, &f);
	fd = ask(&f, "POST " PROXY "/a//b%2Fc/../d/e/f/g/h/i/j/k/l?x=%zz&watch=1 HTTP/1.1\r\nHost: outside\r\n"
		     "Proxy-Authorization: Basic c2VjcmV0\r\nImpersonate-User: nobody-at-all\r\nImpersonate-Group: "
		     "system:masters\r\n"
		     "Cookie: a=b\r\nConnection: X-Private\r\nX-Private: mine\r\nTE: trailers\r\nX-Forwarded-For: "
		     "1.2.3.4\r\n"
		     "Content-Length: 5\r\n\r\nhello");
	heard = backend_hears(&f, &n, "hello");
	CHECK(str_starts(heard,
			 "POST /a//b%2Fc/../d/e/f/g/h/i/j/k/l?x=%zz&watch=1 HTTP/1.1\r\nHost: 10.1.2.3:8080\r\n"));
	CHECK(strstr(heard, "\r\nCookie: a=b\r\n"));
	CHECK(strstr(heard, "\r\nConnection: close\r\n"));
	CHECK(strstr(heard, "\r\nContent-Length: 5\r\n\r\nhello"));
	CHECK(strstr(heard, "\r\nX-Forwarded-Host: outside\r\n"));
	CHECK(strstr(heard, "\r\nX-Forwarded-Uri: " PROXY "/a//b%2Fc/../d/"));
	CHECK(!strcasestr(heard, "c2VjcmV0"));
	CHECK(!strcasestr(heard, "private"));
	CHECK(!strcasestr(heard, "\r\nTE:"));
	CHECK_STR(n.asked.p, "dial one/a 8080; ");
	backend_says(&n, "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 201 Created\r\nContent-Length: "
			 "4\r\nX-Empty:\r\nKeep-Alive: 5\r\n"
			 "Set-Cookie: c=d\r\nSet-Cookie: e=f\r\n\r\nbo");
	backend_says(&n, "dy");
	front_receive(&f, fd, "body");
	CHECK_STR(f.body.p,
		  "HTTP/1.1 201 Created\r\nContent-Length: 4\r\nX-Empty: \r\nSet-Cookie: c=d\r\nSet-Cookie: e=f\r\n\r\n"
		  "body");
	/* The client's connection lives on. */
	sbuf_reset(&f.body);
	front_send(&f, fd, "HEAD " PROXY "/x HTTP/1.1\r\n\r\n", strlen("HEAD " PROXY "/x HTTP/1.1\r\n\r\n"));
	backend_hears(&f, &n, "HEAD /x HTTP/1.1\r\n");
	backend_says(&n, "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n");
	front_receive(&f, fd, "\r\n\r\n");
	CHECK_STR(f.body.p, "HTTP/1.1 200 OK\r\nContent-Length: 400\r\n\r\n");
	close(fd);
	hands_done(&n, &f);
}

TEST("a reply without a length is streamed as it comes, and one that breaks off is not made whole")
{
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	fd = ask(&f, "GET " PROXY "/ HTTP/1.1\r\nHost: x\r\n\r\n");
	backend_hears(&f, &n, "\r\n\r\n");
	backend_says(&n, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
	front_receive(&f, fd, "one");
	CHECK_STR(f.body.p, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\none\r\n");
	backend_says(&n, "3\r\ntwo\r\n0\r\n\r\n");
	front_receive(&f, fd, "0\r\n\r\n");
	sbuf_reset(&f.body);
	front_send(&f, fd, "GET " PROXY "/ HTTP/1.1\r\n\r\n", strlen("GET " PROXY "/ HTTP/1.1\r\n\r\n"));
	for (int i = 0; i < 100 && n.nports < 2; i++)
		front_turn(&f);
	backend_says(&n, "HTTP/1.0 200 OK\r\n\r\nto the end");
	shutdown(n.port[1], SHUT_WR);
	front_receive(&f, fd, "0\r\n\r\n");
	CHECK_STR(f.body.p, "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\na\r\nto the end\r\n0\r\n\r\n");
	sbuf_reset(&f.body);
	front_send(&f, fd, "GET " PROXY "/ HTTP/1.1\r\n\r\n", strlen("GET " PROXY "/ HTTP/1.1\r\n\r\n"));
	for (int i = 0; i < 100 && n.nports < 3; i++)
		front_turn(&f);
	backend_says(&n, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf");
	front_receive(&f, fd, "half");
	shutdown(n.port[2], SHUT_WR);
	front_receive(&f, fd, NULL); /* closed */
	CHECK(str_ends(f.body.p, "\r\n\r\nhalf"));
	close(fd);
	hands_done(&n, &f);
}

TEST("both sides become one connection when they agree to leave HTTP")
{
	struct front f = front_new();
	struct hands_node n;
	const char *heard;
	char text[16] = { 0 };
	int fd;

	hands_init(&n, &f);
	fd = ask(&f, "GET " PROXY "/ws HTTP/1.1\r\nHost: x\r\n" WS_HEAD "\r\nearly");
	heard = backend_hears(&f, &n, "\r\n\r\n");
	CHECK(strstr(heard, "\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"));
	CHECK(strstr(heard, "\r\nSec-WebSocket-Key: " WS_KEY "\r\n"));
	backend_says(&n, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
			 "Sec-WebSocket-Accept: yes\r\n\r\nwelcome");
	front_receive(&f, fd, "welcome");
	CHECK_STR(f.body.p, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
			    "Sec-WebSocket-Accept: yes\r\n\r\nwelcome");
	for (int i = 0; i < 100 && recv(n.port[0], text, sizeof(text), MSG_DONTWAIT) < 0; i++)
		front_turn(&f);
	CHECK_STR(text, "early");
	backend_says(&n, "and bye");
	close(n.port[0]);
	n.nports = 0;
	front_receive(&f, fd, NULL);
	CHECK(str_ends(f.body.p, "welcomeand bye"));
	close(fd);

	/* The client goes first. */
	fd = ask(&f, "GET " PROXY "/ws HTTP/1.1\r\nHost: x\r\n" WS_HEAD "\r\n");
	backend_hears(&f, &n, "\r\n\r\n");
	backend_says(&n, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n");
	front_receive(&f, fd, "\r\n\r\n");
	close(fd);
	for (int i = 0; i < 100 && recv(n.port[0], text, 1, MSG_DONTWAIT) < 0; i++)
		front_turn(&f);
	CHECK_INT(recv(n.port[0], text, 1, MSG_DONTWAIT), 0);
	hands_done(&n, &f);
}

TEST("what cannot be reached or understood is a Status")
{
	static const struct {
		const char *what, *reply;
		int code;
		const char *want;
	} rows[] = {
		{ "one:1/proxy/", NULL, 503, "nobody there" },
		{ "one:none/proxy/", NULL, 400, "pod \"one\" has no port \"none\"" },
		{ "ftp:one:80/proxy/", NULL, 400, "invalid pod request \"ftp:one:80\"" },
		{ "a:b:c:d/proxy/", NULL, 400, "invalid pod request \"a:b:c:d\"" },
		{ "done/proxy/", NULL, 503, "error trying to reach service: pod \"done\" is not running" },
		{ "none/proxy/", NULL, 404, "pods \"none\" not found" },
		{ "one/proxy/", "SSH-2.0-OpenSSH\r\n", 502, "error trying to reach service: malformed HTTP response" },
		{ "one/proxy/", "HTTP/1.1 200 OK\r\nX: ", 502, "error trying to reach service: EOF" },
		{ "one/proxy/", "HTTP/1.1 101 Switching\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n", 502,
		  "error trying to reach service: it switched protocols unasked" },
	};
	struct front f = front_new();
	struct hands_node n;

	hands_init(&n, &f);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *request =
			xasprintf("GET " PODS "/%s HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", rows[i].what);
		int fd = ask(&f, request);
		json_auto_t *status = NULL;

		if (rows[i].reply) {
			backend_hears(&f, &n, "\r\n\r\n");
			backend_says(&n, rows[i].reply);
			close(n.port[--n.nports]);
		}
		front_receive(&f, fd, NULL);
		close(fd);
		front_cut(&f);
		CHECK_INT(f.code, rows[i].code);
		status = front_json(&f);
		CHECK_STR(jsonx_str(status, "message"), rows[i].want);
		CHECK_INT(jsonx_int_or(status, "code", 0), rows[i].code);
	}
	hands_done(&n, &f);
}

TEST("a path without its slash is completed, and a port may be named")
{
	struct front f = front_new();
	struct hands_node n;
	int fd;

	hands_init(&n, &f);
	CHECK_INT(front_ask(&f, "GET " PODS "/one:admin/proxy?a=b", "", NULL), 301);
	CHECK(strstr(f.head, "\r\nLocation: " PODS "/one:admin/proxy/?a=b\r\n"));
	fd = ask(&f, "OPTIONS " PODS "/http:one:admin/proxy HTTP/1.1\r\nHost: x\r\n\r\n");
	backend_hears(&f, &n, "OPTIONS / HTTP/1.1\r\nHost: 10.1.2.3:9090\r\n");
	CHECK_STR(n.asked.p, "dial one/a 9090; ");
	backend_says(&n, "HTTP/1.1 302 Found\r\nLocation: http://10.1.2.3:9090/login\r\nContent-Length: 0\r\n\r\n");
	front_receive(&f, fd, "\r\n\r\n");
	CHECK(strstr(f.body.p, "\r\nLocation: " PODS "/http:one:admin/proxy/login\r\n"));
	close(fd);
	hands_done(&n, &f);
}

TEST("a service leads to its endpoints, but neither to this machine nor to another's pod")
{
	static const struct {
		const char *service, *subset;
		const char *message; /* NULL: it gets there */
	} rows[] = {
		{ "web:http", "'addresses':[{'ip':'10.1.2.3','targetRef':{'kind':'Pod','name':'one'}}]", NULL },
		{ "web:80", "'addresses':[{'ip':'10.1.2.3','targetRef':{'kind':'Pod','name':'one'}}]", NULL },
		{ "web", "'addresses':[{'ip':'10.1.2.3','targetRef':{'kind':'Pod','name':'one'}}]", NULL },
		{ "web:81", "'addresses':[{'ip':'10.1.2.3'}]", "no service port \"81\" found for service \"web\"" },
		{ "web", "'notReadyAddresses':[{'ip':'10.1.2.3'}]", "no endpoints available for service \"web\"" },
		{ "web", "'addresses':[{'ip':'127.0.0.1'}]", "address not allowed" },
		{ "web", "'addresses':[{'ip':'169.254.169.254'}]", "address not allowed" },
		{ "web", "'addresses':[{'ip':'::ffff:127.0.0.1'}]", "address not allowed" },
		{ "web", "'addresses':[{'ip':'10.9.9.9','targetRef':{'kind':'Pod','name':'one'}}]",
		  "address not allowed" },
		{ "none", "'addresses':[{'ip':'10.1.2.3'}]", "services \"none\" not found" },
	};
	struct front f = front_new();
	struct hands_node n;

	hands_init(&n, &f);
	server_do(&f.s, VERB_CREATE, "v1/namespaces", "", NULL, "{'metadata':{'name':'other'}}");
	server_do(&f.s, VERB_CREATE, "v1/pods", "other", NULL,
		  "{'metadata':{'name':'theirs'},'spec':{'containers':[{'name':'c','image':'host'}]}}");
	CHECK_INT(front_ask(&f, "PATCH /api/v1/namespaces/other/pods/theirs/status",
			    "Content-Type: application/merge-patch+json\r\n", "{'status':{'podIP':'10.9.9.9'}}"),
		  200);
	server_do(&f.s, VERB_CREATE, "v1/services", "default", NULL,
		  "{'metadata':{'name':'web'},'spec':{'ports':[{'name':'http','port':80}]}}");
	server_do(&f.s, VERB_CREATE, "v1/endpoints", "default", NULL, "{'metadata':{'name':'web'}}");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_free char *patch =
			xasprintf("{'subsets':[{%s,'ports':[{'name':'http','port':8080}]}]}", rows[i].subset);
		auto_free char *request = xasprintf("GET /api/v1/namespaces/default/services/%s/proxy/x HTTP/1.1\r\n"
						    "Host: x\r\nConnection: close\r\n\r\n",
						    rows[i].service);
		json_auto_t *status = NULL;
		int fd;

		CHECK_INT(front_ask(&f, "PATCH /api/v1/namespaces/default/endpoints/web",
				    "Content-Type: application/merge-patch+json\r\n", patch),
			  200);
		fd = ask(&f, request);
		if (!rows[i].message) {
			backend_hears(&f, &n, "GET /x HTTP/1.1\r\nHost: 10.1.2.3:8080\r\n");
			backend_says(&n, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
			close(n.port[--n.nports]);
		}
		front_receive(&f, fd, NULL);
		close(fd);
		front_cut(&f);
		status = front_json(&f);
		CHECK_INT(f.code == 200, !rows[i].message);
		CHECK_STR(jsonx_str(status, "message"), rows[i].message);
	}
	hands_done(&n, &f);
}

TEST("what says who the client is stays behind")
{
	static const char *const names[] = { "authorization",       "Impersonate-User", "impersonate-extra-x",
					     "Proxy-Authorization", "Upgrade",          "X-Listed" };

	for (size_t i = 0; i < ARRAY_SIZE(names); i++)
		CHECK(proxy_keeps(names[i], "close, x-listed"));
	CHECK(!proxy_keeps("X-Listed", NULL));
	CHECK(!proxy_keeps("Cookie", "close"));
}

TEST("a location that leads to the backend leads through the proxy")
{
	static const struct {
		const char *location, *want;
	} rows[] = {
		{ "/login?next=/", "/P/proxy/login?next=/" },
		{ "http://10.1.2.3:80/a", "/P/proxy/a" },
		{ "https://10.1.2.3:80", "/P/proxy/" },
		{ "/P/proxy/tree", "/P/proxy/tree" },
		{ "/P/proxyless", "/P/proxy/P/proxyless" },
		{ "http://10.1.2.3:8080/a", "http://10.1.2.3:8080/a" },
		{ "https://elsewhere/a", "https://elsewhere/a" },
		{ "//elsewhere/a", "//elsewhere/a" },
		{ "next", "next" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		auto_sbuf struct sbuf out = SBUF(4096);

		proxy_location(rows[i].location, "10.1.2.3:80", "/P/proxy", &out);
		CHECK_STR(out.p, rows[i].want);
	}
}
