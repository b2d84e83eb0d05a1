/* The profile of a run: what it did and when. The pipeline owns the data to which the pointers
 * lead, until its next run. */
#ifndef GPUFILTER_PROFILE_H
#define GPUFILTER_PROFILE_H

#include <stdbool.h>
#include <stddef.h>

#include "gpufilter/image.h"

#ifdef __cplusplus
extern "C" {
#endif

enum gf_span_kind {
    GF_SPAN_START,     /* the initialisation of CUDA */
    GF_SPAN_DECODE,    /* reading and decoding the input; bytes: the samples produced */
    GF_SPAN_UPLOAD,    /* a copy to the device; bytes: copied */
    GF_SPAN_STAGE,     /* a stage, once for a band; bytes: read by the stage + written by it */
    GF_SPAN_STATISTIC, /* counting a histogram; bytes: read */
    GF_SPAN_DOWNLOAD,  /* a copy from the device; bytes: copied */
    GF_SPAN_ENCODE, /* encoding; bytes: samples consumed; 0: the time to write the bytes that a GPU
                     * has encoded */
    GF_SPAN_KINDS
};

/* One decode, copy, kernel or encode. */
struct gf_span {
    enum gf_span_kind kind;
    int stage;             /* index in gf_profile.stages for STAGE and STATISTIC, otherwise -1 */
    int lane;              /* the lane, from 0; -1: the thread that reads or writes the picture */
    double begin_s, end_s; /* seconds since the run began */
    size_t bytes;
};

struct gf_profile_stage {
    char name[96]; /* "blur", "gamma+blur" for fused filters, "histogram luma" */
    int segment;
};

/* A level of a pyramid of tiles that was written. */
struct gf_profile_level {
    int width, height;      /* in pixels */
    long long tiles, bytes; /* bytes: of the coded tiles */
};

struct gf_profile {
    const struct gf_span *spans; /* the spans, in no particular order */
    size_t span_count;
    const struct gf_profile_stage *stages; /* the stages, in the order of the chain */
    int stage_count;
    double wall_s;    /* the time from the start of the run to the renamed output */
    char device[96];  /* the device that did the work: "cuda:0 NVIDIA H200" or "cpu, 2 threads" */
    char reason[160]; /* the reason for the choice of the device */
    int lanes, segments;
    int band_rows; /* the rows of a band of the first segment */
    struct gf_format in, out;
    char in_file[16], out_file[16]; /* "PNG", "JPEG", "PNM", "PAM"; empty for pictures in memory */
    long long in_bytes, out_bytes;  /* the bytes of the files; in_bytes is -1 for a stream */
    /* Peak bandwidths of this machine, measured in this run, in bytes per second; 0: not
     * measured. */
    double device_copy_peak;           /* copies within the device (CPU: memcpy), read + written */
    double upload_peak, download_peak; /* copies over PCIe from and to pinned host memory */
    bool device_decoded, device_encoded; /* the GPU's codec decoded or encoded the picture */
    int reduction;  /* above 1: the picture was read at 1/reduction of the size of `in`; otherwise
                     * 1 */
    int quality;    /* the quality that options.max_bytes or a target has led to; 0: none */
    char found[64]; /* what a filter has found in the picture: "deskew: turned by -1.25 degrees"; or
                     * "" */
    int frames;     /* the number of frames of an animation; 1 if the input is a single picture */
    int level;      /* the number of the file's level that was read; 0: the full size */
    int written_levels; /* the number of levels of the pyramid that was written; 0: none was */
    const struct gf_profile_level *written; /* these levels, the full size first */
    int tries;    /* the encodings by which `quality` was found; 0: it was not searched */
    double score; /* what the picture that was written has of the target's measure; 0: no target */
};

/* Returns the kind's name: "decode", "upload", "stage"; "unknown" for a number that is no kind. */
GF_API const char *gf_span_kind_name(enum gf_span_kind kind);

#ifdef __cplusplus
}
#endif
#endif
