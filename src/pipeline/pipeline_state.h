/* The state of a pipeline and of a picture on its way, and the functions that the files of this
 * folder and its subfolders call of each other. README.md says which file does what. */
#pragma once

#include <stdatomic.h>

#include "chain/chain.h"
#include "chain/plan.h"
#include "codec/codec.h"
#include "codec/common/pyramid/pyramid.h"
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

/* Where a picture is held that several outputs share. */
enum gf_hold {
    GF_HOLD_ON_DEVICE, /* in device memory, if the pipeline has a device */
    GF_HOLD_ON_HOST,
    GF_HOLD_NOWHERE /* nowhere: each output decodes the picture for itself */
};

/* Pipelines with the same chain and options as another one, their leader, for whose batches they
 * decode on threads of their own (device/batch.c). */
struct gf_crew {
    const struct gf_pipeline *leader;
    pthread_mutex_t warning; /* held while a member calls the leader's options.warn */
    struct gf_pipeline **member;
    int count;
};

struct gf_pipeline {
    struct gf_chain chain;
    struct gf_options options;
    bool threads_are_asked; /* options.threads is the caller's choice */
    /* Facts of the present picture for texts; `tell` is NULL if no text reads any. */
    struct gf_facts_of_picture facts;
    /* What facts are about: the input's name, its number in a list, its EXIF. */
    const char *input_name;
    int input_number;
    struct gf_exif_facts exif;
    atomic_uint *missed, own_missed; /* a bit for each fact whose lack was warned of; `missed`
                                      * points to own_missed unless pipelines share the warnings */
    struct gf_plan last_plan; /* the plan of the last picture, whose prepared constants the next
                               * plan may take over */
    struct gf_output_choice *output; /* output[outputs]: chains and options of several outputs;
                                      * those of the present output are in `chain` and `options` */
    int outputs;              /* the number of outputs; 0: there is one, and `output` is NULL */
    struct gf_remote *remote; /* NULL: this process filters the pictures */
    /* The chain as text for the remote; in the remote, that of the last picture. */
    char *chain_text;
    char *text;           /* the chain as text; NULL: there was no memory for it */
    struct gf_crew *crew; /* pipelines that help with batches; NULL: none have been needed */
    bool
        keeps_slow_files; /* the CPU decodes files of which a GPU decodes many in the time of one */
    bool gpu_is_sooner;   /* by an estimate the GPU is sooner, also for a chain without filters */
    bool cpu_for_remote;  /* the CPU filters what the remote does not accept, whatever the options
                           * say */
    void (*remote_warn)(void *context, const char *text); /* gets the warnings of the remote */
    struct gf_backend *backend;                           /* NULL while there is a remote */
    const struct gf_backend *described; /* the backend whose name is in profile.device */
    bool on_cuda;
    int band_rows;                /* rows of a band in the next attempt; 0: the engine chooses */
    bool has_begun, has_finished; /* whether a picture has begun, and whether one has ended */
    /* The metadata of the caller's pictures; its blobs are the caller's. */
    struct gf_metadata given;
    /* The metadata of the last result in the caller's memory; NULL: there are none. */
    struct gf_metadata *result;
    struct gf_buffer_pool buffers;
    struct gf_resident *resident; /* ready plans for pictures in the device's memory; NULL: there
                                   * was no such picture */
    const struct gf_ready_plan *described_plan; /* the ready plan that the profile describes */
    bool device_codec_used;                     /* the last attempt used the GPU's codecs */
    bool no_device_codec; /* further attempts at this picture do not use the GPU's codecs */
    bool has_floats;      /* the GPU has refused the picture, because it would have floats */
    bool
        returns; /* the CPU was chosen for a picture of floats alone: the next one may be a GPU's */
    enum gf_hold hold; /* where this picture's further attempts hold what outputs share */
    /* The budget of memory that several pipelines share; NULL: there is none. */
    struct gf_memory_budget *memory_budget;
    uint64_t memory_held; /* the bytes that the picture has taken from that budget */
    bool budget_taken;    /* the picture has taken from the budget all that it needs */
    bool holds_buffers;   /* a picture that is still needed lies in the pool's memory */
    /* Where the progress is counted; NULL: nobody reads it. */
    struct gf_schedule_progress *progress;
    /* The progress that is reported to gf_pipeline_watch()'s function. */
    struct gf_schedule_progress own_progress;
    struct gf_spans spans;
    struct gf_profile profile;
    struct gf_profile_stage *stages;
    struct gf_profile_level written[GF_PYRAMID_LEVELS_MAX]; /* the profile's */
    int stages_done, segments_done; /* how many stages and segments earlier parts of the chain have
                                     * added to the profile */
};

