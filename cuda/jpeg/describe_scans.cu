/* Describes the scans of a picture with several scans for scans.cu. */

#include "cuda/common/launch.cuh"
#include "cuda/jpeg/decode.cuh"

enum { MCU_BLOCK_BITS = 4, COMPONENT_BITS = 2 };

/* A warp walks through a scan, and takes a microsecond or more to begin an interval. The other
 * pictures of the group wait for that. */
enum { SCAN_BYTES_MOST = 16 << 20, INTERVALS_MOST = 1 << 18 };

static bool has(const struct gf_jpeg_scan *scan, int component)
{
    return scan->components >> component & 1;
}

size_t gf_jpeg_scans_begin(const struct gf_jpeg_header *header)
{
    uint32_t begin = header->list[0].begin;
    for (int i = 0; i < header->scans; i++) {
        for (int c = 0; c < header->components; c++) {
            const uint32_t dc = header->list[i].dc[c], ac = header->list[i].ac[c];
            begin = dc && dc < begin ? dc : begin;
            begin = ac && ac < begin ? ac : begin;
        }
    }
    return begin;
}

static enum jpeg_scan_kind kind_of(const struct gf_jpeg_scan *scan)
{
    if (!scan->first && scan->last)
        return JPEG_SEQUENTIAL_SCAN;
    if (scan->first)
        return scan->high ? JPEG_AC_BIT_SCAN : JPEG_AC_SCAN;
    return scan->high ? JPEG_DC_BIT_SCAN : JPEG_DC_SCAN;
}

/* Adds the Huffman table at the file's offset `offset` to the scan's tables, unless it is among
 * them; *number becomes its index. Returns false if the scan has two others already. */
static bool take_table(uint32_t from, uint32_t offset, int *count, unsigned table[2],
                       unsigned *number)
{
    for (int i = 0; i < *count; i++) {
        *number = (unsigned)i;
        if (table[i] == offset - from)
            return true;
    }
    if (*count == 2)
        return false;
    *number = (unsigned)*count;
    table[(*count)++] = offset - from;
    return true;
}

/* Finds the scan's tables. Returns false unless there are at most two, in a sequential scan one for
 * DC and one for AC values. */
static bool take_tables(const struct gf_jpeg_scan *from, uint32_t begin, int components,
                        unsigned number_of_component[3], struct jpeg_scan *scan)
{
    int count = 0;
    for (int c = 0; c < components; c++) {
        if (has(from, c) && from->dc[c] &&
            !take_table(begin, from->dc[c], &count, scan->table, &number_of_component[c]))
            return false;
    }
    if (scan->kind == JPEG_SEQUENTIAL_SCAN && count != 1)
        return false;
    for (int c = 0; c < components; c++) {
        unsigned number;
        if (has(from, c) && from->ac[c] &&
            !take_table(begin, from->ac[c], &count, scan->table, &number))
            return false;
    }
    if (count == 1)
        scan->table[1] = scan->table[0];
    return true;
}

/* Describes the MCU of a scan of several components. */
static void list_blocks(const struct gf_jpeg_scan *from, const struct jpeg_picture *picture,
                        const unsigned number_of_component[3], struct jpeg_scan *scan)
{
    unsigned index = 0;
    for (int c = 0; c < picture->components; c++) {
        for (int i = 0; i < picture->h[c] * picture->v[c]; i++, index++) {
            if (!has(from, c))
                continue;
            const unsigned n = scan->mcu_blocks++;
            scan->order |= (unsigned long long)index << MCU_BLOCK_BITS * n;
            scan->components_of_block |= (unsigned)c << COMPONENT_BITS * n;
            scan->table_of_block |= number_of_component[c] << n;
        }
    }
    scan->blocks = scan->mcu_blocks * (unsigned)picture->mcus_across * (unsigned)picture->mcus_down;
}

/* Describes the MCU and the rows of a scan of one component: an MCU is one block, and there are no
 * blocks wholly outside of the picture. */
static void list_rows(const struct gf_jpeg_scan *from, const struct jpeg_picture *picture,
                      struct jpeg_scan *scan)
{
    int c = 0, h_most = 1, v_most = 1;
    for (int i = 0; i < picture->components; i++) {
        h_most = picture->h[i] > h_most ? picture->h[i] : h_most;
        v_most = picture->v[i] > v_most ? picture->v[i] : v_most;
    }
    for (; !has(from, c); c++)
        scan->before += (unsigned)(picture->h[c] * picture->v[c]);
    scan->h = (unsigned)picture->h[c];
    scan->v = (unsigned)picture->v[c];
    scan->across = blocks_for((unsigned)(picture->width * picture->h[c]), 8u * (unsigned)h_most);
    scan->blocks = scan->across *
                   blocks_for((unsigned)(picture->height * picture->v[c]), 8u * (unsigned)v_most);
    scan->mcu_blocks = 1;
    scan->components_of_block = (unsigned)c;
}

/* Returns a bit for each earlier scan whose coefficients the scan changes. */
static unsigned needs_of(const struct gf_jpeg_header *header, int index)
{
    const struct gf_jpeg_scan *const scan = &header->list[index];
    unsigned needs = 0;
    for (int i = 0; i < index; i++) {
        const struct gf_jpeg_scan *const other = &header->list[i];
        if (other->components & scan->components && other->first <= scan->last &&
            scan->first <= other->last)
            needs |= 1u << i;
    }
    return needs;
}

bool gf_jpeg_describe_scans(const struct gf_jpeg_header *header, const struct jpeg_picture *picture,
                            struct jpeg_scan *scans)
{
    const uint32_t begin = (uint32_t)gf_jpeg_scans_begin(header);
    for (int i = 0; i < header->scans; i++) {
        const struct gf_jpeg_scan *const from = &header->list[i];
        unsigned number_of_component[3] = {0, 0, 0};
        struct jpeg_scan scan = {};
        scan.kind = kind_of(from);
        scan.begin = from->begin - begin;
        scan.end = from->end - begin;
        scan.first = from->first;
        scan.last = from->last;
        scan.low = from->low;
        scan.needs = needs_of(header, i);
        if (!take_tables(from, begin, picture->components, number_of_component, &scan))
            return false;
        if (from->components & (from->components - 1))
            list_blocks(from, picture, number_of_component, &scan);
        else
            list_rows(from, picture, &scan);
        const uint64_t interval = (uint64_t)from->restart_interval * scan.mcu_blocks;
        scan.interval_blocks =
            interval && interval < scan.blocks ? (unsigned)interval : scan.blocks;
        if (from->end - from->begin > SCAN_BYTES_MOST ||
            scan.blocks / scan.interval_blocks > INTERVALS_MOST)
            return false;
        if (scans)
            scans[i] = scan;
    }
    return true;
}
