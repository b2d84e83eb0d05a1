/* Makes pictures and runs chains for the parts of a calibration, and takes figures from the
 * spans of runs. */
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "batch/devices/devices.h"
#include "bench/calibrate.h"
#include "bench/timing.h"
#include "chain/chain.h"
#include "codec/formats.h"
#include "pixel/point/fused.h"
#include "pixel/point/point.h"

static void see(struct gf_seen *seen, int figure, double measured_s, double unit_s)
{
    if (figure < 0)
        return;
    seen->figure[figure].measured_s += measured_s;
    seen->figure[figure].unit_s += unit_s;
}

/* Returns the time of the spans of a kind, and sets *bytes to the sum of their bytes. Spans of
 * statistics count as spans of stages. Unless `stage` is -1, only the spans of that stage count.
 * With `cover`, time in which several spans overlap counts once; otherwise the result is the sum of
 * the spans' durations. */
static double spans_s(const struct gf_profile *picture, enum gf_span_kind kind, int stage,
                      bool cover, double *bytes)
{
    struct gf_interval *const interval =
        cover ? malloc((picture->span_count + 1) * sizeof *interval) : NULL;
    size_t count = 0;
    double sum_s = 0;
    *bytes = 0;
    for (size_t i = 0; i < picture->span_count; i++) {
        const struct gf_span *const span = &picture->spans[i];
        const bool counts =
            span->kind == kind || (kind == GF_SPAN_STAGE && span->kind == GF_SPAN_STATISTIC);
        if (!counts || (stage >= 0 && span->stage != stage))
            continue;
        if (interval)
            interval[count++] = (struct gf_interval){span->begin_s, span->end_s};
        sum_s += span->end_s - span->begin_s;
        *bytes += (double)span->bytes;
    }
    if (interval)
        sum_s = gf_intervals_union(interval, count);
    free(interval);
    return sum_s;
}

/* Returns the filter that gets a stage's time: the stencil of a fused stage, or the most expensive
 * filter of a run. */
static const struct gf_filter *filter_of(const struct gf_stage *stage)
{
    if (stage->filter == &gf_fused)
        return ((const struct gf_fused_run *)stage->params)->part[GF_FUSED_STENCIL].filter;
    if (stage->filter != &gf_point)
        return stage->filter;
    const struct gf_point_run *const run = stage->params;
    const struct gf_filter *dearest = run->item[0].filter;
    for (int i = 1; i < run->count; i++) {
        if (run->item[i].filter->cost.pixel > dearest->cost.pixel)
            dearest = run->item[i].filter;
    }
    return dearest;
}

/* Adds the stages' times. It makes the same plan as the pipeline did. */
static void add_stages(struct gf_seen *seen, const char *chain_text,
                       const struct gf_options *options, const struct gf_profile *picture,
                       bool cuda)
{
    struct gf_chain chain = {0};
    struct gf_plan plan = {0};
    double bytes;
    if (gf_chain_parse(chain_text, &chain, NULL))
        return;
    chain.no_fuse = options->no_fuse;
    const struct gf_plan_request request = {.orientation = 1, .on_device = cuda};
    if (!gf_plan_make_for(&chain, picture->in, &request, &plan, NULL) &&
        plan.stage_count == picture->stage_count) {
        for (int i = 0; i < plan.stage_count; i++)
            see(seen, gf_figure_of_filter(filter_of(&plan.stage[i]), cuda),
                spans_s(picture, GF_SPAN_STAGE, i, cuda, &bytes),
                gf_cost_stage_ns(&plan.stage[i], NULL, false) * 1e-9);
    }
    gf_plan_free(&plan);
    gf_chain_free(&chain);
}

static enum gf_file_format format_named(const char *name)
{
    const struct gf_file_type *type;
    for (int i = 0; (type = gf_file_type_at(i)); i++) {
        if (!strcmp(type->name, name))
            return type->format;
    }
    return GF_FILE_PNM;
}

static double pixels_of(struct gf_format format)
{
    return (double)format.width * format.height;
}

