/* Starts a program as a process in the background. */
#pragma once

#include <spawn.h>
#include <stdbool.h>
#include <sys/types.h>

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
