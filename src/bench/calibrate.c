#include "bench/calibrate.h"

#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "batch/devices/devices.h"
#include "bench/timing.h"
#include "codec/io/output.h"
#include "cuda/heic/coders.h"
#include "engine/backend.h"

extern char **environ;

/* How a job is run and measured. */
enum clock {
    PROCESSOR, /* processor time of one thread, to which other programs add little */
    WALL,      /* time from call to return, of all threads together */
    DEVICE,    /* the copies and the filters on the GPU, by its own clock */
    PROGRAM,   /* a process of the program, from its start to its end */
};

enum { NONE = -1, ALL_PROCESSORS = -1, CODERS = 32, RUNS = 4, EACH = 20, WORKERS_MAX = 256 };

/* A picture that is read, filtered and written several times. Its output is named after its input:
 * "middle.ppm" becomes "middle-0.jpg", which a later job reads. */
struct job {
    int first, last;              /* the figures first..last get one factor; NONE: none */
    const char *chain, *in, *out; /* `out` is the extension of the output */
    enum clock clock;
    bool cuda;
    bool beside;  /* this process keeps the GPU started meanwhile */
    bool fresh;   /* each run allocates its own memory, as in a process with one picture */
    int workers;  /* threads that process the picture at the same time; 0: one */
    int pictures; /* pictures of each worker in a run; 0: each picture is a run */
    int wait;     /* the figure that is how much longer the first run takes; 0: none */
};

#define FIGURES(first, last) GF_FIGURE_##first, GF_FIGURE_##last
#define FIGURE(id) FIGURES(id, id)
#define CROWD .cuda = true, .workers = CODERS, .pictures = EACH

/* The order matters: the estimate of a job needs the figures of earlier jobs. */
static const struct job jobs[] = {
    {FIGURE(FILE), "invert", "one.ppm", "ppm", .clock = PROCESSOR},
    {FIGURE(PROCESS), "invert", "one.ppm", "ppm", .clock = PROGRAM},
    {FIGURES(PNM_DECODE, PNM_ENCODE), "", "middle.ppm", "ppm", .clock = PROCESSOR},
    {FIGURE(JPEG_ENCODE), "", "middle.ppm", "jpg", .clock = PROCESSOR},
    {FIGURE(JPEG_DECODE), "", "middle-0.jpg", "ppm", .clock = PROCESSOR},
    {FIGURE(PNG_ENCODE), "", "middle.ppm", "png", .clock = PROCESSOR},
    {FIGURE(PNG_DECODE), "", "middle-0.png", "ppm", .clock = PROCESSOR},
    {FIGURE(WEBP_ENCODE), "", "middle.ppm", "webp", .clock = PROCESSOR},
    {FIGURE(WEBP_DECODE), "", "middle-0.webp", "ppm", .clock = PROCESSOR},
    {FIGURE(SHARE), "blur=2", "middle-0.jpg", "jpg", PROCESSOR, .workers = ALL_PROCESSORS},
    {FIGURE(THREADS), "invert", "middle.ppm", "ppm", WALL, .fresh = true},
    {FIGURE(PNM_ALONE), "invert", "large.ppm", "ppm", WALL, .fresh = true},
    {FIGURE(JPEG_ALONE), "invert", "large.ppm", "jpg", WALL, .fresh = true},
    {FIGURE(WHOLE), "equalize", "large.ppm", "ppm", PROCESSOR, .fresh = true},

    {FIGURES(CUDA_START, CUDA_END), "invert", "one.ppm", "ppm", PROGRAM, .cuda = true},
    {FIGURES(CUDA_UPLOAD, CUDA_DOWNLOAD), "invert", "large.ppm", "ppm", DEVICE, .cuda = true},
    {FIGURE(CUDA_BESIDE), "invert", "one.ppm", "ppm", PROGRAM, .cuda = true, .beside = true},
    {NONE, NONE, "blur=2", "middle-0.jpg", "jpg", WALL, .cuda = true, .wait = GF_FIGURE_CUDA_FIRST},
    {FIGURES(CUDA_DECODE, CUDA_ENCODE), "blur=2", "middle-0.jpg", "jpg", WALL, CROWD,
     .wait = GF_FIGURE_CUDA_CROWD},
    {FIGURES(CUDA_PNG_DECODE, CUDA_PNG_ENCODE), "blur=2", "middle-0.png", "png", WALL, CROWD,
     .wait = GF_FIGURE_CUDA_PNG_CROWD},
};

