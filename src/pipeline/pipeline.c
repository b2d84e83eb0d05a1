/* Opens and closes a pipeline, and checks options: their defaults and ranges are here. */
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "codec/cell/cell.h"
#include "codec/codec.h"
#include "codec/common/checks.h"
#include "codec/common/pyramid/pyramid.h"
#include "codec/formats.h"
#include "gpufilter/version.h"
#include "icc/icc.h"
#include "pipeline/pipeline_state.h"
#include "pixel/files/kept_files.h"

const char *gf_version(void)
{
    return GF_VERSION;
}

/* Sets the function that reads second pictures when a chain is parsed, also without a pipeline and
 * on any thread. This happens when the library is loaded, before there are threads. */
__attribute__((constructor)) static void lend_reader(void)
{
    gf_picture_read = gf_pipeline_read_picture;
}

/* Parses the chain. Its second pictures are read within the limits of the options, or within those
 * that the caller has set for this thread. */
static enum gf_status parse_within(const char *text, const struct gf_options *options,
                                   struct gf_chain *chain, struct gf_error *error)
{
    const struct gf_options *const outer = gf_second_pictures_limits();
    gf_second_pictures_set_limits(outer ? outer : options);
    const enum gf_status status = gf_chain_parse(text, chain, error);
    gf_second_pictures_set_limits(outer);
    return status;
}

enum gf_status gf_pipeline_set_options(struct gf_pipeline *pipeline,
                                       const struct gf_options *options, struct gf_error *error)
{
    /* The resident plans were made with other options, or with another chain. */
    gf_pipeline_close_resident(pipeline);
    const enum gf_status status = gf_options_check(options, &pipeline->options, error);
    pipeline->threads_are_asked = pipeline->options.threads;
    if (!pipeline->threads_are_asked)
        pipeline->options.threads = gf_cpu_count();
    pipeline->chain.no_fuse = pipeline->options.no_fuse;
    return status;
}

static enum gf_status try_cells(const struct gf_options *options, struct gf_error *error)
{
    struct gf_error why = {0};
    const enum gf_status status = gf_cell_try(options, NULL, &why);
    return status
               ? gf_fail(error, status, "options.sandbox=all: no cell for a decoder: %s", why.text)
               : GF_OK;
}

/* Closes the pipelines that device/batch.c has opened beside this one. */
static void dismiss_crew(struct gf_pipeline *pipeline)
{
    struct gf_crew *const crew = pipeline->crew;
    if (!crew)
        return;
    for (int i = 0; i < crew->count; i++)
        gf_pipeline_close(crew->member[i]);
    pthread_mutex_destroy(&crew->warning);
    free(crew->member);
    free(crew);
    pipeline->crew = NULL;
}

enum gf_status gf_pipeline_configure(struct gf_pipeline *pipeline, const char *chain,
                                     const struct gf_options *options, struct gf_error *error)
{
    gf_pipeline_close_resident(pipeline);
    gf_plan_free(&pipeline->last_plan); /* its stages point to parameters of the chain */
    gf_chain_free(&pipeline->chain);
    dismiss_crew(pipeline);
    free(pipeline->text);
    pipeline->text = strdup(chain ? chain : "");
    pipeline->chain = (struct gf_chain){0};
    enum gf_status status = gf_pipeline_set_options(pipeline, options, error);
    if (!status && pipeline->options.sandbox == GF_SANDBOX_ALL)
        status = try_cells(&pipeline->options, error);
    GF_THEN(status, parse_within(chain, &pipeline->options, &pipeline->chain, error));
    pipeline->chain.no_fuse = pipeline->options.no_fuse;
    return status;
}

void gf_pipeline_select(struct gf_pipeline *pipeline, int output)
{
    if (!pipeline->outputs)
        return;
    pipeline->chain = pipeline->output[output].chain;
    gf_options_of_output(&pipeline->options, &pipeline->output[output].options);
}

/* Reads the chains and the options of all outputs but the first, whose chain and options the
 * pipeline already has. */
