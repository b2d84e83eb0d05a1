/* What the runs of this machine teach about its figures. A run collects how long its work took
 * beside how much it was; at the end each figure of which enough was seen moves a little. */
#ifndef GF_BATCH_LEARN_H
#define GF_BATCH_LEARN_H

#include "batch/figures.h"
#include "gpufilter/pipeline.h"

enum { GF_LEARN_STAGES = 32 };

/* Zeroed, but for the first members: nothing was seen. One thread at a time adds. */
struct gf_learning {
    const struct gf_figures *figures; /* that the run's estimate was made with; or NULL */
    const char *chain;
    struct gf_options options;
    int processors;
    bool beside; /* a server keeps the GPU awake */
    bool serial; /* every picture is done by one thread from start to end */
    size_t files;
    double begin_s, begin_processor_s;
    /* Of each figure: the seconds that were measured, and those that a value of 1 would make. */
    struct gf_learned {
        double measured_s, unit_s;
    } seen[GF_FIGURES_MAX];
    /* Of the CPU's codecs where several threads share a picture: seconds of one thread by the
     * figures as they are; and what the stages took. */
    double codecs_s[GF_FIGURE_NAMED], stages_s;
    double device_pixels;                  /* that the GPU decoded and those that it encoded */
    double unpacked_pixels, packed_pixels; /* the same of PNGs */
    double started_s; /* from the begin of the run to the first kernel, on a GPU */
    int pictures, on_cuda, reduced, device_pngs; /* the last: that the GPU coded */
    /* The stages of pictures of that format: the filter that each is of, and seconds by its
     * declared cost. */
    struct gf_format format;
    struct gf_learned_stage {
        char name[96];
        const struct gf_filter *filter;
        double declared_s;
    } stage[GF_LEARN_STAGES];
    int stages; /* -1: not known */
};

/* Adds a picture's spans. */
void gf_learning_add(struct gf_learning *learning, const struct gf_profile *picture);
/* Around the run: they read the clocks, of which the process's says what all its threads took. */
void gf_learning_begin(struct gf_learning *learning);
void gf_learning_end(struct gf_learning *learning);
/* The same as gf_learning_end() for a run of that many seconds and seconds of processor time. */
void gf_learning_conclude(struct gf_learning *learning, double elapsed_s, double processor_s);
/* Moves the figures; false if too little was seen for any. */
bool gf_learning_apply(const struct gf_learning *learning, struct gf_figures *figures);
/* The same in the cache file, if there can be one. */
void gf_learning_keep(const struct gf_learning *learning);

#endif
