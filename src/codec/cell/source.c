/* A source whose rows come from a cell. */
#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/image.h"
#include "base/socket.h"
#include "base/spans.h"
#include "base/time_limit.h"
#include "codec/cell/cell.h"
#include "codec/cell/process.h"
#include "codec/common/checks.h"
#include "icc/icc.h"

enum { WARNINGS_MAX = 4096, END_S = 1 };
#define MIB ((uint64_t)1 << 20)

struct cell_source {
    struct gf_source base;
    struct gf_cell *cell; /* NULL: it has been ended */
    struct gf_input *input;
    struct gf_options options;
    char why[sizeof((struct gf_cell_header *)0)->why];
    uint64_t limit; /* of the cell's memory */
    bool begun;     /* rows have been asked for */
    int asked;      /* rows that are still to be asked for */
    int coming;     /* rows that have been asked for and have not come */
    int have, row;  /* rows that have come and are still to be handed out; the next of them */
    double end_s;   /* not 0: when the end of the source must be over */
    unsigned half;  /* the half of the shared memory where they lie */
};

static const char *name_of(const struct cell_source *source)
{
    return gf_input_name(source->input);
}

/* ---- failures ---- */

/* Ends a cell that has died, or that says what it should not. */
static enum gf_status fail_ended(struct cell_source *source, bool died, struct gf_error *error)
{
    const char *const name = name_of(source);
    const int state = gf_cell_end(source->cell);
    source->cell = NULL;
    if (!died)
        return gf_fail(error, GF_ERROR_INPUT, "%s: the decoder gave an answer without sense", name);
    if (state >= 0 && WIFSIGNALED(state) && WTERMSIG(state) == SIGSYS)
        return gf_fail(error, GF_ERROR_INPUT,
                       "%s: the decoder died (signal %d): it did what a decoder may not do", name,
                       SIGSYS);
    if (state >= 0 && WIFSIGNALED(state))
        return gf_fail(error, GF_ERROR_INPUT, "%s: the decoder died (signal %d)", name,
                       WTERMSIG(state));
    return gf_fail(error, GF_ERROR_INPUT, "%s: the decoder died", name);
}

/* A failure that the cell reports. Where its memory ran out it was the picture that took more than
 * it should; its libraries may then be in disorder. */
static enum gf_status fail_reported(struct cell_source *source, uint32_t status, const char *text,
                                    struct gf_error *error)
{
    if (status != GF_ERROR_MEMORY)
        return gf_fail(error, (enum gf_status)status, "%s",
                       *text ? text : gf_status_meaning((enum gf_status)status));
    (void)gf_cell_end(source->cell);
    source->cell = NULL;
    return gf_fail(error, GF_ERROR_INPUT,
                   "%s: the decoder took more than the %llu MiB of memory that it was allowed",
                   name_of(source), (unsigned long long)(source->limit / MIB));
}

/* ---- messages ---- */

static bool say(struct cell_source *source, const union gf_cell_message *message,
                const int *descriptor)
{
    return source->cell && gf_socket_send(source->cell->socket, message, message->head.size,
                                          descriptor, descriptor != NULL, 0);
}

/* Waits for a message; false when the picture's time is up, or that of its end. */
static bool wait_for_message(const struct cell_source *source)
{
    const double end_s = source->end_s > 0 ? source->end_s : gf_time_limit();
    for (;;) {
        struct pollfd socket = {.fd = source->cell->socket, .events = POLLIN};
        const double left_ms = end_s > 0 ? 1e3 * (end_s - gf_now()) : -1;
        if (end_s > 0 && left_ms <= 0)
            return false;
        const int ready = poll(&socket, 1, left_ms < INT32_MAX / 2 ? (int)ceil(left_ms) : -1);
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return true;
    }
}

/* Waits for an answer of that type; warnings that come before are passed on. */
static enum gf_status wait_for(struct cell_source *source, enum gf_cell_type wanted,
                               union gf_cell_message *message, struct gf_error *error)
{
    for (int warnings = 0; source->cell && warnings < WARNINGS_MAX; warnings++) {
        int unexpected;
        if (!wait_for_message(source)) {
            (void)gf_cell_end(source->cell);
            source->cell = NULL;
            return gf_fail(error, GF_ERROR_INPUT, "%s: the time for its decoder is up",
                           name_of(source));
        }
        const size_t size =
            gf_socket_receive(source->cell->socket, message, sizeof *message, &unexpected, 1, 0);
        const enum gf_cell_type type = size && unexpected < 0 ? gf_cell_check(message, size) : 0;
        const bool died = !size && (!errno || errno == ECONNRESET);
        gf_close_descriptors(&unexpected, 1);
        if (type == wanted)
            return GF_OK;
        if (type != GF_CELL_WARNING)
            return fail_ended(source, died, error);
        gf_warn(&source->options, "%s", message->warning.text);
    }
    return source->cell
               ? fail_ended(source, false, error)
               : gf_fail(error, GF_ERROR_INPUT, "%s: its decoder has been ended", name_of(source));
}

