#include "batch/cost.h"

#include <stdio.h>

#include "base/cpu.h"
#include "batch/batch_work.h"
#include "chain/chain.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "engine/backend.h"
#include "engine/device_codec.h"
#include "pixel/point.h"

/* Measured on an H200 machine: from exec to the first kernel, and from the last one to the end of
 * the process. */
static const double cuda_start_s = 0.20, cuda_end_s = 0.09;
/* A pixel of 3 bytes uploaded or downloaded, and one that the GPU decodes or encodes: the time
 * until the GPU takes the next, light kernels included. */
static const double cuda_copy_ns = 0.075, cuda_jpeg_ns = 0.025;
/* What a thread does for a JPEG that the GPU decodes or encodes: it reads or writes the file. */
static const double cuda_file_ns = 0.12;
/* A kernel's time is that part of one CPU thread's. */
static const double cuda_speed = 1500;
/* Opening, planning, writing: what a file takes whatever its size. */
static const double file_s = 100e-6;

static double filter_ns(const struct gf_filter_cost *cost, double radius)
{
    const double side = 2 * radius + 1;
    if (cost->radius_max && radius > cost->radius_max)
        return cost->row_beyond * radius;
    const double ns = cost->pixel + cost->row * radius + cost->tap * side * side;
    return ns > 0 ? ns : GF_COST_PIXEL;
}

/* Fused point filters are as dear as the dearest of them: most are one look into a table. */
static double point_run_ns(const struct gf_point_run *run)
{
    double most = GF_COST_PIXEL;
    for (int i = 0; i < run->count; i++) {
        const double ns = filter_ns(&run->item[i].filter->cost, 0);
        most = ns > most ? ns : most;
    }
    return most;
}

static double stage_ns(const struct gf_stage *stage)
{
    const int y = stage->out.height / 2;
    int first = y, end = y + 1;
    if (stage->filter == &gf_point)
        return point_run_ns(stage->params);
    gf_stage_input_rows(stage, y, y + 1, &first, &end);
    return filter_ns(&stage->filter->cost,
                     gf_stage_needs_whole(stage) ? 0 : (end - first - 1) / 2.0);
}

double gf_cost_filter_ns(const struct gf_plan *plan)
{
    double sum = 0;
    for (int i = 0; i < plan->stage_count; i++) {
        const struct gf_format out = plan->stage[i].out;
        sum += stage_ns(&plan->stage[i]) * (double)gf_row_bytes(out) / 3 * (double)out.height;
    }
    return sum;
}

/* Nanoseconds a pixel of one thread, measured on photographs of 24 megapixels. */
static double decode_ns(enum gf_file_format format)
{
    return format == GF_FILE_JPEG ? 5 : format == GF_FILE_PNG ? 35 : 0.5;
}

static double encode_ns(enum gf_file_format format)
{
    return format == GF_FILE_JPEG ? 4.2 : format == GF_FILE_PNG ? 40 : 1;
}

/* The number of workers, `most` of which could work, that find a picture to work on. */
static double busy(const struct gf_cost_work *work, double most)
{
    return (double)work->files < most ? (double)work->files : most;
}

/* A single picture is decoded and encoded by a thread each, side by side where it streams through;
 * many pictures share all processors. */
static double codec_s(const struct gf_cost_work *work, const struct gf_cost_codec *codec)
{
    const double sum = codec->decode_ns + codec->encode_ns;
    const double most = codec->decode_ns > codec->encode_ns ? codec->decode_ns : codec->encode_ns;
    const double each = work->pixels * 1e-9 * (work->files == 1 && !work->in_turn ? most : sum);
    return (each + file_s) * (double)work->files / busy(work, work->processors);
}

double gf_cost_cpu_s(const struct gf_cost_work *work)
{
    const double all = work->pixels * (double)work->files * 1e-9;
    return codec_s(work, &work->codec) + all * work->filter_ns / work->processors;
}

double gf_cost_cuda_s(const struct gf_cost_work *work)
{
    const double all = work->pixels * (double)work->files * 1e-9;
    return cuda_start_s + codec_s(work, &work->cuda_codec) +
           all * (work->cuda_ns + work->filter_ns / cuda_speed) + cuda_end_s;
}

enum gf_device_kind gf_cost_decide(const struct gf_cost_work *work, char *reason, size_t size)
{
    const double cpu_s = gf_cost_cpu_s(work), cuda_s = gf_cost_cuda_s(work);
    const bool cpu = cpu_s <= cuda_s;
    snprintf(reason, size,
             "it should be done sooner, %.2f s (%s: %.2f s) for %zu file%s of %.1f Mpixel, %d "
             "processor%s",
             cpu ? cpu_s : cuda_s, cpu ? "a GPU" : "the CPU", cpu ? cuda_s : cpu_s, work->files,
             work->files == 1 ? "" : "s", work->pixels * 1e-6, work->processors,
             work->processors == 1 ? "" : "s");
    return cpu ? GF_DEVICE_CPU : GF_DEVICE_CUDA;
}

/* ---- looking into the inputs ---- */

enum { SAMPLES = 8 };

struct sample {
    double pixels, filter, cuda; /* sums; the latter two and the next two of nanoseconds */
    struct gf_cost_codec codec, cuda_codec;
    int files;
    bool in_turn, device_codec;
};

static enum gf_file_format output_format(const struct gf_batch_request *request,
                                         enum gf_file_format in)
{
    enum gf_file_format file = request->options.format;
    if (file == GF_FILE_AUTO && !request->output->is_pattern)
        file = gf_file_format_named(request->output->text);
    return file == GF_FILE_AUTO ? in : file;
}

