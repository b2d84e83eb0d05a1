/* Opens a film and its output, and filters or copies the frames. */
#include "batch/frames/frames_run.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "batch/frames/frames_pass.h"
#include "batch/request/output_names.h"
#include "codec/codec.h"

/* Copies the frames as they are. */
static enum gf_status copy_frames(struct gf_frames *frames, struct gf_error *error)
{
    struct gf_batch_state *const state = &frames->batch->state;
    enum gf_status status = GF_OK;
    for (bool found = true; !status && found;) {
        struct gf_film_frame *const frame = &frames->slot[0].frame;
        status = frames->end_status = gf_film_read(&frames->reader, frame, &found, error);
        if (status)
            frames->end_error = *error;
        else if (found)
            status = gf_film_write(&frames->writer, frame->data, frame->size, error);
        if (!status && found)
            state->pictures = state->done = state->files = frames->reader.frames;
    }
    return frames->end_status ? GF_OK : status;
}

static bool is_copied(const struct gf_frames *frames)
{
    const struct gf_batch_request *const request = &frames->request;
    return (!request->chain || !*request->chain) && frames->film_out && !frames->files &&
           !frames->reader.pictures && (frames->raw_in == frames->raw_out || *frames->raw.planes) &&
           !frames->writer.plain && request->options.subsampling == GF_SUBSAMPLING_AUTO;
}

/* The frames of a file are counted by its size. A stream may have any number. */
static size_t expected_frames(const struct gf_frames *frames)
{
    const int64_t size = frames->reader.frame_bytes ? gf_input_size(frames->reader.input) : 0;
    return frames->files ? frames->request.inputs->count
           : size > 0    ? (size_t)size / frames->reader.frame_bytes + 1
                         : 0;
}

static enum gf_status open_slots(struct gf_frames *frames, int workers, struct gf_error *error)
{
    enum { COPIES = 3, AHEAD = 2 }; /* of a frame's bytes: as read, and as written at two times */
    const uint64_t memory = frames->request.options.memory_bytes
                                ? frames->request.options.memory_bytes
                                : gf_memory_pictures_bytes();
    const uint64_t bytes = frames->reader.frame_bytes ? frames->reader.frame_bytes : 1 << 20;
    const uint64_t fit = memory / 2 / (COPIES * bytes);
    frames->room = (size_t)AHEAD * (size_t)workers;
    frames->room = fit < frames->room ? (size_t)fit : frames->room;
    frames->room += !frames->room;
    frames->slot = calloc(frames->room, sizeof *frames->slot);
    frames->smooth = gf_smooth_open(frames->room, memory / 4);
    return frames->slot && frames->smooth ? GF_OK : gf_fail_memory(error);
}

/* Makes malloc() keep the memory of results for the next frames. New pages for each frame take a
 * quarter of the time of a simple chain. */
static void keep_memory(void)
{
    enum { BLOCKS_MOST = 32 << 20, KEPT_MOST = 512 << 20 };
    mallopt(M_MMAP_THRESHOLD, BLOCKS_MOST);
    mallopt(M_TRIM_THRESHOLD, KEPT_MOST);
}

static enum gf_status filter_frames(struct gf_frames *frames, struct gf_error *error)
{
    enum { MANY = 1 << 20 };
    struct gf_batch *const batch = frames->batch;
    const struct gf_batch_supply supply = gf_frames_supply(frames);
    const size_t expected = frames->request.expected ? frames->request.expected : MANY;
    gf_batch_choose_devices(&frames->request, &frames->request, expected, &batch->devices);
    GF_TRY(gf_batch_check_devices(&frames->request, &batch->devices, error));
    const int workers = gf_batch_divide_work(&frames->request, &batch->devices, expected,
                                             &batch->options, &batch->memory_budget);
    batch->state.files = frames->request.expected;
    if (!frames->request.options.memory_bytes)
        keep_memory();
    enum gf_status status = open_slots(frames, workers, error);
    if (!status)
        status = gf_batch_work(batch, &supply, workers, error);
    batch->state.files = batch->next;
    gf_memory_budget_close(&batch->memory_budget);
    return status;
}

/* Opens the output, filters, and makes the output visible. A film that is cut keeps the frames
 * before the cut. */
static enum gf_status work(struct gf_frames *frames, struct gf_error *error)
{
    struct gf_batch *const batch = frames->batch;
    enum gf_status status = GF_OK;
    if (frames->film_out && frames->request.plain_members && !frames->request.output->is_stdout)
        status = gf_refuse_links(frames->request.output, frames->request.output->text, error);
    if (!status && frames->film_out)
        status = gf_film_create(&frames->writer, frames->request.output->text,
                                &frames->request.options, error);
    if (!status && is_copied(frames)) {
        status = open_slots(frames, 1, error);
        if (!status)
            status = copy_frames(frames, error);
    } else if (!status) {
        status = filter_frames(frames, error);
        if (!status)
            status = gf_batch_conclude(batch, error);
    }
    const bool any = frames->written + batch->state.pictures;
    if (!status && frames->film_out && any)
        status = gf_film_commit(&frames->writer, error);
    if (!status && frames->end_status) {
        *error = frames->end_error;
        status = frames->end_status;
    }
    return status || any ? status
                         : gf_fail(error, GF_ERROR_INPUT, "%s: holds no frame",
                                   gf_input_name(frames->reader.input));
}

