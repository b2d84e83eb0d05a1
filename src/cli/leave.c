#include "cli/cli.h"

#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "engine/backend.h"

enum gf_leaving gf_leaving(bool starting, bool started, bool shared, bool replaced)
{
    static const char *const tools[] = {"CUDA_INJECTION64_PATH", "NVTX_INJECTION64_PATH",
                                        "LD_PRELOAD"};
    for (size_t i = 0; i < sizeof tools / sizeof *tools; i++) {
        if (getenv(tools[i]))
            return GF_LEAVING_ORDERLY;
    }
    if (started ? shared : replaced)
        return GF_LEAVING_HANDING_OVER;
    return starting ? GF_LEAVING_AT_ONCE : GF_LEAVING_ORDERLY;
}

/* The function of the clone: waits until the parent, the process that is ending, has ended. It uses
 * the parent's memory; therefore it calls nothing but the kernel. It gives up after a second, so
 * that it never outlives a process that does not end. */
static int keep(void *argument)
{
    enum { TRIES = 1000 };
    const pid_t *const parent = argument;
    for (int fd = 0; fd <= 2; fd++)
        close(fd);
    for (int i = 0; i < TRIES && getppid() == *parent; i++)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
    _exit(0);
}

/* The kernel frees the memory and the files of a process when their last user ends, which is the
 * clone here. The clone sends nobody a signal when it ends. */
_Noreturn void gf_leave_handing_over(int status)
{
    enum { STACK = 64 << 10 };
    static _Alignas(64) char stack[STACK];
    static pid_t self;
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_BLOCK, &all, NULL); /* a signal handler would run in both processes */
    self = getpid();
    (void)clone(keep, stack + sizeof stack, CLONE_VM | CLONE_FILES, &self);
    _exit(status);
}

_Noreturn void gf_leave(int status)
{
    bool shared = false;
    const bool starting = gf_device_starting(), started = gf_backend_cuda_started(&shared);
    switch (gf_leaving(starting, started, shared, gf_output_keeps_replaced())) {
    case GF_LEAVING_HANDING_OVER:
        gf_leave_handing_over(status);
    case GF_LEAVING_AT_ONCE:
        _exit(status);
    case GF_LEAVING_ORDERLY:
        break;
    }
    gf_device_starts_wait();
    exit(status);
}
