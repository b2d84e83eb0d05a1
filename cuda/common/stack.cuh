/* Stacks of pictures without rows between them, for kernels that take each row by itself. */
#pragma once

#include <cuda_runtime.h>
#include <limits.h>

#include "stage/stage.h"

/* Runs a launcher on the stack as if it were one tall picture. */
static inline int launch_tall(const struct gf_launch *launch, gf_launcher *launcher)
{
    const struct gf_stack *const stack = &launch->stack;
    struct gf_launch tall = *launch;
    if (stack->in || stack->in_rows != launch->in.format.height ||
        stack->out_rows != launch->out.format.height ||
        (long long)stack->in_rows * stack->count > INT_MAX)
        return cudaErrorNotSupported;
    tall.in.rows = tall.in.format.height = stack->in_rows * stack->count;
    tall.out.rows = tall.out.format.height = stack->out_rows * stack->count;
    return launcher(&tall);
}
