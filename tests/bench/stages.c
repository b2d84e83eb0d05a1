#include "stages.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "chain/plan.h"
#include "chain/chain.h"
#include "pixel/histogram/histogram.h"

enum { POISON = 0xa5, OTHER_POISON = 0x5a };

static struct gf_view view_of(const struct pictures *pictures, int turn)
{
    return (struct gf_view){.data = pictures->data[turn],
                            .pitch = pictures->pitch,
                            .format = pictures->format,
                            .rows = pictures->format.height};
}

void bench_free_pictures(struct pictures *pictures)
{
    for (int i = 0; i < BENCH_TURNS; i++)
        bench_free(pictures->data[i]);
    *pictures = (struct pictures){0};
}

bool bench_alloc_pictures(struct pictures *pictures, struct gf_format format)
{
    *pictures = (struct pictures){.format = format, .pitch = (gf_row_bytes(format) + 15) / 16 * 16};
    pictures->bytes = pictures->pitch * (size_t)format.height;
    for (int i = 0; i < BENCH_TURNS; i++)
        pictures->data[i] = bench_alloc(pictures->bytes);
    if (pictures->data[0] && pictures->data[1])
        return true;
    bench_free_pictures(pictures);
    return false;
}

size_t bench_picture_bytes(struct gf_format format)
{
    return gf_row_bytes(format) * (size_t)format.height;
}

bool bench_fail(struct bench_row *row, const char *what, const char *why)
{
    if (!*row->fault)
        snprintf(row->fault, sizeof row->fault, "%.60s%s%.90s", what, *why ? ": " : "", why);
    return false;
}

static void add_step(struct bench_row *row, const char *name, double ms, size_t bytes)
{
    if (row->steps < BENCH_STEPS) {
        struct bench_step *const step = &row->step[row->steps++];
        *step = (struct bench_step){.ms = ms, .bytes = bytes};
        snprintf(step->name, sizeof step->name, "%s", name);
    }
    row->ms += ms;
}

static int launch_counter(void *context, int turn, void *stream)
{
    const struct counting *const call = context;
    const struct gf_view view = view_of(&call->in, turn);
    return call->counter(&view, call->statistic, call->count, call->tables, stream);
}

/* ---- one stage ---- */

static struct gf_launch launch_of(const struct stage_call *call, int turn, void *stream)
{
    return (struct gf_launch){.stage = call->stage,
                              .in = view_of(&call->in, turn),
                              .out = view_of(&call->out, turn),
                              .scratch = call->scratch,
                              .constants = call->constants,
                              .stream = stream,
                              .pictures = call->pictures};
}

static int launch_stage(void *context, int turn, void *stream)
{
    const struct stage_call *const call = context;
    const struct gf_launch launch = launch_of(call, turn, stream);
    return gf_stage_launcher(call->stage)(&launch);
}

/* The stage that makes the picture, which counts it if it can; else the counter does. */
static int launch_statistic(void *context, int turn, void *stream)
{
    const struct counting *const call = context;
    int code = 0;
    if (call->writer_counts) {
        struct gf_launch launch = launch_of(&call->writer, turn, stream);
        launch.statistic = call->statistic;
        launch.count = call->count;
        return call->writer.stage->filter->cuda_counting(&launch);
    }
    if (call->writer.stage)
        code = launch_stage((void *)&call->writer, turn, stream);
    return code ? code : launch_counter(context, turn, stream);
}

static int launch_both(void *context, int turn, void *stream)
{
    const struct stage_call *const call = context;
    const int code = launch_statistic((void *)call->counting, turn, stream);
    return code ? code : launch_stage(context, turn, stream);
}

static bool digest_result(const struct stage_call *call, int turn, struct bench_digest *digest)
{
    return bench_digest(call->out.data[turn], call->out.pitch, gf_row_bytes(call->out.format),
                        call->out.format.height, digest);
}

/* The result of one launch over memory that holds nothing but `poison`. */
static bool poisoned_result(struct stage_call *call, int poison, struct bench_digest *digest,
                            struct bench_row *row)
{
    int code = 0;
    for (int i = 0; i < BENCH_TURNS; i++) {
        if (!bench_fill(call->out.data[i], poison, call->out.bytes))
            return bench_fail(row, "cannot fill memory", "");
    }
    if (!bench_once(launch_stage, call, &code))
        return bench_fail(row, call->stage->filter->name, bench_error_text(code));
    return digest_result(call, 0, digest) ? true : bench_fail(row, "cannot read the result", "");
}

