/* Runs the steps of the JPEG decoder for groups of pictures. */
#include "cuda/jpeg/decoder.h"

#include <string.h>

#include "cuda/common/coder.cuh"
#include "cuda/common/launch.cuh"
#include "cuda/jpeg/plan.cuh"
#include "cuda/jpeg/reconstruct.cuh"

/* The limits at which the length of subsequences changes. Long subsequences need fewer passes and
 * less work; short ones keep the whole device busy with a few pictures. */
static constexpr uint64_t FEW_BITS = 100u << 20, MANY_BITS = 400u << 20;

struct gf_jpeg_decoder : coder {
    unsigned subsequence_bits; /* 0: the decoder chooses the number for each group */
};

extern "C" uint64_t gf_jpeg_decoder_bytes(const struct gf_jpeg_header *header, size_t size,
                                          int reduction)
{
    struct gf_jpeg_decode_picture from;
    struct jpeg_picture picture;
    struct jpeg_stream stream;
    memset(&from, 0, sizeof from);
    from.header = header;
    from.size = size;
    from.reduction = reduction;
    if (!gf_jpeg_describe(&from, SUBSEQUENCE_LEAST, &picture, &stream))
        return 0;
    const struct jpeg_amounts amounts = gf_jpeg_picture_amounts(&picture, &stream);
    return gf_jpeg_lay_out(NULL, &amounts).bytes;
}

static enum gf_status launch(struct gf_jpeg_decoder *decoder, const struct jpeg_layout *device,
                             const struct jpeg_picture *pictures, struct gf_error *error)
{
    const struct jpeg_group *const group = &device->group;
    cudaStream_t const stream = decoder->stream;
    CODER_TRY(decoder, coder_mark(decoder, 1, stream));
    CODER_TRY(decoder, gf_jpeg_unstuff(group, stream));
    CODER_TRY(decoder, gf_jpeg_prepare(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 2, stream));
    CODER_TRY(decoder, gf_jpeg_synchronise(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 3, stream));
    CODER_TRY(decoder, gf_jpeg_decode_blocks(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 4, stream));
    CODER_TRY(decoder, gf_jpeg_sum_dc(group, stream));
    CODER_TRY(decoder, coder_mark(decoder, 5, stream));
    CODER_TRY(decoder, gf_jpeg_reconstruct(pictures, group->count, group->coefficients, group->dc,
                                           device->described.quantisers, group->flags,
                                           device->scratch, stream));
    CODER_TRY(decoder, coder_mark(decoder, 6, stream));
    return GF_OK;
}

/* A picture of a group, and the picture in the caller's list. */
struct member {
    struct gf_jpeg_decode_picture *picture;
    struct jpeg_picture about;
    struct jpeg_stream stream;
};

static enum gf_status run_group(struct gf_jpeg_decoder *decoder, const struct member *members,
                                const struct jpeg_amounts *amounts, struct gf_error *error)
{
    struct jpeg_layout host = gf_jpeg_lay_out(NULL, amounts);
    const unsigned count = (unsigned)amounts->pictures;
    GF_TRY(coder_reserve(decoder, host.bytes, (int)count, error));
    GF_TRY(coder_reserve_pinned(decoder, host.described_bytes, 0, (int)count, error));
    host = gf_jpeg_lay_out(decoder->pinned, amounts);
    const struct jpeg_layout device = gf_jpeg_lay_out(decoder->memory, amounts);
    struct jpeg_amounts before;
    struct coder_copies copies;
    memset(&before, 0, sizeof before);
    copies.count = 0;
    CODER_TRY(decoder, coder_mark(decoder, 0, decoder->stream));
    for (unsigned i = 0; i < count; i++) {
        const struct gf_jpeg_decode_picture *const picture = members[i].picture;
        const struct jpeg_amounts own =
            gf_jpeg_picture_amounts(&members[i].about, &members[i].stream);
        CODER_TRY(decoder,
                  coder_copy(decoder, &copies, (void *)(device.group.raw + before.raw),
                             picture->data + picture->header->scan, members[i].stream.raw_bytes));
        host.described.pictures[i] = members[i].about;
        host.described.streams[i] = members[i].stream;
        gf_jpeg_place(&host.described, i, &before, picture->header);
        gf_jpeg_amounts_add(&before, &own);
    }
    CODER_TRY(decoder,
              coder_copy(decoder, &copies, decoder->memory, decoder->pinned, host.described_bytes));
    CODER_TRY(decoder, coder_queue_copies(decoder, &copies));
    GF_TRY(launch(decoder, &device, host.described.pictures, error));
    CODER_TRY(decoder, cudaMemcpyAsync(host.described.flags, device.described.flags,
                                       2 * count * sizeof *host.described.flags,
                                       cudaMemcpyDeviceToHost, decoder->stream));
    CODER_TRY(decoder, coder_wait(decoder));
    for (unsigned i = 0; i < count; i++) {
        struct gf_jpeg_decode_picture *const picture = members[i].picture;
        picture->decoded = !host.described.flags[i];
        picture->end = picture->header->scan + host.described.ends[i];
    }
    return coder_add_times(decoder, error);
}

