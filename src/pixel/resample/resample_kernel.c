/* The kernels of resampling. They determine the inputs of an output and their weights. */
#include "pixel/resample/resample.h"

static double sinc(double x)
{
    const double pi = 3.14159265358979323846;
    return x == 0 ? 1 : gf_sin_pi_double(x) / (pi * x);
}

/* Returns the value of a kernel with its usual parameters: Lanczos with 3 lobes, Keys' cubic with a
 * = -1/2, the triangle, and the box, which excludes its left end. */
static double kernel_at(enum gf_resample_kernel kernel, double at)
{
    const double x = fabs(at);
    switch (kernel) {
    case GF_RESAMPLE_LANCZOS3:
        return x < 3 ? sinc(x) * sinc(x / 3) : 0;
    case GF_RESAMPLE_CUBIC:
        if (x < 1)
            return (1.5 * x - 2.5) * x * x + 1;
        return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
    case GF_RESAMPLE_LINEAR:
        return x < 1 ? 1 - x : 0;
    default:
        return at > -0.5 && at <= 0.5;
    }
}

static double kernel_radius(enum gf_resample_kernel kernel)
{
    switch (kernel) {
    case GF_RESAMPLE_LANCZOS3:
        return 3;
    case GF_RESAMPLE_CUBIC:
        return 2;
    case GF_RESAMPLE_LINEAR:
        return 1;
    default:
        return 0.5;
    }
}

/* Inputs first .. end - 1 of an output, whose centres are under the kernel. Shrinking widens the
 * kernel. */
struct window {
    double centre, widening;
    int first, end;
};

static struct window window_of(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis,
                               int i)
{
    struct window window = {.centre = ((double)i + axis->offset + 0.5) * axis->scale,
                            .widening = axis->scale > 1 ? axis->scale : 1};
    const double radius = kernel_radius(kernel) * window.widening;
    const double first = window.centre - radius + 0.5;
    window.first = first > 0 ? gf_at_most(first, axis->in - 1) : 0;
    window.end = gf_at_most(window.centre + radius + 0.5, axis->in);
    if (window.end <= window.first)
        window.end = window.first + 1;
    return window;
}

void gf_resample_inputs(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i0,
                        int i1, int *first, int *end)
{
    if (kernel != GF_RESAMPLE_NEAREST) {
        const struct window window = window_of(kernel, axis, i0);
        *first = window.first;
        *end = i1 - i0 == 1 ? window.end : window_of(kernel, axis, i1 - 1).end;
        return;
    }
    /* The sum of steps differs from this product by less than one input. */
    const double low = ((double)i0 + axis->offset + 0.5) * axis->scale - 1;
    const double high = ((double)i1 - 1 + axis->offset + 0.5) * axis->scale + 2;
    *first = low > 0 ? gf_at_most(low, axis->in - 1) : 0;
    *end = gf_at_most(high, axis->in);
}

int gf_resample_taps_most(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis)
{
    const double widening = axis->scale > 1 ? axis->scale : 1;
    return gf_at_most(ceil(2 * kernel_radius(kernel) * widening) + 1, axis->in);
}

void gf_resample_weights(enum gf_resample_kernel kernel, const struct gf_resample_axis *axis, int i,
                         float *weight)
{
    const struct window window = window_of(kernel, axis, i);
    double sum = 0;
    for (int at = window.first; at < window.end; at++)
        sum += kernel_at(kernel, (at - window.centre + 0.5) / window.widening);
    for (int at = window.first; at < window.end; at++) {
        const double w = kernel_at(kernel, (at - window.centre + 0.5) / window.widening);
        weight[at - window.first] =
            sum != 0 ? (float)(w / sum) : 1.0f / (float)(window.end - window.first);
    }
}
