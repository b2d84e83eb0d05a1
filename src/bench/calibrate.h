/* --calibrate: measures, in some seconds, the figures of this machine, such as nanoseconds for a
 * pixel of a filter, by which the program estimates times. It runs jobs on pictures that it makes.
 * The figures of a job are multiplied so that the estimate equals the measured time; figures
 * without a job get the mean factor of their kind. */
#pragma once

#include "batch/devices/figures.h"
#include "gpufilter/status.h"

struct gf_calibration {
    struct gf_figures figures;    /* a figure is 0 if neither it nor its kind was measured */
    bool derived[GF_FIGURES_MAX]; /* the figure has the mean factor of its kind */
    bool gpu;                     /* there was a GPU, which was measured */
    char why_no_gpu[160];
    double seconds; /* duration of the calibration */
};

enum { GF_CALIBRATE_SECONDS = 10 };

/* Measures for at most `seconds`; figures for which no time is left are not measured. `program` is
 * the file to start for the time of whole processes. Fails if there is no memory or no folder for
 * temporary files; a figure that cannot be measured is no failure. */
enum gf_status gf_calibrate(const char *program, double seconds, struct gf_calibration *calibration,
                            struct gf_error *error) GF_CHECKED;

/* Finds the factor within least..greatest at which estimate(), which rises or falls with the
 * factor, is `measured`, or closest to it. Returns false if the factor does not matter: what it
 * multiplies is less than a fifth of the estimate. */
bool gf_calibrate_fit(double (*estimate)(void *context, double factor), void *context,
                      double measured, double least, double greatest, double *factor);
