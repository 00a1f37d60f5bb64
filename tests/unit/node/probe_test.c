// SPDX-License-Identifier: Apache-2.0
/* probe_test.c - probes and hooks with real commands and sockets */
#include "node/probe.h"

#include "hand.h"

struct scene {
	struct hand hand;
	json_t *container, *process;
	struct probe_target target;
	int verdicts, attempts, oks, ends;
	char message[512], attempt[512];
	struct prober **free_in_attempt, **free_in_verdict;
	struct err error;
};

static void on_verdict(void *arg, enum probe_kind kind, bool ok, const char *message)
{
	struct scene *s = arg;

	(void)kind;
	s->verdicts++;
	s->oks += ok;
	snprintf(s->message, sizeof(s->message), "%s", message);
	if (s->free_in_verdict) {
		prober_free(*s->free_in_verdict);
		*s->free_in_verdict = NULL;
	}
}

static void on_attempt(void *arg, enum probe_kind kind, const char *message)
{
	struct scene *s = arg;

	(void)kind;
	s->attempts++;
	snprintf(s->attempt, sizeof(s->attempt), "%s", message);
	if (s->free_in_attempt) {
		prober_free(*s->free_in_attempt);
		*s->free_in_attempt = NULL;
	}
}

static void on_hook(void *arg, const struct err *e)
{
	struct scene *s = arg;

	s->ends++;
	s->error = *e;
}

static void scene_open(struct scene *s, json_t *container /* taken */)
{
	*s = (struct scene){ .container = container };
	hand_open(&s->hand);
	s->process = json_pack("{s:[s], s:[s], s:s}", "args", "never", "env", "A=B", "cwd", "/");
	s->target = (struct probe_target){ .loop = s->hand.base.loop,
					   .runtime = &s->hand.base,
					   .id = "c",
					   .process = s->process,
					   .host = "127.0.0.1",
					   .container = s->container };
}

static void scene_close(struct scene *s)
{
	hand_close(&s->hand);
	json_decref(s->container);
	json_decref(s->process);
}

static json_t *exec_probe(const char *field, const char *script)
{
	return json_pack("{s:{s:{s:[s,s,s]}, s:i, s:i}}", field, "exec", "command", "sh", "-c", script, "periodSeconds",
			 1, "failureThreshold", 1);
}

static struct prober *watch(struct scene *s, enum probe_kind kind)
{
	return prober_new(&s->target, kind, on_verdict, on_attempt, s);
}

