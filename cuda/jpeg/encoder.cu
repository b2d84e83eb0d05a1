/* The host's side of the encoder: it encodes pictures in rounds, as many at once as memory
 * allows. */
#include <cuda_runtime.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/spans.h"
#include "base/start_times.h"
#include "cuda/common/check.cuh"
#include "cuda/jpeg/encoder_state.cuh"

/* ---- what a picture needs ---- */

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

/* The part that a picture takes. The scan gets a byte for each sample, more than photographs need
 * at quality 100. */
static struct part part_of(struct gf_format format, enum gf_subsampling subsampling)
{
    struct part part = {};
    part.shape = shape_of(format.channels, subsampling);
    const struct encode_shape shape = gf_jpeg_encode_shape(part.shape);
    int across, down;
    count_mcus(format, &shape, &across, &down);
    const uint64_t mcus = (uint64_t)across * (uint64_t)down;
    part.chunks = (unsigned)((mcus + (uint64_t)shape.chunk_mcus - 1) / (uint64_t)shape.chunk_mcus);
    part.capacity = aligned(mcus * (uint64_t)shape.blocks * BLOCK_SAMPLES);
    return part;
}

static uint64_t part_bytes(const struct part *part)
{
    return aligned(sizeof(struct encode_picture)) + aligned(sizeof(uint64_t)) +
           aligned(part->chunks * sizeof(struct chunk_state)) + part->capacity;
}

extern "C" uint64_t gf_jpeg_encoder_bytes(struct gf_format format, enum gf_subsampling subsampling)
{
    const struct part part = part_of(format, subsampling);
    return part_bytes(&part);
}

/* ---- a round: the pictures of a group that are encoded together ---- */

static struct encode_picture describe(const struct gf_jpeg_encoder *encoder,
                                      const struct gf_jpeg_encode_picture *picture,
                                      const struct part *part)
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

/* Chooses waiting pictures as far as memory suffices, and gives up those that would never fit.
 * Returns the bytes that the chosen ones need, 0 where none is left. */
static uint64_t choose(struct gf_jpeg_encoder *encoder, int count)
{
    uint64_t bytes = 0;
    int chosen = 0;
    for (int i = 0; i < count; i++) {
        struct part *const part = encoder->parts + i;
        const uint64_t own = part_bytes(part);
        if (part->state != WAITING)
            continue;
        if (own > encoder->memory_most)
            part->state = ENDED;
        else if (chosen < PICTURES_MOST && bytes + own <= encoder->memory_most) {
            part->state = CHOSEN;
            bytes += own;
            chosen++;
        }
    }
    encoder->placed = chosen;
    return bytes;
}

