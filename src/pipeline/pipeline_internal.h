/* Functions of a pipeline for the program and the tests, beyond its public functions. */
#pragma once

#include <stdatomic.h>

#include "base/process/machine.h"
#include "base/threads/times.h"
#include "chain/plan.h"
#include "codec/common/rows/source.h"
#include "engine/backend.h"
#include "engine/engine.h"

/* The path by which a program executes itself anew. */
#define GF_OWN_PROGRAM "/proc/self/exe"

/* A picture in memory, encoded as in a file. */
struct gf_bytes {
    enum gf_file_format format; /* the format that is wanted; GF_FILE_AUTO: the format that the
                                 * options name */
    const char *name;           /* the input's name for messages */
    void *data;                 /* malloc */
    size_t size;
};

/* Words of pipeline/options.def, which says what the last three mean. */
enum gf_option_type {
    GF_OPTION_SWITCH, /* the option has no value */
    GF_OPTION_FILE,   /* const char *; "-" is standard input or output */
    GF_OPTION_INPUT,  /* like GF_OPTION_FILE, but the option may be given several times */
    GF_OPTION_OUTPUT, /* like GF_OPTION_FILE, but each use of the option begins another output */
    GF_OPTION_SHARD,  /* the members shard and shards: "K/N" */
    GF_OPTION_FILTER, /* a filter's name, stored as the topic; or a choice, stored as the form of
                         --help */
    GF_OPTION_WORDS,  /* const char *, a text that is no file's name */
    GF_OPTION_RANGE,  /* the options' range: "MIN:MAX", "percentile" or "unit" */
    GF_OPTION_INT,    /* int, least..greatest */
    GF_OPTION_COUNT,  /* uint64_t, least..greatest, suffixes k, M, G, T of 1000 */
    GF_OPTION_SIZE,   /* uint64_t, least..greatest, suffixes K, M, G, T of 1024 */
    GF_OPTION_NUMBER, /* double, least..greatest */
    GF_OPTION_CHOICE, /* int */
    GF_OPTION_SET,    /* uint64_t: the bits 1 << value of several choices, with commas between the
                       * choices */
    GF_OPTION_SMALL_SET, /* such bits as a uint32_t */
    GF_OPTION_DEVICE,    /* a choice; "cuda" also as cuda:N, cuda:N,N... and cuda:all */
};
enum { GF_OPTION_STAYS = -1 };
enum { GF_OPTION_ALL, GF_OPTION_EACH };

/* A member of struct gf_options, as a line of pipeline/options.def declares it. */
struct gf_option_member {
    const char *member;
    const char *name; /* of the option of the command line; NULL: there is none */
    size_t offset, size;
    enum gf_option_type type;
    double least, greatest;
    bool of_output; /* each of several outputs has the option for itself */
    int word, print;
};
/* Returns the members in the order of the table; NULL past the last one. */
const struct gf_option_member *gf_option_member_at(int index);
/* Returns the value of a member that is no text. */
double gf_option_member_value(const struct gf_options *options,
                              const struct gf_option_member *member);

enum { GF_PIPELINE_OUTPUTS_MAX = 16 };

/* One of several outputs of a picture: its chain and its options. Only the options that
 * gf_options_of_output() copies count; the others are those of the first output. */
struct gf_pipeline_output {
    const char *chain;
    struct gf_options options;
};
/* Does what gf_pipeline_open() does, for a pipeline with 1..GF_PIPELINE_OUTPUTS_MAX outputs of each
 * picture. */
enum gf_status gf_pipeline_open_outputs(const struct gf_pipeline_output *output, int count,
                                        struct gf_pipeline **pipeline,
                                        struct gf_error *error) GF_CHECKED;
/* Copies the options, with defaults for members that the caller's version does not have, and checks
 * them. given may be NULL: the defaults. */
enum gf_status gf_options_check(const struct gf_options *given, struct gf_options *checked,
                                struct gf_error *error) GF_CHECKED;
/* Copies those options that each of several outputs has for itself: its format and how it is
 * encoded. */
void gf_options_of_output(struct gf_options *options, const struct gf_options *from);

/* The destination of the pictures of one input. Most inputs hold one picture; an input of PNM, JPEG
 * or PNG may hold many. A pipeline with several outputs has a destination for each output. */
