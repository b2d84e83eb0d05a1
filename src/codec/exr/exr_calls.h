/* OpenEXR's core library (3.1 or newer): the functions that the program calls, and what they say.
 */
#pragma once

#include <errno.h>
#include <openexr.h>

#include "base/process/library.h"
#include "codec/common/metadata/texts.h"
#include "gpufilter/image.h"

/* clang-format off */
#define GF_EXR_CALLS(CALL) \
    CALL(exr_get_library_version) CALL(exr_get_default_error_message) CALL(exr_start_read) CALL(exr_finish) \
    CALL(exr_get_count) CALL(exr_get_name) CALL(exr_get_storage) CALL(exr_get_channels) CALL(exr_get_compression) \
    CALL(exr_get_data_window) CALL(exr_get_display_window) CALL(exr_get_pixel_aspect_ratio) CALL(exr_get_chunk_count) \
    CALL(exr_get_chunk_unpacked_size) CALL(exr_get_scanlines_per_chunk) CALL(exr_get_tile_sizes) \
    CALL(exr_attr_get_chromaticities) CALL(exr_get_attribute_count) CALL(exr_get_attribute_by_index) \
    CALL(exr_attr_set_string) CALL(exr_read_scanline_chunk_info) CALL(exr_read_tile_chunk_info) \
    CALL(exr_decoding_initialize) CALL(exr_decoding_update) CALL(exr_decoding_choose_default_routines) \
    CALL(exr_decoding_run) CALL(exr_decoding_destroy) CALL(exr_start_write) CALL(exr_add_part) \
    CALL(exr_initialize_required_attr_simple) CALL(exr_set_pixel_aspect_ratio) \
    CALL(exr_add_channel) CALL(exr_attr_set_chromaticities) CALL(exr_write_header) CALL(exr_write_scanline_chunk_info) \
    CALL(exr_write_scanline_chunk) CALL(exr_encoding_initialize) CALL(exr_encoding_update) \
    CALL(exr_encoding_choose_default_routines) CALL(exr_encoding_run) CALL(exr_encoding_destroy)
/* clang-format on */

struct gf_exr_calls {
    GF_EXR_CALLS(GF_LIBRARY_CALL)
};
extern struct gf_exr_calls gf_exr;

/* What went wrong in this thread since gf_exr_begin(): a failure of the input or the output, and
 * the library's first message. */
struct gf_exr_said {
    struct gf_error io;
    char why[160];
};
extern _Thread_local struct gf_exr_said gf_exr_said;

static inline void gf_exr_begin(void)
{
    gf_exr_said = (struct gf_exr_said){.why = ""};
    errno = 0;
}

/* Notes the library's first message; it is the library's function for messages. */
void gf_exr_note(exr_const_context_t context, exr_result_t code, const char *text);
/* Returns what the library has said, or else what the code means. */
const char *gf_exr_why(exr_result_t code);

/* The names of the channels of a picture in a file without layers, as its samples stand. */
static inline const char *gf_exr_channel(struct gf_format format, int index)
{
    static const char *const names[] = {"R", "G", "B"};
    const int colours = gf_colour_channels(format);
    return index == colours ? "A" : colours == 1 ? "Y" : names[index];
}

/* Keeps a part's attributes that are strings as texts. Returns false when out of memory; *left_out
 * is set if there are too many of them, or too long ones. */
bool gf_exr_read_texts(exr_const_context_t context, int part, struct gf_texts *texts,
                       bool *left_out);
/* Writes texts as attributes, but for those whose keyword is no name for one. */
exr_result_t gf_exr_write_texts(exr_context_t context, const struct gf_texts *texts);

enum gf_exr_alpha { GF_EXR_DIVIDE, GF_EXR_MULTIPLY, GF_EXR_MULTIPLY_SOME };
/* Divides the colours of a row by alpha, or multiplies them, but, unless it is GF_EXR_MULTIPLY, for
 * pixels whose alpha is 0. */
void gf_exr_alpha(struct gf_format format, unsigned char *row, int width, enum gf_exr_alpha how);