/* Describes the chosen pictures of a shape, which begin at `placed`; returns where they end. */
static int lay_out_shape(struct gf_jpeg_encoder *encoder,
                         const struct gf_jpeg_encode_picture *pictures, int count, int shape,
                         int placed)
{
    struct encode_group *const group = encoder->groups + shape;
    *group = {};
    group->pictures = (const struct encode_picture *)encoder->memory + placed;
    for (int i = 0; i < count; i++) {
        const struct part *const part = encoder->parts + i;
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
    encoder->placed = 0;
    uint64_t chunks = 0;
    for (int shape = 0; shape < SHAPES; shape++) {
        encoder->placed = lay_out_shape(encoder, pictures, count, shape, encoder->placed);
        chunks += encoder->groups[shape].chunks;
    }
    const uint64_t placed = (uint64_t)encoder->placed;
    unsigned char *at = encoder->memory + aligned(placed * sizeof *encoder->pictures);
    encoder->device_sizes = (uint64_t *)at;
    at += aligned(placed * sizeof *encoder->device_sizes);
    struct chunk_state *states = (struct chunk_state *)at;
    uint64_t *sizes = encoder->device_sizes;
    for (int shape = 0; shape < SHAPES; shape++) {
        encoder->groups[shape].states = states;
        encoder->groups[shape].sizes = sizes;
        states += encoder->groups[shape].chunks;
        sizes += encoder->groups[shape].count;
    }
    at += aligned(chunks * sizeof *states);
    for (int i = 0; i < encoder->placed; i++) {
        encoder->pictures[i].scan = at;
        at += encoder->pictures[i].capacity;
    }
    return chunks * sizeof *states;
}

static enum gf_status mark(struct gf_jpeg_encoder *encoder, int i, struct gf_error *error)
{
    if (encoder->steps)
        GF_CUDA_TRY(cudaEventRecord(encoder->marks[i], encoder->stream), encoder->device, error);
    return GF_OK;
}

static enum gf_status launch(struct gf_jpeg_encoder *encoder, uint64_t states,
                             struct gf_error *error)
{
    GF_CUDA_TRY(cudaMemcpyAsync(encoder->memory, encoder->pictures,
                                (size_t)encoder->placed * sizeof *encoder->pictures,
                                cudaMemcpyHostToDevice, encoder->stream),
                encoder->device, error);
    const enum gf_status status = mark(encoder, 0, error);
    if (status)
        return status;
    GF_CUDA_TRY(cudaMemsetAsync(encoder->groups[0].states, 0, states, encoder->stream),
                encoder->device, error);
    for (int shape = 0; shape < SHAPES; shape++) {
        if (encoder->groups[shape].count)
            GF_CUDA_TRY(gf_jpeg_encode_launch(shape, encoder->groups + shape, encoder->stream),
                        encoder->device, error);
    }
    return mark(encoder, 1, error);
}

/* Lets the device write the scans behind those that the host has, and waits until it has done
 * so. */
static enum gf_status deliver(struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    const struct scan_delivery delivery = {(const struct encode_picture *)encoder->memory,
                                           encoder->device_sizes,
                                           encoder->placed,
                                           encoder->scans.data + encoder->scans_used,
                                           encoder->scans.size - encoder->scans_used,
                                           encoder->sizes};
    GF_CUDA_TRY(gf_jpeg_deliver_launch(&delivery, encoder->stream), encoder->device, error);
    const enum gf_status status = mark(encoder, 2, error);
    if (status)
        return status;
    GF_CUDA_TRY(cudaEventRecord(encoder->ended, encoder->stream), encoder->device, error);
    GF_CUDA_TRY(cudaEventSynchronize(encoder->ended), encoder->device, error);
    return GF_OK;
}

/* Notes where the scans are; a picture whose scan was too long waits for a larger part. */
static void note_scans(struct gf_jpeg_encoder *encoder)
{
    for (int i = 0; i < encoder->placed; i++) {
        struct part *const part = encoder->parts + encoder->indices[i];
        if (encoder->sizes[i] > encoder->pictures[i].capacity) {
            part->capacity = aligned(encoder->sizes[i]);
            part->state = WAITING;
            continue;
        }
        part->state = ENDED;
        part->offset = encoder->scans_used;
        part->size = encoder->sizes[i];
        encoder->scans_used += scan_room(part->size);
    }
}

/* The room that the scans of the round take in host memory; before they are encoded, a guess. */
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

static enum gf_status add_times(struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    float encode, copies;
    if (!encoder->steps)
        return GF_OK;
    GF_CUDA_TRY(cudaEventElapsedTime(&encode, encoder->marks[0], encoder->marks[1]),
                encoder->device, error);
    GF_CUDA_TRY(cudaEventElapsedTime(&copies, encoder->marks[1], encoder->marks[2]),
                encoder->device, error);
    encoder->steps->encode += encode;
    encoder->steps->download += copies;
    return GF_OK;
}

static enum gf_status run_round(struct gf_jpeg_encoder *encoder,
                                const struct gf_jpeg_encode_picture *pictures, int count,
                                uint64_t bytes, struct gf_error *error)
{
    enum gf_status status = gf_jpeg_reserve_device(encoder, bytes, error);
    if (status)
        return status;
    const uint64_t states = lay_out(encoder, pictures, count);
    status =
        gf_jpeg_reserve_scans(encoder, encoder->scans_used + room_for_scans(encoder, false), error);
    if (!status)
        status = launch(encoder, states, error);
    if (!status)
        status = deliver(encoder, error);
    if (status)
        return status;
    const uint64_t room = encoder->scans_used + room_for_scans(encoder, true);
    if (room > encoder->scans.size) {
        status = gf_jpeg_reserve_scans(encoder, room, error);
        if (!status)
            status = deliver(encoder, error);
        if (status)
            return status;
    }
    note_scans(encoder);
    return add_times(encoder, error);
}

/* ---- the interface ---- */

static enum gf_status prepare(struct gf_jpeg_encoder *encoder,
                              const struct gf_jpeg_encode_picture *pictures, int count,
                              struct gf_error *error)
{
    enum gf_status status = gf_jpeg_reserve_group(encoder, count, error);
    for (int i = 0; i < count && !status; i++) {
        encoder->parts[i] = part_of(pictures[i].in.format, pictures[i].subsampling);
        status = gf_jpeg_make_tables(encoder, pictures[i].quality, error);
    }
    encoder->scans_used = 0;
    if (encoder->steps)
        *encoder->steps = {};
    return status;
}

extern "C" enum gf_status gf_jpeg_encoder_run(struct gf_jpeg_encoder *encoder,
                                              struct gf_jpeg_encode_picture *pictures, int count,
                                              struct gf_error *error)
{
    enum gf_status status = prepare(encoder, pictures, count, error);
    uint64_t bytes;
    while (!status && (bytes = choose(encoder, count)))
        status = run_round(encoder, pictures, count, bytes, error);
    for (int i = 0; i < count && !status; i++) {
        const struct part *const part = encoder->parts + i;
        pictures[i].encoded = part->size > 0;
        pictures[i].scan = encoder->scans.data + part->offset;
        pictures[i].size = part->size;
    }
    return status;
}

extern "C" void gf_jpeg_encoder_measure(struct gf_jpeg_encoder *encoder,
                                        struct gf_jpeg_encode_steps *steps)
{
    encoder->steps = steps;
}

extern "C" void gf_jpeg_encoder_expect(struct gf_jpeg_encoder *encoder, int pictures)
{
    encoder->expected = pictures;
}

/* Loads the kernels, which would otherwise be loaded at their first launch. The first pictures are
 * still being decoded at this time. */
static enum gf_status load_kernels(const struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    const double begin_s = gf_now();
    GF_CUDA_TRY(gf_jpeg_encode_load(), encoder->device, error);
    GF_CUDA_TRY(gf_jpeg_deliver_load(), encoder->device, error);
    gf_start_note(GF_START_KERNELS, begin_s);
    return GF_OK;
}

static enum gf_status open_encoder(struct gf_jpeg_encoder *encoder, struct gf_error *error)
{
    GF_CUDA_TRY(cudaSetDevice(encoder->device), encoder->device, error);
    GF_CUDA_TRY(cudaStreamCreateWithFlags(&encoder->stream, cudaStreamNonBlocking), encoder->device,
                error);
    GF_CUDA_TRY(
        cudaEventCreateWithFlags(&encoder->ended, cudaEventBlockingSync | cudaEventDisableTiming),
        encoder->device, error);
    for (int i = 0; i < MARKS; i++)
        GF_CUDA_TRY(cudaEventCreate(&encoder->marks[i]), encoder->device, error);
    GF_CUDA_TRY(cudaMalloc(&encoder->tables, QUALITIES * sizeof *encoder->tables), encoder->device,
                error);
    return load_kernels(encoder, error);
}

extern "C" enum gf_status gf_jpeg_encoder_create(int device, uint64_t memory_most,
                                                 struct gf_jpeg_encoder **encoder,
                                                 struct gf_error *error)
{
    struct gf_jpeg_encoder *const created = (struct gf_jpeg_encoder *)calloc(1, sizeof *created);
    if (!created)
        return gf_fail_memory(error);
    created->device = device;
    created->memory_most = memory_most;
    const enum gf_status status = open_encoder(created, error);
    if (status)
        gf_jpeg_encoder_destroy(created);
    else
        *encoder = created;
    return status;
}

extern "C" void gf_jpeg_encoder_destroy(struct gf_jpeg_encoder *encoder)
{
    if (!encoder)
        return;
    gf_jpeg_free_group(encoder);
    gf_cuda_pinned_free(&encoder->scans);
    cudaFree(encoder->memory);
    cudaFree(encoder->tables);
    if (encoder->ended)
        cudaEventDestroy(encoder->ended);
    for (int i = 0; i < MARKS; i++) {
        if (encoder->marks[i])
            cudaEventDestroy(encoder->marks[i]);
    }
    if (encoder->stream)
        cudaStreamDestroy(encoder->stream);
    free(encoder);
}
