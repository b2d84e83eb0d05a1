/* The encoder on the host: the tables of a quality, the scans' way to host memory, and rounds of
 * pictures. */
#include <cuda_runtime.h>
#include <string.h>

#include "base/threads/times.h"
#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/jpeg/coders.h"
#include "cuda/jpeg/encode_group.cuh"
#include "cuda/jpeg/forward.cuh"

/* Computes the tables for a quality in the form that the kernel reads. */

/* Returns element (frequency, sample) of the matrix of libjpeg-turbo's integer DCT, in units of
 * 2^-13. The matrix is the product of libjpeg-turbo's rotations. */
static int cosine(int frequency, int sample)
{
    static const int even[4][2] = {{8192, 8192}, {10703, 4433}, {8192, -8192}, {4433, -10704}};
    static const int odd[4][4] = {{11363, 9633, 6437, 2260},
                                  {9633, -2259, -11362, -6436},
                                  {6437, -11362, 2261, 9633},
                                  {2260, -6436, 9633, -11363}};
    const int mirrored = sample < 4 ? sample : 7 - sample;
    if (frequency % 2)
        return sample < 4 ? odd[frequency / 2][mirrored] : -odd[frequency / 2][mirrored];
    const int sign = frequency % 4 && mirrored > 1 ? -1 : 1;
    const int column = mirrored == 0 || mirrored == 3 ? 0 : 1;
    return sign * even[frequency / 2][column];
}

/* Returns `high` of the number 256 * high + low with low in -128..127. */
static int high_part(int value)
{
    return (value + 128) >> 8;
}

static int low_part(int value)
{
    return value - 256 * high_part(value);
}

static unsigned pack(int a, int b, int c, int d)
{
    return (a & 255u) | (b & 255u) << 8 | (c & 255u) << 16 | (d & 255u) << 24;
}

static struct lane_cosines lane_cosines(int lane)
{
    const int frequency = lane / 4, row = lane % 2 * 4, column = lane % 4 * 2;
    int high[4], low[4];
    for (int i = 0; i < 4; i++) {
        high[i] = high_part(cosine(frequency, row + i));
        low[i] = low_part(cosine(frequency, row + i));
    }
    struct lane_cosines cosines = {};
    cosines.rows[lane / 2 % 2].high = pack(high[0], high[1], high[2], high[3]);
    cosines.rows[lane / 2 % 2].low = pack(low[0], low[1], low[2], low[3]);
    cosines.start[2] = cosines.start[3] = (1 << (PASS1_SHIFT - 1)) + (PASS1_BIAS << PASS1_SHIFT) -
                                          (frequency ? 0 : UNIT * CENTRE * 8);
    const int a = cosine(frequency, column), b = cosine(frequency, column + 1);
    cosines.columns_high = pack(0, high_part(a), 0, high_part(b));
    cosines.columns_mixed = pack(high_part(a), low_part(a), high_part(b), low_part(b));
    cosines.columns_low = pack(low_part(a), 0, low_part(b), 0);
    return cosines;
}

/* The factors of R, G and B, in units of 2^-16. */
static const int LUMA[3] = {19595, 38470, 7471}, BLUE[3] = {-11059, -21709, 32768},
                 RED[3] = {32768, -27439, -5329};

/* Returns `high` of the factor COLOUR_RADIX * high + low, with high and low in -128..127. */
static int high_digit(int factor)
{
    const int above = factor + (factor < 0 ? -COLOUR_RADIX : COLOUR_RADIX) / 2;
    return above / COLOUR_RADIX;
}

/* The number to which a sample's products are added: half a unit, and for chroma also the
 * centre. */
enum { LUMA_START = 32768, CHROMA_START = (128 << 16) + 32767 };

/* Returns the four factors by which the bytes 255, 1, 1, 1 of CONSTANT_BYTES are multiplied so that
 * the products add up to a part of `start`. They are additional rows of the matrix. The part is at
 * most 255 * 128 + 254. */
static unsigned start_part(int start, int part)
{
    const int high = start / COLOUR_RADIX, value = part ? start - COLOUR_RADIX * high : high;
    const int rest = value % 255, second = rest < 127 ? rest : 127;
    return pack(value / 255, second, rest - second, 0);
}

/* Returns rows first to first + 3 of column `part` of the matrix for the sample of pixel
 * `pixel`. */
