#include "batch/transfer/transfer.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/hash.h"
#include "batch/transfer/folder.h"
#include "batch/transfer/transfer_state.h"

/* The number of the calling thread among those of the transfers. */
static _Thread_local int thread_number;

/* ---- a command ---- */

/* Waits before the next try: 0.5 s, 1 s, 2 s and so on, and up to a half more, so that the tasks of
 * a cluster do not all come back at once. Returns false if the transfers end. */
static bool pause_before(struct gf_transfers *transfers, int try)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    const uint64_t base = UINT64_C(500000000) << (try < 7 ? try : 7),
                   more = gf_hash(GF_HASH_START, &end, sizeof end) % (base / 2);
    const uint64_t at = (uint64_t)end.tv_nsec + base + more;
    end.tv_sec += (time_t)(at / 1000000000);
    end.tv_nsec = (long)(at % 1000000000);
    pthread_mutex_lock(&transfers->lock);
    while (!transfers->closing &&
           pthread_cond_timedwait(&transfers->changed, &transfers->lock, &end) != ETIMEDOUT)
        continue;
    const bool goes_on = !transfers->closing;
    pthread_mutex_unlock(&transfers->lock);
    return goes_on;
}

/* Checks that a fetched file is there and has the bytes that the list states; a stored file is as
 * it was. */
static bool check_file(const struct gf_command_values *values, uint64_t bytes,
                       struct gf_error *error)
{
    struct stat file;
    if (values->out)
        return true;
    if (stat(values->file, &file))
        (void)gf_fail(error, GF_OK, "it has made no file");
    else if (bytes && (uint64_t)file.st_size != bytes)
        (void)gf_fail(error, GF_OK, "the file has %llu bytes, and the list states %llu",
                      (unsigned long long)file.st_size, (unsigned long long)bytes);
    else
        return true;
    return false;
}

enum gf_status gf_transfer_run(struct gf_transfers *transfers, char *const *words,
                               const char *option, const struct gf_command_values *values,
                               uint64_t bytes, const char *name, enum gf_status failure,
                               struct gf_error *error)
{
    const int tries = transfers->options.tries, nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
    struct gf_error why = {0};
    bool done = false;
    int tried = 0;
    while (!done && tried < tries && (!tried || pause_before(transfers, tried - 1))) {
        if (!values->out)
            unlink(values->file); /* of an earlier try */
        done = gf_command_run(thread_number, words, values, nowhere, &why) &&
               check_file(values, bytes, &why);
        tried++;
    }
    close(nowhere);
    return done ? GF_OK
                : gf_fail(error, failure, "%s: --%s failed, %d time%s: %s", name, option, tried,
                          tried == 1 ? "" : "s", why.text);
}

bool gf_transfer_run_probe(const struct gf_transfers *transfers, const char *record, int printed)
{
    const struct gf_command_values values = {.record = record};
    return gf_command_run(thread_number, transfers->options.probe, &values, printed,
                          &(struct gf_error){0});
}

/* ---- the threads ---- */

/* Does what there is to do. Outputs come before inputs, since they free space. */
static void *work(void *argument)
{
    struct gf_transfers *const transfers = argument;
    pthread_mutex_lock(&transfers->lock);
    thread_number = transfers->numbered++;
    while (!transfers->closing) {
        if (transfers->to_store.first)
            gf_transfer_store_next(transfers);
        else if (gf_transfer_may_fetch(transfers))
            gf_transfer_fetch_next(transfers);
        else
            pthread_cond_wait(&transfers->changed, &transfers->lock);
    }
    pthread_mutex_unlock(&transfers->lock);
    return NULL;
}

/* Fails if the command lacks a field, or its program is not on this machine. */
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
    enum gf_status status = check_command(options->fetch, "fetch", fetch, error);
    if (!status)
        status = check_command(options->store, "store", store, error);
    return status ? status : check_command(options->probe, "probe", probe, error);
}

enum gf_status gf_transfers_open(const struct gf_transfer_options *options,
                                 const struct gf_inputs *inputs,
                                 bool (*look)(void *context, struct gf_fetched *fetched),
                                 void *context, struct gf_transfers **transfers,
                                 struct gf_error *error)
{
    pthread_condattr_t attributes;
    struct gf_transfers *opened = NULL;
    enum gf_status status = check_commands(options, error);
    if (!status)
        status = gf_transfer_folder_make(error);
    if (status)
        return status;
    opened = calloc(1, sizeof *opened);
    if (!opened) {
        gf_transfer_folder_remove();
        return gf_fail_memory(error);
    }
    *opened = (struct gf_transfers){
        .options = *options, .inputs = inputs, .look = look, .context = context};
    if (!options->space)
        opened->options.space = gf_transfer_folder_free() / 4;
    opened->to_store.end = &opened->to_store.first;
    opened->failed.end = &opened->failed.first;
    pthread_mutex_init(&opened->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&opened->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    gf_commands_begin();
    *transfers = opened;
    return GF_OK;
}

enum gf_status gf_transfers_begin(struct gf_transfers *transfers, struct gf_error *error)
{
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* the threads inherit it */
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
    gf_transfer_free_inputs(transfers);
    gf_transfer_free_jobs(transfers);
    gf_transfer_folder_remove();
    pthread_cond_destroy(&transfers->changed);
    pthread_mutex_destroy(&transfers->lock);
    free(transfers);
}

void gf_transfers_abandon(void)
{
    gf_commands_end();
    gf_transfer_folder_remove();
}