/* Whatever was there before, the result is the same, and it is a picture: all of it was written.
 * Then the time, after which both turns must have the same result still. */
static bool time_stage(struct stage_call *call, struct bench_row *row)
{
    struct bench_digest first, second, after[BENCH_TURNS];
    char name[64];
    int code = 0;
    if (!poisoned_result(call, POISON, &first, row) ||
        !poisoned_result(call, OTHER_POISON, &second, row))
        return false;
    gf_plan_stage_name(call->stage, name, sizeof name);
    if (first.sum != second.sum)
        return bench_fail(row, name, "did not write all of its result");
    if (!first.differing)
        return bench_fail(row, name, "its result is all one value");
    const double ms = bench_time(call->counting ? launch_both : launch_stage, call, &code);
    if (ms < 0)
        return bench_fail(row, name, bench_error_text(code));
    for (int i = 0; i < BENCH_TURNS; i++) {
        if (!digest_result(call, i, &after[i]) || after[i].sum != first.sum)
            return bench_fail(row, name, "its result changed from run to run");
    }
    add_step(row, name, ms - (call->counting ? call->counting->ms : 0),
             bench_picture_bytes(call->stage->in) + bench_picture_bytes(call->stage->out));
    return true;
}

static bool upload_picture(const struct gf_image *image, struct gf_view *view)
{
    const size_t row_bytes = gf_row_bytes(image->format), pitch = (row_bytes + 15) / 16 * 16;
    const size_t rows = (size_t)image->format.height;
    *view = (struct gf_view){.data = bench_alloc(pitch * rows),
                             .pitch = pitch,
                             .format = image->format,
                             .rows = image->format.height};
    bool ok = view->data != NULL;
    for (size_t y = 0; ok && y < rows; y++)
        ok = bench_copy_in(view->data + y * pitch, image->data + y * image->pitch, row_bytes);
    return ok;
}

static bool upload_pictures(struct stage_call *call)
{
    const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
    const int count = gf_stage_pictures(call->stage, list);
    bool ok = true;
    for (int i = 0; ok && i < count; i++)
        ok = upload_picture(&list[i]->image, &call->pictures[i]);
    return ok;
}

static void free_call(struct stage_call *call)
{
    bench_free(call->scratch);
    bench_free(call->constants);
    for (int i = 0; i < GF_STAGE_PICTURES_MAX; i++)
        bench_free(call->pictures[i].data);
    if (!call->keeps_in)
        bench_free_pictures(&call->in);
    *call = (struct stage_call){0};
}

bool bench_run_stage(struct gf_stage *stage, struct pictures *pictures, bool keep,
                     const struct counting *counting, struct counting *next, struct bench_row *row)
{
    struct stage_call call = {
        .stage = stage, .in = *pictures, .keeps_in = keep, .counting = counting};
    struct gf_error error = {0};
    if (!gf_stage_launcher(stage))
        return bench_fail(row, stage->filter->name, "has no kernel");
    if (gf_stage_prepare(stage, &error))
        return bench_fail(row, error.text, "");
    const size_t scratch = gf_stage_cuda_scratch(stage, stage->out.height);
    bool ok = bench_alloc_pictures(&call.out, stage->out);
    if (ok && scratch)
        ok = (call.scratch = bench_alloc(scratch)) != NULL;
    if (ok && stage->constants_size)
        ok = (call.constants = bench_alloc(stage->constants_size)) != NULL &&
             bench_copy_in(call.constants, stage->constants, stage->constants_size);
    ok = ok && upload_pictures(&call);
    ok = ok ? time_stage(&call, row) : bench_fail(row, "out of device memory", "");
    *pictures = call.out;
    call.counting = NULL;
    if (next)
        *next =
            (struct counting){.writer = call, .writer_ms = ok ? row->step[row->steps - 1].ms : 0};
    else
        free_call(&call);
    return ok;
}

/* ---- one histogram ---- */

static bool upload_tables(struct counting *call)
{
    size_t size;
    if (call->statistic != GF_STATISTIC_LIGHTNESS)
        return true;
    void *const tables = gf_lightness_tables(call->in.format.bits, &size);
    call->tables = tables ? bench_alloc(size) : NULL;
    const bool ok = call->tables && bench_copy_in(call->tables, tables, size);
    free(tables);
    return ok;
}

