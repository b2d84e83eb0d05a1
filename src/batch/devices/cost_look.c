/* Collects the facts about the inputs that an estimate needs, from some of their headers. */
#include <stdio.h>
#include <string.h>

#include "base/cpu.h"
#include "batch/devices/devices.h"
#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "engine/backend.h"
#include "engine/device_codec.h"
#include "pipeline/pipeline_internal.h"

enum { SAMPLES = 16 };

/* The sums over the pictures whose headers were read; times are in nanoseconds. */
struct sample {
    const struct gf_batch_request *request;
    /* The present output. For each picture all outputs follow one another. */
    struct gf_batch_output output;
    const struct gf_chain *chain; /* the chain of the present output */
    bool awake;                   /* the GPU that would process the pictures has been started */
    int decoded;     /* the sum of the reductions at which earlier outputs decode this picture */
    size_t pictures; /* the number of pictures of the whole batch */
    int processors;
    double pixels, filter, cuda; /* of each picture; of an animation, of one frame */
    double all_pixels;           /* the pixels of all frames of all pictures */
    struct gf_cost_codec codec, cuda_codec;
    int files;
    bool in_turn, device_codec, device_unpacks;
    bool takes_slow; /* gf_cost_takes_slow() of the whole batch */
    bool marked;     /* the present picture is a PNG whose stripes all processors read, as in struct
                      * look */
    bool uses[GF_FIGURES_MAX];
};

/* The facts in the header of a picture. */
struct look {
    struct gf_format format;
    enum gf_file_format file;
    double bytes; /* the size of the file; -1: not known */
    int frames;   /* the number of frames that are filtered */
    bool device_decodes;
    bool several_scans; /* a JPEG that the GPU decodes in batches only */
    bool marked;        /* a PNG whose stripes all processors read */
    bool unpacks;       /* a PNG that a GPU decodes */
    bool slow;          /* a GPU decodes a few such files as slowly as many */
    /* The file is decoded at 1 / reduction of this size; from_level: it holds that size, too. */
    int reduction, width, height;
    bool from_level;
    struct gf_rectangle window; /* the part of the picture that is decoded; width 0: all of it */
};

static enum gf_file_format output_format(const struct gf_batch_output *output,
                                         enum gf_file_format in)
{
    enum gf_file_format file = output->options.format;
    if (file == GF_FILE_AUTO)
        file = gf_file_format_named(output->name->text);
    return file == GF_FILE_AUTO ? in : file;
}

enum { STRIPS_LEAST = 1 << 20 };

/* How many times longer a JPEG of several scans takes than one of a single scan: on the CPU, and on
 * the GPU in a batch. */
static const double SCANS_TIMES = 2.5;

/* Returns how many times more work several threads do on a picture than one thread. Large JPEGs are
 * cut into strips, unless every processor has a picture of its own. */
static double strips(const struct sample *sample, enum gf_figure_id figure, double pixels)
{
    const bool jpeg = figure == GF_FIGURE_JPEG_DECODE || figure == GF_FIGURE_JPEG_ENCODE;
    return jpeg && pixels >= STRIPS_LEAST ? gf_figure(sample->request->figures, GF_FIGURE_STRIPS)
                                          : 1;
}

/* Returns the work that one thread does alone if several threads share a picture, for a pixel or as
 * a part of the work. Threads share a large JPEG, the bytes of a large PNM and the compression of a
 * PNG. When a PNG is decompressed, one thread does the larger half, unless the file is marked as
 * one of stripes. */
