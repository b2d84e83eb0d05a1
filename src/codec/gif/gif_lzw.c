#include "codec/gif/gif.h"

#include <stdlib.h>

#include "base/fail.h"
#include "base/memory/grow.h"
#include "base/threads/times.h"

/* CHOICES: where pixels may have two indices, this is how many strings of the dictionary are
 * followed at once. CUT_MOST: the most pixels by which a string is shortened. */
enum { CODES = 4096, BITS_MOST = 12, PLACES_BITS = 14, CHOICES = 16, CUT_MOST = 4 };
enum { GENERATION_AT = 20, GENERATIONS = 1 << (32 - GENERATION_AT) };

/* The strings of the dictionary form a tree, kept in a hash table. An entry of the table is an
 * edge: from the code of a string, by the index of a pixel, to the code of the longer string. */
struct dictionary {
    /* Bits of generation, code, index; entries of other generations count as empty. */
    uint32_t edge[1 << PLACES_BITS];
    uint16_t to[1 << PLACES_BITS];
    unsigned char first[CODES]; /* the first index of each code's string */
    uint16_t shorter[CODES];    /* the code of each code's string without its last index */
    uint32_t generation;
    int next, width; /* next: the code of the next new string; width: bits of a code */
};

struct gf_gif_coder {
    struct dictionary dictionary[2];
    uint16_t *code; /* `codes` codes; those of a trial follow them */
    size_t codes, room;
    int clear; /* the code that empties the dictionary */
};

struct gf_gif_coder *gf_gif_coder_open(void)
{
    return calloc(1, sizeof(struct gf_gif_coder));
}

void gf_gif_coder_close(struct gf_gif_coder *coder)
{
    if (coder)
        free(coder->code);
    free(coder);
}

/* ---- the dictionary of strings ---- */

/* Returns the place in the hash table of the edge, or the empty place where it belongs. */
static uint32_t place_of(const struct dictionary *dictionary, int code, int index)
{
    const uint32_t edge = dictionary->generation << GENERATION_AT | (uint32_t)(code << 8 | index);
    uint32_t at = edge * 2654435761u >> (32 - PLACES_BITS);
    while (dictionary->edge[at] != edge &&
           dictionary->edge[at] >> GENERATION_AT == dictionary->generation)
        at = (at + 1) % (1 << PLACES_BITS);
    return at;
}

/* Returns the code of the string of `code` extended by `index`; -1: it is not in the dictionary. */
static int longer(const struct dictionary *dictionary, int code, int index)
{
    const uint32_t at = place_of(dictionary, code, index);
    return dictionary->edge[at] >> GENERATION_AT == dictionary->generation ? dictionary->to[at]
                                                                           : -1;
}

static uint32_t add(struct dictionary *dictionary, int code, int index)
{
    const uint32_t at = place_of(dictionary, code, index);
    dictionary->edge[at] = dictionary->generation << GENERATION_AT | (uint32_t)(code << 8 | index);
    dictionary->to[at] = (uint16_t)dictionary->next;
    return at;
}

static void empty(struct dictionary *dictionary, int bits)
{
    dictionary->next = (1 << bits) + 2;
    dictionary->width = bits + 1;
    if (++dictionary->generation == GENERATIONS) {
        memset(dictionary->edge, 0, sizeof dictionary->edge);
        dictionary->generation = 1;
    }
}

/* Finds the longest string that the pixels from `at` on can have. Returns its length. */
static size_t longest(const struct dictionary *dictionary, const struct gf_gif_pixels *pixels,
                      size_t at, int *code)
{
    const unsigned char *const either = pixels->either, *const other = pixels->other;
    int strings[2][CHOICES], count = 1;
    size_t end = at + 1;
    int now = 0;
    strings[0][0] = either[at];
    if (other[at] != either[at])
        strings[0][count++] = other[at];
    for (; end < pixels->count; end++, now = !now) {
        int found = 0;
        for (int i = 0; i < count; i++) {
            const int with = longer(dictionary, strings[now][i], either[end]);
            if (with >= 0 && found < CHOICES)
                strings[!now][found++] = with;
            if (other[end] == either[end])
                continue;
            const int with_other = longer(dictionary, strings[now][i], other[end]);
            if (with_other >= 0 && found < CHOICES)
                strings[!now][found++] = with_other;
        }
        if (!found)
            break;
        count = found;
    }
    *code = strings[now][0];
    for (int i = 1; pixels->newest && i < count; i++)
        *code = strings[now][i] > *code ? strings[now][i] : *code;
    return end - at;
}

/* Shortens the string if it and the next string then reach further together. With a dictionary that
 * does not change this gives the fewest codes. Returns the length. */
static size_t cut(const struct dictionary *dictionary, const struct gf_gif_pixels *pixels,
                  size_t at, size_t length, int *code)
{
    size_t best = length, farthest = 0;
    int shorter = *code, ignored;
    for (size_t by = 0; by < length && by <= CUT_MOST && at + length < pixels->count; by++) {
        const size_t begin = length - by,
                     reach = begin + longest(dictionary, pixels, at + begin, &ignored);
        if (reach > farthest) {
            farthest = reach;
            best = begin;
            *code = shorter;
        }
        shorter = dictionary->shorter[shorter];
    }
    return best;
}

/* ---- the codes of the pixels ---- */

/* Finds the code of the longest string. With each code a reader adds a string to its dictionary:
 * that of the code `before`, extended by the first index of the new code. The new code may stand
 * for this very string if it ends with its own first index. Returns the number of pixels. */
