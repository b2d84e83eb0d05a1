/* The encoder on the host: the scans' way to host memory, and rounds of pictures. */
#include <cuda_runtime.h>
#include <string.h>

#include "base/threads/times.h"
#include "cuda/common/coder.cuh"
#include "cuda/jpeg/coders.h"
#include "cuda/jpeg/encode_group.cuh"

/* Writes the scans of a group to host memory, one after another, so that the host waits once and
 * copies nothing. */

/* A few blocks suffice, since PCIe is the limit. More blocks would occupy multiprocessors while
 * they wait for PCIe. */
enum { DELIVER_THREADS = 128, DELIVER_BLOCKS = 64, PICTURE_BLOCKS_LEAST = 2 };

static __device__ __forceinline__ uint64_t delivered_size(const struct scan_delivery &delivery,
                                                          int i)
{
    const uint64_t size = delivery.sizes[i];
    return size <= delivery.pictures[i].capacity ? size : 0;
}

static __device__ __forceinline__ uint64_t delivered_room(const struct scan_delivery &delivery,
                                                          int i)
{
    const uint64_t size = delivered_size(delivery, i);
    return size ? scan_room(delivery.pictures[i].lead + size) : 0;
}

/* Returns the bytes that the scans of all pictures before picture `index` need in host memory. All
 * threads call this function. */
static __device__ uint64_t room_before(const struct scan_delivery &delivery, int index)
{
    __shared__ unsigned long long sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    uint64_t own = 0;
    for (int i = threadIdx.x; i < index; i += DELIVER_THREADS)
        own += delivered_room(delivery, i);
    if (own)
        atomicAdd(&sum, (unsigned long long)own);
    __syncthreads();
    return sum;
}

static __global__ void __launch_bounds__(DELIVER_THREADS)
    deliver_kernel(const struct scan_delivery delivery)
{
    const int index = delivery.first + (int)blockIdx.y;
    const uint64_t start = room_before(delivery, index), size = delivered_size(delivery, index);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        delivery.host_sizes[index] = delivery.sizes[index];
    if (start + delivered_room(delivery, index) > delivery.room)
        return;
    const uint4 *const from = (const uint4 *)delivery.pictures[index].scan;
    uint4 *const to = (uint4 *)(delivery.to + start + delivery.pictures[index].lead);
    const uint64_t count = size / sizeof *to, first = blockIdx.x * DELIVER_THREADS + threadIdx.x;
    for (uint64_t i = first; i < count; i += (uint64_t)gridDim.x * DELIVER_THREADS)
        to[i] = from[i];
    if (first < size % sizeof *to)
        ((unsigned char *)(to + count))[first] = ((const unsigned char *)(from + count))[first];
}

cudaError_t gf_jpeg_deliver_load(void)
{
    struct cudaFuncAttributes attributes;
    return cudaFuncGetAttributes(&attributes, deliver_kernel);
}

cudaError_t gf_jpeg_deliver_launch(const struct scan_delivery *delivery, cudaStream_t stream)
{
    const int each = DELIVER_BLOCKS / delivery->count;
    const dim3 grid(each > PICTURE_BLOCKS_LEAST ? each : PICTURE_BLOCKS_LEAST, delivery->count);
    deliver_kernel<<<grid, DELIVER_THREADS, 0, stream>>>(*delivery);
    return cudaGetLastError();
}

/* The part of the encoder that runs on the host. It encodes pictures in rounds; a round has as many
 * pictures as fit into memory. */

enum { QUALITIES = 101 };

/* Pictures of a shape are encoded in parts of so many chunks or more, so that the scans of a part
 * cross to the host while the next one is encoded. */
#ifdef GF_EMULATED /* whose tests have small pictures */
enum { PARTS = 4, PART_CHUNKS = 16 };
#else
enum { PARTS = 4, PART_CHUNKS = 4096 };
#endif

/* A picture of the group. */
struct jpeg_part : encoder_part {
    int shape;
    unsigned chunks;
    uint64_t capacity; /* the device memory for the picture's scan */
};

