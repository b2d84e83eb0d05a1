#include "codec/y4m/y4m.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"
#include "codec/common/checks.h"
#include "codec/common/opening.h"
#include "pixel/yuv/yuv_formula.h"

enum gf_status gf_y4m_read_line(struct gf_input *input, char line[GF_Y4M_LINE_MOST], size_t *length,
                                struct gf_error *error)
{
    const char *const name = gf_input_name(input);
    for (*length = 0; *length < GF_Y4M_LINE_MOST; ++*length) {
        size_t got;
        GF_TRY(gf_input_read(input, line + *length, 1, &got, error));
        if (!got && *length)
            return gf_fail_truncated(error, name, -1, 0);
        if (!got || line[*length] == '\n') {
            line[*length] = '\0';
            return GF_OK;
        }
        if (line[*length] < ' ' || line[*length] > '~')
            break;
    }
    return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: a line of a Y4M is no line of text", name);
}

/* ---- the parameter of chroma (C) ---- */

/* The words of the parameter C, which says how chroma is sampled. More than 8 bits are stated
 * behind a word: "420p10", "mono10". */
static const struct {
    const char *word;
    bool mono, half_width, half_height, takes_bits;
    enum gf_yuv_siting siting, siting_of_words;
} kinds[] = {{"420jpeg", false, true, true, false, GF_YUV_CENTRE, GF_YUV_CENTRE},
             {"420mpeg2", false, true, true, false, GF_YUV_LEFT, GF_YUV_LEFT},
             {"420paldv", false, true, true, false, GF_YUV_TOP_LEFT, GF_YUV_TOP_LEFT},
             {"420", false, true, true, true, GF_YUV_CENTRE, GF_YUV_LEFT},
             {"422", false, true, false, true, GF_YUV_LEFT, GF_YUV_LEFT},
             {"444", false, false, false, true, GF_YUV_CENTRE, GF_YUV_CENTRE},
             {"mono", true, false, false, true, GF_YUV_CENTRE, GF_YUV_CENTRE}};

/* Returns the bits that the text behind a word states, 8 if it is empty; 0 if it is invalid. */
static int bits_of(const char *rest, bool mono)
{
    char *end;
    if (!*rest)
        return 8;
    if (!mono && *rest++ != 'p')
        return 0;
    const long bits = isdigit((unsigned char)*rest) ? strtol(rest, &end, 10) : 0;
    return bits > 8 && bits <= 16 && !*end ? (int)bits : 0;
}

static bool set_chroma(const char *word, struct gf_yuv *yuv)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].word);
        const char *const rest = word + length;
        if (strncasecmp(word, kinds[i].word, length) != 0 || (*rest && !kinds[i].takes_bits))
            continue;
        yuv->bits = bits_of(rest, kinds[i].mono);
        yuv->mono = kinds[i].mono;
        yuv->half_width = kinds[i].half_width;
        yuv->half_height = kinds[i].half_height;
        yuv->siting = yuv->bits > 8 ? kinds[i].siting_of_words : kinds[i].siting;
        return yuv->bits;
    }
    return false;
}

/* ---- the header ---- */

/* Returns the next parameter from *at, cut off by a zero, and moves *at behind it. Returns NULL at
 * the end. */
static char *next_parameter(char **at)
{
    char *parameter;
    do
        parameter = strsep(at, " ");
    while (parameter && !*parameter);
    return parameter;
}

static bool set_side(const char *text, int *side)
{
    char *end;
    const unsigned long value = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
    *side = value > INT32_MAX ? INT32_MAX : (int)value; /* gf_size_check() refuses INT32_MAX */
    return value && !*end;
}

/* Whether the text is two numbers with a colon between them. */
static bool is_ratio(const char *text)
{
    const size_t first = strspn(text, "0123456789");
    const size_t second = text[first] == ':' ? strspn(text + first + 1, "0123456789") : 0;
    return first && second && !text[first + 1 + second];
}

static bool set_parameter(const char *parameter, struct gf_yuv *yuv, bool *has_chroma,
                          bool *has_range)
{
    const char *const value = parameter + 1;
    switch (*parameter) {
    case 'W':
        return set_side(value, &yuv->width);
    case 'H':
        return set_side(value, &yuv->height);
    case 'C':
        *has_chroma = true;
        return set_chroma(value, yuv);
    case 'F':
    case 'A':
        return is_ratio(value);
    case 'I':
        yuv->interlaced = *value && strchr("tbm", *value);
        return *value && strchr("ptbm?", *value) && !value[1];
    case 'X':
        /* Old programs write this parameter instead of C. */
        if (!strncmp(value, "YSCSS=", 6) && !*has_chroma)
            return set_chroma(value + 6, yuv);
        *has_range |= !strncmp(value, "COLORRANGE=", 11);
        yuv->full |= !strcmp(value, "COLORRANGE=FULL");
        return true;
    default:
        return true;
    }
}

