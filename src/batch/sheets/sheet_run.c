/* Names the pages, hands the workers' pictures to the writing thread in their order, and lays them
 * on pages. */
#include "batch/sheets/sheet_run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/process/machine.h"
#include "batch/names/names.h"
#include "codec/common/checks.h"
#include "stage/filter.h"
#include "text/text.h"

static const char *input_name(const struct gf_sheet_writer *writer, size_t index)
{
    return writer->batch->request->inputs->item[index].path;
}

static void drop_group(struct gf_sheet_writer *writer)
{
    for (size_t i = 0; i < writer->count; i++) {
        if (writer->placed[i].text)
            gf_text_release(writer->placed[i].text);
        else
            gf_image_free(&writer->placed[i].image);
    }
    writer->count = 0;
    writer->held = 0;
}

/* Returns a new element of the group (struct gf_sheet_writer) for a picture or label; NULL when out
 * of memory. */
static struct gf_placed *add_place(struct gf_sheet_writer *writer)
{
    if (!GF_GROW(writer->placed, writer->count))
        return NULL;
    struct gf_placed *const placed = &writer->placed[writer->count];
    *placed = (struct gf_placed){.x = 0};
    return placed;
}

static enum gf_status read_picture(const struct gf_sheet_picture *picture, const char *name,
                                   struct gf_image *image, struct gf_error *error)
{
    const struct gf_options options = gf_options_default();
    struct gf_input *input = NULL;
    struct gf_source *source = NULL;
    enum gf_status status =
        gf_input_open_memory(picture->bytes.data, picture->bytes.size, name, &input, error);
    GF_THEN(status, gf_source_open(input, &options, &source, error));
    GF_THEN(status, gf_source_read_all(source, image, error));
    if (source)
        source->close(source);
    gf_input_close(input);
    return status;
}

/* Notes where the picture of input `index` lies on the page, for the file of places. */
static void keep_place(struct gf_sheet_writer *writer, size_t index, const struct gf_placed *placed)
{
    struct gf_places *const places = &writer->places;
    if (places->output)
        places->place[places->count++] =
            (struct gf_sheet_place){input_name(writer, index), placed->x, placed->y,
                                    placed->image.format.width, placed->image.format.height};
}

static enum gf_status check_held(struct gf_sheet_writer *writer, const char *name, uint64_t bytes,
                                 struct gf_error *error)
{
    const struct gf_options *const options = &writer->sheet->options;
    writer->held += bytes;
    return gf_memory_check(name, "the pictures of a row are held as a whole", writer->held,
                           options->memory_bytes ? options->memory_bytes / 2
                                                 : gf_memory_pictures_bytes(),
                           options, error);
}

/* Sets where a picture lies in its tile, as the sheet's gravity says. */
static void place_picture(const struct gf_sheet_writer *writer, size_t tile,
                          struct gf_placed *placed)
{
    const struct gf_sheet_layout *const layout = &writer->layout;
    const size_t column = tile % (size_t)layout->columns, row = tile / (size_t)layout->columns;
    const struct gf_format format = placed->image.format;
    const int height = layout->height[row] - writer->sheet->label_height;
    placed->x = layout->x[column] +
                gf_gravity_x(writer->sheet->gravity, layout->width[column] - format.width);
    placed->y = layout->y[row] + gf_gravity_y(writer->sheet->gravity, height - format.height);
}

/* Opens the page whose first picture is that of input `index`. */
static enum gf_status open_page(struct gf_sheet_writer *writer, size_t index,
                                struct gf_format format, struct gf_error *error)
{
    const struct gf_sheet *const sheet = writer->sheet;
    const char *const path = writer->batch->item[index].output[0];
    if (!sheet->name->is_stdout && writer->batch->request->plain_members)
        GF_TRY(gf_refuse_links(sheet->name, path, error));
    if (!sheet->name->is_stdout)
        GF_TRY(gf_make_folders_of(path, error));
    return gf_page_open(&writer->page, path, format, &sheet->background, &sheet->options, error);
}

/* ---- sheets of tiles (--sheet) ---- */

