#include "codec/jpeg/jpeg_strips.h"

#include <stdatomic.h>

#include "codec/common/checks.h"

static atomic_int reading, writing;

void gf_jpeg_share_reading(int change)
{
    atomic_fetch_add(&reading, change);
}

void gf_jpeg_share_writing(int change)
{
    atomic_fetch_add(&writing, change);
}

int gf_jpeg_share_threads(const struct gf_options *options)
{
    const int threads = gf_codec_threads(options);
    const int read = atomic_load(&reading), written = atomic_load(&writing);
    const int pictures = read > written ? read : written;
    return pictures < 2 ? threads : threads > pictures ? threads / pictures : 1;
}
