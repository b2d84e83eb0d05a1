/* Frames of HEVC that libheif encodes here, of which tests make HEICs of many kinds. */
#pragma once

#include "temp_folder.h"

#include "codec/common/metadata/heif_coded.h"
#include "codec/heic_files.h"
#include "codec/heif_writer.h"

/* Encodes noise on a gradient, and finds its frame and parameters. */
static inline void heic_encode_frame(int side, int bits, bool full_chroma, uint64_t seed,
                                     struct heic_bytes *frame, struct heic_bytes *parameters)
{
    struct heif_context *const context = heif.heif_context_alloc();
    struct heif_encoder *const encoder = encoder_of(context);
    struct heif_image_handle *handle = NULL;
    struct heif_image *image;
    struct gf_heif_coded coded;
    int stride;
    assert_int_equal(heif.heif_encoder_set_lossy_quality(encoder, 70).code, heif_error_Ok);
    assert_int_equal(
        heif.heif_encoder_set_parameter_string(encoder, "chroma", full_chroma ? "444" : "420").code,
        heif_error_Ok);
    assert_int_equal(heif.heif_image_create(side, side, heif_colorspace_RGB,
                                            bits > 8 ? heif_chroma_interleaved_RRGGBB_LE
                                                     : heif_chroma_interleaved_RGB,
                                            &image)
                         .code,
                     heif_error_Ok);
    assert_int_equal(
        heif.heif_image_add_plane(image, heif_channel_interleaved, side, side, bits).code,
        heif_error_Ok);
    unsigned char *const plane =
        heif.heif_image_get_plane(image, heif_channel_interleaved, &stride);
    for (int y = 0; y < side; y++)
        for (int x = 0; x < 3 * side; x++) {
            const int most = (1 << bits) - 1;
            seed = seed * 6364136223846793005u + 1442695040888963407u;
            const int noise = (int)((seed >> 33) % (uint64_t)(1 + most / 8)),
                      value = (x + y) * most / (4 * side) + noise;
            unsigned char *const at = plane + y * stride + x * (bits > 8 ? 2 : 1);
            at[0] = (unsigned char)value;
            if (bits > 8)
                at[1] = (unsigned char)(value >> 8);
        }
    assert_int_equal(heif.heif_context_encode_image(context, image, encoder, NULL, &handle).code,
                     heif_error_Ok);
    assert_int_equal(heif.heif_context_write_to_file(context, in_folder("a.heic")).code,
                     heif_error_Ok);
    heif.heif_encoder_release(encoder);
    heif.heif_image_handle_release(handle);
    heif.heif_image_release(image);
    heif.heif_context_free(context);
    const struct bytes file = load(in_folder("a.heic"));
    const struct gf_blob blob = {file.data, file.size};
    assert_true(gf_heif_coded_read(&blob, 1, &coded));
    *frame = (struct heic_bytes){malloc(coded.tile[0].size), coded.tile[0].size};
    *parameters = (struct heic_bytes){malloc(coded.parameters.size), coded.parameters.size};
    memcpy(frame->data, file.data + coded.tile[0].offset, frame->size);
    memcpy(parameters->data, file.data + coded.parameters.offset, parameters->size);
    free(file.data);
}

enum { TILES = 6, SIDE = 160 };

/* The frames of a kind, of which all files are made. */
struct heic_frames {
    struct heic_bytes frame[TILES], parameters;
};

static inline void heic_encode_frames(int bits, bool full_chroma, struct heic_frames *frames)
{
    for (int i = 0; i < TILES; i++) {
        free(frames->parameters.data);
        heic_encode_frame(SIDE, bits, full_chroma, (uint64_t)(i + bits), &frames->frame[i],
                          &frames->parameters);
    }
}

static inline void heic_free_frames(struct heic_frames *frames)
{
    for (int i = 0; i < TILES; i++)
        free(frames->frame[i].data);
    free(frames->parameters.data);
}

/* Returns a kind of file: frames and grids, every turn, crops, every matrix, both ranges. */
static inline struct heic_kind heic_kind_of(int number, struct heic_frames *frames)
{
    static const int matrices[] = {1, 2, 5, 6, 9, 0};
    struct heic_kind kind = {.columns = number % 4 ? 3 : 0,
                             .rows = 2,
                             .tile_width = SIDE,
                             .tile_height = SIDE,
                             .width = 3 * SIDE - number,
                             .height = 2 * SIDE - 3 * number,
                             .rotation = number / 2 % 4,
                             .mirror = number / 8 % 3,
                             .matrix = matrices[number % 6],
                             .full = number / 6 % 2,
                             .parameters = frames->parameters,
                             .frames = frames->frame};
    const int width = kind.columns ? kind.width : SIDE, height = kind.columns ? kind.height : SIDE;
    if (number % 5 == 1) {
        const uint32_t crop[] = {
            (uint32_t)(width - 101), 1, (uint32_t)(height - 57), 1, (uint32_t)-9, 2, 5, 2};
        kind.crops = true;
        memcpy(kind.crop, crop, sizeof crop);
    }
    return kind;
}
