/* What the parts of a calibration share. */
#ifndef GF_BENCH_CALIBRATOR_H
#define GF_BENCH_CALIBRATOR_H

#include <time.h>

#include "bench/calibrate.h"
#include "gpufilter/pipeline.h"

/* A picture file in the calibration's folder. */
struct gf_made_file {
    char path[120];
    double pixels;
};

struct gf_calibrator {
    struct gf_calibration *calibration;
    const char *program;
    double end_s;                                  /* gf_now() at which to stop */
    struct gf_made_file one, small, middle, large; /* PPM: a pixel, and 0.5, 2 and 8 megapixels */
    char folder[100];
};

/* Seconds of one of the clocks of time.h. */
double gf_clock_s(clockid_t clock);
/* Whether there is time for something that takes that long. */
bool gf_calibrator_has_time(const struct gf_calibrator *calibrator, double seconds);

/* Takes a measured figure, unless its value is impossible. */
void gf_calibrator_set(struct gf_calibrator *calibrator, int figure, double value);

/* Makes a picture of that name in the calibration's folder, which is like a photograph. */
enum gf_status gf_calibrator_make_file(const struct gf_calibrator *calibrator, const char *name,
                                       int width, int height, struct gf_made_file *made,
                                       struct gf_error *error) GF_CHECKED;
/* The picture with another ending: "/tmp/.../large.ppm" and "-2.jpg". */
struct gf_made_file gf_made_file_named(const struct gf_made_file *file, const char *ending);
/* One run of a pipeline that is open; false: it failed. wall_s may be NULL. */
bool gf_calibrate_once(struct gf_pipeline *pipeline, const struct gf_made_file *in,
                       const struct gf_made_file *out, double *wall_s);
/* The same with a pipeline that is opened for it. */
bool gf_calibrate_make(const char *chain, const struct gf_options *options,
                       const struct gf_made_file *in, const struct gf_made_file *out);
/* Options of a run whose spans are wanted. threads 1: each picture by one thread. */
struct gf_options gf_calibrate_options(int threads);
/* Runs a chain some times, on whatever the options say, and takes what the spans say: the least
 * value of each figure from `first` to `last`. */
void gf_calibrate_chain(struct gf_calibrator *calibrator, const char *chain,
                        const struct gf_options *options, const struct gf_made_file *in,
                        const struct gf_made_file *out, int first, int last);

/* Every filter by its example or its defaults. cuda: the options say a GPU. */
void gf_calibrate_filters(struct gf_calibrator *calibrator, const struct gf_options *options,
                          bool cuda);
/* Seconds of the whole program, a picture of one pixel; the least; 0: it does not run. */
double gf_calibrate_process_s(const struct gf_calibrator *calibrator, const char *device, int runs);

/* Measure the figures of the CPU and of the GPU. */
void gf_calibrate_cpu(struct gf_calibrator *calibrator);
void gf_calibrate_gpu(struct gf_calibrator *calibrator);

#endif
