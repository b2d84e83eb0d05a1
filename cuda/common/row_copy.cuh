/* Copies a part of each row: what crop and the vertical flip are. They move bytes, whatever these
 * mean, and a flip's rows come in reverse order: struct view_pair would say less. */
#ifndef GF_CUDA_COMMON_ROW_COPY_CUH
#define GF_CUDA_COMMON_ROW_COPY_CUH

#include <stddef.h>

/* Row i of the result is row_bytes bytes of source row i from `skipped` on. Source rows have
 * in_bytes bytes. */
struct gf_row_copy {
    const unsigned char *in; /* source row of result row 0; a multiple of 16, as are the steps */
    ptrdiff_t in_step;       /* negative: rows come in reverse order */
    unsigned char *out;
    size_t out_pitch;
    size_t in_bytes, skipped, row_bytes;
    int rows;
};

/* cudaError_t */
extern "C" int gf_rows_copy_cuda(const struct gf_row_copy *copy, void *stream);

#endif
