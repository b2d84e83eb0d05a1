#include "server/spawn.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>

enum { FIRST_HANDED = 3 };

pid_t gf_server_spawn(char *const *arguments, char *const *environment, int handed)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t signals;
    pid_t process = -1;
    if (posix_spawn_file_actions_init(&files))
        return -1;
    if (!posix_spawnattr_init(&attributes)) {
        bool ready = true;
        for (int fd = 0; fd <= 2; fd++)
            ready &= !posix_spawn_file_actions_addopen(&files, fd, "/dev/null", O_RDWR, 0);
        if (handed >= 0)
            ready &= !posix_spawn_file_actions_adddup2(&files, handed, FIRST_HANDED);
        ready &= !posix_spawn_file_actions_addclosefrom_np(&files, FIRST_HANDED + (handed >= 0));
        ready &= !posix_spawn_file_actions_addchdir_np(&files, "/");
        sigfillset(&signals);
        posix_spawnattr_setsigdefault(&attributes, &signals);
        sigemptyset(&signals);
        posix_spawnattr_setsigmask(&attributes, &signals);
        posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGDEF |
                                                  POSIX_SPAWN_SETSIGMASK);
        if (!ready ||
            posix_spawn(&process, "/proc/self/exe", &files, &attributes, arguments, environment))
            process = -1;
        posix_spawnattr_destroy(&attributes);
    }
    posix_spawn_file_actions_destroy(&files);
    return process;
}
