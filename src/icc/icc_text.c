/* Reads the description of an ICC profile. (ICC.1:2022, 10.15; ICC.1:2001, 6.5.17) */
#include <string.h>

#include "icc/icc.h"

struct block {
    const unsigned char *data;
    size_t size;
};

static size_t number(struct block block, size_t at)
{
    size_t value = 0;
    for (size_t i = at; i < at + 4; i++)
        value = value << 8 | (i < block.size ? block.data[i] : 0);
    return value;
}

/* Returns a part of the block; an empty one if it is not within the block. */
static struct block part(struct block block, size_t at, size_t size)
{
    return at <= block.size && size <= block.size - at ? (struct block){block.data + at, size}
                                                       : (struct block){0};
}

static struct block find_tag(struct block profile, const char *name)
{
    enum { COUNT_AT = 128, TAGS_AT = 132, TAG_BYTES = 12, TAGS_MOST = 200 };
    const size_t count = number(profile, COUNT_AT);
    for (size_t i = 0; i < count && i < TAGS_MOST; i++) {
        const struct block tag = part(profile, TAGS_AT + i * TAG_BYTES, TAG_BYTES);
        if (tag.size && !memcmp(tag.data, name, 4))
            return part(profile, number(tag, 4), number(tag, 8));
    }
    return (struct block){0};
}

/* Converts UTF-16 to UTF-8. A character beyond 16 bits becomes two question marks. */
static void put_utf16(struct block from, char text[GF_ICC_TEXT_SIZE])
{
    size_t length = 0;
    for (size_t i = 0; i + 1 < from.size && length < GF_ICC_TEXT_SIZE - 3; i += 2) {
        const unsigned c = (unsigned)(from.data[i] << 8 | from.data[i + 1]);
        if (!c)
            break;
        if (c < 0x80 || (c >= 0xd800 && c < 0xe000)) {
            text[length++] = (char)(c < 0x80 ? c : '?');
            continue;
        }
        if (c >= 0x800)
            text[length++] = (char)(0xe0 | c >> 12);
        text[length++] = (char)(c < 0x800 ? 0xc0 | c >> 6 : 0x80 | (c >> 6 & 63));
        text[length++] = (char)(0x80 | (c & 63));
    }
    text[length] = '\0';
}

/* Chooses the English text of several, else the first. */
static struct block choose_text(struct block tag)
{
    enum { RECORDS_AT = 16, RECORD_BYTES = 12, RECORDS_MOST = 100 };
    const size_t count = number(tag, 8);
    struct block chosen = {0};
    for (size_t i = 0; i < count && i < RECORDS_MOST; i++) {
        const struct block record = part(tag, RECORDS_AT + i * RECORD_BYTES, RECORD_BYTES);
        const bool english = record.size && !memcmp(record.data, "en", 2);
        if (!i || english)
            chosen = part(tag, number(record, 8), number(record, 4));
        if (english)
            break;
    }
    return chosen;
}

void gf_icc_text(struct gf_icc icc, char text[GF_ICC_TEXT_SIZE])
{
    enum { ASCII_AT = 12 };
    const struct block tag = find_tag((struct block){icc.data, icc.size}, "desc");
    text[0] = '\0';
    if (tag.size > ASCII_AT && !memcmp(tag.data, "mluc", 4))
        put_utf16(choose_text(tag), text);
    if (tag.size <= ASCII_AT || memcmp(tag.data, "desc", 4) != 0)
        return;
    const size_t room = tag.size - ASCII_AT, most = GF_ICC_TEXT_SIZE - 1;
    const size_t length = strnlen((const char *)tag.data + ASCII_AT, room < most ? room : most);
    memcpy(text, tag.data + ASCII_AT, length);
    text[length] = '\0';
}
