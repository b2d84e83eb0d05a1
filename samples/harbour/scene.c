/* What stands where. */
#include "scene.h"

#include <stdbool.h>

#define PI 3.14159265f

/* Distances to simple bodies about the origin. */

static float box(struct vec p, float x, float y, float z)
{
    const struct vec q = vec(fabsf(p.x) - x, fabsf(p.y) - y, fabsf(p.z) - z);
    return length(vec(fmaxf(q.x, 0), fmaxf(q.y, 0), fmaxf(q.z, 0))) +
           fminf(fmaxf(q.x, fmaxf(q.y, q.z)), 0);
}

static float cylinder(struct vec p, float radius, float half_height)
{
    const float r = sqrtf(p.x * p.x + p.z * p.z) - radius, h = fabsf(p.y) - half_height;
    return length(vec(fmaxf(r, 0), fmaxf(h, 0), 0)) + fminf(fmaxf(r, h), 0);
}

static float ring(struct vec p, float radius, float thickness)
{
    return length(vec(sqrtf(p.x * p.x + p.z * p.z) - radius, p.y, 0)) - thickness;
}

static float rod(struct vec p, struct vec a, struct vec b, float radius)
{
    const struct vec ap = sub(p, a), ab = sub(b, a);
    return length(sub(ap, scale(ab, clamp(dot(ap, ab) / dot(ab, ab), 0, 1)))) - radius;
}

static struct vec lifted(struct vec p, float y)
{
    return vec(p.x, p.y - y, p.z);
}

static void join(struct hit *hit, float distance, enum material material)
{
    if (distance < hit->distance)
        *hit = (struct hit){distance, material};
}

/* In front: a lantern on a crate, a barrel, a bollard with a rope. */

static const struct vec crate = {-1.62f, 1.22f, -0.5f}, lantern = {-1.5f, 1.64f, -0.38f},
                        barrel = {-2.75f, 1.38f, 0.1f}, bollard = {1.62f, 0.8f, 0.35f},
                        coil = {0.42f, 0.8f, -0.75f}, lighthouse = {17, 0, 44};
static const float crate_turn = 0.42f;

static void add_lantern(struct hit *hit, struct vec p)
{
    join(hit, cylinder(lifted(p, 0.03f), 0.15f, 0.03f), IRON);
    join(hit, cylinder(lifted(p, 0.42f), 0.14f - 0.5f * clamp(p.y - 0.4f, 0, 0.2f), 0.05f) * 0.8f,
         IRON);
    join(hit, cylinder(lifted(p, 0.49f), 0.05f, 0.04f), IRON);
    const struct vec q = vec(fabsf(p.x), p.y, p.z);
    join(hit, rod(q, vec(0.14f, 0.42f, 0), vec(0.09f, 0.64f, 0), 0.008f), IRON);
    join(hit, rod(q, vec(0, 0.64f, 0), vec(0.09f, 0.64f, 0), 0.012f), IRON);
    const struct vec post = turn(p, 0.5f);
    join(hit,
         rod(vec(fabsf(post.x), p.y, fabsf(post.z)), vec(0.085f, 0.03f, 0.085f),
             vec(0.085f, 0.4f, 0.085f), 0.009f),
         IRON);
    join(hit, length(mul(lifted(p, 0.2f), vec(1, 0.55f, 1))) - 0.045f, FLAME);
}

static void add_crate(struct hit *hit, struct vec p)
{
    const struct vec q = vec(fabsf(p.x), fabsf(p.y), fabsf(p.z));
    const float panels = fminf(fmaxf(q.x, q.y), fminf(fmaxf(q.y, q.z), fmaxf(q.x, q.z))) - 0.33f;
    join(hit, fmaxf(box(p, 0.4f, 0.4f, 0.4f) - 0.015f, -panels), WOOD);
    join(hit, box(p, 0.38f, 0.38f, 0.38f), WOOD);
}

static void add_barrel(struct hit *hit, struct vec p)
{
    const float bulge = 0.44f - 0.22f * p.y * p.y;
    const float hollow = cylinder(lifted(p, 0.58f), bulge - 0.04f, 0.05f);
    join(hit, fmaxf(cylinder(p, bulge, 0.58f), -hollow) * 0.85f, STAVES);
    const float hoop = fminf(fabsf(fabsf(p.y) - 0.22f), fabsf(fabsf(p.y) - 0.5f)) - 0.028f;
    join(hit, fmaxf(fmaxf(cylinder(p, bulge + 0.012f, 0.56f), hoop), -hollow) * 0.85f, IRON);
}

