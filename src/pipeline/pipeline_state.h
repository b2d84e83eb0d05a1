/* The files of this folder and of its subfolders share this state. README.md says which file does
 * what.
 */
#pragma once

#include <stdatomic.h>

#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/rows/source.h"
#include "codec/io/input.h"
#include "codec/io/output.h"
#include "engine/backend.h"
#include "engine/device_codec.h"
#include "engine/engine.h"
#include "pipeline/pipeline_internal.h"

/* The chain and the options of one of several outputs. */
struct gf_output_choice {
    struct gf_chain chain;
    struct gf_options options;
};

/* The place of a picture that several outputs share. */
enum gf_hold {
    GF_HOLD_ON_DEVICE, /* in device memory, if the pipeline has a device */
    GF_HOLD_ON_HOST,
    GF_HOLD_NOWHERE /* nowhere: each output decodes the picture for itself */
};

/* Pipelines like another one, their leader (device/batch.c). */
struct gf_crew {
    const struct gf_pipeline *leader;
    pthread_mutex_t warning; /* one member at a time calls the leader's options.warn */
    struct gf_pipeline **member;
    int count;
};

struct gf_pipeline {
    struct gf_chain chain;
    struct gf_options options;
    struct gf_facts_of_picture facts; /* the facts of the present picture; tell is NULL if no text
                                       * needs them */
    const char *input_name;           /* facts: the input, its number, and its EXIF */
    int input_number;
    struct gf_exif_facts exif;
    atomic_uint *missed, own_missed; /* a bit for each kind of fact whose lack was warned of; NULL:
                                      * own_missed counts */
    struct gf_plan last_plan;        /* the plan of the last picture, whose constants the next plan
                                      * may take over */
    struct gf_output_choice *output; /* [outputs] elements; the pipeline's own chain is always the
                                      * chain of one of them */
    int outputs;                     /* the number of outputs; 0: there is only one */
    struct gf_remote *remote;        /* NULL: this process filters the pictures */
    char *chain_text;                /* the text of the chain for the remote; in a remote, the chain
                                      * of the last picture */
    char *text;                      /* the chain's text; NULL without memory for it */
    struct gf_crew *crew;            /* pipelines like this one; NULL: none was needed */
    bool gpu_is_sooner;              /* by an estimate, also for a chain without filters */
    bool cpu_for_remote;             /* the CPU filters the pictures that the remote does not
                                      * accept */
    void (*remote_warn)(void *context, const char *text); /* receives the remote's warnings */
    struct gf_backend *backend;                           /* NULL while there is a remote */
    const struct gf_backend *described;                   /* the backend that profile.device
                                                           * describes */
    bool on_cuda;
    int band_rows;                /* the rows of a band in the next attempt; 0: the pipeline
                                   * chooses */
    bool has_begun, has_finished; /* whether a picture has begun, and whether one has ended */
    struct gf_metadata given;     /* of the pictures in the caller's memory; its blobs are the
                                   * caller's */
    struct gf_metadata *result;   /* of the last result in the caller's memory; NULL: none */
    struct gf_buffer_pool buffers;
    struct gf_resident *resident;               /* plans for pictures in the device's memory; NULL:
                                                 * there was none */
    const struct gf_ready_plan *described_plan; /* the one that the profile describes */
    bool device_codec_used;                     /* the last attempt used the GPU's codec */
    bool no_device_codec;                       /* the next attempts at this picture do not use the
                                                 * GPU's codec */
    enum gf_hold hold;                          /* likewise */
    struct gf_memory_budget *memory_budget;     /* NULL: memory is not shared */
    uint64_t memory_held;                       /* what the picture has taken from the budget */
    bool budget_taken;                        /* the budget has been taken for all that the picture
                                               * needs */
    bool holds_buffers;                       /* a picture in the pool's memory is still needed */
    struct gf_schedule_progress *progress;    /* NULL: nobody reads it */
    struct gf_schedule_progress own_progress; /* that of gf_pipeline_watch() */
    struct gf_spans spans;
    struct gf_profile profile;
    struct gf_profile_stage *stages;
    int stages_done, segments_done; /* the numbers of stages and segments that earlier parts of the
                                     * chain have added to the profile */
};

