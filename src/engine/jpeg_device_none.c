/* A build without CUDA has no codec on it. */
#ifndef GF_WITH_CUDA
#include "engine/jpeg_device_none.h"
#endif
