// SPDX-License-Identifier: Apache-2.0
/* dns.c - questions in, replies out
 *
 * A question is answered from the zone (dns_zone.c) at once, or forwarded (dns_forward.c) and answered when the reply
 * comes; meanwhile it is a `struct pending`.  A CNAME that leads out of the zone is followed on the client's behalf,
 * since the resolver in a C library does not do that.
 *
 * Connections are few, short-lived and handled one question at a time: more than DNS asks for is not worth more code.
 */
#include "node/dns.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/dns_forward.h"

#define BURST        32 /* datagrams read before others have their turn */
#define CONNS_MAX    64
#define IDLE_MS      10000
#define QUERY_MAX    4096
#define PORT_ATTEMPT 16

struct conn {
	struct dns *dns;
	struct conn *next, *prev;
	int fd;
	struct loop_fd *watch;
	struct loop_timer idle;
	uint8_t in[QUERY_MAX + 2];
	size_t nin;
	uint8_t *out;
	size_t nout, sent;
	struct pending *pending;
	bool dead;
};

/* A question that waits for somebody else's reply. */
struct pending {
	struct dns *dns;
	struct pending *next, *prev;
	struct dns_ask *ask;
	struct conn *conn; /* NULL: came by UDP, from `peer` */
	struct sockaddr_in peer;
	struct dns_question q;
	uint8_t *query;
	bool chase; /* what is asked for is where our own CNAME leads */
};

struct dns {
	struct loop *loop;
	int udp, tcp;
	struct loop_fd *udp_watch, *tcp_watch;
	int port;
	struct dns_forward *forward;
	struct dns_zone *zone;
	struct conn *conns;
	size_t nconns;
	struct pending *pendings;
	unsigned turn; /* which address comes first */
};

/* Where a reply goes. */
struct reply_to {
	struct conn *conn;
	const struct sockaddr_in *peer;
};

static void conn_send(struct conn *c, const uint8_t *p, size_t n);

static void reply_send(struct dns *d, struct reply_to to, const uint8_t *p, size_t n)
{
	if (to.conn)
		conn_send(to.conn, p, n);
	else
		/* A full buffer drops a datagram, which the client asks for again. */
		(void)sendto(d->udp, p, n, MSG_DONTWAIT | MSG_NOSIGNAL, (const struct sockaddr *)to.peer,
			     sizeof(*to.peer));
}

static size_t reply_max(const struct reply_to *to, const struct dns_question *q)
{
	return to->conn ? DNS_WIRE_MAX : q->udp_size;
}

static void reply_rcode(struct dns *d, struct reply_to to, const uint8_t *query, const struct dns_question *q,
			enum dns_rcode rcode)
{
	uint8_t buf[DNS_UDP_MIN];
	struct dns_reply w;

	dns_reply_begin(&w, buf, sizeof(buf), query, q);
	reply_send(d, to, buf, dns_reply_end(&w, q, rcode, false));
}

/* --- waiting for others --- */

static void pending_free(struct pending *p)
{
	if (p->ask)
		dns_ask_cancel(p->ask);
	if (p->next)
		p->next->prev = p->prev;
	if (p->prev)
		p->prev->next = p->next;
	else
		p->dns->pendings = p->next;
	if (p->conn)
		p->conn->pending = NULL;
	free(p->query);
	free(p);
}

/* Names of records from elsewhere must live until the reply is written. */
struct chase {
	struct dns_reply *w;
	char **names;
	size_t n, cap;
};

static const char *chase_keep(struct chase *c, const char *name)
{
	char *copy = xstrdup(name);

	ARRAY_PUSH(c->names, c->n, c->cap, copy);
	return copy;
}

static void on_chased(void *arg, const struct dns_record *r)
{
	struct chase *c = arg;
	struct dns_record copy = *r;

	if (r->type != DNS_A && r->type != DNS_AAAA && r->type != DNS_CNAME)
		return;
	/* An escape means bytes that no host name has; the writer does not undo them. */
	if (strchr(r->name, '\\') || (r->type == DNS_CNAME && strchr(r->target, '\\')))
		return;
	copy.name = chase_keep(c, r->name);
	copy.target = r->type == DNS_CNAME ? chase_keep(c, r->target) : NULL;
	dns_reply_add(c->w, DNS_ANSWER, &copy);
}

