/* Finds the names of the outputs of one input, and which of these outputs already exist. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "batch/workers/workers.h"

enum gf_outcome gf_batch_check_existing(const struct gf_batch *batch, const char *input,
                                        const struct gf_input_identity *identity,
                                        const struct gf_batch_item *item, int number, char *why,
                                        size_t size)
{
    const struct gf_batch_request *const request = batch->request;
    const char *const output = item->output[number];
    struct stat there;
    *why = '\0';
    if (item->refusal && item->refusal[number]) {
        snprintf(why, size, "%s", item->refusal[number]);
        return GF_OUTCOME_FAILED;
    }
    if (!output)
        return GF_OUTCOME_WAITING;
    if (request->resume &&
        gf_resume_done(request->resume, input, identity, output,
                       request->transfer && request->transfer->store, batch->fingerprint[number])) {
        snprintf(why, size, "done before, says the log");
        return GF_OUTCOME_SKIPPED;
    }
    const bool matters = request->skip_existing || request->update || request->options.no_clobber;
    if (!matters || stat(output, &there) || !S_ISREG(there.st_mode))
        return GF_OUTCOME_WAITING;
    if (request->skip_existing) {
        snprintf(why, size, "is there already");
        return GF_OUTCOME_SKIPPED;
    }
    if (request->update && *identity->text && !gf_is_earlier(&there.st_mtim, &identity->changed)) {
        snprintf(why, size, "is up to date");
        return GF_OUTCOME_SKIPPED;
    }
    if (request->options.no_clobber) {
        snprintf(why, size, "%.300s: is there already (--no-clobber)", output);
        return GF_OUTCOME_FAILED;
    }
    return GF_OUTCOME_WAITING;
}

/* Returns the status with which gf_batch_check_existing() refuses an output: GF_ERROR_UNFIT if the
 * output could never be made, GF_ERROR_READ if the input could not be read, GF_ERROR_OUTPUT if the
 * output already exists. */
enum gf_status gf_batch_status_of_existing(const struct gf_batch_item *item, int number)
{
    if (item->is_unread)
        return GF_ERROR_READ;
    return item->refusal && item->refusal[number] ? GF_ERROR_UNFIT : GF_ERROR_OUTPUT;
}

/* Claims the name of an output of an archive's member. */
static enum gf_status claim_path(struct gf_batch *batch, const struct gf_batch_worker *worker,
                                 const char *path, struct gf_error *error)
{
    char *why = NULL;
    pthread_mutex_lock(&batch->lock);
    const enum gf_status status =
        gf_claim(batch->claims, path, worker->input->path, worker->index, false, &why)
            ? GF_OK
            : gf_fail_memory(error);
    pthread_mutex_unlock(&batch->lock);
    if (status || !why)
        return status;
    (void)gf_fail(error, GF_ERROR_UNFIT, "%s", why);
    free(why);
    return GF_ERROR_UNFIT;
}

/* Checks that the names of an input's outputs differ. Some of these names are known only now. */
static enum gf_status check_other_paths(const struct gf_batch_result *result,
                                        struct gf_error *error)
{
    const struct gf_batch_result *const other = result->worker->result;
    for (int k = 0; k < gf_batch_outputs(result->worker->batch->request); k++) {
        if (k != result->number && other[k].path && !strcmp(other[k].path, result->path))
            return gf_fail(error, GF_ERROR_UNFIT, "%s: two outputs of '%s' have this name",
                           result->path, result->worker->input->path);
    }
    return GF_OK;
}

enum gf_status gf_batch_choose_path(void *context, int number, enum gf_file_format content,
                                    struct gf_format format, const char **path,
                                    struct gf_error *error)
{
    struct gf_batch_result *const result = context;
    const struct gf_batch_worker *const worker = result->worker;
    const struct gf_template *const output =
        gf_batch_output_at(worker->batch->request, result->number).name;
    const char *const known = worker->item->output[result->number];
    const bool alone = gf_batch_is_single(worker->batch->request);
    const struct gf_template_values values = {.input = worker->input,
                                              .number = alone ? (size_t)number : worker->index + 1,
                                              .width = format.width,
                                              .height = format.height,
                                              .content = content};
    enum gf_status status = GF_OK;
    free(result->path);
    result->path = NULL;
    if (output->is_stdout)
        result->path = strdup("-");
    else if (known)
        result->path = strdup(known);
    else
        status = gf_template_expand(output, &values, &result->path, error);
    if (!status && !result->path)
        status = gf_fail_memory(error);
    if (!status && !output->is_stdout && !known)
        status = check_other_paths(result, error);
    if (!status && !output->is_stdout && !known && worker->batch->claims)
        status = claim_path(worker->batch, worker, result->path, error);
    if (!status && !output->is_stdout && worker->batch->request->plain_members)
        status = gf_refuse_links(output, result->path, error);
    if (!status && !output->is_stdout)
        status = gf_make_folders_of(result->path, error);
    *path = result->path;
    return status;
}