/* One picture on its way from an input, or from an image, to one output. */
struct gf_picture_task {
    struct gf_input *input;
    const struct gf_destination *destination;
    int number; /* the number of the picture in the input, from 1 */
    /* The file format of the input, and that of the output. */
    enum gf_file_format own_format, file_format;
    int depth;                /* bits of a sample in the output's file; 0: there is no file */
    const char *path;         /* the path of the output, which the destination chose */
    struct gf_output *output; /* NULL: not opened, since the result's format is not known yet */
    struct gf_sink *sink;     /* the sink of an animation of which a frame has been written */
    struct gf_format frame;   /* the format of that animation's first frame */
    uint64_t frame_profile;   /* a hash of the ICC profile of that frame */
    bool each;                /* each frame becomes a picture of its own */
    bool lossless;            /* the input is a lossless animation of 8 bits */
    /* With several outputs that number their pictures: which of the chosen pages is the picture,
     * from 0; how many pages the input has; and the number of the last one that is chosen (-1:
     * none). */
    int page, pages, last_page;
    int frames, frames_wanted; /* how many frames of the source have begun, and how many will */
    /* The open source whose last frame was the picture before this one; NULL: none. */
    struct gf_source *source;
    /* Limits for all pictures of the input together, unless they are pictures of a stream: until_s
     * is the time of gf_now() by which they must be done (0: the first picture sets it),
     * bytes_before the bytes of the outputs that have been made so far. */
    double until_s;
    uint64_t bytes_before;
    const struct gf_image *image_in;
    /* If its data is NULL, it is allocated when the result's format is known. */
    struct gf_image *image_out;
    uint64_t image_bytes;  /* bytes of the pictures that are held between two parts of the chain */
    int reduction;         /* the picture is read at 1/reduction of its size */
    int level;             /* number of the level of the file that is read */
    int width, height;     /* the size of the picture at its full size, in pixels */
    uint64_t codec_bytes;  /* bytes that the codecs need, as struct gf_codec_memory counts them */
    uint64_t second_bytes; /* bytes of second pictures, which other pipelines may share */
    bool remote_failed;    /* the remote failed, so that the picture has to be filtered here */
    /* Whether image_in and image_out lie in the device's memory; image_out's is then the pool's. */
    bool in_on_device, out_on_device;
    /* Whether image_out lies in memory of the caller on the device. If its data is NULL, it is
     * allocated there. */
    bool out_is_callers;
    /* Whether the output has ended, and with which status and error. */
    bool ended;
    enum gf_status status;
    struct gf_error error;
    struct gf_profile profile; /* with several outputs: the profile of this output */
    size_t first_span; /* the index of this output's first span in the pipeline's spans; it has
                        * profile.span_count of them */
};

/* Prepares another attempt after a failure of the device: first without the GPU's codecs, then with
 * smaller bands, then, with GF_DEVICE_AUTO, on the CPU. Returns false, with *error, if nothing is
 * left to try. */
bool gf_pipeline_recover(struct gf_pipeline *pipeline, enum gf_status failure,
                         const struct gf_error *why, struct gf_error *error);

/* Chooses a device again after a picture of floats, with GF_DEVICE_AUTO. */
enum gf_status gf_pipeline_return_to_device(struct gf_pipeline *pipeline,
                                            struct gf_error *error) GF_CHECKED;

/* Plans a part of the chain for the task's picture. If the task has a destination, this is the last
 * part, and the output is opened, unless it is open already. */
enum gf_status gf_pipeline_plan_part(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                     const struct gf_chain *chain, struct gf_format in,
                                     const struct gf_plan_request *request, struct gf_plan *plan,
                                     struct gf_error *error) GF_CHECKED;

