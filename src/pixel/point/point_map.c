/* Maps rows of samples through tables. */
#include <string.h>

#include "base/target_clones.h"
#include "pixel/point/point_planes.h"

/* Maps samples through tables, with one load and one store for eight samples. table:
 * [channel][256]. `out` may be `in`. */
GF_INLINE void map_8(const uint8_t *in, uint8_t *out, size_t n, const int channels,
                     const uint8_t *table)
{
    const int words = channels == 3 ? 3 : 1; /* the number of words after which a word begins with
                                              * channel 0 again */
    size_t i = 0;
    for (; i + 8 * (size_t)words <= n; i += 8 * (size_t)words) {
        for (int k = 0; k < words; k++) {
            uint64_t from, to = 0;
            memcpy(&from, in + i + 8 * k, 8);
            for (int j = 0; j < 8; j++)
                to |=
                    (uint64_t)table[(from >> 8 * j & 255) + 256 * (size_t)((8 * k + j) % channels)]
                    << 8 * j;
            memcpy(out + i + 8 * k, &to, 8);
        }
    }
    for (; i < n; i++)
        out[i] = table[in[i] + 256 * (i % (size_t)channels)];
}

GF_INLINE void map_16(const uint16_t *restrict in, uint16_t *restrict out, size_t n,
                      const int channels, const uint16_t *const table[3])
{
    const int colours = channels >= 3 ? 3 : 1;
    for (size_t i = 0; i < n; i++) {
        for (int c = 0; c < colours; c++)
            out[i * (size_t)channels + (size_t)c] = table[c][in[i * (size_t)channels + (size_t)c]];
        if (channels != colours)
            out[i * (size_t)channels + (size_t)colours] =
                in[i * (size_t)channels + (size_t)colours];
    }
}

GF_INLINE void map_any(int bits, const void *in, void *out, size_t width, const int channels,
                       const void *table, int tables)
{
    if (bits == 8) {
        map_8(in, out, width * (size_t)channels, channels, table);
    } else {
        const uint16_t *const first = table;
        const int step = tables == 1 ? 0 : 65536;
        map_16(in, out, width, channels,
               (const uint16_t *const[3]){first, first + step, first + 2 * step});
    }
}

void gf_point_map_samples(const struct gf_point_program *program, struct gf_format format,
                          const void *in, void *out, size_t width)
{
    const void *const table = gf_point_block(program, program->table_at);
    const int bits = format.bits, tables = program->tables;
    if (bits == 8 && gf_cpu_has(GF_CPU_VBMI)) {
        gf_map_simd(in, out, width * (size_t)format.channels, format.channels, table);
        return;
    }
    if (bits == 16 && program->op[0].max > 0 && format.channels % 2) {
        gf_words_map(&program->op[0], in, out, width * (size_t)format.channels);
        return;
    }
    GF_BY_CHANNELS(format.channels, CHANNELS,
                   map_any(bits, in, out, width, CHANNELS, table, tables));
}

void gf_point_map_colour(const uint8_t table[3][256], const uint8_t *in, uint8_t *out, size_t n)
{
    uint8_t pixel[256][4] = {{0}};
    if (!n)
        return;
    if (gf_cpu_has(GF_CPU_VBMI)) {
        gf_bytes_colour(table, in, n, out);
        return;
    }
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < 256; v++)
            pixel[v][c] = table[c][v];
    for (size_t i = 0; i + 1 < n; i++) /* the next pixel overwrites the fourth byte */
        memcpy(out + 3 * i, pixel[in[i]], 4);
    memcpy(out + 3 * (n - 1), pixel[in[n - 1]], 3);
}
