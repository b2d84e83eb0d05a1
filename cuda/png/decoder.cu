/* The decoder: the memory of a group, the checksums of its chunks, and the steps. */
#include <zlib.h>

#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/png/coders.h"
#include "cuda/png/crc.cuh"
#include "cuda/png/stripes.cuh"

/* The memory that pictures need for decoding, and the addresses of its parts. */

/* The numbers of pictures and stripes, and the bytes of the compressed chunks (packed) and of the
 * filtered rows (filtered). */
struct png_amounts {
    uint64_t pictures, stripes, packed, filtered;
};

/* The addresses of the parts: first the descriptions, then the results. */
struct png_layout {
    struct png_stripe *stripes;
    struct png_target *targets;
    unsigned *unpacked, *adlers, *flags;
    unsigned char *packed, *filtered;
    uint64_t described_bytes, returned_bytes, copied_bytes,
        bytes; /* copied: the bytes of the parts that are also on the host */
};

struct png_amounts gf_png_amounts(const struct gf_png_marked *header);
struct png_amounts gf_png_sum(struct png_amounts a, struct png_amounts b);
struct png_layout gf_png_lay_out_stripes(unsigned char *memory, struct png_amounts amounts);

struct png_target gf_png_target(const struct gf_png_decode_picture *picture);
/* Describes the stripes of a picture. Its chunks are at `packed` on the device; its filtered rows
 * will be at `filtered`. */
void gf_png_describe(const struct gf_png_decode_picture *picture, int index,
                     const unsigned char *packed, unsigned char *filtered,
                     struct png_stripe *stripes);
/* Whether the checksum at the end of the picture's stream is the checksum of its rows. */
bool gf_png_is_right(const struct gf_png_decode_picture *picture, const struct png_stripe *stripes,
                     const unsigned *adlers);

/* Computes the memory that a group of pictures needs for decoding, and the addresses of its
 * parts. */

enum {
    TYPE_PLACE = 4,
    TYPE_BYTES = 4,
    HEAD_BYTES = 8,
    CRC_BYTES = 4,
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4
};

static unsigned row_bytes_of(const struct gf_png_marked *header)
{
    return (unsigned)(header->width * (header->channels * header->bits / 8)) + 1;
}

struct png_amounts gf_png_amounts(const struct gf_png_marked *header)
{
    const uint64_t stripe = aligned((uint64_t)row_bytes_of(header) * (uint64_t)header->rows);
    return {1, (uint64_t)header->stripes, aligned(header->chunk_bytes),
            stripe * (uint64_t)header->stripes};
}

struct png_amounts gf_png_sum(struct png_amounts a, struct png_amounts b)
{
    return {a.pictures + b.pictures, a.stripes + b.stripes, a.packed + b.packed,
            a.filtered + b.filtered};
}

struct png_layout gf_png_lay_out_stripes(unsigned char *memory, struct png_amounts amounts)
{
    struct arena arena = {memory, 0};
    struct png_layout layout;
    take(&arena, layout.stripes, amounts.stripes);
    take(&arena, layout.targets, amounts.pictures);
    layout.described_bytes = arena.used;
    take(&arena, layout.unpacked, amounts.stripes);
    const uint64_t returned = arena.used;
    take(&arena, layout.adlers, amounts.stripes);
    take(&arena, layout.flags, amounts.pictures);
    layout.returned_bytes = arena.used - returned;
    layout.copied_bytes = arena.used;
    take(&arena, layout.packed, amounts.packed);
    take(&arena, layout.filtered, amounts.filtered);
    layout.bytes = arena.used;
    return layout;
}

extern "C" uint64_t gf_png_decoder_bytes(const struct gf_png_marked *header, size_t size)
{
    (void)size;
    return gf_png_lay_out_stripes(NULL, gf_png_amounts(header)).bytes;
}

static unsigned big_endian(const unsigned char *from)
{
    return (unsigned)from[0] << 24 | (unsigned)from[1] << 16 | (unsigned)from[2] << 8 | from[3];
}

struct png_target gf_png_target(const struct gf_png_decode_picture *picture)
{
    const struct gf_png_marked *const header = picture->header;
    return {picture->out.data, picture->out.pitch, header->width,
            header->channels * header->bits / 8, header->bits == 16};
}

