/* Shared functions of the labs of matrix products: the reference, and a row of results. */
#pragma once

#include "cuda/study/labs/lab.cuh"

constexpr int TILE = 32; /* the depth of the product and the side of a block (the guide's w) */

/* Computes c[row][column] = sum of a[row * a_step + i] * b[i * b_row_step + column *
 * b_column_step], in double. */
static __global__ void __launch_bounds__(TILE *TILE)
    reference_kernel(const float *a, int a_step, const float *b, size_t b_row_step,
                     int b_column_step, float *c, int rows, int columns, int depth)
{
    const int column = (int)(blockIdx.x * TILE + threadIdx.x);
    const int row = (int)(blockIdx.y * TILE + threadIdx.y);
    double sum = 0.0;
    if (row >= rows || column >= columns)
        return;
    for (int i = 0; i < depth; i++)
        sum += (double)a[(size_t)row * a_step + i] *
               (double)b[(size_t)i * b_row_step + (size_t)column * b_column_step];
    c[(size_t)row * columns + column] = (float)sum;
}

/* Returns the tolerance of `depth` products of factors below 1, which are added in float. */
static inline double product_tolerance(int depth)
{
    return 2.0 * depth * depth * 0x1p-24;
}

/* Checks and times a kernel, and adds a row. launch() writes all of c. */
template <typename Launch>
static enum gf_status product_row(const struct gf_lab_run *run, struct lab_columns *columns,
                                  int flops_column, const char *label, double bytes, double flops,
                                  lab_memory<float> &c, const lab_memory<float> &reference,
                                  Launch launch, double *worst, struct lab_time *time)
{
    double difference;
    GF_TRY(c.alloc(run, reference.count));
    LAB_TRY(cudaMemset(c.data, 0xff, c.bytes())); /* all bytes 0xff make NaN, to which no sum is
                                                   * close */
    launch();
    LAB_LAUNCHED();
    GF_TRY(lab_worst(run, c.data, reference.data, c.count, &difference));
    *worst = std::max(*worst, difference);
    GF_TRY(lab_time(run, LAB_WARM, launch, time));
    lab_row(run, columns, NAN, label, bytes, *time);
    gf_lab_value(run, flops_column, flops / time->median_s * 1e-12);
    return GF_OK;
}
