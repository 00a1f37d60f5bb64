// SPDX-License-Identifier: Apache-2.0
/* about.c - see about.h */
#include "pbs/about.h"

int about_say(const char *usage)
{
	if (usage)
		fputs(usage, stdout);
	else
		pbs_version();
	return 0;
}

bool about_asked(int argc, char **argv, const char *usage)
{
	bool help = argc == 2 && streq(argv[1], "--help");

	if (!help && (argc != 2 || (!streq(argv[1], "--version") && !streq(argv[1], "--about"))))
		return false;
	about_say(help ? usage : NULL);
	return true;
}

int about_misuse(const char *usage)
{
	const char *options = strstr(usage, "\n\n");

	fwrite(usage, 1, options ? (size_t)(options - usage) + 1 : strlen(usage), stderr);
	return 2;
}

void about_write(const struct sbuf *text, FILE *to)
{
	if (text->n)
		fwrite(text->p, 1, text->n, to);
	fflush(to);
}
