/* Finds the samples of arrays of Python packages by DLPack's exchange API. */
#include <stdint.h>
#include <string.h>

#include "base/argument.h"
#include "base/fail.h"
#include "gpufilter/image.h"

/* DLPack's DLTensor. Strides count samples. */
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

/* DLPack's DLPackExchangeAPI: `managed` are functions that lend and give arrays. */
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

/* The stride of an axis of one does not count. */
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
