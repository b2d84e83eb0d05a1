/* A server of pictures and what its clients say, one after the other, with descriptors of all
 * kinds: each step is a byte that says who does what. Whatever comes, the server's answers keep to
 * the protocol, no job and no descriptor is left over, and a picture is filtered or fails by name.
 */
#include "fuzz.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/process/process.h"
#include "server/serve_state.h"

enum { CLIENTS = 3, DESCRIPTORS_MAX = GF_SERVER_DESCRIPTORS + 1 };

/* The client's side. */
struct talker {
    int socket; /* -1: not connected */
    bool welcomed;
    int requests, results;
};

struct talk {
    struct fuzz_bytes bytes;
    struct gf_server *server;
    struct talker talker[CLIENTS];
};

static const char picture[] = "P5 4 3 255\nabcdefghijkl";
static struct gf_pipeline *pipeline; /* the worker's */

/* Opens the pipeline and what the first picture opens for the whole process. */
static void prepare_pipeline(void)
{
    const struct gf_options options = fuzz_options();
    struct gf_error error = {0};
    void *result;
    size_t size;
    if (pipeline)
        return;
    FUZZ_CHECK(!gf_pipeline_open("invert", &options, &pipeline, &error) &&
                   !gf_pipeline_run_bytes(pipeline, picture, sizeof picture - 1, GF_FILE_PAM,
                                          &result, &size, &error),
               "%s", error.text);
    gf_free(result);
}

/* A descriptor of a small picture, of something else, or of a picture that was opened in some way.
 */
static int open_descriptor(unsigned kind)
{
    static const int flags[] = {O_RDWR, O_RDWR, O_RDONLY, O_WRONLY, O_RDWR | O_APPEND, O_PATH};
    char path[40];
    if (kind % 8 == 6)
        return open("/", O_RDONLY | O_DIRECTORY);
    if (kind % 8 == 7)
        return open("/dev/null", O_RDWR);
    const int memory = memfd_create("fuzz", 0);
    FUZZ_CHECK(write(memory, picture, sizeof picture - 1) > 0, "a file in memory");
    snprintf(path, sizeof path, "/proc/self/fd/%d", memory);
    const int opened = open(path, flags[kind % 8]);
    close(memory);
    return opened;
}

static void connect_client(struct talk *talk, int number)
{
    int pair[2];
    FUZZ_CHECK(!socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_NONBLOCK, 0, pair), "a socket");
    talk->talker[number] = (struct talker){.socket = pair[0]};
    talk->server->client[number] = (struct gf_server_client){.socket = pair[1]};
    talk->server->clients++;
}

static void disconnect(struct talker *talker)
{
    if (talker->socket >= 0)
        close(talker->socket);
    talker->socket = -1;
}

/* A message that is right, apart from the bytes that the input changes. Returns its size. */
static size_t make_message(struct talk *talk, union gf_server_message *message)
{
    const enum gf_server_type type = (enum gf_server_type)(fuzz_byte(&talk->bytes) % 8);
    memset(message, 0, sizeof *message);
    if (type == GF_SERVER_REQUEST) {
        char *const chain = fuzz_string(&talk->bytes);
        struct gf_remote_work work = {.chain = chain,
                                      .options = fuzz_options(),
                                      .in_pages = {-1, -1},
                                      .in_name = "in",
                                      .out_name = "out",
                                      .files = (int)(fuzz_byte(&talk->bytes) % 3),
                                      .file_name = {"a", "b"}};
        work.options.format = GF_FILE_PAM;
        if (!gf_server_write_work(&work, message))
            memset(message, 0, sizeof *message);
        free(chain);
    } else if (type >= GF_SERVER_HELLO && type <= GF_SERVER_RESULT) {
        gf_server_prepare(message, type);
    }
    if (type == GF_SERVER_HELLO)
        message->hello.identity = talk->server->identity;
    const size_t size = message->head.size;
    for (unsigned changes = fuzz_byte(&talk->bytes) % 4; changes--;) {
        const unsigned high = fuzz_byte(&talk->bytes), at = high << 8 | fuzz_byte(&talk->bytes);
        ((unsigned char *)message)[at % sizeof *message] ^= (unsigned char)fuzz_byte(&talk->bytes);
    }
    return size;
}

static void say(struct talk *talk, struct talker *talker)
{
    union gf_server_message message;
    int descriptor[DESCRIPTORS_MAX];
    const size_t size = make_message(talk, &message);
    const int count = (int)(fuzz_byte(&talk->bytes) % (DESCRIPTORS_MAX + 1));
    for (int i = 0; i < count; i++)
        descriptor[i] = open_descriptor(fuzz_byte(&talk->bytes));
    if (gf_socket_send(talker->socket, &message, size, descriptor, count, MSG_DONTWAIT))
        talker->requests += message.head.type == GF_SERVER_REQUEST;
    gf_close_descriptors(descriptor, count);
}

/* Whether the chain is what takes long, such as a large resize. */
static bool takes_long(const struct gf_remote_work *work)
{
    return !fuzz_is_quick(work->chain) || work->options.band_rows > 64 || work->options.lanes > 8;
}

