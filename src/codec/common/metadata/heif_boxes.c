#include "codec/common/metadata/heif_boxes.h"

#include <string.h>

#include "codec/common/metadata/metadata.h"

static const struct gf_heif_turn turns[] = {
    [1] = {0, GF_NO_MIRROR}, [2] = {0, 1}, [3] = {2, GF_NO_MIRROR}, [4] = {0, 0}, [5] = {1, 0},
    [6] = {3, GF_NO_MIRROR}, [7] = {3, 0}, [8] = {1, GF_NO_MIRROR}};

int gf_heif_turn_orientation(struct gf_heif_turn turn)
{
    /* A mirroring after half a turn equals the other mirroring without a turn. The table has only
     * one of these two descriptions. */
    if (turn.mirror == 1 && turn.angle) {
        turn.angle = (turn.angle + 2) & 3;
        turn.mirror = 0;
    } else if (turn.mirror == 0 && turn.angle == 2) {
        turn.angle = 0;
        turn.mirror = 1;
    }
    for (int i = 1; i <= 8; i++) {
        if (turns[i].angle == turn.angle && turns[i].mirror == turn.mirror)
            return i;
    }
    return 1;
}

struct gf_heif_turn gf_heif_turn_of(int orientation)
{
    return turns[orientation];
}

bool gf_heif_take_box(struct gf_blob *rest, char type[4], struct gf_blob *body)
{
    if (rest->size < 8)
        return false;
    size_t head = 8, size = gf_get_be(rest->data, 4);
    memcpy(type, rest->data + 4, 4);
    if (size == 1 && rest->size >= 16 && !gf_get_be(rest->data + 8, 4)) {
        size = gf_get_be(rest->data + 12, 4);
        head = 16;
    }
    size = size ? size : rest->size;
    if (size < head || size > rest->size)
        return false;
    *body = (struct gf_blob){rest->data + head, size - head};
    *rest = (struct gf_blob){rest->data + size, rest->size - size};
    return true;
}

struct gf_blob gf_heif_find_box(struct gf_blob rest, const char *wanted)
{
    struct gf_blob body;
    char type[4];
    while (gf_heif_take_box(&rest, type, &body)) {
        if (!memcmp(type, wanted, 4))
            return body;
    }
    return (struct gf_blob){0};
}

struct gf_blob gf_heif_meta(const struct gf_blob *file)
{
    enum { VERSION_AND_FLAGS = 4 };
    const struct gf_blob meta = gf_heif_find_box(*file, "meta");
    return meta.size < VERSION_AND_FLAGS
               ? (struct gf_blob){0}
               : (struct gf_blob){meta.data + VERSION_AND_FLAGS, meta.size - VERSION_AND_FLAGS};
}

/* Hands over the property with number `index`, from 1 on, of the box ipco. */
static bool take_property(struct gf_blob properties, size_t index, bool essential,
                          gf_heif_property_taker *taker, void *context)
{
    struct gf_blob body = {0};
    char type[4];
    for (; index; index--) {
        if (!gf_heif_take_box(&properties, type, &body))
            return false;
    }
    return taker(context, type, body, essential);
}

/* Reads the box ipma, which lists the properties of each item. *left: how many properties the item
 * may still have. */
static bool read_associations(struct gf_blob box, struct gf_blob properties, uint32_t item,
                              int *left, gf_heif_property_taker *taker, void *context)
{
    if (box.size < 8)
        return false;
    const size_t number = box.data[0] ? 4 : 2, each = box.data[3] & 1 ? 2 : 1;
    uint32_t entries = gf_get_be(box.data + 4, 4);
    size_t at = 8;
    for (; entries && at + number + 1 <= box.size; entries--) {
        const bool wanted = gf_get_be(box.data + at, (int)number) == item;
        size_t count = box.data[at + number];
        for (at += number + 1; count && at + each <= box.size; count--, at += each) {
            const uint32_t index =
                gf_get_be(box.data + at, (int)each) & (each == 2 ? 0x7fff : 0x7f);
            if (wanted && index &&
                (--*left < 0 ||
                 !take_property(properties, index, box.data[at] >> 7, taker, context)))
                return false;
        }
    }
    return !entries;
}

bool gf_heif_each_property(const struct gf_blob *file, uint32_t item, gf_heif_property_taker *taker,
                           void *context)
{
    struct gf_blob rest = gf_heif_find_box(gf_heif_meta(file), "iprp"), body;
    const struct gf_blob properties = gf_heif_find_box(rest, "ipco");
    /* An item has a few properties, and each is looked for in the whole list. */
    enum { PROPERTIES_MOST = 64 };
    int left = PROPERTIES_MOST;
    bool whole = true;
    char type[4];
    while (gf_heif_take_box(&rest, type, &body)) {
        if (!memcmp(type, "ipma", 4))
            whole &= read_associations(body, properties, item, &left, taker, context);
    }
    return whole;
}

/* Adds a property to the turn if it is a rotation or a mirroring. */
static bool add_turn(void *context, const char type[4], struct gf_blob body, bool essential)
{
    struct gf_heif_turn *const turn = context;
    (void)essential;
    /* A rotation after a mirroring equals the opposite rotation before the mirroring. */
    if (body.size && !memcmp(type, "irot", 4))
        turn->angle = (turn->mirror == GF_NO_MIRROR ? body.data[0] : -body.data[0]) & 3;
    if (body.size && !memcmp(type, "imir", 4))
        turn->mirror = body.data[0] & 1;
    return true;
}

