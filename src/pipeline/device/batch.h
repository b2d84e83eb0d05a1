/* What decoding and encoding many pictures on a device share. */
#pragma once

#include "pipeline/pipeline_state.h"

/* A batch: pictures 0..count - 1, whose failures are in `errors`. */
struct gf_device_batch {
    struct gf_pipeline *pipeline;
    int count;
    void *stream; /* the caller's, for whose work the pictures are waited for */
    struct gf_error *errors, *own_errors;
    bool *ended;                     /* pictures that are done, or have failed */
    struct gf_device_coders *coders; /* NULL: the pictures go one by one through the pipeline */
    int before;                      /* the device that was the calling thread's */
    struct gf_lane *lane;            /* binds a thread to the device */
    /* The pictures that the coders have coded and nobody has taken yet. */
    pthread_mutex_t lock;
    sem_t coded;
    struct gf_coding *first;
};

/* Begins a batch. `errors` are the caller's; NULL: there are none. */
enum gf_status gf_device_batch_open(struct gf_device_batch *batch, struct gf_pipeline *pipeline,
                                    int count, void *stream, struct gf_error *errors,
                                    struct gf_error *error) GF_CHECKED;
/* Ends it. Returns the status of the first picture that has failed. */
enum gf_status gf_device_batch_close(struct gf_device_batch *batch,
                                     struct gf_error *error) GF_CHECKED;

/* Codes pictures first..first + count - 1: calls `prepare` for each on all processors, begins to
 * code those for which it returns a coding, and calls `take` for each of these when it is coded: if
 * `shared`, on all processors as soon as it is, otherwise on the calling thread after all have been
 * prepared. */
typedef struct gf_coding *gf_prepare_picture(void *context, int picture);
typedef void gf_take_picture(void *context, struct gf_coding *coding);
enum gf_status gf_device_batch_code(struct gf_device_batch *batch, int first, int count,
                                    gf_prepare_picture *prepare, gf_take_picture *take, bool shared,
                                    void *context, struct gf_error *error) GF_CHECKED;

/* Calls `work` for each picture that has not ended, on all processors, with a pipeline that no
 * other thread uses meanwhile. */
typedef void gf_picture_work(void *context, struct gf_pipeline *pipeline, int picture);
enum gf_status gf_device_batch_finish(const struct gf_device_batch *batch, gf_picture_work *work,
                                      void *context, struct gf_error *error) GF_CHECKED;

/* Waits for the caller's work on the pictures. */
enum gf_status gf_device_batch_await(const struct gf_device_batch *batch,
                                     struct gf_error *error) GF_CHECKED;
/* Checks a caller's picture. */
enum gf_status gf_device_batch_check(const struct gf_device_batch *batch,
                                     const struct gf_image *image, const char *name,
                                     struct gf_error *error) GF_CHECKED;
/* Copies a picture within the memory of the pipeline's device, whatever the alignment of its rows.
 */
enum gf_status gf_device_batch_copy(struct gf_pipeline *pipeline, const struct gf_image *to,
                                    const struct gf_image *from, struct gf_error *error) GF_CHECKED;
/* Whether kernels and coders can read and write the rows where they are. */
bool gf_device_image_is_aligned(const struct gf_image *image);

/* The name of a picture in messages, "[3]". */
struct gf_picture_name {
    char text[16];
};
struct gf_picture_name gf_picture_name(int picture);
