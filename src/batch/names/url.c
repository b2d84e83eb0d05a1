#include "batch/names/url.h"

#include <string.h>

size_t gf_url_scheme(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
    static const char others[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-.";
    const size_t length = strspn(name, others);
    return strspn(name, letters) && !strncmp(name + length, "://", 3) ? length + 3 : 0;
}