static void add_cpu_codecs(struct gf_seen *seen, const struct gf_options *options,
                           const struct gf_profile *picture)
{
    const double read = pixels_of(picture->in), written = pixels_of(picture->out);
    double times, bytes;
    enum gf_figure_id figure =
        gf_cost_decoder(format_named(picture->in_file), (double)picture->in_bytes, read, &times);
    see(seen, figure, spans_s(picture, GF_SPAN_DECODE, -1, false, &bytes), times * read * 1e-9);
    figure = gf_cost_encoder(format_named(picture->out_file), options, &times);
    see(seen, figure, spans_s(picture, GF_SPAN_ENCODE, -1, false, &bytes), times * written * 1e-9);
}

/* Adds a PNG that the GPU has encoded. The first PNG also waits for the encoder. */
static void add_device_png(struct gf_seen *seen, const struct gf_profile *picture)
{
    const double unit_s = pixels_of(picture->out) * 1e-9;
    double coded_s = 0, written_s = 0, bytes;
    for (size_t i = 0; i < picture->span_count; i++) {
        const struct gf_span *const span = &picture->spans[i];
        if (span->kind == GF_SPAN_ENCODE)
            *(span->bytes ? &coded_s : &written_s) += span->end_s - span->begin_s;
    }
    see(seen, GF_FIGURE_CUDA_PNG_FILE, written_s, unit_s);
    if (spans_s(picture, GF_SPAN_START, -1, true, &bytes) == 0)
        see(seen, GF_FIGURE_CUDA_PNG_ENCODE, coded_s, unit_s);
}

static void add_copies(struct gf_seen *seen, const struct gf_profile *picture)
{
    double bytes, s = spans_s(picture, GF_SPAN_UPLOAD, -1, true, &bytes);
    see(seen, GF_FIGURE_CUDA_UPLOAD, s, bytes * 1e-9);
    s = spans_s(picture, GF_SPAN_DOWNLOAD, -1, true, &bytes);
    see(seen, GF_FIGURE_CUDA_DOWNLOAD, s, bytes * 1e-9);
}

void gf_calibrate_see(const char *chain, const struct gf_options *options,
                      const struct gf_profile *profile, struct gf_seen *seen)
{
    const bool cuda = strncmp(profile->device, "cpu", 3);
    add_stages(seen, chain, options, profile, cuda);
    if (!cuda) {
        add_cpu_codecs(seen, options, profile);
        return;
    }
    add_copies(seen, profile);
    if (profile->device_encoded && format_named(profile->out_file) == GF_FILE_PNG)
        add_device_png(seen, profile);
}

/* Makes pictures and runs chains for the parts of a calibration. */

extern char **environ;

/* Returns a sample of a picture of smooth shapes of several sizes with grain. Its JPEG and PNG
 * files have as many bytes for each pixel as a photograph's. */
static float shade_at(int x, int y, int channel)
{
    return (float)(118 + 55 * sin(x * 0.011 + channel) * cos(y * 0.007) +
                   25 * sin((x + 2 * y) * 0.05) + 12 * sin(x * 0.31 + y * 0.23 * channel));
}

static bool write_rows(FILE *file, int width, int height, unsigned char *row)
{
    enum { CHANNELS = 3, TILE = 480 };
    static float shade[TILE][TILE][CHANNELS];
    uint32_t state = 1;
    for (int i = 0; i < TILE * TILE * CHANNELS; i++)
        (&shade[0][0][0])[i] = shade_at(i / CHANNELS % TILE, i / CHANNELS / TILE, i % CHANNELS);
    bool written = fprintf(file, "P6\n%d %d\n255\n", width, height) > 0;
    for (int y = 0; written && y < height; y++) {
        for (int i = 0; i < width * CHANNELS; i++) {
            state = state * 1664525u + 1013904223u; /* the generator of Numerical Recipes */
            const float grain = (float)(state >> 24) / 256 - 0.5F;
            row[i] = (unsigned char)((&shade[y % TILE][0][0])[i % (TILE * CHANNELS)] + 9 * grain);
        }
        written = fwrite(row, CHANNELS, (size_t)width, file) == (size_t)width;
    }
    return written;
}