TEST("a command that succeeds is ready, and one that fails says why")
{
	struct scene s;
	struct prober *p;

	scene_open(&s, exec_probe("readinessProbe", "exit 0"));
	p = watch(&s, PROBE_READINESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	CHECK_INT(s.oks, 1);
	CHECK_INT(s.attempts, 0);
	/* The rights, environment and directory of the container's own process. */
	CHECK_STR(jsonx_str(s.hand.process, "cwd"), "/");
	CHECK_STR(json_string_value(json_array_get(json_object_get(s.hand.process, "env"), 0)), "A=B");
	CHECK(!jsonx_bool_or(s.hand.process, "terminal", true));
	prober_free(p);
	scene_close(&s);
	scene_open(&s, exec_probe("livenessProbe", "echo out; echo oops >&2; exit 3"));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	CHECK_INT(s.oks, 0);
	CHECK_STR(s.message, "out\noops\n");
	CHECK_STR(s.attempt, "out\noops\n");
	CHECK_INT(s.attempts, 1);
	prober_free(p);
	scene_close(&s);
}

TEST("a command that takes too long is killed and has failed")
{
	struct scene s;
	struct prober *p;

	scene_open(&s, exec_probe("livenessProbe", "sleep 100"));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	CHECK_STR(s.message, "command \"sh -c sleep 100\" timed out");
	CHECK_INT(s.hand.kills, 1);
	prober_free(p);
	scene_close(&s);
}

TEST("a chatty command is read to its end and only the beginning is kept")
{
	struct scene s;
	struct prober *p;

	scene_open(&s, exec_probe("livenessProbe", "head -c 1000000 /dev/zero | tr '\\0' x; exit 1"));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	CHECK_INT(strlen(s.message), sizeof(s.message) - 1);
	CHECK(s.message[0] == 'x');
	prober_free(p);
	scene_close(&s);
}

TEST("a prober may be freed while it asks and from inside its callbacks")
{
	struct scene s;
	struct prober *p;
	int turns = 0;

	scene_open(&s, exec_probe("livenessProbe", "sleep 100"));
	p = watch(&s, PROBE_LIVENESS);
	while (!s.hand.running && turns++ < 100)
		loop_turn(s.hand.base.loop, false);
	prober_free(p);
	CHECK_INT(s.hand.kills, 1);
	scene_close(&s);
	scene_open(&s, exec_probe("livenessProbe", "exit 1"));
	p = watch(&s, PROBE_LIVENESS);
	s.free_in_attempt = &p;
	CHECK(hand_wait(&s.hand, &s.attempts, 1, 5));
	CHECK_INT(s.verdicts, 0);
	scene_close(&s);
	scene_open(&s, exec_probe("livenessProbe", "exit 1"));
	p = watch(&s, PROBE_LIVENESS);
	s.free_in_verdict = &p;
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	CHECK(!p);
	scene_close(&s);
}

static json_t *net_probe(const char *how, json_t *port, int container_port)
{
	return json_pack("{s:[{s:s, s:i}], s:{s:{s:o, s:s}, s:i, s:i}}", "ports", "name", "web", "containerPort",
			 container_port, "livenessProbe", how, "port", port, "path", "/health?a=b", "periodSeconds", 1,
			 "failureThreshold", 1);
}

TEST("a port that listens passes, by number and by name; a closed one is refused in Kubernetes' words")
{
	struct scene s;
	struct prober *p;
	int port, fd = hand_listen(&port);
	char want[128];

	for (int named = 0; named < 2; named++) {
		scene_open(&s, net_probe("tcpSocket", named ? json_string("web") : json_integer(port), port));
		p = watch(&s, PROBE_LIVENESS);
		CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
		CHECK_INT(s.oks, 1);
		prober_free(p);
		scene_close(&s);
	}
	close(fd);
	scene_open(&s, net_probe("tcpSocket", json_integer(port), port));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	snprintf(want, sizeof(want), "dial tcp 127.0.0.1:%d: connect: connection refused", port);
	CHECK_STR(s.message, want);
	prober_free(p);
	scene_close(&s);
	scene_open(&s, net_probe("httpGet", json_integer(port), port));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	snprintf(want, sizeof(want),
		 "Get \"http://127.0.0.1:%d/health?a=b\": dial tcp 127.0.0.1:%d: connect: connection refused", port,
		 port);
	CHECK_STR(s.message, want);
	prober_free(p);
	scene_close(&s);
}

/* A server for one question: it gives `answer` and keeps the question. */
static pid_t serve_once(int fd, const char *answer)
{
	pid_t pid = fork();
	char buf[2048];

	if (!pid) {
		int c = accept(fd, NULL, NULL);

		alarm(120);
		if (read(c, buf, sizeof(buf)) <= 0 || write(c, answer, strlen(answer)) < 0)
			_exit(1);
		_exit(0);
	}
	return pid;
}

TEST("an HTTP answer from 200 to 399 passes, any other fails with its number")
{
	static const struct {
		const char *answer, *message;
	} rows[] = {
		{ "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", NULL },
		{ "HTTP/1.1 204 No Content\r\n\r\n", NULL },
		{ "HTTP/1.1 302 Found\r\nLocation: http://127.9.9.9/\r\nContent-Length: 0\r\n\r\n", NULL },
		{ "HTTP/1.0 399 Odd\r\n\r\nto the end", NULL },
		{ "HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n", "HTTP probe failed with statuscode: 404" },
		{ "HTTP/1.1 500 No\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n",
		  "HTTP probe failed with statuscode: 500" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct scene s;
		struct prober *p;
		int port, fd = hand_listen(&port);
		pid_t pid = serve_once(fd, rows[i].answer);

		close(fd);
		scene_open(&s, net_probe("httpGet", json_integer(port), port));
		p = watch(&s, PROBE_LIVENESS);
		CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
		CHECK_INT(s.oks, !rows[i].message);
		CHECK_STR(s.message, rows[i].message ? rows[i].message : "");
		prober_free(p);
		scene_close(&s);
		waitpid(pid, NULL, 0);
	}
}

TEST("what cannot be asked is told but counts neither way, and gRPC is refused clearly")
{
	struct scene s;
	struct prober *p;

	scene_open(&s, net_probe("tcpSocket", json_string("nothing"), 80));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.attempts, 1, 5));
	CHECK_STR(s.attempt, "the container has no port named \"nothing\"");
	CHECK_INT(s.verdicts, 0);
	prober_free(p);
	scene_close(&s);
	scene_open(&s, json_pack("{s:{s:{s:i}, s:i}}", "livenessProbe", "grpc", "port", 1, "failureThreshold", 1));
	p = watch(&s, PROBE_LIVENESS);
	CHECK(hand_wait(&s.hand, &s.verdicts, 1, 5));
	CHECK(strstr(s.message, "gRPC probes are not supported"));
	CHECK(!watch(&s, PROBE_READINESS));
	CHECK_STR(probe_kind_title(PROBE_LIVENESS), "Liveness");
	prober_free(p);
	scene_close(&s);
}

