// SPDX-License-Identifier: Apache-2.0
/* token.c - `stoker token create|list|revoke`: bearer tokens for people and programs
 *
 * The secret is made here and shown once; the server stores only its SHA-256.  A token's name is its identity: the text
 * is stk_NAME_SECRET, so that looking one up is one read.
 */
#include <pwd.h>
#include <stdio.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/jsonx.h"
#include "base/mem.h"
#include "cli/connect.h"
#include "cli/token_kubeconfig.h"
#include "loop/crypto.h"

#define SECRET_BYTES   32
#define NAME_BYTES     5
#define TTL_DEFAULT    (90 * 86400)
#define KUBECONFIG_MAX (256 * 1024)

static const struct ref tokens = { .api_version = "stoker.dev/v1", .plural = "tokens" };

struct create_settings {
	struct connect_settings connect;
	const char *user;
	struct opt_strings groups;
	int64_t ttl;
	const char *description;
	const char *output;
};

static const struct opt create_opts[] = {
	{ .name = "user",
	  .letter = 'u',
	  .type = OPT_STRING,
	  .offset = offsetof(struct create_settings, user),
	  .arg = "NAME",
	  .help = "whose token it is (default: you)" },
	{ .name = "group",
	  .letter = 'g',
	  .type = OPT_STRINGS,
	  .offset = offsetof(struct create_settings, groups),
	  .arg = "NAME",
	  .help = "a group it speaks for; may be repeated (system:masters is an admin)" },
	{ .name = "ttl",
	  .type = OPT_DURATION,
	  .offset = offsetof(struct create_settings, ttl),
	  .arg = "TIME",
	  .help = "how long it is good for: 12h, 30d (default: 90d)" },
	{ .name = "description",
	  .type = OPT_STRING,
	  .offset = offsetof(struct create_settings, description),
	  .arg = "TEXT",
	  .help = "what it is for, shown by `stoker token list`" },
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = offsetof(struct create_settings, output),
	  .arg = "FORM",
	  .choices = "text|json|kubeconfig",
	  .help = "how to print it (default: text); kubeconfig is a file for kubectl" },
	CONNECT_OPTS,
	OPT_END,
};

static const char *own_name(void)
{
	struct passwd *pw = getpwuid(geteuid());

	return pw ? pw->pw_name : "nobody";
}

static json_t *token_object(const struct create_settings *s, const char *user, const char *name, const char *text)
{
	auto_sbuf struct sbuf hash = SBUF(2 * SHA256_LEN);
	unsigned char digest[SHA256_LEN];
	char expires[CLOCK_RFC3339_LEN];
	json_t *groups = json_array();
	json_t *obj;

	crypto_sha256(text, strlen(text), digest);
	hex_encode(digest, sizeof(digest), &hash);
	clock_rfc3339(clock_wall() + s->ttl, expires);
	for (size_t i = 0; i < s->groups.n; i++)
		json_array_append_new(groups, jsonx_string(s->groups.items[i]));
	obj = json_pack("{s:s, s:s, s:{s:s}, s:{s:s, s:o, s:s, s:s}}", "apiVersion", "stoker.dev/v1", "kind", "Token",
			"metadata", "name", name, "spec", "user", user, "groups", groups, "expires", expires, "hash",
			hash.p);
	if (s->description)
		jsonx_set_new(obj, "spec.description", jsonx_string(s->description));
	return obj;
}

static void make_token(struct sbuf *name, struct sbuf *text)
{
	unsigned char raw[SECRET_BYTES];

	crypto_random(raw, NAME_BYTES);
	hex_encode(raw, NAME_BYTES, name);
	crypto_random(raw, SECRET_BYTES);
	sbuf_addf(text, "stk_%s_", name->p);
	hex_encode(raw, SECRET_BYTES, text);
	mem_wipe(raw, sizeof(raw));
}

static void print_json(const char *name, const char *user, const char *expires, const char *token)
{
	auto_sbuf struct sbuf out = SBUF(64 * 1024);
	json_auto_t *doc = json_pack("{s:s, s:o, s:s, s:s}", "name", name, "user", jsonx_string(user), "expires",
				     expires, "token", token);

	jsonx_dump(doc, &out);
	puts(out.p);
}

static void print_kubeconfig(const struct kube_place *place, const char *user, const char *token)
{
	auto_sbuf struct sbuf out = SBUF(KUBECONFIG_MAX);

	kube_place_write(place, user, token, &out);
	fputs(out.p, stdout);
}

/* What is asked of the server comes first: a token that cannot be shown shall not be made. */
static int create(const struct create_settings *s, struct err *e)
{
	bool kube = s->output && streq(s->output, "kubeconfig");
	const char *user = s->user ? s->user : own_name();
	auto_sbuf struct sbuf name = SBUF(64);
	auto_sbuf struct sbuf text = SBUF(256);
	json_auto_t *obj = NULL;
	json_auto_t *made = NULL;
	struct kube_place place = { 0 };
	struct connection c;
	int r;

	if (connect_open(&s->connect, &c, e) < 0)
		return -1;
	make_token(&name, &text);
	obj = token_object(s, user, name.p, text.p);
	r = kube ? kube_place_find(c.client, s->user, &place, e) : 0;
	if (r == 0)
		r = client_create_wait(c.client, &tokens, obj, &made, e);
	connect_close(&c);
	if (r == 0 && kube)
		print_kubeconfig(&place, user, text.p);
	else if (r == 0 && s->output && streq(s->output, "json"))
		print_json(name.p, user, jsonx_str_or(made, "spec.expires", ""), text.p);
	else if (r == 0)
		printf("# token %s for %s, good until %s; it is not shown again\n%s\n", name.p, user,
		       jsonx_str_or(made, "spec.expires", ""), text.p);
	kube_place_done(&place);
	return r;
}

