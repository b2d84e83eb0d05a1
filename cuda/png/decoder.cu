/* The decoder: the memory of a group, the checksums of its chunks, and the steps. */
#include <zlib.h>

#include "cuda/common/coder.cuh"
#include "cuda/png/coders.h"
#include "cuda/png/crc.cuh"
#include "cuda/png/stripes.cuh"

/* The memory that pictures need for decoding, and the addresses of its parts. */

/* The numbers of pictures, stripes of marked pictures, streams of others, chunks, pictures to
 * expand and matches that may wait; and the bytes of the compressed chunks (packed), of the streams
 * that are joined from several chunks, of the filtered rows (filtered), and of the samples to
 * expand. */
struct png_amounts {
    uint64_t pictures, stripes, streams, chunks, expansions, matches, packed, joined, filtered,
        samples;
};

/* The addresses of the parts: first the descriptions, then the results. */
struct png_layout {
    struct png_idat *chunks;
    struct png_stripe *stripes;
    struct png_target *targets;
    struct png_expansion *expansions;
    unsigned *unpacked, *adlers, *flags;
    unsigned char *packed, *joined, *filtered, *samples;
    uint64_t *matches;
    uint64_t described_bytes, returned_bytes, copied_bytes,
        bytes; /* copied: the bytes of the parts that are also on the host */
};

enum {
    TYPE_PLACE = 4,
    TYPE_BYTES = 4,
    HEAD_BYTES = 8,
    CRC_BYTES = 4,
    ZLIB_HEAD_BYTES = 2,
    ADLER_BYTES = 4,
    INDEXED = 3
};

static unsigned stripe_bytes(const struct gf_png_file *header, int rows)
{
    return (unsigned)(header->row_bytes + 1) * (unsigned)rows;
}

static uint64_t sample_pitch(const struct gf_png_file *header)
{
    return aligned(header->row_bytes);
}

static struct png_amounts amounts_of(const struct gf_png_file *header)
{
    const uint64_t stripes = (uint64_t)header->stripes, bytes = stripe_bytes(header, header->rows);
    struct png_amounts amounts = {};
    amounts.pictures = 1;
    amounts.stripes = header->marked ? stripes : 0;
    amounts.streams = header->marked ? 0 : stripes;
    amounts.chunks = (uint64_t)header->chunks;
    amounts.matches = gf_png_matches_most(bytes) * stripes;
    amounts.packed = aligned(header->chunk_bytes);
    amounts.joined = header->chunks > header->stripes ? aligned(header->stream_bytes) : 0;
    amounts.filtered = aligned(bytes) * stripes;
    if (!gf_png_is_plain(header)) {
        amounts.expansions = 1;
        amounts.samples = sample_pitch(header) * (uint64_t)header->height;
    }
    return amounts;
}

static struct png_amounts sum_of(struct png_amounts a, struct png_amounts b)
{
    return {a.pictures + b.pictures, a.stripes + b.stripes,       a.streams + b.streams,
            a.chunks + b.chunks,     a.expansions + b.expansions, a.matches + b.matches,
            a.packed + b.packed,     a.joined + b.joined,         a.filtered + b.filtered,
            a.samples + b.samples};
}

static struct png_layout lay_out(unsigned char *memory, struct png_amounts amounts)
{
    struct arena arena = {memory, 0};
    struct png_layout layout;
    take(&arena, layout.chunks, amounts.chunks);
    take(&arena, layout.stripes, amounts.stripes + amounts.streams);
    take(&arena, layout.targets, amounts.pictures);
    take(&arena, layout.expansions, amounts.expansions);
    layout.described_bytes = arena.used;
    take(&arena, layout.unpacked, amounts.stripes);
    const uint64_t returned = arena.used;
    take(&arena, layout.adlers, amounts.stripes + amounts.streams);
    take(&arena, layout.flags, amounts.pictures);
    layout.returned_bytes = arena.used - returned;
    layout.copied_bytes = arena.used;
    take(&arena, layout.packed, amounts.packed);
    take(&arena, layout.joined, amounts.joined);
    take(&arena, layout.filtered, amounts.filtered);
    take(&arena, layout.samples, amounts.samples);
    take(&arena, layout.matches, amounts.matches);
    layout.bytes = arena.used;
    return layout;
}

extern "C" uint64_t gf_png_decoder_bytes(const struct gf_png_file *header, size_t size)
{
    (void)size;
    return lay_out(NULL, amounts_of(header)).bytes;
}

/* The description of a picture. */

static unsigned big_endian(const unsigned char *from)
{
    return (unsigned)from[0] << 24 | (unsigned)from[1] << 16 | (unsigned)from[2] << 8 | from[3];
}

/* Moves the addresses in the device's memory, and those of the descriptions on the host, behind
 * the parts of pictures with these amounts. The stripes of marked pictures are the first `marked`
 * ones. */
