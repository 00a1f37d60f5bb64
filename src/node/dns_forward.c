// SPDX-License-Identifier: Apache-2.0
/* dns_forward.c - other names are asked for where the host asks
 *
 * Each question has a socket of its own, connected to the nameserver: the kernel then drops what comes from elsewhere,
 * and its random port and the random id are what a forger has to guess.  A nameserver that says nothing within a
 * while is given up for the next; after one round the client hears SERVFAIL, sooner than its own patience ends.  How
 * many questions are in flight, and how many answers are remembered, is bounded.
 */
#include "node/dns_forward.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "base/clock.h"
#include "base/file.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "loop/crypto.h"
#include "node/dns_message.h"

#define ASKS_MAX      256
#define TRY_MS        1500
#define CACHE_MAX     512
#define CACHE_SECONDS 300
#define NEGATIVE_SECS 30
#define RESOLV_MAX    (64 * 1024)
#define CACHE_ONE_MAX 4096

struct dns_forward {
	struct loop *loop;
	char *resolv_conf;
	char *own;
	struct timespec read_at; /* the file's time when it was read */
	struct sockaddr_storage servers[DNS_SERVERS_MAX];
	size_t nservers;
	struct dns_ask *asks;
	size_t nasks;
	struct map cache;
};

struct dns_ask {
	struct dns_forward *f;
	struct dns_ask *next, *prev;
	int fd;
	struct loop_fd *watch;
	struct loop_timer timer;
	size_t server;
	uint16_t client_id;
	bool tcp;
	uint8_t *query; /* behind two bytes of length, with an id of our own */
	size_t n;
	size_t sent;
	uint8_t *reply; /* TCP: what has come */
	size_t got;
	dns_done_fn *done;
	void *arg;
};

struct cached {
	uint8_t *reply;
	size_t n;
	int64_t stored_ms, until_ms;
};

static void cached_free(void *p)
{
	struct cached *c = p;

	free(c->reply);
	free(c);
}

/* --- nameservers --- */

static bool server_parse(const char *text, struct sockaddr_storage *ret)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET, .sin_port = htons(53) };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6, .sin6_port = htons(53) };

	memset(ret, 0, sizeof(*ret));
	if (inet_pton(AF_INET, text, &v4.sin_addr) == 1)
		memcpy(ret, &v4, sizeof(v4));
	else if (inet_pton(AF_INET6, text, &v6.sin6_addr) == 1)
		memcpy(ret, &v6, sizeof(v6));
	else
		return false;
	return true;
}

/* The address on a line "nameserver ADDRESS"; NULL on any other.  The caller frees it. */
static char *server_text(struct str line)
{
	static const char word[] = "nameserver";
	struct str value;
	char *text;

	line = str_trim(line);
	if (line.n <= sizeof(word) || strncmp(line.p, word, sizeof(word) - 1) != 0 ||
	    !isspace((unsigned char)line.p[sizeof(word) - 1]))
		return NULL;
	value = str_trim((struct str){ line.p + sizeof(word), line.n - sizeof(word) });
	text = xstrndup(value.p, value.n);
	text[strcspn(text, " \t#;")] = '\0';
	return text;
}

size_t dns_servers_read(const char *resolv_conf, const char *own, struct sockaddr_storage ret[DNS_SERVERS_MAX])
{
	auto_sbuf struct sbuf text = SBUF(RESOLV_MAX);
	struct err ignored = ERR_INIT;
	struct str rest, line;
	size_t n = 0;

	if (file_read(resolv_conf, RESOLV_MAX, &text, &ignored) < 0)
		return 0;
	rest = sbuf_str(&text);
	while (n < DNS_SERVERS_MAX && str_split(&rest, '\n', &line)) {
		auto_free char *server = server_text(line);

		if (server && !streq(server, own) && server_parse(server, &ret[n]))
			n++;
	}
	return n;
}

static void servers_refresh(struct dns_forward *f)
{
	struct stat st;

	if (stat(f->resolv_conf, &st) < 0) {
		f->nservers = 0;
		f->read_at = (struct timespec){ 0 };
		return;
	}
	if (st.st_mtim.tv_sec == f->read_at.tv_sec && st.st_mtim.tv_nsec == f->read_at.tv_nsec)
		return;
	f->read_at = st.st_mtim;
	f->nservers = dns_servers_read(f->resolv_conf, f->own, f->servers);
}

struct dns_forward *dns_forward_new(struct loop *loop, const char *resolv_conf, const char *own)
{
	struct dns_forward *f = xcalloc(1, sizeof(*f));

	f->loop = loop;
	f->resolv_conf = xstrdup(resolv_conf);
	f->own = xstrdup(own);
	map_init(&f->cache, cached_free);
	return f;
}

/* --- the cache --- */