static void ask(struct cell_source *source, enum gf_cell_wish wish, int number, int64_t end)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_ASK);
    message.ask.wish = wish;
    message.ask.half = !source->half;
    message.ask.number = number;
    message.ask.end = end;
    (void)say(source, &message, NULL); /* a cell that has died shows when its answer is awaited */
}

static enum gf_status take_answer(struct cell_source *source, union gf_cell_message *message,
                                  struct gf_error *error)
{
    const enum gf_status status = wait_for(source, GF_CELL_DONE, message, error);
    return status || !message->done.status
               ? status
               : fail_reported(source, message->done.status, message->done.error, error);
}

/* ---- rows ---- */

/* The most memory that the cell may have: while it reads the header, so much for a file of that
 * size; for rows, half more than it said, and what threads and libraries take in any case. */
static void limit_memory(struct cell_source *source, uint64_t declared)
{
    const uint64_t thread_bytes = 16 * MIB, any_bytes = 256 * MIB;
    const int64_t size = gf_input_size(source->input);
    const int threads = gf_codec_threads(&source->options);
    source->limit = any_bytes + (uint64_t)threads * thread_bytes +
                    2 * (uint64_t)(size > 0 ? size : 0) + declared + declared / 2;
    gf_cell_limit(source->cell, source->limit, gf_time_left() * threads);
}

/* Asks for the next batch, into the half that holds none. */
static void ask_for_rows(struct cell_source *source)
{
    const size_t fit = GF_CELL_BATCH / gf_row_bytes(source->base.format);
    const int batch = fit < 1 ? 1 : fit < INT32_MAX ? (int)fit : INT32_MAX;
    if (!source->begun) {
        source->begun = true;
        source->asked = source->base.format.height;
        if (source->cell)
            limit_memory(source, source->base.memory.bytes);
    }
    source->coming = source->asked < batch ? source->asked : batch;
    source->asked -= source->coming;
    if (source->coming)
        ask(source, GF_CELL_READ, source->coming, 0);
}

/* Makes the batch that was asked for the current one, and asks for the one behind it. */
static enum gf_status next_batch(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    if (!source->coming)
        ask_for_rows(source);
    const int rows = source->coming;
    source->coming = 0;
    const enum gf_status status = take_answer(source, &message, error);
    if (status)
        return status;
    source->have = rows;
    source->row = 0;
    source->half = !source->half;
    ask_for_rows(source);
    return GF_OK;
}

static enum gf_status cell_read(struct gf_source *base, int rows, unsigned char *dst, size_t pitch,
                                struct gf_error *error)
{
    struct cell_source *const source = (struct cell_source *)base;
    const size_t row_bytes = gf_row_bytes(base->format);
    for (; rows; rows--, source->have--, source->row++, dst += pitch) {
        const enum gf_status status = source->have ? GF_OK : next_batch(source, error);
        if (status)
            return status;
        memcpy(dst,
               source->cell->shared + source->half * GF_CELL_HALF + (size_t)source->row * row_bytes,
               row_bytes);
    }
    return GF_OK;
}

/* Takes the answer to the rows that are not wanted any more. */
static enum gf_status drain(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    const bool coming = source->coming > 0;
    source->coming = 0;
    return coming ? take_answer(source, &message, error) : GF_OK;
}

/* ---- other wishes ---- */

/* The cell cannot refuse to reduce: a failure shows when the first row is read. */
static void cell_reduce(struct gf_source *base, int reduction)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    struct gf_error unsaid;
    base->format.width = (base->format.width + reduction - 1) / reduction;
    base->format.height = (base->format.height + reduction - 1) / reduction;
    ask(source, GF_CELL_REDUCE, reduction, 0);
    if (!take_answer(source, &message, &unsaid) &&
        (message.done.width != base->format.width || message.done.height != base->format.height))
        (void)fail_ended(source, false, &unsaid);
}

/* Asks for what moves the input behind the picture. */
static enum gf_status move_behind(struct gf_source *base, enum gf_cell_wish wish, int64_t end,
                                  struct gf_error *error)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    enum gf_status status = drain(source, error);
    if (status)
        return status;
    ask(source, wish, 0, end);
    status = take_answer(source, &message, error);
    if (!status && message.done.position > gf_input_size(source->input))
        status = fail_ended(source, false, error);
    if (!status)
        gf_input_go_to(source->input, message.done.position);
    return status;
}

static enum gf_status cell_finish(struct gf_source *base, struct gf_error *error)
{
    return move_behind(base, GF_CELL_FINISH, 0, error);
}

