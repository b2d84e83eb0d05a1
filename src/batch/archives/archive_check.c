#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"

#ifdef GF_LIBRARY_archive
#include "batch/archives/archive_ring.h"
#include "batch/names/archive_name.h"
#include "batch/request/output_names.h"

static enum gf_status check_options(const struct gf_batch_request *request, bool from_archive,
                                    struct gf_error *error)
{
    bool any_files = false;
    for (int k = 0; k < gf_batch_outputs(request); k++)
        any_files |= !gf_archive_named(gf_batch_output_at(request, k).name->text);
    /* Options that do not suit an archive: an archive is written as a whole, and its members are
     * not known before the run. */
    const struct {
        bool refused;
        const char *name;
    } options[] = {{request->resume && !any_files, "--resume"},
                   {request->skip_existing && !any_files, "--skip-existing"},
                   {request->update && (from_archive || !any_files), "--update"},
                   {request->shards && from_archive, "--shard"},
                   {request->dry_run && from_archive, "--dry-run"}};
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].refused)
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is not for archives",
                           from_archive ? request->inputs->item[0].path : request->output->text,
                           options[i].name);
    }
    return GF_OK;
}

/* Refuses two outputs to standard output, one file of an archive for all pictures, two archives of
 * one name and, where there are several outputs, an archive that is the input. The names of output
 * files were checked earlier. */
static enum gf_status check_names(const struct gf_batch_request *request, bool from_archive,
                                  struct gf_error *error)
{
    char *path[GF_PIPELINE_OUTPUTS_MAX] = {0};
    struct gf_input_name name = {.path = (char *)gf_archive_path(request->inputs->item[0].path)};
    const struct gf_inputs input = {.item = &name, .count = 1};
    const int outputs = gf_batch_outputs(request);
    int streams = 0;
    for (int k = 0; k < outputs; k++) {
        const struct gf_template *const output = gf_batch_output_at(request, k).name;
        if (gf_archive_named(output->text))
            path[k] = (char *)gf_archive_path(output->text);
        if (from_archive && !path[k] && !output->is_stdout && !output->is_pattern)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: one name for all pictures of '%.120s'; " GF_OUTPUTS_APART,
                           output->text, name.path);
        streams += output->is_stdout || (path[k] && !strcmp(path[k], "-"));
    }
    if (streams > 1)
        return gf_fail(error, GF_ERROR_USAGE, "two outputs cannot both be standard output");
    return from_archive && outputs > 1 ? gf_outputs_check(&input, path, outputs, error) : GF_OK;
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
static enum gf_status check_files(const struct gf_batch_request *request, bool from_archive,
                                  struct gf_error *error)
{
    const char *const input = gf_archive_path(request->inputs->item[0].path);
    enum gf_status status = GF_OK;
    for (int k = 0; !status && k < gf_batch_outputs(request); k++) {
        const char *const name = gf_batch_output_at(request, k).name->text;
        const char *const archive = gf_archive_named(name) ? gf_archive_path(name) : NULL;
        status = gf_batch_check_log(request->log, input, archive, error);
        if (!status && archive && !from_archive)
            status = check_inputs(request->inputs, archive, error);
    }
    return status;
}

enum gf_status gf_archive_check(const struct gf_batch_request *request, bool from_archive,
                                struct gf_error *error)
{
    const struct gf_inputs *const inputs = request->inputs;
    for (size_t i = 0; i < inputs->count; i++) {
        const char *const path = inputs->item[i].path;
        if (inputs->count > 1 && gf_archive_named(path))
            return gf_fail(error, GF_ERROR_USAGE, "%s: an archive is the only input of a run",
                           path);
        if (!from_archive && gf_input_named_is_stream(path))
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: a stream has no name, and does not go into an archive", path);
    }
    enum gf_status status = check_options(request, from_archive, error);
    if (!status)
        status = check_names(request, from_archive, error);
    return status ? status : check_files(request, from_archive, error);
}

#endif