struct calibrator {
    struct gf_calibration *calibration;
    const char *program;
    double end_s; /* the time of gf_now() at which to stop */
    struct gf_temporary folder;
    int folder_fd;
};

enum { PATH_SIZE = 4096 };

static void name_files(const struct calibrator *calibrator, const struct job *job, int worker,
                       char in[PATH_SIZE], char out[PATH_SIZE])
{
    snprintf(in, PATH_SIZE, "%s/%s", calibrator->folder.path, job->in);
    snprintf(out, PATH_SIZE, "%s/%.*s-%d.%s", calibrator->folder.path, (int)strcspn(job->in, "."),
             job->in, worker, job->out);
}

static struct gf_options options_of(const struct job *job)
{
    struct gf_options options = gf_options_default();
    options.device = job->cuda ? GF_DEVICE_CUDA : GF_DEVICE_CPU;
    options.threads = job->workers || job->clock == PROCESSOR ? 1 : 0;
    options.serial = options.threads == 1;
    options.spans = job->clock == DEVICE;
    return options;
}

static int workers_of(const struct job *job)
{
    if (job->workers != ALL_PROCESSORS)
        return job->workers ? job->workers : 1;
    return gf_cpu_count() < WORKERS_MAX ? gf_cpu_count() : WORKERS_MAX;
}

/* ---- running a job ---- */

struct worker {
    const struct calibrator *calibrator;
    const struct job *job;
    int number;
    pthread_t thread;
    double first_s, seconds; /* times of the first picture and of a usual one; 0: one failed */
};

