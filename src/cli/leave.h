/* The end of the program. */
#ifndef GF_CLI_LEAVE_H
#define GF_CLI_LEAVE_H

#include <stdbool.h>

/* Ends the process with that status; standard output has been flushed. Where gf_leave_early() says
 * so, the teardown of CUDA is handed over. */
_Noreturn void gf_leave(int status);

/* Whether the teardown may be handed over, given whether CUDA has started and whether its devices
 * can be shared. It may not where the next process would find a device taken, and where a tool that
 * watches CUDA or the end of the program is loaded. */
bool gf_leave_early(bool cuda_started, bool shared);

/* Ends the process with that status and hands its teardown over: the driver takes 65 ms (H200) to
 * take a context apart, which whoever waits for this process need not wait for. A clone that shares
 * its memory and open files keeps them until the process is gone, holds no standard stream, and
 * then ends by itself. Where there can be no clone, the process ends as ever. */
_Noreturn void gf_leave_handing_over(int status);

#endif
