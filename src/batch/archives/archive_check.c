#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/archive_name.h"
#include "batch/request/output_names.h"

static bool is_stream(const char *argument)
{
    return !strcmp(gf_archive_path(argument), "-");
}

static enum gf_status check_options(const struct gf_batch_request *request, bool from_archive,
                                    struct gf_error *error)
{
    bool any_files = false, any_archives = false,
         any_streams = from_archive && is_stream(request->inputs->item[0].path);
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        const char *const name = gf_batch_output_at(request, k).name->text;
        any_files |= !gf_archive_named(name);
        any_archives |= gf_archive_named(name);
        any_streams |= gf_archive_named(name) && is_stream(name);
    }
    if (request->transfer && !(from_archive && !any_files && !any_streams))
        return gf_fail(error, GF_ERROR_USAGE, GF_TRANSFERS_UNFIT);
    if (request->transfer && request->transfer->store && !request->transfer->probe &&
        (request->resume || request->skip_existing))
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s with --store takes --probe, which prints a record",
                       request->resume ? "--resume" : "--skip-existing");
    if (request->on_failure && !(from_archive && any_archives))
        return gf_fail(error, GF_ERROR_USAGE, GF_ON_FAILURE_UNFIT);
    const bool recorded = from_archive && !any_streams;
    /* Options that do not suit an archive: an archive is written as a whole, only an archive of an
     * archive has a record, and members are not known before the run. */
    const struct {
        bool refused;
        const char *name;
    } options[] = {{request->resume && !any_files && !recorded, "--resume"},
                   {request->skip_existing && !any_files && !recorded, "--skip-existing"},
                   {request->update && (from_archive || !any_files), "--update"},
                   {request->dry_run && from_archive, "--dry-run"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].refused)
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is not for archives",
                           from_archive ? request->inputs->item[0].path : request->output->text,
                           options[i].name);
    }
    return GF_OK;
}

/* Refuses two outputs to standard output, and names that several pictures or archives would have.
 */
static enum gf_status check_templates(const struct gf_batch_request *request, bool from_archive,
                                      struct gf_error *error)
{
    const struct gf_inputs *const inputs = request->inputs;
    const size_t total = gf_inputs_total(inputs);
    int streams = 0;
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        const struct gf_template *const output = gf_batch_output_at(request, k).name;
        const bool archive = gf_archive_named(output->text);
        streams += output->is_stdout || (archive && is_stream(output->text));
        if (!from_archive && output->of_archives)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: an archive of files has one name, without fields in braces",
                           output->text);
        if (from_archive && archive && total > 1 && !output->of_archives)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: one name for %zu archives; {dir}, {stem} and {n} in -o tell them "
                           "apart",
                           output->text, total);
        if (from_archive && !archive && !output->is_stdout && !output->is_pattern)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: one name for all pictures of '%.120s'; " GF_OUTPUTS_APART,
                           output->text, gf_archive_path(inputs->item[0].path));
        if (total > 1 && from_archive && !archive && !output->is_stdout && !output->has_archive)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: pictures of two archives could have one name; {archive} in -o "
                           "tells them apart",
                           output->text);
    }
    return streams > 1
               ? gf_fail(error, GF_ERROR_USAGE, "two outputs cannot both be standard output")
               : GF_OK;
}

/* Names the output archives of each input archive. */
static enum gf_status name_archives(const struct gf_batch *batch, struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    for (size_t i = 0; i < batch->count; i++) {
        for (int k = 0; k < gf_batch_outputs(request); k++) {
            const struct gf_template *const output = gf_batch_output_at(request, k).name;
            const struct gf_template_values values = {.input = &request->inputs->item[i],
                                                      .number = request->inputs->item[i].index + 1};
            char **const name = &batch->item[i].output[k];
            if (output->of_archives)
                GF_TRY(gf_template_expand(output, &values, name, error));
            else if (gf_archive_named(output->text) && !(*name = strdup(output->text)))
                return gf_fail_memory(error);
        }
    }
    return GF_OK;
}

/* Refuses two archives of one name and an output that is another input; where there are several
 * outputs, also an output that is its own input. */
static enum gf_status check_names(const struct gf_batch *batch, struct gf_error *error)
{
    const struct gf_inputs *const inputs = batch->request->inputs;
    const size_t outputs = (size_t)gf_batch_outputs(batch->request);
    struct gf_inputs plain = {.item = calloc(inputs->count, sizeof *plain.item),
                              .count = inputs->count};
    char **const path = calloc(inputs->count * outputs, sizeof *path);
    enum gf_status status = plain.item && path ? GF_OK : gf_fail_memory(error);
    for (size_t i = 0; !status && i < inputs->count; i++) {
        plain.item[i].path = (char *)gf_archive_path(inputs->item[i].path);
        for (size_t k = 0; k < outputs; k++) {
            const char *const name = batch->item[i].output[k];
            path[i * outputs + k] = name ? (char *)gf_archive_path(name) : NULL;
        }
    }
    if (!status && (inputs->count > 1 || outputs > 1))
        status = gf_outputs_check(&plain, path, (int)outputs, error);
    free(plain.item);
    free(path);
    return status;
}

