/* The instructions of the copy engine, for ptx.cpp. */
#pragma once

#include <stdint.h>

namespace emulated
{

/* What an mbarrier's 64 bits hold here. */
struct bar {
    int32_t bytes; /* that its round still waits for */
    uint16_t arrivals, rounds;
};

void bar_init(struct bar *bar, unsigned arrivals);
void bar_expect(struct bar *bar, unsigned bytes);
bool bar_try_wait(struct bar *bar, unsigned parity);
void load_box(uint32_t to, const void *map, int x, int y, struct bar *bar);
void store_box(const void *map, int x, int y, uint32_t from);
void finish_stores();

} // namespace emulated
