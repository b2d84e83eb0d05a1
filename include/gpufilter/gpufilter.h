/* gpufilter: chains of image filters on NVIDIA GPUs, and the same pictures without one. */
#ifndef GPUFILTER_H
#define GPUFILTER_H

#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/profile.h"
#include "gpufilter/status.h"

#endif