static double clock_s(enum clock clock)
{
    struct timespec time;
    if (clock != PROCESSOR)
        return gf_now();
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Returns the time in which the GPU copied and computed. Time in which several such spans overlap
 * counts once. */
static double device_s(const struct gf_profile *profile)
{
    static const enum gf_span_kind kinds[] = {GF_SPAN_UPLOAD, GF_SPAN_STAGE, GF_SPAN_STATISTIC,
                                              GF_SPAN_DOWNLOAD};
    struct gf_interval *const interval = malloc((profile->span_count + 1) * sizeof *interval);
    double sum_s = 0;
    for (size_t k = 0; interval && k < sizeof kinds / sizeof *kinds; k++) {
        size_t count = 0;
        for (size_t i = 0; i < profile->span_count; i++) {
            const struct gf_span *const span = &profile->spans[i];
            if (span->kind == kinds[k])
                interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
        }
        sum_s += gf_intervals_union(interval, count);
    }
    free(interval);
    return sum_s;
}

/* Processes the picture once. Returns its time in seconds; 0 if it failed, or if the CPU did a part
 * of a job for the GPU. */
static double picture_s(const struct worker *worker, struct gf_pipeline **pipeline)
{
    const struct job *const job = worker->job;
    const struct gf_options options = options_of(job);
    char in[PATH_SIZE], out[PATH_SIZE];
    name_files(worker->calibrator, job, worker->number, in, out);
    (void)unlink(out); /* replacing a file may take longer than creating one */
    double begin_s = clock_s(job->clock);
    if (!*pipeline && gf_pipeline_open(job->chain, &options, pipeline, NULL))
        return 0;
    if (!job->fresh)
        begin_s = clock_s(job->clock);
    if (gf_pipeline_run_file(*pipeline, in, out, NULL))
        return 0;
    const double seconds = clock_s(job->clock) - begin_s;
    const struct gf_profile *const profile = gf_pipeline_profile(*pipeline);
    if (job->cuda && job->wait && !(profile->device_decoded && profile->device_encoded))
        return 0;
    return job->clock == DEVICE ? device_s(profile) : seconds;
}

/* Runs the job's pictures on a worker. A single worker's time is its least, since other programs
 * only add to it; with several, it is the median, at which all of them are running. */
static void *work(void *argument)
{
    const double patience_s = 0.05;
    struct worker *const worker = argument;
    const struct job *const job = worker->job;
    const int pictures = job->pictures ? job->pictures : RUNS;
    struct gf_pipeline *pipeline = NULL;
    double seconds[EACH], last_s = 1;
    const double begin_s = gf_now();
    int done = 0;
    while (done < pictures && (last_s = picture_s(worker, &pipeline)) > 0) {
        seconds[done++] = last_s;
        if (job->fresh) {
            gf_pipeline_close(pipeline);
            pipeline = NULL;
        }
        if (job->clock != WALL && !job->fresh && !job->workers && gf_now() - begin_s > patience_s)
            break;
    }
    gf_pipeline_close(pipeline);
    if (last_s <= 0)
        return NULL;
    worker->first_s = seconds[0];
    const struct gf_timing timing = gf_timing_of(seconds, done);
    worker->seconds = job->workers ? timing.median_s : timing.least_s;
    return NULL;
}

/* Runs the job on its workers. Returns the mean of their times in seconds or, if job->pictures is
 * set, the time from the first start to the last end; 0 after a failure. */
static double run_s(const struct calibrator *calibrator, const struct job *job, double *first_s)
{
    struct worker worker[WORKERS_MAX];
    const int count = workers_of(job);
    const double begin_s = gf_now();
    double sum_s = 0;
    int started = 0, done = 0;
    for (; started < count; started++) {
        worker[started] = (struct worker){.calibrator = calibrator, .job = job, .number = started};
        if (pthread_create(&worker[started].thread, NULL, work, &worker[started]))
            break;
    }
    for (int i = 0; i < started; i++) {
        pthread_join(worker[i].thread, NULL);
        done += worker[i].seconds > 0;
        sum_s += worker[i].seconds;
    }
    if (done < count)
        return 0;
    *first_s = worker[0].first_s;
    return job->pictures ? gf_now() - begin_s : sum_s / count;
}

/* Runs the program several times. Returns the least time in seconds, or the median if each run
 * starts the GPU; 0 after a failure. A process leaves the driver with work after its end, and the
 * next one finds the GPU half awake if it starts at once. A pause comes before each such run, since
 * a user's runs do not follow each other so soon. */
static double program_s(const struct calibrator *calibrator, const struct job *job)
{
    const bool starts_gpu = job->cuda && !job->beside;
    const double patience_s = starts_gpu ? 2 : 0.6, end_s = gf_now() + patience_s;
    const struct timespec pause = {.tv_nsec = 200000000};
    char in[PATH_SIZE], out[PATH_SIZE];
    posix_spawn_file_actions_t actions;
    double taken_s[RUNS];
    int runs = 0;
    name_files(calibrator, job, 0, in, out);
    char *const device = job->cuda ? "--device=cuda" : "--device=cpu";
    char *const words[] = {
        (char *)calibrator->program, "-q", "--server=off", device, "-i", in, "-o", out,
        (char *)job->chain,          NULL};
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd <= 2; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    for (; runs < RUNS && gf_now() < end_s; runs++) {
        pid_t child;
        int result;
        if (starts_gpu)
            nanosleep(&pause, NULL);
        const double begin_s = gf_now();
        if (posix_spawn(&child, words[0], &actions, NULL, words, environ) ||
            waitpid(child, &result, 0) != child || result) {
            runs = 0;
            break;
        }
        taken_s[runs] = gf_now() - begin_s;
    }
    posix_spawn_file_actions_destroy(&actions);
    if (!runs)
        return 0;
    const struct gf_timing timing = gf_timing_of(taken_s, runs);
    return starts_gpu ? timing.median_s : timing.least_s;
}

/* ---- figures that a job measures ---- */

struct fitting {
    const struct calibrator *calibrator;
    const struct job *job;
    struct gf_figures figures;
};

/* Estimates the job's time, in seconds, if its figures get that factor. */
static double estimate_s(void *context, double factor)
{
    struct fitting *const fitting = context;
    const struct job *const job = fitting->job;
    const struct gf_figures *const figures = &fitting->figures;
    char in[PATH_SIZE], out[PATH_SIZE];
    name_files(fitting->calibrator, job, 0, in, out);
    struct gf_input_name name = {.path = in};
    const struct gf_inputs inputs = {.item = &name, .count = 1};
    const struct gf_template output = {.text = out};
    struct gf_batch_request request = {.chain = job->chain,
                                       .options = options_of(job),
                                       .inputs = &inputs,
                                       .expected = (size_t)workers_of(job) *
                                                   (job->pictures ? (size_t)job->pictures : 1),
                                       .output = &output,
                                       .figures = figures};
    const enum gf_cost_server server = job->clock != PROGRAM ? GF_COST_SERVER_WORKS
                                       : job->beside         ? GF_COST_SERVER_BESIDE
                                                             : GF_COST_NO_SERVER;
    struct gf_cost_work work;
    if (job->workers)
        request.options.threads = 0; /* number of threads of all workers together */
    for (int i = job->first; i <= job->last; i++)
        fitting->figures.calibrated[i] = factor * gf_figure(NULL, i);
    if (!gf_cost_look(&request, server, &work))
        return 0;
    if (job->clock == DEVICE)
        return work.pixels * 1e-9 * work.cuda_ns;
    double seconds = job->cuda ? gf_cost_cuda_s(&work) : gf_cost_cpu_s(&work);
    if (job->clock != PROGRAM)
        seconds -= 1e-3 * (gf_figure(figures, GF_FIGURE_PROCESS) +
                           (job->cuda ? gf_figure(figures, GF_FIGURE_SERVER) : 0));
    return seconds;
}

bool gf_calibrate_fit(double (*estimate)(void *context, double factor), void *context,
                      double measured, double least, double greatest, double *factor)
{
    enum { STEPS = 24 };
    double low = least, high = greatest;
    const double without = estimate(context, least);
    const bool rises = estimate(context, greatest) > without;
    for (int i = 0; i < STEPS; i++) {
        const double middle = sqrt(low * high);
        const bool is_less = estimate(context, middle) < measured;
        *(is_less == rises ? &low : &high) = middle;
    }
    *factor = sqrt(low * high);
    const double all = estimate(context, fmax(*factor, 1));
    return fabs(all - without) > 0.2 * all;
}

static void run_job(const struct calibrator *calibrator, const struct job *job)
{
    struct gf_figures *const figures = &calibrator->calibration->figures;
    struct fitting fitting = {.calibrator = calibrator, .job = job, .figures = *figures};
    double first_s = 0, factor;
    if (gf_now() > calibrator->end_s)
        return;
    /* This is what batches do, see choose_queues(). */
    if (job->cuda && job->clock != PROGRAM)
        (void)setenv("CUDA_DEVICE_MAX_CONNECTIONS", "2", 0);
    double seconds =
        job->clock == PROGRAM ? program_s(calibrator, job) : run_s(calibrator, job, &first_s);
    if (job->pictures) { /* the second run finds everything started and allocated */
        first_s = seconds;
        seconds = run_s(calibrator, job, &(double){0});
    }
    if (seconds <= 0)
        return;
    if (job->wait)
        (void)gf_figure_calibrate(figures, job->wait, (first_s - seconds) * 1e3);
    if (job->first == NONE)
        return;
    const struct gf_figure_info info = gf_figure_info(job->first);
    const double most = job->first == GF_FIGURE_PNM_ALONE ? gf_figure(figures, GF_FIGURE_PNM_ENCODE)
                        : job->first == GF_FIGURE_JPEG_ALONE
                            ? gf_figure(figures, GF_FIGURE_JPEG_DECODE)
                            : info.greatest;
    if (!gf_calibrate_fit(estimate_s, &fitting, seconds, info.least / info.declared,
                          most / info.declared, &factor))
        return;
    for (int i = job->first; i <= job->last; i++)
        (void)gf_figure_calibrate(figures, i, factor * gf_figure(NULL, i));
}

static void run_jobs(const struct calibrator *calibrator, bool cuda)
{
    for (size_t i = 0; i < sizeof jobs / sizeof *jobs; i++) {
        if (jobs[i].cuda == cuda)
            run_job(calibrator, &jobs[i]);
    }
}

/* Measures every filter with its example or its defaults. A filter that the plan replaces by
 * another one is not measured, since its figure does not affect the estimate. */
static void run_filters(const struct calibrator *calibrator, bool cuda)
{
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        const int figure = gf_figure_of_filter(filter, cuda);
        const char *const chain = filter->example ? filter->example : filter->name;
        const struct job job =
            cuda ? (struct job){figure, figure, chain, "middle.ppm", "ppm", DEVICE, .cuda = true}
                 : (struct job){figure, figure, chain, "small.ppm", "ppm", .clock = PROCESSOR};
        if (figure >= 0)
            run_job(calibrator, &job);
    }
}

