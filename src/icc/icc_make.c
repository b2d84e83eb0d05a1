#include "icc/icc.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

const struct gf_icc_space gf_icc_srgb = {.name = "sRGB",
                                         .white = {0.3127, 0.3290},
                                         .red = {0.64, 0.33},
                                         .green = {0.30, 0.60},
                                         .blue = {0.15, 0.06},
                                         .curve = GF_ICC_SRGB};
const struct gf_icc_space gf_icc_display_p3 = {.name = "Display P3",
                                               .white = {0.3127, 0.3290},
                                               .red = {0.680, 0.320},
                                               .green = {0.265, 0.690},
                                               .blue = {0.150, 0.060},
                                               .curve = GF_ICC_SRGB};
const struct gf_icc_space gf_icc_linear_srgb = {.name = "Linear sRGB",
                                                .white = {0.3127, 0.3290},
                                                .red = {0.64, 0.33},
                                                .green = {0.30, 0.60},
                                                .blue = {0.15, 0.06},
                                                .curve = GF_ICC_POWER,
                                                .gamma = 1};
const struct gf_icc_space gf_icc_acescg = {.name = "ACEScg", /* SMPTE ST 2065-1's white, AP1 */
                                           .white = {0.32168, 0.33767},
                                           .red = {0.713, 0.293},
                                           .green = {0.165, 0.830},
                                           .blue = {0.128, 0.044},
                                           .curve = GF_ICC_POWER,
                                           .gamma = 1};

bool gf_icc_primaries(int number, struct gf_icc_space *space)
{
    static const struct {
        int number;
        const char *name;
        double xy[8]; /* the chromaticities x and y of white, red, green and blue */
    } known[] = {
        {1, "BT.709", {0.3127, 0.3290, 0.640, 0.330, 0.300, 0.600, 0.150, 0.060}},
        {5, "BT.470 BG", {0.3127, 0.3290, 0.640, 0.330, 0.290, 0.600, 0.150, 0.060}},
        {6, "BT.601", {0.3127, 0.3290, 0.630, 0.340, 0.310, 0.595, 0.155, 0.070}},
        {9, "BT.2020", {0.3127, 0.3290, 0.708, 0.292, 0.170, 0.797, 0.131, 0.046}},
        {11, "DCI-P3", {0.3140, 0.3510, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
        {12, "Display P3", {0.3127, 0.3290, 0.680, 0.320, 0.265, 0.690, 0.150, 0.060}},
    };
    size_t i = 0;
    while (i < sizeof known / sizeof *known && known[i].number != number)
        i++;
    if (i == sizeof known / sizeof *known)
        return false;
    const double *const xy = known[i].xy;
    *space = (struct gf_icc_space){.name = known[i].name,
                                   .white = {xy[0], xy[1]},
                                   .red = {xy[2], xy[3]},
                                   .green = {xy[4], xy[5]},
                                   .blue = {xy[6], xy[7]}};
    return true;
}

typedef double matrix[3][3];

static const matrix bradford = {
    {0.8951, 0.2664, -0.1614}, {-0.7502, 1.7135, 0.0367}, {0.0389, -0.0685, 1.0296}};
/* The XYZ of the white point D50, as an ICC header states it. */
static const double d50[3] = {0xf6d6 / 65536.0, 1, 0xd32d / 65536.0};

static void multiply(const matrix a, const matrix b, matrix product)
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            product[i][j] = a[i][0] * b[0][j] + a[i][1] * b[1][j] + a[i][2] * b[2][j];
    }
}

static void apply(const matrix m, const double v[3], double result[3])
{
    for (int i = 0; i < 3; i++)
        result[i] = m[i][0] * v[0] + m[i][1] * v[1] + m[i][2] * v[2];
}

double gf_icc_adjugate(const double m[3][3], double adjugate[3][3])
{
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            const int r = (j + 1) % 3, s = (j + 2) % 3, c = (i + 1) % 3, d = (i + 2) % 3;
            adjugate[i][j] = m[r][c] * m[s][d] - m[r][d] * m[s][c];
        }
    }
    return m[0][0] * adjugate[0][0] + m[0][1] * adjugate[1][0] + m[0][2] * adjugate[2][0];
}

static bool invert(const matrix m, matrix inverse)
{
    const double determinant = gf_icc_adjugate(m, inverse);
    if (!(fabs(determinant) > 1e-6))
        return false;
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            inverse[i][j] /= determinant;
    }
    return true;
}

