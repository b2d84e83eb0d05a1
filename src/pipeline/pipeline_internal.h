/* What the program and the tests use of pipelines beyond the public headers. */
#pragma once

#include <stdatomic.h>

#include "base/process/machine.h"
#include "base/threads/times.h"
#include "chain/plan.h"
#include "codec/common/rows/source.h"
#include "engine/backend.h"
#include "engine/engine.h"

/* The path by which a program can start itself again. */
#define GF_OWN_PROGRAM "/proc/self/exe"

/* The bytes of a picture file in memory. */
struct gf_bytes {
    enum gf_file_format format; /* the format that is wanted; GF_FILE_AUTO: the format that the
                                 * options name */
    const char *name;           /* the name of the input in messages */
    /* NULL, or the header of a Y4M, which pictures of other files get. */
    const char *y4m;
    void *data; /* from malloc() */
    size_t size;
};

/* The types of options, as pipeline/options.def names them. */
enum gf_option_type {
    GF_OPTION_SWITCH,    /* a switch: the option has no value */
    GF_OPTION_FILE,      /* a file's name, as const char *; "-" is standard input or output */
    GF_OPTION_INPUT,     /* like GF_OPTION_FILE, for an option that may be given several times */
    GF_OPTION_OUTPUT,    /* like GF_OPTION_FILE; each use of the option begins another output */
    GF_OPTION_SHARD,     /* "K/N", stored in the members shard and shards */
    GF_OPTION_FILTER,    /* a filter's name, stored as the topic; or a choice, stored as the form of
                          * --help */
    GF_OPTION_WORDS,     /* any text, as const char * */
    GF_OPTION_LINES,     /* like GF_OPTION_WORDS; each use of the option adds a line */
    GF_OPTION_TARGET,    /* "ssimulacra2:N" or "ssim:N", a double of its own each */
    GF_OPTION_RANGE,     /* the range of a TIFF's samples: "MIN:MAX", "percentile" or "unit" */
    GF_OPTION_INT,       /* an int, least..greatest */
    GF_OPTION_COUNT,     /* a uint64_t, least..greatest, with suffixes k, M, G, T of 1000 */
    GF_OPTION_SIZE,      /* a uint64_t, least..greatest, with suffixes K, M, G, T of 1024 */
    GF_OPTION_NUMBER,    /* a double, least..greatest */
    GF_OPTION_CHOICE,    /* one of several words, stored as an int */
    GF_OPTION_SET,       /* several words with commas between them: a uint64_t of bits 1 << index */
    GF_OPTION_SMALL_SET, /* several words with commas between them: a uint32_t of bits 1 << index */
    GF_OPTION_DEVICE,    /* auto, cpu or cuda, or devices as cuda:N, cuda:N,N... or cuda:all */
};
enum { GF_OPTION_STAYS = -1 };
enum { GF_OPTION_ALL, GF_OPTION_EACH };

/* A member of struct gf_options, as a line of pipeline/options.def declares it. */
struct gf_option_member {
    const char *member;
    const char *name; /* the option of the command line that sets the member; NULL: there is none */
    size_t offset, size;
    enum gf_option_type type;
    double least, greatest;
    bool of_output; /* each of several outputs may have another value */
    int word, print;
};
/* Returns the index-th member in the order of options.def; NULL past the last one. */
const struct gf_option_member *gf_option_member_at(int index);
/* Returns the value of a member that is a number. */
double gf_option_member_value(const struct gf_options *options,
                              const struct gf_option_member *member);

enum { GF_PIPELINE_OUTPUTS_MAX = 128 };

/* One of several outputs that are made of each picture: its chain and its options. Of the options
 * only those that gf_options_of_output() copies count; the others are the first output's. */
struct gf_pipeline_output {
    const char *chain;
    struct gf_options options;
};
/* Does what gf_pipeline_open() does, for a pipeline with 1..GF_PIPELINE_OUTPUTS_MAX outputs of each
 * picture. */