/* ---- figures that get the mean factor of others ---- */

enum kind { NO_KIND, CODECS, FIRST_PICTURES, DEVICE_CODECS, FILTERS, DEVICE_FILTERS, KINDS };

/* Returns the kind of a figure. A measured figure counts for the mean factor of its kind, and one
 * that is not measured gets it. */
static enum kind kind_of(int figure)
{
    if (figure >= GF_FIGURE_NAMED)
        return (figure - GF_FIGURE_NAMED) % 2 ? DEVICE_FILTERS : FILTERS;
    if ((figure >= GF_FIGURE_JPEG_DECODE && figure <= GF_FIGURE_PNM_ENCODE) ||
        (figure >= GF_FIGURE_WEBP_DECODE && figure <= GF_FIGURE_GIF_ENCODE) ||
        figure == GF_FIGURE_CUDA_FILE || figure == GF_FIGURE_CUDA_PNG_FILE ||
        figure == GF_FIGURE_CUDA_HEIC_FILE)
        return CODECS;
    if (figure >= GF_FIGURE_CUDA_FIRST && figure <= GF_FIGURE_CUDA_PNG_CROWD)
        return FIRST_PICTURES;
    if (figure >= GF_FIGURE_CUDA_DECODE && figure <= GF_FIGURE_CUDA_PNG_ENCODE)
        return DEVICE_CODECS;
    return NO_KIND;
}