/* Opens the task's output, once the format of the result is known, since its name may depend on the
 * picture's size. */
enum gf_status gf_pipeline_open_output(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_format result, struct gf_error *error) GF_CHECKED;

/* Whether the output is a JPEG that gets the coefficients of the input, a JPEG (options.lossless).
 * The pipeline's options are those of the output. */
bool gf_pipeline_moves(const struct gf_pipeline *pipeline, const struct gf_picture_task *task);
/* Fails if the source's coefficients cannot be moved as the plan says. The plan's result gets the
 * size that it will have. `name` is the input's. */
enum gf_status gf_pipeline_check_move(const struct gf_pipeline *pipeline,
                                      const struct gf_source *source, const char *name,
                                      struct gf_plan *plan, struct gf_error *error) GF_CHECKED;

/* Checks a picture that the caller has given for the result, whose format is known. */
enum gf_status gf_pipeline_check_output(const struct gf_image *input, const struct gf_image *output,
                                        struct gf_format result, struct gf_error *error) GF_CHECKED;

/* Checks a file format that a caller has given, which may be no value of the enum. */
enum gf_status gf_pipeline_check_format(enum gf_file_format format,
                                        struct gf_error *error) GF_CHECKED;

/* Returns the options for encoding the task's output, with its depth. */
struct gf_options gf_pipeline_sink_options(const struct gf_pipeline *pipeline,
                                           const struct gf_picture_task *task);
/* Applies the limits in the pipeline's options to the task's output. */
void gf_pipeline_limit_output(const struct gf_pipeline *pipeline,
                              const struct gf_picture_task *task);

/* Schedules a plan from the source, or else task->image_in, to the sink, or else task->image_out.
 * Takes memory from the budget that several pipelines share. */
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
/* Sets *moved to the picture's gain map, moved and resized to the result, whose place in the
 * input's picture is given. It is empty if the output keeps none; the caller frees it. Warns of
 * filters that change colours, or move pixels in ways that cannot be applied to the map. */
enum gf_status gf_pipeline_move_gain_map(const struct gf_pipeline *pipeline,
                                         const struct gf_picture_task *task,
                                         const struct gf_place *place, struct gf_format result,
                                         const struct gf_blob *map, struct gf_blob *moved,
                                         struct gf_error *error) GF_CHECKED;
/* Opens the sink of a result; if the task already has one, begins another page of it. `place` is
 * the result's place in the input's picture. `icc` is the profile that a filter has given the
 * picture; NULL: the picture has its own profile. `filtered` tells that the pixels differ from the
 * file's. */
enum gf_status gf_pipeline_open_sink(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, struct gf_format format,
                                     const struct gf_place *place, const struct gf_icc *icc,
                                     bool filtered, const struct gf_metadata *metadata,
                                     struct gf_sink **sink, struct gf_error *error) GF_CHECKED;
/* Gives metadata the profile that a filter has given the picture. */
void gf_pipeline_recolour(struct gf_metadata *metadata, const struct gf_icc *icc);
/* Sets pipeline->result to what a picture in memory keeps of the metadata. `icc` is the profile
 * that a filter has given the picture; NULL: the picture has its own profile. */
enum gf_status gf_pipeline_keep_metadata(struct gf_pipeline *pipeline, struct gf_format format,
                                         const struct gf_icc *icc,
                                         const struct gf_metadata *metadata,
                                         struct gf_error *error) GF_CHECKED;
/* Returns the bytes that a whole picture of the format takes. */
uint64_t gf_pipeline_image_bytes(struct gf_format format);
/* Returns the most bytes of whole pictures that are in host memory at one time: the picture that a
 * segment reads and the picture that it writes. */
uint64_t gf_pipeline_whole_bytes(const struct gf_pipeline *pipeline, const struct gf_plan *plan);
/* Returns the bytes of the second pictures that the plan's filters read. */
uint64_t gf_pipeline_second_bytes(const struct gf_plan *plan);
/* Returns the most bytes of host memory that a picture may use: options.memory_bytes, or by default
 * a part of the machine's memory. */
