// SPDX-License-Identifier: Apache-2.0
/* archive_lib.h - libarchive's functions, loaded when an archive is to be read or written
 *
 * libarchive brings along a dozen libraries, among them an XML parser and Unicode's tables, for formats that images
 * never have.  Archives are handled only in child processes (image_job.c, layer_confine.c); those load it, and the
 * server, which runs for months, never carries it.
 */
#ifndef STOKER_NODE_ARCHIVE_LIB_H
#define STOKER_NODE_ARCHIVE_LIB_H

#include <archive.h>
#include <archive_entry.h>

#include "base/err.h"

/* Each function by its own type and name, without "archive_". */
struct archive_lib {
	__typeof__(archive_errno) *error_number; /* "errno" is a macro */
	__typeof__(archive_error_string) *error_string;
	__typeof__(archive_set_error) *set_error;
	__typeof__(archive_read_new) *read_new;
	__typeof__(archive_read_free) *read_free;
	__typeof__(archive_read_support_filter_bzip2) *read_support_filter_bzip2;
	__typeof__(archive_read_support_filter_gzip) *read_support_filter_gzip;
	__typeof__(archive_read_support_filter_xz) *read_support_filter_xz;
	__typeof__(archive_read_support_filter_zstd) *read_support_filter_zstd;
	__typeof__(archive_read_support_format_empty) *read_support_format_empty;
	__typeof__(archive_read_support_format_raw) *read_support_format_raw;
	__typeof__(archive_read_support_format_tar) *read_support_format_tar;
	__typeof__(archive_read_open) *read_open;
	__typeof__(archive_read_open_fd) *read_open_fd;
	__typeof__(archive_read_open_filename) *read_open_filename;
	__typeof__(archive_read_next_header) *read_next_header;
	__typeof__(archive_read_data) *read_data;
	__typeof__(archive_read_data_block) *read_data_block;
	__typeof__(archive_entry_filetype) *entry_filetype;
	__typeof__(archive_entry_gid) *entry_gid;
	__typeof__(archive_entry_hardlink) *entry_hardlink;
	__typeof__(archive_entry_mtime) *entry_mtime;
	__typeof__(archive_entry_mtime_nsec) *entry_mtime_nsec;
	__typeof__(archive_entry_pathname) *entry_pathname;
	__typeof__(archive_entry_perm) *entry_perm;
	__typeof__(archive_entry_rdev) *entry_rdev;
	__typeof__(archive_entry_size) *entry_size;
	__typeof__(archive_entry_size_is_set) *entry_size_is_set;
	__typeof__(archive_entry_symlink) *entry_symlink;
	__typeof__(archive_entry_uid) *entry_uid;
	__typeof__(archive_entry_xattr_next) *entry_xattr_next;
	__typeof__(archive_entry_xattr_reset) *entry_xattr_reset;
	__typeof__(archive_write_new) *write_new;
	__typeof__(archive_write_free) *write_free;
	__typeof__(archive_write_close) *write_close;
	__typeof__(archive_write_set_format_pax_restricted) *write_set_format_pax_restricted;
	__typeof__(archive_write_open) *write_open;
	__typeof__(archive_write_header) *write_header;
	__typeof__(archive_write_data) *write_data;
	__typeof__(archive_entry_new) *entry_new;
	__typeof__(archive_entry_free) *entry_free;
	__typeof__(archive_entry_clear) *entry_clear;
	__typeof__(archive_entry_set_gid) *entry_set_gid;
	__typeof__(archive_entry_set_hardlink) *entry_set_hardlink;
	__typeof__(archive_entry_set_mode) *entry_set_mode;
	__typeof__(archive_entry_set_mtime) *entry_set_mtime;
	__typeof__(archive_entry_set_pathname) *entry_set_pathname;
	__typeof__(archive_entry_set_size) *entry_set_size;
	__typeof__(archive_entry_set_symlink) *entry_set_symlink;
	__typeof__(archive_entry_set_uid) *entry_set_uid;
	__typeof__(archive_entry_xattr_add_entry) *entry_xattr_add_entry;
};

/* Fills the table; nothing is to be released, the library stays until the process ends.  ERR_UNAVAILABLE: it is not
 * installed. */
int archive_lib_load(struct archive_lib *ret, struct err *e);

#endif