struct gf_destination {
    struct gf_bytes *bytes; /* not NULL: the only picture is stored there; the members below are for
                             * files */
    /* Returns the path of the output for the input's picture number `number`, counted from 1. The
     * path is valid until the next call. `content` is the input's file format. The function may
     * make folders. */
    enum gf_status (*choose)(void *context, int number, enum gf_file_format content,
                             struct gf_format result, const char **path, struct gf_error *error);
    /* Is called when the output of a picture is complete under its name, or in `bytes`. May be
     * NULL. */
    void (*done)(void *context, int number, const char *path, const struct gf_profile *profile);
    int number; /* the input's number in a list, from 1; 0: pictures are numbered in their input */
    const char *pattern; /* the output's name, or what its name is made of; NULL: it says nothing */
    bool several;        /* there are names for more than one picture */
    bool first_alone;    /* the first picture is wanted, and what follows it may come much later, or
                          * never: it is not looked for */
    bool each;           /* each frame of an animation is a picture of its own */
    /* if `several` is false: how a user gets the pictures of an input behind its first one */
    const char *several_hint;
    void *context;
    bool left_out; /* this output is not wanted */
    /* The end of this output. The output is complete if status is GF_OK and
     * `delivered` is true. */
    bool delivered;
    enum gf_status status;
    struct gf_error error;
};

/* The bytes of a file that is in memory, or a stream that is open. */
struct gf_file_bytes {
    const void *data;
    size_t size;
    struct gf_input *opened; /* closed by the one who reads it; NULL: `data` are the bytes */
};

/* Does what gf_pipeline_run_file() does, with a destination for each output of the pipeline. If
 * `bytes` is not NULL, it holds the input, and `input` is only a name for messages; otherwise
 * `input` is the path of a file. If a picture fails, the outputs of earlier pictures stay. Work
 * that several outputs share is done once: the decoding, if they use the same fraction of the
 * picture's size, and the stages with which their plans begin. An output that fails does not affect
 * the other outputs; the status and the error are those of the first output that failed. */
enum gf_status gf_pipeline_filter_pictures(struct gf_pipeline *pipeline, const char *input,
                                           const struct gf_file_bytes *bytes,
                                           struct gf_destination *destination,
                                           struct gf_error *error) GF_CHECKED;

/* The facts in an input's header: the file format, and the formats of its first picture and of the
 * result. If the result's format depends on the pixels (trim), gf_pipeline_peek() filters the
 * picture. */
struct gf_peek {
    enum gf_file_format content;
    struct gf_format in, out;
};
enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *input,
                                struct gf_peek *peek, struct gf_error *error) GF_CHECKED;
/* Returns the request for a plan for the source's picture. If a smaller picture is enough for the
 * chain, the source is set to decode a smaller one. */
struct gf_plan_request gf_pipeline_request(const struct gf_pipeline *pipeline,
                                           struct gf_source *source);
/* Sets the limits for the second pictures that this thread reads: options->max_pixels and
 * options->memory_bytes replace the options of the pipelines that read them. With NULL the
 * pipelines' own options are used. */
void gf_second_pictures_set_limits(const struct gf_options *options);
/* Returns the options set by gf_second_pictures_set_limits(), or NULL. */
const struct gf_options *gf_second_pictures_limits(void);
/* Sets the reason for the choice of the device, for the profile. */
void gf_pipeline_set_reason(struct gf_pipeline *pipeline, const char *reason);

/* Makes whole pictures in host memory count against this budget, which other pipelines share. */
void gf_pipeline_share_budget(struct gf_pipeline *pipeline, struct gf_memory_budget *memory_budget);

/* Lets another thread read the progress of the picture that the pipeline filters. */
void gf_pipeline_share_progress(struct gf_pipeline *pipeline,
                                struct gf_schedule_progress *progress);

/* Makes pipelines share the warnings of facts that pictures lack: *missed is 0 at first. */
void gf_pipeline_share_missed(struct gf_pipeline *pipeline, atomic_uint *missed);

/* Closes the pipeline's backend and replaces it by `backend`, which the pipeline then owns.
 * `on_cuda` tells to treat it as a GPU, after whose failures the pipeline makes further
 * attempts. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend,
                                 bool on_cuda);
/* Returns the pipeline's own options. A change takes effect with the next picture. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);
const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline);
/* ---- levels that are counted ---- */

/* The levels of a result: a histogram of each colour channel. Pixels of zero alpha are not
 * counted. */
struct gf_levels {
    struct gf_format format;
    struct gf_histogram histogram; /* the caller frees histogram.count */
};
/* Filters the picture of the input and counts the levels of the result, which is dropped. From the
 * first call on, the pipeline serves only this function. */
