/* A server's clients and their requests. The main thread does all of this, and never waits for a
 * client: it sends what the client's socket accepts, and closes the connection if the socket
 * accepts nothing. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <linux/sockios.h>
#include <unistd.h>

#include "base/socket.h"
#include "server/serve_state.h"

/* After descriptors ran out the server accepts no client for breath_s seconds. If more than
 * UNREAD_MOST bytes wait in a socket, beats are left out. */
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

/* Whether exactly the files arrived that the request names. */
static bool files_are_good(const struct gf_server_request *request, const int *descriptor)
{
    bool good = is_file(descriptor[0], false) && is_file(descriptor[1], true);
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
    if (!server->helps) /* a parent need not know whether its helper has begun */
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

void gf_server_accept(struct gf_server *server)
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

/* Sends results. After a failure of the device the server ends, because the device stays failed in
 * this process. */
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
