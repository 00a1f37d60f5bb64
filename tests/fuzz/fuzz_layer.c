// SPDX-License-Identifier: Apache-2.0
/* fuzz_layer.c - whatever a layer's bytes are, nothing outside its directory changes
 *
 * The world is a fresh directory with the layer's own and a victim; afterwards exactly these two must be in it, and the
 * victim as it was.
 */
#include <dirent.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "node/layer.h"
#include "node/tree.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void make_world(char *world, char *layer, size_t size)
{
	char victim[64];
	int fd;

	if (!mkdtemp(world))
		abort();
	snprintf(layer, size, "%s/layer", world);
	snprintf(victim, sizeof(victim), "%s/victim", world);
	mkdir(layer, 0755);
	fd = open(victim, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd < 0 || write(fd, "safe", 4) != 4)
		abort();
	close(fd);
}

static void check_world(const char *world)
{
	char victim[64];
	struct stat st;
	unsigned names = 0;
	DIR *d = opendir(world);

	for (struct dirent *de = readdir(d); de; de = readdir(d))
		names++;
	closedir(d);
	snprintf(victim, sizeof(victim), "%s/victim", world);
	if (names != 4 || lstat(victim, &st) < 0 || st.st_size != 4 || st.st_nlink != 1 ||
	    st.st_mode != (S_IFREG | 0600))
		__builtin_trap();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n)
{
	const struct layer_limits limits = { .entries = 200, .bytes = 1 << 20 };
	char world[32] = "/tmp/stoker-fuzz-XXXXXX";
	char layer[48];
	struct layer_sum sum;
	struct err e = ERR_INIT;
	int blob = memfd_create("layer", MFD_CLOEXEC);
	int dir;

	make_world(world, layer, sizeof(layer));
	dir = open(layer, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (blob < 0 || dir < 0 || write(blob, data, n) != (ssize_t)n)
		abort();
	lseek(blob, 0, SEEK_SET);
	if (layer_unpack(blob, dir, NULL, &limits, &sum, &e) < 0 && !e.text[0])
		__builtin_trap();
	close(blob);
	close(dir);
	check_world(world);
	tree_remove(world, NULL);
	return 0;
}
