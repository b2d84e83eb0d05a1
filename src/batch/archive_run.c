/* The members of an archive stream through a ring: one thread reads them, the workers do those that
 * are pictures, and the calling thread writes them in their order. The ring holds a bounded number
 * of bytes. */
#include "batch/archive.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "codec/codec.h"

#ifdef GF_LIBRARY_archive
#include "batch/archive_file.h"

enum { SLOTS = 1024, PART_BYTES = 1 << 20 };

enum slot_state { SLOT_FREE, SLOT_TO_DO, SLOT_IN_WORK, SLOT_DONE };

/* A member, or, without a header, more bytes of the member before. */
struct slot {
    enum slot_state state;
    struct gf_archive_member member;
    unsigned char *data;
    size_t size, held; /* held: counted in the ring's bytes */
    bool too_large, left_out;
    size_t index; /* of the picture, from 0 */
    struct gf_batch_item item;
    struct gf_input_name name; /* "train.tar/0001.jpg" */
    char *output;              /* "out.tar/0001.jpg" */
};

struct ring {
    struct gf_batch *batch; /* its lock guards what follows, its condition tells of changes */
    struct gf_archive_reader *reader;
    struct gf_archive_writer *writer;
    const char *from, *to; /* the archives' names */
    struct slot slot[SLOTS];
    size_t read, taken, written; /* slots so far */
    size_t pictures;
    uint64_t bytes, limit; /* in the ring; the most */
    bool read_all;
    enum gf_status read_status;
    struct gf_error read_error;
};

static struct slot *slot_at(struct ring *ring, size_t number)
{
    return &ring->slot[number % SLOTS];
}

static void free_slot(struct slot *slot)
{
    gf_archive_member_free(&slot->member);
    free(slot->data);
    free(slot->item.notes);
    free(slot->name.path);
    free(slot->output);
    *slot = (struct slot){0};
}

/* ---- reading ---- */

static char *join(const char *archive, const char *member)
{
    char *text;
    return asprintf(&text, "%s/%s", archive, member) < 0 ? NULL : text;
}

/* The name that a picture has in the output: with another extension where the format changes. From
 * malloc(); NULL when out of memory. */
static char *renamed(const char *name, enum gf_file_format wanted)
{
    const enum gf_file_format own = gf_file_format_named(name);
    const bool stays = wanted ? wanted == own : gf_file_format_keeps_extension(name);
    const size_t stem = (size_t)(strrchr(name, '.') - name);
    char *text;
    if (stays)
        return strdup(name);
    return asprintf(&text, "%.*s.%s", (int)stem, name,
                    gf_file_format_extension(wanted ? wanted : own)) < 0
               ? NULL
               : text;
}

/* A link to a picture follows it to its new name. */
static bool rename_link(struct gf_archive_member *member, enum gf_file_format wanted)
{
    const char *const target = gf_archive_member_target(member);
    if (!target || !gf_file_format_named(target) || !gf_file_format_named(member->name))
        return true;
    char *const name = renamed(member->name, wanted), *const to = renamed(target, wanted);
    const bool done = name && to && gf_archive_member_change(member, name, 0);
    if (done)
        gf_archive_member_set_target(member, to);
    free(name);
    free(to);
    return done;
}

/* Waits for a slot and for room for so many bytes, and takes them; NULL where the run has stopped.
 */
static struct slot *wait_for_slot(struct ring *ring, size_t bytes)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    while (!batch->stopped && (ring->read - ring->written == SLOTS ||
                               (ring->bytes && ring->bytes + bytes > ring->limit)))
        pthread_cond_wait(&batch->changed, &batch->lock);
    struct slot *const slot = batch->stopped ? NULL : slot_at(ring, ring->read);
    if (slot) {
        slot->held = bytes;
        ring->bytes += bytes;
    }
    pthread_mutex_unlock(&batch->lock);
    return slot;
}

static void pass_on(struct ring *ring, struct slot *slot, enum slot_state state)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    slot->state = state;
    ring->read++;
    if (state == SLOT_TO_DO) {
        slot->index = ring->pictures++;
        batch->state.files = ring->pictures;
        if (batch->request->counts)
            batch->request->counts->files = ring->pictures;
    }
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