static int run_create(const struct command *cmd, int argc, char **argv)
{
	struct create_settings s = { .ttl = TTL_DEFAULT };
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	int r;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	r = create(&s, &e);
	opt_strings_done(&s.groups);
	return r < 0 ? command_fail(cmd, &e) : 0;
}

const struct command cmd_token_create = {
	.name = "token create",
	.args = "[--user NAME] [--group NAME]... [--ttl TIME]",
	.summary = "Make a bearer token and print it",
	.details =
		"The token is printed alone on the last line, or as a kubeconfig. The server keeps only its hash.\n\n"
		"Examples:\n"
		"  stoker token create                                # for yourself, 90 days\n"
		"  stoker token create -o kubeconfig >~/.kube/config  # the same as a file for kubectl\n"
		"  stoker token create --user ci --group system:masters --ttl 1h\n",
	.opts = create_opts,
	.run = run_create,
};

/* ---- list ---- */

struct list_settings {
	struct connect_settings connect;
	const char *output;
};

static const struct opt list_opts[] = {
	{ .name = "output",
	  .letter = 'o',
	  .type = OPT_CHOICE,
	  .offset = offsetof(struct list_settings, output),
	  .arg = "FORM",
	  .choices = "text|json",
	  .help = "how to print them (default: text)" },
	CONNECT_OPTS,
	OPT_END,
};

static void print_token(const json_t *t)
{
	auto_sbuf struct sbuf groups = SBUF(4096);
	int64_t expires = 0;
	char left[32] = "never";
	json_t *g;
	size_t i;

	json_array_foreach (jsonx_at(t, "spec.groups"), i, g)
		sbuf_addf(&groups, "%s%s", i ? "," : "", json_string_value(g));
	if (clock_parse_rfc3339(jsonx_str_or(t, "spec.expires", ""), &expires)) {
		int64_t seconds = expires / 1000000 - clock_wall();

		if (seconds > 0)
			clock_age(seconds, left, sizeof(left));
		else
			snprintf(left, sizeof(left), "expired");
	}
	printf("%-12s %-16s %-10s %-24s %s\n", jsonx_str_or(t, "metadata.name", ""), jsonx_str_or(t, "spec.user", ""),
	       left, groups.n ? groups.p : "-", jsonx_str_or(t, "spec.description", ""));
}

static int run_list(const struct command *cmd, int argc, char **argv)
{
	struct list_settings s = { 0 };
	json_auto_t *list = NULL;
	struct connection c;
	struct err e = ERR_INIT;
	char **rest;
	int nrest;
	json_t *t;
	size_t i;
	int r;

	if (command_parse(cmd, &s, argc, argv, 0, 0, &rest, &nrest) < 0)
		return 2;
	if (connect_open(&s.connect, &c, &e) < 0)
		return command_fail(cmd, &e);
	r = client_list_wait(c.client, &tokens, NULL, &list, &e);
	connect_close(&c);
	if (r < 0)
		return command_fail(cmd, &e);
	if (s.output && streq(s.output, "json")) {
		auto_sbuf struct sbuf out = SBUF(SIZE_MAX / 2);

		jsonx_dump_pretty(json_object_get(list, "items"), &out);
		fputs(out.p, stdout);
		return 0;
	}
	printf("%-12s %-16s %-10s %-24s %s\n", "NAME", "USER", "LEFT", "GROUPS", "DESCRIPTION");
	json_array_foreach (json_object_get(list, "items"), i, t)
		print_token(t);
	return 0;
}

const struct command cmd_token_list = {
	.name = "token list",
	.args = "[-o json]",
	.summary = "List the tokens there are (never their secrets)",
	.opts = list_opts,
	.run = run_list,
};

/* ---- revoke ---- */

static const struct opt revoke_opts[] = { CONNECT_OPTS, OPT_END };

static int run_revoke(const struct command *cmd, int argc, char **argv)
{
	struct connect_settings s = { 0 };
	struct connection c;
	struct err e = ERR_INIT;
	char **names;
	int n;
	int failed = 0;

	if (command_parse(cmd, &s, argc, argv, 1, 1000, &names, &n) < 0)
		return 2;
	if (connect_open(&s, &c, &e) < 0)
		return command_fail(cmd, &e);
	for (int i = 0; i < n; i++) {
		struct ref ref = tokens;

		err_clear(&e);
		ref.name = names[i];
		if (client_delete_wait(c.client, &ref, NULL, &e) < 0)
			failed = command_fail(cmd, &e);
		else
			printf("token %s revoked\n", names[i]);
	}
	connect_close(&c);
	return failed;
}

const struct command cmd_token_revoke = {
	.name = "token revoke",
	.args = "NAME...",
	.summary = "Make tokens useless at once",
	.details = "NAME is the first column of `stoker token list`.\n",
	.opts = revoke_opts,
	.run = run_revoke,
};
