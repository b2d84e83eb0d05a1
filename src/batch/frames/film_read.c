#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/frames/film.h"
#include "codec/common/checks.h"
#include "codec/common/samples.h"

static enum gf_status check_size(const struct gf_film_reader *reader, int width, int height,
                                 const struct gf_options *options, struct gf_error *error)
{
    const char *const name = gf_input_name(reader->input);
    const uint64_t memory =
        options->memory_bytes ? options->memory_bytes : gf_bytes_in_proportion(0);
    GF_TRY(gf_size_check(name, (uint64_t)width, (uint64_t)height, options, error));
    return gf_memory_check(name, "each frame is in memory as a whole", reader->frame_bytes, memory,
                           options, error);
}

/* Makes the header of a frame's file. */
static enum gf_status begin_raw(struct gf_film_reader *reader, const struct gf_options *options,
                                struct gf_yuv *yuv, struct gf_error *error)
{
    const struct gf_raw_frames *const raw = reader->raw;
    const int w = raw->width, h = raw->height;
    if (*raw->planes) {
        char header[GF_Y4M_LINE_MOST];
        snprintf(header, sizeof header, "YUV4MPEG2 W%d H%d F%u:%u Ip A1:1 %s", w, h, raw->frames,
                 raw->seconds, raw->planes);
        gf_y4m_put_range(options, header);
        snprintf(reader->head, sizeof reader->head, "%s\n", header);
        const enum gf_status status = gf_y4m_parse(header, "--raw", yuv, error);
        reader->frame_bytes = status ? 0 : gf_yuv_frame_bytes(yuv);
        return status;
    }
    reader->frame_bytes = (size_t)w * (size_t)h * (size_t)raw->channels * (size_t)(raw->bits / 8);
    if (raw->channels == 4)
        snprintf(reader->head, sizeof reader->head,
                 "P7\nWIDTH %d\nHEIGHT %d\nDEPTH 4\nMAXVAL 255\nTUPLTYPE RGB_ALPHA\nENDHDR\n", w,
                 h);
    else
        snprintf(reader->head, sizeof reader->head, "P6\n%d %d\n%d\n", w, h,
                 raw->bits == 16 ? 65535 : 255);
    *yuv = (struct gf_yuv){.width = w, .height = h};
    return GF_OK;
}

enum gf_status gf_film_open(struct gf_film_reader *reader, struct gf_input *input,
                            const struct gf_raw_frames *raw, const struct gf_options *options,
                            struct gf_error *error)
{
    struct gf_yuv yuv;
    size_t length;
    *reader = (struct gf_film_reader){.input = input, .raw = raw};
    unsigned char next[4];
    size_t got;
    GF_TRY(gf_input_peek(input, next, sizeof next, &got, error));
    if (!raw && gf_split_takes(next, got)) {
        reader->pictures = true;
        reader->picture_most =
            options->memory_bytes ? options->memory_bytes : gf_bytes_in_proportion(0);
        return GF_OK;
    }
    if (raw) {
        GF_TRY(begin_raw(reader, options, &yuv, error));
    } else {
        GF_TRY(gf_y4m_read_line(input, reader->head, &length, error));
        GF_TRY(gf_y4m_parse(reader->head, gf_input_name(input), &yuv, error));
        reader->frame_bytes = gf_yuv_frame_bytes(&yuv);
        gf_y4m_put_range(options, reader->head);
        strcat(reader->head, "\n");
    }
    return check_size(reader, yuv.width, yuv.height, options, error);
}

/* Puts the lines before the samples, which begin in the memory after the room for the lines. */
static void put_lines(const struct gf_film_reader *reader, const char *line,
                      struct gf_film_frame *frame)
{
    char lines[GF_FILM_LINES_MOST];
    const bool planes = !reader->raw || *reader->raw->planes;
    const int length = snprintf(lines, sizeof lines, "%s%s%s", reader->head, planes ? line : "",
                                planes ? "\n" : "");
    unsigned char *const begin = frame->memory + GF_FILM_LINES_MOST - length;
    memcpy(begin, lines, (size_t)length);
    frame->data = begin;
    frame->size = (size_t)length + reader->frame_bytes;
}

static enum gf_status read_picture(struct gf_film_reader *reader, struct gf_film_frame *frame,
                                   bool *found, struct gf_error *error)
{
    struct gf_split split = {
        .data = frame->memory, .room = frame->room, .most = reader->picture_most};
    const enum gf_status status = gf_split_next(reader->input, &split, found, error);
    *frame = (struct gf_film_frame){split.data, split.room, split.data, split.size};
    *found &= !status;
    reader->frames += *found;
    return status;
}

/* Reads the line before a frame. *length is 0 at the end of the film. */
static enum gf_status read_frame_line(struct gf_film_reader *reader, char line[GF_Y4M_LINE_MOST],
                                      size_t *length, struct gf_error *error)
{
    struct gf_error why = {0};
    enum gf_status status = gf_y4m_read_line(reader->input, line, length, &why);
    if (!status && *length)
        status = gf_y4m_check_frame(line, gf_input_name(reader->input), &why);
    return status ? gf_fail(error, status, "%s, after frame %zu", why.text, reader->frames) : GF_OK;
}

enum gf_status gf_film_read(struct gf_film_reader *reader, struct gf_film_frame *frame, bool *found,
                            struct gf_error *error)
{
    char line[GF_Y4M_LINE_MOST] = "FRAME";
    const char *const name = gf_input_name(reader->input);
    size_t length = 1, got = 0;
    *found = false;
    if (reader->pictures)
        return read_picture(reader, frame, found, error);
    if (!frame->memory)
        frame->memory =
            aligned_alloc(64, (GF_FILM_LINES_MOST + reader->frame_bytes + 63) & ~(size_t)63);
    if (!frame->memory)
        return gf_fail_memory(error);
    if (!reader->raw)
        GF_TRY(read_frame_line(reader, line, &length, error));
    if (!length)
        return GF_OK;
    unsigned char *const samples = frame->memory + GF_FILM_LINES_MOST;
    GF_TRY(gf_input_read(reader->input, samples, reader->frame_bytes, &got, error));
    if (reader->raw && !got)
        return GF_OK;
    if (got < reader->frame_bytes)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: truncated: frame %zu has %zu of its %zu bytes and is left out", name,
                       reader->frames + 1, got, reader->frame_bytes);
    if (reader->raw && !*reader->raw->planes && reader->raw->bits == 16)
        gf_samples_swap(samples, reader->frame_bytes / 2);
    put_lines(reader, line, frame);
    reader->frames++;
    *found = true;
    return GF_OK;
}