void gf_png_describe(const struct gf_png_decode_picture *picture, int index,
                     const unsigned char *packed, unsigned char *filtered,
                     struct png_stripe *stripes)
{
    const struct gf_png_marked *const header = picture->header;
    const unsigned row_bytes = row_bytes_of(header);
    uint64_t at = 0;
    for (int i = 0; i < header->stripes; i++) {
        const bool last = i + 1 == header->stripes;
        const unsigned size = big_endian(picture->data + header->first + at),
                       head = i ? 0 : ZLIB_HEAD_BYTES, tail = last ? ADLER_BYTES : 0;
        const int row = i * header->rows, rows = last ? header->height - row : header->rows;
        stripes[i] = {packed + at + TYPE_PLACE,
                      TYPE_BYTES + size,
                      packed + at + HEAD_BYTES + head,
                      size - head - tail,
                      filtered,
                      row_bytes * (unsigned)rows,
                      row_bytes,
                      row,
                      rows,
                      index,
                      last};
        filtered += aligned((uint64_t)row_bytes * (uint64_t)header->rows);
        at += HEAD_BYTES + (uint64_t)size + CRC_BYTES;
    }
}

bool gf_png_is_right(const struct gf_png_decode_picture *picture, const struct png_stripe *stripes,
                     const unsigned *adlers)
{
    const struct gf_png_marked *const header = picture->header;
    const unsigned char *const end = picture->data + header->first + header->chunk_bytes;
    uLong adler = 1;
    for (int i = 0; i < header->stripes; i++)
        adler = adler32_combine(adler, adlers[i], (z_off_t)stripes[i].filtered_bytes);
    return big_endian(end - CRC_BYTES - ADLER_BYTES) == adler;
}

/* Compares the CRC-32 of each stripe's chunk with the CRC-32 in the file. A thread block processes
 * a stripe. */

static __global__ void __launch_bounds__(CRC_THREADS)
    check_kernel(const struct png_decode_group group, const struct crc_tables *tables)
{
    __shared__ unsigned step[4][256];
    __shared__ unsigned all;
    const struct png_stripe stripe = group.stripes[blockIdx.x];
    const unsigned before = (unsigned)((uintptr_t)stripe.chunk % 4),
                   end = before + stripe.chunk_bytes;
    const unsigned *const words = (const unsigned *)(stripe.chunk - before);
    const int last = (int)((end - 1) / 4);
    load_steps(step, tables);
    if (!threadIdx.x)
        all = 0;
    __syncthreads();
    /* The loop starts so that its last turn ends at the last word. */
    unsigned sum = 0;
    for (int i = last % CRC_THREADS - (CRC_THREADS - 1) + (int)threadIdx.x; i <= last;
         i += CRC_THREADS)
        sum = next_sum(step, sum) ^ (i < 0 ? 0 : message_word(words, (uint64_t)i, before, end));
    add_up(product(sum, tables->lane[threadIdx.x]), &all);
    const unsigned char *const given = stripe.chunk + stripe.chunk_bytes;
    const unsigned crc =
        (unsigned)given[0] << 24 | (unsigned)given[1] << 16 | (unsigned)given[2] << 8 | given[3];
    if (!threadIdx.x && ~product(all, tables->back[~(end - 1) & 3]) != crc)
        atomicOr(group.flags + stripe.picture, 1u);
}

cudaError_t gf_png_check_chunks(const struct png_decode_group *group,
                                const struct crc_tables *tables, cudaStream_t stream)
{
    check_kernel<<<group->count, CRC_THREADS, 0, stream>>>(*group, tables);
    return cudaGetLastError();
}

/* Runs the steps of the PNG decoder for groups of pictures. */

struct gf_png_decoder : coder {
    struct crc_tables *tables; /* the tables for checksums, on the device */
};

/* Waits for a step before the next is launched. The device has few queues: if a launch waited for
 * an earlier one of this stream, it would block the work of other streams in the queue. */
static cudaError_t end_step(const struct gf_png_decoder *decoder, int mark)
{
    const cudaError_t code = coder_mark(decoder, mark, decoder->stream);
    return code == cudaSuccess ? coder_wait(decoder) : code;
}

static enum gf_status launch(struct gf_png_decoder *decoder, const struct png_decode_group *group,
                             const struct png_layout *host, const struct png_layout *device,
                             struct gf_error *error)
{
    cudaStream_t const stream = decoder->stream;
    CODER_TRY(decoder, cudaMemcpyAsync(decoder->memory, decoder->pinned, host->described_bytes,
                                       cudaMemcpyHostToDevice, stream));
    CODER_TRY(decoder, cudaMemsetAsync(device->adlers, 0, device->returned_bytes, stream));
    CODER_TRY(decoder, end_step(decoder, 1));
    CODER_TRY(decoder, gf_png_check_chunks(group, decoder->tables, stream));
    CODER_TRY(decoder, gf_png_inflate_parts(group, stream));
    CODER_TRY(decoder, gf_png_inflate_rest(group, stream));
    CODER_TRY(decoder, end_step(decoder, 2));
    CODER_TRY(decoder, gf_png_sum_stripes(group, stream));
    CODER_TRY(decoder, gf_png_unfilter(group, stream));
    CODER_TRY(decoder, cudaMemcpyAsync(host->adlers, device->adlers, device->returned_bytes,
                                       cudaMemcpyDeviceToHost, stream));
    CODER_TRY(decoder, end_step(decoder, 3));
    return coder_add_times(decoder, error);
}

