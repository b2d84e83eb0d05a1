#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/frames/film.h"
#include "codec/common/samples.h"
#include "codec/io/spool.h"

void gf_film_widen_pipe(int descriptor)
{
    enum { PIPE_BYTES = 1 << 20 }; /* the most that users may ask for by default */
    (void)fcntl(descriptor, F_SETPIPE_SZ, PIPE_BYTES);
}

enum gf_status gf_film_create(struct gf_film_writer *writer, const char *path,
                              const struct gf_options *options, struct gf_error *error)
{
    struct stat file;
    const bool to_stdout = !strcmp(path, "-");
    writer->name = to_stdout ? "stdout" : path;
    writer->descriptor = STDOUT_FILENO;
    writer->max_bytes = options->max_output_bytes;
    if (!to_stdout && (stat(path, &file) || S_ISREG(file.st_mode) || S_ISDIR(file.st_mode))) {
        GF_TRY(gf_output_open(path, &writer->output, error));
        gf_output_set_options(writer->output,
                              (struct gf_output_options){options->no_clobber, options->sync, 0, 0});
        return GF_OK;
    }
    writer->owns_descriptor = !to_stdout;
    if (!to_stdout)
        writer->descriptor = open(path, O_WRONLY | O_CLOEXEC);
    gf_film_widen_pipe(writer->descriptor);
    return writer->descriptor < 0
               ? gf_fail(error, gf_status_of_name(GF_ERROR_UNFIT, GF_ERROR_OUTPUT), "%s: %s", path,
                         strerror(errno))
               : GF_OK;
}

static enum gf_status put(struct gf_film_writer *writer, const void *data, size_t size,
                          struct gf_error *error)
{
    writer->bytes += size;
    if (writer->max_bytes && writer->bytes > writer->max_bytes)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: holds more than options.max_output_bytes=%llu",
                       writer->name, (unsigned long long)writer->max_bytes);
    if (writer->output)
        return gf_output_write(writer->output, data, size, error);
    return gf_write_fully(writer->descriptor, data, size)
               ? GF_OK
               : gf_fail(error, GF_ERROR_OUTPUT, "%s: cannot write: %s", writer->name,
                         strerror(errno));
}

/* ---- the lines before the samples ---- */

/* Returns the bytes of the header of a frame's file: a line of a Y4M, three of a PNM, or seven of a
 * PAM. The line of a frame in a Y4M counts alike. */
static size_t head_size_of(const unsigned char *data, size_t size)
{
    size_t at = 0;
    const bool pam = size > 2 && !memcmp(data, "P7", 2);
    for (int lines = *data == 'P' ? pam ? 7 : 3 : 1; lines; lines--) {
        const unsigned char *const end = memchr(data + at, '\n', size - at);
        at = end ? (size_t)(end - data) + 1 : size;
    }
    return at;
}

static enum gf_status fail_kind(const struct gf_film_writer *writer, const char *what,
                                struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNFIT, "%s: the frames %s, and --raw says %dx%d:%s",
                   writer->name, what, writer->raw->width, writer->raw->height, writer->raw->text);
}

/* Fails if the frames are not as --raw says. */
static enum gf_status check_raw(const struct gf_film_writer *writer, struct gf_error *error)
{
    const struct gf_raw_frames *const raw = writer->raw;
    char header[GF_Y4M_LINE_MOST], wanted[GF_Y4M_LINE_MOST], what[80];
    struct gf_yuv yuv, other;
    int width = 0, height = 0, most = 0;
    if (*raw->planes) {
        snprintf(header, sizeof header, "%.*s", (int)writer->head_size - 1, writer->head);
        snprintf(wanted, sizeof wanted, "YUV4MPEG2 W1 H1 %s", raw->planes);
        GF_TRY(gf_y4m_parse(header, writer->name, &yuv, error));
        GF_TRY(gf_y4m_parse(wanted, writer->name, &other, error));
        width = yuv.width;
        height = yuv.height;
        if (yuv.mono != other.mono || yuv.half_width != other.half_width ||
            yuv.half_height != other.half_height || yuv.bits != other.bits)
            return fail_kind(writer, "have planes of another kind", error);
    } else if (raw->channels == 4) {
        (void)sscanf(writer->head, "P7 WIDTH %d HEIGHT %d DEPTH 4 MAXVAL 255", &width, &height);
    } else if (sscanf(writer->head, "P6 %d %d %d", &width, &height, &most) != 3 ||
               (most > 255) != (raw->bits > 8)) {
        width = 0;
    }
    if (!width || !height)
        return fail_kind(writer, "have other channels or bits", error);
    snprintf(what, sizeof what, "have %dx%d pixels", width, height);
    return writer->same_size && (width != raw->width || height != raw->height)
               ? fail_kind(writer, what, error)
               : GF_OK;
}

/* Writes the header of a Y4M, with the rate of the film. */
static enum gf_status put_head(struct gf_film_writer *writer, struct gf_error *error)
{
    const char *const rate = strstr(writer->head, " F");
    if (!writer->rate || !rate)
        return put(writer, writer->head, writer->head_size, error);
    char head[GF_FILM_LINES_MOST + 32];
    const int length =
        snprintf(head, sizeof head, "%.*s F%u:%u%s", (int)(rate - writer->head), writer->head,
                 writer->rate->frames, writer->rate->seconds, rate + 2 + strcspn(rate + 2, " \n"));
    return put(writer, head, (size_t)length, error);
}

/* Begins the film with the header of its first frame. All other frames must have the same. */
static enum gf_status check_head(struct gf_film_writer *writer, const unsigned char *data,
                                 size_t size, struct gf_error *error)
{
    if (!size || size >= sizeof writer->head)
        return gf_fail(error, GF_ERROR_UNFIT, "%s: the header of a frame is too long",
                       writer->name);
    if (writer->head_size)
        return size == writer->head_size && !memcmp(data, writer->head, size)
                   ? GF_OK
                   : gf_fail(error, GF_ERROR_UNFIT,
                             "%s: a frame differs in size or colours from the first one, and a "
                             "film has frames of one kind",
                             writer->name);
    memcpy(writer->head, data, size);
    writer->head_size = size;
    return writer->raw ? check_raw(writer, error) : put_head(writer, error);
}

enum gf_status gf_film_write(struct gf_film_writer *writer, const unsigned char *data, size_t size,
                             struct gf_error *error)
{
    if (writer->plain)
        return put(writer, data, size, error);
    size_t at = size ? head_size_of(data, size) : 0;
    GF_TRY(check_head(writer, data, at, error));
    if (writer->raw && *writer->raw->planes)
        at += head_size_of(data + at, size - at); /* the line of the frame */
    if (!writer->raw || *writer->raw->planes || writer->raw->bits == 8)
        return put(writer, data + at, size - at, error);
    unsigned char *const swapped = malloc(size - at);
    if (!swapped)
        return gf_fail_memory(error);
    memcpy(swapped, data + at, size - at);
    gf_samples_swap(swapped, (size - at) / 2);
    const enum gf_status written = put(writer, swapped, size - at, error);
    free(swapped);
    return written;
}

enum gf_status gf_film_commit(struct gf_film_writer *writer, struct gf_error *error)
{
    return writer->output ? gf_output_commit(writer->output, error) : GF_OK;
}

void gf_film_close(struct gf_film_writer *writer)
{
    if (writer->output)
        gf_output_close(writer->output);
    if (writer->owns_descriptor && writer->descriptor >= 0)
        close(writer->descriptor);
}
