/* Works on pictures that are in the device's memory already: copies many of them, converts them to
 * numbers for neural networks and back, and queues work on the streams of callers by a lane that is
 * a guest there. */
#include <limits.h>
#include <stdlib.h>

#include "base/process/machine.h"
#include "cuda/backend/backend.cuh"
#include "cuda/common/check.cuh"
#include "cuda/common/floats.cuh"
#include "cuda/common/launch.cuh"
#include "pixel/floats.h"
#include "stage/border.h"

/* Copies many small pictures from one place of the device's memory to another in few launches: a
 * copy by the driver for each of them would take longer than filtering them. */

enum { COPY_THREADS = 256 };

/* The pictures that one launch copies: as many as fit into the parameters of a kernel. */
struct copies {
    unsigned char *to[GF_COPIES_MOST];
    const unsigned char *from[GF_COPIES_MOST];
    size_t to_pitch[GF_COPIES_MOST], from_pitch[GF_COPIES_MOST];
    /* Bytes of a row to write, the number of rows, and the vectors of 16 bytes in each. */
    unsigned row_bytes, rows, across;
    int halo, height, border; /* a source has `height` rows; `halo` rows above and below them are
                                 set by the rule `border` */
};

/* Block (x, y) copies part x of picture y. Each thread copies 16 bytes: at once or, where addresses
 * are no multiples of 16, byte by byte. */
static __global__ void __launch_bounds__(COPY_THREADS)
    copy_pictures_kernel(const struct copies copies)
{
    const unsigned picture = blockIdx.y, item = blockIdx.x * COPY_THREADS + threadIdx.x;
    const struct position at = position_of(item, copies.rows, copies.across);
    early_next();
    if (item >= copies.across * copies.rows)
        return;
    const unsigned first = at.column * VECTOR, left = copies.row_bytes - first;
    const int row = gf_border_index((int)at.row - copies.halo, copies.height, copies.border);
    const unsigned char *const from =
        copies.from[picture] + max(row, 0) * copies.from_pitch[picture] + first;
    unsigned char *const to = copies.to[picture] + at.row * copies.to_pitch[picture] + first;
    if (left >= VECTOR && ((size_t)from | (size_t)to) % VECTOR == 0) {
        *(uint4 *)to = row < 0 ? make_uint4(0, 0, 0, 0) : __ldg((const uint4 *)from);
        return;
    }
#pragma unroll 1
    for (unsigned i = 0; i < VECTOR && i < left; i++)
        to[i] = row < 0 ? 0 : from[i];
}

enum gf_status gf_cuda_copy_pictures(struct gf_lane *lane, const struct gf_view *dst,
                                     const struct gf_view *src, int count, int border,
                                     struct gf_error *error)
{
    struct copies copies = {};
    copies.row_bytes = (unsigned)gf_row_bytes(src->format);
    copies.rows = (unsigned)dst->rows;
    copies.across = blocks_for(copies.row_bytes, VECTOR);
    copies.height = src->rows;
    copies.halo = (dst->rows - src->rows) / 2;
    copies.border = border;
    for (int i = 0; i < count; i++) {
        copies.to[i] = dst[i].data;
        copies.from[i] = src[i].data;
        copies.to_pitch[i] = dst[i].pitch;
        copies.from_pitch[i] = src[i].pitch;
    }
    const dim3 blocks(blocks_for(copies.across * copies.rows, COPY_THREADS), count);
    GF_CUDA_TRY(launch_kernel(copy_pictures_kernel, blocks, COPY_THREADS, 0,
                              ((struct cuda_lane *)lane)->stream, copies),
                device_of(lane), error);
    return GF_OK;
}

/* Converts pictures to the numbers that neural networks take, with the same bits as
 * src/pixel/floats.c. */

/* A thread converts PIXELS pixels of a row at a time. */
enum { FLOAT_THREADS = 256, PIXELS = 4, AT_ONCE = 64, BLOCKS_A_MULTIPROCESSOR = 8 };

