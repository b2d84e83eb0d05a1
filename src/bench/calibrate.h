/* --calibrate: measures the figures of this machine, by which the program estimates times, in some
 * seconds. It uses pictures that it makes: for most figures through the library as runs use it, and
 * for start and end of the program through the program itself. */
#pragma once

#include "batch/devices/figures.h"
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
