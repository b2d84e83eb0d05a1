/* Arithmetic that rounds towards zero. */
#include <fenv.h>

#include "emulated_arithmetic.h"

namespace emulated
{

/* The arguments are volatile, so that no compiler computes before the direction is set. */
float add_rz(float a, float b)
{
    const volatile float x = a, y = b;
    fesetround(FE_TOWARDZERO);
    const volatile float sum = x + y;
    fesetround(FE_TONEAREST);
    return sum;
}

float fma_rz(float a, float b, float c)
{
    const volatile float x = a, y = b, z = c;
    fesetround(FE_TOWARDZERO);
    const volatile float sum = fmaf(x, y, z);
    fesetround(FE_TONEAREST);
    return sum;
}

} // namespace emulated
