#include "codec/tiff/tiff.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "codec/common/opening.h"

struct gf_tiff_calls gf_tiff;
struct gf_library gf_tiff_library =
    GF_LIBRARY(gf_tiff, GF_TIFF_CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_tiff));

static tmsize_t read_bytes(thandle_t client, void *data, tmsize_t size)
{
    struct gf_tiff_handle *const handle = client;
    size_t got = (size_t)size;
    const enum gf_status status =
        handle->input
            ? gf_input_read_at(handle->input, handle->at, data, (size_t)size, &got, &handle->error)
        : handle->output ? gf_output_read_at(handle->output, handle->at, data, got, &handle->error)
                         : GF_ERROR_INPUT;
    if (status)
        return -1;
    const size_t at = (size_t)handle->at, header = sizeof handle->header;
    /* Libtiff opens the file and reads its header. */
    if (handle->directory && !handle->tiff && at < header)
        memcpy(data, handle->header + at, got < header - at ? got : header - at);
    handle->at += (int64_t)got;
    return (tmsize_t)got;
}

/* Writes bytes for libtiff, which appends, skips a byte if a directory would begin at an odd
 * offset, and finally rewrites the header. */
static tmsize_t write_bytes(thandle_t client, void *data, tmsize_t size)
{
    struct gf_tiff_handle *const handle = client;
    if (!handle->output)
        return -1;
    if (handle->tile_at)
        return size;
    enum gf_status status = GF_OK;
    while (!status && gf_output_size(handle->output) < handle->at)
        status = gf_output_write(handle->output, "", 1, &handle->error);
    const int64_t before = gf_output_size(handle->output) - handle->at;
    const size_t over = before < size ? (size_t)before : (size_t)size;
    if (!status && over)
        status = gf_output_write_at(handle->output, handle->at, data, over, &handle->error);
    if (!status && over < (size_t)size)
        status = gf_output_write(handle->output, (const char *)data + over, (size_t)size - over,
                                 &handle->error);
    handle->at += status ? 0 : size;
    return status ? -1 : size;
}

static toff_t size_of(thandle_t client)
{
    const struct gf_tiff_handle *const handle = client;
    return (toff_t)(handle->tile_at  ? handle->tile_at
                    : handle->input  ? gf_input_size(handle->input)
                    : handle->output ? gf_output_size(handle->output)
                                     : 0);
}

static toff_t seek(thandle_t client, toff_t offset, int whence)
{
    struct gf_tiff_handle *const handle = client;
    const int64_t from = whence == SEEK_CUR   ? handle->at
                         : whence == SEEK_END ? (int64_t)size_of(client)
                                              : 0;
    handle->at = from + (int64_t)offset;
    return (toff_t)handle->at;
}

static int close_nothing(thandle_t client)
{
    return 0;
}

static int on_error(TIFF *tiff, void *user, const char *module, const char *format, va_list values)
{
    struct gf_tiff_handle *const handle = user;
    if (!*handle->why)
        vsnprintf(handle->why, sizeof handle->why, format, values);
    const char *const text = handle->why + strspn(handle->why, ": "); /* skips the empty name */
    const size_t length = strlen(text);
    memmove(handle->why, text, length + 1);
    if (length && handle->why[length - 1] == '.')
        handle->why[length - 1] = 0;
    return 1;
}

static int ignore(TIFF *tiff, void *user, const char *module, const char *format, va_list values)
{
    return 1;
}

/* Makes a header that names the handle's directory as the first, for libtiff to read. By the real
 * header libtiff would walk over all directories before that one. */
static enum gf_status make_header(struct gf_tiff_handle *handle, struct gf_error *error)
{
    size_t got;
    unsigned char *const header = handle->header;
    const enum gf_status status =
        gf_input_read_at(handle->input, 0, header, sizeof handle->header, &got, error);
    const bool big_endian = header[0] == 'M';
    const int bytes = header[big_endian ? 3 : 2] == 43 ? 8 : 4;
    for (int i = 0; i < bytes; i++)
        header[bytes + i] =
            (unsigned char)(handle->directory >> 8 * (big_endian ? bytes - 1 - i : i));
    return status;
}

enum gf_status gf_tiff_open(struct gf_tiff_handle *handle, struct gf_input *input,
                            struct gf_output *output, const char *mode, uint64_t directory,
                            struct gf_error *error)
{
    *handle =
        (struct gf_tiff_handle){.input = input,
                                .output = output,
                                .directory = directory,
                                .name = input ? gf_input_name(input) : gf_output_name(output)};
    gf_tiff_begin(handle);
    GF_TRY(directory ? make_header(handle, error) : GF_OK);
    TIFFOpenOptions *const options = gf_tiff.TIFFOpenOptionsAlloc();
    GF_ALLOCATED(options, error);
    gf_tiff.TIFFOpenOptionsSetErrorHandlerExtR(options, on_error, handle);
    gf_tiff.TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, handle);
    /* The name is empty, since libtiff's messages begin with the name. */
    handle->tiff = gf_tiff.TIFFClientOpenExt("", mode, handle, read_bytes, write_bytes, seek,
                                             close_nothing, size_of, NULL, NULL, options);
    gf_tiff.TIFFOpenOptionsFree(options);
    return handle->tiff ? GF_OK : gf_tiff_fail(handle, -1, 0, error);
}

void gf_tiff_close(struct gf_tiff_handle *handle)
{
    if (handle->tiff)
        gf_tiff.TIFFClose(handle->tiff);
    handle->tiff = NULL;
}

void gf_tiff_begin(struct gf_tiff_handle *handle)
{
    *handle->why = 0;
    errno = 0;
}

/* Fails. libtiff does not report a lack of memory as such, but malloc() has set errno. */
enum gf_status gf_tiff_fail(const struct gf_tiff_handle *handle, int row, int rows,
                            struct gf_error *error)
{
    const char *const why = *handle->why ? handle->why : "libtiff does not say why";
    if (handle->error.status) {
        if (error)
            *error = handle->error;
        return handle->error.status;
    }
    if (errno == ENOMEM)
        return gf_fail_memory(error);
    if (handle->output)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: libtiff: %s", handle->name, why);
    if (row >= 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged at row %d of %d: %s", handle->name,
                       row + 1, rows, why);
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: %s", handle->name, why);
}