/* An archive that is its own output would be filtered twice if an earlier run was killed before it
 * wrote the record. */
static enum gf_status check_in_place(const struct gf_batch_request *request, const char *input,
                                     const char *output, struct gf_error *error)
{
    struct stat a, b;
    if ((!request->resume && !request->skip_existing) || stat(input, &a) || stat(output, &b) ||
        a.st_dev != b.st_dev || a.st_ino != b.st_ino)
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "%s: is its own output: %s could filter it twice", input,
                   request->resume ? "--resume" : "--skip-existing");
}

/* A stored archive that is its own output would be filtered twice if an earlier run was killed
 * before it stored the record. */
static enum gf_status check_stored(const struct gf_batch_request *request, const char *input,
                                   const char *output, struct gf_error *error)
{
    const struct gf_transfer_options *const transfer = request->transfer;
    return transfer && transfer->fetch && transfer->store && !strcmp(input, output)
               ? gf_fail(error, GF_ERROR_USAGE, "%s: would be stored over itself", input)
               : GF_OK;
}

/* Refuses an archive that would replace a picture which goes into it. */
static enum gf_status check_inputs(const struct gf_inputs *inputs, const char *archive,
                                   struct gf_error *error)
{
    struct stat there, file;
    for (size_t i = 0; !stat(archive, &there) && i < inputs->count; i++) {
        if (!stat(inputs->item[i].path, &file) && file.st_dev == there.st_dev &&
            file.st_ino == there.st_ino)
            return gf_fail(error, GF_ERROR_USAGE,
                           "the archive '%.120s' would be written over the input '%.120s'", archive,
                           inputs->item[i].path);
    }
    return GF_OK;
}

/* Checks that the log and the inputs are other files than the archives. */
static enum gf_status check_files(const struct gf_batch *batch, bool from_archive,
                                  struct gf_error *error)
{
    const struct gf_batch_request *const request = batch->request;
    const size_t inputs = from_archive ? batch->count : 1;
    for (size_t i = 0; i < inputs; i++) {
        const char *const input = gf_archive_path(request->inputs->item[i].path);
        for (int k = 0; k < gf_batch_outputs(request); k++) {
            const char *const text = gf_batch_output_at(request, k).name->text;
            const char *const name = from_archive ? batch->item[i].output[k] : text;
            const char *const archive =
                name && gf_archive_named(text) ? gf_archive_path(name) : NULL;
            GF_TRY(gf_batch_check_log(request->log, input, archive, error));
            if (archive)
                GF_TRY(check_stored(request, input, archive, error));
            if (archive)
                GF_TRY(from_archive ? check_in_place(request, input, archive, error)
                                    : check_inputs(request->inputs, archive, error));
        }
    }
    return GF_OK;
}

static enum gf_status check_kinds(const struct gf_inputs *inputs, bool from_archive,
                                  struct gf_error *error)
{
    for (size_t i = 0; i < inputs->count; i++) {
        const char *const path = inputs->item[i].path;
        if (gf_archive_named(path) != from_archive)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: is %s archive; the inputs of a run are archives or pictures", path,
                           from_archive ? "no" : "an");
        if (from_archive && gf_inputs_total(inputs) > 1 && is_stream(path))
            return gf_fail(error, GF_ERROR_USAGE, "%s: a stream is the only input of a run", path);
        if (!from_archive && gf_input_named_is_stream(path))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: a stream has no name, and does not go into an archive", path);
    }
    return GF_OK;
}

enum gf_status gf_archive_check(const struct gf_archive_ring *ring, struct gf_error *error)
{
    const struct gf_batch *const batch = ring->batch;
    const struct gf_batch_request *const request = batch->request;
    const bool from_archive = ring->from_archives;
    GF_TRY(check_kinds(request->inputs, from_archive, error));
    GF_TRY(check_options(request, from_archive, error));
    GF_TRY(check_templates(request, from_archive, error));
    GF_TRY(from_archive ? name_archives(batch, error)
                        : gf_batch_name_outputs(request, batch->output, error));
    if (from_archive)
        GF_TRY(check_names(batch, error));
    return check_files(batch, from_archive, error);
}

#endif
