/* Reads and writes films, and cuts streams of pictures into single pictures. */
#include "batch/frames/film.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "base/memory/grow.h"
#include "chain/plan.h"
#include "codec/common/checks.h"
#include "codec/common/rows/samples.h"
#include "codec/codec.h"

enum { STEP = 64 << 10, PNG_SIGNATURE = 8, PNG_CHUNK = 12 };

static enum gf_status fail(struct gf_input *input, const char *what, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s: %s", gf_input_name(input), what);
}

/* Makes room for `more` bytes behind the split->size bytes of the picture. */
static enum gf_status grow(struct gf_input *input, struct gf_split *split, size_t more,
                           struct gf_error *error)
{
    if (more > split->most - split->size)
        return fail(input, "a picture of the stream takes more memory than --memory allows", error);
    return GF_RESERVE(split->data, split->room, split->size + more) ? GF_OK : gf_fail_memory(error);
}

/* Appends the next `size` bytes of the input, in steps, so that a false size in a header takes no
 * memory. */
static enum gf_status append(struct gf_input *input, struct gf_split *split, uint64_t size,
                             struct gf_error *error)
{
    while (size) {
        const size_t step = size < (1 << 20) ? (size_t)size : 1 << 20;
        size_t got;
        GF_TRY(grow(input, split, step, error));
        GF_TRY(gf_input_read(input, split->data + split->size, step, &got, error));
        if (got < step)
            return fail(input, "truncated: the last picture is left out", error);
        split->size += got;
        size -= got;
    }
    return GF_OK;
}

static enum gf_status split_png(struct gf_input *input, struct gf_split *split,
                                struct gf_error *error)
{
    GF_TRY(append(input, split, PNG_SIGNATURE, error));
    for (bool at_end = false; !at_end;) {
        /* The chunk's head of 8 bytes, and 4 bytes of data or checksum. */
        GF_TRY(append(input, split, PNG_CHUNK, error));
        const unsigned char *const chunk = split->data + split->size - PNG_CHUNK;
        const uint32_t length = (uint32_t)chunk[0] << 24 | (uint32_t)chunk[1] << 16 |
                                (uint32_t)chunk[2] << 8 | chunk[3];
        at_end = !memcmp(chunk + 4, "IEND", 4);
        GF_TRY(append(input, split, length, error));
    }
    return GF_OK;
}

/* Searches the bytes of a JPEG from *at on for the end marker, and skips marker segments. Returns
 * the offset behind the marker; 0 if it is not there yet, and *at is then where to go on. */
static size_t end_of_jpeg(const struct gf_split *split, size_t *at)
{
    const unsigned char *const data = split->data;
    while (*at + 2 <= split->size) {
        const unsigned char marker = data[*at + 1];
        if (data[*at] != 0xff || marker == 0 || marker == 0xff || marker == 1 ||
            (marker >= 0xd0 && marker <= 0xd8)) {
            const size_t step = data[*at] == 0xff && marker != 0xff ? 2 : 1;
            *at += step;
        } else if (marker == 0xd9) {
            return *at + 2;
        } else if (*at + 4 > split->size) {
            break;
        } else {
            *at += 2 + (size_t)(data[*at + 2] << 8 | data[*at + 3]);
        }
    }
    return 0;
}

static enum gf_status split_jpeg(struct gf_input *input, struct gf_split *split,
                                 struct gf_error *error)
{
    size_t end = 0, at = 2, got;
    GF_TRY(append(input, split, 2, error));
    while (!end) {
        GF_TRY(grow(input, split, STEP, error));
        GF_TRY(gf_input_read_some(input, split->data + split->size, STEP, &got, error));
        if (!got)
            return fail(input, "truncated: the last picture is left out", error);
        split->size += got;
        end = end_of_jpeg(split, &at);
    }
    const size_t left = split->size - end;
    split->size = end;
    return gf_input_give_back(input, split->data + end, left, error);
}

/* Appends a line of a PAM's header, or a word of a PNM's and the byte after it. Comments are
 * appended, too, but not copied to `text`. */