static enum gf_status configure_outputs(struct gf_pipeline *pipeline,
                                        const struct gf_pipeline_output *output, int count,
                                        struct gf_error *error)
{
    pipeline->output = calloc((size_t)count, sizeof *pipeline->output);
    enum gf_status status = GF_OK;
    GF_ALLOCATED(pipeline->output, error);
    pipeline->output[0] = (struct gf_output_choice){pipeline->chain, pipeline->options};
    pipeline->outputs = 1;
    for (int i = 1; !status && i < count; i++) {
        struct gf_output_choice *const choice = &pipeline->output[i];
        status = gf_options_check(&output[i].options, &choice->options, error);
        GF_THEN(status, parse_within(output[i].chain, &pipeline->options, &choice->chain, error));
        choice->chain.no_fuse = pipeline->options.no_fuse;
        pipeline->outputs = i + 1;
    }
    return status;
}

/* Passes on the warnings that reading the chain's second pictures gave, unless another pipeline has
 * passed them on. */
static void warn_of_pictures(const struct gf_pipeline *pipeline, const struct gf_chain *chain)
{
    for (int i = 0; pipeline->options.warn && i < chain->count; i++) {
        const struct gf_chain_item *const item = &chain->item[i];
        const struct gf_picture *list[GF_STAGE_PICTURES_MAX];
        int count = item->filter->pictures ? item->filter->pictures(item->params, list) : 0;
        if (item->region && item->region->mask)
            list[count++] = item->region->mask;
        while (count--) {
            char *const notes = gf_picture_take_notes(list[count]), *rest = notes;
            for (char *line; (line = strsep(&rest, "\n"));) {
                if (*line)
                    gf_warn(&pipeline->options, "%s", line);
            }
            free(notes);
        }
    }
}

/* Opens a pipeline. `output` lists several outputs, or is NULL; chain and options must be those of
 * the first one. */
static enum gf_status open_pipeline(const char *chain, const struct gf_options *options,
                                    const struct gf_pipeline_output *output, int count,
                                    struct gf_remote *remote, struct gf_pipeline **pipeline,
                                    struct gf_error *error)
{
    struct gf_pipeline *const opened = calloc(1, sizeof *opened);
    *pipeline = NULL;
    if (!opened) {
        if (remote)
            remote->close(remote);
        return gf_fail_memory(error);
    }
    pthread_mutex_init(&opened->own_progress.watching, NULL);
    gf_cells_join();
    gf_cells_read_profiles();
    opened->remote = remote;
    opened->given = gf_no_metadata;
    gf_spans_init(&opened->spans);
    enum gf_status status = gf_pipeline_configure(opened, chain, options, error);
    if (!status && count > 1)
        status = configure_outputs(opened, output, count, error);
    if (!status)
        gf_spans_restart(&opened->spans, opened->options.profile || opened->options.spans);
    if (!status && !remote)
        status = gf_pipeline_choose_device(opened, error);
    if (!status && remote) {
        opened->on_cuda = true;
        opened->chain_text = strdup(chain ? chain : "");
        if (!opened->chain_text)
            status = gf_fail_memory(error);
    }
    if (status) {
        gf_pipeline_close(opened);
        return status;
    }
    warn_of_pictures(opened, &opened->chain);
    for (int i = 1; i < opened->outputs; i++)
        warn_of_pictures(opened, &opened->output[i].chain);
    *pipeline = opened;
    return GF_OK;
}

enum gf_status gf_pipeline_open(const char *chain, const struct gf_options *options,
                                struct gf_pipeline **pipeline, struct gf_error *error)
{
    GF_NOT_NULL(pipeline, error);
    return open_pipeline(chain, options, NULL, 1, NULL, pipeline, error);
}

enum gf_status gf_pipeline_open_outputs(const struct gf_pipeline_output *output, int count,
                                        struct gf_pipeline **pipeline, struct gf_error *error)
{
    return open_pipeline(output->chain, &output->options, output, count, NULL, pipeline, error);
}

enum gf_status gf_pipeline_open_remote(const char *chain, const struct gf_options *options,
                                       struct gf_remote *remote, struct gf_pipeline **pipeline,
                                       struct gf_error *error)
{
    return open_pipeline(chain, options, NULL, 1, remote, pipeline, error);
}

void gf_pipeline_close(struct gf_pipeline *pipeline)
{
    if (!pipeline)
        return;
    gf_cells_leave();
    dismiss_crew(pipeline);
    free(pipeline->text);
    if (pipeline->remote)
        pipeline->remote->close(pipeline->remote);
    free(pipeline->chain_text);
    gf_pipeline_close_backend(pipeline);
    gf_plan_free(&pipeline->last_plan);
    gf_metadata_close(pipeline->result);
    for (int i = 0; i < pipeline->outputs; i++)
        gf_chain_free(&pipeline->output[i].chain);
    if (!pipeline->outputs)
        gf_chain_free(&pipeline->chain);
    free(pipeline->output);
    gf_spans_free(&pipeline->spans);
    free(pipeline->stages);
    pthread_mutex_destroy(&pipeline->own_progress.watching);
    free(pipeline);
}

