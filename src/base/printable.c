#include "base/printable.h"

#include <stdbool.h>
#include <string.h>

int gf_utf8_length(const char *text)
{
    const unsigned char *const byte = (const unsigned char *)text;
    const int length = *byte < 0x80   ? 1
                       : *byte < 0xc2 ? 0
                       : *byte < 0xe0 ? 2
                       : *byte < 0xf0 ? 3
                       : *byte < 0xf5 ? 4
                                      : 0;
    for (int i = 1; i < length; i++) {
        if ((byte[i] & 0xc0) != 0x80)
            return 0;
    }
    if ((*byte == 0xe0 && byte[1] < 0xa0) || (*byte == 0xed && byte[1] > 0x9f) ||
        (*byte == 0xf0 && byte[1] < 0x90) || (*byte == 0xf4 && byte[1] > 0x8f))
        return 0;
    return length;
}

static bool is_printable(const char *text, int length)
{
    const unsigned char *const byte = (const unsigned char *)text;
    if (length == 1)
        return *byte >= ' ' && *byte != 0x7f;
    if (length == 2)
        return *byte != 0xc2 || byte[1] >= 0xa0; /* U+0080 to U+009F */
    if (length == 3 && *byte == 0xe2 && byte[1] == 0x80)
        return byte[2] < 0xa8 || byte[2] > 0xae; /* U+2028 to U+202E */
    if (length == 3 && *byte == 0xe2 && byte[1] == 0x81)
        return byte[2] < 0xa6 || byte[2] > 0xa9; /* U+2066 to U+2069 */
    return length == 3 || length == 4;
}

void gf_make_printable(char *text)
{
    char *to = text;
    while (*text) {
        const int length = gf_utf8_length(text);
        if (is_printable(text, length)) {
            memmove(to, text, (size_t)length);
            to += length;
        } else {
            *to++ = '?';
        }
        text += length ? length : 1;
    }
    *to = '\0';
}