static void reply_chased(struct pending *p, struct reply_to to, const uint8_t *reply, size_t n)
{
	auto_free uint8_t *buf = xmalloc(DNS_WIRE_MAX);
	struct dns_answer a;
	struct dns_reply w;
	struct chase c = { .w = &w };
	size_t i;

	if (!p->dns->zone || !dns_zone_find(p->dns->zone, p->q.name, p->q.type, 0, &a)) {
		reply_rcode(p->dns, to, p->query, &p->q, DNS_SERVFAIL);
		return;
	}
	dns_reply_begin(&w, buf, reply_max(&to, &p->q), p->query, &p->q);
	for (i = 0; i < a.n; i++)
		dns_reply_add(&w, DNS_ANSWER, a.records[i]);
	dns_each_answer(reply, n, on_chased, &c);
	reply_send(p->dns, to, buf, dns_reply_end(&w, &p->q, DNS_NOERROR, false));
	for (i = 0; i < c.n; i++)
		free(c.names[i]);
	free(c.names);
	dns_answer_done(&a);
}

static void on_forwarded(void *arg, const uint8_t *reply, size_t n)
{
	struct pending *p = arg;
	struct reply_to to = { p->conn, &p->peer };

	p->ask = NULL;
	if (p->conn)
		p->conn->pending = NULL;
	if (n == 0) {
		reply_rcode(p->dns, to, p->query, &p->q, DNS_SERVFAIL);
	} else if (p->chase) {
		reply_chased(p, to, reply, n);
	} else if (n > reply_max(&to, &p->q)) {
		auto_free uint8_t *copy = xmemdup(reply, n);

		reply_send(p->dns, to, copy, dns_truncate(copy, n));
	} else {
		reply_send(p->dns, to, reply, n);
	}
	p->conn = NULL;
	pending_free(p);
}

static void forward(struct dns *d, struct reply_to to, const uint8_t *query, size_t n, const struct dns_question *q,
		    const char *outside)
{
	struct pending *p = xcalloc(1, sizeof(*p));
	uint8_t other[DNS_UDP_MIN];
	struct dns_ask *ask;

	p->dns = d;
	p->conn = to.conn;
	if (to.peer)
		p->peer = *to.peer;
	p->q = *q;
	p->query = xmemdup(query, n);
	p->next = d->pendings;
	if (p->next)
		p->next->prev = p;
	d->pendings = p;
	if (to.conn)
		to.conn->pending = p;
	if (outside) {
		p->chase = true;
		n = dns_write_query(other, sizeof(other), q->id, outside, q->type);
		query = other;
	}
	ask = dns_forward_ask(d->forward, query, n, to.conn != NULL, on_forwarded, p);
	/* With none, p is gone already. */
	if (ask)
		p->ask = ask;
}

/* --- questions --- */

static void reply_answer(struct dns *d, struct reply_to to, const uint8_t *query, const struct dns_question *q,
			 const struct dns_answer *a)
{
	auto_free uint8_t *buf = xmalloc(DNS_WIRE_MAX);
	struct dns_reply w;
	size_t i;

	dns_reply_begin(&w, buf, reply_max(&to, q), query, q);
	for (i = 0; i < a->n; i++)
		dns_reply_add(&w, DNS_ANSWER, a->records[i]);
	if (a->n == 0)
		dns_reply_add(&w, q->type == DNS_SOA && streq(q->name, a->soa.name) ? DNS_ANSWER : DNS_AUTHORITY,
			      &a->soa);
	for (i = 0; i < a->nextra; i++)
		dns_reply_add(&w, DNS_ADDITIONAL, a->extra[i]);
	reply_send(d, to, buf, dns_reply_end(&w, q, a->rcode, true));
}

