/* Measures the figures of the CPU, of the GPU, and all of them. */
#include <ftw.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "batch/devices/devices.h"
#include "bench/calibrate.h"
#include "bench/timing.h"
#include "codec/formats.h"
#include "engine/backend.h"
#include "pipeline/pipeline_internal.h"

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

static void calibrate_cpu(struct gf_calibrator *calibrator)
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

static struct gf_options on_gpu(void)
{
    struct gf_options options = gf_calibrate_options(0);
    options.device = GF_DEVICE_CUDA;
    return options;
}

/* Returns the time of the first picture minus the time of the third, for which everything is
 * prepared. */
static double first_more_s(struct gf_pipeline *pipeline, const struct gf_made_file *in,
                           const char *ending)
{
    const struct gf_made_file out = gf_made_file_named(in, ending);
    enum { RUNS = 3 };
    double wall_s[RUNS] = {0};
    for (int i = 0; i < RUNS; i++) {
        if (!gf_calibrate_once(pipeline, in, &out, &wall_s[i]))
            return 0;
    }
    return wall_s[0] - wall_s[RUNS - 1];
}

/* Measures the first CUDA context of this process. Other processes are measured before it, since
 * they must not find a context. */
static bool calibrate_start(struct gf_calibrator *calibrator, double more_s)
{
    struct gf_pipeline *pipeline = NULL;
    struct gf_backend *backend;
    bool on_cuda = false;
    const struct gf_options options = on_gpu();
    /* This is what batches do, see choose_queues(): the figures of JPEG must be right. The start
     * was measured in other processes. */
    (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 0);
    const double begin_s = gf_now();
    if (gf_pipeline_open("blur=2", &options, &pipeline, NULL))
        return false;
    const bool started = !gf_pipeline_start(pipeline, &backend, &on_cuda, NULL) && on_cuda;
    const double here_s = gf_now() - begin_s,
                 start_s = more_s > 0 && more_s < here_s ? more_s : here_s;
    if (started) {
        gf_calibrator_set(calibrator, GF_FIGURE_CUDA_START, start_s * 1e3);
        gf_calibrator_set(calibrator, GF_FIGURE_CUDA_END,
                          (more_s > start_s ? more_s - start_s : 1e-3) * 1e3);
    }
    gf_pipeline_close(pipeline);
    return started;
}

struct coder {
    pthread_t thread;
    int number, pictures;
    const struct gf_made_file *in;
    int done; /* pictures */
};

static void *code(void *argument)
{
    struct coder *const coder = argument;
    struct gf_pipeline *pipeline = NULL;
    char ending[24];
    snprintf(ending, sizeof ending, "-%d.jpg", coder->number);
    const struct gf_made_file out = gf_made_file_named(coder->in, ending);
    struct gf_options options = on_gpu();
    options.threads = 1;
    options.serial = true;
    if (!gf_pipeline_open("blur=2", &options, &pipeline, NULL)) {
        for (int i = 0; i < coder->pictures; i++) {
            (void)unlink(out.path); /* a file system may wait for a file that is replaced */
            const bool coded = gf_calibrate_once(pipeline, coder->in, &out, NULL) &&
                               gf_pipeline_profile(pipeline)->device_decoded &&
                               gf_pipeline_profile(pipeline)->device_encoded;
            coder->done += coded;
        }
    }
    gf_pipeline_close(pipeline);
    return NULL;
}

enum { CODERS = 32 };

/* Converts JPEGs on many threads, `pictures` on each, as in a batch. Returns the seconds of all; 0
 * if the GPU did not code all of them. */
static double code_s(const struct gf_made_file *jpeg, int pictures)
{
    struct coder coder[CODERS];
    int started = 0, done = 0;
    const double begin_s = gf_now();
    for (; started < CODERS; started++) {
        coder[started] = (struct coder){.number = started, .pictures = pictures, .in = jpeg};
        if (pthread_create(&coder[started].thread, NULL, code, &coder[started]))
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(coder[i].thread, NULL);
        done += coder[i].done;
    }
    return started == CODERS && done == CODERS * pictures ? gf_now() - begin_s : 0;
}

/* Measures the GPU's codec with few and with more pictures. The difference gives the time of each
 * further picture; the rest is the time that the first pictures wait. */
static void calibrate_crowd(struct gf_calibrator *calibrator, const struct gf_made_file *jpeg)
{
    enum { FEW = 4, MORE = 20 };
    const double first_s = code_s(jpeg, FEW), few_s = code_s(jpeg, FEW),
                 more_s = code_s(jpeg, MORE);
    const double each_s = few_s > 0 ? (more_s - few_s) / (CODERS * (MORE - FEW)) : 0;
    if (each_s <= 0)
        return;
    const double half_ns = each_s * 1e9 / (2 * jpeg->pixels);
    gf_calibrator_set(calibrator, GF_FIGURE_CUDA_DECODE, half_ns);
    gf_calibrator_set(calibrator, GF_FIGURE_CUDA_ENCODE, half_ns);
    gf_calibrator_set(calibrator, GF_FIGURE_CUDA_CROWD, (first_s - each_s * CODERS * FEW) * 1e3);
}

