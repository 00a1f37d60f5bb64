// SPDX-License-Identifier: Apache-2.0
/* stream_test.c - streamed replies */
#include "web.h"

static void on_drained(void *arg)
{
	++*(unsigned *)arg;
}

TEST("a stream sends its chunks and ends, and the connection lives on")
{
	struct str parts[] = { STR("{\"a\":"), STR("1}"), STR("\n") };
	struct http_shared *shared = http_shared_new(parts, 3);
	struct web w;
	unsigned drained = 0;
	int fd;
	const char *text;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /stream HTTP/1.1\r\n\r\n", 24);
	text = web_receive(&w, fd, "\r\n\r\n");
	CHECK(strstr(text, "\r\nTransfer-Encoding: chunked\r\n"));
	http_stream_on_drained(w.waiting[0], on_drained, &drained);
	http_stream_write(w.waiting[0], "x", 1);
	http_stream_write(w.waiting[0], "", 0);
	http_stream_write_parts(w.waiting[0], parts, 3);
	http_stream_write_shared(w.waiting[0], shared);
	CHECK_INT(http_stream_pending(w.waiting[0]), 6 + 13 + 13);
	CHECK_STR(web_receive(&w, fd, "1}\n\r\n8\r\n{\"a\":1}\n\r\n"),
		  "1\r\nx\r\n8\r\n{\"a\":1}\n\r\n8\r\n{\"a\":1}\n\r\n");
	CHECK_INT(http_stream_pending(w.waiting[0]), 0);
	CHECK_INT(drained, 1);
	http_stream_end(w.waiting[0]);
	CHECK_STR(web_receive(&w, fd, "0\r\n\r\n"), "0\r\n\r\n");
	web_ask(&w, fd, "GET /now HTTP/1.1\r\n\r\n", "GET /now ;");
	CHECK_INT(w.closed, 0);
	http_shared_unref(shared);
	close(fd);
	web_done(&w);
}

TEST("an old client gets a stream without chunks, ended by the end of the connection")
{
	struct web w;
	int fd;
	const char *text;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /stream HTTP/1.0\r\n\r\n", 24);
	http_stream_write(w.waiting[0], "hello", 5);
	http_stream_end(w.waiting[0]);
	text = web_receive(&w, fd, NULL);
	CHECK(str_ends(text, "\r\n\r\nhello"));
	close(fd);
	web_done(&w);
}

TEST("what a stuck reader does not take is pending, and shared by reference")
{
	static char block[100000];
	struct http_shared *shared = http_shared_new(&(struct str){ block, sizeof(block) }, 1);
	struct web w;
	size_t before;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /stream HTTP/1.1\r\n\r\n", 24);
	for (int i = 0; i < 100; i++) {
		http_stream_write_shared(w.waiting[0], shared);
		web_turn(&w);
	}
	http_shared_unref(shared);
	before = http_stream_pending(w.waiting[0]);
	CHECK(before > 1000000);
	http_stream_write(w.waiting[0], block, sizeof(block));
	web_turn(&w);
	CHECK(http_stream_pending(w.waiting[0]) > before);
	http_stream_abort(w.waiting[0]);
	CHECK_INT(w.closed, 0);
	CHECK_INT(http_server_connections(w.server), 0);
	close(fd);
	web_done(&w);
}

TEST("a reader that takes nothing any more is cut off, one that waits for news is not")
{
	static char block[100000];
	const struct http_limits limits = { .url = 256,
					    .headers = 512,
					    .body = 1024,
					    .connections = 3,
					    .request_ms = 50,
					    .idle_ms = 50,
					    .sweep_ms = 10 };
	struct web w;
	int patient;
	int stuck;

	web_init(&w, NULL, &limits);
	patient = web_connect(&w);
	web_send(&w, patient, "GET /stream HTTP/1.1\r\n\r\n", 24);
	web_receive(&w, patient, "\r\n\r\n");
	stuck = web_connect(&w);
	web_send(&w, stuck, "GET /stream HTTP/1.1\r\n\r\n", 24);
	for (int i = 0; i < 10000 && !w.closed; i++) {
		if (i < 100)
			http_stream_write(w.waiting[1], block, sizeof(block));
		web_turn(&w);
	}
	CHECK_INT(w.closed, 1);
	CHECK_INT(http_server_connections(w.server), 1);
	http_stream_write(w.waiting[0], "news", 4);
	CHECK_STR(web_receive(&w, patient, "news\r\n"), "4\r\nnews\r\n");
	close(patient);
	close(stuck);
	web_done(&w);
}

TEST("a stream's holder hears when the client goes away")
{
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /stream HTTP/1.1\r\n\r\n", 24);
	close(fd);
	web_turn(&w);
	CHECK_INT(w.closed, 1);

	/* Gone before the stream began: the holder is told all the same, but not from inside its own call. */
	fd = web_connect(&w);
	web_send(&w, fd, "GET /later HTTP/1.1\r\n\r\n", 23);
	close(fd);
	web_turn(&w);
	CHECK_INT(w.closed, 1);
	http_stream_start(w.waiting[1], 200, "application/json");
	CHECK_INT(w.closed, 1);
	web_turn(&w);
	CHECK_INT(w.closed, 2);
	web_done(&w);
}

TEST("the end of the server ends its streams")
{
	struct web w;
	int fd;

	web_init(&w, NULL, NULL);
	fd = web_connect(&w);
	web_send(&w, fd, "GET /stream HTTP/1.1\r\n\r\n", 24);
	http_stream_write(w.waiting[0], "x", 1);
	web_done(&w);
	CHECK_INT(w.closed, 1);
	close(fd);
}