/* Begins the page whose first picture is that of input `index`. */
static enum gf_status begin_sheet(struct gf_sheet_writer *writer, size_t index,
                                  struct gf_error *error)
{
    const struct gf_sheet *const sheet = writer->sheet;
    const size_t left =
        (writer->batch->count - index + (size_t)sheet->columns - 1) / (size_t)sheet->columns;
    const int rows = left < (size_t)sheet->rows ? (int)left : sheet->rows;
    struct gf_sheet_layout *const layout = &writer->layout;
    gf_sheet_layout_free(layout);
    GF_TRY(gf_sheet_layout_begin(layout, sheet->columns, rows, error));
    for (int c = 0; c < sheet->columns; c++)
        gf_sheet_layout_fit(layout, (size_t)c, sheet->tile_width, 0);
    for (int r = 0; r < rows; r++)
        gf_sheet_layout_fit(layout, (size_t)r * (size_t)sheet->columns, 0,
                            sheet->tile_height + sheet->label_height);
    GF_TRY(gf_sheet_layout_end(layout, sheet->gap, sheet->margin, error));
    const struct gf_format format = {.width = layout->page_width,
                                     .height = layout->page_height,
                                     .channels = sheet->background.word ? 4 : 3,
                                     .bits = 8};
    return open_page(writer, index, format, error);
}

/* Ends the row of tiles and, after its last row, the page. */
static enum gf_status end_row(struct gf_sheet_writer *writer, int row, struct gf_error *error)
{
    const struct gf_sheet_layout *const layout = &writer->layout;
    const bool is_last = row + 1 == layout->rows;
    enum gf_status status =
        gf_page_write(&writer->page, writer->placed, writer->count,
                      is_last ? layout->page_height : layout->y[row + 1], error);
    drop_group(writer);
    if (!status && is_last)
        status = gf_page_finish(&writer->page, error);
    return status;
}

static enum gf_status add_label(struct gf_sheet_writer *writer, size_t index, size_t tile,
                                const struct gf_sheet_picture *picture, struct gf_error *error)
{
    const struct gf_sheet_layout *const layout = &writer->layout;
    struct gf_placed *const placed = add_place(writer);
    GF_ALLOCATED(placed, error);
    const enum gf_status status = gf_sheet_draw_label(
        writer, index, picture, layout->x[tile % (size_t)layout->columns],
        layout->y[tile / (size_t)layout->columns] + writer->sheet->tile_height, placed, error);
    writer->count += !status;
    return status;
}

static enum gf_status add_to_sheet(struct gf_sheet_writer *writer, size_t index,
                                   const struct gf_sheet_picture *picture, struct gf_error *error)
{
    const struct gf_sheet *const sheet = writer->sheet;
    const size_t tiles = (size_t)sheet->columns * (size_t)sheet->rows, tile = index % tiles;
    const bool ends_row =
        (tile + 1) % (size_t)sheet->columns == 0 || index + 1 == writer->batch->count;
    const bool ends_page = tile + 1 == tiles || index + 1 == writer->batch->count;
    enum gf_status status = GF_OK;
    if (!tile) {
        writer->incomplete = false;
        status = begin_sheet(writer, index, error);
    }
    if (!status && picture->failed && !sheet->failed)
        writer->incomplete = true;
    if (!status && !picture->failed && !writer->incomplete) {
        struct gf_placed *const placed = add_place(writer);
        status = placed ? read_picture(picture, input_name(writer, index), &placed->image, error)
                        : gf_fail_memory(error);
        writer->count += !status;
        if (!status) {
            place_picture(writer, tile, placed);
            keep_place(writer, index, placed);
            status = check_held(writer, input_name(writer, index), picture->bytes.size, error);
        }
        if (!status && *sheet->label)
            status = add_label(writer, index, tile, picture, error);
    }
    if (!status && ends_row && !writer->incomplete)
        status = end_row(writer, (int)(tile / (size_t)sheet->columns), error);
    if (!status && (ends_page || writer->incomplete)) {
        drop_group(writer);
        gf_page_close(&writer->page);
    }
    return status;
}

/* ---- joined pictures (--join) ---- */

static bool is_neutral(const struct gf_colour *colour)
{
    return colour->part[0] == colour->part[1] && colour->part[1] == colour->part[2];
}

/* Returns the format that holds the pixels of all pictures and the background. */
static struct gf_format joined_format(const struct gf_sheet_writer *writer)
{
    const struct gf_colour *const background = &writer->sheet->background;
    int colours = background->word || is_neutral(background) ? 1 : 3, bits = 8;
    bool alpha = background->word != 0;
    for (size_t i = 0; i < writer->count; i++) {
        const struct gf_format format = writer->placed[i].image.format;
        colours = gf_colour_channels(format) > colours ? 3 : colours;
        bits = format.bits > bits ? format.bits : bits;
        alpha |= gf_has_alpha(format);
    }
    return (struct gf_format){.width = writer->layout.page_width,
                              .height = writer->layout.page_height,
                              .channels = colours + alpha,
                              .bits = bits};
}

