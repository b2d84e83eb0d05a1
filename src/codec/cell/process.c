/* The program's side of the processes of cells (cell.h): has them forked, keeps them for the next
 * picture, exchanges messages with them, limits and ends them. */
#include "codec/cell/process.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/process/process.h"
#include "base/threads/times.h"
#include "codec/cell/cell.h"
#include "codec/common/checks.h"

static struct {
    pthread_mutex_t lock;
    struct gf_cell *waiting;
    int count, users;
    pid_t owner; /* the process that has started these cells */
    bool works;  /* a cell was once started successfully */
    bool never;  /* this machine cannot have cells, for the reason `why` */
    bool warned; /* gf_cells_warn() has warned of that */
    struct gf_error why;
} cells = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- starting cells ---- */

/* Makes and maps shared memory whose size is sealed: a cell that shortened it would kill this
 * process by SIGBUS. Returns its descriptor, or -1 with errno. */
static int shared_memory(unsigned char **mapped)
{
    const size_t size = 2 * GF_CELL_HALF;
    const int fd = memfd_create("gpufilter-cell", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *const at =
        fd >= 0 && !ftruncate(fd, (off_t)size) &&
                !fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
            ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0)
            : MAP_FAILED;
    if (at != MAP_FAILED) {
        *mapped = at;
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* Has the cell's process forked, and waits until it has confined itself. */
static enum gf_status start(struct gf_cell *cell, struct gf_error *error)
{
    union gf_cell_message message;
    int pair[2] = {-1, -1}, unexpected;
    const int memory = shared_memory(&cell->shared);
    const int why =
        memory < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) ? errno : 0;
    const int handed[] = {pair[1], memory};
    cell->socket = pair[0];
    const enum gf_status status =
        why ? gf_cell_fail_errno(why, cell->program, error)
            : gf_zygote_fork(cell->format, cell->program, handed, &cell->born, error);
    if (pair[1] >= 0)
        close(pair[1]);
    if (memory >= 0)
        close(memory);
    if (status)
        return status;
    struct pollfd ready = {.fd = cell->socket, .events = POLLIN};
    while (poll(&ready, 1, GF_CELL_START_MS) < 0 && errno == EINTR)
        ;
    const size_t size =
        gf_socket_receive(cell->socket, &message, sizeof message, &unexpected, 1, MSG_DONTWAIT);
    gf_close_descriptors(&unexpected, 1);
    if (!size || gf_cell_check(&message, size) != GF_CELL_READY)
        return gf_fail(error, GF_ERROR_MEMORY, "%s does not become a cell", cell->program);
    cell->landlock = message.ready.landlock;
    return message.ready.status
               ? gf_fail(error, (enum gf_status)message.ready.status, "%s", message.ready.why)
               : GF_OK;
}

/* ---- ending cells ---- */

int gf_cell_end(struct gf_cell *cell)
{
    const int state =
        cell->born.zygote && cell->owner == getpid() ? gf_zygote_end(&cell->born) : -1;
    if (cell->socket >= 0)
        close(cell->socket);
    if (cell->shared)
        munmap(cell->shared, 2 * GF_CELL_HALF);
    free(cell);
    return state;
}

static void end_all(struct gf_cell *list)
{
    while (list) {
        struct gf_cell *const next = list->next;
        (void)gf_cell_end(list);
        list = next;
    }
}

/* ---- cells that wait for a picture ---- */

/* Whether a waiting cell is usable. It sends nothing while it waits: if its socket has something to
 * read, it has died or was taken over. */
static bool is_quiet(const struct gf_cell *cell)
{
    struct pollfd socket = {.fd = cell->socket, .events = POLLIN};
    return poll(&socket, 1, 0) == 0;
}

/* Empties the list in a process that was forked after its cells were started: they belong to its
 * parent. The caller must hold cells.lock. */
static void forget_parents_cells(void)
{
    if (cells.owner == getpid())
        return;
    end_all(cells.waiting);
    cells.waiting = NULL;
    cells.count = cells.users = 0;
    cells.owner = getpid();
}

static struct gf_cell *take_waiting(const char *format, const char *program)
{
    pthread_mutex_lock(&cells.lock);
    forget_parents_cells();
    struct gf_cell **at = &cells.waiting;
    while (*at && (strcmp((*at)->format, format) != 0 || strcmp((*at)->program, program) != 0))
        at = &(*at)->next;
    struct gf_cell *const found = *at;
    if (found) {
        *at = found->next;
        cells.count--;
    }
    pthread_mutex_unlock(&cells.lock);
    return found;
}

void gf_cell_give_back(struct gf_cell *cell)
{
    const int most = 2 * gf_cpu_count();
    struct gf_cell *oldest = NULL;
    if (cell->single) {
        (void)gf_cell_end(cell);
        return;
    }
    pthread_mutex_lock(&cells.lock);
    cell->next = cells.waiting;
    cells.waiting = cell;
    if (++cells.count > most) {
        struct gf_cell **at = &cells.waiting;
        while ((*at)->next)
            at = &(*at)->next;
        oldest = *at;
        *at = NULL;
        cells.count--;
    }
    pthread_mutex_unlock(&cells.lock);
    end_all(oldest);
}

void gf_cells_join(void)
{
    pthread_mutex_lock(&cells.lock);
    forget_parents_cells();
    cells.users++;
    pthread_mutex_unlock(&cells.lock);
}

void gf_cells_leave(void)
{
    struct gf_cell *list = NULL;
    pthread_mutex_lock(&cells.lock);
    if (!--cells.users) {
        list = cells.waiting;
        cells.waiting = NULL;
        cells.count = 0;
    }
    const bool last = !cells.users;
    pthread_mutex_unlock(&cells.lock);
    end_all(list);
    if (last)
        gf_zygotes_leave();
}

/* Notes whether this machine can have cells; failures that may pass say nothing about that. Once a
 * cell has started, a failure becomes GF_ERROR_MEMORY: the picture fails rather than being decoded
 * without a cell. */
static enum gf_status note_start(enum gf_status status, struct gf_error *error)
{
    pthread_mutex_lock(&cells.lock);
    if (!status)
        cells.works = true;
    else if (cells.works)
        status = error->status = GF_ERROR_MEMORY;
    else if (status == GF_ERROR_UNAVAILABLE && !cells.never) {
        cells.never = true;
        cells.why = *error;
    }
    pthread_mutex_unlock(&cells.lock);
    return status;
}

void gf_cells_warn(const struct gf_options *options)
{
    char why[sizeof cells.why.text] = "";
    pthread_mutex_lock(&cells.lock);
    if (cells.never && !cells.warned)
        snprintf(why, sizeof why, "%s", cells.why.text);
    cells.warned |= cells.never;
    pthread_mutex_unlock(&cells.lock);
    if (*why)
        gf_warn(options,
                "there are no cells here, so that pictures are decoded in the program "
                "(options.sandbox=off says so): %s",
                why);
}

static bool is_known_to_fail(struct gf_error *error)
{
    pthread_mutex_lock(&cells.lock);
    const bool never = cells.never;
    if (never)
        *error = cells.why;
    pthread_mutex_unlock(&cells.lock);
    return never;
}

enum gf_status gf_cell_take(const char *format, const char *program, bool single,
                            struct gf_cell **cell, struct gf_error *error)
{
    struct gf_error why = {0};
    struct gf_cell *found;
    if (!program)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "options.sandbox_program names no program");
    if (is_known_to_fail(&why))
        return gf_fail(error, why.status, "%s", why.text);
    while (!single && (found = take_waiting(format, program))) {
        if (is_quiet(found)) {
            *cell = found;
            return GF_OK;
        }
        (void)gf_cell_end(found);
    }
    found = calloc(1, sizeof *found);
    GF_ALLOCATED(found, error);
    found->socket = -1;
    found->owner = getpid();
    found->single = single;
    snprintf(found->format, sizeof found->format, "%s", format);
    snprintf(found->program, sizeof found->program, "%s", program);
    const enum gf_status status = note_start(start(found, &why), &why);
    if (status) {
        (void)gf_cell_end(found);
        return gf_fail(error, status, "%s", why.text);
    }
    *cell = found;
    return GF_OK;
}

