// SPDX-License-Identifier: Apache-2.0
#include "psgd/settings.h"

#include "base/mem.h"
#include "base/str.h"
#include "test.h"

static int read_line(struct settings *s, const char *line, struct err *e)
{
	static char text[256];
	char *argv[16] = { (char *)"psgd" };
	int argc = 1;

	snprintf(text, sizeof(text), "%s", line);
	for (char *p = text; *p && argc < 16; argc++) {
		argv[argc] = p;
		p += strcspn(p, " ");
		if (*p)
			*p++ = '\0';
	}
	return settings_read(s, argc, argv, e);
}

TEST("options have defaults that train")
{
	struct err e = ERR_INIT;
	struct settings s;

	CHECK_INT(read_line(&s, "", &e), 0);
	CHECK_INT(s.mode, MODE_SYNC);
	CHECK(s.rate == 0.1f);
	CHECK_STR(s.hidden, "128");
	CHECK(settings_alpha(&s, 4) == 0);
	CHECK_INT(read_line(&s, "--model softmax --mode ssp --staleness 0", &e), 0);
	CHECK_STR(s.hidden, "");
	CHECK_INT(s.staleness, 0);
}

TEST("alpha is given, follows from rho, or is shared by all trainers")
{
	struct err e = ERR_INIT;
	struct settings s;

	CHECK_INT(read_line(&s, "--mode easgd", &e), 0);
	CHECK(settings_alpha(&s, 2) == 0.45f);
	CHECK_INT(s.tau, 10);
	CHECK_INT(read_line(&s, "--mode easgd --alpha 0.2", &e), 0);
	CHECK(settings_alpha(&s, 2) == 0.2f);
	CHECK_INT(read_line(&s, "--mode eamsgd --rho 2 --rate 0.05", &e), 0);
	CHECK(settings_alpha(&s, 9) == 0.1f);
}

TEST("wrong options are refused by name")
{
	static const struct {
		const char *line, *text;
	} rows[] = {
		{ "--rate fast", "--rate: \"fast\" is not a number from 0 to 1000" },
		{ "--rate nan", "--rate: \"nan\" is not a number from 0 to 1000" },
		{ "--tau 5", "--tau is for --mode easgd and eamsgd, not sync" },
		{ "--mode async --backup 1", "--backup is for --mode sync, not async" },
		{ "--mode easgd --momentum 0.5", "--momentum is for --mode eamsgd, not easgd" },
		{ "--mode easgd --alpha 0.5 --rho 1", "--alpha and --rho say the same; give one of them" },
		{ "--mode easgd --rho 20", "--rho: rate * rho is 2; more than 1 would overshoot" },
		{ "--mode downpour", "--mode: \"downpour\" is not one of sync|async|ssp|easgd|eamsgd" },
		{ "--epochs 0", "--epochs: \"0\" is not a number from 1 to 1000000" },
		{ "--shm /a-directory/whose-name-is-so-long-that-it-does-not-fit-into-an-address-of-a-socket",
		  "--shm: /a-directory/whose-name-is-so-long-that-it-does-not-fit-into-an-address-of-a-socket: "
		  "longer than 70 bytes" },
		{ "train", "\"train\": psgd takes options only" },
	};

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		struct err e = ERR_INIT;
		struct settings s;

		CHECK_INT(read_line(&s, rows[i].line, &e), -1);
		CHECK_STR(e.text, rows[i].text);
	}
}