/* Finds out whether the stage that makes the picture counts it, too. It must then make the same
 * picture and the same histogram. */
static bool find_writer(struct counting *call, const struct gf_histogram *histogram, size_t bytes,
                        struct bench_row *row)
{
    struct bench_digest before, after;
    int code = 0;
    if (!call->writer.stage || !call->writer.stage->filter->cuda_counting)
        return true;
    uint64_t *const found = malloc(bytes);
    bool same = found && digest_result(&call->writer, 0, &before) &&
                bench_fill(call->writer.out.data[0], POISON, call->writer.out.bytes) &&
                bench_fill(call->count, 0, bytes);
    call->writer_counts = true;
    call->writer_counts = same && bench_once(launch_statistic, call, &code);
    if (call->writer_counts)
        same = bench_copy_out(found, call->count, bytes) &&
               digest_result(&call->writer, 0, &after) && after.sum == before.sum &&
               (call->extremes || !memcmp(found, histogram->count, bytes));
    free(found);
    return same ? true : bench_fail(row, "the stage before", "counts or writes otherwise");
}

/* One clean histogram, each pixel counted once (there are none of zero alpha here), then the time.
 */
static bool time_statistic(struct counting *call, struct gf_histogram *histogram, size_t bytes,
                           struct bench_row *row)
{
    static const char *const names[GF_STATISTIC_KINDS] = {"", "histogram channel", "histogram luma",
                                                          "histogram joint", "histogram lightness"};
    const char *const name = call->extremes ? "extremes"
                             : gf_statistic_kind(call->statistic) == GF_STATISTIC_TILES
                                 ? "histogram tiles"
                             : call->statistic == GF_STATISTIC_CELLS ? "cells"
                                                                     : names[call->statistic];
    int code = 0;
    if (!bench_fill(call->count, 0, bytes) || !bench_once(launch_counter, call, &code))
        return bench_fail(row, name, bench_error_text(code));
    if (!bench_copy_out(histogram->count, call->count, bytes))
        return bench_fail(row, "cannot read the histogram", "");
    uint64_t total = 0;
    for (size_t i = 0; i < bytes / sizeof *histogram->count; i++)
        total += histogram->count[i];
    const struct gf_format format = call->in.format;
    const uint64_t pixels = (uint64_t)format.width * (uint64_t)format.height;
    const int samples =
        call->statistic == GF_STATISTIC_CHANNELS || call->statistic == GF_STATISTIC_JOINT
            ? gf_colour_channels(format)
            : 1;
    if (call->extremes || call->statistic == GF_STATISTIC_CELLS
            ? !total
            : total != pixels * (uint64_t)samples)
        return bench_fail(row, name, "does not count every pixel once");
    if (!find_writer(call, histogram, bytes, row))
        return false;
    call->ms = bench_time(launch_statistic, call, &code);
    if (call->ms < 0)
        return bench_fail(row, name, bench_error_text(code));
    add_step(row, call->writer_counts ? "counted on the way" : name, call->ms - call->writer_ms,
             call->writer_counts ? 0 : bench_picture_bytes(format));
    return true;
}

bool bench_run_statistic(const struct gf_stage *stage, const struct pictures *pictures,
                         struct gf_histogram *histogram, struct counting *call,
                         struct bench_row *row)
{
    const enum gf_statistic statistic = gf_stage_statistic(stage);
    call->counter = gf_stage_counter(stage);
    call->statistic = statistic;
    call->extremes = gf_stage_marks_extremes(stage);
    call->in = *pictures;
    *histogram =
        (struct gf_histogram){.channels = gf_statistic_channels(statistic, pictures->format),
                              .bins = 1 << pictures->format.bits};
    const size_t bytes =
        (size_t)histogram->channels * (size_t)histogram->bins * sizeof *histogram->count;
    histogram->count = malloc(bytes);
    call->count = bench_alloc(bytes);
    return histogram->count && call->count && upload_tables(call)
               ? time_statistic(call, histogram, bytes, row)
               : bench_fail(row, "out of memory", "");
}

void bench_free_counting(struct counting *counting)
{
    bench_free(counting->count);
    bench_free(counting->tables);
    free_call(&counting->writer);
    *counting = (struct counting){0};
}