static bool xyz_of(const double xy[2], double xyz[3])
{
    if (!(xy[1] > 1e-4 && fabs(xy[0]) <= 4 && xy[1] <= 4))
        return false;
    xyz[0] = xy[0] / xy[1];
    xyz[1] = 1;
    xyz[2] = (1 - xy[0] - xy[1]) / xy[1];
    return true;
}

/* Computes the matrix that adapts XYZ from the white to D50. Returns false if the white has
 * none. */
static bool adapt(const double white[3], matrix adaptation)
{
    matrix back, scaled;
    double from[3], to[3];
    apply(bradford, white, from);
    apply(bradford, d50, to);
    if (!invert(bradford, back))
        return false;
    for (int i = 0; i < 3; i++) {
        if (!(fabs(from[i]) > 1e-6))
            return false;
        for (int j = 0; j < 3; j++)
            scaled[i][j] = bradford[i][j] * (to[i] / from[i]);
    }
    multiply(back, scaled, adaptation);
    return true;
}

/* Computes the matrix with the XYZ of the primaries as columns, whose sum is the white. */
static bool find_xyz(const struct gf_icc_space *space, const double white[3], matrix m)
{
    const double *const corner[3] = {space->red, space->green, space->blue};
    double xyz[3], amount[3];
    matrix inverse;
    for (int j = 0; j < 3; j++) {
        /* The y of a primary may be 0, so that only the direction of its XYZ is used. */
        xyz[0] = corner[j][0];
        xyz[1] = corner[j][1];
        xyz[2] = 1 - xyz[0] - xyz[1];
        for (int i = 0; i < 3; i++)
            m[i][j] = xyz[i];
    }
    if (!invert(m, inverse))
        return false;
    apply(inverse, white, amount);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++)
            m[i][j] *= amount[j];
    }
    return true;
}

/* Computes the matrix with the XYZ of the primaries, adapted to D50, as columns. Their sum is
 * D50. */
static bool find_primaries(const struct gf_icc_space *space, matrix adaptation, matrix primaries)
{
    double white[3];
    matrix m;
    if (!xyz_of(space->white, white) || !adapt(white, adaptation) || !find_xyz(space, white, m))
        return false;
    multiply(adaptation, m, primaries);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            if (!(fabs(primaries[i][j]) < 16))
                return false;
        }
    }
    return true;
}

bool gf_icc_matrix_between(const struct gf_icc_space *from, const struct gf_icc_space *to,
                           matrix between, double luminance[3])
{
    double white[3];
    matrix adaptation, source, target, inverse;
    if (!find_primaries(from, adaptation, source) || !find_primaries(to, adaptation, target) ||
        !invert(target, inverse))
        return false;
    multiply(inverse, source, between);
    if (!xyz_of(from->white, white) || !find_xyz(from, white, source))
        return false;
    memcpy(luminance, source[1], sizeof source[1]);
    return true;
}

struct writer {
    unsigned char *at, *base;
    int tags;
};

enum { HEADER = 128, TAGS_OF_GRAY = 5, TAGS_OF_RGB = 10, TAG_ENTRY = 12 };

static void put(unsigned char *at, uint32_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        at[i] = (unsigned char)(value >> (8 * (bytes - 1 - i)));
}

static void append(struct writer *w, uint32_t value, int bytes)
{
    put(w->at, value, bytes);
    w->at += bytes;
}

static void append_text(struct writer *w, const char *text, size_t size)
{
    memcpy(w->at, text, size);
    w->at += size;
}

static void append_fixed(struct writer *w, double value) /* writes ICC's s15Fixed16Number */
{
    append(w, (uint32_t)(int32_t)floor(value * 65536 + 0.5), 4);
}

/* Adds a tag to the profile's list, with the bytes from `begin` on. Several tags may share
 * bytes. */
static void enter(struct writer *w, const char *name, const unsigned char *begin)
{
    unsigned char *const entry = w->base + HEADER + 4 + TAG_ENTRY * w->tags++;
    const uint32_t size = (uint32_t)(w->at - begin);
    memcpy(entry, name, 4);
    put(entry + 4, (uint32_t)(begin - w->base), 4);
    put(entry + 8, size, 4);
}

static unsigned char *open_tag(struct writer *w, const char *type)
{
    while ((w->at - w->base) % 4)
        append(w, 0, 1);
    unsigned char *const begin = w->at;
    append_text(w, type, 4);
    append(w, 0, 4);
    return begin;
}

