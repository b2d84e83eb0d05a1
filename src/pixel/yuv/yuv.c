/* Converts frames of YCbCr to rows of gray or RGB, and rows to frames. */
#include <stdint.h>
#include <stdlib.h>

#include "base/cpu.h"
#include "pixel/yuv/yuv_formula.h"
#include "pixel/yuv/yuv_simd.h"

/* The numbers of Rec. ITU-T H.273 for a frame, where R, G and B are in 0..1: Y is kr R + kg G + kb
 * B, luma is black + luma_span * Y, Cb is middle + chroma_span * (B - Y) / (2 - 2 kb), and Cr is
 * that with R and kr. */
struct numbers {
    double kr, kg, kb;
    double black, luma_span, middle, chroma_span;
    double most; /* the largest sample of the frame */
};

struct gf_yuv_planes gf_yuv_planes_of(const struct gf_yuv *yuv)
{
    const size_t width = (size_t)yuv->width, height = (size_t)yuv->height;
    struct gf_yuv_planes planes = {.sample_bytes = yuv->bits > 8 ? 2 : 1};
    if (!yuv->mono) {
        planes.chroma_width = yuv->half_width ? (width + 1) / 2 : width;
        planes.chroma_height = yuv->half_height ? (height + 1) / 2 : height;
    }
    planes.first[1] = width * height;
    planes.first[2] = planes.first[1] + planes.chroma_width * planes.chroma_height;
    return planes;
}

size_t gf_yuv_frame_bytes(const struct gf_yuv *yuv)
{
    const struct gf_yuv_planes planes = gf_yuv_planes_of(yuv);
    return (planes.first[2] + planes.chroma_width * planes.chroma_height) * planes.sample_bytes;
}

bool gf_yuv_matrix_of(int number, enum gf_yuv_matrix *matrix)
{
    enum { NONE = -1 };
    static const int matrices[] = {NONE,       GF_YUV_BT709, GF_YUV_BT601, NONE,
                                   GF_YUV_FCC, GF_YUV_BT601, GF_YUV_BT601, GF_YUV_SMPTE240,
                                   NONE,       GF_YUV_BT2020};
    if (number < 0 || number >= (int)(sizeof matrices / sizeof *matrices) ||
        matrices[number] == NONE)
        return false;
    *matrix = (enum gf_yuv_matrix)matrices[number];
    return true;
}

static struct numbers numbers_of(const struct gf_yuv *yuv)
{
    static const struct {
        double kr, kb;
    } matrices[] = {[GF_YUV_BT601] = {0.299, 0.114},
                    [GF_YUV_BT709] = {0.2126, 0.0722},
                    [GF_YUV_BT2020] = {0.2627, 0.0593},
                    [GF_YUV_FCC] = {0.3, 0.11},
                    [GF_YUV_SMPTE240] = {0.212, 0.087}};
    const double kr = matrices[yuv->matrix].kr, kb = matrices[yuv->matrix].kb;
    const double unit = 1 << (yuv->bits - 8), most = 256 * unit - 1;
    return (struct numbers){.kr = kr,
                            .kg = 1 - kr - kb,
                            .kb = kb,
                            .black = yuv->full ? 0 : 16 * unit,
                            .luma_span = yuv->full ? most : 219 * unit,
                            .middle = 128 * unit,
                            .chroma_span = yuv->full ? most : 224 * unit,
                            .most = most};
}

struct gf_yuv_to_rgb gf_yuv_to_rgb_of(const struct gf_yuv *yuv)
{
    enum { WEIGHTS = 16 }; /* the weights in a pixel's sum of chroma add up to this */
    const struct numbers n = numbers_of(yuv);
    const double most = yuv->bits > 8 ? 65535 : 255, chroma = most / n.chroma_span / WEIGHTS;
    return (struct gf_yuv_to_rgb){.black = (float)n.black,
                                  .luma = (float)(most / n.luma_span),
                                  .middle = (float)(WEIGHTS * n.middle),
                                  .red_v = (float)(2 * (1 - n.kr) * chroma),
                                  .green_u = (float)(2 * (1 - n.kb) * n.kb / n.kg * chroma),
                                  .green_v = (float)(2 * (1 - n.kr) * n.kr / n.kg * chroma),
                                  .blue_u = (float)(2 * (1 - n.kb) * chroma),
                                  .most = (int)most};
}

