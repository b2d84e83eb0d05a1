/* Runs the steps of the PNG decoder for groups of pictures. */
#include "cuda/png/decoder.h"

#include <cuda_runtime.h>
#include <stdlib.h>

#include "base/fail.h"
#include "cuda/common/check.cuh"
#include "cuda/common/coder_memory.cuh"
#include "cuda/png/crc.cuh"
#include "cuda/png/decode_plan.cuh"

enum { MARKS = 4 };

struct gf_png_decoder {
    int device;
    uint64_t memory_most;
    int expected; /* pictures at once */
    cudaStream_t stream;
    cudaEvent_t ended;                 /* waiting for it lets other threads have the processor */
    cudaEvent_t marks[MARKS];          /* with times */
    struct gf_png_decode_steps *steps; /* NULL: not measured */
    struct crc_tables *tables;         /* on the device */
    unsigned char *memory, *pinned;    /* pinned: what is copied to the device and back */
    uint64_t memory_bytes, pinned_bytes;
};

/* ---- memory ---- */

static enum gf_status grow(struct gf_png_decoder *decoder, const struct png_layout *layout,
                           int count, struct gf_error *error)
{
    const uint64_t described = (uint64_t)(layout->packed - (unsigned char *)layout->stripes);
    enum gf_status status = GF_OK;
    if (layout->bytes > decoder->memory_bytes)
        status =
            grow_device(decoder->device, layout->bytes,
                        room_for(layout->bytes, count, decoder->expected, decoder->memory_most),
                        &decoder->memory, &decoder->memory_bytes, error);
    if (!status && described > decoder->pinned_bytes)
        status =
            grow_host(decoder->device, room_for(described, count, decoder->expected, UINT64_MAX),
                      &decoder->pinned, &decoder->pinned_bytes, error);
    return status;
}

/* ---- one group ---- */

static enum gf_status mark(const struct gf_png_decoder *decoder, int i, struct gf_error *error)
{
    if (decoder->steps)
        GF_CUDA_TRY(cudaEventRecord(decoder->marks[i], decoder->stream), decoder->device, error);
    return GF_OK;
}

static enum gf_status add_times(const struct gf_png_decoder *decoder, struct gf_error *error)
{
    float *const times[MARKS - 1] = {&decoder->steps->upload, &decoder->steps->inflate,
                                     &decoder->steps->unfilter};
    for (int i = 0; i + 1 < MARKS; i++) {
        float ms;
        GF_CUDA_TRY(cudaEventElapsedTime(&ms, decoder->marks[i], decoder->marks[i + 1]),
                    decoder->device, error);
        *times[i] += ms;
    }
    return GF_OK;
}

/* Waits until all launched work has ended. The device has few queues: the work of others would wait
 * behind a launch that waits for an earlier one of this stream. So the next launch comes only when
 * the last has ended. */
static enum gf_status wait(const struct gf_png_decoder *decoder, struct gf_error *error)
{
    GF_CUDA_TRY(cudaEventRecord(decoder->ended, decoder->stream), decoder->device, error);
    GF_CUDA_TRY(cudaEventSynchronize(decoder->ended), decoder->device, error);
    return GF_OK;
}

static enum gf_status launch(struct gf_png_decoder *decoder, const struct png_decode_group *group,
                             const struct png_layout *host, const struct png_layout *device,
                             struct gf_error *error)
{
    cudaStream_t const stream = decoder->stream;
    GF_CUDA_TRY(cudaMemcpyAsync(decoder->memory, decoder->pinned, host->described_bytes,
                                cudaMemcpyHostToDevice, stream),
                decoder->device, error);
    GF_CUDA_TRY(cudaMemsetAsync(device->adlers, 0, device->returned_bytes, stream), decoder->device,
                error);
    enum gf_status status = mark(decoder, 1, error);
    if (!status)
        status = wait(decoder, error);
    if (status)
        return status;
    GF_CUDA_TRY(gf_png_check_chunks(group, decoder->tables, stream), decoder->device, error);
    GF_CUDA_TRY(gf_png_inflate_parts(group, stream), decoder->device, error);
    GF_CUDA_TRY(gf_png_inflate_rest(group, stream), decoder->device, error);
    status = mark(decoder, 2, error);
    if (!status)
        status = wait(decoder, error);
    if (status)
        return status;
    GF_CUDA_TRY(gf_png_sum_stripes(group, stream), decoder->device, error);
    GF_CUDA_TRY(gf_png_unfilter(group, stream), decoder->device, error);
    GF_CUDA_TRY(cudaMemcpyAsync(host->adlers, device->adlers, device->returned_bytes,
                                cudaMemcpyDeviceToHost, stream),
                decoder->device, error);
    status = mark(decoder, 3, error);
    if (!status)
        status = wait(decoder, error);
    return status || !decoder->steps ? status : add_times(decoder, error);
}

