/* Other processes: starts them, and exchanges messages and descriptors with them. */
#pragma once

#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "gpufilter/status.h"

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

/* The program itself: its exit statuses, which build of it runs, and the files that are part of
 * it. */

/* The exit statuses tell a script what to do next. */
enum {
    GF_EXIT_DONE = 0,
    GF_EXIT_DIFFERENT = 1, /* compared pictures differ, or the program itself is at fault */
    GF_EXIT_USAGE = 2,     /* a wrong command line or chain; nothing was begun */
    GF_EXIT_ELSEWHERE = 3, /* a library or a device is missing, which another machine may have */
    GF_EXIT_INPUTS = 4,    /* all inputs were processed, and some of them are bad */
    GF_EXIT_AGAIN = 75     /* another try may succeed; the same number as EX_TEMPFAIL of
                            * sysexits.h */
};

int gf_exit_status(enum gf_status status);

/* Describes an exit status in a few words. Returns NULL for any other number. */
const char *gf_exit_meaning(int exit_status);

/* Returns the status, of two, that decides the exit status of a run. Failures that another try may
 * mend come first, then something missing on this machine, then bad inputs. GF_OK comes last. */
enum gf_status gf_graver_status(enum gf_status a, enum gf_status b);

enum { GF_BUILD_ID_SIZE = 17 };

/* Returns an identifier of 16 hexadecimal digits and a 0. It is the same in every process of a
 * build and almost certainly different in every other build. It is a hash of the version and of the
 * identifier that the linker wrote into the program or library; without the latter it uses the
 * program file's device, number, size and time. The call takes some microseconds and reads no file.
 */
const char *gf_build_id(char text[GF_BUILD_ID_SIZE]);

/* Includes a file of the sources in the program, as the string gf_NAME. The Makefile declares that
 * the object file depends on that file. */
#define GF_EMBED(name, path) \
    __asm__(".pushsection .rodata, \"a\"\n" \
            ".hidden gf_" #name "\n" \
            ".globl gf_" #name "\n" \
            "gf_" #name ": .incbin \"" path "\"\n" \
            ".byte 0\n" \
            ".popsection\n"); \
    extern const char gf_##name[]
