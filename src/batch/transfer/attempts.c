/* Runs a command until it succeeds. */
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "batch/transfer/transfer_state.h"

/* The seconds without a byte after which a command has failed, without --transfer-timeout. */
enum { IDLE_S = 3600 };

_Thread_local int gf_transfer_thread;

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
    if (stat(values->file, &file) || !S_ISREG(file.st_mode))
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
        done = gf_command_run(gf_transfer_thread, words, values, transfers->options.timeout_s,
                              IDLE_S, nowhere, &why) &&
               check_file(values, bytes, &why);
        tried++;
    }
    close(nowhere);
    return done ? GF_OK
                : gf_fail(error, failure, "%s: --%s failed, %d time%s: %s", name, option, tried,
                          tried == 1 ? "" : "s", why.text);
}

bool gf_transfer_run_probe(const struct gf_transfers *transfers,
                           const struct gf_command_values *values, int printed)
{
    return gf_command_run(gf_transfer_thread, transfers->options.probe, values,
                          transfers->options.timeout_s, IDLE_S, printed, &(struct gf_error){0});
}