static enum gf_status lay_out_joined(struct gf_sheet_writer *writer, struct gf_error *error)
{
    const struct gf_sheet *const sheet = writer->sheet;
    const int count = (int)writer->count;
    const int columns = sheet->direction == GF_SHEET_ACROSS ? count
                        : sheet->direction == GF_SHEET_DOWN ? 1
                        : sheet->columns                    ? sheet->columns
                                                            : (int)ceil(sqrt(count));
    const int used = columns < count ? columns : count;
    GF_TRY(gf_sheet_layout_begin(&writer->layout, used, (count + used - 1) / used, error));
    for (size_t i = 0; i < writer->count; i++)
        gf_sheet_layout_fit(&writer->layout, i, writer->placed[i].image.format.width,
                            writer->placed[i].image.format.height);
    return gf_sheet_layout_end(&writer->layout, sheet->gap, sheet->margin, error);
}

static enum gf_status write_joined(struct gf_sheet_writer *writer, struct gf_error *error)
{
    GF_TRY(lay_out_joined(writer, error));
    for (size_t i = 0; i < writer->count; i++) {
        place_picture(writer, i, &writer->placed[i]);
        keep_place(writer, i, &writer->placed[i]);
    }
    GF_TRY(open_page(writer, 0, joined_format(writer), error));
    GF_TRY(gf_page_write(&writer->page, writer->placed, writer->count, writer->layout.page_height,
                         error));
    return gf_page_finish(&writer->page, error);
}

/* Adds a picture to the joined ones. Once a picture has failed, the page is not written and no
 * picture is kept. */
static enum gf_status add_to_joined(struct gf_sheet_writer *writer, size_t index,
                                    const struct gf_sheet_picture *picture, struct gf_error *error)
{
    enum gf_status status = GF_OK;
    writer->incomplete |= picture->failed;
    if (writer->incomplete) {
        drop_group(writer);
        return GF_OK;
    }
    struct gf_placed *const placed = add_place(writer);
    status = placed ? read_picture(picture, input_name(writer, index), &placed->image, error)
                    : gf_fail_memory(error);
    writer->count += !status;
    GF_THEN(status, check_held(writer, input_name(writer, index), picture->bytes.size, error));
    return !status && index + 1 == writer->batch->count ? write_joined(writer, error) : status;
}

/* Adds the picture of input `index`. Ends its group and its page if it is the last one there. */
static GF_CHECKED enum gf_status sheet_add(struct gf_sheet_writer *writer, size_t index,
                                           const struct gf_sheet_picture *picture,
                                           struct gf_error *error)
{
    GF_TRY(writer->sheet->kind == GF_SHEET_JOIN ? add_to_joined(writer, index, picture, error)
                                                : add_to_sheet(writer, index, picture, error));
    const bool writes_places =
        writer->places.output && index + 1 == writer->batch->count && !writer->incomplete;
    return writes_places ? gf_places_write(&writer->places, writer->layout.page_width,
                                           writer->layout.page_height, error)
                         : GF_OK;
}

static void sheet_close_writer(struct gf_sheet_writer *writer)
{
    drop_group(writer);
    gf_page_close(&writer->page);
    gf_places_close(&writer->places);
    gf_sheet_layout_free(&writer->layout);
    free(writer->placed);
    writer->placed = NULL;
}

/* Pictures on their way from the workers to the writing thread: picture number i is at picture[i %
 * order.room]. */
struct ring {
    struct gf_batch *batch;
    struct gf_batch_order order;
    struct gf_sheet_picture *picture;
    struct gf_sheet_writer writer;
};

/* ---- names of pages ---- */