enum gf_status gf_y4m_parse(const char *header, const char *name, struct gf_yuv *yuv,
                            struct gf_error *error)
{
    enum { HD_HEIGHT = 720 };
    char copy[GF_Y4M_LINE_MOST], *at = copy, *parameter;
    bool has_chroma = false, has_range = false;
    snprintf(copy, sizeof copy, "%s", header);
    *yuv = (struct gf_yuv){.width = 0};
    (void)set_chroma("420jpeg", yuv); /* a header without C means this */
    parameter = next_parameter(&at);
    if (!parameter || strncmp(parameter, GF_Y4M_MAGIC, sizeof GF_Y4M_MAGIC - 2) != 0)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: the header of a Y4M is missing", name);
    while ((parameter = next_parameter(&at)) != NULL) {
        if (!set_parameter(parameter, yuv, &has_chroma, &has_range))
            return gf_fail(error, GF_ERROR_INPUT,
                           "%s: '%.40s' in the header of a Y4M is not supported", name, parameter);
    }
    if (!yuv->width || !yuv->height)
        return gf_fail(error, GF_ERROR_INPUT, "%s: damaged: the header of a Y4M states no size",
                       name);
    yuv->full |= yuv->mono && !has_range;
    yuv->matrix = yuv->height < HD_HEIGHT ? GF_YUV_BT601 : GF_YUV_BT709;
    return GF_OK;
}

void gf_y4m_choose(const struct gf_options *options, struct gf_yuv *yuv)
{
    static const enum gf_yuv_matrix matrices[] = {[GF_YUV_ITEM_BT601] = GF_YUV_BT601,
                                                  [GF_YUV_ITEM_BT709] = GF_YUV_BT709,
                                                  [GF_YUV_ITEM_BT2020] = GF_YUV_BT2020};
    for (int item = GF_YUV_ITEM_BT601; item <= GF_YUV_ITEM_BT2020; item++)
        yuv->matrix = options->yuv >> item & 1 ? matrices[item] : yuv->matrix;
    if (options->yuv >> GF_YUV_ITEM_LIMITED)
        yuv->full = options->yuv >> GF_YUV_ITEM_FULL;
}

enum gf_status gf_y4m_check_frame(const char *line, const char *name, struct gf_error *error)
{
    return !strncmp(line, "FRAME", 5) && (!line[5] || line[5] == ' ')
               ? GF_OK
               : gf_fail(error, GF_ERROR_INPUT,
                         "%s: damaged: '%.20s' where the next frame should begin", name, line);
}

/* ---- making a new header ---- */

static void add(char *line, const char *parameter)
{
    const size_t length = strlen(line);
    snprintf(line + length, GF_Y4M_LINE_MOST - length, "%s%s", length ? " " : "", parameter);
}

void gf_y4m_put_range(const struct gf_options *options, char *header)
{
    char copy[GF_Y4M_LINE_MOST], *at = copy, *parameter;
    if (!(options->yuv >> GF_YUV_ITEM_LIMITED))
        return;
    snprintf(copy, sizeof copy, "%s", header);
    *header = '\0';
    while ((parameter = next_parameter(&at)) != NULL) {
        if (strncmp(parameter, "XCOLORRANGE=", 12) != 0)
            add(header, parameter);
    }
    add(header, options->yuv >> GF_YUV_ITEM_FULL ? "XCOLORRANGE=FULL" : "XCOLORRANGE=LIMITED");
}

/* Writes the parameter C that the options choose, such as "C420jpeg". */
static void put_chroma(bool gray, int bits, const struct gf_options *options, char text[24])
{
    const enum gf_subsampling subsampling = gf_subsampling_of(options);
    const char *const word = gray                                ? "mono"
                             : subsampling == GF_SUBSAMPLING_444 ? "444"
                             : subsampling == GF_SUBSAMPLING_422 ? "422"
                             : bits > 8                          ? "420"
                                                                 : "420jpeg";
    if (bits > 8)
        snprintf(text, 24, "C%s%s%d", word, gray ? "" : "p", bits);
    else
        snprintf(text, 24, "C%s", word);
}

