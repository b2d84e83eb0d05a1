/* What the tests share: pictures of noise and shades with guard bytes around them, comparing, and
 * reading the goldens. All static inline: each test is one file. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "gpufilter/gpufilter.h"
#include "needs_study.h"
#include "stage/stage.h"
#include "text/text.h"

enum { GUARD_BYTES = 64, GUARD_BYTE = 0xA5 };

/* splitmix64, as published by Sebastiano Vigna (public domain algorithm). */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t z = (*state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static inline int random_below(uint64_t *state, int bound)
{
    return (int)(random_next(state) % (uint64_t)bound);
}

/* ---- pictures ---- */

static inline struct gf_format format_of(int width, int height, int channels, int bits)
{
    return (struct gf_format){.width = width, .height = height, .channels = channels, .bits = bits};
}

static inline size_t picture_bytes(const struct gf_image *image)
{
    return image->pitch * (size_t)image->format.height;
}

/* A picture with guard bytes before, behind and, `padding` of them, between its rows. */
static inline struct gf_image picture_new(struct gf_format format, size_t padding)
{
    struct gf_image image = {.format = format, .pitch = gf_row_bytes(format) + padding};
    unsigned char *const block = malloc(picture_bytes(&image) + 2 * GUARD_BYTES);
    assert_non_null(block);
    memset(block, GUARD_BYTE, picture_bytes(&image) + 2 * GUARD_BYTES);
    image.data = block + GUARD_BYTES;
    return image;
}

static inline void picture_free(struct gf_image *image)
{
    if (image->data)
        free(image->data - GUARD_BYTES);
    image->data = NULL;
}

static inline bool guards_intact(const struct gf_image *image)
{
    const size_t row_bytes = gf_row_bytes(image->format), bytes = picture_bytes(image);
    for (size_t i = 0; i < GUARD_BYTES; i++) {
        if (image->data[-1 - (ptrdiff_t)i] != GUARD_BYTE || image->data[bytes + i] != GUARD_BYTE)
            return false;
    }
    for (int y = 0; y < image->format.height; y++) {
        for (size_t i = row_bytes; i < image->pitch; i++) {
            if (image->data[(size_t)y * image->pitch + i] != GUARD_BYTE)
                return false;
        }
    }
    return true;
}

static inline int sample_at(const struct gf_image *image, int x, int y, int channel)
{
    const size_t index = (size_t)x * (size_t)image->format.channels + (size_t)channel;
    const unsigned char *const row = image->data + (size_t)y * image->pitch;
    uint16_t wide;
    if (image->format.bits == 8)
        return row[index];
    memcpy(&wide, row + 2 * index, sizeof wide);
    return wide;
}

static inline void sample_set(const struct gf_image *image, int x, int y, int channel, int value)
{
    const size_t index = (size_t)x * (size_t)image->format.channels + (size_t)channel;
    unsigned char *const row = image->data + (size_t)y * image->pitch;
    const uint16_t wide = (uint16_t)value;
    if (image->format.bits == 8)
        row[index] = (unsigned char)value;
    else
        memcpy(row + 2 * index, &wide, sizeof wide);
}

/* Shades with noise, so that histograms are uneven; alpha with stretches of 0 and of full cover. */
static inline void picture_fill(const struct gf_image *image, uint64_t seed)
{
    const struct gf_format f = image->format;
    const int most = (1 << f.bits) - 1;
    for (int y = 0; y < f.height; y++) {
        for (int x = 0; x < f.width; x++) {
            for (int c = 0; c < f.channels; c++) {
                const int shade =
                    (most / 4 * 3) * (x + (c + 1) * y) / (f.width + (c + 1) * f.height);
                int v = shade + random_below(&seed, most / 4 + 1);
                if (random_below(&seed, 16) == 0)
                    v = random_below(&seed, 2) * most;
                if (gf_has_alpha(f) && c == f.channels - 1 && random_below(&seed, 3) == 0)
                    v = (x / 5 + y / 3) % 2 ? most : 0;
                sample_set(image, x, y, c, v);
            }
        }
    }
}

static inline struct gf_image picture_random(struct gf_format format, size_t padding, uint64_t seed)
{
    const struct gf_image image = picture_new(format, padding);
    picture_fill(&image, seed);
    return image;
}

/* ---- comparing ---- */

struct difference {
    int most;          /* largest, in steps */
    int x, y, channel; /* where */
    long over_one;     /* samples more than one step apart */
    long samples;
};

static inline bool same_format(struct gf_format a, struct gf_format b)
{
    return a.width == b.width && a.height == b.height && a.channels == b.channels &&
           a.bits == b.bits;
}

static inline struct difference compare(const struct gf_image *a, const struct gf_image *b)
{
    struct difference d = {0};
    for (int y = 0; y < a->format.height; y++) {
        for (int x = 0; x < a->format.width; x++) {
            for (int c = 0; c < a->format.channels; c++) {
                const int no_fuse = abs(sample_at(a, x, y, c) - sample_at(b, x, y, c));
                d.over_one += no_fuse > 1;
                d.samples++;
                if (no_fuse > d.most) {
                    d.most = no_fuse;
                    d.x = x;
                    d.y = y;
                    d.channel = c;
                }
            }
        }
    }
    return d;
}

/* Bit for bit, with the guards of `is` untouched. */
static inline void assert_same(const char *label, const struct gf_image *is,
                               const struct gf_image *expected)
{
    if (!same_format(is->format, expected->format))
        fail_msg("%s: %dx%dx%d of %d bits instead of %dx%dx%d of %d", label, is->format.width,
                 is->format.height, is->format.channels, is->format.bits, expected->format.width,
                 expected->format.height, expected->format.channels, expected->format.bits);
    const struct difference d = compare(is, expected);
    if (d.most)
        fail_msg("%s: %d instead of %d at %d,%d channel %d (%dx%dx%d, %d bits)", label,
                 sample_at(is, d.x, d.y, d.channel), sample_at(expected, d.x, d.y, d.channel), d.x,
                 d.y, d.channel, is->format.width, is->format.height, is->format.channels,
                 is->format.bits);
    if (!guards_intact(is))
        fail_msg("%s: bytes outside the rows were written (%dx%dx%d, %d bits)", label,
                 is->format.width, is->format.height, is->format.channels, is->format.bits);
}

static inline void assert_ok(const char *label, enum gf_status status, const struct gf_error *error)
{
    if (status)
        fail_msg("%s: %s: %s", label, gf_status_name(status), error->text);
}

/* What a pipeline makes of the picture: a new one. The chain must know its size before it runs. */
static inline enum gf_status pipeline_result(const char *chain, const struct gf_options *options,
                                             const struct gf_image *in, struct gf_image *out,
                                             struct gf_error *error)
{
    struct gf_pipeline *pipeline = NULL;
    struct gf_format format;
    enum gf_status status = gf_pipeline_open(chain, options, &pipeline, error);
    *out = (struct gf_image){0};
    if (!status)
        status = gf_pipeline_format(pipeline, in->format, &format, error);
    if (!status) {
        *out = picture_new(format, 4);
        status = gf_pipeline_run_image(pipeline, in, out, error);
    }
    gf_pipeline_close(pipeline);
    return status;
}

/* On the CPU, without an error. */
static inline struct gf_image cpu_result(const char *chain, const struct gf_image *in,
                                         int band_rows)
{
    struct gf_options options = gf_options_default();
    struct gf_image out;
    struct gf_error error = {0};
    options.device = GF_DEVICE_CPU;
    options.band_rows = band_rows;
    assert_ok(chain, pipeline_result(chain, &options, in, &out, &error), &error);
    return out;
}

/* ---- all filters ---- */

/* A chain of that filter alone with its defaults, and with values for what has none: a matrix, or
 * the first two lengths. */
static inline const char *default_chain(const struct gf_filter *filter, char *text, size_t size)
{
    int lengths = 0;
    char separator = '=';
    snprintf(text, size, "%s", filter->name);
    for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
        const char *value = NULL;
        if (param->type == GF_TYPE_MATRIX && param->required)
            value = param->choices ? param->choices[0] : "1 2 0/0 4 -1/-2 0 5";
        else if (param->type == GF_TYPE_LENGTH && lengths++ < 2)
            value = lengths == 1 ? "60%" : "70%";
        if (!value)
            continue;
        const size_t length = strlen(text);
        snprintf(text + length, size - length, "%c%s=%s", separator, param->name, value);
        separator = ':';
    }
    return text;
}