static enum gf_status read_bytes(struct ring *ring, struct slot *slot, size_t size,
                                 struct gf_error *error)
{
    slot->data = malloc(size ? size : 1);
    if (!slot->data)
        return gf_fail_memory(error);
    return gf_archive_read(ring->reader, slot->data, size, &slot->size, error);
}

/* A picture is held as a whole. The bytes of one that is larger than the ring are passed over. */
static enum gf_status read_picture(struct ring *ring, struct slot *slot, struct gf_error *error)
{
    const uint64_t size = slot->member.size;
    slot->name.path = join(ring->from, slot->member.name);
    char *const name = renamed(slot->member.name, ring->batch->request->options.format);
    slot->output = name ? join(ring->to, name) : NULL;
    enum gf_status status = slot->name.path && slot->output ? GF_OK : gf_fail_memory(error);
    slot->too_large = size > ring->limit;
    if (!status && !slot->too_large)
        status = read_bytes(ring, slot, (size_t)size, error);
    if (!status && !gf_archive_member_change(&slot->member, name, size))
        status = gf_fail_memory(error);
    free(name);
    return status;
}

/* Any other member's bytes follow in parts. */
static enum gf_status read_rest(struct ring *ring, struct slot *slot, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    uint64_t left = slot->member.size;
    pass_on(ring, slot, SLOT_DONE);
    while (!status && left) {
        const size_t part = left < PART_BYTES ? (size_t)left : PART_BYTES;
        struct slot *const next = wait_for_slot(ring, part);
        if (!next)
            return GF_OK;
        status = read_bytes(ring, next, part, error);
        left -= part;
        if (!status && next->size < part)
            status = gf_fail(error, GF_ERROR_INPUT, "%s: ends early", ring->from);
        if (!status)
            pass_on(ring, next, SLOT_DONE);
    }
    return status;
}

static enum gf_status read_member(struct ring *ring, bool *more, struct gf_error *error)
{
    struct gf_archive_member member;
    const enum gf_status status = gf_archive_next(ring->reader, &member, more, error);
    if (status || !*more)
        return status;
    const bool picture = member.is_file && gf_file_format_named(member.name);
    const bool held = picture && member.size <= ring->limit;
    struct slot *const slot = wait_for_slot(ring, held ? (size_t)member.size : 0);
    if (!slot) {
        gf_archive_member_free(&member);
        *more = false;
        return GF_OK;
    }
    slot->member = member;
    if (!picture)
        return rename_link(&slot->member, ring->batch->request->options.format)
                   ? read_rest(ring, slot, error)
                   : gf_fail_memory(error);
    const enum gf_status read = read_picture(ring, slot, error);
    if (!read)
        pass_on(ring, slot, SLOT_TO_DO);
    return read;
}

static void *reader_main(void *argument)
{
    struct ring *const ring = argument;
    struct gf_batch *const batch = ring->batch;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    bool more = true;
    while (!status && more)
        status = read_member(ring, &more, &error);
    pthread_mutex_lock(&batch->lock);
    ring->read_all = true;
    ring->read_status = status;
    ring->read_error = error;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    return NULL;
}

/* ---- the workers ---- */

static struct slot *take_picture(struct ring *ring)
{
    struct gf_batch *const batch = ring->batch;
    struct slot *taken = NULL;
    pthread_mutex_lock(&batch->lock);
    while (!taken && !batch->stopped && !(ring->read_all && ring->taken == ring->read)) {
        if (ring->taken == ring->read) {
            pthread_cond_wait(&batch->changed, &batch->lock);
            continue;
        }
        struct slot *const next = slot_at(ring, ring->taken++);
        if (next->state == SLOT_TO_DO) {
            next->state = SLOT_IN_WORK;
            taken = next;
        }
    }
    pthread_mutex_unlock(&batch->lock);
    return taken;
}

