// SPDX-License-Identifier: Apache-2.0
/* net_lab.h - a host of its own for each network test
 *
 * The test process moves into a fresh network namespace that plays the host, so nothing of the real machine's network
 * is touched or seen, and two test runs do not meet.  Pods are further namespaces, held by descriptors.
 * What a pod does is done by a child process that enters its namespace.
 */
#ifndef STOKER_NET_LAB_H
#define STOKER_NET_LAB_H

#include <jansson.h>
#include <sys/types.h>

#include "base/str.h"
#include "loop/loop.h"
#include "node/net.h"

#define LAB_PODS 8

struct lab {
	char dir[256];
	int home; /* the real namespace */
	struct loop *loop;
	struct net *net;
	struct lab_pod {
		int fd;
		char ns[64]; /* its file */
		char uid[16];
		char ip[16];
	} pods[LAB_PODS];
	pid_t children[64];
	size_t nchildren;
};

/* Into a new host; with loopback up. */
void lab_enter(struct lab *lab);
/* Ends children, drops the pods, and goes home.  The network must be closed before. */
void lab_leave(struct lab *lab);
/* Opens lab->net with the usual settings; api at 127.0.0.1:6443. */
bool lab_open(struct lab *lab, const char *prefix);
/* Makes the namespace (if needed) and attaches it. */
bool lab_pod(struct lab *lab, int i);
/* As lab_pod without attaching. */
void lab_namespace(struct lab *lab, int i);

/* In these, pod -1 is the host. */

/* A TCP server (and UDP echo on the same port) in a pod that answers every connection with `word` and closes;
 * with the word "peer" it tells who asked. */
void lab_serve(struct lab *lab, int pod, const char *ip, int port, const char *word);
/* What a server answers; "refused", "prohibited", "timeout" or another word for what went wrong. */
const char *lab_ask(struct lab *lab, int pod, const char *ip, int port);
/* The same in one datagram. */
const char *lab_ask_udp(struct lab *lab, int pod, const char *ip, int port);
const char *lab_ask_udp_from(struct lab *lab, int pod, int from, const char *ip, int port);
/* Runs a shell command in a pod; its output, trimmed.  For looking at things with ip and nft. */
const char *lab_shell(struct lab *lab, int pod, const char *command);
/* Runs fn in a child in the pod while the loop turns here; the child's text comes back. */
const char *lab_do(struct lab *lab, int pod, void (*fn)(void *arg, struct sbuf *out), void *arg);

/* JSON from text with ' for ". */
json_t *lab_json(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