/* One picture, from an input to a destination or from one image to another. */
struct gf_picture_task {
    struct gf_input *input;
    const struct gf_destination *destination;
    int number;                                  /* the number of the picture in the input, from
                                                  * 1 */
    enum gf_file_format own_format, file_format; /* the file formats of the input and of the
                                                  * output */
    int depth;                                   /* bits of a sample of the output's file; 0: there
                                                  * is no file */
    const char *path;                            /* the path that the destination chose */
    struct gf_output *output;                    /* NULL until the result's format is known */
    struct gf_sink *sink;                        /* of an animation whose first frame is written */
    struct gf_format frame;                      /* the format of that frame */
    uint64_t frame_profile;                      /* a hash of its profile */
    bool each;                                   /* frames become pictures of their own */
    int frames, frames_wanted; /* of the source: the frames that have begun, and all */
    struct gf_source *source;  /* of the frame that was the picture before; NULL:
                                * there is none */
    /* What the input's pictures use up together, unless each is a picture of a stream: */
    double until_s;        /* the time at which they must be done; 0: the first one sets it */
    uint64_t bytes_before; /* the bytes of the outputs that have been made */
    const struct gf_image *image_in;
    struct gf_image *image_out; /* its data is NULL at first if it is to be allocated when the
                                 * result's format is known */
    uint64_t image_bytes;       /* the bytes of pictures between parts of the chain */
    int reduction;              /* the reduction of the decoding: 1, 2, 4 or 8 */
    int width, height;          /* the size of the whole picture */
    uint64_t codec_bytes;       /* memory that the codecs need, as gf_codec_memory counts it */
    uint64_t second_bytes;      /* the memory of second pictures, which other pipelines may share */
    bool remote_failed;         /* the remote failed, so that the picture has to be filtered here */
    /* Whether image_in or image_out is in the device's memory; image_out is then from the pool. */
    bool in_on_device, out_on_device;
    /* image_out is the caller's memory on the device; its data is NULL at first if it is to be
     * allocated there */
    bool out_is_callers;
    /* Whether the output has ended, and how. */
    bool ended;
    enum gf_status status;
    struct gf_error error;
    struct gf_profile profile; /* with several outputs: the profile of this one */
    size_t first_span; /* the index of the task's first span among the pipeline's spans; there are
                        * profile.span_count of them */
};

/* Prepares another attempt after a failure of the device: first without the GPU's codec, then with
 * smaller bands, then, with GF_DEVICE_AUTO, on the CPU. Returns false if there is nothing left to
 * try. */
bool gf_pipeline_recover(struct gf_pipeline *pipeline, enum gf_status failure,
                         const struct gf_error *why, struct gf_error *error);

/* Plans a part of the chain for the task's picture. If the task has a destination, this is the last
 * part, and the output is opened unless it is open. */
enum gf_status gf_pipeline_plan_part(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     const struct gf_chain *chain, struct gf_format in,
                                     const struct gf_plan_request *request, struct gf_plan *plan,
                                     struct gf_error *error) GF_CHECKED;

/* Checks the caller's output, for which the format of the result is known. */
enum gf_status gf_pipeline_check_output(const struct gf_image *input, const struct gf_image *output,
                                        struct gf_format result, struct gf_error *error) GF_CHECKED;

/* Checks a format that a caller gives as a number. */
enum gf_status gf_pipeline_check_format(enum gf_file_format format,
                                        struct gf_error *error) GF_CHECKED;

/* Returns the options of the task's output, whose depth is chosen. */
struct gf_options gf_pipeline_sink_options(const struct gf_pipeline *pipeline,
                                           const struct gf_picture_task *task);
/* Sets the output's limits from the pipeline's options. */
void gf_pipeline_limit_output(const struct gf_pipeline *pipeline,
                              const struct gf_picture_task *task);

/* Schedules a plan from the source or task->image_in to the sink or task->image_out, within the
 * budget that several pipelines share. */
enum gf_status gf_pipeline_schedule(struct gf_pipeline *pipeline, struct gf_plan *plan,
                                    struct gf_source *source, struct gf_sink *sink,
                                    const struct gf_picture_task *task,
                                    struct gf_error *error) GF_CHECKED;
/* Sets task->codec_bytes and task->second_bytes. Fails if codecs, second pictures and pictures
 * between stages need more memory than gf_pipeline_memory_limit(). */
enum gf_status gf_pipeline_check_memory(const struct gf_pipeline *pipeline,
                                        struct gf_picture_task *task,
                                        const struct gf_source *source, const struct gf_plan *plan,
                                        struct gf_error *error) GF_CHECKED;
/* Sets *moved to the gain map of a result with that place in the input's picture, if the output
 * keeps it; the caller frees it. Warns of filters that it cannot follow, or that change colours. */
enum gf_status gf_pipeline_move_gain_map(const struct gf_pipeline *pipeline,
                                         const struct gf_picture_task *task,
                                         const struct gf_place *place, struct gf_format result,
                                         const struct gf_blob *map, struct gf_blob *moved,
                                         struct gf_error *error) GF_CHECKED;
