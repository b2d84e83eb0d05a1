/* What bilateral's prepare() leaves in stage->constants for both backends. Weights are powers of
 * two: 2^(space[|dx|] + space[|dy|] + colour d), d the squared distance of the colours in samples.
 */
#ifndef GF_FILTERS_BILATERAL_H
#define GF_FILTERS_BILATERAL_H

enum {
    GF_BILATERAL_RADIUS_MAX = 100,
    GF_BILATERAL_TILE_MAX = 16, /* of the variant that holds a tile in shared memory at once */
};

struct gf_bilateral_weights {
    int radius, border;
    float colour;                             /* -log2(e) / 2 sigma_r^2 M^2 */
    float space[GF_BILATERAL_RADIUS_MAX + 1]; /* -log2(e) i^2 / 2 sigma_s^2 */
};

#endif
