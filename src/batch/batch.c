/* Runs a batch: checks the request, chooses devices, runs the workers and sums up. */
#include "batch/batch.h"

#include <stdlib.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "batch/archives/archive_ring.h"
#include "batch/frames/film.h"
#include "batch/sheets/sheet_run.h"
#include "batch/workers/workers.h"

/* Fails if an output is named for archives of archives, but a folder's archives are no inputs
 * because the folder also holds pictures. */
static enum gf_status check_mixed(const struct gf_batch_request *request, struct gf_error *error)
{
    const char *const picture = request->inputs->mixed;
    for (int k = 0; picture && k < gf_batch_outputs(request); k++) {
        if (gf_batch_output_at(request, k).name->of_archives)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: is a picture, and makes its folder one of pictures, whose archives "
                           "are no inputs; a pattern such as '*.tar' or a list takes them alone",
                           picture);
    }
    return GF_OK;
}

/* Reports, before the first picture, faults that every picture would have. chain[outputs] keeps the
 * files that the chains name in memory, for the workers' chains. If there are several outputs, the
 * error names the output. */
static enum gf_status check_request(const struct gf_batch_request *request, struct gf_chain *chain,
                                    uint64_t *fingerprint, struct gf_error *error)
{
    struct gf_options checked;
    enum gf_status status = check_mixed(request, error);
    GF_THEN(status, gf_options_check(&request->options, &checked, error));
    for (int k = 0; !status && k < gf_batch_outputs(request); k++) {
        const struct gf_batch_output output = gf_batch_output_at(request, k);
        struct gf_error why = {0};
        status = gf_chain_parse(output.chain, &chain[k], &why);
        if (!status && (request->log || request->resume || gf_batch_has_archives(request)))
            fingerprint[k] = gf_chain_fingerprint(output.chain, &chain[k], &output.options);
        if (request->on_failure)
            fingerprint[k] =
                gf_hash(fingerprint[k], &request->on_failure, sizeof request->on_failure);
        /* If there are several outputs, one that cannot be made fails alone, later. */
        if (!status && !request->more_outputs && !output.name->is_stdout &&
            !(request->transfer && request->transfer->store))
            GF_TRY(gf_template_check_place(output.name, error));
        if (status)
            (void)gf_fail(error, status, "%s%s%s", request->more_outputs ? output.name->text : "",
                          request->more_outputs ? ": " : "", why.text);
    }
    return status;
}

static enum gf_status prepare_and_work(struct gf_batch *batch, struct gf_error *error)
{
    if (!batch->count)
        return GF_OK;
    if (gf_batch_has_archives(batch->request))
        return gf_archive_run(batch, error);
    if (batch->request->on_failure)
        return gf_fail(error, GF_ERROR_USAGE, GF_ON_FAILURE_UNFIT);
    bool is_film;
    GF_TRY(gf_frames_run(batch, &is_film, error));
    if (is_film)
        return GF_OK;
    enum gf_status status =
        batch->request->transfer ? gf_batch_check_transfers(batch->request, error) : GF_OK;
    GF_THEN(status, batch->request->sheet
                        ? gf_sheet_name_pages(batch->request, batch->output, error)
                        : gf_batch_name_outputs(batch->request, batch->output, error));
    if (status || batch->request->dry_run || !batch->count) {
        if (!status && batch->request->dry_run)
            status = gf_batch_dry_run(batch, error);
        if (!status && batch->request->verbose && batch->count)
            gf_batch_tell_estimate(batch->request, batch->request, GF_COST_NO_SERVER);
        return status;
    }
    gf_batch_choose_devices(batch->request, batch->request, batch->count, &batch->devices);
    status = gf_batch_check_devices(batch->request, &batch->devices, error);
    if (status)
        return status;
    const int workers = gf_batch_divide_work(batch->request, &batch->devices, batch->count,
                                             &batch->options, &batch->memory_budget);
    if (batch->request->verbose && batch->count > 1)
        gf_batch_tell(batch->request, GF_MESSAGE_CHOICE, "%zu files on %s%s by %d worker%s: %s",
                      batch->count, batch->devices.count ? "CUDA" : "the CPU",
                      batch->devices.choice.device_codec ? " with its codec" : "", workers,
                      workers == 1 ? "" : "s", batch->devices.reason);
    status = batch->request->sheet      ? gf_sheet_work(batch, workers, error)
             : batch->request->transfer ? gf_batch_work_on_transfers(batch, workers, error)
                                        : gf_batch_work_on_inputs(batch, workers, error);
    gf_memory_budget_close(&batch->memory_budget);
    return status ? status : gf_batch_conclude(batch, error);
}

enum gf_status gf_batch_run(const struct gf_batch_request *request, struct gf_batch_state *state,
                            struct gf_error *error)
{
    const size_t inputs = request->inputs->count;
    const int outputs = gf_batch_outputs(request);
    struct gf_batch batch = {
        .request = request, .count = inputs, .options = request->options, .begin_s = gf_now()};
    batch.state.files = batch.count;
    batch.state.left_out = request->inputs->left_out;
    if (request->counts)
        request->counts->files = batch.count;
    batch.options.spans |= request->log || request->tick;
    batch.item = calloc(inputs + 1, sizeof *batch.item);
    batch.output = calloc(inputs * (size_t)outputs + 1, sizeof *batch.output);
    for (size_t i = 0; batch.item && batch.output && i < inputs; i++)
        batch.item[i].output = &batch.output[i * (size_t)outputs];
    pthread_mutex_init(&batch.lock, NULL);
    gf_cond_init(&batch.changed);
    struct gf_chain chain[GF_PIPELINE_OUTPUTS_MAX] = {0};
    enum gf_status status = batch.item && batch.output
                                ? check_request(request, chain, batch.fingerprint, error)
                                : gf_fail_memory(error);
    GF_THEN(status, prepare_and_work(&batch, error));
    for (int k = 0; k < outputs; k++)
        gf_chain_free(&chain[k]);
    for (size_t i = 0; batch.item && i < inputs; i++)
        free(batch.item[i].notes);
    for (size_t i = 0; batch.output && i < inputs * (size_t)outputs; i++)
        free(batch.output[i]);
    free(batch.item);
    free(batch.output);
    pthread_cond_destroy(&batch.changed);
    pthread_mutex_destroy(&batch.lock);
    gf_batch_drop_server(&batch.devices);
    gf_input_close(batch.opened);
    *state = batch.state;
    return status;
}