static void add_mooring(struct hit *hit, struct vec p)
{
    const struct vec q = sub(p, bollard), c = sub(p, coil);
    join(hit, cylinder(lifted(q, 0.28f), 0.23f - 0.06f * smooth(0, 0.3f, q.y), 0.28f) - 0.02f,
         IRON);
    join(hit, cylinder(lifted(q, 0.58f), 0.22f, 0.03f) - 0.06f, IRON);
    for (int i = 0; i < 3; i++)
        join(hit, ring(sub(q, vec(0.01f * (float)i, 0.2f + 0.075f * (float)i, 0)), 0.23f, 0.04f),
             ROPE);
    for (int i = 0; i < 12; i++) {
        const float layer = (float)(i / 3), turns = (float)(i % 3);
        const struct vec at =
            vec(0.015f * fmodf(layer, 3), 0.04f + 0.068f * layer, 0.012f * fmodf(layer, 2));
        join(hit, ring(sub(c, at), 0.46f - 0.082f * turns - 0.02f * layer, 0.04f), ROPE);
    }
    join(hit, rod(p, vec(0.86f, 0.84f, -0.7f), vec(1.5f, 0.84f, -0.1f), 0.04f), ROPE);
    join(hit, rod(p, vec(1.5f, 0.84f, -0.1f), vec(1.66f, 1.0f, 0.12f), 0.04f), ROPE);
}

/* On the water: boats with their bows towards +x of their own axes. */

static struct vec to_boat(struct vec p, int which)
{
    return which == 0   ? turn(sub(p, vec(2.9f, 0.05f, 8.4f)), -0.45f)
           : which == 1 ? turn(sub(p, vec(-3.4f, 0, 13.5f)), 2.5f)
                        : turn(sub(p, vec(8.6f, 0, 16)), 0.35f);
}

static void add_rigging(struct hit *hit, struct vec p, float mast)
{
    const struct vec top = vec(0.55f, mast, 0);
    const float thin = 0.011f;
    join(hit, rod(p, vec(0.55f, 0.4f, 0), top, 0.045f), SPAR);
    join(hit, rod(p, vec(0.55f, 1.35f, 0), vec(-1.9f, 1.45f, 0), 0.035f), SPAR);
    join(hit,
         rod(p, vec(0.35f, 1.46f, 0), vec(-1.75f, 1.53f, 0), 0.085f + 0.018f * sinf(p.x * 14)) *
             0.8f,
         CANVAS);
    join(hit, rod(p, top, vec(2.35f, 0.85f, 0), thin), ROPE);
    join(hit, rod(p, top, vec(-2.3f, 0.75f, 0), thin), ROPE);
    join(hit, rod(vec(p.x, p.y, fabsf(p.z)), top, vec(0.5f, 0.62f, 0.72f), thin), ROPE);
    join(hit, rod(p, vec(0.55f, mast * 0.62f, -0.5f), vec(0.55f, mast * 0.62f, 0.5f), 0.02f), SPAR);
    join(hit, length(sub(p, vec(0.55f, mast + 0.08f, 0))) - 0.05f, LAMP);
}

static void add_boat(struct hit *hit, struct vec p, float mast)
{
    const float u = p.x / 2.4f, sheer = 0.62f + 0.22f * u * u, side = fabsf(p.z);
    const float breadth =
        0.85f * (1 - u * u * (u > 0 ? 1 : 0.55f)) * (0.62f + 0.38f * smooth(-0.3f, 0.6f, p.y));
    const float hull = fmaxf(fmaxf((side - breadth) * 0.7f, (p.y - sheer) * 0.8f),
                             fmaxf(fabsf(p.x) - 2.4f, -0.4f - p.y));
    join(hit, fmaxf(hull, -fmaxf((side - breadth + 0.07f) * 0.7f, 0.38f - p.y)), HULL);
    join(hit, box(sub(p, vec(0.25f, 0.72f, 0)), 0.75f, 0.2f, 0.42f) - 0.04f, CANVAS);
    add_rigging(hit, p, mast);
}

/* Across the water: a row of houses, a church, street lamps, a lighthouse. */

static const float first_house = -36.3f, last_house = 6.6f, house_width = 3.3f, lamps_apart = 7;

struct house {
    struct vec at; /* the middle of its ground */
    float height;
    int cell;
};

static struct house house_at(float x)
{
    const int cell = (int)floorf(x / house_width);
    return (struct house){vec(house_width * ((float)cell + 0.5f), 1, 30 + 1.2f * hash(cell, 2, 5)),
                          3.2f + 2.6f * hash(cell, 1, 5), cell};
}

