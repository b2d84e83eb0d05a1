/* Pictures as the numbers that networks take, with the bits of src/pixel/floats.c. */
#include "cuda/backend/backend.cuh"
#include "cuda/common/launch.cuh"
#include "pixel/floats.h"

/* A thread makes the numbers of PIXELS pixels of a row at a time. */
enum { THREADS = 256, PIXELS = 4, AT_ONCE = 64, BLOCKS_A_MULTIPROCESSOR = 8 };

/* The pictures of a launch, one for each row of the grid. */
struct float_pictures {
    const unsigned char *data[AT_ONCE];
    size_t pitch[AT_ONCE];
    float *values;
    int width, height;
    float mean[4], deviation[4];
    bool words;   /* rows begin at multiples of 4 bytes */
    bool vectors; /* so many pixels' numbers begin at multiples of 16 bytes */
};

static __device__ __forceinline__ float number_of(const struct float_pictures &pictures, int c,
                                                  float sample, float most)
{
    return (sample / most - pictures.mean[c]) / pictures.deviation[c];
}

/* The numbers of all samples of 8 bits. */
template <int TO> struct tables {
    float number[TO][256];
};

template <class Sample, int FROM>
static __device__ __forceinline__ void load(const Sample *from, bool words, int count,
                                            Sample (&sample)[PIXELS * FROM])
{
    if (words && count == PIXELS) {
        constexpr int SAMPLES = 4 / sizeof(Sample);
#pragma unroll
        for (int i = 0; i < PIXELS * FROM / SAMPLES; i++) {
            const unsigned word = ((const unsigned *)from)[i];
#pragma unroll
            for (int k = 0; k < SAMPLES; k++)
                sample[i * SAMPLES + k] = (Sample)(word >> (8 * sizeof(Sample) * k));
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < PIXELS * FROM; i++)
        sample[i] = i < count * FROM ? from[i] : Sample(0);
}

static __device__ __forceinline__ void store(float *to, bool vectors, int count,
                                             const float (&number)[4])
{
    if (vectors) {
        *(float4 *)to = make_float4(number[0], number[1], number[2], number[3]);
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < count)
            to[i] = number[i];
    }
}

/* Makes the numbers of up to PIXELS pixels. `first` is the index of the first one. */
template <class Sample, int FROM, int TO, bool PLANES>
static __device__ __forceinline__ void
write_pixels(const struct float_pictures &pictures, const struct tables<TO> *table,
             const Sample (&sample)[PIXELS * FROM], size_t first, int count, float *values)
{
    const size_t plane = (size_t)pictures.width * (size_t)pictures.height;
#pragma unroll
    for (int group = 0; group < TO; group++) { /* four numbers that lie side by side */
        float number[PIXELS];
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const int at = group * PIXELS + i, c = PLANES ? group : at % TO,
                      pixel = PLANES ? i : at / TO;
            const Sample v = sample[pixel * FROM + (FROM == 1 ? 0 : c)];
            number[i] = sizeof(Sample) == 1 ? table->number[c][v & 255]
                                            : number_of(pictures, c, (float)v, 65535.0f);
        }
        float *const to = values + (PLANES ? group * plane + first : first * TO + group * PIXELS);
        store(to, pictures.vectors && count == PIXELS, PLANES ? count : count * TO - group * PIXELS,
              number);
    }
}

template <class Sample, int FROM, int TO, bool PLANES>
static __global__ void __launch_bounds__(THREADS)
    floats_kernel(const __grid_constant__ struct float_pictures pictures)
{
    __shared__ struct tables<sizeof(Sample) == 1 ? TO : 1> table;
    const int across = (pictures.width + PIXELS - 1) / PIXELS;
    const unsigned items = (unsigned)across * (unsigned)pictures.height;
    const unsigned char *const data = pictures.data[blockIdx.y];
    const size_t pitch = pictures.pitch[blockIdx.y];
    float *const values = pictures.values + (size_t)blockIdx.y * TO * (size_t)pictures.width *
                                                (size_t)pictures.height;
    if (sizeof(Sample) == 1) {
#pragma unroll
        for (int c = 0; c < TO; c++)
            table.number[c][threadIdx.x] = number_of(pictures, c, (float)(int)threadIdx.x, 255.0f);
        __syncthreads();
    }
    for (unsigned item = blockIdx.x * THREADS + threadIdx.x; item < items;
         item += gridDim.x * THREADS) {
        const unsigned y = item / (unsigned)across;
        const int x = (int)(item - y * (unsigned)across) * PIXELS;
        const int count = min((int)PIXELS, pictures.width - x);
        Sample sample[PIXELS * FROM];
        load<Sample, FROM>((const Sample *)(data + y * pitch) + (size_t)x * FROM, pictures.words,
                           count, sample);
        write_pixels<Sample, FROM, TO, PLANES>(pictures, (const struct tables<TO> *)&table, sample,
                                               (size_t)y * (size_t)pictures.width + (size_t)x,
                                               count, values);
    }
}

