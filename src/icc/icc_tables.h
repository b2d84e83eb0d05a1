/* What the files that make the tables of a transform share. */
#pragma once

#include "icc/icc_build.h"

/* Reserves `size` bytes at the end of a block that is *end bytes long so far, and returns their
 * offset, a multiple of 16. */
unsigned gf_icc_reserve(size_t *end, size_t size);
/* Allocates the block of a transform, `size` bytes, all zero, in place of *transform, and copies
 * the head to its beginning. */
enum gf_status gf_icc_allocate(struct gf_icc_transform **transform, size_t size,
                               const struct gf_icc_transform *head,
                               struct gf_error *error) GF_CHECKED;
static inline void *gf_icc_inside(struct gf_icc_transform *transform, unsigned offset)
{
    return (char *)transform + offset;
}

/* Making tables from two profiles, in builds with Little CMS. */

#ifdef GF_WITH_LCMS
#include <lcms2.h>

struct gf_icc_making {
    const struct gf_icc_wish *wish;
    cmsContext context;
    cmsHPROFILE from, to;
    cmsHTRANSFORM exact; /* the conversion by Little CMS itself, on 16-bit samples */
    cmsUInt32Number flags;
    struct gf_icc_transform *transform;
};

static inline uint32_t gf_icc_in_bits(uint32_t sample16, int bits)
{
    return bits == 8 ? gf_icc_narrow(sample16) : sample16;
}
/* Whether the transform's tables give the same colours as Little CMS itself, within `levels` levels
 * of 8 bits. They do not if a profile needs more steps than the tables have. */
bool gf_icc_agrees(const struct gf_icc_making *b, int levels);

struct gf_icc_shaper {
    cmsToneCurve *curve[3]; /* the curves from samples to light */
    double matrix[3][3];    /* from light to XYZ relative to D50; its columns are the primaries */
};
bool gf_icc_read_shaper(cmsHPROFILE profile, struct gf_icc_shaper *shaper);
/* Computes the inverse of `to` times `from`; returns false if `to` has no inverse. */
bool gf_icc_join_matrices(double to[3][3], double from[3][3], float product[3][3]);
/* gf_icc_reserve_encode() reserves memory for the curves from light to samples of the result;
 * gf_icc_fill_encode() fills it in. */
void gf_icc_reserve_encode(struct gf_icc_transform *head, const struct gf_icc_shaper *to,
                           size_t *end);
enum gf_status gf_icc_fill_encode(struct gf_icc_making *b, const struct gf_icc_shaper *to,
                                  struct gf_error *error) GF_CHECKED;

static inline double gf_icc_clamp(double v)
{
    return v > 0 ? v < 1 ? v : 1 : 0;
}

/* Each function makes a transform of one kind (enum gf_icc_kind). *made becomes false if the
 * profiles do not fit that kind. */
enum gf_status gf_icc_make_matrix(struct gf_icc_making *b, bool *made,
                                  struct gf_error *error) GF_CHECKED;
enum gf_status gf_icc_make_light_grid(struct gf_icc_making *b, bool *made,
                                      struct gf_error *error) GF_CHECKED;
enum gf_status gf_icc_make_grid(struct gf_icc_making *b, struct gf_error *error) GF_CHECKED;
enum gf_status gf_icc_make_floats(struct gf_icc_making *b, bool *made,
                                  struct gf_error *error) GF_CHECKED;
/* These make a transform from curves and a matrix to a profile's table of L*a*b*, back from such a
 * table, and by the table of a device link. */
enum gf_status gf_icc_make_lab(struct gf_icc_making *b, bool *made,
                               struct gf_error *error) GF_CHECKED;
enum gf_status gf_icc_make_from_lab(struct gf_icc_making *b, bool *made,
                                    struct gf_error *error) GF_CHECKED;
enum gf_status gf_icc_make_link(struct gf_icc_making *b, bool *made,
                                struct gf_error *error) GF_CHECKED;

/* Fills in the table from samples to light: float [2^bits] for each channel, or one that all
 * channels share. */
void gf_icc_fill_decode(struct gf_icc_making *b, const struct gf_icc_shaper *from);

#endif
