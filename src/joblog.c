#include "joblog.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gf_joblog {
    char *name;
    int fd;
    pthread_mutex_t lock;
    char *text; /* the line being made */
    size_t size;
    FILE *memory;
};

/* ---- writing ---- */

static const char *const outcome_names[] = {[GF_OUTCOME_WAITING] = "waiting",
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

/* Bytes of the UTF-8 character at text; 0 where there is none. */
static int utf8_length(const unsigned char *text)
{
    const int length = *text < 0x80   ? 1
                       : *text < 0xc2 ? 0
                       : *text < 0xe0 ? 2
                       : *text < 0xf0 ? 3
                       : *text < 0xf5 ? 4
                                      : 0;
    for (int i = 1; i < length; i++) {
        if ((text[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] > 0x9f) ||
        (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] > 0x8f))
        return 0;
    return length;
}

static void put_string(FILE *file, const char *name, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;
    fprintf(file, "\"%s\":\"", name);
    while (*at) {
        const int length = utf8_length(at);
        if (!length)
            fprintf(file, "\\udc%02x", *at);
        else if (*at == '"' || *at == '\\')
            fprintf(file, "\\%c", *at);
        else if (*at < 0x20 || *at == 0x7f)
            fprintf(file, "\\u%04x", *at);
        else
            fwrite(at, 1, (size_t)length, file);
        at += length ? length : 1;
    }
    fputs("\",", file);
}

static void put_entry(FILE *file, const struct gf_joblog_entry *entry)
{
    const struct gf_stage_times *const ms = &entry->ms;
    fprintf(file, "{\"index\":%zu,", entry->index);
    put_string(file, "input", entry->input);
    put_string(file, "output", entry->output ? entry->output : "");
    put_string(file, "status", outcome_names[entry->outcome]);
    put_string(file, "message", entry->message ? entry->message : "");
    fprintf(file, "\"bytes_in\":%lld,\"bytes_out\":%lld,\"width\":%d,\"height\":%d,",
            entry->bytes_in, entry->bytes_out, entry->width, entry->height);
    fprintf(
        file,
        "\"ms\":{\"total\":%.3f,\"decode\":%.3f,\"upload\":%.3f,\"filter\":%.3f,\"download\":%.3f,"
        "\"encode\":%.3f},",
        ms->total, ms->decode, ms->upload, ms->filter, ms->download, ms->encode);
    put_string(file, "device", entry->device ? entry->device : "");
    fprintf(file, "\"job\":\"%016llx\"}\n", (unsigned long long)entry->job);
}

static enum gf_status fail_log(const struct gf_joblog *log, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", log->name, strerror(errno));
}

/* A line that a killed run left unfinished is ended: it will be taken for damaged, the next one
 * not. */
static enum gf_status end_torn_line(struct gf_joblog *log, struct gf_error *error)
{
    struct stat file;
    char last = '\n';
    if (fstat(log->fd, &file))
        return fail_log(log, error);
    if (S_ISREG(file.st_mode) && file.st_size && pread(log->fd, &last, 1, file.st_size - 1) != 1)
        return fail_log(log, error);
    if (last != '\n' && write(log->fd, "\n", 1) != 1)
        return fail_log(log, error);
    return GF_OK;
}

enum gf_status gf_joblog_open(const char *path, struct gf_joblog **log, struct gf_error *error)
{
    struct gf_joblog *const opened = calloc(1, sizeof *opened);
    const bool standard = !strcmp(path, "-");
    if (!opened)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    pthread_mutex_init(&opened->lock, NULL);
    opened->fd = -1;
    opened->name = strdup(standard ? "stdout" : path);
    opened->memory = open_memstream(&opened->text, &opened->size);
    enum gf_status status = GF_OK;
    if (!opened->name || !opened->memory)
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    if (!status) {
        opened->fd = standard
                         ? dup(STDOUT_FILENO)
                         : open(path, O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY, 0666);
        if (opened->fd < 0)
            status = fail_log(opened, error);
    }
    if (!status && !standard)
        status = end_torn_line(opened, error);
    if (status) {
        gf_joblog_close(opened);
        return status;
    }
    *log = opened;
    return GF_OK;
}

void gf_joblog_close(struct gf_joblog *log)
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

enum gf_status gf_joblog_add(struct gf_joblog *log, const struct gf_joblog_entry *entry,
                             struct gf_error *error)
{
    enum gf_status status = GF_OK;
    pthread_mutex_lock(&log->lock);
    rewind(log->memory);
    put_entry(log->memory, entry);
    const long length = ftell(log->memory);
    if (length < 0 || fflush(log->memory)) {
        status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    } else {
        ssize_t written;
        do
            written = write(log->fd, log->text, (size_t)length);
        while (written < 0 && errno == EINTR);
        if (written >= 0 && written < length)
            errno = ENOSPC;
        if (written != length)
            status = fail_log(log, error);
    }
    pthread_mutex_unlock(&log->lock);
    return status;
}

/* ---- names of jobs ---- */

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *const byte = data;
    for (size_t i = 0; i < size; i++) /* FNV-1a, 64 bits */
        hash = (hash ^ byte[i]) * 0x100000001b3u;
    return hash;
}

