/* Writes the log of a batch, and joins the profiles of its pictures. */
#include "batch/log/batch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/process/program.h"

struct gf_batch_log {
    char *name;
    uint64_t list; /* hash of the list of inputs (struct gf_inputs) */
    int fd;
    pthread_mutex_t lock;
    char *text; /* the line that is being composed */
    size_t size;
    FILE *memory;
    bool made;  /* this run created the file */
    bool begun; /* a line was written, so that the end of the file was checked before */
};

const struct gf_key_help gf_batch_log_keys[] = {
    {"index", "of the input in the whole list, from 1"},
    {"input", "its name"},
    {"output", "the name of the result"},
    {"status", "ok, failed or skipped"},
    {"exit", "the exit status of a run for this output alone: 75 if another try may help"},
    {"message", "why it failed or was skipped; else empty"},
    {"bytes_in", "the size of the input; -1: unknown"},
    {"bytes_out", "the size of the output; -1: unknown"},
    {"width", "of the input; 0: unknown"},
    {"height", "of the input; 0: unknown"},
    {"ms", "milliseconds: total, decode, upload, filter, download, encode"},
    {"finished", "when it was done, in seconds since 1970-01-01 UTC"},
    {"device", "what ran: \"cuda:0 NAME\" or \"cpu, N threads\""},
    {"decoder", "what decoded the input: \"cpu\" or \"gpu\", whose pixels are the same"},
    {"encoder", "what encoded the output, likewise"},
    {"quality", "that was searched; its *tries* and *score* follow"},
    {"job", "names the chain, the files that it names and the options that the result depends on"},
    {"list", GF_BATCH_LOG_LIST_HELP},
    {"identity", "the input's size and time, by which --resume sees a change; of a member also its "
                 "archive's, or a hash of its bytes where that is a pipe"},
    {0},
};

const char *const gf_outcome_names[] = {[GF_OUTCOME_WAITING] = "waiting",
                                        [GF_OUTCOME_DONE] = "ok",
                                        [GF_OUTCOME_FAILED] = "failed",
                                        [GF_OUTCOME_SKIPPED] = "skipped"};

struct gf_stage_times gf_stage_times_of(const struct gf_profile *profile)
{
    struct gf_stage_times ms = {.total = profile->wall_s * 1e3};
    double *const kinds[GF_SPAN_KINDS] = {
        [GF_SPAN_DECODE] = &ms.decode,     [GF_SPAN_UPLOAD] = &ms.upload,
        [GF_SPAN_STAGE] = &ms.filter,      [GF_SPAN_STATISTIC] = &ms.filter,
        [GF_SPAN_DOWNLOAD] = &ms.download, [GF_SPAN_ENCODE] = &ms.encode};
    for (size_t i = 0; i < profile->span_count; i++) {
        const struct gf_span *const span = &profile->spans[i];
        if (kinds[span->kind])
            *kinds[span->kind] += (span->end_s - span->begin_s) * 1e3;
    }
    return ms;
}

void gf_batch_fit_text(const struct gf_profile *profile, char text[GF_FIT_FOUND_SIZE])
{
    const int length = profile->quality
                           ? snprintf(text, GF_FIT_FOUND_SIZE, " with quality %d by %d tries",
                                      profile->quality, profile->tries)
                           : 0;
    text[length] = '\0';
    if (profile->score != 0)
        snprintf(text + length, GF_FIT_FOUND_SIZE - (size_t)length, " of a score of %.5g",
                 profile->score);
}

