/* What a cell (cell.h) does for the program: it decodes the rows of a picture, and reads ICC
 * profiles. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/cell/cell.h"
#include "codec/cell/process.h"
#include "codec/common/checks.h"
#include "icc/icc.h"
#include "icc/icc_build.h"

enum { END_S = 1, THREADS_MORE = 64 };

struct cell_source {
    struct gf_source base;
    struct gf_cell_talk talk;
    struct gf_input *input;
    struct gf_options options;
    char why[sizeof((struct gf_cell_header *)0)->why];
    struct gf_heif_coded coded; /* of a HEIC */
    struct gf_tiff_coded tiles; /* of a TIFF */
    struct gf_coefficients coefficients;
    uint64_t copied; /* bytes of the caller's memory that were copied for the cell; else 0 */
    struct gf_rectangle window; /* the window that was asked for */
    bool begun;                 /* the first rows were requested */
    int asked;                  /* number of rows that are still to be requested */
    int coming;                 /* number of rows that were requested and have not arrived */
    /* `have` rows have arrived and are unread; `row` is the first of them, counted in its half. */
    int have, row;
    unsigned half; /* the half of the shared memory where the unread rows lie */
};

/* ---- requests and answers ---- */

static void ask(struct cell_source *source, enum gf_cell_wish wish, int number, int64_t end)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_ASK);
    message.ask.wish = wish;
    message.ask.half = !source->half;
    message.ask.number = number;
    message.ask.end = end;
    message.ask.x = source->window.x;
    message.ask.y = source->window.y;
    message.ask.width = source->window.width;
    message.ask.height = source->window.height;
    gf_cell_say(&source->talk, &message, NULL);
}

/* Returns the status of a read. A failure that a cell reports for a file that became shorter is an
 * error of the input, not damage of the picture. Such a file may also kill the cell, which has
 * mapped it. */
static enum gf_status fail_of_input(const struct cell_source *source, enum gf_status status,
                                    struct gf_error *error)
{
    const enum gf_status cut = status ? gf_input_check_size(source->input, error) : GF_OK;
    return cut ? cut : status;
}

static enum gf_status take_answer(struct cell_source *source, union gf_cell_message *message,
                                  struct gf_error *error)
{
    enum gf_status status = gf_cell_wait_for(&source->talk, GF_CELL_DONE, message, error);
    if (!status && message->done.status)
        status =
            gf_cell_fail_reported(&source->talk, message->done.status, message->done.error, error);
    return fail_of_input(source, status, error);
}

/* ---- rows ---- */

/* Limits the memory and processor time of the cell: for its threads, twice the size of the file,
 * and 1.5 times the bytes that the picture's header `declared` for its rows (0 while the header is
 * read). */
static void limit_memory(struct cell_source *source, uint64_t declared)
{
    const uint64_t thread_bytes = (uint64_t)16 << 20;
    const int64_t size = gf_input_size(source->input);
    const int threads = gf_codec_threads(&source->options);
    gf_cell_allow(&source->talk,
                  (uint64_t)threads * thread_bytes + 2 * (uint64_t)(size > 0 ? size : 0) +
                      declared + declared / 2,
                  gf_time_left() * threads);
}

/* Requests the next batch of rows, for the half of the shared memory without unread rows. */
static void ask_for_rows(struct cell_source *source)
{
    const size_t fit = GF_CELL_BATCH / gf_source_row_bytes(&source->base);
    const int batch = fit < 1 ? 1 : fit < INT32_MAX ? (int)fit : INT32_MAX;
    if (!source->begun) {
        source->begun = true;
        source->asked = gf_source_rows(&source->base);
        if (source->talk.cell)
            limit_memory(source, source->base.memory.bytes);
    }
    source->coming = source->asked < batch ? source->asked : batch;
    source->asked -= source->coming;
    if (source->coming)
        ask(source, GF_CELL_READ, source->coming, 0);
}

/* Waits for the requested batch, makes its rows the unread ones, and requests the batch after
 * it. */
static enum gf_status next_batch(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    if (!source->coming)
        ask_for_rows(source);
    const int rows = source->coming;
    source->coming = 0;
    GF_TRY(take_answer(source, &message, error));
    source->have = rows;
    source->base.duration = message.done.duration;
    source->row = 0;
    source->half = !source->half;
    ask_for_rows(source);
    return GF_OK;
}

