/* Transfers inputs and outputs by commands of the user: threads that fetch inputs ahead, and
 * store outputs that are complete. */
#include "batch/transfer/transfer.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/fail.h"
#include "base/threads/times.h"
#include "codec/io/output.h"

/* The most inputs that are fetched ahead. */
enum { GF_TRANSFER_AHEAD = 64 };

struct gf_transfer_input {
    bool ready;
    struct gf_fetched fetched;
};

/* An output that is to be stored, or whose store has ended. */
struct gf_transfer_job {
    struct gf_transfer_job *next;
    char *file, *out;
    const char *given; /* the URL whose signature `out` gets */
    void *item;        /* the caller's data from malloc(), or NULL */
    uint64_t counted;
    bool outdated;   /* the stored record belongs to another file */
    bool is_awaited; /* a thread waits for the job's end and owns the job; no record is stored */
    bool ended;
    enum gf_status status;
    struct gf_error why;
};

struct gf_transfer_queue {
    struct gf_transfer_job *first, **end;
};

struct gf_transfers {
    struct gf_transfer_options options;
    const struct gf_inputs *inputs;
    bool (*look)(void *context, struct gf_fetched *fetched);
    void *context;
    pthread_t thread[GF_COMMANDS_MAX];
    int threads, numbered; /* number of threads, and of those that have set thread_number */
    pthread_mutex_t lock;  /* guards all members below */
    pthread_cond_t changed;
    /* Input number i is at i % GF_TRANSFER_AHEAD. */
    struct gf_transfer_input input[GF_TRANSFER_AHEAD];
    size_t begun, taken; /* how many inputs' fetches have begun, and how many inputs were taken */
    size_t fetching, storing; /* how many commands are fetching and storing now */
    struct gf_transfer_queue to_store, ended;
    uint64_t held;    /* bytes counted as used in the folder: present and expected ones */
    uint64_t largest; /* bytes of the largest input so far */
    bool stopped;     /* no more fetches begin */
    bool closing;     /* the threads are to end */
};

/* ---- running a command until it succeeds ---- */

/* Without --transfer-timeout a command fails if it moves no byte for this many seconds. */
enum { IDLE_S = 3600 };

/* The number of the calling thread among the transfers' threads, 0 to GF_COMMANDS_MAX - 1. */
static _Thread_local int thread_number;

/* Waits before the next try: 0.5 s, 1 s, 2 s and so on, and up to a half more, so that the tasks of
 * a cluster do not all come back at once. Returns false if the transfers end. */
static bool pause_before(struct gf_transfers *transfers, int try)
{
    const double now_s = gf_now(), base_s = 0.5 * (1 << (try < 7 ? try : 7)),
                 more = (double)(gf_hash(GF_HASH_START, &now_s, sizeof now_s) % 1000) / 2000;
    const struct timespec end = gf_time_after(base_s * (1 + more));
    pthread_mutex_lock(&transfers->lock);
    while (!transfers->closing &&
           pthread_cond_timedwait(&transfers->changed, &transfers->lock, &end) != ETIMEDOUT)
        continue;
    const bool goes_on = !transfers->closing;
    pthread_mutex_unlock(&transfers->lock);
    return goes_on;
}

/* Checks that a fetched file is there and has the bytes that the list states; after a store there
 * is nothing to check. */
static bool check_file(const struct gf_command_values *values, uint64_t bytes,
                       struct gf_error *error)
{
    struct stat file;
    const bool there = values->out || (!stat(values->file, &file) && S_ISREG(file.st_mode)),
               good = there && (values->out || !bytes || (uint64_t)file.st_size == bytes);
    if (!there)
        (void)gf_fail(error, GF_OK, "it has made no file");
    else if (!good)
        (void)gf_fail(error, GF_OK, "the file has %llu bytes, and the list states %llu",
                      (unsigned long long)file.st_size, (unsigned long long)bytes);
    return good;
}

/* Runs a command until it succeeds, as often as the options allow. A fetched file must then exist
 * and have `bytes` bytes, unless that is 0. `name` is the file's name in messages. */
