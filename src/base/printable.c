#include "base/printable.h"

#include <stdbool.h>
#include <string.h>

int gf_utf8_read(const void *at, const void *end, uint32_t *code)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const unsigned char *const byte = at;
    const int length = *byte < 0x80       ? 1
                       : *byte >> 5 == 6  ? 2
                       : *byte >> 4 == 14 ? 3
                       : *byte >> 3 == 30 ? 4
                                          : 0;
    if (!length || (const unsigned char *)end - byte < length)
        return 0;
    *code = length == 1 ? *byte : *byte & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if (byte[i] >> 6 != 2)
            return 0;
        *code = *code << 6 | (byte[i] & 0x3fu);
    }
    const bool surrogate = *code >> 11 == 0x1b;
    return *code >= least[length] && *code <= 0x10ffff && !surrogate ? length : 0;
}

int gf_utf8_length(const char *text)
{
    uint32_t code;
    return gf_utf8_read(text, *text ? text + strnlen(text, 4) : text + 1, &code);
}

static bool is_printable(uint32_t code)
{
    return code >= ' ' && (code < 0x7f || code > 0x9f) && (code < 0x2028 || code > 0x202e) &&
           (code < 0x2066 || code > 0x2069);
}

void gf_make_printable(char *text)
{
    char *to = text;
    while (*text) {
        uint32_t code;
        const int length = gf_utf8_read(text, text + strnlen(text, 4), &code);
        if (length && is_printable(code)) {
            memmove(to, text, (size_t)length);
            to += length;
        } else {
            *to++ = '?';
        }
        text += length ? length : 1;
    }
    *to = '\0';
}
