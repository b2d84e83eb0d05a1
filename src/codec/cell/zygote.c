#include "codec/cell/process.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/process.h"
#include "codec/cell/cell.h"

/* ---- the program's side of a zygote, the process that forks cells (process.h) ---- */

struct gf_zygote {
    struct gf_zygote *next;
    char format[16], program[200];
    pthread_mutex_t talking; /* held by the thread that talks to the zygote or starts it */
    pid_t process;           /* 0: the zygote is not running */
    int socket;
    int users; /* number of its cells, and of calls that want one; guarded by zygotes.lock */
    bool left; /* the zygote is to end when `users` becomes 0 */
};

static struct {
    pthread_mutex_t lock;
    struct gf_zygote *list;
    pid_t owner; /* the process that has started these zygotes */
} zygotes = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Chooses the variables of the environment that a zygote keeps: those by which libraries are found
 * and configured. Others may hold secrets. */
static void choose_environment(char **chosen, size_t most)
{
    static const char *const kept[] = {"LD_",    "LIBHEIF_", "GLIBC_TUNABLES=", "MALLOC_", "ASAN_",
                                       "UBSAN_", "TSAN_"};
    size_t count = 0;
    for (char **variable = environ; *variable && count + 1 < most; variable++) {
        for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
            if (!strncmp(*variable, kept[i], strlen(kept[i])) && count + 1 < most)
                chosen[count++] = *variable;
        }
    }
    chosen[count] = NULL;
}

static enum gf_status start(struct gf_zygote *zygote, struct gf_error *error)
{
    char *const arguments[] = {"gpufilter", GF_CELL_ARGUMENT, zygote->format, NULL};
    char *variables[32];
    int pair[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
        return gf_cell_fail_errno(errno, zygote->program, error);
    choose_environment(variables, sizeof variables / sizeof *variables);
    const pid_t process = gf_spawn(&(struct gf_spawn){.program = zygote->program,
                                                      .arguments = arguments,
                                                      .environment = variables,
                                                      .handed = {pair[1]},
                                                      .count = 1,
                                                      .apart = POSIX_SPAWN_SETPGROUP});
    const int why = errno;
    close(pair[1]);
    if (process < 0) {
        close(pair[0]);
        return gf_cell_fail_errno(why, zygote->program, error);
    }
    zygote->process = process;
    zygote->socket = pair[0];
    return GF_OK;
}

static void stop(struct gf_zygote *zygote)
{
    if (!zygote->process)
        return;
    kill(zygote->process, SIGKILL);
    while (waitpid(zygote->process, NULL, 0) < 0 && errno == EINTR)
        ;
    close(zygote->socket);
    zygote->process = 0;
}

/* Sends a request to the zygote and replaces *message by the answer. Ends a zygote that does not
 * answer, and returns false. */
static bool talk(struct gf_zygote *zygote, union gf_cell_message *message, const int *descriptor)
{
    int unexpected;
    if (gf_socket_send(zygote->socket, message, message->head.size, descriptor, descriptor ? 2 : 0,
                       0)) {
        struct pollfd ready = {.fd = zygote->socket, .events = POLLIN};
        while (poll(&ready, 1, GF_CELL_START_MS) < 0 && errno == EINTR)
            ;
        const size_t size = gf_socket_receive(zygote->socket, message, sizeof *message, &unexpected,
                                              1, MSG_DONTWAIT);
        gf_close_descriptors(&unexpected, 1);
        if (size && gf_cell_check(message, size) == GF_CELL_CHILD)
            return true;
    }
    stop(zygote);
    return false;
}

/* Empties the list in a process that was forked after its zygotes were started: they belong to its
 * parent. The caller must hold zygotes.lock. */
static void forget_parents_zygotes(void)
{
    if (zygotes.owner == getpid())
        return;
    for (struct gf_zygote *next; zygotes.list; zygotes.list = next) {
        next = zygotes.list->next;
        if (zygotes.list->process)
            close(zygotes.list->socket);
        free(zygotes.list);
    }
    zygotes.owner = getpid();
}

/* Returns the zygote of a format and program, and counts its caller as a user. Adds it to the list,
 * not running yet, if it is missing. */
static struct gf_zygote *use(const char *format, const char *program)
{
    pthread_mutex_lock(&zygotes.lock);
    forget_parents_zygotes();
    struct gf_zygote *found = zygotes.list;
    while (found && (strcmp(found->format, format) != 0 || strcmp(found->program, program) != 0))
        found = found->next;
    if (!found && (found = calloc(1, sizeof *found))) {
        snprintf(found->format, sizeof found->format, "%s", format);
        snprintf(found->program, sizeof found->program, "%s", program);
        pthread_mutex_init(&found->talking, NULL);
        found->next = zygotes.list;
        zygotes.list = found;
    }
    if (found)
        found->users++;
    pthread_mutex_unlock(&zygotes.lock);
    return found;
}

static void end(struct gf_zygote *zygote)
{
    stop(zygote);
    pthread_mutex_destroy(&zygote->talking);
    free(zygote);
}

static void leave(struct gf_zygote *zygote)
{
    pthread_mutex_lock(&zygotes.lock);
    const bool last = !--zygote->users && zygote->left;
    pthread_mutex_unlock(&zygotes.lock);
    if (last)
        end(zygote);
}

void gf_zygotes_leave(void)
{
    struct gf_zygote *unused = NULL;
    pthread_mutex_lock(&zygotes.lock);
    forget_parents_zygotes();
    for (struct gf_zygote *next; zygotes.list; zygotes.list = next) {
        next = zygotes.list->next;
        zygotes.list->left = true;
        zygotes.list->next = zygotes.list->users ? NULL : unused;
        unused = zygotes.list->users ? unused : zygotes.list;
    }
    pthread_mutex_unlock(&zygotes.lock);
    for (struct gf_zygote *next; unused; unused = next) {
        next = unused->next;
        end(unused);
    }
}

/* Lets the zygote fork a cell, and starts the zygote if it does not run. The caller must hold
 * zygote->talking. */
static enum gf_status have_fork(struct gf_zygote *zygote, const int descriptor[2],
                                struct gf_born *born, struct gf_error *error)
{
    union gf_cell_message message;
    if (!zygote->process)
        GF_TRY(start(zygote, error));
    gf_cell_prepare(&message, GF_CELL_FORK);
    message.child.process = getpid();
    if (!talk(zygote, &message, descriptor))
        return gf_fail(error, GF_ERROR_MEMORY, "%s does not become a cell", zygote->program);
    if (message.child.status) {
        stop(zygote); /* a new zygote may succeed */
        return gf_fail(error, (enum gf_status)message.child.status, "%s", message.child.why);
    }
    *born = (struct gf_born){zygote, zygote->process, message.child.process};
    return GF_OK;
}

enum gf_status gf_zygote_fork(const char *format, const char *program, const int descriptor[2],
                              struct gf_born *born, struct gf_error *error)
{
    struct gf_zygote *const zygote = use(format, program);
    GF_ALLOCATED(zygote, error);
    pthread_mutex_lock(&zygote->talking);
    const enum gf_status status = have_fork(zygote, descriptor, born, error);
    pthread_mutex_unlock(&zygote->talking);
    if (status)
        leave(zygote);
    return status;
}

int gf_zygote_end(const struct gf_born *born)
{
    union gf_cell_message message;
    gf_cell_prepare(&message, GF_CELL_END);
    message.child.process = born->process;
    pthread_mutex_lock(&born->zygote->talking);
    const bool answered =
        born->zygote->process == born->parent && talk(born->zygote, &message, NULL);
    pthread_mutex_unlock(&born->zygote->talking);
    leave(born->zygote);
    return answered ? message.child.state : -1;
}

/* ---- the zygote's side ---- */

/* Forks a process that ends when this one ends, and that keeps only the two descriptors. Returns
 * true in the new process. */
static bool give_birth(const int descriptor[2], union gf_cell_message *answer)
{
    const pid_t zygote = getpid(), process = fork();
    struct gf_error error = {0};
    if (process) {
        answer->child.process = process < 0 ? 0 : process;
        if (process < 0)
            answer->child.status = gf_cell_fail_errno(errno, "fork", &error);
        snprintf(answer->child.why, sizeof answer->child.why, "%s", error.text);
        return false;
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) || getppid() != zygote)
        _exit(0);
    if (dup2(descriptor[0], GF_CELL_SOCKET) < 0 || dup2(descriptor[1], GF_CELL_MEMORY) < 0)
        _exit(2);
    (void)syscall(SYS_close_range, GF_CELL_MEMORY + 1, ~0U, 0);
    return true;
}

