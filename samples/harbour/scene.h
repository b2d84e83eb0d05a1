/* What stands in samples/harbour.png: the distance to it, and what it is made of. Lengths are
 * metres; x is right, y up from the water, z away from the camera. */
#pragma once

#include "vector.h"

enum material {
    STONE,
    WOOD,
    STAVES,
    IRON,
    ROPE,
    HULL,
    SPAR,
    CANVAS,
    WALL,
    ROOF,
    TOWER,
    ROCK,
    LAMP,
    FLAME
};

struct hit {
    float distance;
    enum material material;
};

/* A bound from below of the distance to the nearest surface. */
struct hit scene(struct vec p);
/* The relief of a surface, which is too fine for scene(): its height in metres. */
float scene_relief(struct vec p, enum material material);
/* The share of light that the surface gives back. */
struct vec scene_colour(struct vec p, enum material material);
/* The light that it gives off by itself. */
struct vec scene_glow(struct vec p, enum material material);

/* The lamps that light their surroundings. */
struct lamp {
    struct vec at, colour;
    float reach; /* metres, beyond which it is not looked for */
};
struct lamp scene_lantern(void);
struct lamp scene_street_lamp(struct vec near);
struct vec scene_lighthouse(void);