static struct gf_yuv_mix mix_of(double red, double green, double blue, double scale, double offset)
{
    return (struct gf_yuv_mix){(float)(red * scale), (float)(green * scale), (float)(blue * scale),
                               (float)offset};
}

struct gf_yuv_from_rgb gf_yuv_from_rgb_of(const struct gf_yuv *yuv, int channels, int bits)
{
    const struct numbers n = numbers_of(yuv);
    const double most = bits > 8 ? 65535 : 255, luma = n.luma_span / most;
    const double u = n.chroma_span / most / (2 * (1 - n.kb)),
                 v = n.chroma_span / most / (2 * (1 - n.kr));
    return (struct gf_yuv_from_rgb){
        .luma = channels == 1 /* gray has a single weight, which is exactly the sum of the three */
                    ? mix_of(1, 0, 0, luma, n.black)
                    : mix_of(n.kr, n.kg, n.kb, luma, n.black),
        .u = mix_of(-n.kr, -n.kg, 1 - n.kb, u, n.middle),
        .v = mix_of(1 - n.kr, -n.kg, -n.kb, v, n.middle),
        .most = (int)n.most};
}

/* Frames of YCbCr to gray or RGB. Chroma is interpolated linearly, by four weights down times four
 * weights across: the sums are whole numbers, and exact as floats. */

struct gf_yuv_reader {
    struct gf_yuv yuv;
    struct gf_yuv_planes planes;
    struct gf_yuv_to_rgb to_rgb;
    float *sums; /* a row of chroma after the vertical weights, with one more sample at each end */
    float *row_u, *row_v;
    bool simd;
    struct gf_yuv_orders orders; /* the permutations by which vectors arrange the bytes of pixels */
};

struct gf_yuv_reader *gf_yuv_reader_open(const struct gf_yuv *yuv)
{
    const size_t width = (size_t)yuv->width + 2 + GF_YUV_LANES;
    struct gf_yuv_reader *const reader = calloc(1, sizeof *reader);
    float *const rows = malloc(3 * width * sizeof *rows);
    if (!reader || !rows) {
        free(rows);
        free(reader);
        return NULL;
    }
    *reader = (struct gf_yuv_reader){.yuv = *yuv,
                                     .planes = gf_yuv_planes_of(yuv),
                                     .to_rgb = gf_yuv_to_rgb_of(yuv),
                                     .sums = rows,
                                     .row_u = rows + width,
                                     .row_v = rows + 2 * width};
    reader->simd = yuv->bits == 8 && !yuv->mono && gf_cpu_has(GF_CPU_VBMI);
    if (reader->simd)
        gf_yuv_orders_prepare(&reader->orders);
    return reader;
}

void gf_yuv_reader_close(struct gf_yuv_reader *reader)
{
    if (reader)
        free(reader->sums);
    free(reader);
}

GF_INLINE void weigh_rows(const void *near, const void *far, struct gf_yuv_near rows,
                          float *restrict sums, size_t count, const int bytes)
{
    for (size_t i = 0; i < count; i++) {
        const int a = bytes == 2 ? ((const uint16_t *)near)[i] : ((const uint8_t *)near)[i];
        const int b = bytes == 2 ? ((const uint16_t *)far)[i] : ((const uint8_t *)far)[i];
        sums[i] = gf_yuv_near_sum(rows, a, b);
    }
}

GF_TARGET_CLONES static void weigh_bytes(const void *near, const void *far, struct gf_yuv_near rows,
                                         float *restrict sums, size_t count)
{
    weigh_rows(near, far, rows, sums, count, 1);
}

GF_TARGET_CLONES static void weigh_words(const void *near, const void *far, struct gf_yuv_near rows,
                                         float *restrict sums, size_t count)
{
    weigh_rows(near, far, rows, sums, count, 2);
}

