/* --calibrate: measures the figures of this machine, in some seconds, with pictures that it makes:
 * through the library as runs use it, and through the program itself for its start and end. */
#ifndef GF_BENCH_CALIBRATE_H
#define GF_BENCH_CALIBRATE_H

#include "batch/devices/figures.h"
#include "gpufilter/status.h"

struct gf_calibration {
    struct gf_figures figures; /* calibrated where that figure could be measured, else zero */
    bool gpu;                  /* a GPU was there and measured */
    char why_no_gpu[160];
    double seconds; /* that it took */
};

enum { GF_CALIBRATE_SECONDS = 9 };

/* Measures for at most `seconds`, and then leaves out what is left. program: the file to start for
 * the time of whole processes; NULL: that is left out. Fails where there is no memory or no folder
 * for temporary files; a figure that cannot be measured is no failure. */
enum gf_status gf_calibrate(const char *program, double seconds, struct gf_calibration *calibration,
                            struct gf_error *error) GF_CHECKED;

#endif
