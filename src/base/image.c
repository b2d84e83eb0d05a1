/* Allocates, frees and checks pictures in memory, and finds the samples of arrays of Python
 * packages. */
#include "base/image.h"

#include <stdint.h>
#include <string.h>

#include "base/fail.h"
#include "base/memory/buffers.h"

enum gf_status gf_format_check(struct gf_format format, const char *name, struct gf_error *error)
{
    const bool floats = format.samples == GF_SAMPLES_FLOAT;
    const bool is_known = format.samples == GF_SAMPLES_INTEGER || floats;
    if (format.channels < 1 || format.channels > 4 || !is_known ||
        (format.bits != 16 && format.bits != (floats ? 32 : 8)))
        return gf_fail(error, GF_ERROR_USAGE, "%s: not a picture of 1 to 4 channels of %s bits",
                       name, floats ? "floats of 16 or 32" : "8 or 16");
    if (format.width < 1 || format.height < 1 || format.width > GF_SIDE_MAX ||
        format.height > GF_SIDE_MAX)
        return gf_fail(error, GF_ERROR_USAGE, "%s: %dx%d: a side is outside 1..%d", name,
                       format.width, format.height, GF_SIDE_MAX);
    return GF_OK;
}

enum gf_status gf_image_check(const struct gf_image *image, const char *name,
                              struct gf_error *error)
{
    GF_TRY(gf_format_check(image->format, name, error));
    if (!image->data || image->pitch < gf_row_bytes(image->format))
        return gf_fail(error, GF_ERROR_USAGE, "%s: no pixels, or rows that overlap", name);
    const unsigned bytes = (unsigned)image->format.bits / 8;
    if (((uintptr_t)image->data | image->pitch) % bytes)
        return gf_fail(error, GF_ERROR_USAGE, "%s: samples of %d bits at %s addresses", name,
                       image->format.bits, bytes == 2 ? "odd" : "uneven");
    return GF_OK;
}

enum gf_status gf_image_alloc(struct gf_image *image, struct gf_format format,
                              struct gf_error *error)
{
    GF_NOT_NULL(image, error);
    *image = (struct gf_image){.format = format};
    GF_TRY(gf_format_check(format, "picture", error));
    image->pitch = gf_row_bytes(format);
    image->owned = true;
    image->data = gf_pages_alloc(image->pitch * (size_t)format.height);
    if (!image->data)
        return gf_fail(error, GF_ERROR_MEMORY, "out of memory for a picture of %dx%d", format.width,
                       format.height);
    return GF_OK;
}

void gf_image_free(struct gf_image *image)
{
    if (!image)
        return;
    if (image->owned)
        gf_pages_free(image->data, image->pitch * (size_t)image->format.height);
    image->data = NULL;
}

/* DLPack's DLTensor, which describes where the samples of an array lie. Strides count samples. */
struct tensor {
    unsigned char *data;
    struct tensor_kind {
        int32_t device_type, device, axes;
        uint8_t code, bits;
        uint16_t lanes;
    } kind;
    const int64_t *shape, *strides;
    uint64_t offset; /* bytes from data to the first sample */
};

/* DLPack's DLPackExchangeAPI, a table of functions. `managed` are those that hand arrays over,
 * which are not used here. */
struct exchange {
    uint32_t major, minor;
    const struct exchange *older;
    void (*managed[3])(void);
    int (*describe)(void *array, struct tensor *tensor);
};

static bool describe(const struct exchange *exchange, void *array, struct tensor *tensor)
{
    return !exchange->describe(array, tensor) &&
           (!tensor->kind.axes || (tensor->shape && tensor->strides));
}

/* Whether two arrays have the same type, device, shape and strides. The stride of an axis with one
 * sample does not matter. */
static bool are_alike(const struct tensor *tensor, const struct tensor *first)
{
    if (memcmp(&tensor->kind, &first->kind, sizeof first->kind) != 0)
        return false;
    for (int axis = 0; axis < first->kind.axes; axis++) {
        const int64_t length = first->shape[axis];
        if (tensor->shape[axis] != length ||
            (length != 1 && tensor->strides[axis] != first->strides[axis]))
            return false;
    }
    return true;
}

enum gf_status gf_images_place(const void *exchange, void *const *arrays, int count,
                               struct gf_image *images, struct gf_error *error)
{
    GF_NOT_NULL(exchange, error);
    GF_NOT_NULL(arrays, error);
    GF_NOT_NULL(images, error);
    if (count < 0)
        return gf_fail(error, GF_ERROR_USAGE, "count=%d is negative", count);
    const struct exchange *calls = exchange;
    while (calls && calls->major > 1)
        calls = calls->older;
    if (!calls || calls->major != 1 || !calls->describe)
        return gf_fail(error, GF_ERROR_UNAVAILABLE, "exchange: not of DLPack 1");
    struct tensor first = {0};
    for (int i = 0; i < count; i++) {
        struct tensor tensor = {0};
        if (!describe(calls, arrays[i], &tensor))
            return gf_fail(error, GF_ERROR_UNFIT, "[%d]: its package does not describe it", i);
        if (!i)
            first = tensor;
        if (!are_alike(&tensor, &first))
            return gf_fail(error, GF_ERROR_UNFIT, "[%d]: not like [0]", i);
        images[i].data = tensor.data + tensor.offset;
    }
    return GF_OK;
}