enum gf_status gf_pipeline_count(struct gf_pipeline *pipeline, struct gf_input *input,
                                 struct gf_levels *levels, struct gf_error *error) GF_CHECKED;

/* ---- pictures that another process filters ---- */

enum { GF_REMOTE_FILES = 8 }; /* the most files that a chain may name */

/* A picture of one file that is to be written to another file. One process sends this struct to the
 * process that filters the picture. */
struct gf_remote_work {
    const char *chain;              /* NULL or "": none */
    struct gf_options options;      /* options.format is the format of the output, not
                                     * GF_FILE_AUTO */
    int in, out;                    /* descriptors of regular files */
    int64_t in_offset;              /* where the picture begins */
    int number;                     /* the input's number in a list, or the picture's in it */
    struct gf_pages in_pages;       /* the pictures that are read */
    const char *in_name, *out_name; /* names for messages */
    int files;                      /* how many files the chain names; each is a regular file */
    const char *file_name[GF_REMOTE_FILES];
    int file[GF_REMOTE_FILES];             /* descriptors, which stay the caller's */
    struct gf_schedule_progress *progress; /* NULL: nobody reads it */
};
/* The report of the process that filtered the picture. Members that struct gf_profile has, too,
 * have the same meaning. */
struct gf_remote_result {
    int64_t in_end;    /* the offset of the first byte after the picture, counted from the picture's
                        * begin */
    int64_t out_bytes; /* written from the start of the output */
    int lanes, band_rows, quality, frames;
    bool device_decoded, device_encoded;
    char device[96];
    double run_s;                         /* the time from the request to the result */
    struct gf_times spans[GF_SPAN_KINDS]; /* the spans in that time, counted from its begin */
};

enum gf_remote_outcome {
    GF_REMOTE_DONE,   /* the remote filtered the picture; *status is the result */
    GF_REMOTE_ABSENT, /* no process accepted the work */
    GF_REMOTE_FAILED, /* the remote accepted the picture and failed, as *error says */
};
/* A connection to a process that filters pictures (src/server). */
struct gf_remote {
    enum gf_remote_outcome (*filter)(struct gf_remote *, const struct gf_remote_work *,
                                     struct gf_remote_result *, enum gf_status *,
                                     struct gf_error *error);
    void (*close)(struct gf_remote *);
    /* The process belongs to this run alone, and its device counts as the run's own. If the device
     * fails, the picture fails with GF_ERROR_DEVICE. With GF_ERROR_DEVICE_MEMORY only this picture
     * fails. */
    bool own;
};

/* Opens a pipeline whose pictures `remote` filters. The pipeline owns `remote` even after a
 * failure. If a picture fails there, it is filtered again here, with a warning, and so are all
 * later pictures. Only then is the device of this process started. */
enum gf_status gf_pipeline_open_remote(const char *chain, const struct gf_options *options,
                                       struct gf_remote *remote, struct gf_pipeline **pipeline,
                                       struct gf_error *error) GF_CHECKED;
/* Tells the pipeline that a GPU was estimated to be sooner. With GF_DEVICE_AUTO it then takes the
 * GPU for a chain without filters, too, whose pictures are only decoded and encoded. */
enum gf_status gf_pipeline_expect_gpu_sooner(struct gf_pipeline *pipeline,
                                             struct gf_error *error) GF_CHECKED;
/* Makes the CPU filter the pictures that the remote does not accept, whatever device the options
 * name. */
void gf_pipeline_set_cpu_for_remote(struct gf_pipeline *pipeline);
/* Returns how many bytes of device memory the pipeline keeps in buffers between two pictures. */
uint64_t gf_pipeline_held_bytes(const struct gf_pipeline *pipeline);
/* Filters a picture for a pipeline of another process. This pipeline uses the work's chain and
 * options, except for the device, its index, and the budget of its memory. It owns both
 * descriptors. */
enum gf_status gf_pipeline_filter_remote_work(struct gf_pipeline *pipeline,
                                              const struct gf_remote_work *work,
                                              struct gf_remote_result *result,
                                              struct gf_error *error) GF_CHECKED;

/* ---- the parts of a pipeline ---- */

/* Waits until the backend has started. With GF_DEVICE_AUTO *backend becomes the CPU's backend if
 * the GPU does not start. */
enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend,
                                 bool *on_cuda, struct gf_error *error) GF_CHECKED;
/* Returns the number of lanes for the next picture. A picture with fewer bands uses fewer lanes. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline);
/* Returns the options for the next picture, in which the default replaces a memory budget of 0. */
struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline);
