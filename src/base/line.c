#include "base/line.h"

size_t gf_line_read(FILE *file, int end, char *line)
{
    size_t length = 0;
    int byte = EOF;
    while (length < GF_LINE_MOST && byte != end && (byte = getc_unlocked(file)) != EOF)
        line[length++] = (char)byte;
    line[length] = '\0';
    return length;
}
