#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "batch/devices/cost.h"
#include "bench/calibrator.h"
#include "bench/timing.h"
#include "codec/formats.h"

enum { FIRST_CODEC = GF_FIGURE_JPEG_DECODE, LAST_CODEC = GF_FIGURE_WHOLE - 1 };

/* Encodes the picture, and decodes the result. */
static void calibrate_codec(struct gf_calibrator *calibrator, const char *extension,
                            const struct gf_options *options, const struct gf_made_file *picture)
{
    char ending[16];
    snprintf(ending, sizeof ending, ".%.*s", (int)strcspn(extension, " "), extension);
    const struct gf_made_file encoded = gf_made_file_named(picture, ending),
                              decoded = gf_made_file_named(picture, "-out.ppm");
    gf_calibrate_chain(calibrator, "", options, picture, &encoded, FIRST_CODEC, LAST_CODEC);
    gf_calibrate_chain(calibrator, "", options, &encoded, &decoded, FIRST_CODEC, LAST_CODEC);
}

/* Measures encoders. With `dear` these are encoders that take more than DEAR_NS for a pixel,
 * otherwise all others. Slow encoders get the small picture, and come after the filters. */
static void calibrate_codecs(struct gf_calibrator *calibrator, bool dear)
{
    enum { DEAR_NS = 50 };
    struct gf_options options = gf_calibrate_options(1);
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        double times;
        const int figure = gf_cost_encoder(type->format, &options, &times);
        if (type->create && (gf_figure_info(figure).declared > DEAR_NS) == dear)
            calibrate_codec(calibrator, type->extensions, &options,
                            dear ? &calibrator->small : &calibrator->middle);
    }
    if (!dear)
        return;
    options.png_level = 6;
    options.lossless = true;
    calibrate_codec(calibrator, "png", &options, &calibrator->small);
    calibrate_codec(calibrator, "webp", &options, &calibrator->small);
}

enum { THREADS_MAX = 256 };

struct racer {
    pthread_t thread;
    int number;
    const struct gf_made_file *in;
    double seconds;
};

/* Converts a picture from JPEG to JPEG on this thread several times. The result is the median of
 * the thread's processor time, to which other programs add little. The first run is not counted,
 * because other threads may not have begun. */
static void *race(void *argument)
{
    enum { RUNS = 5 };
    struct racer *const racer = argument;
    struct gf_pipeline *pipeline = NULL;
    double seconds[RUNS] = {0};
    char ending[24];
    snprintf(ending, sizeof ending, "-%d.jpg", racer->number);
    const struct gf_made_file out = gf_made_file_named(racer->in, ending);
    const struct gf_options options = gf_calibrate_options(1);
    bool done = !gf_pipeline_open("blur=2", &options, &pipeline, NULL);
    for (int i = -1; done && i < RUNS; i++) {
        const double begin_s = gf_clock_s(CLOCK_THREAD_CPUTIME_ID);
        done = gf_calibrate_once(pipeline, racer->in, &out, NULL);
        seconds[i < 0 ? 0 : i] = gf_clock_s(CLOCK_THREAD_CPUTIME_ID) - begin_s;
    }
    gf_pipeline_close(pipeline);
    racer->seconds = done ? gf_timing_of(seconds, RUNS).median_s : 0;
    return NULL;
}

/* Returns the mean of race() over `count` threads; 0 if they could not be started. */
static double race_s(const struct gf_made_file *in, int count)
{
    struct racer *const racer = calloc((size_t)count, sizeof *racer);
    double sum = 0;
    int started = 0, done = 0;
    for (; racer && started < count; started++) {
        racer[started] = (struct racer){.number = started, .in = in};
        if (pthread_create(&racer[started].thread, NULL, race, &racer[started]))
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(racer[i].thread, NULL);
        sum += racer[i].seconds;
        done += racer[i].seconds > 0;
    }
    free(racer);
    return done == count ? sum / count : 0;
}

static void calibrate_share(struct gf_calibrator *calibrator, const struct gf_made_file *jpeg)
{
    const int processors = gf_cpu_count() < THREADS_MAX ? gf_cpu_count() : THREADS_MAX;
    if (processors < 2 || !gf_calibrator_has_time(calibrator, 1))
        return;
    const double alone_s = race_s(jpeg, 1), all_s = race_s(jpeg, processors);
    const double share = all_s > 0 ? alone_s / all_s : 0;
    gf_calibrator_set(calibrator, GF_FIGURE_SHARE, share < 1 ? share : 1);
}

/* Returns the least processor time, of three, of a picture by that many threads; 0 after a
 * failure. */
