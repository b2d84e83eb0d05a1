/* Reports for --dry-run what the run would do with each input, as far as headers and names tell. */
#include <stdio.h>
#include <stdlib.h>

#include "base/exit_status.h"
#include "base/fail.h"
#include "base/printable.h"
#include "batch/request/output_names.h"
#include "batch/workers/workers.h"

/* Checks by the input's header whether the run would accept the input. A pipe is not opened. */
static enum gf_status check_header(const struct gf_batch *batch, const char *input, int number,
                                   struct gf_pipeline **reader, struct gf_error *error)
{
    struct gf_peek peek;
    if (gf_input_named_is_stream(input))
        return GF_OK;
    GF_TRY(gf_batch_open_header_reader(batch->request, number, reader, error));
    return gf_pipeline_peek(*reader, input, &peek, error);
}

static enum gf_status send_line(const struct gf_batch *batch, size_t index, int number,
                                const char *comment, const char *why, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const output = batch->item[index].output[number];
    char *line = NULL;
    if (asprintf(&line, "%s -> %s%s%s%s", request->inputs->item[index].path,
                 output ? output : gf_batch_output_at(request, number).name->text, comment, why,
                 *comment ? ")" : "") < 0)
        return gf_fail_memory(error);
    gf_make_printable(line);
    request->message(request->context, GF_MESSAGE_DRY_RUN, line);
    free(line);
    return GF_OK;
}

/* Reports one output of an input. *fault becomes the status with which the output would fail, with
 * the reason in *why. */
static enum gf_status report_output(const struct gf_batch *batch, size_t index, int number,
                                    struct gf_pipeline **reader, enum gf_status *fault,
                                    struct gf_error *why, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const input = request->inputs->item[index].path;
    const struct gf_input_identity identity = gf_identify_file(input);
    const enum gf_outcome outcome = gf_batch_check_existing(
        batch, input, &identity, &batch->item[index], number, why->text, sizeof why->text);
    *fault = outcome == GF_OUTCOME_FAILED ? gf_batch_status_of_existing(&batch->item[index], number)
                                          : GF_OK;
    if (outcome == GF_OUTCOME_WAITING)
        *fault = check_header(batch, input, number, reader, why);
    gf_name_options_as_typed(why->text);
    if (*fault && gf_inputs_total(request->inputs) == 1) {
        *error = gf_batch_failure(request, input, number, NULL, *fault, why->text);
        return *fault;
    }
    return send_line(batch, index, number,
                     outcome == GF_OUTCOME_SKIPPED  ? " (skipped: "
                     : outcome == GF_OUTCOME_FAILED ? " (refused: "
                     : *fault                       ? " (fails: "
                                                    : "",
                     why->text, error);
}

enum gf_status gf_batch_dry_run(const struct gf_batch *batch, struct gf_error *error)
{
    const int outputs = gf_batch_outputs(batch->request);
    struct gf_pipeline *reader[GF_PIPELINE_OUTPUTS_MAX] = {0};
    enum gf_status status = GF_OK;
    size_t failing = 0;
    enum gf_status failure = GF_OK;
    for (size_t j = 0; !status && j < batch->count; j++) {
        bool fails = false;
        for (int k = 0; !status && k < outputs; k++) {
            struct gf_error why = {0};
            enum gf_status fault;
            status = report_output(batch, j, k, &reader[k], &fault, &why, error);
            fails |= fault != GF_OK;
            failure = gf_graver_status(failure, fault);
        }
        failing += fails;
    }
    for (int k = 0; k < outputs; k++)
        gf_pipeline_close(reader[k]);
    return status || !failing
               ? status
               : gf_fail(error, failure, "%zu of %zu files would fail", failing, batch->count);
}
