/* Functions by which a process uses a server of pictures: connecting, handing pictures over, asking
 * for its state, starting and stopping it; and helpers, which are servers for one run alone. */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/process/process.h"
#include "base/threads/times.h"
#include "chain/chain.h"
#include "server/protocol.h"
#include "server/server.h"

int gf_server_patience_ms = GF_SERVER_PATIENCE_MS;

extern char **environ;

/* Waits for a message as long as the server may be silent. A process that was stopped in the
 * meantime still reads the messages that have arrived. Returns 0 if the server has closed the
 * connection (errno 0) or was silent (EAGAIN). */
static enum gf_server_type wait_for(int socket, union gf_server_message *message)
{
    const double end_s = gf_now() + 1e-3 * gf_server_patience_ms;
    int descriptor[GF_SERVER_DESCRIPTORS];
    for (;;) {
        const double left_ms = 1e3 * (end_s - gf_now());
        struct pollfd ready = {.fd = socket, .events = POLLIN};
        if (left_ms > 0)
            (void)poll(&ready, 1, (int)left_ms + 1);
        const enum gf_server_type type = gf_server_receive(socket, message, descriptor);
        const int why = errno; /* close() may change errno */
        gf_close_descriptors(descriptor, GF_SERVER_DESCRIPTORS);
        errno = why;
        if (type || errno != EAGAIN || left_ms <= 0)
            return type;
    }
}

/* Sends the first message of a connection. Returns false with errno after a failure. */
static bool server_say_hello(int socket, enum gf_server_wish wish, int device,
                             const struct gf_server_identity *identity)
{
    union gf_server_message message;
    gf_server_prepare(&message, GF_SERVER_HELLO);
    message.hello.wish = wish;
    message.hello.device = device;
    message.hello.identity = *identity;
    return gf_server_send(socket, &message, NULL, 0);
}

/* Connects and exchanges the first messages. Returns the socket, or -1. *silent becomes true if
 * there is a server that has not answered. */
static int greet(enum gf_server_wish wish, int device, union gf_server_message *message,
                 bool *silent)
{
    struct gf_server_identity identity;
    const int socket = gf_server_place_connect();
    *silent = false;
    if (socket < 0)
        return -1;
    gf_server_identify(&identity);
    if (server_say_hello(socket, wish, device, &identity) &&
        wait_for(socket, message) == GF_SERVER_WELCOME)
        return socket;
    *silent = errno == EAGAIN;
    close(socket);
    return -1;
}

struct link {
    struct gf_remote base;
    struct gf_server_peer *peer;
    int socket;
};

static struct gf_server_peer any_server = {.name = "the server"};

static struct link *link_of(struct gf_remote *remote)
{
    return (struct link *)remote;
}

static void link_close(struct gf_remote *remote)
{
    close(link_of(remote)->socket);
    free(remote);
}

/* Whether the failure may concern only the server, so that this process tries the picture itself:
 * it may have another device, other memory, or a library that the server did not find when it
 * searched. */
static bool is_servers_own(enum gf_status status)
{
    return status == GF_ERROR_MEMORY || status == GF_ERROR_DEVICE_MEMORY ||
           status == GF_ERROR_DEVICE || status == GF_ERROR_UNAVAILABLE ||
           status == GF_ERROR_LIBRARY;
}

/* Returns GF_REMOTE_FAILED. If the server is a helper of this run, notes that it gets no more
 * connections. */
static enum gf_remote_outcome fail_peer(const struct link *link)
{
    if (link->base.own)
        link->peer->failed = true;
    return GF_REMOTE_FAILED;
}

static enum gf_remote_outcome fail_silent(const struct link *link, bool hung_up,
                                          enum gf_status *status, struct gf_error *error)
{
    if (hung_up)
        *status = gf_fail(error, GF_ERROR_DEVICE, "%s ended in the middle of a picture",
                          link->peer->name);
    else
        *status = gf_fail(error, GF_ERROR_DEVICE, "%s has not answered for %.1f s",
                          link->peer->name, 1e-3 * gf_server_patience_ms);
    return fail_peer(link);
}

/* Warnings from the server, kept until its result arrives: they are dropped if this process must do
 * the picture again, since that gives its own warnings. Warnings beyond this size are left out. */
