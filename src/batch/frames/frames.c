/* Runs a batch whose input or output is a film: reads the frames one after another, lets the
 * workers filter several at a time, and writes the results in order. */
#include <ctype.h>
#include <malloc.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/threads/times.h"
#include "batch/frames/film.h"
#include "batch/request/request.h"
#include "codec/codec.h"
#include "codec/formats.h"
#include "pixel/histogram/histogram.h"

/* A frame between its reading and its writing. Frame number i is at slot[i % order.room]. */
struct gf_frames_slot {
    size_t number;
    struct gf_film_frame frame;
    char name[300];
    struct gf_input_name input;
    struct gf_batch_item item;
    char *output; /* the name of the only output; NULL: not known before the frame is read */
    struct gf_bytes bytes;
};

struct gf_frames {
    struct gf_batch *batch;
    struct gf_batch_request request; /* a copy of the batch's request, changed for many pictures */
    struct gf_raw_frames raw;
    bool to_stream; /* the output is standard output, a FIFO or a device */
    bool raw_in, raw_out, film_out;
    struct gf_options options;  /* those of the animation that is written */
    char y4m[GF_Y4M_LINE_MOST]; /* the header of a Y4M that is written of stills */
    bool files;                 /* the frames are the pictures of several inputs */
    struct gf_film_reader reader;
    struct gf_film_writer writer;
    pthread_mutex_t reading; /* the worker that reads the next frame holds it */
    struct gf_frames_slot *slot;
    struct gf_smooth *smooth; /* smooths what filters compute from the frames' histograms */
    struct gf_batch_order order;
    enum gf_status end_status; /* why the film ended before its end; guarded by the batch's lock */
    struct gf_error end_error;
};

/* The formats that --raw names, without the bits that may follow, as in "gray10le". */
static const struct {
    const char *word, *planes; /* format's name; Y4M's parameter C for 8 bits */
    const char *wide;          /* parameter C for more bits, whose number follows it: "C420p10" */
    const char *range;
    int channels;
} kinds[] = {{"gray", "Cmono", "Cmono", "", 1},
             {"yuv420p", "C420mpeg2", "C420p", "", 3},
             {"yuv422p", "C422", "C422p", "", 3},
             {"yuv444p", "C444", "C444p", "", 3},
             {"yuvj420p", "C420jpeg", NULL, " XCOLORRANGE=FULL", 3},
             {"yuvj422p", "C422", NULL, " XCOLORRANGE=FULL", 3},
             {"yuvj444p", "C444", NULL, " XCOLORRANGE=FULL", 3},
             {"rgb24", NULL, NULL, "", 3},
             {"rgb48le", NULL, NULL, "", 3},
             {"rgba", NULL, NULL, "", 4}};

/* Returns the bits that a text such as "10le" states, 9 to 16; 0 for any other text. */
static int bits_of(const char *text)
{
    char *end;
    const long bits = isdigit((unsigned char)*text) ? strtol(text, &end, 10) : 0;
    return bits > 8 && bits <= 16 && !strcmp(end, "le") ? (int)bits : 0;
}

static bool set_format(const char *word, struct gf_raw_frames *raw)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const size_t length = strlen(kinds[i].word);
        const char *const rest = word + length;
        const int bits = kinds[i].wide ? bits_of(rest) : 0;
        if (strncmp(word, kinds[i].word, length) != 0 || (*rest && !bits))
            continue;
        snprintf(raw->text, sizeof raw->text, "%s", word);
        raw->channels = kinds[i].channels;
        raw->bits = bits ? bits : strcmp(word, "rgb48le") ? 8 : 16;
        if (bits)
            snprintf(raw->planes, sizeof raw->planes, "%s%d", kinds[i].wide, bits);
        else if (kinds[i].planes)
            snprintf(raw->planes, sizeof raw->planes, "%s%s", kinds[i].planes, kinds[i].range);
        return true;
    }
    return false;
}

/* Reads a frame rate, ":25" or ":30000/1001"; an empty text keeps the present rate. Returns false
 * for any other text. */
static bool set_rate(const char *text, struct gf_raw_frames *raw)
{
    char *end;
    if (!*text)
        return true;
    if (!isdigit((unsigned char)text[1]))
        return false;
    raw->frames = (unsigned)strtoul(text + 1, &end, 10);
    if (*end == '/' && isdigit((unsigned char)end[1]))
        raw->seconds = (unsigned)strtoul(end + 1, &end, 10);
    return raw->frames && raw->seconds && !*end;
}

