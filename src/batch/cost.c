#include "batch/cost.h"

#include <stdio.h>

#include "base/cpu.h"
#include "batch/batch_work.h"
#include "chain/chain.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "engine/backend.h"
#include "engine/jpeg_device.h"
#include "pixel/point.h"

/* Measured on an H200 machine: from exec to the first kernel, and from the last one to the end of
 * the process. */
static const double cuda_start_s = 0.20, cuda_end_s = 0.09;
/* Upload and download of 3 bytes a pixel, and light kernels. */
static const double cuda_pixel_ns = 0.15;
/* nvJPEG's start and end; the busiest part of the device for its pictures; and of one thread, which
 * reads and checks them and writes the results. */
static const double codec_start_s = 0.9, codec_pixel_ns = 0.17, codec_host_ns = 1.8;
/* Pictures that it takes to keep the device's decoders busy. */
static const double codec_engines = 7;
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

/* The CPU's codecs. A single picture's are one thread each, side by side where it streams through;
 * those of many pictures share all processors. */
static double codec_s(const struct gf_cost_work *work)
{
    const double sum = work->decode_ns + work->encode_ns;
    const double most = work->decode_ns > work->encode_ns ? work->decode_ns : work->encode_ns;
    const double each = work->pixels * 1e-9 * (work->files == 1 && !work->in_turn ? most : sum);
    return (each + file_s) * (double)work->files / busy(work, work->processors);
}

double gf_cost_cpu_s(const struct gf_cost_work *work)
{
    const double all = work->pixels * (double)work->files * 1e-9;
    return codec_s(work) + all * work->filter_ns / work->processors;
}

double gf_cost_cuda_s(const struct gf_cost_work *work)
{
    const double all = work->pixels * (double)work->files * 1e-9;
    return cuda_start_s + codec_s(work) + all * (cuda_pixel_ns + work->filter_ns / cuda_speed) +
           cuda_end_s;
}

double gf_cost_codec_s(const struct gf_cost_work *work)
{
    const double all = work->pixels * (double)work->files * 1e-9;
    const double host = busy(work, work->processors);
    const double host_ns = codec_host_ns / host;
    const double device_ns = codec_pixel_ns * codec_engines / busy(work, codec_engines);
    return cuda_start_s + codec_start_s + file_s * (double)work->files / host +
           all * ((host_ns > device_ns ? host_ns : device_ns) + work->filter_ns / cuda_speed) +
           cuda_end_s;
}

struct gf_cost_choice gf_cost_decide(const struct gf_cost_work *work, bool asked, char *reason,
                                     size_t size)
{
    const double cpu_s = gf_cost_cpu_s(work), plain_s = gf_cost_cuda_s(work),
                 codec_s = gf_cost_codec_s(work);
    const bool codec = work->for_device_codec && codec_s < plain_s;
    const double cuda_s = codec ? codec_s : plain_s;
    const bool cpu = !asked && cpu_s <= cuda_s;
    if (!asked)
        snprintf(reason, size,
                 "it should be done sooner, %.2f s (%s: %.2f s) for %zu file%s of %.1f Mpixel, %d "
                 "processor%s",
                 cpu ? cpu_s : cuda_s, cpu ? "a GPU" : "the CPU", cpu ? cuda_s : cpu_s, work->files,
                 work->files == 1 ? "" : "s", work->pixels * 1e-6, work->processors,
                 work->processors == 1 ? "" : "s");
    return (struct gf_cost_choice){cpu ? GF_DEVICE_CPU : GF_DEVICE_CUDA,
                                   codec && !cpu ? GF_CODEC_GPU_IF_FAST : GF_CODEC_CPU};
}

/* ---- looking into the inputs ---- */

enum { SAMPLES = 8 };

struct sample {
    double pixels, decode, filter, encode; /* sums; the latter three of nanoseconds */
    int files;
    int for_device_codec; /* files */
    bool in_turn;
};

static bool fits_codec(struct gf_format format)
{
    const struct gf_jpeg_info info = {.width = format.width, .height = format.height};
    return gf_jpeg_device_takes(&info);
}

static void add_sample(struct sample *sample, const struct gf_batch_request *request,
                       const struct gf_chain *chain, struct gf_format format,
                       enum gf_file_format in, bool for_device_codec)
{
    struct gf_plan plan = {0};
    if (!gf_plan_make(chain, format, 1, &plan, NULL)) {
        const double pixels = (double)format.width * format.height,
                     out = (double)plan.out.width * plan.out.height;
        enum gf_file_format file = request->options.format;
        if (file == GF_FILE_AUTO && !request->output->is_pattern)
            file = gf_file_format_named(request->output->text);
        sample->pixels += pixels;
        sample->decode += pixels * decode_ns(in);
        sample->filter += gf_cost_filter_ns(&plan);
        if (file == GF_FILE_AUTO)
            file = in;
        sample->encode += out * encode_ns(file);
        sample->for_device_codec += for_device_codec && file == GF_FILE_JPEG &&
                                    !request->options.progressive && fits_codec(format) &&
                                    fits_codec(plan.out);
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

static bool take_samples(const struct gf_batch_request *request, size_t files,
                         struct gf_cost_work *work)
{
    const size_t first = request->shards ? (size_t)(request->shard - 1) : 0;
    const size_t step = request->shards ? (size_t)request->shards : 1;
    struct gf_chain chain = {0};
    struct sample sample = {0};
    if (gf_chain_parse(request->chain, &chain, NULL)) {
        gf_chain_free(&chain);
        return false;
    }
    for (size_t i = 0; i < SAMPLES && i < files; i++) {
        const size_t turn = files <= SAMPLES ? i : i * files / SAMPLES;
        look(&sample, request, &chain, request->inputs->item[first + turn * step].path);
    }
    gf_chain_free(&chain);
    if (!sample.files)
        return false;
    *work = (struct gf_cost_work){
        .files = files,
        .pixels = sample.pixels / sample.files,
        .decode_ns = sample.decode / sample.pixels,
        .filter_ns = sample.filter / sample.pixels,
        .encode_ns = sample.encode / sample.pixels,
        .in_turn = sample.in_turn,
        .for_device_codec = request->options.codec == GF_CODEC_AUTO && files > 1 &&
                            sample.for_device_codec == sample.files && gf_jpeg_device_likely(),
        .processors = request->options.threads > 0 ? request->options.threads : gf_cpu_count()};
    return true;
}

struct gf_cost_choice gf_cost_choose(const struct gf_batch_request *request, char *reason,
                                     size_t size)
{
    const bool asked = request->options.device == GF_DEVICE_CUDA || request->devices;
    const size_t step = request->shards ? (size_t)request->shards : 1;
    const size_t first = request->shards ? (size_t)(request->shard - 1) : 0;
    const size_t files = (request->inputs->count - first + step - 1) / step;
    struct gf_cost_work work;
    const char *why_not = "";
    if (asked && (files == 1 || request->options.codec == GF_CODEC_CPU))
        ; /* there is nothing to choose: for one file its codec does not pay */
    else if (!request->chain || !*request->chain)
        why_not = "there is nothing to filter";
    else if (!gf_backend_cuda_likely(&why_not))
        ;
    else if (take_samples(request, files, &work))
        return gf_cost_decide(&work, asked, reason, size);
    else
        why_not = "no input can be read";
    if (!asked)
        snprintf(reason, size, "%s", why_not);
    return (struct gf_cost_choice){asked ? GF_DEVICE_CUDA : GF_DEVICE_CPU, GF_CODEC_CPU};
}