struct warnings {
    char text[8 * sizeof((struct gf_error *)0)->text];
    size_t size; /* the bytes of all lines, each with its terminating zero */
};

static void keep_warning(struct warnings *warnings, const char *text)
{
    const size_t size = strlen(text) + 1;
    if (size > sizeof warnings->text - warnings->size)
        return;
    memcpy(warnings->text + warnings->size, text, size);
    warnings->size += size;
}

static void tell_warnings(const struct warnings *warnings, const struct gf_options *options)
{
    for (size_t at = 0; options->warn && at < warnings->size; at += strlen(warnings->text + at) + 1)
        options->warn(options->warn_context, warnings->text + at);
}

static enum gf_remote_outcome link_filter(struct gf_remote *remote,
                                          const struct gf_remote_work *work,
                                          struct gf_remote_result *result, enum gf_status *status,
                                          struct gf_error *error)
{
    const struct link *const link = link_of(remote);
    const int socket = link->socket;
    int descriptor[GF_SERVER_DESCRIPTORS] = {work->in, work->out};
    union gf_server_message message;
    struct warnings warnings = {.size = 0};
    bool begun = false, silent;
    memcpy(&descriptor[GF_SERVER_OWN_FILES], work->file, sizeof work->file);
    if (!gf_server_write_work(work, &message))
        return GF_REMOTE_ABSENT;
    if (!gf_server_send(socket, &message, descriptor, GF_SERVER_OWN_FILES + work->files))
        return remote->own ? fail_silent(link, true, status, error) : GF_REMOTE_ABSENT;
    for (;;) {
        const enum gf_server_type type = wait_for(socket, &message);
        switch (type) {
        case GF_SERVER_BEAT:
            begun = true;
            if (work->progress) {
                work->progress->done = message.beat.done;
                work->progress->total = message.beat.total;
            }
            if (work->compares && gf_time_is_up()) /* the caller says so, and hangs up */
                return GF_REMOTE_ABSENT;
            break;
        case GF_SERVER_WARNING:
            keep_warning(&warnings, message.warning.text);
            break;
        case GF_SERVER_RESULT:
            *status = gf_server_read_result(&message.result, result, error);
            if (is_servers_own(*status))
                return *status == GF_ERROR_DEVICE ? fail_peer(link) : GF_REMOTE_FAILED;
            tell_warnings(&warnings, &work->options);
            return GF_REMOTE_DONE;
        case GF_SERVER_HELLO:
        case GF_SERVER_WELCOME:
        case GF_SERVER_REQUEST:
        default: /* no valid message arrived */
            silent = !type && errno == EAGAIN;
            return begun || silent || remote->own ? fail_silent(link, !silent, status, error)
                                                  : GF_REMOTE_ABSENT;
        }
    }
}

static struct gf_remote *link_to(int socket, struct gf_server_peer *peer)
{
    struct link *const link = malloc(sizeof *link);
    if (!link) {
        close(socket);
        return NULL;
    }
    *link = (struct link){
        .base = {.filter = link_filter, .close = link_close, .own = peer != &any_server},
        .peer = peer,
        .socket = socket};
    return &link->base;
}

/* Waits for the answer to the greeting, and returns a connection to a helper of this run, which
 * owns the socket. Returns NULL and closes the socket if the process does not accept work. */
static struct gf_remote *server_link(int socket, struct gf_server_peer *peer)
{
    union gf_server_message message;
    if (wait_for(socket, &message) == GF_SERVER_WELCOME &&
        message.welcome.verdict == GF_SERVER_READY)
        return link_to(socket, peer);
    close(socket);
    return NULL;
}

struct gf_remote *gf_server_connect(int device, bool *silent)
{
    union gf_server_message message;
    bool unanswered;
    const int socket = greet(GF_SERVER_WORK, device, &message, &unanswered);
    if (silent)
        *silent = unanswered;
    if (socket >= 0 && message.welcome.verdict == GF_SERVER_READY)
        return link_to(socket, &any_server);
    if (socket >= 0)
        close(socket);
    return NULL;
}

bool gf_server_present(int device)
{
    struct gf_remote *const remote = gf_server_connect(device, NULL);
    if (remote)
        remote->close(remote);
    return remote != NULL;
}

/* Whether only this process can run the chain: it names more than `files` files, or has a result
 * whose size depends on the pixels, or a filter that counts several frames, or one without a CUDA
 * kernel. */