void gf_pipeline_watch(struct gf_pipeline *pipeline, bool (*watch)(void *context, double part),
                       void *context)
{
    if (!pipeline)
        return;
    pipeline->own_progress.watch = watch;
    pipeline->own_progress.context = context;
    pipeline->progress = watch ? &pipeline->own_progress : NULL;
}

void gf_pipeline_cancel(struct gf_pipeline *pipeline)
{
    if (pipeline)
        pipeline->own_progress.cancelled = true;
}

void gf_pipeline_share_progress(struct gf_pipeline *pipeline, struct gf_schedule_progress *progress)
{
    pipeline->progress = progress;
}

void gf_pipeline_share_budget(struct gf_pipeline *pipeline, struct gf_memory_budget *memory_budget)
{
    pipeline->memory_budget = memory_budget;
}

struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline)
{
    return &pipeline->options;
}

const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline)
{
    return &pipeline->chain;
}

/* The options' defaults and ranges, made from options.def. */

static const struct gf_options defaults = {
    .size = sizeof defaults,
#define GF_MEMBER(member, type, least, greatest, usual, ...) .member = usual,
#include "pipeline/options.def"
};

/* clang-format off */
static const struct gf_option_member members[] = {
#define GF_OPTION(member_, type_, least_, greatest_, usual, scope, word_, print_, name_, ...) \
    {.member = #member_, .name = name_, .offset = offsetof(struct gf_options, member_), .size = sizeof defaults.member_, \
     .type = GF_OPTION_##type_, .least = least_, .greatest = greatest_, .of_output = GF_OPTION_##scope, .word = word_, .print = print_},
#define GF_MEMBER(...) GF_OPTION(__VA_ARGS__, NULL, )
#include "pipeline/options.def"
};
/* clang-format on */

/* A type whose size is the end of the last member in the table, to check that no member is missing.
 * The struct must not end in padding, where later members would lie that a caller's struct
 * lacks. */
union covered {
#define GF_MEMBER(member, ...) \
    char to_##member[offsetof(struct gf_options, member) + sizeof defaults.member];
#include "pipeline/options.def"
};
_Static_assert(sizeof(union covered) == sizeof(struct gf_options),
               "struct gf_options ends with padding, or with a member that options.def lacks");
_Static_assert(sizeof(enum gf_codec) == sizeof(int), "an enum is read as an int");

const struct gf_option_member *gf_option_member_at(int index)
{
    return index < (int)(sizeof members / sizeof *members) ? &members[index] : NULL;
}

void gf_options_init(struct gf_options *options, size_t size)
{
    if (!options || size < sizeof options->size)
        return;
    memset(options, 0, size);
    memcpy(options, &defaults, size < sizeof defaults ? size : sizeof defaults);
    options->size = size;
}

void gf_options_of_output(struct gf_options *options, const struct gf_options *from)
{
    const struct gf_option_member *member;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        if (member->of_output)
            memcpy((char *)options + member->offset, (const char *)from + member->offset,
                   member->size);
    }
}

double gf_option_member_value(const struct gf_options *options,
                              const struct gf_option_member *member)
{
    const void *const at = (const char *)options + member->offset;
    switch (member->type) {
    case GF_OPTION_SWITCH:
        return *(const bool *)at;
    case GF_OPTION_NUMBER:
    case GF_OPTION_TARGET:
    case GF_OPTION_RANGE:
        return *(const double *)at;
    case GF_OPTION_COUNT:
    case GF_OPTION_SIZE:
    case GF_OPTION_SET:
        return (double)*(const uint64_t *)at;
    default:
        return *(const int *)at;
    }
}

static enum gf_status check_ranges(const struct gf_options *options, struct gf_error *error)
{
    const struct gf_option_member *member;
    for (int i = 0; (member = gf_option_member_at(i)); i++) {
        const bool real = member->type == GF_OPTION_NUMBER;
        if (!real && member->type != GF_OPTION_INT && member->type != GF_OPTION_CHOICE &&
            member->type != GF_OPTION_DEVICE)
            continue;
        const double value = gf_option_member_value(options, member),
                     least = fmin(member->least, gf_option_member_value(&defaults, member));
        if (!(value >= least && value <= member->greatest))
            return gf_fail(error, GF_ERROR_USAGE, "options.%s=%.*g is outside %.15g..%.15g",
                           member->member, real ? 6 : 15, value, least, member->greatest);
    }
    return GF_OK;
}

