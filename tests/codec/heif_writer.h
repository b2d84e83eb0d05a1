/* The encoder of HEVC that libheif may have, for tests that write HEIC. Each test is one file. */
#pragma once

#include <dlfcn.h>
#include <libheif/heif.h>

#include "base/process/library.h"

#define CALLS(CALL) \
    CALL(heif_init) \
    CALL(heif_context_alloc) \
    CALL(heif_context_free) \
    CALL(heif_image_create) \
    CALL(heif_image_add_plane) \
    CALL(heif_image_get_plane) \
    CALL(heif_image_release) \
    CALL(heif_context_get_encoder_for_format) \
    CALL(heif_encoder_release) \
    CALL(heif_encoder_set_lossy_quality) \
    CALL(heif_context_encode_image) \
    CALL(heif_encoding_options_alloc) \
    CALL(heif_encoding_options_free) \
    CALL(heif_context_add_exif_metadata) \
    CALL(heif_context_add_XMP_metadata) \
    CALL(heif_context_write_to_file) \
    CALL(heif_context_set_primary_image) \
    CALL(heif_image_set_raw_color_profile) \
    CALL(heif_image_handle_release) \
    CALL(heif_encoder_set_parameter_string)
static struct {
    CALLS(GF_LIBRARY_CALL)
} heif;

/* The encoder keeps memory of its own, which is not what is tested here. */
__attribute__((visibility("default"))) const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void)
{
    return "leak:libx265";
}

static struct heif_encoder *encoder_of(struct heif_context *context)
{
    struct heif_encoder *encoder = NULL;
    if (heif.heif_context_get_encoder_for_format(context, heif_compression_HEVC, &encoder).code)
        return NULL;
    return encoder;
}

static bool can_encode(void)
{
    struct gf_library library = GF_LIBRARY(heif, CALLS, GF_LIBRARY_TEXT(GF_LIBRARY_heif));
    bool able = !gf_library_load(&library, "HEIC", GF_ERROR_UNAVAILABLE, NULL);
    if (able) {
        (void)heif.heif_init(NULL);
        struct heif_context *const context = heif.heif_context_alloc();
        struct heif_encoder *const encoder = encoder_of(context);
        able = encoder;
        if (encoder)
            heif.heif_encoder_release(encoder);
        heif.heif_context_free(context);
    }
    return able;
}
