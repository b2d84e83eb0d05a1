/* --explain: what a run of a chain on a picture would do: the plan's segments and stages, their
 * bands, the kernels with their grids, the bytes that would move, and the time that this takes at
 * the bandwidths measured now. Only the picture's header is read, and nothing runs. */
#ifndef GF_STUDY_EXPLAIN_EXPLAIN_H
#define GF_STUDY_EXPLAIN_EXPLAIN_H

#include <stdio.h>

#include "batch/devices/cost.h"
#include "chain/plan.h"
#include "engine/backend.h"
#include "engine/layout.h"

enum { GF_EXPLAIN_KERNELS = 8 };

/* A stage with all its bands, or the histogram of a segment's result. */
struct gf_explained_stage {
    char name[112];
    bool statistic;
    const char *variant, *technique; /* of the CUDA kernels; NULL on the CPU */
    int filters;                     /* fused into it; 1: not fused */
    bool counts;                     /* its kernels count their result for the next segment */
    double bytes;                    /* read and written by all bands */
    int kernels;                     /* for one band; the first GF_EXPLAIN_KERNELS of them: */
    struct gf_kernel_info kernel[GF_EXPLAIN_KERNELS];
    char unknown[160]; /* why the kernels are not known; else empty */
};

struct gf_explained_segment {
    struct gf_format in, out;
    int bands, band_rows, in_rows; /* of the result, and the most rows that a band reads */
    bool whole;                    /* its first stage must see the whole picture */
    bool keeps_on_device;          /* the result stays there for the next segment */
    bool first_on_host; /* the first stage runs on the CPU, because its input does not fit the
                           device */
    double up_bytes, down_bytes, device_bytes; /* over PCIe, and of device memory */
    struct gf_explained_stage *stage;
    int stages;
};

struct gf_explanation {
    char device[96], reason[160];
    bool on_cuda;
    int lanes;
    uint64_t lane_bytes; /* of the buffers of one lane */
    struct gf_options options;
    struct gf_format in, out;
    int reduction;            /* `in` is 1/reduction of the file's picture; 0 and 1: all of it */
    struct gf_cost_work work; /* of the whole program, for its estimate; 0 files: not known */
    bool gpu;                 /* there seems to be one, which is estimated as well */
    double copy_peak, upload_peak, download_peak; /* bytes/s; 0: not measured */
    struct gf_explained_segment *segment;
    int segments;
};

/* output: where the picture would go, or NULL; the choice of options->device=auto depends on it.
 * figures: of this machine, for the estimate. */
enum gf_status gf_explain_file(const char *input, const char *output, const char *chain,
                               const struct gf_options *options, const struct gf_figures *figures,
                               struct gf_explanation *explanation,
                               struct gf_error *error) GF_CHECKED;
/* What the last of several chains, each of an output, has in common with one before it. */
struct gf_sharing {
    int with; /* the index of that chain; -1: none takes the same fraction of the picture's size */
    int stages; /* that are run once */
};
/* chain[0..last] */
enum gf_status gf_explain_sharing(const char *input, const char *const *chain, int last,
                                  const struct gf_options *options, struct gf_sharing *sharing,
                                  struct gf_error *error) GF_CHECKED;
/* Explains run->plan on run->backend, which is ready, without a file. Fills in all but the peaks.
 */
enum gf_status gf_explain_plan(const struct gf_schedule *schedule,
                               struct gf_explanation *explanation,
                               struct gf_error *error) GF_CHECKED;
void gf_explain_free(struct gf_explanation *explanation);

/* The kernels that make rows `out` from rows `in` (explain_kernels.c). If the device refuses,
 * found->unknown says why. wanting: the stage whose statistic they may count, or NULL. */
enum gf_status gf_explain_stage_kernels(struct gf_lane *lane, struct gf_stage *stage,
                                        const struct gf_stage *wanting, struct gf_rows in,
                                        struct gf_rows out, struct gf_explained_stage *found,
                                        struct gf_error *error) GF_CHECKED;
enum gf_status gf_explain_histogram_kernels(struct gf_lane *lane, const struct gf_stage *wanting,
                                            struct gf_rows in, struct gf_explained_stage *found,
                                            struct gf_error *error) GF_CHECKED;

/* Seconds at the measured bandwidths. together: copies and kernels of a segment overlap wholly, so
 * that the longest of them counts; else they come one after the other. */
double gf_explain_seconds(const struct gf_explanation *explanation, bool together);

#endif
