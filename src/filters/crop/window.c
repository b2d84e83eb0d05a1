/* Finds the window that crop cuts out for gravity=attention and gravity=entropy, in the small copy
 * of the picture that the statistic CELLS is. All of it is arithmetic of integers. */
#include <stdlib.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "filters/crop/crop.h"
#include "pixel/sample.h"
#include "stage/stage.h"

/* A pixel of the copy. */
struct cell {
    int colour[3], luma, alpha; /* 0..255; gray is three equal colours */
};

/* The levels of luma that entropy tells apart. More of them would be told apart by noise. */
enum { LEVELS = 32 };

/* The copy, and what windows are judged by: one number for each cell that its interest is
 * (attention), or LEVELS numbers, of which that of its luma's level is 1 (entropy). */
struct copy {
    int columns, rows, planes;
    int mean[3]; /* the mean colour, weighted by alpha */
    struct cell cell[GF_CELLS_MAX * GF_CELLS_MAX];
    /* [rows + 1][columns + 1][planes] sums of the numbers of all cells above and to the left */
    uint32_t integral[(GF_CELLS_MAX + 1) * (GF_CELLS_MAX + 1) * LEVELS];
    uint32_t log[GF_CELLS_MAX * GF_CELLS_MAX + 1]; /* log[n] is log_of(n), for a window's cells */
};

struct box {
    int x, y, w, h;
};

static void read_cells(const struct gf_stage *stage, struct copy *copy)
{
    const struct gf_format format = stage->in;
    const int side = gf_cells_of(format).side, last = format.channels - 1;
    const int more = gf_is_float(format) ? 8 : format.bits - 8; /* floats count as 16 bits */
    int alphas = 0;
    for (int i = 0; i < copy->columns * copy->rows; i++) {
        const uint64_t *const sum = stage->histogram->count + (size_t)i * (size_t)format.channels;
        const int right = format.width - i % copy->columns * side,
                  below = format.height - i / copy->columns * side;
        const uint64_t pixels =
            (uint64_t)(right < side ? right : side) * (uint64_t)(below < side ? below : side);
        const uint64_t weight = gf_has_alpha(format) ? sum[last] : pixels;
        struct cell *const cell = &copy->cell[i];
        cell->alpha = gf_has_alpha(format) ? (int)(weight / pixels >> more) : 255;
        alphas += cell->alpha;
        for (int c = 0; c < 3; c++) {
            cell->colour[c] = (int)(sum[last < 2 ? 0 : c] / (weight ? weight : 1) >> more);
            copy->mean[c] += cell->colour[c] * cell->alpha; /* at most 2^14 2^16 */
        }
        cell->luma = gf_luma601(8, cell->colour[0], cell->colour[1], cell->colour[2]);
    }
    for (int c = 0; c < 3; c++)
        copy->mean[c] /= alphas ? alphas : 1;
}

/* Returns how near a colour is to the hue and saturation of skin, which differs little between
 * people: 255 where red has 112 and green 82 of 256 parts of the sum of the colours. */
static int skin_of(const struct cell *cell)
{
    const int sum = cell->colour[0] + cell->colour[1] + cell->colour[2] + 1;
    const int off = abs(256 * cell->colour[0] / sum - 112) + abs(256 * cell->colour[1] / sum - 82);
    return cell->luma > 40 && cell->luma < 235 && off < 26 ? 255 - 10 * off : 0;
}

static int at_most_255(int value)
{
    return value < 255 ? value : 255;
}

/* Returns the interest of a cell, 0..1020: its edges, its saturation, how much it is like skin, and
 * how far it is from the mean colour; in proportion to its alpha. */
static uint32_t interest_of(const struct copy *copy, int x, int y)
{
    const int columns = copy->columns;
    const struct cell *const cell = &copy->cell[y * columns + x];
    const int left = cell[x ? -1 : 0].luma, right = cell[x + 1 < columns ? 1 : 0].luma,
              above = cell[y ? -columns : 0].luma,
              below = cell[y + 1 < copy->rows ? columns : 0].luma;
    int least = 255, most = 0, away = 0;
    for (int c = 0; c < 3; c++) {
        least = cell->colour[c] < least ? cell->colour[c] : least;
        most = cell->colour[c] > most ? cell->colour[c] : most;
        away += abs(cell->colour[c] - copy->mean[c]);
    }
    const int sum = at_most_255(abs(right - left) + abs(below - above)) + most - least +
                    skin_of(cell) + at_most_255(away / 2);
    return (uint32_t)(sum * cell->alpha / 255);
}

/* Fills the integral. Transparent cells have no level and no interest. */
static void add_up(struct copy *copy)
{
    const size_t planes = (size_t)copy->planes, pitch = (size_t)(copy->columns + 1) * planes;
    for (int y = 0; y < copy->rows; y++) {
        uint32_t *const above = copy->integral + (size_t)y * pitch, *const own = above + pitch;
        uint32_t row[LEVELS] = {0};
        for (int x = 0; x < copy->columns; x++) {
            const struct cell *const cell = &copy->cell[y * copy->columns + x];
            const size_t at = (size_t)(x + 1) * planes;
            if (planes == 1)
                row[0] += interest_of(copy, x, y);
            else if (cell->alpha)
                row[cell->luma * LEVELS / 256]++;
            for (size_t k = 0; k < planes; k++)
                own[at + k] = above[at + k] + row[k];
        }
    }
}

