#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/spans.h"
#include "bench/calibrator.h"
#include "pipeline/pipeline_internal.h"

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

void gf_calibrate_gpu(struct gf_calibrator *calibrator)
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
