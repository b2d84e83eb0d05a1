/* Chooses the colours to which the decoder converts a picture that is stored as XYB, as lossy
 * pictures are: the colours of the picture's profile if libjxl can convert to them, so that none is
 * clipped. */
#include <stdlib.h>
#include <string.h>

#include "codec/jxl/jxl_header.h"

/* ---- the primaries of an ICC profile ---- */

static uint32_t number_at(const unsigned char *data)
{
    return (uint32_t)data[0] << 24 | (uint32_t)data[1] << 16 | (uint32_t)data[2] << 8 | data[3];
}

static double fixed_at(const unsigned char *data)
{
    return (double)(int32_t)number_at(data) / 65536;
}

/* Reads a tag of three numbers. Returns false if the profile lacks it. (ICC.1:2010, 7.3 and
 * 10.31) */
static bool read_xyz(const struct gf_blob *icc, const char *tag, double xyz[3])
{
    enum { TABLE = 128, ENTRY = 12, XYZ_BYTES = 20 };
    if (icc->size < TABLE + 4)
        return false;
    const size_t count = number_at(icc->data + TABLE);
    for (size_t i = 0; i < count && TABLE + 4 + ENTRY * (i + 1) <= icc->size; i++) {
        const unsigned char *const entry = icc->data + TABLE + 4 + ENTRY * i;
        const size_t at = number_at(entry + 4), size = number_at(entry + 8);
        if (memcmp(entry, tag, 4))
            continue;
        if (size < XYZ_BYTES || at > icc->size || size > icc->size - at ||
            memcmp(icc->data + at, "XYZ ", 4))
            return false;
        for (size_t k = 0; k < 3; k++)
            xyz[k] = fixed_at(icc->data + at + 8 + 4 * k);
        return true;
    }
    return false;
}

/* Computes the chromaticity of a colour, adapted by Bradford's matrix from D50, the white point of
 * profiles, to D65. */
static bool chromaticity(const double v[3], double xy[2])
{
    static const double to_d65[3][3] = {{0.9555766, -0.0230393, 0.0631636},
                                        {-0.0282895, 1.0099416, 0.0210077},
                                        {0.0122982, -0.0204830, 1.3299098}};
    double result[3], sum = 0;
    for (int i = 0; i < 3; i++) {
        result[i] = to_d65[i][0] * v[0] + to_d65[i][1] * v[1] + to_d65[i][2] * v[2];
        sum += result[i];
    }
    xy[0] = sum > 0 ? result[0] / sum : 0;
    xy[1] = sum > 0 ? result[1] / sum : 0;
    return sum > 0;
}

static bool read_primaries(const struct gf_blob *icc, JxlColorEncoding *colour)
{
    double r[3], g[3], b[3];
    return read_xyz(icc, "rXYZ", r) && read_xyz(icc, "gXYZ", g) && read_xyz(icc, "bXYZ", b) &&
           chromaticity(r, colour->primaries_red_xy) &&
           chromaticity(g, colour->primaries_green_xy) &&
           chromaticity(b, colour->primaries_blue_xy);
}

bool gf_jxl_read_icc(JxlDecoder *decoder, JxlColorProfileTarget target, struct gf_blob *icc,
                     bool *out_of_memory)
{
    size_t size = 0;
    *icc = (struct gf_blob){0};
    if (gf_jxl.JxlDecoderGetICCProfileSize(decoder, GF_JXL_UNUSED target, &size) !=
            JXL_DEC_SUCCESS ||
        !size || size > GF_METADATA_MAX)
        return false;
    *icc = (struct gf_blob){malloc(size), size};
    *out_of_memory |= !icc->data;
    if (icc->data && gf_jxl.JxlDecoderGetColorAsICCProfile(decoder, GF_JXL_UNUSED target, icc->data,
                                                           size) == JXL_DEC_SUCCESS)
        return true;
    free(icc->data);
    *icc = (struct gf_blob){0};
    return false;
}

/* Whether the transfer function follows the eye's sensitivity, so that 8 or 16 bits make small
 * steps. */
static bool is_for_the_eye(JxlTransferFunction curve)
{
    return gf_transfer_is_hdr((int)curve) || curve == JXL_TRANSFER_FUNCTION_709 ||
           curve == JXL_TRANSFER_FUNCTION_SRGB || curve == JXL_TRANSFER_FUNCTION_GAMMA ||
           curve == JXL_TRANSFER_FUNCTION_DCI;
}

void gf_jxl_prefer_own_colours(JxlDecoder *decoder, const JxlBasicInfo *info)
{
    JxlColorEncoding srgb, own;
    struct gf_blob icc;
    bool no_memory = false;
    if (info->uses_original_profile)
        return;
    const bool gray = info->num_color_channels == 1;
    gf_jxl.JxlColorEncodingSetToSRGB(&srgb, gray);
    (void)gf_jxl.JxlDecoderSetPreferredColorProfile(decoder, &srgb);
    bool known =
        gf_jxl.JxlDecoderGetColorAsEncodedProfile(
            decoder, GF_JXL_UNUSED JXL_COLOR_PROFILE_TARGET_ORIGINAL, &own) == JXL_DEC_SUCCESS &&
        (gray ? gf_transfer_is_hdr((int)own.transfer_function)
              : own.color_space == JXL_COLOR_SPACE_RGB);
    if (known && !is_for_the_eye(own.transfer_function))
        own.transfer_function = JXL_TRANSFER_FUNCTION_SRGB;
    if (!known && !gray &&
        gf_jxl_read_icc(decoder, JXL_COLOR_PROFILE_TARGET_ORIGINAL, &icc, &no_memory)) {
        own = srgb;
        own.primaries = JXL_PRIMARIES_CUSTOM;
        known = read_primaries(&icc, &own);
        free(icc.data);
    }
    /* If the decoder rejects the profile, sRGB remains the choice. */
    if (known)
        (void)gf_jxl.JxlDecoderSetPreferredColorProfile(decoder, &own);
}
