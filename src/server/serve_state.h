/* The state that the files of a server share: clients, which only the main thread uses
 * (serve.c), and workers (serve_work.c). */
#pragma once

#include <pthread.h>

#include "server/protocol.h"
#include "server/server.h"

/* A helper gets as many workers as the run that it helps has on a GPU of its own, but at most
 * GF_SERVER_WORKERS_MAX. */
enum { GF_SERVER_CLIENTS_MAX = 640, GF_SERVER_WORKERS_MAX = 256, GF_SERVER_WARNINGS_MAX = 8 };

struct gf_server_client;

/* A picture to filter. While a worker has the job, the main thread only reads its progress and may
 * cancel it. */
struct gf_server_job {
    struct gf_server_job *next; /* the next job in the queue, or in the list of finished jobs */
    struct gf_server_client *client; /* NULL: its client has closed the connection */
    struct gf_server_request request;
    int in, out; /* descriptors of input and output; -1: the worker has closed it */
    int file[GF_REMOTE_FILES];
    bool alone; /* no other picture was being filtered when this job began */
    struct gf_schedule_progress progress;
    enum gf_status status;
    struct gf_error error;
    struct gf_remote_result result;
    pthread_mutex_t lock; /* guards the warnings, which any thread of the picture may add */
    int warnings;
    char warning[GF_SERVER_WARNINGS_MAX][sizeof((struct gf_error *)0)->text];
};

struct gf_server_worker {
    struct gf_server *server;
    pthread_t thread;
    pthread_cond_t wake;
    struct gf_server_job *job; /* the present job, or NULL; guarded by the server's lock */
    /* The worker's own pipeline; NULL: none, so that the worker holds no memory. */
    struct gf_pipeline *pipeline;
    atomic_uint_fast64_t held_bytes; /* bytes of device memory that the pipeline holds */
};

struct gf_server_client {
    int socket; /* the client's connection; -1: this element is unused */
    bool greeted, stops;
    double since_s; /* when, by gf_now(), the last message was sent or received */
    struct gf_server_job *job;
};

struct gf_server {
    const struct gf_server_settings *settings;
    struct gf_server_identity identity;
    struct gf_server_place place;
    struct gf_memory_budget budget;
    int events; /* an eventfd: a worker has finished, or a signal has come */
    struct gf_server_client client[GF_SERVER_CLIENTS_MAX];
    int clients;
    struct gf_server_job *first, **last; /* the queue of jobs */
    int waiting, running;
    uint64_t done;
    /* By gf_now(): end of the last work, next beat, and when clients are accepted again. */
    double work_s, beat_s, full_s;
    bool ending;
    bool helps; /* the server is a helper: its only client is the parent, whose connections may be
                 * idle */
    struct gf_error failure; /* the device has failed, so that the server ends */
    /* The lock guards the members below. */
    pthread_mutex_t lock;
    struct gf_server_job *finished;
    struct gf_server_worker worker[GF_SERVER_WORKERS_MAX];
    int workers;
    /* Numbers of idle workers, a stack: the one that worked last, with its memory, gets the next
     * job. */
    int idle[GF_SERVER_WORKERS_MAX], idle_count;
    bool closing;
};

/* Closes the connection to a client, and cancels its job. */
void gf_server_hang_up(struct gf_server *server, struct gf_server_client *client);
void gf_server_beat(struct gf_server *server, struct gf_server_client *client);
/* Receives a message from the client and does what it requests. */
void gf_server_read_message(struct gf_server *server, struct gf_server_client *client);

/* Sends the results of finished jobs, and gives waiting jobs to the workers. */
void gf_server_finish_jobs(struct gf_server *server);
void gf_server_begin_jobs(struct gf_server *server);

/* gf_server_workers_open() starts the device and the workers' threads. gf_server_workers_close()
 * ends them; no worker may have a job. */
enum gf_status gf_server_workers_open(struct gf_server *server, struct gf_error *error) GF_CHECKED;
void gf_server_workers_close(struct gf_server *server);
/* Gives the job to an idle worker. Returns false if there is none. */
bool gf_server_give_job(struct gf_server *server, struct gf_server_job *job);
/* Returns the jobs that have been finished since the last call. */
struct gf_server_job *gf_server_take_finished(struct gf_server *server);
uint64_t gf_server_held_bytes(const struct gf_server *server);
/* Closes the files of the job. */
void gf_server_job_free(struct gf_server_job *job);