static enum gf_status append_text(struct gf_input *input, struct gf_split *split, bool line,
                                  char text[32], struct gf_error *error)
{
    size_t length = 0;
    bool comment = false;
    for (;;) {
        GF_TRY(append(input, split, 1, error));
        const unsigned char byte = split->data[split->size - 1];
        comment |= byte == '#';
        const bool ends = line || comment ? byte == '\n' : isspace(byte);
        if (ends && length)
            break;
        comment &= !ends;
        if (!ends && !comment && length < 31)
            text[length++] = (char)byte;
    }
    text[length] = '\0';
    return GF_OK;
}

static enum gf_status split_pnm(struct gf_input *input, struct gf_split *split,
                                struct gf_error *error)
{
    char text[32] = "";
    unsigned long size[4] = {0, 0, 1, 1}; /* width, height, channels, largest value */
    enum gf_status status = append_text(input, split, false, text, error);
    const char kind = text[1];
    if (kind == '6')
        size[2] = 3;
    for (int i = 0; !status && kind != '7' && i < (kind == '4' ? 2 : 3); i++) {
        status = append_text(input, split, false, text, error);
        size[i < 2 ? i : 3] = strtoul(text, NULL, 10);
    }
    while (!status && kind == '7' && strcmp(text, "ENDHDR") != 0) {
        static const char *const words[] = {"WIDTH ", "HEIGHT ", "DEPTH ", "MAXVAL "};
        status = append_text(input, split, true, text, error);
        for (size_t i = 0; i < 4; i++)
            if (!strncmp(text, words[i], strlen(words[i])))
                size[i] = strtoul(text + strlen(words[i]), NULL, 10);
    }
    for (int i = 0; !status && i < 3; i++)
        if (size[i] > 1 << 20)
            status = fail(input, "damaged: a picture of the stream is too large", error);
    if (status)
        return status;
    const uint64_t row =
        kind == '4' ? (size[0] + 7) / 8 : (uint64_t)size[0] * size[2] * (size[3] > 255 ? 2 : 1);
    return append(input, split, row * size[1], error);
}

bool gf_split_takes(const unsigned char *head, size_t size)
{
    return size >= 4 && (!memcmp(head, "\x89PNG", 4) || !memcmp(head, "\xff\xd8\xff", 3) ||
                         (head[0] == 'P' && head[1] >= '4' && head[1] <= '7'));
}

/* Reads the next picture. *found is false at the end of the stream. */
static GF_CHECKED enum gf_status split_next(struct gf_input *input, struct gf_split *split,
                                            bool *found, struct gf_error *error)
{
    unsigned char head[4];
    size_t got;
    *found = false;
    split->size = 0;
    GF_TRY(gf_input_peek(input, head, 1, &got, error));
    while (got && memchr("\n\r ", *head, 4)) { /* skips line breaks and blanks behind a picture */
        GF_TRY(gf_input_read(input, head, 1, &got, error));
        GF_TRY(gf_input_peek(input, head, 1, &got, error));
    }
    if (got)
        GF_TRY(gf_input_peek(input, head, sizeof head, &got, error));
    if (!got)
        return GF_OK;
    if (!gf_split_takes(head, got))
        return fail(input, "what follows a picture of the stream is no PNG, JPEG, PNM or PAM",
                    error);
    *found = true;
    return *head == 0x89   ? split_png(input, split, error)
           : *head == 0xff ? split_jpeg(input, split, error)
                           : split_pnm(input, split, error);
}

static enum gf_status check_size(struct gf_film_reader *reader, int width, int height,
                                 const struct gf_options *options, struct gf_error *error)
{
    const char *const name = gf_input_name(reader->input);
    const struct gf_rectangle part = reader->window;
    const uint64_t memory =
        options->memory_bytes ? options->memory_bytes : gf_bytes_in_proportion(0);
    reader->held_bytes = (size_t)gf_y4m_window_bytes(reader->frame_bytes, width, height, part);
    GF_TRY(gf_size_check(name, (uint64_t)part.width, (uint64_t)part.height, options, error));
    return gf_memory_check(name, "each frame is in memory as a whole", reader->held_bytes, memory,
                           options, error);
}

static bool reads_part(const struct gf_film_reader *reader)
{
    return reader->window.width < reader->yuv.width || reader->window.height < reader->yuv.height;
}

/* Finds the part of each frame that the chain needs. A text may be drawn that depends on the
 * picture's name and number, so that nothing is known of its place. Cells get whole frames. */
