/* What the program and the tests need of a pipeline beyond its public functions. */
#ifndef GF_PIPELINE_PIPELINE_INTERNAL_H
#define GF_PIPELINE_PIPELINE_INTERNAL_H

#include "base/memory_budget.h"
#include "base/start_times.h"
#include "chain/plan.h"
#include "codec/common/source.h"
#include "engine/backend.h"
#include "engine/schedule.h"

/* A picture as a file is, in memory. */
struct gf_bytes {
    enum gf_file_format format; /* that is wanted; GF_FILE_AUTO: as the options say */
    const char *name;           /* for messages */
    void *data;                 /* malloc */
    size_t size;
};

enum { GF_PIPELINE_OUTPUTS_MAX = 16 };

/* What one of several outputs of a picture is made by. Of the options those count that
 * gf_options_of_output() copies; the others are those of the first output. */
struct gf_pipeline_output {
    const char *chain;
    struct gf_options options;
};
/* As gf_pipeline_open, for a pipeline that makes 1..GF_PIPELINE_OUTPUTS_MAX outputs of each
 * picture. */
enum gf_status gf_pipeline_open_outputs(const struct gf_pipeline_output *output, int count,
                                        struct gf_pipeline **pipeline,
                                        struct gf_error *error) GF_CHECKED;
/* Copies the options, with defaults for members that the caller's version does not have, and checks
 * them. given may be NULL: the defaults. */
enum gf_status gf_options_check(const struct gf_options *given, struct gf_options *checked,
                                struct gf_error *error) GF_CHECKED;
/* Copies what one output of several has for itself: its format and how it is encoded. */
void gf_options_of_output(struct gf_options *options, const struct gf_options *from);

/* Where the pictures of one input go. Most inputs hold one; one of PNM, JPEG or PNG may hold many.
 * Of a pipeline with several outputs each has a destination. */
struct gf_destination {
    struct gf_bytes *bytes; /* not NULL: one picture goes there; the members below are for files */
    /* The path of the output for the input's number-th picture, from 1; valid until the next call.
     * content: the input's file format. May make folders. */
    enum gf_status (*choose)(void *context, int number, enum gf_file_format content,
                             struct gf_format result, const char **path, struct gf_error *error);
    /* A picture's output is in place; may be NULL. */
    void (*done)(void *context, int number, const char *path, const struct gf_profile *profile);
    bool several;             /* there are names for more than one picture */
    const char *several_hint; /* else: what a user can do about an input that holds more */
    void *context;
    bool left_out; /* of several outputs: this one is not wanted */
    /* Of several outputs: how this one ended. GF_OK with `delivered` where it is in its place. */
    bool delivered;
    enum gf_status status;
    struct gf_error error;
};

/* The bytes of a file that is in memory. */
struct gf_file_bytes {
    const void *data;
    size_t size;
};

/* As gf_pipeline_run_file, with a destination for each output of the pipeline. bytes: what is read,
 * the input being a name for messages; NULL: the input is the path of a file. The pictures before
 * one that fails are done. What several outputs have in common is done once: the decoding, where
 * they take the same fraction of the picture's size, and the stages with which their plans begin.
 * An output that fails leaves the others as they are; the status and the error are those of the
 * first that failed. */
enum gf_status gf_pipeline_run_pictures(struct gf_pipeline *pipeline, const char *input,
                                        const struct gf_file_bytes *bytes,
                                        struct gf_destination *destination,
                                        struct gf_error *error) GF_CHECKED;

/* What an input's header says: the file format, and the formats of its first picture and of the
 * result. Where that depends on the pixels (trim), the picture is made. */
struct gf_peek {
    enum gf_file_format content;
    struct gf_format in, out;
};
enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *input,
                                struct gf_peek *peek, struct gf_error *error) GF_CHECKED;
/* What a plan for the source's picture depends on. Where the chain is content with a smaller
 * picture, the source is set to decode one. */
struct gf_plan_request gf_pipeline_request(const struct gf_pipeline *pipeline,
                                           struct gf_source *source);
/* Why this device runs, for the profile. */
void gf_pipeline_set_reason(struct gf_pipeline *pipeline, const char *reason);