static enum gf_status run_group(struct gf_png_decoder *decoder,
                                struct gf_png_decode_picture *const *pictures,
                                struct png_amounts amounts, struct gf_error *error)
{
    const int count = (int)amounts.pictures;
    struct png_layout device = gf_png_lay_out_stripes(NULL, amounts);
    const enum gf_status status = grow(decoder, &device, count, error);
    if (status)
        return status;
    device = gf_png_lay_out_stripes(decoder->memory, amounts);
    const struct png_layout host = gf_png_lay_out_stripes(decoder->pinned, amounts);
    struct png_amounts before = {};
    const enum gf_status marked = mark(decoder, 0, error);
    if (marked)
        return marked;
    for (int i = 0; i < count; i++) {
        const struct gf_png_marked *const header = pictures[i]->header;
        unsigned char *const packed = device.packed + before.packed;
        GF_CUDA_TRY(cudaMemcpyAsync(packed, pictures[i]->data + header->first, header->chunk_bytes,
                                    cudaMemcpyDefault, decoder->stream),
                    decoder->device, error);
        host.targets[i] = gf_png_target(pictures[i]);
        gf_png_describe(pictures[i], i, packed, device.filtered + before.filtered,
                        host.stripes + before.stripes);
        before = gf_png_sum(before, gf_png_amounts(header));
    }
    const struct png_decode_group group = {
        device.stripes,  device.targets, (unsigned)amounts.stripes,
        device.unpacked, device.adlers,  device.flags};
    const enum gf_status launched = launch(decoder, &group, &host, &device, error);
    const struct png_stripe *stripes = host.stripes;
    const unsigned *adlers = host.adlers;
    for (int i = 0; !launched && i < count; i++) {
        pictures[i]->decoded = !host.flags[i] && gf_png_is_right(pictures[i], stripes, adlers);
        stripes += pictures[i]->header->stripes;
        adlers += pictures[i]->header->stripes;
    }
    return launched;
}

/* ---- all pictures ---- */

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
    if (decoder->steps)
        *decoder->steps = {};
    const enum gf_status status = run_groups(decoder, members, pictures, count, error);
    if (status) /* the caller may free the files now */
        (void)cudaStreamSynchronize(decoder->stream);
    free(members);
    return status;
}

/* ---- the decoder ---- */

extern "C" void gf_png_decoder_expect(struct gf_png_decoder *decoder, int pictures)
{
    decoder->expected = pictures;
}

extern "C" void gf_png_decoder_measure(struct gf_png_decoder *decoder,
                                       struct gf_png_decode_steps *steps)
{
    decoder->steps = steps;
}

static enum gf_status open_device(struct gf_png_decoder *decoder, struct gf_error *error)
{
    GF_CUDA_TRY(cudaSetDevice(decoder->device), decoder->device, error);
    GF_CUDA_TRY(cudaStreamCreateWithFlags(&decoder->stream, cudaStreamNonBlocking), decoder->device,
                error);
    GF_CUDA_TRY(
        cudaEventCreateWithFlags(&decoder->ended, cudaEventBlockingSync | cudaEventDisableTiming),
        decoder->device, error);
    for (int i = 0; i < MARKS; i++)
        GF_CUDA_TRY(cudaEventCreate(&decoder->marks[i]), decoder->device, error);
    GF_CUDA_TRY(gf_png_crc_bring(&decoder->tables, decoder->stream), decoder->device, error);
    return GF_OK;
}

extern "C" enum gf_status gf_png_decoder_create(int device, uint64_t memory_most,
                                                struct gf_png_decoder **decoder,
                                                struct gf_error *error)
{
    struct gf_png_decoder *const created = (struct gf_png_decoder *)calloc(1, sizeof *created);
    if (!created)
        return gf_fail_memory(error);
    created->device = device;
    created->memory_most = memory_most;
    const enum gf_status status = open_device(created, error);
    if (status) {
        gf_png_decoder_destroy(created);
        return status;
    }
    *decoder = created;
    return GF_OK;
}

extern "C" void gf_png_decoder_destroy(struct gf_png_decoder *decoder)
{
    if (!decoder)
        return;
    (void)cudaFree(decoder->memory);
    (void)cudaFree(decoder->tables);
    (void)cudaFreeHost(decoder->pinned);
    if (decoder->ended)
        (void)cudaEventDestroy(decoder->ended);
    for (int i = 0; i < MARKS; i++) {
        if (decoder->marks[i])
            (void)cudaEventDestroy(decoder->marks[i]);
    }
    if (decoder->stream)
        (void)cudaStreamDestroy(decoder->stream);
    free(decoder);
}
