#include "codec/jpeg/jpeg_parts.h"

#include <stdbool.h>
#include <string.h>

enum { HEAD_BYTES = 8, FIELD_BYTES = 12, ENTRY_BYTES = 16, ENTRIES_TAG = 0xb002 };

/* A structure of numbers as in a TIFF. */
struct index {
    const unsigned char *data;
    size_t size;
    bool little;
};

/* 0 beyond the end. */
static uint32_t number_at(const struct index *index, size_t at, int bytes)
{
    uint32_t value = 0;
    if (at > index->size || index->size - at < (size_t)bytes)
        return 0;
    for (int i = 0; i < bytes; i++)
        value = value << 8 | index->data[at + (size_t)(index->little ? bytes - 1 - i : i)];
    return value;
}

/* Where the last of the pictures ends, from where the index begins. */
static int64_t end_of_entries(const struct index *index, size_t at, size_t bytes)
{
    int64_t end = 0;
    for (size_t i = 0; i + ENTRY_BYTES <= bytes && at + i < index->size; i += ENTRY_BYTES) {
        const int64_t size = number_at(index, at + i + 4, 4),
                      offset = number_at(index, at + i + 8, 4);
        if (offset && offset + size > end) /* the first picture, which has 0, is the file's own */
            end = offset + size;
    }
    return end;
}

int64_t gf_jpeg_parts_end(const unsigned char *data, size_t size, int64_t place)
{
    static const char name[] = "MPF";
    if (size < sizeof name + HEAD_BYTES || memcmp(data, name, sizeof name) != 0)
        return 0;
    const struct index index = {data + sizeof name, size - sizeof name, data[sizeof name] == 'I'};
    const size_t directory = number_at(&index, 4, 4);
    const int fields = (int)number_at(&index, directory, 2);
    for (int i = 0; i < fields; i++) {
        const size_t field = directory + 2 + (size_t)i * FIELD_BYTES;
        if (number_at(&index, field, 2) != ENTRIES_TAG)
            continue;
        const int64_t end = end_of_entries(&index, number_at(&index, field + 8, 4),
                                           number_at(&index, field + 4, 4));
        return end ? place + (int64_t)sizeof name + end : 0;
    }
    return 0;
}

int64_t gf_jpeg_parts_bytes(const unsigned char *xmp, size_t size)
{
    static const char *const words[] = {"Item:Length=", "Item:Padding="};
    int64_t bytes = 0;
    for (size_t k = 0; k < sizeof words / sizeof *words; k++) {
        const size_t length = strlen(words[k]);
        for (size_t i = 0; i + length < size; i++) {
            int64_t value = 0;
            if (memcmp(xmp + i, words[k], length) != 0)
                continue;
            for (i += length + 1; i < size && xmp[i] >= '0' && xmp[i] <= '9' && value < 1 << 30;
                 i++)
                value = 10 * value + (xmp[i] - '0');
            bytes += value;
        }
    }
    return bytes;
}