static void add_house(struct hit *hit, struct vec p, struct house house)
{
    const struct vec q = sub(p, house.at);
    const bool gable = house.cell & 1; /* towards the water */
    const float across = gable ? fabsf(q.x) / 1.6f : fabsf(q.z) / 3, rise = gable ? 1.7f : 2.1f;
    join(hit, box(lifted(q, house.height / 2), 1.6f, house.height / 2, 3), WALL);
    join(hit,
         fmaxf(box(lifted(q, house.height + rise / 2), 1.68f, rise / 2 + 0.05f, 3.15f),
               (q.y - house.height - rise * (1.08f - across)) * 0.6f),
         ROOF);
    join(hit, box(sub(q, vec(0.8f, house.height + rise, -0.6f)), 0.22f, 0.55f, 0.22f), WALL);
}

static void add_town(struct hit *hit, struct vec p)
{
    join(hit, box(sub(p, vec(-17, 0, 40)), 26, 1, 15), STONE);
    for (int i = -1; i <= 1; i++) {
        const float x = p.x + house_width * (float)i;
        if (x > first_house && x < last_house)
            add_house(hit, p, house_at(x));
    }
    const struct vec q = sub(p, vec(-11.5f, 1, 37)); /* the church */
    join(hit, box(lifted(q, 5), 1.4f, 5, 1.4f), WALL);
    join(hit,
         fmaxf((fmaxf(fabsf(q.x), fabsf(q.z)) - 1.6f * (15.5f - q.y) / 5.5f) * 0.85f, 9.9f - q.y),
         ROOF);
    const struct vec lamp = sub(p, scene_street_lamp(p).at);
    join(hit, rod(lamp, vec(0, -2.3f, 0), vec(0, 0, 0), 0.05f), IRON);
    join(hit, length(lamp) - 0.14f, LAMP);
}

static void add_lighthouse(struct hit *hit, struct vec p)
{
    const struct vec q = sub(p, lighthouse);
    const float rocks = length(mul(sub(q, vec(2, -0.7f, 0)), vec(0.16f, 0.5f, 0.3f))) - 1;
    if (length(lifted(q, 5)) > 18) {
        join(hit, length(lifted(q, 5)) - 14, TOWER);
        return;
    }
    join(hit, (rocks - 0.3f * fractal(scale(p, 0.9f), 4)) * 1.6f, ROCK);
    join(hit, cylinder(lifted(q, 5), 1.15f - 0.05f * q.y, 4.2f) * 0.95f, TOWER);
    join(hit, cylinder(lifted(q, 9.3f), 1, 0.12f), IRON);
    join(hit, cylinder(lifted(q, 10.6f), fmaxf(0.75f - 0.6f * (q.y - 10.5f), 0.05f), 0.3f) * 0.7f,
         IRON);
    const float third = PI / 3;
    const struct vec a = turn(q, (floorf(atan2f(q.z, q.x) / third) + 0.5f) * -third);
    join(hit, rod(a, vec(0.62f, 9.3f, 0), vec(0.62f, 10.4f, 0), 0.05f), IRON);
    join(hit, cylinder(lifted(q, 9.8f), 0.36f, 0.35f), LAMP);
}

/* Of what stands in a ball, only the distance to the ball matters from outside. */
struct hit scene(struct vec p)
{
    struct hit hit = {fmaxf(p.y - 0.8f, p.z - 1.2f), STONE};
    const float goods = length(sub(p, vec(-2.1f, 1.4f, -0.2f))) - 1.5f;
    if (goods >= 0.3f) {
        join(&hit, goods, WOOD);
    } else {
        add_crate(&hit, turn(sub(p, crate), crate_turn));
        add_barrel(&hit, sub(p, barrel));
        add_lantern(&hit, sub(p, lantern));
    }
    const float mooring = length(sub(p, vec(1, 1, -0.2f))) - 1.5f;
    if (mooring < 0.3f)
        add_mooring(&hit, p);
    else
        join(&hit, mooring, ROPE);
    for (int i = 0; i < 3; i++) {
        const struct vec q = to_boat(p, i);
        const float near = length(vec(q.x, fmaxf(fabsf(q.y - 2.6f) - 2.9f, 0), q.z)) - 2.7f;
        if (near < 0.5f)
            add_boat(&hit, q, 5.2f - 0.4f * (float)i);
        else
            join(&hit, near, HULL);
    }
    if (p.z > 23) {
        add_town(&hit, p);
        add_lighthouse(&hit, p);
    } else {
        join(&hit, 24.5f - p.z, STONE);
    }
    return hit;
}

struct lamp scene_lantern(void)
{
    return (struct lamp){lifted(lantern, -0.22f), vec(1, 0.5f, 0.16f), 9};
}

struct lamp scene_street_lamp(struct vec near)
{
    const float x = clamp(near.x, first_house + 1, last_house - 3);
    return (struct lamp){vec((floorf(x / lamps_apart) + 0.5f) * lamps_apart, 3.3f, 25.8f),
                         vec(1, 0.62f, 0.25f), 14};
}

struct vec scene_lighthouse(void)
{
    return lifted(lighthouse, -9.9f);
}