uint64_t gf_pipeline_memory_limit(const struct gf_pipeline *pipeline);
/* Returns the bytes that options.memory_bytes leaves for bands if the picture needs `taken` bytes
 * for other things. */
uint64_t gf_pipeline_band_bytes(const struct gf_pipeline *pipeline, uint64_t taken);
/* Begins to count the time that the picture may take, or goes on counting after the pictures of the
 * input before it. Returns the thread's previous time limit, which gf_pipeline_end_time() sets
 * again. */
double gf_pipeline_begin_time(const struct gf_pipeline *pipeline, struct gf_picture_task *task);
void gf_pipeline_end_time(struct gf_picture_task *task, double outer);
/* Resets what an input's pictures use up together, if the next one is no frame but of a stream. */
void gf_pipeline_renew_limits(struct gf_picture_task *task);
/* If the picture's time is up, replaces the error by one that says so. Returns the status. */
enum gf_status gf_pipeline_tell_time(const struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, enum gf_status status,
                                     struct gf_error *error) GF_CHECKED;
/* Takes `bytes` of memory for a picture from the budget that pipelines share, if there is one, or
 * gives them back. They are for what is held whole, and for a worker also for bands. Waiting for
 * memory does not count as the picture's time. */
void gf_pipeline_take_memory(struct gf_pipeline *pipeline, uint64_t bytes);
void gf_pipeline_return_memory(struct gf_pipeline *pipeline, uint64_t bytes);
/* Lowers the number of lanes until their bands fit into the schedule's memory,
 * options->memory_bytes; `taken` bytes are what the picture needs otherwise. A picture of a worker
 * (a thread of a batch) that does not fit waits until it can run alone. Fails if the bands of one
 * lane exceed the memory by far. */
enum gf_status gf_pipeline_fit_bands(struct gf_pipeline *pipeline,
                                     const struct gf_picture_task *task, uint64_t taken,
                                     struct gf_options *options, struct gf_schedule *schedule,
                                     struct gf_error *error) GF_CHECKED;
/* Returns what the planner needs to know about the source's picture. request.reduction is the
 * reduction that the chain can use, to which the source has not been set yet. */
struct gf_plan_request gf_pipeline_request_of(const struct gf_pipeline *pipeline,
                                              struct gf_source *source);
/* Returns what the planner needs to know about a picture of that format in the caller's memory. */
struct gf_plan_request gf_pipeline_request_of_image(struct gf_pipeline *pipeline,
                                                    struct gf_format format);
/* Whether a text in a chain states facts of the picture on which it is drawn. */
bool gf_pipeline_reads_facts(const struct gf_pipeline *pipeline);
/* Notes the facts of the task's picture, for texts. `source` may be NULL. */
void gf_pipeline_note_facts(struct gf_pipeline *pipeline, const struct gf_picture_task *task,
                            const struct gf_source *source);
/* Makes the chain and the options of output number `output` the pipeline's present ones. */
void gf_pipeline_select(struct gf_pipeline *pipeline, int output);
/* Filters the picture to all outputs whose tasks have not ended, with further attempts if the
 * device fails. Each task then has its status and its error. */
void gf_pipeline_filter_tasks(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                              int count);
/* Does what gf_pipeline_filter_tasks() does for one task, and returns its status and error. */
enum gf_status gf_pipeline_filter_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       struct gf_error *error) GF_CHECKED;

/* Does what gf_pipeline_filter_task() does for a task whose input is a file in memory, which is
 * opened and closed here. */
enum gf_status gf_pipeline_decode_task(struct gf_pipeline *pipeline, const void *data, size_t size,
                                       const char *name, struct gf_picture_task *task,
                                       struct gf_error *error) GF_CHECKED;
/* Does what gf_pipeline_filter_task() does for a task whose output is a file in memory, *result. */
enum gf_status gf_pipeline_encode_task(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                       void **result, size_t *result_size,
                                       struct gf_error *error) GF_CHECKED;
/* Filters the picture of an input that is in memory or open, to the bytes of a file. */
enum gf_status gf_pipeline_run_to_bytes(struct gf_pipeline *pipeline, const char *name,
                                        const struct gf_file_bytes *input, struct gf_bytes *result,
                                        struct gf_error *error) GF_CHECKED;

