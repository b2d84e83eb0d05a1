#include "codec/cell/process.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include "base/socket.h"
#include "base/spans.h"
#include "base/time_limit.h"
#include "codec/common/checks.h"

enum { WARNINGS_MAX = 4096, LOOK_MS = 100 };
#define MIB ((uint64_t)1 << 20)

static enum gf_status fail(const struct gf_cell_talk *talk, const char *what,
                           struct gf_error *error)
{
    return gf_fail(error, GF_ERROR_INPUT, "%s%s%s", talk->name, *talk->name ? ": " : "", what);
}

static int end(struct gf_cell_talk *talk)
{
    const int state = gf_cell_end(talk->cell);
    talk->cell = NULL;
    return state;
}

static enum gf_status fail_died(struct gf_cell_talk *talk, struct gf_error *error)
{
    const int state = end(talk);
    char what[100] = "the decoder died";
    if (state >= 0 && WIFSIGNALED(state))
        snprintf(what, sizeof what, "the decoder died (signal %d)%s", WTERMSIG(state),
                 WTERMSIG(state) == SIGSYS ? ": it did what a decoder may not do" : "");
    return fail(talk, what, error);
}

enum gf_status gf_cell_fail_senseless(struct gf_cell_talk *talk, struct gf_error *error)
{
    (void)end(talk);
    return fail(talk, "the decoder gave an answer without sense", error);
}

/* Where the cell's memory ran out it was the picture that took more than it should; its libraries
 * may then be in disorder. */
enum gf_status gf_cell_fail_reported(struct gf_cell_talk *talk, uint32_t status, const char *text,
                                     struct gf_error *error)
{
    char what[120];
    if (status != GF_ERROR_MEMORY)
        return gf_fail(error, (enum gf_status)status, "%s",
                       *text ? text : gf_status_meaning((enum gf_status)status));
    (void)end(talk);
    snprintf(what, sizeof what,
             "the decoder took more than the %llu MiB of memory that it was allowed",
             (unsigned long long)(talk->limit / MIB));
    return fail(talk, what, error);
}

void gf_cell_allow(struct gf_cell_talk *talk, uint64_t bytes, double seconds)
{
    talk->limit = 256 * MIB + bytes;
    gf_cell_limit(talk->cell, talk->limit, seconds);
}

void gf_cell_say(const struct gf_cell_talk *talk, const union gf_cell_message *message,
                 const int *descriptor)
{
    if (talk->cell)
        (void)gf_socket_send(talk->cell->socket, message, message->head.size, descriptor,
                             descriptor != NULL, 0);
}

/* Looks now and then whether the cell has more threads than it may, which no limit of the system
 * counts for one process. */
static bool has_too_many_threads(struct gf_cell_talk *talk)
{
    char line[256];
    long threads = 0;
    if (!talk->threads_most || gf_now() < talk->look_s)
        return false;
    talk->look_s = gf_now() + 1e-3 * LOOK_MS;
    snprintf(line, sizeof line, "/proc/%d/status", (int)talk->cell->born.process);
    FILE *const file = fopen(line, "re");
    while (file && fgets(line, sizeof line, file)) {
        if (!strncmp(line, "Threads:", 8))
            threads = strtol(line + 8, NULL, 10);
    }
    if (file)
        fclose(file);
    return threads > talk->threads_most;
}

/* Waits for a message; else returns what is wrong. */
static const char *wait_for_message(struct gf_cell_talk *talk)
{
    const double end_s = talk->end_s > 0 ? talk->end_s : gf_time_limit();
    for (;;) {
        struct pollfd socket = {.fd = talk->cell->socket, .events = POLLIN};
        const double left_ms = end_s > 0 ? 1e3 * (end_s - gf_now()) : LOOK_MS;
        if (left_ms <= 0)
            return "the time for its decoder is up";
        const int ready = poll(&socket, 1, (int)ceil(fmin(left_ms, LOOK_MS)));
        if (has_too_many_threads(talk))
            return "the decoder started more threads than it may";
        if (ready > 0 || (ready < 0 && errno != EINTR))
            return NULL;
    }
}

enum gf_status gf_cell_wait_for(struct gf_cell_talk *talk, enum gf_cell_type wanted,
                                union gf_cell_message *message, struct gf_error *error)
{
    for (int warnings = 0; talk->cell && warnings < WARNINGS_MAX; warnings++) {
        int unexpected;
        const char *const wrong = wait_for_message(talk);
        if (wrong) {
            (void)end(talk);
            return fail(talk, wrong, error);
        }
        const size_t size =
            gf_socket_receive(talk->cell->socket, message, sizeof *message, &unexpected, 1, 0);
        const enum gf_cell_type type = size && unexpected < 0 ? gf_cell_check(message, size) : 0;
        const bool died = !size && (!errno || errno == ECONNRESET);
        gf_close_descriptors(&unexpected, 1);
        if (type == wanted)
            return GF_OK;
        if (type != GF_CELL_WARNING)
            return died ? fail_died(talk, error) : gf_cell_fail_senseless(talk, error);
        if (talk->options)
            gf_warn(talk->options, "%s", message->warning.text);
    }
    return talk->cell ? gf_cell_fail_senseless(talk, error)
                      : fail(talk, "its decoder has been ended", error);
}