/* Sets a soft limit (RLIMIT_*) of a process, at most its hard limit. */
static void set_limit(pid_t process, int kind, uint64_t most)
{
    struct rlimit limit;
    if (prlimit(process, (__rlimit_resource_t)kind, NULL, &limit))
        return;
    limit.rlim_cur = most < limit.rlim_max ? most : limit.rlim_max;
    (void)prlimit(process, (__rlimit_resource_t)kind, &limit, NULL);
}

/* Limits the bytes of memory that the cell may use, and the seconds of processor time from now on,
 * which may be INFINITY. */
static void cell_limit(const struct gf_cell *cell, uint64_t bytes, double seconds)
{
    struct timespec used;
    clockid_t clock;
    uint64_t end_s = RLIM_INFINITY;
    if (!gf_cell_lock_is_real)
        return;
    if (isfinite(seconds) && !clock_getcpuclockid(cell->born.process, &clock) &&
        !clock_gettime(clock, &used))
        end_s = (uint64_t)used.tv_sec + 2 + (uint64_t)fmax(seconds, 0);
    /* Reserved addresses need no memory but page tables of a 512th of their size, so that they are
     * limited, too. */
    set_limit(cell->born.process, RLIMIT_AS, bytes + ((uint64_t)64 << 30));
    set_limit(cell->born.process, RLIMIT_DATA, bytes);
    set_limit(cell->born.process, RLIMIT_CPU, end_s);
}

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

/* Fails as the cell reports. A cell that reports GF_ERROR_MEMORY has reached its limit, since its
 * picture takes more than it should. Such a cell is ended, because its libraries may be in
 * disorder. */
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
    cell_limit(talk->cell, talk->limit, seconds);
}

void gf_cell_say(const struct gf_cell_talk *talk, const union gf_cell_message *message,
                 const int *descriptor)
{
    if (talk->cell)
        (void)gf_socket_send(talk->cell->socket, message, message->head.size, descriptor,
                             descriptor != NULL, 0);
}

/* Looks every LOOK_MS milliseconds whether the cell has more threads than allowed: the system has
 * no such limit for a single process. */
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

/* Waits for a message. Returns NULL if there is one, or the cell has died; otherwise what is
 * wrong. */
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