static enum gf_status cell_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                struct gf_error *error)
{
    struct cell_source *const source = (struct cell_source *)base;
    const size_t row_bytes = gf_source_row_bytes(base);
    for (; rows; rows--, source->have--, source->row++, dst += pitch) {
        if (!source->have)
            GF_TRY(next_batch(source, error));
        memcpy(dst,
               source->talk.cell->shared + source->half * GF_CELL_HALF +
                   (size_t)source->row * row_bytes,
               row_bytes);
    }
    return GF_OK;
}

/* Waits for the answer to a request for rows that are no longer wanted, and ignores the rows. */
static enum gf_status drain(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    const bool coming = source->coming > 0;
    source->coming = 0;
    return coming ? take_answer(source, &message, error) : GF_OK;
}

/* ---- other requests ---- */

/* Forgets the tiles or frames of the whole picture at the full size, which a GPU would decode. */
static void drop_tiles(struct gf_source *base)
{
    if (base->tiles || base->coded)
        base->for_device_codec = false;
    base->tiles = NULL;
    base->coded = NULL;
}

/* Makes the cell reduce the picture, by which it must get that size. */
static enum gf_status reduce_to(struct cell_source *source, int reduction, int width, int height,
                                struct gf_error *error)
{
    struct gf_source *const base = &source->base;
    union gf_cell_message message;
    base->format.width = width;
    base->format.height = height;
    base->reduction = reduction;
    ask(source, GF_CELL_REDUCE, reduction, 0);
    GF_TRY(take_answer(source, &message, error));
    base->memory.bytes = message.done.memory_bytes + source->copied;
    drop_tiles(base);
    return message.done.width == width && message.done.height == height
               ? GF_OK
               : gf_cell_fail_senseless(&source->talk, error);
}

/* The cell cannot refuse to reduce: a failure shows when the first row is read. */
static void cell_reduce(struct gf_source *base, int reduction)
{
    struct gf_error unsaid;
    (void)reduce_to((struct cell_source *)base, reduction,
                    (base->format.width + reduction - 1) / reduction,
                    (base->format.height + reduction - 1) / reduction, &unsaid);
}

static enum gf_status cell_take_level(struct gf_source *base, int level, struct gf_error *error)
{
    const struct gf_level taken = base->level[level];
    return reduce_to((struct cell_source *)base, taken.divisor, taken.width, taken.height, error);
}

static enum gf_status cell_window(struct gf_source *base, struct gf_rectangle window, int more,
                                  struct gf_error *error)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    GF_TRY(drain(source, error));
    source->window = window;
    ask(source, GF_CELL_WINDOW, more, 0);
    GF_TRY(take_answer(source, &message, error));
    if (message.done.width != window.width || message.done.height != window.height)
        return gf_cell_fail_senseless(&source->talk, error);
    if (window.width < base->format.width || window.height < base->format.height)
        drop_tiles(base);
    base->format.width = window.width;
    base->format.height = window.height;
    base->memory.bytes = message.done.memory_bytes + source->copied;
    base->blocks = message.done.blocks;
    source->begun = false;
    source->have = source->row = 0;
    return GF_OK;
}

/* Sends a request (finish or leave) after which the input stands behind the picture, and moves the
 * program's input there, too. */
static enum gf_status move_behind(struct gf_source *base, enum gf_cell_wish wish, int64_t end,
                                  struct gf_error *error)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    GF_TRY(drain(source, error));
    ask(source, wish, 0, end);
    GF_TRY(take_answer(source, &message, error));
    if (message.done.position > gf_input_size(source->input))
        GF_TRY(gf_cell_fail_senseless(&source->talk, error));
    gf_input_go_to(source->input, message.done.position);
    return GF_OK;
}

static enum gf_status cell_finish(struct gf_source *base, struct gf_error *error)
{
    return move_behind(base, GF_CELL_FINISH, 0, error);
}

static enum gf_status cell_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    return move_behind(base, GF_CELL_LEAVE, end, error);
}

static enum gf_status read_header(struct cell_source *source, struct gf_error *error);

static enum gf_status cell_next(struct gf_source *base, bool *found, struct gf_error *error)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    enum gf_status status = drain(source, error);
    *found = false;
    if (status)
        return status;
    ask(source, GF_CELL_NEXT, 0, 0);
    status = take_answer(source, &message, error);
    if (status)
        return status;
    *found = message.done.found;
    base->duration = message.done.duration;
    source->begun = false;
    source->have = source->row = 0;
    if (!*found || !base->renews)
        return GF_OK;
    gf_metadata_free(&base->metadata);
    return fail_of_input(source, read_header(source, error), error);
}

