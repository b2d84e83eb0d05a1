/* Estimates the time of a run from measured or declared figures and from the work that the run has
 * to do. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "batch/devices/devices.h"
#include "chain/plan.h"
#include "codec/formats.h"

struct device_figures {
    const struct gf_figures *figures;
    bool cuda;
};

/* Returns a filter's figure. The planner's own stages, such as stages that premultiply, have
 * none. */
static double times_of(const void *context, const struct gf_filter *filter)
{
    const struct device_figures *const of = context;
    const int figure = gf_figure_of_filter(filter, of->cuda);
    return figure >= 0 ? gf_figure(of->figures, figure) : of->cuda ? 0.001 : 1;
}

/* On a GPU the look-ups in tables beside a stencil cost almost nothing. */
static double stage_ns(const struct gf_stage *stage, const struct gf_figures *figures, bool cuda)
{
    const struct device_figures of = {figures, cuda};
    return gf_stage_ns(stage, times_of, &of, cuda);
}

double gf_cost_filter_ns(const struct gf_plan *plan, const struct gf_figures *figures, bool cuda)
{
    double sum = 0;
    for (int i = 0; i < plan->stage_count; i++)
        sum += stage_ns(&plan->stage[i], figures, cuda);
    return sum;
}

/* Returns the factor for a codec's time on a file. A part of the work grows with the bytes of the
 * file, the rest with the pixels; a photograph has `usual` bytes in a pixel. */
static double with_bytes(double bytes, double pixels, double usual, double part)
{
    return bytes < 0 ? 1 : 1 - part + part * bytes / (usual * pixels);
}

/* The figures of each format's decoder and encoder; 0 means the figures of PNM and PAM. */
static const struct {
    enum gf_figure_id decode, encode;
    struct gf_cost_device_coder device;
} coders[] = {
    [GF_FILE_JPEG] = {GF_FIGURE_JPEG_DECODE,
                      GF_FIGURE_JPEG_ENCODE,
                      {GF_FIGURE_CUDA_DECODE, GF_FIGURE_CUDA_ENCODE, GF_FIGURE_CUDA_FILE}},
    [GF_FILE_PNG] = {GF_FIGURE_PNG_DECODE,
                     GF_FIGURE_PNG_ENCODE,
                     {GF_FIGURE_CUDA_PNG_DECODE, GF_FIGURE_CUDA_PNG_ENCODE,
                      GF_FIGURE_CUDA_PNG_FILE}},
    [GF_FILE_WEBP] = {.decode = GF_FIGURE_WEBP_DECODE, .encode = GF_FIGURE_WEBP_ENCODE},
    [GF_FILE_TIFF] = {.decode = GF_FIGURE_TIFF_DECODE,
                      .encode = GF_FIGURE_TIFF_ENCODE,
                      .device = {.decode = GF_FIGURE_CUDA_DECODE, .file = GF_FIGURE_CUDA_FILE}},
    [GF_FILE_AVIF] = {.decode = GF_FIGURE_AVIF_DECODE, .encode = GF_FIGURE_AVIF_ENCODE},
    [GF_FILE_JXL] = {.decode = GF_FIGURE_JXL_DECODE, .encode = GF_FIGURE_JXL_ENCODE},
    [GF_FILE_HEIC] = {.decode = GF_FIGURE_HEIC_DECODE,
                      .device = {.decode = GF_FIGURE_CUDA_HEIC_DECODE,
                                 .file = GF_FIGURE_CUDA_HEIC_FILE}},
    [GF_FILE_JP2] = {.decode = GF_FIGURE_JP2_DECODE, .encode = GF_FIGURE_JP2_ENCODE},
    [GF_FILE_RAW] = {.decode = GF_FIGURE_RAW_DECODE},
    [GF_FILE_GIF] = {.decode = GF_FIGURE_GIF_DECODE, .encode = GF_FIGURE_GIF_ENCODE},
};
enum { CODERS = sizeof coders / sizeof *coders };