/* The program writes no HEIC that it could decode. The engines' number tells how long decoding
 * takes. */
static void count_engines(struct gf_calibration *calibration)
{
    enum { DECLARED_ENGINES = 7 };
    const int figure = GF_FIGURE_CUDA_HEIC_DECODE, engines = gf_heic_decoder_engines(0);
    if (engines)
        calibration->derived[figure] = gf_figure_calibrate(
            &calibration->figures, figure, gf_figure(NULL, figure) * DECLARED_ENGINES / engines);
}

static void derive_others(struct gf_calibration *calibration)
{
    struct gf_figures *const figures = &calibration->figures;
    const int count = gf_figure_count();
    double sum[KINDS] = {0};
    int known[KINDS] = {0};
    for (int i = 0; i < count; i++) {
        known[kind_of(i)] += figures->calibrated[i] > 0;
        sum[kind_of(i)] += log(gf_figure(figures, i) / gf_figure(NULL, i));
    }
    for (int i = 0; i < count; i++) {
        const enum kind kind = kind_of(i);
        if (kind != NO_KIND && known[kind] && !figures->calibrated[i])
            calibration->derived[i] =
                gf_figure_calibrate(figures, i, gf_figure(NULL, i) * exp(sum[kind] / known[kind]));
    }
}

/* ---- the pictures for the jobs ---- */