/* Name, type, class, and what of the query changes the reply. */
static char *cache_key(const uint8_t *query, size_t n)
{
	struct dns_question q;

	if (dns_parse_query(query, n, &q) != 0)
		return NULL;
	return xasprintf("%s %u %d%d%d", q.name, q.type, q.recursion, q.edns, q.dnssec);
}

static bool cache_find(struct dns_forward *f, const char *key, const uint8_t *query, dns_done_fn *done, void *arg)
{
	struct cached *c = key ? map_find(&f->cache, key) : NULL;
	int64_t now = clock_mono_ms();
	auto_free uint8_t *copy = NULL;
	uint32_t least;

	if (!c)
		return false;
	if (now >= c->until_ms) {
		map_remove(&f->cache, key);
		return false;
	}
	copy = xmemdup(c->reply, c->n);
	if (!dns_age(copy, c->n, (uint32_t)((now - c->stored_ms) / 1000), &least))
		return false;
	memcpy(copy, query, 2);
	done(arg, copy, c->n);
	return true;
}

static void cache_make_room(struct dns_forward *f)
{
	int64_t now = clock_mono_ms();
	size_t pos = 0;
	const char *key;
	void *value;

	if (f->cache.n < CACHE_MAX)
		return;
	while (map_next(&f->cache, &pos, &key, &value))
		if (now >= ((struct cached *)value)->until_ms)
			map_remove(&f->cache, key);
	if (f->cache.n >= CACHE_MAX) {
		map_done(&f->cache);
		map_init(&f->cache, cached_free);
	}
}

static void cache_store(struct dns_forward *f, const uint8_t *query, size_t query_n, const uint8_t *reply, size_t n)
{
	auto_free char *key = cache_key(query, query_n);
	auto_free uint8_t *copy = xmemdup(reply, n);
	unsigned rcode = reply[3] & 15;
	bool truncated = reply[2] & 2;
	uint32_t seconds;
	struct cached *c;

	if (!key || truncated || n > CACHE_ONE_MAX || (rcode != DNS_NOERROR && rcode != DNS_NXDOMAIN) ||
	    !dns_age(copy, n, 0, &seconds) || seconds == 0)
		return;
	if ((rcode == DNS_NXDOMAIN || (reply[6] == 0 && reply[7] == 0)) && seconds > NEGATIVE_SECS)
		seconds = NEGATIVE_SECS;
	if (seconds > CACHE_SECONDS)
		seconds = CACHE_SECONDS;
	cache_make_room(f);
	c = xcalloc(1, sizeof(*c));
	c->reply = TAKE(copy);
	c->n = n;
	c->stored_ms = clock_mono_ms();
	c->until_ms = c->stored_ms + (int64_t)seconds * 1000;
	map_set(&f->cache, key, c);
}

/* --- one question --- */

static void ask_next(struct dns_ask *a);

static void ask_close(struct dns_ask *a)
{
	loop_fd_free(a->watch);
	a->watch = NULL;
	if (a->fd >= 0)
		close(a->fd);
	a->fd = -1;
	loop_timer_clear(&a->timer);
}

void dns_ask_cancel(struct dns_ask *a)
{
	ask_close(a);
	loop_timer_done(&a->timer);
	if (a->next)
		a->next->prev = a->prev;
	if (a->prev)
		a->prev->next = a->next;
	else
		a->f->asks = a->next;
	a->f->nasks--;
	free(a->query);
	free(a->reply);
	free(a);
}

void dns_forward_free(struct dns_forward *f)
{
	if (!f)
		return;
	while (f->asks)
		dns_ask_cancel(f->asks);
	map_done(&f->cache);
	free(f->resolv_conf);
	free(f->own);
	free(f);
}

static void ask_finish(struct dns_ask *a, uint8_t *reply, size_t n)
{
	dns_done_fn *done = a->done;
	void *arg = a->arg;

	if (n > 0) {
		cache_store(a->f, a->query + 2, a->n, reply, n);
		reply[0] = (uint8_t)(a->client_id >> 8);
		reply[1] = (uint8_t)a->client_id;
	}
	dns_ask_cancel(a);
	done(arg, reply, n);
}

static void udp_ready(struct dns_ask *a)
{
	uint8_t buf[DNS_WIRE_MAX];
	ssize_t n = recv(a->fd, buf, sizeof(buf), 0);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		ask_next(a); /* refused: nobody listens there */
		return;
	}
	if (!dns_is_reply_to(buf, (size_t)n, a->query + 2, a->n))
		return;
	/* A server that cannot just now: the next one may. */
	if ((buf[3] & 15) == DNS_SERVFAIL && a->server + 1 < a->f->nservers) {
		ask_next(a);
		return;
	}
	ask_finish(a, buf, (size_t)n);
}

