/* A pipeline from the inside: pipeline.c opens it and chooses its device, pipeline_run.c brings one
 * picture through it, pipeline_ends.c decodes and encodes on the device, pipeline_file.c and
 * pipeline_image.c are what pictures come from and go to. */
#ifndef GF_PIPELINE_STATE_H
#define GF_PIPELINE_STATE_H

#include "backend.h"
#include "codec.h"
#include "codec_device.h"
#include "formats.h"
#include "pipeline_internal.h"
#include "plan.h"
#include "store.h"

struct gf_pipeline {
    struct gf_chain chain;
    struct gf_options options;
    struct gf_backend *backend;
    bool on_cuda;
    int band_rows; /* of the next attempt; 0: chosen */
    bool has_run;
    struct gf_store store;
    struct gf_codec_device codec;
    bool ends_taken, no_ends; /* by the last attempt; by the next ones of this picture */
    struct gf_gate *gate;     /* NULL: memory is not shared */
    struct gf_spans spans;
    struct gf_profile profile;
    struct gf_profile_stage *stages;
};

/* One picture from somewhere to somewhere; an attempt that a device failed is made again. */
struct gf_passage {
    struct gf_input *input;
    const struct gf_target *target;
    int number;                                  /* of the picture in the input, from 1 */
    enum gf_file_format own_format, file_format; /* the input's and the output's */
    const char *path;                            /* what the target chose */
    struct gf_output *output;                    /* opened when the result's format is known */
    const struct gf_image *image_in, *image_out;
};

/* After a failure of the device: without its codec, in smaller bands, then, under `auto`, on the
 * CPU. False: give up. */
bool gf_pipeline_recover(struct gf_pipeline *pipeline, enum gf_status failure,
                         const struct gf_error *why, struct gf_error *error);

/* Runs the picture, again where a device failed and was recovered from. */
enum gf_status gf_pipeline_pass(struct gf_pipeline *pipeline, struct gf_passage *passage,
                                struct gf_error *error) GF_CHECKED;
/* The spans' origin is where pipeline_open started for the first run, so that the start-up is in
 * the profile. */
void gf_pipeline_begin_profile(struct gf_pipeline *pipeline);
void gf_pipeline_end_profile(struct gf_pipeline *pipeline);

/* The pictures at either end that lie on the device; data is NULL where they do not. */
struct gf_ends {
    struct gf_image in, out;
};

/* Decodes on the device and makes room there for the result, where the codec takes the one and the
 * other; without stages the one is the other. */
enum gf_status gf_pipeline_take_ends(struct gf_pipeline *pipeline, const struct gf_passage *passage,
                                     const struct gf_plan *plan, struct gf_ends *ends,
                                     struct gf_error *error) GF_CHECKED;
void gf_pipeline_drop_ends(struct gf_pipeline *pipeline, const struct gf_ends *ends);
enum gf_status gf_pipeline_encode_on_device(struct gf_pipeline *pipeline, struct gf_sink *sink,
                                            const struct gf_image *image,
                                            struct gf_error *error) GF_CHECKED;

#endif
