/* IPTC, as Photoshop stores it. */
#include <stdlib.h>
#include <string.h>

#include "codec/common/metadata.h"

enum { RESOURCE_HEAD = 12, IPTC_RESOURCE = 0x0404, IPTC_TAG = 0x1c };

static size_t even(size_t size)
{
    return size + size % 2;
}

/* Makes a Photoshop resource without a name that holds these IPTC records. */
static bool set_iptc(struct gf_blob *iptc, const unsigned char *records, size_t size)
{
    unsigned char *const resource = calloc(1, RESOURCE_HEAD + even(size));
    if (!resource)
        return false;
    memcpy(resource, "8BIM\4\4\0\0", 8);
    for (int i = 0; i < 4; i++)
        resource[8 + i] = (unsigned char)(size >> (24 - 8 * i));
    memcpy(resource + RESOURCE_HEAD, records, size);
    free(iptc->data);
    *iptc = (struct gf_blob){resource, RESOURCE_HEAD + even(size)};
    return true;
}

bool gf_metadata_add_photoshop(struct gf_metadata *metadata, const void *data, size_t size)
{
    if (metadata->iptc.size || !size || size > GF_METADATA_MAX)
        return true;
    const unsigned char *at = data, *const end = at + size;
    if (at[0] == IPTC_TAG)
        return set_iptc(&metadata->iptc, at, size);
    while (end - at >= RESOURCE_HEAD && !memcmp(at, "8BIM", 4)) {
        const size_t name = even((size_t)at[6] + 1); /* the name with its length byte */
        if ((size_t)(end - at) < 6 + name + 4)
            break;
        const size_t length = gf_get_be(at + 6 + name, 4);
        const unsigned char *const records = at + 6 + name + 4;
        if (length > (size_t)(end - records))
            break;
        if (gf_get_be(at + 4, 2) == IPTC_RESOURCE)
            return !length || set_iptc(&metadata->iptc, records, length);
        if (even(length) > (size_t)(end - records))
            break;
        at = records + even(length);
    }
    return true;
}

struct gf_blob gf_iptc_records(const struct gf_blob *iptc)
{
    if (iptc->size < RESOURCE_HEAD)
        return (struct gf_blob){0};
    const size_t stated = gf_get_be(iptc->data + 8, 4), room = iptc->size - RESOURCE_HEAD;
    return (struct gf_blob){iptc->data + RESOURCE_HEAD, stated < room ? stated : room};
}

void gf_iptc_remove(struct gf_blob *iptc, int first, int last)
{
    enum { HEAD = 5, RECORD = 2 };
    const size_t end =
        iptc->size < RESOURCE_HEAD ? 0 : RESOURCE_HEAD + gf_get_be(iptc->data + 8, 4);
    size_t at = RESOURCE_HEAD, to = at;
    while (at + HEAD <= end && end <= iptc->size && iptc->data[at] == IPTC_TAG) {
        const unsigned char *const head = iptc->data + at;
        size_t size = HEAD + gf_get_be(head + 3, 2);
        if (head[3] & 0x80) { /* the record's length is a number of several bytes */
            const size_t digits = gf_get_be(head + 3, 2) & 0x7fff;
            if (digits > 4 || at + HEAD + digits > end)
                break;
            size = HEAD + digits + gf_get_be(head + HEAD, (int)digits);
        }
        if (size > end - at)
            break;
        if (head[1] != RECORD || head[2] < first || head[2] > last) {
            memmove(iptc->data + to, head, size);
            to += size;
        }
        at += size;
    }
    if (to == end || !iptc->size)
        return;
    for (int i = 0; i < 4; i++)
        iptc->data[8 + i] = (unsigned char)((to - RESOURCE_HEAD) >> (24 - 8 * i));
    if (to % 2)
        iptc->data[to++] = 0;
    iptc->size = to == RESOURCE_HEAD ? 0 : to;
}
