#include "filters/morphology/element.h"

/* The numbers of the shapes. A shape that has the element's size is stored as a matrix with one
 * number. */
enum { RECTANGLE = 1, ELLIPSE, CROSS, DIAMOND };
const char *const gf_element_shapes[] = {"rectangle", "ellipse", "cross", "diamond", NULL};
const char *const gf_element_matrices[] = {"1", "2", "3", "4"};

static int shape_of(const struct gf_element *element)
{
    const struct gf_matrix *const shape = &element->shape;
    if (!shape->width)
        return RECTANGLE;
    return shape->width == 1 && shape->height == 1 && shape->value[0] >= 1 ? (int)shape->value[0]
                                                                           : 0;
}

enum gf_status gf_element_check(const struct gf_element *element, struct gf_error *error)
{
    const struct gf_matrix *const shape = &element->shape;
    bool any = false;
    if (shape_of(element))
        return GF_OK;
    if (shape->width % 2 == 0 || shape->height % 2 == 0)
        return gf_fail(error, GF_ERROR_USAGE, "shape is %dx%d; both sides must be odd",
                       shape->width, shape->height);
    for (int i = 0; i < shape->width * shape->height; i++) {
        any |= shape->value[i] > 0;
        if (shape->value[i] > 1)
            return gf_fail(error, GF_ERROR_USAGE, "shape has %g; rows of 0 and 1 are needed",
                           (double)shape->value[i]);
    }
    return any ? GF_OK : gf_fail(error, GF_ERROR_USAGE, "shape has no 1");
}

static int radius_x(const struct gf_element *element)
{
    return shape_of(element) ? element->rx : element->shape.width / 2;
}

int gf_element_radius(const struct gf_element *element)
{
    if (!shape_of(element))
        return element->shape.height / 2;
    return element->ry < 0 ? element->rx : element->ry;
}

bool gf_element_is_square(const struct gf_element *element, int radius)
{
    return shape_of(element) == RECTANGLE && element->rx == radius &&
           gf_element_radius(element) == radius;
}

static void add_chord(struct gf_morphology *morphology, int dy, int x, int length)
{
    int level = 0;
    while (length >> (level + 1))
        level++;
    morphology->levels |= 1 << level;
    morphology->chord[morphology->chords++] =
        (struct gf_chord){.dy = (int16_t)dy,
                          .x = (int16_t)x,
                          .last = (int16_t)(x + length - (1 << level)),
                          .level = (int16_t)level};
}

static void add_matrix(struct gf_morphology *morphology, const struct gf_matrix *shape)
{
    for (int row = 0; row < shape->height; row++) {
        const float *const value = shape->value + row * shape->width;
        for (int x = 0, end; x < shape->width; x = end + 1) {
            for (end = x; end < shape->width && value[end] > 0;)
                end++;
            if (end > x)
                add_chord(morphology, row - shape->height / 2, x - shape->width / 2, end - x);
        }
    }
}

/* Returns the number of columns on each side of the middle in row dy of the shape. The ellipse is
 * OpenCV's. */
static int half_width(int shape, int rx, int ry, int dy)
{
    const int far = dy < 0 ? -dy : dy;
    if (shape == RECTANGLE || !ry)
        return rx;
    if (shape == CROSS)
        return dy ? 0 : rx;
    if (shape == DIAMOND)
        return rx * (ry - far) / ry;
    return (int)rint(rx * sqrt((double)(ry * ry - dy * dy) * (1.0 / ((double)ry * ry))));
}

void gf_morphology_init(struct gf_morphology *morphology, const struct gf_element *element,
                        int border)
{
    const int shape = shape_of(element), rx = radius_x(element), ry = gf_element_radius(element);
    *morphology = (struct gf_morphology){.rx = rx, .ry = ry, .border = border};
    if (!shape)
        add_matrix(morphology, &element->shape);
    for (int dy = -ry; shape && dy <= ry; dy++) {
        const int half = half_width(shape, rx, ry, dy);
        add_chord(morphology, dy, -half, 2 * half + 1);
    }
    int full = 0;
    for (int i = 0; i < morphology->chords; i++) {
        const struct gf_chord *const chord = &morphology->chord[i];
        full += chord->x == -rx && chord->last + (1 << chord->level) == rx + 1;
    }
    morphology->is_rectangle = full == 2 * ry + 1;
}
