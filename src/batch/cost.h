/* Which backend is done sooner: the CPU, which begins at once, or a GPU, which has to be started.
 * From measured constants and from what the inputs' headers say. */
#ifndef GF_BATCH_COST_H
#define GF_BATCH_COST_H

#include "batch/batch.h"
#include "chain/plan.h"

/* Nanoseconds of one thread, a pixel of input. */
struct gf_cost_codec {
    double decode_ns, encode_ns;
};

/* A batch as the estimate sees it. */
struct gf_cost_work {
    size_t files;
    double pixels;                          /* of one input */
    double filter_ns;                       /* of one thread, a pixel of input */
    struct gf_cost_codec codec, cuda_codec; /* cuda_codec: where a GPU runs, and does most JPEGs */
    double cuda_ns; /* of the GPU, a pixel of input: copies, decoding and encoding */
    bool in_turn;   /* a stage wants the whole picture: decoding and encoding do not overlap */
    int processors;
};

struct gf_cost_choice {
    enum gf_device_kind device; /* never GF_DEVICE_AUTO */
    bool device_codec;          /* the GPU decodes or encodes at least some of the pictures */
    double pixels;              /* of one input; 0: not known */
};

/* Of one thread of the CPU backend: nanoseconds for all stages. */
double gf_cost_filter_ns(const struct gf_plan *plan);

/* Seconds of the whole program. */
double gf_cost_cpu_s(const struct gf_cost_work *work);
double gf_cost_cuda_s(const struct gf_cost_work *work);

/* The device that the request asks for or that is done sooner, and why. Looks into some of the
 * inputs. */
struct gf_cost_choice gf_cost_choose(const struct gf_batch_request *request, char *reason,
                                     size_t size);
/* The choice between those times: a tie is the CPU's. */
enum gf_device_kind gf_cost_decide(const struct gf_cost_work *work, char *reason, size_t size);

#endif
