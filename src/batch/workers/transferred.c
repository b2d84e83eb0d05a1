/* The supply of pictures that commands of the user fetch, and the storing of their results. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/transfer/transfer.h"
#include "batch/workers/workers.h"
#include "codec/codec.h"
#include "codec/io/output.h"

/* The function look() of the transfers: returns whether no output of the picture remains to be
 * made. */
static bool look(void *context, struct gf_fetched *fetched)
{
    const struct gf_batch *const batch = context;
    const char *const path = batch->request->inputs->item[fetched->position].path;
    bool waiting = false;
    for (int k = 0; k < gf_batch_outputs(batch->request); k++) {
        char why[sizeof((struct gf_error *)0)->text];
        waiting |= gf_batch_check_existing(batch, path, &fetched->identity,
                                           &batch->item[fetched->position], k, why,
                                           sizeof why) == GF_OUTCOME_WAITING;
    }
    return !waiting;
}

/* Maps a fetched picture into memory. A file without bytes needs no mapping. */
static enum gf_status map_fetched(const struct gf_fetched *fetched, const char *name,
                                  struct gf_file_bytes *picture, struct gf_error *error)
{
    struct stat file;
    void *data = "";
    if (fstat(fetched->fd, &file))
        return gf_fail(error, GF_ERROR_READ, "%s: %s", name, strerror(errno));
    if (file.st_size)
        data = mmap(NULL, (size_t)file.st_size, PROT_READ, MAP_PRIVATE, fetched->fd, 0);
    if (data == MAP_FAILED)
        return gf_fail(error, GF_ERROR_READ, "%s: %s", name, strerror(errno));
    *picture = (struct gf_file_bytes){
        .data = data, .size = (size_t)file.st_size, .is_timed = true, .changed = file.st_mtim};
    return GF_OK;
}

/* Makes the worker keep the results in memory, and gives them names by which their format is
 * chosen. */
static void name_results(struct gf_batch_worker *worker)
{
    const struct gf_batch_request *const request = worker->batch->request;
    struct gf_bytes *const bytes = calloc((size_t)gf_batch_outputs(request), sizeof *bytes);
    for (int k = 0; bytes && k < gf_batch_outputs(request); k++) {
        const enum gf_file_format asked = gf_batch_output_at(request, k).options.format;
        const char *const name = worker->item->output[k];
        bytes[k].format = asked ? asked : name ? gf_file_format_named(name) : GF_FILE_AUTO;
        bytes[k].name = name;
        if (!name && !worker->fetched.status)
            worker->fetched.status =
                gf_fail(&worker->fetched.error, GF_ERROR_UNFIT,
                        "%s: --store takes a name whose extension is known", worker->input->path);
    }
    worker->bytes = bytes;
    if (!bytes && !worker->fetched.status)
        worker->fetched.status = gf_fail_memory(&worker->fetched.error);
}

static bool take(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    struct gf_fetched *const fetched = &worker->fetched;
    pthread_mutex_lock(&batch->lock);
    const bool stopped = batch->stopped;
    pthread_mutex_unlock(&batch->lock);
    if (stopped || !gf_transfers_take(batch->transfers, fetched))
        return false;
    pthread_mutex_lock(&batch->lock);
    batch->next++;
    pthread_mutex_unlock(&batch->lock);
    worker->is_fetched = true;
    worker->input = &batch->request->inputs->item[fetched->position];
    worker->item = &batch->item[fetched->position];
    worker->index = worker->input->index;
    worker->identity = fetched->identity;
    worker->member = (struct gf_file_bytes){0};
    if (fetched->fd >= 0) {
        fetched->status =
            map_fetched(fetched, worker->input->path, &worker->member, &fetched->error);
        close(fetched->fd);
    }
    if (batch->request->transfer->store)
        name_results(worker);
    return true;
}

