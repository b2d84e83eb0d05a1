/* A pipeline from the inside: pipeline.c opens it and chooses its device, pipeline_run.c brings one
 * picture through it, pipeline_ends.c decodes and encodes on the device, pipeline_file.c and
 * pipeline_image.c are what pictures come from and go to. */
#ifndef GF_PIPELINE_PIPELINE_STATE_H
#define GF_PIPELINE_PIPELINE_STATE_H

#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "engine/backend.h"
#include "engine/device_codec.h"
#include "engine/store.h"
#include "pipeline/pipeline_internal.h"

struct gf_pipeline {
    struct gf_chain chain;
    struct gf_options options;
    struct gf_backend *backend;
    bool on_cuda;
    int band_rows; /* of the next attempt; 0: chosen */
    bool has_run;
    struct gf_store store;
    struct gf_device_codec codec;
    bool device_images_taken,
        no_device_images; /* by the last attempt; by the next ones of this picture */
    struct gf_memory_budget *memory_budget; /* NULL: memory is not shared */
    struct gf_spans spans;
    struct gf_profile profile;
    struct gf_profile_stage *stages;
};

/* One picture from somewhere to somewhere; an attempt that a device failed is made again. */
struct gf_picture_task {
    struct gf_input *input;
    const struct gf_destination *destination;
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
enum gf_status gf_pipeline_run_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                    struct gf_error *error) GF_CHECKED;
/* The spans' origin is where pipeline_open started for the first run, so that the start-up is in
 * the profile. */
void gf_pipeline_begin_profile(struct gf_pipeline *pipeline);
void gf_pipeline_end_profile(struct gf_pipeline *pipeline);

/* The pictures at either end that lie on the device; data is NULL where they do not. */
struct gf_device_images {
    struct gf_image in, out;
};

/* Decodes on the device and makes room there for the result, where the codec takes the one and the
 * other; without stages the one is the other. */
enum gf_status gf_pipeline_take_device_images(struct gf_pipeline *pipeline,
                                              const struct gf_picture_task *task,
                                              const struct gf_plan *plan,
                                              struct gf_device_images *device_images,
                                              struct gf_error *error) GF_CHECKED;
void gf_pipeline_drop_device_images(struct gf_pipeline *pipeline,
                                    const struct gf_device_images *device_images);
enum gf_status gf_pipeline_encode_on_device(struct gf_pipeline *pipeline, struct gf_sink *sink,
                                            const struct gf_image *image,
                                            struct gf_error *error) GF_CHECKED;

#endif