static GF_CHECKED enum gf_status transfer_run(struct gf_transfers *transfers, char *const *words,
                                              const char *option,
                                              const struct gf_command_values *values,
                                              uint64_t bytes, const char *name,
                                              enum gf_status failure, struct gf_error *error)
{
    const int tries = transfers->options.tries, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct gf_error why = {0};
    bool done = false;
    int tried = 0;
    while (!done && tried < tries && (!tried || pause_before(transfers, tried - 1))) {
        if (!values->out)
            unlink(values->file); /* removes the file of an earlier try */
        done = gf_command_run(thread_number, words, values, transfers->options.timeout_s, IDLE_S,
                              nowhere, &why) &&
               check_file(values, bytes, &why);
        tried++;
    }
    close(nowhere);
    return done ? GF_OK
                : gf_fail(error, failure, "%s: --%s failed, %d time%s: %s", name, option, tried,
                          tried == 1 ? "" : "s", why.text);
}

/* ---- inputs, fetched ahead of the work, in their order ---- */

static const struct gf_input_name *name_at(const struct gf_transfers *transfers, size_t position)
{
    return &transfers->inputs->item[position];
}

/* Returns the extension of an archive's name, such as ".tar.gz", or of another name. Returns "" for
 * an extension that is long or has other characters than letters, digits and dots, such as the
 * parameters of a URL. */
static const char *extension_of(const char *path)
{
    enum { LONGEST = 16 };
    const char *const slash = strrchr(path, '/'), *const name = slash ? slash + 1 : path,
                      *const extension = name + gf_archive_stem(name);
    size_t length = 0;
    while (isalnum((unsigned char)extension[length]) || extension[length] == '.')
        length++;
    return extension[length] || length > LONGEST ? "" : extension;
}

/* Identifies an input by the bytes and the word that the list states (struct gf_input_name). An
 * identity that would be too long is hashed. */
static void identify_by_list(const struct gf_input_name *name, struct gf_input_identity *identity)
{
    enum { LONGEST = 56 }; /* gf_identify_member() keeps this many characters */
    const size_t length = strlen(name->etag);
    char word[LONGEST];
    if (length < LONGEST - 24)
        snprintf(word, sizeof word, "%s", name->etag);
    else
        snprintf(word, sizeof word, "%016llx",
                 (unsigned long long)gf_hash(GF_HASH_START, name->etag, length));
    *identity = (struct gf_input_identity){0};
    snprintf(identity->text, sizeof identity->text, "%llu %s", (unsigned long long)name->bytes,
             word);
}

static enum gf_status identify_by_content(struct gf_fetched *fetched, const char *name)
{
    unsigned char part[1 << 16];
    uint64_t hash = GF_HASH_START, size = 0;
    ssize_t got;
    while ((got = pread(fetched->fd, part, sizeof part, (off_t)size)) > 0) {
        hash = gf_hash(hash, part, (size_t)got);
        size += (uint64_t)got;
    }
    if (got < 0)
        return gf_fail(&fetched->error, GF_ERROR_READ, "%s: %s", name, strerror(errno));
    fetched->identity = (struct gf_input_identity){0};
    snprintf(fetched->identity.text, sizeof fetched->identity.text, "%llu %016llx",
             (unsigned long long)size, (unsigned long long)hash);
    return GF_OK;
}

/* Fetches a file and opens it; the file then has no name any more. */
static enum gf_status fetch_file(struct gf_transfers *transfers, struct gf_fetched *fetched)
{
    const struct gf_input_name *const name = name_at(transfers, fetched->position);
    const char *const path = gf_archive_path(name->path);
    struct gf_error *const error = &fetched->error;
    char *const file = gf_transfer_folder_file(fetched->position, "in", extension_of(path));
    GF_ALLOCATED(file, error);
    const struct gf_command_values values = {.in = name->url ? name->url : path, .file = file};
    enum gf_status status = transfer_run(transfers, transfers->options.fetch, "fetch", &values,
                                         name->bytes, path, GF_ERROR_READ, error);
    if (!status) {
        fetched->fd = open(file, O_RDONLY | O_CLOEXEC);
        if (fetched->fd < 0)
            status = gf_fail(error, GF_ERROR_READ, "%s: %s: %s", path, file, strerror(errno));
    }
    unlink(file);
    free(file);
    return status;
}

