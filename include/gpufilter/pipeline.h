/* A pipeline: a chain of filters that is opened once and run on any number of pictures: from file
 * to file, from the bytes of a file in memory, or from pixels. */
#ifndef GPUFILTER_PIPELINE_H
#define GPUFILTER_PIPELINE_H

#include "gpufilter/image.h"
#include "gpufilter/options.h"
#include "gpufilter/profile.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The struct is opaque. A pipeline serves one call at a time; each thread opens its own. */
struct gf_pipeline;

/* Parses the chain ("blur=2,equalize"; NULL or "" changes nothing), checks the options (NULL: the
 * defaults) and chooses the device, which starts in the background. gf_pipeline_close() closes
 * *pipeline, which is NULL after a failure. Returns GF_ERROR_USAGE if the chain or an option is
 * wrong, GF_ERROR_UNAVAILABLE if the device does not exist. */
GF_API enum gf_status gf_pipeline_open(const char *chain, const struct gf_options *options,
                                       struct gf_pipeline **pipeline,
                                       struct gf_error *error) GF_CHECKED;
GF_API void gf_pipeline_close(struct gf_pipeline *pipeline);

/* Runs the chain from file to file; "-" is standard input or output. The output appears complete or
 * not at all. An input may contain several pictures of PNM, PAM, JPEG or PNG one after another:
 * standard output gets all of them, a file the first one, with a warning. GF_ERROR_READ,
 * GF_ERROR_INPUT and GF_ERROR_OUTPUT name the file. */
GF_API enum gf_status gf_pipeline_run_file(struct gf_pipeline *pipeline, const char *input,
                                           const char *output, struct gf_error *error) GF_CHECKED;

/* Runs the chain from a picture file of `size` bytes in memory to a file of *result_size bytes,
 * which the caller frees by gf_free(). `format` is the result's format; with GF_FILE_AUTO it is
 * options.format, and if that is also GF_FILE_AUTO, the input's own. The data must not change
 * during the call. Errors name the two files "input" and "output". */
GF_API enum gf_status gf_pipeline_run_bytes(struct gf_pipeline *pipeline, const void *data,
                                            size_t size, enum gf_file_format format, void **result,
                                            size_t *result_size, struct gf_error *error) GF_CHECKED;
GF_API void gf_free(void *memory);

/* Runs the chain from pixels to pixels. If output->data is NULL, the call allocates the output,
 * which the caller frees by gf_image_free(). Otherwise the output must have the format that
 * gf_pipeline_format() finds, and must not overlap the input. After a failure the contents of the
 * caller's output are undefined. */
GF_API enum gf_status gf_pipeline_run_image(struct gf_pipeline *pipeline,
                                            const struct gf_image *input, struct gf_image *output,
                                            struct gf_error *error) GF_CHECKED;

/* Runs the chain from pixels to pixels in the memory of the pipeline's CUDA device. Both pictures
 * are the caller's: data is a device's address, and the output has the format that
 * gf_pipeline_format() finds. The call queues the work on `stream`, a cudaStream_t of the caller,
 * which may be NULL, and returns, so that the result is complete when the stream has come that far;
 * a failure after that is reported by a later call. The calls of one pipeline follow each other on
 * the device, whatever their streams are. It waits for the result if options.profile, options.spans
 * or options.timeout_s is set, if somebody watches the run, or if the device has little memory, and
 * waits for a histogram if a filter needs one (equalize). Pictures whose addresses and pitches are
 * multiples of 16 are not copied. Returns GF_ERROR_USAGE unless options.device is GF_DEVICE_CUDA
 * and the memory is that device's, and, before anything is queued, if the stream is being captured
 * into a CUDA graph, which would outlive the pipeline's memory. Returns GF_ERROR_UNFIT if a filter
 * looks for a box in the picture (trim, deskew), and, before anything is queued,
 * GF_ERROR_UNAVAILABLE if a filter would get or give floats and has no kernels for them. Pictures
 * of floats keep their samples' bits up to the first filter, and nothing limits the result's. */
GF_API enum gf_status gf_pipeline_run_device(struct gf_pipeline *pipeline,
                                             const struct gf_image *input,
                                             const struct gf_image *output, void *stream,
                                             struct gf_error *error) GF_CHECKED;

/* Does what gf_pipeline_run_device() does, for `count` pictures, which may have several formats.
 * Pictures of one format that follow each other in the list are planned once, and small ones share
 * launches: 64 pictures of 256x256 take little longer than one. That is fastest if they also follow
 * each other in memory, at equal distances. No output may overlap any input. After a failure,
 * errors name the picture by its index; pictures before it may have been filtered. */
