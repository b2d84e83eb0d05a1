/* The folder of a server's socket: $XDG_RUNTIME_DIR/gpufilter, or /tmp/gpufilter-UID if there is no
 * such variable. The folder belongs to the user alone (mode 0700), no link in its path that others
 * can change is followed, and every peer is the same user. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "gpufilter/status.h"
#include "server/protocol.h"

/* Writes the path of the folder, which need not exist. */
void gf_server_folder_path(char *path, size_t size);
/* Opens the folder; if `make`, makes it first. Returns -1 with errno if the folder does not exist;
 * errno is EPERM if the folder is a link, belongs to another user, or gives others rights. */
int gf_server_folder_open(const char *path, bool make);

/* The folder, the lock and the socket that a server holds while it runs. */
struct gf_server_place {
    int folder, lock, listener; /* -1: none */
    char name[40];              /* the name of the socket in the folder; "" if the socket belongs to
                                 * another process */
};
/* The environment variable that holds the number of the process that a helper (helper.h) works
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
/* Lets no client connect from now on; existing connections stay. */
void gf_server_place_close_listener(struct gf_server_place *place);
void gf_server_place_leave(struct gf_server_place *place);

/* Connects to the server of this build, or to the server that systemd starts. Returns -1 with errno
 * after a failure. */
int gf_server_place_connect(uint64_t build);
/* Whether the peer of the connection is the same user. */
bool gf_server_is_own(int socket);

/* Hashes of the properties that a client and a server must have in common. build: the program. gpu:
 * the GPUs, by their UUIDs, and the variables that choose among them. place: the cgroup, the
 * processors, and the limits of memory and of files' sizes, so that a job of a cluster never works
 * on another job's GPU, nor beyond its own limits. Within a user's session (user-UID.slice) all
 * cgroups count as one: a service of that user serves the user's shells. */
void gf_server_identify(struct gf_server_identity *identity);

/* Ends a line of /proc/self/cgroup after a component user-UID.slice, if there is one. */
void gf_server_shorten_cgroup(char *line, unsigned user);