/* Looks at an input, and fetches it unless its outputs are done. */
static void get(struct gf_transfers *transfers, struct gf_fetched *fetched)
{
    const struct gf_input_name *const name = name_at(transfers, fetched->position);
    const bool fetches = transfers->options.fetch, by_content = fetches && !name->etag;
    if (by_content) {
        fetched->status = fetch_file(transfers, fetched);
        GF_THEN(fetched->status, identify_by_content(fetched, name->path));
    } else if (fetches) {
        identify_by_list(name, &fetched->identity);
    } else {
        fetched->identity = gf_identify_file(gf_archive_path(name->path));
    }
    if (!fetched->status)
        fetched->done = transfers->look(transfers->context, fetched);
    if (fetches && !by_content && !fetched->done)
        fetched->status = fetch_file(transfers, fetched);
}

/* Sets what an input of `bytes` bytes and its outputs count in the used space. The caller holds the
 * lock. */
static void count(struct gf_transfers *transfers, struct gf_fetched *fetched, uint64_t bytes)
{
    transfers->held -= fetched->bytes + fetched->output_bytes;
    fetched->bytes = transfers->options.fetch ? bytes : 0;
    fetched->output_bytes = bytes * (uint64_t)transfers->options.outputs;
    transfers->held += fetched->bytes + fetched->output_bytes;
}

/* Returns the bytes of the next input that the list states, or else those of the largest input so
 * far; 0: unknown. */
static uint64_t expected_bytes(const struct gf_transfers *transfers)
{
    const uint64_t bytes = name_at(transfers, transfers->begun)->bytes;
    return bytes ? bytes : transfers->largest;
}

/* Whether the next input may be fetched now. An input of unknown size, or one larger than the whole
 * space, is fetched only while the folder is empty. */
static bool transfer_may_fetch(const struct gf_transfers *transfers)
{
    if (transfers->stopped || transfers->begun == transfers->inputs->count ||
        transfers->begun - transfers->taken == GF_TRANSFER_AHEAD)
        return false;
    const uint64_t bytes = expected_bytes(transfers), files = (uint64_t)transfers->options.outputs +
                                                              (transfers->options.fetch ? 1 : 0);
    if (!bytes)
        return !transfers->fetching;
    return !transfers->held || transfers->held + bytes * files <= transfers->options.space;
}

static void transfer_fetch_next(struct gf_transfers *transfers)
{
    struct gf_fetched fetched = {.fd = -1};
    struct stat file;
    count(transfers, &fetched, expected_bytes(transfers));
    fetched.position = transfers->begun++;
    transfers->fetching++;
    pthread_mutex_unlock(&transfers->lock);
    get(transfers, &fetched);
    const char *const path = gf_archive_path(name_at(transfers, fetched.position)->path);
    const bool known =
        fetched.fd >= 0 ? !fstat(fetched.fd, &file) : !fetched.status && !stat(path, &file);
    const uint64_t bytes = known && !fetched.done ? (uint64_t)file.st_size : 0;
    if (fetched.done && fetched.fd >= 0) {
        close(fetched.fd);
        fetched.fd = -1;
    }
    pthread_mutex_lock(&transfers->lock);
    count(transfers, &fetched, bytes);
    transfers->largest = bytes > transfers->largest ? bytes : transfers->largest;
    transfers->fetching--;
    transfers->input[fetched.position % GF_TRANSFER_AHEAD] =
        (struct gf_transfer_input){true, fetched};
    pthread_cond_broadcast(&transfers->changed);
}

/* Whether there is an input to take. The caller holds the lock. */
static bool has_next(const struct gf_transfers *transfers)
{
    return !transfers->stopped && transfers->taken < transfers->inputs->count;
}

