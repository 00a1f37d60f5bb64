// SPDX-License-Identifier: Apache-2.0
/* metrics.c - numbers in the text that Prometheus reads */
#include "base/metrics.h"

#include <dirent.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

void metrics_family(struct sbuf *out, const char *name, const char *type, const char *help)
{
	sbuf_addf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void add_escaped(struct sbuf *out, const char *s)
{
	for (; *s; s++)
		if (*s == '\n')
			sbuf_adds(out, "\\n");
		else if (*s == '"' || *s == '\\')
			sbuf_addf(out, "\\%c", *s);
		else
			sbuf_addc(out, *s);
}

static void add_number(struct sbuf *out, double value)
{
	bool whole = value > -1e15 && value < 1e15 && value == (double)(int64_t)value;

	sbuf_addf(out, whole ? " %.0f\n" : " %.9g\n", value);
}

void metrics_sample(struct sbuf *out, const char *name, double value, ...)
{
	const char *label;
	bool first = true;
	va_list ap;

	sbuf_adds(out, name);
	va_start(ap, value);
	while ((label = va_arg(ap, const char *))) {
		sbuf_addf(out, "%c%s=\"", first ? '{' : ',', label);
		add_escaped(out, va_arg(ap, const char *));
		sbuf_addc(out, '"');
		first = false;
	}
	va_end(ap);
	if (!first)
		sbuf_addc(out, '}');
	add_number(out, value);
}

static double resident_bytes(void)
{
	auto_sbuf struct sbuf text = SBUF(4096);
	struct err e = ERR_INIT;
	const char *second;

	if (file_read("/proc/self/statm", 4095, &text, &e) < 0 || !(second = strchr(text.p, ' ')))
		return 0;
	return (double)strtoull(second, NULL, 10) * (double)sysconf(_SC_PAGESIZE);
}

static double open_descriptors(void)
{
	DIR *d = opendir("/proc/self/fd");
	double n = 0;

	if (!d)
		return 0;
	for (const struct dirent *entry = readdir(d); entry; entry = readdir(d))
		n += entry->d_name[0] != '.';
	closedir(d);
	return n - 1; /* not the one that lists them */
}

static double seconds_of(struct timeval t)
{
	return (double)t.tv_sec + (double)t.tv_usec / 1e6;
}

void metrics_process(struct sbuf *out)
{
	struct rusage used = { 0 };

	getrusage(RUSAGE_SELF, &used);
	metrics_family(out, "stoker_build_info", "gauge", "Which program this is; always 1.");
	metrics_sample(out, "stoker_build_info", 1, "version", STOKER_VERSION, NULL);
	metrics_family(out, "process_cpu_seconds_total", "counter", "Processor time used, in seconds.");
	metrics_sample(out, "process_cpu_seconds_total", seconds_of(used.ru_utime) + seconds_of(used.ru_stime), NULL);
	metrics_family(out, "process_resident_memory_bytes", "gauge", "Memory in use, in bytes.");
	metrics_sample(out, "process_resident_memory_bytes", resident_bytes(), NULL);
	metrics_family(out, "process_open_fds", "gauge", "Open file descriptors.");
	metrics_sample(out, "process_open_fds", open_descriptors(), NULL);
}
