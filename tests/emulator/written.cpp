#ifdef EMULATED_WRITTEN
#include "written.h"

#include <set>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "blocks.h"

/* Where the access is that the compiler has called for. */
#define HERE ((uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0)) - 1)

namespace emulated
{

namespace
{

/* All memory of the device lies here, and its states as far behind it. Places are not used again. */
const size_t REGION_BYTES = (size_t)1 << 40, ZONE = 4096;
char *region;
size_t placed;

char *reserve(size_t bytes)
{
    void *const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        perror("emulated device: its memory");
        abort();
    }
    return (char *)at;
}

bool in_region(const void *at) { return (size_t)((const char *)at - region) < REGION_BYTES; }

char *states_of(const void *at) { return (char *)at + REGION_BYTES; }

/* Each place in the code once. */
void report(uintptr_t code, const void *at, size_t bytes, const char *what)
{
    static std::set<uintptr_t> known;
    if (!known.insert(code).second)
        return;
    char command[200];
    unsigned long start = 0;
    if (FILE *const maps = fopen("/proc/self/maps", "r")) {
        if (fscanf(maps, "%lx", &start) != 1)
            start = 0;
        fclose(maps);
    }
    fprintf(stderr, "emulated device: %s, %zu bytes at %p\n", what, bytes, at);
    say_where();
    fflush(stderr);
    snprintf(command, sizeof command, "addr2line -fipC -e /proc/%d/exe %#lx | head -n 4 >&2", (int)getpid(),
             (unsigned long)code - start);
    if (system(command))
        fprintf(stderr, "    at %#lx\n", (unsigned long)code);
}

void load(uintptr_t at, size_t bytes, uintptr_t code)
{
    if (!in_region((void *)at))
        return;
    const char *const states = states_of((void *)at);
    for (size_t i = 0; i < bytes; i++) {
        if (states[i] != WRITTEN)
            return report(code, (void *)at, bytes,
                          states[i] == ABSENT ? "a read of no memory" : "a read of memory that nothing has written");
    }
}

void store(uintptr_t at, size_t bytes, uintptr_t code)
{
    if (!in_region((void *)at))
        return;
    char *const states = states_of((void *)at);
    for (size_t i = 0; i < bytes; i++) {
        if (states[i] == ABSENT)
            return report(code, (void *)at, bytes, "a write to no memory");
        states[i] = WRITTEN;
    }
}

} // namespace

void *place_memory(size_t bytes)
{
    if (!region)
        region = reserve(2 * REGION_BYTES);
    char *const at = region + placed;
    placed += (bytes + 2 * ZONE - 1) / ZONE * ZONE;
    if (placed > REGION_BYTES)
        die("too much memory for one run");
    mark_memory(at, bytes, UNWRITTEN);
    return at;
}

void mark_memory(const void *at, size_t bytes, int state)
{
    if (in_region(at))
        memset(states_of(at), state, bytes);
}

void note_read(const void *at, size_t bytes) { load((uintptr_t)at, bytes, HERE); }
void note_write(const void *at, size_t bytes) { store((uintptr_t)at, bytes, HERE); }

void note_copy(const void *to, const void *from, size_t bytes)
{
    if (in_region(to) && in_region(from))
        memcpy(states_of(to), states_of(from), bytes);
    else
        note_write(to, bytes);
}

} // namespace emulated

#define ACCESSES(bytes) \
    extern "C" void __asan_load##bytes##_noabort(uintptr_t at) { emulated::load(at, bytes, HERE); } \
    extern "C" void __asan_store##bytes##_noabort(uintptr_t at) { emulated::store(at, bytes, HERE); }
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
extern "C" void __asan_loadN_noabort(uintptr_t at, size_t bytes) { emulated::load(at, bytes, HERE); }
extern "C" void __asan_storeN_noabort(uintptr_t at, size_t bytes) { emulated::store(at, bytes, HERE); }
extern "C" void __asan_handle_no_return() {}
#endif
