#include "batch/transfer/transfer.h"

#include <signal.h>
#include <stdlib.h>

#include "base/fail.h"
#include "batch/transfer/folder.h"
#include "batch/transfer/transfer_state.h"

/* Does what there is to do. Outputs come before inputs, since they free space. */
static void *work(void *argument)
{
    struct gf_transfers *const transfers = argument;
    pthread_mutex_lock(&transfers->lock);
    gf_transfer_thread = transfers->numbered++;
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
    pthread_condattr_t attributes;
    struct gf_transfers *opened = NULL;
    GF_TRY(check_commands(options, error));
    GF_TRY(gf_transfer_folder_make(error));
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
    opened->ended.end = &opened->ended.first;
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
    gf_commands_abandon();
    gf_transfer_folder_remove();
}
