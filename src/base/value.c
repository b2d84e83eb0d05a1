#include "base/value.h"

#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

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
