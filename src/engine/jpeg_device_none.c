/* A build without CUDA has no nvJPEG either. */
#ifndef GF_WITH_CUDA
#include "engine/jpeg_device_none.h"
#endif
