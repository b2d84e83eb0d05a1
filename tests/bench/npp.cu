/* NVIDIA's NPP on the same frame: all calls that can do a task, so that the comparison is with the
 * fastest. Only calls with a stream context are used, which CUDA 11 to 13 share. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "npp.cuh"

enum { TAPS_MAX = 31 };

struct npp npp;

static const struct npp_way *find_way(const char *name, int way)
{
    const struct npp_way *const lists[] = {npp_ways, npp_float_ways};
    for (const struct npp_way *each : lists) {
        for (; each->name; each++) {
            if (!strcmp(each->name, name) && way-- == 0)
                return each;
        }
    }
    return NULL;
}

const char *npp_way(const char *name, int way)
{
    const struct npp_way *const found = npp.work ? find_way(name, way) : NULL;
    return found ? found->way : NULL;
}

int npp_run(void *context, int turn, void *stream)
{
    const struct npp_job *const job = (const struct npp_job *)context;
    const struct npp_way *const way = find_way(job->name, job->way);
    npp.context.hStream = (cudaStream_t)stream;
    const cudaError_t code = cudaStreamGetFlags(npp.context.hStream, &npp.context.nStreamFlags);
    if (!way || code != cudaSuccess)
        return -1;
    const struct npp_io io = {job->in[turn], job->out[turn], way->value};
    const NppStatus status = way->call(io);
    return status < 0 ? (int)status : (int)cudaGetLastError(); /* above 0 are NPP's warnings */
}

/* ---- start and end ---- */

static bool describe_device(void)
{
    cudaDeviceProp properties;
    npp.context.hStream = NULL;
    npp.context.nStreamFlags = 0;
    npp.context.nReserved0 = 0;
    if (cudaGetDevice(&npp.context.nCudaDeviceId) != cudaSuccess ||
        cudaGetDeviceProperties(&properties, npp.context.nCudaDeviceId) != cudaSuccess)
        return false;
    npp.context.nMultiProcessorCount = properties.multiProcessorCount;
    npp.context.nMaxThreadsPerMultiProcessor = properties.maxThreadsPerMultiProcessor;
    npp.context.nMaxThreadsPerBlock = properties.maxThreadsPerBlock;
    npp.context.nSharedMemPerBlock = properties.sharedMemPerBlock;
    npp.context.nCudaDevAttrComputeCapabilityMajor = properties.major;
    npp.context.nCudaDevAttrComputeCapabilityMinor = properties.minor;
    return true;
}

/* The sizes' types differ between CUDA's versions: int, then size_t. */
template <typename size_type>
static size_t histogram_bytes(NppStatus (*get)(NppiSize, int *, size_type *, NppStreamContext))
{
    int levels[3] = {NPP_LEVELS + 1, NPP_LEVELS + 1, NPP_LEVELS + 1};
    size_type bytes = 0;
    return get(npp.size, levels, &bytes, npp.context) == NPP_SUCCESS ? (size_t)bytes : 0;
}

template <typename size_type>
static size_t extremes_bytes(NppStatus (*get)(NppiSize, size_type *, NppStreamContext))
{
    size_type bytes = 0;
    return get(npp.size, &bytes, npp.context) == NPP_SUCCESS ? (size_t)bytes : 0;
}

static size_t median_bytes(int side)
{
    const NppiSize mask = {side, side};
    Npp32u plain = 0, border = 0;
    if (nppiFilterMedianGetBufferSize_8u_C3R_Ctx(npp.size, mask, &plain, npp.context) !=
        NPP_SUCCESS)
        plain = 0;
    if (nppiFilterMedianBorderGetBufferSize_8u_C3R_Ctx(
            npp.size, mask, &border, NPP_BORDER_REPLICATE, npp.context) != NPP_SUCCESS)
        border = 0;
    return plain > border ? plain : border;
}

static size_t scratch_bytes(void)
{
    int unsharp_bytes = 0;
    if (nppiFilterUnsharpGetBufferSize_8u_C3R(3, 1, &unsharp_bytes) != NPP_SUCCESS)
        unsharp_bytes = 0;
    const size_t sizes[] = {(size_t)unsharp_bytes,
                            histogram_bytes(nppiHistogramEvenGetBufferSize_8u_C3R_Ctx),
                            extremes_bytes(nppiMinMaxGetBufferHostSize_8u_C3R_Ctx),
                            median_bytes(3),
                            median_bytes(5),
                            median_bytes(11),
                            npp_floats_scratch()};
    size_t largest = (size_t)1 << 20;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        largest = sizes[i] > largest ? sizes[i] : largest;
    return largest;
}

