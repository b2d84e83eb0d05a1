/* Threads of the device as fibers: stacks between which one thread of the host switches. */
#pragma once

namespace emulated
{

/* Saves the place where it is called in *from, and goes on at `to`. */
extern "C" void emulated_switch(void **from, void *to);

/* A new stack's place: emulated_switch() to it calls entry(), which must not return. */
void *new_stack(void (*entry)());

} // namespace emulated
