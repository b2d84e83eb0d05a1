#include "pipeline/pipeline_state.h"

#include <stdlib.h>
#include <string.h>

#include "base/argument.h"
#include "base/cpu.h"
#include "codec/cell/cell.h"
#include "codec/common/checks.h"
#include "gpufilter/version.h"
#include "pixel/files/picture_file.h"

const char *gf_version(void)
{
    return GF_VERSION;
}

/* Parses the chain. Its second pictures must keep to the options' limits, unless the caller has set
 * limits for this thread. */
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
    gf_pipeline_close_resident(pipeline); /* its plans were made with the options and the chain */
    const enum gf_status status = gf_options_check(options, &pipeline->options, error);
    if (!pipeline->options.threads)
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

/* Closes the pipelines that crew.c has opened. */
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
    gf_plan_free(&pipeline->last_plan); /* its parameters belong to the chain */
    gf_chain_free(&pipeline->chain);
    dismiss_crew(pipeline);
    free(pipeline->text);
    pipeline->text = strdup(chain ? chain : "");
    pipeline->chain = (struct gf_chain){0};
    enum gf_status status = gf_pipeline_set_options(pipeline, options, error);
    if (!status && pipeline->options.sandbox == GF_SANDBOX_ALL)
        status = try_cells(&pipeline->options, error);
    if (!status)
        status = parse_within(chain, &pipeline->options, &pipeline->chain, error);
    pipeline->chain.no_fuse = pipeline->options.no_fuse;
    return status;
}

void gf_pipeline_select(struct gf_pipeline *pipeline, int output)
{
    pipeline->chain = pipeline->output[output].chain;
    gf_options_of_output(&pipeline->options, &pipeline->output[output].options);
}

/* Reads the chains and the options of all outputs. The pipeline already has the chain and the
 * options of the first output. */
static enum gf_status configure_outputs(struct gf_pipeline *pipeline,
                                        const struct gf_pipeline_output *output, int count,
                                        struct gf_error *error)
{
    pipeline->output = calloc((size_t)count, sizeof *pipeline->output);
    enum gf_status status =
        pipeline->output ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (status)
        return status;
    pipeline->output[0] = (struct gf_output_choice){pipeline->chain, pipeline->options};
    pipeline->outputs = 1;
    for (int i = 1; !status && i < count; i++) {
        struct gf_output_choice *const choice = &pipeline->output[i];
        status = gf_options_check(&output[i].options, &choice->options, error);
        if (!status)
            status = parse_within(output[i].chain, &pipeline->options, &choice->chain, error);
        choice->chain.no_fuse = pipeline->options.no_fuse;
        pipeline->outputs = i + 1;
    }
    return status;
}

/* Passes on the warnings of the readers of the chain's second pictures, unless another pipeline has
 * done so. */
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

/* `output` lists several outputs, or is NULL. The chain and the options must be those of the first
 * output. */
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
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
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
            status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
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