enum gf_status gf_options_check(const struct gf_options *given, struct gf_options *checked,
                                struct gf_error *error)
{
    const size_t size = given ? given->size : 0;
    *checked = defaults;
    if (!given)
        return GF_OK;
    if (size < sizeof size || size > sizeof *checked)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.size=%zu is outside %zu..%zu: gf_options_default() sets it", size,
                       sizeof size, sizeof *checked);
    memcpy(checked, given, size);
    checked->size = sizeof *checked;
    GF_TRY(check_ranges(checked, error));
    if (checked->depth > 0 && !gf_depth_exists(checked->depth))
        return gf_fail(error, GF_ERROR_USAGE, "options.depth=%d: no format has such samples",
                       checked->depth);
    if ((checked->range_low != 0 || checked->range_high != 0) &&
        (checked->range_percentile || !isfinite(checked->range_high - checked->range_low) ||
         checked->range_low >= checked->range_high))
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.range_low=%g and options.range_high=%g are no range",
                       checked->range_low, checked->range_high);
    if (checked->png_colours == 1)
        return gf_fail(error, GF_ERROR_USAGE, "options.png_colours=1 is outside 2..%d",
                       GF_PNG_COLOURS_MAX);
    if (!checked->max_pixels)
        return gf_fail(error, GF_ERROR_USAGE, "options.max_pixels=0 allows no picture");
    if (checked->formats >> GF_FILE_COUNT || checked->formats & 1 << GF_FILE_AUTO)
        return gf_fail(error, GF_ERROR_USAGE, "options.formats=%#llx has bits of no format",
                       (unsigned long long)checked->formats);
    if (checked->target_ssimulacra2 > 0 && checked->target_ssim > 0)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.target_ssimulacra2=%g and options.target_ssim=%g both choose the "
                       "quality",
                       checked->target_ssimulacra2, checked->target_ssim);
    char fit[GF_FIT_TEXT_SIZE];
    if (checked->quality_chosen && gf_options_fit_text(checked, fit))
        return gf_fail(error, GF_ERROR_USAGE, "options.quality=%d and %s both choose the quality",
                       checked->quality, fit);
    if (checked->lossless && gf_options_fit_text(checked, fit))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s chooses a quality, and a lossless file (options.lossless) has none",
                       fit);
    if ((checked->stripped | checked->kept) >> GF_METADATA_ITEMS)
        return gf_fail(error, GF_ERROR_USAGE,
                       "options.stripped=%#llx or options.kept=%#llx has bits of no item",
                       (unsigned long long)checked->stripped, (unsigned long long)checked->kept);
    GF_TRY(gf_metadata_set_check(checked->set, error));
    GF_TRY(gf_pyramid_choose(checked, &(struct gf_pyramid_choice){0}, error));
    const uint32_t ranges = 1 << GF_YUV_ITEM_LIMITED | 1 << GF_YUV_ITEM_FULL,
                   range = checked->yuv & ranges, matrix = checked->yuv & ~ranges;
    if (checked->yuv >> GF_YUV_ITEMS || range & (range - 1) || matrix & (matrix - 1))
        return gf_fail(
            error, GF_ERROR_USAGE,
            "options.yuv=%#x is not one of bt601, bt709, bt2020, and one of limited, full",
            (unsigned)checked->yuv);
    if (checked->transfer == GF_TRANSFER_ZERO_COPY && checked->host_memory == GF_HOST_PAGEABLE)
        return gf_fail(error, GF_ERROR_USAGE, "zero copy needs pinned host memory, not pageable");
    struct gf_error why = {0};
    struct gf_icc icc;
    if (checked->cmyk_profile && gf_icc_load_inks(checked->cmyk_profile, &icc, &why))
        return gf_fail(error, why.status == GF_ERROR_INPUT ? GF_ERROR_USAGE : why.status,
                       "options.cmyk_profile=%s", why.text);
    return GF_OK;
}

static _Thread_local const struct gf_options *limits;

void gf_second_pictures_set_limits(const struct gf_options *options)
{
    limits = options;
}

const struct gf_options *gf_second_pictures_limits(void)
{
    return limits;
}