typedef void floats_kernel_of(const struct float_pictures pictures);

template <class Sample, int FROM, int TO> static floats_kernel_of *kernel_in(bool planes)
{
    return planes ? floats_kernel<Sample, FROM, TO, true> : floats_kernel<Sample, FROM, TO, false>;
}

template <class Sample> static floats_kernel_of *kernel_for(int from, int to, bool planes)
{
    return from == 1 ? (to == 3 ? kernel_in<Sample, 1, 3>(planes) : kernel_in<Sample, 1, 1>(planes))
           : from == 2 ? kernel_in<Sample, 2, 2>(planes)
           : from == 3 ? kernel_in<Sample, 3, 3>(planes)
                       : kernel_in<Sample, 4, 4>(planes);
}

/* Describes up to AT_ONCE pictures, of which `values` are the numbers. */
static struct float_pictures describe(const struct gf_image *images, int count,
                                      const struct gf_float_form *form, float *values)
{
    const bool planes = form->layout == GF_FLOATS_NCHW;
    struct float_pictures pictures = {};
    size_t places = 0;
    pictures.values = values;
    pictures.width = images[0].format.width;
    pictures.height = images[0].format.height;
    for (int c = 0; c < form->channels; c++) {
        pictures.mean[c] = form->mean[c];
        pictures.deviation[c] = form->deviation[c];
    }
    for (int i = 0; i < count; i++) {
        pictures.data[i] = images[i].data;
        pictures.pitch[i] = images[i].pitch;
        places |= (size_t)images[i].data | images[i].pitch;
    }
    pictures.words = places % sizeof(unsigned) == 0;
    pictures.vectors = (uintptr_t)values % VECTOR == 0 &&
                       pictures.width * (planes ? 1 : form->channels) % PIXELS == 0;
    return pictures;
}

static cudaError_t launch(struct float_pictures pictures, int count, struct gf_format format,
                          const struct gf_float_form *form, int multiprocessors,
                          cudaStream_t stream)
{
    const bool planes = form->layout == GF_FLOATS_NCHW;
    const uint64_t items = (uint64_t)ceil_div(format.width, PIXELS) * (uint64_t)format.height,
                   needed = (items + THREADS - 1) / THREADS,
                   most = (uint64_t)multiprocessors * BLOCKS_A_MULTIPROCESSOR / (uint64_t)count + 1;
    floats_kernel_of *const kernel =
        format.bits == 8 ? kernel_for<unsigned char>(format.channels, form->channels, planes)
                         : kernel_for<uint16_t>(format.channels, form->channels, planes);
    kernel<<<dim3((unsigned)(needed < most ? needed : most), (unsigned)count), THREADS, 0,
             stream>>>(pictures);
    return cudaGetLastError();
}

cudaError_t gf_cuda_to_floats(const struct gf_image *images, int count,
                              const struct gf_float_form *form, float *values, int multiprocessors,
                              cudaStream_t stream)
{
    const struct gf_format format = images[0].format;
    const size_t numbers = (size_t)format.width * (size_t)format.height * (size_t)form->channels;
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < count && code == cudaSuccess; i += AT_ONCE) {
        const int some = count - i < AT_ONCE ? count - i : AT_ONCE;
        code = launch(describe(images + i, some, form, values + (size_t)i * numbers), some, format,
                      form, multiprocessors, stream);
    }
    return code;
}
