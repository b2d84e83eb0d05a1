/* Pictures of floats for tests of filters, and chains run on them. */
#pragma once

#include "support.h"

#include "pixel/float_rows.h"

static struct gf_error error;

enum { WIDTH = 53, HEIGHT = 41 };

static inline struct gf_format floats_of(int channels, int bits)
{
    return (struct gf_format){.width = WIDTH,
                              .height = HEIGHT,
                              .channels = channels,
                              .bits = bits,
                              .samples = GF_SAMPLES_FLOAT};
}

/* Returns the address of a sample. */
static inline unsigned char *address_of(const struct gf_image *image, int x, int y, int c)
{
    const struct gf_format format = image->format;
    return image->data + (size_t)y * image->pitch +
           (size_t)(x * format.channels + c) * (size_t)(format.bits / 8);
}

static inline float get(const struct gf_image *image, int x, int y, int c)
{
    float v;
    gf_floats_of_row(address_of(image, x, y, c), image->format, 1, &v);
    return v;
}

static inline void put(const struct gf_image *image, int x, int y, int c, float v)
{
    gf_floats_to_row(&v, image->format, 1, address_of(image, x, y, c));
}

/* A slope with noise, -0.5..4, and alpha of 0..1; all numbers are halves. */
static inline struct gf_image make(int channels, int bits)
{
    struct gf_image image;
    uint64_t seed = 7;
    const struct gf_format half = floats_of(1, 16);
    assert_ok("picture", gf_image_alloc(&image, floats_of(channels, bits), &error), &error);
    for (int y = 0; y < HEIGHT; y++) {
        for (int x = 0; x < WIDTH; x++) {
            for (int c = 0; c < channels; c++) {
                const float noise = (float)random_below(&seed, 1000) / 1000;
                const bool alpha = channels % 2 == 0 && c == channels - 1;
                float v = alpha ? 0.2f + 0.8f * noise : 2.5f * noise + (float)(x + y) / 47 - 0.5f;
                uint16_t stored;
                gf_floats_to_row(&v, half, 1, &stored);
                gf_floats_of_row(&stored, half, 1, &v);
                put(&image, x, y, c, v);
            }
        }
    }
    return image;
}

static inline enum gf_status try(const char *chain, const struct gf_image *in, struct gf_image *out)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    options.device = GF_DEVICE_CPU;
    *out = (struct gf_image){.data = NULL};
    enum gf_status status = gf_pipeline_open(chain, &options, &pipeline, &error);
    if (!status)
        status = gf_pipeline_run_image(pipeline, in, out, &error);
    gf_pipeline_close(pipeline);
    return status;
}

static inline struct gf_image run(const char *chain, const struct gf_image *in)
{
    struct gf_image out;
    assert_ok(chain, try(chain, in, &out), &error);
    return out;
}
