/* Makes TIFFs byte by byte. */
#pragma once

#include "codec/codec_test.h"

enum { BYTE = 1, TEXT = 2, SHORT = 3, LONG = 4, RATIONAL = 5, UNDEFINED = 7, SIGNED_RATIONAL = 10 };
enum { DOUBLE = 12 };

struct tiff {
    bool big_endian, big_tiff;
    struct bytes bytes;
    unsigned char entries[32 * 20];
    int count;
    size_t link; /* where the offset of the next directory goes */
};

static inline void put(const struct tiff *tiff, unsigned char *to, int bytes, uint64_t value)
{
    for (int i = 0; i < bytes; i++)
        to[tiff->big_endian ? bytes - 1 - i : i] = (unsigned char)(value >> 8 * i);
}

static inline void put_more(struct tiff *tiff, int bytes, uint64_t value)
{
    unsigned char text[8];
    put(tiff, text, bytes, value);
    append(&tiff->bytes, text, (size_t)bytes);
}

static inline void begin(struct tiff *tiff)
{
    append(&tiff->bytes, tiff->big_endian ? "MM" : "II", 2);
    put_more(tiff, 2, tiff->big_tiff ? 43 : 42);
    if (tiff->big_tiff)
        put_more(tiff, 2, 8);
    if (tiff->big_tiff)
        put_more(tiff, 2, 0);
    tiff->link = tiff->bytes.size;
    put_more(tiff, tiff->big_tiff ? 8 : 4, 0);
}

static inline uint64_t value_bits(int type, unsigned value)
{
    const double number = value;
    uint64_t bits = value;
    if (type == DOUBLE)
        memcpy(&bits, &number, sizeof bits);
    return bits;
}

/* A tag of numbers; a rational one is two of them. */
static inline void tag(struct tiff *tiff, unsigned number, int type, int count,
                       const unsigned *values)
{
    const bool pairs = type == RATIONAL || type == SIGNED_RATIONAL;
    const int bytes = type == SHORT           ? 2
                      : type == LONG || pairs ? 4
                      : type == DOUBLE        ? 8
                                              : 1,
              word = tiff->big_tiff ? 8 : 4;
    unsigned char *const entry = tiff->entries + tiff->count++ * (4 + 2 * word);
    unsigned char *value = entry + 4 + word;
    memset(entry, 0, (size_t)(4 + 2 * word));
    put(tiff, entry, 2, number);
    put(tiff, entry + 2, 2, (unsigned)type);
    put(tiff, entry + 4, word, (unsigned)count);
    count *= pairs ? 2 : 1;
    if (count * bytes > word) {
        put(tiff, value, word, tiff->bytes.size);
        unsigned char *const all = malloc((size_t)(count * bytes));
        assert_non_null(all);
        for (int i = 0; i < count; i++)
            put(tiff, all + i * bytes, bytes, value_bits(type, values[i]));
        append(&tiff->bytes, all, (size_t)(count * bytes));
        free(all);
        return;
    }
    for (int i = 0; i < count; i++)
        put(tiff, value + i * bytes, bytes, value_bits(type, values[i]));
}

static inline void tag_text(struct tiff *tiff, unsigned number, const char *text)
{
    unsigned values[64];
    const int size = (int)strlen(text) + 1;
    for (int i = 0; i < size; i++)
        values[i] = (unsigned char)text[i];
    tag(tiff, number, TEXT, size, values);
}

static inline void tag1(struct tiff *tiff, unsigned number, unsigned value)
{
    tag(tiff, number, LONG, 1, &value);
}

/* Adds the directory of the tags so far, and returns its offset. */
static inline size_t add_directory(struct tiff *tiff)
{
    const size_t at = tiff->bytes.size;
    put_more(tiff, tiff->big_tiff ? 8 : 2, (unsigned)tiff->count);
    append(&tiff->bytes, tiff->entries, (size_t)(tiff->count * (4 + 2 * (tiff->big_tiff ? 8 : 4))));
    put_more(tiff, tiff->big_tiff ? 8 : 4, 0);
    tiff->count = 0;
    return at;
}

/* Adds it as that of the next picture. */
static inline void add_page(struct tiff *tiff)
{
    const int word = tiff->big_tiff ? 8 : 4;
    put(tiff, tiff->bytes.data + tiff->link, word, tiff->bytes.size);
    add_directory(tiff);
    tiff->link = tiff->bytes.size - (size_t)word;
}

static inline void write_file(struct tiff *tiff)
{
    save(in_folder("a.tif"), tiff->bytes.data, tiff->bytes.size);
    free(tiff->bytes.data);
}
