// SPDX-License-Identifier: Apache-2.0
/* image_registry_test.c - pushing to and pulling from a real registry on this machine */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>

#include "image_fixture.h"

/* bcrypt of "secret" */
#define HTPASSWD "lab:$2b$04$2O8P531H1liQP.Xwjf90UOKAIkX4Sk7VlIbQEBc7WvNcvVG7KeSR.\n"

static const struct tar_entry base[] = { { '0', "etc/one", .data = "base" }, { '5', "dev", .mode = 0755 }, { 0 } };
static const struct tar_entry top[] = { { '0', "etc/two", .data = "top" }, { 0 } };
static const struct tar_entry *const layers[] = { base, top };
static const struct tar_entry *const base_only[] = { base };

struct registry {
	pid_t pid;
	int port;
	char *dir;
};

static int free_port(void)
{
	struct sockaddr_in a = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t n = sizeof(a);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	CHECK_INT(bind(fd, (struct sockaddr *)&a, sizeof(a)), 0);
	CHECK_INT(getsockname(fd, (struct sockaddr *)&a, &n), 0);
	close(fd);
	return ntohs(a.sin_port);
}

static bool answers(int port)
{
	struct sockaddr_in a = { .sin_family = AF_INET,
				 .sin_port = htons((uint16_t)port),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool ok = connect(fd, (struct sockaddr *)&a, sizeof(a)) == 0;

	close(fd);
	return ok;
}

enum flavour { PLAIN, WITH_PASSWORD, WITH_TLS };

static void write_config(const struct registry *r, enum flavour flavour)
{
	auto_sbuf struct sbuf text = SBUF(4096);

	sbuf_addf(&text,
		  "version: 0.1\nlog: {level: error, accesslog: {disabled: true}}\nstorage:\n  filesystem: "
		  "{rootdirectory: %s/data}\nhttp:\n  addr: '127.0.0.1:%d'\n",
		  r->dir, r->port);
	if (flavour == WITH_TLS)
		sbuf_addf(&text, "  tls: {certificate: %s/server.crt, key: %s/server.key}\n", r->dir, r->dir);
	if (flavour == WITH_PASSWORD)
		sbuf_addf(&text, "auth:\n  htpasswd: {realm: lab, path: %s/htpasswd}\n", r->dir);
	fixture_file(r->dir, "config.yml", text.p);
	fixture_file(r->dir, "htpasswd", HTPASSWD);
}

/* A CA in DIR/trusted, a stranger's in DIR/stranger, and a server certificate of the first. */
static void make_certificates(const char *dir)
{
	auto_free char *cmd = xasprintf(
		"cd '%s' && mkdir trusted stranger && for d in trusted stranger; do openssl req -x509 -newkey ec "
		"-pkeyopt "
		"ec_paramgen_curve:P-256 -nodes -days 2 -subj /CN=$d -keyout $d.key -out $d/ca.crt 2>/dev/null || exit "
		"1; "
		"done; openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -subj /CN=localhost -keyout "
		"server.key -out server.csr 2>/dev/null && echo subjectAltName=DNS:localhost >ext && openssl x509 -req "
		"-in "
		"server.csr -CA trusted/ca.crt -CAkey trusted.key -CAcreateserial -days 2 -extfile ext -out server.crt "
		"2>/dev/null",
		dir);

	CHECK_INT(system(cmd), 0);
}

static _Noreturn void run_registry(const struct registry *r)
{
	auto_free char *config = xasprintf("%s/config.yml", r->dir);
	int null = open("/dev/null", O_RDWR);

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	dup2(null, 1);
	dup2(null, 2);
	execlp("docker-registry", "docker-registry", "serve", config, (char *)NULL);
	_exit(127);
}

static struct registry registry_start(const char *name, enum flavour flavour)
{
	const struct timespec pause = { .tv_nsec = 20000000 };
	struct registry r = { .dir = xasprintf("%s/%s", test_dir(), name), .port = free_port() };

	mkdir(r.dir, 0700);
	if (flavour == WITH_TLS)
		make_certificates(r.dir);
	write_config(&r, flavour);
	r.pid = fork();
	if (r.pid == 0)
		run_registry(&r);
	for (int i = 0; i < 1500 && !answers(r.port) && waitpid(r.pid, NULL, WNOHANG) == 0; i++)
		nanosleep(&pause, NULL);
	if (!answers(r.port))
		test_fail(__FILE__, __LINE__, "docker-registry does not answer; is it installed?");
	return r;
}

static void registry_stop(struct registry *r)
{
	kill(r->pid, SIGTERM);
	while (waitpid(r->pid, NULL, 0) < 0 && errno == EINTR)
		;
	CHECK(tree_remove(r->dir, NULL));
	free(r->dir);
}

static void pull(struct lab *lab, const char *name, const json_t *auths)
{
	const struct pull_options o = { .auths = auths, .progress = lab_line, .arg = lab };

	lab->lines = 0;
	images_pull(lab->images, name, &o, lab_done, lab);
	CHECK_INT(lab->done, 0);
	lab_wait(lab, 1);
}

static void push(struct lab *lab, const char *name, const char *to, const json_t *auths)
{
	const struct pull_options o = { .auths = auths, .progress = lab_line, .arg = lab };

	images_push(lab->images, name, to, &o, lab_done, lab);
	lab_wait(lab, 1);
}

TEST("an image is pushed, pulled, known by tag and digest, and not fetched twice")
{
	struct registry r = registry_start("registry", PLAIN);
	struct lab *lab = lab_new("registry-lab");
	auto_free char *name = xasprintf("localhost:%d/team/tiny:v1", r.port);
	auto_free char *scratch = xasprintf("%s/scratch", lab->dir);
	auto_free char *target = xasprintf("%s/root", lab->dir);
	auto_free char *digest = NULL;
	auto_free char *id = NULL;
	struct image_info info;
	struct err e = ERR_INIT;
	unsigned first_lines;

	lab_import(lab, layers, 2, "tiny");
	push(lab, "tiny", name, NULL);
	CHECK_STR(lab->err.text, "");
	CHECK_INT(images_remove(lab->images, "tiny", false, &e), 0);
	images_settle(lab->images);
	pull(lab, name, NULL);
	CHECK_STR(lab->err.text, "");
	CHECK_STR(lab->info.name, name);
	CHECK(strstr(lab->info.digest, "/team/tiny@sha256:") != NULL);
	CHECK(lab->lines > 0);
	first_lines = lab->lines;
	digest = xstrdup(lab->info.digest);
	id = xstrdup(lab->info.id);
	CHECK_INT(images_mount(lab->images, name, scratch, target, false, &e), 0);
	CHECK_STR(fixture_read(target, "etc/two"), "top");
	images_unmount(scratch, target);
	pull(lab, name, NULL);
	CHECK_STR(lab->err.text, "");
	CHECK(lab->lines < first_lines);
	pull(lab, digest, NULL);
	CHECK_STR(lab->err.text, "");
	CHECK_STR(lab->info.id, id);
	CHECK_INT(images_find(lab->images, digest, &info, &e), 0);
	CHECK_STR(info.digest, digest);
	image_info_done(&info);
	/* From nothing, by digest alone. */
	CHECK_INT(images_remove(lab->images, id, false, &e), 0);
	images_settle(lab->images);
	pull(lab, digest, NULL);
	CHECK_STR(lab->err.text, "");
	CHECK_STR(lab->info.id, id);
	lab_free(lab);
	registry_stop(&r);
}

TEST("a tag that moves leaves the old image without that name")
{
	struct registry r = registry_start("registry-moves", PLAIN);
	struct lab *lab = lab_new("moves-lab");
	auto_free char *name = xasprintf("127.0.0.1:%d/tiny:v1", r.port);
	auto_free char *old = NULL;
	json_auto_t *doc = NULL;
	struct err e = ERR_INIT;

	lab_import(lab, layers, 2, "one");
	push(lab, "one", name, NULL);
	pull(lab, name, NULL);
	CHECK_STR(lab->err.text, "");
	old = xstrdup(lab->info.id);
	lab_import(lab, base_only, 1, "two");
	push(lab, "two", name, NULL);
	pull(lab, name, NULL);
	CHECK_STR(lab->err.text, "");
	CHECK(strcmp(lab->info.id, old) != 0);
	CHECK_INT(images_inspect(lab->images, old, &doc, &e), 0);
	CHECK_INT(json_array_size(json_object_get(doc, "names")), 1);
	lab_free(lab);
	registry_stop(&r);
}

TEST("a registry with passwords lets in who knows one, and says so otherwise")
{
	struct registry r = registry_start("registry-auth", WITH_PASSWORD);
	struct lab *lab = lab_new("auth-lab");
	auto_free char *name = xasprintf("localhost:%d/private/tiny:v1", r.port);
	auto_free char *absent = xasprintf("localhost:%d/private/nothing:v1", r.port);
	auto_free char *host = xasprintf("localhost:%d", r.port);
	json_auto_t *good = json_pack("{s:{s:s, s:s}}", host, "username", "lab", "password", "secret");
	json_auto_t *coded = json_pack("{s:{s:s}}", host, "auth", "bGFiOnNlY3JldA==");
	json_auto_t *bad = json_pack("{s:{s:s, s:s}}", host, "username", "lab", "password", "guess");

	lab_import(lab, layers, 2, "tiny");
	push(lab, "tiny", name, NULL);
	CHECK_INT(lab->err.kind, ERR_FORBIDDEN);
	push(lab, "tiny", name, good);
	CHECK_STR(lab->err.text, "");
	pull(lab, name, NULL);
	CHECK_INT(lab->err.kind, ERR_FORBIDDEN);
	CHECK(strstr(lab->err.text, "unauthorized") != NULL);
	pull(lab, name, bad);
	CHECK_INT(lab->err.kind, ERR_FORBIDDEN);
	CHECK(strstr(lab->err.text, "guess") == NULL);
	pull(lab, name, good);
	CHECK_STR(lab->err.text, "");
	pull(lab, name, coded);
	CHECK_STR(lab->err.text, "");
	pull(lab, absent, good);
	CHECK_INT(lab->err.kind, ERR_NOT_FOUND);
	lab_free(lab);
	registry_stop(&r);
}

TEST("a pull that fails says why")
{
	struct registry r = registry_start("registry-errors", PLAIN);
	struct lab *lab = lab_new("errors-lab");
	auto_free char *absent = xasprintf("localhost:%d/nothing:v1", r.port);
	auto_free char *dead = xasprintf("localhost:%d/x", free_port());

	pull(lab, absent, NULL);
	CHECK_INT(lab->err.kind, ERR_NOT_FOUND);
	CHECK(strstr(lab->err.text, "not found in the registry") != NULL);
	pull(lab, dead, NULL);
	CHECK_INT(lab->err.kind, ERR_UNAVAILABLE);
	CHECK(strstr(lab->err.text, "connection refused") != NULL);
	pull(lab, "Not/Valid", NULL);
	CHECK_INT(lab->err.kind, ERR_INVALID);
	pull(lab, "host", NULL);
	CHECK_STR(lab->err.text, "");
	CHECK_STR(lab->info.id, "host");
	lab_free(lab);
	registry_stop(&r);
}

TEST("two pulls of one name are joined unless their credentials differ")
{
	struct registry r = registry_start("registry-join", PLAIN);
	struct lab *lab = lab_new("join-lab");
	auto_free char *name = xasprintf("localhost:%d/tiny:v1", r.port);
	json_auto_t *auths = json_pack("{s:{s:s, s:s}}", "elsewhere:5000", "username", "a", "password", "b");
	const struct pull_options plain = { .progress = lab_line, .arg = lab };
	const struct pull_options with = { .auths = auths, .progress = lab_line, .arg = lab };
	unsigned alone;

	lab_import(lab, layers, 2, "tiny");
	push(lab, "tiny", name, NULL);
	pull(lab, name, NULL);
	pull(lab, name, NULL);
	alone = lab->lines;
	CHECK(alone > 0);
	lab->lines = 0;
	images_pull(lab->images, name, &plain, lab_done, lab);
	images_pull(lab->images, name, &plain, lab_done, lab);
	images_pull(lab->images, name, &with, lab_done, lab);
	lab_wait(lab, 3);
	CHECK_STR(lab->err.text, "");
	CHECK_INT(lab->lines, 3 * alone);
	lab_free(lab);
	registry_stop(&r);
}

TEST("a pull under way ends with the store and leaves no process")
{
	struct registry r = registry_start("registry-abort", PLAIN);
	struct lab *lab = lab_new("abort-lab");
	auto_free char *name = xasprintf("localhost:%d/tiny:v1", r.port);

	lab_import(lab, layers, 2, "tiny");
	push(lab, "tiny", name, NULL);
	images_pull(lab->images, name, NULL, lab_done, lab);
	loop_turn(lab->loop, true);
	lab_free(lab);
	registry_stop(&r);
}

TEST("a registry with a private CA is trusted only by who has that CA")
{
	struct registry r = registry_start("registry-tls", WITH_TLS);
	struct lab *lab = lab_new("tls-lab");
	auto_free char *name = xasprintf("localhost:%d/tiny:v1", r.port);
	auto_free char *trusted = xasprintf("%s/trusted", r.dir);
	auto_free char *stranger = xasprintf("%s/stranger", r.dir);
	struct pull_options o = { .cert_dir = trusted };

	lab_import(lab, layers, 2, "tiny");
	images_push(lab->images, "tiny", name, &o, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_STR(lab->err.text, "");
	images_pull(lab->images, name, &o, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_STR(lab->err.text, "");
	o.cert_dir = stranger;
	images_pull(lab->images, name, &o, lab_done, lab);
	lab_wait(lab, 1);
	CHECK_INT(lab->err.kind, ERR_UNAVAILABLE);
	CHECK(strstr(lab->err.text, "certificate is not trusted") != NULL);
	lab_free(lab);
	registry_stop(&r);
}