/* Opens the sink of a result, or begins another page of the task's, if it has one. The result has
 * that place in the input's picture. `icc` is the profile that a filter has given the picture; if
 * it is NULL, the picture has its own profile. `filtered` tells that the pixels differ from the
 * file's pixels. */
enum gf_status gf_pipeline_open_sink(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, struct gf_format format,
                                     const struct gf_place *place, const struct gf_icc *icc,
                                     bool filtered, const struct gf_metadata *metadata,
                                     struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Gives metadata the profile that a filter has given the picture. */
void gf_pipeline_recolour(struct gf_metadata *metadata, const struct gf_icc *icc);
/* Sets pipeline->result to what a picture in memory keeps of the metadata. `icc` is the profile
 * that a filter has given the picture; if it is NULL, the picture has its own profile. */
enum gf_status gf_pipeline_keep_metadata(struct gf_pipeline *pipeline, struct gf_format format,
                                         const struct gf_icc *icc,
                                         const struct gf_metadata *metadata,
                                         struct gf_error *error) GF_CHECKED;
/* Returns the bytes of a picture of the format. */
uint64_t gf_pipeline_image_bytes(struct gf_format format);
/* Returns the most bytes of whole pictures that are in host memory at one time: the picture that a
 * segment reads and the picture that it writes. */
uint64_t gf_pipeline_whole_bytes(const struct gf_pipeline *pipeline, const struct gf_plan *plan);
/* Returns the bytes of the second pictures that the plan's filters read. */
uint64_t gf_pipeline_second_bytes(const struct gf_plan *plan);
/* Returns the most bytes of host memory that a picture may use: options.memory_bytes, or by default
 * a part of the machine's memory. */
uint64_t gf_pipeline_memory_limit(const struct gf_pipeline *pipeline);
/* Returns the memory that options.memory_bytes leaves for bands if the picture needs `taken` other
 * bytes. */
uint64_t gf_pipeline_band_bytes(const struct gf_pipeline *pipeline, uint64_t taken);
/* Begins the time that the picture may take, or goes on with the time of the input's pictures
 * before it. Returns the thread's previous limit, which gf_pipeline_end_time() restores. */
double gf_pipeline_begin_time(const struct gf_pipeline *pipeline, struct gf_picture_task *task);
void gf_pipeline_end_time(struct gf_picture_task *task, double outer);
/* Begins anew what pictures use up together if the next one is no frame but a picture of a stream.
 */
void gf_pipeline_renew_limits(struct gf_picture_task *task);
/* Replaces the message of a picture that has failed if its time is up. Returns its status. */
enum gf_status gf_pipeline_tell_time(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, enum gf_status status,
                                     struct gf_error *error) GF_CHECKED;
/* Takes memory for a picture from the budget that pipelines share, if there is one, and gives it
 * back: `bytes` for what is held whole, and a worker's bands. Waiting does not count as the
 * picture's time. */
void gf_pipeline_take_memory(struct gf_pipeline *pipeline, uint64_t bytes);
void gf_pipeline_return_memory(struct gf_pipeline *pipeline, uint64_t bytes);
/* Lowers the number of lanes until their bands fit into the schedule's memory,
 * options->memory_bytes; `taken` is what the picture needs otherwise. A worker's picture that does
 * not fit waits until it can run alone. Fails if the bands of one lane exceed the memory by far. */
enum gf_status gf_pipeline_fit_bands(struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, uint64_t taken,
                                     struct gf_options *options, struct gf_schedule *schedule,
                                     struct gf_error *error) GF_CHECKED;
/* Returns the request for a plan for the source's picture. request.reduction is the reduction that
 * the chain can use; the source has not been set to it yet. */
struct gf_plan_request gf_pipeline_request_of(const struct gf_pipeline *pipeline,
                                              struct gf_source *source);
/* Returns the same for a picture in the caller's memory of that format. */
struct gf_plan_request gf_pipeline_request_of_image(struct gf_pipeline *pipeline,
                                                    struct gf_format format);
/* Whether texts of the chains say something about the picture. */
bool gf_pipeline_reads_facts(const struct gf_pipeline *pipeline);
/* Notes what texts can say about the task's picture. `source` may be NULL. */
void gf_pipeline_note_facts(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                            const struct gf_source *source);
/* Makes the chain and the options of that output the pipeline's present ones. */
void gf_pipeline_select(struct gf_pipeline *pipeline, int output);
/* Filters the picture to the outputs whose tasks have not ended, with further attempts if the
 * device fails. Each task says how it ended. */
void gf_pipeline_filter_tasks(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                              int count);
/* The same for one task, whose error is copied. */
enum gf_status gf_pipeline_filter_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_error *error) GF_CHECKED;

