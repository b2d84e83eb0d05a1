#include "base/spawn.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <unistd.h>

#include "base/socket.h"

enum { STREAMS = 3 };

/* Returns the first of the descriptors that are handed over. */
static int first_handed(const struct gf_spawn *spawn)
{
    return spawn->is_tool ? STDOUT_FILENO : STREAMS;
}

static int set_files(posix_spawn_file_actions_t *files, const struct gf_spawn *spawn,
                     const int *handed)
{
    const int first = first_handed(spawn), end = first + spawn->count;
    int why = 0;
    for (int fd = 0; !why && fd < STREAMS; fd++)
        why = posix_spawn_file_actions_addopen(files, fd, "/dev/null", O_RDWR, 0);
    for (int i = 0; !why && i < spawn->count; i++)
        why = posix_spawn_file_actions_adddup2(files, handed[i], first + i);
    why =
        why ? why : posix_spawn_file_actions_addclosefrom_np(files, end > STREAMS ? end : STREAMS);
    return why || spawn->is_tool ? why : posix_spawn_file_actions_addchdir_np(files, "/");
}

static void set_signals(posix_spawnattr_t *attributes, short apart)
{
    sigset_t signals;
    sigfillset(&signals);
    posix_spawnattr_setsigdefault(attributes, &signals);
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(attributes, &signals);
    posix_spawnattr_setflags(attributes,
                             (short)(apart | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK));
}

pid_t gf_spawn(const struct gf_spawn *spawn)
{
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    int handed[GF_SPAWN_HANDED_MAX] = {-1, -1}; /* copies above the descriptors that they become */
    pid_t process = -1;
    int why = 0;
    for (int i = 0; !why && i < spawn->count; i++) {
        handed[i] = fcntl(spawn->handed[i], F_DUPFD_CLOEXEC, STREAMS + spawn->count);
        why = handed[i] < 0 ? errno : 0;
    }
    if (!why && !(why = posix_spawn_file_actions_init(&files))) {
        if (!(why = posix_spawnattr_init(&attributes))) {
            set_signals(&attributes, spawn->apart);
            why = set_files(&files, spawn, handed);
            if (!why)
                why = (spawn->is_tool ? posix_spawnp : posix_spawn)(
                    &process, spawn->program ? spawn->program : "/proc/self/exe", &files,
                    &attributes, spawn->arguments, spawn->environment);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&files);
    }
    gf_close_descriptors(handed, spawn->count);
    errno = why;
    return why ? -1 : process;
}
