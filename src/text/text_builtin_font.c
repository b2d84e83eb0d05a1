/* The built-in font: ASCII letters made of squares, as a TrueType font in memory (Apple, TrueType
 * Reference Manual, 2022, chapter 6). */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "text/text_fonts.h"

/* The letters from U+0020 to U+007E: 12 in a block of nine strings, each letter five columns wide.
 * The two bottom rows of a letter are below the baseline. */
enum { FIRST = 32, LETTERS = 95, BLOCK = 12, COLUMNS = 5, ROWS = 9, BELOW = 2 };
static const char *const squares[] = {
    "..... ..#.. .#.#. .#.#. ..#.. ##... .##.. ..#.. ...#. .#... ..... .....",
    "..... ..#.. .#.#. .#.#. .#### ##..# #..#. ..#.. ..#.. ..#.. ..#.. ..#..",
    "..... ..#.. .#.#. ##### #.#.. ...#. #.#.. .#... .#... ...#. #.#.# ..#..",
    "..... ..#.. ..... .#.#. .###. ..#.. .#... ..... .#... ...#. .###. #####",
    "..... ..#.. ..... ##### ..#.# .#... #.#.# ..... .#... ...#. #.#.# ..#..",
    "..... ..... ..... .#.#. ####. #..## #..#. ..... ..#.. ..#.. ..#.. ..#..",
    "..... ..#.. ..... .#.#. ..#.. ...## .##.# ..... ...#. .#... ..... .....",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",

    "..... ..... ..... ..... .###. ..#.. .###. ##### ...#. ##### ..##. #####",
    "..... ..... ..... ....# #...# .##.. #...# ...#. ..##. #.... .#... ....#",
    "..... ..... ..... ...#. #..## ..#.. ....# ..#.. .#.#. ####. #.... ...#.",
    "..... ##### ..... ..#.. #.#.# ..#.. ...#. ...#. #..#. ....# ####. ..#..",
    "..... ..... ..... .#... ##..# ..#.. ..#.. ....# ##### ....# #...# .#...",
    ".##.. ..... .##.. #.... #...# ..#.. .#... #...# ...#. #...# #...# .#...",
    "..#.. ..... .##.. ..... .###. .###. ##### .###. ...#. .###. .###. .#...",
    ".#... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",

    ".###. .###. ..... ..... ...#. ..... .#... .###. .###. .###. ####. .###.",
    "#...# #...# .##.. .##.. ..#.. ..... ..#.. #...# #...# #...# #...# #...#",
    "#...# #...# .##.. .##.. .#... ##### ...#. ....# ....# #...# #...# #....",
    ".###. .#### ..... ..... #.... ..... ....# ...#. .##.# ##### ####. #....",
    "#...# ....# .##.. ..... .#... ##### ...#. ..#.. #.#.# #...# #...# #....",
    "#...# ...#. .##.. .##.. ..#.. ..... ..#.. ..... #.#.# #...# #...# #...#",
    ".###. .##.. ..... ..#.. ...#. ..... .#... ..#.. .###. #...# ####. .###.",
    "..... ..... ..... .#... ..... ..... ..... ..... ..... ..... ..... .....",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",

    "###.. ##### ##### .###. #...# .###. ..### #...# #.... #...# #...# .###.",
    "#..#. #.... #.... #...# #...# ..#.. ...#. #..#. #.... ##.## #...# #...#",
    "#...# #.... #.... #.... #...# ..#.. ...#. #.#.. #.... #.#.# ##..# #...#",
    "#...# ####. ####. #.### ##### ..#.. ...#. ##... #.... #.#.# #.#.# #...#",
    "#...# #.... #.... #...# #...# ..#.. ...#. #.#.. #.... #...# #..## #...#",
    "#..#. #.... #.... #...# #...# ..#.. #..#. #..#. #.... #...# #...# #...#",
    "###.. ##### #.... .#### #...# .###. .##.. #...# ##### #...# #...# .###.",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",

    "####. .###. ####. .#### ##### #...# #...# #...# #...# #...# ##### .###.",
    "#...# #...# #...# #.... ..#.. #...# #...# #...# #...# #...# ....# .#...",
    "#...# #...# #...# #.... ..#.. #...# #...# #...# .#.#. #...# ...#. .#...",
    "####. #...# ####. .###. ..#.. #...# #...# #.#.# ..#.. .#.#. ..#.. .#...",
    "#.... #.#.# #.#.. ....# ..#.. #...# #...# #.#.# .#.#. ..#.. .#... .#...",
    "#.... #..#. #..#. ....# ..#.. #...# .#.#. #.#.# #...# ..#.. #.... .#...",
    "#.... .##.# #...# ####. ..#.. .###. ..#.. .#.#. #...# ..#.. ##### .###.",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .....",

    "..... .###. ..#.. ..... .#... ..... #.... ..... ....# ..... ..##. .....",
    "#.... ...#. .#.#. ..... ..#.. ..... #.... ..... ....# ..... .#..# .....",
    ".#... ...#. #...# ..... ...#. .###. #.##. .###. .##.# .###. .#... .####",
    "..#.. ...#. ..... ..... ..... ....# ##..# #.... #..## #...# ###.. #...#",
    "...#. ...#. ..... ..... ..... .#### #...# #.... #...# ##### .#... #...#",
    "....# ...#. ..... ..... ..... #...# #...# #...# #...# #.... .#... #...#",
    "..... .###. ..... ##### ..... .#### ####. .###. .#### .###. .#... .####",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ....#",
    "..... ..... ..... ..... ..... ..... ..... ..... ..... ..... ..... .###.",

    "#.... ..#.. ...#. #.... .##.. ..... ..... ..... ..... ..... ..... .....",
    "#.... ..... ..... #.... ..#.. ..... ..... ..... ..... ..... ..... .....",
    "#.##. .##.. ..##. #..#. ..#.. ##.#. #.##. .###. ####. .#### #.##. .####",
    "##..# ..#.. ...#. #.#.. ..#.. #.#.# ##..# #...# #...# #...# ##..# #....",
    "#...# ..#.. ...#. ##... ..#.. #.#.# #...# #...# #...# #...# #.... .###.",
    "#...# ..#.. ...#. #.#.. ..#.. #...# #...# #...# #...# #...# #.... ....#",
    "#...# .###. ...#. #..#. .###. #...# #...# .###. ####. .#### #.... ####.",
    "..... ..... #..#. ..... ..... ..... ..... ..... #.... ....# ..... .....",
    "..... ..... .##.. ..... ..... ..... ..... ..... #.... ....# ..... .....",

    ".#... ..... ..... ..... ..... ..... ..... ...#. ..#.. .#... .....",
    ".#... ..... ..... ..... ..... ..... ..... ..#.. ..#.. ..#.. .....",
    "###.. #...# #...# #...# #...# #...# ##### ..#.. ..#.. ..#.. .#...",
    ".#... #...# #...# #...# .#.#. #...# ...#. .#... ..#.. ...#. #.#.#",
    ".#... #...# #...# #.#.# ..#.. #...# ..#.. ..#.. ..#.. ..#.. ...#.",
    ".#..# #..## .#.#. #.#.# .#.#. #...# .#... ..#.. ..#.. ..#.. .....",
    "..##. .##.# ..#.. .#.#. #...# .#### ##### ...#. ..#.. .#... .....",
    "..... ..... ..... ..... ..... ....# ..... ..... ..... ..... .....",
    "..... ..... ..... ..... ..... .###. ..... ..... ..... ..... .....",
};