static double alone_ns(struct sample *sample, enum gf_figure_id figure, double work, double pixels)
{
    enum gf_figure_id alone = 0;
    switch (figure) {
    case GF_FIGURE_JPEG_DECODE:
    case GF_FIGURE_JPEG_ENCODE:
        if (pixels < STRIPS_LEAST)
            return work;
        alone = GF_FIGURE_JPEG_ALONE;
        break;
    case GF_FIGURE_PNM_DECODE:
    case GF_FIGURE_PNM_ENCODE:
        alone = GF_FIGURE_PNM_ALONE;
        break;
    case GF_FIGURE_PNG_DECODE:
        return sample->marked ? 0 : 0.65 * work;
    case GF_FIGURE_PNG_ENCODE:
    case GF_FIGURE_PNG_DEFLATE:
    case GF_FIGURE_CUDA_FILE:
        return 0;
    default:
        return work;
    }
    sample->uses[alone] = true;
    return gf_figure(sample->request->figures, alone) * pixels;
}

/* Adds a codec's work on `pixels` pixels to *ns, the sum of decoding or of encoding, and adds the
 * part that one thread does alone to *sum_alone_ns. `shared` tells that several threads work on a
 * picture if the format allows it. */
static void add_codec(struct sample *sample, enum gf_figure_id figure, double times, bool shared,
                      double pixels, double *ns, double *sum_alone_ns)
{
    const struct gf_figures *const figures = sample->request->figures;
    const double work = gf_figure(figures, figure) * times * pixels;
    const bool by_several = shared && sample->pictures < (size_t)sample->processors;
    sample->uses[figure] = true;
    *ns += work * (by_several ? strips(sample, figure, pixels) : 1);
    if (by_several)
        *sum_alone_ns += alone_ns(sample, figure, work, pixels);
    else if (sample->processors > 1)
        *sum_alone_ns += work;
}

/* Returns the GPU's time for a file's picture: for decoding or encoding the file, which has
 * `pixels` pixels, or for copying the picture's own pixels. */
static double copy_ns(struct sample *sample, struct gf_format format, double pixels, bool codes,
                      enum gf_figure_id coder, enum gf_figure_id copy)
{
    const struct gf_figures *const figures = sample->request->figures;
    sample->uses[codes ? coder : copy] = true;
    return codes ? gf_figure(figures, coder) * pixels
                 : gf_figure(figures, copy) * (double)gf_row_bytes(format) * format.height;
}

static void add_codecs(struct sample *sample, const struct gf_plan *plan, const struct look *look)
{
    const struct gf_batch_request *const request = sample->request;
    const struct gf_options *const options = &sample->output.options;
    const enum gf_file_format out = output_format(&sample->output, look->file);
    const double read = look->from_level ? (double)look->format.width * look->format.height
                                         : (double)look->width * look->height,
                 written = (double)plan->out.width * plan->out.height,
                 /* The part of the work of decoding that remains for a reduced picture, on the CPU
                  * and on the GPU. The codes are decoded in full. */
        reduced = look->reduction > 1 && !look->from_level ? 0.7 : 1;
    /* Outputs that use the same fraction of the size share one decoding. */
    const bool again = sample->decoded & look->reduction;
    /* The CPU decodes a single PNG before a GPU has started. */
    const struct gf_cost_device_coder in_coder = gf_cost_device_coder(look->file),
                                      out_coder = gf_cost_device_coder(out);
    /* A JPEG's coefficients are moved by the CPU (pipeline/picture/move.c). */
    const bool moves = options->lossless && look->file == GF_FILE_JPEG && out == GF_FILE_JPEG;
    const bool whole = look->reduction == 1,
               device = request->options.codec != GF_CODEC_CPU && !moves,
               encodes = device && out_coder.file && gf_device_encodes(out, plan->out, options),
               decodes = device && look->device_decodes && (!look->slow || sample->takes_slow) &&
                         (!look->several_scans || sample->pictures > 1) &&
                         (!look->unpacks || sample->awake || sample->pictures > 1);
    struct gf_cost_codec *const cpu = &sample->codec, *const cuda = &sample->cuda_codec;
    double times;
    enum gf_figure_id figure = gf_cost_decoder(look->file, look->bytes, read, &times);
    times *= reduced * (look->several_scans ? SCANS_TIMES : 1);
    sample->marked = look->marked;
    if (!again) {
        add_codec(sample, figure, times, whole, read, &cpu->decode_ns, &cpu->alone_ns);
        add_codec(sample, decodes ? in_coder.file : figure, decodes ? 1 : times, whole || decodes,
                  read, &cuda->decode_ns, &cuda->alone_ns);
        sample->cuda +=
            copy_ns(sample, plan->in, reduced * read, decodes,
                    look->unpacks && !look->marked ? GF_FIGURE_CUDA_PNG_STREAM : in_coder.decode,
                    GF_FIGURE_CUDA_UPLOAD) *
            (decodes && look->several_scans ? SCANS_TIMES : 1);
    }
    figure = gf_cost_encoder(out, options, &times);
    add_codec(sample, figure, times, true, written, &cpu->encode_ns, &cpu->alone_ns);
    add_codec(sample, encodes ? out_coder.file : figure, times, true, written, &cuda->encode_ns,
              &cuda->alone_ns);
    sample->cuda +=
        copy_ns(sample, plan->out, written, encodes, out_coder.encode, GF_FIGURE_CUDA_DOWNLOAD) *
            (encodes ? times : 1) +
        gf_cost_filter_ns(plan, request->figures, true);
    sample->device_codec |= decodes || encodes;
    sample->device_unpacks |= decodes && look->unpacks;
}

