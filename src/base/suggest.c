#include "base/suggest.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int least(int a, int b)
{
    return a < b ? a : b;
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
            d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1,
                            d[i - 1][j - 1] + (a[i - 1] != b[j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[n][m];
}

void gf_suggest_consider(const char *word, const char *candidate, const char **best, int *distance)
{
    const int limit = strlen(word) < 6 ? 1 + (strlen(word) > 4) : (int)strlen(word) / 3;
    const int d = edit_distance(word, candidate);
    if (d <= limit && (!*best || d < *distance)) {
        *best = candidate;
        *distance = d;
    }
}

bool gf_suggest_same(const char *a, const char *b)
{
    for (;; a++, b++) {
        a += strspn(a, "-_");
        b += strspn(b, "-_");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

bool gf_suggest_listed(const char *list, const char *word)
{
    char one[48];
    bool found = false;
    for (size_t length; list && *list && *word && !found; list += length + (list[length] == ' ')) {
        length = strcspn(list, " ");
        snprintf(one, sizeof one, "%.*s", (int)length, list);
        found = gf_suggest_same(one, word);
    }
    return found;
}
