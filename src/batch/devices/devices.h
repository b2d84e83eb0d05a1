/* How long a CPU and a GPU would take for a batch, the devices it gets, and how many workers
 * share the devices, the processors and the memory. */
#pragma once

#include "batch/devices/figures.h"
#include "batch/request/request.h"
#include "chain/plan.h"
#include "pipeline/pipeline_internal.h"

/* The times of a codec: nanoseconds of one thread for a pixel of input. alone_ns is the part of the
 * work that only one thread does while the other threads that share the picture mostly wait. */
struct gf_cost_codec {
    double decode_ns, encode_ns;
    double alone_ns;
};

/* Whether a server of this user runs: beside the run, or in place of the run's own GPU. A GPU that
 * a server has started starts sooner in other processes, too. */
enum gf_cost_server { GF_COST_NO_SERVER, GF_COST_SERVER_BESIDE, GF_COST_SERVER_WORKS };

/* The work of a batch, from which its time is estimated. */
struct gf_cost_work {
    size_t files;
    double pixels;    /* the pixels of one input */
    double filter_ns; /* the time of one thread for a pixel of input */
    /* cuda_codec is the codec's work on the CPU if a GPU runs and decodes and encodes most JPEGs
     * itself. */
    struct gf_cost_codec codec, cuda_codec;
    double cuda_ns;    /* the GPU's time for a pixel of input: copies, decoding, filters and
                        * encoding */
    bool device_codec; /* the GPU decodes or encodes at least some of the pictures */
    /* The share of pictures of which the GPU decodes a few as slowly as many: JPEGs of several
     * scans, and PNGs of other programs. slow_files: the GPU decodes these, since they are most of
     * the batch or the batch is long. */
    double slow_share;
    bool slow_files;
    bool device_unpacks; /* the GPU decodes PNGs, which takes it longer than JPEGs */
    bool in_turn;        /* a stage needs the whole picture, so that decoding and encoding do not
                          * overlap */
    enum gf_cost_server server;
    int processors;
    const struct gf_figures *figures; /* NULL: the declared figures */
    bool uses[GF_FIGURES_MAX];        /* the figures that determined the times above */
};

struct gf_batch_pace {
    double inputs_a_second; /* inputs done per second; 0: unknown */
    double busy;            /* share of all processors' time that this pace takes, 0..1 */
};

struct gf_cost_choice {
    enum gf_device_kind device; /* never GF_DEVICE_AUTO */
    bool device_codec;          /* the GPU decodes or encodes at least some of the pictures */
    bool slow_files;            /* as in struct gf_cost_work */
    double pixels;              /* the pixels of one input; 0: not known */
    bool cpu_alone;             /* without the server the CPU would be faster */
    double cuda_s;              /* the estimated time on one GPU; 0: not known */
    struct gf_batch_pace pace;  /* gf_cost_pace(); zeros: not known */
};

/* Returns the cost of one stage, or of all stages of a plan, for one picture: nanoseconds of one
 * thread of the CPU, or of the GPU. */
double gf_cost_filter_ns(const struct gf_plan *plan, const struct gf_figures *figures, bool cuda);
/* Returns the figure for decoding or encoding a file format on the CPU. *times becomes a factor for
 * the figure, for a file that holds more bytes than usual, or a PNG that is compressed harder. With
 * bytes -1 the file's size is not known. */
enum gf_figure_id gf_cost_decoder(enum gf_file_format format, double bytes, double pixels,
                                  double *times);
enum gf_figure_id gf_cost_encoder(enum gf_file_format format, const struct gf_options *options,
                                  double *times);

/* Figures for a format that the GPU decodes or encodes: for the GPU's own work, and for a CPU
 * thread's work on the file. */
struct gf_cost_device_coder {
    /* GF_FIGURE_PROCESS means that the GPU does not decode or encode the format. */
    enum gf_figure_id decode, encode, file;
};
struct gf_cost_device_coder gf_cost_device_coder(enum gf_file_format format);

/* Whether each worker uses one thread for its pictures. This is best with several pictures for each
 * worker, unless there are so many workers that some would wait for the last pictures. */
bool gf_cost_one_thread_each(size_t pictures, int workers);
/* Whether there are fewer pictures than processors, so that several processors share each
 * picture. */
bool gf_cost_shares(const struct gf_cost_work *work);
/* Returns the time of the whole program on the CPU, in seconds; the next function, with a GPU. */
double gf_cost_cpu_s(const struct gf_cost_work *work);
double gf_cost_cuda_s(const struct gf_cost_work *work);
/* Returns the pace of one GPU that has started, for deciding whether another one pays. The pace is
 * rather too high than too low: the estimate of a GPU's time was up to five times too long, and a
 * GPU that is started in vain makes the run longer. */
struct gf_batch_pace gf_cost_pace(const struct gf_cost_work *work);

/* Whether a GPU decodes files of which it decodes a few as slowly as many, by gf_cost_work's
 * slow_files. If not, the workers leave them to the CPU (gf_pipeline_keep_slow_files()). */
bool gf_cost_takes_slow(bool is_single, bool slow_files);

/* Reads the headers of some of the inputs to describe the batch for the estimates; false if no
 * input can be read. */