static size_t find_code(struct dictionary *dictionary, const struct gf_gif_pixels *pixels,
                        size_t at, int before, int *code)
{
    const int begun = dictionary->first[before];
    bool added = pixels->either[at] == begun || pixels->other[at] == begun;
    const uint32_t place = added ? add(dictionary, before, begun) : 0;
    dictionary->first[dictionary->next] = (unsigned char)begun;
    dictionary->shorter[dictionary->next] = (uint16_t)before;
    const size_t length = longest(dictionary, pixels, at, code);
    if (added && dictionary->first[*code] != begun) {
        dictionary->edge[place] = 0;
        added = false;
    }
    if (!added)
        (void)add(dictionary, before, dictionary->first[*code]);
    dictionary->next++;
    return length;
}

/* Adds codes with a new dictionary until it is full, or the pixels end. Returns the number of the
 * first pixel that is left; *bits becomes the size of the codes in bits. */
static size_t grow(struct gf_gif_coder *coder, struct dictionary *dictionary,
                   const struct gf_gif_pixels *pixels, size_t at, uint64_t *bits)
{
    int code = -1;
    coder->code[coder->codes++] = (uint16_t)coder->clear;
    *bits = BITS_MOST;
    while (at < pixels->count && dictionary->next < CODES) {
        *bits += (uint64_t)dictionary->width;
        at += code < 0 ? longest(dictionary, pixels, at, &code)
                       : find_code(dictionary, pixels, at, code, &code);
        coder->code[coder->codes++] = (uint16_t)code;
        if (dictionary->next == 1 << dictionary->width && dictionary->width < BITS_MOST)
            dictionary->width++;
    }
    return at;
}

/* Adds codes with a full dictionary for the pixels up to `end`, or a little more. */
static size_t stay(struct gf_gif_coder *coder, const struct dictionary *dictionary,
                   const struct gf_gif_pixels *pixels, size_t at, size_t end, uint64_t *bits)
{
    *bits = 0;
    while (at < end) {
        int code;
        const size_t length = longest(dictionary, pixels, at, &code);
        at += cut(dictionary, pixels, at, length, &code);
        coder->code[coder->codes++] = (uint16_t)code;
        *bits += BITS_MOST;
    }
    return at;
}

/* Codes the pixels. A full dictionary stays in use as long as it takes fewer bits for each pixel
 * than a new one takes until it is full. */
static enum gf_status code_pixels(struct gf_gif_coder *coder, const struct gf_gif_pixels *pixels,
                                  int bits, struct gf_error *error)
{
    struct dictionary *full = &coder->dictionary[0], *other = &coder->dictionary[1];
    uint64_t size, other_size;
    empty(full, bits);
    size_t at = grow(coder, full, pixels, 0, &size);
    while (at < pixels->count) {
        const size_t begin = coder->codes;
        empty(other, bits);
        const size_t other_at = grow(coder, other, pixels, at, &other_size), middle = coder->codes,
                     full_at = stay(coder, full, pixels, at, other_at, &size);
        if (size * (other_at - at) < other_size * (full_at - at)) {
            coder->codes -= middle - begin;
            memmove(coder->code + begin, coder->code + middle,
                    (coder->codes - begin) * sizeof *coder->code);
            at = full_at;
        } else {
            struct dictionary *const before = full;
            coder->codes = middle;
            full = other;
            other = before;
            at = other_at;
        }
        GF_TRY(gf_time_check(error));
    }
    return GF_OK;
}

/* Packs the codes into bytes. Codes become wider as the reader's dictionary grows, which it does
 * from the second code after each clear code on. */
static void pack(const struct gf_gif_coder *coder, int bits, struct gf_gif_bytes *bytes)
{
    int width = bits + 1, next = 0, pending_bits = 0;
    uint32_t pending = 0;
    for (size_t i = 0; i < coder->codes; i++) {
        const int code = coder->code[i];
        pending |= (uint32_t)code << pending_bits;
        for (pending_bits += width; pending_bits >= 8; pending_bits -= 8, pending >>= 8)
            bytes->data[bytes->size++] = (unsigned char)pending;
        if (code == coder->clear) {
            next = coder->clear + 1;
            width = bits + 1;
        } else if (++next == 1 << width && width < BITS_MOST) {
            width++;
        }
    }
    if (pending_bits)
        bytes->data[bytes->size++] = (unsigned char)pending;
}

enum gf_status gf_gif_encode(struct gf_gif_coder *coder, const struct gf_gif_pixels *pixels,
                             int bits, struct gf_gif_bytes *bytes, struct gf_error *error)
{
    /* Room for at most one code for each pixel, the codes of a trial, and clear codes. */
    GF_ALLOCATED(
        GF_RESERVE(coder->code, coder->room, pixels->count + pixels->count / CODES * 2 + 4 * CODES),
        error);
    coder->codes = 0;
    coder->clear = 1 << bits;
    for (int d = 0; d < 2; d++)
        for (int i = 0; i < coder->clear; i++)
            coder->dictionary[d].first[i] = (unsigned char)i;
    GF_TRY(code_pixels(coder, pixels, bits, error));
    coder->code[coder->codes++] = (uint16_t)(coder->clear + 1);
    bytes->size = 0;
    GF_ALLOCATED(GF_RESERVE(bytes->data, bytes->room, coder->codes * BITS_MOST / 8 + 1), error);
    pack(coder, bits, bytes);
    return GF_OK;
}
