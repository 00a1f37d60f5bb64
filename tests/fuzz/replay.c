// SPDX-License-Identifier: Apache-2.0
/* replay.c - gives a fuzz target a main that runs files and folders of inputs once each
 *
 * The same LLVMFuzzerTestOneInput is linked with libFuzzer by `make fuzz`.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static unsigned count;

static void run_file(const char *path)
{
	FILE *f = fopen(path, "rb");
	char *data = NULL;
	size_t n = 0;

	if (!f) {
		perror(path);
		exit(1);
	}
	for (size_t got;; n += got) {
		data = realloc(data, n + 65536);
		if (!data)
			abort();
		got = fread(data + n, 1, 65536, f);
		if (got == 0)
			break;
	}
	fclose(f);
	/* A buffer of the exact size lets the sanitizer see one byte too many. */
	uint8_t *exact = malloc(n ? n : 1);

	if (!exact)
		abort();
	memcpy(exact, data, n);
	LLVMFuzzerTestOneInput(exact, n);
	free(exact);
	free(data);
	count++;
}

static void run_path(const char *path)
{
	struct stat st;
	DIR *d;

	if (stat(path, &st) < 0) {
		perror(path);
		exit(1);
	}
	if (!S_ISDIR(st.st_mode)) {
		run_file(path);
		return;
	}
	d = opendir(path);
	for (struct dirent *de = d ? readdir(d) : NULL; de; de = readdir(d)) {
		char child[4096];

		if (de->d_name[0] == '.')
			continue;
		snprintf(child, sizeof(child), "%s/%s", path, de->d_name);
		run_path(child);
	}
	if (d)
		closedir(d);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run_path(argv[i]);
	printf("%u inputs\n", count);
	return count ? 0 : 1;
}
