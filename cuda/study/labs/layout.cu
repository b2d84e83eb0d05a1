/* Adds one to each sample of pixels of three samples. Interleaved pixels are 3 or 12 bytes apart,
 * so that the lanes of a warp load and store with gaps. The guide's remedies are shared memory,
 * planes, and an aligned struct of four (CUDA Performance Optimization, "Coalescing: structures of
 * size other than 4, 8 or 16"). */
#include "study/labs/lab.h"

#ifdef __CUDACC__
#include "cuda/study/labs/lab.cuh"

constexpr int THREADS = 256;

template <typename T> struct three {
    T sample[3];
};
template <typename T> struct __align__(4 * sizeof(T)) four
{
    T sample[4];
};

static __device__ __forceinline__ float next(float v)
{
    return v + 1.0f;
}
static __device__ __forceinline__ unsigned char next(unsigned char v)
{
    return (unsigned char)(v + 1);
}

template <typename Pixel, typename T>
static __global__ void __launch_bounds__(THREADS) pixel_kernel(const T *in, T *out, int pixels)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= pixels)
        return;
    Pixel pixel = ((const Pixel *)in)[i];
#pragma unroll
    for (int c = 0; c < 3; c++)
        pixel.sample[c] = next(pixel.sample[c]);
    ((Pixel *)out)[i] = pixel;
}

/* Loads and stores words in the order of memory. Each thread reads its pixel from shared memory. A
 * stride of three words is coprime to the 32 banks, and bytes of one word are broadcast, so that
 * there are no conflicts. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) shared_kernel(const T *in, T *out, int pixels)
{
    constexpr int WORDS = THREADS * 3 * sizeof(T) / 4;
    __shared__ uint32_t words[WORDS];
    const int first = (int)blockIdx.x * WORDS;
    const int end = (int)((size_t)pixels * 3 * sizeof(T) / 4) - first;
#pragma unroll
    for (int i = threadIdx.x; i < WORDS; i += THREADS) {
        if (i < end)
            words[i] = ((const uint32_t *)in)[first + i];
    }
    __syncthreads();
    three<T> *const pixel = (three<T> *)words + threadIdx.x;
#pragma unroll
    for (int c = 0; c < 3; c++)
        pixel->sample[c] = next(pixel->sample[c]);
    __syncthreads();
#pragma unroll
    for (int i = threadIdx.x; i < WORDS; i += THREADS) {
        if (i < end)
            ((uint32_t *)out)[first + i] = words[i];
    }
}

template <typename T>
static __global__ void __launch_bounds__(THREADS) planes_kernel(const T *in, T *out, int pixels)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= pixels)
        return;
#pragma unroll
    for (int c = 0; c < 3; c++)
        out[(size_t)c * pixels + i] = next(in[(size_t)c * pixels + i]);
}

/* Processes four pixels as three aligned vectors, which the guides do not show. */
template <typename T>
static __global__ void __launch_bounds__(THREADS) vector_kernel(const T *in, T *out, int pixels)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    if (i >= pixels / 4)
        return;
    four<T> vector[3];
#pragma unroll
    for (int k = 0; k < 3; k++)
        vector[k] = ((const four<T> *)in)[3 * (size_t)i + k];
#pragma unroll
    for (int k = 0; k < 3; k++) {
#pragma unroll
        for (int c = 0; c < 4; c++)
            vector[k].sample[c] = next(vector[k].sample[c]);
        ((four<T> *)out)[3 * (size_t)i + k] = vector[k];
    }
}

/* Checks the result. Sample c of pixel i is at i * pixel_step + c * sample_step. */
template <typename T>
static __global__ void __launch_bounds__(THREADS)
    check_kernel(const T *in, const T *out, int pixels, int pixel_step, int sample_step,
                 unsigned long long *wrong)
{
    const int i = (int)(blockIdx.x * THREADS + threadIdx.x);
    for (int c = 0; c < 3 && i < pixels; c++) {
        const size_t at = (size_t)i * pixel_step + (size_t)c * sample_step;
        if (!(out[at] == next(in[at])))
            atomicAdd(wrong, 1);
    }
}

enum { STRAIGHT, SHARED, PLANES, ALIGNED, VECTOR, METHODS };

static const char *const method_names[] = {
    "interleaved, straight",   "interleaved, through shared memory", "three planes",
    "struct of four, aligned", "four pixels as three vectors",
};

template <typename T> static void launch(int method, const T *in, T *out, int pixels)
{
    const unsigned int blocks = lab_blocks(pixels, THREADS);
    if (method == STRAIGHT)
        pixel_kernel<three<T>, T><<<blocks, THREADS>>>(in, out, pixels);
    else if (method == SHARED)
        shared_kernel<<<blocks, THREADS>>>(in, out, pixels);
    else if (method == PLANES)
        planes_kernel<<<blocks, THREADS>>>(in, out, pixels);
    else if (method == ALIGNED)
        pixel_kernel<four<T>, T><<<blocks, THREADS>>>(in, out, pixels);
    else
        vector_kernel<<<lab_blocks(pixels / 4, THREADS), THREADS>>>(in, out, pixels);
}

template <typename T> static void compare(const struct gf_lab_run *run, const char *kind)
{
    const int pixels = (int)(run->param[0] * LAB_MB / (3 * sizeof(T)) / 4 * 4);
    const double bytes = 6.0 * sizeof(T) * pixels;
    const lab_memory<T> in(run, (size_t)4 * pixels, 1), out(run, in.count);
    const lab_counter wrong(run);
    struct lab_time times[METHODS];
    for (int method = 0; method < METHODS; method++) {
        const int pixel_step = method == PLANES ? 1 : method == ALIGNED ? 4 : 3;
        const auto work = [&] { launch(method, in.data, out.data, pixels); };
        out.poison();
        work();
        check_kernel<<<lab_blocks(pixels, THREADS), THREADS>>>(
            in.data, out.data, pixels, pixel_step, method == PLANES ? pixels : 1, wrong.data);
        times[method] = lab_time(run, work);
        lab_row(run, NAN,
                {times[method].ms(), times[method].gb_s(bytes), times[method].spread,
                 times[0] / times[method]},
                "%s %s", kind, method_names[method]);
    }
    gf_lab_check(run, !wrong.value(),
                 "%s: every layout has one added to each sample (%llu are wrong)", kind,
                 wrong.value());
    gf_lab_claim(run, times[SHARED].median_s < times[STRAIGHT].median_s,
                 "%s: through shared memory takes %.2f of the straight time (guide: 359 / 3302)",
                 kind, times[SHARED] / times[STRAIGHT]);
}

static void run(const struct gf_lab_run *run)
{
    compare<float>(run, "float3");
    compare<unsigned char>(run, "RGB8");
    gf_lab_note(run,
                "bandwidth counts three samples a pixel; the struct of four moves a third more");
}
#endif

const struct gf_lab gf_lab_layout = {
    .name = "layout",
    .summary = "array of structs against struct of arrays, for pixels of three samples",
    .guide = "1",
    .figure = "G80: float3 straight 3,302 us, through shared memory 359 us",
    .marks = {{"G80", "time", "float3 interleaved, straight", 3.302},
              {"G80", "time", "float3 interleaved, through shared memory", 0.359}},
    .params = {GF_LAB_INT("size", 256, 1, 2048, "of the three samples of all pixels, in MB")},
    .rows = "layout",
    .columns = {GF_LAB_COMPARED},
    .run = GF_LAB_RUN(run),
};
