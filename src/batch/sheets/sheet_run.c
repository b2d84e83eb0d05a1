/* Names the pages, and brings the workers' pictures to the thread that writes, in their order. */
#include "batch/sheets/sheet_run.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "batch/names/output_template.h"
#include "batch/sheets/sheet_state.h"

/* The pictures between the workers and the thread that writes: picture number i is at
 * picture[i % room]. */
struct ring {
    struct gf_batch *batch;
    struct gf_sheet_picture *picture;
    size_t room;
    size_t written; /* the pictures that the writer has taken */
    struct gf_sheet_writer writer;
};

/* ---- names ---- */

/* Fails if a page is an input, or if --no-clobber keeps a file of its name. */
static enum gf_status check_pages(const struct gf_batch_request *request, char *const *path,
                                  struct gf_error *error)
{
    const size_t count = request->inputs->count;
    struct stat there;
    /* Each page is named once, as an output of its first picture. */
    char **const once = calloc(2 * count, sizeof *once);
    enum gf_status status = once ? GF_OK : gf_fail_memory(error);
    for (size_t i = 0; !status && i < count; i++) {
        if (i && !strcmp(path[i], path[i - 1]))
            continue;
        once[2 * i] = path[i];
        if (request->sheet->options.no_clobber && !stat(path[i], &there))
            status =
                gf_fail(error, GF_ERROR_OUTPUT, "%s: is there already (--no-clobber)", path[i]);
    }
    if (*request->sheet->places)
        once[1] = (char *)request->sheet->places;
    if (!status)
        status = gf_outputs_check(request->inputs, once, 2, error);
    free(once);
    return status;
}

static enum gf_status check_places(const struct gf_batch_request *request, size_t pages,
                                   struct gf_error *error)
{
    const struct gf_sheet *const sheet = request->sheet;
    if (!*sheet->places)
        return GF_OK;
    if (pages > 1 || sheet->name->is_stdout)
        return gf_fail(error, GF_ERROR_USAGE, "%s: places are for a file of one page, not for %s",
                       sheet->places, pages > 1 ? "several" : "standard output");
    return gf_places_check(sheet->places, request->inputs, error);
}

enum gf_status gf_sheet_name_pages(const struct gf_batch_request *request, char **path,
                                   struct gf_error *error)
{
    const struct gf_sheet *const sheet = request->sheet;
    const struct gf_inputs *const inputs = request->inputs;
    const size_t cells = sheet->kind == GF_SHEET_CELLS
                             ? (size_t)sheet->columns * (size_t)sheet->rows
                             : inputs->count;
    const size_t pages = (inputs->count + cells - 1) / cells;
    enum gf_file_format format;
    if (pages > 1 && !sheet->name->has_number)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %zu pictures make %zu pages of %zu: {n} in the name numbers them, as "
                       "in sheet-{n}.png",
                       sheet->name->text, inputs->count, pages, cells);
    GF_TRY(check_places(request, pages, error));
    for (size_t i = 0; i < inputs->count; i++) {
        const struct gf_template_values values = {.input = &inputs->item[i],
                                                  .number = i / cells + 1};
        GF_TRY(gf_template_expand(sheet->name, &values, &path[i], error));
    }
    GF_TRY(gf_sink_format(path[0], &sheet->options, GF_FILE_PNG, &format, error));
    return sheet->name->is_stdout ? GF_OK : check_pages(request, path, error);
}

/* ---- the workers ---- */

static bool take_picture(struct gf_batch_worker *worker)
{
    struct ring *const ring = worker->supply->context;
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    while (!batch->stopped && batch->next < batch->count &&
           batch->next >= ring->written + ring->room)
        pthread_cond_wait(&batch->changed, &batch->lock);
    const bool taken = !batch->stopped && batch->next < batch->count;
    const size_t number = taken ? batch->next++ : 0;
    struct gf_sheet_picture *const picture = &ring->picture[number % ring->room];
    if (taken)
        *picture = (struct gf_sheet_picture){
            .bytes = {.format = GF_FILE_PAM, .name = batch->item[number].output[0]}};
    pthread_mutex_unlock(&batch->lock);
    if (!taken)
        return false;
    worker->taken = picture;
    worker->bytes = &picture->bytes;
    worker->input = &batch->request->inputs->item[number];
    worker->item = &batch->item[number];
    worker->index = worker->input->index;
    return true;
}