/* Whether the output keeps the header's chroma, because the options and colours ask for no
 * other. */
static bool keeps_chroma(const struct gf_yuv *yuv, bool gray, const struct gf_options *options)
{
    const bool half_width = options->subsampling != GF_SUBSAMPLING_444,
               half_height = options->subsampling == GF_SUBSAMPLING_420;
    if (yuv->mono)
        return gray;
    return options->subsampling == GF_SUBSAMPLING_AUTO ||
           (yuv->half_width == half_width && yuv->half_height == half_height);
}

void gf_y4m_compose(const char *header, int width, int height, bool gray, int bits,
                    const struct gf_options *options, char line[GF_Y4M_LINE_MOST])
{
    char copy[GF_Y4M_LINE_MOST], *at = copy, *parameter, side[16], chroma[24];
    struct gf_yuv yuv;
    const bool from_y4m = header && !gf_y4m_parse(header, "", &yuv, NULL);
    const bool keeps = from_y4m && keeps_chroma(&yuv, gray, options);
    bool has_chroma = false;
    put_chroma(from_y4m ? yuv.mono && gray : gray, from_y4m ? yuv.bits : bits, options, chroma);
    snprintf(copy, sizeof copy, "%s", from_y4m ? header : "YUV4MPEG2 W1 H1 F25:1 Ip A1:1");
    *line = '\0';
    while ((parameter = next_parameter(&at)) != NULL) {
        if (*parameter == 'W' || *parameter == 'H') {
            snprintf(side, sizeof side, "%c%d", *parameter, *parameter == 'W' ? width : height);
            parameter = side;
        }
        has_chroma |= *parameter == 'C';
        if (!keeps && *parameter == 'C')
            parameter = chroma;
        if (keeps || strncmp(parameter, "XYSCSS=", 7) != 0)
            add(line, parameter);
    }
    if (!keeps && !has_chroma)
        add(line, chroma);
    gf_y4m_put_range(options, line);
}

/* ---- the samples of a window ---- */

/* Sets *first and *count to the samples of chroma, of `all`, that those of luma take where there
 * are `halves`: pixels take the samples beside their own, too. */
static void widen(bool halves, int all, size_t *first, size_t *count)
{
    if (!halves)
        return;
    const size_t end = (*first + *count + 1) / 2 + 1;
    *first = *first / 2 - (*first >= 2);
    *count = (end < (size_t)all ? end : (size_t)all) - *first;
}

enum gf_status gf_y4m_read_window(struct gf_input *input, int64_t offset, const struct gf_yuv *yuv,
                                  struct gf_rectangle window, unsigned char *frame,
                                  struct gf_error *error)
{
    const struct gf_yuv_planes planes = gf_yuv_planes_of(yuv);
    const size_t bytes = planes.sample_bytes;
    for (int i = 0; i < (yuv->mono ? 1 : 3); i++) {
        const size_t at = i ? planes.first[i] * bytes : 0;
        size_t x = (size_t)window.x, y = (size_t)window.y, columns = (size_t)window.width,
               rows = (size_t)window.height;
        if (i) {
            widen(yuv->half_width, (int)planes.chroma_width, &x, &columns);
            widen(yuv->half_height, (int)planes.chroma_height, &y, &rows);
        }
        const struct gf_input_part part = {.row = (i ? planes.chroma_width : (size_t)yuv->width) *
                                                  bytes,
                                           .first = x * bytes,
                                           .bytes = columns * bytes,
                                           .y = (int)y,
                                           .rows = (int)rows};
        GF_TRY(gf_input_read_part(input, offset + (int64_t)at, part, frame + at, error));
    }
    return GF_OK;
}

/* A source of the first frame of a Y4M. src/batch/frames reads films frame by frame. */

struct y4m_source {
    struct gf_source base;
    struct gf_input *input;
    struct gf_options options;
    struct gf_yuv yuv;
    struct gf_yuv_reader *reader;
    const unsigned char *frame; /* the frame's bytes; NULL: not read yet */
    unsigned char *own; /* memory for the frame; NULL: the frame lies in the input's memory */
    size_t bytes;
    int64_t at;   /* where the frame begins in the input */
    bool seeks;   /* the input is a regular file that has the whole frame */
    bool is_part; /* `frame` has the samples of the window alone */
    struct gf_rectangle window;
    unsigned char *line; /* a row of which the window has a part; NULL: all of it is wanted */
    int row;             /* the next row of the frame's */
};