static bool keeps_chain_here(const char *text, int files)
{
    struct gf_chain chain = {0};
    const bool keeps = gf_chain_parse(text, &chain, NULL) != GF_OK ||
                       gf_chain_next_box(&chain, 0) < chain.count || gf_chain_smooths(&chain) ||
                       gf_chain_check_kernels(&chain, NULL) != GF_OK ||
                       gf_chain_files(&chain, NULL, 0) > files;
    gf_chain_free(&chain);
    return keeps;
}

static bool options_go(const struct gf_options *options)
{
    const struct gf_options usual = gf_options_default();
    const struct gf_option_member *member;
    bool go = true;
    for (int i = 0; (member = gf_option_member_at(i)); i++)
        go &= member->word != GF_OPTION_STAYS ||
              !memcmp((const char *)options + member->offset, (const char *)&usual + member->offset,
                      member->size);
    return go;
}

bool gf_server_may_run(const char *chain, const struct gf_options *options)
{
    return options_go(options) && !keeps_chain_here(chain, GF_REMOTE_FILES);
}

bool gf_server_may_run_all(const char *chain, const struct gf_options *options)
{
    return options_go(options) && !options->memory_bytes && !keeps_chain_here(chain, 0);
}

bool gf_server_look(struct gf_server_welcome *state)
{
    union gf_server_message message;
    bool silent;
    const int socket = greet(GF_SERVER_LOOK, 0, &message, &silent);
    if (socket < 0)
        return false;
    close(socket);
    *state = message.welcome;
    return true;
}

enum gf_status gf_server_stop(bool *was_there, struct gf_error *error)
{
    union gf_server_message message;
    bool silent;
    const int socket = greet(GF_SERVER_STOP, 0, &message, &silent);
    *was_there = socket >= 0 || silent;
    if (socket >= 0) {
        while (wait_for(socket, &message))
            ; /* waits until the server closes the connection; beats show that it still works */
        silent = errno == EAGAIN;
        close(socket);
    }
    return silent ? gf_fail(error, GF_ERROR_UNAVAILABLE, "the server does not answer") : GF_OK;
}

void gf_server_start(int device, int idle_s)
{
    const char *why_not;
    char device_text[32], idle_text[32];
    char *const arguments[] = {"gpufilter", "--serve", "--quiet", device_text, idle_text, NULL};
    snprintf(device_text, sizeof device_text, "--device=cuda:%d", device);
    snprintf(idle_text, sizeof idle_text, "--idle=%d", idle_s);
    if (gf_backend_cuda_likely(&why_not))
        (void)gf_spawn(&(struct gf_spawn){
            .arguments = arguments, .environment = environ, .apart = POSIX_SPAWN_SETSID});
}

struct gf_helper {
    pid_t process;
    int device;
    struct sockaddr_un address;
    socklen_t address_size;
    int talk; /* socket that receives WELCOME when the helper has started */
    enum gf_helper_state state;
    struct gf_server_peer peer;
    struct gf_server_identity identity;
};

static bool names(const char *entry, const char *variable)
{
    const size_t length = strlen(variable);
    return !strncmp(entry, variable, length) && entry[length] == '=';
}

struct environment {
    char **entry;
    char parent[60], *visible; /* from malloc(): the entries that are added or changed */
};

static void environment_free(struct environment *environment)
{
    free(environment->entry);
    free(environment->visible);
}

/* Copies this process's environment, and restores the user's list of GPUs in it. Returns false when
 * out of memory. */
static bool environment_make(struct environment *environment)
{
    const char *const visible = gf_visible_variable();
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    *environment = (struct environment){.entry = calloc(count + 3, sizeof *environment->entry)};
    if (!environment->entry ||
        (visible && asprintf(&environment->visible, GF_VISIBLE_VARIABLE "=%s", visible) < 0)) {
        environment->visible = NULL;
        environment_free(environment);
        return false;
    }
    snprintf(environment->parent, sizeof environment->parent, GF_HELPER_VARIABLE "=%d",
             (int)getpid());
    for (size_t i = 0; i < count; i++) {
        if (!names(environ[i], GF_VISIBLE_VARIABLE) && !names(environ[i], GF_HELPER_VARIABLE))
            environment->entry[kept++] = environ[i];
    }
    environment->entry[kept++] = environment->parent;
    environment->entry[kept] = environment->visible;
    return true;
}