enum gf_figure_id gf_cost_decoder(enum gf_file_format format, double bytes, double pixels,
                                  double *times)
{
    *times = 1;
    if (format == GF_FILE_JPEG)
        *times = with_bytes(bytes, pixels, 0.28, 0.5);
    else if (format == GF_FILE_PNG)
        *times = with_bytes(bytes, pixels, 1.5, 0.6);
    else if (format == GF_FILE_HEIC)
        *times = with_bytes(bytes, pixels, 0.12, 0.4);
    const enum gf_figure_id figure = (int)format < CODERS ? coders[format].decode : 0;
    return figure ? figure : GF_FIGURE_PNM_DECODE;
}

enum gf_figure_id gf_cost_encoder(enum gf_file_format format, const struct gf_options *options,
                                  double *times)
{
    enum { USUAL_LEVEL = 6 };
    *times = gf_options_fit(options) ? GF_FITTED_TRIALS : 1;
    if (format == GF_FILE_PNG && options->png_level > 1) {
        *times = (double)options->png_level / USUAL_LEVEL;
        return GF_FIGURE_PNG_DEFLATE;
    }
    if (format == GF_FILE_WEBP && options->lossless)
        return GF_FIGURE_WEBP_LOSSLESS;
    const enum gf_figure_id figure = (int)format < CODERS ? coders[format].encode : 0;
    return figure ? figure : GF_FIGURE_PNM_ENCODE;
}