static unsigned colour_part(const int factors[3], int pixel, int part, int first)
{
    int digits[4] = {0, 0, 0, 0};
    for (int i = 0; i < 4; i++) {
        const int at = first + i - 3 * pixel;
        if (at < 0 || at > 2)
            continue;
        const int high = high_digit(factors[at]);
        digits[i] = part ? factors[at] - COLOUR_RADIX * high : high;
    }
    return pack(digits[0], digits[1], digits[2], digits[3]);
}

/* Returns the pixel whose sample a lane gets from product i; -1: there is none. */
static int pixel_of(int i, int lane, bool downsampled)
{
    if (i < 4)
        return lane % 2 * 4 + i;
    if (downsampled)
        return i < 6 ? lane * 2 + i - 4 : -1;
    return lane < 2 ? lane * 4 + i - 4 : -1;
}

/* Computes the tables of a lane. Lane i supplies column i / 4 of each matrix. The result of column
 * c is in lanes with lane % 4 equal to c / 2. */
static struct lane_colours lane_colours(int lane, bool downsampled, bool both)
{
    struct lane_colours colours = {};
    const int to = lane / 8, part = lane / 4 % 2, row = lane / 4;
    for (int i = 0; i < COLOUR_PRODUCTS; i++) {
        const int *const factors = i >= 4 ? RED : to < 2 ? LUMA : BLUE;
        const int pixel = pixel_of(i, to, downsampled);
        for (int j = 0; j < 2 && pixel >= 0; j++)
            colours.parts[i][j] = colour_part(factors, pixel, part, 16 * j + lane % 4 * 4);
        if (lane % 4 == 2)
            colours.parts[i][1] = start_part(factors == LUMA ? LUMA_START : CHROMA_START, part);
    }
    const int odd = row % 2;
    colours.half = odd ? 0x01010000 : 0x0101;
    colours.odd = odd;
    colours.blue = both ? row / 2 * 8 + lane % 2 * 2 + odd : row * 8 + lane % 2 * 2;
    colours.red = BLOCK_SAMPLES + (both ? (row / 2 + 4 * odd) * 8 : row * 8) + lane % 4;
    return colours;
}

/* Computes the lane's numbers for quantise(). They are correct for quotients down to -MULTIPLES and
 * a little below. */
static struct lane_quantiser lane_quantiser(const struct gf_jpeg_tables *from, int table, int lane)
{
    enum { ONE = 1 << 20, LEAST = 1200 };
    struct lane_quantiser quantiser = {};
    for (int i = 0; i < 2; i++) {
        const int natural = (lane % 4 * 2 + i) * 8 + lane / 4;
        const int divisor = from->quantiser[table][natural];
        quantiser.half[i] = 4 * divisor << PASS2_SHIFT;
        quantiser.start[i] = quantiser.start[2 + i] = quantiser.half[i] + (1 << (PASS2_SHIFT - 1)) -
                                                      (natural < 8 ? UNIT * PASS1_BIAS * 8 : 0);
        quantiser.reciprocal[i] = (ONE + divisor - 1) / divisor;
        quantiser.excess[i] = (LEAST / divisor + 1) * (quantiser.reciprocal[i] * divisor - ONE);
        for (int place = 0; place < 64; place++) {
            if (from->natural_order[place] == natural)
                quantiser.place[i] = place;
        }
    }
    return quantiser;
}

static unsigned code_entry(struct gf_jpeg_code code, int size)
{
    return (unsigned)code.bits << size << 5 | (unsigned)(code.length + size);
}

static void make_codes(const struct gf_jpeg_tables *from, int table, struct code_tables *codes)
{
    for (int symbol = 0; symbol < GF_JPEG_AC_SYMBOLS; symbol++) {
        const int run = symbol >> 4, size = symbol & 15;
        if (size)
            codes->ac[table][run * 16 + 16 - size] = code_entry(from->ac[table][symbol], size);
    }
    codes->ac[table][END_OF_BLOCK] = code_entry(from->ac[table][0], 0);
    codes->ac[table][ZERO_RUN] = code_entry(from->ac[table][0xf0], 0);
    for (int size = 0; size < GF_JPEG_DC_SYMBOLS; size++)
        codes->dc[table][16 - size] = code_entry(from->dc[table][size], size);
}