bool gf_transfers_take(struct gf_transfers *transfers, struct gf_fetched *fetched)
{
    pthread_mutex_lock(&transfers->lock);
    while (has_next(transfers) && !transfers->input[transfers->taken % GF_TRANSFER_AHEAD].ready)
        pthread_cond_wait(&transfers->changed, &transfers->lock);
    const bool taken = has_next(transfers);
    if (taken) {
        struct gf_transfer_input *const next =
            &transfers->input[transfers->taken % GF_TRANSFER_AHEAD];
        *fetched = next->fetched;
        next->ready = false;
        transfers->taken++;
        pthread_cond_broadcast(&transfers->changed);
    }
    pthread_mutex_unlock(&transfers->lock);
    return taken;
}

void gf_transfers_stop(struct gf_transfers *transfers)
{
    pthread_mutex_lock(&transfers->lock);
    transfers->stopped = true;
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
}

void gf_transfers_release(struct gf_transfers *transfers, uint64_t bytes)
{
    pthread_mutex_lock(&transfers->lock);
    transfers->held -= bytes;
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
}

/* Returns the name of the record of a file or an output; NULL when out of memory. */
static char *record_of(const char *name)
{
    char *record;
    return asprintf(&record, "%s.json", name) < 0 ? NULL : record;
}

char *gf_transfers_probe(const struct gf_transfers *transfers, const char *out, const char *given,
                         size_t *size)
{
    enum { MOST = 64 << 20 };
    const int printed = gf_spool_open();
    struct stat file;
    char *text = NULL, *const name = record_of(out), *const url = gf_url_sign(out, given),
         *const record = name ? gf_url_sign(name, given) : NULL;
    const struct gf_command_values values = {.out = url, .record = record};
    if (printed >= 0 && url && record &&
        gf_command_run(thread_number, transfers->options.probe, &values,
                       transfers->options.timeout_s, IDLE_S, printed, &(struct gf_error){0}) &&
        !fstat(printed, &file) && file.st_size < MOST)
        text = malloc((size_t)file.st_size + 1);
    if (text) {
        const ssize_t got = pread(printed, text, (size_t)file.st_size, 0);
        *size = got > 0 ? (size_t)got : 0;
        text[*size] = '\0';
    }
    if (printed >= 0)
        close(printed);
    free(name);
    free(url);
    free(record);
    return text;
}

static void transfer_free_inputs(struct gf_transfers *transfers)
{
    for (size_t i = 0; i < GF_TRANSFER_AHEAD; i++) {
        const struct gf_transfer_input *const input = &transfers->input[i];
        if (!input->ready)
            continue;
        if (input->fetched.fd >= 0)
            close(input->fetched.fd);
        free(input->fetched.item);
    }
}

/* ---- storing complete outputs, each followed by its record ---- */

static void append(struct gf_transfer_queue *queue, struct gf_transfer_job *job)
{
    job->next = NULL;
    *queue->end = job;
    queue->end = &job->next;
}

static struct gf_transfer_job *remove_first(struct gf_transfer_queue *queue)
{
    struct gf_transfer_job *const job = queue->first;
    if (job)
        queue->first = job->next;
    if (!queue->first)
        queue->end = &queue->first;
    return job;
}

static void free_job(struct gf_transfer_job *job)
{
    free(job->file);
    free(job->out);
    free(job->item);
    free(job);
}

/* Stores the file under the name `out`, with the signature of the URL `given`. */
static enum gf_status store_file(struct gf_transfers *transfers, const char *file, const char *out,
                                 const char *given, struct gf_error *error)
{
    char *const url = gf_url_sign(out, given);
    const struct gf_command_values values = {.file = file, .out = url};
    const enum gf_status status = url ? transfer_run(transfers, transfers->options.store, "store",
                                                     &values, 0, out, GF_ERROR_OUTPUT, error)
                                      : gf_fail_memory(error);
    free(url);
    return status;
}

/* Stores an empty record under the name `out`. */
static enum gf_status store_empty(struct gf_transfers *transfers, const char *file, const char *out,
                                  const char *given, struct gf_error *error)
{
    char *empty;
    if (asprintf(&empty, "%s.empty", file) < 0)
        return gf_fail_memory(error);
    FILE *const stream = fopen(empty, "we");
    const bool written = stream && fputs("{}\n", stream) >= 0;
    const bool closed = stream && !fclose(stream);
    const enum gf_status status =
        written && closed ? store_file(transfers, empty, out, given, error)
                          : gf_fail(error, GF_ERROR_OUTPUT, "%s: %s", empty, strerror(errno));
    unlink(empty);
    free(empty);
    return status;
}