bool gf_cost_look(const struct gf_batch_request *request, enum gf_cost_server server,
                  struct gf_cost_work *work);
/* Chooses the GPU if the request asks for it. Otherwise, it chooses the GPU only if it can be used
 * and its estimated time is shorter; the reason for this choice is written to reason[size]. */
struct gf_cost_choice gf_cost_choose(const struct gf_batch_request *request,
                                     enum gf_cost_server server, char *reason, size_t size);
/* Reports the estimates and their figures, line by line: "estimate: CPU 0.021 s", "declared: file
 * 0.15 ms, jpeg-decode 5 ns/pixel". `gpu` tells whether there is a GPU, whose time is then
 * estimated as well. */
void gf_cost_describe(const struct gf_cost_work *work, bool gpu,
                      void (*line)(void *context, const char *text), void *context);
/* Chooses the device with the shorter estimated time; if the times are equal, the CPU. */
enum gf_device_kind gf_cost_decide(const struct gf_cost_work *work, char *reason, size_t size);

/* ---- the devices and their workers ---- */

enum {
    GF_BATCH_DEVICES_MAX = 64,
    GF_BATCH_WORKERS_MAX = 1024,
    GF_BATCH_CODEC_WORKERS = 32,
    GF_BATCH_MANY_WORKERS = 96,
    /* With gf_cost_work.slow_files: for fewer than GF_BATCH_MANY_PICTURES, and for more. */
    GF_BATCH_SLOW_WORKERS = 256,
    GF_BATCH_MANY_SLOW_WORKERS = 1024
};

/* The number of pictures from which settings pay off that make the start longer. On an H200 150
 * PNGs of 1080p took 407 ms with 96 workers and 340 ms with 32; 4,000 took 1.73 s and 2.03 s;
 * 16,000 JPEGs through blur=2,equalize took 1.54 s and 1.89 s. */
enum { GF_BATCH_MANY_PICTURES = 1500 };

struct gf_helper;

struct gf_batch_device {
    int index;   /* the number of the device, as in cuda:N */
    bool failed; /* the device has failed, and no worker uses it any more */
    /* The members about a device that a helper runs. */
    bool awake;               /* the helper's workers have been started */
    bool wanted;              /* the device is to be started, whatever is left to do */
    struct gf_helper *helper; /* the device's helper; NULL: not started */
};

/* The devices of a batch. All zeros mean the CPU. */
struct gf_batch_devices {
    struct gf_batch_device device[GF_BATCH_DEVICES_MAX];
    int count;
    int here; /* the number of devices that this process runs; helpers (src/server/server.h) run the
               * later ones, if these are started at all */
    size_t expected; /* the number of inputs; for an archive, an estimate */
    struct gf_cost_choice choice;
    enum gf_cost_server server; /* the server that was found, even if it is not used */
    struct gf_remote *remote;   /* the server that runs the only input; NULL: there is none */
    bool falls_back;            /* whether the batch goes on with the CPU when no device is left */
    char reason[160];           /* the reason for the choice */
};

/* Tells CUDA how many queues to a device it should prepare for such a request, if it asks for a
 * GPU, unless the user has told it. CUDA must not have started. */
void gf_batch_choose_queues(const struct gf_batch_request *request);
/* Starts the devices that a request of several inputs asks for, while the batch is prepared. */
void gf_batch_begin_devices(const struct gf_batch_request *request);

/* Reports the estimates of --device=auto for the inputs of the request `look`, even if the user has
 * named a device. */
void gf_batch_tell_estimate(const struct gf_batch_request *request,
                            const struct gf_batch_request *look, enum gf_cost_server server);
/* Chooses the devices that the batch runs on, or none for the CPU, and the reason; finds a server
 * for a single picture. The estimate reads the inputs of the request `look`: for an archive, its
 * first pictures. `pictures` is the number of pictures of the batch. A verbose request is told the
 * estimate. */
void gf_batch_choose_devices(const struct gf_batch_request *request,
                             const struct gf_batch_request *look, size_t pictures,
                             struct gf_batch_devices *devices);
/* Connects to a server, if --server=`use` allows one. If none runs, GF_SERVER_START starts one for
 * later processes. */
struct gf_remote *gf_batch_find_server(int use, int device, int idle_s, bool *silent);
/* Closes the connection to the server if no pipeline owns it. */
void gf_batch_drop_server(struct gf_batch_devices *devices);
/* Returns the number of GPUs, if possible without starting the driver for all of them. 0: *why says
 * why there is none. */
int gf_batch_count_devices(const char **why);
/* Fails, before anything is written, if a device that the user has named is missing or cannot run
 * the chain. */
enum gf_status gf_batch_check_devices(const struct gf_batch_request *request,
                                      const struct gf_batch_devices *devices,
                                      struct gf_error *error) GF_CHECKED;

/* Returns how many of the wanted workers the limit of open files allows, which is raised for them
 * as far as this process may. */
int gf_batch_most_workers(int wanted);
/* Sets the options of a worker's pipeline and opens the memory budget; returns the number of
 * workers on the CPU or on this process's devices for `pictures` pictures. */
int gf_batch_divide_work(const struct gf_batch_request *request,
                         const struct gf_batch_devices *devices, size_t pictures,
                         struct gf_options *options, struct gf_memory_budget *memory_budget);
