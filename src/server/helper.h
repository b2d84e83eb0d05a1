/* A helper is a server that works for one run alone, with a GPU of its own. The driver of a process
 * sees only one GPU, so that each further GPU needs a process. The helper executes this program
 * anew, with the user's CUDA_VISIBLE_DEVICES, accepts connections from a socket that its parent
 * hands over, and is killed when the parent ends. */
#pragma once

#include <sys/types.h>

#include "server/client.h"

struct gf_helper_settings {
    int device;            /* the device's number among the devices that the user's variable leaves
                            * visible */
    int workers;           /* the most pictures that are in work at once */
    uint64_t memory_bytes; /* the limit of whole pictures in host memory */
};

/* Starts a helper, and returns at once. The calling thread must not end before the helper's work is
 * done. Returns NULL if no process can be started. */
struct gf_helper *gf_helper_start(const struct gf_helper_settings *settings);

enum gf_helper_state { GF_HELPER_STARTING, GF_HELPER_AWAKE, GF_HELPER_FAILED };
/* Returns how far the start of the helper is, without waiting. */
enum gf_helper_state gf_helper_look(struct gf_helper *helper);

/* Returns another connection to a helper that has started; NULL: there is none. */
struct gf_remote *gf_helper_connect(struct gf_helper *helper);

pid_t gf_helper_process(const struct gf_helper *helper);
/* Returns the processor time that the helper has used. */
double gf_helper_processor_s(const struct gf_helper *helper);

/* Kills the helper. With `wait` also waits for its end. */
void gf_helper_end(struct gf_helper *helper, bool wait);
