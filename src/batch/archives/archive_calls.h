/* The functions of libarchive that this folder calls. */
#pragma once

#include <archive.h>
#include <archive_entry.h>
#include <locale.h>

#include "base/process/library.h"

/* clang-format off */
#define GF_ARCHIVE_CALLS(CALL) \
    CALL(archive_read_new) CALL(archive_read_free) CALL(archive_read_support_filter_bzip2) \
    CALL(archive_read_support_filter_gzip) CALL(archive_read_support_filter_lz4) \
    CALL(archive_read_support_filter_xz) CALL(archive_read_support_filter_zstd) \
    CALL(archive_read_support_format_raw) CALL(archive_read_support_format_tar) \
    CALL(archive_read_support_format_zip) CALL(archive_read_set_seek_callback) \
    CALL(archive_format_name) CALL(archive_read_open2) CALL(archive_read_next_header2) \
    CALL(archive_read_data) CALL(archive_read_data_block) CALL(archive_read_header_position) \
    CALL(archive_filter_bytes) CALL(archive_filter_count) CALL(archive_write_new) \
    CALL(archive_write_free) CALL(archive_write_close) \
    CALL(archive_write_set_format_pax_restricted) CALL(archive_write_set_format_zip) \
    CALL(archive_write_zip_set_compression_deflate) CALL(archive_write_zip_set_compression_store) \
    CALL(archive_entry_unset_atime) CALL(archive_entry_unset_ctime) \
    CALL(archive_write_set_bytes_per_block) CALL(archive_write_add_filter_by_name) \
    CALL(archive_write_set_filter_option) CALL(archive_write_open) CALL(archive_write_header) \
    CALL(archive_write_data) CALL(archive_error_string) CALL(archive_set_error) \
    CALL(archive_entry_new) CALL(archive_entry_free) CALL(archive_entry_pathname) \
    CALL(archive_entry_copy_pathname) CALL(archive_entry_hardlink) \
    CALL(archive_entry_copy_hardlink) CALL(archive_entry_symlink) CALL(archive_entry_copy_symlink) \
    CALL(archive_entry_filetype) CALL(archive_entry_set_filetype) CALL(archive_entry_size) \
    CALL(archive_entry_mtime) CALL(archive_entry_mtime_nsec) CALL(archive_entry_set_size) \
    CALL(archive_entry_uid) CALL(archive_entry_gid) CALL(archive_entry_set_uid) \
    CALL(archive_entry_set_gid) CALL(archive_entry_copy_stat) CALL(archive_entry_sparse_clear) \
    CALL(archive_entry_sparse_count)
/* clang-format on */

struct gf_archive_calls {
    GF_ARCHIVE_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_archive_calls gf_archive_calls; /* valid after gf_archive_load() */
