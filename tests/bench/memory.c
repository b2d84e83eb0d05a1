/* The pipeline from memory to memory, against the copies over the bus alone. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "gpufilter/gpufilter.h"
#include "results.h"

enum { WARM_UP = 2, RUNS = 9, POISON = 0xa5 };

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *value, int count)
{
    qsort(value, (size_t)count, sizeof *value, by_value);
    return value[count / 2];
}

static double now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e3 * (double)now.tv_sec + 1e-6 * (double)now.tv_nsec;
}

/* From the first upload's beginning to the last download's end. */
static double transfer_ms(const struct gf_profile *profile)
{
    double begin_s = INFINITY, end_s = 0;
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (span->kind == GF_SPAN_UPLOAD && span->begin_s < begin_s)
            begin_s = span->begin_s;
        if (span->kind == GF_SPAN_DOWNLOAD && span->end_s > end_s)
            end_s = span->end_s;
    }
    return end_s > begin_s ? 1e3 * (end_s - begin_s) : -1;
}

/* Whether some of the poison was left: a picture has a byte of that value now and then, not often.
 */
static bool plausible(const struct gf_image *image)
{
    const size_t bytes = image->pitch * (size_t)image->format.height;
    size_t poisoned = 0;
    for (size_t i = 0; i < bytes; i++)
        poisoned += image->data[i] == POISON;
    return poisoned < bytes / 8;
}

/* Without a profile the whole call counts: nothing on the device is timed, as in a user's run. */
static enum gf_status run_pipeline(struct gf_pipeline *pipeline, bool profiled,
                                   const struct gf_image *in, struct gf_image *out,
                                   struct bench_run *run, struct gf_error *error)
{
    double ms[RUNS], wall_ms[RUNS];
    enum gf_status status = GF_OK;
    memset(out->data, POISON, out->pitch * (size_t)out->format.height);
    for (int i = -WARM_UP; !status && i < RUNS; i++) {
        const double begin_ms = now_ms();
        status = gf_pipeline_run_image(pipeline, in, out, error);
        const double call_ms = now_ms() - begin_ms;
        const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
        if (status || i < 0)
            continue;
        ms[i] = profiled ? transfer_ms(profile) : call_ms;
        wall_ms[i] = call_ms;
        run->lanes = profile->lanes;
        run->band_rows = profile->band_rows;
    }
    if (status)
        return status;
    run->ms = median(ms, RUNS);
    run->wall_ms = median(wall_ms, RUNS);
    if (run->ms < 0)
        return gf_fail(error, GF_ERROR_DEVICE, "the profile has no transfers");
    return plausible(out) ? GF_OK : gf_fail(error, GF_ERROR_DEVICE, "the result was not written");
}

/* Milliseconds from the first upload to the last download, or of the call; negative where it
 * failed. */
static double run_timed(struct bench_report *report, const char *chain, bool profiled, int lanes,
                        int rows, const char *note, const struct gf_image *in, struct gf_image *out)
{
    struct gf_options options = gf_options_default();
    struct gf_pipeline *pipeline = NULL;
    struct gf_error error = {0};
    if (report->runs == BENCH_RUNS)
        return -1;
    struct bench_run *const run = &report->run[report->runs++];
    *run = (struct bench_run){.lanes = lanes, .band_rows = rows};
    snprintf(run->chain, sizeof run->chain, "%s", chain);
    snprintf(run->note, sizeof run->note, "%s", note);
    options.device = GF_DEVICE_CUDA;
    options.lanes = lanes;
    options.band_rows = rows;
    options.profile = profiled;
    enum gf_status status = gf_pipeline_open(chain, &options, &pipeline, &error);
    struct gf_image result = *out; /* of the same bytes, whatever the shape */
    if (!status)
        status = gf_pipeline_format(pipeline, in->format, &result.format, &error);
    result.pitch = gf_row_bytes(result.format);
    if (!status)
        status = run_pipeline(pipeline, profiled, in, &result, run, &error);
    if (status)
        snprintf(run->fault, sizeof run->fault, "%.150s", error.text);
    gf_pipeline_close(pipeline);
    report_run(report, run);
    return status ? -1 : run->ms;
}

static double run_chain(struct bench_report *report, const char *chain, int lanes, int rows,
                        const char *note, const struct gf_image *in, struct gf_image *out)
{
    return run_timed(report, chain, true, lanes, rows, note, in, out);
}