static const uint64_t hash_start = 0xcbf29ce484222325u;

uint64_t gf_job_name(const char *chain, const struct gf_options *options)
{
    const int values[] = {(int)options->format,     options->quality,   (int)options->subsampling,
                          options->progressive,     options->png_level, options->autorotate,
                          options->allow_truncated, options->strip};
    const uint64_t hash =
        hash_bytes(hash_start, chain ? chain : "", strlen(chain ? chain : "") + 1);
    return hash_bytes(hash, values, sizeof values);
}

/* ---- reading ---- */

/* What an output's last line said. */
struct record {
    uint64_t key; /* 0: empty */
    uint64_t job;
    long long bytes_out;
    bool done;
};

struct gf_resume {
    struct record *record;
    size_t capacity, count; /* a power of two; no more than half of it is used */
};

static uint64_t key_of(const char *input, const char *output)
{
    uint64_t hash = hash_bytes(hash_start, input, strlen(input) + 1);
    hash = hash_bytes(hash, output, strlen(output) + 1);
    return hash ? hash : 1;
}

static struct record *find_record(const struct gf_resume *resume, uint64_t key)
{
    size_t at = (size_t)key & (resume->capacity - 1);
    while (resume->record[at].key && resume->record[at].key != key)
        at = (at + 1) & (resume->capacity - 1);
    return &resume->record[at];
}

static bool grow(struct gf_resume *resume)
{
    struct gf_resume grown = {.capacity = resume->capacity ? 2 * resume->capacity : 1024,
                              .count = resume->count};
    grown.record = calloc(grown.capacity, sizeof *grown.record);
    if (!grown.record)
        return false;
    for (size_t i = 0; i < resume->capacity; i++) {
        if (resume->record[i].key)
            *find_record(&grown, resume->record[i].key) = resume->record[i];
    }
    free(resume->record);
    *resume = grown;
    return true;
}

/* A string from behind its first quote, unescaped into `to`, which has room for all of it; NULL
 * where it does not end. */
static const char *read_string(const char *at, char *to)
{
    for (; *at != '"'; at++) {
        unsigned code;
        if (!*at)
            return NULL;
        if (*at != '\\') {
            *to++ = *at;
        } else if (at[1] == '"' || at[1] == '\\' || at[1] == '/') {
            *to++ = *++at;
        } else if (at[1] == 'u' && strlen(at) >= 6 && sscanf(at + 2, "%4x", &code) == 1) {
            *to++ = (char)code; /* only single bytes are written so */
            at += 5;
        } else {
            return NULL;
        }
    }
    *to = '\0';
    return at + 1;
}

struct line {
    char *input, *output, *status, *job; /* room for the whole line each */
    double bytes_out;
};