static double codec_processor_s(const struct gf_made_file *in, int threads)
{
    enum { RUNS = 3 };
    struct gf_pipeline *pipeline = NULL;
    double seconds[RUNS];
    const struct gf_options options = gf_calibrate_options(threads);
    const struct gf_made_file out = gf_made_file_named(in, "-out.jpg");
    if (gf_pipeline_open("", &options, &pipeline, NULL))
        return 0;
    bool done = true;
    for (int i = 0; done && i < RUNS; i++) {
        const double begin_s = gf_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        done = gf_calibrate_once(pipeline, in, &out, NULL);
        seconds[i] = gf_clock_s(CLOCK_PROCESS_CPUTIME_ID) - begin_s;
    }
    gf_pipeline_close(pipeline);
    return done ? gf_timing_of(seconds, RUNS).least_s : 0;
}

/* Measures how much more processor time several threads take than one thread for the same JPEG. The
 * part by which each thread is slower beside others is subtracted. */
static void calibrate_strips(struct gf_calibrator *calibrator, const struct gf_made_file *jpeg)
{
    struct gf_figures *const figures = &calibrator->calibration->figures;
    if (gf_cpu_count() < 2 || !gf_calibrator_has_time(calibrator, 1))
        return;
    const double one_s = codec_processor_s(jpeg, 1),
                 all_s = codec_processor_s(jpeg, gf_cpu_count());
    if (one_s > 0)
        gf_calibrator_set(calibrator, GF_FIGURE_STRIPS,
                          all_s / one_s * gf_figure(figures, GF_FIGURE_SHARE));
}

/* Estimates the time of a picture that all threads work on, alone in the program. */
static bool estimate_s(const struct gf_calibrator *calibrator, const char *chain,
                       const struct gf_made_file *in, const struct gf_made_file *out, int threads,
                       double *seconds)
{
    struct gf_input_name name = {.path = (char *)in->path};
    const struct gf_figures *const figures = &calibrator->calibration->figures;
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template output = {.text = (char *)out->path};
    const struct gf_batch_request request = {.chain = chain,
                                             .options = gf_calibrate_options(threads),
                                             .inputs = &inputs,
                                             .output = &output,
                                             .figures = figures};
    struct gf_cost_work work;
    if (!gf_cost_look(&request, GF_COST_NO_SERVER, &work))
        return false;
    *seconds = gf_cost_cpu_s(&work) - gf_figure(figures, GF_FIGURE_PROCESS) * 1e-3;
    return true;
}

/* Returns the least time of some runs by the given clock; 0 if one failed. As in a process with one
 * picture, each run allocates its own memory. */
static double least_made_s(clockid_t clock, const char *chain, const struct gf_options *options,
                           const struct gf_made_file *in, const struct gf_made_file *out)
{
    enum { RUNS = 5 };
    double seconds[RUNS];
    for (int i = 0; i < RUNS; i++) {
        const double begin_s = gf_clock_s(clock);
        if (!gf_calibrate_make(chain, options, in, out))
            return 0;
        seconds[i] = gf_clock_s(clock) - begin_s;
    }
    return gf_timing_of(seconds, RUNS).least_s;
}

/* Measures how much longer all threads take than the estimate. */
static bool beyond_estimate_s(const struct gf_calibrator *calibrator,
                              const struct gf_made_file *picture, const char *extension,
                              double *seconds)
{
    const struct gf_options options = gf_calibrate_options(0);
    char ending[16];
    double expected_s = 0, least_s = 0;
    snprintf(ending, sizeof ending, "-out.%s", extension);
    const struct gf_made_file out = gf_made_file_named(picture, ending);
    if (estimate_s(calibrator, "invert", picture, &out, 0, &expected_s))
        least_s = least_made_s(CLOCK_MONOTONIC, "invert", &options, picture, &out);
    *seconds = least_s - expected_s;
    return least_s > 0;
}

static double one_thread_ns(const struct gf_figures *figures, enum gf_figure_id alone)
{
    const bool pnm = alone == GF_FIGURE_PNM_ALONE;
    return gf_figure(figures, pnm ? GF_FIGURE_PNM_DECODE : GF_FIGURE_JPEG_DECODE) +
           gf_figure(figures, pnm ? GF_FIGURE_PNM_ENCODE : GF_FIGURE_JPEG_ENCODE);
}

/* Measures the time of one picture by all threads beyond an equal share for each thread. It has a
 * part that grows with the pixels and a constant part. `part` of the former is added to `figure`,
 * which threads share. */