static void calibrate_jpeg(struct gf_calibrator *calibrator)
{
    const struct gf_options options = on_gpu(), on_cpu = gf_calibrate_options(0);
    const struct gf_made_file jpeg = gf_made_file_named(&calibrator->middle, ".jpg");
    struct gf_pipeline *pipeline = NULL;
    if (!gf_calibrate_make("", &on_cpu, &calibrator->middle, &jpeg) ||
        gf_pipeline_open("blur=2", &options, &pipeline, NULL))
        return;
    const double first_s = first_more_s(pipeline, &jpeg, "-out.jpg");
    if (gf_pipeline_profile(pipeline)->device_decoded)
        gf_calibrator_set(calibrator, GF_FIGURE_CUDA_FIRST, first_s * 1e3);
    if (gf_calibrator_has_time(calibrator, 1))
        calibrate_crowd(calibrator, &jpeg);
    gf_pipeline_close(pipeline);
}

/* Measures encoding a PNG from pixels on the GPU to bytes on the host, and writing these to a
 * file. */
static void calibrate_png(struct gf_calibrator *calibrator)
{
    const struct gf_options options = on_gpu();
    const struct gf_made_file out = gf_made_file_named(&calibrator->large, "-out.png");
    gf_calibrate_chain(calibrator, "blur=2", &options, &calibrator->large, &out,
                       GF_FIGURE_CUDA_PNG_ENCODE, GF_FIGURE_CUDA_PNG_FILE);
}

static void calibrate_gpu(struct gf_calibrator *calibrator)
{
    const struct gf_options options = on_gpu();
    const struct gf_made_file out = gf_made_file_named(&calibrator->large, "-out.ppm");
    const double with_s = gf_calibrate_process_s(calibrator, "cuda", 3),
                 without_s = with_s > 0 ? gf_calibrate_process_s(calibrator, "cpu", 3) : 0;
    const bool started = calibrate_start(calibrator, with_s - without_s);
    /* From here on this process keeps the GPU awake. */
    const double beside_s = started ? gf_calibrate_process_s(calibrator, "cuda", 2) : 0;
    if (beside_s > 0)
        gf_calibrator_set(calibrator, GF_FIGURE_CUDA_BESIDE, (beside_s - without_s) * 1e3);
    if (!started) {
        calibrator->calibration->gpu = false;
        snprintf(calibrator->calibration->why_no_gpu, sizeof calibrator->calibration->why_no_gpu,
                 "CUDA does not start");
        return;
    }
    calibrate_jpeg(calibrator);
    calibrate_png(calibrator);
    gf_calibrate_chain(calibrator, "blur=2", &options, &calibrator->large, &out,
                       GF_FIGURE_CUDA_UPLOAD, GF_FIGURE_CUDA_DOWNLOAD);
    gf_calibrate_filters(calibrator, &options, true);
}

static int remove_entry(const char *path, const struct stat *stat, int kind, struct FTW *place)
{
    (void)stat;
    (void)kind;
    (void)place;
    return remove(path);
}

static enum gf_status prepare(struct gf_calibrator *calibrator, struct gf_error *error)
{
    const char *const place = getenv("TMPDIR");
    snprintf(calibrator->folder, sizeof calibrator->folder, "%.60s/gpufilter-calibrate-XXXXXX",
             place && *place && strlen(place) < 60 ? place : "/tmp");
    if (!mkdtemp(calibrator->folder)) {
        (void)gf_fail(error, GF_ERROR_OUTPUT, "%s: %m", calibrator->folder);
        *calibrator->folder = '\0';
        return GF_ERROR_OUTPUT;
    }
    GF_TRY(gf_calibrator_make_file(calibrator, "one", 1, 1, &calibrator->one, error));
    GF_TRY(gf_calibrator_make_file(calibrator, "small", 960, 540, &calibrator->small, error));
    GF_TRY(gf_calibrator_make_file(calibrator, "middle", 1920, 1080, &calibrator->middle, error));
    return gf_calibrator_make_file(calibrator, "large", 3840, 2160, &calibrator->large, error);
}

enum gf_status gf_calibrate(const char *program, double seconds, struct gf_calibration *calibration,
                            struct gf_error *error)
{
    const double begin_s = gf_now();
    const char *why_not = "";
    struct gf_calibrator calibrator = {
        .calibration = calibration, .program = program, .end_s = begin_s + seconds};
    *calibration = (struct gf_calibration){0};
    const enum gf_status status = prepare(&calibrator, error);
    calibration->gpu = gf_backend_cuda_likely(&why_not);
    if (!calibration->gpu)
        snprintf(calibration->why_no_gpu, sizeof calibration->why_no_gpu, "%s", why_not);
    if (!status && calibration->gpu) /* this figure is measured first, while there is time */
        calibrate_gpu(&calibrator);
    if (!status)
        calibrate_cpu(&calibrator);
    if (*calibrator.folder)
        (void)nftw(calibrator.folder, remove_entry, 8, FTW_DEPTH | FTW_PHYS);
    calibration->seconds = gf_now() - begin_s;
    return status;
}