static void find_window(struct gf_film_reader *reader, const char *text,
                        const struct gf_options *options)
{
    const struct gf_yuv *const yuv = &reader->yuv;
    const struct gf_plan_request request = {.orientation = 1};
    struct gf_chain chain = {0};
    struct gf_format format = {yuv->width, yuv->height, yuv->mono ? 1 : 3, yuv->bits > 8 ? 16 : 8,
                               GF_SAMPLES_INTEGER};
    bool known = gf_input_size(reader->input) >= 0 && options->sandbox != GF_SANDBOX_ALL &&
                 yuv->width <= GF_SIDE_MAX && yuv->height <= GF_SIDE_MAX &&
                 !gf_chain_parse(text ? text : "", &chain, NULL);
    reader->window = (struct gf_rectangle){.width = yuv->width, .height = yuv->height};
    if (reader->raw && !*reader->raw->planes) {
        format.channels = reader->raw->channels;
        format.bits = reader->raw->bits;
    }
    for (int i = 0; known && i < chain.count; i++) {
        const struct gf_chain_item *const item = &chain.item[i];
        known = !item->filter->reads_facts || !item->filter->reads_facts(item->params);
    }
    if (known)
        reader->window = gf_plan_window(&chain, format, &request);
    gf_chain_free(&chain);
}

/* Makes the header that each raw frame gets, as a Y4M, PNM or PAM file, in reader->head. */
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
                            const struct gf_raw_frames *raw, const char *chain,
                            const struct gf_options *options, struct gf_error *error)
{
    struct gf_yuv *const yuv = &reader->yuv;
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
        GF_TRY(begin_raw(reader, options, yuv, error));
    } else {
        GF_TRY(gf_y4m_read_line(input, reader->head, &length, error));
        GF_TRY(gf_y4m_parse(reader->head, gf_input_name(input), yuv, error));
        reader->frame_bytes = gf_yuv_frame_bytes(yuv);
        gf_y4m_put_range(options, reader->head);
        strcat(reader->head, "\n");
    }
    find_window(reader, chain, options);
    return check_size(reader, yuv->width, yuv->height, options, error);
}

/* Puts the header lines directly before the frame's samples, in the room that the memory has for
 * them. */
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
    const enum gf_status status = split_next(reader->input, &split, found, error);
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

static unsigned char *frame_memory(const struct gf_film_reader *reader)
{
    const size_t bytes = GF_FILM_LINES_MOST + reader->frame_bytes;
    return reads_part(reader) ? gf_pages_alloc_sparse(bytes)
                              : aligned_alloc(64, (bytes + 63) & ~(size_t)63);
}

void gf_film_free_frame(const struct gf_film_reader *reader, struct gf_film_frame *frame)
{
    if (reads_part(reader))
        gf_pages_free(frame->memory, GF_FILM_LINES_MOST + reader->frame_bytes);
    else
        free(frame->memory);
}

/* Reads the samples of the next frame, or those of the window. Pixels of 16 bits get the order of
 * bytes that a PNM has. */
static enum gf_status read_samples(struct gf_film_reader *reader, unsigned char *samples,
                                   size_t *got, struct gf_error *error)
{
    struct gf_input *const input = reader->input;
    const bool pixels = reader->raw && !*reader->raw->planes,
               swaps = pixels && reader->raw->bits == 16;
    const int64_t at = gf_input_position(input);
    const size_t pixel = pixels ? (size_t)reader->raw->channels * (size_t)reader->raw->bits / 8 : 0;
    const struct gf_rectangle window = reader->window;
    const struct gf_input_part part = {(size_t)reader->yuv.width * pixel, (size_t)window.x * pixel,
                                       (size_t)window.width * pixel, window.y, window.height};
    if (!reads_part(reader) || gf_input_size(input) - at < (int64_t)reader->frame_bytes) {
        GF_TRY(gf_input_read(input, samples, reader->frame_bytes, got, error));
        if (swaps)
            gf_samples_swap(samples, *got / 2);
        return GF_OK;
    }
    GF_TRY(pixels ? gf_input_read_part(input, at, part, samples, error)
                  : gf_y4m_read_window(input, at, &reader->yuv, window, samples, error));
    for (int y = 0; swaps && y < part.rows; y++)
        gf_samples_swap(samples + (size_t)(part.y + y) * part.row + part.first, part.bytes / 2);
    gf_input_go_to(input, at + (int64_t)reader->frame_bytes);
    *got = reader->frame_bytes;
    return GF_OK;
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
        frame->memory = frame_memory(reader);
    GF_ALLOCATED(frame->memory, error);
    if (!reader->raw)
        GF_TRY(read_frame_line(reader, line, &length, error));
    if (!length)
        return GF_OK;
    unsigned char *const samples = frame->memory + GF_FILM_LINES_MOST;
    GF_TRY(read_samples(reader, samples, &got, error));
    if (reader->raw && !got)
        return GF_OK;
    if (got < reader->frame_bytes)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: truncated: frame %zu has %zu of its %zu bytes and is left out", name,
                       reader->frames + 1, got, reader->frame_bytes);
    put_lines(reader, line, frame);
    reader->frames++;
    *found = true;
    return GF_OK;
}

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
    if (writer->animation) {
        enum gf_file_format format;
        GF_TRY(gf_sink_format(path, writer->options, GF_FILE_AUTO, &format, error));
        GF_TRY(gf_output_open(path, &writer->output, error));
        gf_output_set_options(writer->output,
                              (struct gf_output_options){options->no_clobber, options->sync,
                                                         options->max_output_bytes, 0});
        return GF_OK;
    }
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

