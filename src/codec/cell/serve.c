/* The cell's side: the process that decodes pictures for the program, confined (cell.h). */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/process.h"
#include "codec/cell/cell.h"
#include "codec/cell/process.h"
#include "icc/icc.h"

struct serving {
    const struct gf_cell_work *work;
    unsigned char *shared;
    /* the picture that is being decoded */
    struct gf_options options;
    struct gf_source *source;
    struct gf_input *input;
    char name[GF_CELL_NAME_SIZE], inks[GF_CELL_NAME_SIZE];
    struct gf_icc inks_icc;
    unsigned char *file; /* the mapped file of the picture */
    size_t file_bytes;
};

static void warn(void *context, const char *text)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_WARNING);
    snprintf(message.warning.text, sizeof message.warning.text, "%s", text);
    gf_cell_answer(&message);
}

static void answer(const struct serving *serving, enum gf_status status, bool found,
                   const struct gf_error *error)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_DONE);
    message.done.status = status;
    message.done.found = found;
    if (status)
        memcpy(message.done.error, error->text, sizeof error->text);
    if (serving->source) {
        message.done.width = serving->source->format.width;
        message.done.height = serving->source->format.height;
        message.done.memory_bytes = serving->source->memory.bytes;
        message.done.blocks = serving->source->blocks;
        message.done.position = gf_input_position(serving->input);
        message.done.duration = serving->source->duration;
    }
    gf_cell_answer(&message);
}

static void close_picture(struct serving *serving)
{
    if (serving->source)
        serving->source->close(serving->source);
    gf_input_close(serving->input);
    if (serving->file)
        munmap(serving->file, serving->file_bytes);
    gf_icc_hand(NULL, NULL);
    free((void *)serving->inks_icc.data);
    *serving = (struct serving){.work = serving->work, .shared = serving->shared};
}

/* Copies the CMYK profile from the shared memory, where the program puts it since the cell can open
 * no file. */
static bool take_inks(struct serving *serving, const struct gf_cell_open *request)
{
    if (!request->inks_bytes)
        return true;
    unsigned char *const copy = malloc((size_t)request->inks_bytes);
    if (!copy)
        return false;
    memcpy(copy, serving->shared, (size_t)request->inks_bytes);
    memcpy(serving->inks, request->inks, sizeof serving->inks);
    serving->inks_icc = (struct gf_icc){.data = copy, .size = (size_t)request->inks_bytes};
    serving->options.cmyk_profile = serving->inks;
    gf_icc_hand(serving->inks, &serving->inks_icc);
    return true;
}

/* Lets this process read the picture's file and folder by their names, and nothing else. */
static enum gf_status open_named(struct serving *serving, const struct gf_cell_open *request,
                                 int descriptor, struct gf_error *error)
{
    char file[PATH_MAX], folder[PATH_MAX];
    const int own = dup(descriptor);
    if (own < 0)
        return gf_fail(error, GF_ERROR_READ, "%s: cannot be opened", request->name);
    GF_TRY(gf_input_open_descriptor(own, request->offset, (struct gf_pages){-1, -1}, request->name,
                                    &serving->input, error));
    if (!gf_input_path(serving->input, file, sizeof file))
        *file = '\0'; /* the reader will refuse it */
    memcpy(folder, file, sizeof folder);
    serving->work->folder(folder);
    return gf_cell_lock_names(file, folder, error);
}

static enum gf_status map_input(struct serving *serving, const struct gf_cell_open *request,
                                int descriptor, struct gf_error *error)
{
    serving->file_bytes = (size_t)(request->offset + request->size);
    void *const mapped =
        mmap(NULL, serving->file_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE,
             descriptor, 0); /* a file may exceed the memory */
    if (mapped == MAP_FAILED)
        return gf_fail(error, GF_ERROR_READ, "%s: cannot be mapped", request->name);
    serving->file = mapped;
    return gf_input_open_memory(serving->file + request->offset, (size_t)request->size,
                                request->name, &serving->input, error);
}

static enum gf_status open_input(struct serving *serving, const struct gf_cell_open *request,
                                 int descriptor, struct gf_error *error)
{
    GF_TRY((serving->work->folder ? open_named : map_input)(serving, request, descriptor, error));
    gf_input_choose_pages(serving->input, (struct gf_pages){request->page, request->last_page});
    if (request->headers_only)
        gf_input_set_headers_only(serving->input);
    gf_input_set_coefficients(serving->input, request->coefficients);
    return GF_OK;
}