struct png_places {
    struct png_layout device, host;
    struct png_stripe *streams; /* on the host */
};

static void move_behind(struct png_places *places, struct png_amounts amounts)
{
    places->host.chunks += amounts.chunks;
    places->host.stripes += amounts.stripes;
    places->streams += amounts.streams;
    places->host.expansions += amounts.expansions;
    places->host.targets += amounts.pictures;
    places->device.packed += amounts.packed;
    places->device.joined += amounts.joined;
    places->device.filtered += amounts.filtered;
    places->device.samples += amounts.samples;
    places->device.matches += amounts.matches;
}

/* Describes the picture's chunks. The data of several chunks that are one stream are joined. */
static void describe_chunks(const struct gf_png_decode_picture *picture, int index,
                            const struct png_places *places)
{
    const struct gf_png_file *const header = picture->header;
    const bool joins = header->chunks > header->stripes;
    uint64_t at = 0, joined = 0;
    for (int i = 0; i < header->chunks; i++) {
        const unsigned size = big_endian(picture->data + header->first + at);
        places->host.chunks[i] = {places->device.packed + at + TYPE_PLACE, TYPE_BYTES + size, index,
                                  joins ? places->device.joined + joined : NULL};
        at += HEAD_BYTES + (uint64_t)size + CRC_BYTES;
        joined += size;
    }
}

static void describe_stripes(const struct gf_png_decode_picture *picture, int index,
                             const struct png_places *places)
{
    const struct gf_png_file *const header = picture->header;
    struct png_stripe *const stripes = header->marked ? places->host.stripes : places->streams;
    const uint64_t bytes = stripe_bytes(header, header->rows), matches = gf_png_matches_most(bytes);
    for (int i = 0; i < header->stripes; i++) {
        const struct png_idat chunk = places->host.chunks[i];
        const bool last = i + 1 == header->stripes;
        const uint64_t size =
            header->marked ? chunk.bytes - TYPE_BYTES : (uint64_t)header->stream_bytes;
        const unsigned head = i ? 0 : ZLIB_HEAD_BYTES, tail = last ? ADLER_BYTES : 0;
        const int row = i * header->rows, rows = last ? header->height - row : header->rows;
        stripes[i] = {(chunk.to ? chunk.to : chunk.chunk + TYPE_BYTES) + head,
                      (unsigned)(size - head - tail),
                      places->device.filtered + aligned(bytes) * (uint64_t)i,
                      stripe_bytes(header, rows),
                      stripe_bytes(header, 1),
                      places->device.matches + matches * (uint64_t)i,
                      row,
                      rows,
                      index,
                      last,
                      header->marked};
    }
}

/* Describes where the picture's rows go, and how they are expanded. */
static void describe_target(const struct gf_png_decode_picture *picture, int index,
                            const struct png_places *places)
{
    static const int samples[] = {1, 0, 3, 1, 2, 0, 4};
    const struct gf_png_file *const header = picture->header;
    const unsigned char *const data = picture->data;
    const int count = samples[header->colour_type], bits = count * header->depth;
    struct png_target *const target = places->host.targets;
    *target = {picture->out.data, picture->out.pitch, header->width, bits / 8, header->depth == 16};
    if (bits < 8) {
        target->width = (int)header->row_bytes;
        target->pixel_bytes = 1;
    }
    if (gf_png_is_plain(header))
        return;
    target->data = places->device.samples;
    target->pitch = sample_pitch(header);
    struct png_expansion *const expansion = places->host.expansions;
    *expansion = {};
    expansion->from = target->data;
    expansion->from_pitch = target->pitch;
    expansion->to = picture->out.data;
    expansion->to_pitch = picture->out.pitch;
    expansion->width = header->width;
    expansion->height = header->height;
    expansion->depth = header->depth;
    expansion->samples = count;
    expansion->channels = header->channels;
    expansion->picture = index;
    if (header->colour_type != INDEXED) {
        expansion->has_clear = header->transparent_bytes > 0;
        for (size_t i = 0; 2 * i < header->transparent_bytes; i++)
            expansion->clear[i] = (unsigned short)(data[header->transparent + 2 * i] << 8 |
                                                   data[header->transparent + 2 * i + 1]);
        return;
    }
    expansion->colours = (int)header->palette_bytes / 3;
    for (size_t i = 0; 3 * i < header->palette_bytes; i++) {
        memcpy(expansion->palette[i], data + header->palette + 3 * i, 3);
        expansion->palette[i][3] =
            i < header->transparent_bytes ? data[header->transparent + i] : 255;
    }
}

/* Whether the checksum at the end of the picture's stream is the checksum of its rows. */
static bool is_right(const struct gf_png_decode_picture *picture, const struct png_stripe *stripes,
                     const unsigned *adlers)
{
    uLong adler = 1;
    for (int i = 0; i < picture->header->stripes; i++)
        adler = adler32_combine(adler, adlers[i], (z_off_t)stripes[i].filtered_bytes);
    return adler == picture->header->adler;
}