static void run_slot(struct ring *ring, struct gf_batch_worker *worker, struct slot *slot)
{
    struct gf_batch *const batch = ring->batch;
    struct gf_batch_member member = {
        .data = slot->data,
        .size = slot->size,
        .result = {.format = gf_file_format_named(slot->output), .name = slot->output}};
    struct gf_error why = {0};
    worker->input = &slot->name;
    worker->item = &slot->item;
    worker->member = &member;
    worker->index = slot->index;
    worker->path = slot->output;
    const enum gf_status status =
        slot->too_large
            ? gf_fail(&why, GF_ERROR_INPUT, "%s: it has %llu MiB; --memory leaves %llu for it",
                      slot->name.path, (unsigned long long)(slot->member.size >> 20),
                      (unsigned long long)(ring->limit >> 20))
            : gf_batch_run_file(worker, &why);
    free(slot->data);
    slot->data = member.result.data;
    slot->size = member.result.size;
    slot->member.size = slot->size;
    slot->left_out = status;
    gf_batch_end_item(worker, status ? GF_OUTCOME_FAILED : GF_OUTCOME_DONE, status, &why,
                      status == GF_ERROR_UNAVAILABLE);
    worker->path = NULL; /* the slot's */
    pthread_mutex_lock(&batch->lock);
    ring->bytes += slot->size - slot->held;
    slot->held = slot->size;
    slot->state = SLOT_DONE;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

struct archive_worker {
    struct gf_batch_worker base;
    struct ring *ring;
};

static void *worker_main(void *argument)
{
    struct archive_worker *const worker = argument;
    for (struct slot *slot; (slot = take_picture(worker->ring));)
        run_slot(worker->ring, &worker->base, slot);
    gf_batch_worker_end(&worker->base);
    return NULL;
}

/* ---- writing ---- */

static enum gf_status write_slot(struct ring *ring, struct slot *slot, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    if (slot->left_out)
        return GF_OK;
    if (slot->name.path &&
        !gf_archive_member_change(&slot->member, slot->member.name, slot->member.size))
        status = gf_fail_memory(error);
    if (!status && slot->member.header)
        status = gf_archive_put(ring->writer, &slot->member, error);
    return status || !slot->size ? status
                                 : gf_archive_write(ring->writer, slot->data, slot->size, error);
}

/* Writes what is done, in order, until all is written or the run stops. Holds the lock but for the
 * writing. */
static enum gf_status write_all(struct ring *ring, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct timespec next = {0};
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&batch->lock);
    while (!status && !batch->stopped && !(ring->read_all && ring->written == ring->read)) {
        struct slot *const slot = slot_at(ring, ring->written);
        if (ring->written == ring->read || slot->state != SLOT_DONE) {
            gf_batch_wait(batch, &next);
            continue;
        }
        if (slot->name.path)
            gf_batch_report(batch, &slot->item, slot->name.path);
        pthread_mutex_unlock(&batch->lock);
        status = write_slot(ring, slot, error);
        pthread_mutex_lock(&batch->lock);
        ring->bytes -= slot->held;
        free_slot(slot);
        ring->written++;
        pthread_cond_broadcast(&batch->changed);
    }
    batch->stopped |= status != GF_OK;
    pthread_cond_broadcast(&batch->changed);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
    return status;
}

/* ---- the run ---- */

/* Starts the reader and the workers, writes, and waits for them all. */
static enum gf_status run_threads(struct ring *ring, struct archive_worker *worker, int count,
                                  struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    pthread_t reader;
    int started = 0;
    if (pthread_create(&reader, NULL, reader_main, ring))
        return gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    pthread_mutex_lock(&batch->lock);
    while (started < count &&
           !pthread_create(&worker[started].base.thread, NULL, worker_main, &worker[started]))
        started++;
    batch->working = started;
    batch->stopped |= !started;
    pthread_mutex_unlock(&batch->lock);
    enum gf_status status =
        started ? write_all(ring, error) : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
    for (int i = 0; i < started; i++)
        pthread_join(worker[i].base.thread, NULL);
    pthread_join(reader, NULL);
    if (!status && ring->read_status && !batch->fatal) {
        status = ring->read_status;
        *error = ring->read_error;
    }
    return status;
}