/* Reads "1920x1080:yuv420p:30000/1001"; the rate is 25 if none is stated. */
static GF_CHECKED enum gf_status raw_frames_parse(const char *text, struct gf_raw_frames *raw,
                                                  struct gf_error *error)
{
    enum { SIDE_DIGITS = 6 };
    char word[24];
    *raw = (struct gf_raw_frames){.frames = 25, .seconds = 1};
    const size_t width = strspn(text, "0123456789");
    const size_t height = text[width] == 'x' ? strspn(text + width + 1, "0123456789") : 0;
    const char *const after = text + width + 1 + height;
    if (!width || width > SIDE_DIGITS || !height || height > SIDE_DIGITS || *after != ':')
        return gf_fail(error, GF_ERROR_USAGE,
                       "--raw=%.60s: WIDTHxHEIGHT:FORMAT or WIDTHxHEIGHT:FORMAT:RATE is expected, "
                       "such as 1920x1080:yuv420p:30000/1001",
                       text);
    raw->width = atoi(text);
    raw->height = atoi(text + width + 1);
    const size_t length = strcspn(after + 1, ":");
    snprintf(word, sizeof word, "%.*s", (int)length, after + 1);
    if (!raw->width || !raw->height || !set_rate(after + 1 + length, raw))
        return gf_fail(error, GF_ERROR_USAGE,
                       "--raw=%.60s: a size, or a rate such as 25 or 30000/1001, is wrong", text);
    return set_format(word, raw)
               ? GF_OK
               : gf_fail(error, GF_ERROR_USAGE,
                         "--raw=%.60s: '%s' is none of gray, yuv420p, yuv422p, yuv444p (or with "
                         "more bits, as in gray16le), yuvj420p, yuvj422p, yuvj444p, rgb24, "
                         "rgb48le, rgba",
                         text, word);
}

/* Returns the format of files that have the same samples behind a header. */
static enum gf_file_format raw_frames_file(const struct gf_raw_frames *raw)
{
    return *raw->planes ? GF_FILE_Y4M : raw->channels == 4 ? GF_FILE_PAM : GF_FILE_PNM;
}

/* Whether the name of an output says that it is a file of raw frames. */
static bool raw_frames_named(const char *path)
{
    const char *const slash = strrchr(path, '/'), *const dot = strrchr(slash ? slash : path, '.');
    return dot && gf_word_in_list("raw yuv rgb gray", dot + 1);
}

/* ---- how a worker takes a frame and hands it back ---- */

static bool wait_for_room(struct gf_frames *frames)
{
    enum { LOOK_MS = 100 };
    struct gf_batch *const batch = frames->batch;
    pthread_mutex_lock(&batch->lock);
    bool reads = gf_batch_wait_for_room(batch, &frames->order);
    pthread_mutex_unlock(&batch->lock);
    /* Looks now and then whether the run has stopped: a producer that sends nothing must not delay
     * its end. */
    while (reads && !frames->files && !gf_input_wait(frames->reader.input, LOOK_MS)) {
        pthread_mutex_lock(&batch->lock);
        reads = !batch->stopped;
        pthread_mutex_unlock(&batch->lock);
    }
    return reads;
}

/* Reads the next frame into its slot. The caller holds frames->reading. */
static struct gf_frames_slot *read_next(struct gf_frames *frames)
{
    struct gf_batch *const batch = frames->batch;
    const struct gf_inputs *const inputs = frames->request.inputs;
    const size_t number = batch->next;
    struct gf_frames_slot *const slot = &frames->slot[number % frames->order.room];
    bool found = number < inputs->count;
    struct gf_error why = {0};
    const double begin_s = gf_now();
    const enum gf_status status =
        frames->files ? GF_OK : gf_film_read(&frames->reader, &slot->frame, &found, &why);
    const double read_s = gf_now() - begin_s;
    pthread_mutex_lock(&batch->lock);
    batch->state.read_s += frames->files ? 0 : read_s;
    if (!found) {
        frames->order.at_end = true;
        frames->end_status = status;
        frames->end_error = why;
    } else {
        slot->number = batch->next++;
        batch->state.files += batch->next > batch->state.files;
    }
    pthread_cond_broadcast(&batch->changed);
    pthread_mutex_unlock(&batch->lock);
    if (!found)
        return NULL;
    if (frames->files) {
        slot->input = inputs->item[number];
        return slot;
    }
    snprintf(slot->name, sizeof slot->name, "%.280s[%zu]", gf_input_name(frames->reader.input),
             number);
    slot->input = (struct gf_input_name){.path = slot->name, .index = number};
    return slot;
}