static void on_ask_ready(void *arg, bool readable, bool writable);

static void tcp_write(struct dns_ask *a)
{
	size_t total = a->n + 2;
	ssize_t n = send(a->fd, a->query + a->sent, total - a->sent, MSG_NOSIGNAL);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n < 0) {
		ask_next(a);
		return;
	}
	a->sent += (size_t)n;
	if (a->sent < total)
		return;
	loop_fd_free(a->watch);
	a->watch = loop_fd_new(a->f->loop, a->fd, true, false, on_ask_ready, a);
}

static void tcp_read(struct dns_ask *a)
{
	auto_free uint8_t *whole = NULL;
	size_t want;
	ssize_t n;

	if (!a->reply)
		a->reply = xmalloc(DNS_WIRE_MAX + 2);
	want = a->got < 2 ? 2 : 2 + ((size_t)a->reply[0] << 8 | a->reply[1]);
	n = recv(a->fd, a->reply + a->got, want - a->got, 0);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		ask_next(a);
		return;
	}
	a->got += (size_t)n;
	if (a->got < 2 || a->got < 2 + ((size_t)a->reply[0] << 8 | a->reply[1]))
		return;
	if (!dns_is_reply_to(a->reply + 2, a->got - 2, a->query + 2, a->n)) {
		ask_next(a);
		return;
	}
	whole = TAKE(a->reply);
	ask_finish(a, whole + 2, a->got - 2);
}

static void on_ask_ready(void *arg, bool readable, bool writable)
{
	struct dns_ask *a = arg;

	if (!a->tcp)
		udp_ready(a);
	else if (writable)
		tcp_write(a);
	else if (readable)
		tcp_read(a);
}

static void on_ask_timeout(void *arg)
{
	struct dns_ask *a = arg;

	ask_next(a);
}

/* To the server a->server; false if that cannot even begin. */
static bool ask_send(struct dns_ask *a)
{
	const struct sockaddr_storage *to = &a->f->servers[a->server];
	socklen_t len = to->ss_family == AF_INET ? sizeof(struct sockaddr_in) : sizeof(struct sockaddr_in6);

	a->fd = socket(to->ss_family, (a->tcp ? SOCK_STREAM : SOCK_DGRAM) | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	if (a->fd < 0)
		return false;
	if (connect(a->fd, (const struct sockaddr *)to, len) < 0 && errno != EINPROGRESS)
		return false;
	if (!a->tcp && send(a->fd, a->query + 2, a->n, MSG_NOSIGNAL) < 0)
		return false;
	a->sent = 0;
	a->got = 0;
	a->watch = loop_fd_new(a->f->loop, a->fd, !a->tcp, a->tcp, on_ask_ready, a);
	loop_timer_set(a->f->loop, &a->timer, TRY_MS);
	return true;
}

/* Gives the present server up.  With none left the question is over. */
static void ask_next(struct dns_ask *a)
{
	for (;;) {
		ask_close(a);
		a->server++;
		if (a->server >= a->f->nservers) {
			ask_finish(a, NULL, 0);
			return;
		}
		if (ask_send(a))
			return;
	}
}

static struct dns_ask *ask_new(struct dns_forward *f, const uint8_t *query, size_t n, bool tcp)
{
	struct dns_ask *a = xcalloc(1, sizeof(*a));

	a->f = f;
	a->fd = -1;
	a->tcp = tcp;
	a->timer = (struct loop_timer){ .fire = on_ask_timeout, .arg = a };
	a->client_id = (uint16_t)(query[0] << 8 | query[1]);
	a->n = n;
	a->query = xmalloc(n + 2);
	a->query[0] = (uint8_t)(n >> 8);
	a->query[1] = (uint8_t)n;
	memcpy(a->query + 2, query, n);
	crypto_random(a->query + 2, 2);
	a->next = f->asks;
	if (a->next)
		a->next->prev = a;
	f->asks = a;
	f->nasks++;
	return a;
}

struct dns_ask *dns_forward_ask(struct dns_forward *f, const uint8_t *query, size_t n, bool tcp, dns_done_fn *done,
				void *arg)
{
	auto_free char *key = cache_key(query, n);
	struct dns_ask *a;

	servers_refresh(f);
	if (cache_find(f, key, query, done, arg))
		return NULL;
	if (!key || f->nservers == 0 || f->nasks >= ASKS_MAX || n > DNS_WIRE_MAX) {
		done(arg, NULL, 0);
		return NULL;
	}
	a = ask_new(f, query, n, tcp);
	while (!ask_send(a)) {
		ask_close(a);
		if (++a->server >= f->nservers) {
			dns_ask_cancel(a);
			done(arg, NULL, 0);
			return NULL;
		}
	}
	a->done = done;
	a->arg = arg;
	return a;
}