static enum gf_status cell_leave(struct gf_source *base, int64_t end, struct gf_error *error)
{
    return move_behind(base, GF_CELL_LEAVE, end, error);
}

/* Nobody waits long for a decoder whose picture is done. */
static void cell_close(struct gf_source *base)
{
    struct cell_source *const source = (struct cell_source *)base;
    union gf_cell_message message;
    struct gf_error unsaid;
    source->options.warn = NULL;
    source->end_s = gf_now() + END_S;
    if (source->cell) {
        (void)drain(source, &unsaid);
        ask(source, GF_CELL_CLOSE, 0, 0);
        if (!wait_for(source, GF_CELL_DONE, &message, &unsaid))
            gf_cell_give_back(source->cell);
    }
    gf_metadata_free(&base->metadata);
    free(source);
}

/* ---- opening ---- */

/* Writes the request and, into the shared memory, the profile for CMYK. */
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
    request->page = gf_input_page(source->input);
    request->threads = gf_codec_threads(options);
    request->serial = options->serial;
    request->autorotate = options->autorotate;
    request->allow_truncated = options->allow_truncated;
    request->headers_only = gf_input_headers_only(source->input);
    snprintf(request->name, sizeof request->name, "%s", name_of(source));
    if (options->cmyk_profile) {
        const enum gf_status status = gf_icc_load_inks(options->cmyk_profile, &inks, error);
        if (status)
            return status;
        snprintf(request->inks, sizeof request->inks, "%s", options->cmyk_profile);
        memcpy(source->cell->shared, inks.data, inks.size);
        request->inks_bytes = inks.size;
    }
    return GF_OK;
}

/* Takes the header, which nothing else may contradict. */
static enum gf_status read_header(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    const struct gf_cell_header *const header = &message.header;
    enum gf_status status = wait_for(source, GF_CELL_HEADER, &message, error);
    if (!status && header->status)
        return fail_reported(source, header->status, header->error, error);
    if (!status)
        status = gf_cell_read_header(header, source->cell->shared, &source->base, error);
    if (status)
        return status;
    struct gf_source *const base = &source->base;
    memcpy(source->why, header->why, sizeof source->why);
    base->memory.why = *source->why ? source->why : "its decoder is a process of its own";
    base->reduce = header->reduces ? cell_reduce : NULL;
    base->finish = header->finishes ? cell_finish : NULL;
    base->leave = header->leaves ? cell_leave : NULL;
    return gf_size_check(name_of(source), (uint64_t)base->format.width,
                         (uint64_t)base->format.height, &source->options, error);
}

static enum gf_status open_in(struct cell_source *source, struct gf_error *error)
{
    union gf_cell_message message;
    struct gf_input_loan loan;
    const uint64_t most =
        source->options.memory_bytes ? source->options.memory_bytes : SIZE_MAX / 2;
    enum gf_status status = gf_input_lend(source->input, most, &loan, error);
    if (status)
        return status;
    status = write_request(source, &loan, &message, error);
    if (!status) {
        limit_memory(source, 0);
        (void)say(source, &message, &loan.descriptor);
        status = read_header(source, error);
    }
    close(loan.descriptor);
    source->base.memory.bytes += loan.copied;
    return status;
}

enum gf_status gf_cell_source_open(struct gf_input *input, const char *format,
                                   const struct gf_options *options, struct gf_source **source,
                                   bool *absent, struct gf_error *error)
{
    struct gf_cell *cell = NULL;
    enum gf_status status = gf_cell_take(format, options->sandbox_program, &cell, error);
    *absent = status == GF_ERROR_UNAVAILABLE;
    if (status)
        return status;
    struct cell_source *const opened = calloc(1, sizeof *opened);
    if (!opened) {
        gf_cell_give_back(cell);
        return gf_fail_memory(error);
    }
    *opened = (struct cell_source){
        .base = {.metadata = {.orientation = 1}, .read = cell_read, .close = cell_close},
        .cell = cell,
        .input = input,
        .options = *options};
    status = open_in(opened, error);
    if (status)
        cell_close(&opened->base);
    else
        *source = &opened->base;
    return status;
}

enum gf_status gf_cell_try(const struct gf_options *options, char *holds, struct gf_error *error)
{
    enum { HOLDS = 160 };
    struct gf_cell *cell = NULL;
    const enum gf_status status = gf_cell_take("none", options->sandbox_program, &cell, error);
    if (status)
        return status;
    if (holds && cell->landlock)
        snprintf(holds, HOLDS, "system calls by libseccomp, files and network by Landlock %u",
                 cell->landlock);
    else if (holds)
        snprintf(holds, HOLDS, "system calls, and so files and network, by libseccomp");
    gf_cell_give_back(cell);
    return GF_OK;
}