static void serve(struct dns *d, struct reply_to to, const uint8_t *query, size_t n)
{
	struct dns_question q;
	struct dns_answer a;
	int r = dns_parse_query(query, n, &q);

	if (r < 0) {
		if (to.conn)
			to.conn->dead = true;
		return;
	}
	if (r > 0) {
		reply_rcode(d, to, query, &q, r);
		return;
	}
	if (!d->zone) {
		reply_rcode(d, to, query, &q, DNS_SERVFAIL);
		return;
	}
	if (!dns_zone_find(d->zone, q.name, q.type, d->turn++, &a)) {
		forward(d, to, query, n, &q, NULL);
		return;
	}
	if (a.outside && (q.type == DNS_A || q.type == DNS_AAAA))
		forward(d, to, query, n, &q, a.outside);
	else
		reply_answer(d, to, query, &q, &a);
	dns_answer_done(&a);
}

static void on_udp(void *arg, bool readable, bool writable)
{
	struct dns *d = arg;
	uint8_t buf[QUERY_MAX];
	int i;

	(void)readable;
	(void)writable;
	for (i = 0; i < BURST; i++) {
		struct sockaddr_in peer = { 0 };
		socklen_t len = sizeof(peer);
		ssize_t n = recvfrom(d->udp, buf, sizeof(buf), MSG_DONTWAIT, (struct sockaddr *)&peer, &len);

		if (n < 0)
			return;
		serve(d, (struct reply_to){ .peer = &peer }, buf, (size_t)n);
	}
}

/* --- connections --- */

static void conn_watch(struct conn *c);

static void conn_free(struct conn *c)
{
	struct dns *d = c->dns;

	if (c->pending)
		pending_free(c->pending);
	loop_fd_free(c->watch);
	loop_timer_done(&c->idle);
	close(c->fd);
	if (c->next)
		c->next->prev = c->prev;
	if (c->prev)
		c->prev->next = c->next;
	else
		d->conns = c->next;
	d->nconns--;
	free(c->out);
	free(c);
}