static void end_picture(struct gf_batch_worker *worker)
{
    struct ring *const ring = worker->supply->context;
    struct gf_batch *const batch = ring->batch;
    struct gf_sheet_picture *const picture = worker->taken;
    picture->failed = worker->item->outcome != GF_OUTCOME_DONE;
    if (!picture->failed) {
        const struct gf_format in = gf_pipeline_profile(worker->pipeline)->in;
        picture->width = in.width;
        picture->height = in.height;
    }
    pthread_mutex_lock(&batch->lock);
    picture->done = true;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* ---- the thread that writes ---- */

/* Waits for the next picture and sends its messages. Returns NULL if all pictures are taken, or if
 * the run has stopped. */
static struct gf_sheet_picture *wait_for_next(struct ring *ring, struct timespec *next)
{
    struct gf_batch *const batch = ring->batch;
    const size_t number = ring->written;
    struct gf_sheet_picture *const picture = &ring->picture[number % ring->room];
    pthread_mutex_lock(&batch->lock);
    while (number < batch->count && !(number < batch->next && picture->done) && !batch->stopped)
        gf_batch_wait(batch, next);
    const bool ready = number < batch->next && picture->done && !batch->stopped;
    if (ready)
        gf_batch_report(batch, &batch->item[number], batch->request->inputs->item[number].path);
    pthread_mutex_unlock(&batch->lock);
    return ready ? picture : NULL;
}

static void leave_picture(struct ring *ring, struct gf_sheet_picture *picture)
{
    struct gf_batch *const batch = ring->batch;
    free(picture->bytes.data);
    pthread_mutex_lock(&batch->lock);
    *picture = (struct gf_sheet_picture){.done = false};
    ring->written++;
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
}

/* Ends the workers, and sends the messages of the pictures that are not taken. */
static void end_workers(struct ring *ring, struct timespec *next, bool stops)
{
    struct gf_batch *const batch = ring->batch;
    pthread_mutex_lock(&batch->lock);
    batch->stopped |= stops;
    pthread_cond_broadcast(&batch->changed);
    while (batch->working)
        gf_batch_wait(batch, next);
    for (size_t i = ring->written; i < batch->next; i++)
        gf_batch_report(batch, &batch->item[i], batch->request->inputs->item[i].path);
    gf_batch_tick(batch, true);
    pthread_mutex_unlock(&batch->lock);
}

static enum gf_status write_pages(void *context, struct gf_error *error)
{
    struct ring *const ring = context;
    struct gf_sheet_picture *picture;
    struct timespec next = {0};
    enum gf_status status = GF_OK;
    while (!status && (picture = wait_for_next(ring, &next))) {
        status = gf_sheet_add(&ring->writer, ring->written, picture, error);
        leave_picture(ring, picture);
    }
    end_workers(ring, &next, status != GF_OK);
    return status;
}

enum gf_status gf_sheet_work(struct gf_batch *batch, int workers, struct gf_error *error)
{
    struct ring ring = {.batch = batch,
                        .room = 2 * (size_t)workers,
                        .writer = {.sheet = batch->request->sheet, .batch = batch}};
    const struct gf_batch_supply supply = {
        .context = &ring, .take = take_picture, .done = end_picture, .attend = write_pages};
    const struct gf_sheet *const sheet = batch->request->sheet;
    ring.picture = calloc(ring.room, sizeof *ring.picture);
    enum gf_status status = ring.picture ? GF_OK : gf_fail_memory(error);
    if (!status && *sheet->places && batch->request->plain_members)
        status = gf_refuse_links(sheet->name, sheet->places, error);
    if (!status && *sheet->places)
        status = gf_places_open(&ring.writer.places, sheet->places, batch->item[0].output[0],
                                batch->count, &sheet->options, error);
    if (!status)
        status = gf_batch_work(batch, &supply, workers, error);
    for (size_t i = 0; ring.picture && i < ring.room; i++)
        free(ring.picture[i].bytes.data);
    free(ring.picture);
    gf_sheet_close_writer(&ring.writer);
    return status;
}