/* Closes the picture in the cell, which waits for the next one; waits only a short time for its
 * answer. */
static void cell_close(struct gf_source *base)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    struct gf_error unsaid;
    source->talk.options = NULL;
    source->talk.end_s = gf_now() + END_S;
    if (source->talk.cell && source->talk.cell->single) {
        (void)gf_cell_end(source->talk.cell);
    } else if (source->talk.cell) {
        (void)drain(source, &unsaid);
        ask(source, GF_CELL_CLOSE, 0, 0);
        if (!gf_cell_wait_for(&source->talk, GF_CELL_DONE, &message, &unsaid))
            gf_cell_give_back(source->talk.cell);
    }
    gf_metadata_free(&base->metadata);
    free(source);
}

/* ---- opening a picture in a cell ---- */

/* Writes the request to open the picture and, into the shared memory, the profile for CMYK. */
static enum gf_status write_request(const struct cell_source *source,
                                    const struct gf_input_loan *loan,
                                    union gf_cell_message *message, struct gf_error *error)
{
    const struct gf_options *const options = &source->options;
    struct gf_cell_open *const request = &message->open;
    struct gf_icc inks = {.size = 0};
    gf_cell_prepare(message, GF_CELL_OPEN);
    request->memory_bytes = options->memory_bytes;
    request->max_pixels = options->max_pixels;
    request->offset = loan->offset;
    request->size = loan->size;
    request->page = gf_input_pages(source->input).first;
    request->last_page = gf_input_pages(source->input).last;
    request->threads = gf_codec_threads(options);
    request->serial = options->serial;
    request->autorotate = options->autorotate;
    request->allow_truncated = options->allow_truncated;
    request->range_percentile = options->range_percentile;
    request->gain_map = options->gain_map;
    request->range_low = options->range_low;
    request->range_high = options->range_high;
    request->headers_only = gf_input_headers_only(source->input);
    request->coefficients = gf_input_coefficients(source->input);
    snprintf(request->name, sizeof request->name, "%s", source->talk.name);
    if (options->cmyk_profile) {
        GF_TRY(gf_icc_load_inks(options->cmyk_profile, &inks, error));
        snprintf(request->inks, sizeof request->inks, "%s", options->cmyk_profile);
        memcpy(source->talk.cell->shared, inks.data, inks.size);
        request->inks_bytes = inks.size;
    }
    return GF_OK;
}

/* Takes the description of coded pictures or tiles for the GPU, unless strangers' pictures must be
 * decoded in cells alone. Fails if it makes no sense. */
static enum gf_status take_coded(struct cell_source *source, const struct gf_cell_header *header,
                                 struct gf_error *error)
{
    const int64_t bytes = gf_input_size(source->input);
    const bool coded = header->coded.columns, tiles = header->tiles.columns;
    source->coded = header->coded;
    source->tiles = header->tiles;
    if (!coded && !tiles)
        return GF_OK;
    if (bytes > 0 && ((coded && !gf_heif_coded_check(&source->coded, (size_t)bytes)) ||
                      (tiles && !gf_tiff_coded_check(&source->tiles, (uint64_t)bytes))))
        return gf_cell_fail_senseless(&source->talk, error);
    source->base.for_device_codec &= bytes > 0 && source->options.sandbox != GF_SANDBOX_ALL;
    if (source->base.for_device_codec) {
        source->base.coded = coded ? &source->coded : NULL;
        source->base.tiles = tiles ? &source->tiles : NULL;
    }
    return GF_OK;
}

