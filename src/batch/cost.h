/* Which backend is done sooner: the CPU, which begins at once, or a GPU, which has to be started.
 * From measured constants and from what the inputs' headers say. */
#ifndef GF_COST_H
#define GF_COST_H

#include "batch.h"
#include "plan.h"

/* A batch as the estimate sees it. */
struct gf_cost_work {
    size_t files;
    double pixels;                          /* of one input */
    double decode_ns, filter_ns, encode_ns; /* of one thread, a pixel of input */
    bool in_turn; /* a stage wants the whole picture: decoding and encoding do not overlap */
    int processors;
};

/* Of one thread of the CPU backend: nanoseconds for all stages. */
double gf_cost_filter_ns(const struct gf_plan *plan);

/* Seconds of the whole program. */
double gf_cost_cpu_s(const struct gf_cost_work *work);
double gf_cost_cuda_s(const struct gf_cost_work *work);

/* GF_DEVICE_CPU or GF_DEVICE_CUDA for `auto`, and why. Looks into some of the inputs. */
enum gf_device_kind gf_cost_choose(const struct gf_batch_request *request, char *reason,
                                   size_t size);
/* The choice between those two times: a tie is the CPU's. */
enum gf_device_kind gf_cost_decide(const struct gf_cost_work *work, char *reason, size_t size);

#endif