enum gf_status gf_pipeline_open_outputs(const struct gf_pipeline_output *output, int count,
                                        struct gf_pipeline **pipeline,
                                        struct gf_error *error) GF_CHECKED;
/* Sets *checked to the options `given`, or to the defaults if it is NULL. Members that the caller's
 * version of the struct lacks get their defaults. Fails if a value is outside its range. */
enum gf_status gf_options_check(const struct gf_options *given, struct gf_options *checked,
                                struct gf_error *error) GF_CHECKED;
/* Copies the options that each of several outputs has for itself: the format of its file and how it
 * is encoded. */
void gf_options_of_output(struct gf_options *options, const struct gf_options *from);

/* Where the pictures of one input go. Most inputs have one picture; an input of PNM, JPEG or PNG
 * may have many, one after another. A pipeline with several outputs gets an array with one
 * destination for each. */
struct gf_destination {
    /* If not NULL, the only picture is stored there; most members below are for files. */
    struct gf_bytes *bytes;
    /* Sets *path to the path of the output for picture number `number` of the input, counted from
     * 1, which is valid until the next call. `content` is the input's file format, `result` the
     * format of the result. The function may make folders. */
    enum gf_status (*choose)(void *context, int number, enum gf_file_format content,
                             struct gf_format result, const char **path, struct gf_error *error);
    /* Called when a picture's output is complete under its name, or in `bytes`; may be NULL. */
    void (*done)(void *context, int number, const char *path, const struct gf_profile *profile);
    int number; /* the number of the input in a list of inputs, from 1; 0: each picture's number in
                 * its input counts */
    /* The output's name, or the template from which it is made; NULL: there is none. */
    const char *pattern;
    bool several;     /* whether there are names for more than one picture of the input */
    bool first_alone; /* only the first picture is wanted; nothing is read behind it, since a stream
                       * may send that much later or never */
    bool each;        /* each frame of an animation becomes a picture of its own */
    /* If `several` is false: a hint for the user how to get the pictures behind the first one. */
    const char *several_hint;
    void *context;
    bool left_out; /* nothing is to be made for this output */
    /* Results: the output is complete if status is GF_OK and `delivered` is true. */
    bool delivered;
    enum gf_status status;
    struct gf_error error;
};