static bool take_frame(struct gf_batch_worker *worker)
{
    struct gf_frames *const frames = worker->supply->context;
    pthread_mutex_lock(&frames->reading);
    struct gf_frames_slot *const slot = wait_for_room(frames) ? read_next(frames) : NULL;
    pthread_mutex_unlock(&frames->reading);
    if (!slot)
        return false;
    slot->bytes =
        (struct gf_bytes){.format = frames->writer.animation ? GF_FILE_PAM
                                    : frames->writer.plain   ? frames->request.options.format
                                    : frames->raw_out        ? raw_frames_file(&frames->raw)
                                                             : GF_FILE_Y4M,
                          .name = frames->writer.name,
                          .y4m = *frames->y4m ? frames->y4m : NULL};
    gf_smooth_begin(frames->smooth, slot->number);
    slot->item = (struct gf_batch_item){.output = &slot->output};
    worker->place = slot->number;
    worker->input = &slot->input;
    worker->index = slot->input.index;
    worker->item = &slot->item;
    /* If the input is a file, slot->frame has no data. */
    worker->member = (struct gf_file_bytes){.data = slot->frame.data, .size = slot->frame.size};
    struct timespec times[2];
    if (frames->reader.input && gf_input_times(frames->reader.input, times)) {
        worker->member.is_timed = true;
        worker->member.changed = times[1];
    }
    worker->bytes = frames->film_out ? &slot->bytes : NULL;
    return true;
}

static void end_frame(struct gf_batch_worker *worker)
{
    struct gf_frames *const frames = worker->supply->context;
    gf_smooth_end(frames->smooth, worker->place);
}

/* ---- the thread that writes ---- */

/* Sends the messages of a frame. Warnings are sent only for the first frame. */
static void report(void *context, size_t number)
{
    const struct gf_frames *const frames = context;
    const struct gf_batch *const batch = frames->batch;
    struct gf_frames_slot *const slot = &frames->slot[number % frames->order.room];
    if (slot->input.index && slot->item.outcome == GF_OUTCOME_DONE && !batch->request->verbose) {
        free(slot->item.notes);
        slot->item.notes = NULL;
    }
    gf_batch_report(batch, &slot->item, slot->input.path);
}

static enum gf_status write_frame(void *context, size_t number, struct gf_error *error)
{
    struct gf_frames *const frames = context;
    struct gf_batch *const batch = frames->batch;
    struct gf_frames_slot *const slot = &frames->slot[number % frames->order.room];
    const double begin_s = gf_now();
    enum gf_status status = GF_OK;
    if (frames->film_out && slot->item.outcome == GF_OUTCOME_FAILED) {
        pthread_mutex_lock(&batch->lock);
        status =
            gf_fail(error, batch->failure, "%s: the film ends before this frame", slot->input.path);
        pthread_mutex_unlock(&batch->lock);
    } else if (frames->film_out) {
        frames->writer.frame_name = slot->input.path;
        status = gf_film_write(&frames->writer, slot->bytes.data, slot->bytes.size, error);
    }
    free(slot->bytes.data);
    slot->bytes.data = NULL;
    pthread_mutex_lock(&batch->lock);
    batch->state.write_s += gf_now() - begin_s;
    pthread_mutex_unlock(&batch->lock);
    return status;
}

/* ---- filtering a film, or copying its frames if no stage changes them ---- */

/* Copies the frames from the input to the output unchanged. */
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
           !frames->writer.plain && !frames->writer.animation &&
           request->options.subsampling == GF_SUBSAMPLING_AUTO;
}

/* Returns how many frames to expect, by the size of a file; 0 for a stream, which may have any
 * number. */
static size_t expected_frames(const struct gf_frames *frames)
{
    const int64_t size = frames->reader.frame_bytes ? gf_input_size(frames->reader.input) : 0;
    return frames->files ? frames->request.inputs->count
           : size > 0    ? (size_t)size / frames->reader.frame_bytes + 1
                         : 0;
}