/* Stores a job's file and then its record, the file FILE.json, under the output's name and
 * ".json". */
static enum gf_status store(struct gf_transfers *transfers, struct gf_transfer_job *job)
{
    char *const record = record_of(job->file), *const out = record_of(job->out);
    enum gf_status status = record && out ? GF_OK : gf_fail_memory(&job->why);
    if (!status && job->outdated)
        status = store_empty(transfers, job->file, out, job->given, &job->why);
    GF_THEN(status, store_file(transfers, job->file, job->out, job->given, &job->why));
    GF_THEN(status, store_file(transfers, record, out, job->given, &job->why));
    unlink(job->file);
    if (record)
        unlink(record);
    free(record);
    free(out);
    return status;
}

/* Stores the next output. The caller holds the lock; it is released while the command runs. */
static void transfer_store_next(struct gf_transfers *transfers)
{
    struct gf_transfer_job *const job = remove_first(&transfers->to_store);
    transfers->storing++;
    pthread_mutex_unlock(&transfers->lock);
    job->status = job->is_awaited
                      ? store_file(transfers, job->file, job->out, job->given, &job->why)
                      : store(transfers, job);
    pthread_mutex_lock(&transfers->lock);
    transfers->storing--;
    transfers->held -= job->counted;
    job->ended = true;
    if (!job->is_awaited)
        append(&transfers->ended, job);
    pthread_cond_broadcast(&transfers->changed);
}

enum gf_status gf_transfers_store(struct gf_transfers *transfers, char *file, const char *out,
                                  const char *given, bool outdated, uint64_t counted, void *item,
                                  struct gf_error *error)
{
    struct stat there;
    const uint64_t bytes = stat(file, &there) ? 0 : (uint64_t)there.st_size;
    struct gf_transfer_job *const job = calloc(1, sizeof *job);
    if (job)
        *job = (struct gf_transfer_job){.file = file,
                                        .out = strdup(out),
                                        .given = given,
                                        .item = item,
                                        .counted = bytes,
                                        .outdated = outdated};
    if (!job || !job->out) {
        free(job);
        free(file);
        gf_transfers_release(transfers, counted);
        return gf_fail_memory(error);
    }
    pthread_mutex_lock(&transfers->lock);
    transfers->held += bytes - counted;
    append(&transfers->to_store, job);
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
    return GF_OK;
}

enum gf_status gf_transfers_store_now(struct gf_transfers *transfers, const char *file,
                                      const char *out, const char *given, struct gf_error *error)
{
    struct gf_transfer_job job = {
        .file = (char *)file, .out = (char *)out, .given = given, .is_awaited = true};
    pthread_mutex_lock(&transfers->lock);
    append(&transfers->to_store, &job);
    pthread_cond_broadcast(&transfers->changed);
    while (!job.ended)
        pthread_cond_wait(&transfers->changed, &transfers->lock);
    pthread_mutex_unlock(&transfers->lock);
    *error = job.why;
    return job.status;
}

void gf_transfers_finish(struct gf_transfers *transfers)
{
    pthread_mutex_lock(&transfers->lock);
    while (transfers->to_store.first || transfers->storing)
        pthread_cond_wait(&transfers->changed, &transfers->lock);
    pthread_mutex_unlock(&transfers->lock);
}

bool gf_transfers_next_ended(struct gf_transfers *transfers, void **item, struct gf_error *error)
{
    pthread_mutex_lock(&transfers->lock);
    struct gf_transfer_job *const job = remove_first(&transfers->ended);
    pthread_mutex_unlock(&transfers->lock);
    if (!job)
        return false;
    *error = job->why;
    error->status = job->status;
    *item = job->item;
    job->item = NULL;
    free_job(job);
    return true;
}

/* Frees the jobs whose outputs were not stored, or whose end was not asked for by
 * gf_transfers_next_ended(). */
