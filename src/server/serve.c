/* The main thread of a server, its clients and their requests. The thread never waits for a
 * client: it sends what the client's socket accepts, and closes the connection if the socket
 * accepts nothing. */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/process/process.h"
#include "server/serve_state.h"
#include "server/server.h"

/* After descriptors ran out the server accepts no client for breath_s seconds. No beat is sent to a
 * client while more than UNREAD_MOST bytes wait in its socket. */
static const double breath_s = 0.1;
enum { UNREAD_MOST = 64 << 10 };

static void drop_job(struct gf_server *server, struct gf_server_job *job)
{
    struct gf_server_job **at = &server->first;
    job->client = NULL;
    job->progress.cancelled = true;
    while (*at && *at != job)
        at = &(*at)->next;
    if (!*at) /* a worker has taken the job */
        return;
    *at = job->next;
    if (server->last == &job->next)
        server->last = at;
    server->waiting--;
    gf_server_job_free(job);
}

void gf_server_hang_up(struct gf_server *server, struct gf_server_client *client)
{
    if (client->job)
        drop_job(server, client->job);
    close(client->socket);
    *client = (struct gf_server_client){.socket = -1};
    server->clients--;
}

static void send_to_client(struct gf_server *server, struct gf_server_client *client,
                           const union gf_server_message *message)
{
    client->since_s = gf_now();
    if (!gf_server_send(client->socket, message, NULL, 0))
        gf_server_hang_up(server, client);
}

/* Sends a beat, unless too many bytes wait in the socket: even the socket of a stopped client must
 * have room for a result. */
void gf_server_beat(struct gf_server *server, struct gf_server_client *client)
{
    union gf_server_message message;
    int unread = 0;
    if (ioctl(client->socket, SIOCOUTQ, &unread) || unread > UNREAD_MOST)
        return;
    gf_server_prepare(&message, GF_SERVER_BEAT);
    if (client->job) {
        const int done = client->job->progress.done, total = client->job->progress.total;
        message.beat.done = done;
        message.beat.total = total;
    }
    send_to_client(server, client, &message);
}

static uint64_t host_bytes(void)
{
    unsigned long long pages = 0;
    FILE *const file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%*u %llu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static enum gf_server_verdict verdict_on(const struct gf_server *server,
                                         const struct gf_server_hello *hello)
{
    if (hello->wish != GF_SERVER_WORK)
        return GF_SERVER_READY;
    if (memcmp(&hello->identity, &server->identity, sizeof hello->identity) != 0 ||
        hello->device != server->settings->device)
        return GF_SERVER_DIFFERENT;
    return server->ending ? GF_SERVER_FULL : GF_SERVER_READY;
}

static void welcome(struct gf_server *server, struct gf_server_client *client,
                    enum gf_server_verdict verdict)
{
    union gf_server_message message;
    gf_server_prepare(&message, GF_SERVER_WELCOME);
    message.welcome.verdict = verdict;
    message.welcome.process = getpid();
    message.welcome.device = server->settings->device;
    message.welcome.clients = (uint32_t)server->clients;
    message.welcome.running = (uint32_t)server->running;
    message.welcome.waiting = (uint32_t)server->waiting;
    message.welcome.done = server->done;
    message.welcome.host_bytes = host_bytes();
    message.welcome.device_bytes = gf_server_held_bytes(server);
    send_to_client(server, client, &message);
}

static void greet(struct gf_server *server, struct gf_server_client *client,
                  const struct gf_server_hello *hello)
{
    const enum gf_server_verdict verdict = verdict_on(server, hello);
    const bool works = hello->wish == GF_SERVER_WORK && verdict == GF_SERVER_READY;
    client->greeted = true;
    client->stops = hello->wish == GF_SERVER_STOP;
    server->ending |= client->stops;
    welcome(server, client, verdict);
    if (client->socket >= 0 && !works && !client->stops)
        gf_server_hang_up(server, client);
}

/* Whether the descriptor is a seekable file, because reading such a file never waits for another
 * process. */
static bool is_file(int descriptor, bool written)
{
    struct stat file;
    const int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fstat(descriptor, &file) || !S_ISREG(file.st_mode))
        return false;
    const int access = flags & O_ACCMODE;
    return written ? access != O_RDONLY && !(flags & O_APPEND) : access != O_WRONLY;
}

/* Whether a request came with the descriptors of exactly the files that it names. */
static bool files_are_good(const struct gf_server_request *request, const int *descriptor)
{
    bool good = is_file(descriptor[0], false) && is_file(descriptor[1], !request->compares);
    for (int i = 0; i < GF_REMOTE_FILES; i++) {
        const int file = descriptor[GF_SERVER_OWN_FILES + i];
        good &= i < request->files ? is_file(file, false) : file < 0;
    }
    return good;
}