/* Returns log2 n in 2^-16, rounded down; at most 1 lower. */
static uint32_t log_of(uint32_t n)
{
    const int whole = 31 - __builtin_clz(n);
    uint64_t mantissa = (uint64_t)n << (31 - whole); /* 1 is 2^31 */
    uint32_t log = (uint32_t)whole;
    for (int bit = 0; bit < 16; bit++) {
        mantissa = mantissa * mantissa >> 31;
        log = log << 1 | (uint32_t)(mantissa >> 32);
        mantissa >>= mantissa >> 32;
    }
    return log;
}

/* Returns the interest in a box of cells, or the entropy of its luma in 2^-16 bits. */
GF_TARGET_CLONES static uint64_t worth_of(const struct copy *copy, struct box box)
{
    const size_t planes = (size_t)copy->planes, pitch = (size_t)(copy->columns + 1) * planes;
    const uint32_t *const above = copy->integral + (size_t)box.y * pitch + (size_t)box.x * planes,
                          *const below = above + (size_t)box.h * pitch;
    const size_t right = (size_t)box.w * planes;
    uint32_t count[LEVELS];
    uint64_t cells = 0, sum = 0;
    for (size_t k = 0; k < planes; k++)
        count[k] = below[right + k] - below[k] - above[right + k] + above[k];
    if (planes == 1)
        return count[0];
    for (size_t k = 0; k < planes; k++) {
        cells += count[k];
        sum += (uint64_t)count[k] * copy->log[count[k]];
    }
    return cells ? (cells * copy->log[cells] - sum) / cells : 0;
}

/* Returns what a window is worth: all of it, and its middle half once more, so that what matters
 * comes to lie in the middle. A side as long as the copy's has no middle half. */
static uint64_t worth_of_window(const struct copy *copy, struct box box)
{
    struct box middle = box;
    middle.w = box.w < copy->columns ? box.w / 2 : box.w;
    middle.h = box.h < copy->rows ? box.h / 2 : box.h;
    middle.x += (box.w - middle.w) / 2;
    middle.y += (box.h - middle.h) / 2;
    return worth_of(copy, box) + worth_of(copy, middle);
}

/* Returns the last of the windows that follow `best` to the right, or below, and are worth as
 * much. */
static struct box last_equal(const struct copy *copy, struct box best, int right, int below)
{
    const uint64_t worth = worth_of_window(copy, best);
    for (struct box next = best;; best = next) {
        next.x += right;
        next.y += below;
        if (next.x + next.w > copy->columns || next.y + next.h > copy->rows ||
            worth_of_window(copy, next) != worth)
            return best;
    }
}

/* Finds the best window of w x h cells: the first one, and behind it the last one of its equals.
 * Their middle is where the window lies. */
static void find_best(const struct copy *copy, int w, int h, struct box *first, struct box *last)
{
    struct box box = {0, 0, w, h};
    uint64_t most = 0;
    *first = box;
    for (box.y = 0; box.y + h <= copy->rows; box.y++) {
        for (box.x = 0; box.x + w <= copy->columns; box.x++) {
            const uint64_t worth = worth_of_window(copy, box);
            *first = worth > most ? box : *first;
            most = worth > most ? worth : most;
        }
    }
    const struct box right = last_equal(copy, *first, 1, 0);
    struct box between = *first;
    between.x = (first->x + right.x) / 2;
    *last = last_equal(copy, between, 0, 1);
    last->x = right.x;
}

/* Returns the offset in pixels, 0..room, of the middle of two places among places 0..most. */
static int offset_of(int first, int last, int most, int room)
{
    return most ? (int)((int64_t)(first + last) * room / (2 * most)) : room / 2;
}

/* Returns the number of cells that is nearest to a side of `part` of `whole` pixels. */
static int cells_of(int part, int whole, int cells)
{
    const int count = (int)(((int64_t)part * cells + whole / 2) / whole);
    return count ? count : 1;
}

enum gf_status gf_window_find(const struct gf_stage *stage, bool by_entropy,
                              struct gf_crop_origin *origin, struct gf_error *error)
{
    const struct gf_format in = stage->in, out = stage->out;
    const struct gf_cells cells = gf_cells_of(in);
    struct copy *const copy = calloc(1, sizeof *copy);
    const int w = cells_of(out.width, in.width, cells.columns),
              h = cells_of(out.height, in.height, cells.rows);
    GF_ALLOCATED(copy, error);
    copy->columns = cells.columns;
    copy->rows = cells.rows;
    copy->planes = by_entropy ? LEVELS : 1;
    for (int n = 1; by_entropy && n <= w * h; n++)
        copy->log[n] = n % 2 ? log_of((uint32_t)n) : copy->log[n / 2] + (1 << 16);
    read_cells(stage, copy);
    add_up(copy);
    struct box first, last;
    find_best(copy, w, h, &first, &last);
    free(copy);
    origin->x = offset_of(first.x, last.x, cells.columns - w, in.width - out.width);
    origin->y = offset_of(first.y, last.y, cells.rows - h, in.height - out.height);
    return GF_OK;
}
