/* Which bytes of the device's memory exist and which of them have been written: for builds whose EMULATOR_SANITIZE is
 * `kernel-address`, where the compiler calls written.cpp at every access. In others these functions do nothing. */
#pragma once

#include <stddef.h>

namespace emulated
{

#ifdef EMULATED_WRITTEN
void *place_memory(size_t bytes); /* a new place, which nothing has written */
void mark_memory(const void *at, size_t bytes, int state);
void note_read(const void *at, size_t bytes);
void note_write(const void *at, size_t bytes);
void note_copy(const void *to, const void *from, size_t bytes);
#else
static inline void mark_memory(const void *, size_t, int) {}
static inline void note_read(const void *, size_t) {}
static inline void note_write(const void *, size_t) {}
static inline void note_copy(const void *, const void *, size_t) {}
#endif
enum { ABSENT, UNWRITTEN, WRITTEN };

} // namespace emulated