/* Fails if work on a caller's CUDA stream is being captured into a graph. The calling thread must
 * be bound to the device. */
enum gf_status gf_pipeline_check_stream(const struct gf_pipeline *pipeline, void *stream,
                                        struct gf_error *error) GF_CHECKED;
/* Reads a second picture: the function that gf_picture_read points to. A pipeline of its own on the
 * CPU decodes the picture, within the limits of the thread (gf_second_pictures_set_limits()). */
enum gf_status gf_pipeline_read_picture(int descriptor, const char *name, double scale,
                                        struct gf_image *image, char **notes,
                                        struct gf_error *error) GF_CHECKED;
/* Checks the options, and uses them from the next picture on. */
enum gf_status gf_pipeline_set_options(struct gf_pipeline *pipeline,
                                       const struct gf_options *options,
                                       struct gf_error *error) GF_CHECKED;
/* Does what gf_pipeline_set_options() does, and replaces the chain. */
enum gf_status gf_pipeline_configure(struct gf_pipeline *pipeline, const char *chain,
                                     const struct gf_options *options,
                                     struct gf_error *error) GF_CHECKED;
/* Frees the ready plans for pictures in the device's memory. */
void gf_pipeline_close_resident(struct gf_pipeline *pipeline);
/* Closes the backend and frees the pipeline's buffers. */
void gf_pipeline_close_backend(struct gf_pipeline *pipeline);
enum gf_status gf_pipeline_choose_device(struct gf_pipeline *pipeline,
                                         struct gf_error *error) GF_CHECKED;

/* Lets the remote filter a picture, whose plan and output are known. */
enum gf_status gf_pipeline_attempt_remotely(struct gf_pipeline *pipeline,
                                            struct gf_picture_task *task,
                                            const struct gf_plan *plan,
                                            struct gf_error *error) GF_CHECKED;
/* Stops using the remote after a failed attempt, with a warning if *error has a text. This process
 * filters the picture and all further ones. */
enum gf_status gf_pipeline_leave_remote(struct gf_pipeline *pipeline, struct gf_picture_task *task,
                                        struct gf_error *error) GF_CHECKED;
/* Fills in the profile's stages and formats from the plan. */
enum gf_status gf_pipeline_describe_plan(struct gf_pipeline *pipeline,
                                         const struct gf_picture_task *task,
                                         const struct gf_plan *plan,
                                         struct gf_error *error) GF_CHECKED;
/* Sets *found to whether another picture follows in the input and has a name to be written to; the
 * input is then at its beginning. Warns of what follows and is left out. */
enum gf_status gf_pipeline_find_next(const struct gf_pipeline *pipeline,
                                     struct gf_picture_task *task, bool *found,
                                     struct gf_error *error) GF_CHECKED;
/* Fills in what a profile says about the files of the input and the output. */
void gf_pipeline_describe_files(struct gf_profile *profile, const struct gf_picture_task *task);
/* Begins the profile of a picture. The first picture's begins at gf_pipeline_open(), so that it
 * includes the device's start. */
void gf_pipeline_begin_profile(struct gf_pipeline *pipeline);
/* Begins the profile of a further picture of a call, which may have been cancelled meanwhile. */
void gf_pipeline_begin_next_profile(struct gf_pipeline *pipeline);
void gf_pipeline_end_profile(struct gf_pipeline *pipeline);

/* Allocates a picture in the device's memory, which gf_pipeline_free_images() frees. */
enum gf_status gf_pipeline_alloc_image(const struct gf_pipeline *pipeline, struct gf_format format,
                                       struct gf_image *image, struct gf_error *error) GF_CHECKED;

/* The input and the result of a picture that the GPU's coders decode or encode, in device memory.
 * An image's data is NULL if they do not. */
struct gf_device_images {
    struct gf_device_coders *coders;
    struct gf_image in, out;
    uint64_t encoded_bytes; /* bytes of host memory that the encoded result may take; 0: only few */
};

/* Returns the most bytes of a file that the device decodes or encodes. */
uint64_t gf_pipeline_file_bytes_most(const struct gf_pipeline *pipeline);