struct gf_jpeg_encoder : encoder<jpeg_part> {
    struct encode_tables *tables; /* tables on the device, one for each quality */
    bool made[QUALITIES];         /* the qualities whose tables exist */
    /* The pictures of the round and the sizes of their scans, in pinned memory. A kernel writes the
     * sizes. */
    struct encode_picture *pictures;
    uint64_t *sizes;
    uint64_t *device_sizes;
    struct encode_group groups[ALL_SHAPES];
    /* The pictures of the round from `first_own` on have codes of their own, which stand before
     * their scans: `own`, in pinned memory, has one for each picture of the group. `device_symbols`
     * has the numbers of the symbols, and then the codes as the kernel reads them. */
    int first_own;
    struct gf_jpeg_own_codes *own;
    struct code_tables *device_symbols;
    /* The stream on which parts of a round of several pictures get codes of their own and are
     * delivered, and what it waits for. That happens while the next part or another thread's group
     * is being encoded: with priority, since blocks of a kernel otherwise wait until all blocks of
     * those launched before have begun. */
    cudaStream_t urgent;
    cudaEvent_t encoded;
};

static int shape_of(int channels, enum gf_subsampling subsampling)
{
    return channels == 1                       ? 3
           : subsampling == GF_SUBSAMPLING_420 ? 0
           : subsampling == GF_SUBSAMPLING_422 ? 1
                                               : 2;
}

static void count_mcus(struct gf_format format, const struct encode_shape *shape, int *across,
                       int *down)
{
    *across = (format.width + 8 * shape->h - 1) / (8 * shape->h);
    *down = (format.height + 8 * shape->v - 1) / (8 * shape->v);
}

/* Returns the memory that a picture needs. The scan gets one byte for each sample, which is more
 * than photographs need at quality 100. */
static struct jpeg_part part_of(struct gf_format format, enum gf_subsampling subsampling,
                                bool perceptual)
{
    struct jpeg_part part = {};
    part.shape = shape_of(format.channels, subsampling) + (perceptual ? SHAPES : 0);
    const struct encode_shape shape = gf_jpeg_encode_shape(part.shape);
    int across, down;
    count_mcus(format, &shape, &across, &down);
    const uint64_t mcus = (uint64_t)across * (uint64_t)down;
    part.chunks = (unsigned)((mcus + (uint64_t)shape.chunk_mcus - 1) / (uint64_t)shape.chunk_mcus);
    part.capacity = aligned(mcus * (uint64_t)shape.blocks * BLOCK_SAMPLES);
    return part;
}

static uint64_t part_bytes(const struct jpeg_part *part)
{
    const uint64_t coefficients = (uint64_t)part->chunks * CHUNK_VECTORS * sizeof(uint4),
                   own = aligned(sizeof(struct code_tables)) + aligned(coefficients);
    return aligned(sizeof(struct encode_picture)) + aligned(sizeof(uint64_t)) +
           aligned(part->chunks * sizeof(struct chunk_state)) + part->capacity +
           (part->shape < SHAPES ? 0 : own);
}

extern "C" uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling,
                                          bool perceptual)
{
    const struct jpeg_part part = part_of(format, subsampling, perceptual);
    return part_bytes(&part);
}

/* ---- a round: the pictures of a group that are encoded together ---- */

static struct encode_picture describe(const struct gf_jpeg_encoder *encoder,
                                      const struct gf_jpeg_encode_picture *picture,
                                      const struct jpeg_part *part)
{
    const struct encode_shape shape = gf_jpeg_encode_shape(part->shape);
    struct encode_picture to = {};
    int down;
    to.pixels = picture->in.data;
    to.pitch = picture->in.pitch;
    to.width = picture->in.format.width;
    to.height = picture->in.format.height;
    count_mcus(picture->in.format, &shape, &to.mcus_across, &down);
    to.mcus = to.mcus_across * down;
    to.tables = encoder->tables + picture->quality;
    to.lead = picture->perceptual ? sizeof *encoder->own : 0;
    to.capacity = part->capacity;
    return to;
}

/* Describes the chosen pictures of a shape, from number `placed` on. Returns the number of pictures
 * described so far. */
static int lay_out_shape(struct gf_jpeg_encoder *encoder,
                         const struct gf_jpeg_encode_picture *pictures, int count, int shape,
                         int placed)
{
    struct encode_group *const group = encoder->groups + shape;
    *group = {};
    group->pictures = (const struct encode_picture *)encoder->memory + placed;
    for (int i = 0; i < count; i++) {
        const struct jpeg_part *const part = encoder->parts + i;
        if (part->state != CHOSEN || part->shape != shape)
            continue;
        encoder->indices[placed] = i;
        encoder->pictures[placed] = describe(encoder, pictures + i, part);
        encoder->pictures[placed++].first_chunk = group->chunks;
        group->chunks += part->chunks;
        group->count++;
    }
    return placed;
}