/* Compares the CRC-32 of each chunk with the CRC-32 in the file, and copies its data if they are a
 * part of a stream. A thread block processes a chunk. */

static __global__ void __launch_bounds__(CRC_THREADS)
    check_kernel(const struct png_decode_group group, const struct crc_tables *tables)
{
    __shared__ unsigned step[4][256];
    __shared__ unsigned all;
    const struct png_idat idat = group.chunks[blockIdx.x];
    const unsigned before = (unsigned)((uintptr_t)idat.chunk % 4), end = before + idat.bytes;
    const unsigned *const words = (const unsigned *)(idat.chunk - before);
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
    for (unsigned i = threadIdx.x; idat.to && i < idat.bytes - TYPE_BYTES; i += CRC_THREADS)
        idat.to[i] = idat.chunk[TYPE_BYTES + i];
    const unsigned char *const given = idat.chunk + idat.bytes;
    const unsigned crc =
        (unsigned)given[0] << 24 | (unsigned)given[1] << 16 | (unsigned)given[2] << 8 | given[3];
    if (!threadIdx.x && ~product(all, tables->back[~(end - 1) & 3]) != crc)
        atomicOr(group.flags + idat.picture, 1u);
}

/* Flags pictures with a chunk whose checksum is wrong, and joins the data of chunks to streams. */
static cudaError_t check_chunks(const struct png_decode_group *group,
                                const struct crc_tables *tables, cudaStream_t stream)
{
    return launch_kernel(check_kernel, group->chunk_count, CRC_THREADS, 0, stream, *group, tables);
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
    CODER_TRY(decoder, check_chunks(group, decoder->tables, stream));
    CODER_TRY(decoder, gf_png_inflate_parts(group, stream));
    CODER_TRY(decoder, gf_png_inflate_rest(group, stream));
    CODER_TRY(decoder, end_step(decoder, 2));
    CODER_TRY(decoder, gf_png_sum_stripes(group, stream));
    CODER_TRY(decoder, gf_png_unfilter(group, stream));
    CODER_TRY(decoder, gf_png_expand(group, stream));
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
    GF_TRY(coder_reserve(decoder, lay_out(NULL, amounts).bytes, count, error));
    GF_TRY(coder_reserve_pinned(decoder, lay_out(NULL, amounts).copied_bytes, 0, count, error));
    const struct png_layout device = lay_out(decoder->memory, amounts),
                            host = lay_out(decoder->pinned, amounts);
    struct png_places places = {device, host, host.stripes + amounts.stripes};
    struct coder_copies copies;
    copies.count = 0;
    CODER_TRY(decoder, coder_mark(decoder, 0, decoder->stream));
    for (int i = 0; i < count; i++) {
        const struct gf_png_file *const header = pictures[i]->header;
        CODER_TRY(decoder, coder_copy(decoder, &copies, places.device.packed,
                                      pictures[i]->data + header->first, header->chunk_bytes));
        describe_chunks(pictures[i], i, &places);
        describe_stripes(pictures[i], i, &places);
        describe_target(pictures[i], i, &places);
        move_behind(&places, amounts_of(header));
    }
    CODER_TRY(decoder, coder_queue_copies(decoder, &copies));
    const struct png_decode_group group = {device.chunks,
                                           device.stripes,
                                           device.targets,
                                           device.expansions,
                                           (unsigned)amounts.chunks,
                                           (unsigned)(amounts.stripes + amounts.streams),
                                           (unsigned)amounts.stripes,
                                           (unsigned)amounts.expansions,
                                           device.unpacked,
                                           device.adlers,
                                           device.flags};
    GF_TRY(launch(decoder, &group, &host, &device, error));
    uint64_t stripe = 0, stream = amounts.stripes;
    for (int i = 0; i < count; i++) {
        const struct gf_png_file *const header = pictures[i]->header;
        uint64_t *const next = header->marked ? &stripe : &stream;
        pictures[i]->decoded =
            !host.flags[i] && is_right(pictures[i], host.stripes + *next, host.adlers + *next);
        *next += (uint64_t)header->stripes;
    }
    return GF_OK;
}

static bool fits(const struct gf_png_decode_picture *picture)
{
    const struct gf_format format = picture->out.format;
    const struct gf_png_file *const header = picture->header;
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
        const struct png_amounts own = amounts_of(pictures[i].header);
        pictures[i].decoded = false;
        if (!fits(&pictures[i]) || lay_out(NULL, own).bytes > decoder->memory_most)
            continue;
        if (sum.pictures && lay_out(NULL, sum_of(sum, own)).bytes > decoder->memory_most) {
            status = run_group(decoder, members, sum, error);
            sum = {};
        }
        members[sum.pictures] = &pictures[i];
        sum = sum_of(sum, own);
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
    GF_ALLOCATED(members, error);
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