/* The whole frame over the bus, pinned, by itself. */
static bool measure_bus(struct bench_report *report, const struct gf_image *in,
                        struct gf_image *out)
{
    const size_t bytes = gf_row_bytes(in->format) * (size_t)in->format.height;
    unsigned char *const device = bench_alloc(bytes), *const back = bench_alloc(bytes);
    struct bench_copy up = {.bytes = bytes}, down = {.bytes = bytes};
    for (int i = 0; i < BENCH_TURNS; i++) {
        up.src[i] = in->data;
        up.dst[i] = device;
        up.back_src[i] = down.src[i] = back;
        up.back_dst[i] = down.dst[i] = out->data;
    }
    int code = 0;
    if (device && back) {
        report->up_ms = bench_time(bench_copy_up, &up, &code);
        report->down_ms = bench_time(bench_copy_down, &down, &code);
        report->both_ms = bench_time(bench_copy_both, &up, &code);
    }
    bench_free(device);
    bench_free(back);
    return report->up_ms > 0 && report->down_ms > 0;
}

/* Pinned by the caller already, once for many runs: what the call itself takes. */
static void run_pinned(struct bench_report *report, const struct gf_image *in, struct gf_image *out)
{
    static const char *const chains[] = {"blur=2", "blur=2,equalize"};
    static const int rows[] = {135, 180, 360, 540};
    double ms[2];
    for (int i = 0; i < 2; i++) {
        run_chain(report, chains[i], 0, 0, "pinned before", in, out);
        ms[i] = run_timed(report, chains[i], false, 0, 0, "pinned, no profile", in, out);
    }
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        run_timed(report, chains[0], false, 0, rows[k], "pinned, no profile", in, out);
    report_add_bar(report, "blur=2, memory to memory: 1.32 x upload", 1.32 * report->up_ms, ms[0],
                   "ms");
    report_add_bar(report, "blur=2,equalize, memory to memory: 1.15 x (up+down)",
                   1.15 * (report->up_ms + report->down_ms), ms[1], "ms");
}

/* The chains of the bars with everything chosen by the program, then what else could be chosen. */
static void run_all(struct bench_report *report, const struct gf_image *in, struct gf_image *out)
{
    static const char *const chains[] = {"blur=2", "blur=2,equalize"};
    static const int lanes[] = {1, 2, 3, 4, 6, 8}, rows[] = {48, 90, 135, 180, 270, 540};
    for (int i = 0; i < 2; i++)
        run_chain(report, chains[i], 0, 0, "chosen", in, out);
    run_chain(report, "invert", 0, 0, "chosen", in, out);
    run_chain(report, "sobel", 0, 0, "chosen", in, out);
    run_chain(report, "transpose", 0, 0, "chosen", in, out);
    for (int i = 0; i < 2; i++) {
        for (size_t k = 0; k < sizeof lanes / sizeof *lanes; k++)
            run_chain(report, chains[i], lanes[k], 0, "", in, out);
        for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
            run_chain(report, chains[i], 0, rows[k], "", in, out);
    }
}

void bench_memory(struct bench_report *report, const unsigned char *frame, int width, int height)
{
    const struct gf_format format = {width, height, 3, 8, GF_SAMPLES_INTEGER};
    const size_t bytes = gf_row_bytes(format) * (size_t)height;
    struct gf_image in = {0}, out = {0};
    struct gf_error error = {0};
    enum gf_status status = gf_image_alloc(&in, format, &error);
    if (!status)
        status = gf_image_alloc(&out, format, &error);
    if (!status && !bench_copy_out(in.data, frame, bytes))
        status = gf_fail(&error, GF_ERROR_DEVICE, "cannot read the frame");
    if (!status) {
        memset(out.data, POISON, bytes);
        const bool pinned = bench_pin(in.data, bytes) && bench_pin(out.data, bytes);
        if (!measure_bus(report, &in, &out) || !pinned)
            status = gf_fail(&error, GF_ERROR_DEVICE, "cannot copy from and to pinned memory");
        report_runs_head(report);
        if (!status)
            run_pinned(report, &in, &out);
        bench_unpin(in.data);
        bench_unpin(out.data);
    }
    if (!status)
        run_all(report, &in, &out);
    else
        fprintf(stderr, "bench: %s\n", error.text);
    gf_image_free(&in);
    gf_image_free(&out);
}