double gf_batch_log_now(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void put_entry(FILE *file, const struct gf_batch_log_entry *entry, uint64_t list)
{
    const struct gf_stage_times *const ms = &entry->ms;
    struct gf_json json = gf_json_begin(file);
    gf_json_object(&json, NULL, GF_JSON_COMPACT);
    gf_json_number(&json, "index", (double)entry->index, 0);
    gf_json_string(&json, "input", entry->input);
    gf_json_string(&json, "output", entry->output ? entry->output : "");
    gf_json_string(&json, "status", gf_outcome_names[entry->outcome]);
    gf_json_number(&json, "exit", gf_exit_status(entry->failure), 0);
    gf_json_string(&json, "message", entry->message ? entry->message : "");
    gf_json_number(&json, "bytes_in", (double)entry->bytes_in, 0);
    gf_json_number(&json, "bytes_out", (double)entry->bytes_out, 0);
    gf_json_number(&json, "width", entry->width, 0);
    gf_json_number(&json, "height", entry->height, 0);
    gf_json_object(&json, "ms", GF_JSON_COMPACT);
    gf_json_number(&json, "total", ms->total, 3);
    gf_json_number(&json, "decode", ms->decode, 3);
    gf_json_number(&json, "upload", ms->upload, 3);
    gf_json_number(&json, "filter", ms->filter, 3);
    gf_json_number(&json, "download", ms->download, 3);
    gf_json_number(&json, "encode", ms->encode, 3);
    gf_json_end(&json);
    gf_json_number(&json, "finished", gf_batch_log_now(), 3);
    gf_json_string(&json, "device", entry->device ? entry->device : "");
    gf_json_string(&json, "decoder", entry->decoder ? entry->decoder : "");
    gf_json_string(&json, "encoder", entry->encoder ? entry->encoder : "");
    if (entry->fit.tries) {
        gf_json_number(&json, "quality", entry->fit.quality, 0);
        gf_json_number(&json, "tries", entry->fit.tries, 0);
        gf_json_number(&json, "score", entry->fit.score, 6);
    }
    gf_json_hash(&json, "job", entry->fingerprint);
    gf_json_hash(&json, "list", list);
    gf_json_string(&json, "identity", entry->identity ? entry->identity : "");
    gf_json_end(&json);
}

static enum gf_status fail_log(const struct gf_batch_log *log, struct gf_error *error)
{
    return gf_fail(error, gf_status_of_name(GF_ERROR_USAGE, GF_ERROR_OUTPUT), "%s: %s", log->name,
                   strerror(errno));
}

static bool read_byte(int fd, off_t at, char *byte)
{
    ssize_t got;
    do
        got = pread(fd, byte, 1, at);
    while (got < 0 && errno == EINTR);
    return got == 1;
}

/* Ends a line that a killed run left unfinished. Otherwise the next line could not be read. */
static enum gf_status end_torn_line(struct gf_batch_log *log, struct gf_error *error)
{
    struct stat file;
    char last = '\n';
    if (fstat(log->fd, &file))
        return fail_log(log, error);
    if (S_ISREG(file.st_mode) && file.st_size && !read_byte(log->fd, file.st_size - 1, &last))
        return fail_log(log, error);
    return last != '\n' && write(log->fd, "\n", 1) != 1 ? fail_log(log, error) : GF_OK;
}

static int open_file(const char *path, bool *made)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY;
    const int fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    *made = fd >= 0;
    return *made || errno != EEXIST
               ? fd
               : open(path, flags | O_CREAT, 0666); /* the path is a link to a missing file */
}

enum gf_status gf_batch_log_open(const char *path, uint64_t list, struct gf_batch_log **log,
                                 struct gf_error *error)
{
    GF_NEW(struct gf_batch_log, opened, error);
    const bool standard = !strcmp(path, "-");
    pthread_mutex_init(&opened->lock, NULL);
    opened->fd = -1;
    opened->list = list;
    opened->name = strdup(standard ? "stdout" : path);
    opened->memory = open_memstream(&opened->text, &opened->size);
    enum gf_status status = GF_OK;
    if (!opened->name || !opened->memory)
        status = gf_fail_memory(error);
    if (!status) {
        opened->fd = standard ? dup(STDOUT_FILENO) : open_file(path, &opened->made);
        if (opened->fd < 0)
            status = fail_log(opened, error);
    }
    opened->begun = standard;
    GF_OPENED(status, gf_batch_log_close, opened, log);
}