/* Kills a child unless it has ended, and returns its state as waitpid() gives it. Kills no process
 * that is not a child of this one. */
static int end_child(pid_t process)
{
    int state = -1;
    const pid_t ended = waitpid(process, &state, WNOHANG);
    if (!ended && !kill(process, SIGKILL) && waitpid(process, &state, 0) == process)
        return state;
    return ended == process ? state : -1;
}

/* Waits for a message; returns false if the program has ended. That shows at `program`, a
 * descriptor of its process: other children of the program may keep the socket open. */
static bool wait_for_message(int program)
{
    struct pollfd sides[] = {{.fd = GF_CELL_SOCKET, .events = POLLIN},
                             {.fd = program, .events = POLLIN}};
    while (poll(sides, 2, -1) < 0 && errno == EINTR)
        ;
    return !sides[1].revents;
}

bool gf_zygote_serve(enum gf_status status, const struct gf_error *error)
{
    union gf_cell_message message, answer;
    int descriptor[2];
    const pid_t parent = getppid();
    const int program = (int)syscall(SYS_pidfd_open, parent, 0);
    while (wait_for_message(program)) {
        const size_t size =
            gf_socket_receive(GF_CELL_SOCKET, &message, sizeof message, descriptor, 2, 0);
        const enum gf_cell_type type = size ? gf_cell_check(&message, size) : 0;
        gf_cell_prepare(&answer, GF_CELL_CHILD);
        answer.child.status = status;
        if (status)
            snprintf(answer.child.why, sizeof answer.child.why, "%s", error->text);
        else if (type == GF_CELL_FORK && message.child.process == parent && descriptor[1] >= 0) {
            if (give_birth(descriptor, &answer))
                return true;
        } else if (type == GF_CELL_END)
            answer.child.state = end_child(message.child.process);
        else
            break;
        gf_close_descriptors(descriptor, 2);
        gf_cell_answer(&answer);
    }
    return false;
}
