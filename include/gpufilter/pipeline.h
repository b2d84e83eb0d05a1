/* A chain of filters, opened once and run on any number of pictures, in files or in memory, one at
 * a time. */
#ifndef GPUFILTER_PIPELINE_H
#define GPUFILTER_PIPELINE_H

#include <stdint.h>

#include "gpufilter/image.h"
#include "gpufilter/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gf_device_kind { GF_DEVICE_AUTO, GF_DEVICE_CPU, GF_DEVICE_CUDA };
enum gf_file_format { GF_FILE_AUTO, GF_FILE_PNG, GF_FILE_JPEG, GF_FILE_PNM, GF_FILE_PAM };
enum gf_host_memory { GF_HOST_PINNED, GF_HOST_PAGEABLE };
enum gf_transfer { GF_TRANSFER_COPY, GF_TRANSFER_ZERO_COPY };
/* Of JPEG: libjpeg-turbo, or nvJPEG on the GPU where it takes the picture. */
enum gf_codec {
    GF_CODEC_AUTO, /* the CPU's; in a batch, what is done sooner */
    GF_CODEC_CPU,
    GF_CODEC_GPU,        /* an error where there is none */
    GF_CODEC_GPU_IF_FAST /* the GPU's if it has engines for it, else the CPU's */
};
enum gf_subsampling { GF_SUBSAMPLING_420, GF_SUBSAMPLING_422, GF_SUBSAMPLING_444 };

struct gf_options {
    enum gf_device_kind device;
    int device_index;      /* CUDA device */
    int lanes;             /* bands in flight; 0: chosen */
    int band_rows;         /* rows of a band; 0: chosen */
    int threads;           /* of the CPU backend, and as many of a PNG's encoder; 0: one for each
                            * processor; 1: a PNG is coded without any thread of its own */
    uint64_t memory_bytes; /* budget of host memory for buffers; 0: chosen */
    uint64_t device_memory_bytes;    /* budget of device memory; 0: what is free */
    uint64_t max_pixels;             /* a larger input is refused */
    enum gf_host_memory host_memory; /* of buffers that a GPU copies from and to */
    enum gf_transfer transfer; /* zero copy: kernels read and write pinned host memory themselves */
    enum gf_codec codec;
    bool no_fuse;      /* do not fuse adjacent point filters: the picture is rounded after each */
    bool autorotate; /* apply the EXIF orientation */
    bool allow_truncated; /* a truncated JPEG or PNG: keep what could be decoded */
    bool strip;           /* write no ICC profile, EXIF, XMP or density */
    bool profile;         /* record spans and measure the machine's peaks */
    bool spans;           /* record spans */
    bool serial; /* the calling thread does everything: for a pipeline on each of many threads */
    bool no_clobber;            /* an output that is there already is an error */
    bool sync;                  /* an output is on the disk when its run returns */
    enum gf_file_format format; /* of the output; GF_FILE_AUTO: by its extension */
    int quality;                /* JPEG, 1..100 */
    enum gf_subsampling subsampling;
    bool progressive; /* JPEG */
    int png_level;    /* 0..9: 1 is a quick one of our own, the others are zlib's */
    void (*warn)(void *context, const char *text); /* may be NULL; called from any thread */
    void *warn_context;
};

struct gf_options gf_options_default(void);

struct gf_pipeline; /* opaque */

/* Parses the chain ("blur=2,equalize"; NULL or "" passes pictures through) and chooses the device,
 * whose start-up goes on in the background. */
enum gf_status gf_pipeline_open(const char *chain, const struct gf_options *options,
                                struct gf_pipeline **pipeline, struct gf_error *error) GF_CHECKED;
void gf_pipeline_close(struct gf_pipeline *pipeline);

/* From file to file; "-" is standard input or output. The output appears complete or not at all. */
enum gf_status gf_pipeline_run_file(struct gf_pipeline *pipeline, const char *input,
                                    const char *output, struct gf_error *error) GF_CHECKED;

/* From pixels to pixels. *output is allocated by the call (data NULL) or has the format that
 * gf_pipeline_format gives, and lies elsewhere than the input. */
enum gf_status gf_pipeline_run_image(struct gf_pipeline *pipeline, const struct gf_image *input,
                                     struct gf_image *output, struct gf_error *error) GF_CHECKED;

/* The format of the result for an input of that format. */
enum gf_status gf_pipeline_format(struct gf_pipeline *pipeline, struct gf_format input,
                                  struct gf_format *output, struct gf_error *error) GF_CHECKED;

/* Of the last run; valid until the next one. Spans are there when options.profile was set. */
const struct gf_profile *gf_pipeline_profile(const struct gf_pipeline *pipeline);

/* Removes named temporary files of runs under way. Safe in a signal handler, before _exit. */
void gf_abandon_outputs(void);

/* One line on each CUDA device of this machine, 0 where there are none (then *why says why). */
struct gf_device_info {
    int index;
    char name[64];
    int major, minor, multiprocessors;
    uint64_t memory_bytes, l2_bytes;
    int copy_engines;
    int driver_version, runtime_version; /* 13000 is 13.0 */
    double memory_bandwidth;             /* bytes/s by clock and bus width; 0: not told */
    bool ecc;
    char pci_bus_id[16]; /* "0000:01:00.0" */
    int numa_node;       /* -1: there is only one, or it is not known */
};
int gf_device_count(const char **why);
enum gf_status gf_device_describe(int index, struct gf_device_info *info,
                                  struct gf_error *error) GF_CHECKED;
/* The architecture of the machine code that the device would run, 90 for sm_90, and whether it is
 * the program's own; else the driver compiles it from PTX. Starts the device. */
enum gf_status gf_device_code(int index, int *architecture, bool *built_in,
                              struct gf_error *error) GF_CHECKED;

/* Runs every filter, variant, size and depth on every device against the CPU backend, with guard
 * bytes around every buffer. `filters`: names of those to test, between commas; NULL or "": all.
 * One call of line for each case; GF_ERROR_DEVICE where one failed. */
struct gf_selftest_counts {
    int passed, failed, skipped;
};
enum gf_status gf_selftest(bool small_only, const char *filters,
                           void (*line)(void *context, const char *text), void *context,
                           struct gf_selftest_counts *counts, struct gf_error *error) GF_CHECKED;

const char *gf_version(void);

#ifdef __cplusplus
}
#endif
#endif