/* Divides the device's memory: descriptions of the pictures, sizes, states of the chunks, numbers
 * of symbols, scans, coefficients. Returns the bytes that begin as zeros: states and numbers. */
static uint64_t lay_out(struct gf_jpeg_encoder *encoder,
                        const struct gf_jpeg_encode_picture *pictures, int count)
{
    uint64_t chunks = 0;
    for (int shape = 0, placed = 0; shape < ALL_SHAPES; shape++) {
        if (shape == SHAPES)
            encoder->first_own = placed;
        placed = lay_out_shape(encoder, pictures, count, shape, placed);
        chunks += encoder->groups[shape].chunks;
    }
    struct arena arena = {encoder->memory, 0};
    struct encode_picture *described;
    struct chunk_state *states;
    uint64_t *sizes;
    take(&arena, described, (uint64_t)encoder->placed);
    take(&arena, sizes, (uint64_t)encoder->placed);
    take(&arena, states, chunks);
    take(&arena, encoder->device_symbols, (uint64_t)(encoder->placed - encoder->first_own));
    encoder->device_sizes = sizes;
    for (int shape = 0; shape < ALL_SHAPES; shape++) {
        encoder->groups[shape].states = states;
        encoder->groups[shape].sizes = sizes;
        states += encoder->groups[shape].chunks;
        sizes += encoder->groups[shape].count;
    }
    for (int i = 0; i < encoder->placed; i++) {
        struct encode_picture *const picture = encoder->pictures + i;
        take(&arena, picture->scan, picture->capacity);
        if (i < encoder->first_own)
            continue;
        take(&arena, picture->coefficients,
             (uint64_t)encoder->parts[encoder->indices[i]].chunks * CHUNK_VECTORS);
        picture->own = encoder->device_symbols + (i - encoder->first_own);
        picture->stated = encoder->own + encoder->indices[i];
        *picture->stated = {};
    }
    const struct code_tables *const end =
        encoder->device_symbols + (encoder->placed - encoder->first_own);
    return (uint64_t)((const char *)end - (const char *)encoder->groups[0].states);
}

/* Sets *stream to the one on which parts are delivered, after all that has been launched. A picture
 * alone does without priority, for which the context needs a further connection to the device. */
static enum gf_status stream_of_delivery(struct gf_jpeg_encoder *encoder, cudaStream_t *stream,
                                         struct gf_error *error)
{
    int lowest = 0, highest = 0;
    *stream = encoder->stream;
    if (encoder->placed == 1)
        return GF_OK;
    if (!encoder->encoded)
        CODER_TRY(encoder, cudaEventCreateWithFlags(&encoder->encoded, cudaEventDisableTiming));
    if (!encoder->urgent) {
        CODER_TRY(encoder, cudaDeviceGetStreamPriorityRange(&lowest, &highest));
        CODER_TRY(encoder,
                  cudaStreamCreateWithPriority(&encoder->urgent, cudaStreamNonBlocking, highest));
    }
    CODER_TRY(encoder, cudaEventRecord(encoder->encoded, encoder->stream));
    CODER_TRY(encoder, cudaStreamWaitEvent(encoder->urgent, encoder->encoded, 0));
    *stream = encoder->urgent;
    return GF_OK;
}

/* Makes the device append new scans to the scans in host memory. */
static enum gf_status deliver(struct gf_jpeg_encoder *encoder, int first, int count,
                              cudaStream_t stream, struct gf_error *error)
{
    const struct scan_delivery delivery = {(const struct encode_picture *)encoder->memory,
                                           encoder->device_sizes,
                                           first,
                                           count,
                                           encoder->coded.data + encoder->coded_used,
                                           encoder->coded.size - encoder->coded_used,
                                           encoder->sizes};
    CODER_TRY(encoder, coder_mark(encoder, 1, stream));
    CODER_TRY(encoder, gf_jpeg_deliver_launch(&delivery, stream));
    CODER_TRY(encoder, coder_mark(encoder, 2, stream));
    return GF_OK;
}

/* Encodes and delivers all parts of the round. Pictures with codes of their own need three kernels,
 * of which the first one takes longest. Sets *stream to the one that ends last. */