enum gf_status gf_calibrator_make_file(const struct gf_calibrator *calibrator, const char *name,
                                       int width, int height, struct gf_made_file *made,
                                       struct gf_error *error)
{
    made->pixels = (double)width * height;
    snprintf(made->path, sizeof made->path, "%s/%s.ppm", calibrator->folder, name);
    unsigned char *const row = malloc((size_t)width * 3);
    if (!row)
        return gf_fail_memory(error);
    FILE *const file = fopen(made->path, "wb");
    const bool written = file && write_rows(file, width, height, row);
    free(row);
    if (!file || fclose(file) || !written)
        return gf_fail(error, GF_ERROR_OUTPUT, "%s: %m", made->path);
    return GF_OK;
}

struct gf_made_file gf_made_file_named(const struct gf_made_file *file, const char *ending)
{
    struct gf_made_file named = {.pixels = file->pixels};
    const int length = (int)(strrchr(file->path, '.') - file->path);
    snprintf(named.path, sizeof named.path, "%.*s%s", length, file->path, ending);
    return named;
}

double gf_clock_s(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

bool gf_calibrator_has_time(const struct gf_calibrator *calibrator, double seconds)
{
    return gf_now() + seconds < calibrator->end_s;
}

void gf_calibrator_set(struct gf_calibrator *calibrator, int figure, double value)
{
    (void)gf_figure_calibrate(&calibrator->calibration->figures, figure, value);
}

struct gf_options gf_calibrate_options(int threads)
{
    struct gf_options options = gf_options_default();
    options.device = GF_DEVICE_CPU;
    options.threads = threads;
    options.serial = threads == 1;
    options.spans = true;
    return options;
}

bool gf_calibrate_once(struct gf_pipeline *pipeline, const struct gf_made_file *in,
                       const struct gf_made_file *out, double *wall_s)
{
    const double begin_s = gf_now();
    const bool done = !gf_pipeline_run_file(pipeline, in->path, out->path, NULL);
    if (wall_s)
        *wall_s = gf_now() - begin_s;
    return done;
}

bool gf_calibrate_make(const char *chain, const struct gf_options *options,
                       const struct gf_made_file *in, const struct gf_made_file *out)
{
    struct gf_pipeline *pipeline = NULL;
    const bool done = !gf_pipeline_open(chain, options, &pipeline, NULL) &&
                      gf_calibrate_once(pipeline, in, out, NULL);
    gf_pipeline_close(pipeline);
    return done;
}

/* The figures that the runs of a chain have found; 0: none. */
struct findings {
    double value[GF_FIGURES_MAX];
    double running; /* the part of the spans' time in which the best run had a processor */
};

/* Takes the values of the run that was interrupted least and, of several such runs, the least
 * value, because other programs only add to it. */
static void take_values(const struct gf_seen *all, double running, struct findings *findings)
{
    const double about = 0.03;
    if (running < findings->running - about)
        return;
    const bool better = running > findings->running + about;
    for (int i = 0; i < GF_FIGURES_MAX; i++) {
        const struct gf_seen_figure *const seen = &all->figure[i];
        const double value = seen->unit_s > 0 ? seen->measured_s * running / seen->unit_s : 0;
        double *const known = &findings->value[i];
        if (value > 0 && (better || !*known || value < *known))
            *known = value;
    }
    findings->running = better ? running : findings->running;
}

/* Returns the least part of its spans' time in which a run had a processor. It is computed from the
 * processor time of one CPU thread, to which other programs add little. A GPU is measured by its
 * own clock. */
static double running_part(const struct gf_options *options, double processor_s,
                           const struct gf_profile *profile)
{
    double spans_s = 0;
    for (size_t i = 0; i < profile->span_count; i++)
        spans_s += profile->spans[i].end_s - profile->spans[i].begin_s;
    const bool one = options->device == GF_DEVICE_CPU && options->threads == 1;
    return one && spans_s > processor_s ? processor_s / spans_s : 1;
}

/* Runs a chain. The first run warms up caches, memory and the GPU for the others. */
static void run_chain(struct gf_pipeline *pipeline, const char *chain,
                      const struct gf_options *options, const struct gf_made_file *in,
                      const struct gf_made_file *out, struct findings *findings)
{
    enum { RUNS = 5, PATIENCE_MS = 100 };
    const double begin_s = gf_now();
    for (int run = 0; run < RUNS; run++) {
        struct gf_seen seen = {0};
        const double processor_s = gf_clock_s(CLOCK_PROCESS_CPUTIME_ID);
        if (!gf_calibrate_once(pipeline, in, out, NULL))
            return;
        const struct gf_profile *const profile = gf_pipeline_profile(pipeline);
        const double running =
            running_part(options, gf_clock_s(CLOCK_PROCESS_CPUTIME_ID) - processor_s, profile);
        gf_calibrate_see(chain, options, profile, &seen);
        const bool slow = gf_now() - begin_s > PATIENCE_MS * 1e-3;
        if (run || slow)
            take_values(&seen, running, findings);
        if (slow)
            return;
    }
}

void gf_calibrate_chain(struct gf_calibrator *calibrator, const char *chain,
                        const struct gf_options *options, const struct gf_made_file *in,
                        const struct gf_made_file *out, int first, int last)
{
    struct gf_pipeline *pipeline = NULL;
    struct findings findings = {0};
    if (!gf_calibrator_has_time(calibrator, 0) || gf_pipeline_open(chain, options, &pipeline, NULL))
        return;
    run_chain(pipeline, chain, options, in, out, &findings);
    gf_pipeline_close(pipeline);
    for (int i = first; i <= last; i++) {
        if (findings.value[i] > 0)
            gf_calibrator_set(calibrator, i, findings.value[i]);
    }
}

void gf_calibrate_filters(struct gf_calibrator *calibrator, const struct gf_options *options,
                          bool cuda)
{
    const struct gf_made_file out = gf_made_file_named(&calibrator->middle, "-out.ppm");
    const struct gf_filter *filter;
    for (int i = 0; (filter = gf_filter_at(i)); i++) {
        /* If another filter replaces this one in the plan, the other filter is measured by
         * itself. */
        const int figure = gf_figure_of_filter(filter, cuda);
        if (figure >= 0)
            gf_calibrate_chain(calibrator, filter->example ? filter->example : filter->name,
                               options, &calibrator->middle, &out, figure, figure);
    }
}

static double run_program_s(const struct gf_calibrator *calibrator, const char *device)
{
    struct gf_made_file out = gf_made_file_named(&calibrator->one, "-out.ppm");
    char choice[40];
    snprintf(choice, sizeof choice, "--device=%s", device);
    char *const words[] = {(char *)calibrator->program,  "-q", "--server=off", choice,   "-i",
                           (char *)calibrator->one.path, "-o", out.path,       "invert", NULL};
    posix_spawn_file_actions_t actions;
    pid_t child;
    int result = -1;
    posix_spawn_file_actions_init(&actions);
    for (int fd = 0; fd <= 2; fd++)
        posix_spawn_file_actions_addopen(&actions, fd, "/dev/null", O_RDWR, 0);
    const double begin_s = gf_now();
    const bool started =
        !posix_spawn(&child, calibrator->program, &actions, NULL, words, environ) &&
        waitpid(child, &result, 0) == child && !result;
    const double seconds = gf_now() - begin_s;
    posix_spawn_file_actions_destroy(&actions);
    return started ? seconds : 0;
}

double gf_calibrate_process_s(const struct gf_calibrator *calibrator, const char *device, int runs)
{
    enum { RUNS_MAX = 9 };
    double seconds[RUNS_MAX];
    int count = 0;
    while (calibrator->program && count < runs && count < RUNS_MAX &&
           gf_calibrator_has_time(calibrator, 0)) {
        seconds[count] = run_program_s(calibrator, device);
        if (!seconds[count++])
            return 0;
    }
    return count ? gf_timing_of(seconds, count).least_s : 0;
}