static enum gf_status open_slots(struct gf_frames *frames, int workers, struct gf_error *error)
{
    enum { COPIES = 3, AHEAD = 2 }; /* copies of a frame in memory: as read, and two results */
    const uint64_t memory = frames->request.options.memory_bytes
                                ? frames->request.options.memory_bytes
                                : gf_memory_pictures_bytes();
    const uint64_t bytes = frames->reader.held_bytes ? frames->reader.held_bytes : 1 << 20;
    const uint64_t fit = memory / 2 / (COPIES * bytes);
    size_t room = (size_t)AHEAD * (size_t)workers;
    room = fit < room ? (size_t)fit : room;
    room += !room;
    frames->order = (struct gf_batch_order){.room = room, .report = report, .write = write_frame};
    frames->slot = calloc(room, sizeof *frames->slot);
    frames->smooth = gf_smooth_open(room, memory / 4);
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
    const struct gf_batch_supply supply = {
        .context = frames, .take = take_frame, .done = end_frame, .order = &frames->order};
    const size_t expected = frames->request.expected ? frames->request.expected : MANY;
    gf_batch_choose_devices(&frames->request, &frames->request, expected, &batch->devices);
    GF_TRY(gf_batch_check_devices(&frames->request, &batch->devices, error));
    const int workers = gf_batch_divide_work(&frames->request, &batch->devices, expected,
                                             &batch->options, &batch->memory_budget);
    batch->state.files = frames->request.expected;
    if (!frames->request.options.memory_bytes)
        keep_memory();
    enum gf_status status = open_slots(frames, workers, error);
    GF_THEN(status, gf_batch_work(batch, &supply, workers, error));
    batch->state.files = batch->next;
    gf_memory_budget_close(&batch->memory_budget);
    return status;
}

/* Gives the film that is written the times of the film that is read, if the options ask for it. */
static void keep_times(const struct gf_frames *frames)
{
    struct timespec times[2];
    if (frames->request.options.keep_times && frames->writer.output && frames->reader.input &&
        gf_input_times(frames->reader.input, times))
        gf_output_set_times(frames->writer.output, times);
}

/* Opens the output, filters, and makes the output visible. A film that is cut keeps the frames
 * before the cut. */
static enum gf_status work(struct gf_frames *frames, struct gf_error *error)
{
    struct gf_batch *const batch = frames->batch;
    enum gf_status status = GF_OK;
    if (frames->film_out && frames->request.plain_members && !frames->request.output->is_stdout)
        status = gf_refuse_links(frames->request.output, frames->request.output->text, error);
    if (!status && frames->film_out && !frames->to_stream)
        status = gf_make_folders_of(frames->request.output->text, error);
    if (!status && frames->film_out)
        status = gf_film_create(&frames->writer, frames->request.output->text,
                                &frames->request.options, error);
    if (!status)
        keep_times(frames);
    if (!status && is_copied(frames)) {
        status = open_slots(frames, 1, error);
        GF_THEN(status, copy_frames(frames, error));
    } else if (!status) {
        status = filter_frames(frames, error);
        GF_THEN(status, gf_batch_conclude(batch, error));
    }
    const bool any = frames->order.written + batch->state.pictures;
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

/* Whether the request may be about films: it has one output, which is a film, or numbered pictures
 * of a single input. */
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
                      (frames->to_stream || raw_frames_named(request->output->text));
    const bool animates =
        request->fps > 0 && !request->output->is_pattern && gf_format_animates_unasked(named);
    frames->writer.animation = animates ? named : GF_FILE_AUTO;
    frames->film_out =
        frames->raw_out || animates || (!request->output->is_pattern && named == GF_FILE_Y4M);
    frames->files =
        !gf_batch_is_single(request) && !request->transfer && !request->raw && frames->film_out;
    return (gf_batch_is_single(request) || frames->files) && !request->more_outputs &&
           !request->sheet && !request->dry_run &&
           (frames->to_stream || frames->film_out || gf_batch_numbers_pictures(request, 0));
}

/* Sets the rate that --fps states. The frames of an animation come from the workers as PAMs without
 * metadata, so that their colours become sRGB. */