int gf_heif_item_orientation(const struct gf_blob *file, uint32_t item)
{
    struct gf_heif_turn turn = {0, GF_NO_MIRROR};
    (void)gf_heif_each_property(file, item, add_turn, &turn);
    return gf_heif_turn_orientation(turn);
}

int gf_heif_items(const struct gf_blob *file, const char *wanted)
{
    struct gf_blob rest = gf_heif_find_box(gf_heif_meta(file), "iinf"), body;
    const size_t head = rest.size && rest.data[0] ? 8 : 6;
    int count = 0;
    char type[4];
    if (rest.size < head)
        return 0;
    rest = (struct gf_blob){rest.data + head, rest.size - head};
    while (gf_heif_take_box(&rest, type, &body)) {
        /* Version, flags, the number of the item and its protection precede the item's type. */
        const size_t at = body.size && body.data[0] > 2 ? 10 : 8;
        count += body.size >= at + 4 && !memcmp(body.data + at, wanted, 4);
    }
    return count;
}

bool gf_heif_grid_is_mixed(const struct gf_blob *file)
{
    const struct gf_blob list = gf_heif_find_box(gf_heif_meta(file), "iref");
    const int number = list.size && list.data[0] ? 4 : 2;
    struct gf_blob rest = list.size < 4 ? list : (struct gf_blob){list.data + 4, list.size - 4},
                   body;
    bool mixed = false;
    char type[4];
    while (gf_heif_take_box(&rest, type, &body)) {
        uint32_t before = 0;
        /* The numbers of the pictures in the grid follow the grid's own number and their count. */
        for (size_t at = (size_t)number + 2;
             !memcmp(type, "dimg", 4) && at + (size_t)number <= body.size; at += (size_t)number) {
            const uint32_t item = gf_get_be(body.data + at, number);
            mixed |= item < before;
            before = item;
        }
    }
    return mixed;
}

bool gf_heif_is_nested(const struct gf_blob *file)
{
    enum { ROUNDS = 8, IDS = 1 << 14 }; /* larger numbers of items count as their low bits do */
    const struct gf_blob list = gf_heif_find_box(gf_heif_meta(file), "iref");
    const int number = list.size && list.data[0] ? 4 : 2;
    unsigned char round_of[IDS] = {0}; /* the last round that found the item in another one */
    bool any = true;
    for (int round = 0; round < ROUNDS && any; round++) {
        struct gf_blob rest = list.size < 4 ? list : (struct gf_blob){list.data + 4, list.size - 4},
                       body;
        char type[4];
        any = false;
        while (gf_heif_take_box(&rest, type, &body)) {
            if (memcmp(type, "dimg", 4) != 0 || body.size < (size_t)number ||
                round_of[gf_get_be(body.data, number) % IDS] != round)
                continue;
            for (size_t at = (size_t)number + 2; at + (size_t)number <= body.size;
                 at += (size_t)number) {
                round_of[gf_get_be(body.data + at, number) % IDS] = (unsigned char)(round + 1);
                any = true;
            }
        }
    }
    return any;
}

bool gf_heif_meta_is_open(const struct gf_blob *file)
{
    struct gf_blob rest = *file, body;
    char type[4];
    while (rest.size >= 8) {
        const bool open = !gf_get_be(rest.data, 4);
        if (!gf_heif_take_box(&rest, type, &body))
            return false;
        if (!memcmp(type, "meta", 4))
            return open;
    }
    return false;
}

/* Returns the content of the box mdia of the first track of that kind, such as "soun"; it is empty
 * if there is none. */
static struct gf_blob find_media(const struct gf_blob *file, const char *kind)
{
    struct gf_blob rest = gf_heif_find_box(*file, "moov"), body;
    char type[4];
    while (gf_heif_take_box(&rest, type, &body)) {
        const struct gf_blob media = gf_heif_find_box(body, "mdia"),
                             handler = gf_heif_find_box(media, "hdlr");
        if (!memcmp(type, "trak", 4) && handler.size >= 12 && !memcmp(handler.data + 8, kind, 4))
            return media;
    }
    return (struct gf_blob){0};
}

bool gf_heif_has_track(const struct gf_blob *file, const char *kind)
{
    return find_media(file, kind).size;
}

/* Returns what a box has behind its first `size` bytes. */
static struct gf_blob behind(struct gf_blob box, size_t size)
{
    return box.size < size ? (struct gf_blob){0}
                           : (struct gf_blob){box.data + size, box.size - size};
}

struct gf_blob gf_heif_auxiliary_track(const struct gf_blob *file)
{
    /* PICTURE: bytes of an entry before its own boxes. */
    enum { FLAGS = 4, COUNT = 4, PICTURE = 78 };
    const struct gf_blob table =
        gf_heif_find_box(gf_heif_find_box(find_media(file, "auxv"), "minf"), "stbl");
    struct gf_blob entries = behind(gf_heif_find_box(table, "stsd"), FLAGS + COUNT), entry;
    char type[4];
    if (!gf_heif_take_box(&entries, type, &entry))
        return (struct gf_blob){0};
    struct gf_blob text = behind(gf_heif_find_box(behind(entry, PICTURE), "auxi"), FLAGS);
    text.size = text.size ? strnlen((const char *)text.data, text.size) : 0;
    return text;
}
