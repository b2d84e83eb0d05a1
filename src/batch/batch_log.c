#include "batch/batch_log.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct gf_batch_log {
    char *name;
    int fd;
    pthread_mutex_t lock;
    char *text; /* the line being made */
    size_t size;
    FILE *memory;
    bool made;  /* the file, by this run */
    bool begun; /* the line before this run's is whole */
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

static void put_entry(FILE *file, const struct gf_batch_log_entry *entry)
{
    const struct gf_stage_times *const ms = &entry->ms;
    fprintf(file, "{\"index\":%zu,", entry->index);
    put_string(file, "input", entry->input);
    put_string(file, "output", entry->output ? entry->output : "");
    put_string(file, "status", gf_outcome_names[entry->outcome]);
    put_string(file, "message", entry->message ? entry->message : "");
    fprintf(file, "\"bytes_in\":%lld,\"bytes_out\":%lld,\"width\":%d,\"height\":%d,",
            entry->bytes_in, entry->bytes_out, entry->width, entry->height);
    fprintf(
        file,
        "\"ms\":{\"total\":%.3f,\"decode\":%.3f,\"upload\":%.3f,\"filter\":%.3f,\"download\":%.3f,"
        "\"encode\":%.3f},",
        ms->total, ms->decode, ms->upload, ms->filter, ms->download, ms->encode);
    put_string(file, "device", entry->device ? entry->device : "");
    fprintf(file, "\"job\":\"%016llx\"}\n", (unsigned long long)entry->fingerprint);
}

static enum gf_status fail_log(const struct gf_batch_log *log, struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", log->name, strerror(errno));
}

/* A line that a killed run left unfinished is ended: it will be taken for damaged, the next one
 * not. */
static enum gf_status end_torn_line(struct gf_batch_log *log, struct gf_error *error)
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

static int open_file(const char *path, bool *made)
{
    const int flags = O_RDWR | O_APPEND | O_CLOEXEC | O_NOCTTY;
    const int fd = open(path, flags | O_CREAT | O_EXCL, 0666);
    *made = fd >= 0;
    return *made || errno != EEXIST ? fd
                                    : open(path, flags | O_CREAT, 0666); /* perhaps behind a link */
}

enum gf_status gf_batch_log_open(const char *path, struct gf_batch_log **log, struct gf_error *error)
{
    struct gf_batch_log *const opened = calloc(1, sizeof *opened);
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
        opened->fd = standard ? dup(STDOUT_FILENO) : open_file(path, &opened->made);
        if (opened->fd < 0)
            status = fail_log(opened, error);
    }
    opened->begun = standard;
    if (status) {
        gf_batch_log_close(opened);
        return status;
    }
    *log = opened;
    return GF_OK;
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

static enum gf_status write_line(const struct gf_batch_log *log, const struct gf_batch_log_entry *entry,
                                 struct gf_error *error)
{
    ssize_t written;
    rewind(log->memory);
    put_entry(log->memory, entry);
    const long length = ftell(log->memory);
    if (length < 0 || fflush(log->memory))
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory");
    do
        written = write(log->fd, log->text, (size_t)length);
    while (written < 0 && errno == EINTR);
    if (written >= 0 && written < length)
        errno = ENOSPC;
    return written == length ? GF_OK : fail_log(log, error);
}

enum gf_status gf_batch_log_add(struct gf_batch_log *log, const struct gf_batch_log_entry *entry,
                             struct gf_error *error)
{
    pthread_mutex_lock(&log->lock);
    enum gf_status status = log->begun ? GF_OK : end_torn_line(log, error);
    log->begun |= !status;
    if (!status)
        status = write_line(log, entry, error);
    pthread_mutex_unlock(&log->lock);
    return status;
}