/* Fails if a page is an input, or if --no-clobber keeps a file of its name. */
static enum gf_status check_pages(const struct gf_batch_request *request, char *const *path,
                                  struct gf_error *error)
{
    const size_t count = request->inputs->count;
    struct stat there;
    /* For gf_outputs_check() each page is an output of its first picture only. */
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
    GF_THEN(status, gf_outputs_check(request->inputs, once, 2, true, error));
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
    const size_t tiles = sheet->kind == GF_SHEET_TILES
                             ? (size_t)sheet->columns * (size_t)sheet->rows
                             : inputs->count;
    const size_t pages = (inputs->count + tiles - 1) / tiles;
    enum gf_file_format format;
    if (pages > 1 && !sheet->name->has_number)
        return gf_fail(error, GF_ERROR_USAGE,
                       "%s: %zu pictures make %zu pages of %zu: {n} in the name numbers them, as "
                       "in sheet-{n}.png",
                       sheet->name->text, inputs->count, pages, tiles);
    GF_TRY(check_places(request, pages, error));
    for (size_t i = 0; i < inputs->count; i++) {
        const struct gf_template_values values = {.input = &inputs->item[i],
                                                  .number = i / tiles + 1};
        GF_TRY(gf_template_expand(sheet->name, &values, &path[i], error));
        const char *const kept = gf_batch_replaced(request, path[i]);
        if (kept)
            return gf_fail(error, GF_ERROR_USAGE, "%s: is an output and %s", path[i], kept);
    }
    GF_TRY(gf_sink_format(path[0], &sheet->options, GF_FILE_PNG, &format, error));
    return sheet->name->is_stdout ? GF_OK : check_pages(request, path, error);
}

/* ---- how a worker takes a picture and hands it back ---- */

static bool take_picture(struct gf_batch_worker *worker)
{
    struct ring *const ring = worker->supply->context;
    struct gf_batch *const batch = worker->batch;
    pthread_mutex_lock(&batch->lock);
    const bool taken = gf_batch_wait_for_room(batch, &ring->order);
    const size_t number = taken ? batch->next++ : 0;
    ring->order.at_end = batch->next == batch->count;
    pthread_mutex_unlock(&batch->lock);
    if (!taken)
        return false;
    struct gf_sheet_picture *const picture = &ring->picture[number % ring->order.room];
    *picture = (struct gf_sheet_picture){
        .bytes = {.format = GF_FILE_PAM, .name = batch->item[number].output[0]}};
    worker->taken = picture;
    worker->place = number;
    worker->bytes = &picture->bytes;
    worker->input = &batch->request->inputs->item[number];
    worker->item = &batch->item[number];
    worker->index = worker->input->index;
    return true;
}

static void end_picture(struct gf_batch_worker *worker)
{
    struct gf_sheet_picture *const picture = worker->taken;
    picture->failed = worker->item->outcome != GF_OUTCOME_DONE;
    if (!picture->failed) {
        const struct gf_format in = gf_pipeline_profile(worker->pipeline)->in;
        picture->width = in.width;
        picture->height = in.height;
    }
}

/* ---- the writing thread ---- */

static void report(void *context, size_t number)
{
    const struct ring *const ring = context;
    const struct gf_batch *const batch = ring->batch;
    gf_batch_report(batch, &batch->item[number], batch->request->inputs->item[number].path);
}

static enum gf_status write_picture(void *context, size_t number, struct gf_error *error)
{
    struct ring *const ring = context;
    struct gf_sheet_picture *const picture = &ring->picture[number % ring->order.room];
    const enum gf_status status = sheet_add(&ring->writer, number, picture, error);
    free(picture->bytes.data);
    picture->bytes.data = NULL;
    return status;
}

enum gf_status gf_sheet_work(struct gf_batch *batch, int workers, struct gf_error *error)
{
    struct ring ring = {.batch = batch,
                        .order = {.room = 2 * (size_t)workers,
                                  .report = report,
                                  .reports_all = true,
                                  .write = write_picture},
                        .writer = {.sheet = batch->request->sheet, .batch = batch}};
    const struct gf_batch_supply supply = {
        .context = &ring, .take = take_picture, .done = end_picture, .order = &ring.order};
    const struct gf_sheet *const sheet = batch->request->sheet;
    ring.picture = calloc(ring.order.room, sizeof *ring.picture);
    enum gf_status status = ring.picture ? GF_OK : gf_fail_memory(error);
    if (!status && *sheet->places && batch->request->plain_members)
        status = gf_refuse_links(sheet->name, sheet->places, error);
    if (!status && *sheet->places)
        status = gf_places_open(&ring.writer.places, sheet->places, batch->item[0].output[0],
                                batch->count, &sheet->options, error);
    GF_THEN(status, gf_batch_work(batch, &supply, workers, error));
    for (size_t i = 0; ring.picture && i < ring.order.room; i++)
        free(ring.picture[i].bytes.data);
    free(ring.picture);
    sheet_close_writer(&ring.writer);
    return status;
}
