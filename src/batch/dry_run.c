/* --dry-run: says what would be done with each input, as far as headers and names tell. */
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/printable.h"
#include "batch/batch_work.h"
#include "batch/program_words.h"

/* Whether the input would be done, by its header. A pipe is not touched. */
static enum gf_status check_header(const struct gf_batch *batch, const char *input,
                                   struct gf_pipeline **reader, struct gf_error *error)
{
    struct gf_peek peek;
    enum gf_status status = GF_OK;
    if (gf_batch_is_stream(input))
        return GF_OK;
    status = gf_batch_open_header_reader(batch, reader, error);
    return status ? status : gf_pipeline_peek(*reader, input, &peek, error);
}

static enum gf_status report(const struct gf_batch *batch, size_t index, const char *comment,
                             const char *why, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const output = batch->item[index].output;
    char *line = NULL;
    if (asprintf(&line, "%s -> %s%s%s%s", request->inputs->item[index].path,
                 output ? output : request->output->text, comment, why, *comment ? ")" : "") < 0)
        return gf_fail_memory(error);
    gf_make_printable(line);
    request->message(request->context, GF_MESSAGE_DRY_RUN, line);
    free(line);
    return GF_OK;
}

enum gf_status gf_batch_dry_run(const struct gf_batch *batch, struct gf_error *error)
{
    const bool single = batch->request->inputs->count == 1;
    struct gf_pipeline *reader = NULL;
    enum gf_status status = GF_OK;
    size_t failing = 0;
    for (size_t j = 0; !status && j < batch->count; j++) {
        const size_t i = gf_batch_index(batch, j);
        struct gf_error why = {0};
        enum gf_outcome outcome = gf_batch_check_existing(batch, i, why.text, sizeof why.text);
        enum gf_status fault = outcome == GF_OUTCOME_FAILED ? GF_ERROR_OUTPUT : GF_OK;
        if (outcome == GF_OUTCOME_WAITING)
            fault = check_header(batch, batch->request->inputs->item[i].path, &reader, &why);
        gf_program_words(why.text);
        failing += fault != GF_OK;
        if (fault && single)
            status = gf_fail(error, fault, "%s", why.text);
        else
            status = report(batch, i,
                            outcome == GF_OUTCOME_SKIPPED  ? " (skipped: "
                            : outcome == GF_OUTCOME_FAILED ? " (refused: "
                            : fault                        ? " (fails: "
                                                           : "",
                            why.text, error);
    }
    gf_pipeline_close(reader);
    return status || !failing ? status
                              : gf_fail(error, GF_ERROR_INPUT, "%zu of %zu files would fail",
                                        failing, batch->count);
}
