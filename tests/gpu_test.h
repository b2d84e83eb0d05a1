/* What the tests of kernels share. Where the build has no CUDA, a test program is a main() that
 * skips. */
#pragma once

#include "support.h"

#ifdef GF_WITH_CUDA
#include <cuda_runtime_api.h>

static inline void need_gpu(void)
{
    const char *why = NULL;
    if (!gf_device_count(&why)) {
        print_message("no GPU: %s\n", why);
        skip();
    }
}

/* Rows in device memory, to be freed by cudaFree(). */
static inline struct gf_view rows_on_device(struct gf_format format)
{
    enum { PITCH = 16 };
    void *data;
    const size_t pitch = (gf_row_bytes(format) + PITCH - 1) / PITCH * PITCH;
    assert_int_equal(cudaMalloc(&data, pitch * (size_t)format.height), cudaSuccess);
    return gf_view_make(data, pitch, format, (struct gf_rows){0, format.height});
}

/* Nothing is written between the rows, where nothing may be read. cudaMemcpy2D() may return before
 * the last bytes have arrived, for which streams that do not wait for it would be too early. */
static inline struct gf_view upload(const struct gf_image *image)
{
    const struct gf_view there = rows_on_device(image->format);
    assert_int_equal(cudaMemcpy2D(there.data, there.pitch, image->data, image->pitch,
                                  gf_row_bytes(image->format), (size_t)image->format.height,
                                  cudaMemcpyHostToDevice),
                     cudaSuccess);
    assert_int_equal(cudaDeviceSynchronize(), cudaSuccess);
    return there;
}

#else
static void test_without_cuda(void **state)
{
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_without_cuda)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
#endif