static enum gf_status launch(struct gf_jpeg_encoder *encoder, uint64_t zeros, cudaStream_t *stream,
                             struct gf_error *error)
{
    CODER_TRY(encoder, cudaMemcpyAsync(encoder->memory, encoder->pictures,
                                       (size_t)encoder->placed * sizeof *encoder->pictures,
                                       cudaMemcpyHostToDevice, encoder->stream));
    CODER_TRY(encoder, coder_mark(encoder, 0, encoder->stream));
    CODER_TRY(encoder, cudaMemsetAsync(encoder->groups[0].states, 0, zeros, encoder->stream));
    for (int shape = 0, begin = 0; shape < ALL_SHAPES; begin += encoder->groups[shape++].count) {
        const struct encode_group *const group = encoder->groups + shape;
        const struct encode_picture *const pictures = encoder->pictures + begin;
        const int parts = min(min((int)(group->chunks / PART_CHUNKS) + 1, PARTS), group->count);
        for (int i = 0; i < parts; i++) {
            const int first = group->count * i / parts, end = group->count * (i + 1) / parts;
            struct encode_group part = *group;
            part.pictures += first;
            part.sizes += first;
            part.count = end - first;
            part.first_chunk = pictures[first].first_chunk;
            part.states += part.first_chunk;
            part.chunks =
                (i + 1 < parts ? pictures[end].first_chunk : group->chunks) - part.first_chunk;
            CODER_TRY(encoder, (shape < SHAPES ? gf_jpeg_encode_launch : gf_jpeg_look_launch)(
                                   shape, &part, encoder->stream));
            GF_TRY(stream_of_delivery(encoder, stream, error));
            if (shape >= SHAPES) {
                CODER_TRY(encoder, gf_jpeg_codes_launch(shape, &part, *stream));
                CODER_TRY(encoder, gf_jpeg_encode_launch(shape, &part, *stream));
            }
            GF_TRY(deliver(encoder, begin + first, part.count, *stream, error));
        }
    }
    return GF_OK;
}

/* Whether codes of a picture are too long. */
static bool is_unfit(const struct gf_jpeg_own_codes *own)
{
    return own->dc[0].counts[0] | own->dc[1].counts[0] | own->ac[0].counts[0] |
           own->ac[1].counts[0];
}

/* Notes the places of the scans. A picture whose scan was too long is encoded again in a larger
 * part of memory. */
static void note_scans(struct gf_jpeg_encoder *encoder)
{
    for (int i = 0; i < encoder->placed; i++) {
        struct jpeg_part *const part = encoder->parts + encoder->indices[i];
        if (encoder->sizes[i] > encoder->pictures[i].capacity) {
            part->capacity = aligned(encoder->sizes[i]);
            part->state = WAITING;
            continue;
        }
        const unsigned lead = encoder->pictures[i].lead;
        part->state = ENDED;
        part->offset = encoder->coded_used;
        const struct gf_jpeg_own_codes *const own = encoder->own + encoder->indices[i];
        part->size = lead && is_unfit(own) ? 0 : lead + encoder->sizes[i];
        memcpy(encoder->coded.data + part->offset, own, lead);
        encoder->coded_used += scan_room(lead + encoder->sizes[i]);
    }
}

/* Returns the room in host memory for the round's scans; before they are encoded, an estimate. */
static uint64_t room_for_scans(const struct gf_jpeg_encoder *encoder, bool encoded)
{
    uint64_t room = 0;
    for (int i = 0; i < encoder->placed; i++) {
        const uint64_t capacity = encoder->pictures[i].capacity, lead = encoder->pictures[i].lead;
        if (!encoded)
            room += scan_room(lead + capacity / 8);
        else if (encoder->sizes[i] <= capacity)
            room += scan_room(lead + encoder->sizes[i]);
    }
    return room;
}

static enum gf_status run_round(struct gf_jpeg_encoder *encoder,
                                const struct gf_jpeg_encode_picture *pictures, int count,
                                uint64_t bytes, struct gf_error *error)
{
    GF_TRY(coder_reserve(encoder, bytes, encoder->placed, error));
    const uint64_t zeros = lay_out(encoder, pictures, count);
    GF_TRY(reserve_coded(encoder, encoder->coded_used + room_for_scans(encoder, false), error));
    cudaStream_t stream = encoder->stream;
    GF_TRY(launch(encoder, zeros, &stream, error));
    CODER_TRY(encoder, gf_cuda_sleep(stream, encoder->ended));
    const uint64_t room = encoder->coded_used + room_for_scans(encoder, true);
    if (room > encoder->coded.size) {
        GF_TRY(reserve_coded(encoder, room, error));
        GF_TRY(deliver(encoder, 0, encoder->placed, stream, error));
        CODER_TRY(encoder, gf_cuda_sleep(stream, encoder->ended));
    }
    note_scans(encoder);
    return coder_add_times(encoder, error);
}

