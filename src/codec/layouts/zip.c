/* The format is that of PKWARE's APPNOTE.TXT, 6.3. All numbers are little endian. Files have the
 * first date that there is, so that the same files always give the same bytes. libarchive, which
 * may be missing, would take as many lines to call, and writes sizes behind each file. */
#include "codec/layouts/zip.h"

#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "base/memory/grow.h"

enum {
    LOCAL_BYTES = 30,
    ENTRY_BYTES = 46,
    EXTRA_BYTES = 12, /* ZIP64: where a file begins */
    END_BYTES = 22,
    END64_BYTES = 56 + 20,
    UTF8 = 1 << 11,
    FIRST_DATE = 1 << 5 | 1, /* 1 January 1980 */
    NEEDS = 45               /* version 4.5 knows ZIP64 */
};

static unsigned char *put(unsigned char *to, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++, value >>= 8)
        *to++ = (unsigned char)value;
    return to;
}

/* Returns the value, or all ones if it needs more than `bytes` bytes. */
static uint64_t or_ones(uint64_t value, int bytes)
{
    const uint64_t most = (UINT64_C(1) << 8 * bytes) - 1;
    return value < most ? value : most;
}

/* Writes what a local header and an entry of the directory have in common. */
static unsigned char *put_file(unsigned char *to, const char *name, uint32_t crc, size_t size,
                               int extra)
{
    to = put(to, NEEDS, 2);
    to = put(to, UTF8, 2);
    to = put(to, 0, 2); /* stored */
    to = put(to, 0, 2);
    to = put(to, FIRST_DATE, 2);
    to = put(to, crc, 4);
    to = put(to, size, 4);
    to = put(to, size, 4);
    to = put(to, strlen(name), 2);
    return put(to, (uint64_t)extra, 2);
}

static void put_entry(unsigned char *to, const char *name, uint32_t crc, size_t size, int extra,
                      uint64_t at)
{
    const uint64_t unix_file = 0100644;
    to = put(to, 0x02014b50, 4);
    to = put(to, 3 << 8 | NEEDS, 2); /* made on Unix */
    to = put_file(to, name, crc, size, extra);
    to = put(to, 0, 2 + 2 + 2); /* no comment, the first disk, no text */
    to = put(to, unix_file << 16, 4);
    to = put(to, or_ones(at, 4), 4);
    memcpy(to, name, strlen(name));
    if (!extra)
        return;
    to = put(to + strlen(name), 1, 2);
    to = put(to, 8, 2);
    put(to, at, 8);
}

enum gf_status gf_zip_put(struct gf_zip *zip, const char *name, const void *data, size_t size,
                          struct gf_error *error)
{
    unsigned char local[LOCAL_BYTES];
    const uint64_t at = (uint64_t)gf_output_size(zip->output);
    const int extra = or_ones(at, 4) == UINT32_MAX ? EXTRA_BYTES : 0;
    const size_t entry = ENTRY_BYTES + strlen(name) + (size_t)extra;
    const uint32_t crc = (uint32_t)crc32_z(0, data, size);
    if (size >= UINT32_MAX)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: has a file of 4 GiB",
                       gf_output_name(zip->output));
    GF_ALLOCATED(GF_RESERVE(zip->directory, zip->room, zip->size + entry), error);
    put_entry(zip->directory + zip->size, name, crc, size, extra, at);
    zip->size += entry;
    zip->files++;
    put_file(put(local, 0x04034b50, 4), name, crc, size, 0);
    GF_TRY(gf_output_write(zip->output, local, sizeof local, error));
    GF_TRY(gf_output_write(zip->output, name, strlen(name), error));
    return gf_output_write(zip->output, data, size, error);
}

enum gf_status gf_zip_finish(struct gf_zip *zip, struct gf_error *error)
{
    unsigned char end[END64_BYTES + END_BYTES], *to = end;
    const uint64_t at = (uint64_t)gf_output_size(zip->output), after = at + zip->size;
    if (or_ones(zip->files, 2) == UINT16_MAX || or_ones(after, 4) == UINT32_MAX) {
        to = put(to, 0x06064b50, 4);
        to = put(to, 56 - 12, 8);
        to = put(to, 3 << 8 | NEEDS, 2);
        to = put(to, NEEDS, 2);
        to = put(to, 0, 4 + 4);
        to = put(to, zip->files, 8);
        to = put(to, zip->files, 8);
        to = put(to, zip->size, 8);
        to = put(to, at, 8);
        to = put(to, 0x07064b50, 4);
        to = put(to, 0, 4);
        to = put(to, after, 8);
        to = put(to, 1, 4);
    }
    to = put(to, 0x06054b50, 4);
    to = put(to, 0, 2 + 2);
    to = put(to, or_ones(zip->files, 2), 2);
    to = put(to, or_ones(zip->files, 2), 2);
    to = put(to, or_ones(zip->size, 4), 4);
    to = put(to, or_ones(at, 4), 4);
    to = put(to, 0, 2);
    GF_TRY(gf_output_write(zip->output, zip->directory, zip->size, error));
    return gf_output_write(zip->output, end, (size_t)(to - end), error);
}
