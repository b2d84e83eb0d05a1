/* Numbers that follow from libFuzzer's seed, for mutators. */
#pragma once

#include <stddef.h>
#include <stdint.h>

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);

static uint64_t random_state;

static inline unsigned random_below(unsigned bound)
{
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(random_state >> 33) % bound;
}

static inline void random_start(unsigned seed)
{
    random_state = seed;
    (void)random_below(2);
}

/* Bytes of few or of many values. */
static inline void random_fill(uint8_t *data, size_t size)
{
    const unsigned letters = 1u << random_below(9);
    for (size_t i = 0; i < size; i++)
        data[i] = (uint8_t)(random_below(letters) * 7);
}
