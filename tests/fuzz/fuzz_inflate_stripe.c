/* Unpacking a marked PNG's stripe beside zlib: what it takes zlib takes, with the same bytes. The
 * first two bytes say how large the stripe is. */
#include "fuzz.h"

#include <zlib.h>

#include "codec/png/inflate_stripe.h"
#include "zlib_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes bytes = {data, size};
    const size_t room = (size_t)fuzz_byte(&bytes) << 8 | fuzz_byte(&bytes);
    const bool last = room & 1;
    uint8_t *const packed = malloc(bytes.size + GF_INFLATE_STRIPE_MARGIN);
    uint8_t *const out = malloc(room + GF_INFLATE_STRIPE_MARGIN), *const back = malloc(room + 1);
    if (bytes.size)
        memcpy(packed, bytes.data, bytes.size);
    memset(packed + bytes.size, 0x5a, GF_INFLATE_STRIPE_MARGIN);
    if (gf_inflate_stripe(packed, bytes.size, last, out, room)) {
        z_stream stream = {.next_in = packed,
                           .avail_in = (uInt)bytes.size,
                           .next_out = back,
                           .avail_out = (uInt)room + 1};
        FUZZ_CHECK(inflateInit2(&stream, -15) == Z_OK, "zlib");
        const int result = inflate(&stream, Z_SYNC_FLUSH);
        FUZZ_CHECK((last ? result == Z_STREAM_END : result == Z_OK || result == Z_BUF_ERROR) &&
                       !stream.avail_in && stream.total_out == room && !memcmp(out, back, room),
                   "%d: %s, %u left", result, stream.msg ? stream.msg : "", stream.avail_in);
        inflateEnd(&stream);
    }
    free(packed);
    free(out);
    free(back);
    return 0;
}
