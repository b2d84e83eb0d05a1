#include "server/helper.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/socket.h"
#include "base/spawn.h"
#include "server/place.h"
#include "server/visible.h"

extern char **environ;

struct gf_helper {
    pid_t process;
    int device;
    struct sockaddr_un address;
    socklen_t address_size;
    int talk; /* a connection that receives a greeting when the helper has started */
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
    char parent[60], *visible; /* the entries that differ from this process's environment */
};

static void environment_free(struct environment *environment)
{
    free(environment->entry);
    free(environment->visible);
}

/* Copies this process's environment, with the user's list of GPUs. Returns false when out of
 * memory. */
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
        gf_server_say_hello(fd, GF_SERVER_WORK, helper->device, &helper->identity))
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
    return socket < 0 ? NULL : gf_server_link(socket, &helper->peer);
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