void gf_jpeg_encode_tables(const struct gf_jpeg_tables *from, struct encode_tables *tables)
{
    memset(tables, 0, sizeof *tables);
    for (int table = 0; table < TABLES; table++) {
        make_codes(from, table, &tables->codes);
        for (int lane = 0; lane < LANES; lane++)
            tables->quantisers[table][lane] = lane_quantiser(from, table, lane);
    }
    for (int lane = 0; lane < LANES; lane++) {
        tables->cosines[lane] = lane_cosines(lane);
        tables->colours[COLUMNS_AND_ROWS][lane] = lane_colours(lane, true, true);
        tables->colours[COLUMNS][lane] = lane_colours(lane, true, false);
        tables->colours[WHOLE][lane] = lane_colours(lane, false, false);
    }
}

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
        own += scan_room(delivered_size(delivery, i));
    if (own)
        atomicAdd(&sum, (unsigned long long)own);
    __syncthreads();
    return sum;
}

static __global__ void __launch_bounds__(DELIVER_THREADS)
    deliver_kernel(const struct scan_delivery delivery)
{
    const int index = blockIdx.y;
    const uint64_t start = room_before(delivery, index), size = delivered_size(delivery, index);
    if (blockIdx.x == 0 && threadIdx.x == 0)
        delivery.host_sizes[index] = delivery.sizes[index];
    if (start + scan_room(size) > delivery.room)
        return;
    const uint4 *const from = (const uint4 *)delivery.pictures[index].scan;
    uint4 *const to = (uint4 *)(delivery.to + start);
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
    struct encode_group groups[SHAPES];
    /* The stream on which a round of several pictures is delivered, and what it waits for. Scans
     * cross to the host while another thread's group is being encoded: with priority, since blocks
     * of a kernel otherwise wait until all blocks of those launched before have begun. */
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
static struct jpeg_part part_of(struct gf_format format, enum gf_subsampling subsampling)
{
    struct jpeg_part part = {};
    part.shape = shape_of(format.channels, subsampling);
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
    return aligned(sizeof(struct encode_picture)) + aligned(sizeof(uint64_t)) +
           aligned(part->chunks * sizeof(struct chunk_state)) + part->capacity;
}

extern "C" uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling)
{
    const struct jpeg_part part = part_of(format, subsampling);
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

/* Divides the device's memory: descriptions of the pictures, sizes, states of the chunks, scans.
 * Returns the bytes of the states. */
static uint64_t lay_out(struct gf_jpeg_encoder *encoder,
                        const struct gf_jpeg_encode_picture *pictures, int count)
{
    uint64_t chunks = 0;
    for (int shape = 0, placed = 0; shape < SHAPES; shape++) {
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
    encoder->device_sizes = sizes;
    for (int shape = 0; shape < SHAPES; shape++) {
        encoder->groups[shape].states = states;
        encoder->groups[shape].sizes = sizes;
        states += encoder->groups[shape].chunks;
        sizes += encoder->groups[shape].count;
    }
    for (int i = 0; i < encoder->placed; i++)
        take(&arena, encoder->pictures[i].scan, encoder->pictures[i].capacity);
    return chunks * sizeof *states;
}

static enum gf_status launch(struct gf_jpeg_encoder *encoder, uint64_t states,
                             struct gf_error *error)
{
    GF_CUDA_TRY(cudaMemcpyAsync(encoder->memory, encoder->pictures,
                                (size_t)encoder->placed * sizeof *encoder->pictures,
                                cudaMemcpyHostToDevice, encoder->stream),
                encoder->device, error);
    GF_CUDA_TRY(coder_mark(encoder, 0, encoder->stream), encoder->device, error);
    GF_CUDA_TRY(cudaMemsetAsync(encoder->groups[0].states, 0, states, encoder->stream),
                encoder->device, error);
    for (int shape = 0; shape < SHAPES; shape++) {
        if (encoder->groups[shape].count)
            GF_CUDA_TRY(gf_jpeg_encode_launch(shape, encoder->groups + shape, encoder->stream),
                        encoder->device, error);
    }
    GF_CUDA_TRY(coder_mark(encoder, 1, encoder->stream), encoder->device, error);
    return GF_OK;
}

static enum gf_status open_urgent(struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    int lowest = 0, highest = 0;
    if (!encoder->encoded)
        GF_CUDA_TRY(cudaEventCreateWithFlags(&encoder->encoded, cudaEventDisableTiming),
                    encoder->device, error);
    GF_CUDA_TRY(cudaDeviceGetStreamPriorityRange(&lowest, &highest), encoder->device, error);
    GF_CUDA_TRY(cudaStreamCreateWithPriority(&encoder->urgent, cudaStreamNonBlocking, highest),
                encoder->device, error);
    return GF_OK;
}

/* Sets *stream to the one on which the round is delivered, after all that has been launched. A
 * picture alone does without priority, for which the context needs a further connection to the
 * device. */
static enum gf_status stream_of_delivery(struct gf_jpeg_encoder *encoder, cudaStream_t *stream,
                                         struct gf_error *error)
{
    *stream = encoder->stream;
    if (encoder->placed == 1)
        return GF_OK;
    if (!encoder->urgent)
        GF_TRY(open_urgent(encoder, error));
    GF_CUDA_TRY(cudaEventRecord(encoder->encoded, encoder->stream), encoder->device, error);
    GF_CUDA_TRY(cudaStreamWaitEvent(encoder->urgent, encoder->encoded, 0), encoder->device, error);
    *stream = encoder->urgent;
    return GF_OK;
}

/* Makes the device append the new scans to the scans in host memory, and waits for the device. */
static enum gf_status deliver(struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    const struct scan_delivery delivery = {(const struct encode_picture *)encoder->memory,
                                           encoder->device_sizes,
                                           encoder->placed,
                                           encoder->coded.data + encoder->coded_used,
                                           encoder->coded.size - encoder->coded_used,
                                           encoder->sizes};
    cudaStream_t stream;
    GF_TRY(stream_of_delivery(encoder, &stream, error));
    GF_CUDA_TRY(gf_jpeg_deliver_launch(&delivery, stream), encoder->device, error);
    GF_CUDA_TRY(coder_mark(encoder, 2, stream), encoder->device, error);
    GF_CUDA_TRY(gf_cuda_sleep(stream, encoder->ended), encoder->device, error);
    return GF_OK;
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
        part->state = ENDED;
        part->offset = encoder->coded_used;
        part->size = encoder->sizes[i];
        encoder->coded_used += scan_room(part->size);
    }
}

/* Returns the room in host memory for the round's scans; before they are encoded, an estimate. */
static uint64_t room_for_scans(const struct gf_jpeg_encoder *encoder, bool encoded)
{
    uint64_t room = 0;
    for (int i = 0; i < encoder->placed; i++) {
        const uint64_t capacity = encoder->pictures[i].capacity;
        if (!encoded)
            room += scan_room(capacity / 8);
        else if (encoder->sizes[i] <= capacity)
            room += scan_room(encoder->sizes[i]);
    }
    return room;
}

static enum gf_status run_round(struct gf_jpeg_encoder *encoder,
                                const struct gf_jpeg_encode_picture *pictures, int count,
                                uint64_t bytes, struct gf_error *error)
{
    GF_TRY(coder_reserve(encoder, bytes, encoder->placed, error));
    const uint64_t states = lay_out(encoder, pictures, count);
    GF_TRY(reserve_coded(encoder, encoder->coded_used + room_for_scans(encoder, false), error));
    GF_TRY(launch(encoder, states, error));
    GF_TRY(deliver(encoder, error));
    const uint64_t room = encoder->coded_used + room_for_scans(encoder, true);
    if (room > encoder->coded.size) {
        GF_TRY(reserve_coded(encoder, room, error));
        GF_TRY(deliver(encoder, error));
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
    gf_jpeg_encode_tables(&from, &tables);
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
                   sizes = (uint64_t)count * sizeof *encoder->sizes;
    if (count > 1)
        keep_results(encoder);
    GF_TRY(begin_group(encoder, count, error));
    GF_TRY(coder_reserve_pinned(encoder, described + sizes, 0, count, error));
    encoder->pictures = (struct encode_picture *)encoder->pinned;
    encoder->sizes = (uint64_t *)(encoder->pinned + described);
    for (int i = 0; i < count; i++) {
        encoder->parts[i] = part_of(pictures[i].in.format, pictures[i].subsampling);
        GF_TRY(make_tables(encoder, pictures[i].quality, error));
    }
    return GF_OK;
}

extern "C" enum gf_status gf_jpeg_encoder_run(struct gf_jpeg_encoder *encoder,
                                              struct gf_jpeg_encode_picture *pictures, int count,
                                              struct gf_error *error)
{
    GF_TRY(prepare(encoder, pictures, count, error));
    uint64_t bytes;
    while ((bytes = choose_pictures(encoder, count, 0, part_bytes)))
        GF_TRY(run_round(encoder, pictures, count, bytes, error));
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