/* Calls use(chain) for the default chain of every filter, and again with every choice of every
 * parameter: with OpenCV beside a kernel that it has. */
static inline void each_filter_chain(void (*use)(const char *chain, void *context), void *context)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        char base[200], chain[400];
        struct gf_error missing;
        if (!strcmp(gf_filter_name(filter), "text") && gf_text_available(&missing))
            continue;
        use(default_chain(filter, base, sizeof base), context);
        for (const struct gf_param *param = gf_filter_params(filter); param->name; param++) {
            if (param->type != GF_TYPE_CHOICE && param->type != GF_TYPE_WORD &&
                param->type != GF_TYPE_MATRIX)
                continue;
            for (int c = 0; param->choices && param->choices[c]; c++) {
                if (strstr(base, param->name))
                    snprintf(chain, sizeof chain, "%s=%s=%s", filter->name, param->name,
                             param->choices[c]);
                else
                    snprintf(chain, sizeof chain, "%s%c%s=%s", base, strchr(base, '=') ? ':' : '=',
                             param->name, param->choices[c]);
                if (!strcmp(param->choices[c], "opencv") || !strcmp(param->choices[c], "cv2"))
                    strcat(chain, ":kernel=area");
                use(chain, context);
            }
        }
    }
}

/* ---- netpbm ---- */