/* Whether the request suits a film: one output that is a film or, of one input, numbered. */
static bool may_be_film(const struct gf_batch_request *request, struct gf_frames *frames)
{
    const enum gf_file_format named = request->options.format
                                          ? request->options.format
                                          : gf_file_format_named(request->output->text);
    struct stat file;
    frames->to_stream = request->output->is_stdout ||
                        (!request->output->is_pattern && !stat(request->output->text, &file) &&
                         !S_ISREG(file.st_mode) && !S_ISDIR(file.st_mode));
    frames->raw_out = request->raw && !request->options.format &&
                      (frames->to_stream || gf_raw_frames_named(request->output->text));
    frames->film_out = frames->raw_out || (!request->output->is_pattern && named == GF_FILE_Y4M);
    frames->files =
        !gf_batch_is_single(request) && !request->transfer && !request->raw && frames->film_out;
    return (gf_batch_is_single(request) || frames->files) && !request->more_outputs &&
           !request->sheet && !request->dry_run &&
           (frames->to_stream || frames->film_out || gf_batch_numbers_pictures(request, 0));
}

/* Opens the input and looks whether it is a film. */
static enum gf_status open_film(struct gf_frames *frames, struct gf_input **input, bool *is_film,
                                struct gf_error *error)
{
    const struct gf_batch_request *const request = &frames->request;
    unsigned char head[sizeof GF_Y4M_MAGIC - 1];
    size_t got;
    if (frames->files) {
        *is_film = true;
        return GF_OK;
    }
    enum gf_status status =
        request->raw ? gf_raw_frames_parse(request->raw, &frames->raw, error) : GF_OK;
    if (!status)
        status = gf_input_open(request->inputs->item[0].path, false, input, error);
    if (!status)
        status = gf_input_peek(*input, head, sizeof head, &got, error);
    if (status) /* the ordinary run tells of an input that cannot be read, also in the log */
        return request->raw ? status : GF_OK;
    const bool y4m = got == sizeof head && !memcmp(head, GF_Y4M_MAGIC, sizeof head);
    frames->raw_in = request->raw && !y4m;
    /* Bytes behind a PNG or JPEG in a file are no other frame. */
    const bool pictures = gf_split_takes(head, got) && frames->film_out && !request->raw &&
                          (*head == 'P' || gf_input_is_stream(*input));
    *is_film = y4m || request->raw || pictures;
    /* A stream gets what the input is, unless --format names pictures. */
    frames->writer.plain =
        frames->to_stream && request->options.format && request->options.format != GF_FILE_Y4M;
    frames->film_out |= frames->to_stream;
    return GF_OK;
}

/* Fails if the film is one of the inputs. */
static enum gf_status check_film_name(const struct gf_batch_request *request,
                                      struct gf_error *error)
{
    /* The film is named once, as an output of the first input. */
    char **const once = calloc(2 * request->inputs->count, sizeof *once);
    if (!once)
        return gf_fail_memory(error);
    once[0] = request->output->text;
    const enum gf_status status = gf_outputs_check(request->inputs, once, 2, error);
    free(once);
    return status;
}

static enum gf_status run_film(struct gf_frames *frames, struct gf_input *input,
                               struct gf_error *error)
{
    struct gf_batch *const batch = frames->batch;
    const struct gf_batch_request *const before = batch->request;
    enum gf_status status = GF_OK;
    if (!strcmp(before->inputs->item[0].path, "-"))
        gf_film_widen_pipe(STDIN_FILENO);
    if (!frames->files)
        status = gf_film_open(&frames->reader, input, frames->raw_in ? &frames->raw : NULL,
                              &frames->request.options, error);
    if (!status && !frames->film_out)
        status = gf_batch_name_outputs(before, batch->output, error);
    else if (!status && !frames->to_stream)
        status = check_film_name(before, error);
    if (status)
        return status;
    frames->writer.raw = frames->raw_out ? &frames->raw : NULL;
    frames->writer.same_size = !frames->raw_in;
    frames->writer.rate = frames->raw_in && !frames->raw_out ? &frames->raw : NULL;
    frames->writer.name = "output";
    frames->request.frames = true;
    frames->request.expected = expected_frames(frames);
    batch->request = &frames->request;
    batch->options.subsampling = frames->request.options.subsampling;
    batch->options.profile = false; /* measuring the peaks takes longer than many a frame */
    pthread_mutex_init(&frames->reading, NULL);
    status = work(frames, error);
    pthread_mutex_destroy(&frames->reading);
    gf_film_close(&frames->writer);
    for (size_t i = 0; i < frames->room; i++) {
        free(frames->slot[i].frame.memory);
        free(frames->slot[i].bytes.data);
        free(frames->slot[i].item.notes);
    }
    free(frames->slot);
    gf_smooth_close(frames->smooth);
    batch->request = before;
    return status;
}

/* Whether --skip-existing keeps a film that is there. */
static bool is_kept(const struct gf_frames *frames)
{
    return frames->request.skip_existing && frames->film_out && !frames->to_stream &&
           !access(frames->request.output->text, F_OK);
}

enum gf_status gf_frames_run(struct gf_batch *batch, bool *done, struct gf_error *error)
{
    struct gf_frames frames = {.batch = batch, .request = *batch->request};
    struct gf_input *input = NULL;
    *done = false;
    if (!may_be_film(batch->request, &frames))
        return batch->request->raw ? gf_fail(error, GF_ERROR_USAGE,
                                             "--raw is for one input and one output, which is a "
                                             "film or has {n} in its name")
                                   : GF_OK;
    enum gf_status status = open_film(&frames, &input, done, error);
    const bool kept = !status && *done && is_kept(&frames);
    if (!status && *done && (batch->request->update || batch->request->resume))
        status = gf_fail(error, GF_ERROR_USAGE, "--%s is not for films; --skip-existing keeps one",
                         batch->request->update ? "update" : "resume");
    batch->state.skipped = kept;
    if (!status && *done && !kept)
        status = run_film(&frames, input, error);
    if (!status && !*done && input && gf_input_is_stream(input)) {
        batch->opened = input;
        input = NULL;
    }
    gf_input_close(input);
    return status;
}
