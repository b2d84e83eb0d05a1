/* The messages between a client and a server of pictures, over a socket that keeps messages apart
 * (SOCK_SEQPACKET). Each is one struct of fixed size, whose strings end within their arrays; both
 * sides are the same program, which the first exchange checks.
 *
 *   client                          server
 *   HELLO                       ->
 *                               <-  WELCOME, and for --serve=stop and --devices nothing more
 *   REQUEST, descriptors        ->
 *                               <-  BEAT, at once and then every GF_SERVER_BEAT_MS
 *                               <-  WARNING, any number
 *                               <-  RESULT; then the next REQUEST
 *
 * A client that hangs up cancels its request. A server that hangs up, or sends nothing for
 * GF_SERVER_PATIENCE_MS, has failed; one that does so before the first BEAT has begun nothing. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "pipeline/pipeline_internal.h"

enum {
    GF_SERVER_VERSION = 11,
    GF_SERVER_BEAT_MS = 500,
    GF_SERVER_PATIENCE_MS = 2000,
    GF_SERVER_CHAIN_SIZE = 8192,
    GF_SERVER_NAME_SIZE = 1024,
    GF_SERVER_OWN_FILES = 2, /* descriptors of the input and the output, or of two inputs */
    GF_SERVER_DESCRIPTORS = GF_SERVER_OWN_FILES + GF_REMOTE_FILES
};

enum gf_server_type {
    GF_SERVER_HELLO = 1,
    GF_SERVER_WELCOME,
    GF_SERVER_REQUEST,
    GF_SERVER_BEAT,
    GF_SERVER_WARNING,
    GF_SERVER_RESULT
};

struct gf_server_head {
    uint32_t version, type, size; /* size: bytes of the whole message */
};

/* Hashes of properties that must be the same on both sides (place.c). */
struct gf_server_identity {
    uint64_t build, gpu, place;
};

enum gf_server_wish { GF_SERVER_WORK, GF_SERVER_LOOK, GF_SERVER_STOP, GF_SERVER_WISHES };
struct gf_server_hello {
    struct gf_server_head head;
    uint32_t wish;
    int32_t device;
    struct gf_server_identity identity;
};

enum gf_server_verdict {
    GF_SERVER_READY,
    GF_SERVER_FULL,      /* the server accepts no more clients, or is about to end */
    GF_SERVER_DIFFERENT, /* the client has another build, GPU, cgroup or set of processors */
    GF_SERVER_VERDICTS
};
struct gf_server_welcome {
    struct gf_server_head head;
    uint32_t verdict;
    int32_t process, device;
    uint32_t clients, running, waiting;
    uint64_t done; /* number of pictures filtered, and of pairs compared, so far */
    /* Memory of the server's process; device memory of its buffers. */
    uint64_t host_bytes, device_bytes;
};

/* The size of this union in bytes is the number of words of a request plus two: each option in
 * options.def states the number of its first word. A request has no word that no option uses. */
union gf_server_words {
#define GF_MEMBER(member, type, least, greatest, usual, scope, word, ...) \
    char to_##member[(word) + 1 + (sizeof((struct gf_options *)0)->member + 3) / 4];
#include "pipeline/options.def"
};
enum {
    GF_SERVER_WORDS = sizeof(union gf_server_words) - 2,
    GF_SERVER_WARN = 25 /* index of the word that says whether the client takes warnings */
};

/* A request to filter a picture, or to compare two. The descriptors of the input, the output or the
 * second picture, and the files that the chain names come with the message. */
struct gf_server_request {
    struct gf_server_head head;
    uint32_t word[GF_SERVER_WORDS]; /* the values of the options; a switch is 0 or 1 */
    uint32_t keeps_slow_files;      /* 0 or 1 */
    uint32_t compares;              /* GF_SCORE_* as bits; 0: a picture is filtered */
    int64_t in_offset;
    int32_t in_page, in_last_page; /* pages of the input, as in struct gf_pages */
    int32_t number;                /* number of the input in its list */
    int32_t files;                 /* number of files that the chain names */
    char chain[GF_SERVER_CHAIN_SIZE], in_name[GF_SERVER_NAME_SIZE], out_name[GF_SERVER_NAME_SIZE];
    char file_name[GF_REMOTE_FILES][GF_SERVER_NAME_SIZE];
};

struct gf_server_beat {
    struct gf_server_head head;
    int32_t done, total; /* numbers of bands */
};

struct gf_server_warning {
    struct gf_server_head head;
    char text[sizeof((struct gf_error *)0)->text];
};

struct gf_server_result {
    struct gf_server_head head;
    uint32_t status;
    struct gf_remote_result picture;               /* if the status is GF_OK */
    char text[sizeof((struct gf_error *)0)->text]; /* the message of a failure */
};

