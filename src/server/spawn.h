/* Starts this program as a process in the background. */
#ifndef GF_SERVER_SPAWN_H
#define GF_SERVER_SPAWN_H

#include <sys/types.h>

/* Runs this program with these arguments and this environment. The new process gets no file,
 * folder, terminal or signal setting of this process, except the descriptor `handed`, which becomes
 * its descriptor 3; -1: none. Returns the process, or -1. */
pid_t gf_server_spawn(char *const *arguments, char *const *environment, int handed);

#endif
