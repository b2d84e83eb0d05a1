/* Sums over square windows: a block moves down a strip with a thread for each column, which keeps
 * the sum of the 2 radius + 1 samples of its column. The sum of a window is the difference of two
 * prefix sums of the column sums over the block, so that the time does not depend on the radius.
 * All sums are of integers, so that every order gives the same bits. The kernels do not use
 * walk.cuh, since their windows may be wider than a strip. */
#ifndef GF_CUDA_COMMON_WINDOW_SUMS_CUH
#define GF_CUDA_COMMON_WINDOW_SUMS_CUH

#include "cuda/common/launch.cuh"
#include "cuda/common/view_pair.cuh"
#include "stage/border.h"

/* The place of a block and a thread. The block computes columns first .. first + THREADS - 2 radius
 * - 1 of `strip` rows. A thread's column x may be beyond the picture; `from` is the column of the
 * picture that replaces x, or -1 if zeros replace it. */
struct place {
    int x, from, channel, top, end;
    bool makes; /* the thread computes a result in its column */
};

template <int THREADS>
static __device__ __forceinline__ struct place place_of(const struct view_pair &p, int radius,
                                                        int strip, int rows)
{
    struct place place;
    const int t = (int)threadIdx.x;
    place.x = (int)blockIdx.x * (THREADS - 2 * radius) + t - radius;
    place.from = place.x < p.width + radius ? gf_border_index(place.x, p.width, p.border) : -1;
    place.channel = (int)blockIdx.z;
    place.top = (int)blockIdx.y * strip;
    place.end = min(place.top + strip, rows);
    place.makes = t >= radius && t < THREADS - radius && place.x < p.width;
    return place;
}

/* The shared memory of window_sums(). The sums of warps come first: they are read as vectors, and
 * no vector may contain a number that another warp writes at that time. */
template <class A, class B, int THREADS> struct prefixes {
    A first_warp[THREADS / WARP];
    B second_warp[THREADS / WARP];
    A first[THREADS + 1];
    B second[THREADS + 1];
};

template <class T> static __device__ __forceinline__ T warp_prefix(T v, int lane)
{
#pragma unroll
    for (int step = 1; step < WARP; step *= 2) {
        const T other = __shfl_up_sync(0xffffffffu, v, step);
        v += lane >= step ? other : 0;
    }
    return v;
}

/* Replaces *a and *b by their sums over the 2 radius + 1 threads around this one. The sums are
 * valid in threads whose place.makes is set. All threads of the block call the function. */
template <class A, class B, int THREADS>
static __device__ __forceinline__ void window_sums(struct prefixes<A, B, THREADS> *s, int radius,
                                                   bool makes, A *a, B *b)
{
    const int t = (int)threadIdx.x, lane = t % WARP, warp = t / WARP;
    A first = warp_prefix(*a, lane);
    B second = warp_prefix(*b, lane);
    __syncthreads(); /* every thread has read the sums of the row before */
    if (lane == WARP - 1) {
        s->first_warp[warp] = first;
        s->second_warp[warp] = second;
    }
    __syncthreads();
#pragma unroll
    for (int i = 0; i < THREADS / WARP - 1; i++) {
        first += i < warp ? s->first_warp[i] : 0;
        second += i < warp ? s->second_warp[i] : 0;
    }
    s->first[t + 1] = first;
    s->second[t + 1] = second;
    if (t == 0)
        s->first[0] = s->second[0] = 0;
    __syncthreads();
    if (makes) {
        *a = s->first[t + radius + 1] - s->first[t - radius];
        *b = s->second[t + radius + 1] - s->second[t - radius];
    }
}

/* The sums of samples and of their squares in a thread's column, over the window's rows around
 * `row`. */
template <class Sample, class Square> struct column {
    unsigned sum;
    Square squares;
    int row;

    __device__ __forceinline__ void add(const struct view_pair &p, const struct place &place,
                                        int at, bool takes_away)
    {
        const int y = gf_border_index(at, p.height, p.border);
        if (y < 0 || place.from < 0)
            return;
        const Sample *const from =
            (const Sample *)(p.in + (ptrdiff_t)(y - p.in_y) * (ptrdiff_t)p.in_pitch);
        const unsigned v = __ldg(from + (size_t)place.from * p.channels + place.channel);
        const Square square = (Square)v * v;
        sum += takes_away ? 0u - v : v;
        squares += takes_away ? (Square)0 - square : square;
    }

    __device__ __forceinline__ void go_to(const struct view_pair &p, const struct place &place,
                                          int radius, int to)
    {
        if (row >= 0 && to == row + 1) {
            add(p, place, to + radius, false);
            add(p, place, to - radius - 1, true);
        } else if (row >= 0 && to == row - 1) {
            add(p, place, to - radius, false);
            add(p, place, to + radius + 1, true);
        } else if (to != row) {
            sum = 0;
            squares = 0;
#pragma unroll 1
            for (int i = -radius; i <= radius; i++)
                add(p, place, to + i, false);
        }
        row = to;
    }
};

#endif
