/* Ends the program. */
#pragma once

#include <stdbool.h>

/* Ends the process with that status, in the way that gf_leaving() returns. Standard output must
 * have been flushed. */
_Noreturn void gf_leave(int status);

enum gf_leaving {
    GF_LEAVING_ORDERLY,     /* by exit(); no device is being started */
    GF_LEAVING_AT_ONCE,     /* by _exit(), while a device that nobody needs is being started */
    GF_LEAVING_HANDING_OVER /* by gf_leave_handing_over() */
};

/* Returns how to end the process. `starting`: a device is being started; `started`: a device has
 * started; `shared`: other processes may use the started devices at the same time; `replaced`: a
 * large file that was replaced is still to be freed. The teardown is not handed over if the next
 * process would find a device in use. The end is orderly if a tool is loaded that watches CUDA or
 * the end of the program. */
enum gf_leaving gf_leaving(bool starting, bool started, bool shared, bool replaced);

/* Ends the process with that status and hands its teardown over to a clone. The driver needs 65 ms
 * (H200) to destroy a context, and the kernel 10 ms to free a file of 100 MB in memory. Whoever
 * waits for this process need not wait for that. The clone shares the memory and the open files and
 * keeps them until the process has ended. It has no standard stream, and then ends by itself. If no
 * clone can be made, the process ends in the usual way. */
_Noreturn void gf_leave_handing_over(int status);
