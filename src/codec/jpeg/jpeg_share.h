/* How many threads the decoding or the encoding of one JPEG takes: strips cost more processor time
 * than one thread, so that pictures that are open at the same time share the processors. */
#ifndef GF_CODEC_JPEG_JPEG_SHARE_H
#define GF_CODEC_JPEG_JPEG_SHARE_H

#include "gpufilter/pipeline.h"

/* Count the JPEGs of the process that are being read and written, each from open to close. */
void gf_jpeg_share_reading(int change);
void gf_jpeg_share_writing(int change);
/* At least 1, and 1 where options->threads says so. */
int gf_jpeg_share_threads(const struct gf_options *options);

#endif