/* Makes a row of chroma as wide as the picture of sums[-1..count]. */
GF_TARGET_CLONES static void widen(const float *restrict sums, size_t count,
                                   struct gf_yuv_widening by, float *restrict row)
{
    for (size_t k = 0; k < count; k++) {
        row[2 * k] = by.even * sums[k] + by.even_before * sums[(ptrdiff_t)k - 1];
        row[2 * k + 1] = by.odd * sums[k] + by.odd_after * sums[k + 1];
    }
}

GF_TARGET_CLONES static void scale(const float *restrict sums, size_t count, float by,
                                   float *restrict row)
{
    for (size_t k = 0; k < count; k++)
        row[k] = by * sums[k];
}

/* Two rows of chroma from which row y of the picture is interpolated, and where they are in a
 * frame. */
struct chroma_rows {
    struct gf_yuv_near rows;
    const unsigned char *near, *far;
};

static struct chroma_rows chroma_rows_of(const struct gf_yuv_reader *reader,
                                         const struct gf_yuv_frame *frame, int plane, int y)
{
    const size_t row = frame->pitch[plane];
    const struct gf_yuv_near rows =
        gf_yuv_near_of(&reader->yuv, (int)reader->planes.chroma_height, y);
    const unsigned char *const first = frame->plane[plane];
    return (struct chroma_rows){rows, first + (size_t)rows.near * row,
                                first + (size_t)rows.far * row};
}

/* Copies the first and the last sum to the places before and behind them. */
static void put_ends(float *sums, size_t count)
{
    sums[-1] = sums[0];
    sums[count] = sums[count - 1];
}

/* Interpolates the chroma of plane 1 or 2 of the frame for row y of the picture. */
static void chroma_row(const struct gf_yuv_reader *reader, const struct gf_yuv_frame *frame,
                       int plane, int y, float *row)
{
    const struct gf_yuv *const yuv = &reader->yuv;
    const size_t width = reader->planes.chroma_width;
    const struct chroma_rows rows = chroma_rows_of(reader, frame, plane, y);
    float *const sums = reader->sums + 1;
    (yuv->bits > 8 ? weigh_words : weigh_bytes)(rows.near, rows.far, rows.rows, sums, width);
    put_ends(sums, width);
    const struct gf_yuv_widening by = gf_yuv_widening_of(yuv);
    if (yuv->half_width)
        widen(sums, width, by, row);
    else
        scale(sums, width, by.even, row);
}

GF_INLINE void to_rgb(const struct gf_yuv_reader *reader, const void *luma, void *rgb,
                      const int bytes)
{
    const struct gf_yuv_reader r = *reader;
    const float *restrict const u = r.row_u, *restrict const v = r.row_v;
    const uint8_t *const y8 = luma;
    const uint16_t *const y16 = luma;
    uint8_t *restrict const rgb8 = rgb;
    uint16_t *restrict const rgb16 = rgb;
    for (int i = 0; i < r.yuv.width; i++) {
        const struct gf_yuv_pixel pixel =
            gf_yuv_pixel_of(&r.to_rgb, bytes == 2 ? y16[i] : y8[i], u[i], v[i]);
        if (bytes == 2) {
            rgb16[3 * i] = (uint16_t)pixel.red;
            rgb16[3 * i + 1] = (uint16_t)pixel.green;
            rgb16[3 * i + 2] = (uint16_t)pixel.blue;
        } else {
            rgb8[3 * i] = (uint8_t)pixel.red;
            rgb8[3 * i + 1] = (uint8_t)pixel.green;
            rgb8[3 * i + 2] = (uint8_t)pixel.blue;
        }
    }
}

GF_TARGET_CLONES static void to_rgb_bytes(const struct gf_yuv_reader *reader, const void *luma,
                                          void *rgb)
{
    to_rgb(reader, luma, rgb, 1);
}

GF_TARGET_CLONES static void to_rgb_words(const struct gf_yuv_reader *reader, const void *luma,
                                          void *rgb)
{
    to_rgb(reader, luma, rgb, 2);
}