static void write_name(struct writer *w, const char *tag, const char *text)
{
    const unsigned char *const begin = open_tag(w, "mluc");
    const size_t length = strnlen(text, GF_ICC_NAME_MOST);
    append(w, 1, 4);
    append(w, 12, 4);
    append_text(w, "enUS", 4);
    append(w, (uint32_t)(2 * length), 4);
    append(w, 28, 4);
    for (size_t i = 0; i < length; i++)
        append(w, (unsigned char)text[i], 2);
    enter(w, tag, begin);
}

static void write_xyz(struct writer *w, const char *tag, const double xyz[3])
{
    const unsigned char *const begin = open_tag(w, "XYZ ");
    for (int i = 0; i < 3; i++)
        append_fixed(w, xyz[i]);
    enter(w, tag, begin);
}

/* Writes the curve from samples to light. Type 3 of parametricCurveType is (a x + b)^g where x >=
 * d, otherwise c x; type 0 is x^g. */
static const unsigned char *write_curve(struct writer *w, const struct gf_icc_space *space)
{
    static const double srgb[] = {2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045};
    static const double bt709[] = {1 / 0.45, 1 / 1.099, 0.099 / 1.099, 1 / 4.5, 0.081};
    const unsigned char *const begin = open_tag(w, "para");
    const bool power = space->curve == GF_ICC_POWER;
    const double *const value = power ? &space->gamma : space->curve == GF_ICC_BT709 ? bt709 : srgb;
    append(w, power ? 0 : 3, 2);
    append(w, 0, 2);
    for (int i = 0; i < (power ? 1 : 5); i++)
        append_fixed(w, value[i]);
    return begin;
}

/* Writes the primaries, rounded so that their sum is exactly the white and gray stays gray. */
static void write_primaries(struct writer *w, const matrix primaries)
{
    static const char *const tags[] = {"rXYZ", "bXYZ", "gXYZ"};
    double column[3][3];
    for (int i = 0; i < 3; i++) {
        column[0][i] = floor(primaries[i][0] * 65536 + 0.5) / 65536;
        column[1][i] = floor(primaries[i][2] * 65536 + 0.5) / 65536;
        column[2][i] = d50[i] - column[0][i] - column[1][i];
    }
    for (int j = 0; j < 3; j++)
        write_xyz(w, tags[j], column[j]);
}

static void write_header(struct writer *w, bool gray)
{
    unsigned char *const header = w->base;
    memset(header, 0, HEADER);
    put(header, (uint32_t)(w->at - w->base), 4);
    put(header + 8, 0x04200000, 4);
    memcpy(header + 12, gray ? "mntrGRAYXYZ " : "mntrRGB XYZ ", 12);
    put(header + 24, 2026, 2); /* the date is fixed: 1 January 2026 */
    put(header + 26, 1, 2);
    put(header + 28, 1, 2);
    memcpy(header + 36, "acsp", 4);
    for (int i = 0; i < 3; i++)
        put(header + 68 + 4 * i, (uint32_t)(d50[i] * 65536), 4);
    put(header + HEADER, (uint32_t)w->tags, 4);
}

size_t gf_icc_make(const struct gf_icc_space *space, bool gray, unsigned char *profile)
{
    matrix adaptation, primaries;
    if (!find_primaries(space, adaptation, primaries) ||
        (space->curve == GF_ICC_POWER && !(space->gamma >= 0.01 && space->gamma <= 100)))
        return 0;
    const int tags = gray ? TAGS_OF_GRAY : TAGS_OF_RGB;
    struct writer w = {.base = profile, .at = profile + HEADER + 4 + TAG_ENTRY * tags};
    write_name(&w, "desc", space->name);
    write_name(&w, "cprt", "No copyright, use freely");
    write_xyz(&w, "wtpt", d50);
    const unsigned char *const chad = open_tag(&w, "sf32");
    for (int i = 0; i < 9; i++)
        append_fixed(&w, adaptation[i / 3][i % 3]);
    enter(&w, "chad", chad);
    if (!gray)
        write_primaries(&w, primaries);
    const unsigned char *const curve = write_curve(&w, space);
    if (gray) {
        enter(&w, "kTRC", curve);
    } else {
        enter(&w, "rTRC", curve);
        enter(&w, "gTRC", curve);
        enter(&w, "bTRC", curve);
    }
    write_header(&w, gray);
    return (size_t)(w.at - w.base);
}
