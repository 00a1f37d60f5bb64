// SPDX-License-Identifier: Apache-2.0
/* archive_lib.c - finds libarchive's functions by name
 *
 * Loading a second time costs only the look-ups, because the loader counts: no state is kept here.  Nothing is
 * unloaded: the processes that use it end soon after.
 */
#include "node/archive_lib.h"

#include <dlfcn.h>
#include <string.h>

#include "base/mem.h"

#define SYMBOL(name) "archive_" #name, offsetof(struct archive_lib, name)

static const struct {
	const char *name;
	size_t offset;
} symbols[] = {
	{ "archive_errno", offsetof(struct archive_lib, error_number) },
	{ SYMBOL(error_string) },
	{ SYMBOL(set_error) },
	{ SYMBOL(read_new) },
	{ SYMBOL(read_free) },
	{ SYMBOL(read_support_filter_bzip2) },
	{ SYMBOL(read_support_filter_gzip) },
	{ SYMBOL(read_support_filter_xz) },
	{ SYMBOL(read_support_filter_zstd) },
	{ SYMBOL(read_support_format_empty) },
	{ SYMBOL(read_support_format_raw) },
	{ SYMBOL(read_support_format_tar) },
	{ SYMBOL(read_open) },
	{ SYMBOL(read_open_fd) },
	{ SYMBOL(read_open_filename) },
	{ SYMBOL(read_next_header) },
	{ SYMBOL(read_data) },
	{ SYMBOL(read_data_block) },
	{ SYMBOL(entry_filetype) },
	{ SYMBOL(entry_gid) },
	{ SYMBOL(entry_hardlink) },
	{ SYMBOL(entry_mtime) },
	{ SYMBOL(entry_mtime_nsec) },
	{ SYMBOL(entry_pathname) },
	{ SYMBOL(entry_perm) },
	{ SYMBOL(entry_rdev) },
	{ SYMBOL(entry_size) },
	{ SYMBOL(entry_size_is_set) },
	{ SYMBOL(entry_symlink) },
	{ SYMBOL(entry_uid) },
	{ SYMBOL(entry_xattr_next) },
	{ SYMBOL(entry_xattr_reset) },
	{ SYMBOL(write_new) },
	{ SYMBOL(write_free) },
	{ SYMBOL(write_close) },
	{ SYMBOL(write_set_format_pax_restricted) },
	{ SYMBOL(write_open) },
	{ SYMBOL(write_header) },
	{ SYMBOL(write_data) },
	{ SYMBOL(entry_new) },
	{ SYMBOL(entry_free) },
	{ SYMBOL(entry_clear) },
	{ SYMBOL(entry_set_gid) },
	{ SYMBOL(entry_set_hardlink) },
	{ SYMBOL(entry_set_mode) },
	{ SYMBOL(entry_set_mtime) },
	{ SYMBOL(entry_set_pathname) },
	{ SYMBOL(entry_set_size) },
	{ SYMBOL(entry_set_symlink) },
	{ SYMBOL(entry_set_uid) },
	{ SYMBOL(entry_xattr_add_entry) },
};

/* A row forgotten above would be a call to nowhere. */
_Static_assert(ARRAY_SIZE(symbols) * sizeof(void *) == sizeof(struct archive_lib), "one row a function");

int archive_lib_load(struct archive_lib *ret, struct err *e)
{
	void *handle = dlopen("libarchive.so.13", RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return err_set(e, ERR_UNAVAILABLE, "libarchive is not installed; install libarchive13 (%s)", dlerror());
	for (size_t i = 0; i < ARRAY_SIZE(symbols); i++) {
		void *symbol = dlsym(handle, symbols[i].name);

		if (!symbol)
			return err_set(e, ERR_UNAVAILABLE, "libarchive lacks %s; install a newer libarchive13",
				       symbols[i].name);
		memcpy((char *)ret + symbols[i].offset, &symbol, sizeof(symbol));
	}
	return 0;
}
