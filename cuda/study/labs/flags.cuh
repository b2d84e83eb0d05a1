/* The kernels of the lab `flags`, which are compiled once for each set of flags. The including file
 * names the set, and the Makefile passes the flags:
 * #define FLAG_SET flags_ftz
 * #define FLAGS_TEXT "-ftz=true"
 * #include "cuda/study/labs/flags.cuh" */
#pragma once

#include "cuda/study/labs/arithmetic.cuh"

struct flag_set {
    const char *flags;
    evaluate *quotient, *root, *both, *half;
};
extern const struct flag_set flags_ieee, flags_ftz, flags_div, flags_sqrt, flags_fast;

#ifdef FLAG_SET
struct quotient {
    static __device__ float of(float x)
    {
        return 3.7f / x;
    }
};

struct root {
    static __device__ float of(float x)
    {
        return sqrtf(x);
    }
};

struct both {
    static __device__ float of(float x)
    {
        return sqrtf(x) / (x + 1.0f);
    }
};

/* Computes half of a number. Half of a denormal is a denormal, which -ftz makes 0. */
struct half {
    static __device__ float of(float x)
    {
        return 0.5f * x;
    }
};

const struct flag_set FLAG_SET = {FLAGS_TEXT, evaluate_kernel<quotient>, evaluate_kernel<root>,
                                  evaluate_kernel<both>, evaluate_kernel<half>};
#endif
