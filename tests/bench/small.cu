/* Small pictures, many of one chain: the GPU's time for each beside its share of a copy, by the
 * ways in which their kernels can be launched. All work is queued before the first of it begins, so
 * that the host's time stands apart. */
#include <cuda_runtime.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "bench.h"
#include "chain/plan.h"
#include "chain/chain.h"

namespace
{

enum { PICTURES = 64, SIDE = 256, STREAMS = 16, STAGES = 8, SAMPLES = 9 };

/* A chain, planned for pictures of one size. */
struct job {
    struct gf_chain chain;
    struct gf_plan plan;
    int pictures;
    bool by_bus; /* each picture is uploaded before and downloaded after */
    unsigned char *data[STAGES + 1];
    size_t pitch[STAGES + 1],
        bytes[STAGES + 1]; /* of a picture before each stage, and of the result */
    void *constants[STAGES];
    unsigned char *scratch[STAGES]; /* for each picture */
    size_t scratch_bytes[STAGES];
    unsigned char *host[2];
    cudaStream_t main, stream[STREAMS];
    cudaEvent_t fork, join[STREAMS];
    cudaGraphExec_t graph;
    int code; /* the first failure */
};

bool ok(struct job *job, int code)
{
    job->code = job->code ? job->code : code;
    return !job->code;
}

struct gf_view view_of(const struct job *job, int at, int picture, struct gf_format format)
{
    struct gf_view view = {};
    view.data = job->data[at] + (size_t)picture * job->bytes[at];
    view.pitch = job->pitch[at];
    view.format = format;
    view.rows = format.height;
    return view;
}

void queue_picture(struct job *job, int picture, cudaStream_t stream)
{
    const int stages = job->plan.stage_count;
    const size_t in_bytes = job->bytes[0], out_bytes = job->bytes[stages];
    if (job->by_bus)
        ok(job, cudaMemcpyAsync(job->data[0] + (size_t)picture * in_bytes,
                                job->host[0] + (size_t)picture * in_bytes, in_bytes,
                                cudaMemcpyHostToDevice, stream));
    for (int i = 0; i < stages && !job->code; i++) {
        const struct gf_stage *const stage = &job->plan.stage[i];
        struct gf_launch launch = {};
        launch.stage = stage;
        launch.in = view_of(job, i, picture, stage->in);
        launch.out = view_of(job, i + 1, picture, stage->out);
        launch.scratch = job->scratch[i] + (size_t)picture * job->scratch_bytes[i];
        launch.constants = job->constants[i];
        launch.stream = stream;
        ok(job, gf_stage_launcher(stage)(&launch));
    }
    if (job->by_bus)
        ok(job, cudaMemcpyAsync(job->host[1] + (size_t)picture * out_bytes,
                                job->data[stages] + (size_t)picture * out_bytes, out_bytes,
                                cudaMemcpyDeviceToHost, stream));
}

void on_one_stream(struct job *job)
{
    for (int i = 0; i < job->pictures; i++)
        queue_picture(job, i, job->main);
}

void on_streams(struct job *job)
{
    ok(job, cudaEventRecord(job->fork, job->main));
    for (int i = 0; i < STREAMS; i++)
        ok(job, cudaStreamWaitEvent(job->stream[i], job->fork, 0));
    for (int i = 0; i < job->pictures; i++)
        queue_picture(job, i, job->stream[i % STREAMS]);
    for (int i = 0; i < STREAMS; i++) {
        ok(job, cudaEventRecord(job->join[i], job->stream[i]));
        ok(job, cudaStreamWaitEvent(job->main, job->join[i], 0));
    }
}

void by_graph(struct job *job)
{
    ok(job, cudaGraphLaunch(job->graph, job->main));
}

void copy_on_device(struct job *job)
{
    ok(job, cudaMemcpyAsync(job->data[job->plan.stage_count], job->data[0],
                            PICTURES * job->bytes[job->plan.stage_count], cudaMemcpyDeviceToDevice,
                            job->main));
}

void copy_by_bus(struct job *job)
{
    const int last = job->plan.stage_count;
    ok(job, cudaEventRecord(job->fork, job->main));
    ok(job, cudaStreamWaitEvent(job->stream[0], job->fork, 0));
    ok(job, cudaMemcpyAsync(job->data[0], job->host[0], PICTURES * job->bytes[0],
                            cudaMemcpyHostToDevice, job->main));
    ok(job, cudaMemcpyAsync(job->host[1], job->data[last], PICTURES * job->bytes[last],
                            cudaMemcpyDeviceToHost, job->stream[0]));
    ok(job, cudaEventRecord(job->join[0], job->stream[0]));
    ok(job, cudaStreamWaitEvent(job->main, job->join[0], 0));
}

void make_graph(struct job *job)
{
    cudaGraph_t graph = NULL;
    if (!ok(job, cudaStreamBeginCapture(job->main, cudaStreamCaptureModeThreadLocal)))
        return;
    on_streams(job);
    ok(job, cudaStreamEndCapture(job->main, &graph));
    if (!job->code)
        ok(job, cudaGraphInstantiate(&job->graph, graph, 0));
    if (graph)
        cudaGraphDestroy(graph);
}

void drop_graph(struct job *job)
{
    if (job->graph)
        cudaGraphExecDestroy(job->graph);
    job->graph = NULL;
}

double now_us()
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e6 * (double)now.tv_sec + 1e-3 * (double)now.tv_nsec;
}