static void done(struct gf_batch_worker *worker)
{
    struct gf_batch *const batch = worker->batch;
    for (int k = 0; worker->bytes && k < gf_batch_outputs(batch->request); k++)
        free(worker->bytes[k].data);
    free(worker->bytes);
    worker->bytes = NULL;
    if (worker->member.size)
        munmap((void *)worker->member.data, worker->member.size);
    worker->member = (struct gf_file_bytes){0};
    gf_transfers_release(batch->transfers, worker->fetched.bytes + worker->fetched.output_bytes);
    gf_batch_report_in_order(worker);
    pthread_mutex_lock(&batch->lock);
    const bool stopped = batch->stopped;
    pthread_mutex_unlock(&batch->lock);
    if (stopped)
        gf_transfers_stop(batch->transfers);
}

/* Writes a result to a file in the transfers' folder and has the file stored. */
static enum gf_status store(struct gf_batch_worker *worker, int number, struct gf_error *error)
{
    const struct gf_bytes *const bytes = &worker->bytes[number];
    const char *const dot = strrchr(bytes->name, '.');
    char kind[16];
    snprintf(kind, sizeof kind, "out%d", number);
    char *const file = gf_transfer_folder_file(worker->fetched.position, kind,
                                               dot && !strchr(dot, '/') ? dot : "");
    GF_ALLOCATED(file, error);
    const int fd = open(file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    const bool written = fd >= 0 && gf_write_fully(fd, bytes->data, bytes->size);
    const int why = errno;
    const bool closed = fd >= 0 && !close(fd);
    enum gf_status status = GF_OK;
    if (!written || !closed)
        status = gf_fail(error, GF_ERROR_OUTPUT, "%s: %s: %s", bytes->name, file,
                         strerror(written ? errno : why));
    else
        status = gf_transfers_store_now(
            worker->batch->transfers, file, bytes->name,
            gf_batch_output_at(worker->batch->request, number).name->given, error);
    unlink(file);
    free(file);
    return status;
}

/* Stores the results of the worker's picture, writes their lines to the log, and waits until they
 * are stored. */
static void store_results(struct gf_batch_worker *worker)
{
    for (int k = 0; k < gf_batch_outputs(worker->batch->request); k++) {
        struct gf_batch_result *const result = &worker->result[k];
        if (result->outcome != GF_OUTCOME_DONE || !worker->bytes[k].data)
            continue;
        result->status = store(worker, k, &result->why);
        if (result->status)
            result->outcome = GF_OUTCOME_FAILED;
        else
            gf_batch_record(worker, &result->entry);
    }
}

enum gf_status gf_batch_check_transfers(const struct gf_batch_request *request,
                                        struct gf_error *error)
{
    const struct gf_transfer_options *const transfer = request->transfer;
    if (transfer->probe)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--probe is for archives, which have records; --resume knows pictures");
    if (request->dry_run || (request->update && transfer->fetch))
        return gf_fail(error, GF_ERROR_USAGE, "%s does not look at what --fetch gets",
                       request->dry_run ? "--dry-run" : "--update");
    for (int k = 0; transfer->store && k < gf_batch_outputs(request); k++) {
        const struct gf_template *const output = gf_batch_output_at(request, k).name;
        if (output->is_stdout || output->has_size)
            return gf_fail(error, GF_ERROR_USAGE,
                           "%s: --store takes names of files, without {w} and {h}", output->text);
    }
    return transfer->store && (request->skip_existing || request->update)
               ? gf_fail(error, GF_ERROR_USAGE, "%s does not look where --store puts pictures",
                         request->update ? "--update" : "--skip-existing")
               : GF_OK;
}

enum gf_status gf_batch_work_on_transfers(struct gf_batch *batch, int workers,
                                          struct gf_error *error)
{
    const struct gf_batch_supply supply = {.take = take,
                                           .store = batch->request->transfer->store ? store_results
                                                                                    : NULL,
                                           .done = done};
    struct gf_transfer_options options = *batch->request->transfer;
    options.outputs = options.store ? gf_batch_outputs(batch->request) : 0;
    enum gf_status status =
        gf_transfers_open(&options, batch->request->inputs, look, batch, &batch->transfers, error);
    GF_THEN(status, gf_transfers_begin(batch->transfers, error));
    GF_THEN(status, gf_batch_work(batch, &supply, workers, error));
    gf_transfers_close(batch->transfers);
    batch->transfers = NULL;
    return status;
}