static void transfer_free_jobs(struct gf_transfers *transfers)
{
    struct gf_transfer_job *job;
    while ((job = remove_first(&transfers->to_store)) || (job = remove_first(&transfers->ended)))
        free_job(job);
}

/* The function of the transfers' threads: stores outputs and fetches inputs until the transfers
 * close. Stores come first, since they free space. */
static void *work(void *argument)
{
    struct gf_transfers *const transfers = argument;
    pthread_mutex_lock(&transfers->lock);
    thread_number = transfers->numbered++;
    while (!transfers->closing) {
        if (transfers->to_store.first)
            transfer_store_next(transfers);
        else if (transfer_may_fetch(transfers))
            transfer_fetch_next(transfers);
        else
            pthread_cond_wait(&transfers->changed, &transfers->lock);
    }
    pthread_mutex_unlock(&transfers->lock);
    return NULL;
}

/* Fails if the command of `option` lacks one of the fields, or its program is not on this
 * machine. */
static enum gf_status check_command(char *const *words, const char *option,
                                    const char *const *fields, struct gf_error *error)
{
    if (!words)
        return GF_OK;
    if (!*words)
        return gf_fail(error, GF_ERROR_USAGE, "--%s names no command", option);
    for (; *fields; fields++) {
        if (!gf_command_has(words, *fields))
            return gf_fail(error, GF_ERROR_USAGE, "--%s='%.100s ...' has no %s", option, words[0],
                           *fields);
    }
    return gf_command_find(words, option, error);
}

static enum gf_status check_commands(const struct gf_transfer_options *options,
                                     struct gf_error *error)
{
    static const char *const fetch[] = {"{in}", "{file}", NULL},
                             *const store[] = {"{file}", "{out}", NULL},
                             *const probe[] = {"{record}", NULL};
    GF_TRY(check_command(options->fetch, "fetch", fetch, error));
    GF_TRY(check_command(options->store, "store", store, error));
    return check_command(options->probe, "probe", probe, error);
}

enum gf_status gf_transfers_open(const struct gf_transfer_options *options,
                                 const struct gf_inputs *inputs,
                                 bool (*look)(void *context, struct gf_fetched *fetched),
                                 void *context, struct gf_transfers **transfers,
                                 struct gf_error *error)
{
    GF_TRY(check_commands(options, error));
    GF_TRY(gf_transfer_folder_make(error));
    struct gf_transfers *const opened = calloc(1, sizeof *opened);
    if (!opened) {
        gf_transfer_folder_remove();
        return gf_fail_memory(error);
    }
    *opened = (struct gf_transfers){
        .options = *options, .inputs = inputs, .look = look, .context = context};
    if (!options->space)
        opened->options.space = gf_transfer_folder_free() / 4;
    opened->to_store.end = &opened->to_store.first;
    opened->ended.end = &opened->ended.first;
    pthread_mutex_init(&opened->lock, NULL);
    gf_cond_init(&opened->changed);
    gf_commands_begin();
    *transfers = opened;
    return GF_OK;
}

enum gf_status gf_transfers_begin(struct gf_transfers *transfers, struct gf_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the new threads inherit the mask */
    while (transfers->threads < GF_COMMANDS_MAX &&
           !pthread_create(&transfers->thread[transfers->threads], NULL, work, transfers))
        transfers->threads++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return transfers->threads ? GF_OK : gf_fail(error, GF_ERROR_MEMORY, "cannot start a thread");
}

void gf_transfers_close(struct gf_transfers *transfers)
{
    if (!transfers)
        return;
    pthread_mutex_lock(&transfers->lock);
    transfers->closing = transfers->stopped = true;
    pthread_cond_broadcast(&transfers->changed);
    pthread_mutex_unlock(&transfers->lock);
    gf_commands_end();
    for (int i = 0; i < transfers->threads; i++)
        pthread_join(transfers->thread[i], NULL);
    transfer_free_inputs(transfers);
    transfer_free_jobs(transfers);
    gf_transfer_folder_remove();
    pthread_cond_destroy(&transfers->changed);
    pthread_mutex_destroy(&transfers->lock);
    free(transfers);
}