GF_INLINE void to_gray(const struct gf_yuv_reader *reader, const void *restrict luma,
                       void *restrict gray, const int bytes)
{
    const struct gf_yuv_reader r = *reader;
    for (int i = 0; i < r.yuv.width; i++) {
        const int sample = bytes == 2 ? ((const uint16_t *)luma)[i] : ((const uint8_t *)luma)[i];
        const int value = gf_yuv_gray_of(&r.to_rgb, sample);
        if (bytes == 2)
            ((uint16_t *)gray)[i] = (uint16_t)value;
        else
            ((uint8_t *)gray)[i] = (uint8_t)value;
    }
}

GF_TARGET_CLONES static void to_gray_bytes(const struct gf_yuv_reader *reader, const void *luma,
                                           void *gray)
{
    to_gray(reader, luma, gray, 1);
}

GF_TARGET_CLONES static void to_gray_words(const struct gf_yuv_reader *reader, const void *luma,
                                           void *gray)
{
    to_gray(reader, luma, gray, 2);
}

static void to_rgb_simd(const struct gf_yuv_reader *reader, const struct gf_yuv_frame *frame,
                        const uint8_t *luma, int y, uint8_t *rgb)
{
    float *const sums[] = {reader->row_u + 1, reader->row_v + 1};
    const size_t width = reader->planes.chroma_width;
    for (int i = 0; i < 2; i++) {
        const struct chroma_rows rows = chroma_rows_of(reader, frame, 1 + i, y);
        gf_yuv_weigh_simd(rows.near, rows.far, rows.rows.far_weight, width, sums[i]);
        put_ends(sums[i], width);
    }
    gf_yuv_to_rgb_simd(&reader->to_rgb, &reader->orders, gf_yuv_columns_of(&reader->yuv), luma,
                       sums[0], sums[1], (size_t)reader->yuv.width, rgb);
}

void gf_yuv_reader_planes_row(struct gf_yuv_reader *reader, const struct gf_yuv_frame *frame, int y,
                              void *row)
{
    const size_t bytes = reader->planes.sample_bytes;
    const unsigned char *const luma = frame->plane[0] + (size_t)y * frame->pitch[0];
    if (reader->yuv.mono) {
        (bytes == 2 ? to_gray_words : to_gray_bytes)(reader, luma, row);
    } else if (reader->simd) {
        to_rgb_simd(reader, frame, luma, y, row);
    } else {
        chroma_row(reader, frame, 1, y, reader->row_u);
        chroma_row(reader, frame, 2, y, reader->row_v);
        (bytes == 2 ? to_rgb_words : to_rgb_bytes)(reader, luma, row);
    }
}

void gf_yuv_reader_row(struct gf_yuv_reader *reader, const unsigned char *frame, int y, void *row)
{
    const struct gf_yuv_planes *const planes = &reader->planes;
    const size_t bytes = planes->sample_bytes, chroma = planes->chroma_width * bytes;
    const struct gf_yuv_frame own = {
        {frame, frame + planes->first[1] * bytes, frame + planes->first[2] * bytes},
        {(size_t)reader->yuv.width * bytes, chroma, chroma}};
    gf_yuv_reader_planes_row(reader, &own, y, row);
}

/* Gray or RGB to frames of YCbCr. Chroma is computed for each pixel, and is then averaged over the
 * pixels around the place of its sample. */

struct gf_yuv_writer {
    struct gf_yuv yuv;
    struct gf_yuv_planes planes;
    int channels, bits;
    struct gf_yuv_from_rgb from_rgb;
    float *full[2]; /* the chroma of each pixel of the present row, with one more at each end */
    float *narrow[2][3]; /* the chroma of the last three rows, averaged across */
    bool simd;
    struct gf_yuv_orders orders; /* the permutations by which vectors arrange the bytes of pixels */
};