GF_API enum gf_status gf_pipeline_run_device_batch(struct gf_pipeline *pipeline,
                                                   const struct gf_image *inputs,
                                                   const struct gf_image *outputs, int count,
                                                   void *stream, struct gf_error *error) GF_CHECKED;

/* Runs the chain from a picture file in memory to pixels, with gf_pipeline_run_bytes()'s input and
 * gf_pipeline_run_image()'s output. With an empty chain the file is only decoded. Of several
 * pictures the first is taken. The pixels keep the colours of the file's profile, which the filter
 * icc converts to sRGB. */
GF_API enum gf_status gf_pipeline_decode(struct gf_pipeline *pipeline, const void *data,
                                         size_t size, struct gf_image *output,
                                         struct gf_error *error) GF_CHECKED;

/* Runs the chain from pixels to a picture file in memory, with gf_pipeline_run_image()'s input and
 * gf_pipeline_run_bytes()'s output. Here GF_FILE_AUTO is options.format, and if that is also
 * GF_FILE_AUTO, PNG. */
GF_API enum gf_status gf_pipeline_encode(struct gf_pipeline *pipeline, const struct gf_image *input,
                                         enum gf_file_format format, void **result,
                                         size_t *result_size, struct gf_error *error) GF_CHECKED;

/* What a file holds beside its pixels: ICC profile, EXIF, XMP, IPTC, texts, density. Opaque. */
struct gf_metadata;

/* Returns the metadata of the result of the last gf_pipeline_decode(), gf_pipeline_decode_from() or
 * gf_pipeline_run_image(), without what options.stripped and options.kept take away; NULL if there
 * are none. A profile of other colours than sRGB's stays, since the pixels need it. The caller
 * frees them by gf_metadata_close(); a second call returns NULL. */
GF_API struct gf_metadata *gf_pipeline_take_metadata(struct gf_pipeline *pipeline);
/* Gives the pixels that later calls of gf_pipeline_run_image(), gf_pipeline_encode() and
 * gf_pipeline_encode_to() take these metadata, as if they came from a file; NULL: they have none.
 * The metadata are the caller's, must stay until the last of these calls, and never change, so that
 * several pipelines may have the same. */
GF_API void gf_pipeline_give_metadata(struct gf_pipeline *pipeline,
                                      const struct gf_metadata *metadata);
GF_API void gf_metadata_close(struct gf_metadata *metadata);
/* Returns the ICC profile, the EXIF (a TIFF structure) or the XMP of these metadata, which own it,
 * and sets *size to its bytes; NULL if they have none, and for other items. */
GF_API const void *gf_metadata_part(const struct gf_metadata *metadata, enum gf_metadata_item item,
                                    size_t *size);

/* Finds the format of the result for an input of that format. If the result's size depends on the
 * pixels (trim), this is the largest possible size, and gf_pipeline_run_image() must allocate the
 * output. Returns GF_ERROR_UNFIT if the chain does not accept such an input. */
GF_API enum gf_status gf_pipeline_format(struct gf_pipeline *pipeline, struct gf_format input,
                                         struct gf_format *output,
                                         struct gf_error *error) GF_CHECKED;

/* Lets `watch` follow the runs of the pipeline from the next one on; NULL: nobody follows them. It
 * is called after each band of a picture with the part that is done, 0..1, which begins anew with
 * each picture, where a chain is run in parts, and where a failed attempt is repeated. If it
 * returns false, the run ends before its next band with GF_ERROR_CANCELLED. It may be called from
 * any thread during a call of the pipeline, though by one at a time, and must not call the
 * pipeline. */
GF_API void gf_pipeline_watch(struct gf_pipeline *pipeline,
                              bool (*watch)(void *context, double part), void *context);

/* Lets the pipeline's run end before its next band with GF_ERROR_CANCELLED. Any thread may call it
 * during a call of the pipeline; a run that begins later goes on. */
GF_API void gf_pipeline_cancel(struct gf_pipeline *pipeline);

/* Returns the profile of the last run, which is complete if the run succeeded. The pipeline owns
 * it, and changes it in the next run. It has spans if options.profile or options.spans is set. */
GF_API const struct gf_profile *gf_pipeline_profile(const struct gf_pipeline *pipeline);

/* Removes the temporary files of all runs that are in progress in the process. A signal handler
 * calls it just before _exit(). */
GF_API void gf_abandon_outputs(void);

/* Returns the version of the library that runs: "1.2.3". */
GF_API const char *gf_version(void);

#ifdef __cplusplus
}
#endif
#endif