/* ---- the header lines before the samples ---- */

/* Returns the bytes of the header of a frame's file: a line of a Y4M, three of a PNM, or seven of a
 * PAM. Also returns the bytes of the line before a frame of a Y4M. */
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

/* Fails if the frames do not have the size, channels and bits that --raw states. */
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

/* Refuses a frame whose header is not that of the first one. */
static enum gf_status fail_head(const struct gf_film_writer *writer, const unsigned char *data,
                                size_t size, struct gf_error *error)
{
    static const char sizes[] = "YUV4MPEG2 W%d H%d";
    char head[GF_FILM_LINES_MOST];
    int width, height, first_width, first_height;
    snprintf(head, sizeof head, "%.*s", (int)size, (const char *)data);
    if (sscanf(head, sizes, &width, &height) == 2 &&
        sscanf(writer->head, sizes, &first_width, &first_height) == 2 &&
        (width != first_width || height != first_height))
        return gf_film_fail_size(writer, width, height, first_width, first_height, error);
    return gf_fail(error, GF_ERROR_UNFIT,
                   "%s: '%s' has the header '%.*s', and the first frame '%.*s': the frames of a "
                   "film have one",
                   writer->name, writer->frame_name, (int)strcspn(head, "\n"), head,
                   (int)strcspn(writer->head, "\n"), writer->head);
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
                   : fail_head(writer, data, size, error);
    memcpy(writer->head, data, size);
    writer->head_size = size;
    return writer->raw ? check_raw(writer, error) : put_head(writer, error);
}

enum gf_status gf_film_write(struct gf_film_writer *writer, const unsigned char *data, size_t size,
                             struct gf_error *error)
{
    if (writer->animation)
        return gf_animation_write(writer, data, size, error);
    if (writer->plain)
        return put(writer, data, size, error);
    size_t at = size ? head_size_of(data, size) : 0;
    GF_TRY(check_head(writer, data, at, error));
    if (writer->raw && *writer->raw->planes)
        at += head_size_of(data + at, size - at); /* skips the frame's line */
    if (!writer->raw || *writer->raw->planes || writer->raw->bits == 8)
        return put(writer, data + at, size - at, error);
    unsigned char *const swapped = malloc(size - at);
    GF_ALLOCATED(swapped, error);
    memcpy(swapped, data + at, size - at);
    gf_samples_swap(swapped, (size - at) / 2);
    const enum gf_status written = put(writer, swapped, size - at, error);
    free(swapped);
    return written;
}

enum gf_status gf_film_commit(struct gf_film_writer *writer, struct gf_error *error)
{
    if (writer->sink)
        GF_TRY(writer->sink->end(writer->sink, error));
    return writer->output ? gf_output_commit(writer->output, error) : GF_OK;
}

void gf_film_close(struct gf_film_writer *writer)
{
    if (writer->sink)
        writer->sink->close(writer->sink);
    gf_output_close(writer->output);
    if (writer->owns_descriptor && writer->descriptor >= 0)
        close(writer->descriptor);
}