static json_t *hook_of(const char *which, json_t *handler)
{
	return json_pack("{s:{s:o}}", "lifecycle", which, handler);
}

static json_t *shell(const char *script)
{
	return json_pack("{s:{s:[s,s,s]}}", "exec", "command", "sh", "-c", script);
}

TEST("a hook runs once and tells how it went")
{
	struct scene s;

	scene_open(&s, hook_of("postStart", shell("true")));
	CHECK(!hook_run(&s.target, "preStop", on_hook, &s));
	CHECK(hook_run(&s.target, "postStart", on_hook, &s));
	CHECK_INT(s.ends, 0);
	CHECK(hand_wait(&s.hand, &s.ends, 1, 5));
	CHECK_INT(s.error.kind, ERR_NONE);
	scene_close(&s);
	scene_open(&s, hook_of("preStop", shell("echo sorry; exit 4")));
	CHECK(hook_run(&s.target, "preStop", on_hook, &s));
	CHECK(hand_wait(&s.hand, &s.ends, 1, 5));
	CHECK_STR(s.error.text, "command 'sh -c echo sorry; exit 4' exited with 4: sorry");
	scene_close(&s);
}

TEST("a cancelled hook kills its command and is silent; sleep sleeps; tcpSocket does nothing")
{
	struct scene s;
	struct hook *h;
	int64_t before;

	scene_open(&s, hook_of("preStop", shell("sleep 100")));
	h = hook_run(&s.target, "preStop", on_hook, &s);
	loop_turn(s.hand.base.loop, true);
	hook_cancel(h);
	CHECK_INT(s.hand.kills, 1);
	scene_close(&s);
	CHECK_INT(s.ends, 0);
	scene_open(&s, hook_of("preStop", json_pack("{s:{s:i}}", "sleep", "seconds", 1)));
	before = clock_mono_ms();
	CHECK(hook_run(&s.target, "preStop", on_hook, &s));
	CHECK(hand_wait(&s.hand, &s.ends, 1, 5));
	CHECK_INT(s.error.kind, ERR_NONE);
	CHECK(clock_mono_ms() - before >= 990);
	scene_close(&s);
	scene_open(&s, hook_of("preStop", json_pack("{s:{s:i}}", "tcpSocket", "port", 1)));
	CHECK(hook_run(&s.target, "preStop", on_hook, &s));
	CHECK(hand_wait(&s.hand, &s.ends, 1, 5));
	CHECK_INT(s.error.kind, ERR_NONE);
	scene_close(&s);
}

TEST("an HTTP hook wants an answer, whatever it says")
{
	struct scene s;
	int port, fd = hand_listen(&port);
	pid_t pid = serve_once(fd, "HTTP/1.1 500 No\r\nContent-Length: 0\r\n\r\n");

	close(fd);
	scene_open(&s, hook_of("postStart", json_pack("{s:{s:i}}", "httpGet", "port", port)));
	CHECK(hook_run(&s.target, "postStart", on_hook, &s));
	CHECK(hand_wait(&s.hand, &s.ends, 1, 5));
	CHECK_INT(s.error.kind, ERR_NONE);
	waitpid(pid, NULL, 0);
	s.ends = 0;
	CHECK(hook_run(&s.target, "postStart", on_hook, &s));
	CHECK(hand_wait(&s.hand, &s.ends, 1, 5));
	CHECK(strstr(s.error.text, "connection refused"));
	scene_close(&s);
}