static bool is_part(const struct y4m_source *y4m, struct gf_rectangle window)
{
    return window.width < y4m->yuv.width || window.height < y4m->yuv.height;
}

/* Sets y4m->frame to the frame, or the window's part of it, in the input's memory, or reads it. */
static enum gf_status read_frame(struct y4m_source *y4m, struct gf_error *error)
{
    unsigned char *data;
    size_t size, got;
    const size_t at = (size_t)y4m->at;
    if (gf_input_borrow(y4m->input, &data, &size) && at <= size && size - at >= y4m->bytes &&
        (uintptr_t)(data + at) % 2 == 0) {
        y4m->frame = data + at;
        gf_input_go_to(y4m->input, (int64_t)(at + y4m->bytes));
        return GF_OK;
    }
    if (!y4m->own)
        y4m->own = gf_pages_alloc_sparse(y4m->bytes);
    GF_ALLOCATED(y4m->own, error);
    y4m->is_part = y4m->seeks && is_part(y4m, y4m->window);
    if (y4m->is_part) {
        y4m->frame = y4m->own;
        return gf_y4m_read_window(y4m->input, y4m->at, &y4m->yuv, y4m->window, y4m->own, error);
    }
    GF_TRY(gf_input_read(y4m->input, y4m->own, y4m->bytes, &got, error));
    y4m->frame = y4m->own;
    if (got == y4m->bytes)
        return GF_OK;
    GF_TRY(gf_input_check_size(y4m->input, error));
    if (!y4m->options.allow_truncated)
        return gf_fail(error, GF_ERROR_INPUT, "%s: truncated: a frame has %zu of its %zu bytes%s",
                       gf_input_name(y4m->input), got, y4m->bytes,
                       gf_truncated_hint(&y4m->options));
    gf_warn(&y4m->options, "%s: truncated: a frame has %zu of its %zu bytes",
            gf_input_name(y4m->input), got, y4m->bytes);
    return GF_OK;
}

static enum gf_status y4m_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                               struct gf_error *error)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    if (!y4m->frame)
        GF_TRY(read_frame(y4m, error));
    for (; rows; rows--, dst += pitch) {
        gf_yuv_reader_row(y4m->reader, y4m->frame, y4m->row++, y4m->line ? y4m->line : dst);
        if (y4m->line)
            memcpy(dst, y4m->line + (size_t)y4m->window.x * gf_pixel_bytes(base->format),
                   gf_row_bytes(base->format));
    }
    return GF_OK;
}

static enum gf_status y4m_window(struct gf_source *base, struct gf_rectangle window, int more,
                                 struct gf_error *error)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    const size_t pixel = gf_pixel_bytes(base->format);
    free(y4m->line);
    y4m->line = window.width < y4m->yuv.width ? malloc((size_t)y4m->yuv.width * pixel) : NULL;
    if (window.width < y4m->yuv.width && !y4m->line)
        return gf_fail_memory(error);
    if (y4m->is_part)
        y4m->frame = NULL;
    y4m->is_part = false;
    y4m->window = window;
    y4m->row = window.y;
    y4m->base.memory.bytes = y4m->bytes;
    if (y4m->seeks) {
        gf_input_go_to(y4m->input, y4m->at); /* a GPU takes the frame from there */
        y4m->base.memory.bytes =
            gf_y4m_window_bytes(y4m->bytes, y4m->yuv.width, y4m->yuv.height, window);
    }
    base->format.width = window.width;
    base->format.height = window.height;
    return GF_OK;
}

static enum gf_status y4m_finish(struct gf_source *base, struct gf_error *error)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    unsigned char next;
    size_t got;
    if (y4m->seeks)
        gf_input_go_to(y4m->input, y4m->at + (int64_t)y4m->bytes);
    GF_TRY(gf_input_peek(y4m->input, &next, 1, &got, error));
    if (got)
        gf_warn(&y4m->options,
                "%s: its first frame is read: more follow (to have them: number the outputs by "
                "{n}, or write a film)",
                gf_input_name(y4m->input));
    return GF_OK;
}

static enum gf_status y4m_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    gf_input_go_to(((struct y4m_source *)base)->input, end);
    return y4m_finish(base, error);
}