static enum gf_status run_ring(struct ring *ring, int count, struct gf_error *error)
{
    struct gf_batch *const batch = ring->batch;
    struct archive_worker *const worker = calloc((size_t)count, sizeof *worker);
    enum gf_status status = worker ? GF_OK : gf_fail_memory(error);
    for (int i = 0; !status && i < count; i++) {
        worker[i].ring = ring;
        status = gf_batch_worker_open(&worker[i].base, batch, i, error);
    }
    if (!status)
        status = run_threads(ring, worker, count, error);
    for (int i = 0; worker && i < count; i++)
        gf_batch_worker_close(&worker[i].base);
    free(worker);
    for (size_t i = 0; i < SLOTS; i++)
        free_slot(&ring->slot[i]);
    return status;
}

/* What was left out is the run's failure, but the archive is whole. What stopped the run leaves
 * none. */
static enum gf_status end(struct ring *ring, struct gf_error *error)
{
    const struct gf_batch *const batch = ring->batch;
    const enum gf_status failed = gf_batch_conclude(batch, error);
    if (batch->stopped)
        return failed;
    struct gf_error of_commit = {0};
    const enum gf_status status = gf_archive_commit(ring->writer, &of_commit);
    if (status)
        *error = of_commit;
    return status ? status : failed;
}

static enum gf_status open_archives(struct ring *ring, struct gf_error *error)
{
    const struct gf_batch_request *const request = ring->batch->request;
    const struct gf_options *const options = &request->options;
    const enum gf_status status =
        gf_archive_reader_open(request->inputs->item[0].path, &ring->reader, error);
    return status ? status
                  : gf_archive_writer_open(request->output->text, options->no_clobber,
                                           options->sync, &ring->writer, error);
}

static const char *name_for_messages(const char *argument, const char *stream)
{
    const char *const path = gf_archive_path(argument);
    return strcmp(path, "-") ? path : stream;
}

/* The options that go by files are not for members. */
static enum gf_status check(const struct gf_batch_request *request, struct gf_error *error)
{
    const char *const input = request->inputs->item[0].path;
    const struct {
        bool given;
        const char *name;
    } options[] = {{request->resume, "--resume"},
                   {request->skip_existing, "--skip-existing"},
                   {request->update, "--update"},
                   {request->shards, "--shard"},
                   {request->dry_run, "--dry-run"}};
    if (request->inputs->count > 1 || !gf_archive_named(input))
        return gf_fail(error, GF_ERROR_USAGE, "%s: an archive is made of one archive: -i FILE.tar",
                       request->output->text);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (options[i].given)
            return gf_fail(error, GF_ERROR_USAGE, "%s: %s is not for archives", input,
                           options[i].name);
    }
    return GF_OK;
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    enum { MANY = 1 << 20 };
    const struct gf_batch_request *const request = batch->request;
    struct ring *const ring = calloc(1, sizeof *ring);
    if (!ring)
        return gf_fail_memory(error);
    *ring = (struct ring){.batch = batch,
                          .from = name_for_messages(request->inputs->item[0].path, "stdin"),
                          .to = name_for_messages(request->output->text, "stdout")};
    batch->archive = true;
    batch->count = MANY; /* how many pictures there are is known at the end */
    enum gf_status status = check(request, error);
    if (!status)
        status = open_archives(ring, error);
    if (!status) {
        gf_batch_choose_devices(batch);
        status = gf_batch_check_devices(batch, error);
    }
    if (!status) {
        const uint64_t memory = request->options.memory_bytes;
        ring->limit = memory ? memory / 2 : gf_batch_physical_bytes() / 8;
        batch->state.files = 0;
        status = run_ring(ring, gf_batch_divide_work(batch), error);
        gf_memory_budget_close(&batch->memory_budget);
    }
    if (!status)
        status = end(ring, error);
    gf_archive_writer_close(ring->writer);
    gf_archive_reader_close(ring->reader);
    free(ring);
    return status;
}

#else

enum gf_status gf_archive_load(const char *subject, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_UNAVAILABLE, "%s: built without libarchive-dev", subject);
}

enum gf_status gf_archive_run(struct gf_batch *batch, struct gf_error *error)
{
    return gf_archive_load(batch->request->output->text, error);
}

#endif