/* The pictures that one launch converts. blockIdx.y selects one of them. */
struct float_pictures {
    const unsigned char *data[AT_ONCE];
    size_t pitch[AT_ONCE], first[AT_ONCE]; /* first: the place of a picture's first number */
    int width[AT_ONCE], height[AT_ONCE];
    unsigned char *values;
    enum gf_number type;
    float scale, mean[4], deviation[4];
    int patch, merge, temporal; /* patch is 0 unless the layout is PATCHES */
    bool words;                 /* each PIXELS pixels begin at a multiple of 4 bytes */
    bool vectors; /* the numbers of each PIXELS pixels begin at a multiple of their own bytes */
};

/* Returns the bits of a sample's number. */
static __device__ __forceinline__ unsigned number_of(const struct float_pictures &pictures, int c,
                                                     float sample, float most)
{
    return gf_number_of_float(pictures.type, (sample * pictures.scale / most - pictures.mean[c]) /
                                                 pictures.deviation[c]);
}

/* The number that each sample of 8 bits becomes, in each of the TO channels of the result. */
template <int TO> struct tables {
    unsigned number[TO][256];

    template <class Integer>
    __device__ __forceinline__ unsigned of(const struct float_pictures &pictures, int c,
                                           Integer v) const
    {
        return sizeof(Integer) == 1 ? number[c][v & 255]
                                    : number_of(pictures, c, (float)v, sample_max<Integer>::value);
    }

    __device__ __forceinline__ unsigned of(const struct float_pictures &pictures, int c,
                                           float v) const
    {
        return gf_number_of_any(pictures.type,
                                (v * pictures.scale - pictures.mean[c]) / pictures.deviation[c]);
    }

    __device__ __forceinline__ unsigned of(const struct float_pictures &pictures, int c,
                                           __half v) const
    {
        return of(pictures, c, float_of(v));
    }
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
            for (int k = 0; k < SAMPLES; k++) {
                const unsigned bits = word >> (8 * sizeof(Sample) * k);
                memcpy(&sample[i * SAMPLES + k], &bits, sizeof(Sample));
            }
        }
        return;
    }
#pragma unroll
    for (int i = 0; i < PIXELS * FROM; i++)
        sample[i] = i < count * FROM ? from[i] : Sample();
}

/* Stores `count` numbers of the same type, from number `at` on. */
template <class Number, class Vector>
static __device__ __forceinline__ void store_as(unsigned char *values, size_t at, bool vectors,
                                                int count, const unsigned (&number)[4])
{
    Number *const to = (Number *)values + at;
    if (vectors) {
        Vector all;
        all.x = (Number)number[0];
        all.y = (Number)number[1];
        all.z = (Number)number[2];
        all.w = (Number)number[3];
        *(Vector *)to = all;
        return;
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
        if (i < count)
            to[i] = (Number)number[i];
    }
}

static __device__ __forceinline__ void store(enum gf_number type, unsigned char *values, size_t at,
                                             bool vectors, int count, const unsigned (&number)[4])
{
    if (type == GF_NUMBER_FLOAT32)
        store_as<unsigned, uint4>(values, at, vectors, count, number);
    else if (type == GF_NUMBER_UINT8)
        store_as<unsigned char, uchar4>(values, at, vectors, count, number);
    else
        store_as<unsigned short, ushort4>(values, at, vectors, count, number);
}

/* Converts `count` pixels, at most PIXELS, and stores their numbers from number `first` on, those
 * of a channel `plane` numbers behind those of the one before. */
template <class Sample, int FROM, int TO, bool PLANES>
static __device__ __forceinline__ void
write_pixels(const struct float_pictures &pictures, const struct tables<TO> *table,
             const Sample (&sample)[PIXELS * FROM], size_t first, size_t plane, int count)
{
#pragma unroll
    for (int group = 0; group < TO; group++) { /* a group is four adjacent numbers */
        unsigned number[PIXELS];
#pragma unroll
        for (int i = 0; i < PIXELS; i++) {
            const int at = group * PIXELS + i, c = PLANES ? group : at % TO,
                      pixel = PLANES ? i : at / TO;
            number[i] = table->of(pictures, c, sample[pixel * FROM + (FROM == 1 ? 0 : c)]);
        }
        const int copies = PLANES ? pictures.temporal : 1;
        const size_t square = (size_t)pictures.patch * (size_t)pictures.patch;
#pragma unroll 1
        for (int t = 0; t < copies; t++)
            store(pictures.type, pictures.values,
                  first + (PLANES ? (size_t)group * plane + (size_t)t * square : group * PIXELS),
                  pictures.vectors && count == PIXELS, PLANES ? count : count * TO - group * PIXELS,
                  number);
    }
}

