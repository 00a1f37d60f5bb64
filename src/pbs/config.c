// SPDX-License-Identifier: Apache-2.0
/* config.c - torque.cfg */
#include "pbs/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/file.h"
#include "base/limits.h"
#include "base/mem.h"

static const char *const files[] = { "/etc/stoker/torque.cfg", "/var/spool/torque/torque.cfg" };

void config_parse(struct str text, struct pairs *ret)
{
	struct str line;

	while (str_split(&text, '\n', &line)) {
		size_t n = 0;
		struct str name, value;

		line = str_trim(line);
		while (n < line.n && !isspace((unsigned char)line.p[n]) && line.p[n] != '=')
			n++;
		name = (struct str){ line.p, n };
		value = str_trim((struct str){ line.p + n, line.n - n });
		if (value.n && value.p[0] == '=')
			value = str_trim((struct str){ value.p + 1, value.n - 1 });
		if (name.n && name.p[0] != '#')
			pairs_set(ret, name, value, FROM_CONFIG);
	}
}

void config_read(struct pairs *ret)
{
	auto_sbuf struct sbuf text = SBUF(LIMIT_BODY);
	const char *own = getenv("STOKER_TORQUE_CFG");
	struct err e = ERR_INIT;

	if (own) {
		if (file_read(own, LIMIT_BODY, &text, &e) == 0)
			config_parse(sbuf_str(&text), ret);
		return;
	}
	for (size_t i = 0; i < ARRAY_SIZE(files); i++)
		if (access(files[i], R_OK) == 0 && file_read(files[i], LIMIT_BODY, &text, &e) == 0) {
			config_parse(sbuf_str(&text), ret);
			return;
		}
}
