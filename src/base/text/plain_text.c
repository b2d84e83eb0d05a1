/* Reads characters and numbers in text, makes text safe to print, and finds the word that was
 * probably meant. */
#include "base/text/plain_text.h"

#include <ctype.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/extremes.h"

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

static locale_t plain;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_plain(void)
{
    plain = newlocale(LC_ALL_MASK, "C", NULL);
}

bool gf_value_number(const char *text, double *value, const char **end)
{
    /* strtod also reads hexadecimal numbers, infinities and NaN, which no parameter accepts. */
    const size_t length = strspn(text, "+-.0123456789eE");
    if (!length || strspn(text, "+-eE") == length)
        return false;
    pthread_once(&once, make_plain);
    char *stop;
    *value = plain ? strtod_l(text, &stop, plain) : strtod(text, &stop);
    *end = stop;
    return stop != text && stop <= text + length && isfinite(*value);
}

bool gf_value_whole_number(const char *text, double *value)
{
    const char *end;
    return gf_value_number(text, value, &end) && !*end;
}

/* Returns the Damerau-Levenshtein distance: two swapped neighbours count as one edit. A word over
 * 31 letters is far from every other word. */
static int edit_distance(const char *a, const char *b)
{
    enum { LENGTH = 32 };
    const size_t n = strlen(a), m = strlen(b);
    if (n >= LENGTH || m >= LENGTH)
        return LENGTH;
    int d[LENGTH][LENGTH];
    for (size_t i = 0; i <= n; i++)
        d[i][0] = (int)i;
    for (size_t j = 0; j <= m; j++)
        d[0][j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        for (size_t j = 1; j <= m; j++) {
            d[i][j] = gf_least(gf_least(d[i - 1][j], d[i][j - 1]) + 1,
                               d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = gf_least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

/* Whether the words have the same letters, and begin with the same one. */
static bool is_shuffled(const char *a, const char *b)
{
    int count[256] = {0};
    const char first = *a;
    if (first != *b)
        return false;
    for (; *a && *b; a++, b++) {
        count[(unsigned char)*a]++;
        count[(unsigned char)*b]--;
    }
    for (int i = 0; i < 256; i++) {
        if (count[i])
            return false;
    }
    return *a == *b;
}

void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance)
{
    /* With more edits another thing is proposed, as clahe for clamp. Two letters that have changed
     * places are two edits. */
    const size_t length = strlen(word);
    const int limit = length < 4 ? !strncmp(candidate, word, length)
                                 : 1 + (length > 8 || is_shuffled(word, candidate));
    const int d = edit_distance(word, candidate);
    if (d <= limit && (!*best || d < *distance)) {
        *best = candidate;
        *distance = d;
    }
}

/* Whether the words are the same; `a` ends at a blank if `listed`. */
static bool is_same(const char *a, const char *b, bool listed)
{
    for (;; a++, b++) {
        a += strspn(a, "-_");
        b += strspn(b, "-_");
        const bool ends = !*a || (listed && *a == ' ');
        if (ends || !*b)
            return ends && !*b;
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
    }
}

bool gf_suggest_same(const char *a, const char *b)
{
    return is_same(a, b, false);
}

bool gf_suggest_listed(const char *list, const char *word)
{
    bool found = false;
    while (list && *list && *word && !found) {
        found = is_same(list, word, true);
        list += strcspn(list, " ");
        list += *list == ' ';
    }
    return found;
}
