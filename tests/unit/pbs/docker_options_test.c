// SPDX-License-Identifier: Apache-2.0
/* docker_options_test.c - what may stand in startdocker -u "..." */
#include "pbs/docker_options.h"

#include "base/mem.h"
#include "test.h"

static void texts(struct sbuf *out, const char *name, const struct docker_texts *t)
{
	for (size_t i = 0; i < t->n; i++)
		sbuf_addf(out, " %s=<%s>", name, t->items[i]);
}

static void show(const struct docker_options *o, struct sbuf *out)
{
	const struct {
		const char *name, *value;
	} rows[] = { { "w", o->workdir },  { "entrypoint", o->entrypoint },
		     { "h", o->hostname }, { "shm", o->shm_size },
		     { "ipc", o->ipc },    { "net", o->network } };

	sbuf_addf(out, "%s%s%s", o->in ? "i" : "", o->tty ? "t" : "", o->read_only ? "r" : "");
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++)
		if (rows[i].value)
			sbuf_addf(out, " %s=<%s>", rows[i].name, rows[i].value);
	texts(out, "v", &o->volumes);
	texts(out, "e", &o->env);
	texts(out, "file", &o->env_files);
	texts(out, "tmpfs", &o->tmpfs);
	texts(out, "ignored", &o->ignored);
}

TEST("options of docker are allowed by a table, in every way they are written")
{
	static const struct {
		const char *text, *want;
		bool bad;
	} rows[] = {
		{ "", "" },
		{ "-it", "it" },
		{ "-i -t", "it" },
		{ "-ti -v /gdata/u:/gdata/u -w /ghome/u", "it w=</ghome/u> v=</gdata/u:/gdata/u>" },
		{ "-w=/ghome/u", " w=</ghome/u>" },
		{ "-w/ghome/u", " w=</ghome/u>" },
		{ "--workdir /a --workdir=/b", " w=</b>" },
		{ "-w=\"/with blank\"", " w=</with blank>" },
		{ "-itw /x", "it w=</x>" },
		{ "-e PYTHONPATH=/data/pylib -e A --env=B=c=d", " e=<PYTHONPATH=/data/pylib> e=<A> e=<B=c=d>" },
		{ "--ipc=host -v /gpub/x:/gpub/x --shm-size 8G", " shm=<8G> ipc=<host> v=</gpub/x:/gpub/x>" },
		{ "--shm-size=8gb --ipc host", " shm=<8gb> ipc=<host>" },
		{ "--rm --init --name me --gpus all --runtime=nvidia", "" },
		{ "--privileged", " ignored=<--privileged>" },
		{ "--privileged=false", "" },
		{ "--ulimit memlock=-1 --ulimit=stack=67108864",
		  " ignored=<--ulimit> ignored=<--ulimit=stack=67108864>" },
		{ "--net=host", " net=<host>" },
		{ "--read-only --tmpfs /run:size=64m --entrypoint /bin/x --env-file f -h n",
		  "r entrypoint=</bin/x> h=<n> file=<f> tmpfs=</run:size=64m>" },
		{ "-d", "-u: -d is not allowed: the container ends with startdocker", true },
		{ "-dit", "-u: -dit is not allowed: the container ends with startdocker", true },
		{ "-u 0", "-u: -u is not allowed: containers run as who calls startdocker", true },
		{ "--user=0", "-u: --user=0 is not allowed: containers run as who calls startdocker", true },
		{ "--cap-add=ALL", "-u: --cap-add=ALL is not allowed: containers have the rights of their user", true },
		{ "--device /dev/sda",
		  "-u: --device is not allowed: a container has the cards of its job and no other devices", true },
		{ "--pid=host", "-u: --pid=host is not allowed: containers do not see processes of others", true },
		{ "--security-opt x", "-u: --security-opt is not allowed: containers have the rights of their user",
		  true },
		{ "--frobnicate", "-u: --frobnicate is not an option that startdocker allows", true },
		{ "-iz", "-u: -z (in -iz) is not an option that startdocker allows", true },
		{ "lab/box", "-u: \"lab/box\" is not an option", true },
		{ "-", "-u: \"-\" is not an option", true },
		{ "-v", "-u: flag needs an argument: -v", true },
		{ "--shm-size", "-u: flag needs an argument: --shm-size", true },
		{ "--shm-size=lots", "-u: --shm-size: \"lots\" is not a size such as 64m or 8G", true },
		{ "--ipc=container:x", "-u: --ipc=container:x is not allowed: only host, private and none", true },
		{ "--net container:x", "-u: --network=container:x is not allowed: only bridge, host and none", true },
		{ "-w here", "-u: -w: the working directory 'here' is invalid: it must begin with /", true },
		{ "-e 'A", "-u: unmatched ' in \"-e 'A\"", true },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct docker_options o = { 0 };
		auto_sbuf struct sbuf got = SBUF(4096);
		struct err e = ERR_INIT;
		int r = docker_options_parse(str_of(rows[i].text), &o, &e);

		show(&o, &got);
		CHECK_INT(r, rows[i].bad ? -1 : 0);
		CHECK_STR(r < 0 ? e.text : got.p, rows[i].want);
		docker_options_done(&o);
	}
}

TEST("a mount is source:target[:mode], both without ways up")
{
	static const struct {
		const char *text, *want;
	} rows[] = {
		{ "/a:/b", "/a /b rw" },
		{ "/a/:/b/:ro", "/a /b ro" },
		{ "/a:/b:rw,z", "/a /b rw" },
		{ "/a", "-v /a: a mount is source:target[:ro]" },
		{ ":/b", "-v :/b: a mount is source:target[:ro]" },
		{ "a:/b", "-v a:/b: both paths must begin with / and have no .." },
		{ "/a/../b:/b", "-v /a/../b:/b: both paths must begin with / and have no .." },
		{ "/a:/b:exec", "-v /a:/b:exec: invalid mode: exec" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct docker_volume v = { 0 };
		struct err e = ERR_INIT;
		int r = docker_volume_parse(rows[i].text, &v, &e);
		auto_free char *got =
			r < 0 ? xstrdup(e.text) : xasprintf("%s %s %s", v.source, v.target, v.read_only ? "ro" : "rw");

		CHECK_STR(got, rows[i].want);
		docker_volume_done(&v);
	}
}

TEST("sizes of shared memory are docker's")
{
	static const struct {
		const char *text;
		int64_t want; /* 0: none */
	} rows[] = {
		{ "8G", 8ll << 30 },  { "8gb", 8ll << 30 },
		{ "64m", 64 << 20 },  { "1024", 1024 },
		{ "5b", 5 },          { "192G", 192ll << 30 },
		{ "0", 0 },           { "", 0 },
		{ "8x", 0 },          { "8gbb", 0 },
		{ "5bb", 0 },         { "-1", 0 },
		{ "9000000000t", 0 }, { "g", 0 },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int64_t got = 0;

		CHECK_INT(docker_size_parse(rows[i].text, &got), rows[i].want != 0);
		CHECK_INT(got, rows[i].want);
	}
}