static void use_filter(struct sample *sample, const struct gf_filter *filter)
{
    for (int cuda = 0; cuda < 2; cuda++) {
        const int figure = gf_figure_of_filter(filter, cuda);
        if (figure >= 0)
            sample->uses[figure] = true;
    }
}

static void use_filters(struct sample *sample, const struct gf_plan *plan)
{
    const struct gf_filter *filter;
    for (int i = 0; i < plan->stage_count; i++) {
        for (int k = 0; (filter = gf_plan_stage_filter(&plan->stage[i], k)) != NULL; k++)
            use_filter(sample, filter);
    }
}

static void add_look(struct sample *sample, const struct look *look)
{
    struct gf_plan plan = {0};
    const struct gf_plan_request request = {.orientation = 1,
                                            .reduction = look->reduction,
                                            .window = look->window,
                                            .width = look->width,
                                            .height = look->height};
    if (!gf_plan_make_for(sample->chain, look->format, &request, &plan, NULL)) {
        if (!sample->decoded) {
            sample->pixels += (double)look->width * look->height;
            sample->all_pixels += (double)look->width * look->height * look->frames;
            sample->files++;
        }
        sample->filter += gf_cost_filter_ns(&plan, sample->request->figures, false);
        add_codecs(sample, &plan, look);
        use_filters(sample, &plan);
        sample->in_turn |= plan.segment_count > 1 || sample->decoded;
        sample->decoded |= look->reduction;
    }
    gf_plan_free(&plan);
}

static enum gf_status open_input(const struct gf_input_name *name, struct gf_input **input)
{
    return name->data ? gf_input_open_memory(name->data, name->size, name->path, input, NULL)
                      : gf_input_open(name->path, false, input, NULL);
}

/* Returns how many frames of an animation are filtered; 1 of another picture. */
static int frames_of(const struct sample *sample, const struct gf_input *input,
                     const struct gf_source *source)
{
    const struct gf_batch_output *const output = &sample->output;
    const struct gf_pages pages = gf_input_pages(input);
    const int count = source->stored.pages, last = pages.last < count ? pages.last : count - 1;
    const bool all = pages.first < 0 && source->stored.is_animation &&
                     gf_format_animates(source->file) &&
                     (gf_batch_numbers_pictures(sample->request, 0) ||
                      gf_output_animates(output->name->text, &output->options, source->file));
    return all ? count : last > pages.first && pages.first >= 0 ? last - pages.first + 1 : 1;
}

