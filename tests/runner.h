/* Runs a picture through a chain by the scheduler. The test sets what must not change the result:
 * the backend, the lanes, the rows of a band, whether the picture streams in and out, the padding
 * between rows. */
#pragma once

#include <stdatomic.h>
#include <unistd.h>

#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/common/rows/source.h"
#include "engine/engine.h"
#include "fake_device.h"

/* ---- a codec that is a picture in memory ---- */

struct memory_source {
    struct gf_source base;
    const struct gf_image *image;
    int row;
    int fail_at; /* reading this row fails; -1: none */
    bool fail_finish;
    atomic_int finished;
};

static inline enum gf_status memory_read(struct gf_source *source, int rows, unsigned char *dst,
                                         size_t pitch, struct gf_error *error)
{
    struct memory_source *const memory = (struct memory_source *)source;
    const struct gf_image *const image = memory->image;
    for (int i = 0; i < rows; i++, memory->row++) {
        if (memory->row == memory->fail_at)
            return gf_fail(error, GF_ERROR_INPUT, "in.png: truncated after row %d of %d",
                           memory->row, image->format.height);
        if (memory->row >= image->format.height)
            return gf_fail(error, GF_ERROR_INPUT, "the scheduler read past the last row");
        memcpy(dst + (size_t)i * pitch, image->data + (size_t)memory->row * image->pitch,
               gf_row_bytes(image->format));
    }
    return GF_OK;
}

static inline enum gf_status memory_finish(struct gf_source *source, struct gf_error *error)
{
    struct memory_source *const memory = (struct memory_source *)source;
    memory->finished++;
    if (memory->fail_finish)
        usleep(20000); /* the last band may be written by then */
    if (memory->row != memory->image->format.height)
        return gf_fail(error, GF_ERROR_INPUT, "only %d rows were read", memory->row);
    return memory->fail_finish ? gf_fail(error, GF_ERROR_INPUT, "in.png: bad checksum") : GF_OK;
}

static inline struct memory_source memory_source(const struct gf_image *image)
{
    return (struct memory_source){
        .base = {.format = image->format, .read = memory_read, .finish = memory_finish},
        .image = image,
        .fail_at = -1};
}

struct memory_sink {
    struct gf_sink base;
    const struct gf_image *image;
    int row;
    int fail_at; /* writing this row fails; -1: none */
    int finished;
};

static inline enum gf_status memory_write(struct gf_sink *sink, int rows, const unsigned char *src,
                                          size_t pitch, struct gf_error *error)
{
    struct memory_sink *const memory = (struct memory_sink *)sink;
    const struct gf_image *const image = memory->image;
    for (int i = 0; i < rows; i++, memory->row++) {
        if (memory->row == memory->fail_at)
            return gf_fail(error, GF_ERROR_OUTPUT, "out.png: no space left on device");
        if (memory->row >= image->format.height)
            return gf_fail(error, GF_ERROR_OUTPUT, "the scheduler wrote past the last row");
        memcpy(image->data + (size_t)memory->row * image->pitch, src + (size_t)i * pitch,
               gf_row_bytes(image->format));
    }
    return GF_OK;
}

static inline enum gf_status memory_sink_finish(struct gf_sink *sink, struct gf_error *error)
{
    struct memory_sink *const memory = (struct memory_sink *)sink;
    memory->finished++;
    return GF_OK;
}

static inline struct memory_sink memory_sink(const struct gf_image *image)
{
    return (struct memory_sink){.base = {.write = memory_write, .finish = memory_sink_finish},
                                .image = image,
                                .fail_at = -1};
}

/* ---- a run ---- */

struct way {
    const char *name;
    struct fake_device *device; /* NULL: the CPU backend */
    int lanes;
    int band_rows; /* 0: chosen */
    bool streams_in, streams_out;
    bool on_device;        /* both pictures are in the device's memory, as from a codec there */
    size_t padding;        /* of pictures in memory */
    uint64_t memory_bytes; /* a limit; 0: plenty */
    int source_fails_at, sink_fails_at; /* row + 1; 0: they do not */
    bool finish_fails, no_fuse;
    int orientation;        /* EXIF's; 0: none */
    struct gf_spans *spans; /* NULL: none kept */
    /* Results. */
    int sink_finished, rows_written, first_band_rows;
};

/* The format of the chain's result; false where it has none (a crop larger than the picture). */
static inline bool chain_format(const char *text, struct gf_format in, int orientation,
                                struct gf_format *out)
{
    struct gf_error error = {0};
    struct gf_chain chain;
    struct gf_plan plan;
    assert_ok(text, gf_chain_parse(text, &chain, &error), &error);
    const bool fits =
        gf_plan_make(&chain, in, orientation ? orientation : 1, &plan, &error) == GF_OK;
    if (fits) {
        *out = plan.out;
        gf_plan_free(&plan);
    }
    gf_chain_free(&chain);
    return fits;
}

static inline struct gf_image image_on_device(struct gf_backend *backend, struct gf_format format)
{
    struct gf_image image = {.format = format, .pitch = (gf_row_bytes(format) + 15) / 16 * 16};
    image.data = backend->calls->alloc(backend, image.pitch * (size_t)format.height);
    assert_non_null(image.data);
    return image;
}

