/* A server that works for one run alone, with a GPU of its own: the driver of this process sees
 * one GPU, so that each GPU more needs a process. The helper executes this program anew, begins
 * with the user's CUDA_VISIBLE_DEVICES, takes connections from a socket that it was handed, and is
 * killed when this process ends. */
#ifndef GF_SERVER_HELPER_H
#define GF_SERVER_HELPER_H

#include <sys/types.h>

#include "server/client.h"

struct gf_helper_settings {
    int device;            /* the device's number among the devices that the user's variable leaves
                            * visible */
    int workers;           /* pictures that are in work at once */
    uint64_t memory_bytes; /* limit of whole pictures in host memory */
};

/* Starts a helper, and returns at once. The thread that calls this must not end before the helper's
 * work is done. NULL: no process can be started. */
struct gf_helper *gf_helper_start(const struct gf_helper_settings *settings);

enum gf_helper_state { GF_HELPER_STARTING, GF_HELPER_AWAKE, GF_HELPER_FAILED };
/* Looks how far the helper is, without waiting. */
enum gf_helper_state gf_helper_look(struct gf_helper *helper);

/* Returns a connection more to a helper that is awake; NULL: there is none. */
struct gf_remote *gf_helper_connect(struct gf_helper *helper);

pid_t gf_helper_process(const struct gf_helper *helper);
/* Returns the processor's time that the helper has taken. */
double gf_helper_processor_s(const struct gf_helper *helper);

/* Kills the helper, and with `wait` waits for its end. */
void gf_helper_end(struct gf_helper *helper, bool wait);

#endif
