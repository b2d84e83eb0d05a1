/* The end of the program. */
#ifndef GF_CLI_LEAVE_H
#define GF_CLI_LEAVE_H

#include <stdbool.h>

/* Ends the process with that status, by the way that gf_leaving() says; standard output has been
 * flushed. */
_Noreturn void gf_leave(int status);

enum gf_leaving {
    GF_LEAVING_ORDERLY,     /* by exit(), once no device is being started */
    GF_LEAVING_AT_ONCE,     /* by _exit(), while a device is being started that nobody needs */
    GF_LEAVING_HANDING_OVER /* by gf_leave_handing_over() */
};

/* How to leave, given whether a device is being started, whether one has started, whether all of
 * those can be shared, and whether a large file that was replaced is still to be freed. The
 * teardown is not handed over where the next process would find a
 * device taken, and everything is orderly where a tool that watches CUDA or the end of the program
 * is loaded. */
enum gf_leaving gf_leaving(bool starting, bool started, bool shared, bool replaced);

/* Ends the process with that status and hands its teardown over: the driver takes 65 ms (H200) to
 * take a context apart, and the kernel 10 ms to free a file of 100 MB in memory, which whoever
 * waits for this process need not wait for. A clone that shares its memory and open files keeps
 * them until the process is gone, holds no standard stream, and then ends by itself. Where there
 * can be no clone, the process ends as ever. */
_Noreturn void gf_leave_handing_over(int status);

#endif