/* From now on a whole picture in host memory counts against this budget, which other pipelines
 * share. */
void gf_pipeline_share_budget(struct gf_pipeline *pipeline, struct gf_memory_budget *memory_budget);

/* Lets another thread see how far the picture is that the pipeline runs. */
void gf_pipeline_share_progress(struct gf_pipeline *pipeline, struct gf_run_progress *progress);

/* Closes the pipeline's backend and runs that one instead, which the pipeline then owns. on_cuda:
 * treat it as a GPU, whose failures are recovered from. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend,
                                 bool on_cuda);
/* The pipeline's own options; a change takes effect in the next run. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);
const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline);
/* ---- pictures that another process does ---- */

enum { GF_REMOTE_FILES = 8 }; /* the most that a chain may name */

/* A picture of one file to be written to another, as a process hands it to the one that does it. */
struct gf_remote_work {
    const char *chain;              /* NULL or "": none */
    struct gf_options options;      /* options.format is the output's, not GF_FILE_AUTO */
    int in, out;                    /* descriptors of regular files */
    int64_t in_offset;              /* where the picture begins */
    int in_page;                    /* as gf_input_page gives it */
    const char *in_name, *out_name; /* for messages */
    int files;                      /* that the chain names, of which each is a regular file */
    const char *file_name[GF_REMOTE_FILES];
    int file[GF_REMOTE_FILES];        /* descriptors, which stay the caller's */
    struct gf_run_progress *progress; /* NULL: nobody reads it */
};
/* What the process that did it says; members of struct gf_profile have their meaning there. */
struct gf_remote_result {
    int64_t in_end;    /* the offset of the first byte behind the picture, from where it begins */
    int64_t out_bytes; /* written from the start of the output */
    int lanes, band_rows;
    bool device_decoded, device_encoded;
    char device[96];
    double run_s;                         /* from the request to the result */
    struct gf_times spans[GF_SPAN_KINDS]; /* in that time, from its beginning */
};

enum gf_remote_outcome {
    GF_REMOTE_DONE,   /* with the status that comes with it */
    GF_REMOTE_ABSENT, /* nobody took the work */
    GF_REMOTE_FAILED, /* whoever took it failed, and *error says how */
};
/* A connection to a process that does pictures (src/server). */
struct gf_remote {
    enum gf_remote_outcome (*run)(struct gf_remote *, const struct gf_remote_work *,
                                  struct gf_remote_result *, enum gf_status *,
                                  struct gf_error *error);
    void (*close)(struct gf_remote *);
};

/* As gf_pipeline_open, but the pictures are done by `remote`, which the pipeline owns even after a
 * failure; one that fails there is done again here, with a warning, and so are all after it. The
 * device of this process is started only then. */
enum gf_status gf_pipeline_open_remote(const char *chain, const struct gf_options *options,
                                       struct gf_remote *remote, struct gf_pipeline **pipeline,
                                       struct gf_error *error) GF_CHECKED;
/* What the remote does not do, the CPU does, whatever device the options name. */
void gf_pipeline_set_cpu_for_remote(struct gf_pipeline *pipeline);
/* Whether the last picture was the remote's. */
bool gf_pipeline_is_remote(const struct gf_pipeline *pipeline);
/* The bytes of buffers in device memory that the pipeline keeps between two pictures. */
uint64_t gf_pipeline_held_bytes(const struct gf_pipeline *pipeline);
/* Does the work of another process's pipeline. This one takes over the chain and the options,
 * except for the device, its index, and the budget of its memory. Owns both descriptors. */
enum gf_status gf_pipeline_run_remote_work(struct gf_pipeline *pipeline,
                                           const struct gf_remote_work *work,
                                           struct gf_remote_result *result,
                                           struct gf_error *error) GF_CHECKED;

/* ---- the parts of a pipeline ---- */

/* Waits until the backend has started. With GF_DEVICE_AUTO it is the CPU's if the GPU does not
 * start. */
enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend,
                                 bool *on_cuda, struct gf_error *error) GF_CHECKED;
/* The number of lanes of the next run; a picture of fewer bands uses fewer. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline);
/* The options of the next run, where a memory budget of 0 has become the default one. */
struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline);

#endif