static void open_picture(struct serving *serving, const struct gf_cell_open *request,
                         int descriptor)
{
    union gf_cell_message message;
    struct gf_error error = {0};
    gf_cell_prepare(&message, GF_CELL_HEADER);
    serving->options = (struct gf_options){.size = sizeof serving->options,
                                           .memory_bytes = request->memory_bytes,
                                           .max_pixels = request->max_pixels,
                                           .threads = request->threads,
                                           .serial = request->serial,
                                           .autorotate = request->autorotate,
                                           .allow_truncated = request->allow_truncated,
                                           .range_percentile = request->range_percentile,
                                           .gain_map = (enum gf_gain_map)request->gain_map,
                                           .range_low = request->range_low,
                                           .range_high = request->range_high,
                                           .warn = warn};
    enum gf_status status = take_inks(serving, request)
                                ? open_input(serving, request, descriptor, &error)
                                : gf_fail_memory(&error);
    GF_THEN(status,
            serving->work->open(serving->input, &serving->options, &serving->source, &error));
    if (!status)
        gf_cell_write_header(serving->source, &message.header, serving->shared);
    message.header.status = status;
    memcpy(message.header.error, error.text, sizeof error.text);
    if (status)
        close_picture(serving);
    gf_cell_answer(&message);
}

static void say_header(const struct serving *serving)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_HEADER);
    gf_cell_write_header(serving->source, &message.header, serving->shared);
    gf_cell_answer(&message);
}

static void act(struct serving *serving, const struct gf_cell_ask *ask)
{
    struct gf_source *const source = serving->source;
    struct gf_error error = {0};
    enum gf_status status = GF_OK;
    bool found = false;
    if (ask->wish == GF_CELL_CLOSE) {
        close_picture(serving);
    } else if (!source) {
        _exit(2);
    } else if (ask->wish == GF_CELL_READ) {
        const size_t pitch = gf_source_row_bytes(source);
        status = source->read(source, ask->number, serving->shared + ask->half * GF_CELL_HALF,
                              pitch, &error);
    } else if (ask->wish == GF_CELL_REDUCE) {
        status = gf_source_reduce(source, ask->number, &error);
    } else if (ask->wish == GF_CELL_WINDOW) {
        const struct gf_rectangle window = {ask->x, ask->y, ask->width, ask->height};
        status = source->window(source, window, ask->number, &error);
    } else if (ask->wish == GF_CELL_FINISH) {
        status = source->finish(source, &error);
    } else if (ask->wish == GF_CELL_NEXT) {
        status = source->next ? source->next(source, &found, &error) : GF_OK;
    } else {
        status = source->leave(source, ask->end, &error);
    }
    answer(serving, status, found, &error);
    if (found && !status && ask->wish == GF_CELL_NEXT && source->renews)
        say_header(serving);
}

static void serve_profile(const struct gf_cell_profile *request, unsigned char *shared)
{
    union gf_cell_message message;
    gf_cell_answer_profile(request, shared, &message);
    gf_cell_answer(&message);
}

/* Confines the process, and tells the program which mechanisms do so. */
static bool lock(void)
{
    union gf_cell_message message;
    struct gf_error error = {0};
    gf_cell_prepare(&message, GF_CELL_READY);
    const enum gf_status status = gf_cell_lock(&message.ready.landlock, &error);
    message.ready.status = status;
    snprintf(message.ready.why, sizeof message.ready.why, "%s", error.text);
    gf_cell_answer(&message);
    return !status;
}

int gf_cell_serve(const struct gf_cell_work *work)
{
    enum { WRONG = 2 };
    struct serving serving = {.work = work};
    union gf_cell_message message;
    struct gf_error error;
    int descriptor;
    enum gf_status status = gf_cell_lock_prepare(work->threads, work->folder, &error);
    if (!status && work->warm)
        status = work->warm(&error);
    if (!gf_zygote_serve(status, &error))
        return 0;
    void *const shared =
        mmap(NULL, 2 * GF_CELL_HALF, PROT_READ | PROT_WRITE, MAP_SHARED, GF_CELL_MEMORY, 0);
    if (shared == MAP_FAILED)
        return WRONG;
    serving.shared = shared;
    close(GF_CELL_MEMORY);
    if (!lock())
        return WRONG;
    for (;;) {
        const size_t size =
            gf_socket_receive(GF_CELL_SOCKET, &message, sizeof message, &descriptor, 1, 0);
        const enum gf_cell_type type = size ? gf_cell_check(&message, size) : 0;
        if (type == GF_CELL_OPEN && !serving.source && descriptor >= 0)
            open_picture(&serving, &message.open, descriptor);
        else if (type == GF_CELL_ASK)
            act(&serving, &message.ask);
        else if (type == GF_CELL_PROFILE && !serving.source)
            serve_profile(&message.profile, serving.shared);
        else
            return size ? WRONG : 0;
        gf_close_descriptors(&descriptor, 1);
    }
}