struct gf_cost_device_coder gf_cost_device_coder(enum gf_file_format format)
{
    return (int)format < CODERS ? coders[format].device : (struct gf_cost_device_coder){0};
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double ms(const struct gf_cost_work *work, enum gf_figure_id figure)
{
    return gf_figure(work->figures, figure) * 1e-3;
}

/* Returns a number of processors: that many whole cores would do the same work as this machine's
 * processors, which share cores and slow each other down. */
static double speed(const struct gf_cost_work *work)
{
    return work->processors > 1 ? work->processors * gf_figure(work->figures, GF_FIGURE_SHARE) : 1;
}

/* Returns the time of one of `files` pictures that are processed at the same time by threads that
 * share them. The work that threads do side by side is divided among them. While one thread does
 * the part that only one thread can do, the other threads soon have to wait, since they can be
 * ahead of it or behind it by one ring of bands at most. */
static double shared_s(const struct gf_cost_work *work, const struct gf_cost_codec *codec,
                       double filter_ns)
{
    const double all_ns = codec->decode_ns + filter_ns + codec->encode_ns;
    return work->pixels * 1e-9 * (codec->alone_ns + all_ns * (double)work->files / speed(work));
}

bool gf_cost_one_thread_each(size_t pictures, int workers)
{
    const size_t turns = (pictures + (size_t)workers - 1) / (size_t)workers;
    return pictures > 1 && 2 * turns * (size_t)workers <= 3 * pictures;
}

/* Returns the number of rounds in which the pictures are processed. The last round of many leaves
 * some processors idle. If there are so few pictures that most processors would be idle, two
 * threads share each picture. */
static double turns(const struct gf_cost_work *work)
{
    const double files = (double)work->files, processors = work->processors;
    if (files >= 4 * processors)
        return (files + (processors - 1) / 2) / processors;
    if (work->processors == 1 || gf_cost_one_thread_each(work->files, work->processors))
        return ceil(files / processors);
    return ceil(2 * files / processors) / 2;
}

bool gf_cost_shares(const struct gf_cost_work *work)
{
    return work->processors > 1 && work->files < (size_t)work->processors;
}

/* Returns the time of all pictures on the processors, in seconds. */
static double pictures_s(const struct gf_cost_work *work, const struct gf_cost_codec *codec,
                         double filter_ns)
{
    const double file_s = ms(work, GF_FIGURE_FILE),
                 sum_ns = codec->decode_ns + filter_ns + codec->encode_ns;
    if (gf_cost_shares(work))
        return file_s + shared_s(work, codec, filter_ns);
    return (work->pixels * 1e-9 * sum_ns + file_s) * turns(work) * work->processors / speed(work);
}

/* Returns the time in which the threads that share a picture start; a small picture has work for
 * only a few threads. */
static double threads_s(const struct gf_cost_work *work)
{
    const double megapixels = work->pixels * 1e-6;
    return ms(work, GF_FIGURE_THREADS) * (megapixels < 1 ? megapixels : 1);
}

double gf_cost_cpu_s(const struct gf_cost_work *work)
{
    const double whole_ns = work->in_turn ? gf_figure(work->figures, GF_FIGURE_WHOLE) : 0;
    struct gf_cost_codec codec = work->codec;
    codec.alone_ns += whole_ns;
    return ms(work, GF_FIGURE_PROCESS) + (gf_cost_shares(work) ? threads_s(work) : 0) +
           pictures_s(work, &codec, work->filter_ns + (gf_cost_shares(work) ? 0 : whole_ns));
}

/* Returns the figure for the time that the first pictures wait for the GPU's codec. */
static enum gf_figure_id cost_first(const struct gf_cost_work *work)
{
    if (work->files == 1)
        return GF_FIGURE_CUDA_FIRST;
    return work->device_unpacks ? GF_FIGURE_CUDA_PNG_CROWD : GF_FIGURE_CUDA_CROWD;
}

static double start_s(const struct gf_cost_work *work)
{
    const enum gf_figure_id start =
        work->server == GF_COST_SERVER_BESIDE ? GF_FIGURE_CUDA_BESIDE : GF_FIGURE_CUDA_START;
    return ms(work, start) + (work->device_codec ? ms(work, cost_first(work)) : 0) +
           ms(work, GF_FIGURE_CUDA_END);
}

bool gf_cost_takes_slow(bool is_single, bool slow_files)
{
    return is_single || slow_files;
}

/* Returns the time that decoding takes for pictures of which the GPU decodes a few as slowly as
 * many: at most as many of them as there are workers are decoded at the same time, and then the
 * next ones. In long lists half of the workers have a picture that is being decoded. Returns 0 for
 * other pictures. */
static double ways_s(const struct gf_cost_work *work)
{
    const double at_once = work->files < GF_BATCH_MANY_PICTURES ? GF_BATCH_SLOW_WORKERS
                                                                : GF_BATCH_MANY_SLOW_WORKERS / 2,
                 ways = (double)work->files * work->slow_share / at_once;
    return work->slow_files ? ms(work, GF_FIGURE_CUDA_GROUP) * larger(ways, 1) : 0;
}

/* Returns the time that the GPU itself works. */
static double gpu_s(const struct gf_cost_work *work)
{
    return work->pixels * 1e-9 * work->cuda_ns * (double)work->files;
}

struct gf_batch_pace gf_cost_pace(const struct gf_cost_work *work)
{
    const double too_long = 4, cpu_s = pictures_s(work, &work->cuda_codec, 0),
                 work_s = larger(larger(gpu_s(work) / too_long, ways_s(work)), cpu_s);
    return (struct gf_batch_pace){.inputs_a_second = (double)work->files / work_s,
                                  .busy = cpu_s / work_s};
}

double gf_cost_cuda_s(const struct gf_cost_work *work)
{
    const double cpu_s = pictures_s(work, &work->cuda_codec, 0),
                 work_s = work->files > 1 ? larger(larger(gpu_s(work), cpu_s), ways_s(work))
                                          : gpu_s(work) + cpu_s;
    return ms(work, GF_FIGURE_PROCESS) +
           (work->server == GF_COST_SERVER_WORKS ? ms(work, GF_FIGURE_SERVER) : start_s(work)) +
           work_s;
}

/* Returns the origin of the figures, for the reason of the choice: the least certain origin among
 * the figures that matter most. */
static const char *origin(const struct gf_cost_work *work)
{
    return work->figures && work->figures->calibrated[GF_FIGURE_CUDA_START] > 0
               ? "figures calibrated here"
               : "declared figures";
}

enum gf_device_kind gf_cost_decide(const struct gf_cost_work *work, char *reason, size_t size)
{
    const double cpu_s = gf_cost_cpu_s(work), cuda_s = gf_cost_cuda_s(work);
    const bool cpu = cpu_s <= cuda_s;
    snprintf(reason, size,
             "it should be done sooner, %.2f s (%s: %.2f s) for %zu file%s of %.1f Mpixel, %d "
             "processor%s, by %s",
             cpu ? cpu_s : cuda_s, cpu ? "a GPU" : "the CPU", cpu ? cuda_s : cpu_s, work->files,
             work->files == 1 ? "" : "s", work->pixels * 1e-6, work->processors,
             work->processors == 1 ? "" : "s", origin(work));
    return cpu ? GF_DEVICE_CPU : GF_DEVICE_CUDA;
}

/* ---- the estimates as text ---- */

enum { LINE_SIZE = 380 };

struct text {
    const struct gf_cost_work *work;
    bool gpu;
    void (*line)(void *context, const char *text);
    void *context;
};

static bool is_of_gpu(int figure)
{
    return !strncmp(gf_figure_info(figure).name, "gpu.", 4) ||
           !strncmp(gf_figure_info(figure).name, "cuda-", 5);
}

/* Whether the estimates depend on the figure. */
static bool uses(const struct text *text, int figure)
{
    const struct gf_cost_work *const work = text->work;
    const bool starts_gpu = text->gpu && work->server != GF_COST_SERVER_WORKS;
    switch (figure) {
    case GF_FIGURE_PROCESS:
    case GF_FIGURE_FILE:
        return true;
    case GF_FIGURE_SHARE:
        return work->processors > 1;
    case GF_FIGURE_THREADS:
        return gf_cost_shares(work);
    case GF_FIGURE_STRIPS:
        return gf_cost_shares(work) &&
               (work->uses[GF_FIGURE_JPEG_DECODE] || work->uses[GF_FIGURE_JPEG_ENCODE]);
    case GF_FIGURE_WHOLE:
        return work->in_turn;
    case GF_FIGURE_CUDA_START:
        return starts_gpu && work->server == GF_COST_NO_SERVER;
    case GF_FIGURE_CUDA_BESIDE:
        return starts_gpu && work->server == GF_COST_SERVER_BESIDE;
    case GF_FIGURE_CUDA_END:
        return starts_gpu;
    case GF_FIGURE_CUDA_FIRST:
    case GF_FIGURE_CUDA_CROWD:
    case GF_FIGURE_CUDA_PNG_CROWD:
        return starts_gpu && work->device_codec && figure == (int)cost_first(work);
    case GF_FIGURE_CUDA_GROUP:
        return text->gpu && work->slow_files;
    case GF_FIGURE_SERVER:
        return text->gpu && work->server == GF_COST_SERVER_WORKS;
    default:
        return work->uses[figure] && (text->gpu || !is_of_gpu(figure));
    }
}

enum source { DECLARED, CALIBRATED, SOURCES };

static enum source source_of(const struct gf_cost_work *work, int figure)
{
    return work->figures && work->figures->calibrated[figure] > 0 ? CALIBRATED : DECLARED;
}

/* Adds a word to the line. A full line is sent, and a new one begins. */
static void add(const struct text *text, char line[LINE_SIZE], const char *heading,
                const char *word)
{
    const size_t length = strlen(line);
    if (length + strlen(word) + 3 > LINE_SIZE) {
        text->line(text->context, line);
        *line = '\0';
    }
    const size_t at = strlen(line);
    snprintf(line + at, LINE_SIZE - at, "%s%s", at ? ", " : heading, word);
}

static void put_source(const struct text *text, enum source source)
{
    static const char *const headings[SOURCES] = {"declared: ", "calibrated: "};
    const struct gf_figures *const figures = text->work->figures;
    const int count = gf_figure_count();
    char line[LINE_SIZE] = "", word[120];
    for (int i = 0; i < count; i++) {
        if (!uses(text, i) || source_of(text->work, i) != source)
            continue;
        const struct gf_figure_info info = gf_figure_info(i);
        snprintf(word, sizeof word, "%s %.3g%s%s", info.name, gf_figure(figures, i),
                 *info.unit ? " " : "", info.unit);
        add(text, line, headings[source], word);
    }
    if (*line)
        text->line(text->context, line);
}

void gf_cost_describe(const struct gf_cost_work *work, bool gpu,
                      void (*line)(void *context, const char *text), void *context)
{
    const struct text text = {work, gpu, line, context};
    char estimate[120];
    const int length =
        snprintf(estimate, sizeof estimate, "estimate: CPU %.3f s", gf_cost_cpu_s(work));
    if (gpu)
        snprintf(estimate + length, sizeof estimate - (size_t)length, ", GPU %.3f s%s",
                 gf_cost_cuda_s(work),
                 work->server == GF_COST_SERVER_WORKS ? " by the server" : "");
    line(context, estimate);
    for (enum source source = DECLARED; source < SOURCES; source++)
        put_source(&text, source);
}
