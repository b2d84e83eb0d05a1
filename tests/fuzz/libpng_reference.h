/* A PNG as a plain program would read it by libpng: all samples whole, transparency as alpha. */
#pragma once

#include <setjmp.h>
#include <png.h>

#include "fuzz.h"

enum { IDAT_TYPE = 0x49444154 }; /* as a number, its first byte the highest */

enum reference_verdict {
    REFERENCE_REFUSES,
    REFERENCE_TOO_LARGE,
    REFERENCE_DOUBTS, /* it warned about the pixels, or failed behind all of them */
    REFERENCE_ACCEPTS
};

struct reference {
    const uint8_t *data;
    size_t size;
    bool doubts, has_rows, in_idat; /* in_idat: where it failed */
    char text[200];                 /* of its error or of its last warning */
    struct gf_image image;
    png_bytep row[FUZZ_PIXELS_MAX];
    jmp_buf escape;
};

static void reference_on_error(png_structp png, png_const_charp text)
{
    struct reference *const reference = png_get_error_ptr(png);
    snprintf(reference->text, sizeof reference->text, "%s", text);
    reference->in_idat = png_get_io_chunk_type(png) == IDAT_TYPE &&
                         (!(png_get_io_state(png) & PNG_IO_CHUNK_HDR) || !strncmp(text, "IDAT", 4));
    longjmp(reference->escape, 1);
}

static void reference_on_warning(png_structp png, png_const_charp text)
{
    struct reference *const reference = png_get_error_ptr(png);
    reference->doubts |= !strncmp(text, "IDAT", 4);
    snprintf(reference->text, sizeof reference->text, "%s", text);
}

/* libpng asks for the length that a chunk states, whatever follows. */
static png_voidp reference_malloc(png_structp png, png_alloc_size_t size)
{
    (void)png;
    return size <= 16 << 20 ? malloc(size) : NULL;
}

static void reference_free(png_structp png, png_voidp memory)
{
    (void)png;
    free(memory);
}

static void reference_bytes(png_structp png, png_bytep to, size_t size)
{
    struct reference *const reference = png_get_io_ptr(png);
    if (size > reference->size)
        png_error(png, "the data ends");
    memcpy(to, reference->data, size);
    reference->data += size;
    reference->size -= size;
}

static enum reference_verdict reference_pixels(struct reference *reference, png_structp png,
                                               png_infop info)
{
    const uint16_t one = 1;
    png_set_read_fn(png, reference, reference_bytes);
    png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
    png_read_info(png, info);
    const uint32_t width = png_get_image_width(png, info), height = png_get_image_height(png, info);
    if ((uint64_t)width * height > FUZZ_PIXELS_MAX)
        return REFERENCE_TOO_LARGE;
    png_set_expand(png);
    if (*(const uint8_t *)&one)
        png_set_swap(png);
    (void)png_set_interlace_handling(png);
    png_read_update_info(png, info);
    reference->image = fuzz_image((struct gf_format){.width = (int)width,
                                                     .height = (int)height,
                                                     .channels = png_get_channels(png, info),
                                                     .bits = png_get_bit_depth(png, info)});
    for (uint32_t y = 0; y < height; y++)
        reference->row[y] = reference->image.data + y * reference->image.pitch;
    png_read_image(png, reference->row);
    reference->has_rows = true;
    png_read_end(png, info);
    return reference->doubts ? REFERENCE_DOUBTS : REFERENCE_ACCEPTS;
}

/* image->data is the caller's, NULL where there are no pixels. */
static enum reference_verdict reference_read(struct reference *reference, struct gf_image *image)
{
    png_structp png =
        png_create_read_struct_2(PNG_LIBPNG_VER_STRING, reference, reference_on_error,
                                 reference_on_warning, NULL, reference_malloc, reference_free);
    png_infop info = png_create_info_struct(png);
    volatile enum reference_verdict verdict = REFERENCE_REFUSES;
    if (!setjmp(reference->escape))
        verdict = reference_pixels(reference, png, info);
    else if (reference->has_rows && !reference->in_idat)
        verdict = REFERENCE_DOUBTS;
    png_destroy_read_struct(&png, &info, NULL);
    *image = (struct gf_image){0};
    if (verdict == REFERENCE_ACCEPTS || verdict == REFERENCE_DOUBTS)
        *image = reference->image;
    else
        free(reference->image.data);
    return verdict;
}
