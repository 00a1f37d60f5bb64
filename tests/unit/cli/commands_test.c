// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

static int show_help(void *arg)
{
	command_help(arg);
	return 0;
}

TEST("every command is found by its name, and its help shows each of its options")
{
	for (size_t i = 0; commands[i]; i++) {
		const struct command *cmd = commands[i];
		struct capture c = capture_run(show_help, (void *)cmd, NULL, NULL);

		CHECK(command_find(cmd->name) == cmd);
		CHECK(cmd->run && cmd->args && cmd->opts);
		CHECK(*cmd->summary && !str_ends(cmd->summary, "."));
		CHECK(str_starts(c.out.p, cmd->summary));
		for (const struct opt *o = cmd->opts; o->name; o++) {
			auto_free char *flag = xasprintf("--%s", o->name);

			if (!strstr(c.out.p, flag) || !strstr(c.out.p, o->help))
				test_fail(__FILE__, __LINE__, "%s --help does not explain %s", cmd->name, flag);
		}
		capture_done(&c);
	}
	CHECK(!command_find("nonsense"));
	CHECK(!command_find("token"));
}

TEST("names and options are unique and can be typed")
{
	for (size_t i = 0; commands[i]; i++) {
		for (size_t k = 0; k < i; k++)
			CHECK(!streq(commands[i]->name, commands[k]->name));
		CHECK_INT(strspn(commands[i]->name, "abcdefghijklmnopqrstuvwxyz- "), strlen(commands[i]->name));
		for (const struct opt *o = commands[i]->opts; o->name; o++)
			for (const struct opt *p = commands[i]->opts; p != o; p++)
				if (streq(o->name, p->name) || (o->letter && o->letter == p->letter))
					test_fail(__FILE__, __LINE__, "%s: --%s and --%s", commands[i]->name, o->name,
						  p->name);
	}
}

TEST("a wrong word gets a hint, the right one a result")
{
	static const struct {
		const char *words[3];
		int status;
		const char *out, *err;
	} rows[] = {
		{ { NULL }, 2, "Commands:", "" },
		{ { "--help" }, 0, "Commands:", "" },
		{ { "help" }, 0, "serve ", "" },
		{ { "help", "serve" }, 0, "Usage: stoker serve", "" },
		{ { "help", "token", "create" }, 0, "Usage: stoker token create", "" },
		{ { "help", "nonsense" }, 1, "", "stoker help: there is no command \"nonsense\"" },
		{ { "version" }, 0, "stoker " STOKER_VERSION, "" },
		{ { "--version" }, 0, "stoker " STOKER_VERSION, "" },
		{ { "serv" }, 2, "", "stoker: there is no command \"serv\"; did you mean \"serve\"?" },
		{ { "versoin" }, 2, "", "did you mean \"version\"?" },
		{ { "zzzzzzzz" }, 2, "", "stoker: there is no command \"zzzzzzzz\"\n" },
		{ { "token" }, 0, "token create", "" },
		{ { "token", "create", "extra" }, 2, "", "usage: stoker token create" },
		{ { "token", "revoke" }, 2, "", "usage: stoker token revoke NAME..." },
		{ { "token", "frobnicate" }, 2, "token create", "" },
		{ { "serve", "--dta=x" }, 2, "", "--data" },
		{ { "serve", "extra" }, 2, "", "usage: stoker serve" },
		{ { "serve", "--listen=nowhere" }, 1, "", "HOST:PORT is expected" },
		{ { "completion" }, 2, "", "usage: stoker completion bash" },
		{ { "completion", "bash" }, 0, "complete -F _stoker stoker", "" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char *words[] = { (char *)"stoker", (char *)rows[i].words[0], (char *)rows[i].words[1],
				  (char *)rows[i].words[2], NULL };
		struct capture c = capture_run(capture_main, words, NULL, NULL);

		if (c.status != rows[i].status || !strstr(c.out.p, rows[i].out) || !strstr(c.err.p, rows[i].err))
			test_fail(__FILE__, __LINE__, "row %zu gives %d \"%.200s\" \"%.200s\"", i, c.status, c.out.p,
				  c.err.p);
		capture_done(&c);
	}
}

TEST("the completion script is a script and knows every command and option")
{
	struct capture c = CAPTURE(NULL, NULL, (char *)"completion", (char *)"bash");
	auto_free char *path = xasprintf("%s/completion.bash", test_dir());
	auto_free char *check = xasprintf("bash -n %s", path);
	struct err e = ERR_INIT;

	CHECK_INT(file_write(path, 0600, sbuf_str(&c.out), &e), 0);
	CHECK_INT(system(check), 0); // NOLINT: a fixed command
	for (size_t i = 0; commands[i]; i++) {
		auto_free char *row = xasprintf("\"%s\") words=\"", commands[i]->name);
		const char *at = strstr(c.out.p, row);

		CHECK(at != NULL);
		for (const struct opt *o = commands[i]->opts; at && o->name; o++) {
			auto_free char *flag = xasprintf(" --%s", o->name);

			CHECK(strstr(at, flag) != NULL);
		}
	}
	capture_done(&c);
}