struct gf_yuv_writer *gf_yuv_writer_open(const struct gf_yuv *yuv, int channels, int bits)
{
    const size_t width = (size_t)yuv->width + 3 + GF_YUV_LANES;
    struct gf_yuv_writer *const writer = calloc(1, sizeof *writer);
    float *const rows = malloc(8 * width * sizeof *rows);
    if (!writer || !rows) {
        free(rows);
        free(writer);
        return NULL;
    }
    *writer = (struct gf_yuv_writer){.yuv = *yuv,
                                     .planes = gf_yuv_planes_of(yuv),
                                     .channels = channels,
                                     .bits = bits,
                                     .from_rgb = gf_yuv_from_rgb_of(yuv, channels, bits)};
    for (size_t i = 0; i < 2; i++) {
        writer->full[i] = rows + i * width;
        for (size_t k = 0; k < 3; k++)
            writer->narrow[i][k] = rows + (2 + 3 * i + k) * width;
    }
    writer->simd = yuv->bits == 8 && bits == 8 && channels == 3 && gf_cpu_has(GF_CPU_VBMI);
    if (writer->simd)
        gf_yuv_orders_prepare(&writer->orders);
    return writer;
}

void gf_yuv_writer_close(struct gf_yuv_writer *writer)
{
    if (writer)
        free(writer->full[0]);
    free(writer);
}

GF_INLINE float sample_at(const void *row, size_t index, const int row_bytes)
{
    return row_bytes == 2 ? (float)((const uint16_t *)row)[index]
                          : (float)((const uint8_t *)row)[index];
}

GF_INLINE void put(void *plane, size_t index, int value, const int bytes)
{
    if (bytes == 2)
        ((uint16_t *)plane)[index] = (uint16_t)value;
    else
        ((uint8_t *)plane)[index] = (uint8_t)value;
}

/* The luma and the chroma of each pixel. */

GF_INLINE void from_rgb(const struct gf_yuv_writer *writer, const void *restrict row,
                        void *restrict luma, const int row_bytes, const int bytes)
{
    const struct gf_yuv_from_rgb by = writer->from_rgb;
    float *restrict const to_u = writer->full[0] + 1, *restrict const to_v = writer->full[1] + 1;
    const size_t width = (size_t)writer->yuv.width;
    for (size_t i = 0; i < width; i++) {
        const float red = sample_at(row, 3 * i, row_bytes),
                    green = sample_at(row, 3 * i + 1, row_bytes),
                    blue = sample_at(row, 3 * i + 2, row_bytes);
        put(luma, i, gf_yuv_luma_of(&by, red, green, blue), bytes);
        to_u[i] = gf_yuv_mixed(&by.u, red, green, blue);
        to_v[i] = gf_yuv_mixed(&by.v, red, green, blue);
    }
}

GF_INLINE void from_gray(const struct gf_yuv_writer *writer, const void *restrict row,
                         void *restrict luma, const int row_bytes, const int bytes)
{
    const struct gf_yuv_from_rgb by = writer->from_rgb;
    for (size_t i = 0; i < (size_t)writer->yuv.width; i++)
        put(luma, i, gf_yuv_luma_of_gray(&by, sample_at(row, i, row_bytes)), bytes);
}

#define GF_FROM(name, row_bytes, bytes) \
    GF_TARGET_CLONES static void name(const struct gf_yuv_writer *writer, const void *row, \
                                      void *luma) \
    { \
        if (writer->channels == 1) \
            from_gray(writer, row, luma, row_bytes, bytes); \
        else \
            from_rgb(writer, row, luma, row_bytes, bytes); \
    }
GF_FROM(bytes_of_bytes, 1, 1)
GF_FROM(words_of_bytes, 1, 2)
GF_FROM(bytes_of_words, 2, 1)
GF_FROM(words_of_words, 2, 2)

/* Averaging the chroma of pixels to the samples of the planes of chroma. */

/* Averages the chroma full[-1..2 count] across, to half the width. */
GF_TARGET_CLONES static void narrow_row(const float *restrict full, size_t count,
                                        struct gf_yuv_three weight, float *restrict narrow)
{
    for (size_t k = 0; k < count; k++)
        narrow[k] =
            gf_yuv_average(weight, full[(ptrdiff_t)(2 * k) - 1], full[2 * k], full[2 * k + 1]);
}