/* Only the part of the picture that the chain needs is decoded. */
static void look_at_window(const struct gf_chain *chain, struct look *look)
{
    const struct gf_plan_request request = {.orientation = 1};
    const struct gf_rectangle window = gf_plan_window(chain, look->format, &request);
    if (window.width == look->width && window.height == look->height)
        return;
    look->window = window;
    look->width = window.width;
    look->height = window.height;
}

/* Reads an input's header. A stream cannot be read in advance: one large picture is assumed. Leaves
 * look->frames 0 if the input cannot be read. */
static void look_into(const struct sample *sample, const struct gf_input_name *name,
                      struct look *look)
{
    *look = (struct look){.format = {.width = 7680, .height = 4320, .channels = 3, .bits = 8},
                          .file = GF_FILE_PNM,
                          .bytes = -1,
                          .frames = 1,
                          .reduction = 1,
                          .width = 7680,
                          .height = 4320};
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    struct gf_options options = sample->request->options;
    options.warn = NULL;
    if (!name->data && gf_input_named_is_stream(name->path))
        return;
    *look = (struct look){.frames = 0};
    const bool opened = !open_input(name, &input);
    if (opened)
        gf_input_set_windowed(input);
    if (opened && !gf_source_open(input, &options, &source, NULL)) {
        *look = (struct look){
            .width = source->format.width,
            .height = source->format.height,
            .file = source->file,
            .bytes = (double)gf_input_size(input),
            .frames = frames_of(sample, input, source),
            /* AVIF has no figure: a GPU says only after its start whether it decodes AV1. */
            .device_decodes = source->for_device_codec &&
                              gf_cost_device_coder(source->file).decode &&
                              gf_device_decodes(source->file),
            .several_scans = source->for_device_batch,
            .marked = source->has_stripes,
            .unpacks = source->for_device_codec && source->file == GF_FILE_PNG,
            .reduction =
                gf_source_reduction(source, gf_plan_reduction(sample->chain, source->format, 1))};
        look->slow =
            look->device_decodes && (look->several_scans || (look->unpacks && !look->marked));
        look->from_level = gf_source_level(source, look->reduction) > 0;
        if (gf_source_reduce(source, look->reduction, NULL))
            look->frames = 0;
        look->format = source->format;
        if (source->window && !gf_device_decodes_whole(source, &options))
            look_at_window(sample->chain, look);
        source->close(source);
    }
    gf_input_close(input);
}

static struct gf_cost_codec for_each_pixel(struct gf_cost_codec sum, double pixels)
{
    return (struct gf_cost_codec){sum.decode_ns / pixels, sum.encode_ns / pixels,
                                  sum.alone_ns / pixels};
}

static void choose_output(struct sample *sample, const struct gf_chain *chain, int number)
{
    sample->output = gf_batch_output_at(sample->request, number);
    sample->chain = &chain[number];
}

/* Returns the index of sample i of `samples` among `count` inputs: one of each part of the list,
 * not always at the same place in it, since lists often repeat themselves. */
static size_t sampled(size_t i, size_t samples, size_t count)
{
    enum { STEP = 97 };
    return i * count / samples + i * STEP % (count / samples);
}

