#include "codec/png/deflate/deflate.h"

#include <stdlib.h>

#include "base/cpu.h"
#include "base/memory/buffers.h"

#ifdef GF_WITH_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

enum {
    LARGEST_WINDOW = 7, /* 32 KB, as encoded in the head of a zlib stream */
    LONGEST_COPY = 769  /* the most bytes of a copy that a symbol of ISA-L's tables can state */
};

const char gf_inflate_name[] = "ISA-L";

struct gf_inflate {
    struct inflate_state state;
    int result;
    bool begun, bad_window; /* bad_window: the window is too large, which ISA-L does not check */
};

struct gf_inflate *gf_inflate_open(void)
{
    /* Zeros, since a damaged stream can make ISA-L use parts of its tables that it never wrote. The
     * kernel clears only those pages of the 84 KB that are used. */
    struct gf_inflate *const inflater = gf_pages_alloc(sizeof *inflater);
    if (!inflater)
        return NULL;
    isal_inflate_init(&inflater->state);
    inflater->state.crc_flag = ISAL_ZLIB;
    inflater->result = ISAL_DECOMP_OK;
    return inflater;
}

void gf_inflate_close(struct gf_inflate *inflater)
{
    gf_pages_free(inflater, sizeof *inflater);
}

void gf_inflate_feed(struct gf_inflate *inflater, const uint8_t *data, size_t size)
{
    inflater->state.next_in = (uint8_t *)data;
    inflater->state.avail_in = (uint32_t)size;
    if (size && !inflater->begun)
        inflater->bad_window = data[0] >> 4 > LARGEST_WINDOW;
    inflater->begun |= size;
}

enum gf_inflate_result gf_inflate_run(struct gf_inflate *inflater, uint8_t *out, size_t room,
                                      size_t *got)
{
    struct inflate_state *const state = &inflater->state;
    state->next_out = out;
    state->avail_out = (uint32_t)room;
    *got = 0;
    if (inflater->bad_window)
        return GF_INFLATE_ERROR;
    inflater->result = isal_inflate(state);
    *got = room - state->avail_out;
    /* ISA-L counts the bytes of a copy before it finds that the copy's distance is invalid, and
     * never writes them. */
    if (inflater->result == ISAL_INVALID_LOOKBACK || inflater->result == ISAL_INVALID_SYMBOL)
        *got -= *got < LONGEST_COPY ? *got : LONGEST_COPY;
    if (inflater->result < 0 || inflater->result == ISAL_NEED_DICT)
        return GF_INFLATE_ERROR;
    if (state->block_state == ISAL_BLOCK_FINISH)
        return GF_INFLATE_END;
    return state->avail_out ? GF_INFLATE_NEEDS_INPUT : GF_INFLATE_OUTPUT_FULL;
}

size_t gf_inflate_left(const struct gf_inflate *inflater)
{
    return inflater->state.avail_in;
}

const char *gf_inflate_message(const struct gf_inflate *inflater)
{
    if (inflater->bad_window)
        return "invalid window size";
    switch (inflater->result) {
    case ISAL_INVALID_BLOCK:
        return "invalid block";
    case ISAL_INVALID_SYMBOL:
        return "invalid code";
    case ISAL_INVALID_LOOKBACK:
        return "invalid distance too far back";
    case ISAL_INVALID_WRAPPER:
        return "incorrect header check";
    case ISAL_UNSUPPORTED_METHOD:
        return "unknown compression method";
    case ISAL_INCORRECT_CHECKSUM:
        return "incorrect data check";
    case ISAL_NEED_DICT:
        return "unexpected zlib dictionary";
    default:
        return "damaged";
    }
}

uint32_t gf_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    return crc32_gzip_refl(crc, data, size);
}

#else

#include <zlib.h>

const char gf_inflate_name[] = "zlib";

struct gf_inflate {
    z_stream stream;
    int result;
};

struct gf_inflate *gf_inflate_open(void)
{
    struct gf_inflate *const inflater = calloc(1, sizeof *inflater);
    if (!inflater || inflateInit(&inflater->stream) == Z_OK)
        return inflater;
    free(inflater);
    return NULL;
}

void gf_inflate_close(struct gf_inflate *inflater)
{
    if (inflater)
        inflateEnd(&inflater->stream);
    free(inflater);
}

void gf_inflate_feed(struct gf_inflate *inflater, const uint8_t *data, size_t size)
{
    inflater->stream.next_in = (uint8_t *)data;
    inflater->stream.avail_in = (uInt)size;
}

enum gf_inflate_result gf_inflate_run(struct gf_inflate *inflater, uint8_t *out, size_t room,
                                      size_t *got)
{
    z_stream *const stream = &inflater->stream;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    inflater->result = inflate(stream, Z_NO_FLUSH);
    *got = room - stream->avail_out;
    if (inflater->result == Z_STREAM_END)
        return GF_INFLATE_END;
    if (inflater->result != Z_OK && inflater->result != Z_BUF_ERROR)
        return GF_INFLATE_ERROR;
    return stream->avail_out ? GF_INFLATE_NEEDS_INPUT : GF_INFLATE_OUTPUT_FULL;
}

size_t gf_inflate_left(const struct gf_inflate *inflater)
{
    return inflater->stream.avail_in;
}

const char *gf_inflate_message(const struct gf_inflate *inflater)
{
    if (inflater->result == Z_NEED_DICT)
        return "unexpected zlib dictionary";
    return inflater->stream.msg ? inflater->stream.msg : "damaged";
}

uint32_t gf_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

#endif

enum {
    BASE = 65521,
    LANES = 32,
    STEPS = 170 /* number of bytes after which no sum can reach 1 << 32 */
};

/* Adds steps of LANES bytes. Adler-32 has two sums. The first is the sum of the bytes. The second
 * adds the first sum after each byte, so that each byte counts once for itself and once for each
 * later byte. Both sums are kept for LANES columns of bytes, and the second in units of whole
 * steps, until the columns are joined. */
GF_TARGET_CLONES static void add_steps(const uint8_t *data, int steps, uint32_t *first,
                                       uint32_t *second)
{
    uint32_t sum[LANES] = {0}, sums[LANES] = {0};
    for (int step = 0; step < steps; step++, data += LANES)
        for (int i = 0; i < LANES; i++) {
            sums[i] += sum[i];
            sum[i] += data[i];
        }
    uint32_t bytes = 0, whole = 0, part = 0;
    for (int i = 0; i < LANES; i++) {
        bytes += sum[i];
        whole += sums[i];
        part += (uint32_t)(LANES - i) * sum[i];
    }
    *second = (*second + (uint32_t)steps * LANES * *first + LANES * whole + part) % BASE;
    *first = (*first + bytes) % BASE;
}

uint32_t gf_adler32(const uint8_t *data, size_t size)
{
    uint32_t first = 1, second = 0;
    while (size >= LANES) {
        const int steps = size / LANES < STEPS ? (int)(size / LANES) : STEPS;
        add_steps(data, steps, &first, &second);
        data += steps * LANES;
        size -= (size_t)steps * LANES;
    }
    for (; size; size--) {
        first = (first + *data++) % BASE;
        second = (second + first) % BASE;
    }
    return second << 16 | first;
}
