#include "codec/gif/gif_lzw.h"

#include <stdint.h>
#include <string.h>

enum { BITS_MOST = 12, CODES = 1 << BITS_MOST, INDEX_MOST = 255, NONE = -1 };

static void clear(struct gf_gif_decoder *decoder)
{
    decoder->size = decoder->bits + 1;
    decoder->next = (1 << decoder->bits) + 2;
    decoder->last = NONE;
}

void gf_gif_decoder_open(struct gf_gif_decoder *decoder, int bits, const unsigned char *blocks,
                         const unsigned char *end)
{
    memset(decoder, 0, offsetof(struct gf_gif_decoder, prefix));
    decoder->bits = bits;
    decoder->at = blocks;
    decoder->end = end;
    clear(decoder);
}

/* Returns the next code; NONE at the end of the blocks. */
static int take_code(struct gf_gif_decoder *decoder)
{
    for (; decoder->count < decoder->size; decoder->count += 8) {
        if (decoder->at < decoder->end && !decoder->left)
            decoder->left = *decoder->at++;
        if (decoder->at == decoder->end || !decoder->left)
            return NONE;
        decoder->left--;
        decoder->value |= (unsigned)*decoder->at++ << decoder->count;
    }
    const int code = (int)(decoder->value & ((1u << decoder->size) - 1));
    decoder->value >>= decoder->size;
    decoder->count -= decoder->size;
    return code;
}

/* Adds the string of the code before and the index that follows it. */
static void add_string(struct gf_gif_decoder *decoder, unsigned char index)
{
    if (decoder->last == NONE || decoder->next == CODES)
        return;
    decoder->prefix[decoder->next] = (uint16_t)decoder->last;
    decoder->suffix[decoder->next++] = index;
    if (decoder->next == 1 << decoder->size && decoder->size < BITS_MOST)
        decoder->size++;
}

/* Puts the indices of a code's string on the stack, the last one first. */
static bool put_string(struct gf_gif_decoder *decoder, int code)
{
    const int literals = 1 << decoder->bits;
    const bool repeats = code == decoder->next && decoder->last != NONE; /* the string before and
                                                                          * its first index */
    int at = repeats ? decoder->last : code;
    if (code >= decoder->next && !repeats)
        return false;
    decoder->depth = repeats;
    for (; at >= literals; at = decoder->prefix[at])
        decoder->stack[decoder->depth++] = decoder->suffix[at];
    if (at > INDEX_MOST)
        return false;
    decoder->stack[0] = repeats ? (unsigned char)at : decoder->stack[0];
    decoder->stack[decoder->depth++] = (unsigned char)at;
    add_string(decoder, (unsigned char)at);
    decoder->last = code;
    return true;
}

bool gf_gif_decode_line(struct gf_gif_decoder *decoder, unsigned char *line, int pixels)
{
    const int clears = 1 << decoder->bits;
    for (int x = 0; x < pixels;) {
        if (decoder->depth) {
            line[x++] = decoder->stack[--decoder->depth];
            continue;
        }
        const int code = take_code(decoder);
        if (code == clears)
            clear(decoder);
        else if (code == NONE || code == clears + 1 || !put_string(decoder, code))
            return false;
    }
    return true;
}