/* A picture's input that is no path: the bytes of a file in memory, or a stream that is open. */
struct gf_file_bytes {
    const void *data;
    size_t size;
    struct gf_input *opened; /* the stream, which the pipeline closes; NULL: `data` has the bytes */
    bool is_timed;           /* `changed` is known */
    struct timespec changed; /* the time of the file's last change */
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

/* What gf_pipeline_peek() finds in an input's header: the file format, the format of the first
 * picture, and that of the result. If the latter depends on the pixels (trim), it filters the
 * picture. */
struct gf_peek {
    /* The output's name or template, which the caller sets; NULL: it is not known. */
    const char *pattern;
    enum gf_file_format content;
    struct gf_format in, out;
};
enum gf_status gf_pipeline_peek(struct gf_pipeline *pipeline, const char *input,
                                struct gf_peek *peek, struct gf_error *error) GF_CHECKED;
/* Finds what the planner needs to know about the source's picture. If a smaller picture is enough
 * for the chain, the source is set to read a smaller one. */
enum gf_status gf_pipeline_request(const struct gf_pipeline *pipeline, struct gf_source *source,
                                   struct gf_plan_request *request,
                                   struct gf_error *error) GF_CHECKED;
/* Sets the limits for the second pictures that this thread reads: max_pixels and memory_bytes of
 * *options, in place of those of the pipeline that reads one. NULL: the pipeline's own options
 * count again. */
void gf_second_pictures_set_limits(const struct gf_options *options);
/* Returns the options that gf_second_pictures_set_limits() has set; NULL: none. */
const struct gf_options *gf_second_pictures_limits(void);
/* Sets the text in the profile that says why the device was chosen. */
void gf_pipeline_set_reason(struct gf_pipeline *pipeline, const char *reason);

/* Lets the whole pictures in host memory count against a budget that several pipelines share. */
void gf_pipeline_share_budget(struct gf_pipeline *pipeline, struct gf_memory_budget *memory_budget);

/* Makes the pipeline count its pictures' progress in *progress, where other threads can read it. */
void gf_pipeline_share_progress(struct gf_pipeline *pipeline,
                                struct gf_schedule_progress *progress);

/* Lets several pipelines warn only once of each fact that pictures lack (struct
 * gf_facts_of_picture): *missed gets a bit for each fact that was warned of, and is 0 at first. */
void gf_pipeline_share_missed(struct gf_pipeline *pipeline, atomic_uint *missed);

/* Closes the pipeline's backend and uses `backend` instead, which the pipeline then owns. If
 * on_cuda is true, it counts as a GPU, after whose failures the pipeline makes further attempts. */
void gf_pipeline_replace_backend(struct gf_pipeline *pipeline, struct gf_backend *backend,
                                 bool on_cuda);
/* Returns the pipeline's own options. A change takes effect with the next picture. */
struct gf_options *gf_pipeline_options(struct gf_pipeline *pipeline);
const struct gf_chain *gf_pipeline_chain(const struct gf_pipeline *pipeline);

/* The levels that a result's pixels have: a histogram of each colour channel. Pixels with zero
 * alpha do not count. */
struct gf_levels {
    struct gf_format format;
    struct gf_histogram histogram; /* the caller frees histogram.count */
};
/* Filters the picture of the input, counts the levels of the result, and drops the result. A
 * pipeline that was used for this can be used for nothing else. */
enum gf_status gf_pipeline_count(struct gf_pipeline *pipeline, struct gf_input *input,
                                 struct gf_levels *levels, struct gf_error *error) GF_CHECKED;

/* Pictures that another process, the remote, filters or compares. */

enum { GF_REMOTE_FILES = 8 }; /* the most files that a chain may name */

/* What the remote gets of a picture: files that are open, a chain and options. */
struct gf_remote_work {
    const char *chain;         /* the chain as text; NULL or "": it has no filters */
    struct gf_options options; /* options.format is the format of the output, not
                                * GF_FILE_AUTO */
    bool keeps_slow_files;     /* gf_pipeline_keep_slow_files() */
    unsigned compares; /* what is wanted of two pictures, GF_SCORE_*; the second one's file stands
                        * for the output. 0: a picture is filtered */
    int in, out;       /* descriptors of regular files */
    int64_t in_offset; /* the position in the input where the picture begins, in bytes */
    int number;        /* the input's number in a list of inputs, or the picture's in its input */
    struct gf_pages in_pages;       /* which pictures of the input are read */
    const char *in_name, *out_name; /* the files' names, for messages */
    int files;                      /* the number of files that the chain names */
    const char *file_name[GF_REMOTE_FILES];
    int file[GF_REMOTE_FILES];             /* descriptors, which stay the caller's */
    struct gf_schedule_progress *progress; /* NULL: nobody reads the progress */
};
/* What the remote reports of a picture. Members of struct gf_profile's names mean the same. */
struct gf_remote_result {
    int64_t in_end;    /* the position in the input behind the picture, in bytes */
    int64_t out_bytes; /* written from the start of the output */
    int32_t lanes, band_rows, quality, frames, tries;
    uint32_t device_decoded, device_encoded; /* 0 or 1 */
    char device[96];
    double score, run_s; /* run_s: seconds from the request to the result */
    /* Of compared pictures, whose score is that of SSIMULACRA2: the largest and the mean difference
     * of their samples, and others. NaN: not wanted, or the pictures are too small. */
    double largest, mean, psnr, ssim, ms_ssim;
    /* The spans within run_s, whose times count from its begin. */
    struct gf_times spans[GF_SPAN_KINDS];
};

enum gf_remote_outcome {
    GF_REMOTE_DONE,   /* the picture was filtered; enum gf_status * has its status */
    GF_REMOTE_ABSENT, /* no remote has accepted the picture */
    GF_REMOTE_FAILED, /* the remote has accepted the picture and has failed, as the error says */
};
/* A connection to a process that filters pictures (src/server). filter() hands over one picture, or
 * two to compare, and waits for the result. */
struct gf_remote {
    enum gf_remote_outcome (*filter)(struct gf_remote *, const struct gf_remote_work *,
                                     struct gf_remote_result *, enum gf_status *,
                                     struct gf_error *error);
    void (*close)(struct gf_remote *);
    /* The process works for this run alone, and its device counts as the run's own: if the device
     * fails, the picture fails with GF_ERROR_DEVICE, or, if only this picture is too large for it,
     * with GF_ERROR_DEVICE_MEMORY. */
    bool own;
};

/* Opens a pipeline whose pictures `remote` filters. The pipeline owns `remote` even after a
 * failure. If the remote fails at a picture, this process filters it and all later ones, with a
 * warning; only then is this process's device started. */
enum gf_status gf_pipeline_open_remote(const char *chain, const struct gf_options *options,
                                       struct gf_remote *remote, struct gf_pipeline **pipeline,
                                       struct gf_error *error) GF_CHECKED;
/* Tells the pipeline that a GPU was estimated to be sooner. With GF_DEVICE_AUTO it then takes the
 * GPU for a chain without filters, too, whose pictures are only decoded and encoded. */
enum gf_status gf_pipeline_expect_gpu_sooner(struct gf_pipeline *pipeline,
                                             struct gf_error *error) GF_CHECKED;
/* Leaves files of which a GPU decodes many in the time of one (progressive JPEGs, PNGs of one
 * stream) to the CPU: a short batch that has only some of them would wait for them. In a long one
 * the GPU decodes them: on an H200 16,000 pictures, a fifth of them progressive, became thumbnails
 * at 3,860/s with them on the GPU, and at 1,377/s without. */
void gf_pipeline_keep_slow_files(struct gf_pipeline *pipeline);
/* Whether the GPU has refused the last picture, because its samples are floats. */
bool gf_pipeline_refused_floats(const struct gf_pipeline *pipeline);
/* Makes the CPU filter the pictures that the remote does not accept, whatever device the options
 * name. */
void gf_pipeline_set_cpu_for_remote(struct gf_pipeline *pipeline);
/* Returns how many bytes of device memory the pipeline keeps in buffers between two pictures. */
uint64_t gf_pipeline_held_bytes(const struct gf_pipeline *pipeline);
/* Takes over the chain and the options of the work of another process, except for the device, its
 * index and its memory budget. */
enum gf_status gf_pipeline_take_work(struct gf_pipeline *pipeline,
                                     const struct gf_remote_work *work,
                                     struct gf_error *error) GF_CHECKED;
/* Filters a picture for a pipeline of another process: calls gf_pipeline_take_work(), and closes
 * work->in and work->out. */
enum gf_status gf_pipeline_filter_remote_work(struct gf_pipeline *pipeline,
                                              const struct gf_remote_work *work,
                                              struct gf_remote_result *result,
                                              struct gf_error *error) GF_CHECKED;

/* What other folders use of a pipeline's inside. */

/* Waits until the backend has started, and returns it in *backend. With GF_DEVICE_AUTO, that is the
 * CPU's if the GPU does not start; *on_cuda tells which. */
enum gf_status gf_pipeline_start(struct gf_pipeline *pipeline, struct gf_backend **backend,
                                 bool *on_cuda, struct gf_error *error) GF_CHECKED;
/* Returns the number of lanes for a picture with that plan. One with fewer bands uses fewer. */
int gf_pipeline_lanes(const struct gf_pipeline *pipeline, const struct gf_plan *plan);
/* Returns the options for the next picture; memory_bytes is the default limit if it was 0. */
struct gf_options gf_pipeline_resolved(const struct gf_pipeline *pipeline);
