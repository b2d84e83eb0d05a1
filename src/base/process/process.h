/* Other processes: starts them, and exchanges messages and descriptors with them. */
#pragma once

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* A program that gf_spawn() starts as a process in the background, and what it gets. */
enum { GF_SPAWN_HANDED_MAX = 2 };
struct gf_spawn {
    const char *program; /* the program's file; NULL: this program itself */
    char *const *arguments, *const *environment;
    /* Descriptors of this process that become 3 and 4 of the new one, or a tool's standard output
     * and standard error. `count` is their number. */
    int handed[GF_SPAWN_HANDED_MAX], count;
    bool is_tool; /* the program is looked up in $PATH, and runs in the folder of this process */
    short apart;  /* 0, or POSIX_SPAWN_SETSID or POSIX_SPAWN_SETPGROUP, so that signals of the
                   * terminal do not reach the process */
};

/* Starts the process. It gets no file, terminal or signal setting of this process, except the
 * descriptors that are handed over, and runs in the folder / unless it is a tool. Returns its
 * number; -1 with errno. */
pid_t gf_spawn(const struct gf_spawn *spawn);

enum { GF_SOCKET_DESCRIPTORS_MAX = 16 };

/* Sends a message, with `count` descriptors, over a socket that keeps the bounds of messages
 * (SOCK_SEQPACKET). `flags` are sendmsg()'s, such as MSG_DONTWAIT. Returns false with errno. */
bool gf_socket_send(int socket, const void *message, size_t size, const int *descriptor, int count,
                    int flags);
/* Receives a message of at most `size` bytes. descriptor[0..places-1] become the descriptors that
 * come with it, then -1. Returns the message's bytes; 0 with errno 0 if the other side has hung up
 * or sent an empty message, with EAGAIN if MSG_DONTWAIT finds no message, with EPROTO if a message
 * is too large or has more descriptors than places, all of which are closed. */
size_t gf_socket_receive(int socket, void *message, size_t size, int *descriptor, int places,
                         int flags);
/* Closes the `count` descriptors that are not -1, and sets all to -1. */
void gf_close_descriptors(int *descriptor, int count);