static inline int netpbm_number(FILE *file)
{
    int c = getc(file), value = 0;
    while (c == ' ' || c == '\n')
        c = getc(file);
    for (; c >= '0' && c <= '9'; c = getc(file))
        value = 10 * value + c - '0';
    return value;
}

static inline int netpbm_field(FILE *file, const char *name)
{
    char word[16] = "";
    if (fscanf(file, "%15s", word) != 1 || strcmp(word, name))
        fail_msg("a golden's header lacks %s", name);
    return netpbm_number(file);
}

/* P5, P6 and P7 as make.py writes them. */
static inline struct gf_image netpbm_read(const char *path)
{
    FILE *const file = fopen(path, "rb");
    if (!file)
        fail_msg("%s: cannot open it", path);
    struct gf_format format = {0};
    assert_int_equal(getc(file), 'P');
    const int kind = getc(file);
    int most;
    if (kind == '7') {
        format.width = netpbm_field(file, "WIDTH");
        format.height = netpbm_field(file, "HEIGHT");
        format.channels = netpbm_field(file, "DEPTH");
        most = netpbm_field(file, "MAXVAL");
        while (getc(file) != 'R' || getc(file) != '\n') /* ENDHDR */
            assert_false(feof(file));
    } else {
        format.channels = kind == '6' ? 3 : 1;
        format.width = netpbm_number(file);
        format.height = netpbm_number(file);
        most = netpbm_number(file);
    }
    format.bits = most > 255 ? 16 : 8;
    const struct gf_image image = picture_new(format, 0);
    assert_int_equal(fread(image.data, 1, picture_bytes(&image), file), picture_bytes(&image));
    fclose(file);
    for (size_t i = 0; format.bits == 16 && i < picture_bytes(&image); i += 2) {
        const uint16_t value = (uint16_t)(image.data[i] << 8 | image.data[i + 1]);
        memcpy(image.data + i, &value, sizeof value);
    }
    return image;
}

/* Writes the first `bytes` bytes of the picture, RGB of 8 bits, behind a whole header. */
static inline void write_ppm(const char *path, const struct gf_image *image, size_t bytes)
{
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P6\n%d %d\n255\n", image->format.width, image->format.height);
    assert_int_equal(fwrite(image->data, 1, bytes, file), bytes);
    assert_int_equal(fclose(file), 0);
}

/* Writes noise as PAM, which holds every format; returns the path. */
static inline const char *write_pam(const char *path, struct gf_format format, uint64_t seed)
{
    struct gf_image image = picture_random(format, 0, seed);
    FILE *const file = fopen(path, "wb");
    assert_non_null(file);
    fprintf(file, "P7\nWIDTH %d\nHEIGHT %d\nDEPTH %d\nMAXVAL %d\nENDHDR\n", format.width,
            format.height, format.channels, format.bits == 8 ? 255 : 65535);
    for (int y = 0; y < format.height; y++) {
        for (int i = 0; i < format.width * format.channels; i++) {
            const int v = sample_at(&image, i / format.channels, y, i % format.channels);
            if (format.bits == 16)
                putc(v >> 8, file);
            putc(v & 255, file);
        }
    }
    assert_int_equal(fclose(file), 0);
    picture_free(&image);
    return path;
}

/* `count`, or `small` where GF_TEST_SMALL is set: on an emulated device or processor, which is
 * slow, and with sanitizers, which find faults by the shape of a case rather than by many. */
static inline int unless_small(int count, int small)
{
    return getenv("GF_TEST_SMALL") ? small : count;
}
