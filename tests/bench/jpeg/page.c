/* Draws a page of text as a PPM: WIDTH HEIGHT PART, the part of the rows that hold text (1: all).
 * The letters are random marks of five by seven squares, since only the kind of signal matters. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { SQUARE = 3, ACROSS = 6, DOWN = 11, LETTERS = 64 }; /* squares of a letter with its margins */

static uint64_t state = 88172645463325252u;

static uint64_t next(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

int main(int argc, char **argv)
{
    const int width = argc == 4 ? atoi(argv[1]) : 0, height = argc == 4 ? atoi(argv[2]) : 0;
    const double part = argc == 4 ? atof(argv[3]) : 0;
    uint64_t letter[LETTERS];
    if (width < 1 || height < 1 || part < 0 || part > 1) {
        fprintf(stderr, "page: WIDTH HEIGHT PART\n");
        return 2;
    }
    const int columns = width / (SQUARE * ACROSS), lines = height / (SQUARE * DOWN) + 1;
    unsigned char *const text = malloc((size_t)(columns + 1) * (size_t)lines);
    if (!text)
        return 1;
    for (int i = 0; i < LETTERS; i++)
        letter[i] = next() & next(); /* a quarter of the squares is black */
    for (int i = 0; i < (columns + 1) * lines; i++)
        text[i] = next() % 6 ? (unsigned char)(next() % (LETTERS - 1) + 1) : 0; /* 0: a space */
    letter[0] = 0;
    printf("P6\n%d %d\n255\n", width, height);
    for (int y = 0; y < height; y++) {
        const int line = y / (SQUARE * DOWN), row = y / SQUARE % DOWN;
        for (int x = 0; x < width; x++) {
            const int column = x / (SQUARE * ACROSS), square = x / SQUARE % ACROSS;
            const uint64_t shape = letter[text[line * (columns + 1) + column]];
            const bool black = y < part * height && row < 7 && square < 5 && column < columns &&
                               (shape >> (row * 5 + square) & 1);
            for (int channel = 0; channel < 3; channel++)
                putchar(black ? 20 : 255);
        }
    }
    free(text);
    return ferror(stdout) != 0;
}
