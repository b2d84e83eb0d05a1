/* Chooses the devices of a batch, and how many workers share the devices, the processors and the
 * memory. */
#pragma once

#include "batch/devices/cost.h"
#include "pipeline/pipeline_internal.h"

enum {
    GF_BATCH_DEVICES_MAX = 64,
    GF_BATCH_WORKERS_MAX = 256,
    GF_BATCH_CODEC_WORKERS = 32,
    GF_BATCH_MANY_WORKERS = 96
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
    int here; /* the number of devices that this process runs; helpers (src/server/helper.h) run the
               * later ones, if these are started at all */
    size_t expected; /* the number of inputs; for an archive, an estimate */
    struct gf_cost_choice choice;
    enum gf_cost_server server; /* the server that was found, even if it is not used */
    struct gf_remote *remote;   /* the server that runs the only input; NULL: there is none */
    bool falls_back;            /* whether the batch goes on with the CPU when no device is left */
    char reason[160];           /* the reason for the choice */
};

/* Tells CUDA how many queues to a device it should prepare for such a request, unless the user has
 * told it. CUDA must not have started. */
void gf_batch_choose_queues(const struct gf_batch_request *request);
/* Starts the devices that a request of several inputs asks for, while the batch is prepared. */
void gf_batch_begin_devices(const struct gf_batch_request *request);

/* Chooses the devices that the batch runs on, or none for the CPU, and the reason; finds a server
 * for a single picture. The estimate reads the inputs of the request `look`: for an archive, its
 * first pictures. `pictures` is the number of pictures of the batch. */
void gf_batch_choose_devices(const struct gf_batch_request *request,
                             const struct gf_batch_request *look, size_t pictures,
                             struct gf_batch_devices *devices);
/* Closes the connection to the server if no pipeline owns it. */
void gf_batch_drop_server(struct gf_batch_devices *devices);
/* Whether the estimate of the run is so long that the start of further devices pays, even if the
 * estimate is several times too long. */
bool gf_batch_is_long(const struct gf_batch_request *request,
                      const struct gf_batch_devices *devices);
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