static void set_fps(struct gf_frames *frames, double fps)
{
    enum { PARTS = 1000 };
    struct gf_options plain = gf_options_default();
    const unsigned parts = fps == floor(fps) ? 1 : PARTS;
    frames->raw.frames = (unsigned)nearbyint(fps * parts);
    frames->raw.seconds = parts;
    frames->writer.duration = (struct gf_duration){parts, frames->raw.frames};
    frames->options = frames->request.options;
    frames->writer.options = &frames->options;
    if (!frames->writer.animation)
        return;
    gf_animation_prepare(&frames->writer, &frames->options, &frames->request, frames->files);
    plain.format = GF_FILE_PAM;
    plain.stripped = ((uint64_t)1 << GF_METADATA_ITEMS) - 1;
    gf_options_of_output(&frames->request.options, &plain);
    gf_options_of_output(&frames->batch->options, &plain);
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
        request->raw ? raw_frames_parse(request->raw, &frames->raw, error) : GF_OK;
    GF_THEN(status, gf_input_open(request->inputs->item[0].path, false, input, error));
    GF_THEN(status, gf_input_peek(*input, head, sizeof head, &got, error));
    if (status) /* the ordinary run reports an unreadable input, and logs it */
        return request->raw ? status : GF_OK;
    const bool y4m = got == sizeof head && !memcmp(head, GF_Y4M_MAGIC, sizeof head);
    frames->raw_in = request->raw && !y4m;
    /* Bytes behind a PNG or JPEG in a regular file are not taken for another frame. */
    const bool pictures = gf_split_takes(head, got) && frames->film_out && !request->raw &&
                          (*head == 'P' || gf_input_is_stream(*input));
    *is_film = y4m || request->raw || pictures;
    /* An output stream gets a film, as the input is, unless --format names a format of pictures. */
    frames->writer.plain =
        frames->to_stream && request->options.format && request->options.format != GF_FILE_Y4M;
    frames->film_out |= frames->to_stream;
    return GF_OK;
}

/* Fails if the film is one of the inputs. */
static enum gf_status check_film_name(const struct gf_batch_request *request,
                                      struct gf_error *error)
{
    /* For gf_outputs_check() the film is the first output of the first input. */
    char **const once = calloc(2 * request->inputs->count, sizeof *once);
    GF_ALLOCATED(once, error);
    once[0] = request->output->text;
    const enum gf_status status = gf_outputs_check(request->inputs, once, 2, true, error);
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
                              frames->request.chain, &frames->request.options, error);
    if (!status && !frames->film_out)
        status = gf_batch_name_outputs(before, batch->output, error);
    else if (!status && !frames->to_stream)
        status = check_film_name(before, error);
    if (status)
        return status;
    frames->writer.raw = frames->raw_out ? &frames->raw : NULL;
    frames->writer.same_size = !frames->raw_in;
    frames->writer.rate =
        (frames->raw_in && !frames->raw_out) || before->fps > 0 ? &frames->raw : NULL;
    frames->writer.name = "output";
    frames->writer.frame_name = "a frame";
    if (before->fps > 0)
        set_fps(frames, before->fps);
    if (frames->files && !frames->writer.animation)
        gf_film_compose_head(&frames->request, frames->y4m);
    frames->request.frames = true;
    frames->request.expected = expected_frames(frames);
    batch->request = &frames->request;
    batch->options.subsampling = frames->request.options.subsampling;
    batch->options.profile = false; /* measuring peaks takes longer than many frames do */
    pthread_mutex_init(&frames->reading, NULL);
    status = work(frames, error);
    pthread_mutex_destroy(&frames->reading);
    gf_film_close(&frames->writer);
    for (size_t i = 0; frames->slot && i < frames->order.room; i++) {
        gf_film_free_frame(&frames->reader, &frames->slot[i].frame);
        free(frames->slot[i].bytes.data);
        free(frames->slot[i].item.notes);
    }
    free(frames->slot);
    gf_smooth_close(frames->smooth);
    batch->request = before;
    return status;
}

/* Whether the output film exists already and --skip-existing keeps it. */
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
    const struct gf_batch_request *const request = batch->request;
    const bool may_be = may_be_film(request, &frames);
    if (request->fps > 0 && !frames.film_out)
        return gf_fail(error, GF_ERROR_USAGE,
                       "--fps makes an animation or a film, and %.200s is no single .gif, .webp, "
                       ".png, .avif, .jxl or .y4m",
                       request->output->text);
    if (!may_be)
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
    if (!status && !*done && request->fps > 0 && input)
        status = gf_animation_fail_input(input, &request->options, error);
    if (!status && !*done && input && gf_input_is_stream(input)) {
        batch->opened = input;
        input = NULL;
    }
    gf_input_close(input);
    return status;
}
