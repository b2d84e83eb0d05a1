/* gpufilter: chains of image filters on NVIDIA GPUs, and the same pictures without one.
 *
 * These rules hold for every function, unless its own comment says otherwise:
 * - Errors: a function that can fail returns enum gf_status, and on failure describes it in *error,
 *   which may be NULL. Results are set on success only. Nothing prints or exits.
 * - Arguments: NULL for any other pointer is GF_ERROR_USAGE. Functions that free or close take NULL
 *   and do nothing. Functions that look something up return NULL for NULL.
 * - Threads: every function may be called from any thread at any time, but a pipeline serves one
 *   call at a time. Pipelines do not disturb each other.
 * - Lifetimes: no argument is kept after the call, except options.warn, a pipeline's watch, and
 *   their contexts. Strings that a function returns are constants: they are never freed.
 * - Versions: struct gf_options, struct gf_reader and struct gf_writer say their sizes and grow at
 *   their ends; so does struct gf_profile, which the library allocates. All other structs stay as
 * they are while the library is called libgpufilter.so.1, and enums get new values at their ends.
 * tests/abi.txt lists all of it.
 * - Text is UTF-8 and ends with NUL; names of files are bytes, as the system has them. */
#ifndef GPUFILTER_H
#define GPUFILTER_H

#include "gpufilter/chain.h"
#include "gpufilter/device.h"
#include "gpufilter/filter.h"
#include "gpufilter/image.h"
#include "gpufilter/options.h"
#include "gpufilter/pipeline.h"
#include "gpufilter/pipeline_batch.h"
#include "gpufilter/pipeline_stream.h"
#include "gpufilter/profile.h"
#include "gpufilter/status.h"
#include "gpufilter/version.h"

#endif