static void accept_job(struct gf_server *server, struct gf_server_client *client,
                       const struct gf_server_request *request, int *descriptor)
{
    struct gf_server_job *const job =
        files_are_good(request, descriptor) ? calloc(1, sizeof *job) : NULL;
    if (!job) {
        gf_close_descriptors(descriptor, GF_SERVER_DESCRIPTORS);
        gf_server_hang_up(server, client);
        return;
    }
    job->request = *request;
    job->in = descriptor[0];
    job->out = descriptor[1];
    memcpy(job->file, &descriptor[GF_SERVER_OWN_FILES], sizeof job->file);
    job->client = client;
    pthread_mutex_init(&job->lock, NULL);
    client->job = job;
    *server->last = job;
    server->last = &job->next;
    server->waiting++;
    if (!server->helps) /* the parent of a helper needs no beat at once */
        gf_server_beat(server, client);
}

void gf_server_read_message(struct gf_server *server, struct gf_server_client *client)
{
    union gf_server_message message;
    int descriptor[GF_SERVER_DESCRIPTORS];
    const enum gf_server_type type = gf_server_receive(client->socket, &message, descriptor);
    if (!type && errno == EAGAIN)
        return;
    client->since_s = gf_now();
    if (type == GF_SERVER_REQUEST && client->greeted && !client->stops && !client->job &&
        !server->ending) {
        accept_job(server, client, &message.request, descriptor);
        return;
    }
    gf_close_descriptors(descriptor, GF_SERVER_DESCRIPTORS);
    if (type == GF_SERVER_HELLO && !client->greeted)
        greet(server, client, &message.hello);
    else
        gf_server_hang_up(server, client);
}

static struct gf_server_client *free_client(struct gf_server *server)
{
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++) {
        if (server->client[i].socket < 0)
            return &server->client[i];
    }
    return NULL;
}

/* Accepts all clients that want to connect. */
static void server_accept(struct gf_server *server)
{
    for (;;) {
        struct gf_server_client *const client = free_client(server);
        const int socket =
            client ? accept4(server->place.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK) : -1;
        if (socket < 0) {
            if (!client || (errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR &&
                            errno != ECONNABORTED))
                server->full_s = gf_now() + breath_s;
            return;
        }
        if (!gf_server_is_own(socket)) {
            close(socket);
            continue;
        }
        *client = (struct gf_server_client){.socket = socket, .since_s = gf_now()};
        server->clients++;
    }
}

static void send_result(struct gf_server *server, struct gf_server_job *job)
{
    union gf_server_message message;
    for (int i = 0; job->client && i < job->warnings; i++) {
        gf_server_prepare(&message, GF_SERVER_WARNING);
        memcpy(message.warning.text, job->warning[i], sizeof message.warning.text);
        send_to_client(server, job->client, &message);
    }
    if (!job->client)
        return;
    gf_server_write_result(job->status, &job->error, &job->result, &message);
    job->client->job = NULL;
    send_to_client(server, job->client, &message);
}

/* Sends the results of finished jobs. If the device has failed, the server ends, because a process
 * cannot use a failed device again. */
void gf_server_finish_jobs(struct gf_server *server)
{
    struct gf_server_job *next;
    for (struct gf_server_job *job = gf_server_take_finished(server); job; job = next) {
        next = job->next;
        server->running--;
        server->done += !job->status;
        server->work_s = gf_now();
        if (job->status == GF_ERROR_DEVICE && !server->failure.status) {
            server->failure = job->error;
            server->ending = true;
        }
        send_result(server, job);
        gf_server_job_free(job);
    }
}

void gf_server_begin_jobs(struct gf_server *server)
{
    while (server->first) {
        struct gf_server_job *const job = server->first, *const next = job->next;
        job->alone = !next && !server->running;
        if (!gf_server_give_job(server, job))
            return;
        server->first = next;
        if (!next)
            server->last = &server->first;
        server->waiting--;
        server->running++;
    }
}

/* ---- the loop of the main thread ---- */

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

/* Whether the server continues. *next_s becomes the time of gf_now() until which it may sleep. */
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
    /* gf_server_finish_jobs() may have closed this client's connection; its element is then unused,
     * since clients are accepted later. */
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++) {
        if (ready[2 + i].revents && server->client[i].socket == ready[2 + i].fd)
            gf_server_read_message(server, &server->client[i]);
    }
    if (ready[1].revents)
        server_accept(server);
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

/* Raises the limit of open files as far as allowed, since each client may need three. */
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
    GF_THEN(status, gf_server_workers_open(server, error));
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
    enum { SHARES = 96 }; /* of host memory, unless there are more workers */
    GF_NEW(struct gf_server, server, error);
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
                          settings->workers > SHARES ? settings->workers : SHARES);
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