/* The same for the task of a file in memory, which is opened and closed here. */
enum gf_status gf_pipeline_decode_task(struct gf_pipeline *pipeline, const void *data, size_t size,
                                       const char *name, struct gf_picture_task *task,
                                       struct gf_error *error) GF_CHECKED;
/* The same for a task whose output is a file in memory. *result becomes the file. */
enum gf_status gf_pipeline_encode_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       void **result, size_t *result_size,
                                       struct gf_error *error) GF_CHECKED;
/* Filters the picture of an input in memory, or of one that is open, to the bytes of a file. */
enum gf_status gf_pipeline_run_to_bytes(struct gf_pipeline *pipeline, const char *name,
                                        const struct gf_file_bytes *input, struct gf_bytes *result,
                                        struct gf_error *error) GF_CHECKED;

/* Fails if a caller's stream is being captured. The calling thread is bound to the device. */
enum gf_status gf_pipeline_check_stream(const struct gf_pipeline *pipeline, void *stream,
                                        struct gf_error *error) GF_CHECKED;
/* What gf_picture_read is set to: the picture goes through a pipeline of its own on the CPU, with
 * the limits of the thread's second pictures. */
enum gf_status gf_pipeline_read_picture(int descriptor, const char *name, double scale,
                                        struct gf_image *image, char **notes,
                                        struct gf_error *error) GF_CHECKED;
/* Checks the options and uses them from the next picture on. */
enum gf_status gf_pipeline_set_options(struct gf_pipeline *pipeline,
                                       const struct gf_options *options,
                                       struct gf_error *error) GF_CHECKED;
/* Does what gf_pipeline_set_options() does, and parses the chain. */
enum gf_status gf_pipeline_configure(struct gf_pipeline *pipeline, const char *chain,
                                     const struct gf_options *options,
                                     struct gf_error *error) GF_CHECKED;
/* Forgets the plans for pictures in the device's memory. */
void gf_pipeline_close_resident(struct gf_pipeline *pipeline);
/* Closes the backend and frees the pipeline's buffers. */
void gf_pipeline_close_backend(struct gf_pipeline *pipeline);
enum gf_status gf_pipeline_choose_device(struct gf_pipeline *pipeline,
                                         struct gf_error *error) GF_CHECKED;

/* Lets the remote attempt the picture, whose plan and output are known. */
enum gf_status gf_pipeline_attempt_remotely(struct gf_pipeline *pipeline,
                                            struct gf_picture_task *task,
                                            const struct gf_plan *plan,
                                            struct gf_error *error) GF_CHECKED;
/* Ends the use of the remote after a failed attempt, with a warning if *error has a text. This
 * process filters all further pictures. */
enum gf_status gf_pipeline_leave_remote(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                        struct gf_error *error) GF_CHECKED;
/* Fills the profile from the plan: stages and formats. */
enum gf_status gf_pipeline_describe_plan(struct gf_pipeline *pipeline,
                                         const struct gf_picture_task *task,
                                         const struct gf_plan *plan,
                                         struct gf_error *error) GF_CHECKED;
/* Whether another picture follows in the input and has a name. If so, the input then begins with
 * it. Warns of what follows and is left out. */
enum gf_status gf_pipeline_find_next(const struct gf_pipeline *pipeline,
                                     struct gf_picture_task *task, bool *found,
                                     struct gf_error *error) GF_CHECKED;
/* Fills a profile from the files of the input and the output. */
void gf_pipeline_describe_files(struct gf_profile *profile, const struct gf_picture_task *task);
/* Begins the profile. The first picture's profile begins at gf_pipeline_open(), so that it includes
 * the device's start. */
void gf_pipeline_begin_profile(struct gf_pipeline *pipeline);
/* The same for a further picture of a call, which may have been cancelled meanwhile. */
void gf_pipeline_begin_next_profile(struct gf_pipeline *pipeline);
void gf_pipeline_end_profile(struct gf_pipeline *pipeline);

/* Allocates a picture in the memory of the pipeline's device, which gf_pipeline_free_images()
 * frees. */
enum gf_status gf_pipeline_alloc_image(const struct gf_pipeline *pipeline, struct gf_format format,
                                       struct gf_image *image, struct gf_error *error) GF_CHECKED;

/* The input and the result of the GPU's coders, in device memory. An image's data is NULL if the
 * coders do not decode, or encode, it. */
struct gf_device_images {
    struct gf_device_coders *coders;
    struct gf_image in, out;
    uint64_t encoded_bytes; /* the host memory that the encoded result may use; 0: only a little */
};

/* Returns the size of the largest file that is decoded or encoded on the device. */
uint64_t gf_pipeline_file_bytes_most(const struct gf_pipeline *pipeline);
