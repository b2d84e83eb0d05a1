/* Huffman codes with a limited length, which a thread block makes: the lengths and codes of
 * src/codec/png/inflate/huffman.c. */
#pragma once

#include <stdint.h>

enum { FIT_THREADS = 288, LEAVES_MOST = FIT_THREADS, LENGTH_MOST = 15, JUMPS = 9 };

/* Shared memory. The nodes are the sorted leaves, followed by the inner nodes. */
struct code_room {
    unsigned frequency[2 * LEAVES_MOST];
    uint16_t parent[2 * LEAVES_MOST], depth[2 * LEAVES_MOST];
    uint16_t symbol[LEAVES_MOST]; /* symbol of each leaf */
    int of_length[LENGTH_MOST + 1];
};

/* Joins the two rarest nodes until one is left. Only one thread calls this function. A leaf
 * precedes an inner node with the same frequency. */
static __device__ void join(struct code_room *room, int leaves)
{
    int leaf = 0, inner = leaves;
    for (int count = leaves; count < 2 * leaves - 1; count++) {
        unsigned sum = 0;
        for (int child = 0; child < 2; child++) {
            const bool take = leaf < leaves &&
                              (inner == count || room->frequency[leaf] <= room->frequency[inner]);
            const int rarest = take ? leaf++ : inner++;
            room->parent[rarest] = (uint16_t)count;
            sum += room->frequency[rarest];
        }
        room->frequency[count] = sum;
    }
}

/* Computes each node's depth by pointer doubling: each node has a node above it and the distance
 * from that node. */
static __device__ void find_depths(struct code_room *room, int nodes)
{
    for (int i = threadIdx.x; i < nodes; i += FIT_THREADS) {
        room->depth[i] = i < nodes - 1;
        if (i == nodes - 1)
            room->parent[i] = (uint16_t)i;
    }
    __syncthreads();
    for (int jump = 0; jump < JUMPS; jump++) {
        unsigned depth[2], parent[2];
        for (int n = 0; n < 2; n++) {
            const int i = threadIdx.x + n * FIT_THREADS;
            const int above = i < nodes ? room->parent[i] : 0;
            depth[n] = i < nodes ? room->depth[i] + room->depth[above] : 0;
            parent[n] = room->parent[above];
        }
        __syncthreads();
        for (int n = 0; n < 2; n++) {
            const int i = threadIdx.x + n * FIT_THREADS;
            if (i < nodes) {
                room->depth[i] = (uint16_t)depth[n];
                room->parent[i] = (uint16_t)parent[n];
            }
        }
        __syncthreads();
    }
}

/* Shortens codes that are too long, by lengthening shorter codes until all of them fit. Only one
 * thread calls this function. */
static __device__ void bound_lengths(int *of_length, int longest)
{
    unsigned taken = 0;
    for (int length = 1; length <= longest; length++)
        taken += (unsigned)of_length[length] << (longest - length);
    for (; taken > 1u << longest; taken--) {
        int length = longest - 1;
        while (!of_length[length])
            length--;
        of_length[length]--;
        of_length[length + 1] += 2;
        of_length[longest]--;
    }
}

/* Computes gf_huffman_lengths(). All threads call this function, with `symbols` frequencies and
 * lengths in shared memory. */
static __device__ void find_lengths(struct code_room *room, const unsigned *frequency, int symbols,
                                    int longest, uint8_t *lengths)
{
    const int own = threadIdx.x;
    const unsigned often = own < symbols ? frequency[own] : 0;
    int rank = 0;
    for (int i = 0; often && i < symbols; i++) {
        const unsigned other = frequency[i];
        rank += other && (other < often || (other == often && i < own));
    }
    if (own <= LENGTH_MOST)
        room->of_length[own] = 0;
    if (own < symbols)
        lengths[own] = 0;
    if (often) {
        room->frequency[rank] = often;
        room->symbol[rank] = (uint16_t)own;
    }
    const int leaves = __syncthreads_count(often != 0);
    if (own == 0)
        join(room, leaves);
    __syncthreads();
    find_depths(room, 2 * leaves - 1);
    if (own < leaves)
        atomicAdd(room->of_length + (room->depth[own] < longest ? room->depth[own] : longest), 1);
    __syncthreads();
    if (own == 0)
        bound_lengths(room->of_length, longest);
    __syncthreads();
    int length = longest;
    for (int end = 0; length >= 1 && own >= (end += room->of_length[length]);)
        length--;
    if (own < leaves)
        lengths[room->symbol[own]] = (uint8_t)length;
    __syncthreads();
}

/* Computes gf_huffman_codes() for the thread's own symbol: the first bit of the code is the
 * lowest. */
static __device__ unsigned code_of(const uint8_t *lengths, int symbols)
{
    const int own = threadIdx.x, length = own < symbols ? lengths[own] : 0;
    unsigned code = 0;
    for (int i = 0; length && i < symbols; i++) {
        const int other = lengths[i];
        code += other && other < length ? 1u << (length - other) : other == length && i < own;
    }
    return length ? __brev(code) >> (32 - length) : 0;
}