/* "key":value, by key; what is not known is passed over. */
static const char *read_member(const char *at, struct line *line, char *key, char *text)
{
    const char *value = *at == '"' ? read_string(at + 1, key) : NULL;
    if (!value || *value++ != ':')
        return NULL;
    if (*value == '"') {
        char *const to = !strcmp(key, "input")    ? line->input
                         : !strcmp(key, "output") ? line->output
                         : !strcmp(key, "status") ? line->status
                         : !strcmp(key, "job")    ? line->job
                                                  : text;
        return read_string(value + 1, to);
    }
    if (!strcmp(key, "bytes_out"))
        line->bytes_out = strtod(value, NULL);
    if (*value == '{') /* flat, and without strings */
        return value[strcspn(value, "}")] ? value + strcspn(value, "}") + 1 : NULL;
    return value + strcspn(value, ",}");
}

static bool read_line(const char *at, struct line *line, char *key, char *text)
{
    *line->input = *line->output = *line->status = *line->job = '\0';
    line->bytes_out = -1;
    if (*at++ != '{')
        return false;
    while ((at = read_member(at, line, key, text)) && *at == ',')
        at++;
    return at && at[0] == '}' && at[1] == '\n' && !at[2] && *line->input && *line->output;
}

static bool keep_line(struct gf_resume *resume, const struct line *line)
{
    if (2 * (resume->count + 1) > resume->capacity && !grow(resume))
        return false;
    const uint64_t key = key_of(line->input, line->output);
    struct record *const record = find_record(resume, key);
    const bool done = !strcmp(line->status, outcome_names[GF_OUTCOME_DONE]);
    resume->count += !record->key;
    /* What was skipped says nothing about how it came to be. */
    if (done || strcmp(line->status, outcome_names[GF_OUTCOME_SKIPPED]))
        *record = (struct record){.job = strtoull(line->job, NULL, 16),
                                  .bytes_out = (long long)line->bytes_out,
                                  .done = done};
    record->key = key;
    return true;
}

static enum gf_status read_lines(struct gf_resume *resume, FILE *file, const char *path,
                                 struct gf_error *error)
{
    char *text = NULL, *room = NULL;
    size_t capacity = 0, room_bytes = 0;
    enum gf_status status = GF_OK;
    while (!status && getline(&text, &capacity, file) >= 0) {
        if (room_bytes < 6 * capacity) {
            free(room);
            room = malloc(6 * capacity);
            room_bytes = room ? 6 * capacity : 0;
        }
        struct line line = {room, room + capacity, room + 2 * capacity, room + 3 * capacity, -1};
        const bool whole = room && read_line(text, &line, room + 4 * capacity, room + 5 * capacity);
        if (!room || (whole && !keep_line(resume, &line)))
            status = gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    if (!status && ferror(file))
        status = gf_fail(error, GF_ERROR_INPUT, "%s: %s", path, strerror(errno));
    free(text);
    free(room);
    return status;
}

enum gf_status gf_resume_read(const char *path, struct gf_resume **resume, struct gf_error *error)
{
    struct gf_resume *const read = calloc(1, sizeof *read);
    if (!read || !grow(read)) {
        free(read);
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    }
    FILE *const file = fopen(path, "re");
    enum gf_status status = GF_OK;
    if (file)
        status = read_lines(read, file, path, error);
    else if (errno != ENOENT)
        status = gf_fail(error, GF_ERROR_INPUT, "%s: %s", path, strerror(errno));
    if (file)
        fclose(file);
    if (status) {
        gf_resume_free(read);
        return status;
    }
    *resume = read;
    return GF_OK;
}

void gf_resume_free(struct gf_resume *resume)
{
    if (!resume)
        return;
    free(resume->record);
    free(resume);
}

bool gf_resume_done(const struct gf_resume *resume, const char *input, const char *output,
                    uint64_t job)
{
    const struct record *const record = find_record(resume, key_of(input, output));
    struct stat file;
    return record->key && record->done && record->job == job && !stat(output, &file) &&
           S_ISREG(file.st_mode) && file.st_size == record->bytes_out;
}
