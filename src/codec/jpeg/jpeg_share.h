/* Chooses how many threads decode or encode one JPEG. Strips take more processor time than a single
 * thread, so that all pictures of the process that are open share the processors. */
#ifndef GF_CODEC_JPEG_JPEG_SHARE_H
#define GF_CODEC_JPEG_JPEG_SHARE_H

#include "gpufilter/pipeline.h"

/* Change the number of JPEGs of the process that are being read, or written: 1 at open, -1 at
 * close. */
void gf_jpeg_share_reading(int change);
void gf_jpeg_share_writing(int change);
/* The number of threads for one JPEG: at least 1, and 1 where options->threads is 1. */
int gf_jpeg_share_threads(const struct gf_options *options);

#endif
