/* Many pictures in one call, in the memory of a pipeline's CUDA device: decoded, filtered, encoded,
 * as the numbers that networks take.
 *
 * The pipeline's options.device is GF_DEVICE_CUDA; otherwise the calls return GF_ERROR_USAGE.
 * `stream` is a cudaStream_t of the caller, which may be NULL and must not be captured into a
 * graph, unless a function says so. Pictures do without a copy if their addresses and pitches are
 * multiples of 16. */
#ifndef GPUFILTER_PIPELINE_BATCH_H
#define GPUFILTER_PIPELINE_BATCH_H

#include "gpufilter/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Decodes the bytes of `count` picture files, data[i] with sizes[i] bytes in host memory, and runs
 * the chain on each, with gf_pipeline_decode()'s results. JPEGs and marked PNGs are decoded on the
 * device, several at a time if the chain is empty; the rest, and what is damaged, on the host.
 * Bytes in pinned memory are not copied before. If images[i].data is NULL, the call allocates the
 * picture, which gf_pipeline_free_images() frees; otherwise it is the caller's memory on the
 * device, with the result's format, which is written after the work that is queued on `stream`. The
 * pictures are complete when the call returns.
 *
 * A picture's failure does not keep the others from being decoded: errors[i] has its status, GF_OK
 * for success, and its text, which names the picture as "[3]". `errors` may be NULL. Returns the
 * status of the first picture that has failed; images[i].data of one that the call would have
 * allocated is then NULL. */
GF_API enum gf_status gf_decode_batch(struct gf_pipeline *pipeline, int count,
                                      const void *const *data, const size_t *sizes,
                                      struct gf_image *images, void *stream,
                                      struct gf_error *errors, struct gf_error *error) GF_CHECKED;

/* Runs the chain on `count` pictures in the device's memory, after the work that is queued on
 * `stream`, as gf_pipeline_run_device_batch() does. If outputs[i].data is NULL, the call allocates
 * the picture, which gf_pipeline_free_images() frees. The pictures are complete when the call
 * returns; after a failure none has been allocated. */
GF_API enum gf_status gf_filter_batch(struct gf_pipeline *pipeline, int count,
                                      const struct gf_image *inputs, struct gf_image *outputs,
                                      void *stream, struct gf_error *error) GF_CHECKED;

/* Frees pictures that gf_decode_batch() or gf_filter_batch() has allocated, and sets their data to
 * NULL. Waits for all work on the device before. Any thread may call it at any time until the
 * pipeline is closed. */
GF_API void gf_pipeline_free_images(struct gf_pipeline *pipeline, struct gf_image *images,
                                    int count);

/* Runs the chain on `count` pictures in the device's memory, after the work that is queued on
 * `stream`, and encodes them, with gf_pipeline_encode()'s results. If results[i] is NULL, it
 * becomes a file of sizes[i] bytes, which the caller frees by gf_free(), or stays NULL after a
 * failure. Otherwise it is memory of the caller with room for sizes[i] bytes, and sizes[i] becomes
 * the file's; GF_ERROR_UNFIT if it is too small. New memory for large files takes longer than
 * encoding them. Failures are told as gf_decode_batch() tells them. */
GF_API enum gf_status gf_encode_batch(struct gf_pipeline *pipeline, int count,
                                      const struct gf_image *images, enum gf_file_format format,
                                      void **results, size_t *sizes, void *stream,
                                      struct gf_error *errors, struct gf_error *error) GF_CHECKED;

/* Writes the numbers that gf_image_to_floats() makes of `count` pictures of one format. All are in
 * the device's memory: the numbers of picture i begin at values[i * width * height * channels]. The
 * work is queued on `stream`, and the call does not wait for it. It can be captured into a CUDA
 * graph if the pipeline has worked on the device before. */
GF_API enum gf_status gf_pipeline_to_floats(struct gf_pipeline *pipeline, int count,
                                            const struct gf_image *images, enum gf_floats layout,
                                            int channels, const float *mean, const float *deviation,
                                            float *values, void *stream,
                                            struct gf_error *error) GF_CHECKED;
/* Does the same for numbers of the form of gf_image_to_numbers(). With GF_FLOATS_PATCHES the
 * pictures may have several sizes, and the numbers of each begin where those of the one before end:
 * the rows of patches of a whole batch, in a launch for each 64 pictures. */
GF_API enum gf_status gf_pipeline_to_numbers(struct gf_pipeline *pipeline, int count,
                                             const struct gf_image *images,
                                             const struct gf_numbers *form, void *values,
                                             void *stream, struct gf_error *error) GF_CHECKED;
/* Does what gf_image_from_numbers() does, for numbers and a picture in the device's memory, after
 * the work that is queued on `stream`, and waits for it. Numbers of the type GF_NUMBER_BFLOAT16
 * become float samples of 32 bits exactly with black=0 and white=1. */
GF_API enum gf_status gf_pipeline_from_numbers(struct gf_pipeline *pipeline, const void *values,
                                               enum gf_number type, float black, float white,
                                               const struct gf_image *image, void *stream,
                                               struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
