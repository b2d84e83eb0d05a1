/* Runs a batch with archives: checks the request, chooses its devices, begins and ends it. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "batch/archives/archive_file.h"
#include "batch/archives/archive_ring.h"
#include "batch/workers/workers.h"

#ifdef GF_LIBRARY_archive
#include "batch/names/names.h"
#include "batch/request/request.h"

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
        const struct gf_template *const name = gf_batch_output_at(request, k).name;
        any_files |= !name->is_archive;
        any_archives |= name->is_archive;
        any_streams |= name->is_archive && is_stream(name->text);
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
    /* Options that are refused with archives: an archive is written as a whole, only an archive of
     * an archive has a record, and members are not known before the run. */
    const struct {
        bool refused;
        const char *name;
    } options[] = {{request->resume && !any_files && !recorded, "--resume"},
                   {request->skip_existing && !any_files && !recorded, "--skip-existing"},
                   {request->raw != NULL, "--raw"},
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

/* Refuses two outputs to standard output, and templates by which several pictures or archives would
 * get one name. */
static enum gf_status check_templates(const struct gf_batch_request *request, bool from_archive,
                                      struct gf_error *error)
{
    const struct gf_inputs *const inputs = request->inputs;
    const size_t total = gf_inputs_total(inputs);
    int streams = 0;
    for (int k = 0; k < gf_batch_outputs(request); k++) {
        const struct gf_template *const output = gf_batch_output_at(request, k).name;
        const bool archive = output->is_archive;
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
            else if (output->is_archive && !(*name = strdup(output->text)))
                return gf_fail_memory(error);
        }
    }
    return GF_OK;
}

/* Refuses two archives of one name and an output that is another input; without --in-place also an
 * output that is its own input, unless both are single names. */
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
    const bool own =
        outputs > 1 || (!batch->request->in_place && !batch->request->transfer &&
                        (batch->request->is_group || batch->request->output->of_archives));
    if (!status && (inputs->count > 1 || own))
        status = gf_outputs_check(&plain, path, (int)outputs, own, error);
    free(plain.item);
    free(path);
    return status;
}

/* Refuses, with --resume or --skip-existing, an archive as its own output: it would be filtered
 * twice if an earlier run was killed before it wrote the record. */
static enum gf_status check_in_place(const struct gf_batch_request *request, const char *input,
                                     const char *output, struct gf_error *error)
{
    if ((!request->resume && !request->skip_existing) || !gf_input_is_file(input, output))
        return GF_OK;
    return gf_fail(error, GF_ERROR_USAGE, "%s: is its own output: %s could filter it twice", input,
                   request->resume ? "--resume" : "--skip-existing");
}