/* What a worker of the server does. */
static void do_job(struct gf_server_job *job)
{
    const struct gf_options options = fuzz_options();
    struct gf_remote_work work;
    gf_server_read_work(&job->request, &work);
    if (takes_long(&work)) {
        job->status = GF_ERROR_UNAVAILABLE;
        strcpy(job->error.text, "takes long");
        return;
    }
    work.in = job->in;
    work.out = job->out;
    memcpy(work.file, job->file, sizeof work.file);
    work.options.serial = true;
    work.options.threads = 1;
    work.options.memory_bytes = options.memory_bytes;
    work.options.max_pixels = options.max_pixels;
    work.progress = &job->progress;
    job->in = job->out = -1;
    job->status = gf_pipeline_filter_remote_work(pipeline, &work, &job->result, &job->error);
    (void)fuzz_ok(job->status, &job->error);
}

/* The worker ends its job: it has done it, or failed with that status after some warnings. */
static void finish_job(struct gf_server *server, unsigned how)
{
    struct gf_server_worker *const worker = &server->worker[0];
    struct gf_server_job *const job = worker->job;
    if (!job)
        return;
    worker->job = NULL;
    if (how < 128) {
        do_job(job);
    } else {
        job->status = (enum gf_status)(how % GF_STATUS_COUNT);
        job->warnings = (int)(how / 8 % (GF_SERVER_WARNINGS_MAX + 1));
    }
    job->next = server->finished;
    server->finished = job;
    server->idle[server->idle_count++] = 0;
    gf_server_finish_jobs(server);
}

/* Takes what the server has sent. */
static void listen_to(struct talker *talker)
{
    union gf_server_message message;
    int descriptor[GF_SERVER_DESCRIPTORS];
    enum gf_server_type type;
    while (talker->socket >= 0 &&
           (type = gf_server_receive(talker->socket, &message, descriptor))) {
        FUZZ_CHECK(descriptor[0] < 0, "the server sends descriptors");
        FUZZ_CHECK((type == GF_SERVER_WELCOME) == !talker->welcomed && type != GF_SERVER_HELLO &&
                       type != GF_SERVER_REQUEST,
                   "type %d", type);
        talker->welcomed = true;
        talker->results += type == GF_SERVER_RESULT;
        FUZZ_CHECK(talker->results <= talker->requests, "%d results", talker->results);
    }
}

static void step(struct talk *talk)
{
    const unsigned how = fuzz_byte(&talk->bytes);
    const int number = (int)(how & 3) % CLIENTS;
    struct gf_server *const server = talk->server;
    struct gf_server_client *const client = &server->client[number];
    struct talker *const talker = &talk->talker[number];
    if (talker->socket < 0 && client->socket < 0)
        connect_client(talk, number);
    if ((how & 12) != 12 && talker->socket >= 0)
        say(talk, talker);
    else if (how & 16)
        disconnect(talker);
    if (how & 32 && client->socket >= 0)
        gf_server_read_message(server, client);
    if (how & 64)
        gf_server_begin_jobs(server);
    if (how & 128)
        finish_job(server, fuzz_byte(&talk->bytes));
    if (client->socket >= 0 && client->job && how & 16)
        gf_server_beat(server, client);
    listen_to(talker);
    if (client->socket < 0)
        disconnect(talker);
}

static void end(struct talk *talk)
{
    struct gf_server *const server = talk->server;
    for (int i = 0; i < CLIENTS; i++) {
        if (server->client[i].socket >= 0)
            gf_server_hang_up(server, &server->client[i]);
        disconnect(&talk->talker[i]);
    }
    finish_job(server, 128);
    FUZZ_CHECK(!server->clients && !server->waiting && !server->running && !server->first &&
                   server->last == &server->first,
               "%d clients, %d jobs wait, %d run", server->clients, server->waiting,
               server->running);
}

/* How many of the first descriptors are open. */
static int open_descriptors(void)
{
    enum { FIRST = 100 };
    int count = 0;
    for (int i = 0; i < FIRST; i++)
        count += fcntl(i, F_GETFD) >= 0;
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct gf_server_settings settings = {.device = 0};
    struct talk talk = {.bytes = {data, size}, .server = calloc(1, sizeof *talk.server)};
    struct gf_server *const server = talk.server;
    prepare_pipeline();
    const int before = open_descriptors();
    server->settings = &settings;
    server->identity.build = 0x1234;
    server->last = &server->first;
    server->idle_count = 1;
    server->helps = fuzz_byte(&talk.bytes) & 1;
    pthread_mutex_init(&server->lock, NULL);
    pthread_cond_init(&server->worker[0].wake, NULL);
    for (int i = 0; i < GF_SERVER_CLIENTS_MAX; i++)
        server->client[i].socket = -1;
    for (int i = 0; i < CLIENTS; i++)
        talk.talker[i].socket = -1;
    while (talk.bytes.size)
        step(&talk);
    end(&talk);
    FUZZ_CHECK(open_descriptors() == before, "a descriptor stays open");
    pthread_cond_destroy(&server->worker[0].wake);
    pthread_mutex_destroy(&server->lock);
    free(server);
    return 0;
}
