// SPDX-License-Identifier: Apache-2.0
/* log_stream.h - a container's output as it comes, whole and once, across a server that goes and comes back */
#ifndef STOKER_CLI_LOG_STREAM_H
#define STOKER_CLI_LOG_STREAM_H

#include "client/client.h"

struct log_stream_options { /* copied */
	struct client *client;
	const char *ns, *pod, *container;
	/* One of the two: bytes as they are, or lines without their end. */
	void (*piece)(void *arg, struct str piece);
	void (*line)(void *arg, struct str line);
	void *arg;
	bool timestamps; /* each line begins with its time and a space */
};

struct log_stream;

struct log_stream *log_stream_new(const struct log_stream_options *o);
void log_stream_free(struct log_stream *l);
/* The container has ended: the next end of the stream is the end of its output. */
void log_stream_ending(struct log_stream *l);
/* Nothing comes after what is open now: the container runs again, and that has a stream of its own. */
void log_stream_last(struct log_stream *l);
bool log_stream_is_done(const struct log_stream *l);
/* Bytes so far. */
uint64_t log_stream_count(const struct log_stream *l);

#endif