static void *upload(const void *host, size_t size)
{
    void *const device = bench_alloc(size);
    if (device && bench_copy_in(device, host, size))
        return device;
    bench_free(device);
    return NULL;
}

static void make_taps(double sigma, int count, Npp32f *taps)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += exp(-(i - count / 2) * (i - count / 2) / (2 * sigma * sigma));
    for (int i = 0; i < count; i++)
        taps[i] = (Npp32f)(exp(-(i - count / 2) * (i - count / 2) / (2 * sigma * sigma)) / sum);
}

static Npp32f *upload_taps(double sigma, int count)
{
    Npp32f taps[TAPS_MAX];
    make_taps(sigma, count, taps);
    return (Npp32f *)upload(taps, (size_t)count * sizeof *taps);
}

static Npp32f *upload_gauss13x13(void)
{
    enum { SIDE = 13 };
    Npp32f taps[SIDE], whole[SIDE * SIDE];
    make_taps(2, SIDE, taps);
    for (int i = 0; i < SIDE * SIDE; i++)
        whole[i] = taps[i / SIDE] * taps[i % SIDE];
    return (Npp32f *)upload(whole, sizeof whole);
}

static bool upload_kernels(void)
{
    enum { SIDES = 3, WEIGHTS = 3 * 3 + 5 * 5 + 31 * 31 };
    static const int sides[SIDES] = {3, 5, 31};
    static Npp32f weight[WEIGHTS];
    static Npp32s weight_int[WEIGHTS];
    static const Npp32f sobel[] = {1, 2, 1, 0, 0, 0, -1, -2, -1};
    for (int k = 0; k < SIDES; k++) {
        for (int i = 0; i < sides[k] * sides[k]; i++) {
            const int at = npp_matrix_at(sides[k]) + i;
            weight_int[at] = (i * 7 + 3) % 11 + 1; /* 6 on average */
            weight[at] = (Npp32f)weight_int[at] / (Npp32f)(6 * sides[k] * sides[k]);
        }
    }
    npp.taps13 = upload_taps(2, 13);
    npp.taps31 = upload_taps(5, 31);
    npp.gauss13x13 = upload_gauss13x13();
    npp.sobel = (Npp32f *)upload(sobel, sizeof sobel);
    npp.matrix = (Npp32f *)upload(weight, sizeof weight);
    npp.matrix_int = (Npp32s *)upload(weight_int, sizeof weight_int);
    return npp.taps13 && npp.taps31 && npp.gauss13x13 && npp.sobel && npp.matrix && npp.matrix_int;
}

static bool upload_tables(void)
{
    static Npp32s level[3 * NPP_LEVELS], value[3 * NPP_LEVELS];
    static Npp8u palette[3 * NPP_LEVELS];
    for (int i = 0; i < 3 * NPP_LEVELS; i++) {
        level[i] = i % NPP_LEVELS;
        value[i] = (Npp32s)(255.0 * sqrt(i % NPP_LEVELS / 255.0) + 0.5);
        palette[i] = (Npp8u)value[i];
    }
    npp.levels = (Npp32s *)upload(level, sizeof level);
    npp.values = (Npp32s *)upload(value, sizeof value);
    npp.palette = (Npp8u *)upload(palette, sizeof palette);
    npp.histogram = (Npp32s *)bench_alloc(sizeof level);
    npp.extremes = (Npp8u *)bench_alloc(2 * 3);
    return npp.levels && npp.values && npp.palette && npp.histogram && npp.extremes;
}

bool npp_open(int width, int height, char *version, size_t size)
{
    const NppLibraryVersion *const library = nppGetLibVersion();
    memset(&npp, 0, sizeof npp);
    npp.width = width;
    npp.height = height;
    npp.step = width * 3;
    npp.size.width = width;
    npp.size.height = height;
    snprintf(version, size, "%d.%d.%d", library->major, library->minor, library->build);
    if (describe_device() && upload_kernels() && upload_tables()) {
        npp.scratch = (Npp8u *)bench_alloc(scratch_bytes());
        npp.work = (Npp8u *)bench_alloc(4 * sizeof(Npp32f) * (size_t)width * (size_t)height);
    }
    if (npp.scratch && npp.work)
        return true;
    npp_close();
    return false;
}

void npp_close(void)
{
    void *const all[] = {npp.work,   npp.scratch, npp.taps13,     npp.taps31,    npp.gauss13x13,
                         npp.sobel,  npp.matrix,  npp.matrix_int, npp.histogram, npp.levels,
                         npp.values, npp.palette, npp.extremes};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        bench_free(all[i]);
    memset(&npp, 0, sizeof npp);
}
