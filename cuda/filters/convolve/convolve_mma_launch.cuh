/* Launches convolve_mma.cuh. It chooses a shape for each matrix, and decides whether that shape is
 * faster than other kernels. */
#pragma once

#include "cuda/filters/convolve/convolve_mma.cuh"

template <class Shape, int EACH, convolve_end END = END_EXACT, class Fuse = fuse_none>
static int launch_convolve_shape(const struct gf_launch *launch, convolve_mma_args &args)
{
    return launch_strips<Shape, convolve_state<Shape, END, Fuse>>(
        launch, convolve_mma_kernel<Shape, EACH, END, Fuse>, EACH, args);
}

template <bool SMALL, int DIGITS>
static int launch_convolve_digits(const struct gf_launch *launch, convolve_mma_args &args)
{
    if (args.p.channels == 1)
        return launch_convolve_shape < convolve_shape<1, DIGITS, SMALL, 4, 2, 8>,
               SMALL ? 3 : 1 > (launch, args);
    return launch_convolve_shape < convolve_shape < 3, DIGITS, SMALL, SMALL ? 4 : 2, 1,
           SMALL ? 4 : 8 >, SMALL ? 2 : 1 > (launch, args);
}

static float reciprocal_of(float divisor)
{
    int exponent;
    const float part = fabsf(frexpf(divisor, &exponent));
    return part == 1.0f - 0x1p-24f || exponent < -20 || exponent > 40 ? 0 : 1.0f / divisor;
}

static convolve_mma_args convolve_mma_args_of(const struct gf_launch *launch,
                                              const struct gf_convolve *convolve, int *most)
{
    convolve_mma_args args = {};
    args.p = view_pair_of(launch, convolve->border);
    args.reach = args.above = convolve->height / 2;
    args.width = convolve->width;
    args.height = convolve->height;
    const int whole = gf_convolve_whole(convolve->weight, args.width * args.height, most);
    args.scale = whole ? 1.0f / (float)whole : 0.0f;
    args.divisor = convolve->divisor;
    args.reciprocal = reciprocal_of(convolve->divisor);
    args.bias = convolve->bias;
    for (int i = 0; i < convolve->width * convolve->height; i++)
        args.weight[i] = (short)(convolve->weight[i] * (float)whole);
    return args;
}

/* Sets the arguments for near sums. Returns the number of digits of the weights; 0 if these kernels
 * do not accept the matrix, or other kernels are faster. On an H200, for 8K RGB8: 5x5 decimals take
 * 0.125 ms with weights of one digit, 0.137 with two digits, and 0.235 and 0.220 with sums in
 * float; 3x3 decimals take 0.151, and 0.114 in float. */
static int convolve_near_fit(const struct gf_launch *launch, const struct gf_convolve *convolve,
                             convolve_mma_args *args)
{
    const struct gf_format format = launch->in.format;
    if (format.bits != 8 || gf_has_alpha(format) || convolve->width > NEAR_SIDE ||
        convolve->height > NEAR_SIDE || (convolve->width <= 3 && convolve->height <= 3) ||
        !gf_convolve_is_normal(convolve))
        return 0;
    int most;
    *args = convolve_mma_args_of(launch, convolve, &most);
    for (int i = 0; i < args->width * args->height; i++)
        args->fraction[i / args->width][i % args->width + (NEAR_SIDE - args->width) / 2] =
            convolve->weight[i];
    for (int digits = 1; digits <= 2; digits++) {
        if (gf_convolve_digits_of(convolve, digits, true, args->weight, &args->near) <=
            digits * DIGIT_DOUBT_MAX)
            return digits;
    }
    return 0;
}

/* Sets the arguments for near sums of a large matrix. Returns whether these kernels accept it and
 * are faster. */
static bool convolve_large_is_faster(const struct gf_launch *launch,
                                     const struct gf_convolve *convolve, convolve_mma_args *args)
{
    typedef convolve_shape<3, 2, false, 2, 1, 8> shape;
    const struct gf_format format = launch->in.format;
    int most;
    if (format.bits != 8 || gf_has_alpha(format) ||
        convolve->width * convolve->height < NEAR_LARGE_MIN || !gf_convolve_is_normal(convolve) ||
        !strips_are_faster((const void *)convolve_mma_kernel<shape, 1, END_NEAR>, true))
        return false;
    *args = convolve_mma_args_of(launch, convolve, &most);
    args->real = ((const struct gf_convolve *)launch->constants)->weight;
    return gf_convolve_digits_of(convolve, 2, false, args->weight, &args->near) <= LARGE_DOUBT_MAX;
}

