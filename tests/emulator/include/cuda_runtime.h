/* CUDA C++ for the emulated device: see tests/emulator/README.md. */
#pragma once

#include "cuda_runtime_api.h"

#ifdef __cplusplus
#include "emulated_arithmetic.h"
#include "emulated_launch.h"
#include "emulated_textures.h"
#include "emulated_vectors.h"
#include "emulated_warps.h"
#endif
