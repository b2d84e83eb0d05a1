/* Pictures with which a PNG coder has unlike work: what they show is made from a number. */
#pragma once

#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/io/output.h"
#include "support.h"

enum png_content {
    PNG_NOISE, /* is stored */
    PNG_FLAT,
    PNG_BLACK,   /* one match, longer than a tile of cells */
    PNG_DRAWING, /* what repeats, near and far */
    PNG_GRADIENT,
    PNG_FEW,    /* few bytes, so that codes are short */
    PNG_RUNS,   /* of many lengths */
    PNG_UNLIKE, /* bytes of very unlike counts, so that codes reach the limit of their lengths */
    PNG_PHOTOGRAPH,
    PNG_TILES, /* what repeats, and has no runs */
    PNG_LINES, /* slanted ones and curves, with shades; long runs between */
    PNG_CONTENTS
};

/* A sample, of 16 bits. */
static inline int png_sample(enum png_content content, int x, int y, int c, uint64_t *random)
{
    const int shade = (x * (3 + c) + y * 5) % 511, wave = shade < 256 ? shade : 511 - shade;
    switch (content) {
    case PNG_NOISE:
        return random_below(random, 65536);
    case PNG_FLAT:
        return 257 * 77 * (c % 3 + 1);
    case PNG_BLACK:
        return 0;
    case PNG_DRAWING:
        return (x / 7 + y / 5) % 4 || x % 19 > 11 ? 65535 : 257 * (x % 13 + c);
    case PNG_TILES:
        return (int)((unsigned)(x % 37 * 7919 + y % 9 * 104729 + c * 613) * 2654435761u >> 16);
    case PNG_LINES:
        return (x * 4 + y * 3 + (x > 150) * x * y) % 997 < 40 ? (x * 4 + y * 3) % 997 * 1600
                                                              : 65535;
    case PNG_GRADIENT:
        return wave * 257;
    case PNG_FEW:
        return random_below(random, 8) ? 0 : 257;
    case PNG_RUNS:
        return random_below(random, 150) ? (x / 300 + y / 9) % 7 * 4369
                                         : random_below(random, 65536);
    case PNG_UNLIKE:
        return 257 * (__builtin_ctz((unsigned)random_below(random, 1 << 20) | 1 << 20) * 11);
    default:
        return (wave * 7 / 8 + random_below(random, 30)) * 250;
    }
}

static inline struct gf_image png_picture(struct gf_format format, enum png_content content,
                                          uint64_t seed)
{
    struct gf_image image = picture_new(format, 0);
    for (int y = 0; y < format.height; y++) {
        for (int x = 0; x < format.width; x++) {
            for (int c = 0; c < format.channels; c++)
                sample_set(&image, x, y, c,
                           png_sample(content, x, y, c, &seed) >> (16 - format.bits));
        }
    }
    return image;
}

/* The file that one thread of the CPU writes at level 1; gf_free() it. */
static inline unsigned char *png_encoded(const struct gf_image *image, size_t *size)
{
    struct gf_options options = gf_options_default();
    const struct gf_metadata metadata = {.orientation = 1};
    struct gf_output *output;
    struct gf_sink *sink;
    struct gf_error error = {0};
    options.png_level = 1;
    options.threads = 1;
    assert_ok("output", gf_output_open_memory("picture", &output, &error), &error);
    assert_ok("sink",
              gf_sink_open(output, GF_FILE_PNG, image->format, &metadata, &options, &sink, &error),
              &error);
    assert_ok("write", sink->write(sink, image->format.height, image->data, image->pitch, &error),
              &error);
    assert_ok("finish", sink->finish(sink, &error), &error);
    sink->close(sink);
    assert_ok("commit", gf_output_commit(output, &error), &error);
    unsigned char *const file = gf_output_take(output, size);
    gf_output_close(output);
    return file;
}

/* The chunks of the file from the first IDAT to the last. */
static inline const unsigned char *png_chunks(const unsigned char *file, size_t file_size,
                                              size_t *size)
{
    enum { SIGNATURE = 8, FRAME = 12 /* bytes of a chunk around its data */ };
    size_t at = SIGNATURE;
    while (memcmp(file + at + 4, "IDAT", 4))
        at += FRAME + ((size_t)file[at] << 24 | (size_t)file[at + 1] << 16 |
                       (size_t)file[at + 2] << 8 | file[at + 3]);
    *size = file_size - FRAME - at;
    return file + at;
}