static bool fits(const struct gf_jpeg_decode_picture *picture)
{
    const struct gf_format format = picture->out.format;
    return format.width == ceil_div(picture->header->width, picture->reduction) &&
           format.height == ceil_div(picture->header->height, picture->reduction) &&
           format.channels == picture->header->components && format.bits == 8 &&
           picture->out.y == 0 && picture->out.rows == format.height;
}

static unsigned choose_subsequence(const struct gf_jpeg_decoder *decoder,
                                   const struct gf_jpeg_decode_picture *pictures, int count)
{
    if (decoder->subsequence_bits)
        return decoder->subsequence_bits;
    uint64_t bits = 0;
    for (int i = 0; i < count; i++)
        bits += 8ull * pictures[i].size;
    return bits < FEW_BITS    ? SUBSEQUENCE_LEAST
           : bits < MANY_BITS ? 2 * SUBSEQUENCE_LEAST
                              : SUBSEQUENCE_MOST;
}

static enum gf_status run_groups(struct gf_jpeg_decoder *decoder, struct member *members,
                                 struct gf_jpeg_decode_picture *pictures, int count,
                                 struct gf_error *error)
{
    const unsigned bits = choose_subsequence(decoder, pictures, count);
    enum gf_status status = GF_OK;
    struct jpeg_amounts sum;
    memset(&sum, 0, sizeof sum);
    for (int i = 0; i < count && !status; i++) {
        struct member *member = &members[sum.pictures];
        pictures[i].decoded = false;
        if (!fits(&pictures[i]) ||
            !gf_jpeg_describe(&pictures[i], bits, &member->about, &member->stream))
            continue;
        const struct jpeg_amounts own = gf_jpeg_picture_amounts(&member->about, &member->stream);
        struct jpeg_amounts with = sum;
        gf_jpeg_amounts_add(&with, &own);
        if (gf_jpeg_lay_out(NULL, &own).bytes > decoder->memory_most)
            continue;
        if (gf_jpeg_lay_out(NULL, &with).bytes > decoder->memory_most) {
            status = run_group(decoder, members, &sum, error);
            members[0] = *member;
            member = &members[0];
            with = own;
        }
        member->picture = &pictures[i];
        sum = with;
    }
    if (sum.pictures && !status)
        status = run_group(decoder, members, &sum, error);
    return status;
}

extern "C" enum gf_status gf_jpeg_decoder_run(struct gf_jpeg_decoder *decoder,
                                              struct gf_jpeg_decode_picture *pictures, int count,
                                              struct gf_error *error)
{
    struct member *const members =
        (struct member *)malloc((size_t)(count ? count : 1) * sizeof *members);
    if (!members)
        return gf_fail_memory(error);
    coder_begin_times(decoder);
    const enum gf_status status = run_groups(decoder, members, pictures, count, error);
    if (status) /* after the return the caller may free the files that the device still reads */
        (void)cudaStreamSynchronize(decoder->stream);
    free(members);
    return status;
}

extern "C" void gf_jpeg_decoder_cut(struct gf_jpeg_decoder *decoder, unsigned subsequence_bits)
{
    decoder->subsequence_bits = subsequence_bits;
}

static enum gf_status prepare_device(struct gf_jpeg_decoder *, struct gf_error *)
{
    return GF_OK;
}

static void clear(struct gf_jpeg_decoder *)
{
}

DEFINE_CODER(jpeg_decode, prepare_device, clear)
