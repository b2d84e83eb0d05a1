/* The request for a batch, and what the batch reports while it runs. Functions answer questions
 * about the request. */
#pragma once

#include <stdatomic.h>

#include "batch/log/batch_log.h"
#include "batch/names/names.h"
#include "batch/transfer/transfer.h"

struct gf_figures;
struct gf_sheet;

enum gf_message_kind {
    GF_MESSAGE_ERROR,
    GF_MESSAGE_WARNING,
    GF_MESSAGE_DRY_RUN, /* what would be done with an input (--dry-run) */
    GF_MESSAGE_CHOICE,  /* the device that was chosen, and why */
    GF_MESSAGE_PICTURE, /* a picture is done */
};

struct gf_batch_state {
    size_t files, done, failed, skipped; /* `files` is the number of files of this part */
    /* The number of files whose names are not names of pictures. */
    size_t left_out;
    size_t pictures;            /* the number of pictures written; a stream has several */
    double megapixels;          /* the pixels of the inputs that are done */
    double bytes_in, bytes_out; /* bytes of the inputs that are done, and of the pictures written */
    double elapsed_s;
    /* For a film: seconds spent reading and writing frames, waiting for pipes included. */
    double read_s, write_s;
    /* For a single input: the part of its picture that is done, 0..1. */
    double part;
    long long tiles_done, tiles; /* of the pyramids that are written of it */
    /* Seconds of all workers together by kind of work, if spans are recorded. */
    double busy_s[GF_SPAN_KINDS];
};

/* Whether a server (src/server) filters the picture instead of this process's GPU. */
enum gf_server_use {
    GF_SERVER_AUTO,  /* use a server that is running */
    GF_SERVER_START, /* like GF_SERVER_AUTO; if no server runs, start one for the next pictures */
    GF_SERVER_OFF
};
enum { GF_SERVER_IDLE_S = 300 }; /* after which a server that a client starts usually ends */

/* What the output archive gets for a picture of an input archive that fails. */
enum gf_on_failure {
    GF_ON_FAILURE_DROP,        /* the output archive gets nothing for it */
    GF_ON_FAILURE_DROP_SAMPLE, /* it gets no file of the picture's sample */
    GF_ON_FAILURE_KEEP         /* it gets the unchanged picture */
};

#define GF_TRANSFERS_UNFIT \
    "--fetch and --store are for archives that are made of archives, and for single pictures"
#define GF_ON_FAILURE_UNFIT "--on-failure is for archives that are made of archives"

/* The counts that a signal handler can read at any time. */
struct gf_batch_counts {
    atomic_size_t files, done, failed;
};

/* One of several outputs of each input. Only the options that gf_options_of_output() copies are
 * used. */
struct gf_batch_output {
    const char *chain;
    struct gf_options options;
    const struct gf_template *name;
};

/* A file for figures, and what it is called in messages; path NULL: it is not given. */
struct gf_side_file {
    const char *option, *path;
};
enum { GF_SIDE_FILES = 3 };

struct gf_batch_request {
    /* The chain and the options of the only output, or of the first of several outputs. */
    const char *chain;
    struct gf_options options; /* `threads` and `memory_bytes` are for all workers together */
    const struct gf_inputs *inputs;
    /* For an archive, the estimated number of its pictures; `inputs` are only the first of them. 0:
     * `inputs` are all pictures. */
    size_t expected;
    const struct gf_template *output;
    /* The sheets of which the pictures become parts (batch/sheets/sheet.h); NULL: each has an
     * output of its own. */
    const struct gf_sheet *sheet;
    /* What --raw says of frames without headers in the input or output; NULL: there are none. */
    const char *raw;
    double
        fps; /* frames a second of the animation or film that is made of the inputs; 0: none is */
    bool frames; /* the only input is a film, whose frames are the pictures */
    const struct gf_batch_output *more; /* the outputs after the first */
    int more_outputs;
    /* The CUDA devices that share the work. If there is none, options.device decides. */
    const int *device;
    int devices;
    bool helpers;      /* helper processes may run the devices after the first; if no devices are
                        * named, GF_DEVICE_AUTO may then use all */
    int server;        /* enum gf_server_use, for a single input's picture */
    int server_idle_s; /* the idle time after which a started server ends, in seconds */
    bool skip_existing, update, fail_fast;
    bool in_place;  /* an output may replace its input, as that of a single input that has a name of
                     * its own, and no template's or folder's, always may */
    bool is_group;  /* the inputs are of a folder, a pattern, a list or several names */
    int on_failure; /* what a failed picture leaves: enum gf_on_failure */
    /* Only members of archives that are files or folders with plain names are used, and no link in
     * an output's folder is followed. */
    bool plain_members;
    bool process_ends; /* the process ends after the run, so that devices are not closed */
    bool verbose;      /* sends GF_MESSAGE_CHOICE and GF_MESSAGE_PICTURE */
    bool dry_run;      /* nothing is filtered; GF_MESSAGE_DRY_RUN says what would be done */
    const struct gf_transfer_options *transfer; /* NULL: inputs and outputs lie in their places */
    struct gf_batch_log *log;                   /* this member and all members below may be NULL */
    const struct gf_side_file *side; /* GF_SIDE_FILES of them, which no output may replace */
    const char *const *reads;        /* files that the chains read, which outputs may replace only
                                      * with in_place; NULL ends them */
    struct gf_resume *resume;
    /* Sends a message. One thread at a time calls the function, but not always the same one. */
    void (*message)(void *context, enum gf_message_kind kind, const char *text);
    /* Called for each picture of a single input, which may hold several. */
    void (*picture)(void *context, const char *input, const char *output,
                    const struct gf_profile *profile);
    /* Is called for each picture that has a line in the log, even if there is no log. */
    void (*entry)(void *context, const struct gf_batch_log_entry *entry);
    /* Is called in the calling thread, every tick_s seconds and at the end. */
    void (*tick)(void *context, const struct gf_batch_state *state, bool at_end);
    double tick_s;
    /* Measured figures of this machine, for estimates; NULL: built-in ones. */
    const struct gf_figures *figures;
    struct gf_batch_counts *counts;
    struct gf_batch_profile *profile; /* collects the profiles of all pictures */
    void *context;
    /* Tests set it; it is called instead of gf_pipeline_open(). */
    enum gf_status (*open)(void *context, const char *chain, const struct gf_options *options,
                           struct gf_pipeline **pipeline, struct gf_error *error);
};

