/* Which backend is done sooner: the CPU, which begins at once, or a GPU, which has to be started,
 * and its codec, too. From measured constants and from what the inputs' headers say. */
#ifndef GF_BATCH_COST_H
#define GF_BATCH_COST_H

#include "batch/batch.h"
#include "chain/plan.h"

/* A batch as the estimate sees it. */
struct gf_cost_work {
    size_t files;
    double pixels;                          /* of one input */
    double decode_ns, filter_ns, encode_ns; /* of one thread, a pixel of input */
    bool in_turn; /* a stage wants the whole picture: decoding and encoding do not overlap */
    bool for_device_codec; /* JPEGs of a common kind, in and out */
    int processors;
};

struct gf_cost_choice {
    enum gf_device_kind device; /* never GF_DEVICE_AUTO */
    enum gf_codec codec;        /* GF_CODEC_CPU or GF_CODEC_GPU_IF_FAST */
};

/* Of one thread of the CPU backend: nanoseconds for all stages. */
double gf_cost_filter_ns(const struct gf_plan *plan);

/* Seconds of the whole program. */
double gf_cost_cpu_s(const struct gf_cost_work *work);
double gf_cost_cuda_s(const struct gf_cost_work *work);
double gf_cost_codec_s(const struct gf_cost_work *work); /* with the GPU's codec */

/* What `auto` means for the request's device and codec, and why it is that device. Looks into some
 * of the inputs. */
struct gf_cost_choice gf_cost_choose(const struct gf_batch_request *request, char *reason,
                                     size_t size);
/* The choice between those times, without the CPU's where CUDA is `asked` for: a tie is the simpler
 * one's. */
struct gf_cost_choice gf_cost_decide(const struct gf_cost_work *work, bool asked, char *reason,
                                     size_t size);

#endif