static void add_codecs(struct sample *sample, const struct gf_batch_request *request,
                       const struct gf_plan *plan, enum gf_file_format in, bool device_decodes)
{
    const enum gf_file_format out = output_format(request, in);
    const double read = (double)plan->in.width * plan->in.height,
                 written = (double)plan->out.width * plan->out.height;
    const bool device = request->options.codec != GF_CODEC_CPU,
               device_encodes = device && gf_device_encodes(out, plan->out, &request->options);
    device_decodes &= device;
    sample->codec.decode_ns += read * decode_ns(in);
    sample->codec.encode_ns += written * encode_ns(out);
    sample->cuda_codec.decode_ns += read * (device_decodes ? cuda_file_ns : decode_ns(in));
    sample->cuda_codec.encode_ns += written * (device_encodes ? cuda_file_ns : encode_ns(out));
    sample->cuda += read * (device_decodes ? cuda_jpeg_ns : cuda_copy_ns) +
                    written * (device_encodes ? cuda_jpeg_ns : cuda_copy_ns);
    sample->device_codec |= device_decodes || device_encodes;
}

static void add_sample(struct sample *sample, const struct gf_batch_request *request,
                       const struct gf_chain *chain, struct gf_format format,
                       enum gf_file_format in, bool device_decodes)
{
    struct gf_plan plan = {0};
    if (!gf_plan_make(chain, format, 1, &plan, NULL)) {
        sample->pixels += (double)format.width * format.height;
        sample->filter += gf_cost_filter_ns(&plan);
        add_codecs(sample, request, &plan, in, device_decodes);
        sample->in_turn |= plan.segment_count > 1;
        sample->files++;
    }
    gf_plan_free(&plan);
}

/* A stream cannot be looked into: one large picture is assumed. */
static void look(struct sample *sample, const struct gf_batch_request *request,
                 const struct gf_chain *chain, const char *path)
{
    const struct gf_format unknown = {.width = 7680, .height = 4320, .channels = 3, .bits = 8};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    unsigned char head[16];
    size_t got = 0;
    struct gf_options options = request->options;
    options.warn = NULL;
    if (gf_batch_is_stream(path)) {
        add_sample(sample, request, chain, unknown, GF_FILE_PNM, false);
        return;
    }
    if (!gf_input_open(path, false, &input, NULL) &&
        !gf_input_peek(input, head, sizeof head, &got, NULL) &&
        !gf_source_open(input, &options, &source, NULL)) {
        add_sample(sample, request, chain, source->format, gf_file_format_of(head, got),
                   source->for_device_codec);
        source->close(source);
    }
    gf_input_close(input);
}

static struct gf_cost_codec for_each_pixel(struct gf_cost_codec sum, double pixels)
{
    return (struct gf_cost_codec){sum.decode_ns / pixels, sum.encode_ns / pixels};
}

static size_t files_of_shard(const struct gf_batch_request *request)
{
    const size_t step = request->shards ? (size_t)request->shards : 1;
    const size_t first = request->shards ? (size_t)(request->shard - 1) : 0;
    return (request->inputs->count - first + step - 1) / step;
}

static bool take_samples(const struct gf_batch_request *request, struct sample *sample)
{
    const size_t first = request->shards ? (size_t)(request->shard - 1) : 0;
    const size_t step = request->shards ? (size_t)request->shards : 1;
    const size_t files = files_of_shard(request);
    struct gf_chain chain = {0};
    const enum gf_status status = gf_chain_parse(request->chain, &chain, NULL);
    *sample = (struct sample){0};
    for (size_t i = 0; !status && i < SAMPLES && i < files; i++) {
        const size_t turn = files <= SAMPLES ? i : i * files / SAMPLES;
        look(sample, request, &chain, request->inputs->item[first + turn * step].path);
    }
    gf_chain_free(&chain);
    return sample->files > 0;
}

static struct gf_cost_work work_of(const struct gf_batch_request *request,
                                   const struct sample *sample)
{
    const int threads = request->options.threads;
    return (struct gf_cost_work){.files = files_of_shard(request),
                                 .pixels = sample->pixels / sample->files,
                                 .filter_ns = sample->filter / sample->pixels,
                                 .cuda_ns = sample->cuda / sample->pixels,
                                 .codec = for_each_pixel(sample->codec, sample->pixels),
                                 .cuda_codec = for_each_pixel(sample->cuda_codec, sample->pixels),
                                 .in_turn = sample->in_turn,
                                 .processors = threads > 0 ? threads : gf_cpu_count()};
}

static void describe_pictures(const struct sample *sample, struct gf_cost_choice *choice)
{
    choice->device_codec = sample->device_codec;
    choice->pixels = sample->pixels / sample->files;
}

struct gf_cost_choice gf_cost_choose(const struct gf_batch_request *request, char *reason,
                                     size_t size)
{
    struct gf_cost_choice choice = {.device = GF_DEVICE_CPU};
    struct sample sample;
    const bool asked = request->options.device == GF_DEVICE_CUDA || request->devices ||
                       request->options.codec == GF_CODEC_GPU;
    const char *why_not = "";
    if (asked) {
        choice.device = GF_DEVICE_CUDA;
        if (files_of_shard(request) > 1 && take_samples(request, &sample))
            describe_pictures(&sample, &choice);
        return choice;
    }
    if (!request->chain || !*request->chain) {
        why_not = "there is nothing to filter";
    } else if (gf_backend_cuda_likely(&why_not)) {
        if (take_samples(request, &sample)) {
            const struct gf_cost_work work = work_of(request, &sample);
            choice.device = gf_cost_decide(&work, reason, size);
            describe_pictures(&sample, &choice);
            return choice;
        }
        why_not = "no input can be read";
    }
    snprintf(reason, size, "%s", why_not);
    return choice;
}