enum {
    SQUARE = 100, /* font units on a side of a square */
    EM = 10 * SQUARE,
    ADVANCE = 6 * SQUARE,
    CONTOURS_MAX = ROWS * (COLUMNS + 1) / 2,
    GLYPH_MAX = 12 + CONTOURS_MAX * (2 + 4 * 5),
    GLYPHS = 1 + LETTERS, /* the first glyph replaces missing letters */
    TABLES = 7,
    HEADER = 12 + 16 * TABLES,
    FONT_MAX = HEADER + GLYPHS * (GLYPH_MAX + 16) + 512,
};

/* Writes a number of two bytes, the higher byte first, and returns the place behind it. */
static unsigned char *put16(unsigned char *at, int value)
{
    at[0] = (unsigned char)((unsigned)value >> 8);
    at[1] = (unsigned char)value;
    return at + 2;
}

static unsigned char *put32(unsigned char *at, unsigned value)
{
    return put16(put16(at, (int)(value >> 16)), (int)(value & 0xffff));
}

static bool is_set(int letter, int row, int column)
{
    if (letter < 0) /* a box is drawn for a missing letter */
        return row < ROWS - BELOW &&
               (row == 0 || row == ROWS - BELOW - 1 || column == 0 || column == COLUMNS - 1);
    return squares[letter / BLOCK * ROWS + row][letter % BLOCK * (COLUMNS + 1) + column] == '#';
}

/* A bar is a rectangle of adjacent squares in one row of a letter: its left, right and bottom
 * edges, in font units. */
struct bar {
    int left, right, bottom;
};

static int find_bars(int letter, struct bar *bar)
{
    int bars = 0;
    for (int row = 0; row < ROWS; row++) {
        for (int x = 0; x < COLUMNS;) {
            int end = x;
            while (end < COLUMNS && is_set(letter, row, end))
                end++;
            if (end > x)
                bar[bars++] =
                    (struct bar){x * SQUARE, end * SQUARE, (ROWS - BELOW - 1 - row) * SQUARE};
            x = end > x ? end : x + 1;
        }
    }
    return bars;
}

