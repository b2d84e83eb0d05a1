/* Unpacking a deflate stream in parts, beside zlib: what the parts take zlib takes, with the same
 * bytes. The places where a part ends and where a block is looked for come from the data. */
#include "fuzz.h"

#include <zlib.h>

#include "codec/png/inflate_part.h"
#include "zlib_mutator.h"

enum { MOST = 1 << 18, ZLIB_HEAD = 2 };

static struct gf_inflate_decoder decoder;
static struct gf_inflate_table table;
static uint16_t samples[GF_INFLATE_WINDOW + MOST + GF_INFLATE_PART_MARGIN];
static uint8_t wanted[MOST], bytes[MOST];

/* The window before place `done`. */
static void fill_table(size_t done)
{
    gf_inflate_table_init(&table);
    for (size_t i = 0; i < GF_INFLATE_WINDOW; i++)
        table.byte[GF_INFLATE_UNKNOWN + i] =
            (uint8_t)(done + i < GF_INFLATE_WINDOW ? 0 : wanted[done + i - GF_INFLATE_WINDOW]);
}

static void check_parts(const uint8_t *packed, size_t size, uint64_t stop, size_t room, bool sound)
{
    struct gf_inflate_part part = {.stop = stop, .first = true};
    size_t done = 0;
    do {
        part.begin = part.end;
        if (!gf_inflate_part(packed, size, &decoder, &part, samples + GF_INFLATE_WINDOW,
                             MOST - done))
            return;
        FUZZ_CHECK(done + part.count <= room || !sound, "%zu bytes more", part.count);
        fill_table(done);
        gf_inflate_resolve(samples + GF_INFLATE_WINDOW, part.count, &table, bytes);
        if (sound)
            FUZZ_CHECK(!memcmp(bytes, wanted + done, part.count), "from byte %zu", done);
        done += part.count;
        part.first = false;
        part.stop = (uint64_t)size * 8;
    } while (!part.last && sound);
    FUZZ_CHECK(!sound || (done == room && (part.end + 7) / 8 == size), "%zu bytes", done);
}

static void look(const uint8_t *packed, size_t size, uint64_t from)
{
    struct gf_inflate_part part = {.begin = from, .stop = (uint64_t)size * 8};
    if (gf_inflate_find_block(packed, size, &decoder, &part) &&
        gf_inflate_part(packed, size, &decoder, &part, samples + GF_INFLATE_WINDOW, MOST))
        gf_inflate_resolve(samples + GF_INFLATE_WINDOW, part.count, &table, bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size <= ZLIB_HEAD)
        return 0;
    z_stream stream = {.next_in = (uint8_t *)data + ZLIB_HEAD,
                       .avail_in = (uInt)size - ZLIB_HEAD,
                       .next_out = wanted,
                       .avail_out = MOST};
    FUZZ_CHECK(inflateInit2(&stream, -15) == Z_OK, "zlib");
    const bool sound = inflate(&stream, Z_FINISH) == Z_STREAM_END;
    const size_t used = sound ? stream.total_in : size - ZLIB_HEAD, room = stream.total_out;
    inflateEnd(&stream);
    uint8_t *const packed = malloc(used + GF_INFLATE_MARGIN);
    memcpy(packed, data + ZLIB_HEAD, used);
    memset(packed + used, 0x5a, GF_INFLATE_MARGIN);
    const uint64_t place = (uint64_t)(data[0] << 8 | data[1]) % (8 * used);
    check_parts(packed, used, place, room, sound);
    look(packed, used, place);
    free(packed);
    return 0;
}
