/* gf_coder_calls for each kind of coder: decoders and encoders of other names and arguments behind
 * one interface. */
#include "engine/device_coders.h"

/* Makes the functions of gf_coder_calls for the coder struct gf_NAMEr, except run(). */
#define ADAPT_ALL_BUT_RUN(NAME) \
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
    static void NAME##_expect(void *coder, int pictures) \
    { \
        gf_##NAME##r_expect(coder, pictures); \
    }

/* Makes all of them. DONE is the member of its picture that says whether the picture was coded. An
 * encoder's result is SIZE bytes at DATA; a decoder writes its result to the memory that the
 * picture names. */
#define ADAPT(NAME, DONE, DATA, SIZE) \
    ADAPT_ALL_BUT_RUN(NAME) \
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
ADAPT_ALL_BUT_RUN(heic_decode)
ADAPT(yuv_decode, decoded, NULL, 0)
ADAPT(yuv_encode, encoded, pictures[i].frame, pictures[i].size)

static void heic_ended(struct gf_heic_decode_picture *heic)
{
    struct gf_coder_picture *const picture = heic->context;
    struct gf_coding *const coding = picture->coding;
    picture->done = heic->decoded;
    coding->ended(coding);
}

/* The group is one picture. */
static enum gf_status heic_decode_run(void *coder, int expected,
                                      struct gf_coder_picture *const *group, int count,
                                      struct gf_error *error)
{
    (void)expected;
    group[0]->heic_decode.ended = heic_ended;
    group[0]->heic_decode.context = group[0];
    return gf_heic_decoder_run(coder, &group[0]->heic_decode, count, error);
}

static uint64_t jpeg_decode_bytes(const struct gf_coder_picture *picture)
{
    return picture->jpeg_decode.tiles
               ? gf_jpeg_tiles_bytes(&picture->jpeg_decode)
               : gf_jpeg_decoder_bytes(picture->jpeg_decode.header, picture->jpeg_decode.size,
                                       picture->jpeg_decode.reduction);
}

static uint64_t jpeg_encode_bytes(const struct gf_coder_picture *picture)
{
    const struct gf_jpeg_encode_picture *const jpeg = &picture->jpeg_encode;
    return gf_jpeg_encoder_bytes(jpeg->in.format, jpeg->subsampling, jpeg->perceptual);
}

static uint64_t png_decode_bytes(const struct gf_coder_picture *picture)
{
    return gf_png_decoder_bytes(picture->png_decode.header, picture->png_decode.size);
}

static uint64_t png_encode_bytes(const struct gf_coder_picture *picture)
{
    return gf_png_encoder_bytes(picture->png_encode.in.format);
}

static uint64_t heic_decode_bytes(const struct gf_coder_picture *picture)
{
    return gf_heic_decoder_bytes(picture->heic_decode.coded);
}

enum { YUV_ALIGNMENT = 256 }; /* frames of a group begin at multiples of so many bytes */

static uint64_t yuv_decode_bytes(const struct gf_coder_picture *picture)
{
    return gf_yuv_frame_bytes(picture->yuv_decode.yuv) + YUV_ALIGNMENT;
}

static uint64_t yuv_encode_bytes(const struct gf_coder_picture *picture)
{
    return gf_yuv_frame_bytes(picture->yuv_encode.yuv) + YUV_ALIGNMENT;
}

#define CALLS(NAME) NAME##_create, NAME##_destroy, NAME##_expect, NAME##_run, NAME##_bytes

/* The limit of a group for PNG and YCbCr, which take as much pinned host memory as device
 * memory. */
enum { PINNED_GROUP_BYTES = 1 << 30 };

/* The most pictures of a group. Where a group of few pictures takes as long as one of many (SLOW),
 * it should have all pictures that wait. */
enum { USUAL = 32, SLOW = GF_CODER_GROUP_MOST };

const struct gf_coder_calls gf_coder_calls[GF_CODER_KINDS] = {
    [GF_CODER_JPEG_DECODE] = {false, false, false, USUAL, UINT64_MAX, CALLS(jpeg_decode)},
    [GF_CODER_JPEG_SCANS_DECODE] = {false, true, false, SLOW, UINT64_MAX, CALLS(jpeg_decode)},
    [GF_CODER_JPEG_TILES_DECODE] = {false, false, false, USUAL, UINT64_MAX, CALLS(jpeg_decode)},
    [GF_CODER_JPEG_ENCODE] = {true, false, true, USUAL, UINT64_MAX, CALLS(jpeg_encode)},
    [GF_CODER_PNG_DECODE] = {false, false, false, USUAL, UINT64_MAX, CALLS(png_decode)},
    [GF_CODER_PNG_STREAM_DECODE] = {false, true, false, SLOW, UINT64_MAX, CALLS(png_decode)},
    [GF_CODER_PNG_ENCODE] = {true, false, false, USUAL, PINNED_GROUP_BYTES, CALLS(png_encode)},
    [GF_CODER_HEIC_DECODE] = {false, false, false, 1, UINT64_MAX, CALLS(heic_decode),
                              .lasts = true},
    [GF_CODER_YUV_DECODE] = {false, false, false, USUAL, UINT64_MAX, CALLS(yuv_decode)},
    [GF_CODER_YUV_ENCODE] = {true, false, false, USUAL, PINNED_GROUP_BYTES, CALLS(yuv_encode)},
};