enum gf_status gf_y4m_next(struct gf_source *base, bool *found, struct gf_error *error)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    char line[GF_Y4M_LINE_MOST];
    size_t length;
    if (y4m->seeks)
        gf_input_go_to(y4m->input, y4m->at + (int64_t)y4m->bytes);
    GF_TRY(gf_y4m_read_line(y4m->input, line, &length, error));
    *found = length > 0;
    if (!*found)
        return GF_OK;
    GF_TRY(gf_y4m_check_frame(line, gf_input_name(y4m->input), error));
    y4m->at = gf_input_position(y4m->input);
    y4m->seeks = gf_input_size(y4m->input) - y4m->at >= (int64_t)y4m->bytes;
    y4m->frame = NULL;
    y4m->row = 0;
    return GF_OK;
}

static void y4m_close(struct gf_source *base)
{
    struct y4m_source *const y4m = (struct y4m_source *)base;
    gf_metadata_free(&base->metadata);
    gf_yuv_reader_close(y4m->reader);
    gf_pages_free(y4m->own, y4m->bytes);
    free(y4m->line);
    free(y4m);
}

/* Keeps the header, a line break and the frame's line in metadata->y4m, for a Y4M output. */
static bool keep_lines(struct gf_metadata *metadata, const char *header, const char *frame)
{
    char lines[2 * GF_Y4M_LINE_MOST + 2];
    const int length = snprintf(lines, sizeof lines, "%s\n%s", header, frame);
    return gf_blob_set(&metadata->y4m, lines, (size_t)length + 1);
}

static enum gf_status read_lines(struct y4m_source *y4m, const struct gf_options *options,
                                 struct gf_error *error)
{
    char header[GF_Y4M_LINE_MOST], frame[GF_Y4M_LINE_MOST];
    const char *const name = gf_input_name(y4m->input);
    struct gf_yuv *const yuv = &y4m->yuv;
    size_t length;
    GF_TRY(gf_y4m_read_line(y4m->input, header, &length, error));
    GF_TRY(gf_y4m_parse(header, name, yuv, error));
    GF_TRY(gf_size_check(name, (uint64_t)yuv->width, (uint64_t)yuv->height, options, error));
    GF_TRY(gf_y4m_read_line(y4m->input, frame, &length, error));
    if (!length)
        return gf_fail(error, GF_ERROR_INPUT, "%s: holds no frame", name);
    GF_TRY(gf_y4m_check_frame(frame, name, error));
    gf_y4m_choose(options, yuv);
    y4m->base.yuv = yuv;
    y4m->bytes = gf_yuv_frame_bytes(yuv);
    y4m->at = gf_input_position(y4m->input);
    y4m->seeks = gf_input_size(y4m->input) - y4m->at >= (int64_t)y4m->bytes;
    y4m->window = (struct gf_rectangle){.width = yuv->width, .height = yuv->height};
    y4m->base.format = (struct gf_format){yuv->width, yuv->height, yuv->mono ? 1 : 3,
                                          yuv->bits > 8 ? 16 : 8, GF_SAMPLES_INTEGER};
    y4m->base.stored = (struct gf_stored){.bits = yuv->bits,
                                          .colour = yuv->mono ? GF_STORED_PLAIN : GF_STORED_YCBCR};
    y4m->base.memory =
        (struct gf_codec_memory){y4m->bytes, "the planes of a frame are read as a whole"};
    if (yuv->interlaced && yuv->half_height)
        gf_warn(options,
                "%s: is interlaced, and filtered as if it were not: colours of the two fields mix",
                name);
    y4m->reader = gf_yuv_reader_open(yuv);
    return y4m->reader && keep_lines(&y4m->base.metadata, header, frame) ? GF_OK
                                                                         : gf_fail_memory(error);
}

enum gf_status gf_y4m_source_open(struct gf_input *input, const struct gf_options *options,
                                  struct gf_source **source, struct gf_error *error)
{
    GF_NEW(struct y4m_source, y4m, error);
    y4m->base = (struct gf_source){.metadata = {.orientation = 1},
                                   .read = y4m_read,
                                   .window = y4m_window,
                                   .finish = y4m_finish,
                                   .leave = y4m_leave,
                                   .close = y4m_close};
    y4m->input = input;
    y4m->options = *options;
    enum gf_status status = read_lines(y4m, options, error);
    GF_THEN(status, gf_memory_check_proportion(&y4m->base, input, options, error));
    GF_OPENED(status, y4m_close, &y4m->base, source);
}
