/* Runs the steps of the PNG decoder for groups of pictures. */
#include "cuda/png/decoder.h"

#include "cuda/common/coder.cuh"
#include "cuda/png/crc.cuh"
#include "cuda/png/decode_plan.cuh"

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