static void conn_write(struct conn *c)
{
	ssize_t n = send(c->fd, c->out + c->sent, c->nout - c->sent, MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		c->dead = true;
	if (n > 0)
		c->sent += (size_t)n;
	if (c->sent == c->nout) {
		free(c->out);
		c->out = NULL;
		c->nout = c->sent = 0;
	}
}

static void conn_send(struct conn *c, const uint8_t *p, size_t n)
{
	c->out = xrealloc(c->out, n + 2);
	c->out[0] = (uint8_t)(n >> 8);
	c->out[1] = (uint8_t)n;
	memcpy(c->out + 2, p, n);
	c->nout = n + 2;
	c->sent = 0;
	conn_write(c);
	if (!c->dead)
		conn_watch(c);
}

/* Is there a question in the buffer, or something that can be none? */
static bool conn_has_question(const struct conn *c)
{
	size_t n = (size_t)c->in[0] << 8 | c->in[1];

	return c->nin >= 2 && (n > QUERY_MAX || c->nin >= n + 2);
}

/* Serves what is whole in the buffer, one after the other. */
static void conn_process(struct conn *c)
{
	while (!c->dead && !c->pending && !c->out && conn_has_question(c)) {
		size_t n = (size_t)c->in[0] << 8 | c->in[1];
		uint8_t query[QUERY_MAX];

		if (n > QUERY_MAX) {
			c->dead = true;
			return;
		}
		memcpy(query, c->in + 2, n);
		c->nin -= n + 2;
		memmove(c->in, c->in + 2 + n, c->nin);
		loop_timer_set(c->dns->loop, &c->idle, IDLE_MS);
		serve(c->dns, (struct reply_to){ .conn = c }, query, n);
	}
}

static void conn_read(struct conn *c)
{
	ssize_t n = recv(c->fd, c->in + c->nin, sizeof(c->in) - c->nin, MSG_DONTWAIT);

	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		c->dead = true;
	if (n > 0)
		c->nin += (size_t)n;
}

static void on_conn(void *arg, bool readable, bool writable)
{
	struct conn *c = arg;

	if (writable && c->out)
		conn_write(c);
	if (readable && c->nin < sizeof(c->in))
		conn_read(c);
	conn_process(c);
	if (c->dead)
		conn_free(c);
	else
		conn_watch(c);
}

/* Reads while there is room; writes while there is something, or to come back for the next question in the buffer. */
static void conn_watch(struct conn *c)
{
	bool write = c->out || (!c->pending && conn_has_question(c));

	loop_fd_free(c->watch);
	c->watch = loop_fd_new(c->dns->loop, c->fd, c->nin < sizeof(c->in), write, on_conn, c);
}

static void on_conn_idle(void *arg)
{
	conn_free(arg);
}

static void on_accept(void *arg, bool readable, bool writable)
{
	struct dns *d = arg;
	int fd = accept4(d->tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct conn *c;

	(void)readable;
	(void)writable;
	if (fd < 0)
		return;
	if (d->nconns >= CONNS_MAX) {
		close(fd);
		return;
	}
	c = xcalloc(1, sizeof(*c));
	c->dns = d;
	c->fd = fd;
	c->idle = (struct loop_timer){ .fire = on_conn_idle, .arg = c };
	c->next = d->conns;
	if (c->next)
		c->next->prev = c;
	d->conns = c;
	d->nconns++;
	loop_timer_set(d->loop, &c->idle, IDLE_MS);
	conn_watch(c);
}

/* --- listening --- */

static int bind_one(uint32_t ip, int type, int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(ip) };
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	int on = 1;

	if (fd < 0)
		return -1;
	/* For UDP this would let two servers share a port unawares. */
	if (type == SOCK_STREAM)
		setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(fd, (struct sockaddr *)&a, sizeof(a)) < 0 || (type == SOCK_STREAM && listen(fd, CONNS_MAX) < 0)) {
		int saved = errno;

		close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

/* Both sockets on one port; 0 picks one that is free for both. */
static bool bind_both(struct dns *d, uint32_t ip, int port)
{
	struct sockaddr_in a;
	socklen_t len = sizeof(a);

	d->udp = bind_one(ip, SOCK_DGRAM, port);
	if (d->udp < 0 || getsockname(d->udp, (struct sockaddr *)&a, &len) < 0)
		return false;
	d->port = ntohs(a.sin_port);
	d->tcp = bind_one(ip, SOCK_STREAM, d->port);
	if (d->tcp < 0) {
		int saved = errno;

		close(d->udp);
		d->udp = -1;
		errno = saved;
		return false;
	}
	return true;
}

int dns_open(struct loop *loop, uint32_t ip, const char *resolv_conf, struct dns **ret, struct err *e)
{
	struct dns *d = xcalloc(1, sizeof(*d));
	char text[NET_IP_LEN];
	bool ok;
	int i;

	d->loop = loop;
	d->udp = d->tcp = -1;
	net_ip_print(ip, text);
	ok = bind_both(d, ip, 53);
	for (i = 0; !ok && errno == EADDRINUSE && i < PORT_ATTEMPT; i++)
		ok = bind_both(d, ip, 0);
	if (!ok) {
		err_errno(e, ERR_UNAVAILABLE, "cannot listen for DNS on %s", text);
		dns_free(d);
		return -1;
	}
	d->forward = dns_forward_new(loop, resolv_conf, text);
	d->udp_watch = loop_fd_new(loop, d->udp, true, false, on_udp, d);
	d->tcp_watch = loop_fd_new(loop, d->tcp, true, false, on_accept, d);
	*ret = d;
	return 0;
}

void dns_free(struct dns *d)
{
	if (!d)
		return;
	while (d->conns)
		conn_free(d->conns);
	while (d->pendings)
		pending_free(d->pendings);
	dns_forward_free(d->forward);
	loop_fd_free(d->udp_watch);
	loop_fd_free(d->tcp_watch);
	if (d->udp >= 0)
		close(d->udp);
	if (d->tcp >= 0)
		close(d->tcp);
	dns_zone_free(d->zone);
	free(d);
}

int dns_port(const struct dns *d)
{
	return d->port;
}

void dns_set_zone(struct dns *d, struct dns_zone *zone)
{
	dns_zone_free(d->zone);
	d->zone = zone;
}