/* Waits for the picture's header and fills the source from it. */
static enum gf_status read_header(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    const struct gf_cell_header *const header = &message.header;
    GF_TRY(gf_cell_wait_for(&source->talk, GF_CELL_HEADER, &message, error));
    if (header->status)
        return gf_cell_fail_reported(&source->talk, header->status, header->error, error);
    GF_TRY(gf_cell_read_header(header, source->talk.cell->shared, &source->base, error));
    struct gf_source *const base = &source->base;
    GF_TRY(take_coded(source, header, error));
    source->coefficients = header->coefficients;
    base->coefficients = header->coefficients.components ? &source->coefficients : NULL;
    if (base->coefficients && !gf_input_coefficients(source->input))
        return gf_cell_fail_senseless(&source->talk, error);
    base->memory.bytes += source->copied;
    memcpy(source->why, header->why, sizeof source->why);
    base->memory.why = *source->why ? source->why : "its decoder is a process of its own";
    base->reduce = cell_reduce;
    base->take_level = cell_take_level;
    base->most_reduction = (int)header->most_reduction;
    base->window = header->has_window ? cell_window : NULL;
    base->finish = header->finishes ? cell_finish : NULL;
    base->leave = header->leaves ? cell_leave : NULL;
    base->next = header->has_next ? cell_next : NULL;
    return gf_size_check(source->talk.name, (uint64_t)base->format.width,
                         (uint64_t)base->format.height, &source->options, error);
}

static enum gf_status open_in(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    struct gf_input_loan loan;
    const uint64_t most =
        source->options.memory_bytes ? source->options.memory_bytes : SIZE_MAX / 2;
    GF_TRY(gf_input_lend(source->input, most, &loan, error));
    enum gf_status status = write_request(source, &loan, &message, error);
    source->copied = loan.copied;
    if (!status) {
        limit_memory(source, 0);
        gf_cell_say(&source->talk, &message, &loan.descriptor);
        status = read_header(source, error);
    }
    close(loan.descriptor);
    return fail_of_input(source, status, error);
}

enum gf_status gf_cell_source_open(struct gf_input *input, const char *format, bool by_name,
                                   const struct gf_options *options, struct gf_source **source,
                                   bool *absent, struct gf_error *error)
{
    struct gf_cell *cell = NULL;
    enum gf_status status =
        gf_cell_take(format, options->sandbox_program,
                     by_name || options->sandbox == GF_SANDBOX_ALL, &cell, error);
    if (!status && by_name && !cell->landlock) {
        (void)gf_cell_end(cell);
        status = gf_fail(error, GF_ERROR_UNAVAILABLE,
                         "this kernel has no Landlock, which would let it open its file alone");
    }
    *absent = status == GF_ERROR_UNAVAILABLE;
    if (status) {
        char why[sizeof error->text];
        snprintf(why, sizeof why, "%s", error->text);
        return gf_fail(error, status, "%s: no cell for its decoder: %s", gf_input_name(input), why);
    }
    struct cell_source *const opened = calloc(1, sizeof *opened);
    if (!opened) {
        gf_cell_give_back(cell);
        return gf_fail_memory(error);
    }
    *opened = (struct cell_source){
        .base = {.metadata = {.orientation = 1}, .read = cell_read, .close = cell_close},
        .talk = {.cell = cell,
                 .name = gf_input_name(input),
                 .threads_most = THREADS_MORE + 4 * gf_codec_threads(options)},
        .input = input,
        .options = *options};
    opened->talk.options = &opened->options;
    status = open_in(opened, error);
    GF_OPENED(status, cell_close, &opened->base, source);
}

enum gf_status gf_cell_try(const struct gf_options *options, char *holds, struct gf_error *error)
{
    enum { HOLDS = 160 };
    struct gf_cell *cell = NULL;
    GF_TRY(gf_cell_take("none", options->sandbox_program, false, &cell, error));
    if (holds && cell->landlock)
        snprintf(holds, HOLDS, "system calls by libseccomp, files and network by Landlock %u",
                 cell->landlock);
    else if (holds)
        snprintf(holds, HOLDS, "system calls, and so files and network, by libseccomp");
    gf_cell_give_back(cell);
    return GF_OK;
}

/* ---- ICC profiles that came with pictures. Little CMS reads them in a cell, which tells the
 * program whether a profile is sound, or gives it tables, which the program checks ---- */

/* A cell may take so many seconds for a profile; a usual one takes milliseconds. */
enum { PROFILE_S = 10 };

/* ---- profiles: the program's side ---- */