/* Writes a picture of smooth shapes of several sizes with grain: their JPEG and PNG files have as
 * many bytes for each pixel as a photograph's. */
static enum gf_status make_picture(const struct calibrator *calibrator, const char *name, int width,
                                   int height, struct gf_error *error)
{
    enum { CHANNELS = 3, TILE = 480 };
    static float shade[TILE][TILE][CHANNELS];
    char path[PATH_SIZE];
    uint32_t state = 1;
    for (int i = 0; i < TILE * TILE * CHANNELS; i++) {
        const int x = i / CHANNELS % TILE, y = i / CHANNELS / TILE, c = i % CHANNELS;
        shade[y][x][c] = (float)(118 + 55 * sin(x * 0.011 + c) * cos(y * 0.007) +
                                 25 * sin((x + 2 * y) * 0.05) + 12 * sin(x * 0.31 + y * 0.23 * c));
    }
    snprintf(path, sizeof path, "%s/%s", calibrator->folder.path, name);
    FILE *const file = fopen(path, "wb");
    if (!file)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: %m", path);
    fprintf(file, "P6\n%d %d\n255\n", width, height);
    for (int y = 0; y < height; y++) {
        for (int i = 0; i < width * CHANNELS; i++) {
            state = state * 1664525u + 1013904223u; /* the generator of Numerical Recipes */
            const float grain = (float)(state >> 24) / 256 - 0.5F;
            putc((int)(shade[y % TILE][i / CHANNELS % TILE][i % CHANNELS] + 9 * grain), file);
        }
    }
    const bool failed = ferror(file);
    return fclose(file) || failed ? gf_fail(error, GF_ERROR_OUTPUT, "%s: %m", path) : GF_OK;
}

static enum gf_status prepare(struct calibrator *calibrator, struct gf_error *error)
{
    calibrator->folder_fd = gf_temporary_spool(&calibrator->folder, "calibrate", S_IFDIR | 0700);
    if (calibrator->folder_fd < 0)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: %m", gf_spool_folder());
    GF_TRY(make_picture(calibrator, "one.ppm", 1, 1, error));
    GF_TRY(make_picture(calibrator, "small.ppm", 960, 540, error));
    GF_TRY(make_picture(calibrator, "middle.ppm", 1920, 1080, error));
    return make_picture(calibrator, "large.ppm", 3840, 2160, error);
}

enum gf_status gf_calibrate(const char *program, double seconds, struct gf_calibration *calibration,
                            struct gf_error *error)
{
    const double begin_s = gf_now();
    const char *why_not = "";
    struct calibrator calibrator = {
        .calibration = calibration, .program = program, .end_s = begin_s + seconds};
    *calibration = (struct gf_calibration){0};
    const enum gf_status status = prepare(&calibrator, error);
    const bool likely = gf_backend_cuda_likely(&why_not);
    if (!status) {
        run_jobs(&calibrator, false);
        if (likely)
            run_jobs(&calibrator, true);
        calibration->gpu = calibration->figures.calibrated[GF_FIGURE_CUDA_START] > 0;
        if (calibration->gpu) {
            run_filters(&calibrator, true);
            count_engines(calibration);
        }
        run_filters(&calibrator, false);
        derive_others(calibration);
    }
    if (!calibration->gpu)
        snprintf(calibration->why_no_gpu, sizeof calibration->why_no_gpu, "%s",
                 likely ? "CUDA does not start" : why_not);
    gf_temporary_end(&calibrator.folder, true);
    if (calibrator.folder_fd >= 0)
        close(calibrator.folder_fd);
    calibration->seconds = gf_now() - begin_s;
    return status;
}