/* Averages three rows of chroma, adds the offset, and rounds to samples. */
GF_INLINE void average(const float *restrict above, const float *restrict here,
                       const float *restrict below, struct gf_yuv_three weight, float offset,
                       int most, void *restrict to, size_t count, const int bytes)
{
    for (size_t k = 0; k < count; k++)
        put(to, k, gf_yuv_round(gf_yuv_average(weight, above[k], here[k], below[k]) + offset, most),
            bytes);
}

GF_TARGET_CLONES static void average_bytes(const float *above, const float *here,
                                           const float *below, struct gf_yuv_three weight,
                                           float offset, int most, void *to, size_t count)
{
    average(above, here, below, weight, offset, most, to, count, 1);
}

GF_TARGET_CLONES static void average_words(const float *above, const float *here,
                                           const float *below, struct gf_yuv_three weight,
                                           float offset, int most, void *to, size_t count)
{
    average(above, here, below, weight, offset, most, to, count, 2);
}

/* Averages the chroma of row y across, in both planes. */
static void put_narrow(struct gf_yuv_writer *writer, int index, int y)
{
    const struct gf_yuv *const yuv = &writer->yuv;
    const size_t width = writer->planes.chroma_width;
    float *const full = writer->full[index] + 1, *const narrow = writer->narrow[index][y % 3];
    full[-1] = full[0];
    full[yuv->width] = full[yuv->width - 1];
    if (yuv->half_width) {
        narrow_row(full, width, gf_yuv_columns_under(yuv), narrow);
    } else {
        for (size_t k = 0; k < width; k++)
            narrow[k] = full[k];
    }
}

/* Writes the row of chroma for which row y was the last that it needs, if there is one. */
static void put_chroma(struct gf_yuv_writer *writer, int index, int y, unsigned char *frame)
{
    const struct gf_yuv_planes *const planes = &writer->planes;
    const size_t width = planes->chroma_width, bytes = planes->sample_bytes;
    const float middle = writer->from_rgb.u.offset;
    const int row = writer->yuv.half_height ? y / 2 : y;
    const struct gf_yuv_under under = gf_yuv_under(&writer->yuv, row);
    if (y != under.below)
        return;
    float **const ring = writer->narrow[index], *const above = ring[under.above % 3],
                  *const here = ring[under.here % 3], *const below = ring[under.below % 3];
    unsigned char *const to = frame + (planes->first[1 + index] + (size_t)row * width) * bytes;
    if (writer->simd) {
        const int sum = gf_yuv_columns_weight(gf_yuv_columns_of(&writer->yuv));
        gf_yuv_average_simd(under.weight.before > 0 ? above : NULL, here, below,
                            under.weight.after / (float)sum, middle, width, to);
    } else {
        (bytes == 2 ? average_words : average_bytes)(above, here, below, under.weight, middle,
                                                     writer->from_rgb.most, to, width);
    }
}

void gf_yuv_writer_row(struct gf_yuv_writer *writer, const void *row, int y, unsigned char *frame)
{
    const size_t bytes = writer->planes.sample_bytes, width = (size_t)writer->yuv.width;
    unsigned char *const luma = frame + (size_t)y * width * bytes;
    if (writer->simd)
        gf_yuv_from_rgb_simd(&writer->from_rgb, &writer->orders, gf_yuv_columns_of(&writer->yuv),
                             row, width, luma, writer->narrow[0][y % 3], writer->narrow[1][y % 3]);
    else if (writer->bits == 8)
        (bytes == 2 ? words_of_bytes : bytes_of_bytes)(writer, row, luma);
    else
        (bytes == 2 ? words_of_words : bytes_of_words)(writer, row, luma);
    if (writer->yuv.mono)
        return;
    for (int index = 0; index < 2; index++) {
        for (size_t k = 0; writer->channels == 1 && !y && k < width; k++)
            writer->full[index][k + 1] = 0;
        if (!writer->simd)
            put_narrow(writer, index, y);
        put_chroma(writer, index, y, frame);
    }
}