union gf_server_message {
    struct gf_server_head head;
    struct gf_server_hello hello;
    struct gf_server_welcome welcome;
    struct gf_server_request request;
    struct gf_server_beat beat;
    struct gf_server_warning warning;
    struct gf_server_result result;
};

/* Returns the message's type if the `size` received bytes are a message of this version, whose
 * members are all in their ranges; otherwise 0. */
enum gf_server_type gf_server_check(const union gf_server_message *message, size_t size);

/* Makes an empty message of that type. */
void gf_server_prepare(union gf_server_message *message, enum gf_server_type type);

/* Convert between a request and its work, whose strings belong to the request. The first function
 * returns false if the work does not fit in a request. */
bool gf_server_write_work(const struct gf_remote_work *work, union gf_server_message *message);
void gf_server_read_work(const struct gf_server_request *request, struct gf_remote_work *work);
/* Convert between a result and its message. */
void gf_server_write_result(enum gf_status status, const struct gf_error *error,
                            const struct gf_remote_result *result,
                            union gf_server_message *message);
enum gf_status gf_server_read_result(const struct gf_server_result *message,
                                     struct gf_remote_result *result,
                                     struct gf_error *error) GF_CHECKED;

/* Sends the message, with `count` descriptors, without waiting. Returns false with errno after a
 * failure. */
bool gf_server_send(int socket, const union gf_server_message *message, const int *descriptor,
                    int count);
/* Receives a message without waiting, and stores its descriptors; unused elements become -1.
 * Returns the message's type, or 0. With errno 0 the other side has closed the connection; with
 * EAGAIN no message has arrived yet; with another errno it is no message of the protocol, and its
 * descriptors are closed. */
enum gf_server_type gf_server_receive(int socket, union gf_server_message *message,
                                      int descriptor[GF_SERVER_DESCRIPTORS]);

/* The folder of a server's socket: $XDG_RUNTIME_DIR/gpufilter, or /tmp/gpufilter-UID if there is no
 * such variable. The folder belongs to the user alone (mode 0700), no link in its path that others
 * can change is followed, and every peer is the same user. */

/* Writes the path of the folder, which need not exist. */
void gf_server_folder_path(char *path, size_t size);
/* Opens the folder; makes it first if `make` is set. Returns -1 with errno if the folder does not
 * exist; errno is EPERM if the folder is a link, belongs to another user, or gives others
 * rights. */
int gf_server_folder_open(const char *path, bool make);

/* The folder, the lock and the socket that a server holds while it runs. */
struct gf_server_place {
    int folder, lock, listener; /* open descriptors; -1: none */
    char name[40];              /* the name of the socket in the folder; "" if the socket belongs to
                                 * another process */
};
/* The environment variable that holds the number of the process that a helper (server.h) works
 * for. */
#define GF_HELPER_VARIABLE "GPUFILTER_HELPER_OF"
/* Whether this process is a helper. After the first such call a helper is killed when its parent
 * ends. */
bool gf_server_is_helper(void);

/* Takes the place of the server of this build, or the socket that systemd or a helper's parent
 * hands over. Returns GF_ERROR_USAGE if there is a server already. Clients cannot connect yet. */
enum gf_status gf_server_place_take(uint64_t build, struct gf_server_place *place,
                                    struct gf_error *error) GF_CHECKED;
/* Lets clients connect from now on. Replaces a stale socket. */
enum gf_status gf_server_place_listen(struct gf_server_place *place,
                                      struct gf_error *error) GF_CHECKED;
/* Stops accepting clients; existing connections stay. */
void gf_server_place_close_listener(struct gf_server_place *place);
void gf_server_place_leave(struct gf_server_place *place);

/* Connects to the server of this build, or to the server that systemd starts. Returns -1 with errno
 * after a failure. */
int gf_server_place_connect(void);
/* Whether the process at the other end of the socket belongs to the same user. */
bool gf_server_is_own(int socket);

/* Computes hashes of the properties that a client and a server must have in common. build: the
 * program. gpu: the GPUs, by their UUIDs, and the variables that choose among them. place: the
 * cgroup, the processors, and the limits of memory and of files' sizes, so that a job of a cluster
 * never works on another job's GPU, nor beyond its own limits. Within a user's session
 * (user-UID.slice) all cgroups count as one: a service of that user serves the user's shells. */
void gf_server_identify(struct gf_server_identity *identity);

/* Cuts a line of /proc/self/cgroup off behind the component user-UID.slice, if it has one. */
void gf_server_shorten_cgroup(char *line, unsigned user);