void gf_batch_log_close(struct gf_batch_log *log)
{
    if (!log)
        return;
    if (log->fd >= 0)
        close(log->fd);
    if (log->memory)
        fclose(log->memory);
    free(log->text);
    free(log->name);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

bool gf_batch_log_is(const struct gf_batch_log *log, const char *path)
{
    struct stat own, other;
    return !fstat(log->fd, &own) && S_ISREG(own.st_mode) && !stat(path, &other) &&
           own.st_dev == other.st_dev && own.st_ino == other.st_ino;
}

void gf_batch_log_withdraw(const struct gf_batch_log *log)
{
    if (log->made && !log->begun)
        unlink(log->name);
}

/* Removes the part of a line that was written before the failure, unless another process has
 * appended to the file since. */
static void remove_torn_line(const struct gf_batch_log *log, size_t written)
{
    const off_t end = lseek(log->fd, 0, SEEK_CUR);
    struct stat file;
    if (written && end >= (off_t)written && !fstat(log->fd, &file) && S_ISREG(file.st_mode) &&
        file.st_size == end && ftruncate(log->fd, end - (off_t)written))
        return; /* if ftruncate() fails, the next run ends the line */
}

static enum gf_status write_all(const struct gf_batch_log *log, size_t length,
                                struct gf_error *error)
{
    size_t written = 0;
    while (written < length) {
        const ssize_t some = write(log->fd, log->text + written, length - written);
        if (some < 0 && errno != EINTR) {
            const enum gf_status status = fail_log(log, error);
            remove_torn_line(log, written);
            return status;
        }
        written += some > 0 ? (size_t)some : 0;
    }
    return GF_OK;
}

static enum gf_status write_line(const struct gf_batch_log *log,
                                 const struct gf_batch_log_entry *entry, struct gf_error *error)
{
    rewind(log->memory);
    put_entry(log->memory, entry, log->list);
    const long length = ftell(log->memory);
    return length < 0 || fflush(log->memory) ? gf_fail_memory(error)
                                             : write_all(log, (size_t)length, error);
}

enum gf_status gf_batch_log_add(struct gf_batch_log *log, const struct gf_batch_log_entry *entry,
                                struct gf_error *error)
{
    pthread_mutex_lock(&log->lock);
    enum gf_status status = log->begun ? GF_OK : end_torn_line(log, error);
    log->begun |= !status;
    GF_THEN(status, write_line(log, entry, error));
    pthread_mutex_unlock(&log->lock);
    return status;
}

/* A picture. Its spans are profile->span[first..end - 1]. begin_s is when its run began, in seconds
 * from the batch's begin; wall_s is how long the run took. shift_s is what
 * gf_batch_profile_timeline() last added to the times of its spans, at first 0. */
struct gf_batch_profile_picture {
    size_t first, end;
    double begin_s, wall_s, shift_s;
};

/* Returns the stage's index among the stages of all pictures; -1 if memory runs out. */
static int stage_index(struct gf_batch_profile *profile, const struct gf_profile_stage *stage)
{
    struct gf_profile *const merged = &profile->merged;
    for (int i = 0; i < merged->stage_count; i++) {
        if (profile->stage[i].segment == stage->segment &&
            !strcmp(profile->stage[i].name, stage->name))
            return i;
    }
    if (!GF_GROW(profile->stage, merged->stage_count))
        return -1;
    profile->stage[merged->stage_count] = *stage;
    return merged->stage_count++;
}

static bool add_spans(struct gf_batch_profile *profile, const struct gf_profile *picture,
                      int worker)
{
    struct gf_profile *const merged = &profile->merged;
    const bool grown =
        GF_RESERVE(profile->span, profile->span_room, merged->span_count + picture->span_count);
    for (size_t i = 0; grown && i < picture->span_count; i++) {
        struct gf_span span = picture->spans[i];
        if (span.stage >= 0 && span.stage < picture->stage_count)
            span.stage = stage_index(profile, &picture->stages[span.stage]);
        if (span.lane >= 0)
            span.lane += worker * picture->lanes;
        profile->span[merged->span_count++] = span;
    }
    return grown;
}

void gf_batch_profile_add(struct gf_batch_profile *profile, const struct gf_profile *picture,
                          double begin_s, int worker)
{
    struct gf_profile *const merged = &profile->merged;
    const size_t first = merged->span_count;
    const double wall_s = merged->wall_s;
    if (!GF_GROW(profile->picture, profile->pictures) || !add_spans(profile, picture, worker)) {
        profile->incomplete = true;
        return;
    }
    /* Members about the device and about the plan describe the last picture. */
    const int stages = merged->stage_count, frames = merged->frames;
    *merged = *picture;
    merged->written_levels = 0; /* they are the picture's own */
    merged->span_count = first + picture->span_count;
    merged->stage_count = stages;
    merged->wall_s = wall_s + picture->wall_s;
    merged->frames = frames + picture->frames;
    profile->picture[profile->pictures++] = (struct gf_batch_profile_picture){
        .first = first, .end = merged->span_count, .begin_s = begin_s, .wall_s = picture->wall_s};
}

enum gf_status gf_batch_profile_timeline(struct gf_batch_profile *profile, bool sequential,
                                         struct gf_error *error)
{
    double end_s = 0;
    if (profile->incomplete)
        return gf_fail_memory(error);
    for (size_t p = 0; p < profile->pictures; p++) {
        struct gf_batch_profile_picture *const picture = &profile->picture[p];
        const double shift_s = sequential ? end_s : picture->begin_s;
        for (size_t i = picture->first; i < picture->end; i++) {
            profile->span[i].begin_s += shift_s - picture->shift_s;
            profile->span[i].end_s += shift_s - picture->shift_s;
        }
        picture->shift_s = shift_s;
        end_s += picture->wall_s;
    }
    profile->merged.spans = profile->span;
    profile->merged.stages = profile->stage;
    return GF_OK;
}

void gf_batch_profile_free(struct gf_batch_profile *profile)
{
    free(profile->span);
    free(profile->picture);
    free(profile->stage);
    *profile = (struct gf_batch_profile){0};
}
