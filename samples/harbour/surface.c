/* What the surfaces look like from near: relief, colour and light of their own. */
#include "scene.h"

#include <stdbool.h>

/* Where p lies in a wall of blocks: the block's number, and its distance to the nearest joint in
 * metres. */
struct block {
    int column, row;
    float joint;
};

static struct block block_at(float x, float y, float width, float height)
{
    const float row = floorf(y / height),
                shift = 0.5f * fmodf(fabsf(row), 2) + 0.2f * hash((int)row, 7, 7);
    const float column = floorf(x / width + shift);
    const float u = (x / width + shift - column) * width, v = y - row * height;
    return (struct block){(int)column, (int)row, fminf(fminf(u, width - u), fminf(v, height - v))};
}

static struct block paving(struct vec p)
{
    const bool top = p.y > 0.77f;
    if (top && p.z > 0.85f) /* the stones along the edge are longer */
        return block_at(p.x, p.z - 0.85f, 1.1f, 0.4f);
    return top ? block_at(p.x, p.z, 0.46f, 0.31f) : block_at(p.x + p.z, p.y, 0.7f, 0.35f);
}

/* The lay of a rope about its coil, its bollard or its own line. */
static float strands(struct vec p)
{
    const struct vec q = p.x < 1 ? sub(p, vec(0.42f, 0, -0.75f)) : sub(p, vec(1.62f, 0, 0.35f));
    const float r = sqrtf(q.x * q.x + q.z * q.z);
    return sinf(95 * (atan2f(q.z, q.x) * 0.4f + 0.45f * p.y + 0.3f * r));
}

float scene_relief(struct vec p, enum material material)
{
    switch (material) {
    case STONE: {
        if (p.z > 10)
            return 0;
        const struct block b = paving(p);
        return 0.02f * smooth(0, 0.035f, b.joint) + 0.014f * hash(b.column, b.row, 1) +
               0.02f * fractal(scale(p, 9), 5);
    }
    case WOOD: {
        const struct vec q = turn(sub(p, vec(-1.62f, 1.22f, -0.5f)), 0.42f);
        const float board = fabsf(q.y / 0.132f - floorf(q.y / 0.132f) - 0.5f);
        return 0.008f * smooth(0.5f, 0.42f, board) + 0.004f * fractal(mul(q, vec(6, 90, 6)), 3);
    }
    case STAVES: {
        const float stave = 22 * atan2f(p.z - 0.1f, p.x + 2.75f) / 6.2832f;
        return 0.008f * smooth(0, 0.09f, fabsf(stave - floorf(stave + 0.5f))) +
               0.005f * fractal(mul(p, vec(50, 4, 50)), 3);
    }
    case ROPE:
        return p.z < 2 ? 0.008f * strands(p) + 0.003f * noise(scale(p, 160)) : 0;
    case HULL:
        return 0.012f * smooth(0, 0.12f, fabsf(p.y * 7 - floorf(p.y * 7 + 0.5f)));
    case IRON:
        return p.z < 2 ? 0.006f * fractal(scale(p, 28), 4) : 0;
    case WALL:
        return 0.03f * fractal(scale(p, 5), 3);
    case ROOF:
        return 0.05f * (p.y * 4 - floorf(p.y * 4)) + 0.03f * sinf((p.x + p.z) * 14);
    case ROCK:
        return 0.4f * fractal(scale(p, 2), 4);
    case CANVAS:
        return 0.006f * fractal(mul(p, vec(9, 30, 9)), 3);
    default:
        return 0;
    }
}

static struct vec stone_colour(struct vec p)
{
    const struct block b = paving(p);
    const float tone =
        0.14f + 0.13f * hash(b.column, b.row, 2) + 0.16f * (fractal(scale(p, 14), 4) - 0.5f);
    const struct vec tint =
        mix(vec(1, 0.93f, 0.84f), vec(0.84f, 0.93f, 1), hash(b.column, b.row, 3));
    return scale(tint, fmaxf(tone, 0.03f) * lerp(0.35f, 1, smooth(0, 0.03f, b.joint)));
}

static struct vec wood_colour(struct vec grain, float tone)
{
    const float g = fractal(grain, 4);
    return scale(mix(vec(0.42f, 0.25f, 0.12f), vec(0.16f, 0.085f, 0.04f), smooth(0.3f, 0.65f, g)),
                 tone);
}

/* A house is 3.3 m wide; in its front are windows, some of them lit. */
struct window {
    float x, y; /* from its middle, in metres */
    float chance;
};

