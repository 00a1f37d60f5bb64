// SPDX-License-Identifier: Apache-2.0
/* log.c - one write(2) a line, so that lines of several processes do not mix */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/clock.h"

static enum log_level threshold = LOG_INFO;

void log_set_level(enum log_level level)
{
	threshold = level;
}

void log_msg(enum log_level level, const char *fmt, ...)
{
	static const char *const names[] = { "error", "warn", "info", "debug" };
	char line[2048];
	char stamp[CLOCK_RFC3339_LEN];
	size_t n;
	va_list ap;

	if (level > threshold)
		return;
	clock_rfc3339(clock_wall(), stamp);
	n = (size_t)snprintf(line, sizeof(line), "%s %s ", stamp, names[level]);
	va_start(ap, fmt);
	vsnprintf(line + n, sizeof(line) - n - 1, fmt, ap);
	va_end(ap);
	for (char *p = line + n; *p; p++) /* foreign text may not forge a line */
		if (*p == '\n' || *p == '\r')
			*p = ' ';
	n = strlen(line);
	line[n++] = '\n';
	(void)!write(2, line, n);
}
