/* The part of CUDA's driver API that this project uses: tensor maps, which describe pictures to the copy engine, and
 * where an allocation lies. */
#pragma once

#include <stdint.h>

#include "cuda_runtime_api.h"

typedef uint64_t cuuint64_t;
typedef uint32_t cuuint32_t;
typedef unsigned long long CUdeviceptr;
typedef enum { CUDA_SUCCESS, CUDA_ERROR_INVALID_VALUE } CUresult;

/* The members are the emulator's own. */
typedef struct {
    alignas(64) unsigned char *data;
    uint64_t pitch, bytes, rows;
    uint32_t box_bytes, box_rows;
} CUtensorMap;

enum {
    CU_TENSOR_MAP_DATA_TYPE_UINT8,
    CU_TENSOR_MAP_INTERLEAVE_NONE,
    CU_TENSOR_MAP_SWIZZLE_NONE,
    CU_TENSOR_MAP_L2_PROMOTION_L2_256B,
    CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE,
};

typedef enum { cudaDriverEntryPointSuccess } cudaDriverEntryPointQueryResult;

extern "C" {
CUresult cuTensorMapEncodeTiled(CUtensorMap *map, int type, uint32_t rank, void *data, const uint64_t *size,
                                const uint64_t *pitch, const uint32_t *box, const uint32_t *stride, int interleave,
                                int swizzle, int promotion, int fill);
CUresult cuMemGetAddressRange(CUdeviceptr *begin, size_t *bytes, CUdeviceptr memory);
cudaError_t cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version, unsigned flags,
                                             cudaDriverEntryPointQueryResult *found);
}
