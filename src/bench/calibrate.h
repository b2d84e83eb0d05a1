/* --calibrate: measures the figures of this machine, by which the program estimates times, in some
 * seconds. It uses pictures that it makes: for most figures through the library as runs use it, and
 * for start and end of the program through the program itself. */
#pragma once

#include <time.h>

#include "batch/devices/figures.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/status.h"

struct gf_calibration {
    struct gf_figures figures; /* the figures that could be measured; the others are zero */
    bool gpu;                  /* there was a GPU, which was measured */
    char why_no_gpu[160];
    double seconds; /* duration of the calibration */
};

enum { GF_CALIBRATE_SECONDS = 9 };

/* Measures for at most `seconds`; figures for which no time is left are not measured. `program` is
 * the file to start for the time of whole processes; with NULL that is not measured. Fails if there
 * is no memory or no folder for temporary files; a figure that cannot be measured is no failure. */
enum gf_status gf_calibrate(const char *program, double seconds, struct gf_calibration *calibration,
                            struct gf_error *error) GF_CHECKED;

/* Functions for the parts of a calibration. */

/* A picture file in the calibration's folder. */
struct gf_made_file {
    char path[120];
    double pixels;
};

struct gf_calibrator {
    struct gf_calibration *calibration;
    const char *program;
    double end_s;                                  /* the time of gf_now() at which to stop */
    struct gf_made_file one, small, middle, large; /* PPMs of one pixel, and of 0.5, 2 and 8
                                                    * megapixels */
    char folder[100];
};

/* Returns the seconds of one of the clocks of time.h. */
double gf_clock_s(clockid_t clock);
/* Whether enough time is left for something that takes that long. */
bool gf_calibrator_has_time(const struct gf_calibrator *calibrator, double seconds);

/* Stores a measured figure, unless its value is impossible. */
void gf_calibrator_set(struct gf_calibrator *calibrator, int figure, double value);

/* Makes a picture like a photograph in the calibration's folder. */
enum gf_status gf_calibrator_make_file(const struct gf_calibrator *calibrator, const char *name,
                                       int width, int height, struct gf_made_file *made,
                                       struct gf_error *error) GF_CHECKED;
/* Returns the file with another ending: "/tmp/.../large.ppm" and "-2.jpg". */
struct gf_made_file gf_made_file_named(const struct gf_made_file *file, const char *ending);
/* Runs an open pipeline once. Returns false after a failure. wall_s may be NULL. */
bool gf_calibrate_once(struct gf_pipeline *pipeline, const struct gf_made_file *in,
                       const struct gf_made_file *out, double *wall_s);
/* Does the same with a pipeline that it opens. */
bool gf_calibrate_make(const char *chain, const struct gf_options *options,
                       const struct gf_made_file *in, const struct gf_made_file *out);
/* Returns options for a run that records spans. With threads = 1 one thread processes each
 * picture. */
struct gf_options gf_calibrate_options(int threads);
/* Runs a chain several times with the options, and stores the least value of each figure from
 * `first` to `last` in the runs' spans. */
void gf_calibrate_chain(struct gf_calibrator *calibrator, const char *chain,
                        const struct gf_options *options, const struct gf_made_file *in,
                        const struct gf_made_file *out, int first, int last);

/* Measures every filter with its example or its defaults. `cuda`: the options choose a GPU. */
void gf_calibrate_filters(struct gf_calibrator *calibrator, const struct gf_options *options,
                          bool cuda);
/* Returns the least seconds of a run of the whole program on a picture of one pixel; 0 if it does
 * not run. */
double gf_calibrate_process_s(const struct gf_calibrator *calibrator, const char *device, int runs);

/* Measure the figures of the CPU and of the GPU. */

/* The figures in the spans of one picture, which was alone in work: the measured seconds, and the
 * seconds for a figure of 1. */
struct gf_seen {
    struct gf_seen_figure {
        double measured_s, unit_s;
    } figure[GF_FIGURES_MAX];
};
/* Adds the profile of a chain's run to *seen, which must be zeroed first. */
void gf_calibrate_see(const char *chain, const struct gf_options *options,
                      const struct gf_profile *profile, struct gf_seen *seen);