/* Copies the tables of a quality to the device, unless they are there already. */
static enum gf_status make_tables(struct gf_jpeg_encoder *encoder, int quality,
                                  struct gf_error *error)
{
    if (encoder->made[quality])
        return GF_OK;
    struct gf_jpeg_tables from;
    struct encode_tables tables;
    if (!gf_jpeg_tables_make(quality, &from))
        return gf_fail_memory(error);
    gf_jpeg_encode_tables(quality, &from, &tables);
    GF_CUDA_TRY(cudaMemcpyAsync(encoder->tables + quality, &tables, sizeof tables,
                                cudaMemcpyHostToDevice, encoder->stream),
                encoder->device, error);
    GF_CUDA_TRY(cudaStreamSynchronize(encoder->stream), encoder->device, error);
    encoder->made[quality] = true;
    return GF_OK;
}

static enum gf_status prepare(struct gf_jpeg_encoder *encoder,
                              const struct gf_jpeg_encode_picture *pictures, int count,
                              struct gf_error *error)
{
    const uint64_t described = aligned((uint64_t)count * sizeof *encoder->pictures),
                   sizes = aligned((uint64_t)count * sizeof *encoder->sizes),
                   own = (uint64_t)count * sizeof *encoder->own;
    if (count > 1)
        keep_results(encoder);
    GF_TRY(begin_group(encoder, count, error));
    GF_TRY(coder_reserve_pinned(encoder, described + sizes + own, 0, count, error));
    encoder->pictures = (struct encode_picture *)encoder->pinned;
    encoder->sizes = (uint64_t *)(encoder->pinned + described);
    encoder->own = (struct gf_jpeg_own_codes *)(encoder->pinned + described + sizes);
    for (int i = 0; i < count; i++) {
        encoder->parts[i] =
            part_of(pictures[i].in.format, pictures[i].subsampling, pictures[i].perceptual);
        GF_TRY(make_tables(encoder, pictures[i].quality, error));
    }
    return GF_OK;
}

/* After a failure. What was launched uses memory that the next run uses again, and that run's
 * stream alone would not wait for both. */
static void wait_for_both(const struct gf_jpeg_encoder *encoder)
{
    (void)cudaStreamSynchronize(encoder->stream);
    if (encoder->urgent)
        (void)cudaStreamSynchronize(encoder->urgent);
}

extern "C" enum gf_status gf_jpeg_encoder_run(struct gf_jpeg_encoder *encoder,
                                              struct gf_jpeg_encode_picture *pictures, int count,
                                              struct gf_error *error)
{
    GF_TRY(prepare(encoder, pictures, count, error));
    uint64_t bytes;
    enum gf_status status = GF_OK;
    while (!status && (bytes = choose_pictures(encoder, count, 0, part_bytes)))
        status = run_round(encoder, pictures, count, bytes, error);
    if (status)
        wait_for_both(encoder);
    GF_TRY(status);
    for (int i = 0; i < count; i++) {
        const struct jpeg_part *const part = encoder->parts + i;
        pictures[i].encoded = part->size > 0;
        pictures[i].scan = encoder->coded.data + part->offset;
        pictures[i].size = part->size;
    }
    return GF_OK;
}

/* Loads the kernels while the first pictures are still being decoded. They would otherwise be
 * loaded at their first launch. */
static enum gf_status load_kernels(const struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_CUDA_TRY(gf_jpeg_encode_load(), encoder->device, error);
    GF_CUDA_TRY(gf_jpeg_deliver_load(), encoder->device, error);
    gf_start_note(GF_START_KERNELS, begin_s);
    return GF_OK;
}

static enum gf_status prepare_device(struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    GF_CUDA_TRY(cudaMalloc(&encoder->tables, QUALITIES * sizeof *encoder->tables), encoder->device,
                error);
    return load_kernels(encoder, error);
}

static void clear(struct gf_jpeg_encoder *encoder)
{
    (void)cudaFree(encoder->tables);
    if (encoder->encoded)
        (void)cudaEventDestroy(encoder->encoded);
    if (encoder->urgent)
        (void)cudaStreamDestroy(encoder->urgent);
    clear_encoder(encoder);
}

DEFINE_CODER(jpeg_encode, prepare_device, clear)
