/* Pictures that a program reads and writes by functions of its own, not from a file or a block of
 * memory: they give the bytes of a file, one after another, and take them.
 *
 * A function that returns another status than GF_OK is not called again. The call of the pipeline
 * ends with that status and with what gf_fail() has written to the function's *error. The functions
 * must not call the pipeline. */
#ifndef GPUFILTER_PIPELINE_STREAM_H
#define GPUFILTER_PIPELINE_STREAM_H

#include "gpufilter/pipeline.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Gives the bytes of an input. */
struct gf_reader {
    size_t size; /* sizeof(struct gf_reader): later versions may add members at the end */
    /* Writes the next bytes to data, at least one and at most `size`, and sets *got to their
     * number; 0 is the end of the input. Any thread may call it during the call of the pipeline,
     * though one at a time. It is asked for more bytes at a time than the picture needs, though for
     * none behind a PNM, PAM, PNG, JPEG or QOI that is complete, unless a cell decodes it or
     * options.gain_map is set: what follows is left. Numbers in a PNM that are text end with the
     * blank behind them. The call is not interrupted by options.timeout_s. Formats that are decoded
     * from all of their bytes, as WebP, GIF and AVIF, hold up to options.memory_bytes of them
     * before that is an error. */
    enum gf_status (*read)(void *context, void *data, size_t size, size_t *got,
                           struct gf_error *error);
    void *context;
    const char *name; /* the input's name in messages; NULL: "input" */
};

/* Takes the bytes of an output. */
struct gf_writer {
    size_t size; /* sizeof(struct gf_writer): later versions may add members at the end */
    /* Takes all `size` bytes. The calling thread calls it when the whole file is in memory, so that
     * nothing is written of a picture that fails before. */
    enum gf_status (*write)(void *context, const void *data, size_t size, struct gf_error *error);
    void *context;
    const char *name; /* the output's name in messages; NULL: "output" */
};

/* Does what gf_pipeline_decode() does, for bytes that the reader gives. */
GF_API enum gf_status gf_pipeline_decode_from(struct gf_pipeline *pipeline,
                                              const struct gf_reader *reader,
                                              struct gf_image *output,
                                              struct gf_error *error) GF_CHECKED;

/* Does what gf_pipeline_encode() does, for a file that the writer takes. */
GF_API enum gf_status gf_pipeline_encode_to(struct gf_pipeline *pipeline,
                                            const struct gf_image *input,
                                            enum gf_file_format format,
                                            const struct gf_writer *writer,
                                            struct gf_error *error) GF_CHECKED;

/* Does what gf_pipeline_run_bytes() does, from the reader to the writer. */
GF_API enum gf_status gf_pipeline_run_stream(struct gf_pipeline *pipeline,
                                             const struct gf_reader *reader,
                                             enum gf_file_format format,
                                             const struct gf_writer *writer,
                                             struct gf_error *error) GF_CHECKED;

#ifdef __cplusplus
}
#endif
#endif
