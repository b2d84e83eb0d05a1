/* Inflate beside zlib's: the same verdict, the same bytes. Streams whose head states a smaller
 * window than 32 KB are left out: deflate.h leaves their check to its caller. */
#include "fuzz.h"

#include "codec/png/deflate/deflate.h"
#include "zlib_mutator.h"

enum { ROOM = 64 << 10, LARGEST_WINDOW = 7 };

static uint8_t ours[ROOM], theirs[ROOM];

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2 || data[0] >> 4 != LARGEST_WINDOW)
        return 0;
    z_stream stream = {
        .next_in = (Bytef *)data, .avail_in = (uInt)size, .next_out = theirs, .avail_out = ROOM};
    FUZZ_CHECK(inflateInit(&stream) == Z_OK, "zlib");
    const int expected = inflate(&stream, Z_NO_FLUSH);
    const size_t came = ROOM - stream.avail_out;
    inflateEnd(&stream);

    struct gf_inflate *const inflate = gf_inflate_open();
    size_t got;
    gf_inflate_feed(inflate, data, size);
    enum gf_inflate_result result = gf_inflate_run(inflate, ours, ROOM, &got);
    if (expected == Z_STREAM_END) {
        FUZZ_CHECK(result == GF_INFLATE_END && got == came && !memcmp(ours, theirs, got),
                   "%d, %zu and %zu bytes: %s", result, got, came, gf_inflate_message(inflate));
        /* ISA-L may count a few bytes behind the stream as used. */
        FUZZ_CHECK(gf_inflate_left(inflate) <= stream.avail_in, "%zu and %u left",
                   gf_inflate_left(inflate), stream.avail_in);
    } else if (expected == Z_DATA_ERROR || expected == Z_NEED_DICT) {
        /* ISA-L takes codes that leave bit patterns without a meaning, as long as none occurs. */
        const bool is_code = stream.msg && strstr(stream.msg, "s set");
        if (is_code && !strcmp(gf_inflate_name, "ISA-L"))
            result = GF_INFLATE_ERROR;
        /* Perhaps it has not come to the place yet: it takes no code before it is whole. */
        FUZZ_CHECK(result == GF_INFLATE_ERROR || result == GF_INFLATE_NEEDS_INPUT,
                   "%d, where zlib says: %s", result,
                   stream.msg ? stream.msg : "needs a dictionary");
    } else if (came == ROOM) {
        FUZZ_CHECK(got == came && !memcmp(ours, theirs, got), "%zu bytes", got);
    } else { /* incomplete: what cannot become valid any more may be known sooner to one of them */
        FUZZ_CHECK(result == GF_INFLATE_NEEDS_INPUT || result == GF_INFLATE_ERROR, "%d", result);
    }
    gf_inflate_close(inflate);
    return 0;
}