static inline int gf_batch_outputs(const struct gf_batch_request *request)
{
    return 1 + request->more_outputs;
}
static inline struct gf_batch_output gf_batch_output_at(const struct gf_batch_request *request,
                                                        int index)
{
    return index ? request->more[index - 1]
                 : (struct gf_batch_output){request->chain, request->options, request->output};
}

/* Sends a message as one line, even if names in it contain line breaks. */
void gf_batch_tell(const struct gf_batch_request *request, enum gf_message_kind kind,
                   const char *format, ...) GF_PRINTF(3, 4);
/* Whether the first input or an output is an archive. */
bool gf_batch_has_archives(const struct gf_batch_request *request);
/* Whether there is only one picture, or one stream of pictures. */
bool gf_batch_is_single(const struct gf_batch_request *request);
bool gf_batch_writes_stdout(const struct gf_batch_request *request);
/* Whether the outputs of the only input, which may contain several pictures, are numbered by
 * picture. They are not numbered with --skip-existing and --update: these decide for each file, and
 * so need the output's name before the header is read. */
bool gf_batch_numbers_pictures(const struct gf_batch_request *request, int output);
/* Fails if a filter of the request has no CUDA kernel. */
enum gf_status gf_batch_check_kernels(const struct gf_batch_request *request,
                                      struct gf_error *error) GF_CHECKED;

/* Writes the end of a summary: "; 2 files were not taken for pictures (-v names them)", or
 * nothing. */
enum { GF_BATCH_LEFT_OUT_SIZE = 100 };
void gf_batch_describe_left_out(const struct gf_batch_state *state,
                                char text[GF_BATCH_LEFT_OUT_SIZE]);

/* Rewrites the library's names of options and functions in a message, in place: "over
 * options.max_pixels=99" becomes "over --max-pixels=99". */
void gf_name_options_as_typed(char *text);

/* ---- naming the outputs of a batch before anything runs ---- */

/* Names every output that can be named before the run: path[i * outputs + k], from malloc(), is
 * output k of input i. Fails if an output would overwrite another output or an input. */
enum gf_status gf_batch_name_outputs(const struct gf_batch_request *request, char **path,
                                     struct gf_error *error) GF_CHECKED;

/* Returns what the output would replace: the log, a file for figures or one that a chain reads;
 * NULL: none of them. */
const char *gf_batch_replaced(const struct gf_batch_request *request, const char *output);
/* Fails if the log is the input, which the log would change, or if the output would replace the
 * log, a file for figures or one that a chain reads; `output` may be NULL. */
enum gf_status gf_batch_check_log(const struct gf_batch_request *request, const char *input,
                                  const char *output, struct gf_error *error) GF_CHECKED;

/* Opens a pipeline for calls of gf_pipeline_peek() about an output, unless the pipeline is open. */
enum gf_status gf_batch_open_header_reader(const struct gf_batch_request *request, int output,
                                           struct gf_pipeline **reader,
                                           struct gf_error *error) GF_CHECKED;
