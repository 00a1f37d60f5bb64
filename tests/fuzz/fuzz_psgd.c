// SPDX-License-Identifier: Apache-2.0
/* fuzz_psgd.c - what psgd reads from others; the first byte says as what
 *
 *	w  the bytes of a connection to a parameter server, whose slice has 12 floats
 *	m  the same of a trainer whose memory the server sees
 *	h  one HELLO
 *	d  one invitation
 *	t  TF_CONFIG
 *	i  an IDX file
 *	c  a checkpoint of 4 floats
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include "base/log.h"
#include "base/mem.h"
#include "psgd/checkpoint.h"
#include "psgd/cluster.h"
#include "psgd/idx.h"
#include "psgd/server_parts.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void as_connection(const uint8_t *data, size_t n, bool shared)
{
	const struct server_settings settings = { .listener = -1, .servers = 1, .waiting = NULL };
	const struct hello agreed = {
		.mode = n % 2 ? MODE_SYNC : MODE_EASGD, .ranks = 2, .servers = 1, .params = 12, .model = "2-4"
	};
	int64_t away[2] = { 0, 0 };
	struct server s = { .settings = &settings,
			    .epoll = -1,
			    .ended_at = -1,
			    .away_since = away,
			    .failure = ERR_INIT,
			    .door = DOOR_NONE,
			    .weights = REGION_NONE };
	struct err e = ERR_INIT;
	struct conn *c;
	uint8_t back[4096];
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, pair) < 0)
		return;
	slice_init(&s.slice, &agreed, NULL);
	c = conn_new(&s, pair[0]);
	if (shared && region_new(agreed.params, true, &c->peer, &e) < 0)
		abort();
	s.conns = &c;
	s.nconns = 1;
	if (send(pair[1], data, n < 65536 ? n : 65536, MSG_NOSIGNAL) >= 0)
		for (int i = 0; i < 256 && !c->dead; i++) {
			conn_readable(c);
			conn_pump(c);
			if (recv(pair[1], back, sizeof(back), 0) <= 0 && i > 128)
				break;
		}
	conn_free(c);
	close(pair[1]);
	slice_done(&s.slice);
}

static void as_hello(const uint8_t *data, size_t n)
{
	struct err e = ERR_INIT;
	struct hello h;

	if (hello_decode(data, n, &h, &e) == 0) {
		if (h.ranks == 0 || h.server >= h.servers || h.params / h.servers > WIRE_MAX_FLOATS)
			abort();
		if (hello_compare(&h, &h, &e) < 0)
			abort();
	} else if (!e.text[0]) {
		abort();
	}
}

static void as_invitation(const uint8_t *data, size_t n)
{
	uint8_t body[WIRE_DOOR] = { 0 };
	struct err e = ERR_INIT;
	struct invitation v;

	memcpy(body, data, n < sizeof(body) ? n : sizeof(body));
	if (invitation_decode(body, &v, &e) == 0 && (!v.name[0] || strchr(v.name, '/') || v.name[WIRE_DOOR_NAME - 1]))
		abort();
}

static void as_config(const uint8_t *data, size_t n)
{
	auto_free char *text = xstrndup((const char *)data, n);
	struct err e = ERR_INIT;
	struct cluster c;

	if (cluster_from_tf_config(text, &c, &e) < 0)
		return;
	if (cluster_check(&c, &e) == 0 && c.role == ROLE_PS && c.index >= c.nservers)
		abort();
	cluster_done(&c);
}

static void as_file(const uint8_t *data, size_t n, bool idx)
{
	auto_close int fd = memfd_create("fuzz", MFD_CLOEXEC);
	auto_free char *path = xasprintf("/proc/self/fd/%d", fd);
	struct checkpoint want = { .model = "1-2", .params = 4, .parts = 1, .n = 4 };
	struct err e = ERR_INIT;
	float values[4];
	struct idx f;

	if (fd < 0 || write(fd, data, n) != (ssize_t)n)
		return;
	if (!idx) {
		checkpoint_read(path, &want, values, &e);
	} else if (idx_read(path, 0, &f, &e) == 0) {
		if (f.n == 0 || f.item == 0 || f.n * f.item > IDX_MAX_BYTES)
			abort();
		idx_done(&f);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	log_set_level(LOG_ERROR);
	if (n == 0)
		return 0;
	switch (data[0]) {
	case 'w':
	case 'm':
		as_connection(data + 1, n - 1, data[0] == 'm');
		break;
	case 'd':
		as_invitation(data + 1, n - 1);
		break;
	case 'h':
		as_hello(data + 1, n - 1);
		break;
	case 't':
		as_config(data + 1, n - 1);
		break;
	case 'i':
	case 'c':
		as_file(data + 1, n - 1, data[0] == 'i');
		break;
	default:
		break;
	}
	return 0;
}