struct timing {
    double device_us, host_us; /* of each of the PICTURES */
};

/* The least of some samples. */
struct timing time_way(struct job *job, void (*way)(struct job *))
{
    struct timing least = {1e9, 1e9};
    cudaEvent_t begin = NULL, end = NULL;
    ok(job, cudaEventCreate(&begin));
    ok(job, cudaEventCreate(&end));
    for (int i = 0; i <= SAMPLES && !job->code; i++) {
        float ms = 0;
        bench_delay(job->main, 3000000);
        ok(job, cudaEventRecord(begin, job->main));
        const double begin_us = now_us();
        way(job);
        const double host_us = (now_us() - begin_us) / PICTURES;
        ok(job, cudaEventRecord(end, job->main));
        ok(job, cudaStreamSynchronize(job->main));
        ok(job, cudaEventElapsedTime(&ms, begin, end));
        if (i && 1e3 * (double)ms / PICTURES < least.device_us)
            least.device_us = 1e3 * (double)ms / PICTURES;
        if (i && host_us < least.host_us)
            least.host_us = host_us;
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return least;
}

bool alloc_pictures(struct job *job)
{
    for (int i = 0; i <= job->plan.stage_count; i++) {
        const struct gf_format format = i ? job->plan.stage[i - 1].out : job->plan.in;
        job->pitch[i] = (gf_row_bytes(format) + 15) / 16 * 16;
        job->bytes[i] = job->pitch[i] * (size_t)format.height;
        job->data[i] = (unsigned char *)bench_alloc((size_t)job->pictures * job->bytes[i]);
        if (!job->data[i] || !bench_fill(job->data[i], 100, (size_t)job->pictures * job->bytes[i]))
            return false;
    }
    for (int i = 0; i < 2; i++)
        ok(job, cudaMallocHost((void **)&job->host[i],
                               (size_t)job->pictures * job->bytes[i ? job->plan.stage_count : 0]));
    return !job->code;
}

bool prepare_stages(struct job *job, struct gf_error *error)
{
    for (int i = 0; i < job->plan.stage_count; i++) {
        struct gf_stage *const stage = &job->plan.stage[i];
        if (gf_stage_prepare(stage, error))
            return false;
        job->scratch_bytes[i] = (gf_stage_cuda_scratch(stage, stage->out.height) + 255) / 256 * 256;
        if (job->scratch_bytes[i])
            job->scratch[i] =
                (unsigned char *)bench_alloc((size_t)job->pictures * job->scratch_bytes[i]);
        if (stage->constants_size &&
            (!(job->constants[i] = bench_alloc(stage->constants_size)) ||
             !bench_copy_in(job->constants[i], stage->constants, stage->constants_size)))
            return false;
    }
    return true;
}

bool open_job(struct job *job, const char *chain, int pictures, struct gf_error *error)
{
    const struct gf_format format = {SIDE, SIDE * PICTURES / pictures, 3, 8, GF_SAMPLES_INTEGER};
    job->pictures = pictures;
    if (gf_chain_parse(chain, &job->chain, error) ||
        gf_plan_make(&job->chain, format, 1, &job->plan, error) || job->plan.segment_count != 1 ||
        job->plan.stage_count > STAGES)
        return false;
    ok(job, cudaStreamCreateWithFlags(&job->main, cudaStreamNonBlocking));
    ok(job, cudaEventCreateWithFlags(&job->fork, cudaEventDisableTiming));
    for (int i = 0; i < STREAMS; i++) {
        ok(job, cudaStreamCreateWithFlags(&job->stream[i], cudaStreamNonBlocking));
        ok(job, cudaEventCreateWithFlags(&job->join[i], cudaEventDisableTiming));
    }
    return alloc_pictures(job) && prepare_stages(job, error);
}

void close_job(struct job *job)
{
    for (int i = 0; i <= job->plan.stage_count; i++)
        bench_free(job->data[i]);
    for (int i = 0; i < job->plan.stage_count; i++) {
        bench_free(job->scratch[i]);
        bench_free(job->constants[i]);
    }
    for (int i = 0; i < 2; i++)
        cudaFreeHost(job->host[i]);
    for (int i = 0; i < STREAMS; i++) {
        cudaStreamDestroy(job->stream[i]);
        cudaEventDestroy(job->join[i]);
    }
    cudaEventDestroy(job->fork);
    cudaStreamDestroy(job->main);
    gf_plan_free(&job->plan);
    gf_chain_free(&job->chain);
}

/* The ways with the pictures in device memory, or with copies over the bus. */
void print_ways(struct job *job, bool by_bus)
{
    job->by_bus = by_bus;
    const struct timing copy = time_way(job, by_bus ? copy_by_bus : copy_on_device);
    const struct timing one = time_way(job, on_one_stream), streams = time_way(job, on_streams);
    make_graph(job);
    const struct timing graph = time_way(job, by_graph);
    drop_graph(job);
    printf(" %6.2f %6.2f %6.2f %6.2f %6.2f %6.2f", copy.device_us, one.device_us, streams.device_us,
           graph.device_us, streams.host_us, graph.host_us);
}

bool run_chain(const char *chain)
{
    struct job job = {}, tall = {};
    struct gf_error error = {};
    bool fine = open_job(&tall, chain, 1, &error) && open_job(&job, chain, PICTURES, &error);
    if (fine) {
        const struct timing shared = time_way(&tall, on_one_stream);
        printf("%-36s %6.2f", chain, shared.device_us);
        print_ways(&job, false);
        print_ways(&job, true);
        putchar('\n');
        fine = !job.code && !tall.code;
    }
    if (!fine)
        printf("%-36s FAILED: %s %s\n", chain, error.text, bench_error_text(job.code));
    close_job(&job);
    close_job(&tall);
    return fine;
}

} // namespace

bool bench_small(void)
{
    static const char *const chains[] = {"invert", "gamma=2.2,saturation=1.5,vignette", "blur=2",
                                         "resize=50%", "resize=50%,unsharp,gamma=1.2"};
    bool fine = true;
    printf("\nus of the GPU for each of %d pictures of %dx%d RGB8; host: us to queue a picture\n"
           "%-36s %6s %s %s\n%-36s %6s",
           PICTURES, SIDE, SIDE, "", "shared", "device memory to device memory           ",
           "host memory to host memory", "chain", "launch");
    for (int i = 0; i < 2; i++)
        printf(" %6s %6s %6s %6s %6s %6s", "copy", "stream", "16 str", "graph", "h:str", "h:grph");
    putchar('\n');
    for (const char *chain : chains)
        fine &= run_chain(chain);
    return fine;
}