static enum gf_status write_profile_request(const struct gf_icc_wish *wish, bool is_question,
                                            unsigned char *shared, union gf_cell_message *message,
                                            struct gf_error *error)
{
    if (wish->from.size > GF_CELL_HALF || wish->to.size > GF_CELL_HALF - wish->from.size)
        return gf_fail(error, GF_ERROR_INPUT, "the ICC profile is too large for a cell");
    gf_cell_prepare(message, GF_CELL_PROFILE);
    message->profile.is_question = is_question;
    message->profile.from_bytes = wish->from.size;
    message->profile.to_bytes = wish->to.size;
    message->profile.inputs = wish->inputs;
    message->profile.outputs = wish->outputs;
    message->profile.bits = wish->bits;
    message->profile.intent = wish->intent;
    message->profile.black_point = wish->black_point;
    memcpy(shared, wish->from.data, wish->from.size);
    if (wish->to.size)
        memcpy(shared + wish->from.size, wish->to.data, wish->to.size);
    return GF_OK;
}

/* Copies the tables of a conversion, `size` bytes, from the shared memory and checks the copy,
 * since the cell can still change the memory. */
static enum gf_status take_tables(struct gf_cell_talk *talk, const struct gf_icc_wish *wish,
                                  size_t size, struct gf_icc_transform **transform,
                                  struct gf_error *error)
{
    struct gf_icc_transform *const copy = malloc(size ? size : 1);
    GF_ALLOCATED(copy, error);
    memcpy(copy, talk->cell->shared + GF_CELL_HALF, size);
    if (gf_icc_transform_fits(copy, size, wish)) {
        *transform = copy;
        return GF_OK;
    }
    free(copy);
    return gf_cell_fail_senseless(talk, error);
}

static enum gf_status ask_of_profile(struct gf_cell_talk *talk, const struct gf_icc_wish *wish,
                                     bool *sound, struct gf_icc_transform **transform,
                                     struct gf_error *error)
{
    union gf_cell_message message;
    const struct gf_cell_tables *const answer = &message.tables;
    GF_TRY(write_profile_request(wish, sound != NULL, talk->cell->shared, &message, error));
    gf_cell_allow(talk, 64 * (uint64_t)(wish->from.size + wish->to.size), PROFILE_S);
    gf_cell_say(talk, &message, NULL);
    enum gf_status status = gf_cell_wait_for(talk, GF_CELL_TABLES, &message, error);
    if (!status && answer->status)
        return gf_cell_fail_reported(talk, answer->status, answer->error, error);
    if (!status && sound)
        *sound = answer->is_sound;
    else if (!status)
        status = take_tables(talk, wish, (size_t)answer->bytes, transform, error);
    return status;
}

/* Lets a cell judge a profile, or build a conversion from it if `sound` is NULL. A profile that
 * kills its cell is not sound, unless the cell was ended because the picture's time limit
 * passed. */
static enum gf_status work_on_profile(const struct gf_icc_wish *wish, bool *sound,
                                      struct gf_icc_transform **transform, struct gf_error *error)
{
    struct gf_cell_talk talk = {.name = "",
                                .end_s = gf_now() + fmin(PROFILE_S, fmax(gf_time_left(), 1e-3))};
    GF_TRY(gf_cell_take("icc", wish->from.sandbox_program, wish->from.sandbox == GF_SANDBOX_ALL,
                        &talk.cell, error));
    const enum gf_status status = ask_of_profile(&talk, wish, sound, transform, error);
    if (talk.cell)
        gf_cell_give_back(talk.cell);
    else if (sound && !gf_time_is_up()) {
        *sound = false;
        return GF_OK;
    }
    return status;
}

void gf_cells_read_profiles(void)
{
    gf_icc_set_cell_work(work_on_profile);
}

/* ---- profiles: the cell's side ---- */

void gf_cell_answer_profile(const struct gf_cell_profile *request, unsigned char *shared,
                            union gf_cell_message *message)
{
    struct gf_error error = {0};
    const struct gf_icc_wish wish = {
        .from = {.data = shared, .size = (size_t)request->from_bytes},
        .to = {.data = shared + request->from_bytes, .size = (size_t)request->to_bytes},
        .inputs = request->inputs,
        .outputs = request->outputs,
        .bits = request->bits,
        .intent = request->intent,
        .black_point = request->black_point};
    struct gf_icc_transform *transform = NULL;
    gf_cell_prepare(message, GF_CELL_TABLES);
    if (request->is_question)
        message->tables.is_sound = gf_icc_is_sound(wish.from);
    else
        message->tables.status = gf_icc_build(&wish, &transform, &error);
    if (transform) {
        message->tables.bytes = transform->bytes;
        memcpy(shared + GF_CELL_HALF, transform, transform->bytes);
    }
    memcpy(message->tables.error, error.text, sizeof error.text);
    free(transform);
}
