#include "base/line.h"

#include <string.h>

enum gf_status gf_text_mark(const char *text, size_t size, enum gf_status failure, size_t *bytes,
                            struct gf_error *error)
{
    *bytes = size >= 3 && !memcmp(text, "\xef\xbb\xbf", 3) ? 3 : 0;
    if (size >= 2 && (!memcmp(text, "\xff\xfe", 2) || !memcmp(text, "\xfe\xff", 2)))
        return gf_fail(error, failure, "it is UTF-16; only UTF-8 is read");
    return GF_OK;
}

size_t gf_line_read(FILE *file, int end, char *line)
{
    size_t length = 0;
    int byte = EOF;
    while (length < GF_LINE_MOST && byte != end && (byte = getc_unlocked(file)) != EOF)
        line[length++] = (char)byte;
    line[length] = '\0';
    return length;
}
