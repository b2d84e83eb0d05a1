/* The quick deflate coder: zlib unpacks what it wrote, in one piece or in two, and so does the
 * reader of stripes. */
#include "fuzz.h"

#include <zlib.h>

#include "codec/png/deflate/deflate.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    if (size < 2) /* it is never given nothing */
        return 0;
    const size_t place = fuzz_byte(&bytes) * (size - 1) / 256, rest = bytes.size - place;
    uint8_t *const packed = malloc(gf_deflate_fast_bound(place) + gf_deflate_fast_bound(rest) +
                                   GF_INFLATE_STRIPE_MARGIN);
    uint8_t *const back = malloc(bytes.size + GF_INFLATE_STRIPE_MARGIN);
    void *const scratch = malloc(gf_deflate_fast_scratch(bytes.size));
    size_t length = place ? gf_deflate_fast(bytes.data, place, false, scratch, packed) : 0;
    FUZZ_CHECK(length <= gf_deflate_fast_bound(place), "%zu bytes become %zu", place, length);
    const size_t more = gf_deflate_fast(bytes.data + place, rest, true, scratch, packed + length);
    FUZZ_CHECK(more <= gf_deflate_fast_bound(rest), "%zu bytes become %zu", rest, more);
    FUZZ_CHECK(gf_inflate_stripe(packed + length, more, true, back, rest) &&
                   !memcmp(back, bytes.data + place, rest),
               "%zu bytes are not read back", rest);
    length += more;
    z_stream stream = {.next_in = packed,
                       .avail_in = (uInt)length,
                       .next_out = back,
                       .avail_out = (uInt)bytes.size + 1};
    FUZZ_CHECK(inflateInit2(&stream, -15) == Z_OK, "zlib");
    const int result = inflate(&stream, Z_FINISH);
    FUZZ_CHECK(result == Z_STREAM_END && !stream.avail_in && stream.avail_out == 1 &&
                   !memcmp(back, bytes.data, bytes.size),
               "%d: %s, %u left", result, stream.msg ? stream.msg : "", stream.avail_in);
    inflateEnd(&stream);
    free(scratch);
    free(packed);
    free(back);
    return 0;
}