template <class Sample, int FROM, int TO, bool PLANES>
static __global__ void __launch_bounds__(FLOAT_THREADS)
    floats_kernel(const __grid_constant__ struct float_pictures pictures)
{
    __shared__ struct tables<sizeof(Sample) == 1 ? TO : 1> table;
    const int width = pictures.width[blockIdx.y], height = pictures.height[blockIdx.y];
    const int part = pictures.patch ? pictures.patch : width; /* pixels of a row at a time */
    const unsigned groups = (unsigned)ceil_div(part, PIXELS),
                   across = groups * (unsigned)(width / part), items = across * (unsigned)height;
    const size_t plane = pictures.patch
                             ? (size_t)pictures.patch * (size_t)(pictures.patch * pictures.temporal)
                             : (size_t)width * (size_t)height;
    if (sizeof(Sample) == 1) {
#pragma unroll
        for (int c = 0; c < TO; c++)
            table.number[c][threadIdx.x] = number_of(pictures, c, (float)(int)threadIdx.x, 255.0f);
        __syncthreads();
    }
    for (unsigned item = blockIdx.x * FLOAT_THREADS + threadIdx.x; item < items;
         item += gridDim.x * FLOAT_THREADS) {
        const unsigned y = item / across, group = item - y * across, p = group / groups;
        const int within = (int)(group - p * groups) * PIXELS, x = (int)p * part + within;
        const int count = min((int)PIXELS, part - within);
        const size_t pixel = (size_t)y * (size_t)width + (size_t)x;
        const size_t first = PLANES && pictures.patch
                                 ? gf_patch_place(pictures.patch, pictures.merge,
                                                  TO * pictures.temporal, width, x, (int)y)
                                 : pixel * (PLANES ? 1 : TO);
        Sample sample[PIXELS * FROM];
        load<Sample, FROM>(
            (const Sample *)(pictures.data[blockIdx.y] + y * pictures.pitch[blockIdx.y]) +
                (size_t)x * FROM,
            pictures.words, count, sample);
        write_pixels<Sample, FROM, TO, PLANES>(pictures, (const struct tables<TO> *)&table, sample,
                                               pictures.first[blockIdx.y] + first, plane, count);
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

/* Describes up to AT_ONCE pictures for floats_kernel(). Their numbers follow each other from
 * `values` on. */
static struct float_pictures describe(const struct gf_image *images, int count,
                                      const struct gf_float_form *form, unsigned char *values)
{
    struct float_pictures pictures = {};
    const int part = form->patch ? form->patch : images[0].format.width;
    size_t places = form->patch % PIXELS, first = 0;
    pictures.values = values;
    pictures.patch = form->patch;
    pictures.merge = form->merge;
    pictures.temporal = form->temporal;
    pictures.type = form->type;
    pictures.scale = form->scale;
    for (int c = 0; c < form->channels; c++) {
        pictures.mean[c] = form->mean[c];
        pictures.deviation[c] = form->deviation[c];
    }
    for (int i = 0; i < count; i++) {
        pictures.data[i] = images[i].data;
        pictures.pitch[i] = images[i].pitch;
        pictures.width[i] = images[i].format.width;
        pictures.height[i] = images[i].format.height;
        pictures.first[i] = first;
        first += gf_float_count(form, images[i].format);
        places |= (size_t)images[i].data | images[i].pitch;
    }
    pictures.words = places % sizeof(unsigned) == 0;
    pictures.vectors = (uintptr_t)values % (PIXELS * gf_number_bytes(form->type)) == 0 &&
                       part * (form->layout == GF_FLOATS_NHWC ? form->channels : 1) % PIXELS == 0;
    return pictures;
}

static cudaError_t launch(struct float_pictures pictures, int count, struct gf_format format,
                          const struct gf_float_form *form, int multiprocessors,
                          cudaStream_t stream)
{
    const bool planes = form->layout != GF_FLOATS_NHWC;
    uint64_t pixels = 0; /* of the largest picture */
    for (int i = 0; i < count; i++) {
        const uint64_t all = (uint64_t)pictures.width[i] * (uint64_t)pictures.height[i];
        pixels = all > pixels ? all : pixels;
    }
    const uint64_t needed = (pixels / PIXELS + FLOAT_THREADS) / FLOAT_THREADS,
                   most = (uint64_t)multiprocessors * BLOCKS_A_MULTIPROCESSOR / (uint64_t)count + 1;
    floats_kernel_of *kernel = NULL;
    for_sample_type(format, [&](auto sample) {
        kernel = kernel_for<decltype(sample)>(format.channels, form->channels, planes);
        return 0;
    });
    const dim3 blocks((unsigned)(needed < most ? needed : most), (unsigned)count);
    return launch_kernel(kernel, blocks, FLOAT_THREADS, 0, stream, pictures);
}

static size_t bytes_of_numbers(const struct gf_image *images, int count,
                               const struct gf_float_form *form)
{
    size_t numbers = 0;
    for (int i = 0; i < count; i++)
        numbers += gf_float_count(form, images[i].format);
    return numbers * gf_number_bytes(form->type);
}

/* Converts `count` pictures to numbers of the given form. All pictures and `values` are in the
 * memory of the device. */
static cudaError_t make_floats(const struct gf_image *images, int count,
                               const struct gf_float_form *form, void *values, int multiprocessors,
                               cudaStream_t stream)
{
    unsigned char *to = (unsigned char *)values;
    cudaError_t code = cudaSuccess;
    for (int i = 0; i < count && code == cudaSuccess; i += AT_ONCE) {
        const int some = count - i < AT_ONCE ? count - i : AT_ONCE;
        code = launch(describe(images + i, some, form, to), some, images[0].format, form,
                      multiprocessors, stream);
        to += bytes_of_numbers(images + i, some, form);
    }
    return code;
}

/* Sets the samples of a picture, whose rows have `across` of them, to those of numbers. *far
 * becomes the place of the first number that is far outside the range of integers. */
template <class Sample>
static __global__ void __launch_bounds__(FLOAT_THREADS)
    samples_kernel(const struct gf_float_source source, unsigned char *samples, size_t pitch,
                   unsigned across, unsigned height, unsigned long long *far)
{
    const double black = source.black, range = source.white - black;
    const unsigned first = blockIdx.x * FLOAT_THREADS + threadIdx.x;
    for (unsigned y = blockIdx.y; y < height; y += gridDim.y) {
        for (unsigned x = first; x < across; x += gridDim.x * FLOAT_THREADS) {
            const size_t at = (size_t)y * across + x;
            const float number = gf_number_at(source.values, source.type, at);
            const double v = gf_float_position(number, black, range);
            Sample *const to = (Sample *)(samples + y * pitch) + x;
            if (is_float_type<Sample>::value)
                store_float(to, (float)(((double)number - black) / range));
            else
                *(uint16_t *)to = gf_float_sample(v);
            if (!is_float_type<Sample>::value && gf_float_is_far(v))
                atomicMin(far, at);
        }
    }
}

/* Functions of the backend that only batches of callers' pictures use. */

static enum gf_status await(struct gf_backend *backend, void *stream, struct gf_error *error)
{
    GF_CUDA_TRY(cudaStreamSynchronize((cudaStream_t)stream), backend_of(backend)->options.device,
                error);
    return GF_OK;
}

/* Whether the stream is being captured. For the null stream CUDA fails while a stream is captured
 * that synchronises with it; that counts as captured. */
static bool is_captured(struct gf_backend *, void *stream)
{
    cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t code = cudaStreamIsCapturing((cudaStream_t)stream, &status);
    if (code == cudaErrorStreamCaptureImplicit)
        (void)cudaGetLastError(); /* clears CUDA's error, which is no failure here */
    return code == cudaErrorStreamCaptureImplicit || status != cudaStreamCaptureStatusNone;
}

static void settle(struct gf_backend *backend)
{
    const int before = gf_cuda_bind(backend);
    (void)cudaDeviceSynchronize();
    gf_cuda_unbind(backend, before);
}

static bool is_pinned(struct gf_backend *, const void *host)
{
    struct cudaPointerAttributes attributes;
    return cudaPointerGetAttributes(&attributes, host) == cudaSuccess &&
           attributes.type == cudaMemoryTypeHost;
}

static enum gf_status to_floats(struct gf_backend *backend, const struct gf_image *images,
                                int count, const struct gf_float_form *form, void *values,
                                void *stream, struct gf_error *error)
{
    const struct cuda_backend *const cuda = backend_of(backend);
    struct gf_device_info info;
    struct gf_memory_range known = {};
    GF_TRY(gf_device_describe(cuda->options.device, &info, error));
    GF_TRY(gf_cuda_owns(backend, values, bytes_of_numbers(images, count, form), NULL, error));
    for (int i = 0; i < count; i++) {
        const struct gf_format format = images[i].format;
        GF_TRY(gf_cuda_owns(backend, images[i].data,
                            images[i].pitch * (size_t)(format.height - 1) + gf_row_bytes(format),
                            &known, error));
    }
    GF_CUDA_TRY(
        make_floats(images, count, form, values, info.multiprocessors, (cudaStream_t)stream),
        cuda->options.device, error);
    return GF_OK;
}

static enum gf_status from_floats(struct gf_backend *backend, const struct gf_float_source *source,
                                  const struct gf_image *image, void *stream,
                                  struct gf_error *error)
{
    const struct cuda_backend *const cuda = backend_of(backend);
    const size_t bytes = gf_number_bytes(source->type), row = gf_row_bytes(image->format);
    const unsigned across = (unsigned)(row / (image->format.bits / 8)),
                   height = image->format.height;
    unsigned long long far = 0;
    uint32_t bits = 0;
    GF_TRY(gf_cuda_owns(backend, source->values, bytes * across * height, NULL, error));
    GF_TRY(gf_cuda_owns(backend, image->data, image->pitch * (height - 1) + row, NULL, error));
    unsigned long long *const there = (unsigned long long *)take_memory(cuda, sizeof *there);
    if (!there)
        return gf_fail(error, GF_ERROR_DEVICE_MEMORY, "cuda:%d: no device memory",
                       cuda->options.device);
    (void)cudaMemsetAsync(there, 0xff, sizeof *there, (cudaStream_t)stream);
    cudaError_t code = (cudaError_t)for_sample_type(image->format, [&](auto sample) {
        samples_kernel<decltype(sample)>
            <<<dim3(blocks_for(across, FLOAT_THREADS), min(height, 65535u)), FLOAT_THREADS, 0,
               (cudaStream_t)stream>>>(*source, image->data, image->pitch, across, height, there);
        return (int)cudaGetLastError(); /* that of the calls above, too */
    });
    if (code == cudaSuccess)
        code =
            cudaMemcpyAsync(&far, there, sizeof far, cudaMemcpyDeviceToHost, (cudaStream_t)stream);
    GF_THEN(code, cudaStreamSynchronize((cudaStream_t)stream));
    if (code == cudaSuccess && far != ULLONG_MAX)
        code = cudaMemcpy(&bits, (const char *)source->values + far * bytes, bytes,
                          cudaMemcpyDeviceToHost);
    give_memory(cuda, there);
    GF_CUDA_TRY(code, cuda->options.device, error);
    return far == ULLONG_MAX ? GF_OK
                             : gf_float_source_far(source, image, far,
                                                   gf_float_of_number(source->type, bits), error);
}

void gf_cuda_add_batch_calls(struct gf_backend_calls *calls)
{
    calls->await = await;
    calls->is_captured = is_captured;
    calls->settle = settle;
    calls->is_pinned = is_pinned;
    calls->to_floats = to_floats;
    calls->from_floats = from_floats;
}

/* A guest is a lane that queues its work on the streams of callers, whose pictures are in the
 * device's memory. The work of a guest runs in order, also on different streams: each piece of it
 * records an event, and the next piece waits for this event. A caller may have destroyed the
 * earlier stream by then. The null stream always exists, so that two pieces in succession on it
 * need no event. */

static bool is_within(const struct gf_memory_range *range, const void *memory, size_t size)
{
    const size_t first = (size_t)((const unsigned char *)memory - range->begin);
    return first < range->bytes && size <= range->bytes - first;
}

/* Sets *known to the allocation in which the memory lies, or to an empty range if the driver does
 * not say. */
static void note_range(struct gf_memory_range *known, const void *memory)
{
    static std::atomic<void *> function;
    const auto find =
        (decltype(&cuMemGetAddressRange))driver_function("cuMemGetAddressRange", &function);
    CUdeviceptr begin = 0;
    size_t bytes = 0;
    const bool found = find && find(&begin, &bytes, (CUdeviceptr)memory) == CUDA_SUCCESS;
    *known = {(const unsigned char *)begin, found ? bytes : 0};
}

enum gf_status gf_cuda_owns(struct gf_backend *backend, const void *memory, size_t size,
                            struct gf_memory_range *known, struct gf_error *error)
{
    const int device = backend_of(backend)->options.device;
    /* The driver is asked about the last byte alone, since it answers in a large part of a
     * microsecond. */
    const void *const last = (const char *)memory + size - 1;
    struct cudaPointerAttributes attributes;
    if (known && is_within(known, memory, size))
        return GF_OK;
    GF_CUDA_TRY(cudaPointerGetAttributes(&attributes, last), device, error);
    const bool is_host =
        attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged;
    if (is_host || attributes.device != gf_device_ordinal(device))
        return gf_fail(error, GF_ERROR_USAGE, "%p is not in the memory of cuda:%d", memory, device);
    if (known)
        note_range(known, last);
    return GF_OK;
}

enum gf_status gf_cuda_guest_open(struct gf_backend *backend, struct gf_spans *spans,
                                  struct gf_lane **lane, struct gf_error *error)
{
    GF_NEW(struct cuda_lane, opened, error);
    opened->base.backend = backend;
    opened->base.spans = spans;
    opened->is_guest = true;
    const cudaError_t code = cudaEventCreateWithFlags(&opened->ended, cudaEventDisableTiming);
    if (code == cudaSuccess) {
        *lane = &opened->base;
        return GF_OK;
    }
    free(opened);
    return gf_cuda_fail(error, backend_of(backend)->options.device, "cudaEventCreate", code);
}

enum gf_status gf_cuda_guest_follow(struct gf_lane *lane, void *stream, struct gf_error *error)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    cuda->stream = (cudaStream_t)stream;
    cuda->follows = true;
    const cudaError_t code = stream || cuda->was_elsewhere
                                 ? cudaStreamWaitEvent(cuda->stream, cuda->ended, 0)
                                 : cudaSuccess;
    if (code == cudaSuccess)
        return GF_OK;
    gf_cuda_guest_leave(lane);
    return gf_cuda_fail(error, device_of(lane), "the caller's stream", code);
}

void gf_cuda_guest_leave(struct gf_lane *lane)
{
    struct cuda_lane *const cuda = (struct cuda_lane *)lane;
    cudaEventRecord(cuda->ended, cuda->stream); /* the next CUDA call reports a failure */
    cuda->was_elsewhere = cuda->stream != NULL;
    cuda->stream = NULL;
    cuda->follows = false;
}

int gf_cuda_bind(struct gf_backend *backend)
{
    const int ordinal = gf_device_ordinal(backend_of(backend)->options.device);
    int before = 0;
    cudaGetDevice(&before);
    if (before != ordinal)
        cudaSetDevice(ordinal); /* the next CUDA call reports a failure */
    return before;
}

void gf_cuda_unbind(struct gf_backend *backend, int before)
{
    if (before != gf_device_ordinal(backend_of(backend)->options.device))
        cudaSetDevice(before);
}
