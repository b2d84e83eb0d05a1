/* The results of --explain, for a run of a chain on a picture: the plan's segments and stages,
 * their bands, the kernels with their grids, the bytes that would move, and the time that this
 * takes at the bandwidths measured now. Only the picture's header is read, and nothing runs. */
#pragma once

#include "batch/devices/devices.h"
#include "chain/plan.h"
#include "engine/backend.h"
#include "engine/layout.h"

enum { GF_EXPLAIN_KERNELS = 8 };

/* A stage, or the histogram of a segment's result, with all bands. */
struct gf_explained_stage {
    char name[112];
    bool statistic;
    const char *variant, *technique; /* the variant and the technique of the CUDA kernels; NULL on
                                      * the CPU */
    int filters;                     /* number of filters that are fused in the stage */
    bool counts;                     /* its kernels count their result for the next segment */
    double bytes;                    /* bytes that all bands read and write */
    int kernels;                     /* number of kernels for one band; the first GF_EXPLAIN_KERNELS
                                      * of them: */
    struct gf_kernel_info kernel[GF_EXPLAIN_KERNELS];
    char unknown[160]; /* the reason why the kernels are not known; otherwise empty */
};

struct gf_explained_segment {
    struct gf_format in, out;
    int bands, band_rows, in_rows; /* bands and band_rows: of the result; in_rows: the most rows
                                    * that a band reads */
    bool whole;                    /* the first stage needs the whole picture */
    bool keeps_on_device;          /* the result stays on the device for the next segment */
    bool first_on_host; /* the first stage runs on the CPU, because its input does not fit on the
                         * device */
    double up_bytes, down_bytes, device_bytes; /* bytes on PCIe, and in device memory */
    struct gf_explained_stage *stage;
    int stages;
};

struct gf_explanation {
    char device[96], reason[160];
    bool on_cuda;
    bool planned; /* there is no GPU: the plan is that of one with 8 GiB free */
    int lanes;
    uint64_t lane_bytes; /* bytes of the buffers of a lane */
    struct gf_options options;
    struct gf_format in, out;
    bool inks;                  /* the samples of `out` are CMYK */
    struct gf_rectangle window; /* the part of the file's picture that is read; width 0: all */
    int blocks;                 /* ... and the tiles or strips that are decoded; 0: it has none */
    int reduction;              /* the sides of `in` are 1/reduction of the file's picture; 0 or 1:
                                 * equal */
    int level;                  /* number of the file's level that is read; 0: the full size */
    int tiles;                  /* number of its tiles; 0: it has none */
    int frames;                 /* the picture is one of so many frames of an animation */
    struct gf_cost_work work;   /* the work of the whole program, for its estimate; 0 files: not
                                 * known */
    bool gpu;                   /* a GPU seems to exist, and is estimated, too */
    double copy_peak, upload_peak, download_peak; /* bytes/s; 0: not measured */
    struct gf_explained_segment *segment;
    int segments;
};

/* Explains a run on a file. `output` is the name of the output, or NULL; the choice of
 * options->device=auto depends on it. `figures` are the figures of this machine, for the
 * estimate. */
enum gf_status gf_explain_file(const char *input, const char *output, const char *chain,
                               const struct gf_options *options, const struct gf_figures *figures,
                               struct gf_explanation *explanation,
                               struct gf_error *error) GF_CHECKED;
/* The common stages of the last of several chains, each of an output, and an earlier chain. */
struct gf_sharing {
    int with;   /* the index of the earlier chain with the most common stages; -1: no chain decodes
                 * the picture at the same size */
    int stages; /* number of stages that run once for both */
};
/* Finds the stages that chain[last] shares with one of chain[0..last - 1]. */
enum gf_status gf_explain_sharing(const char *input, const char *const *chain, int last,
                                  const struct gf_options *options, struct gf_sharing *sharing,
                                  struct gf_error *error) GF_CHECKED;
/* Explains run->plan on run->backend, which is ready, without a file. Sets all members but the
 * peaks. */
enum gf_status gf_explain_plan(const struct gf_schedule *schedule,
                               struct gf_explanation *explanation,
                               struct gf_error *error) GF_CHECKED;
void gf_explain_free(struct gf_explanation *explanation);
/* Find the kernels (kernels.c) that compute rows `out` from rows `in`, or that count rows `in` for
 * the stage that wants a histogram; gf_explain_stage_kernels() lets them do both unless `wanting`
 * is NULL. If the device refuses, found->unknown says why. */
enum gf_status gf_explain_stage_kernels(struct gf_lane *lane, struct gf_stage *stage,
                                        const struct gf_stage *wanting, struct gf_rows in,
                                        struct gf_rows out, struct gf_explained_stage *found,
                                        struct gf_error *error) GF_CHECKED;
enum gf_status gf_explain_histogram_kernels(struct gf_lane *lane, const struct gf_stage *wanting,
                                            struct gf_rows in, struct gf_explained_stage *found,
                                            struct gf_error *error) GF_CHECKED;

/* Returns the seconds at the measured bandwidths. With `together`, copies and kernels of a segment
 * overlap fully, so that the longest of them counts; otherwise they follow each other. */
double gf_explain_seconds(const struct gf_explanation *explanation, bool together);