static struct window window_at(struct vec p)
{
    const float u = p.x / 1.1f, v = (p.y - 1.1f) / 1.35f;
    return (struct window){(u - floorf(u) - 0.5f) * 1.1f, (v - floorf(v) - 0.5f) * 1.35f,
                           hash((int)floorf(u), (int)floorf(v), 11)};
}

static bool in_window(struct vec p, struct window w)
{
    const bool church = fabsf(p.x + 11.5f) < 1.5f && p.z > 35;
    return !church && p.z < 33 && p.y < 6.4f && fabsf(w.x) < 0.27f && fabsf(w.y) < 0.4f &&
           fabsf(w.x) > 0.035f && fabsf(w.y - 0.1f) > 0.03f;
}

static struct vec wall_colour(struct vec p)
{
    static const struct vec paints[] = {{0.62f, 0.52f, 0.38f}, {0.50f, 0.22f, 0.16f},
                                        {0.58f, 0.56f, 0.52f}, {0.32f, 0.40f, 0.46f},
                                        {0.66f, 0.58f, 0.30f}, {0.45f, 0.33f, 0.28f}};
    if (in_window(p, window_at(p)))
        return vec(0.03f, 0.035f, 0.05f);
    const struct vec paint = paints[(int)(hash((int)floorf(p.x / 3.3f), 4, 9) * 5.99f)];
    return scale(paint, 0.55f + 0.6f * fractal(scale(p, 3), 4));
}

struct vec scene_colour(struct vec p, enum material material)
{
    const float spots = 0.6f + 0.7f * fractal(scale(p, 12), 4);
    switch (material) {
    case STONE:
        return stone_colour(p);
    case WOOD: {
        const struct vec q = turn(sub(p, vec(-1.62f, 1.22f, -0.5f)), 0.42f);
        return wood_colour(mul(q, vec(7, 60, 7)),
                           0.9f + 0.5f * hash((int)floorf(q.y / 0.132f), 1, 1));
    }
    case STAVES:
        return wood_colour(mul(p, vec(45, 5, 45)), 0.8f);
    case IRON:
        return scale(mix(vec(0.05f, 0.05f, 0.055f), vec(0.14f, 0.06f, 0.03f),
                         smooth(0.4f, 0.6f, fractal(scale(p, 7), 4))),
                     spots);
    case ROPE:
        return scale(vec(0.46f, 0.37f, 0.24f),
                     p.z < 2 ? (0.62f + 0.3f * strands(p)) * spots : 0.6f);
    case HULL:
        return p.y > 0.36f ? vec(0.62f, 0.60f, 0.55f) : scale(vec(0.09f, 0.17f, 0.26f), spots);
    case SPAR:
        return vec(0.36f, 0.24f, 0.13f);
    case CANVAS:
        return scale(vec(0.62f, 0.56f, 0.46f), spots);
    case WALL:
        return wall_colour(p);
    case ROOF:
        return scale(vec(0.24f, 0.12f, 0.09f), spots);
    case TOWER:
        return fmodf(p.y, 3.4f) < 1.7f ? vec(0.7f, 0.68f, 0.64f) : vec(0.5f, 0.09f, 0.06f);
    case ROCK:
        return scale(vec(0.13f, 0.12f, 0.11f), spots);
    default:
        return vec(1, 1, 1);
    }
}

struct vec scene_glow(struct vec p, enum material material)
{
    if (material == FLAME)
        return mix(vec(5, 2.1f, 0.45f), vec(12, 7.5f, 3), smooth(0.15f, 0, fabsf(p.y - 1.82f)));
    if (material == LAMP)
        return p.x > 12 ? vec(12, 9.5f, 5.5f) : vec(6, 3.6f, 1.4f);
    if (material != WALL)
        return vec(0, 0, 0);
    const struct vec clock = sub(p, vec(-11.5f, 9, p.z));
    if (p.z > 35 && length(clock) < 0.62f)
        return fabsf(clock.x) < 0.05f && clock.y > 0 ? vec(0, 0, 0) : vec(0.5f, 0.42f, 0.25f);
    const struct window w = window_at(p);
    if (!in_window(p, w) || w.chance > 0.42f)
        return vec(0, 0, 0);
    const float curtain = 0.5f + 0.5f * smooth(0.05f, 0.25f, fabsf(w.x));
    return scale(mix(vec(1.9f, 0.80f, 0.18f), vec(1.6f, 0.90f, 0.34f), w.chance / 0.42f),
                 curtain * (0.5f + 1.2f * w.chance));
}
