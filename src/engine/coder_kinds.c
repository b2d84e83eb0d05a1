#include "engine/coder_kinds.h"

/* Adapts the coder gf_NAMEr to gf_coder_calls. DONE is the member of its picture that says whether
 * the picture was coded. An encoder's result is SIZE bytes at DATA; a decoder writes its result to
 * the memory that the picture names. */
#define ADAPT(NAME, DONE, DATA, SIZE) \
    static enum gf_status NAME##_create(int device, uint64_t bytes, void **coder, \
                                        struct gf_error *error) \
    { \
        struct gf_##NAME##r *created = NULL; \
        const enum gf_status status = gf_##NAME##r_create(device, bytes, &created, error); \
        *coder = created; \
        return status; \
    } \
    static void NAME##_destroy(void *coder) \
    { \
        gf_##NAME##r_destroy(coder); \
    } \
    static enum gf_status NAME##_run(void *coder, int expected, \
                                     struct gf_coder_picture *const *group, int count, \
                                     struct gf_error *error) \
    { \
        struct gf_##NAME##_picture pictures[GF_CODER_GROUP_MOST]; \
        for (int i = 0; i < count; i++) \
            pictures[i] = group[i]->NAME; \
        gf_##NAME##r_expect(coder, expected); \
        const enum gf_status status = gf_##NAME##r_run(coder, pictures, count, error); \
        for (int i = 0; i < count; i++) { \
            group[i]->NAME = pictures[i]; \
            group[i]->done = !status && pictures[i].DONE; \
            group[i]->data = DATA; \
            group[i]->size = SIZE; \
        } \
        return status; \
    }

ADAPT(jpeg_decode, decoded, NULL, 0)
ADAPT(jpeg_encode, encoded, pictures[i].scan, pictures[i].size)
ADAPT(png_decode, decoded, NULL, 0)
ADAPT(png_encode, encoded, pictures[i].chunks, pictures[i].size)
ADAPT(yuv_decode, decoded, NULL, 0)
ADAPT(yuv_encode, encoded, pictures[i].frame, pictures[i].size)

static uint64_t jpeg_decode_bytes(const struct gf_coder_picture *picture)
{
    return gf_jpeg_decoder_bytes(picture->jpeg_decode.header, picture->jpeg_decode.size,
                                 picture->jpeg_decode.reduction);
}

static uint64_t jpeg_encode_bytes(const struct gf_coder_picture *picture)
{
    return gf_jpeg_encoder_bytes(picture->jpeg_encode.in.format, picture->jpeg_encode.subsampling);
}

static uint64_t png_decode_bytes(const struct gf_coder_picture *picture)
{
    return gf_png_decoder_bytes(picture->png_decode.header, picture->png_decode.size);
}

static uint64_t png_encode_bytes(const struct gf_coder_picture *picture)
{
    return gf_png_encoder_bytes(picture->png_encode.in.format);
}

enum { YUV_ALIGNMENT = 256 }; /* the frames of a group begin at its multiples */

static uint64_t yuv_decode_bytes(const struct gf_coder_picture *picture)
{
    return gf_yuv_frame_bytes(picture->yuv_decode.yuv) + YUV_ALIGNMENT;
}

static uint64_t yuv_encode_bytes(const struct gf_coder_picture *picture)
{
    return gf_yuv_frame_bytes(picture->yuv_encode.yuv) + YUV_ALIGNMENT;
}

#define CALLS(NAME) NAME##_create, NAME##_destroy, NAME##_run, NAME##_bytes

/* PNG and YCbCr may use as much pinned host memory as device memory. */
enum { PINNED_GROUP_BYTES = 1 << 30 };

const struct gf_coder_calls gf_coder_calls[GF_CODER_KINDS] = {
    [GF_CODER_JPEG_DECODE] = {false, false, UINT64_MAX, CALLS(jpeg_decode)},
    [GF_CODER_JPEG_ENCODE] = {true, true, UINT64_MAX, CALLS(jpeg_encode)},
    [GF_CODER_PNG_DECODE] = {false, false, UINT64_MAX, CALLS(png_decode)},
    [GF_CODER_PNG_ENCODE] = {true, false, PINNED_GROUP_BYTES, CALLS(png_encode)},
    [GF_CODER_YUV_DECODE] = {false, false, UINT64_MAX, CALLS(yuv_decode)},
    [GF_CODER_YUV_ENCODE] = {true, false, PINNED_GROUP_BYTES, CALLS(yuv_encode)},
};