static int launch_convolve_large(const struct gf_launch *launch, convolve_mma_args &args)
{
    typedef convolve_shape<1, 2, false, 4, 2, 8> gray;
    typedef convolve_shape<3, 2, false, 2, 1, 8> rgb;
    return args.p.channels == 1 ? launch_convolve_shape<gray, 1, END_NEAR>(launch, args)
                                : launch_convolve_shape<rgb, 1, END_NEAR>(launch, args);
}

/* Launches the kernel for a matrix that convolve_near_fit() accepts, with its number of digits and
 * its arguments. */
template <class Fuse>
static int launch_convolve_near(const struct gf_launch *launch, int digits, convolve_mma_args &args)
{
    typedef convolve_shape<1, 1, true, 4, 2, 8> gray_1;
    typedef convolve_shape<1, 2, true, 4, 2, 8> gray_2;
    typedef convolve_shape<3, 1, true, 4, 2, 8> rgb_1;
    typedef convolve_shape<3, 2, true, 4, 2, 8> rgb_2;
    if (args.p.channels == 1)
        return digits == 1 ? launch_convolve_shape<gray_1, 2, END_NEAR, Fuse>(launch, args)
                           : launch_convolve_shape<gray_2, 1, END_NEAR, Fuse>(launch, args);
    return digits == 1 ? launch_convolve_shape<rgb_1, 1, END_NEAR, Fuse>(launch, args)
                       : launch_convolve_shape<rgb_2, 1, END_NEAR, Fuse>(launch, args);
}

/* Launches the kernel for a matrix that bytes_fit() accepts. */
template <class Fuse>
static int launch_convolve_quick(const struct gf_launch *launch, const struct gf_convolve *convolve,
                                 const struct bytes_args &bytes)
{
    int most;
    convolve_mma_args args = convolve_mma_args_of(launch, convolve, &most);
    args.end = bytes.end;
    return args.p.channels == 1
               ? launch_convolve_shape<convolve_shape<1, 1, true, 4, 2, 8>, 2, END_QUICK, Fuse>(
                     launch, args)
               : launch_convolve_shape<convolve_shape<3, 1, true, 4, 2, 8>, 1, END_QUICK, Fuse>(
                     launch, args);
}

static int launch_convolve_mma(const struct gf_launch *launch, const struct gf_convolve *convolve)
{
    int most;
    convolve_mma_args args = convolve_mma_args_of(launch, convolve, &most);
    const bool small = args.width <= 5 && args.height <= 17, bytes = most <= 127;
    return small   ? bytes ? launch_convolve_digits<true, 1>(launch, args)
                           : launch_convolve_digits<true, 2>(launch, args)
             : bytes ? launch_convolve_digits<false, 1>(launch, args)
                   : launch_convolve_digits<false, 2>(launch, args);
}

/* Whether the quick last step is faster: for matrices that bytes_fit() accepts, except 3 x 3, where
 * half of the products would be with zeros. By code without the copy engine 5 x 5 takes 0.146 ms on
 * an H200, and 0.128 without these kernels. */
static bool convolve_quick_is_faster(const struct gf_convolve *convolve)
{
    const auto kernel = convolve_mma_kernel<convolve_shape<3, 1, true, 4, 2, 8>, 1, END_QUICK>;
    bool has_boxes = false;
    return (convolve->width > 3 || convolve->height > 3) &&
           strips_are_faster((const void *)kernel, false) &&
           starts_early((const void *)kernel, &has_boxes) == cudaSuccess && has_boxes;
}

/* Returns the number of digits of the weights if these kernels are faster for near sums, otherwise
 * 0. */
static int convolve_near_is_faster(const struct gf_launch *launch,
                                   const struct gf_convolve *convolve, convolve_mma_args *args)
{
    const auto kernel = convolve_mma_kernel<convolve_shape<3, 1, true, 4, 2, 8>, 1, END_NEAR>;
    return strips_are_faster((const void *)kernel, false)
               ? convolve_near_fit(launch, convolve, args)
               : 0;
}

/* Whether these kernels are faster. For matrices with few weights, kernels that add in registers
 * are faster, unless the quick last step can be used. */
static bool convolve_mma_is_faster(const struct gf_launch *launch,
                                   const struct gf_convolve *convolve)
{
    const struct gf_format format = launch->in.format;
    const auto kernel = convolve_mma_kernel<convolve_shape<1, 1, true, 4, 2, 8>, 3>;
    int most;
    return format.bits == 8 && !gf_has_alpha(format) &&
           (convolve->width > 5 || convolve->height > 5) &&
           convolve->width * convolve->height > 25 &&
           gf_convolve_whole(convolve->weight, convolve->width * convolve->height, &most) &&
           strips_are_faster((const void *)kernel, true);
}
