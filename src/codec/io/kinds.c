#include "codec/io/kinds.h"

#include <string.h>

const char *gf_picture_kind_name(enum gf_picture_kind kind)
{
    static const char *const names[] = {
#define KIND(end, name) name,
        GF_PICTURES_ALL(KIND)
#undef KIND
    };
    return names[kind];
}

enum gf_picture_kind gf_picture_kind_named(const char *name, size_t length)
{
    enum gf_picture_kind kind = 0;
    while (kind < GF_PICTURE_KINDS && (strlen(gf_picture_kind_name(kind)) != length ||
                                       memcmp(gf_picture_kind_name(kind), name, length) != 0))
        kind++;
    return kind;
}

enum gf_picture_kind gf_page_kind(int page)
{
    return page < GF_PAGE_OF_KIND || page - GF_PAGE_OF_KIND >= GF_PICTURE_KINDS
               ? GF_PICTURE_KINDS
               : (enum gf_picture_kind)(page - GF_PAGE_OF_KIND);
}