/* Refuses an archive that would be stored over itself: it would be filtered twice if an earlier run
 * was killed before it stored the record. */
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
    for (size_t i = 0; i < inputs->count; i++) {
        if (gf_input_is_file(inputs->item[i].path, archive))
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
            const struct gf_template *const output = gf_batch_output_at(request, k).name;
            const char *const name = from_archive ? batch->item[i].output[k] : output->text;
            const char *const archive = name && output->is_archive ? gf_archive_path(name) : NULL;
            GF_TRY(gf_batch_check_log(request, input, archive, error));
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

/* Refuses, before anything runs, options that do not suit archives, and names that collide. Names
 * the outputs of each input. */
static GF_CHECKED enum gf_status archive_check(const struct gf_archive_ring *ring,
                                               struct gf_error *error)
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

/* ---- starting and ending the thread that reads ---- */

/* Ends the reader, which may be waiting for a slot or for the producer of a stream. */
static void join_reader(struct gf_archive_ring *ring, bool stops)
{
    struct gf_batch *const batch = ring->batch;
    if (!ring->reading)
        return;
    pthread_mutex_lock(&batch->lock);
    batch->stopped |= stops;
    stops = batch->stopped;
    if (stops && ring->open)
        gf_archive_reader_cancel(ring->open->reader);
    if (stops && ring->transfers)
        gf_transfers_stop(ring->transfers);
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    pthread_join(ring->reader_thread, NULL);
    ring->reading = false;
}

enum { LOOKED_AT = 8, HEADER_BYTES = 1024 };

/* Waits until the ring has the first pictures, or until none will come. Does not wait if the
 * archive is a stream. Returns the size of the first archive. */
static int64_t wait_for_pictures(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    pthread_mutex_lock(&batch->lock);
    while (!ring->read_all && !ring->full && ring->first_size >= 0 &&
           (!ring->first_size || ring->pictures < LOOKED_AT))
        gf_batch_wait(batch, &next);
    const int64_t size = ring->first_size;
    pthread_mutex_unlock(&batch->lock);
    return size;
}

/* Chooses the devices by the first members; the first archive's size and the number of archives
 * give an estimate of the number of members. The length of a stream is not known: for a stream
 * --device=auto means the CPU. */
static void choose_devices(struct gf_archive_ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    const size_t archives = batch->request->inputs->count;
    struct gf_input_name name[LOOKED_AT];
    struct gf_inputs inputs = {.item = name};
    struct gf_batch_request first = *batch->request;
    uint64_t bytes = 0;
    if (!ring->from_archives) {
        gf_batch_choose_devices(batch->request, batch->request, batch->count, &batch->devices);
        return;
    }
    const int64_t size = wait_for_pictures(ring);
    pthread_mutex_lock(&batch->lock);
    for (size_t i = 0; size > 0 && i < ring->read && inputs.count < LOOKED_AT; i++) {
        struct gf_archive_slot *const slot = gf_archive_slot_at(ring, i);
        bytes += HEADER_BYTES + slot->size;
        if (slot->state == GF_SLOT_TO_DO)
            gf_archive_slot_load(ring, slot);
        if (slot->state != GF_SLOT_TO_DO || !slot->data)
            continue;
        name[inputs.count++] =
            (struct gf_input_name){.path = slot->name.path, .data = slot->data, .size = slot->size};
    }
    if (inputs.count) {
        first.expected =
            ring->read_all
                ? ring->pictures
                : (size_t)((double)size / (double)bytes * (double)(inputs.count * archives));
        first.expected = first.expected ? first.expected : 1;
        first.inputs = &inputs;
    }
    pthread_mutex_unlock(&batch->lock);
    gf_batch_choose_devices(batch->request, &first, batch->count, &batch->devices);
}

/* Begins the only archive, or the archive of files. A failure here ends the run before anything is
 * written. */
static enum gf_status begin_alone(struct gf_archive_ring *ring, struct gf_error *error)
{
    struct gf_archive *const archive = gf_archive_begin(ring, 0);
    GF_ALLOCATED(archive, error);
    enum gf_status status = GF_OK;
    if (ring->from_archives && !archive->skipped)
        status = gf_archive_open(ring, archive, error);
    if (status) {
        archive->fault = *error;
        gf_archive_log(ring, archive);
    }
    return status ? status : gf_archive_begin_outputs(ring, archive, error);
}

/* ---- reading, filtering and writing at the same time ---- */

static enum gf_status fill_and_empty(struct gf_archive_ring *ring, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    const uint64_t memory = batch->request->options.memory_bytes;
    ring->limit = memory ? memory / 2 : gf_memory_pictures_bytes() / 2;
    GF_TRY(ring->alone       ? begin_alone(ring, error)
           : ring->transfers ? gf_transfers_begin(ring->transfers, error)
                             : GF_OK);
    ring->reading = !pthread_create(&ring->reader_thread, NULL, gf_archive_fill, ring);
    GF_TRY(ring->reading ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread"));
    choose_devices(ring);
    enum gf_status status = gf_batch_check_devices(batch->request, &batch->devices, error);
    if (!status) {
        const int workers = gf_batch_divide_work(batch->request, &batch->devices, batch->count,
                                                 &batch->options, &batch->memory_budget);
        status = gf_archive_work(ring, workers, error);
        gf_memory_budget_close(&batch->memory_budget);
    }
    join_reader(ring, status != GF_OK);
    gf_archive_end_stores(ring, true);
    return status ? status : gf_archive_failure(ring, error);
}

static enum gf_status open_ring(struct gf_archive_ring *ring, struct gf_error *error)
{
    enum { MANY = 1 << 20 };
    struct gf_batch *const batch = ring->batch;
    const struct gf_batch_request *const request = batch->request;
    ring->outputs = gf_batch_outputs(request);
    ring->from_archives = gf_archive_named(request->inputs->item[0].path);
    ring->alone =
        !ring->from_archives || (gf_inputs_total(request->inputs) == 1 && !request->transfer);
    for (int k = 0; k < ring->outputs; k++)
        ring->files |= ring->from_archives && !gf_batch_output_at(request, k).name->is_archive;
    GF_TRY(archive_check(ring, error));
    if (ring->from_archives) {
        /* A large number, since the number of pictures is known only at the end. */
        batch->count = MANY;
        batch->state.files = 0;
        batch->claims = &ring->claims;
    }
    if (!request->transfer)
        return gf_archive_load(request->output->text, error);
    struct gf_transfer_options options = *request->transfer;
    options.outputs = options.store ? ring->outputs : 0;
    return gf_transfers_open(&options, request->inputs, gf_archive_look, ring, &ring->transfers,
                             error);
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    GF_NEW(struct gf_archive_ring, ring, error);
    ring->batch = batch;
    pthread_cond_init(&ring->to_do, NULL);
    enum gf_status status = open_ring(ring, error);
    GF_THEN(status,
            batch->request->dry_run ? gf_batch_dry_run(batch, error) : fill_and_empty(ring, error));
    join_reader(ring, true);
    if (ring->open) /* the reader's thread never started */
        gf_archive_close(ring, ring->open);
    for (size_t i = 0; i < GF_ARCHIVE_SLOTS; i++)
        gf_archive_slot_free(ring, &ring->slot[i]);
    while (ring->first)
        gf_archive_free_first(ring);
    gf_transfers_close(ring->transfers);
    gf_claims_free(&ring->claims);
    pthread_cond_destroy(&ring->to_do);
    free(ring);
    return status;
}

#else

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    return gf_archive_load(batch->request->output->text, error);
}

#endif
