/* Other processes: starts them, and exchanges messages and descriptors with them. */
#pragma once

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A program that is started as a process in the background. */
enum { GF_SPAWN_HANDED_MAX = 2 };
struct gf_spawn {
    const char *program; /* NULL: this program */
    char *const *arguments, *const *environment;
    /* These become the descriptors 3 and 4, or standard output and standard error of a tool. */
    int handed[GF_SPAWN_HANDED_MAX], count;
    bool is_tool; /* the program is looked up in $PATH, and runs in the folder of this process */
    short apart;  /* POSIX_SPAWN_SETSID, or POSIX_SPAWN_SETPGROUP: signals of the terminal do not
                   * reach the process */
};

/* The new process gets no file, terminal or signal setting of this process, except the descriptors
 * that are handed over, and no folder unless it is a tool. Returns the process; -1 with errno. */
pid_t gf_spawn(const struct gf_spawn *spawn);

/* Messages with descriptors over a socket that keeps their bounds (SOCK_SEQPACKET). */

enum { GF_SOCKET_DESCRIPTORS_MAX = 16 };

/* Sends the message with `count` descriptors. `flags` are sendmsg()'s, such as MSG_DONTWAIT. False
 * with errno. */
bool gf_socket_send(int socket, const void *message, size_t size, const int *descriptor, int count,
                    int flags);
/* Receives a message of at most `size` bytes, and stores the descriptors that come with it; the
 * other of the `places` get -1. Returns the message's bytes; 0 with errno 0 where the other side
 * has hung up or sent an empty message, with EAGAIN where MSG_DONTWAIT finds no message, with
 * EPROTO where a message is too large or has more descriptors than places, all of which are closed.
 */
size_t gf_socket_receive(int socket, void *message, size_t size, int *descriptor, int places,
                         int flags);
/* Closes those that are not -1. All become -1. */
void gf_close_descriptors(int *descriptor, int count);
