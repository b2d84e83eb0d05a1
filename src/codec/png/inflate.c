#include "codec/png/inflate.h"

#include <stdbool.h>
#include <stdlib.h>

#ifdef GF_WITH_ISAL

#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>

enum { LARGEST_WINDOW = 7 }; /* in the head of a stream: 32 KB */

const char gf_inflate_name[] = "ISA-L";

struct gf_inflate {
    struct inflate_state state;
    int result;
    bool begun, bad_window; /* ISA-L does not look at the window's size */
};

struct gf_inflate *gf_inflate_open(void)
{
    struct gf_inflate *const of = malloc(sizeof *of);
    if (!of)
        return NULL;
    isal_inflate_init(&of->state);
    of->state.crc_flag = ISAL_ZLIB;
    of->result = ISAL_DECOMP_OK;
    of->begun = of->bad_window = false;
    return of;
}

void gf_inflate_close(struct gf_inflate *of)
{
    free(of);
}

void gf_inflate_feed(struct gf_inflate *of, const uint8_t *data, size_t size)
{
    of->state.next_in = (uint8_t *)data;
    of->state.avail_in = (uint32_t)size;
    if (size && !of->begun)
        of->bad_window = data[0] >> 4 > LARGEST_WINDOW;
    of->begun |= size;
}

enum gf_inflate_result gf_inflate_run(struct gf_inflate *of, uint8_t *out, size_t room, size_t *got)
{
    struct inflate_state *const state = &of->state;
    state->next_out = out;
    state->avail_out = (uint32_t)room;
    *got = 0;
    if (of->bad_window)
        return GF_INFLATE_BAD;
    of->result = isal_inflate(state);
    *got = room - state->avail_out;
    if (of->result < 0 || of->result == ISAL_NEED_DICT)
        return GF_INFLATE_BAD;
    if (state->block_state == ISAL_BLOCK_FINISH)
        return GF_INFLATE_END;
    return state->avail_out ? GF_INFLATE_HUNGRY : GF_INFLATE_FULL;
}

size_t gf_inflate_left(const struct gf_inflate *of)
{
    return of->state.avail_in;
}

const char *gf_inflate_message(const struct gf_inflate *of)
{
    if (of->bad_window)
        return "invalid window size";
    switch (of->result) {
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
    struct gf_inflate *const of = calloc(1, sizeof *of);
    if (!of || inflateInit(&of->stream) == Z_OK)
        return of;
    free(of);
    return NULL;
}

void gf_inflate_close(struct gf_inflate *of)
{
    if (of)
        inflateEnd(&of->stream);
    free(of);
}

void gf_inflate_feed(struct gf_inflate *of, const uint8_t *data, size_t size)
{
    of->stream.next_in = (uint8_t *)data;
    of->stream.avail_in = (uInt)size;
}

enum gf_inflate_result gf_inflate_run(struct gf_inflate *of, uint8_t *out, size_t room, size_t *got)
{
    z_stream *const stream = &of->stream;
    stream->next_out = out;
    stream->avail_out = (uInt)room;
    of->result = inflate(stream, Z_NO_FLUSH);
    *got = room - stream->avail_out;
    if (of->result == Z_STREAM_END)
        return GF_INFLATE_END;
    if (of->result != Z_OK && of->result != Z_BUF_ERROR)
        return GF_INFLATE_BAD;
    return stream->avail_out ? GF_INFLATE_HUNGRY : GF_INFLATE_FULL;
}

size_t gf_inflate_left(const struct gf_inflate *of)
{
    return of->stream.avail_in;
}

const char *gf_inflate_message(const struct gf_inflate *of)
{
    if (of->result == Z_NEED_DICT)
        return "unexpected zlib dictionary";
    return of->stream.msg ? of->stream.msg : "damaged";
}

uint32_t gf_crc32(uint32_t crc, const uint8_t *data, size_t size)
{
    return (uint32_t)crc32_z(crc, data, size);
}

#endif