bool gf_cost_look(const struct gf_batch_request *request, enum gf_cost_server server,
                  struct gf_cost_work *work)
{
    const size_t count = request->inputs->count;
    const size_t files = request->expected ? request->expected : count;
    const int threads = request->options.threads;
    const int outputs = gf_batch_outputs(request);
    struct gf_chain chain[GF_PIPELINE_OUTPUTS_MAX] = {0};
    struct look look[SAMPLES][GF_PIPELINE_OUTPUTS_MAX];
    int slow = 0, looked = 0;
    struct sample sample = {.request = request,
                            .awake = server == GF_COST_SERVER_WORKS,
                            .pictures = files,
                            .processors = threads > 0 ? threads : gf_cpu_count()};
    enum gf_status status = GF_OK;
    for (int k = 0; !status && k < outputs; k++)
        status = gf_chain_parse(gf_batch_output_at(request, k).chain, &chain[k], NULL);
    const size_t most = status ? 0 : count < SAMPLES ? count : SAMPLES;
    for (size_t i = 0; i < most; i++) {
        for (int k = 0; k < outputs; k++) {
            choose_output(&sample, chain, k);
            look_into(&sample, &request->inputs->item[sampled(i, most, count)], &look[i][k]);
        }
        slow += look[i][0].slow;
        looked += look[i][0].frames > 0;
    }
    const bool slow_files =
        files > 1 && (2 * slow > looked || (slow && files >= GF_BATCH_MANY_PICTURES));
    sample.takes_slow = gf_cost_takes_slow(files == 1, slow_files);
    for (size_t i = 0; i < most; i++) {
        sample.decoded = 0;
        for (int k = 0; k < outputs; k++) {
            choose_output(&sample, chain, k);
            if (look[i][k].frames)
                add_look(&sample, &look[i][k]);
        }
    }
    for (int k = 0; k < outputs; k++)
        gf_chain_free(&chain[k]);
    if (!sample.files)
        return false;
    *work = (struct gf_cost_work){.files = files,
                                  .pixels = sample.all_pixels / sample.files,
                                  .filter_ns = sample.filter / sample.pixels,
                                  .cuda_ns = sample.cuda / sample.pixels,
                                  .codec = for_each_pixel(sample.codec, sample.pixels),
                                  .cuda_codec = for_each_pixel(sample.cuda_codec, sample.pixels),
                                  .device_codec = sample.device_codec,
                                  .device_unpacks = sample.device_unpacks,
                                  .slow_share = looked ? (double)slow / looked : 0,
                                  .slow_files = sample.device_codec && slow_files,
                                  .in_turn = sample.in_turn,
                                  .server = server,
                                  .processors = sample.processors,
                                  .figures = request->figures};
    memcpy(work->uses, sample.uses, sizeof work->uses);
    return true;
}

struct gf_cost_choice gf_cost_choose(const struct gf_batch_request *request,
                                     enum gf_cost_server server, char *reason, size_t size)
{
    struct gf_cost_choice choice = {.device = GF_DEVICE_CPU};
    struct gf_cost_work work;
    const bool asked = request->options.device == GF_DEVICE_CUDA || request->devices ||
                       request->options.codec == GF_CODEC_GPU;
    const char *why_not = "";
    struct gf_error lacks = {0};
    const bool single = (request->expected ? request->expected : request->inputs->count) < 2;
    if (asked) {
        choice.device = GF_DEVICE_CUDA;
        if (single || !gf_cost_look(request, server, &work))
            return choice;
    } else if (gf_batch_check_kernels(request, &lacks)) {
        snprintf(reason, size, "%s", lacks.text);
        return choice;
    } else if (server == GF_COST_NO_SERVER && !gf_backend_cuda_node(&why_not)) {
        snprintf(reason, size, "%s", why_not);
        return choice;
    } else if (!gf_cost_look(request, server, &work)) {
        snprintf(reason, size, "no input can be read");
        return choice;
    } else {
        choice.device = gf_cost_decide(&work, reason, size);
        if (choice.device == GF_DEVICE_CUDA && server == GF_COST_NO_SERVER &&
            !gf_backend_cuda_likely(&why_not)) {
            choice.device = GF_DEVICE_CPU;
            snprintf(reason, size, "%s", why_not);
        }
        work.server = GF_COST_NO_SERVER;
        choice.cpu_alone =
            server == GF_COST_SERVER_WORKS && gf_cost_cpu_s(&work) <= gf_cost_cuda_s(&work);
    }
    choice.device_codec = work.device_codec;
    choice.slow_files = work.slow_files;
    choice.pixels = work.pixels;
    choice.cuda_s = gf_cost_cuda_s(&work);
    choice.pace = gf_cost_pace(&work);
    return choice;
}
