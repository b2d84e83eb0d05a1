/* Inflate, fed in pieces and emptied in pieces: the last byte says how large they are. */
#include "fuzz.h"

#include "codec/png/deflate/deflate.h"
#include "zlib_mutator.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { TOTAL_MAX = 1 << 20 };
    if (!size)
        return 0;
    struct fuzz_bytes bytes = {data, size - 1};
    const unsigned how = data[size - 1];
    const size_t piece = how & 15 ? 1 + (how & 15) * 7 : bytes.size, room = 1 + (how >> 4) * 97;
    struct gf_inflate *const inflate = gf_inflate_open();
    enum gf_inflate_result result = GF_INFLATE_NEEDS_INPUT;
    uint8_t *const out = malloc(room);
    size_t total = 0;
    while (result != GF_INFLATE_END && result != GF_INFLATE_ERROR && total < TOTAL_MAX) {
        if (result == GF_INFLATE_NEEDS_INPUT) {
            const size_t n = bytes.size < piece ? bytes.size : piece;
            if (!n)
                break;
            gf_inflate_feed(inflate, bytes.data, n);
            bytes.data += n;
            bytes.size -= n;
        }
        size_t got;
        result = gf_inflate_run(inflate, out, room, &got);
        FUZZ_CHECK(got <= room, "%zu", got);
        total += got;
    }
    if (result == GF_INFLATE_ERROR)
        FUZZ_CHECK(*gf_inflate_message(inflate), "no message");
    gf_inflate_close(inflate);
    free(out);
    return 0;
}