static unsigned char *put_glyph(unsigned char *at, int letter)
{
    struct bar bar[CONTOURS_MAX];
    const int bars = find_bars(letter, bar);
    if (!bars)
        return at;
    at = put16(at, bars);
    at = put16(at, 0);
    at = put16(at, -BELOW * SQUARE);
    at = put16(at, COLUMNS * SQUARE);
    at = put16(at, (ROWS - BELOW) * SQUARE);
    for (int i = 0; i < bars; i++)
        at = put16(at, 4 * i + 3);
    at = put16(at, 0); /* the glyph has no instructions */
    for (int i = 0; i < 4 * bars; i++)
        *at++ = 1; /* flags: the point is on the outline; its coordinates are 16-bit differences */
    for (int i = 0, x = 0; i < bars; x = bar[i++].right) {
        at = put16(at, bar[i].left - x);
        at = put16(at, 0);
        at = put16(at, bar[i].right - bar[i].left);
        at = put16(at, 0);
    }
    for (int i = 0, y = 0; i < bars; y = bar[i++].bottom) {
        at = put16(at, bar[i].bottom - y);
        at = put16(at, SQUARE);
        at = put16(at, 0);
        at = put16(at, -SQUARE);
    }
    return at;
}

static unsigned char *put_cmap(unsigned char *at)
{
    static const int words[] = {
        0, 1,  3, 1, 0, 12, /* one table, for Unicode */
        4, 32, 0, 4, 4, 1,  0, FIRST + LETTERS - 1, 0xffff, 0, FIRST, 0xffff, 1 - FIRST, 1, 0, 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        at = put16(at, words[i]);
    return at;
}

static unsigned char *put_head(unsigned char *at)
{
    memset(at, 0, 54);
    put32(at, 0x10000);
    put32(at + 12, 0x5f0f3cf5);
    put16(at + 18, EM);
    put16(at + 38, -BELOW * SQUARE);
    put16(at + 40, COLUMNS * SQUARE);
    put16(at + 42, (ROWS - BELOW) * SQUARE);
    put16(at + 46, 6); /* the smallest size in pixels at which the letters can be read */
    put16(at + 48, 2);
    put16(at + 50, 1); /* the table loca has offsets of 32 bits */
    return at + 54;
}

static unsigned char *put_hhea(unsigned char *at)
{
    memset(at, 0, 36);
    put32(at, 0x10000);
    put16(at + 4, EM - BELOW * SQUARE);
    put16(at + 6, -BELOW * SQUARE);
    put16(at + 10, ADVANCE);
    put16(at + 34, 1); /* one width for all glyphs */
    return at + 36;
}

static unsigned char *put_maxp(unsigned char *at)
{
    memset(at, 0, 32);
    put32(at, 0x10000);
    put16(at + 4, GLYPHS);
    put16(at + 6, 4 * CONTOURS_MAX);
    put16(at + 8, CONTOURS_MAX);
    put16(at + 14, 1);
    return at + 32;
}

static unsigned char *put_hmtx(unsigned char *at)
{
    at = put16(at, ADVANCE);
    for (int i = 0; i < GLYPHS; i++)
        at = put16(at, 0);
    return at;
}

/* Writes the directory's entry of a table that begins at `start` and ends before *at. *at is then
 * rounded up to 4 bytes. */
static void put_entry(unsigned char *font, int index, const char *tag, const unsigned char *start,
                      unsigned char **at)
{
    unsigned char *const entry = font + 12 + (size_t)index * 16;
    memcpy(entry, tag, 4);
    put32(entry + 8, (unsigned)(start - font));
    put32(entry + 12, (unsigned)(*at - start));
    *at = font + ((size_t)(*at - font) + 3) / 4 * 4;
}

enum gf_status gf_text_font_make(unsigned char **bytes, size_t *size, struct gf_error *error)
{
    static const struct {
        const char *tag;
        unsigned char *(*put)(unsigned char *at);
    } table[] = {{"cmap", put_cmap},
                 {"head", put_head},
                 {"hhea", put_hhea},
                 {"hmtx", put_hmtx},
                 {"maxp", put_maxp}};
    enum { PLAIN = sizeof table / sizeof *table };
    unsigned char *const font = calloc(1, FONT_MAX);
    GF_ALLOCATED(font, error);
    put16(put32(font, 0x10000), TABLES);
    unsigned char *at = font + HEADER, *start;
    /* place[i]: where table i stands in the directory, which is sorted by name, so that glyf and
     * loca stand between the others. */
    static const int place[PLAIN] = {0, 2, 3, 4, 6};
    for (int i = 0; i < PLAIN; i++) {
        start = at;
        at = table[i].put(at);
        put_entry(font, place[i], table[i].tag, start, &at);
    }
    unsigned char *const loca = at, *offset = at;
    at += 4 * (GLYPHS + 1);
    put_entry(font, 5, "loca", loca, &at);
    start = at;
    for (int i = 0; i < GLYPHS; i++) {
        offset = put32(offset, (unsigned)(at - start));
        at = put_glyph(at, i - 1);
        at += (at - start) % 2;
    }
    put32(offset, (unsigned)(at - start));
    put_entry(font, 1, "glyf", start, &at);
    *bytes = font;
    *size = (size_t)(at - font);
    return GF_OK;
}
