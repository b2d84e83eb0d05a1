/* The smaller and the larger of two numbers. */
#pragma once

static inline int gf_least(int a, int b)
{
    return a < b ? a : b;
}

static inline int gf_greatest(int a, int b)
{
    return a > b ? a : b;
}
