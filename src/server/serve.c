/* The main thread of a server: clients connect, send work, and get results. The thread never waits
 * for a client: it sends what the client's socket accepts, and closes the connection if the socket
 * accepts nothing. */
#include "server/serve.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/fail.h"
#include "server/serve_state.h"
#include "server/visible.h"

/* The longest time, in seconds, that a client may stay connected before its first message, and
 * between two pictures. */
static const double greeting_s = 10, pause_s = 30;

static atomic_int signal_events = -1; /* the eventfd that a signal writes to */
static atomic_bool signalled;

static void on_signal(int number)
{
    const int before = errno;
    const uint64_t one = 1;
    (void)number;
    signalled = true;
    const ssize_t written = write(signal_events, &one, sizeof one);
    (void)written;
    errno = before;
}

/* Catches signals, which end the server after its work. A second signal ends the process at
 * once. */
static void catch_signals(int events, struct sigaction *before, bool restore)
{
    static const int numbers[] = {SIGTERM, SIGINT, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = (int)SA_RESETHAND};
    signal_events = events;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        sigaction(numbers[i], restore ? &before[i] : &action, restore ? NULL : &before[i]);
}

/* Sends beats, and closes the connections of clients that have been silent for too long. Returns
 * when it must be called again. */
static double look_at_clients(struct gf_server *server)
{
    const double now_s = gf_now();
    double next_s = now_s + 3600;
    const bool beats = now_s >= server->beat_s;
    if (beats)
        server->beat_s = now_s + 1e-3 * GF_SERVER_BEAT_MS;
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++) {
        struct gf_server_client *const client = &server->client[i];
        if (client->socket >= 0 && (client->job || client->stops)) {
            if (beats)
                gf_server_beat(server, client);
            next_s = server->beat_s < next_s ? server->beat_s : next_s;
        } else if (client->socket >= 0) {
            const double end_s = client->since_s + (client->greeted ? pause_s : greeting_s);
            if ((now_s >= end_s && !server->helps) || (server->ending && client->greeted))
                gf_server_hang_up(server, client);
            else if (!server->helps)
                next_s = end_s < next_s ? end_s : next_s;
        }
    }
    return next_s;
}

/* Whether the server continues. *next_s becomes the time until which it may sleep. */
static bool goes_on(struct gf_server *server, double *next_s)
{
    const int idle_s = server->settings->idle_s;
    const bool busy = server->running || server->waiting;
    const double end_s = server->work_s + idle_s;
    server->ending |= signalled;
    if (!busy && idle_s && !server->clients && gf_now() >= end_s)
        server->ending = true;
    if (server->ending)
        gf_server_place_close_listener(&server->place);
    *next_s = look_at_clients(server);
    if (!busy && idle_s && !server->clients && end_s < *next_s)
        *next_s = end_s;
    if (server->full_s > gf_now() && server->full_s < *next_s)
        *next_s = server->full_s;
    return busy || !server->ending;
}

static void wait_and_act(struct gf_server *server, double next_s)
{
    struct pollfd ready[2 + GF_SERVER_CLIENTS_MAX];
    const double now_s = gf_now();
    const bool accepts = server->place.listener >= 0 && now_s >= server->full_s;
    ready[0] = (struct pollfd){.fd = server->events, .events = POLLIN};
    ready[1] = (struct pollfd){.fd = accepts ? server->place.listener : -1, .events = POLLIN};
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++)
        ready[2 + i] = (struct pollfd){.fd = server->client[i].socket, .events = POLLIN};
    const int wait_ms = next_s > now_s ? (int)(1e3 * (next_s - now_s)) + 1 : 0;
    if (poll(ready, sizeof ready / sizeof *ready, wait_ms) <= 0)
        return;
    if (ready[0].revents) {
        uint64_t count;
        const ssize_t got = read(server->events, &count, sizeof count);
        (void)got;
        gf_server_finish_jobs(server);
    }
    /* gf_server_finish_jobs() may have closed this client's connection; its place is still
     * empty. */
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++) {
        if (ready[2 + i].revents && server->client[i].socket == ready[2 + i].fd)
            gf_server_read_message(server, &server->client[i]);
    }
    if (ready[1].revents)
        gf_server_accept(server);
    gf_server_begin_jobs(server);
}

static void serve_clients(struct gf_server *server)
{
    double next_s;
    server->work_s = gf_now();
    while (goes_on(server, &next_s))
        wait_and_act(server, next_s);
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++) {
        if (server->client[i].socket >= 0)
            gf_server_hang_up(server, &server->client[i]);
    }
}

/* Raises the limit of open files to three for each client. */
static void raise_limit_of_files(void)
{
    struct rlimit files;
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &files);
    }
}

static void tell_ready(const struct gf_server *server)
{
    char path[200], text[300];
    gf_server_folder_path(path, sizeof path);
    snprintf(text, sizeof text, "serving with cuda:%d in %s; gpufilter --serve=stop ends it",
             server->settings->device, path);
    if (server->settings->ready)
        server->settings->ready(server->settings->context, text);
}

static enum gf_status serve_until_end(struct gf_server *server, struct gf_error *error)
{
    struct sigaction before[3];
    enum gf_status status = gf_server_place_take(server->identity.build, &server->place, error);
    (void)gf_visible_hide_others(server->settings->device);
    if (!status)
        status = gf_server_workers_open(server, error);
    if (status)
        return status;
    catch_signals(server->events, before, false);
    status = gf_server_place_listen(&server->place, error);
    if (!status) {
        tell_ready(server);
        serve_clients(server);
    }
    gf_server_workers_close(server);
    catch_signals(-1, before, true);
    if (!status && server->failure.status)
        return gf_fail(error, server->failure.status, "%s", server->failure.text);
    return status;
}

enum gf_status gf_serve(const struct gf_server_settings *settings, struct gf_error *error)
{
    struct gf_server *const server = calloc(1, sizeof *server);
    if (!server)
        return gf_fail_memory(error);
    server->settings = settings;
    server->helps = gf_server_is_helper();
    server->place = (struct gf_server_place){.folder = -1, .lock = -1, .listener = -1};
    server->last = &server->first;
    server->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++)
        server->client[i].socket = -1;
    gf_server_identify(&server->identity);
    raise_limit_of_files();
    pthread_mutex_init(&server->lock, NULL);
    gf_memory_budget_open(&server->budget,
                          settings->memory_bytes ? settings->memory_bytes
                                                 : gf_memory_pictures_bytes(),
                          GF_SERVER_WORKERS_MAX);
    const enum gf_status status =
        server->events >= 0 ? serve_until_end(server, error) : gf_fail_memory(error);
    gf_server_place_leave(&server->place);
    gf_memory_budget_close(&server->budget);
    pthread_mutex_destroy(&server->lock);
    if (server->events >= 0)
        close(server->events);
    free(server);
    return status;
}