/* Opens a socket that listens at a name that the kernel chooses. Returns -1 after a failure. */
static int open_listener(struct gf_helper *helper)
{
    enum { BACKLOG = 300 };
    helper->address = (struct sockaddr_un){.sun_family = AF_UNIX};
    helper->address_size = sizeof helper->address;
    const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (listener < 0)
        return -1;
    struct sockaddr *const address = (struct sockaddr *)&helper->address;
    if (!bind(listener, address, sizeof helper->address.sun_family) && !listen(listener, BACKLOG) &&
        !getsockname(listener, address, &helper->address_size))
        return listener;
    close(listener);
    return -1;
}

static int connect_to(const struct gf_helper *helper)
{
    const int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return -1;
    if (!connect(fd, (const struct sockaddr *)&helper->address, helper->address_size) &&
        server_say_hello(fd, GF_SERVER_WORK, helper->device, &helper->identity))
        return fd;
    close(fd);
    return -1;
}

static pid_t spawn(const struct gf_helper_settings *settings, int listener)
{
    struct environment environment;
    char device[40], threads[40], memory[60];
    char *const arguments[] = {"gpufilter", "--serve", "--quiet", device, threads, memory, NULL};
    snprintf(device, sizeof device, "--device=cuda:%d", settings->device);
    snprintf(threads, sizeof threads, "--threads=%d", settings->workers);
    snprintf(memory, sizeof memory, "--memory=%llu", (unsigned long long)settings->memory_bytes);
    if (!environment_make(&environment))
        return -1;
    const pid_t process = gf_spawn(&(struct gf_spawn){.arguments = arguments,
                                                      .environment = environment.entry,
                                                      .handed = {listener},
                                                      .count = 1,
                                                      .apart = POSIX_SPAWN_SETSID});
    environment_free(&environment);
    return process;
}

struct gf_helper *gf_helper_start(const struct gf_helper_settings *settings)
{
    struct gf_helper *const helper = calloc(1, sizeof *helper);
    if (!helper)
        return NULL;
    helper->device = settings->device;
    snprintf(helper->peer.name, sizeof helper->peer.name, "the process of cuda:%d",
             settings->device);
    gf_server_identify(&helper->identity);
    const int listener = open_listener(helper);
    helper->talk = listener < 0 ? -1 : connect_to(helper);
    helper->process = helper->talk < 0 ? -1 : spawn(settings, listener);
    if (listener >= 0)
        close(listener); /* the helper alone has the listener, so that connections end when the
                          * helper does */
    if (helper->process > 0)
        return helper;
    if (helper->talk >= 0)
        close(helper->talk);
    free(helper);
    return NULL;
}

void gf_helper_end(struct gf_helper *helper, bool wait)
{
    kill(helper->process, SIGKILL);
    close(helper->talk);
    while (wait && waitpid(helper->process, NULL, 0) < 0 && errno == EINTR)
        ;
    free(helper);
}

enum gf_helper_state gf_helper_look(struct gf_helper *helper)
{
    int descriptor[GF_SERVER_DESCRIPTORS];
    union gf_server_message message;
    if (helper->state != GF_HELPER_STARTING)
        return helper->state;
    const enum gf_server_type type = gf_server_receive(helper->talk, &message, descriptor);
    const int why = errno;
    gf_close_descriptors(descriptor, GF_SERVER_DESCRIPTORS);
    if (type == GF_SERVER_WELCOME && message.welcome.verdict == GF_SERVER_READY)
        helper->state = GF_HELPER_AWAKE;
    else if (type || why != EAGAIN)
        helper->state = GF_HELPER_FAILED;
    return helper->state;
}

struct gf_remote *gf_helper_connect(struct gf_helper *helper)
{
    const int socket = helper->peer.failed ? -1 : connect_to(helper);
    return socket < 0 ? NULL : server_link(socket, &helper->peer);
}

pid_t gf_helper_process(const struct gf_helper *helper)
{
    return helper->process;
}

double gf_helper_processor_s(const struct gf_helper *helper)
{
    clockid_t clock;
    struct timespec time;
    if (clock_getcpuclockid(helper->process, &clock) || clock_gettime(clock, &time))
        return 0;
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}
