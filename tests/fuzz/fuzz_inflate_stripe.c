/* Unpacking a marked PNG's stripe beside zlib, which says how much there is: what it takes zlib
 * takes, with the same bytes. */
#include "fuzz.h"

#include <zlib.h>

#include "codec/png/deflate/deflate.h"
#include "zlib_mutator.h"

enum { MOST = 1 << 18, ZLIB_HEAD = 2 };

static void check(const uint8_t *data, size_t size, bool last, const uint8_t *wanted, size_t room)
{
    uint8_t *const packed = malloc(size + GF_INFLATE_STRIPE_MARGIN);
    uint8_t *const out = malloc(room + GF_INFLATE_STRIPE_MARGIN);
    memcpy(packed, data, size);
    memset(packed + size, 0x5a, GF_INFLATE_STRIPE_MARGIN);
    if (gf_inflate_stripe(packed, size, last, out, room))
        FUZZ_CHECK(wanted && !memcmp(out, wanted, room), "%zu bytes", room);
    free(packed);
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= ZLIB_HEAD)
        return 0;
    uint8_t *const back = malloc(MOST);
    z_stream stream = {.next_in = (uint8_t *)data + ZLIB_HEAD,
                       .avail_in = (uInt)size - ZLIB_HEAD,
                       .next_out = back,
                       .avail_out = MOST};
    FUZZ_CHECK(inflateInit2(&stream, -15) == Z_OK, "zlib");
    const int result = inflate(&stream, Z_SYNC_FLUSH);
    const bool last = result == Z_STREAM_END, sound = last || result == Z_OK;
    const size_t used = stream.total_in, room = stream.total_out;
    inflateEnd(&stream);
    check(data + ZLIB_HEAD, used, last, sound ? back : NULL, room);
    check(data + ZLIB_HEAD, used, !last, NULL, room);
    check(data + ZLIB_HEAD, used, last, NULL, room + 1);
    if (room)
        check(data + ZLIB_HEAD, used, last, NULL, room - 1);
    free(back);
    return 0;
}