static inline void copy_image(const struct gf_image *from, const struct gf_image *to)
{
    for (int y = 0; y < from->format.height; y++)
        memcpy(to->data + (size_t)y * to->pitch, from->data + (size_t)y * from->pitch,
               gf_row_bytes(from->format));
}

/* A fake device's memory is host memory. */
static inline enum gf_status run_on_device(struct gf_schedule *run, struct gf_error *error)
{
    const struct gf_image *const input = run->image_in, *const output = run->image_out;
    enum gf_status status = run->backend->calls->ready(run->backend, error);
    struct gf_image in = image_on_device(run->backend, input->format);
    struct gf_image out = image_on_device(run->backend, output->format);
    copy_image(input, &in);
    run->image_in = &in;
    run->image_out = &out;
    run->in_on_device = run->out_on_device = true;
    if (!status)
        status = gf_schedule_plan(run, error);
    copy_image(&out, output);
    run->backend->calls->release(run->backend, in.data, in.pitch * (size_t)in.format.height);
    run->backend->calls->release(run->backend, out.data, out.pitch * (size_t)out.format.height);
    return status;
}

static inline enum gf_status run_plan(struct gf_plan *plan, struct way *way,
                                      const struct gf_image *input, const struct gf_image *output,
                                      struct gf_error *error)
{
    struct gf_backend *backend = way->device ? &way->device->base : NULL;
    struct gf_options options = gf_options_default();
    struct gf_spans spans;
    struct memory_source source = memory_source(input);
    struct memory_sink sink = memory_sink(output);
    source.fail_at = way->source_fails_at - 1;
    source.fail_finish = way->finish_fails;
    sink.fail_at = way->sink_fails_at - 1;
    options.memory_bytes = way->memory_bytes ? way->memory_bytes : 1 << 30;
    options.no_fuse = way->no_fuse;
    gf_spans_init(&spans);
    if (!backend)
        assert_ok(way->name, gf_backend_cpu_open(way->lanes, &backend, error), error);
    struct gf_schedule run = {.plan = plan,
                              .backend = backend,
                              .options = &options,
                              .memory_is_limit = way->memory_bytes != 0,
                              .spans = way->spans ? way->spans : &spans,
                              .lanes = way->lanes,
                              .band_rows = way->band_rows,
                              .source = way->streams_in ? &source.base : NULL,
                              .sink = way->streams_out ? &sink.base : NULL,
                              .image_in = way->streams_in ? NULL : input,
                              .image_out = way->streams_out ? NULL : output};
    const enum gf_status status =
        way->on_device ? run_on_device(&run, error) : gf_schedule_plan(&run, error);
    backend->calls->close(backend);
    way->sink_finished = sink.finished;
    way->rows_written = sink.row;
    way->first_band_rows = run.first_band_rows;
    return status;
}

/* Runs the chain on the picture. The caller frees *output, even after a failure. */
static inline enum gf_status run_way(const char *text, struct way *way,
                                     const struct gf_image *input, struct gf_image *output,
                                     struct gf_error *error)
{
    struct gf_chain chain;
    struct gf_plan plan;
    struct gf_image in = picture_new(input->format, way->padding);
    for (int y = 0; y < in.format.height; y++)
        memcpy(in.data + (size_t)y * in.pitch, input->data + (size_t)y * input->pitch,
               gf_row_bytes(in.format));
    assert_ok(text, gf_chain_parse(text, &chain, error), error);
    assert_ok(
        text,
        gf_plan_make(&chain, in.format, way->orientation ? way->orientation : 1, &plan, error),
        error);
    *output = picture_new(plan.out, way->padding);
    const enum gf_status status = run_plan(&plan, way, &in, output, error);
    gf_plan_free(&plan);
    gf_chain_free(&chain);
    if (!guards_intact(&in))
        fail_msg("%s, %s: the input picture was written to", text, way->name);
    picture_free(&in);
    if (way->device)
        fake_assert_clean(text, way->device);
    return status;
}

/* The expected result: by one band on one lane of the CPU, from memory to memory. */
static inline struct gf_image reference(const char *text, const struct gf_image *input,
                                        int orientation)
{
    struct way way = {
        .name = "one band", .lanes = 1, .band_rows = 1 << 30, .orientation = orientation};
    struct gf_error error = {0};
    struct gf_image output;
    assert_ok(text, run_way(text, &way, input, &output, &error), &error);
    return output;
}

static inline void assert_way(const char *text, struct way way, const struct gf_image *input,
                              const struct gf_image *expected)
{
    struct gf_error error = {0};
    struct gf_image output;
    char label[300];
    snprintf(label, sizeof label, "%s, %s (%dx%dx%d, %d bits)", text, way.name, input->format.width,
             input->format.height, input->format.channels, input->format.bits);
    assert_ok(label, run_way(text, &way, input, &output, &error), &error);
    assert_same(label, &output, expected);
    picture_free(&output);
}