static void calibrate_alone(struct gf_calibrator *calibrator, const struct gf_made_file *middle,
                            const struct gf_made_file *large, const char *extension,
                            enum gf_figure_id figure, double part)
{
    struct gf_figures *const figures = &calibrator->calibration->figures;
    const double pixels = large->pixels - middle->pixels,
                 known_ns = 2 * gf_figure(figures, figure), /* the known figures of decoding and
                                                             * encoding */
        threads_ms = gf_figure(figures, GF_FIGURE_THREADS);
    double few_s, many_s;
    if (gf_cpu_count() < 2 || !gf_calibrator_has_time(calibrator, 1) ||
        !beyond_estimate_s(calibrator, middle, extension, &few_s) ||
        !beyond_estimate_s(calibrator, large, extension, &many_s))
        return;
    const double alone_ns = known_ns + (many_s - few_s) * 1e9 / pixels;
    /* Other programs may have run, too. The value is limited to the time of one thread for
     * everything. */
    const double least = gf_figure_info(figure).least, most = one_thread_ns(figures, figure) / 2,
                 value = fmin(fmax(alone_ns / 2, least), most);
    const double left_ms = few_s * 1e3 - (2 * value - known_ns) * middle->pixels * 1e-6;
    gf_calibrator_set(calibrator, figure, value);
    gf_calibrator_set(calibrator, GF_FIGURE_THREADS, threads_ms + part * left_ms);
}

static void calibrate_threads(struct gf_calibrator *calibrator)
{
    const struct gf_options options = gf_calibrate_options(0);
    const struct gf_made_file middle = gf_made_file_named(&calibrator->middle, ".jpg"),
                              large = gf_made_file_named(&calibrator->large, ".jpg");
    if (gf_calibrate_make("", &options, &calibrator->middle, &middle))
        calibrate_share(calibrator, &middle);
    if (gf_calibrate_make("", &options, &calibrator->large, &large))
        calibrate_strips(calibrator, &large);
}

/* Measures the formats whose pictures several threads share. */
static void calibrate_shared(struct gf_calibrator *calibrator)
{
    const struct gf_options options = gf_calibrate_options(1);
    const struct gf_made_file out = gf_made_file_named(&calibrator->middle, "-out.ppm");
    const int invert = gf_figure_of_filter(gf_filter_find("invert"), false);
    const struct gf_made_file middle = gf_made_file_named(&calibrator->middle, ".jpg"),
                              large = gf_made_file_named(&calibrator->large, ".jpg");
    gf_calibrate_chain(calibrator, "invert", &options, &calibrator->middle, &out, invert, invert);
    calibrate_alone(calibrator, &calibrator->middle, &calibrator->large, "ppm", GF_FIGURE_PNM_ALONE,
                    1);
    calibrate_alone(calibrator, &middle, &large, "jpg", GF_FIGURE_JPEG_ALONE, 0.5);
}

/* Measures the time of files, with pictures of one pixel, one after another. */
static void calibrate_files(struct gf_calibrator *calibrator)
{
    enum { FILES = GF_TIMING_RUNS_MAX };
    const struct gf_made_file out = gf_made_file_named(&calibrator->one, "-out.ppm");
    double seconds[FILES];
    struct gf_pipeline *pipeline = NULL;
    const struct gf_options options = gf_calibrate_options(1);
    if (gf_pipeline_open("invert", &options, &pipeline, NULL))
        return;
    bool done = true;
    for (int i = 0; done && i < FILES; i++)
        done = gf_calibrate_once(pipeline, &calibrator->one, &out, &seconds[i]);
    gf_pipeline_close(pipeline);
    if (done)
        gf_calibrator_set(calibrator, GF_FIGURE_FILE, gf_timing_of(seconds, FILES).least_s * 1e3);
}

/* Measures how much longer a picture that is whole in memory takes on one thread than the estimate,
 * which does not include that. */
static void calibrate_whole(struct gf_calibrator *calibrator)
{
    const struct gf_figures *const figures = &calibrator->calibration->figures;
    const struct gf_options options = gf_calibrate_options(1);
    const struct gf_made_file out = gf_made_file_named(&calibrator->large, "-out.ppm");
    double expected_s;
    if (!gf_calibrator_has_time(calibrator, 0.5) ||
        !estimate_s(calibrator, "equalize", &calibrator->large, &out, 1, &expected_s))
        return;
    const double least_s =
        least_made_s(CLOCK_PROCESS_CPUTIME_ID, "equalize", &options, &calibrator->large, &out);
    if (least_s > 0)
        gf_calibrator_set(calibrator, GF_FIGURE_WHOLE,
                          gf_figure(figures, GF_FIGURE_WHOLE) +
                              (least_s - expected_s) * 1e9 / calibrator->large.pixels);
}

void gf_calibrate_cpu(struct gf_calibrator *calibrator)
{
    const struct gf_options options = gf_calibrate_options(1);
    const double process_s = gf_calibrate_process_s(calibrator, "cpu", 7);
    if (process_s > 0)
        gf_calibrator_set(calibrator, GF_FIGURE_PROCESS, process_s * 1e3);
    calibrate_files(calibrator);
    calibrate_codecs(calibrator, false);
    calibrate_threads(calibrator);
    calibrate_shared(calibrator);
    gf_calibrate_filters(calibrator, &options, false);
    calibrate_whole(calibrator);
    calibrate_codecs(calibrator, true);
}