static enum gf_status run_group(struct gf_png_decoder *decoder,
                                struct gf_png_decode_picture *const *pictures,
                                struct png_amounts amounts, struct gf_error *error)
{
    const int count = (int)amounts.pictures;
    struct png_layout device = gf_png_lay_out_stripes(NULL, amounts);
    GF_TRY(coder_reserve(decoder, device.bytes, count, error));
    GF_TRY(coder_reserve_pinned(decoder, device.copied_bytes, 0, count, error));
    device = gf_png_lay_out_stripes(decoder->memory, amounts);
    const struct png_layout host = gf_png_lay_out_stripes(decoder->pinned, amounts);
    struct png_amounts before = {};
    struct coder_copies copies;
    copies.count = 0;
    CODER_TRY(decoder, coder_mark(decoder, 0, decoder->stream));
    for (int i = 0; i < count; i++) {
        const struct gf_png_marked *const header = pictures[i]->header;
        unsigned char *const packed = device.packed + before.packed;
        CODER_TRY(decoder, coder_copy(decoder, &copies, packed, pictures[i]->data + header->first,
                                      header->chunk_bytes));
        host.targets[i] = gf_png_target(pictures[i]);
        gf_png_describe(pictures[i], i, packed, device.filtered + before.filtered,
                        host.stripes + before.stripes);
        before = gf_png_sum(before, gf_png_amounts(header));
    }
    CODER_TRY(decoder, coder_queue_copies(decoder, &copies));
    const struct png_decode_group group = {
        device.stripes,  device.targets, (unsigned)amounts.stripes,
        device.unpacked, device.adlers,  device.flags};
    GF_TRY(launch(decoder, &group, &host, &device, error));
    const struct png_stripe *stripes = host.stripes;
    const unsigned *adlers = host.adlers;
    for (int i = 0; i < count; i++) {
        pictures[i]->decoded = !host.flags[i] && gf_png_is_right(pictures[i], stripes, adlers);
        stripes += pictures[i]->header->stripes;
        adlers += pictures[i]->header->stripes;
    }
    return GF_OK;
}

static bool fits(const struct gf_png_decode_picture *picture)
{
    const struct gf_format format = picture->out.format;
    const struct gf_png_marked *const header = picture->header;
    return format.width == header->width && format.height == header->height &&
           format.channels == header->channels && format.bits == header->bits &&
           picture->out.y == 0 && picture->out.rows == format.height;
}

static enum gf_status run_groups(struct gf_png_decoder *decoder,
                                 struct gf_png_decode_picture **members,
                                 struct gf_png_decode_picture *pictures, int count,
                                 struct gf_error *error)
{
    enum gf_status status = GF_OK;
    struct png_amounts sum = {};
    for (int i = 0; i < count && !status; i++) {
        const struct png_amounts own = gf_png_amounts(pictures[i].header);
        pictures[i].decoded = false;
        if (!fits(&pictures[i]) || gf_png_lay_out_stripes(NULL, own).bytes > decoder->memory_most)
            continue;
        if (sum.pictures &&
            gf_png_lay_out_stripes(NULL, gf_png_sum(sum, own)).bytes > decoder->memory_most) {
            status = run_group(decoder, members, sum, error);
            sum = {};
        }
        members[sum.pictures] = &pictures[i];
        sum = gf_png_sum(sum, own);
    }
    if (sum.pictures && !status)
        status = run_group(decoder, members, sum, error);
    return status;
}

extern "C" enum gf_status gf_png_decoder_run(struct gf_png_decoder *decoder,
                                             struct gf_png_decode_picture *pictures, int count,
                                             struct gf_error *error)
{
    struct gf_png_decode_picture **const members =
        (struct gf_png_decode_picture **)malloc((size_t)(count ? count : 1) * sizeof *members);
    if (!members)
        return gf_fail_memory(error);
    coder_begin_times(decoder);
    const enum gf_status status = run_groups(decoder, members, pictures, count, error);
    if (status) /* the caller may free the files after this call */
        (void)cudaStreamSynchronize(decoder->stream);
    free(members);
    return status;
}

static enum gf_status prepare_device(struct gf_png_decoder *decoder, struct gf_error *error)
{
    CODER_TRY(decoder, gf_png_crc_bring(&decoder->tables, decoder->stream));
    return GF_OK;
}

static void clear(struct gf_png_decoder *decoder)
{
    (void)cudaFree(decoder->tables);
}

DEFINE_CODER(png_decode, prepare_device, clear)
